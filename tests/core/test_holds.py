"""Holds: what they keep still, carry along and turn, at the ends and inside of open and closed rods."""

from __future__ import annotations

import math

import numpy as np
import pytest
from plain_rods import circle, helix, knot, line, made_of, plain_rod, precise, settled, weightless
from tendril.core import Rod, Scene, Simulation, TendrilError
from tendril.core.describe.rotations import interpolate_rotations, rotation_about

TURN = rotation_about(np.array([0.48, 0.6, 0.64]), np.array(2.0))
FLAT = made_of(stretch=1e3, bend=(1.0, 3.0))


def open_rod() -> Rod:
    return plain_rod(helix(10), FLAT)


def closed_rod() -> Rod:
    return plain_rod(knot(24), FLAT, closed=True)


def hold(scene: Scene, kind: str, place: int, *functions) -> int:
    method = {"pin": scene.pin, "clamp": scene.clamp, "orient": scene.orient, "edge": scene.clamp_edge}[kind]
    return method(0, place, *functions)


PLACES = [("open", 0), ("open", 1), ("open", 4), ("open", 9), ("closed", 0), ("closed", 23), ("closed", 11)]


@pytest.mark.parametrize("integrator", ["tr-bdf2", "midpoint"])
@pytest.mark.parametrize(("shape", "place"), [*PLACES, ("open", 10)])
@pytest.mark.parametrize("kind", ["pin", "clamp", "edge"])
def test_what_is_held_stays(kind: str, shape: str, place: int, integrator: str) -> None:
    """To the last bit (an edge, which is held by its middle, to round-off), while the rest falls and swings."""
    rod = open_rod() if shape == "open" else closed_rod()
    place = min(place, rod.edge_count - 1) if kind == "edge" else place
    held = [place, (place + 1) % rod.vertex_count] if kind == "edge" else [place]
    scene = Scene()
    scene.add(rod)
    hold(scene, kind, place)
    sim = precise(scene, substeps=8, integrator=integrator)
    for frame in sim.frames(2, 4):
        assert frame.report.converged
        assert np.abs(frame.positions(0)[held] - rod.points[held]).max() <= (3e-16 if kind == "edge" else 0.0)
        assert np.abs(frame.velocities(0)[held]).max() <= (1e-12 if kind == "edge" else 0.0)
    free = np.delete(np.arange(rod.vertex_count), held)
    assert np.linalg.norm(frame.positions(0)[free] - rod.points[free], axis=1).min() > 1e-4


@pytest.mark.parametrize(("shape", "place"), [*PLACES, ("open", 10)])
@pytest.mark.parametrize("kind", ["clamp", "edge", "orient"])
def test_a_rod_at_rest_follows_a_turned_frame_rigidly(kind: str, shape: str, place: int) -> None:
    """At rest it is as it was, moved and turned with the hold; one whose position is free keeps its centre of mass."""
    rod = open_rod() if shape == "open" else closed_rod()
    place = min(place, rod.edge_count - 1) if kind == "edge" else place
    scene = weightless()
    scene.add(rod)
    held = hold(scene, kind, place)
    sim = precise(scene)
    masses = sim.blocks[0].arrays.rods.mass[:, :1]
    centre = rod.points[place]
    if kind == "edge":
        centre = 0.5 * (centre + rod.points[(place + 1) % rod.vertex_count])
    if kind == "orient":
        centre = (masses * rod.points).sum(axis=0) / masses.sum()
    target = centre if kind == "orient" else centre + np.array([0.3, -0.2, 0.1])
    directors = sim.current().directors(0)
    for part in (0.25, 0.5, 0.75, 1.0):
        sim.move(held, None if kind == "orient" else target, interpolate_rotations(np.eye(3), TURN, part))
        sim.step_frame()
        settled(sim)
    frame = sim.current()
    assert frame.positions(0) == pytest.approx((rod.points - centre) @ TURN.T + target, abs=1e-7)
    assert frame.directors(0) == pytest.approx(directors @ TURN.T, abs=1e-7)
    assert frame.report.energies.elastic < 1e-12


def test_a_pin_lets_the_rod_turn_and_a_clamp_does_not() -> None:
    scene = Scene()
    for k in range(2):
        scene.add(plain_rod(line(10) + np.array([0.0, k, 0.0]), made_of(bend=20.0)))
    scene.pin(0, "start")
    scene.clamp(1, "start")
    frame = settled(precise(scene)).current()
    hanging, cantilever = frame.positions(0), frame.positions(1)
    assert hanging[-1] == pytest.approx([0.0, 0.0, -1.0], abs=1e-3)
    # Its own weight bends a stiff one by the eighth part of g / EI.
    assert cantilever[-1, 2] == pytest.approx(-9.81 / 20.0 / 8.0, rel=0.02)


