"""Rods and bodies that are tied to each other: in the core's own solver, all at once."""

from __future__ import annotations

import math

import numpy as np
import pytest
from attached_rods import apart
from tendril.core import Body, Box, Cylinder, Material, Rod, Scene, Simulation, Sphere, TendrilError
from tendril.core.contact.bodies.ties import Conditions, Ties, measure
from tendril.core.describe.rotations import rotation_about
from tendril.core.maths.geometry.frames import transport, turn

PLASTIC = Material(young_modulus=1e9, density=1000.0)
RADIUS = 0.0018  # a metre of it weighs ten grams
TILTED = rotation_about(np.array([0.36, 0.48, 0.8]), np.array(0.7))


def line(start, end, segments: int = 20, radius: float = RADIUS) -> Rod:
    return Rod.from_points(np.linspace(start, end, segments + 1), radius, PLASTIC)


def momentum(sim: Simulation) -> np.ndarray:
    """Linear and angular about the origin, of rods and bodies, but for the spin of rods."""
    bodies, total = sim._bodies.block, np.zeros(6)
    for m, x, v, own in zip(bodies.mass, bodies.state.x, bodies.state.v, bodies.momentum(), strict=True):
        total += np.concatenate([m * v, m * np.cross(x, v) + own])
    for block in sim.blocks:
        mass, q, v = block.arrays.rods.mass[:, 0], block.arrays.state.q[:, :3], block.arrays.state.v[:, :3]
        total += np.concatenate([mass @ v, mass @ np.cross(q, v)])
    return total


def run(scene: Scene, frames: int = 24, **settings) -> tuple[Simulation, list]:
    sim = Simulation(scene, 24.0, **settings)
    seen = []
    for _ in range(frames):
        seen.append(sim.step_frame())
        assert seen[-1].report.failures == 0
    return sim, seen


def test_derivatives_of_ties() -> None:
    random = np.random.default_rng(1)
    ties = Ties(
        np.zeros(1, np.int64), np.full(1, 6), np.array([0.3]), random.normal(size=(1, 3)), np.zeros((1, 3, 3)),
        np.array([0.8]),
    )  # fmt: skip
    x, rotation = random.normal(size=(1, 3)), TILTED[None].copy()
    start = random.normal(size=(1, 3))
    t = np.array([0.6, 0.0, 0.8])
    end, director = start + 0.8 * t, np.array([[0.8, 0.0, -0.6]])
    ties.frame[0] = (
        np.stack([director[0], np.cross(t, director[0]), t]) @ rotation[0]
    )  # aligned: rows in the body's axes
    force = random.normal(size=(1, 6))

    def at(edge: np.ndarray, body: np.ndarray) -> Conditions:
        """After a motion of the edge (7,) and of the body (6,)."""
        moved = [start + edge[:3], end + edge[3:6]]
        t0, e = end[0] - start[0], moved[1][0] - moved[0][0]
        t0, e = t0 / np.linalg.norm(t0), e / np.linalg.norm(e)
        d = np.array([turn(transport(tuple(director[0]), tuple(t0), tuple(e)), tuple(e), edge[6])])
        angle = np.linalg.norm(body[3:])
        turned = rotation_about(body[3:] / max(angle, 1e-300), np.array(angle)) @ rotation
        out = Conditions(
            np.zeros((1, 6)), np.zeros((1, 6, 7)), np.zeros((1, 6, 6)), np.zeros((1, 3, 3)), np.zeros((1, 3))
        )
        measure(ties, np.zeros(1, np.int64), *moved, d, x + body[:3], turned, force, out)
        return out

    here, h = at(np.zeros(7), np.zeros(6)), 1e-6
    assert here.amiss[0, 3:] == pytest.approx(0.0, abs=1e-12)
    for k in range(7):
        unit = h * np.eye(7)[k]
        slope = (at(unit, np.zeros(6)).amiss - at(-unit, np.zeros(6)).amiss)[0] / (2.0 * h)
        assert slope == pytest.approx(here.by_edge[0, :, k], abs=1e-8), k
    for k in range(6):
        unit = h * np.eye(6)[k]
        plus, minus = at(np.zeros(7), unit), at(np.zeros(7), -unit)
        assert (plus.amiss - minus.amiss)[0] / (2.0 * h) == pytest.approx(here.by_body[0, :, k], abs=1e-8), k
        if k >= 3:
            five = force[0, :5]  # the torque of the last condition does not follow the body
            torque = (five @ plus.by_body[0, :5, 3:] - five @ minus.by_body[0, :5, 3:]) / (2.0 * h)
            assert torque == pytest.approx(here.stiffness[0, :, k - 3], abs=1e-7), k


