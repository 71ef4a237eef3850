"""How far apart two convex pieces are, and in which direction: the algorithm of Gilbert, Johnson and Keerthi on their cores."""

from __future__ import annotations

import math

from ...compile.jit import part
from ...errors import Array
from ...maths.geometry.closest import closest_on_segment, closest_on_triangle, minus, plus
from ...maths.geometry.frames import Vector, cross, dot
from .pieces import CONE, PLANE, POLYHEDRON, Pieces

MOST_STEPS = 60
EXACT = 1e-13  # of squared distances
NOTHING = 1e-20  # the same, of what has no distance


@part
def to_world(pieces: Pieces, when: int, k: int, p: Vector) -> Vector:
    r, x = pieces.rotation[when, k], pieces.position[when, k]
    return (
        x[0] + r[0, 0] * p[0] + r[0, 1] * p[1] + r[0, 2] * p[2],
        x[1] + r[1, 0] * p[0] + r[1, 1] * p[1] + r[1, 2] * p[2],
        x[2] + r[2, 0] * p[0] + r[2, 1] * p[1] + r[2, 2] * p[2],
    )


@part
def turned_to_world(pieces: Pieces, when: int, k: int, d: Vector) -> Vector:
    r = pieces.rotation[when, k]
    return (
        r[0, 0] * d[0] + r[0, 1] * d[1] + r[0, 2] * d[2],
        r[1, 0] * d[0] + r[1, 1] * d[1] + r[1, 2] * d[2],
        r[2, 0] * d[0] + r[2, 1] * d[1] + r[2, 2] * d[2],
    )


@part
def turned_to_own(pieces: Pieces, when: int, k: int, d: Vector) -> Vector:
    r = pieces.rotation[when, k]
    return (
        r[0, 0] * d[0] + r[1, 0] * d[1] + r[2, 0] * d[2],
        r[0, 1] * d[0] + r[1, 1] * d[1] + r[2, 1] * d[2],
        r[0, 2] * d[0] + r[1, 2] * d[1] + r[2, 2] * d[2],
    )


@part
def to_own(pieces: Pieces, when: int, k: int, p: Vector) -> Vector:
    x = pieces.position[when, k]
    return turned_to_own(pieces, when, k, (p[0] - x[0], p[1] - x[1], p[2] - x[2]))


@part
def farthest(pieces: Pieces, when: int, k: int, d: Vector, core: bool) -> Vector:
    """The point of a piece, or of its core, that is farthest in a direction; without what is around it."""
    own = turned_to_own(pieces, when, k, d)
    if pieces.kind[k] == POLYHEDRON:
        points = pieces.core if core else pieces.points
        starts = pieces.core_start if core else pieces.point_start
        best, row = -math.inf, starts[k]
        for i in range(starts[k], starts[k + 1]):
            height = points[when, i, 0] * own[0] + points[when, i, 1] * own[1] + points[when, i, 2] * own[2]
            if height > best:
                best, row = height, i
        return to_world(pieces, when, k, (points[when, row, 0], points[when, row, 1], points[when, row, 2]))
    size = pieces.size[k]
    radius, low, high = (size[2], size[3], size[4]) if core else (size[0], -size[1], size[1])
    out = math.sqrt(own[0] * own[0] + own[1] * own[1])
    x, y = (radius * own[0] / out, radius * own[1] / out) if out > 0.0 else (radius, 0.0)
    if pieces.kind[k] == CONE:
        if own[2] * high > own[0] * x + own[1] * y + own[2] * low:
            return to_world(pieces, when, k, (0.0, 0.0, high))
        return to_world(pieces, when, k, (x, y, low))
    return to_world(pieces, when, k, (x, y, high if own[2] > 0.0 else low))


@part
def separation(pieces: Pieces, a: int, b: int, n: Vector) -> float:
    """How far the pieces are apart along n, which points from b to a, at the end of the substep."""
    low = dot(n, farthest(pieces, 1, a, (-n[0], -n[1], -n[2]), False))
    high = dot(n, farthest(pieces, 1, b, n, False))
    return float(low - high - pieces.radius[a, 1] - pieces.radius[b, 1])


@part
def _keep(simplex: Array, count: int, weights: tuple[float, float, float, float]) -> int:
    """Corners of the simplex without which the closest point is the same are left out."""
    kept = 0
    for i in range(count):
        weight = weights[0] if i == 0 else weights[1] if i == 1 else weights[2] if i == 2 else weights[3]
        if weight > 0.0:
            for c in range(9):
                simplex[kept, c] = simplex[i, c]
            simplex[kept, 9] = weight
            kept += 1
    return kept


@part
def _corner(simplex: Array, i: int) -> Vector:
    return (simplex[i, 0], simplex[i, 1], simplex[i, 2])


@part
def _blended(p: Vector, q: Vector, r: Vector, u: float, v: float, w: float) -> Vector:
    return (u * p[0] + v * q[0] + w * r[0], u * p[1] + v * q[1] + w * r[1], u * p[2] + v * q[2] + w * r[2])


