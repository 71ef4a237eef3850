"""The independent collision checker agrees with the toolkit of Incremental Potential Contact (ipctk), and sees what it should."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable

import ipctk
import numpy as np
import pytest
from tendril.core import (
    Body,
    Box,
    Capsule,
    Cylinder,
    Frame,
    Material,
    Mesh,
    Net,
    Plane,
    Rod,
    Scene,
    Simulation,
    Sphere,
)
from tendril.tests.support import ccd_kernels as kernels
from tendril.tests.support.ccd_checker import Checker
from tendril.tests.support.ccd_surfaces import ConvexSurface, MeshSurface, Pose
from tendril.tests.support.snapshots import Follower

ROPE = Material.preset("nylon rope")
TOLERANCE = 1e-5  # ipctk reports what comes this near as a collision
EXACT = ipctk.TightInclusionCCD(conservative_rescaling=1.0, max_iterations=100_000)  # no safety margin


def motions(seed: int, count: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Four points and where they go: far and near, at angles and almost parallel."""
    rng = np.random.default_rng(seed)
    x, way = rng.uniform(-1.0, 1.0, (count, 4, 3)), rng.uniform(-1.5, 1.5, (count, 4, 3))
    if kind == "parallel":
        x[:, 3] = x[:, 2] + (x[:, 1] - x[:, 0]) + 0.01 * rng.standard_normal((count, 3))
    elif kind == "rigid":
        way[:, 1], way[:, 3] = way[:, 0], way[:, 2]
    elif kind == "thin":
        x, way = 0.01 * x, 0.008 * way
    return x, x + way


def closest_approach(distance, x: np.ndarray, y: np.ndarray) -> float:
    return min(distance(x + t * (y - x)) for t in np.linspace(0.0, 1.0, 20_001))


@pytest.mark.parametrize("kind", ["any", "parallel", "rigid", "thin"])
def test_moving_edges_meet_when_ipctk_says_so(kind: str) -> None:
    x, y = motions(1, 600, kind)
    found, scratch = 0, np.empty(8)
    for p, q in zip(x, y, strict=True):
        ours = kernels.edges_cross(*map(tuple, p), *map(tuple, q), scratch)[0] >= 0.0
        theirs = EXACT.edge_edge_ccd(*p, *q)[0]
        found += ours
        assert theirs or not ours
        if theirs and not ours:
            assert closest_approach(lambda z: kernels.between_segments(*map(tuple, z))[0], p, q) < TOLERANCE
    assert 20 < found < 580


@pytest.mark.parametrize("kind", ["any", "rigid", "thin"])
def test_moving_points_meet_triangles_when_ipctk_says_so(kind: str) -> None:
    x, y = motions(2, 600, kind)
    found, scratch = 0, np.empty(8)
    for p, q in zip(x, y, strict=True):
        ours = kernels.point_meets_triangle(*map(tuple, p), *map(tuple, q), scratch) >= 0.0
        theirs = EXACT.point_triangle_ccd(*p, *q)[0]
        found += ours
        assert theirs or not ours
        if theirs and not ours:
            assert closest_approach(lambda z: kernels.to_triangle(*map(tuple, z)), p, q) < TOLERANCE
    assert 10 < found < 590


def test_motions_in_one_plane() -> None:
    """There the volume of the four points says nothing."""
    x = np.array([(0.0, 0, 0), (1, 0, 0), (0.5, 1, 0), (0.5, 2, 0)])
    scratch = np.empty(8)
    for shift, meets in (((0.0, -1.5, 0.0), True), ((0.0, -0.5, 0.0), False), ((2.0, -2.0, 0.0), False)):
        y = x + np.array([(0.0, 0, 0), (0, 0, 0), shift, shift])
        assert (kernels.edges_cross(*map(tuple, x), *map(tuple, y), scratch)[0] >= 0.0) == meets


