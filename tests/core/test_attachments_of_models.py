"""What hangs on rods of models other than `der` pulls, swings and turns as it should."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tendril.core import Body, Box, Cylinder, Frame, Material, Rod, Scene, Simulation, Sphere

G = 9.81
PLASTIC = Material(young_modulus=1e9, density=1000.0)
MODELS = ["compact", "clothoid", "net"]
KINDS = ["weld", "ball", "swivel"]


def line(start, end, segments: int = 8, radius: float = 0.003) -> Rod:
    return Rod.from_points(np.linspace(start, end, segments + 1), radius, PLASTIC)


def weight_of(rod: Rod) -> float:
    return float((rod.mass_per_length * rod.rest_lengths).sum())


def run(scene: Scene, frames: int, **settings: object) -> list[Frame]:
    sim = Simulation(scene, threads=1, **settings)  # type: ignore[arg-type]
    seen = [sim.step_frame() for _ in range(frames)]
    assert sum(frame.report.failures for frame in seen) == 0
    return seen


def apart(frame: Frame, rod: int, vertex: int, body: int, point) -> float:
    """How far a vertex is from the point of the body that it was tied to."""
    there = frame.body_position(body) + frame.body_rotation(body) @ np.asarray(point)
    return float(np.linalg.norm(frame.positions(rod)[vertex] - there))


def first_zero(seen: list[Frame], values: np.ndarray) -> float:
    """When they first go through zero, s."""
    k = int(np.flatnonzero((values[:-1] > 0.0) & (values[1:] <= 0.0))[0])
    return float(seen[k].time + values[k] / (values[k] - values[k + 1]) / 24.0)


def kept(model: str, period: float) -> float:
    """What a vibration has left after half a period of 8 steps a frame: `net` and `compact` step to second order with bodies, the
    others by backward Euler, which takes away exp(-rate^2 h t / 2)."""
    return 1.0 if model in ("net", "compact") else math.exp(-(math.pi**2) / (8 * 24.0 * period))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS)
def test_a_heavy_weight_hangs(model: str, kind: str) -> None:
    """A thousand times as heavy as the rod: it is held with its weight, and what holds the rod feels both."""
    scene = Scene(drag=4.0)
    rope = line((0, 0, 0), (0, 0, -0.5))
    rod = scene.add(rope, model)
    top = scene.add_body(Body(Box((0.1, 0.1, 0.1)), position=(0, 0, 0.05), kinematic=True))
    mass = 1000.0 * weight_of(rope)
    weight = scene.add_body(Body(Sphere(0.05), mass=mass, position=(0, 0, -0.55), linear_damping=30.0))
    scene.attach(rod, "start", top, kind=kind)
    scene.attach(rod, "end", weight, kind=kind)
    last = run(scene, 20)[-1]
    assert last.body_force(weight) == pytest.approx([0.0, 0.0, mass * G], abs=2e-3 * mass * G)
    assert last.body_force(top) == pytest.approx([0.0, 0.0, -(mass + weight_of(rope)) * G], abs=2e-3 * mass * G)
    assert apart(last, rod, -1, weight, (0, 0, 0.05)) < 1e-6
    assert apart(last, rod, 0, top, (0, 0, -0.05)) < 1e-6


@pytest.mark.parametrize("kind", ["weld", "ball"])
@pytest.mark.parametrize("model", MODELS)
def test_a_pendulum_has_its_period(model: str, kind: str) -> None:
    """A ball of a kilogram on a rod of fourteen grams, let go two degrees from below. Welded it turns with the rod, on a ball joint
    it hardly turns, for the pull goes through its middle."""
    angle, length = math.radians(2.0), 0.5
    down = np.array([math.sin(angle), 0.0, -math.cos(angle)])
    rope = line((0, 0, 0), length * down)
    scene = Scene()
    rod = scene.add(rope, model)
    scene.pin(rod, "start")
    radius = 0.03
    ball = scene.add_body(Body(Sphere(radius), mass=1.0, position=length * down))
    scene.attach(rod, "end", ball, kind=kind)
    seen = run(scene, 20, substeps=8)
    m = weight_of(rope)
    turning = 0.4 * radius**2 if kind == "weld" else 0.0
    inertia = length**2 + turning + m * length**2 / 3.0
    period = 2.0 * math.pi * math.sqrt(inertia / (G * length * (1.0 + 0.5 * m)))
    places = np.array([frame.body_position(ball)[0] for frame in seen])
    assert first_zero(seen, places) == pytest.approx(0.25 * period, rel=0.01)
    assert -places.min() == pytest.approx(length * math.sin(angle) * kept(model, period), rel=0.02)


@pytest.mark.parametrize("model", MODELS)
def test_a_disc_turns_back_and_forth(model: str) -> None:
    """The torsional pendulum, on every model."""
    wire = line((0, 0, 0.5), (0, 0, 0), 8)
    scene = Scene(gravity=(0, 0, 0))
    rod = scene.add(wire, model)
    scene.clamp(rod, "start")
    disc = Body(Cylinder(0.05, 0.02), mass=0.5, position=(0, 0, -0.01), angular_velocity=(0, 0, 2.0))
    body = scene.add_body(disc)
    scene.attach(rod, "end", body)
    inertia = float(np.asarray(disc.inertia)[2, 2]) + float(wire.inertia_per_length[0]) * 0.5 / 3.0
    rate = math.sqrt(float(wire.twist_stiffness[0]) / 0.5 / inertia)
    seen = run(scene, 9, substeps=8)
    spins = np.array([frame.body_angular_velocity(body)[2] for frame in seen])
    assert first_zero(seen, spins) == pytest.approx(0.5 * math.pi / rate, rel=0.01)
    assert -spins.min() == pytest.approx(2.0 * kept(model, 2.0 * math.pi / rate), rel=0.02)


@pytest.mark.parametrize("model", MODELS)
def test_a_bridge_of_rods_and_bodies(model: str) -> None:
    """Closed loops: two posts that are led, two rods from each to a box, and a third body half way along one of the rods. Both
    posts together carry all of it, whichever way it hangs."""
    scene = Scene(drag=6.0)
    posts = [scene.add_body(Body(Box((0.1, 0.3, 0.1)), position=(x, 0, 0), kinematic=True)) for x in (-0.65, 0.65)]
    box = scene.add_body(
        Body(Box((0.2, 0.2, 0.1)), mass=0.4, position=(0, 0, 0), linear_damping=8.0, angular_damping=8.0)
    )
    carried = 0.4
    for y in (-0.08, 0.08):
        for side, post in zip((-1.0, 1.0), posts, strict=True):
            sag = -0.1 * np.sin(np.linspace(0.0, math.pi, 9))  # what can't be stretched needs some
            points = np.stack([np.linspace(0.6 * side, 0.1 * side, 9), np.full(9, y), sag], axis=1)
            rope = Rod.from_points(points, 0.003, PLASTIC)
            rod = scene.add(rope, model)
            scene.attach(rod, "start", post, kind="ball")
            scene.attach(rod, "end", box, kind="ball")
            carried += weight_of(rope)
    bob = scene.add_body(
        Body(Sphere(0.03), mass=0.1, position=(0.35, 0.08, -0.13), linear_damping=8.0, angular_damping=8.0)
    )
    scene.attach(rod, 4, bob, kind="ball")
    first, *_, last = run(scene, 40)
    forces = last.body_force(posts[0]) + last.body_force(posts[1])
    assert forces == pytest.approx([0.0, 0.0, -(carried + 0.1) * G], abs=0.01 * carried * G)
    assert last.body_force(posts[1])[2] < last.body_force(posts[0])[2], "the bob hangs on its side"
    at_first = apart(first, rod, 4, bob, (0, 0, 0.03))
    assert at_first < 1e-4, "a clothoid goes through drawn points within that"
    assert apart(last, rod, 4, bob, (0, 0, 0.03)) == pytest.approx(at_first, abs=1e-6)
    assert apart(last, rod, -1, box, (0.1, 0.08, 0.0)) < 1e-6


@pytest.mark.parametrize("model", MODELS)
def test_a_led_body_takes_the_rod_along(model: str) -> None:
    """Welded to a body that turns: the rod stands out from it like a cantilever, and turns with it."""
    scene = Scene(gravity=(0, 0, 0), drag=5.0)
    rod = scene.add(line((0.05, 0, 0), (0.35, 0, 0)), model)

    def path(t: float) -> tuple[tuple[float, float, float], np.ndarray]:
        angle = min(t, 1.0) * 0.5 * math.pi
        c, s = math.cos(angle), math.sin(angle)
        return (0.0, 0.2 * min(t, 1.0), 0.0), np.array([(c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)])

    body = scene.add_body(Body(Box((0.1, 0.1, 0.1)), path=path))
    scene.attach(rod, "start", body)
    last = run(scene, 36)[-1]
    assert last.positions(rod)[-1] == pytest.approx([0.0, 0.55, 0.0], abs=5e-3)
    assert apart(last, rod, 0, body, (0.05, 0, 0)) < 1e-6


@pytest.mark.parametrize("segments", [2, 4, 8])
def test_a_weld_holds_a_clothoid_where_it_is(segments: int) -> None:
    """Not in the middle of its last edge: twisted by a body at its end, or bent by a load at the other, it is as long as it was
    drawn, however few segments that took."""
    scene = Scene(gravity=(0, 0, 0), drag=5.0)
    wire = line((0, 0, 0.5), (0, 0, 0), segments)
    twisted, bent = scene.add(wire, "clothoid"), scene.add(wire, "clothoid")
    scene.clamp(twisted, "start")

    def path(t: float) -> tuple[tuple[float, float, float], np.ndarray]:
        c, s = math.cos(min(t, 0.5)), math.sin(min(t, 0.5))
        return (0.0, 0.0, 0.0), np.array([(c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)])

    turning = scene.add_body(Body(Box((0.1, 0.1, 0.1)), path=path))
    still = scene.add_body(Body(Box((0.1, 0.1, 0.1)), position=(0, 0, 0.5), kinematic=True))
    scene.attach(twisted, "end", turning)
    scene.attach(bent, "start", still)
    force = 0.02 * float(wire.bend[0, 0]) / 0.5**2
    scene.load(bent, "end", (force, 0.0, 0.0))
    sim = Simulation(scene, threads=1)
    for _ in range(12):
        sim.step_frame()
    assert sim.settle()
    assert sim.strains().twist(twisted) == pytest.approx(np.full(segments, -0.5 / 0.5), rel=2e-3)
    assert sim.current().positions(bent)[-1, 0] == pytest.approx(0.02 * 0.5 / 3.0, rel=4e-3)
