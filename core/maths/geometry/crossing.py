"""Continuous collision detection of segments, points and triangles that move linearly from time 0 to 1.

Four points that meet are coplanar: a cubic in time, whose roots are verified by the distance at that time. Where the cubic is
too flat (motion in one plane or along one line, parallel segments, degenerate shapes), first contact is between a point and a
segment, or between two points; these times are tried as well. Distances are compared with a tolerance, so that no crossing is
missed; some grazing contacts are reported, too.
"""

from __future__ import annotations

import math

from ...compile.jit import part
from .closest import blend, clip, closest_on_segments, closest_on_triangle, minus, plus
from .frames import Vector, cross, dot

_NOISE = 4e-15  # error of the cubic, relative to the product of the lengths it is computed from
_FLAT = 2e-14  # smallest relative size of its largest coefficient at which its roots are meaningful
_TOUCH = 1e-9  # distance that counts as contact, relative to the size of the configuration
_TOUCH_FLAT = 1e-7  # likewise where times are inaccurate
_ZERO = (0.0, 0.0, 0.0)

Quadratic = tuple[float, float, float]  # in Bernstein form, like Cubic
Cubic = tuple[float, float, float, float]
Crossing = tuple[bool, float, float, float]


@part
def segments_cross(
    a0: Vector, a1: Vector, b0: Vector, b1: Vector, a0e: Vector, a1e: Vector, b0e: Vector, b1e: Vector
) -> Crossing:
    """First time two segments meet, with the parameters on them: (found, time, s, t). The last four points are those at time 1."""
    u, v, e = minus(a1, a0), minus(b1, b0), minus(b0, a0)
    ue, ve, ee = minus(a1e, a0e), minus(b1e, b0e), minus(b0e, a0e)
    return _meet(False, u, v, e, ue, ve, ee)


@part
def point_crosses_triangle(
    p: Vector, a: Vector, b: Vector, c: Vector, pe: Vector, ae: Vector, be: Vector, ce: Vector
) -> Crossing:
    """First time a point meets a triangle: (found, time, weight of b, weight of c)."""
    u, v, e = minus(b, a), minus(c, a), minus(p, a)
    ue, ve, ee = minus(be, ae), minus(ce, ae), minus(pe, ae)
    return _meet(True, u, v, e, ue, ve, ee)


# From here on relative to the first point: a triangle (0, u, v) and a point e, or segments (0, u) and (e, e + v).


@part
def _meet(triangle: bool, u: Vector, v: Vector, e: Vector, ue: Vector, ve: Vector, ee: Vector) -> Crossing:
    n, ne = cross(u, v), cross(ue, ve)
    m0, m1 = cross(u, ve), cross(ue, v)
    m = (m0[0] + m1[0], m0[1] + m1[1], m0[2] + m1[2])
    cubic = (dot(e, n), (dot(ee, n) + dot(e, m)) / 3.0, (dot(e, ne) + dot(ee, m)) / 3.0, dot(ee, ne))
    least = min(min(cubic[0], cubic[1]), min(cubic[2], cubic[3]))
    most = max(max(cubic[0], cubic[1]), max(cubic[2], cubic[3]))
    uu, vv, ll = max(dot(u, u), dot(ue, ue)), max(dot(v, v), dot(ve, ve)), max(dot(e, e), dot(ee, ee))
    scale = math.sqrt(uu * vv * ll)
    if least > _NOISE * scale or most < -_NOISE * scale or _apart(triangle, u, v, e, ue, ve, ee):
        return False, 1.0, 0.0, 0.0
    size = math.sqrt(max(uu, vv, ll))
    found, time, s, t, flat = False, 1.0, 0.0, 0.0, True
    if max(-least, most) > _FLAT * scale:
        found, time, s, t, flat = _meet_by_cubic(triangle, u, v, e, ue, ve, ee, cubic, scale, size)
    if flat:
        found_flat, time_flat, s_flat, t_flat = _meet_flat(triangle, u, v, e, ue, ve, ee, size)
        if found_flat and (time_flat < time or not found):
            return True, time_flat, s_flat, t_flat
    return found, time, s, t


