"""Convex shapes in local coordinates: signed distance, lowest point of a segment, continuous collision with a moving segment."""

from __future__ import annotations

import math

from ...compile.jit import part
from .closest import blend, closest_on_segment, closest_on_segments, closest_with_preference, minus
from .frames import Vector, dot

# Kinds, and their sizes (s0, s1, s2). Plane: none, solid below z = 0; sphere: radius; capsule and cylinder: radius,
# half length along z; box: half edges.
PLANE, SPHERE, CAPSULE, BOX, CYLINDER = range(5)

_SLACK = 1e-6  # relative to the segment's length: heights within this of the minimum count as equally low
_NEAR = 4e-3  # relative to the segment's length
_MOST_STEPS = 100
_FAR = 30.0  # times the smallest distance

# Parameter on a segment, the distance there, and a linear lower bound of distances: its gradient, and its values at both ends.
Lowest = tuple[float, float, Vector, float, float]


@part
def signed_distance(kind: int, s0: float, s1: float, s2: float, p: Vector) -> tuple[float, Vector]:
    """Distance from the surface (negative inside) and its gradient, a unit vector even where it is not unique."""
    x, y, z = p
    if kind == PLANE:
        return z, (0.0, 0.0, 1.0)
    if kind == SPHERE:
        length = math.sqrt(x * x + y * y + z * z)
        if length > 0.0:
            return length - s0, (x / length, y / length, z / length)
        return -s0, (0.0, 0.0, 1.0)
    if kind == CAPSULE:
        z -= min(max(z, -s1), s1)
        length = math.sqrt(x * x + y * y + z * z)
        if length > 0.0:
            return length - s0, (x / length, y / length, z / length)
        return -s0, (1.0, 0.0, 0.0)
    if kind == BOX:
        return _box(x, y, z, s0, s1, s2)
    round_about = math.sqrt(x * x + y * y)
    cx, cy = (x / round_about, y / round_about) if round_about > 0.0 else (1.0, 0.0)
    out, over = round_about - s0, abs(z) - s1
    up = math.copysign(1.0, z)
    if out > 0.0 and over > 0.0:
        length = math.sqrt(out * out + over * over)
        return length, (cx * out / length, cy * out / length, up * over / length)
    if out > over:
        return out, (cx, cy, 0.0)
    return over, (0.0, 0.0, up)


@part
def _box(x: float, y: float, z: float, s0: float, s1: float, s2: float) -> tuple[float, Vector]:
    qx, qy, qz = abs(x) - s0, abs(y) - s1, abs(z) - s2
    if max(qx, qy, qz) <= 0.0:
        if qx >= qy and qx >= qz:
            return qx, (math.copysign(1.0, x), 0.0, 0.0)
        if qy >= qz:
            return qy, (0.0, math.copysign(1.0, y), 0.0)
        return qz, (0.0, 0.0, math.copysign(1.0, z))
    qx, qy, qz = max(qx, 0.0), max(qy, 0.0), max(qz, 0.0)
    length = math.sqrt(qx * qx + qy * qy + qz * qz)
    return length, (math.copysign(qx, x) / length, math.copysign(qy, y) / length, math.copysign(qz, z) / length)


@part
def lowest_on_segment(kind: int, s0: float, s1: float, s2: float, p0: Vector, p1: Vector) -> float:
    """Parameter (0 to 1) of the segment's point with the smallest signed distance.

    For an interval of equally low points, within 1e-6 of the segment's length above the minimum, this is its middle, so that it
    moves continuously as the segment tilts."""
    if kind == SPHERE:
        return closest_on_segment((0.0, 0.0, 0.0), p0, p1)
    if kind == CAPSULE:
        return closest_on_segments(p0, p1, (0.0, 0.0, -s1), (0.0, 0.0, s1))[0]
    d = minus(p1, p0)
    length = math.sqrt(dot(d, d))
    if length == 0.0:
        return 0.5
    s, least, _, _, _ = _lowest(kind, s0, s1, s2, p0, p1, 0.01 * _SLACK)
    level = least + _SLACK * length
    # the interval is usually short, so the search starts close by
    begin, end = max(s - _NEAR, 0.0), min(s + _NEAR, 1.0)
    if signed_distance(kind, s0, s1, s2, blend(p0, p1, begin))[0] < level:
        begin = 0.0
    if signed_distance(kind, s0, s1, s2, blend(p0, p1, end))[0] < level:
        end = 1.0
    begin = _where_at(kind, s0, s1, s2, p0, p1, begin, s, level)
    end = _where_at(kind, s0, s1, s2, p0, p1, end, s, level)
    return 0.5 * (begin + end)


