"""Bodies on explicit nets: stepped with them, in the model's own small steps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from attached_rods import apart
from tendril.core import Body, Box, Cylinder, Material, Plane, Rod, Scene, Simulation, Sphere

SOFT = Material(young_modulus=2e7, density=1000.0)
RADIUS = 0.004


def line(start, end, segments: int = 8) -> Rod:
    return Rod.from_points(np.linspace(start, end, segments + 1), RADIUS, SOFT)


def crossings(values: np.ndarray, rate: float) -> float:
    """The period, by linear interpolation between samples of opposite signs."""
    k = np.flatnonzero(values[:-1] * values[1:] < 0.0)
    times = (k + values[k] / (values[k] - values[k + 1])) / rate
    return 2.0 * float(np.diff(times).mean())


@pytest.mark.parametrize("mass", [0.05, 10.0])
def test_a_ball_swings_with_the_period_of_the_pendulum(mass: float) -> None:
    """From as heavy as its string to 250 times; the string stretches by less than a hundredth."""
    length, angle = 0.5, 0.05
    direction = np.array([math.sin(angle), 0.0, -math.cos(angle)])
    stiff = Material(young_modulus=1.6e7 * max(1.0, mass), density=1000.0)
    scene = Scene()
    rod = scene.add(Rod.from_points(np.linspace(0.0, length, 5)[:, None] * direction, 5e-3, stiff), "corde")
    scene.pin(rod, "start")
    ball = scene.add_body(Body(Sphere(0.03), mass=mass, position=tuple(length * direction)))
    scene.attach(rod, "end", ball)
    sim = Simulation(scene, 48.0)
    x = np.array([frame.body_position(ball)[0] for frame in sim.frames(1, 55)])
    string = scene.entries[rod].rod.mass_per_length[0] * length
    inertia, torque = length**2 * (string / 3.0 + mass), 9.81 * length * (0.5 * string + mass)
    assert crossings(x, 48.0) == pytest.approx(2.0 * math.pi * math.sqrt(inertia / torque), rel=0.01)
    assert apart(sim) < 1e-6
    assert sim.current().report.failures == 0


def test_a_welded_disk_turns_with_the_period_of_the_torsion_pendulum() -> None:
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    rod = line((0.0, 0.0, 0.0), (0.0, 0.0, -0.4))
    number = scene.add(rod, "corde")
    scene.clamp(number, "start")
    disk = Body(Cylinder(0.05, 0.01), mass=0.5, position=(0.0, 0.0, -0.4), angular_velocity=(0.0, 0.0, 1.0))
    body = scene.add_body(disk)
    scene.attach(number, "end", body, kind="weld")
    sim = Simulation(scene, 48.0)
    spin = np.array([frame.body_angular_velocity(body)[2] for frame in sim.frames(1, 75)])
    inertia = float(np.asarray(disk.inertia)[2, 2]) + 0.5 * rod.mass_per_length[0] * RADIUS**2 * 0.4 / 3.0
    stiffness = float(rod.twist_stiffness[0]) / 0.4
    assert crossings(spin, 48.0) == pytest.approx(2.0 * math.pi * math.sqrt(inertia / stiffness), rel=0.01)


def test_what_is_free_keeps_its_momentum() -> None:
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    rod = scene.add(line((0.0, 0.0, 0.0), (0.3, 0.0, 0.0)), "corde")
    for k, mass in enumerate((0.02, 0.2)):
        body = scene.add_body(
            Body(Box((0.03, 0.04, 0.05)), mass=mass, position=(0.3 * k, 0.0, 0.0), velocity=(0.0, 0.2 - k, 0.1),
                 angular_velocity=(1.0, 0.5 * k, -2.0))
        )  # fmt: skip
        scene.attach(rod, ("start", "end")[k], body, kind=("weld", "ball")[k])
    sim = Simulation(scene, 24.0)
    before, energy = momentum(sim), sim.energies().total
    for _ in range(12):
        assert sim.step_frame().report.failures == 0
    np.testing.assert_allclose(momentum(sim)[:3], before[:3], atol=1e-10)
    np.testing.assert_allclose(momentum(sim)[3:], before[3:], atol=2e-3 * np.abs(before[3:]).max())
    assert 0.9 * energy < sim.energies().total < 1.01 * energy
    assert apart(sim) < 1e-6


def momentum(sim: Simulation) -> np.ndarray:
    bodies, total = sim._bodies.block, np.zeros(6)
    for m, x, v, own in zip(bodies.mass, bodies.state.x, bodies.state.v, bodies.momentum(), strict=True):
        total += np.concatenate([m * v, m * np.cross(x, v) + own])
    n, state = sim.blocks[0].arrays.nets, sim.blocks[0].arrays.state
    return total + np.concatenate([n.mass @ state.v, n.mass @ np.cross(state.r, state.v)])


def swinging(model: str) -> tuple[Simulation, int]:
    """Two rods and two bodies in a loop with a third, kinematic one that moves."""
    scene = Scene()
    leader = scene.add_body(
        Body(
            Box((0.1, 0.1, 0.05)),
            position=(0.0, 0.0, 0.0),
            path=lambda t: ((0.1 * math.sin(3.0 * t), 0.0, 0.0), np.eye(3)),
        )
    )
    left, right = (scene.add(line((x, 0.0, 0.0), (x, 0.0, -0.3), 6), model) for x in (-0.1, 0.1))
    load = scene.add_body(Body(Box((0.25, 0.05, 0.05)), mass=0.2, position=(0.0, 0.0, -0.3)))
    for rod in (left, right):
        scene.attach(rod, "start", leader, kind="weld")
        scene.attach(rod, "end", load, kind="swivel")
    return Simulation(scene, 24.0, substeps=8), load


def test_it_moves_as_an_implicit_net_does() -> None:
    (one, load), (other, _) = swinging("corde"), swinging("net")
    assert len(one.scene.attachments) == 4
    for _ in range(12):
        a, b = one.step_frame(), other.step_frame()
        assert np.linalg.norm(a.body_position(load) - b.body_position(load)) < 2e-3
    assert np.abs(a.body_position(load)[0]) > 0.01
    assert a.body_force(load)[2] == pytest.approx(b.body_force(load)[2], rel=0.2)
    assert apart(one) < 1e-6


def hanging(model: str, floor: float | None = None) -> tuple[Simulation, int]:
    """A ball at the end of a rod that begins level and falls, onto a floor if there is one."""
    scene = Scene()
    rod = scene.add(line((0.0, 0.0, 0.0), (0.3, 0.0, 0.0)), model)
    scene.pin(rod, "start")
    ball = Body(Sphere(0.05), mass=0.1, position=(0.3, 0.0, 0.0), collides=floor is not None)
    body = scene.add_body(ball)
    scene.attach(rod, "end", body)
    if floor is not None:
        scene.collide(Plane((0.0, 0.0, floor)))
    return Simulation(scene, 48.0, substeps=4), body


def test_contact_that_does_not_happen_changes_nothing() -> None:
    (one, body), (other, _) = hanging("corde"), hanging("corde", -3.0)
    for _ in range(6):
        a, b = one.step_frame(), other.step_frame()
        assert np.array_equal(a.positions(0), b.positions(0))
        assert np.array_equal(a.body_position(body), b.body_position(body))
        assert b.report.implicit == frozenset()


def test_a_body_on_a_net_falls_on_a_floor() -> None:
    """While it touches it the steps are implicit, and it moves as with `net`."""
    (one, body), (other, _) = hanging("corde", -0.25), hanging("net", -0.25)
    start = one.energies().total
    for _ in range(24):
        a, b = one.step_frame(), other.step_frame()
        assert a.report.failures == 0
        assert a.body_position(body)[2] > -0.2002
        assert a.report.energies.total < start + 1e-4
    assert a.report.implicit == {0}
    assert a.body_position(body)[2] == pytest.approx(-0.2, abs=2e-4)
    assert np.linalg.norm(a.body_position(body) - b.body_position(body)) < 5e-3
    assert apart(one) < 1e-6


def test_rest_with_bodies_is_that_of_an_implicit_net() -> None:
    (one, body), (other, _) = hanging("corde"), hanging("net")
    assert one.settle()
    assert other.settle()
    assert one.current().body_position(body) == pytest.approx(other.current().body_position(body), abs=1e-6)


def test_rods_of_another_model_on_the_same_body_are_solved_together() -> None:
    def linked(model: str) -> Simulation:
        simulation, body = hanging(model)
        scene = simulation.scene
        scene.attach(scene.add(line((0.3, 0.0, 0.0), (0.3, 0.0, -0.3)), "der"), "start", body)
        return Simulation(scene, 48.0, substeps=16, integrator="backward euler")

    one, other = linked("corde"), linked("net")
    for _ in range(12):
        a, b = one.step_frame(), other.step_frame()
        assert a.report.failures == 0
        assert np.linalg.norm(a.body_position(0) - b.body_position(0)) < 2e-3
    assert a.report.implicit == {0}


def test_a_net_lets_go_of_a_body() -> None:
    sim, body = hanging("corde")
    for _ in range(4):
        sim.step_frame()
    sim.detach(0)
    start = sim.current()
    for _ in range(4):
        frame = sim.step_frame()
    t = 4 / 48.0
    fall = t * start.body_velocity(body)[2] - 0.5 * 9.81 * t * t
    assert frame.body_position(body)[2] - start.body_position(body)[2] == pytest.approx(fall, rel=0.05)
