"""Contacts of bodies with colliders and with each other.

Two convex pieces touch in one direction. Where that is the normal of a flat side, contacts are the corners of what both sides
have in common; else there is one contact, where the two are closest.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy import int64
from numpy.typing import NDArray

from ...compile.jit import kernel, part
from ...errors import Array
from ...maths.geometry.closest import closest_on_triangle, minus
from ...maths.geometry.frames import Vector, cross, dot
from ..arrays import Contacts, Flags, Ints
from .apart import apart, farthest, separation, to_own, to_world, turned_to_own, widest
from .outlines import CODES, ROOM, corner, inside, outline, overlap
from .pieces import PLANE, POLYHEDRON, Pieces

MARGIN = 0.25  # of the scale: what is farther apart is not near, as between rods
ALIGNED = 1e-4  # cosines, relative to one: directions that are the normal of a side
PARALLEL = 0.05  # sine of the angle of edges that lie along each other
FACING = 0.9  # cosine: a triangle is touched on its side, not at an edge
TOGETHER = 0.1  # of the scale: points that are one; a corner may be as far beyond an edge
DEEP = 1.0  # scales: what overlaps more at the beginning is taken out by springs
MOST_LOOKS = 32  # on the way of something fast
# Contacts of two pieces have numbers: corners of the first on the second, of the second on the first, closest points, on a plane.
PER_PAIR = 4 * CODES
SLOWEST = 0.02  # m/s: what hits more slowly does not rebound


class Moving(NamedTuple):
    """The bodies, as contact sees them."""

    x: Array  # (2, B, 3) centres
    speed: Array  # (2, B, 6) at the beginning; at the end if nothing touched
    inverse_mass: Array  # (B,) zero of what is led
    inverse_inertia: Array  # (B, 3, 3) in the world


class Room(NamedTuple):
    """To work in."""

    simplex: Array
    first: Array
    second: Array
    found: Array
    codes: NDArray[int64]


def make_room() -> Room:
    return Room(np.zeros((4, 10)), np.zeros((ROOM, 3)), np.zeros((ROOM, 3)), np.zeros((ROOM, 3)), np.zeros(ROOM, int64))


@part
def _speed(moving: Moving, when: int, b: int, r: Vector) -> Vector:
    s = moving.speed[when, b]
    w = cross((s[3], s[4], s[5]), r)
    return (s[0] + w[0], s[1] + w[1], s[2] + w[2])


@part
def _give(moving: Moving, b: int, r: Vector, n: Vector) -> float:
    t = cross(r, n)
    i = moving.inverse_inertia[b]
    x = i[0, 0] * t[0] + i[0, 1] * t[1] + i[0, 2] * t[2]
    y = i[1, 0] * t[0] + i[1, 1] * t[1] + i[1, 2] * t[2]
    z = i[2, 0] * t[0] + i[2, 1] * t[1] + i[2, 2] * t[2]
    return float(moving.inverse_mass[b] + dot(t, (x, y, z)))


@part
def _earlier(pieces: Pieces, k: int, p: Vector) -> Vector:
    """Where a point of a piece was at the beginning."""
    if pieces.owner[k] < 0 and pieces.kind[k] == POLYHEDRON and pieces.point_start[k + 1] == pieces.point_start[k] + 3:
        i = pieces.point_start[k]  # a triangle, which may have changed its shape
        a, b, c = corner(pieces.points[1], i), corner(pieces.points[1], i + 1), corner(pieces.points[1], i + 2)
        u, v, w = closest_on_triangle(p, a, b, c)
        x, y, z = p
        for j in range(3):
            weight = u if j == 0 else v if j == 1 else w
            x += weight * (pieces.points[0, i + j, 0] - pieces.points[1, i + j, 0])
            y += weight * (pieces.points[0, i + j, 1] - pieces.points[1, i + j, 1])
            z += weight * (pieces.points[0, i + j, 2] - pieces.points[1, i + j, 2])
        return (x, y, z)
    return to_world(pieces, 0, k, to_own(pieces, 1, k, p))


@part
def rebound_speed(before: float, speed: float, change: float, h: float, e: float) -> float:
    """With which two leave each other after a step of h, if from a gap `before` they come with a speed (below zero) that would
    change by so much until then, and e of the speed of the impact is left: their energy at the end is the right one."""
    pull = -change / h  # what draws them together
    impact = speed * speed + 2.0 * pull * before
    square = (pull * h) ** 2 + e * e * impact - 2.0 * pull * before
    return math.sqrt(square) - pull * h if square > 0.0 else 0.0


@part
def _touch(
    pieces: Pieces, moving: Moving, a: int, b: int, p: Vector, q: Vector, n: Vector, code: int, h: float, first_row: int,
    first_feature: int, contacts: Contacts, row: int,
) -> int:  # fmt: skip
    """Writes a contact of points p of a and q of b, if they are near. Returns the next row."""
    gap = dot(n, minus(p, q))
    scale = min(pieces.scale[a], pieces.scale[b])
    body, other = pieces.owner[a], pieces.owner[b]
    p0, q0 = _earlier(pieces, a, p), _earlier(pieces, b, q)
    before = dot(n, minus(p0, q0))
    rebound = 0.0
    e = max(pieces.restitution[a], pieces.restitution[b])
    if e > 0.0:
        r = minus(p, corner(moving.x[1], body))
        speed, change = dot(n, _speed(moving, 0, body, r)), dot(n, _speed(moving, 1, body, r))
        if other >= 0:
            r = minus(q, corner(moving.x[1], other))
            speed -= dot(n, _speed(moving, 0, other, r))
            change -= dot(n, _speed(moving, 1, other, r))
        else:
            carried = dot(n, minus(q, q0)) / h
            speed -= carried
            change -= carried
        change -= speed
        if -speed > SLOWEST + 2.0 * abs(change) and before + h * (speed + change) < 0.0:
            rebound = max(before, 0.0) + h * rebound_speed(max(before, 0.0), speed, change, h, e)
    if gap >= MARGIN * scale + rebound:
        return row
    if row >= len(contacts.gap):
        return row + 1
    away = minus(p, corner(moving.x[1], body))
    give = _give(moving, body, away, n)
    if other >= 0:
        give += _give(moving, other, minus(q, corner(moving.x[1], other)), n)
    count = len(moving.inverse_mass) + first_row
    for c in range(3):
        nc = n[0] if c == 0 else n[1] if c == 1 else n[2]
        pc = p[0] if c == 0 else p[1] if c == 1 else p[2]
        qc = q[0] if c == 0 else q[1] if c == 1 else q[2]
        q0c = q0[0] if c == 0 else q0[1] if c == 1 else q0[2]
        contacts.normal[row, c], contacts.upright[row, c] = nc, nc
        contacts.point[row, c] = 0.5 * (pc + qc)
        contacts.slide[row, c] = qc - q0c if other < 0 else 0.0
    contacts.edge[row, 0], contacts.edge[row, 1] = first_row + body, -1
    contacts.at[row, 0], contacts.at[row, 1] = 0.0, 0.0
    contacts.rubbing_at[row, 0], contacts.rubbing_at[row, 1] = 0.0, 0.0
    contacts.rolling[row] = 0.0
    contacts.gap[row], contacts.before[row] = gap, before
    contacts.deep[row] = before < -DEEP * scale
    contacts.arm[row, 0], contacts.arm[row, 1] = scale, 0.0
    contacts.friction[row] = math.sqrt(pieces.friction[a] * pieces.friction[b])
    feature = first_feature + (a * len(pieces.kind) + b) * PER_PAIR + code
    contacts.key[row] = -1 - (feature * count + first_row + body)
    contacts.crossed[row] = False
    contacts.give[row] = h * h * give
    contacts.rebound[row] = rebound
    return row + 1


@part
def _along(p: Vector, n: Vector, s: float) -> Vector:
    return (p[0] + s * n[0], p[1] + s * n[1], p[2] + s * n[2])


@part
def _on_plane(
    pieces: Pieces, moving: Moving, a: int, b: int, h: float, first_row: int, first_feature: int, room: Room,
    contacts: Contacts, row: int,
) -> int:  # fmt: skip
    r, o = pieces.rotation[1, b], corner(pieces.position[1], b)
    n = (r[0, 2], r[1, 2], r[2, 2])
    corners, extra, more = room.first, False, n
    start, count = 0, 0
    if pieces.kind[a] == POLYHEDRON:
        start = pieces.point_start[a]
        count = pieces.point_start[a + 1] - start
    else:
        count, _, _, extra, more = outline(pieces, a, (-n[0], -n[1], -n[2]), corners)
    for i in range(count + 1):
        if i == count:
            if not extra:
                break
            x = more
        elif pieces.kind[a] == POLYHEDRON:
            x = to_world(pieces, 1, a, corner(pieces.points[1], start + i))
        else:
            x = corner(corners, i)
        height = dot(n, minus(x, o))
        p = _along(x, n, -pieces.radius[a, 1])
        q = _along(x, n, pieces.radius[b, 1] - height)
        row = _touch(
            pieces, moving, a, b, p, q, n, 3 * CODES + min(i, CODES - 1), h, first_row, first_feature, contacts, row
        )
    return row


@part
def _direction(pieces: Pieces, a: int, b: int, room: Room) -> tuple[Vector, Vector, Vector]:
    """The direction from b to a, and the closest points of their cores; or of themselves, if they overlap by much."""
    a0, a1 = to_world(pieces, 0, a, corner(pieces.middle, a)), to_world(pieces, 1, a, corner(pieces.middle, a))
    b0, b1 = to_world(pieces, 0, b, corner(pieces.middle, b)), to_world(pieces, 1, b, corner(pieces.middle, b))
    way = minus(minus(a1, a0), minus(b1, b0))
    first = minus(a1, b1)
    if not dot(first, first) > 0.0:
        first = (0.0, 0.0, 1.0)
    still = (0.0, 0.0, 0.0)
    distance, n, p, q = apart(pieces, a, b, still, first, room.simplex)
    around = pieces.radius[a, 0] + pieces.radius[b, 0]
    moved = math.sqrt(dot(way, way))
    thin = max(pieces.width[a] + pieces.width[b], min(pieces.scale[a], pieces.scale[b]))
    if distance > 0.0 and moved <= 0.5 * thin:
        return n, p, q
    # It was fast, or is deep inside: the direction is that in which the two first met.
    looks = min(int(4.0 * moved / thin) + 1, MOST_LOOKS)
    before, known = first, False
    for k in range(looks + 1):
        back = k / looks - 1.0
        offset = (back * way[0], back * way[1], back * way[2])
        there, m, _, _ = apart(pieces, a, b, offset, before, room.simplex)
        if there > 0.0:
            before, known = m, True
        if there - around < 0.0 and (known or there > 0.0):
            if distance > 0.0 and k == looks:
                return n, p, q
            end_a, end_b = _ends(pieces, a, b, before)
            return before, end_a, end_b
    if known:
        return n, p, q
    length = math.sqrt(dot(first, first))
    m = widest(pieces, a, b, (first[0] / length, first[1] / length, first[2] / length))
    end_a, end_b = _ends(pieces, a, b, m)
    return m, end_a, end_b


@part
def _ends(pieces: Pieces, a: int, b: int, n: Vector) -> tuple[Vector, Vector]:
    return farthest(pieces, 1, a, (-n[0], -n[1], -n[2]), False), farthest(pieces, 1, b, n, False)


@part
def _within(pieces: Pieces, k: int, n: Vector, p: Vector) -> bool:
    """Whether a triangle is touched at p from a side where another goes on: then that one is what is touched."""
    if not (pieces.inner[k, 0] or pieces.inner[k, 1] or pieces.inner[k, 2]):
        return False
    face = pieces.face_start[k]
    own = turned_to_own(pieces, 1, k, n)
    if abs(dot(own, corner(pieces.face[1], face))) > FACING:
        return False
    i = pieces.point_start[k]
    x = to_own(pieces, 1, k, p)
    u, v, w = closest_on_triangle(
        x, corner(pieces.points[1], i), corner(pieces.points[1], i + 1), corner(pieces.points[1], i + 2)
    )
    least = min(u, v, w)
    return bool(pieces.inner[k, 1] if u == least else pieces.inner[k, 2] if v == least else pieces.inner[k, 0])


@part
def _of_two(
    pieces: Pieces, moving: Moving, a: int, b: int, h: float, first_row: int, first_feature: int, room: Room,
    contacts: Contacts, row: int,
) -> int:  # fmt: skip
    n, core_a, core_b = _direction(pieces, a, b, room)
    scale = min(pieces.scale[a], pieces.scale[b])
    least = separation(pieces, a, b, n)
    e = max(pieces.restitution[a], pieces.restitution[b])
    reach = 0.0
    if e > 0.0:
        for side in range(2):
            k = pieces.owner[a] if side == 0 else pieces.owner[b]
            if k >= 0:
                s = moving.speed[0, k]
                size = pieces.bound[a] if side == 0 else pieces.bound[b]
                reach += h * math.sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2])
                reach += h * 2.0 * size * math.sqrt(s[3] * s[3] + s[4] * s[4] + s[5] * s[5])
    if least > MARGIN * scale + reach:
        return row
    if _within(pieces, a, n, core_a) or _within(pieces, b, n, core_b):
        return row
    away = (-n[0], -n[1], -n[2])
    count_a, normal_a, cosine_a, more_a, extra_a = outline(pieces, a, away, room.first)
    count_b, normal_b, cosine_b, more_b, extra_b = outline(pieces, b, n, room.second)
    if pieces.solid[b] and dot(n, corner(pieces.face[1], pieces.face_start[b])) < 0.0:
        return row
    flat_a, flat_b = count_a > 2 and cosine_a > 1.0 - ALIGNED, count_b > 2 and cosine_b > 1.0 - ALIGNED
    tolerance = TOGETHER * scale
    skin_a, skin_b = pieces.radius[a, 1], pieces.radius[b, 1]
    written, lowest, begin = 0, math.inf, row
    if flat_b:  # also if both are: contacts keep their numbers
        m, o = normal_b, corner(room.second, 0)
        written = overlap(room.second, count_b, m, room.first, count_a, normal_a, tolerance, room.found, room.codes)
        if more_a and written < ROOM and inside(room.second, count_b, m, extra_a, tolerance):
            room.found[written, 0], room.found[written, 1], room.found[written, 2] = extra_a
            room.codes[written] = CODES - 1
            written += 1
        for i in range(written):
            x = corner(room.found, i)
            height = dot(m, minus(x, o))
            lowest = min(lowest, height - skin_a - skin_b)
            row = _touch(
                pieces, moving, a, b, _along(x, m, -skin_a), _along(x, m, skin_b - height), m, room.codes[i], h, first_row,
                first_feature, contacts, row,
            )  # fmt: skip
    elif flat_a:
        m, o = (-normal_a[0], -normal_a[1], -normal_a[2]), corner(room.first, 0)
        written = overlap(
            room.first, count_a, normal_a, room.second, count_b, normal_b, tolerance, room.found, room.codes
        )
        if more_b and written < ROOM and inside(room.first, count_a, normal_a, extra_b, tolerance):
            room.found[written, 0], room.found[written, 1], room.found[written, 2] = extra_b
            room.codes[written] = CODES - 1
            written += 1
        for i in range(written):
            x = corner(room.found, i)
            height = dot(normal_a, minus(x, o))
            lowest = min(lowest, height - skin_a - skin_b)
            row = _touch(
                pieces, moving, a, b, _along(x, normal_a, skin_a - height), _along(x, m, skin_b), m,
                CODES + room.codes[i], h, first_row, first_feature, contacts, row,
            )  # fmt: skip
    elif count_a == 2 and count_b == 2:
        u, v = (
            minus(corner(room.first, 1), corner(room.first, 0)),
            minus(corner(room.second, 1), corner(room.second, 0)),
        )
        t = cross(u, v)
        if dot(t, t) < PARALLEL * PARALLEL * dot(u, u) * dot(v, v):
            for i in range(4):  # the ends of each that lie along the other
                one, two = (room.first, room.second) if i < 2 else (room.second, room.first)
                x = corner(one, i % 2)
                along = minus(corner(two, 1), corner(two, 0))
                s = dot(along, minus(x, corner(two, 0))) / dot(along, along)
                if not -1e-9 <= s <= 1.0 + 1e-9:
                    continue
                y = _along(corner(two, 0), along, s)
                xa, xb = (x, y) if i < 2 else (y, x)
                p, q = _along(xa, n, -skin_a), _along(xb, n, skin_b)
                lowest = min(lowest, dot(n, minus(p, q)))
                row = _touch(
                    pieces, moving, a, b, p, q, n, 2 * CODES + 1 + i, h, first_row, first_feature, contacts, row
                )
    if row > begin and lowest <= least + MARGIN * scale:
        return row
    height = dot(n, minus(core_a, core_b))
    middle = _along(core_b, n, 0.5 * height)
    p, q = _along(middle, n, 0.5 * least), _along(middle, n, -0.5 * least)
    return _touch(pieces, moving, a, b, p, q, n, 2 * CODES, h, first_row, first_feature, contacts, row)


@kernel
def meet(
    pairs: Ints, which: Flags, pieces: Pieces, moving: Moving, h: float, first_row: int, first_feature: int, room: Room,
    contacts: Contacts, written: int,
) -> int:  # fmt: skip
    """Adds contacts of pairs (K, 2) of pieces, the first of a body, of which one belongs to these bodies (B,). Returns the number
    of contacts so far. Those that find no room are counted, but not written."""
    for k in range(len(pairs)):
        a, b = pairs[k, 0], pairs[k, 1]
        if not (which[pieces.owner[a]] or (pieces.owner[b] >= 0 and which[pieces.owner[b]])):
            continue
        if pieces.kind[b] == PLANE:
            written = _on_plane(pieces, moving, a, b, h, first_row, first_feature, room, contacts, written)
        else:
            written = _of_two(pieces, moving, a, b, h, first_row, first_feature, room, contacts, written)
    return written