@part
def _reduce(simplex: Array, count: int) -> int:
    """To the corners around the point that is closest to the origin, with their weights. Four are left if that is inside."""
    zero = (0.0, 0.0, 0.0)
    if count == 1:
        return _keep(simplex, 1, (1.0, 0.0, 0.0, 0.0))
    p, q = _corner(simplex, 0), _corner(simplex, 1)
    if count == 2:
        s = closest_on_segment(zero, p, q)
        return _keep(simplex, 2, (1.0 - s, s, 0.0, 0.0))
    r = _corner(simplex, 2)
    if count == 3:
        u, v, w = closest_on_triangle(zero, p, q, r)
        return _keep(simplex, 3, (u, v, w, 0.0))
    o = _corner(simplex, 3)
    volume = dot(minus(o, p), cross(minus(q, p), minus(r, p)))
    best, weights, outside = math.inf, (0.0, 0.0, 0.0, 0.0), False
    for side in range(4):
        # The face without one corner, and whether the origin is beyond it.
        a, b, c, d = (p, q, r, o) if side == 0 else (p, q, o, r) if side == 1 else (p, r, o, q)
        if side == 3:
            a, b, c, d = q, r, o, p
        n = cross(minus(b, a), minus(c, a))
        if dot(n, minus(d, a)) * -dot(n, a) > 0.0:
            continue
        outside = True
        u, v, w = closest_on_triangle(zero, a, b, c)
        x = _blended(a, b, c, u, v, w)
        square = dot(x, x)
        if square < best:
            best = square
            weights = (u, v, w, 0.0) if side == 0 else (u, v, 0.0, w) if side == 1 else (u, 0.0, v, w)
            if side == 3:
                weights = (0.0, u, v, w)
    if not outside or (volume == 0.0 and not best < math.inf):
        return 4
    return _keep(simplex, 4, weights)


@part
def apart(
    pieces: Pieces, a: int, b: int, offset: Vector, first: Vector, simplex: Array
) -> tuple[float, Vector, Vector, Vector]:
    """Distance of two cores at the end of the substep, a moved by an offset; the direction from b to a, and the closest points on
    both. The distance is zero if they overlap; then the rest means nothing. `first` is a guess of the direction; `simplex` (4, 10)
    is room to work in."""
    v = first
    count, before = 0, math.inf
    for _ in range(MOST_STEPS):
        p = plus(farthest(pieces, 1, a, (-v[0], -v[1], -v[2]), True), offset)
        q = farthest(pieces, 1, b, v, True)
        w = minus(p, q)
        square = dot(v, v)
        if count > 0 and square - dot(v, w) <= EXACT * square + NOTHING:
            break
        for c in range(3):
            simplex[count, c] = w[0] if c == 0 else w[1] if c == 1 else w[2]
            simplex[count, 3 + c] = p[0] if c == 0 else p[1] if c == 1 else p[2]
            simplex[count, 6 + c] = q[0] if c == 0 else q[1] if c == 1 else q[2]
        count = _reduce(simplex, count + 1)
        if count == 4:
            return 0.0, v, p, q
        x, y, z, largest = 0.0, 0.0, 0.0, 0.0
        for i in range(count):
            x += simplex[i, 9] * simplex[i, 0]
            y += simplex[i, 9] * simplex[i, 1]
            z += simplex[i, 9] * simplex[i, 2]
            corner = _corner(simplex, i)
            largest = max(largest, dot(corner, corner))
        v = (x, y, z)
        square = dot(v, v)
        if square <= 1e-16 * largest + NOTHING:
            return 0.0, v, p, q
        if square >= before * (1.0 - 1e-15):  # round-off: it gets no nearer
            break
        before = square
    px, py, pz, qx, qy, qz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(count):
        weight = simplex[i, 9]
        px += weight * simplex[i, 3]
        py += weight * simplex[i, 4]
        pz += weight * simplex[i, 5]
        qx += weight * simplex[i, 6]
        qy += weight * simplex[i, 7]
        qz += weight * simplex[i, 8]
    distance = math.sqrt(dot(v, v))
    n = (v[0] / distance, v[1] / distance, v[2] / distance)
    return distance, n, (px, py, pz), (qx, qy, qz)


@part
def widest(pieces: Pieces, a: int, b: int, first: Vector) -> Vector:
    """The direction, from b to a, in which two pieces that overlap are soonest apart: of `first` and all normals of faces."""
    best, n = separation(pieces, a, b, first), first
    for side in range(2):
        k = a if side == 0 else b
        if pieces.kind[k] == PLANE:
            continue
        count = pieces.face_start[k + 1] - pieces.face_start[k]
        if pieces.kind[k] != POLYHEDRON:
            count = 2
        for i in range(count):
            own = (0.0, 0.0, 1.0 if i == 0 else -1.0)
            if pieces.kind[k] == POLYHEDRON:
                row = pieces.face_start[k] + i
                own = (pieces.face[1, row, 0], pieces.face[1, row, 1], pieces.face[1, row, 2])
            m = turned_to_world(pieces, 1, k, own)
            if side == 0:
                m = (-m[0], -m[1], -m[2])
            here = separation(pieces, a, b, m)
            if here > best:
                best, n = here, m
    return n
