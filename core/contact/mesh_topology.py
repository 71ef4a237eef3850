"""Triangle meshes as the arrays contact works on: edges, what lies on either side of them, and boxes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy import int64

from ..compile.jit import kernel, part
from ..describe.shapes import Mesh
from ..errors import Array
from ..maths.geometry.closest import minus
from ..maths.geometry.frames import Vector, cross, dot
from .arrays import Flags, Ints, Meshes
from .rod_contacts import point, unit_or

BESIDE = 1e-9  # barycentric: how far beside a triangle still is over it, so that nothing falls between two
FLAT = 1e-6  # sine of angles taken for zero in normal cones
LEAN = (
    0.2  # the same for edges of rods on ridges and rims: what lies there must not lose them whenever it tilts a little
)

MANIFOLD_BREAKS = -2  # instead of opposite vertices, where more than two triangles meet at an edge

# How many keys a feature needs: a mesh edge and a mesh vertex meet both vertices and edges of rods.
PER_EDGE = 2
PER_VERTEX = 2


def pack_meshes(described: Sequence[tuple[Mesh, float, float]], first_feature: int) -> Meshes:
    """All meshes in one, in the order given, at rest; each comes with its thickness and its friction.

    Edges run from the lower to the higher vertex number and are sorted; so is every ring. opposite[:, 0] is of the triangle that
    runs along the edge, [:, 1] of the one that runs against it, if there is one of each. A boundary edge has its triangle in
    [:, 0], whichever way that runs. Where more than two triangles meet both are MANIFOLD_BREAKS, and such an edge is on no
    side of anything.
    """
    points = [np.asarray(mesh.vertices, np.float64).reshape(-1, 3) for mesh, _, _ in described]
    faces = [np.asarray(mesh.triangles, int64).reshape(-1, 3) for mesh, _, _ in described]
    first = np.cumsum([0] + [len(of_mesh) for of_mesh in points])
    vertices = np.concatenate([*points, np.zeros((0, 3))])
    triangles = np.concatenate([*(of + at for of, at in zip(faces, first, strict=False)), np.zeros((0, 3), int64)])
    edges, opposite, closed = _edges(triangles, len(vertices))
    mesh_of_vertex = np.repeat(np.arange(len(points)), np.diff(first))
    solid = np.ones(len(points), np.bool_)
    np.logical_and.at(solid, mesh_of_vertex[edges[:, 0]], closed)
    ways = np.concatenate([edges, edges[:, ::-1]])
    ways = ways[np.lexsort((ways[:, 1], ways[:, 0]))]
    features = first_feature + np.cumsum([0, len(triangles), PER_EDGE * len(edges)])
    return Meshes(
        vertices=np.stack([vertices, vertices]),
        triangles=triangles,
        edges=edges,
        opposite=opposite,
        ring_start=np.searchsorted(ways[:, 0], np.arange(len(vertices) + 1)).astype(int64),
        ring=np.ascontiguousarray(ways[:, 1]),
        mesh_of_triangle=mesh_of_vertex[triangles[:, 0]].astype(int64),
        mesh_of_edge=mesh_of_vertex[edges[:, 0]].astype(int64),
        mesh_of_vertex=mesh_of_vertex.astype(int64),
        solid=solid,
        thickness=np.array([thickness for _, thickness, _ in described], np.float64),
        friction=np.array([friction for _, _, friction in described], np.float64),
        first_feature=features.astype(int64),
    )


def _edges(triangles: Ints, vertices: int) -> tuple[Ints, Ints, Flags]:
    """Edges, their opposite vertices, and whether the surface continues across each with the same side up."""
    begin = triangles.T.ravel()
    end = triangles[:, [1, 2, 0]].T.ravel()
    third = triangles[:, [2, 0, 1]].T.ravel()
    low, high = np.minimum(begin, end), np.maximum(begin, end)
    code, edge, count = np.unique(low * max(vertices, 1) + high, return_inverse=True, return_counts=True)
    edge = edge.ravel()
    edges = np.stack([code // max(vertices, 1), code % max(vertices, 1)], axis=1).astype(int64)
    # Those along the edge first: then each edge's first and last triangle are the two sides.
    order = np.lexsort((begin > end, edge))
    last = np.cumsum(count) - 1
    opposite = third[order][np.stack([last - count + 1, last], axis=1)].astype(int64)
    forward = np.bincount(edge, weights=begin < end, minlength=len(edges))
    # Two triangles on the same three vertices are two sides of a sheet, with nothing inside.
    closed = (count == 2) & (forward == 1) & (opposite[:, 0] != opposite[:, 1])
    opposite[count == 1, 1] = -1
    opposite[count > 2] = MANIFOLD_BREAKS
    return edges, opposite, closed


@kernel
def mesh_boxes(meshes: Meshes, low_t: Array, high_t: Array, low_e: Array, high_e: Array) -> None:
    """Boxes of triangles and of edges on their way through the substep, with the mesh's thickness on all sides."""
    vertices, triangles, edges = meshes.vertices, meshes.triangles, meshes.edges
    for f in range(len(triangles)):
        thickness = meshes.thickness[meshes.mesh_of_triangle[f]]
        for axis in range(3):
            low_a, high_a = _span(vertices, triangles[f, 0], axis)
            low_b, high_b = _span(vertices, triangles[f, 1], axis)
            low_c, high_c = _span(vertices, triangles[f, 2], axis)
            low_t[f, axis] = min(low_a, low_b, low_c) - thickness
            high_t[f, axis] = max(high_a, high_b, high_c) + thickness
    for m in range(len(edges)):
        thickness = meshes.thickness[meshes.mesh_of_edge[m]]
        for axis in range(3):
            low_a, high_a = _span(vertices, edges[m, 0], axis)
            low_b, high_b = _span(vertices, edges[m, 1], axis)
            low_e[m, axis] = min(low_a, low_b) - thickness
            high_e[m, axis] = max(high_a, high_b) + thickness