@pytest.mark.parametrize("ratio", [1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6])
@pytest.mark.parametrize("kind", ["weld", "ball"])
def test_any_ratio_of_masses(ratio: float, kind: str) -> None:
    """A body swings on a rope that weighs ten grams: nothing is halved, nothing gains energy, nothing comes apart."""
    scene = Scene()
    down = np.array([math.sin(0.5), 0.0, -math.cos(0.5)])
    stiff = Rod.from_points(
        np.linspace((0, 0, 0), down, 21), RADIUS, Material(young_modulus=max(1.0, ratio / 1e3) * 1e9, density=1000.0)
    )
    rod = scene.add(stiff)
    scene.pin(rod, "start")
    mass = ratio * float((stiff.mass_per_length * stiff.rest_lengths).sum())
    body = scene.add_body(Body(Sphere(0.05), mass=mass, position=1.05 * down))
    scene.attach(rod, "end", body, kind=kind)
    sim, frames = run(scene, 24)
    total = [frame.report.energies.total for frame in frames]
    swing = (mass + 0.01) * 9.81
    assert max(total) - total[0] <= 1e-3 * swing
    assert total[-1] - total[0] >= -0.25 * swing, "a rope that cracks like a whip may lose some"
    assert apart(sim) < 1e-6
    assert sum(frame.report.halvings + frame.report.fallbacks for frame in frames) == 0
    lengths = np.linalg.norm(np.diff(frames[-1].positions(rod), axis=0), axis=1)
    assert lengths.sum() == pytest.approx(1.0, rel=0.05)
    assert frames[-1].body_position(body)[0] < 0.4, "it moves"


def tumble(substeps: int) -> np.ndarray:
    """How much the momentum of two unequal bodies on a rod, tumbling in space, changes within a second."""
    scene = Scene(gravity=(0, 0, 0))
    rod = scene.add(line((0, 0, 0), (1, 0, 0), radius=0.01))
    one = scene.add_body(Body(Box((0.1, 0.2, 0.3)), density=100.0, position=(-0.05, 0, 0), velocity=(0, 1, 0)))
    two = scene.add_body(Body(Sphere(0.1), density=300.0, position=(1.1, 0, 0), angular_velocity=(3, 1, 0)))
    scene.attach(rod, "start", one)
    scene.attach(rod, "end", two)
    sim = Simulation(scene, substeps=substeps, tolerance=1e-6)
    before = momentum(sim)
    for _ in range(24):
        assert sim.step_frame().report.failures == 0
    return momentum(sim) - before


def test_momentum_of_what_flies_stays() -> None:
    coarse, fine = tumble(4), tumble(32)
    assert coarse[:3] == pytest.approx(0.0, abs=1e-10)
    assert coarse[3:] == pytest.approx(0.0, abs=5e-4 * 0.6), "of a body of 0.6 kg that moved with 1 m/s"
    assert abs(coarse[5]) > 8.0**1.8 * abs(fine[5]), "an error of second order"


def test_what_each_kind_holds() -> None:
    """A level rod, its end at a body that is led: a weld carries it like a cantilever, a swivel likewise but lets it spin, from a
    ball it hangs."""
    tips, spins = {}, {}
    for kind in ("weld", "swivel", "ball"):
        scene = Scene(drag=5.0)
        rod = scene.add(line((0, 0, 0), (0.3, 0, 0), 10))
        body = scene.add_body(Body(Box((0.1, 0.1, 0.1)), position=(-0.05, 0, 0), kinematic=True))
        scene.attach(rod, "start", body, kind=kind)
        sim = Simulation(scene)
        angle = 0.0
        for k in range(24):
            angle = 0.1 * k
            sim.move_body(body, rotation=rotation_about(np.array([1.0, 0, 0]), np.array(angle)))
            frame = sim.step_frame()
            assert frame.report.failures == 0
        tips[kind] = frame.positions(rod)[-1]
        d = frame.directors(rod)[0]
        spins[kind] = abs(float(frame.body_rotation(body)[:, 1] @ d)) if kind != "ball" else 0.0
        assert apart(sim) < 1e-9
    assert tips["weld"][0] == pytest.approx(tips["swivel"][0], abs=0.02)
    assert tips["weld"][0] > 0.2
    assert tips["ball"][0] < 0.05
    assert spins["weld"] != pytest.approx(spins["swivel"], abs=0.05)


