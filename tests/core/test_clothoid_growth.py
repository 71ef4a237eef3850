"""Clothoids that grow, curl and stiffen while they move."""

from __future__ import annotations

import numpy as np
import pytest
from plain_rods import helix, line
from tendril.core import Body, Material, Plane, Rod, Scene, Simulation, Sphere

RUBBER = Material(2e7, 1000.0, damping_time=0.01)


def beam(length: float = 1.0, material: Material = RUBBER) -> Rod:
    return Rod.from_points(length * line(20), radius=0.01, material=material)


def clamped(rod: Rod, gravity: float = 1.0, **around: float) -> Simulation:
    scene = Scene((0.0, 0.0, -gravity), **around)
    scene.clamp(scene.add(rod, "clothoid", elements=4), "start")
    return Simulation(scene, threads=1)


def test_a_rod_that_has_grown_slowly_hangs_as_one_of_its_length() -> None:
    sim = clamped(beam(0.2), drag=5.0)
    for k in range(48):
        sim.alter(0, length=1.0 + 4.0 * (k + 1) / 48)
        frame = sim.step_frame()
        assert frame.report.converged
        assert frame.report.energies.kinetic < 0.02 * abs(frame.report.energies.gravity) + 1e-5
    assert sim.settle()
    made = clamped(beam())
    assert made.settle()
    hung = made.current().positions(0)
    assert hung[-1, 2] < -0.1
    assert sim.current().positions(0) == pytest.approx(hung, abs=1e-7)
    assert sim.energies().elastic == pytest.approx(made.energies().elastic, rel=1e-6)


def test_a_straight_rod_that_hangs_does_not_feel_how_stiff_it_is() -> None:
    scene = Scene()
    scene.clamp(scene.add(Rod.from_points(-line(20)[:, [1, 2, 0]], 0.01, RUBBER), "clothoid", elements=4), "start")
    sim = Simulation(scene, threads=1)
    before = sim.current().positions(0)
    for k in range(4):
        sim.alter(0, stiffness=2.0**k, damping=3.0**k)
        frame = sim.step_frame()
    assert frame.positions(0) == pytest.approx(before, abs=1e-12)
    assert np.abs(frame.velocities(0)).max() < 1e-10


def test_what_moves_goes_on_as_it_was_when_it_is_altered() -> None:
    """Nothing jumps: places, velocities and what it moves with are those of the moment before."""
    sim = clamped(beam(), 9.81)
    for _ in range(6):
        sim.step_frame()
    before = sim.current()
    sim.alter(0, stiffness=3.0, damping=2.0, curl=0.5)
    after = sim.current()
    assert np.array_equal(after.positions(0), before.positions(0))
    assert np.array_equal(after.velocities(0), before.velocities(0))
    assert after.report.energies.kinetic == before.report.energies.kinetic
    assert after.report.energies.gravity == before.report.energies.gravity
    assert after.report.energies.elastic == pytest.approx(3.0 * before.report.energies.elastic, rel=1e-12)


def test_a_root_that_is_accelerated_is_one_under_other_gravity() -> None:
    """The rod grows and stiffens on the way; seen from its root, it is pulled back as by a weight."""
    places = []
    for speeding in (0.0, 2.0):
        scene = Scene((0.0, speeding - 2.0, -1.0))
        rod = scene.add(beam(0.5), "clothoid", elements=4)
        scene.clamp(rod, "start", lambda t, a=speeding: ((0.0, 0.5 * a * t * t, 0.0), np.eye(3)))
        sim = Simulation(scene, threads=1, substeps=16)
        for k in range(12):
            sim.alter(0, length=1.0 + 0.1 * (k + 1), stiffness=1.0 + 0.2 * k)
            frame = sim.step_frame()
        places.append(frame.positions(rod) - [0.0, 0.5 * speeding * sim.time**2, 0.0])
    assert places[0][-1, 2] < -0.02
    assert places[0][-1, 1] < -0.04
    assert places[1] == pytest.approx(places[0], abs=2e-3)


def test_curl_that_rises_slowly_makes_the_circle_of_its_curvature() -> None:
    angle = np.linspace(0.0, 1.0, 41)
    arc = np.stack([np.sin(angle), 1.0 - np.cos(angle), 0.0 * angle], axis=1)
    sim = clamped(Rod.from_points(arc, radius=0.01, material=Material(2e10, 1000.0, damping_time=0.01)), 0.0)
    for k in range(24):
        sim.alter(0, curl=1.0 + 5.0 * (k + 1) / 24)
        frame = sim.step_frame()
        assert frame.report.converged
    for _ in range(12):
        frame = sim.step_frame()
    radius = 1.0 / 6.0
    away = frame.positions(0)[:, :2] - [0.0, radius]
    assert np.linalg.norm(away, axis=1) == pytest.approx(np.full(41, radius), rel=0.03)
    assert sim.settle()
    away = sim.current().positions(0)[:, :2] - [0.0, radius]
    assert np.linalg.norm(away, axis=1) == pytest.approx(np.full(41, radius), rel=1e-3)  # as well as the arc was fitted


