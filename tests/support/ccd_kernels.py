"""Geometry of the independent collision checker: distances and crossings of moving segments and triangles.

Shares no code with the solver. Points move linearly from `x` (start) to `y` (end); times run from 0 to 1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

MEETS = 1e-7  # distance, relative to the size of the four points, below which coplanar features touch
FLAT = 1e-10  # volume relative to the cube of the size below which four points stay in one plane
MOST_ADVANCES = 2000  # of conservative advancement

compiled: Any = njit(cache=True, error_model="numpy", fastmath=False)


@compiled
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def sub(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@compiled
def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@compiled
def along(a, b, s):
    """Point between a and b."""
    return (a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1]), a[2] + s * (b[2] - a[2]))


@compiled
def length(a):
    return math.sqrt(dot(a, a))


@compiled
def point_of(x, i):
    return (x[i, 0], x[i, 1], x[i, 2])


@compiled
def clip(s):
    return min(max(s, 0.0), 1.0)


@compiled
def to_segment(p, a, b):
    """Distance of a point from a segment, and the position of the closest point on it."""
    e = sub(b, a)
    ee = dot(e, e)
    s = clip(dot(sub(p, a), e) / ee) if ee > 0.0 else 0.0
    return length(sub(p, along(a, b, s))), s


@compiled
def between_segments(a, b, c, d):
    """Distance of segments ab and cd, and the positions of the closest points on both."""
    best, s_best, t_best = math.inf, 0.0, 0.0
    u, v, w = sub(b, a), sub(d, c), sub(a, c)
    uu, vv, uv, uw, vw = dot(u, u), dot(v, v), dot(u, v), dot(u, w), dot(v, w)
    across = uu * vv - uv * uv
    if across > 1e-14 * uu * vv:
        s, t = (uv * vw - vv * uw) / across, (uu * vw - uv * uw) / across
        if 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0:
            best, s_best, t_best = length(sub(along(a, b, s), along(c, d, t))), s, t
    far, t = to_segment(a, c, d)
    if far < best:
        best, s_best, t_best = far, 0.0, t
    far, t = to_segment(b, c, d)
    if far < best:
        best, s_best, t_best = far, 1.0, t
    far, s = to_segment(c, a, b)
    if far < best:
        best, s_best, t_best = far, s, 0.0
    far, s = to_segment(d, a, b)
    if far < best:
        best, s_best, t_best = far, s, 1.0
    return best, s_best, t_best


@compiled
def to_triangle(p, a, b, c):
    """Distance of a point from a triangle."""
    n = cross(sub(b, a), sub(c, a))
    nn = dot(n, n)
    if nn > 0.0:
        within = (
            dot(cross(n, sub(b, a)), sub(p, a)) >= 0.0
            and dot(cross(n, sub(c, b)), sub(p, b)) >= 0.0
            and dot(cross(n, sub(a, c)), sub(p, c)) >= 0.0
        )
        if within:
            return abs(dot(sub(p, a), n)) / math.sqrt(nn)
    return min(to_segment(p, a, b)[0], to_segment(p, b, c)[0], to_segment(p, c, a)[0])


@compiled
def segment_to_triangle(p, q, a, b, c):
    """Distance of a segment from a triangle; zero if it pierces it."""
    n = cross(sub(b, a), sub(c, a))
    hp, hq = dot(sub(p, a), n), dot(sub(q, a), n)
    if hp * hq < 0.0:
        x = along(p, q, hp / (hp - hq))
        within = (
            dot(cross(n, sub(b, a)), sub(x, a)) >= 0.0
            and dot(cross(n, sub(c, b)), sub(x, b)) >= 0.0
            and dot(cross(n, sub(a, c)), sub(x, c)) >= 0.0
        )
        if within:
            return 0.0
    least = min(to_triangle(p, a, b, c), to_triangle(q, a, b, c))
    least = min(least, between_segments(p, q, a, b)[0])
    least = min(least, between_segments(p, q, b, c)[0])
    return min(least, between_segments(p, q, c, a)[0])


@compiled
def solid_angle(p, a, b, c):
    """Of a triangle seen from p, by Van Oosterom and Strackee 1983."""
    a, b, c = sub(a, p), sub(b, p), sub(c, p)
    la, lb, lc = length(a), length(b), length(c)
    below = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb
    return 2.0 * math.atan2(dot(a, cross(b, c)), below)


# Continuous collision detection: the volume of the four points is a cubic in time; where it vanishes they are in one plane.


@compiled
def volume(p, q, r, s):
    return dot(sub(q, p), cross(sub(r, p), sub(s, p)))


@compiled
def volume_at(k, t):
    return ((k[3] * t + k[2]) * t + k[1]) * t + k[0]


@compiled
def cubic_of(p, q, r, s, pe, qe, re, se):
    """Coefficients of the volume as a polynomial in time."""
    a, b, c = sub(q, p), sub(r, p), sub(s, p)
    da, db, dc = sub(sub(qe, pe), a), sub(sub(re, pe), b), sub(sub(se, pe), c)
    k0 = dot(a, cross(b, c))
    k1 = dot(da, cross(b, c)) + dot(a, cross(db, c)) + dot(a, cross(b, dc))
    k2 = dot(a, cross(db, dc)) + dot(da, cross(b, dc)) + dot(da, cross(db, c))
    return (k0, k1, k2, dot(da, cross(db, dc)))


@compiled
def keeps_sign(k):
    """Whether a cubic has no root in [0, 1], by its Bernstein coefficients; False is not conclusive."""
    b0, b1 = k[0], k[0] + k[1] / 3.0
    b2, b3 = k[0] + 2.0 * k[1] / 3.0 + k[2] / 3.0, k[0] + k[1] + k[2] + k[3]
    return min(b0, b1, b2, b3) > 0.0 or max(b0, b1, b2, b3) < 0.0


@compiled
def roots_of(k, out):
    """Roots of a cubic in [0, 1], each extremum that touches zero included; returns their number (at most 5)."""
    scale = max(abs(k[0]), abs(k[1]), abs(k[2]), abs(k[3]))
    breaks = (0.0, 0.0, 0.0, 0.0)
    first, second = 1.0, 1.0
    a, b, c = 3.0 * k[3], 2.0 * k[2], k[1]
    inside = b * b - 4.0 * a * c
    if abs(a) > 1e-14 * scale and inside > 0.0:
        root = math.sqrt(inside)
        z = -0.5 * (b + math.copysign(root, b))
        r1 = z / a
        r2 = c / z if z != 0.0 else 0.0
        first, second = min(r1, r2), max(r1, r2)
    elif abs(b) > 1e-14 * scale:
        first = -c / b
    breaks = (0.0, clip(first), clip(second), 1.0)
    count = 0
    for i in range(1, 3):  # an extremum that only just touches
        t = breaks[i]
        if 0.0 < t < 1.0 and abs(volume_at(k, t)) <= 1e-13 * scale:
            out[count] = t
            count += 1
    for i in range(3):
        low, high = breaks[i], breaks[i + 1]
        f_low, f_high = volume_at(k, low), volume_at(k, high)
        if high <= low or f_low * f_high > 0.0:
            continue
        for _ in range(60):
            middle = 0.5 * (low + high)
            f = volume_at(k, middle)
            if f_low * f > 0.0:
                low, f_low = middle, f
            else:
                high = middle
        out[count] = 0.5 * (low + high)
        count += 1
    return count


@compiled
def size_of(a, b, c, d, ae, be, ce, de):
    return max(
        length(sub(b, a)),
        length(sub(d, c)),
        length(sub(be, ae)),
        length(sub(de, ce)),
        length(sub(c, a)),
        length(sub(ce, ae)),
    )


@compiled
def edges_cross(a, b, c, d, ae, be, ce, de, scratch):
    """First time at which the moving segments ab and cd meet, or -1; and where on both."""
    size = size_of(a, b, c, d, ae, be, ce, de)
    k = cubic_of(a, b, c, d, ae, be, ce, de)
    if max(abs(k[0]), abs(k[1]), abs(k[2]), abs(k[3])) <= FLAT * size**3:
        return advance(0, a, b, c, d, ae, be, ce, de, MEETS * size)
    if keeps_sign(k):
        return -1.0, 0.0, 0.0
    found, s_found, t_found = -1.0, 0.0, 0.0
    for i in range(roots_of(k, scratch)):
        time = scratch[i]
        far, s, t = between_segments(along(a, ae, time), along(b, be, time), along(c, ce, time), along(d, de, time))
        if far <= MEETS * size and (found < 0.0 or time < found):
            found, s_found, t_found = time, s, t
    return found, s_found, t_found


@compiled
def point_meets_triangle(p, a, b, c, pe, ae, be, ce, scratch):
    """First time at which a moving point meets a moving triangle, or -1."""
    size = size_of(p, a, b, c, pe, ae, be, ce)
    k = cubic_of(p, a, b, c, pe, ae, be, ce)
    if max(abs(k[0]), abs(k[1]), abs(k[2]), abs(k[3])) <= FLAT * size**3:
        return advance(1, p, a, b, c, pe, ae, be, ce, MEETS * size)[0]
    if keeps_sign(k):
        return -1.0
    found = -1.0
    for i in range(roots_of(k, scratch)):
        time = scratch[i]
        far = to_triangle(along(p, pe, time), along(a, ae, time), along(b, be, time), along(c, ce, time))
        if far <= MEETS * size and (found < 0.0 or time < found):
            found = time
    return found


@compiled
def advance(kind, a, b, c, d, ae, be, ce, de, tolerance):
    """Conservative advancement, for motions within one plane: steps of distance over relative speed. `kind` 0: segments ab and cd;
    1: point a and triangle bcd."""
    va, vb, vc, vd = sub(ae, a), sub(be, b), sub(ce, c), sub(de, d)
    if kind == 0:
        speed = max(length(sub(va, vc)), length(sub(va, vd)), length(sub(vb, vc)), length(sub(vb, vd)))
    else:
        speed = max(length(sub(va, vb)), length(sub(va, vc)), length(sub(va, vd)))
    time = 0.0
    for _ in range(MOST_ADVANCES):
        p, q, r, t = along(a, ae, time), along(b, be, time), along(c, ce, time), along(d, de, time)
        far, at, on = between_segments(p, q, r, t) if kind == 0 else (to_triangle(p, q, r, t), 0.0, 0.0)
        if far <= tolerance:
            return time, at, on
        if speed <= 0.0:
            return -1.0, 0.0, 0.0
        time += 0.9999 * far / speed
        if time > 1.0:
            return -1.0, 0.0, 0.0
    return -1.0, 0.0, 0.0


# Broad phase


@compiled
def pairs_within(order, low, high, out):
    """Pairs of boxes that overlap; `order` sorts them by low[:, 0]. Returns the number found, of which len(out) are written."""
    count, n = 0, len(order)
    for p in range(n):
        i = order[p]
        for q in range(p + 1, n):
            j = order[q]
            if low[j, 0] > high[i, 0]:
                break
            if low[j, 1] <= high[i, 1] and low[i, 1] <= high[j, 1] and low[j, 2] <= high[i, 2]:
                if low[i, 2] > high[j, 2]:
                    continue
                if count < len(out):
                    out[count, 0], out[count, 1] = min(i, j), max(i, j)
                count += 1
    return count


@compiled
def pairs_between(order, low, high, other_order, other_low, other_high, out):
    """Pairs of boxes of two sets that overlap; orders sort them by their low[:, 0]."""
    count, first = 0, 0
    widest = 0.0
    for k in range(len(other_low)):
        widest = max(widest, other_high[k, 0] - other_low[k, 0])
    for p in range(len(order)):
        i = order[p]
        while first < len(other_order) and other_low[other_order[first], 0] < low[i, 0] - widest:
            first += 1
        for q in range(first, len(other_order)):
            j = other_order[q]
            if other_low[j, 0] > high[i, 0]:
                break
            meet = other_high[j, 0] >= low[i, 0]
            for c in range(1, 3):
                meet = meet and other_low[j, c] <= high[i, c] and low[i, c] <= other_high[j, c]
            if meet:
                if count < len(out):
                    out[count, 0], out[count, 1] = i, j
                count += 1
    return count


# All pairs of a list


@compiled
def overlaps_of(pairs, ends, x, radius, far, where):
    """Distance of edges minus the sum of their radii, and the closest points, for each pair."""
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
        a, b = point_of(x, ends[i, 0]), point_of(x, ends[i, 1])
        c, d = point_of(x, ends[j, 0]), point_of(x, ends[j, 1])
        gap, s, t = between_segments(a, b, c, d)
        far[k] = gap - radius[i] - radius[j]
        where[k, 0], where[k, 1] = s, t


@compiled
def crossings_of(pairs, ends, other_ends, x, y, other_x, other_y, time, where):
    """Times at which pairs of moving edges meet, or -1; and where."""
    scratch = np.empty(8)
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
        a, b = point_of(x, ends[i, 0]), point_of(x, ends[i, 1])
        c, d = point_of(other_x, other_ends[j, 0]), point_of(other_x, other_ends[j, 1])
        ae, be = point_of(y, ends[i, 0]), point_of(y, ends[i, 1])
        ce, de = point_of(other_y, other_ends[j, 0]), point_of(other_y, other_ends[j, 1])
        time[k], where[k, 0], where[k, 1] = edges_cross(a, b, c, d, ae, be, ce, de, scratch)


@compiled
def piercings_of(pairs, triangles, x, y, mesh_x, mesh_y, time):
    """Times at which points meet moving triangles, or -1, for each pair of a point and a triangle."""
    scratch = np.empty(8)
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
        p, pe = point_of(x, i), point_of(y, i)
        q, r, s = triangles[j, 0], triangles[j, 1], triangles[j, 2]
        time[k] = point_meets_triangle(
            p,
            point_of(mesh_x, q),
            point_of(mesh_x, r),
            point_of(mesh_x, s),
            pe,
            point_of(mesh_y, q),
            point_of(mesh_y, r),
            point_of(mesh_y, s),
            scratch,
        )


@compiled
def surface_distances(pairs, ends, x, triangles, mesh, out):
    """Least distance of each edge from the triangles paired with it; `out` starts as infinity."""
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
        q, r, s = triangles[j, 0], triangles[j, 1], triangles[j, 2]
        far = segment_to_triangle(
            point_of(x, ends[i, 0]), point_of(x, ends[i, 1]), point_of(mesh, q), point_of(mesh, r), point_of(mesh, s)
        )
        out[i] = min(out[i], far)


@compiled
def inside_of(points, triangles, mesh, out):
    """Which points are inside a closed mesh, by its solid angle."""
    for i in range(len(points)):
        p, total = point_of(points, i), 0.0
        for k in range(len(triangles)):
            q, r, s = triangles[k, 0], triangles[k, 1], triangles[k, 2]
            total += solid_angle(p, point_of(mesh, q), point_of(mesh, r), point_of(mesh, s))
        out[i] = abs(total) > 2.0 * math.pi


@compiled
def depths_inside(points, triangles, mesh, out):
    """Distance of points from the nearest triangle."""
    for i in range(len(points)):
        p, least = point_of(points, i), math.inf
        for k in range(len(triangles)):
            q, r, s = triangles[k, 0], triangles[k, 1], triangles[k, 2]
            least = min(least, to_triangle(p, point_of(mesh, q), point_of(mesh, r), point_of(mesh, s)))
        out[i] = least
