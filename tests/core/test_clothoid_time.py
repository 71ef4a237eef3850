"""Motion of clothoids in time: energy, momentum, order of the steps."""

from __future__ import annotations

import numpy as np
import pytest
from plain_rods import fitted_order, helix
from tendril.core import Material, Rectangle, Rod, Scene, Simulation
from undamped import energies_left, pendulum, place_after, spin_left, spinning_stick

# turns/s, s, least fraction of the spin
SPINS = [(1.0, 1.0, 0.995), (1.0, 5.0, 0.97), (2.0, 1.0, 0.98), (10.0, 0.5, 0.98)]
# preset, substeps, s
PENDULUMS = [("nylon rope", 4, 20.0), ("nylon rope", 32, 20.0), ("steel cable", 8, 5.0), ("chain", 4, 20.0)]
# starts, frames, counts of substeps
ORDERS = {
    "stick": (lambda n: spinning_stick("clothoid", 1.0, n), 12, (2, 4, 8)),
    "pendulum": (lambda n: pendulum("clothoid", "nylon rope", n), 12, (4, 8, 16)),
    "dropped rope": (lambda n: pendulum("clothoid", "nylon rope", n, 90.0), 6, (8, 16, 32)),
}


@pytest.mark.parametrize(("turns", "seconds", "least"), SPINS)
def test_a_free_stick_keeps_its_spin(turns: float, seconds: float, least: float) -> None:
    spin = spin_left("clothoid", turns, seconds)
    assert least <= spin.left <= 1.0 + 1e-3
    assert spin.fallbacks == spin.halvings == 0


@pytest.mark.parametrize(("preset", "substeps", "seconds"), PENDULUMS)
def test_a_pendulum_keeps_its_energy(preset: str, substeps: int, seconds: float) -> None:
    assert 0.95 <= energies_left("clothoid", preset, substeps, seconds)[-1] <= 1.01


@pytest.mark.parametrize("substeps", [1, 2, 16, 64])
def test_energy_does_not_come_from_nothing(substeps: int) -> None:
    assert energies_left("clothoid", "chain", substeps, 4.0).max() <= 1.001


@pytest.mark.parametrize("name", ORDERS)
def test_steps_are_of_second_order_with_stiff_rods(name: str) -> None:
    start, frames, counts = ORDERS[name]
    exact = place_after(start(8 * counts[-1]), frames)
    errors = [float(np.abs(place_after(start(count), frames) - exact).max()) for count in counts]
    assert fitted_order(counts, errors) > 1.8, errors


def test_a_free_helix_keeps_its_momentum() -> None:
    points = helix(60, turns=3.0, radius=0.03, rise=0.1)
    points = points - points.mean(axis=0)
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    velocity = np.cross((1.0, 2.0, 4.0), points) + np.array([0.3, 0.1, 0.0])
    scene.add(Rod.from_points(points, radius=2e-3, material=Material(2e9, 1100.0)), "clothoid", velocity=velocity)
    sim = Simulation(scene, threads=1)
    start, energy = momenta(sim), sim.energies().total
    for _ in range(480):
        frame = sim.step_frame()
    for now, was in zip(momenta(sim), start, strict=True):
        assert np.linalg.norm(now - was) < 5e-3 * np.linalg.norm(was)
    assert frame.report.energies.total == pytest.approx(energy, rel=5e-3)


def momenta(sim: Simulation) -> tuple[np.ndarray, np.ndarray]:
    """Linear and angular momentum of the Gauss points."""
    sim.energies()
    b = sim.blocks[0].arrays
    mass = b.gauss.mass * b.state.length[b.gauss.element][:, None]
    linear = mass[:, :1] * b.geometry.v[:, :3]
    spin = mass[:, 3:] * b.geometry.v[:, 3:] * b.geometry.frame[:, :, 0]
    return linear.sum(axis=0), (np.cross(b.geometry.x[:, :3], linear) + spin).sum(axis=0)


def arc() -> np.ndarray:
    a = np.linspace(0.0, 2.0, 41)
    return np.stack([0.5 * np.sin(a), 0.5 - 0.5 * np.cos(a), 0.05 * a], axis=1)


@pytest.mark.parametrize("section", [{"radius": 4e-3}, {"section": Rectangle(8e-3, 4e-3)}])
@pytest.mark.parametrize("rest", ["as drawn", "straight"])
@pytest.mark.parametrize("twist", [0.0, 3.0, -8.0])
def test_twist_shows_in_the_directors(section: dict[str, object], rest: str, twist: float) -> None:
    """They are those of `der`, as drawn and when the rod has come to rest without its twist."""
    rod = Rod.from_points(arc(), material=Material(1e7, 1000.0), rest=rest, twist=twist, **section)
    drawn, settled = [], []
    for model in ("der", "clothoid"):
        scene = Scene(gravity=(0.0, 0.0, 0.0), drag=30.0)
        scene.clamp(scene.add(rod, model), "start")
        sim = Simulation(scene, threads=1)
        drawn.append(sim.current().directors(0))
        assert sim.settle()
        settled.append(sim.current().directors(0))
    for found in (drawn, settled):
        assert np.einsum("ij,ij->i", *found).min() > np.cos(0.03)
