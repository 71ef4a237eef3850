"""Closest points of points, segments and triangles. Zero lengths, zero areas and parallel segments are handled."""

from __future__ import annotations

from ...compile.jit import part
from .frames import Vector, cross, dot

# Weight, relative to the squared distance, that pulls closest points of parallel segments to the middle of the overlap;
# and the squared angle, or squared relative separation, below which segments count as parallel.
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
    """Linear interpolation from a (s = 0) to b (s = 1), exact at both ends."""
    r = 1.0 - s
    return (r * a[0] + s * b[0], r * a[1] + s * b[1], r * a[2] + s * b[2])


@part
def clip(s: float) -> float:
    return min(max(s, 0.0), 1.0)


@part
def closest_on_segment(p: Vector, a: Vector, b: Vector) -> float:
    """Parameter (0 to 1) of the segment's point closest to p; 0.5 for a segment of zero length."""
    return _foot(dot(minus(p, a), minus(b, a)), dot(minus(b, a), minus(b, a)))


@part
def closest_on_segments(a0: Vector, a1: Vector, b0: Vector, b1: Vector) -> tuple[float, float]:
    """Parameters (0 to 1) of the closest points of two segments.

    Parallel segments give the middle of their overlap; at small angles the closest points move continuously from there to the
    ends. The distance is accurate to 1e-3, and to 1e-6 for segments at an angle above half a percent, or whose separation
    varies by more than half a percent of their distance."""
    return closest_with_preference(a0, a1, b0, b1, _PREFERENCE)


@part
def closest_with_preference(a0: Vector, a1: Vector, b0: Vector, b1: Vector, preference: float) -> tuple[float, float]:
    """Minimises the squared distance plus a small multiple of the squared parameter distance from the middle of the overlap."""
    u, v, e = minus(a1, a0), minus(b1, b0), minus(a0, b0)
    uu, vv, uv = dot(u, u), dot(v, v), dot(u, v)
    ue, ve = dot(u, e), dot(v, e)
    s = 0.5 * (_foot(-ue, uu) + _foot(uv - ue, uu))
    t = 0.5 * (_foot(ve, vv) + _foot(uv + ve, vv))
    # The remaining unknowns are relative to this middle (s, t), so that they are small for parallel segments.
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
    """Barycentric coordinates (from 0 to 1, with sum 1) of the triangle's point closest to p."""
    ab, ac, ap = minus(b, a), minus(c, a), minus(p, a)
    n = cross(ab, ac)
    nn = dot(n, n)
    v = dot(cross(ap, ac), n)
    w = dot(cross(ab, ap), n)
    u = nn - v - w
    flat = nn <= 1e-24 * dot(ab, ab) * dot(ac, ac)  # round-off decides on which side of an edge p is
    if u >= 0.0 and v >= 0.0 and w >= 0.0 and not flat:
        v /= nn
        w /= nn
        return max(1.0 - v - w, 0.0), v, w
    # The closest point lies on an edge that separates p from the triangle.
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
