"""`corde` nets that touch something: their steps are implicit, create no energy and do not stretch segments."""

from __future__ import annotations

import numpy as np
import pytest
from tendril.core import Material, Net, Plane, Rod, Scene, Simulation

ROPE = Material.preset("nylon rope")


def upright(count: int, length: float) -> np.ndarray:
    s = np.linspace(0.0, 1.0, count + 1)
    return np.stack([0.004 * np.sin(5.0 * s), 0.004 * np.cos(5.0 * s), 0.015 + length * s], axis=1)


def rope_on_floor(substeps: int = 4) -> Simulation:
    """A stiff rope falls a centimetre, end first, and buckles: the last of its segments would be crushed first."""
    scene = Scene(rod_contact=True)
    scene.add(Rod.from_points(upright(24, 0.3), 0.005, ROPE), "corde")
    scene.collide(Plane())
    return Simulation(scene, 24.0, substeps=substeps, threads=1)


def stretch(points: np.ndarray, rest: np.ndarray) -> float:
    return float(np.abs(np.linalg.norm(np.diff(points, axis=0), axis=1) / rest - 1.0).max())


@pytest.mark.parametrize("substeps", [1, 4])
def test_a_stiff_rope_falls_on_a_floor_without_gaining_energy(substeps: int) -> None:
    sim = rope_on_floor(substeps)
    rest = np.asarray(sim.scene.entries[0].rod.rest_lengths)
    energy, touched = sim.energies().total, False
    for _ in range(16):
        frame = sim.step_frame()
        assert frame.report.failures == 0
        assert frame.report.energies.total <= energy + 1e-9
        energy = frame.report.energies.total
        assert stretch(frame.positions(0), rest) < 1e-3
        assert frame.positions(0)[:, 2].min() > 0.99 * 0.005
        touched = touched or 0 in frame.report.implicit
    assert touched
    assert frame.positions(0)[:, 2].max() < 0.1  # it lies


def test_only_steps_in_contact_are_implicit() -> None:
    sim = rope_on_floor()
    first = sim.step_frame()
    assert not first.report.implicit
    assert any(sim.step_frame().report.implicit == frozenset({0}) for _ in range(3))


def test_a_run_in_contact_goes_on_from_a_state_to_the_last_bit() -> None:
    sim, again = rope_on_floor(), rope_on_floor()
    for _ in range(4):
        sim.step_frame()
    again.restore(sim.state(), 4)
    for _ in range(3):
        assert np.array_equal(sim.step_frame().positions(0), again.step_frame().positions(0))


def test_a_net_with_a_joint_falls_on_a_floor_without_gaining_energy() -> None:
    """Three arms whose joint has a frame of its own in implicit steps: they land one after the other."""
    arms = [(0, 0, 0.08), (0.1, 0, 0.02), (-0.05, 0.08, 0.02), (-0.05, -0.08, 0.06)]
    scene = Scene(rod_contact=True)
    scene.add(Net.from_edges(arms, [(0, 1), (0, 2), (3, 0)], 0.005, ROPE), "corde")
    scene.collide(Plane(), friction=0.5)
    sim = Simulation(scene, 24.0, substeps=8, threads=1)
    energy = sim.energies().total
    for _ in range(6):
        frame = sim.step_frame()
        assert frame.report.failures == 0
        assert frame.report.energies.total <= energy + 1e-6
        energy = frame.report.energies.total
    assert frame.positions(0)[1:, 2] == pytest.approx(np.full(3, 0.005), abs=1e-4)


def test_a_released_clamp_lets_a_rod_fall_on_a_floor() -> None:
    """Before and after anything touches the rod."""
    points = np.linspace([0.0, 0.0, 0.02], [0.2, 0.0, 0.02], 11)
    for before in (2, 8):
        scene = Scene()
        rod = scene.add(Rod.from_points(points, 0.005, Material.preset("rubber")), "corde")
        hold = scene.clamp(rod, "start")
        scene.collide(Plane())
        sim = Simulation(scene, 24.0, threads=1)
        for _ in range(before):
            assert np.allclose(sim.step_frame().positions(rod)[0], points[0], atol=1e-12)
        sim.release(hold)
        for _ in range(10):
            frame = sim.step_frame()
            assert frame.report.failures == 0
        assert frame.positions(rod)[:, 2] == pytest.approx(np.full(11, 0.005), abs=1e-3)