def way_of(t: float) -> np.ndarray:
    return np.array([0.3 * math.sin(5.0 * t), 0.4 * t * t, 0.2 - 0.2 * math.cos(3.0 * t)])


def turn_of(t: float) -> np.ndarray:
    return rotation_about(np.array([0.6, 0.8, 0.0]), np.array(3.0 * t))


@pytest.mark.parametrize("integrator", ["tr-bdf2", "sdirk2", "backward euler", "midpoint"])
@pytest.mark.parametrize(("shape", "place"), [("open", 0), ("open", 5), ("closed", 0), ("closed", 7)])
@pytest.mark.parametrize("kind", ["pin", "clamp", "edge"])
def test_paths_are_followed(kind: str, shape: str, place: int, integrator: str) -> None:
    """At frames up to round-off; between substeps along chords, so velocities are those of the last chord."""
    rod = open_rod() if shape == "open" else closed_rod()
    after = (place + 1) % rod.vertex_count
    held = [place, after] if kind == "edge" else [place]
    centre = rod.points[held].mean(axis=0)

    def where(vertex: int, t: float) -> np.ndarray:
        return centre + way_of(t) + turn_of(t) @ (rod.points[vertex] - centre)

    scene = Scene()
    scene.add(rod)
    path = (lambda t: centre + way_of(t)) if kind == "pin" else (lambda t: (centre + way_of(t), turn_of(t)))
    hold(scene, kind, place, path)
    sim = precise(scene, substeps=6, integrator=integrator)
    step = 1.0 / (24.0 * 6.0)
    for frame in sim.frames(2, 5):
        for vertex in held:
            assert np.abs(frame.positions(0)[vertex] - where(vertex, frame.time)).max() < 1e-15
            chord = (where(vertex, frame.time) - where(vertex, frame.time - step)) / step
            assert np.abs(frame.velocities(0)[vertex] - chord).max() < 1e-11


@pytest.mark.parametrize("integrator", ["tr-bdf2", "midpoint"])
def test_a_held_vertex_has_the_velocity_of_its_hold_and_not_one_it_was_thrown_with(integrator: str) -> None:
    scene = weightless()
    scene.add(open_rod(), velocity=(0.0, 1.0, 0.0))
    scene.pin(0, "start")
    sim = precise(scene, integrator=integrator)
    for _ in range(3):
        assert np.array_equal(sim.step_frame().velocities(0)[0], np.zeros(3))


@pytest.mark.parametrize("kind", ["pin", "clamp", "edge"])
def test_what_is_moved_arrives_to_the_last_bit(kind: str) -> None:
    rng = np.random.default_rng(1)
    scene = Scene()
    rod = open_rod()
    scene.add(rod)
    held = hold(scene, kind, 3)
    scene.pin(0, 9)
    sim = precise(scene)
    half = 0.5 * (rod.points[4] - rod.points[3]) if kind == "edge" else np.zeros(3)
    for k in range(15):
        if k % 3 < 2:  # and every third frame it stays
            goal = rng.uniform(0.2, 0.5) * rng.choice((1e-3, 1.0), 3)
            sim.move(held, goal)
        frame = sim.step_frame()
        assert np.array_equal(frame.positions(0)[3], goal - half)
        assert np.array_equal(frame.positions(0)[9], rod.points[9])
        assert k % 3 < 2 or np.array_equal(frame.velocities(0)[3], np.zeros(3))


def sim_with_clamp(path=None, spin=None) -> tuple[Simulation, int]:
    scene = Scene()
    scene.add(plain_rod(line(8), FLAT))
    held = scene.clamp(0, "start", path, spin)
    return precise(scene, substeps=8), held


@pytest.mark.parametrize("angle", [0.0, 0.3, 1.5, 2.5])
def test_moving_a_hold_is_following_an_even_path(angle: float) -> None:
    """Places, turns and spins change evenly through the frame, as a path along which they do."""
    goal, spin, turn = np.array([0.05, 0.1, -0.1]), 4.0, rotation_about(np.array([0.0, 0.6, 0.8]), np.array(angle))

    def part(t: float) -> float:
        return min(24.0 * t, 1.0)

    moved, held = sim_with_clamp()
    guided, _ = sim_with_clamp(
        lambda t: (part(t) * goal, interpolate_rotations(np.eye(3), turn, part(t))), lambda t: part(t) * spin
    )
    moved.move(held, goal, turn, spin)
    for _ in range(2):
        one, other = moved.step_frame(), guided.step_frame()
        assert np.abs(one.positions(0) - other.positions(0)).max() < 1e-9
        assert np.abs(one.velocities(0) - other.velocities(0)).max() < 1e-7
        assert np.abs(one.directors(0) - other.directors(0)).max() < 1e-9


