"""Natural shapes: a rod drawn in its own stays in it, and one drawn otherwise goes there."""

from __future__ import annotations

import math

import numpy as np
import pytest
from plain_rods import circle, helix, knot, line, made_of, plain_rod, precise, settled, weightless
from tendril.core import Rod, Scene, Simulation

FLAT = made_of(stretch=1e4, bend=(1.0, 3.0), twist=0.7)
SHAPES = {
    "helix": (helix(40), False),
    "knot": (knot(60), True),
    "ring": (circle(9), True),
    "triangle": (circle(3), True),
}


def hold_at(scene: Scene, kind: str, places: tuple[int, ...]) -> None:
    for place in places:
        if kind == "edge":
            scene.clamp_edge(0, place)
        elif kind != "free":
            getattr(scene, kind)(0, place)


def drawn_at_rest(shape: str, **options) -> Rod:
    points, closed = SHAPES[shape]
    return plain_rod(points, FLAT, closed=closed, **options)


@pytest.mark.parametrize("integrator", ["tr-bdf2", "sdirk2", "backward euler", "midpoint"])
@pytest.mark.parametrize("kind", ["free", "pin", "clamp", "orient", "edge"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_rod_drawn_in_its_natural_shape_stays_there(shape: str, kind: str, integrator: str) -> None:
    scene = weightless()
    rod = drawn_at_rest(shape)
    scene.add(rod)
    hold_at(scene, kind, (0,) if rod.vertex_count == 3 else (0, rod.vertex_count // 2))
    sim = precise(scene, integrator=integrator)
    directors = sim.current().directors(0)
    for _ in range(12):
        frame = sim.step_frame()
    # Round-off in strains of 1e-16 makes accelerations of 1e-16 EA / (mass of a segment).
    assert np.abs(frame.positions(0) - rod.points).max() < 1e-13
    assert np.abs(frame.velocities(0)).max() < 1e-11
    assert np.abs(frame.directors(0) - directors).max() < 1e-12
    assert frame.report.energies.elastic < 1e-22


@pytest.mark.parametrize("kind", ["free", "clamp", "edge"])
@pytest.mark.parametrize("shape", SHAPES)
def test_it_does_so_with_any_directors(shape: str, kind: str) -> None:
    """Directors that turn from edge to edge are a natural twist, and so is rest_twist with the twist to match."""
    rng = np.random.default_rng(7)
    points, closed = SHAPES[shape]
    edges = (np.roll(points, -1, axis=0) - points)[: len(points) if closed else -1]
    scene = weightless()
    rod = drawn_at_rest(shape, director=np.cross(edges, rng.standard_normal(edges.shape)))
    scene.add(rod)
    hold_at(scene, kind, (1,))
    sim = precise(scene)
    for _ in range(6):
        frame = sim.step_frame()
    assert np.abs(frame.positions(0) - rod.points).max() < 1e-13
    assert frame.report.energies.elastic < 1e-22


def test_no_forces_at_rest() -> None:
    """The gradient of the energy, in units of what round-off in a strain can make."""
    for shape in SHAPES:
        scene = weightless()
        scene.add(drawn_at_rest(shape))
        sim = precise(scene)
        sim.step_frame()
        b = sim.blocks[0].arrays
        assert np.abs(b.rods.mass * b.state.a).max() < 1e-14 * b.rods.stretch.max()


def test_a_drawn_shape_is_not_at_rest_if_another_is_natural() -> None:
    """So the tests above could fail."""
    scene = weightless()
    scene.add(plain_rod(helix(40), FLAT, rest="straight"))
    assert precise(scene).energies().bend > 1.0


@pytest.mark.parametrize("held", ["free", "pin", "clamp"])
def test_a_bent_rod_with_a_straight_natural_shape_straightens(held: str) -> None:
    scene = weightless()
    scene.add(plain_rod(helix(20), FLAT, rest="straight"))
    hold_at(scene, held, (0,))
    sim = precise(scene)
    assert sim.energies().bend > 1.0
    x = settled(sim).current().positions(0)
    t = np.diff(x, axis=0)
    lengths = np.linalg.norm(t, axis=1)
    assert np.abs(np.diff(t / lengths[:, None], axis=0)).max() < 1e-7
    assert lengths == pytest.approx(scene.entries[0].rod.rest_lengths, rel=1e-7)
    assert sim.energies().elastic < 1e-13


def test_a_straight_rod_takes_the_natural_shape_that_it_is_given() -> None:
    """A coil pulled out straight winds up again; all distances are those of the natural shape."""
    coil = helix(24, turns=1.5)
    lengths = np.linalg.norm(np.diff(coil, axis=0), axis=1)
    points = np.zeros_like(coil)
    points[1:, 0] = np.cumsum(lengths)
    scene = weightless()
    scene.add(plain_rod(points, FLAT, rest=coil))
    scene.clamp(0, 0)
    x = settled(precise(scene)).current().positions(0)
    apart = np.linalg.norm(x[:, None] - x[None, :], axis=2)
    assert apart == pytest.approx(np.linalg.norm(coil[:, None] - coil[None, :], axis=2), abs=1e-6)
    # A mirrored coil has the same distances: the hand tells them apart.
    edges = np.diff(x, axis=0)
    natural = np.diff(coil, axis=0)
    hand = np.einsum("ij,ij->i", np.cross(edges[:-2], edges[1:-1]), edges[2:])
    assert hand == pytest.approx(
        np.einsum("ij,ij->i", np.cross(natural[:-2], natural[1:-1]), natural[2:]), rel=1e-4, abs=1e-9
    )


def test_a_rod_cut_to_another_length_shrinks_to_it() -> None:
    scene = weightless()
    scene.add(plain_rod(line(10), rest=line(10, 0.8)))
    sim = precise(scene)
    # EA / 2 (stretch)^2 per length, of the natural length.
    assert sim.energies().stretch == pytest.approx(0.5 * 1e4 * 0.25**2 * 0.8, rel=1e-12)
    x = settled(sim).current().positions(0)
    assert np.linalg.norm(x[-1] - x[0]) == pytest.approx(0.8, rel=1e-9)
    assert x.mean(axis=0) == pytest.approx([0.5, 0.0, 0.0], abs=1e-9)


def end_angle(sim: Simulation) -> float:
    """Of the last edge's director about x, from where it was at the start."""
    frame, start = sim.current(), Simulation(sim.scene).current()
    d, e = start.directors(0)[-1], frame.directors(0)[-1]
    return math.atan2(np.cross(d, e)[0], d @ e)


@pytest.mark.parametrize("segments", [10, 25])
@pytest.mark.parametrize("held", ["clamp", "edge"])
def test_natural_twist_unwinds_a_straight_rod(held: str, segments: int) -> None:
    rate, twist_stiffness = 1.3, 0.7
    scene = weightless()
    scene.add(plain_rod(line(segments), made_of(twist=twist_stiffness), rest="straight", rest_twist=rate))
    hold_at(scene, held, (0,))
    sim = precise(scene)
    # From the hold, a vertex or the middle of an edge, to the middle of the last edge.
    length = 1.0 - (0.5 if held == "clamp" else 1.0) / segments
    assert sim.energies().twist == pytest.approx(0.5 * twist_stiffness * rate**2 * length, rel=1e-9)
    settled(sim)
    assert sim.energies().elastic < 1e-13
    assert end_angle(sim) == pytest.approx(rate * length, abs=1e-6)
    assert np.abs(sim.current().positions(0) - line(segments)).max() < 1e-6


@pytest.mark.parametrize("rest", ["straight", "as drawn"])
def test_twist_that_matches_the_natural_twist_is_none(rest: str) -> None:
    for rate in (2.0, 60.0):  # from edge to edge, the latter turns by more than half a turn
        scene = weightless()
        scene.add(plain_rod(line(10), made_of(), rest=rest, rest_twist=rate, twist=rate))
        scene.clamp(0, "start")
        scene.clamp(0, "end")
        sim = precise(scene)
        assert sim.energies().twist < 1e-20
        sim.step_frame()
        assert np.abs(sim.current().positions(0) - line(10)).max() < 1e-12


def test_rest_directors_say_how_the_section_of_the_natural_shape_is_turned() -> None:
    """A flat arc whose section is turned by a quarter against its natural shape is curved the other way in its own frame."""
    arc = circle(40)[:11]
    costs = {}
    for name, director in {"same": (0.0, 0.0, 1.0), "turned": tuple(-arc[5])}.items():
        scene = weightless()
        scene.add(plain_rod(arc, FLAT, director=(0.0, 0.0, 1.0), rest=arc, rest_director=director))
        costs[name] = precise(scene).energies().bend
    # Bent towards the second director by 1 / radius, and naturally towards the first: EI1 / 2 + EI2 / 2, times the length.
    length = 9 * 2.0 * math.sin(math.pi / 40.0)
    assert costs["same"] < 1e-20
    assert costs["turned"] == pytest.approx(0.5 * (1.0 + 3.0) * length, rel=0.01)
