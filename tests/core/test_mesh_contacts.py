"""Contacts of rods with triangle meshes, against brute force."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tendril.core.contact.arrays import Contacts, Meshes, Samples
from tendril.core.contact.mesh_contacts import edge_contacts, triangle_contacts
from tendril.core.contact.mesh_topology import MANIFOLD_BREAKS, mesh_boxes, pack_meshes
from tendril.core.contact.shapes import Mesh

Soup = tuple[np.ndarray, np.ndarray]  # vertices and triangles


# Meshes


def grid(n: int = 6, height: float = 0.0, seed: int = 0) -> Soup:
    """A square sheet from -1 to 1, flat or bumpy; diagonals run both ways."""
    x, y = np.meshgrid(np.linspace(-1, 1, n + 1), np.linspace(-1, 1, n + 1), indexing="ij")
    z = height * np.random.default_rng(seed).standard_normal(x.shape)
    triangles = []
    for i in range(n):
        for j in range(n):
            a, b, c, d = i * (n + 1) + j, (i + 1) * (n + 1) + j, (i + 1) * (n + 1) + j + 1, i * (n + 1) + j + 1
            triangles += [(a, b, c), (a, c, d)] if (i + j) % 2 else [(a, b, d), (b, c, d)]
    return np.stack([x, y, z], axis=-1).reshape(-1, 3), np.array(triangles)


def cube(n: int = 2) -> Soup:
    """From -1 to 1, with n x n squares per face."""
    flat, triangles = grid(n)
    sides = []
    for axis in range(3):
        for sign in (1.0, -1.0):
            side = np.empty_like(flat)
            side[:, axis] = sign
            side[:, (axis + 1) % 3], side[:, (axis + 2) % 3] = flat[:, 0], sign * flat[:, 1]
            sides.append(side)
    points, number = np.unique(np.concatenate(sides).round(9), axis=0, return_inverse=True)
    number = number.ravel()
    return points, np.concatenate([number[triangles + k * len(flat)] for k in range(6)])


def ball(n: int = 4) -> Soup:
    points, triangles = cube(n)
    return points / np.linalg.norm(points, axis=1, keepdims=True), triangles


def torus(n: int = 16, m: int = 9) -> Soup:
    u, v = np.meshgrid(np.arange(n) * 2 * math.pi / n, np.arange(m) * 2 * math.pi / m, indexing="ij")
    r = 0.8 + 0.35 * np.cos(v)
    points = np.stack([r * np.cos(u), r * np.sin(u), 0.35 * np.sin(v)], axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(n), np.arange(m), indexing="ij")
    a, b = i * m + j, (i + 1) % n * m + j
    c, d = (i + 1) % n * m + (j + 1) % m, i * m + (j + 1) % m
    return points, np.concatenate([np.stack(t, axis=-1).reshape(-1, 3) for t in ((a, b, c), (a, c, d))])


def moebius(n: int = 24) -> Soup:
    angle = np.arange(n) * 2 * math.pi / n
    across = np.stack([np.cos(angle / 2) * np.cos(angle), np.cos(angle / 2) * np.sin(angle), np.sin(angle / 2)], axis=1)
    middle = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    points = np.stack([middle - 0.3 * across, middle + 0.3 * across], axis=1).reshape(-1, 3)
    triangles = []
    for i in range(n):
        a, b = 2 * i, 2 * i + 1
        c, d = (2 * i + 2, 2 * i + 3) if i < n - 1 else (1, 0)
        triangles += [(a, b, c), (b, d, c)]
    return points, np.array(triangles)


def fins() -> Soup:
    """Five half sheets that meet in one line, bent where they do."""
    points = [(0.0, 0.0, z) for z in (-1.0, 0.0, 1.0)]
    triangles = []
    for k in range(5):
        angle = 1.1 * k + 0.2
        first = len(points)
        points += [(math.cos(angle), math.sin(angle), z) for z in (-1.0, 0.1, 1.0)]
        for i in range(2):
            triangles += [(i, i + 1, first + i), (i + 1, first + i + 1, first + i)]
    return np.array(points), np.array(triangles)


def blade() -> Soup:
    """A flat octahedron: both sides of its rim face all who are near it."""
    points = np.array([(1.0, 0, 0), (0, 1, 0), (-1, 0, 0), (0, -1, 0), (0, 0, 0.15), (0, 0, -0.15)])
    return points, np.array([t for k in range(4) for t in ((k, (k + 1) % 4, 4), ((k + 1) % 4, k, 5))])


def dented() -> Soup:
    """A cube whose top is pushed in: seen from within, there is a tip."""
    points, triangles = cube(2)
    points[(points == (0, 0, 1)).all(axis=1), 2] = 0.2
    return points, triangles


def slab(n: int = 12) -> Soup:
    """A solid with a fine upper and a coarse lower side, slanted."""
    upper, triangles = grid(n)
    lower = np.array([(-1.0, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)])
    rim = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
    sides = [rim[:, 0], rim[-1, :], rim[::-1, -1], rim[0, ::-1]]
    below = len(upper) + np.arange(4)
    walls = [(below[k], below[(k + 1) % 4], side[-1]) for k, side in enumerate(sides)]
    walls += [(below[k], j, i) for k, side in enumerate(sides) for i, j in pairwise(side)]
    walls += [(below[0], below[2], below[1]), (below[0], below[3], below[2])]
    points = np.concatenate([upper, lower])
    points[:, 2] = np.where(np.arange(len(points)) < len(upper), 0.05, -0.05)
    c, s = math.cos(0.6), math.sin(0.6)
    return points @ np.array([(c, 0, -s), (0, 1, 0), (s, 0, c)]), np.concatenate([triangles, walls])


SHEETS = {"grid": grid(5, 0.15), "flat": grid(4), "moebius": moebius(), "fins": fins()}
SOLIDS = {"cube": cube(), "ball": ball(), "torus": torus(), "blade": blade(), "dented": dented()}
SOUPS = SHEETS | SOLIDS


# Rods, candidates, contacts


def rods(start: np.ndarray, now: np.ndarray, radius: float, closed: bool = False) -> Samples:
    """(R, n, 3) points of R rods."""
    many, n, _ = start.shape
    after = np.arange(1, many * n + 1)
    after[n - 1 :: n] = after[n - 1 :: n] - n if closed else -1
    last = np.zeros(many * n, bool)
    last[n - 2 :: n] = not closed
    count = many * n
    return Samples(
        start=start.reshape(-1, 3).copy(),
        now=now.reshape(-1, 3).copy(),
        after=after,
        last=last,
        rod=np.repeat(np.arange(many), n),
        along=np.zeros(count),
        length=np.full(count, np.inf),
        radius=np.full(count, radius),
        friction=np.full(count, 0.4),
    )


def wiggly(rng: np.random.Generator, many: int, n: int, step: float) -> np.ndarray:
    """Random polylines about the origin."""
    way = rng.standard_normal((many, 1, 3)) + 0.7 * rng.standard_normal((many, n, 3))
    way *= step / np.linalg.norm(way, axis=2, keepdims=True)
    line = np.cumsum(way, axis=1)
    return line - line[:, n // 2 : n // 2 + 1]


def packed(soup: Soup, end: np.ndarray | None = None, thickness: float = 0.01) -> Meshes:
    meshes = pack_meshes([(Mesh(*soup), thickness, 0.9)], 7)
    if end is not None:
        meshes.vertices[1] = end
    return meshes


def overlaps(
    low: np.ndarray, high: np.ndarray, low_of: np.ndarray, high_of: np.ndarray, edge: np.ndarray
) -> np.ndarray:
    meet = (low[:, None] <= high_of).all(axis=2) & (low_of <= high[:, None]).all(axis=2)
    first, second = np.nonzero(meet)
    return np.stack([edge[first], second], axis=1)


def candidates(samples: Samples, meshes: Meshes, margin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    edge = np.flatnonzero(samples.after >= 0)
    ends = samples.after[edge]
    four = np.stack([samples.start[edge], samples.start[ends], samples.now[edge], samples.now[ends]])
    more = (samples.radius + margin)[edge][:, None] * (1 + 1e-9)
    low, high = four.min(axis=0) - more, four.max(axis=0) + more
    triangles, edges = (np.zeros((2, len(meshes.triangles), 3)), np.zeros((2, len(meshes.edges), 3)))
    mesh_boxes(meshes, *triangles, *edges)
    return overlaps(low, high, *triangles, edge), overlaps(low, high, *edges, edge)


def empty(capacity: int = 20000) -> Contacts:
    width = {"edge": 2, "at": 2, "normal": 3, "slide": 3, "arm": 2}
    kind: dict[str, Any] = {"edge": np.int64, "key": np.int64, "crossed": np.bool_}
    return Contacts(
        *(
            np.full((capacity, width[name]) if name in width else capacity, -9, kind.get(name, np.float64))
            for name in Contacts._fields
        )
    )


def found(samples: Samples, meshes: Meshes, margin: float = 0.0) -> Contacts:
    margins = np.full(len(samples.after), margin)
    of_triangles, of_edges = candidates(samples, meshes, margins)
    contacts = empty()
    count = triangle_contacts(of_triangles, len(of_triangles), samples, meshes, margins, contacts, 0)
    count = edge_contacts(of_edges, len(of_edges), samples, meshes, margins, contacts, count)
    assert count <= len(contacts.gap)
    return Contacts(*(array[:count] for array in contacts))


def are_with_triangles(contacts: Contacts, samples: Samples, meshes: Meshes) -> np.ndarray:
    return -1 - contacts.key < meshes.first_feature[1] * len(samples.after)


# Brute force, in other words than the kernels


def to_triangles(p: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """(P, F) distances of points to triangles: to the plane if over it, else to the edges."""
    a, b, c = np.moveaxis(corners, 1, 0)
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    result = np.minimum(np.minimum(to_segments(p, a, b), to_segments(p, b, c)), to_segments(p, c, a))
    over = np.ones(result.shape, bool)
    for q, r in ((a, b), (b, c), (c, a)):
        over &= ((p[:, None] - q) * np.cross(n, r - q)).sum(axis=2) >= 0.0
    return np.where(over, abs(((p[:, None] - a) * n).sum(axis=2)), result)


def to_segments(p: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    s = ((p[:, None] - a) * (b - a)).sum(axis=2) / ((b - a) ** 2).sum(axis=1)
    return np.linalg.norm(p[:, None] - a - np.clip(s, 0, 1)[..., None] * (b - a), axis=2)


def between_segments(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """(P, Q) distances: of their lines if those are closest within both, else of ends."""
    u, v, w = (b - a)[:, None], d - c, c - a[:, None]
    n = np.cross(u, v)
    nn = np.maximum((n * n).sum(axis=2), 1e-300)
    s, t = (np.cross(w, v) * n).sum(axis=2) / nn, (np.cross(w, u) * n).sum(axis=2) / nn
    within = (s > 0) & (s < 1) & (t > 0) & (t < 1)
    ends = [to_segments(a, c, d), to_segments(b, c, d), to_segments(c, a, b).T, to_segments(d, a, b).T]
    return np.where(within, abs((w * n).sum(axis=2)) / np.sqrt(nn), np.minimum.reduce(ends))


def pierced(a: np.ndarray, b: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Whether segments go through triangles, pair by pair, by signs of volumes."""

    def volume(p: np.ndarray, q: np.ndarray, r: np.ndarray, s: np.ndarray) -> np.ndarray:
        return np.sign(((q - p) * np.cross(r - p, s - p)).sum(axis=-1))

    x, y, z = np.moveaxis(corners, -2, 0)
    one, two, three = volume(a, b, x, y), volume(a, b, y, z), volume(a, b, z, x)
    return (volume(a, x, y, z) * volume(b, x, y, z) < 0) & (one == two) & (two == three)


