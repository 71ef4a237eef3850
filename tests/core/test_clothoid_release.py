"""Clothoids whose root is let go of while they move."""

from __future__ import annotations

import numpy as np
import pytest
from plain_rods import fitted_order, helix, weightless
from tendril.core import Material, Plane, Rod, Scene, Simulation

RUBBER = Material(1e7, 1000.0, 0.5)


def curl() -> Rod:
    return Rod.from_points(helix(40, turns=1.5, radius=0.1, rise=0.5), radius=5e-3, material=RUBBER)


def led(scene: Scene, kind: str = "clamp", **settings: object) -> tuple[Simulation, int]:
    """Its root goes on a curve and turns."""

    def path(t: float) -> tuple[tuple[float, float, float], np.ndarray]:
        c, s = np.cos(4.0 * t), np.sin(4.0 * t)
        return (0.1 + 0.5 * t, 0.2 * s, t * t), np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])

    rod = scene.add(curl(), "clothoid", elements=4)
    hold = scene.clamp(rod, "start", path) if kind == "clamp" else scene.pin(rod, "start", lambda t: path(t)[0])
    options = {"threads": 1, "tolerance": 1e-12, "substeps": 8, **settings}
    return Simulation(scene, **options), hold  # type: ignore[arg-type]


def momenta(sim: Simulation) -> tuple[np.ndarray, np.ndarray]:
    """Linear and angular, of all that has mass."""
    sim.energies()
    b = sim.blocks[0].arrays
    mass = b.gauss.mass * b.state.length[b.gauss.element][:, None]
    x, v, tangent = b.geometry.x[:, :3], b.geometry.v, b.geometry.frame[:, :, 0]
    linear = mass[:, :1] * v[:, :3]
    spin = mass[:, 3:] * v[:, 3:] * tangent
    return linear.sum(axis=0), (np.cross(x, linear) + spin).sum(axis=0)


@pytest.mark.parametrize("kind", ["clamp", "pin"])
def test_nothing_changes_in_the_moment_and_momentum_stays(kind: str) -> None:
    sim, hold = led(weightless(), kind)
    for _ in range(6):
        sim.step_frame()
    before, was = momenta(sim), sim.current()
    sim.release(hold)
    assert np.array_equal(sim.current().positions(0), was.positions(0))
    assert np.array_equal(sim.current().velocities(0), was.velocities(0))
    assert np.array_equal(momenta(sim), before)
    assert np.linalg.norm(was.velocities(0)[0] - was.velocities(0)[-1]) > 0.1
    for _ in range(12):
        frame = sim.step_frame()
        assert frame.report.converged
    after = momenta(sim)
    assert after[0] == pytest.approx(before[0], abs=1e-9 * np.linalg.norm(before[0]))
    assert after[1] == pytest.approx(before[1], abs=0.02 * np.linalg.norm(before[1]))
    assert frame.report.energies.total < was.report.energies.total * (1.0 + 1e-3)


def test_angular_momentum_is_lost_with_the_order_of_the_integrator() -> None:
    lost, counts = [], (4, 8, 16)
    for substeps in counts:
        sim, hold = led(weightless(), "pin", substeps=substeps)
        for _ in range(6):
            sim.step_frame()
        before = momenta(sim)[1]
        sim.release(hold)
        for _ in range(6):
            sim.step_frame()
        lost.append(float(np.linalg.norm(momenta(sim)[1] - before)))
    assert fitted_order(counts, lost) > 1.7


@pytest.mark.parametrize("integrator", ["tr-bdf2", "backward euler", "semi-implicit euler"])
def test_it_goes_on_as_one_that_was_never_held(integrator: str) -> None:
    sim, hold = led(Scene(drag=0.5), integrator=integrator)
    for _ in range(5):
        sim.step_frame()
    sim.release(hold)
    scene = Scene(drag=0.5)
    scene.add(curl(), "clothoid", elements=4)
    free = Simulation(scene, threads=1, tolerance=1e-12, substeps=8, integrator=integrator)
    state = np.empty(sim.blocks[0].state_size)
    sim.blocks[0].pack_state(state)
    free.blocks[0].unpack_state(state)
    for _ in range(5):
        assert np.array_equal(sim.step_frame().positions(0), free.step_frame().positions(0))


def test_a_hold_that_stays_goes_on_holding() -> None:
    """Of two rods one is let go of; a rod that was let go of is so twice."""
    scene = Scene()
    rods = [scene.add(curl(), "clothoid", elements=4) for _ in range(2)]
    holds = [scene.clamp(rod, "start") for rod in rods]
    sim = Simulation(scene, threads=1)
    start = sim.current().positions(rods[1])[0]
    for _ in range(2):
        sim.release(holds[0])
        frame = sim.step_frame()
    assert np.array_equal(frame.positions(rods[1])[0], start)
    assert frame.positions(rods[0])[0, 2] < start[2] - 0.02


def test_it_falls_onto_the_ground() -> None:
    scene = Scene(drag=1.0)
    rod = scene.add(curl(), "clothoid", elements=4, friction=0.5)
    hold = scene.clamp(rod, "start")
    scene.collide(Plane((0.0, 0.0, -0.5)), friction=0.5)
    sim = Simulation(scene, threads=1)
    for k in range(16):
        if k == 4:
            sim.release(hold)
        frame = sim.step_frame()
        assert frame.report.failures == 0
        assert frame.positions(rod)[:, 2].min() > -0.5 + 5e-3 * (1.0 - 0.05)
    assert frame.positions(rod)[0, 2] < -0.3
