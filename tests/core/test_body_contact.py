"""Rods touch bodies, and push them."""

from __future__ import annotations

import numpy as np
import pytest
from tendril.core import Body, Box, Cone, Hull, Material, Plane, Rod, Scene, Simulation, Sphere

RUBBER = Material(young_modulus=1e7, density=1000.0)
CORNERS = np.array([(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])


@pytest.mark.parametrize("shape", [Sphere(0.1), Hull(CORNERS)], ids=["sphere", "hull"])
def test_a_rod_hits_a_free_body(shape) -> None:
    """Off its middle, in space: what one loses the other gains, and they never pass through each other."""
    scene = Scene(gravity=(0, 0, 0))
    rod = scene.add(
        Rod.from_points(np.linspace((-0.3, 0.03, 0.12), (0.3, 0.03, 0.12), 25), 0.01, RUBBER), velocity=(0, 0, -1.0)
    )
    body = scene.add_body(Body(shape, mass=0.3, collides=True))
    sim = Simulation(scene, substeps=4)
    mass = sim.blocks[0].arrays.rods.mass[:, :1]
    before = -float(mass.sum())
    frames = [sim.step_frame() for _ in range(6)]
    after = (mass * sim.blocks[0].velocities()).sum(axis=0) + 0.3 * frames[-1].body_velocity(body)
    assert after == pytest.approx([0.0, 0.0, before], abs=5e-3 * abs(before))
    assert frames[-1].body_velocity(body)[2] < -0.1
    assert abs(frames[-1].body_angular_velocity(body)[0]) > 0.05, "it was hit beside its middle"
    for frame in frames:
        assert frame.report.failures == 0
        if isinstance(shape, Sphere):
            distance = np.linalg.norm(frame.positions(rod) - frame.body_position(body), axis=1)
            assert distance.min() > 0.1 + 0.01 - 2e-4


def test_ropes_carry_a_box() -> None:
    scene = Scene(drag=3.0)
    for y in (-0.05, 0.05):
        rope = scene.add(Rod.from_points(np.linspace((-0.5, y, 0), (0.5, y, 0), 31), 0.008, RUBBER))
        scene.pin(rope, "start")
        scene.pin(rope, "end")
    box = scene.add_body(Body(Box((0.2, 0.3, 0.1)), mass=0.3, position=(0.0, 0.0, 0.06), collides=True))
    sim = Simulation(scene)
    frames = [sim.step_frame() for _ in range(30)]
    assert sum(frame.report.failures for frame in frames) == 0
    at_edge = frames[-1].positions(0)[[12, 18], 2]  # below the box the rope sags a little more
    assert frames[-1].body_position(box)[2] - 0.05 == pytest.approx(at_edge + 0.008, abs=0.002), "it lies on the ropes"
    assert np.abs(frames[-1].body_velocity(box)).max() < 0.1


def test_a_rope_may_lie_on_the_body_it_is_attached_to() -> None:
    """Where it is attached it would overlap: no contact fights the tie."""
    scene = Scene()
    rope = scene.add(Rod.from_points(np.linspace((0, 0, 1), (0, 0, 0), 21), 0.01, RUBBER))
    scene.pin(rope, "start")
    body = scene.add_body(Body(Cone(0.1, 0.2), mass=0.2, position=(0.0, 0.0, -0.1), collides=True))
    scene.attach(rope, "end", body)
    sim = Simulation(scene)
    frames = [sim.step_frame() for _ in range(6)]
    assert sum(frame.report.failures + frame.report.halvings for frame in frames) == 0
    assert abs(frames[-1].body_position(body)[0]) < 1e-6


def test_ropes_with_weights_touch_while_others_do_not() -> None:
    """Some of the ropes that are tied to bodies press on each other: the system of all ties is still solved as a whole."""
    scene = Scene(rod_contact=True)
    scene.collide(Plane())
    for k, y in enumerate((0.0, 0.0, 0.5)):
        direction = np.array([np.cos(1.2 * k), np.sin(1.2 * k), 0.0])
        middle = np.array([0.0, y, 0.05 + 0.012 * k])
        points = middle + np.linspace(-0.15, 0.15, 16)[:, None] * direction
        rope = scene.add(Rod.from_points(points, 0.004, Material.preset("nylon rope")))
        weight = scene.add_body(Body(Sphere(0.02), density=1000.0, position=points[-1] + 0.02 * direction))
        scene.attach(rope, "end", weight, kind="weld")
    sim = Simulation(scene)
    for _ in range(10):
        report = sim.step_frame().report
        assert report.failures == 0
        assert report.problems == ()
