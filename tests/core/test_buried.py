"""Rods that begin deep inside solid meshes: who is inside, and how they get out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from meshes import Soup, blade, cube, dented, rods, slab, to_triangles, torus
from tendril.core import Material, Rod, Scene, Simulation
from tendril.core.contact import buried
from tendril.core.contact.buried import Buried, are_inside
from tendril.core.contact.mesh_topology import pack_meshes
from tendril.core.describe.rotations import rotation_about
from tendril.core.describe.shapes import Mesh

RUBBER = Material(young_modulus=1e6, density=1000.0)
SKIN = 0.02  # radii: how far contact may be off


def icosphere(halvings: int) -> Soup:
    """20 * 4^halvings triangles on the unit sphere."""
    g = 0.5 * (1.0 + math.sqrt(5.0))
    points = np.array([p for a in (-1, 1) for b in (-g, g) for p in ((0.0, a, b), (a, b, 0.0), (b, 0.0, a))])
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    near = (apart > 0.0) & (apart < 2.1)
    corners = [
        (i, j, k) for i in range(12) for j in range(i) for k in range(j) if near[i, j] and near[j, k] and near[k, i]
    ]
    triangles = np.array(corners)
    inwards = np.linalg.det(points[triangles]) < 0.0
    triangles[inwards] = triangles[inwards][:, ::-1]
    for _ in range(halvings):
        sides = np.stack([triangles, triangles[:, [1, 2, 0]]], axis=2)
        ends, number = np.unique(np.sort(sides, axis=2).reshape(-1, 2), axis=0, return_inverse=True)
        middle = number.reshape(-1, 3) + len(points)
        points = np.concatenate([points, points[ends].mean(axis=1)])
        (a, b, c), (ab, bc, ca) = triangles.T, middle.T
        parts = ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
        triangles = np.concatenate([np.stack(corners, axis=1) for corners in parts])
    return points / np.linalg.norm(points, axis=1, keepdims=True), triangles


def hollow() -> Soup:
    """A ball with a hole of the shape of a cube inside, and a smaller ball in that."""
    points, triangles = icosphere(2)
    hole, sides = cube(1)
    every = np.concatenate([points, 0.4 * hole, 0.2 * points])
    return every, np.concatenate([triangles, sides[:, ::-1] + len(points), triangles + len(points) + len(hole)])


def twins() -> Soup:
    """Two balls that overlap, in one mesh."""
    points, triangles = icosphere(1)
    return np.concatenate([0.7 * points, 0.7 * points + [0.4, 0.1, 0.0]]), np.concatenate(
        [triangles, triangles + len(points)]
    )


SOLIDS = {
    "cube": cube(1),
    "fine cube": cube(4),
    "icosphere": icosphere(2),
    "torus": torus(),
    "blade": blade(),
    "dented": dented(),
    "slab": slab(),
    "hollow": hollow(),
    "twins": twins(),
}
TURN = rotation_about(np.array([1.0, 2.0, -0.5]) / np.linalg.norm([1.0, 2.0, -0.5]), np.array(1.1))


def turns(points: np.ndarray, vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """How often the surface winds around points: by the solid angles of its triangles."""
    a, b, c = (vertices[triangles[:, k]] - points[:, None] for k in range(3))
    p, q, r = (np.linalg.norm(x, axis=2) for x in (a, b, c))
    above = np.einsum("ijk,ijk->ij", a, np.cross(b, c))
    below = p * q * r + np.sum(a * b, axis=2) * r + np.sum(b * c, axis=2) * p + np.sum(c * a, axis=2) * q
    return np.sum(2.0 * np.arctan2(above, below), axis=1) / (4.0 * math.pi)


@pytest.mark.parametrize("moved", [False, True], ids=["as it is", "turned and far away"])
@pytest.mark.parametrize("solid", list(SOLIDS))
def test_who_is_inside(solid: str, moved: bool) -> None:
    """Anywhere, and straight below and above vertices, edges and faces of the mesh."""
    vertices, triangles = SOLIDS[solid]
    rng = np.random.default_rng(5)
    lattice = np.stack(np.meshgrid(*[np.linspace(-1.25, 1.25, 11)] * 3), axis=-1).reshape(-1, 3)
    middles = np.concatenate([vertices, vertices[triangles].mean(axis=1), vertices[triangles[:, :2]].mean(axis=1)])
    below = middles.copy()
    below[:, 2] = rng.choice([-0.9, -0.3, 0.0, 0.1, 0.7], len(below))
    points = np.concatenate([rng.uniform(-1.3, 1.3, (1500, 3)), lattice, below, 0.5 * middles])
    if moved:
        points, vertices = points @ TURN.T + [3.0, -4.0, 5.0], vertices @ TURN.T + [3.0, -4.0, 5.0]
    truth = turns(points, vertices, triangles)
    clear = to_triangles(points, vertices[triangles]).min(axis=1) > 1e-9  # else it is on the surface
    assert truth[clear] == pytest.approx(truth[clear].round(), abs=1e-6)
    assert clear.mean() > 0.7
    assert (are_inside(points, vertices, triangles) == (truth.round() > 0.0))[clear].all()
    assert truth[clear].round().max() == (2.0 if solid == "twins" else 1.0)


def test_inside_of_known_solids() -> None:
    """Not by what another program says."""
    points = np.random.default_rng(2).uniform(-1.4, 1.4, (4000, 3))
    assert (are_inside(points, *cube(3)) == (np.abs(points).max(axis=1) < 1.0)).all()
    vertices, triangles = icosphere(2)
    corner, n = vertices[triangles[:, 0]], np.cross(*np.diff(vertices[triangles], axis=1).transpose(1, 0, 2))
    assert (are_inside(points, vertices, triangles) == ((points @ n.T) < np.sum(corner * n, axis=1)).all(axis=1)).all()
    ring = np.hypot(np.hypot(points[:, 0], points[:, 1]) - 0.8, points[:, 2])
    inside = are_inside(points, *torus(60, 40))
    assert inside[ring < 0.34].all()
    assert not inside[ring > 0.35].any()
    assert not are_inside(np.zeros((0, 3)), *cube(1)).any()


def test_the_nearest_point_of_the_surface() -> None:
    """Against brute force, in the second of two meshes."""
    samples = rods(np.random.default_rng(8).uniform(-0.6, 0.6, (30, 20, 3)), np.zeros((30, 20, 3)), 0.01)
    vertices, triangles = icosphere(3)
    vertices = vertices @ TURN.T * [1.0, 0.8, 1.2]
    meshes = pack_meshes([(Mesh(*cube(1)), 0.0, 0.0), (Mesh(vertices, triangles), 0.0, 0.0)], 0)
    meshes.vertices[:, :8] += 9.0  # out of the way
    found = Buried(samples, meshes, np.full(600, 0.002))
    found.follow()
    depth = to_triangles(samples.start, vertices[triangles]).min(axis=1)
    deep = np.flatnonzero(are_inside(samples.start, vertices, triangles) & (depth > 0.012))
    assert len(deep) > 300
    assert found._deep.tolist() == [[k, 1] for k in deep]
    assert found._depths == pytest.approx(depth[deep], abs=1e-12)
    ends = samples.start[deep] + found._depths[:, None] * found._normals
    on_triangle = [
        to_triangles(ends[k : k + 1], meshes.vertices[0][meshes.triangles[[f]]]) for k, f in enumerate(found._triangles)
    ]
    assert np.max(on_triangle) < 1e-12


# Out -------------------------------------------------------------------------------------------------------------------


def strand(first: Any, last: Any, radius: float, segments: int = 12) -> Rod:
    return Rod.from_points(np.linspace(first, last, segments + 1), radius, RUBBER)


def scene_with(strands: list[Rod], soups: list[Soup], friction: float = 0.3, **options: Any) -> Scene:
    scene = Scene(gravity=(0.0, 0.0, 0.0), **options)
    for rod in strands:
        scene.add(rod)
    for soup in soups:
        scene.collide(Mesh(*soup), friction=friction)
    return scene


def head() -> Soup:
    """5120 triangles."""
    vertices, triangles = icosphere(4)
    return 0.1 * vertices * [0.85, 1.0, 1.15], triangles


def heights(points: np.ndarray) -> np.ndarray:
    """Over the surface of the head, about."""
    size = np.linalg.norm(points / (0.1 * np.array([0.85, 1.0, 1.15])), axis=1)
    return (size - 1.0) * np.linalg.norm(points, axis=1) / size


def fastest(frame: Any) -> float:
    return float(np.linalg.norm(frame.velocities(0), axis=1).max())


RADIUS = 0.001


@pytest.mark.parametrize("depth", [5.0 * RADIUS, 0.01])
@pytest.mark.parametrize("way", ["along", "into"])
def test_hair_comes_out_of_a_head(way: str, depth: float) -> None:
    """Calmly, whether all of it is inside or one end of it."""
    angle = np.linspace(0.0, 0.8, 15)
    points = (0.1 - depth) * np.stack([0.0 * angle, np.sin(angle), 1.15 * np.cos(angle)], axis=1)
    if way == "into":
        points = np.linspace((0.0, 0.0, 0.115 - depth), (0.01, 0.02, 0.2), 15)
    scene = scene_with([Rod.from_points(points, RADIUS, RUBBER)], [head()])
    sim = Simulation(scene, threads=1)
    assert heights(sim.current().positions(0)).min() < -0.9 * depth
    for frame in sim.frames(2, 24 * 4):
        assert frame.report.converged
        assert fastest(frame) < 1.0
        if heights(frame.positions(0)).min() > 0.95 * RADIUS:
            break
    assert heights(frame.positions(0)).min() > 0.95 * RADIUS
    sim.step_frame()
    assert not len(sim._contact.detection._buried.vertices)


@pytest.mark.parametrize("friction", [0.0, 0.3, 0.5, 0.8])
def test_a_rod_right_through_a_cube(friction: float) -> None:
    """Where it goes in and out it is pushed along itself, which is no use; it still comes out at the side, without trouble."""
    points = np.linspace((-0.15, 0.015, 0.0125), (0.15, 0.045, 0.0275), 11)
    vertices, triangles = cube(1)
    scene = scene_with([Rod.from_points(points, 0.01, RUBBER)], [(0.06 * vertices, triangles)], friction)
    halvings = 0
    for frame in Simulation(scene, threads=1).frames(2, 20):
        assert fastest(frame) < 1.0
        halvings += frame.report.halvings
    s = np.linspace(0.0, 1.0, 20)[:, None, None]
    x = frame.positions(0)
    between = ((1.0 - s) * x[:-1] + s * x[1:]).reshape(-1, 3)
    assert np.abs(between).max(axis=1).min() > 0.06 + (1.0 - SKIN) * 0.01
    assert halvings < 5


def test_nobody_is_pushed_twice() -> None:
    """Neither by both its contact with the nearest triangle and the one of those who are deep inside, nor by none."""
    vertices, triangles = cube(3)
    scene = scene_with([strand((-0.03, 0.0, 0.02), (0.03, 0.02, 0.055), 0.004, 3)], [(0.06 * vertices, triangles)])
    sim = Simulation(scene, threads=1)
    deep = 0
    for _ in range(40):
        sim.step_frame()
        detection = sim._contact.detection
        contacts, count = detection.contacts, detection.count
        vertex = (contacts.edge[:count, 0] + contacts.at[:count, 0])[contacts.gap[:count] < np.inf]
        inside = np.abs(detection.samples.now).max(axis=1) < 0.06
        assert (
            np.bincount(vertex[vertex == vertex.round()].astype(int), minlength=4)[inside].tolist()
            == [1] * inside.sum()
        )
        deep += len(detection._buried._deep)
    assert deep > 10


def buried_scene() -> Scene:
    """In one of two solids, in both, and in none."""
    vertices, triangles = cube(2)
    ball, faces = icosphere(2)
    strands = [
        strand((-0.05, 0.01, 0.02), (0.03, 0.02, 0.01), 0.004),
        strand((0.1, 0.01, 0.0), (0.18, 0.03, 0.01), 0.004),
        strand((-0.2, 0.2, 0.0), (0.2, 0.2, 0.1), 0.004),
    ]
    soups = [(0.06 * vertices, triangles), (0.06 * ball + [0.1, 0.0, 0.0], faces)]
    return scene_with(strands, soups, rod_contact=True)


def history(sim: Simulation, last: int = 14) -> list[bytes]:
    bits = []
    for _ in sim.frames(sim.frame, last):
        bits.append(sim.state().tobytes())
    return bits


def test_the_same_bits() -> None:
    """For any number of threads, and from a saved frame on: in the same simulation and in a new one."""
    sim = Simulation(buried_scene(), threads=1)
    for _ in range(6):
        sim.step_frame()
    state, frame = sim.state(), sim.frame
    assert len(sim._contact.detection._buried.vertices)
    future = history(sim)
    sim.restore(state, frame)
    assert history(sim) == future
    for threads in (1, 3):
        fresh = Simulation(buried_scene(), threads=threads)
        fresh.restore(state, frame)
        assert history(fresh) == future
    assert history(Simulation(buried_scene(), threads=2))[frame - 1 :] == future


def test_a_solid_that_is_put_over_a_rod() -> None:
    """At once, in the middle of a simulation."""
    vertices, triangles = cube(2)
    scene = scene_with([strand((-0.02, 0.0, 0.0), (0.03, 0.0, 0.0), 0.004)], [(0.04 * vertices, triangles)])
    sim = Simulation(scene, threads=1)
    sim.move_collider(0, position=(0.0, 0.0, -1.0), at_once=True)
    still = sim.step_frame().positions(0)
    assert sim.step_frame().positions(0) == pytest.approx(still, abs=1e-12)
    sim.move_collider(0, position=(0.0, 0.0, -0.02), at_once=True)
    for frame in sim.frames(4, 60):
        assert fastest(frame) < 1.0
    assert frame.positions(0)[:, 2].min() > 0.02 + (1.0 - SKIN) * 0.004


def test_a_solid_that_moves_takes_along_what_is_in_it() -> None:
    """It is pushed out of where the solid is by then, not of where it was."""
    vertices, triangles = cube(2)
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    scene.add(strand((-0.02, 0.0, 0.015), (0.03, 0.0, 0.015), 0.004))
    scene.collide(Mesh(0.04 * vertices, triangles), friction=0.3, path=lambda t: ((0.0, 0.0, 0.2 * t), np.eye(3)))
    for frame in Simulation(scene, threads=1).frames(2, 60):
        assert fastest(frame) < 1.0
    assert (frame.positions(0)[:, 2] - 0.2 * frame.time).min() > 0.04 + (1.0 - SKIN) * 0.004


# What it costs ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the kernels that were called."""
    made: list[str] = []

    def watched(name: str) -> Any:
        kernel = getattr(buried, name)

        def call(*arguments: Any) -> Any:
            made.append(name)
            return kernel(*arguments)

        return call

    for name in ("count_turns", "nearest_points", "adjust", "buried_contacts"):
        monkeypatch.setattr(buried, name, watched(name))
    return made