def test_several_holds_move_in_one_call_or_one_by_one() -> None:
    def simulation() -> tuple[Simulation, list[int]]:
        scene = Scene()
        scene.add(open_rod())
        scene.add(closed_rod())
        holds = [scene.pin(0, "start"), scene.clamp(0, 5), scene.clamp_edge(0, 8), scene.pin(1, 3), scene.clamp(1, 0)]
        return precise(scene), holds

    together, holds = simulation()
    apart, _ = simulation()
    goals = together._holds.position + 0.05 * np.random.default_rng(2).standard_normal((5, 3))
    turns = np.stack([rotation_about(np.array([0.0, 0.0, 1.0]), np.array(0.1 * k)) for k in range(5)])
    spins = np.linspace(-1.0, 1.0, 5)
    together.move(holds, goals, turns, spins)
    for k in reversed(range(5)):
        apart.move(holds[k], goals[k])
        apart.move(holds[k], rotation=turns[k], spin=float(spins[k]))
    one, other = together.step_frame(), apart.step_frame()
    for rod in range(2):
        assert np.array_equal(one.positions(rod), other.positions(rod))
        assert np.array_equal(one.directors(rod), other.directors(rod))
    assert np.abs(one.positions(0)[[0, 5]] - goals[:2]).max() < 1e-15
    assert np.abs(one.positions(0)[8:10].mean(axis=0) - goals[2]).max() < 1e-15
    assert np.abs(one.positions(1)[[3, 0]] - goals[3:]).max() < 1e-15


@pytest.mark.parametrize("integrator", ["tr-bdf2", "midpoint"])
@pytest.mark.parametrize("kind", ["clamp", "edge"])
def test_the_two_sides_of_a_clamp_know_nothing_of_each_other(kind: str, integrator: str) -> None:
    """One rod clamped inside moves as two rods that end there."""
    middle, points = 5, line(12)
    velocity = np.random.default_rng(4).standard_normal((13, 3))
    velocity[middle : middle + 2] = 0.0
    options = {"director": (0.0, 1.0, 2.0)}
    whole, halves = Scene(), Scene()
    whole.add(plain_rod(points, FLAT, **options), velocity=velocity)
    shared = middle + 2 if kind == "edge" else middle + 1
    halves.add(plain_rod(points[:shared], FLAT, **options), velocity=velocity[:shared])
    halves.add(plain_rod(points[middle:], FLAT, **options), velocity=velocity[middle:])

    def path(t: float) -> tuple[np.ndarray, np.ndarray]:
        centre = points[middle : middle + (2 if kind == "edge" else 1)].mean(axis=0)
        return centre + np.array([0.0, 0.1 * t, 0.2 * math.sin(6.0 * t)]), turn_of(t)

    def spin(t: float) -> float:
        return 10.0 * t

    for scene, rod, place in ((whole, 0, middle), (halves, 0, middle), (halves, 1, 0)):
        (scene.clamp if kind == "clamp" else scene.clamp_edge)(rod, place, path, spin)
    sims = [precise(scene, substeps=8, integrator=integrator, tolerance=1e-15) for scene in (whole, halves)]
    for _ in range(6):
        one, two = (sim.step_frame() for sim in sims)
        assert np.abs(one.positions(0)[:shared] - two.positions(0)).max() < 1e-11
        assert np.abs(one.positions(0)[middle:] - two.positions(1)).max() < 1e-11
        assert np.abs(one.velocities(0)[middle:] - two.velocities(1)).max() < 1e-9
        assert np.abs(one.directors(0)[middle:] - two.directors(1)).max() < 1e-11
        assert one.report.energies.twist == pytest.approx(two.report.energies.twist, rel=1e-9)
        assert one.report.energies.bend == pytest.approx(two.report.energies.bend, rel=1e-9)