def test_distances_are_those_of_ipctk() -> None:
    rng = np.random.default_rng(3)
    for k in range(500):
        p = rng.uniform(-1.0, 1.0, (4, 3))
        if k % 3 == 0:
            p[3] = p[2] + rng.uniform(-2.0, 2.0) * (p[1] - p[0])
        a, b, c, d = map(tuple, p)
        assert kernels.between_segments(a, b, c, d)[0] == pytest.approx(
            math.sqrt(ipctk.edge_edge_distance(*p)), abs=1e-9
        )
        assert kernels.to_triangle(a, b, c, d) == pytest.approx(math.sqrt(ipctk.point_triangle_distance(*p)), abs=1e-9)


def test_segments_are_as_far_from_triangles_as_their_points() -> None:
    rng, pierced = np.random.default_rng(6), 0
    for _ in range(300):
        p, q, a, b, c = rng.uniform(-1.0, 1.0, (5, 3))
        points = p + np.linspace(0.0, 1.0, 401)[:, None] * (q - p)
        sampled = min(kernels.to_triangle(tuple(x), tuple(a), tuple(b), tuple(c)) for x in points)
        exact = kernels.segment_to_triangle(*map(tuple, (p, q, a, b, c)))
        pierced += exact == 0.0
        assert exact <= sampled + 1e-12
        assert exact == pytest.approx(sampled, abs=0.005)
    assert 10 < pierced < 290


def test_convex_shapes_are_as_far_as_their_points() -> None:
    """The signed distance of edges against many points on each."""
    rng = np.random.default_rng(4)
    shapes = [Sphere(0.3), Capsule(0.2, 0.5), Cylinder(0.3, 0.4), Box((0.5, 0.3, 0.2)), Plane((0.0, 0.0, 0.0))]
    s = np.linspace(0.0, 1.0, 400)[:, None, None]
    for shape in shapes:
        surface = ConvexSurface(shape, 0.0, None, "one")
        a, b = rng.uniform(-0.6, 0.6, (2, 100, 3))
        sampled = surface.distance((a + s * (b - a)).reshape(-1, 3)).reshape(400, 100).min(axis=0)
        exact = surface.edge_distance(a, b, np.inf)
        assert np.all(exact <= sampled + 1e-12)
        assert np.allclose(exact, sampled, atol=5e-3)


def ball(radius: float = 0.3) -> Mesh:
    from tendril.bench.mass_scenes import ball as ellipsoid

    return ellipsoid(radius, (1.0, 1.0, 1.0), (0.0, 0.0, 0.0))


def test_a_closed_mesh_has_an_inside() -> None:
    surface = MeshSurface(ball(), 0.0, None, "ball")
    assert surface.solid
    ends = np.array([[0, 1]])
    assert surface.gaps(np.array([(0.0, 0, 0), (0.05, 0, 0)]), ends, np.array([0.01]), surface.vertices)[0] < -0.2
    assert surface.gaps(np.array([(0.5, 0, 0), (0.6, 0, 0)]), ends, np.array([0.01]), surface.vertices)[0] > 0.1


# Scenes


def rod(*points: tuple[float, float, float], radius: float = 0.01, closed: bool = False) -> Rod:
    return Rod.from_points(np.array(points), radius, ROPE, closed=closed)


def line(y: float, z: float, segments: int = 8) -> list[tuple[float, float, float]]:
    return [(x, y, z) for x in np.linspace(-0.5, 0.5, segments + 1)]


def cross_of(z: float) -> list[np.ndarray]:
    """A rod along x, and one along y above it."""
    first = np.array(line(0.0, 0.0))
    return [first, first[:, [1, 0, 2]] + (0.06, 0.05, z)]


def checker_of(lines: list[np.ndarray], radius: float = 0.01) -> Checker:
    scene = Scene(rod_contact=True)
    for points in lines:
        scene.add(Rod.from_points(points, radius, ROPE))
    checker = Checker(scene)
    checker.begin(np.concatenate(lines))
    return checker


def test_a_rod_that_passes_through_another_is_seen() -> None:
    checker = checker_of(cross_of(0.1))
    checker.look(np.concatenate(cross_of(0.03)))
    assert not checker.findings.passages
    checker.look(np.concatenate(cross_of(-0.03)))
    assert [one.kind for _, one in checker.findings.passages] == ["rod, rod"]
    assert checker.findings.worst == 0.0


