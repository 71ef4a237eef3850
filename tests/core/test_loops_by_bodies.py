"""Loops and second clamps of models that have none by themselves: ends are welded to a body, which is light or led."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tendril.core import Body, Rod, Scene, Simulation, Sphere, Stiffness

BEND, TWIST, LENGTH = 1e-3, 8e-4, 1.0
STIFFNESS = Stiffness(stretch=1e4, bend_1=BEND, bend_2=BEND, twist=TWIST, mass_per_length=0.02)


def rod_through(points, **more) -> Rod:
    return Rod.from_points(points, 0.003, stiffness=STIFFNESS, damping_time=0.02, **more)


def arch(model: str, segments: int, elements: int | None = None) -> np.ndarray:
    """Both ends are clamped, level and 0.8 m apart; the rod of a metre hangs between them. (N, 3) at rest."""
    scene = Scene()
    straight = rod_through(np.linspace((0, 0, 0), (LENGTH, 0, 0), segments + 1))
    scene.add(straight, model, elements=elements)
    scene.clamp(0, "start")
    led = Body(
        Sphere(0.01),
        position=(LENGTH, 0, 0),
        path=lambda t: ((LENGTH - 0.2 * min(t, 1.0), 0.0, 0.0), np.eye(3)),
    )
    scene.attach(0, "end", scene.add_body(led))
    sim = Simulation(scene, 24.0, substeps=4)
    for frame in sim.frames(2, 26):
        assert frame.report.failures == 0
    assert sim.settle()
    return sim.current().positions(0)


def test_a_clothoid_is_clamped_at_both_ends() -> None:
    """The second clamp is a weld to a body that is led. As many discrete segments as have converged say where it hangs."""
    fine, coarse = arch("der", 80), arch("clothoid", 40, 4)
    assert coarse[-1] == pytest.approx([0.8, 0.0, 0.0], abs=1e-6)
    at = np.linspace(0.0, LENGTH, 81)
    x = np.stack([np.interp(at, np.linspace(0.0, LENGTH, 41), coarse[:, c]) for c in range(3)], axis=1)
    assert fine[:, 2].min() < -0.25
    assert np.abs(x - fine).max() < 5e-3 * LENGTH


def test_a_closed_clothoid_is_squeezed_and_springs_back() -> None:
    """A naturally straight rod is bent to a circle, and closed by a body that weighs a two-hundredth of it."""
    angle = np.linspace(0.0, 2.0 * math.pi, 61)
    radius = LENGTH / (2.0 * math.pi)
    points = radius * np.stack([np.sin(angle), np.cos(angle) - 1.0, 0.0 * angle], axis=1)
    scene = Scene(gravity=(0, 0, 0), drag=3.0)
    scene.add(rod_through(points, rest="straight"), "clothoid", elements=6)
    body = scene.add_body(Body(Sphere(0.003), mass=1e-4, position=(0, 0, 0)))
    for end in ("start", "end"):
        scene.attach(0, end, body)
    for vertex, side in ((15, -1.0), (45, 1.0)):
        scene.load(0, vertex, lambda t, side=side: (0.08 * side * (t < 0.5), 0.0, 0.0))
    sim = Simulation(scene, 24.0, substeps=4)
    circle = 2.0 * math.pi**2 * BEND / LENGTH
    assert sim.energies().elastic == pytest.approx(circle, rel=1e-6)
    most = 0.0
    for frame in sim.frames(2, 72):
        assert frame.report.failures == 0
        x = frame.positions(0)
        assert np.linalg.norm(x[0] - x[-1]) < 1e-6 * LENGTH
        most = max(most, frame.report.energies.elastic)
    assert most > 1.05 * circle
    assert frame.report.energies.elastic == pytest.approx(circle, rel=1e-3)
    assert np.ptp(x[:, 0]) == pytest.approx(np.ptp(x[:, 1]), rel=0.03)


def theta(model: str) -> Simulation:
    """Two arcs and a straight rod between the same two bodies: two loops. One body is held, the figure falls and swings."""
    scene = Scene()
    side = 0.2
    angle = np.linspace(0.0, math.pi, 25)
    for sign in (1.0, -1.0):
        arc = np.stack([side * (1.0 - np.cos(angle)), 0.0 * angle, sign * side * np.sin(angle)], axis=1)
        scene.add(rod_through(arc), model)
    scene.add(rod_through(np.linspace((0, 0, 0), (2.0 * side, 0, 0), 17)), model)
    held = scene.add_body(Body(Sphere(0.01), path=lambda _: ((0.0, 0.0, 0.0), np.eye(3))))
    free = scene.add_body(Body(Sphere(0.01), mass=2e-3, position=(2.0 * side, 0, 0)))
    for number in range(3):
        scene.attach(number, "start", held, kind="ball")
        scene.attach(number, "end", free)
    return Simulation(scene, 48.0, substeps=8)


def test_loops_of_compact_rods() -> None:
    """They move as loops of rods that hardly stretch, and keep their lengths exactly."""
    inextensible, elastic = theta("compact"), theta("der")
    for _ in range(24):
        one, other = inextensible.step_frame(), elastic.step_frame()
        assert one.report.failures == 0
        for number in range(3):
            assert np.abs(one.positions(number) - other.positions(number)).max() < 5e-3
    for number, entry in enumerate(inextensible.scene.entries):
        edges = np.linalg.norm(np.diff(one.positions(number), axis=0), axis=1)
        assert edges == pytest.approx(entry.rod.rest_lengths, rel=1e-12)
        assert one.positions(number)[-1] == pytest.approx(one.body_position(1), abs=1e-6)
    assert one.body_position(1)[2] < -0.1
