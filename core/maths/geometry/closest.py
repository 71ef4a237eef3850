"""Closest points of points, segments and triangles. Nothing here minds zero lengths, zero areas or parallel segments."""

from __future__ import annotations

from ...compile.jit import part
from .frames import Vector, cross, dot

# How much, relative to the distance, closest points of parallel segments prefer the middle of the overlap; and the squares of the
# angle, and of how far apart segments run over their length relative to the distance, up to which they are taken for parallel.
_PREFERENCE = 1e-3
_PARALLEL = 1e-6


@part
def minus(a: Vector, b: Vector) -> Vector:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@part
def plus(a: Vector, b: Vector) -> Vector:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@part
def blend(a: Vector, b: Vector, s: float) -> Vector:
    """From a (s = 0) to b (s = 1), both of which are met exactly."""
    r = 1.0 - s
    return (r * a[0] + s * b[0], r * a[1] + s * b[1], r * a[2] + s * b[2])


@part
def clip(s: float) -> float:
    return min(max(s, 0.0), 1.0)


@part
def closest_on_segment(p: Vector, a: Vector, b: Vector) -> float:
    """Where on the segment, from 0 to 1, it is closest to p; a segment without length gives its middle."""
    return _foot(dot(minus(p, a), minus(b, a)), dot(minus(b, a), minus(b, a)))


@part
def closest_on_segments(a0: Vector, a1: Vector, b0: Vector, b1: Vector) -> tuple[float, float]:
    """Where on two segments, each from 0 to 1, they are closest to each other.

    Parallel segments give the middle of the stretch along which they overlap; over small angles the closest points move
    continuously from there to the ends. The distance is right to a thousandth, and to 1e-6 for segments at an angle of more
    than half a percent, or that run apart along their length by more than half a percent of their distance.
    """
    return closest_with_preference(a0, a1, b0, b1, _PREFERENCE)


@part
def closest_with_preference(a0: Vector, a1: Vector, b0: Vector, b1: Vector, preference: float) -> tuple[float, float]:
    """Minimises the squared distance plus a little of the squared distance (in s and t) from the middle of the overlap."""
    u, v, e = minus(a1, a0), minus(b1, b0), minus(a0, b0)
    uu, vv, uv = dot(u, u), dot(v, v), dot(u, v)
    ue, ve = dot(u, e), dot(v, e)
    s = 0.5 * (_foot(-ue, uu) + _foot(uv - ue, uu))
    t = 0.5 * (_foot(ve, vv) + _foot(uv + ve, vv))
    # From here on relative to this middle (s, t): what is solved for is small where segments are parallel.
    m = (e[0] + s * u[0] - t * v[0], e[1] + s * u[1] - t * v[1], e[2] + s * u[2] - t * v[2])
    um, vm, mm = dot(u, m), dot(v, m), dot(m, m)
    n = cross(u, v)
    nn = dot(n, n)  # uu * vv - uv * uv, without its cancellation
    narrow = _PARALLEL * min(max(uu, vv) * mm, uu * vv)
    weight = 1e-24 * (uu + vv)
    if preference > 0.0 and narrow > 0.0:
        weight += preference * mm * narrow * narrow / (narrow * narrow + nn * nn)
    determinant = nn + weight * (uu + vv + weight)
    x = (uv * vm - (vv + weight) * um) / determinant if determinant > 0.0 else 0.0
    x = min(max(x, -s), 1.0 - s)
    if vv > 0.0:
        y = (uv * x + vm) / (vv + weight)
        if y < -t or y > 1.0 - t:
            y = -t if y < -t else 1.0 - t
            if uu > 0.0:
                x = min(max((uv * y - um) / (uu + weight), -s), 1.0 - s)
        t += y
    return clip(s + x), clip(t)


@part
def closest_on_triangle(p: Vector, a: Vector, b: Vector, c: Vector) -> tuple[float, float, float]:
    """Barycentric coordinates of the triangle's point closest to p: they are from 0 to 1 and add up to 1."""
    ab, ac, ap = minus(b, a), minus(c, a), minus(p, a)
    n = cross(ab, ac)
    nn = dot(n, n)
    v = dot(cross(ap, ac), n)
    w = dot(cross(ab, ap), n)
    u = nn - v - w
    flat = nn <= 1e-24 * dot(ab, ab) * dot(ac, ac)  # which side of an edge p is on can't be told any more
    if u >= 0.0 and v >= 0.0 and w >= 0.0 and not flat:
        v /= nn
        w /= nn
        return max(1.0 - v - w, 0.0), v, w
    # The closest point lies on an edge that p is beyond.
    best = -1.0
    result = (1.0, 0.0, 0.0)
    if w < 0.0 or flat:
        s = closest_on_segment(p, a, b)
        q = minus(p, blend(a, b, s))
        best = dot(q, q)
        result = (1.0 - s, s, 0.0)
    if v < 0.0 or flat:
        s = closest_on_segment(p, a, c)
        q = minus(p, blend(a, c, s))
        square = dot(q, q)
        if best < 0.0 or square < best:
            best = square
            result = (1.0 - s, 0.0, s)
    if u < 0.0 or flat:
        s = closest_on_segment(p, b, c)
        q = minus(p, blend(b, c, s))
        square = dot(q, q)
        if best < 0.0 or square < best:
            result = (0.0, 1.0 - s, s)
    return result


@part
def _foot(along: float, square: float) -> float:
    return clip(along / square) if square > 0.0 else 0.5
