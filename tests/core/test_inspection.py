"""What is told of a simulation besides frames."""

import numpy as np
import pytest
from tendril.core import Material, Rod, Scene, Simulation
from tendril.core.run.inspection import acting_contacts, elastic_energies


@pytest.mark.parametrize("model", ["der", "der2008", "compact", "clothoid", "net", "corde"])
def test_elastic_energies_of_every_model(model):
    points = np.stack([np.linspace(0.0, 1.0, 12), np.zeros(12), np.zeros(12)], axis=1)
    scene = Scene()
    for k in range(3):
        rod = scene.add(
            Rod.from_points(points + np.array([0.0, k, 0.0]), 0.005, Material.preset("rubber")), model=model
        )
        scene.clamp(rod, "start")
    simulation = Simulation(scene, threads=1)
    simulation.step_frame()
    found = elastic_energies(simulation)
    assert found.shape == (3,)
    assert found.min() > 0.0
    assert found.sum() == pytest.approx(simulation.energies().elastic, rel=1e-9)
    np.testing.assert_allclose(found, found[0], rtol=1e-6)


def test_contacts_are_where_rods_touch():
    """A rod that lies across another, which is held."""
    scene = Scene(rod_contact=True)
    s = np.linspace(-0.5, 0.5, 21)[:, None]
    below = scene.add(Rod.from_points(s * np.array([1, 0, 0]), 0.01, Material.preset("rubber")))
    scene.clamp(below, "start")
    scene.clamp(below, "end")
    above = scene.add(
        Rod.from_points(s * np.array([0, 1, 0]) + np.array([0.012, 0, 0.021]), 0.01, Material.preset("rubber"))
    )
    simulation = Simulation(scene, threads=1)
    for _ in range(8):
        simulation.step_frame()
    found = acting_contacts(simulation)
    assert len(found.points) >= 1
    assert {tuple(sorted(pair)) for pair in found.rods.tolist()} == {(below, above)}
    assert np.abs(found.points[:, :2] - [0.012, 0.0]).max() < 0.01
    assert np.abs(found.points[:, 2] - simulation.current().positions(below)[:, 2].min()).max() < 0.03
