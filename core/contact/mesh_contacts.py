"""Contacts of rods with triangle meshes: vertices of rods with triangles, edges of rods with edges of meshes, and what is at ends.

A polyline comes to pass through a surface only where one of its vertices passes a triangle or one of its edges passes an edge of
the surface, so these two are watched on their way through the substep.

An edge or a vertex of a mesh is touched only from directions in which it sticks out (its normal cone): where the surface is flat
or hollow, triangles and other edges are in the way.
"""

from __future__ import annotations

import math

from ..compile.jit import kernel, part
from ..errors import Array
from ..maths.geometry.closest import blend, closest_on_segment, closest_on_segments, closest_on_triangle, minus
from ..maths.geometry.crossing import point_crosses_triangle, segments_cross
from ..maths.geometry.frames import Vector, any_normal, cross, dot
from .arrays import DEEP, Contacts, Ints, Meshes, Samples
from .mesh_topology import FLAT, along_by, edge_is_free, in_front, outwards, over, tip_is_free
from .rod_contacts import point, unit_or

ALONG = 1e-6  # sine: things that pass at a smaller angle to a surface move along it
TIE = 1e-9  # of squared distances


@part
def weighted(a: Vector, b: Vector, c: Vector, v: float, w: float) -> Vector:
    u = 1.0 - v - w
    return (u * a[0] + v * b[0] + w * c[0], u * a[1] + v * b[1] + w * c[1], u * a[2] + v * b[2] + w * c[2])


@part
def _turned(a: Vector) -> Vector:
    return (-a[0], -a[1], -a[2])


@part
def _square(a: Vector) -> float:
    return dot(a, a)


@part
def _is_under(x: Vector, a: Vector, b: Vector, c: Vector) -> bool:
    return dot(minus(x, a), cross(minus(b, a), minus(c, a))) < 0.0 and over(x, a, b, c)[0]


@part
def _passes_triangle(
    x0: Vector, a0: Vector, b0: Vector, c0: Vector, x: Vector, a: Vector, b: Vector, c: Vector, solid: bool
) -> tuple[bool, float, float, Vector]:
    """Whether x passes, the weights of b and c there, and the normal on the side it comes from. Out of solids it may."""
    found, time, v, w = point_crosses_triangle(x0, a0, b0, c0, x, a, b, c)
    if not found or not time > 0.0:  # what begins on the surface does not tell from where it comes
        return False, v, w, (0.0, 0.0, 1.0)
    at = blend(a0, a, time)
    back = unit_or(minus(weighted(minus(a, a0), minus(b, b0), minus(c, c0), v, w), minus(x, x0)), (0.0, 0.0, 0.0))
    n = unit_or(cross(minus(blend(b0, b, time), at), minus(blend(c0, c, time), at)), back)
    from_where = dot(n, back)
    if abs(from_where) <= ALONG:
        return not solid and _square(back) > 0.0, v, w, back
    if from_where < 0.0:
        return not solid, v, w, _turned(n)
    return True, v, w, n


@part
def _angle_at(u: float, v: float, w: float, a: Vector, b: Vector, c: Vector) -> float:
    """How much of a full turn about this point is within the triangle: makes the sum of normals tell the side."""
    zeros = (u == 0.0) + (v == 0.0) + (w == 0.0)
    if zeros < 2:
        return math.pi * (2 - zeros)
    tip, p, q = (a, b, c) if u > 0.0 else ((b, c, a) if v > 0.0 else (c, a, b))
    f, g = minus(p, tip), minus(q, tip)
    return math.atan2(math.sqrt(_square(cross(f, g))), dot(f, g))