def test_rods_that_travel_together_do_not_cross() -> None:
    checker = checker_of(cross_of(0.021))
    checker.look(np.concatenate(cross_of(0.021)) + np.array([3.0, -7.0, 2.0]))
    assert not checker.findings.passages


def test_overlaps_are_in_radii_of_the_thinner_rod_beyond_those_drawn() -> None:
    checker = checker_of(cross_of(0.05))
    assert checker.look(np.concatenate(cross_of(0.015))).overlap == pytest.approx(0.5)
    checker = checker_of(cross_of(0.016))
    assert checker.look(np.concatenate(cross_of(0.016))).overlap == pytest.approx(0.0, abs=1e-12)
    assert checker.look(np.concatenate(cross_of(0.014))).overlap == pytest.approx(0.2)
    assert checker.findings.deep == 1


def test_a_rod_crosses_itself_but_its_neighbouring_edges_do_not() -> None:
    hairpin = np.array([*line(0.0, 0.0), *line(0.1, 0.1)[::-1]])
    checker = checker_of([hairpin])
    folded = hairpin + 0.0
    folded[9:] = folded[9:] @ np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]) + (0.1, 0.0, -0.2)
    checker.look(folded)
    assert {one.kind for _, one in checker.findings.passages} == {"rod, itself"}
    bent = np.array([(0.02 * k, 0.0, 0.002 * k * k) for k in range(9)])
    checker = checker_of([bent], radius=0.02)  # as thick as two edges are long
    assert max(checker.begin(bent), default=0.0) == 0.0
    assert checker.look(bent * (1.0, 1.0, -1.0)).overlap == 0.0
    assert not checker.findings.passages


def test_joints_of_a_net_are_no_contacts() -> None:
    points = np.array([(0.1 * i, 0.1 * j, 0.0) for j in range(4) for i in range(4)])
    edges = [(4 * j + i, 4 * j + i + 1) for j in range(4) for i in range(3)]
    edges += [(4 * j + i, 4 * j + i + 4) for j in range(3) for i in range(4)]
    scene = Scene(rod_contact=True)
    scene.add(Net.from_edges(points, np.array(edges), 0.01, ROPE))
    checker = Checker(scene)
    checker.begin(points)
    assert checker.look(points * (1.0, 1.0, 0.0)).overlap == 0.0
    folded = points.copy()
    folded[12:] = points[4:8] + np.array([0.003, 0.0, 0.01])
    assert checker.look(folded).overlap > 0.9


@pytest.mark.parametrize(
    ("shape", "top"), [(ball(), 0.3), (Sphere(0.3), 0.3), (Box((0.4, 0.4, 0.4)), 0.2), (Cylinder(0.3, 0.5), 0.25)]
)
def test_passages_and_overlaps_with_colliders(shape: Mesh | Sphere | Box | Cylinder, top: float) -> None:
    scene = Scene()
    scene.collide(shape)
    scene.add(rod(*line(0.003, 0.6)))
    checker = Checker(scene)
    checker.begin(np.array(line(0.003, 0.6)))
    assert checker.look(np.array(line(0.003, 0.35))).overlap == 0.0
    checker.look(np.array(line(0.003, -0.6)))
    assert checker.findings.passages
    assert checker.findings.worst == 0.0
    assert checker.look(np.array(line(0.003, top + 0.005))).overlap == pytest.approx(0.5, abs=0.05)


def test_what_moves_with_a_turning_collider_does_not_pass() -> None:
    def turn(t: float) -> np.ndarray:
        c, s = math.cos(t), math.sin(t)
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])

    for shape in (ball(0.3), Sphere(0.3)):
        scene = Scene()
        scene.collide(shape, path=lambda t: ((0.0, 0.0, 0.0), turn(t)))
        points = np.array([(0.312 + 0.02 * k, 0.0, 0.0) for k in range(8)])
        scene.add(Rod.from_points(points, 0.01, ROPE))
        checker = Checker(scene)
        checker.begin(points)
        assert checker.look(points @ turn(1.0).T, 1.0).overlap == 0.0
        assert not checker.findings.passages


