"""The side that a convex piece turns in a direction, as a polygon, an edge or a point; and where two of them lie on each other."""

from __future__ import annotations

import math

from ...compile.jit import part
from ...errors import Array
from ...maths.geometry.closest import blend, minus
from ...maths.geometry.frames import Vector, cross, dot
from .apart import to_world, turned_to_own, turned_to_world
from .pieces import CYLINDER, MOST_CORNERS, POLYHEDRON, Ints, Pieces

AROUND = 12  # corners of a disc
LYING = 0.7  # of the sine: a cylinder turns its side in a direction rather than an end
TILTED = 1e-3  # of the sine: a disc has a lowest point
CODES = 2 * (MOST_CORNERS + 2) ** 2  # of points of two polygons
ROOM = 3 * MOST_CORNERS  # points of two polygons

# Number of corners, normal, cosine between that and the direction, whether there is one more corner, and that.
Outline = tuple[int, Vector, float, bool, Vector]


@part
def outline(pieces: Pieces, k: int, d: Vector, corners: Array) -> Outline:
    """At the end of the substep; corners (ROOM, 3), once round."""
    own = turned_to_own(pieces, 1, k, d)
    if pieces.kind[k] == POLYHEDRON:
        first, last = pieces.face_start[k], pieces.face_start[k + 1]
        if first == last:  # a ball or a capsule
            start = pieces.point_start[k]
            count = pieces.point_start[k + 1] - start
            for i in range(count):
                _put(pieces, k, corners, i, (pieces.points[1, start + i, 0], pieces.points[1, start + i, 1],
                                             pieces.points[1, start + i, 2]))  # fmt: skip
            return count, d, 1.0, False, d
        best, face = -math.inf, first
        for i in range(first, last):
            height = pieces.face[1, i, 0] * own[0] + pieces.face[1, i, 1] * own[1] + pieces.face[1, i, 2] * own[2]
            if height > best:
                best, face = height, i
        begin = pieces.corner_start[face]
        count = pieces.corner_start[face + 1] - begin
        for i in range(count):
            row = pieces.corner[begin + i]
            _put(pieces, k, corners, i, (pieces.points[1, row, 0], pieces.points[1, row, 1], pieces.points[1, row, 2]))
        n = (pieces.face[1, face, 0], pieces.face[1, face, 1], pieces.face[1, face, 2])
        return count, turned_to_world(pieces, 1, k, n), best, False, d
    radius, half = pieces.size[k, 0], pieces.size[k, 1]
    out = math.sqrt(own[0] * own[0] + own[1] * own[1])
    cx, cy = (own[0] / out, own[1] / out) if out > 0.0 else (1.0, 0.0)
    if pieces.kind[k] == CYLINDER:
        side, base = (cx, cy, 0.0), math.copysign(1.0, own[2])
        on_side = out > LYING
    else:
        length = math.sqrt(radius * radius + 4.0 * half * half)
        side, base = (2.0 * half / length * cx, 2.0 * half / length * cy, radius / length), -1.0
        on_side = dot(side, own) > -own[2]
    if on_side:
        top = (radius * cx, radius * cy, half) if pieces.kind[k] == CYLINDER else (0.0, 0.0, half)
        _put(pieces, k, corners, 0, (radius * cx, radius * cy, -half))
        _put(pieces, k, corners, 1, top)
        return 2, turned_to_world(pieces, 1, k, side), dot(side, own), False, d
    for i in range(AROUND):
        angle = 2.0 * math.pi * i / AROUND * base  # seen from outside, the other way round
        _put(pieces, k, corners, i, (radius * math.cos(angle), radius * math.sin(angle), base * half))
    n = turned_to_world(pieces, 1, k, (0.0, 0.0, base))
    rim = to_world(pieces, 1, k, (radius * cx, radius * cy, base * half))
    return AROUND, n, abs(own[2]), out > TILTED, rim


@part
def _put(pieces: Pieces, k: int, corners: Array, i: int, own: Vector) -> None:
    corners[i, 0], corners[i, 1], corners[i, 2] = to_world(pieces, 1, k, own)


@part
def corner(corners: Array, i: int) -> Vector:
    return (corners[i, 0], corners[i, 1], corners[i, 2])


@part
def inside(corners: Array, count: int, n: Vector, p: Vector, tolerance: float) -> bool:
    """Whether p is over the polygon, seen along its normal."""
    for j in range(count):
        a, b = corner(corners, j), corner(corners, (j + 1) % count)
        across = cross(n, minus(b, a))  # to the inside
        length = math.sqrt(dot(across, across))
        if dot(across, minus(p, a)) < -tolerance * length:
            return False
    return True


@part
def _add(found: Array, codes: Ints, written: int, p: Vector, code: int, tolerance: float) -> int:
    """Unless it is there already."""
    if written >= len(found):
        return written
    for i in range(written):
        away = minus(corner(found, i), p)
        if dot(away, away) <= tolerance * tolerance:
            return written
    found[written, 0], found[written, 1], found[written, 2] = p
    codes[written] = code
    return written + 1


@part
def overlap(
    below: Array, base: int, n: Vector, above: Array, count: int, lean: Vector, tolerance: float, found: Array, codes: Ints
) -> int:  # fmt: skip
    """Corners of what two outlines share, seen along the normal n of the one below, as points of the one above, whose normal is
    `lean`; into found (ROOM, 3), with numbers that stay the same as long as it is the same corners and edges that meet."""
    written, across = 0, MOST_CORNERS + 2
    for i in range(count):
        p = corner(above, i)
        if inside(below, base, n, p, tolerance):
            written = _add(found, codes, written, p, i * across, tolerance)
    if count > 2 and abs(dot(n, lean)) > 0.5:
        for j in range(base):
            q = corner(below, j)
            height = dot(minus(corner(above, 0), q), lean) / dot(n, lean)
            p = (q[0] + height * n[0], q[1] + height * n[1], q[2] + height * n[2])
            if inside(above, count, lean, p, tolerance):
                written = _add(found, codes, written, p, across * across + j, tolerance)
    for i in range(count if count > 2 else count - 1):
        p, q = corner(above, i), corner(above, (i + 1) % count)
        begin, end, first, last = 0.0, 1.0, -1, -1
        for j in range(base):
            a = corner(below, j)
            inwards = cross(n, minus(corner(below, (j + 1) % base), a))
            here, there = dot(inwards, minus(p, a)), dot(inwards, minus(q, a))
            if here < 0.0 and there < 0.0:
                begin = 2.0
            elif here < 0.0 and here / (here - there) > begin:
                begin, first = here / (here - there), j
            elif there < 0.0 and here / (here - there) < end:
                end, last = here / (here - there), j
        if begin <= end:
            if first >= 0:
                written = _add(found, codes, written, blend(p, q, begin), i * across + first + 1, tolerance)
            if last >= 0:
                written = _add(found, codes, written, blend(p, q, end), i * across + last + 1, tolerance)
    return written