@part
def _look_round(
    pairs: Ints,
    begin: int,
    end: int,
    triangles: Ints,
    v0: Array,
    v1: Array,
    x0: Vector,
    x: Vector,
    solid: bool,
    near: float,
) -> tuple[bool, bool, float, int]:
    """Of one point and triangles of one mesh: whether it passes one, whether one is near; of solids also on which side of the
    surface it is (below zero: inside) and which triangle is the nearest."""
    passes, any_near = False, False
    best, side, nearest = math.inf, 0.0, -1
    way = _square(minus(x, x0))
    for k in range(begin, end):
        f = pairs[k, 1]
        i, j, h = triangles[f, 0], triangles[f, 1], triangles[f, 2]
        a, b, c = point(v1, i), point(v1, j), point(v1, h)
        n = cross(minus(b, a), minus(c, a))
        height, nn = dot(minus(x, a), n), dot(n, n)
        height *= height
        any_near = any_near or height <= near * near * nn
        if not passes:
            a0, b0, c0 = point(v0, i), point(v0, j), point(v0, h)
            moved = max(_square(minus(a, a0)), _square(minus(b, b0)), _square(minus(c, c0)))
            if height <= 2.000001 * (way + moved) * nn:  # else it can't have come from the other side
                passes = _passes_triangle(x0, a0, b0, c0, x, a, b, c, solid)[0]
        if solid and height <= best * (1.0 + TIE) * nn:
            u, v, w = closest_on_triangle(x, a, b, c)
            away = minus(x, weighted(a, b, c, v, w))
            square = dot(away, away)
            if square <= best * (1.0 + TIE):
                lean = dot(away, unit_or(n, (0.0, 0.0, 0.0))) * _angle_at(u, v, w, a, b, c)
                side = lean if square < best * (1.0 - TIE) else side + lean
                if square < best:
                    best, nearest = square, f
    return passes, any_near, side, nearest


@part
def _searched(start: Array, now: Array, e: int, f: int, p: Vector, near: float) -> bool:
    """Whether all triangles at p were among the candidates of an edge: if so, none lies unseen between it and the edge."""
    inside = True
    for axis, value in enumerate(p):
        low = min(start[e, axis], now[e, axis], start[f, axis], now[f, axis])
        high = max(start[e, axis], now[e, axis], start[f, axis], now[f, axis])
        inside = inside and low - near <= value <= high + near
    return inside


@part
def _is_near(pairs: Ints, begin: int, end: int, triangles: Ints, vertices: Array, x: Vector, near: float) -> bool:
    """Whether a point is that near to one of the triangles."""
    for k in range(begin, end):
        f = pairs[k, 1]
        a, b, c = point(vertices, triangles[f, 0]), point(vertices, triangles[f, 1]), point(vertices, triangles[f, 2])
        _, v, w = closest_on_triangle(x, a, b, c)
        if _square(minus(x, weighted(a, b, c, v, w))) <= near * near:
            return True
    return False


