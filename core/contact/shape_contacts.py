"""Contacts of rods with convex shapes: one for each edge, at its lowest point.

Where an edge lies flat, which point that is would change with the slightest tilt. So edges are taken to be a little hollow, by a
fraction of their radius: the lowest point then moves from one end to the other as the edge tilts, and with it the force.
"""

from __future__ import annotations

import math

from ..compile.jit import kernel, part
from ..errors import Array
from ..maths.geometry.closest import blend, minus
from ..maths.geometry.convex import enters, lowest_on_segment, signed_distance
from ..maths.geometry.frames import Vector, dot
from .arrays import DEEP, Contacts, Ints, Samples, Shapes

_OTHER_SIDE = 0.5  # cosine of the angle of normals beyond which a point is on another side than where it got in
HOLLOW = 0.02  # radii; the middle of an edge comes by a quarter of it too near
_MOST_STEPS = 100
_NEARBY = 1e-3  # of an edge
_JUST_BEFORE = 1e-5  # of a substep: the normal of a passage is that just before it, when it can still be told


@kernel
def shape_contacts(
    pairs: Ints, count: int, samples: Samples, shapes: Shapes, margin: Array, contacts: Contacts, written: int
) -> int:
    """Adds contacts of the first `count` pairs (edge, shape) whose gap is below the edge's margin, or that passed through.

    Returns the number of contacts so far. Those that find no room are counted, but not written.
    """
    start, now, after, last = samples.start, samples.now, samples.after, samples.last
    radius, edge_friction = samples.radius, samples.friction
    kinds, sizes, position, rotation = shapes.kind, shapes.size, shapes.position, shapes.rotation
    thickness, shape_friction, feature = shapes.thickness, shapes.friction, shapes.feature
    edge, at, normal, gaps, before = contacts.edge, contacts.at, contacts.normal, contacts.gap, contacts.before
    slide, arm, friction, key, crossings = (
        contacts.slide,
        contacts.arm,
        contacts.friction,
        contacts.key,
        contacts.crossed,
    )
    for i in range(count):
        e, k = pairs[i, 0], pairs[i, 1]
        f = after[e]
        kind, s0, s1, s2 = kinds[k], sizes[k, 0], sizes[k, 1], sizes[k, 2]
        skin = radius[e] + thickness[k]
        # In the shape's frame: from y to x.
        y0, y1 = _seen(position, rotation, 0, k, start, e), _seen(position, rotation, 0, k, start, f)
        x0, x1 = _seen(position, rotation, 1, k, now, e), _seen(position, rotation, 1, k, now, f)
        d0, _ = signed_distance(kind, s0, s1, s2, x0)
        d1, _ = signed_distance(kind, s0, s1, s2, x1)
        moved = max(_distance(x0, y0), _distance(x1, y1))
        reach = max(skin + margin[e], moved)
        if 0.5 * (d0 + d1 - _distance(x0, x1)) > reach:
            continue
        hollow = HOLLOW * radius[e]
        lowest, low, n_low = _lowest(kind, s0, s1, s2, x0, x1, hollow)
        if low > reach:
            continue
        found, time, entry = False, 1.0, 0.0
        if low <= moved:  # or else the edge can't have been inside
            found, time, entry = enters(kind, s0, s1, s2, y0, y1, x0, x1)
        watched = found or time == 0.0  # what begins partly inside may pass with another part

        for piece in range(3):  # the edge's beginning, its end: only if they pass through; the lowest point
            crossed = False
            if piece == 0:
                s, x = 0.0, x0
                number = feature[k] * len(after) + e
            elif piece == 1:
                s, x = 1.0, x1
                number = feature[k] * len(after) + f
            else:
                s, x = lowest, blend(x0, x1, lowest)
                number = (feature[k] + 1) * len(after) + e
            if piece < 2 and (not watched or (piece == 1 and not last[e])):
                continue
            n, q = n_low, x
            if piece == 2 and found and 0.0 < entry < 1.0:
                crossed, q, n = _passage(kind, s0, s1, s2, y0, y1, x0, x1, time, entry)
                if crossed:
                    s, x = entry, blend(x0, x1, entry)
            if watched and not crossed:
                y = blend(y0, y1, s)
                entered, moment, _ = enters(kind, s0, s1, s2, y, y, x, x)
                if entered:
                    crossed, q, n = _passage(kind, s0, s1, s2, y, y, x, x, moment, 0.5)
            if crossed:
                gap = dot(n, minus(x, q)) - skin
            elif piece == 2:
                n = n_low
                gap = low - skin
                q = (x[0] - low * n[0], x[1] - low * n[1], x[2] - low * n[2])
            else:
                continue
            if gap >= margin[e] and not crossed:
                continue
            row = written
            written += 1
            if row >= len(gaps):
                continue
            t = thickness[k]
            under = (q[0] + t * n[0], q[1] + t * n[1], q[2] + t * n[2])
            gaps[row] = gap
            rubbing, began, n_began = _lowest(kind, s0, s1, s2, y0, y1, hollow)
            before[row] = began - skin
            began_0, _ = signed_distance(kind, s0, s1, s2, y0)
            began_1, _ = signed_distance(kind, s0, s1, s2, y1)
            contacts.deep[row] = min(began_0, began_1) - skin < -DEEP * radius[e]
            upright, contacts.rolling[row] = n_began, 0.0
            if crossed or before[row] >= margin[e]:
                rubbing, upright = s, n
            if not crossed and 0.0 < s < 1.0:
                contacts.rolling[row] = _rolling(kind, s0, s1, s2, x0, x1, s, hollow)
            for c in range(3):
                normal[row, c] = rotation[1, k, c, 0] * n[0] + rotation[1, k, c, 1] * n[1] + rotation[1, k, c, 2] * n[2]
                slide[row, c] = (
                    position[1, k, c]
                    - position[0, k, c]
                    + (rotation[1, k, c, 0] - rotation[0, k, c, 0]) * under[0]
                    + (rotation[1, k, c, 1] - rotation[0, k, c, 1]) * under[1]
                    + (rotation[1, k, c, 2] - rotation[0, k, c, 2]) * under[2]
                )
                contacts.upright[row, c] = (
                    rotation[1, k, c, 0] * upright[0]
                    + rotation[1, k, c, 1] * upright[1]
                    + rotation[1, k, c, 2] * upright[2]
                )
            edge[row, 0], edge[row, 1] = e, -1
            at[row, 0], at[row, 1] = s, 0.0
            contacts.rubbing_at[row, 0], contacts.rubbing_at[row, 1] = rubbing, 0.0
            arm[row, 0], arm[row, 1] = radius[e], 0.0
            friction[row] = math.sqrt(edge_friction[e] * shape_friction[k])
            key[row] = -1 - number
            crossings[row] = crossed
    return written