def test_loops_of_rods_and_bodies() -> None:
    """Two bodies joined by three rods, one of them closed on its own body; hung from a fourth: it comes to rest, and the top rod
    carries all weight."""
    scene = Scene(drag=8.0)
    left = scene.add_body(Body(Box((0.1, 0.1, 0.1)), mass=0.5, position=(0, 0, 0), rotation=TILTED))
    right = scene.add_body(Body(Sphere(0.05), mass=0.2, position=(0.5, 0, 0)))
    for z, kind in ((0.04, "weld"), (-0.04, "ball")):
        rod = scene.add(line((0, 0, z), (0.5, 0, z)))
        scene.attach(rod, "start", left, kind=kind)
        scene.attach(rod, "end", right, kind=kind)
    angle = np.linspace(0.0, 2.0 * np.pi, 31)[:-1]
    ring = np.stack([0.5 + 0.1 * np.cos(angle), 0.1 * np.sin(angle), np.full(30, -0.1)], axis=1)
    loop = scene.add(Rod.from_points(ring, RADIUS, PLASTIC, closed=True))
    scene.attach(loop, 0, right)
    scene.attach_edge(loop, 15, right, kind="ball")
    top = scene.add(line((0, 0, 1.0), (0, 0, 0.05)))
    scene.pin(top, "start")
    scene.attach_edge(top, 19, left, kind="swivel")
    sim, frames = run(scene, 96)
    assert apart(sim) < 1e-6
    weight = 9.81 * (0.7 + sum(float((e.rod.mass_per_length * e.rod.rest_lengths).sum()) for e in scene.entries))
    rest = scene.entries[top].rod.rest_lengths
    strain = np.linalg.norm(np.diff(frames[-1].positions(top), axis=0), axis=1) / rest - 1.0
    assert float(scene.entries[top].rod.stretch[0] * strain[0]) == pytest.approx(weight, rel=0.02)
    assert np.abs(frames[-1].body_velocity(right)).max() < 0.02


def test_a_body_feels_the_force_that_holds_it() -> None:
    scene = Scene(drag=4.0)
    rod = scene.add(line((0, 0, 1), (0, 0, 0)))
    scene.pin(rod, "start")
    body = scene.add_body(Body(Sphere(0.05), mass=0.3, position=(0, 0, -0.05), linear_damping=20.0))
    scene.attach(rod, "end", body)
    _, frames = run(scene, 48)
    assert frames[-1].body_force(body) == pytest.approx([0.0, 0.0, 0.3 * 9.81], abs=1e-3)
    assert frames[-1].body_torque(body) == pytest.approx(0.0, abs=1e-3)


def test_attached_rods_go_on_from_a_state_with_the_same_bits() -> None:
    def build() -> Scene:
        scene = Scene()
        rod = scene.add(line((0, 0, 0), (1, 0, 0)))
        scene.clamp(rod, "start", path=lambda t: ((0.0, 0.0, 0.1 * math.sin(5.0 * t)), np.eye(3)))
        body = scene.add_body(Body(Box((0.1, 0.1, 0.05)), mass=0.05, position=(1.05, 0, 0)))
        led = scene.add_body(Body(Sphere(0.05), position=(0.5, 0, 0.05), path=lambda t: ((0.5, t, 0.05), np.eye(3))))
        scene.attach(rod, "end", body)
        scene.attach(rod, 10, led, kind="ball")
        return scene

    sim = Simulation(build(), threads=1)
    for _ in range(3):
        sim.step_frame()
    state = sim.state()
    later = [sim.step_frame() for _ in range(3)][-1]
    again = Simulation(build(), threads=2)
    again.restore(state, 4)
    same = [again.step_frame() for _ in range(3)][-1]
    assert np.array_equal(later.positions(0), same.positions(0))
    assert np.array_equal(later.body_rotation(0), same.body_rotation(0))
    assert np.array_equal(later.body_velocity(0), same.body_velocity(0))