@part
def _span(vertices: Array, v: int, axis: int) -> tuple[float, float]:
    return min(vertices[0, v, axis], vertices[1, v, axis]), max(vertices[0, v, axis], vertices[1, v, axis])


# Where a surface sticks out. The normal cone of an edge or a vertex of a mesh are the directions away from everything near it.


@part
def over(x: Vector, a: Vector, b: Vector, c: Vector) -> tuple[bool, float, float]:
    """Whether x lies straight over (or under) a triangle, and the weights of b and c there."""
    ab, ac, ax = minus(b, a), minus(c, a), minus(x, a)
    n = cross(ab, ac)
    nn = dot(n, n)
    if not nn > 1e-24 * dot(ab, ab) * dot(ac, ac):
        return False, 0.0, 0.0
    v, w = dot(cross(ax, ac), n) / nn, dot(cross(ab, ax), n) / nn
    return min(v, w, 1.0 - v - w) >= -BESIDE, v, w


@part
def in_front(o: Vector, b0: Vector, b1: Vector, n: Vector) -> float:
    """Sine of the angle by which a triangle (b0, b1, o) rises from its edge b towards the normal n."""
    b, q = minus(b1, b0), minus(o, b0)
    bb = dot(b, b)
    f = dot(q, b) / bb if bb > 0.0 else 0.0
    return dot(unit_or((q[0] - f * b[0], q[1] - f * b[1], q[2] - f * b[2]), (0.0, 0.0, 0.0)), n)


@part
def outwards(o0: Vector, o1: Vector, b0: Vector, b1: Vector, w: Vector) -> float:
    """Above zero if w points from a ridge b to the upper side of its two triangles; o0 is of the one that runs along it."""
    b = minus(b1, b0)
    up0 = unit_or(cross(b, minus(o0, b0)), (0.0, 0.0, 0.0))
    up1 = unit_or(cross(minus(o1, b0), b), (0.0, 0.0, 0.0))
    return max(dot(up0, w), dot(up1, w))


@part
def along_by(a: Vector, way: Vector, s: float) -> Vector:
    return (a[0] + s * way[0], a[1] + s * way[1], a[2] + s * way[2])