@kernel
def triangle_contacts(
    pairs: Ints, count: int, samples: Samples, meshes: Meshes, margin: Array, contacts: Contacts, written: int
) -> int:
    """Adds contacts of vertices of rods with triangles to the rows from `written` on; returns the new number of rows.

    `pairs` (edge, triangle) are sorted and complete: all boxes that overlap. Rows beyond the capacity are counted, not written.
    A vertex inside a solid is pushed to the nearest point of its surface, if that is near: else see `buried.py`. One that passes
    through a triangle on its way has no business on the other side: there it touches nothing. But one that begins deep in the skin
    of a solid is held by a spring, which may give way a little: that is no passage.
    """
    start, now, after, last, radius = samples.start, samples.now, samples.after, samples.last, samples.radius
    v0, v1, triangles, mesh_of = meshes.vertices[0], meshes.vertices[1], meshes.triangles, meshes.mesh_of_triangle
    capacity, first_key = len(contacts.gap), meshes.first_feature[0]
    begin = end = 0
    while begin < count:
        e, mesh = pairs[begin, 0], mesh_of[pairs[begin, 1]]
        while end < count and pairs[end, 0] == e and mesh_of[pairs[end, 1]] == mesh:
            end += 1
        solid, reach = meshes.solid[mesh], radius[e] + meshes.thickness[mesh]
        near = reach + margin[e]
        for which in range(2 if last[e] else 1):
            sample = after[e] if which == 1 else e
            x0, x = point(start, sample), point(now, sample)
            passes, any_near, side, nearest = _look_round(pairs, begin, end, triangles, v0, v1, x0, x, solid, near)
            inside = solid and side < 0.0
            if not (passes or any_near or inside):
                continue
            gives_way = False
            if passes and inside and _is_near(pairs, begin, end, triangles, v0, x0, reach - DEEP * radius[e]):
                gives_way = _is_near(pairs, begin, end, triangles, v1, x, near)
                passes = not gives_way
            for k in range(begin, end):
                f = pairs[k, 1]
                i, j, h = triangles[f, 0], triangles[f, 1], triangles[f, 2]
                a0, b0, c0, a, b, c = point(v0, i), point(v0, j), point(v0, h), point(v1, i), point(v1, j), point(v1, h)
                crossed, v, w, normal = False, 0.0, 0.0, (0.0, 0.0, 1.0)
                if passes:
                    crossed, v, w, normal = _passes_triangle(x0, a0, b0, c0, x, a, b, c, solid)
                if crossed:
                    gap = dot(normal, minus(x, weighted(a, b, c, v, w))) - reach
                elif inside:
                    if passes or f != nearest:
                        continue
                    _, v, w = closest_on_triangle(x, a, b, c)
                    p = weighted(a, b, c, v, w)
                    if not _searched(start, now, e, after[e], p, near):
                        continue
                    normal = unit_or(minus(p, x), unit_or(cross(minus(b, a), minus(c, a)), normal))
                    gap = -math.sqrt(_square(minus(x, p))) - reach
                else:
                    normal = unit_or(cross(minus(b, a), minus(c, a)), normal)
                    height = dot(normal, minus(x, a))
                    if (solid and height < 0.0) or not abs(height) < near:
                        continue
                    if passes and height * dot(minus(x0, a0), cross(minus(b0, a0), minus(c0, a0))) < 0.0:
                        continue
                    above, v, w = over(x, a, b, c)
                    if not above:
                        continue
                    if height < 0.0:
                        normal = _turned(normal)
                    gap = abs(height) - reach
                if written < capacity:
                    _, v_before, w_before = closest_on_triangle(x0, a0, b0, c0)
                    apart = math.sqrt(_square(minus(x0, weighted(a0, b0, c0, v_before, w_before))))
                    if not crossed and ((inside and not gives_way) or (solid and _is_under(x0, a0, b0, c0))):
                        apart = -apart
                    slide = weighted(minus(a, a0), minus(b, b0), minus(c, c0), v, w)
                    contacts.edge[written, 0], contacts.edge[written, 1] = e, -1
                    contacts.at[written, 0], contacts.at[written, 1] = float(which), 0.0
                    contacts.normal[written, 0], contacts.normal[written, 1], contacts.normal[written, 2] = normal
                    contacts.rubbing_at[written, 0], contacts.rubbing_at[written, 1] = float(which), 0.0
                    contacts.upright[written, 0], contacts.upright[written, 1], contacts.upright[written, 2] = normal
                    contacts.rolling[written] = 0.0
                    contacts.gap[written] = gap
                    contacts.before[written] = apart - reach
                    contacts.deep[written] = apart - reach < -DEEP * radius[e]
                    contacts.slide[written, 0], contacts.slide[written, 1], contacts.slide[written, 2] = slide
                    contacts.arm[written, 0], contacts.arm[written, 1] = radius[e], 0.0
                    contacts.friction[written] = math.sqrt(samples.friction[e] * meshes.friction[mesh])
                    contacts.key[written] = -1 - ((first_key + f) * len(after) + sample)
                    contacts.crossed[written] = crossed
                written += 1
        begin = end
    return written