def segments(samples: Samples, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    edge = np.flatnonzero(samples.after >= 0)
    return edge, points[edge], points[samples.after[edge]]


def distances(samples: Samples, meshes: Meshes) -> tuple[np.ndarray, np.ndarray]:
    """Of all edges of rods from all of the mesh, at the end of the substep; and which go through it."""
    edge, a, b = segments(samples, samples.now)
    corners = meshes.vertices[1][meshes.triangles]
    lines = meshes.vertices[1][meshes.edges]
    near = np.minimum(to_triangles(a, corners).min(axis=1), to_triangles(b, corners).min(axis=1))
    near = np.minimum(near, between_segments(a, b, lines[:, 0], lines[:, 1]).min(axis=1))
    result, through = np.full(len(samples.after), np.inf), np.zeros(len(samples.after), bool)
    result[edge], through[edge] = near, pierced(a[:, None], b[:, None], corners).any(axis=1)
    return result, through


def near_surface(rng: np.random.Generator, soup: Soup, many: int, within: float) -> np.ndarray:
    points, triangles = soup
    weights = rng.dirichlet((0.6, 0.6, 0.6), many)
    place = (points[triangles[rng.integers(len(triangles), size=many)]] * weights[..., None]).sum(axis=1)
    return place + within * rng.standard_normal((many, 3))


def inside_of(p: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """By the solid angle of the whole surface."""
    a, b, c = np.moveaxis(corners - p[:, None, None], 2, 0)
    la, lb, lc = (np.linalg.norm(x, axis=2) for x in (a, b, c))
    below = la * lb * lc + (a * b).sum(2) * lc + (b * c).sum(2) * la + (c * a).sum(2) * lb
    return np.arctan2((a * np.cross(b, c)).sum(axis=2), below).sum(axis=1) > math.pi


# Topology


def test_topology_of_known_meshes() -> None:
    meshes = pack_meshes([(Mesh(*cube()), 0.1, 0.5), (Mesh(*grid(3)), 0.2, 0.6), (Mesh(*fins()), 0.3, 0.7)], 11)
    assert meshes.solid.tolist() == [True, False, False]
    vertices, faces = 26 + 16 + 18, 48 + 18 + 20
    assert meshes.vertices.shape == (2, vertices, 3)
    assert meshes.triangles.shape == (faces, 3)
    assert np.bincount(meshes.mesh_of_edge).tolist() == [72, 33, 2 + 5 * 7]
    assert meshes.first_feature.tolist() == [11, 11 + faces, 11 + faces + 2 * len(meshes.edges)]
    sides = np.bincount(meshes.mesh_of_edge, weights=(meshes.opposite[:, 1] == -1)).tolist()
    assert sides == [0, 12, 20]
    assert (meshes.opposite[:, 1] == MANIFOLD_BREAKS).sum() == 2
    assert not pack_meshes([(Mesh(*moebius()), 0.0, 0.0)], 0).solid[0]
    triangle = np.array([(0.0, 0, 0), (1, 0, 0), (0, 1, 0)])
    assert not pack_meshes([(Mesh(triangle, [(0, 1, 2), (0, 2, 1)]), 0.0, 0.0)], 0).solid[0]
    points, triangles = cube()
    triangles[3] = triangles[3, ::-1]
    assert not pack_meshes([(Mesh(points, triangles), 0.0, 0.0)], 0).solid[0]
    nothing = pack_meshes([], 5)
    assert nothing.vertices.shape == (2, 0, 3)
    assert nothing.edges.shape == (0, 2)
    assert nothing.ring_start.tolist() == [0]


@pytest.mark.parametrize("name", SOUPS)
def test_topology_is_that_of_the_triangles(name: str) -> None:
    _, triangles = SOUPS[name]
    meshes = packed(SOUPS[name])
    at_edge: dict[tuple[int, int], list[tuple[bool, int]]] = {}
    neighbours: dict[int, set[int]] = {}
    for triangle in triangles.tolist():
        for k in range(3):
            i, j, o = triangle[k], triangle[(k + 1) % 3], triangle[(k + 2) % 3]
            at_edge.setdefault((min(i, j), max(i, j)), []).append((i < j, o))
            neighbours.setdefault(i, set()).update((j, o))
    assert [tuple(edge) for edge in meshes.edges.tolist()] == sorted(at_edge)
    for edge, (first, second) in zip(meshes.edges.tolist(), meshes.opposite.tolist(), strict=True):
        sides = at_edge[tuple(edge)]
        if len(sides) > 2:
            assert (first, second) == (MANIFOLD_BREAKS, MANIFOLD_BREAKS)
        elif len(sides) == 1:
            assert (first, second) == (sides[0][1], -1)
        elif sides[0][0] != sides[1][0]:
            assert (first, second) == (dict(sides)[True], dict(sides)[False])
        else:
            assert {first, second} == {sides[0][1], sides[1][1]}
    for v in range(len(meshes.ring_start) - 1):
        ring = meshes.ring[meshes.ring_start[v] : meshes.ring_start[v + 1]].tolist()
        assert ring == sorted(neighbours[v])


# Near the surface


def slow_scene(name: str, seed: int, closed: bool = False) -> tuple[Samples, Meshes]:
    """Rods that cover their surroundings, and a mesh that moves and deforms; none of it by much."""
    rng = np.random.default_rng(seed)
    points, triangles = SOUPS[name]
    end = points + 0.004 * rng.standard_normal(points.shape) + 0.01 * rng.standard_normal(3)
    if name in ("flat", "cube"):
        end = points + 0.01 * rng.standard_normal(3)
    meshes = packed((points, triangles), end)
    line = wiggly(rng, 80, 5, 0.15) + near_surface(rng, (end, triangles), 80, 0.07)[:, None]
    return rods(line + 0.005 * rng.standard_normal(line.shape), line, 0.03, closed), meshes


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("name", SOUPS)
def test_smallest_gap_is_the_distance(name: str, closed: bool) -> None:
    """And no row claims less; mesh points of all rows lie on the mesh; slides are those of their material."""
    checked = 0
    for seed in range(2):
        samples, meshes = slow_scene(name, seed, closed)
        contacts = found(samples, meshes, margin=0.02)
        true, through = distances(samples, meshes)
        corners = meshes.vertices[1][meshes.triangles]
        outside = ~inside_of(samples.now, corners) if name in SOLIDS else np.ones(len(samples.now), bool)
        reach = samples.radius[0] + meshes.thickness[0]
        edge, at = contacts.edge[:, 0], contacts.at[:, 0]
        assert (contacts.edge[:, 1] == -1).all()
        assert len(np.unique(contacts.key)) == len(contacts.key)
        assert (contacts.key < 0).all()
        assert abs(np.linalg.norm(contacts.normal, axis=1) - 1).max() < 1e-12
        assert (contacts.arm == (samples.radius[0], 0.0)).all()
        assert np.allclose(contacts.friction, 0.6)
        # Rows tell of an edge and of the edge before, if they are at the vertex between.
        smallest = np.full(len(samples.after), np.inf)
        np.minimum.at(smallest, edge, contacts.gap)
        begin, following = smallest.copy(), samples.after
        begin[:] = np.inf
        np.minimum.at(begin, edge[at == 0], contacts.gap[at == 0])
        smallest = np.where(following >= 0, np.minimum(smallest, begin[following]), np.inf)
        passed = np.isin(samples.rod, samples.rod[edge[contacts.crossed]])
        fine = (following >= 0) & ~through & outside & outside[following] & ~passed
        near = fine & (true - reach < 0.02 * (1 - 1e-6))
        assert abs(smallest[near] - (true - reach)[near]).max() < 1e-9
        checked += near.sum()
        apart = fine & (true - reach > 0.02 * (1 + 1e-6))
        assert np.isinf(smallest[apart]).all()
        # Where rows say the mesh is, it is.
        ahead = samples.now[samples.after[edge]]
        x = samples.now[edge] + at[:, None] * (ahead - samples.now[edge])
        rows = ~contacts.crossed
        touched = x - contacts.normal * (contacts.gap + reach)[:, None]
        off = to_triangles(touched[rows], corners)
        assert off.min(axis=1).max() < 1e-9
        # Most points on it are in one triangle only: there the motion is known.
        within = (off < 1e-9).sum(axis=1) == 1
        for row, face in zip(np.flatnonzero(rows)[within], off[within].argmin(axis=1), strict=True):
            of = meshes.vertices[:, meshes.triangles[face]]
            weights = np.linalg.lstsq(np.vstack([of[1].T, np.ones(3)]), [*touched[row], 1.0], rcond=None)[0]
            assert abs(contacts.slide[row] - weights @ (of[1] - of[0])).max() < 1e-8
    assert checked > 100


@pytest.mark.parametrize("name", SOUPS)
def test_gap_changes_along_its_normal(name: str) -> None:
    rng = np.random.default_rng(5)
    samples, meshes = slow_scene(name, 11)
    contacts = found(samples, meshes, margin=0.02)
    of_key = {key: row for row, key in enumerate(contacts.key.tolist())}
    compared = 0
    for _ in range(3):
        way = 1e-6 * rng.standard_normal(3)
        moved = samples._replace(now=samples.now + way)
        later = found(moved, meshes, margin=0.02)
        for row, key in enumerate(later.key.tolist()):
            if key in of_key and not later.crossed[row] and not contacts.crossed[of_key[key]]:
                before = of_key[key]
                change = later.gap[row] - contacts.gap[before]
                assert abs(change - 0.5 * (contacts.normal[before] + later.normal[row]) @ way) < 1e-9
                compared += 1
    assert compared > 300


@pytest.mark.parametrize("name", SOUPS)
def test_before_is_the_gap_at_the_start(name: str) -> None:
    """Seen from a substep that ends where this one begins: rows of the same key there have it as their gap."""
    samples, meshes = slow_scene(name, 21)
    contacts = found(samples, meshes, margin=0.02)
    earlier = meshes._replace(vertices=meshes.vertices[[0, 0]])
    there = found(samples._replace(now=samples.start), earlier, margin=0.05)
    gap = dict(zip(there.key.tolist(), there.gap, strict=True))
    rows = [row for row, key in enumerate(contacts.key.tolist()) if key in gap and not contacts.crossed[row]]
    assert len(rows) > 0.6 * len(contacts.key)
    assert abs(contacts.before[rows] - [gap[contacts.key[row]] for row in rows]).max() < 1e-9


def test_rows_beyond_capacity_are_counted() -> None:
    samples, meshes = slow_scene("grid", 1)
    margins = np.full(len(samples.after), 0.02)
    for kernel, pairs in zip((triangle_contacts, edge_contacts), candidates(samples, meshes, margins), strict=True):
        full, small = empty(), empty(7)
        count = kernel(pairs, len(pairs), samples, meshes, margins, full, 2)
        assert count > 20
        assert kernel(pairs, len(pairs), samples, meshes, margins, small, 2) == count
        for one, other in zip(full, small, strict=True):
            assert (one[:7] == other).all()


# Flat places and corners


@pytest.mark.parametrize("seed", range(4))
def test_flat_sheet_gives_vertical_normals_only(seed: int) -> None:
    """However a rod lies or slides on it: over inner edges, along them, from vertex to vertex."""
    rng = np.random.default_rng(seed)
    meshes = packed(grid(8), thickness=0.0)
    along = np.linspace(-0.6, 0.6, 7)
    for side in (1.0, -1.0):
        angles = np.concatenate([rng.uniform(0, 2 * math.pi, 60), np.arange(8) * math.pi / 4])
        straight = along[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=1)[:, None]
        line = np.concatenate([straight, np.zeros((*straight.shape[:2], 1))], axis=2)
        line[:60, :, :2] += rng.uniform(-0.3, 0.3, (60, 1, 2))
        line[..., 2] = side * (0.0101 + 0.0005 * rng.standard_normal(line.shape[:2]))
        line[::2, :, 2] = side * 0.0101
        slid = line + np.array([0.03, -0.02, 0.0])
        samples = rods(line, slid, 0.01) if seed % 2 else rods(slid, line, 0.01)
        contacts = found(samples, meshes, margin=0.005)
        assert abs(contacts.normal - (0.0, 0.0, side)).max() < 1e-6
        assert not contacts.crossed.any()
        touching = np.unique(np.where(contacts.at[:, 0] == 1.0, contacts.edge[:, 0] + 1, contacts.edge[:, 0]))
        assert len(touching) == len(samples.after)  # each vertex has found its triangle
        assert are_with_triangles(contacts, samples, meshes).all()


def test_a_rod_over_the_rim_of_a_sheet() -> None:
    """Vertices beyond it touch nothing; the edge that crosses the rim does, straight up."""
    meshes = packed(grid(4), thickness=0.0)
    for y in (0.13, 0.0, 0.5):  # the latter two over vertices of the rim
        line = np.array([[(0.8, y, 0.01), (1.2, y, 0.01), (1.6, y, 0.01)]])
        contacts = found(rods(line, line, 0.01), meshes, margin=0.005)
        rim = contacts.at[:, 0] > 0.0
        assert rim.any()
        assert np.allclose(contacts.at[rim, 0], 0.5)
        assert abs(contacts.normal - (0, 0, 1)).max() < 1e-12
    for y in (0.13, 0.5, 1.0):
        line = np.array([[(1.0, y, 0.01), (1.4, y, 0.01)]])  # a vertex over the rim is over a triangle
        samples = rods(line, line, 0.01)
        contacts = found(samples, meshes, margin=0.005)
        assert are_with_triangles(contacts, samples, meshes).all()
        assert len(contacts.gap) > 0


def test_normals_are_across_nearly_parallel_edges() -> None:
    rng = np.random.default_rng(7)
    way = np.array([1.0, 0, 0]) + 10.0 ** rng.uniform(-7, -1, (400, 1)) * rng.standard_normal((400, 3))
    line = np.array([0.0, 1.03, 1.03]) + np.multiply.outer([-0.2, 0.2], way).transpose(1, 0, 2)
    contacts = found(rods(line, line, 0.05), packed(cube(1), thickness=0.0))
    inner = (contacts.at[:, 0] > 0.0) & (contacts.at[:, 0] < 1.0)
    assert inner.sum() > 150
    along = way[contacts.edge[inner, 0] // 2]
    assert abs((contacts.normal[inner] * along).sum(axis=1)).max() < 1e-12


def test_corners_and_edges_of_a_cube_push_outwards() -> None:
    """Rods that lie across random directions over corners, edges and faces of a cube."""
    rng = np.random.default_rng(3)
    meshes = packed(cube(3), thickness=0.0)
    n = np.abs(rng.standard_normal((900, 3))) * np.repeat([(1, 1, 1), (1, 1, 0), (0, 1, 0)], 300, axis=0)
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    t = np.cross(n, rng.standard_normal((900, 3)))
    place = np.where(n > 0, 1.0, rng.uniform(-0.9, 0.9, (900, 3))) + 0.04 * n
    line = place[:, None] + np.multiply.outer([-0.3, 0.0, 0.3], t).transpose(1, 0, 2)
    line[:300] += np.array([0.1, 0.0, 0.02])[:, None] * n[:300, None]
    line[50:300:2] += rng.uniform(-0.2, 0.2, (125, 1, 1)) * t[50:300:2, None]
    samples = rods(line, line, 0.05)
    contacts = found(samples, meshes)
    assert contacts.gap.min() > -0.01 - 1e-9
    edge, at = contacts.edge[:, 0], contacts.at
    x = samples.now[edge] + at[:, :1] * (samples.now[samples.after[edge]] - samples.now[edge])
    p = x - contacts.normal * (contacts.gap + 0.05)[:, None]
    cone = contacts.normal * np.where(abs(abs(p) - 1.0) < 1e-9, np.sign(p), 0.0)
    assert abs((cone**2).sum(axis=1) - 1).max() < 1e-9  # nothing along faces the point is within
    assert cone.min() > -1e-9
    directions = (cone > 1e-6).sum(axis=1)
    assert [(directions == k).sum() > 50 for k in (1, 2, 3)] == [True] * 3


# Inside of solids


@pytest.mark.parametrize("name", SOLIDS)
def test_vertices_inside_are_pushed_to_the_nearest_point_of_the_surface(name: str) -> None:
    rng = np.random.default_rng(8)
    points, triangles = SOUPS[name]
    meshes = packed((points, triangles))
    corners = points[triangles]
    place = near_surface(rng, (points, triangles), 400, 0.08)
    line = place[:, None] + wiggly(rng, 400, 3, 0.2)
    samples = rods(line, line, 0.02)
    contacts = found(samples, meshes, margin=0.1)
    inside = inside_of(samples.now, corners)
    depth = to_triangles(samples.now, corners).min(axis=1)
    with_triangles = are_with_triangles(contacts, samples, meshes)
    vertex = contacts.edge[:, 0] + (contacts.at[:, 0] == 1.0)
    rows = with_triangles & inside[vertex]
    assert (np.bincount(vertex[rows], minlength=len(inside))[inside & (depth < 0.1)] == 1).all()
    sure = rows & (depth[vertex] < 0.1)
    assert abs(contacts.gap[sure] - (-depth[vertex[sure]] - 0.03)).max() < 1e-9
    assert abs(contacts.before[rows] - contacts.gap[rows]).max() < 1e-12
    pushed = samples.now[vertex[rows]] - contacts.normal[rows] * (contacts.gap[rows] + 0.03 - 1e-6)[:, None]
    assert not inside_of(pushed, corners).any()
    assert rows.sum() > 100
    # What is all inside has to do with triangles only.
    _, through = distances(samples, meshes)
    edge = contacts.edge[:, 0]
    assert with_triangles[inside[edge] & inside[samples.after[edge]] & ~through[edge]].all()
    # And no vertex outside is pulled in.
    rows = with_triangles & ~inside[vertex]
    assert (contacts.gap[rows] >= depth[vertex[rows]] - 0.03 - 1e-9).all()
    assert rows.sum() > 100


def test_thin_solid_is_not_mistaken_for_its_far_side() -> None:
    points, triangles = cube(3)
    meshes = packed((points * (1.0, 1.0, 0.004), triangles), thickness=0.0)
    rng = np.random.default_rng(4)
    line = wiggly(rng, 300, 4, 0.1) * (1, 1, 0) + rng.uniform(-1.1, 1.1, (300, 1, 3)) * (1, 1, 0)
    for side in (1.0, -1.0):
        line[..., 2] = side * (0.004 + 0.009)
        contacts = found(rods(line, line, 0.01), meshes, margin=0.02)
        at_face = abs(contacts.gap + 0.001) < 1e-9
        assert (contacts.gap[~at_face] > -0.001).all()
        assert abs(contacts.normal[at_face] - (0, 0, side)).max() < 1e-9
        assert at_face.sum() > 800
        assert (contacts.normal[:, 2] * side > -1e-9).all()
        assert len(at_face) == len(np.unique(contacts.edge[:, 0] + contacts.at[:, 0]))  # nothing with the far side


def test_what_was_not_looked_at_is_not_taken_for_absent() -> None:
    """Boxes of rods along the axes meet the whole lower side of a slab, and of the upper one only what is near."""
    meshes = packed(slab(), thickness=0.0)
    assert meshes.solid.all()
    rng = np.random.default_rng(6)
    line = rng.uniform(-0.6, 0.6, (150, 1, 3)) + np.array([(0.0, 0, 0), (0.5, 0, 0)])
    line = np.concatenate([line, line[:, ::-1]])
    samples = rods(line, line, 0.01)
    corners = meshes.vertices[1][meshes.triangles]
    outside = ~inside_of(samples.now, corners)
    contacts = found(samples, meshes)
    vertex = contacts.edge[:, 0] + (contacts.at[:, 0] == 1.0)
    rows = np.isin(contacts.at[:, 0], (0.0, 1.0)) & outside[vertex]
    depth = to_triangles(samples.now, corners).min(axis=1)
    assert (contacts.gap[rows] > depth[vertex[rows]] - 0.01 - 1e-9).all()
    assert rows.sum() > 3


def test_a_dent_does_not_push_inwards() -> None:
    """Rods under its tip: a vertex is pushed out through it, an edge that no vertex of which is near has nothing to do."""
    meshes = packed(dented(), thickness=0.0)
    line = np.array([[(-0.2, 0.01, 0.15), (0.2, 0.01, 0.15)], [(0.0, 0.01, 0.15), (0.3, 0.01, -0.2)]])
    samples = rods(line, line, 0.1)
    contacts = found(samples, meshes)
    assert contacts.edge[:, 0].tolist() == [2, 2]
    assert are_with_triangles(contacts, samples, meshes).all()
    assert np.allclose(contacts.normal[contacts.at[:, 0] == 0.0], np.array((0, -0.01, 0.05)) / math.hypot(0.01, 0.05))


def test_an_edge_that_cuts_a_solids_edge_is_pushed_out() -> None:
    meshes = packed(cube(1), thickness=0.0)
    line = np.array([[(0.6, 0.3, 1.3), (1.3, 0.1, 0.6)]])  # its middle is 0.05 * sqrt(2) inside
    contacts = found(rods(line, line, 0.02), meshes, margin=0.1)
    cut = (contacts.at[:, 0] > 0.0) & (contacts.at[:, 0] < 1.0) & (contacts.gap < -0.02)
    assert cut.sum() == 1
    u = (line[0, 1] - line[0, 0]) / np.linalg.norm(line[0, 1] - line[0, 0])
    n = np.cross(u, (0, 1, 0)) / np.linalg.norm(np.cross(u, (0, 1, 0)))
    n *= np.sign(n[2])
    assert np.allclose(contacts.normal[cut], n, atol=1e-9)
    assert np.allclose(contacts.gap[cut], n @ (line[0, 0] - (1, 0, 1)) - 0.02)
    assert np.allclose(contacts.before[cut], contacts.gap[cut])


# Passing through


def thrown(name: str, seed: int, many: int, moving: bool) -> tuple[list[Samples], list[Meshes]]:
    """Rods that begin clear of the mesh and fly at up to 50 m/s for a hundredth of a second, and meshes that meet them."""
    rng = np.random.default_rng(seed)
    points, triangles = SOUPS[name]
    all_samples, all_meshes = [], []
    for _ in range(many):
        begin = points
        end = points + 0.1 * rng.standard_normal(3) + 0.03 * rng.standard_normal(points.shape) if moving else points
        meshes = packed((begin, triangles), end, thickness=0.0)
        line = wiggly(rng, 100, 4, 0.12) + near_surface(rng, (points, triangles), 100, 0.15)[:, None]
        way = rng.standard_normal((100, 1, 3)) + 0.2 * rng.standard_normal(line.shape)
        way *= rng.uniform(0.01, 0.5, (100, 1, 1)) / np.linalg.norm(way, axis=2, keepdims=True)
        clear = ~passages(rods(line, line, 1e-4), meshes._replace(vertices=meshes.vertices[[0, 0]]), 1)
        if name in SOLIDS:
            clear &= ~inside_of(line[:, 0], begin[triangles])
        all_samples.append(rods(line[clear], (line + way)[clear], 1e-4))
        all_meshes.append(meshes)
    return all_samples, all_meshes


def passages(samples: Samples, meshes: Meshes, times: int = 40) -> np.ndarray:
    """Which rods pass through the surface at some time, of those looked at."""
    seen = np.zeros(samples.rod.max() + 1, bool)
    edge, face = candidates(samples, meshes, np.zeros(len(samples.after)))[0].T
    for time in np.linspace(0.0, 1.0, times):
        points = samples.start + time * (samples.now - samples.start)
        vertices = meshes.vertices[0] + time * (meshes.vertices[1] - meshes.vertices[0])
        through = pierced(points[edge], points[samples.after[edge]], vertices[meshes.triangles[face]])
        seen[samples.rod[edge[through]]] = True
    return seen


@pytest.mark.parametrize("moving", [False, True])
@pytest.mark.parametrize("name", SOUPS)
def test_no_passage_is_missed(name: str, moving: bool) -> None:
    through = missed = idle = 0
    for samples, meshes in zip(*thrown(name, 31, 12, moving), strict=True):
        contacts = found(samples, meshes)
        stopped = np.zeros(samples.rod.max() + 1, bool)
        stopped[samples.rod[contacts.edge[contacts.crossed, 0]]] = True
        seen = passages(samples, meshes)
        through += seen.sum()
        missed += (seen & ~stopped).sum()
        idle += (~seen & ~stopped).sum()
        check_passages(samples, meshes, contacts)
    assert missed == 0
    assert through > 80
    assert idle > 40


def check_passages(samples: Samples, meshes: Meshes, contacts: Contacts) -> None:
    """What is known of each by itself: where the two meet, how deep they are in the end, and the direction."""
    rows = np.flatnonzero(contacts.crossed)
    edge, at = contacts.edge[rows, 0], contacts.at[rows, :1]
    ends = samples.after[edge]
    begin = samples.start[edge] + at * (samples.start[ends] - samples.start[edge])
    x = samples.now[edge] + at * (samples.now[ends] - samples.now[edge])
    normal = contacts.normal[rows]
    approach = ((x - begin - contacts.slide[rows]) * normal).sum(axis=1)
    assert (approach < 0.0).all()
    depth = contacts.gap[rows] + samples.radius[edge]
    assert ((depth <= 1e-12) & (depth >= approach - 1e-12)).all()
    assert (contacts.before[rows] >= -samples.radius[edge] - 1e-12).all()


@pytest.mark.parametrize("name", ["flat", "grid", "cube"])
def test_a_rod_pushed_back_by_its_passages_is_not_through(name: str) -> None:
    """Normals point to where the rod came from: going there along them undoes each passage."""
    for samples, meshes in zip(*thrown(name, 77, 4, False), strict=True):
        contacts = found(samples, meshes)
        vertex = contacts.crossed & are_with_triangles(contacts, samples, meshes)
        for row in np.flatnonzero(vertex):
            i = contacts.edge[row, 0] + int(contacts.at[row, 0])
            back = samples.now[i] - contacts.normal[row] * (contacts.gap[row] + samples.radius[i] - 1e-9)
            face = (-1 - contacts.key[row]) // len(samples.after) - meshes.first_feature[0]
            corners = meshes.vertices[1][meshes.triangles[face]]
            n = np.cross(corners[1] - corners[0], corners[2] - corners[0])
            assert ((back - corners[0]) @ n) * ((samples.start[i] - corners[0]) @ n) > 0.0


@pytest.mark.parametrize("name", ["flat", "cube"])
def test_no_passage_is_missed_where_all_is_in_line(name: str) -> None:
    """Vertices exactly over edges and vertices of the mesh, edges along its edges, straight down."""
    meshes = packed(SOUPS[name], thickness=0.0)
    top = SOUPS[name][0][:, 2].max()
    for step in (0.25, 0.5, 0.125, 2.5):
        for way in ((1, 0), (0, 1), (1, 1), (1, -1)):
            for offset in ((0, 0), (0.25, 0.0), (0.0, 0.5), (0.125, 0.125), (0.25, 0.5)):
                place = (np.arange(5) - 2)[:, None] * step * np.array([*way, 0.0]) + (*offset, top)
                for down in ((0.0, 0.0), (0.25, 0.0), (0.125, 0.3), (0.5, -0.5)):
                    line = np.add(place, (0, 0, 0.2))[None]
                    samples = rods(line, line - (*down, 0.5), 1e-4)
                    contacts = found(samples, meshes)
                    assert contacts.crossed.any()
                    hit = place[:, :2] - 0.4 * np.array(down)
                    within = (abs(hit) < 1.0 - 1e-9).all(axis=1)
                    vertex = contacts.edge[:, 0] + (contacts.at[:, 0] == 1.0)
                    assert within[~np.isin(np.arange(5), vertex[contacts.crossed])].sum() == 0
                    flat = contacts.crossed & np.isin(contacts.at[:, 0], (0.0, 1.0))
                    assert abs(contacts.normal[flat & within[vertex]] - (0, 0, 1)).max(initial=0.0) < 1e-6


def test_a_solid_may_be_left_but_not_entered() -> None:
    meshes = packed(SOUPS["ball"], thickness=0.0)
    rng = np.random.default_rng(9)
    line = 0.1 * wiggly(rng, 100, 3, 1.0)
    out = rng.standard_normal((100, 1, 3))
    out *= 2.0 / np.linalg.norm(out, axis=2, keepdims=True)
    assert not found(rods(line, line + out, 0.01), meshes).crossed.any()
    entering = found(rods(line + out, line, 0.01), meshes)
    assert len(np.unique(entering.edge[entering.crossed, 0] // 3)) == 100
    assert (entering.normal[entering.crossed] @ np.eye(3) * out[entering.edge[entering.crossed, 0] // 3, 0]).sum(
        1
    ).min() > 0


def test_what_passes_one_triangle_is_not_pushed_on_by_the_next() -> None:
    """A rod on its way through a flat sheet, sideways over many triangles: all that it gets is one way."""
    meshes = packed(grid(12), thickness=0.0)
    rng = np.random.default_rng(2)
    line = wiggly(rng, 200, 5, 0.12) * (1, 1, 0.0) + rng.uniform(-0.3, 0.3, (200, 1, 3)) * (1, 1, 0) + (0, 0, 0.004)
    way = rng.uniform(-0.3, 0.3, (200, 1, 3)) * (1, 1, 0) - (0, 0, 0.008)
    contacts = found(rods(line, line + way, 0.01), meshes, margin=0.01)
    assert contacts.crossed.sum() > 1000
    assert contacts.normal[:, 2].min() > 1 - 1e-9


def test_over_the_rim_a_rod_in_line_with_vertices_is_not_pushed_on_either() -> None:
    meshes = packed(grid(4), thickness=0.0)
    for y in (-0.5, 0.0, 1.0):
        line = np.array([[(0.8, y, 0.004), (1.2, y, 0.004), (1.6, y, 0.004)]])
        contacts = found(rods(line, line - (0.05, 0, 0.008), 0.01), meshes, margin=0.01)
        assert contacts.crossed.any()
        assert contacts.normal[:, 2].min() > 1 - 1e-9


def test_what_is_in_a_sheet_may_move_along_it_and_off_its_rim() -> None:
    """A rod that is stuck through a sheet, its vertices far from it."""
    rng = np.random.default_rng(12)
    meshes = packed(grid(4), thickness=0.0)
    line = rng.uniform(-0.9, 0.9, (300, 1, 3)) * (1, 1, 0) + np.array([(0.0, 0, -2), (0, 0, 2)])
    line[:, 1] += rng.uniform(-0.5, 0.5, (300, 3))
    way = rng.uniform(-0.7, 0.7, (300, 1, 3)) * (1, 1, 0)
    stuck = passages(rods(line, line, 0.01), meshes, 1)
    assert (stuck & ~passages(rods(line + way, line + way, 0.01), meshes, 1)).sum() > 20
    assert not found(rods(line[stuck], (line + way)[stuck], 0.01), meshes).crossed.any()


def test_rubbish_is_passed_over() -> None:
    samples, meshes = slow_scene("ball", 1)
    points = samples.now.copy()
    points[::3] = np.nan
    points[1] = np.inf
    margins = np.full(len(samples.after), 0.02)
    pairs, edge_pairs = candidates(samples, meshes, margins)
    broken = samples._replace(now=points)
    contacts = empty()
    count = triangle_contacts(pairs, len(pairs), broken, meshes, margins, contacts, 0)
    count = edge_contacts(edge_pairs, len(edge_pairs), broken, meshes, margins, contacts, count)
    assert np.isfinite(contacts.gap[:count]).all()
