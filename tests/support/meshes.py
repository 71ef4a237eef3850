"""Triangle meshes, rods near them and moving towards them, and distances and passages computed by brute force."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from tendril.core.contact.arrays import Contacts, Meshes, Samples
from tendril.core.contact.detection import make_contacts
from tendril.core.contact.mesh_contacts import edge_contacts, triangle_contacts
from tendril.core.contact.mesh_topology import mesh_boxes, pack_meshes
from tendril.core.describe.shapes import Mesh

Soup = tuple[np.ndarray, np.ndarray]  # vertices and triangles


# Meshes


def grid(n: int = 6, height: float = 0.0, seed: int = 0) -> Soup:
    """A square sheet from -1 to 1, flat or bumpy, with diagonals in both directions."""
    x, y = np.meshgrid(np.linspace(-1, 1, n + 1), np.linspace(-1, 1, n + 1), indexing="ij")
    z = height * np.random.default_rng(seed).standard_normal(x.shape)
    triangles = []
    for i in range(n):
        for j in range(n):
            a, b, c, d = i * (n + 1) + j, (i + 1) * (n + 1) + j, (i + 1) * (n + 1) + j + 1, i * (n + 1) + j + 1
            triangles += [(a, b, c), (a, c, d)] if (i + j) % 2 else [(a, b, d), (b, c, d)]
    return np.stack([x, y, z], axis=-1).reshape(-1, 3), np.array(triangles)


def cube(n: int = 2) -> Soup:
    """A cube from -1 to 1 with n x n squares per face."""
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
    """Five half sheets that meet in one bent line: a non-manifold edge."""
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
    """A flat octahedron: both sides of its rim face every point near it."""
    points = np.array([(1.0, 0, 0), (0, 1, 0), (-1, 0, 0), (0, -1, 0), (0, 0, 0.15), (0, 0, -0.15)])
    return points, np.array([t for k in range(4) for t in ((k, (k + 1) % 4, 4), ((k + 1) % 4, k, 5))])


def dented() -> Soup:
    """A cube with a dented top, which is a concave tip seen from outside."""
    points, triangles = cube(2)
    points[(points == (0, 0, 1)).all(axis=1), 2] = 0.2
    return points, triangles


def slab(n: int = 12) -> Soup:
    """An inclined solid with a finely meshed upper and a coarsely meshed lower side."""
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
    """Samples of R rods with points (R, n, 3)."""
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
    """Contact arrays filled with values that no kernel writes."""
    contacts = make_contacts(capacity)
    for array in contacts:
        array.fill(-9)
    return contacts


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


# Brute force, independent of the kernels


def to_triangles(p: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """(P, F) distances of points to triangles: to the plane if the projection is inside, else to the edges."""
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
    """(P, Q) distances of segments: of their lines if the closest points are within both, else of end points."""
    u, v, w = (b - a)[:, None], d - c, c - a[:, None]
    n = np.cross(u, v)
    nn = np.maximum((n * n).sum(axis=2), 1e-300)
    s, t = (np.cross(w, v) * n).sum(axis=2) / nn, (np.cross(w, u) * n).sum(axis=2) / nn
    within = (s > 0) & (s < 1) & (t > 0) & (t < 1)
    ends = [to_segments(a, c, d), to_segments(b, c, d), to_segments(c, a, b).T, to_segments(d, a, b).T]
    return np.where(within, abs((w * n).sum(axis=2)) / np.sqrt(nn), np.minimum.reduce(ends))


def pierced(a: np.ndarray, b: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Whether segments intersect triangles, pair by pair, by signs of volumes."""

    def volume(p: np.ndarray, q: np.ndarray, r: np.ndarray, s: np.ndarray) -> np.ndarray:
        return np.sign(((q - p) * np.cross(r - p, s - p)).sum(axis=-1))

    x, y, z = np.moveaxis(corners, -2, 0)
    one, two, three = volume(a, b, x, y), volume(a, b, y, z), volume(a, b, z, x)
    return (volume(a, x, y, z) * volume(b, x, y, z) < 0) & (one == two) & (two == three)


def segments(samples: Samples, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    edge = np.flatnonzero(samples.after >= 0)
    return edge, points[edge], points[samples.after[edge]]


def distances(samples: Samples, meshes: Meshes) -> tuple[np.ndarray, np.ndarray]:
    """Distances of all rod edges from the mesh at the end of the substep, and which edges intersect it."""
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
    """Which points are inside, by the solid angle of the surface."""
    a, b, c = np.moveaxis(corners - p[:, None, None], 2, 0)
    la, lb, lc = (np.linalg.norm(x, axis=2) for x in (a, b, c))
    below = la * lb * lc + (a * b).sum(2) * lc + (b * c).sum(2) * la + (c * a).sum(2) * lb
    return np.arctan2((a * np.cross(b, c)).sum(axis=2), below).sum(axis=1) > math.pi


def passages(samples: Samples, meshes: Meshes, times: int = 40) -> np.ndarray:
    """Which rods intersect the surface at one of the sampled times."""
    seen = np.zeros(samples.rod.max() + 1, bool)
    edge, face = candidates(samples, meshes, np.zeros(len(samples.after)))[0].T
    for time in np.linspace(0.0, 1.0, times):
        points = samples.start + time * (samples.now - samples.start)
        vertices = meshes.vertices[0] + time * (meshes.vertices[1] - meshes.vertices[0])
        through = pierced(points[edge], points[samples.after[edge]], vertices[meshes.triangles[face]])
        seen[samples.rod[edge[through]]] = True
    return seen


# Scenes


def slow_scene(name: str, seed: int, closed: bool = False) -> tuple[Samples, Meshes]:
    """Rods around a mesh that moves and deforms slightly."""
    rng = np.random.default_rng(seed)
    points, triangles = SOUPS[name]
    end = points + 0.004 * rng.standard_normal(points.shape) + 0.01 * rng.standard_normal(3)
    if name in ("flat", "cube"):
        end = points + 0.01 * rng.standard_normal(3)
    meshes = packed((points, triangles), end)
    line = wiggly(rng, 80, 5, 0.15) + near_surface(rng, (end, triangles), 80, 0.07)[:, None]
    return rods(line + 0.005 * rng.standard_normal(line.shape), line, 0.03, closed), meshes


def thrown(name: str, seed: int, many: int, moving: bool) -> tuple[list[Samples], list[Meshes]]:
    """Rods that start clear of the mesh and move at up to 50 m/s for a hundredth of a second, and meshes in their way."""
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