@part
def _passes_edge(
    p0: Vector,
    p1: Vector,
    q0: Vector,
    q1: Vector,
    a0: Vector,
    a1: Vector,
    b0: Vector,
    b1: Vector,
    v0: Array,
    v1: Array,
    first: int,
    second: int,
    solid: bool,
) -> tuple[bool, float, float, Vector]:
    """Whether the edge a of a rod, which begins at p, passes the edge b of a mesh, which begins at q, so that it then passes
    through the surface; where on them, and the normal on the side it comes from.

    `first` and `second` are the vertices opposite to b. Going from one triangle at b into the other an edge is in the surface
    before and after, and it may come free of it: neither is a passage.
    """
    found, time, s, t = segments_cross(p0, p1, q0, q1, a0, a1, b0, b1)
    if not found or not time > 0.0:
        return False, s, t, (0.0, 0.0, 1.0)
    mesh_way, rod_way = blend(minus(b0, q0), minus(b1, q1), t), blend(minus(a0, p0), minus(a1, p1), s)
    back = unit_or(minus(mesh_way, rod_way), (0.0, 0.0, 0.0))
    c0, c1 = blend(q0, b0, time), blend(q1, b1, time)
    u, v = minus(blend(p1, a1, time), blend(p0, a0, time)), minus(c1, c0)
    n = cross(u, v)
    if not dot(n, n) > ALONG * ALONG * dot(u, u) * dot(v, v):
        along = unit_or(v, (0.0, 0.0, 0.0))
        n = along_by(back, along, -dot(back, along))
    n = unit_or(n, back)
    if abs(dot(n, back)) <= ALONG:
        n = back
    elif dot(n, back) < 0.0:
        n = _turned(n)
    if first >= 0 and in_front(blend(point(v0, first), point(v1, first), time), c0, c1, n) > FLAT:
        return False, s, t, n
    if second >= 0 and in_front(blend(point(v0, second), point(v1, second), time), c0, c1, n) > FLAT:
        return False, s, t, n
    if solid:
        o0, o1 = blend(point(v0, first), point(v1, first), time), blend(point(v0, second), point(v1, second), time)
        return outwards(o0, o1, c0, c1, n) > 0.0, s, t, n
    return dot(n, n) > 0.0, s, t, n