@part
def _apart(triangle: bool, u: Vector, v: Vector, e: Vector, ue: Vector, ve: Vector, ee: Vector) -> bool:
    """Whether a plane across the line between the centres separates the two at all times."""
    f, g = (-1.0 / 3.0, -1.0 / 3.0) if triangle else (-0.5, 0.5)
    x = e[0] + ee[0] + f * (u[0] + ue[0]) + g * (v[0] + ve[0])
    y = e[1] + ee[1] + f * (u[1] + ue[1]) + g * (v[1] + ve[1])
    z = e[2] + ee[2] + f * (u[2] + ue[2]) + g * (v[2] + ve[2])
    n = (x, y, z)
    nu, nv, nue, nve = dot(n, u), dot(n, v), dot(n, ue), dot(n, ve)
    if triangle:
        clear = min(dot(n, e) - max(0.0, nu, nv), dot(n, ee) - max(0.0, nue, nve))
    else:
        clear = min(dot(n, e) + min(nv, 0.0) - max(nu, 0.0), dot(n, ee) + min(nve, 0.0) - max(nue, 0.0))
    return clear > 1e-6 * (dot(n, n) + dot(u, u) + dot(v, v) + dot(ue, ue) + dot(ve, ve))


@part
def _meet_by_cubic(
    triangle: bool,
    u: Vector,
    v: Vector,
    e: Vector,
    ue: Vector,
    ve: Vector,
    ee: Vector,
    cubic: Cubic,
    scale: float,
    size: float,
) -> tuple[bool, float, float, float, bool]:
    """The crossing as in `_meet`, and whether a root was too flat for an accurate time."""
    noise = _NOISE * scale
    b0, b1, b2, b3 = cubic
    slopes = (3.0 * (b1 - b0), 3.0 * (b2 - b1), 3.0 * (b3 - b2))
    first, second = _roots(slopes)
    begin, value, flat = 0.0, b0, False
    for piece in range(4):  # between extrema; the last piece is empty and only contributes its start
        end = first if piece == 0 else (second if piece == 1 else 1.0)
        after = _cubic_at(cubic, end)
        for which in range(2):
            if which == 0:
                if abs(value) > noise:
                    continue
                time = begin
            else:
                if value * after >= 0.0:
                    continue
                time = _root_between(cubic, slopes, begin, end, value)
            error = noise / max(abs(_quadratic_at(slopes, time)), 1e-300)
            flat = flat or error > _TOUCH
            distance, s, t = _distance_at(triangle, u, v, e, ue, ve, ee, time)
            if distance <= (_TOUCH + min(error, _TOUCH_FLAT)) * size:
                return True, time, s, t, flat
        begin, value = end, after
    return False, 1.0, 0.0, 0.0, flat


@part
def _meet_flat(
    triangle: bool, u: Vector, v: Vector, e: Vector, ue: Vector, ve: Vector, ee: Vector, size: float
) -> Crossing:
    """Crossings of points with edges and of points with points, for motion in a plane or along a line."""
    first = 2.0
    where = (0.0, 0.0)
    for pair in range(3 if triangle else 4):
        # The point moves from r to re relative to the edge's start, the edge from w to we; o is relative to a corner.
        if pair == 0:
            r, re, w, we, o, oe = e, ee, u, ue, e, ee
        elif triangle and pair == 1:
            r, re, w, we, o, oe = e, ee, v, ve, minus(e, u), minus(ee, ue)
        elif triangle:
            r, re, w, we, o, oe = minus(e, u), minus(ee, ue), minus(v, u), minus(ve, ue), minus(e, v), minus(ee, ve)
        elif pair == 1:
            r, re, w, we, o, oe = plus(e, v), plus(ee, ve), u, ue, plus(e, v), plus(ee, ve)
        elif pair == 2:
            r, re, w, we, o, oe = minus(_ZERO, e), minus(_ZERO, ee), v, ve, minus(e, u), minus(ee, ue)
        else:
            r, re, w, we = minus(u, e), minus(ue, ee), v, ve
            o, oe = minus(plus(e, v), u), minus(plus(ee, ve), ue)
        early, late = _roots(_largest_component(r, re, w, we))
        for which in range(4):
            time = 0.0 if which == 0 else early if which == 1 else late if which == 2 else _nearest_time(o, oe)
            if time < first:
                distance, s, t = _distance_at(triangle, u, v, e, ue, ve, ee, time)
                if distance <= _TOUCH_FLAT * size:
                    first = time
                    where = (s, t)
    return first <= 1.0, min(first, 1.0), where[0], where[1]