@part
def _pierces(a0: Vector, a1: Vector, b0: Vector, b1: Vector, o: Vector) -> bool:
    """Whether the segment a passes through the triangle (b0, b1, o)."""
    u, v, way = minus(b1, b0), minus(o, b0), minus(a1, a0)
    n = cross(u, v)
    h0, h1 = dot(minus(a0, b0), n), dot(minus(a1, b0), n)
    return h0 * h1 < 0.0 and over(along_by(a0, way, h0 / (h0 - h1)), b0, b1, o)[0]


@part
def _edge_number(edges: Ints, i: int, j: int) -> int:
    low, high = min(i, j), max(i, j)
    first, end = 0, len(edges)
    while first < end:
        middle = (first + end) // 2
        if edges[middle, 0] < low or (edges[middle, 0] == low and edges[middle, 1] < high):
            first = middle + 1
        else:
            end = middle
    return first


@part
def edge_is_free(
    of_rod: int,
    a0: Vector,
    a1: Vector,
    b0: Vector,
    b1: Vector,
    n: Vector,
    v1: Array,
    first: int,
    second: int,
    solid: bool,
) -> tuple[bool, bool]:
    """Whether the edge b of a mesh sticks out towards n, where the rod's edge a is, or its begin (of_rod 1) or end (2); and
    whether the latter is within the solid, to be pushed out against n."""
    rise0 = in_front(point(v1, first), b0, b1, n) if first >= 0 else -1.0
    rise1 = in_front(point(v1, second), b0, b1, n) if second >= 0 else -1.0
    if solid and outwards(point(v1, first), point(v1, second), b0, b1, n) < 0.0:
        # A vertex in there is the triangles' business. An edge is near the edge it cuts if it goes through both sides.
        if of_rod > 0 or min(rise0, rise1) < -FLAT or max(rise0, rise1) <= FLAT:
            return False, True
        both = _pierces(a0, a1, b0, b1, point(v1, first)) and _pierces(a0, a1, b0, b1, point(v1, second))
        return both, True
    if of_rod == 0:  # over a flat place it is enough to look at vertices of rods
        return max(rise0, rise1) <= LEAN and (second < 0 or rise0 + rise1 < -FLAT), False
    if max(rise0, rise1) > FLAT:
        return False, False
    x = a0 if of_rod == 1 else a1
    if first >= 0 and over(x, b0, b1, point(v1, first))[0]:
        return False, False
    return second < 0 or not over(x, b0, b1, point(v1, second))[0], False


@part
def tip_is_free(
    v: int,
    x: Vector,
    n: Vector,
    is_end: bool,
    solid: bool,
    v1: Array,
    edges: Ints,
    opposite: Ints,
    start: Ints,
    ring: Ints,
) -> tuple[bool, bool]:
    """Whether a mesh vertex sticks out towards n, where x is; and whether it does on a flat sheet's rim.

    If x is a vertex of a rod (is_end), triangles come first. Of the edges at the vertex the one that rises most towards n tells
    whether n points out of a solid: n can be turned towards it without meeting the surface until the two are at right angles.
    """
    tip = point(v1, v)
    lowest, highest, highest_neighbour = 2.0, -2.0, -1
    for k in range(start[v], start[v + 1]):
        way = minus(point(v1, ring[k]), tip)
        if not dot(way, way) > 0.0:
            continue
        rise = dot(unit_or(way, n), n)
        if rise > FLAT:
            return False, False
        lowest = min(lowest, rise)
        if rise > highest:
            highest, highest_neighbour = rise, ring[k]
    flat, rim = lowest > -FLAT, False
    for k in range(start[v], start[v + 1]):
        u = ring[k]
        if not (is_end or flat or (solid and u == highest_neighbour)):
            continue
        m = _edge_number(edges, v, u)
        first, second = opposite[m, 0], opposite[m, 1]
        b0, b1 = point(v1, edges[m, 0]), point(v1, edges[m, 1])
        rim = rim or second < 0
        if is_end and first >= 0 and over(x, b0, b1, point(v1, first))[0]:
            return False, False
        if is_end and second >= 0 and over(x, b0, b1, point(v1, second))[0]:
            return False, False
        if solid and u == highest_neighbour:
            along = unit_or(minus(b1, b0), n)
            across = along_by(n, along, -dot(n, along))
            if not outwards(point(v1, first), point(v1, second), b0, b1, across) > 0.0:
                return False, False
    return rim or not flat, flat