def test_curl_and_length_make_a_longer_and_tighter_helix() -> None:
    """Curvature and torsion of a helix tell its radius and rise: curvature 3 k and torsion t, on a length of 2 L."""
    points = helix(200, turns=2.0, radius=0.1, rise=0.3)
    sim = clamped(Rod.from_points(points, radius=2e-3, material=RUBBER), 0.0)
    sim.alter(0, curl=3.0, length=2.0)
    assert sim.settle()
    pitch = 0.3 / (4.0 * np.pi)
    bend, torsion = 3.0 * 0.1 / (0.01 + pitch**2), pitch / (0.01 + pitch**2)
    length = 2.0 * 4.0 * np.pi * np.hypot(0.1, pitch)
    total = bend**2 + torsion**2
    rise = length * torsion / np.sqrt(total)
    x = sim.current().positions(0)
    span = x[-1] - x[0]
    angle = length * np.sqrt(total)
    across = 2.0 * bend / total * abs(np.sin(0.5 * angle))
    assert np.linalg.norm(span) == pytest.approx(np.hypot(rise, across), rel=5e-3)


def test_weight_of_a_rod_that_has_grown_and_curled_much_is_exact() -> None:
    """There are as many points that carry mass as its turns need: its centre of mass is that of its curve."""
    points = helix(1500, turns=2.0, radius=0.1, rise=0.3)
    sim = clamped(Rod.from_points(points, radius=2e-3, material=RUBBER), 0.0)
    sim.alter(0, curl=5.0, length=3.0)
    assert sim.settle()
    x = sim.current().positions(0)
    middle = 0.5 * (x[1:] + x[:-1]).mean(axis=0)
    rod = sim.scene.entries[0].rod
    mass = 3.0 * float((rod.mass_per_length * rod.rest_lengths).sum())
    for direction in np.eye(3):
        sim.surround(gravity=-direction)
        assert sim.energies().gravity == pytest.approx(
            mass * float((x[1:] + x[:-1]).mean(axis=0) @ direction) / 2.0, rel=1e-4
        )
    assert np.linalg.norm(middle) > 0.01


def test_a_rod_that_grows_down_stands_on_the_ground_and_buckles() -> None:
    """It can't go through, and nothing of what is grown in a frame does."""
    scene = Scene((0.0, 0.0, -1.0), drag=2.0)
    points = -0.5 * line(20)[:, [1, 2, 0]] + [0.0, 0.0, 0.52]
    points[:, 0] += 0.01 * np.sin(np.linspace(0.0, np.pi, 21))
    rod = scene.add(Rod.from_points(points, 0.01, RUBBER), "clothoid", elements=4, friction=0.5)
    scene.clamp(rod, "start")
    scene.collide(Plane(), friction=0.5)
    sim = Simulation(scene, threads=1)
    for k in range(24):
        sim.alter(rod, length=1.0 + 0.5 * (k + 1) / 24)
        frame = sim.step_frame()
        assert frame.report.failures == 0
        assert frame.positions(rod)[:, 2].min() > 0.01 * (1.0 - 0.02)
    x = frame.positions(rod)
    assert np.linalg.norm(np.diff(x, axis=0), axis=1).sum() == pytest.approx(0.75, rel=0.01)
    assert np.abs(x[:, :2]).max() > 0.1


def test_a_weight_is_let_down_on_a_rod_that_is_paid_out() -> None:
    """Evenly, in every frame as in the last: the rod carries the weight and what there is of itself below, all the time. Let go
    of, all falls, and carries nothing."""
    scene = Scene()
    rod = scene.add(Rod.from_points(np.linspace((0, 0, 0), (0, 0, -0.5), 11), 0.005, RUBBER), "clothoid", elements=3)
    hold = scene.clamp(rod, "start")
    ball = scene.add_body(Body(Sphere(0.03), mass=0.2, position=(0, 0, -0.53)))
    scene.attach(rod, "end", ball)
    sim = Simulation(scene, threads=1)
    heavy = 9.81 * float(scene.entries[0].rod.mass_per_length[0])
    for k in range(12):
        sim.alter(rod, length=1.0 + 0.25 * (k + 1) / 12)
        frame = sim.step_frame()
        length = 0.5 + 0.125 * (k + 1) / 12
        assert frame.body_position(ball)[2] == pytest.approx(-length - 0.03, abs=1e-9)
        assert frame.body_velocity(ball)[2] == pytest.approx(-0.25, rel=1e-6)
        assert sim.strains().tension(rod)[0] == pytest.approx(0.2 * 9.81 + heavy * 0.95 * length, rel=1e-6)
    sim.release(hold)
    for _ in range(2):
        before = sim.current().body_velocity(ball)[2]
        frame = sim.step_frame()
    assert frame.body_velocity(ball)[2] - before == pytest.approx(-9.81 / 24.0, rel=1e-6)
    assert np.abs(sim.strains().tension(rod)).max() < 1e-9