def test_a_ring_clamped_twice_is_two_arcs() -> None:
    points, velocity = circle(16), np.random.default_rng(5).standard_normal((16, 3))
    velocity[[3, 11]] = 0.0
    ring, arcs = Scene(), Scene()
    ring.add(plain_rod(points, FLAT, closed=True, director=np.tile([0.0, 0.0, 1.0], (16, 1))), velocity=velocity)
    pieces = [np.arange(3, 12), np.arange(11, 20) % 16]
    for piece in pieces:
        arcs.add(plain_rod(points[piece], FLAT, director=(0.0, 0.0, 1.0)), velocity=velocity[piece])
    for vertex in (3, 11):
        ring.clamp(0, vertex)
    for rod in (0, 1):
        arcs.clamp(rod, "start")
        arcs.clamp(rod, "end")
    sims = [precise(scene, substeps=8, tolerance=1e-15) for scene in (ring, arcs)]
    for _ in range(6):
        whole, parts = (sim.step_frame() for sim in sims)
        for rod, piece in enumerate(pieces):
            assert np.abs(whole.positions(0)[piece] - parts.positions(rod)).max() < 1e-11
            assert np.abs(whole.directors(0)[piece[:-1]] - parts.directors(rod)).max() < 1e-11
    assert np.abs(whole.positions(0) - points).max() > 0.01


@pytest.mark.parametrize("first", [0, 5])
def test_a_ring_hangs_from_two_pins_symmetrically(first: int) -> None:
    """The one that runs across the seam hangs like the other."""
    upright = circle(24)[:, [0, 2, 1]]
    scene = Scene()
    scene.add(plain_rod(np.roll(upright, first, axis=0), FLAT, closed=True))
    scene.pin(0, [first, first + 12])
    x = np.roll(settled(precise(scene)).current().positions(0), -first, axis=0)
    assert np.array_equal(x[[0, 12]], upright[[0, 12]])
    assert np.abs(x - upright).max() > 0.1
    mirrored = x[(12 - np.arange(24)) % 24] * [-1.0, 1.0, 1.0]
    assert mirrored == pytest.approx(x, abs=1e-7)


@pytest.mark.parametrize("contact", [False, True])
@pytest.mark.parametrize(
    ("model", "kind", "place"),
    [
        *((model, kind, place) for model in ("der", "net", "corde", "compact") for kind in ("pin", "clamp") for place in (0, 10)),
        ("net", "clamp", 4), ("net", "edge", 4), ("net", "orient", 0), ("corde", "edge", 4), ("corde", "pin", 4),
    ],
)  # fmt: skip
def test_what_is_let_go_of_falls_freely(model: str, kind: str, place: int, contact: bool) -> None:
    """Only weight acts on it then: its centre of mass has the acceleration of gravity, and it is as if it had begun there."""
    rod = open_rod()
    scene = Scene(gravity=(0.0, 0.0, -9.81), rod_contact=contact)
    scene.add(rod, model)
    held = hold(scene, kind, place)
    sim = precise(scene, substeps=8)
    for _ in range(3):
        sim.step_frame()
    sim.release(held)
    mass = np.convolve(rod.mass_per_length * rod.rest_lengths, [0.5, 0.5])
    momenta = [mass @ sim.current().velocities(0)]
    for _ in range(4):
        frame = sim.step_frame()
        assert frame.report.converged
        momenta.append(mass @ frame.velocities(0))
    weight = mass.sum() * np.array([0.0, 0.0, -9.81]) / sim.frame_rate
    np.testing.assert_allclose(np.diff(momenta, axis=0), np.tile(weight, (4, 1)), atol=1e-6 * np.abs(weight).max())


def test_turns_that_a_clamp_has_given_are_still_there_when_it_lets_go() -> None:
    """Nothing jumps, and what was wound up unwinds: the energy is that of before, and falls."""
    scene = weightless()
    scene.add(plain_rod(line(10), FLAT), "net")
    scene.clamp(0, "start")
    turned = scene.clamp(0, 5)
    scene.clamp(0, "end")
    sim = precise(scene, substeps=32)
    for k in range(1, 13):
        sim.move(turned, spin=0.25 * math.pi * k)
        frame = sim.step_frame()
    held = frame.report.energies
    assert held.twist > 1.0
    sim.release(turned)
    assert sim.energies().twist == pytest.approx(held.twist, rel=1e-9)
    after = sim.step_frame().report
    assert after.converged
    assert after.energies.total < held.total
    assert after.energies.twist < 0.5 * held.twist


def test_what_cannot_be_let_go_of_is_refused() -> None:
    for model, kind, rod, place in (
        ("der", "edge", open_rod(), 0),
        ("der", "clamp", open_rod(), 4),
        ("der", "clamp", closed_rod(), 0),
        ("corde", "clamp", open_rod(), 4),
        ("compact", "clamp", open_rod(), 4),
        ("compact", "edge", open_rod(), 0),
    ):
        scene = Scene()
        scene.add(rod, model)
        held = hold(scene, kind, place)
        with pytest.raises(TendrilError, match="can be let go of"):
            Simulation(scene).release(held)
    with pytest.raises(TendrilError, match="hold"):
        Simulation(scene).release(7)
