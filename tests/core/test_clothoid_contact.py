"""Clothoids that touch something do not gain energy, whatever the substeps."""

from __future__ import annotations

import numpy as np
import pytest
from tendril.core import Material, Plane, Rod, Scene, Simulation


@pytest.mark.parametrize(("rate", "substeps"), [(24.0, 4), (96.0, 1)])
def test_a_rope_falls_on_a_floor_without_gaining_energy(rate: float, substeps: int) -> None:
    """End first: it tips over on its tip and coils, with steps of changing length and elements that turn far in each."""
    s = np.linspace(0.0, 1.0, 25)
    points = np.stack([0.004 * np.sin(5.0 * s), 0.004 * np.cos(5.0 * s), 0.02 + 0.8 * s], axis=1)
    scene = Scene(rod_contact=True)
    scene.add(Rod.from_points(points, 0.005, Material.preset("nylon rope")), "clothoid", elements=8)
    scene.collide(Plane())
    sim = Simulation(scene, rate, substeps=substeps, threads=1)
    energy = sim.energies().total
    for _ in range(int(0.5 * rate)):
        frame = sim.step_frame()
        assert frame.report.failures == 0
        assert frame.report.energies.total <= energy + 1e-9
        energy = frame.report.energies.total
    assert frame.positions(0)[:, 2].max() < 0.6  # it has begun to coil
