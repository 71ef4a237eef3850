"""Undamped motion persists: spin, swing and momentum at 24 frames a second and default settings, with the stiffness of presets.

Soft rods hide what a scheme does to stiff springs, so every case has the stiffness of a material. The bounds are those of the
default integrator; backward Euler and SDIRK2 miss them by far (see docs/speed.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from plain_rods import fitted_order
from tendril.core import Body, Material, Rod, Scene, Simulation, Sphere

GRAVITY = 9.81
STEEL = Material(2e11, 7850.0)


def undamped(preset: str) -> Material:
    return replace(Material.preset(preset), damping_time=0.0, swing_time=0.0, shear_modulus=None)


def straight(length: float, segments: int, direction: tuple[float, float, float]) -> np.ndarray:
    return np.outer(np.linspace(0.0, length, segments + 1), direction)


def angular_momentum(sim: Simulation, masses: np.ndarray) -> np.ndarray:
    """About the centre of mass, of the points of the only rod; its spin about the tangent left out."""
    frame = sim.current()
    x, v = frame.positions(0), frame.velocities(0)
    x, v = x - np.average(x, axis=0, weights=masses), v - np.average(v, axis=0, weights=masses)
    return np.asarray((masses[:, None] * np.cross(x, v)).sum(axis=0))


def point_masses(rod: Rod) -> np.ndarray:
    ends = np.zeros(rod.vertex_count)
    ends[:-1] += 0.5 * rod.rest_lengths
    ends[1:] += 0.5 * rod.rest_lengths
    return ends


# A free stick ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spin:
    turns: float  # per second
    seconds: float
    left: float  # part of the angular momentum that must be left


SPINS = (Spin(1.0, 1.0, 0.995), Spin(1.0, 5.0, 0.97), Spin(2.0, 1.0, 0.98))


def spinning_stick(model: str, turns: float, seconds: float, substeps: int = 4) -> tuple[float, Simulation]:
    """Part of its angular momentum that a stick of 0.5 m keeps."""
    points = straight(0.5, 20, (1.0, 0.0, 0.0)) - (0.25, 0.0, 0.0)
    rod = Rod.from_points(points, 0.004, STEEL)
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    scene.add(rod, model, velocity=np.cross((0.0, 0.0, 2.0 * math.pi * turns), points))
    sim = Simulation(scene, substeps=substeps)
    masses = point_masses(rod)
    first = angular_momentum(sim, masses)[2]
    for _ in range(round(24 * seconds)):
        report = sim.step_frame().report
        assert report.converged
    return float(angular_momentum(sim, masses)[2] / first), sim


@pytest.mark.parametrize("case", SPINS, ids=lambda case: f"{case.turns:g} turns a second, {case.seconds:g} s")
@pytest.mark.parametrize("model", ["der", "net", "compact", "clothoid"])
def test_a_free_stick_keeps_its_spin(model: str, case: Spin) -> None:
    left, _ = spinning_stick(model, case.turns, case.seconds)
    assert case.left <= left <= 1.005


@pytest.mark.parametrize("turns", [2.0, 5.0, 10.0])
def test_spin_makes_no_step_of_compact_rods_fall_back(turns: float) -> None:
    scene_frames = 24
    points = straight(0.5, 20, (1.0, 0.0, 0.0)) - (0.25, 0.0, 0.0)
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    scene.add(
        Rod.from_points(points, 0.004, STEEL), "compact", velocity=np.cross((0, 0, 2.0 * math.pi * turns), points)
    )
    sim = Simulation(scene)
    reports = [sim.step_frame().report for _ in range(scene_frames)]
    assert sum(report.fallbacks for report in reports) == 0


# Pendulums ------------------------------------------------------------------------------------------------------------


def pendulum(model: str, preset: str, substeps: int, seconds: float = 20.0) -> float:
    """Part of the energy of a swing from 57 degrees that a rope of 1 m keeps; straight down it would have none."""
    angle = math.radians(57.0)
    points = straight(1.0, 40, (math.sin(angle), 0.0, -math.cos(angle)))
    scene = Scene(gravity=(0.0, 0.0, -GRAVITY))
    scene.pin(scene.add(Rod.from_points(points, 0.005, undamped(preset)), model), "start")
    sim = Simulation(scene, substeps=substeps)
    first = sim.energies().total
    lowest = first / math.cos(angle)
    for _ in range(round(24 * seconds)):
        assert sim.step_frame().report.failures == 0
    return (sim.energies().total - lowest) / (first - lowest)


PENDULUMS = [(preset, substeps) for preset in ("nylon rope", "steel cable", "chain") for substeps in (4, 8, 32)]


@pytest.mark.parametrize(("preset", "substeps"), [(*case,) for case in PENDULUMS if case[1] < 32])
@pytest.mark.parametrize("model", ["der", "compact"])
def test_pendulums_keep_their_energy(model: str, preset: str, substeps: int) -> None:
    assert 0.95 <= pendulum(model, preset, substeps) <= 1.01


@pytest.mark.long
@pytest.mark.parametrize(("preset", "substeps"), PENDULUMS)
@pytest.mark.parametrize("model", ["der", "net", "compact", "clothoid"])
def test_pendulums_of_every_model_keep_their_energy(model: str, preset: str, substeps: int) -> None:
    assert 0.95 <= pendulum(model, preset, substeps) <= 1.01


@pytest.mark.parametrize("model", ["der", "net", "compact"])
def test_a_conical_pendulum_keeps_radius_and_energy(model: str) -> None:
    """A heavy ball on a rope circles at 30 degrees for ten seconds."""
    length, ball, angle = 1.0, 0.05, math.radians(30.0)
    down = np.array([math.sin(angle), 0.0, -math.cos(angle)])
    centre = (length + ball) * down
    spin = np.array([0.0, 0.0, math.sqrt(GRAVITY / ((length + ball) * math.cos(angle)))])
    points = straight(length, 10, tuple(down))
    scene = Scene(gravity=(0.0, 0.0, -GRAVITY))
    rope = scene.add(Rod.from_points(points, 0.003, undamped("nylon rope")), model, velocity=np.cross(spin, points))
    scene.pin(rope, "start")
    bob = scene.add_body(Body(Sphere(ball), mass=5.0, position=centre, velocity=np.cross(spin, centre)))
    scene.attach(rope, "end", bob)
    sim = Simulation(scene)
    first = sim.energies()
    radii = []
    for _ in range(240):
        frame = sim.step_frame()
        assert frame.report.converged
        radii.append(math.hypot(*frame.body_position(bob)[:2]))
    assert np.array(radii) == pytest.approx(centre[0], rel=0.01)
    assert sim.energies().total == pytest.approx(first.total, abs=0.01 * first.kinetic)


# Order in time --------------------------------------------------------------------------------------------------------


@cache
def dropped_tip(model: str, frame_rate: int, substeps: int, seconds: float) -> np.ndarray:
    """Of a nylon rope of 2 m that is pinned at one end and released level."""
    scene = Scene(gravity=(0.0, 0.0, -GRAVITY))
    points = straight(2.0, 20, (1.0, 0.0, 0.0))
    scene.pin(scene.add(Rod.from_points(points, 0.005, undamped("nylon rope")), model), "start")
    sim = Simulation(scene, frame_rate, substeps=substeps)
    for _ in range(round(frame_rate * seconds)):
        frame = sim.step_frame()
    return frame.positions(0)[-1]


@pytest.mark.parametrize("model", ["der", "compact"])
def test_a_dropped_rope_is_where_a_fine_solution_has_it(model: str) -> None:
    fine = dropped_tip(model, 24, 64, 1.0)
    for frame_rate in (24, 120):
        assert np.linalg.norm(dropped_tip(model, frame_rate, 4, 1.0) - fine) < 0.01 * 2.0


def test_a_dropped_rope_converges_at_second_order() -> None:
    counts = (4, 8, 16)
    fine = dropped_tip("der", 24, 64, 0.5)
    errors = [float(np.linalg.norm(dropped_tip("der", 24, count, 0.5) - fine)) for count in counts]
    assert fitted_order(counts, errors) > 1.8, errors


@pytest.mark.parametrize("model", ["der", "compact", "clothoid"])
def test_a_spinning_stick_converges_at_second_order(model: str) -> None:
    counts = (4, 8, 16)
    fine = spinning_stick(model, 2.0, 0.5, 64)[1].current().positions(0)
    errors = [
        float(np.abs(spinning_stick(model, 2.0, 0.5, count)[1].current().positions(0) - fine).max()) for count in counts
    ]
    assert fitted_order(counts, errors) > 1.8, errors


@pytest.mark.parametrize("model", ["der", "net"])
def test_a_pendulum_converges_at_second_order(model: str) -> None:
    counts, places = (4, 8, 16, 64), []
    for count in counts:
        points = straight(1.0, 40, (math.sin(1.0), 0.0, -math.cos(1.0)))
        scene = Scene(gravity=(0.0, 0.0, -GRAVITY))
        scene.pin(scene.add(Rod.from_points(points, 0.005, undamped("nylon rope")), model), "start")
        sim = Simulation(scene, substeps=count)
        for _ in range(12):
            frame = sim.step_frame()
        places.append(frame.positions(0))
    errors = [float(np.abs(place - places[-1]).max()) for place in places[:-1]]
    assert fitted_order(counts[:-1], errors) > 1.8, errors


# Momentum -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["der", "compact", "clothoid"])
@pytest.mark.parametrize("seconds", [4.0, pytest.param(20.0, marks=pytest.mark.long)])
def test_a_free_helix_keeps_its_momentum(model: str, seconds: float) -> None:
    turn = np.linspace(0.0, 4.0 * math.pi, 41)
    points = np.stack([0.1 * np.cos(turn), 0.1 * np.sin(turn), 0.03 * turn], axis=1)
    rod = Rod.from_points(points, 0.003, undamped("nylon rope"))
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    spin, flight = np.array([2.0, 1.0, 3.0]), np.array([0.3, -0.2, 0.1])
    scene.add(rod, model, velocity=np.cross(spin, points - points.mean(axis=0)) + flight)
    sim = Simulation(scene)
    masses = point_masses(rod)
    linear = np.average(sim.current().velocities(0), axis=0, weights=masses)
    angular = angular_momentum(sim, masses)
    for _ in range(round(24 * seconds)):
        sim.step_frame()
    velocity = np.average(sim.current().velocities(0), axis=0, weights=masses)
    assert np.linalg.norm(velocity - linear) < 0.005 * np.linalg.norm(linear)
    assert np.linalg.norm(angular_momentum(sim, masses) - angular) < 0.005 * np.linalg.norm(angular)


# Contact --------------------------------------------------------------------------------------------------------------


def overhand_knot(thick: float, loop: float, braid: float, tail: float, segment: float) -> np.ndarray:
    """Two strands wind about each other by three half turns along x, then one goes round the loop and comes back as the other."""
    u = np.linspace(0.0, 1.0, 2000)
    turn, apart = 3.0 * math.pi * u, 1.2 * thick
    around = np.stack([0.0 * u, apart * np.sin(turn), apart * np.cos(turn)], axis=1)
    along = np.stack([braid * (2.0 * u - 1.0), 0.0 * u, 0.0 * u], axis=1)
    angle = math.pi * (u - 0.5)
    half = np.stack([braid + loop * np.cos(angle), 0.0 * u, apart + loop + loop * np.sin(angle)], axis=1)
    ends = np.array([[-braid - tail, 0.0, -apart], [braid + tail, 0.0, -apart]])
    line = np.vstack([ends[:1], along - around, half, half[::-1] * [-1.0, 1.0, 1.0], along + around, ends[1:]])
    s = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1)))
    at = np.linspace(0.0, s[-1], round(s[-1] / segment) + 1)
    return np.stack([np.interp(at, s, line[:, c]) for c in range(3)], axis=1)


def test_a_tight_knot_that_is_released_springs_open() -> None:
    """Most of what it stored is motion a frame later. It is of rubber, whose stretching a substep can follow, and without friction.
    Backward Euler keeps 65 %."""
    rubber = Material(1e6, 950.0, poisson_ratio=0.39)
    rod = Rod.from_points(overhand_knot(0.005, 0.04, 0.03, 0.25, 0.0075), 0.005, rubber, rest="straight")

    def simulation(pull: float, drag: float) -> Simulation:
        scene = Scene(gravity=(0.0, 0.0, 0.0), drag=drag, rod_contact=True)
        scene.pin(scene.add(rod, friction=0.0), "start")
        scene.load(0, "end", (pull, 0.0, 0.0))
        return Simulation(scene, threads=1)

    sim = simulation(8.0, 3.0)
    for _ in range(72):
        sim.step_frame()
    released = simulation(0.0, 0.0)
    released.restore(sim.state(), 0)
    before, total = released.energies(), released.energies().total
    assert before.kinetic < 1e-3 * before.elastic
    for k in range(12):
        report = released.step_frame().report
        assert report.failures == 0
        assert report.energies.total <= total
        total = report.energies.total
        if k == 0:
            assert report.energies.kinetic >= 0.8 * (before.elastic - report.energies.elastic)


# Energy ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("substeps", [1, 2, 4, 16])
@pytest.mark.parametrize("integrator", ["tr-bdf2", "sdirk2", "backward euler", "midpoint"])
def test_no_integrator_gains_energy(integrator: str, substeps: int) -> None:
    """A stiff rope that is released level; the midpoint rule by itself would explode."""
    scene = Scene(gravity=(0.0, 0.0, -GRAVITY))
    scene.pin(scene.add(Rod.from_points(straight(2.0, 40, (1.0, 0.0, 0.0)), 0.005, undamped("nylon rope"))), "start")
    sim = Simulation(scene, substeps=substeps, integrator=integrator)
    first, swing = sim.energies().total, GRAVITY * 2.0 * 2.0 * scene.entries[0].rod.mass_per_length[0]  # m g L
    for _ in range(72):
        report = sim.step_frame().report
        assert report.energies.total <= first + 0.02 * swing