@part
def _distance_at(
    triangle: bool, u: Vector, v: Vector, e: Vector, ue: Vector, ve: Vector, ee: Vector, time: float
) -> tuple[float, float, float]:
    u, v, e = blend(u, ue, time), blend(v, ve, time), blend(e, ee, time)
    if triangle:
        _, s, t = closest_on_triangle(e, _ZERO, u, v)
        d = (e[0] - s * u[0] - t * v[0], e[1] - s * u[1] - t * v[1], e[2] - s * u[2] - t * v[2])
    else:
        s, t = closest_on_segments(_ZERO, u, e, plus(e, v))
        d = (e[0] - s * u[0] + t * v[0], e[1] - s * u[1] + t * v[1], e[2] - s * u[2] + t * v[2])
    return math.sqrt(dot(d, d)), s, t


@part
def _largest_component(r: Vector, re: Vector, w: Vector, we: Vector) -> Quadratic:
    """The largest component of r x w, which vanishes when the point is on the line of the edge."""
    c0, c2 = cross(r, w), cross(re, we)
    m0, m1 = cross(r, we), cross(re, w)
    c1 = (0.5 * (m0[0] + m1[0]), 0.5 * (m0[1] + m1[1]), 0.5 * (m0[2] + m1[2]))
    x = max(abs(c0[0]), abs(c1[0]), abs(c2[0]))
    y = max(abs(c0[1]), abs(c1[1]), abs(c2[1]))
    z = max(abs(c0[2]), abs(c1[2]), abs(c2[2]))
    if x >= y and x >= z:
        return (c0[0], c1[0], c2[0])
    return (c0[1], c1[1], c2[1]) if y >= z else (c0[2], c1[2], c2[2])


@part
def _nearest_time(r: Vector, re: Vector) -> float:
    d = minus(re, r)
    square = dot(d, d)
    return clip(-dot(r, d) / square) if square > 0.0 else 0.0


@part
def _roots(b: Quadratic) -> tuple[float, float]:
    """Both roots in ascending order, or the extremum if there are none; clipped to [0, 1]."""
    square, half, constant = b[0] - 2.0 * b[1] + b[2], b[1] - b[0], b[0]
    discriminant = half * half - square * constant
    q = -(half + math.copysign(math.sqrt(max(discriminant, 0.0)), half))
    one = clip(q / square) if square != 0.0 else 1.0
    other = clip(constant / q) if q != 0.0 and discriminant > 0.0 else one
    return min(one, other), max(one, other)


@part
def _root_between(b: Cubic, slopes: Quadratic, begin: float, end: float, value: float) -> float:
    """Root of a cubic between times of opposite sign: Newton's method, safeguarded by bisection."""
    time = 0.5 * (begin + end)
    for _ in range(100):
        here = _cubic_at(b, time)
        if here == 0.0:
            break
        if (here > 0.0) == (value > 0.0):
            begin = time
        else:
            end = time
        slope = _quadratic_at(slopes, time)
        following = time - here / slope if slope != 0.0 else -1.0
        if not begin < following < end:
            following = 0.5 * (begin + end)
        if abs(following - time) <= 1e-15:
            break
        time = following
    return time


@part
def _cubic_at(b: Cubic, time: float) -> float:
    r = 1.0 - time
    return r * r * (r * b[0] + 3.0 * time * b[1]) + time * time * (3.0 * r * b[2] + time * b[3])


@part
def _quadratic_at(b: Quadratic, time: float) -> float:
    r = 1.0 - time
    return r * (r * b[0] + 2.0 * time * b[1]) + time * time * b[2]