def test_a_fast_disc_on_a_rod_turns_the_rod_with_it() -> None:
    """A spinning top on a wire: fast steps are taken in parts, and its spin twists the wire up."""
    scene = Scene(gravity=(0, 0, 0))
    wire = line((0, 0, 0), (0, 0, 1), radius=0.003)
    rod = scene.add(wire)
    scene.clamp(rod, "start")
    top = Body(Cylinder(0.05, 0.01), mass=0.1, position=(0, 0, 1.005), angular_velocity=(0, 0, 100.0))
    body = scene.add_body(top)
    scene.attach(rod, "end", body)
    _, frames = run(scene, 12)
    inertia = float(np.asarray(top.inertia)[2, 2]) + float(wire.inertia_per_length[0]) / 3.0
    rate = math.sqrt(float(wire.twist_stiffness[0]) / inertia)
    for frame in frames[:6]:
        expected = 100.0 * math.cos(rate * frame.time)
        assert frame.body_angular_velocity(body)[2] == pytest.approx(expected, abs=3.0)


def over_a_drum(friction: float, frames: int) -> tuple[Simulation, list]:
    """Two balls, of 1 kg and 1.5 kg, on a rope over a drum."""
    drum, rope, down = 0.1, 0.004, np.linspace(0.0, 0.5, 21)[1:]
    angle = np.linspace(math.pi, 0.0, 25)
    r = drum + rope
    sides = [np.stack([np.full(20, x), np.zeros(20), -down], axis=1) for x in (-r, r)]
    top = np.stack([r * np.cos(angle), np.zeros(25), r * np.sin(angle)], axis=1)
    points = np.concatenate([sides[0][::-1], top, sides[1]])
    scene = Scene()
    material = Material(young_modulus=1e8, density=1000.0)
    rod = scene.add(Rod.from_points(points, rope, material, rest="straight"), friction=friction)
    lying = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]
    scene.collide(Cylinder(drum, 0.5, rotation=lying), friction=friction)
    for mass, where, x in ((1.0, "start", -r), (1.5, "end", r)):
        body = scene.add_body(Body(Sphere(0.05), mass=mass, position=(x, 0.0, -0.55)))
        scene.attach(rod, where, body, kind="ball")
    return run(scene, frames)


def test_an_atwood_machine() -> None:
    """Contact and ties in one solve: without friction the heavier ball goes down as the formula says, with some (0.3 over half a
    turn holds 2.57 times as much) both hang still."""
    sim, frames = over_a_drum(0.0, 8)
    rope = float((sim.scene.entries[0].rod.mass_per_length * sim.scene.entries[0].rod.rest_lengths).sum())
    expected = 0.5 * 9.81 / (2.5 + rope)
    assert frames[-1].body_velocity(0)[2] / frames[-1].time == pytest.approx(expected, rel=0.02)
    assert apart(sim) < 1e-9
    assert sum(frame.report.halvings for frame in frames) == 0
    _, frames = over_a_drum(0.3, 5)
    assert frames[-1].body_position(1)[2] == pytest.approx(-0.55, abs=0.003)


@pytest.mark.parametrize("kind", ["ball", "swivel", "weld"])
def test_a_body_that_a_rod_lets_go_of_falls_freely(kind: str) -> None:
    scene = Scene()
    rod = scene.add(line((0.0, 0.0, 0.0), (0.0, 0.0, -0.5)))
    scene.pin(rod, "start")
    body = scene.add_body(Body(Sphere(0.05), mass=0.5, position=(0.0, 0.0, -0.5), velocity=(0.3, 0.0, 0.0)))
    tie = scene.attach(rod, "end", body, kind=kind)
    sim = Simulation(scene, 24.0, threads=1)
    for _ in range(4):
        sim.step_frame()
    assert abs(sim.step_frame().body_velocity(body)[2]) < 0.2
    sim.detach(tie)
    start = sim.current()
    for _ in range(6):
        frame = sim.step_frame()
    t = 6 / 24.0
    place = start.body_position(body) + t * start.body_velocity(body) + [0.0, 0.0, -0.5 * 9.81 * t * t]
    np.testing.assert_allclose(frame.body_position(body), place, atol=1e-6)
    np.testing.assert_array_equal(frame.body_force(body), 0.0)
    assert np.linalg.norm(frame.positions(rod)[-1]) < 0.51
    with pytest.raises(TendrilError, match="attachment"):
        sim.detach(tie + 1)