@kernel
def edge_contacts(
    pairs: Ints, count: int, samples: Samples, meshes: Meshes, margin: Array, contacts: Contacts, written: int
) -> int:
    """Adds contacts of edges of rods with edges of meshes, and of the vertices of both with these, to the rows from `written` on;
    returns the new number of rows. `pairs` (edge, mesh edge) are complete; rows beyond the capacity are counted, not written.

    Each vertex is looked at once: a rod's with the edge that begins there, a mesh's with the first of its edges.
    """
    start, now, after, last, radius = samples.start, samples.now, samples.after, samples.last, samples.radius
    v0, v1, edges, opposite = meshes.vertices[0], meshes.vertices[1], meshes.edges, meshes.opposite
    ring_start, ring = meshes.ring_start, meshes.ring
    capacity, edge_key, vertex_key = len(contacts.gap), meshes.first_feature[1], meshes.first_feature[2]
    for k in range(count):
        e, m = pairs[k, 0], pairs[k, 1]
        mesh = meshes.mesh_of_edge[m]
        solid, reach = meshes.solid[mesh], radius[e] + meshes.thickness[mesh]
        near = reach + margin[e]
        a0, a1, b0, b1 = point(now, e), point(now, after[e]), point(v1, edges[m, 0]), point(v1, edges[m, 1])
        s_near, t_near = closest_on_segments(a0, a1, b0, b1)
        square = _square(minus(blend(a0, a1, s_near), blend(b0, b1, t_near)))
        p0, p1, q0, q1 = point(start, e), point(start, after[e]), point(v0, edges[m, 0]), point(v0, edges[m, 1])
        rod_way = max(_square(minus(a0, p0)), _square(minus(a1, p1)))
        mesh_way = max(_square(minus(b0, q0)), _square(minus(b1, q1)))
        first, second = opposite[m, 0], opposite[m, 1]
        passes, s_there, t_there, n_there = False, 0.0, 0.0, (0.0, 0.0, 1.0)
        if square <= 2.0001 * (rod_way + mesh_way):  # else they can't have come from the other side
            passes, s_there, t_there, n_there = _passes_edge(
                p0, p1, q0, q1, a0, a1, b0, b1, v0, v1, first, second, solid
            )
        if not (passes or square < near * near):
            continue
        for pairing in range(9):  # inner points, begin or end of the rod's edge, and the same of the mesh's
            of_rod, of_mesh = pairing // 3, pairing % 3
            tip, other = (edges[m, 0], edges[m, 1]) if of_mesh == 1 else (edges[m, 1], edges[m, 0])
            if (of_rod == 2 and not last[e]) or (of_mesh > 0 and ring[ring_start[tip]] != other):
                continue
            s, t = (s_near, t_near) if pairing == 0 else (float(of_rod // 2), float(of_mesh // 2))
            s0, t0 = s, t
            if pairing == 0:
                s0, t0 = closest_on_segments(p0, p1, q0, q1)
            elif of_mesh == 0:
                t = closest_on_segment(blend(a0, a1, s), b0, b1)
                t0 = closest_on_segment(blend(p0, p1, s), q0, q1)
            elif of_rod == 0:
                s = closest_on_segment(blend(b0, b1, t), a0, a1)
                s0 = closest_on_segment(blend(q0, q1, t), p0, p1)
            crossed = passes and pairing == 0
            if crossed:
                s, t = s_there, t_there
            elif (of_rod == 0 and not 0.0 < s < 1.0) or (of_mesh == 0 and not 0.0 < t < 1.0):
                continue
            x = blend(a0, a1, s)
            w, w0 = minus(x, blend(b0, b1, t)), minus(blend(p0, p1, s0), blend(q0, q1, t0))
            apart = math.sqrt(_square(w0))
            normal = n_there
            if not crossed:
                if not _square(w) < near * near:
                    continue
                along = unit_or(minus(a1, a0), n_there)
                if pairing == 0:  # closest points of nearly parallel edges are not quite across from each other
                    w = along_by(w, along, -dot(w, along))
                normal = unit_or(w, any_normal(along))
                free, flat, inside = False, False, False
                if of_mesh > 0:
                    free, flat = tip_is_free(tip, x, normal, of_rod > 0, solid, v1, edges, opposite, ring_start, ring)
                else:
                    free, inside = edge_is_free(of_rod, a0, a1, b0, b1, normal, v1, first, second, solid)
                if not free or (flat and dot(w0, normal) < 0.0):
                    continue  # on the other side of a sheet than before: the way there led through it
                if inside:
                    normal = _turned(normal)
                if solid and of_mesh == 0 and outwards(point(v0, first), point(v0, second), q0, q1, w0) < 0.0:
                    apart = -apart
            if written < capacity:
                feature = (edge_key + 2 * m if of_mesh == 0 else vertex_key + 2 * tip) + (of_rod > 0)
                sample = after[e] if of_rod == 2 else e
                slide = blend(minus(b0, q0), minus(b1, q1), t)
                contacts.edge[written, 0], contacts.edge[written, 1] = e, -1
                contacts.at[written, 0], contacts.at[written, 1] = s, 0.0
                contacts.normal[written, 0], contacts.normal[written, 1], contacts.normal[written, 2] = normal
                contacts.rubbing_at[written, 0], contacts.rubbing_at[written, 1] = s, 0.0
                contacts.upright[written, 0], contacts.upright[written, 1], contacts.upright[written, 2] = normal
                contacts.rolling[written] = 0.0
                contacts.gap[written] = dot(normal, w) - reach
                contacts.before[written] = apart - reach
                contacts.deep[written] = apart - reach < -DEEP * radius[e]
                contacts.slide[written, 0], contacts.slide[written, 1], contacts.slide[written, 2] = slide
                contacts.arm[written, 0], contacts.arm[written, 1] = radius[e], 0.0
                contacts.friction[written] = math.sqrt(samples.friction[e] * meshes.friction[mesh])
                contacts.key[written] = -1 - (feature * len(after) + sample)
                contacts.crossed[written] = crossed
            written += 1
    return written