@part
def _lowest(
    kind: int, s0: float, s1: float, s2: float, x0: Vector, x1: Vector, hollow: float
) -> tuple[float, float, Vector]:
    """Where the edge is lowest, its distance there and the normal: the least of distance - hollow s (1 - s), which is convex."""
    d = minus(x1, x0)
    low, high = 0.0, 1.0
    distance, n = signed_distance(kind, s0, s1, s2, x0)
    slope_low = dot(n, d) - hollow
    if slope_low >= 0.0:
        return 0.0, distance, n
    distance, n = signed_distance(kind, s0, s1, s2, x1)
    slope_high = dot(n, d) + hollow
    if slope_high <= 0.0:
        return 1.0, distance, n
    s = 0.5
    for step in range(_MOST_STEPS):
        # Where a line through both slopes is zero; every other time the middle, should one end stay where it is.
        s = 0.5 * (low + high) if step % 2 == 1 else low - slope_low * (high - low) / (slope_high - slope_low)
        distance, n = signed_distance(kind, s0, s1, s2, blend(x0, x1, s))
        slope = dot(n, d) + hollow * (2.0 * s - 1.0)
        if slope > 0.0:
            high, slope_high = s, slope
        else:
            low, slope_low = s, slope
        if abs(slope) <= 1e-9 * hollow or high - low <= 1e-14:
            break
    return s, distance - hollow * s * (1.0 - s), n


@part
def _rolling(kind: int, s0: float, s1: float, s2: float, x0: Vector, x1: Vector, s: float, hollow: float) -> float:
    """How the slope of the edge's distance changes along it, where it is lowest."""
    d = minus(x1, x0)
    _, n0 = signed_distance(kind, s0, s1, s2, blend(x0, x1, s - _NEARBY))
    _, n1 = signed_distance(kind, s0, s1, s2, blend(x0, x1, s + _NEARBY))
    return max(dot(minus(n1, n0), d) / (2.0 * _NEARBY), 0.0) + 2.0 * hollow


@part
def _passage(
    kind: int,
    s0: float,
    s1: float,
    s2: float,
    y0: Vector,
    y1: Vector,
    x0: Vector,
    x1: Vector,
    time: float,
    s: float,
) -> tuple[bool, Vector, Vector]:
    """Whether a point of an edge that gets inside ends on another side; where it gets inside, and the normal there."""
    y, x = blend(y0, y1, s), blend(x0, x1, s)
    p = blend(y, x, time)
    d, _ = signed_distance(kind, s0, s1, s2, p)
    earlier = max(time - _JUST_BEFORE, 0.0)
    z0, z1 = blend(y0, x0, earlier), blend(y1, x1, earlier)
    _, n = signed_distance(kind, s0, s1, s2, blend(z0, z1, lowest_on_segment(kind, s0, s1, s2, z0, z1)))
    _, n_end = signed_distance(kind, s0, s1, s2, x)
    return dot(n, n_end) < _OTHER_SIDE, (p[0] - d * n[0], p[1] - d * n[1], p[2] - d * n[2]), n


@part
def _seen(position: Array, rotation: Array, when: int, shape: int, points: Array, i: int) -> Vector:
    """A point in the shape's frame."""
    x = points[i, 0] - position[when, shape, 0]
    y = points[i, 1] - position[when, shape, 1]
    z = points[i, 2] - position[when, shape, 2]
    return (
        rotation[when, shape, 0, 0] * x + rotation[when, shape, 1, 0] * y + rotation[when, shape, 2, 0] * z,
        rotation[when, shape, 0, 1] * x + rotation[when, shape, 1, 1] * y + rotation[when, shape, 2, 1] * z,
        rotation[when, shape, 0, 2] * x + rotation[when, shape, 1, 2] * y + rotation[when, shape, 2, 2] * z,
    )


@part
def _distance(a: Vector, b: Vector) -> float:
    d = minus(a, b)
    return math.sqrt(dot(d, d))