@part
def _lowest(kind: int, s0: float, s1: float, s2: float, p0: Vector, p1: Vector, accuracy: float) -> Lowest:
    """A point of minimal signed distance, accurate relative to the segment's length, and a lower bound of distances.

    The signed distance is convex, hence above its tangents. The next bracket end is where the tangents of both ends intersect;
    or, outside, the secant root of the derivative of the squared distance. The convex combination of both tangents that is
    level along the segment is a lower bound of distances everywhere, also at edges of the shape."""
    d = minus(p1, p0)
    begin, end = 0.0, 1.0
    low, n_begin = signed_distance(kind, s0, s1, s2, p0)
    fall = dot(n_begin, d)
    if fall >= 0.0:
        return begin, low, n_begin, low, low + fall
    high, n_end = signed_distance(kind, s0, s1, s2, p1)
    rise = dot(n_end, d)
    if rise <= 0.0:
        return end, high, n_end, high - rise, high
    enough = accuracy * (rise - fall)
    bound = low
    for step in range(_MOST_STEPS):
        s = (high - low + fall * begin - rise * end) / (fall - rise)
        bound = low + fall * (s - begin)
        if min(low, high) - bound <= enough or not begin < s < end:
            break
        if step % 3 != 2 and low > 0.0 and high > 0.0:
            s = (begin * high * rise - end * low * fall) / (high * rise - low * fall)
            if not begin < s < end:
                s = 0.5 * (begin + end)
        here, n = signed_distance(kind, s0, s1, s2, blend(p0, p1, s))
        slope = dot(n, d)
        if slope == 0.0:
            return s, here, n, here, here
        if slope < 0.0:
            begin, low, fall, n_begin = s, here, slope, n
        else:
            end, high, rise, n_end = s, here, slope, n
    s, least = (begin, low) if low <= high else (end, high)
    return s, least, blend(n_begin, n_end, fall / (fall - rise)), bound, bound


@part
def _where_at(
    kind: int, s0: float, s1: float, s2: float, p0: Vector, p1: Vector, begin: float, lowest: float, level: float
) -> float:
    """Parameter between an end of the segment and its lowest point at which the signed distance falls to `level`. Newton's
    method on a convex function never overshoots."""
    d = minus(p1, p0)
    s = begin
    for _ in range(_MOST_STEPS):
        here, n = signed_distance(kind, s0, s1, s2, blend(p0, p1, s))
        slope = dot(n, d)
        if here <= level or slope == 0.0:
            break
        following = s - (here - level) / slope
        if (following - lowest) * (begin - lowest) <= 0.0:
            return lowest  # by round-off
        if abs(following - s) < 1e-12:
            break
        s = following
    return s


@part
def _bound(kind: int, s0: float, s1: float, s2: float, p0: Vector, p1: Vector) -> Lowest:
    """Like `_lowest`, to full accuracy."""
    if kind == SPHERE:
        s = closest_on_segment((0.0, 0.0, 0.0), p0, p1)
    elif kind == CAPSULE:
        s = closest_with_preference(p0, p1, (0.0, 0.0, -s1), (0.0, 0.0, s1), 0.0)[0]
    else:
        return _lowest(kind, s0, s1, s2, p0, p1, 1e-13)
    p = blend(p0, p1, s)
    distance, n = signed_distance(kind, s0, s1, s2, p)
    return s, distance, n, distance + dot(n, minus(p0, p)), distance + dot(n, minus(p1, p))


@part
def enters(
    kind: int, s0: float, s1: float, s2: float, p0: Vector, p1: Vector, p0e: Vector, p1e: Vector
) -> tuple[bool, float, float]:
    """First contact of a segment moving from (p0, p1) to (p0e, p1e) with a shape, from outside: (found, time, parameter).

    A segment that starts inside returns (False, 0), one without contact (False, 1). As long as a plane separates the shape from
    both ends of the segment there is no contact, so the time can advance to when an end reaches the plane."""
    v0, v1, d, de = minus(p0e, p0), minus(p1e, p1), minus(p1, p0), minus(p1e, p0e)
    fastest = math.sqrt(max(dot(v0, v0), dot(v1, v1)))
    tolerance = 1e-9 * (fastest + math.sqrt(max(dot(d, d), dot(de, de))))
    time, before = 0.0, math.inf
    for _ in range(_MOST_STEPS):
        q0, q1 = blend(p0, p0e, time), blend(p1, p1e, time)
        s, distance, n, height0, height1 = _bound(kind, s0, s1, s2, q0, q1)
        if time == 0.0 and distance < 0.0:
            return False, 0.0, s
        speed0, speed1 = -dot(n, v0), -dot(n, v1)
        rest = 1.0 - time
        if min(height0, height0 - rest * speed0) >= -tolerance and min(height1, height1 - rest * speed1) >= -tolerance:
            return False, 1.0, s
        if distance <= tolerance:
            break
        ahead = min(_time_above(height0, speed0), _time_above(height1, speed1), rest)
        if distance > 0.2 * before:
            # Slow convergence, because the segment rotates and an end reaches the plane far from the shape. Distant
            # parts take longer to reach the shape, so only the rest limits the time.
            far = _FAR * distance
            begin, end = (
                _where_at(kind, s0, s1, s2, q0, q1, 0.0, s, far),
                _where_at(kind, s0, s1, s2, q0, q1, 1.0, s, far),
            )
            more = min(
                _time_above(height0 + begin * (height1 - height0), speed0 + begin * (speed1 - speed0)),
                _time_above(height0 + end * (height1 - height0), speed0 + end * (speed1 - speed0)),
                far / fastest,
            )
            ahead = max(ahead, min(more, rest))
        time = min(time + max(ahead, distance / fastest), 1.0)  # the latter is safe despite round-off
        before = distance
    return True, time, lowest_on_segment(kind, s0, s1, s2, blend(p0, p0e, time), blend(p1, p1e, time))


@part
def _time_above(height: float, speed: float) -> float:
    """Time until a point at this height, approaching at this speed, reaches zero."""
    return height / speed if speed > 0.0 else math.inf