def test_nobody_inside_costs_nothing(calls: list[str]) -> None:
    """A rod falls on a cube and lies there; another one flies past. It is in the cube's box that they begin."""
    vertices, triangles = cube(2)
    vertices = 0.06 * vertices @ TURN.T
    tip = vertices[np.argmax(vertices[:, 2])]
    scene = Scene(drag=1.0)
    scene.add(strand(tip + np.array([-0.05, 0.0, 0.01]), tip + np.array([0.05, 0.01, 0.01]), 0.004))
    scene.add(strand((0.9, 0.9, 0.9) * vertices.max(axis=0), (2.0, 2.0, 2.0) * vertices.max(axis=0), 0.004))
    scene.collide(Mesh(vertices, triangles), friction=0.3)
    sim = Simulation(scene, threads=1)
    sim.step_frame()
    assert calls == ["count_turns"]
    touched = 0
    for _ in range(20):
        sim.step_frame()
        touched += len(sim._contact.known.keys)
    assert touched
    assert calls == ["count_turns"]
    sim.restore(sim.state(), sim.frame)
    sim.step_frame()
    assert len(calls) <= 2


def test_each_is_asked_once_a_substep(calls: list[str]) -> None:
    """As long as it is inside: not at every iterate, and not any more when it is out. Once more for the overlaps of the report."""
    vertices, triangles = cube(2)
    scene = scene_with([strand((-0.02, 0.0, 0.03), (0.03, 0.0, 0.03), 0.004)], [(0.04 * vertices, triangles)])
    sim = Simulation(scene, threads=1)
    frame = sim.step_frame()
    assert calls.count("nearest_points") <= sim.substeps + 1 + frame.report.halvings
    assert calls.count("count_turns") <= sim.substeps + 1 + frame.report.halvings
    for _ in range(48):
        sim.step_frame()
    assert not len(sim._contact.detection._buried.vertices)
    calls.clear()
    sim.step_frame()
    assert not calls