def test_all_crossings_of_a_crowd_are_those_of_ipctk() -> None:
    """Broad phase and narrow phase together, against all pairs of edges."""
    rng = np.random.default_rng(5)
    lines = [rng.uniform(-0.2, 0.2, 3) + np.cumsum(0.15 * rng.standard_normal((8, 3)), axis=0) for _ in range(40)]
    moved = [points + 0.1 * rng.standard_normal(points.shape) for points in lines]
    checker = checker_of(lines, 1e-4)
    checker.look(np.concatenate(moved))
    ours = {(one.first, one.second) for _, one in checker.findings.passages}
    x, y, ends = np.concatenate(lines), np.concatenate(moved), checker.curves.ends
    theirs = set()
    for i, j in itertools.combinations(range(len(ends)), 2):
        quad = np.concatenate([ends[i], ends[j]])
        if len(set(quad.tolist())) == 4 and EXACT.edge_edge_ccd(*x[quad], *y[quad])[0]:
            theirs.add((i, j))
    assert len(ours) > 20
    assert ours <= theirs
    assert len(theirs - ours) <= 1  # a near miss


@pytest.mark.long
def test_it_is_fast_enough_for_a_thousand_strands() -> None:
    from tendril.bench.mass_scenes import heap

    scene = heap(1000)
    x = np.concatenate([entry.rod.points for entry in scene.entries])
    checker = Checker(scene)
    checker.begin(x)
    x[:, 2] *= 0.4  # a heap
    checker.look(x)
    began = time.process_time()
    checker.look(x + 0.002 * np.random.default_rng(0).standard_normal(x.shape))
    assert time.process_time() - began < 2.0


class ShowsSteps(Simulation):
    """Shows every frame as two steps."""

    on_step: Callable[[float, list[np.ndarray]], None] | None = None

    def step_frame(self) -> Frame:
        before = self.current()
        after = super().step_frame()
        if self.on_step is not None:
            for part in (0.5, 1.0):
                rods = range(len(self.scene.entries))
                middle = [(1.0 - part) * before.positions(k) + part * after.positions(k) for k in rods]
                self.on_step((1.0 - part) * before.time + part * after.time, middle)
        return after


def test_accepted_steps_are_followed_where_a_simulation_shows_them() -> None:
    scene = Scene(rod_contact=False)
    for points in cross_of(0.1):
        scene.add(Rod.from_points(points, 0.01, ROPE))
    scene.pin(0, range(9))
    for sim, steps in ((ShowsSteps(scene), 3), (Simulation(scene), 1)):
        follower = Follower(sim, Checker(scene, rods=True))
        seen = [follower.end_frame(sim.step_frame()) for _ in range(6)]
        assert [one[2] for one in seen] == [steps] * 6
        assert sum(one[1] for one in seen) == 1
        assert follower.sees_steps == (steps > 1)
        assert (follower.take_seconds() > 0.0) == follower.sees_steps
        assert follower.take_seconds() == 0.0
    assert max(one[0].overlap for one in seen) <= 2.0


def test_bodies_are_looked_at_when_their_poses_are_known() -> None:
    scene = Scene()
    scene.add(rod(*line(0.003, 0.0)))
    scene.add_body(Body(Sphere(0.1), position=(0.0, 0.0, 0.4), collides=True))
    checker, points = Checker(scene), np.array(line(0.003, 0.0))

    def at(z: float) -> list[Pose]:
        return [Pose(np.array([0.0, 0.0, z]), np.eye(3))]

    checker.begin(points, 0.0, at(0.4))
    checker.look(points, 0.0, None)
    assert not checker.findings.passages
    checker.look(points, 0.0, at(-0.4))
    assert checker.findings.passages
    assert checker.look(points, 0.0, at(-0.105)).overlap == pytest.approx(0.5, abs=0.01)
