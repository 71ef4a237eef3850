"""Contacts of rods with rods, and of a rod with itself."""

from __future__ import annotations

import math

from ..compile.jit import kernel, part
from ..errors import Array
from ..maths.geometry.closest import blend, closest_on_segments, minus
from ..maths.geometry.crossing import segments_cross
from ..maths.geometry.frames import Vector, any_normal, cross, dot
from .arrays import DEEP, Contacts, Ints, Samples

_TOGETHER = 1e-6  # of the substep, and of the thickness
_ALONG = 0.99  # cosine of the angle from where on something is taken to lie along a rod


@part
def point(a: Array, i: int) -> Vector:
    return (a[i, 0], a[i, 1], a[i, 2])


@part
def unit_or(a: Vector, otherwise: Vector) -> Vector:
    """a at length one; the other where a is nothing."""
    length = math.sqrt(dot(a, a))
    if not length > 1e-30:
        return otherwise
    f = 1.0 / length
    return (a[0] * f, a[1] * f, a[2] * f)


@part
def is_tip(samples: Samples, e: int, s: float) -> bool:
    """Whether a point of an edge is an end of its rod."""
    return bool(
        (s == 1.0 and samples.last[e]) or (s == 0.0 and samples.along[e] == 0.0 and samples.length[e] == math.inf)
    )


@kernel
def rod_contacts(
    pairs: Ints, count: int, samples: Samples, base: Array, margin: Array, contacts: Contacts, written: int
) -> int:
    """Adds the contacts of pairs of edges to the rows from `written` on; returns the new number of rows.

    Whether they pass through each other is judged on their way from `base`, (N, 3).

    Rows beyond the capacity are counted, not written. Two edges of one rod whose nearest points are less than a half circle
    of the rod's own radius apart along it can't touch: a rod does not bend more than its thickness lets it.
    """
    start, now, after, radius = samples.start, samples.now, samples.after, samples.radius
    along, length, rod, friction = samples.along, samples.length, samples.rod, samples.friction
    capacity, n = len(contacts.gap), len(after)
    for k in range(count):
        i, j = pairs[k, 0], pairs[k, 1]
        a0, a1, b0, b1 = point(now, i), point(now, after[i]), point(now, j), point(now, after[j])
        reach = radius[i] + radius[j]
        reached = 1.0
        o0, o1, p0, p1 = point(base, i), point(base, after[i]), point(base, j), point(base, after[j])
        crossed, time, s, t = segments_cross(o0, o1, p0, p1, a0, a1, b0, b1)
        if crossed and time < _TOGETHER:  # what begins in each other may leave on either side
            w = minus(blend(o0, o1, s), blend(p0, p1, t))
            crossed = dot(w, w) > (_TOGETHER * reach) ** 2
        if not crossed:
            s, t = closest_on_segments(a0, a1, b0, b1)
            w = minus(blend(a0, a1, s), blend(b0, b1, t))
            if dot(w, w) > (reach + margin[i] + margin[j]) ** 2:
                continue
        if rod[i] == rod[j]:
            end_i = along[after[i]] if after[i] > i else length[i]
            end_j = along[after[j]] if after[j] > j else length[j]
            apart = abs(along[i] + s * (end_i - along[i]) - along[j] - t * (end_j - along[j]))
            if min(apart, length[i] - apart) < 0.5 * math.pi * reach:
                continue
        # Where they were: they begin on that side of each other.
        if crossed:
            w0 = minus(blend(o0, o1, s), blend(p0, p1, t))
            side = unit_or(w0, any_normal(unit_or(minus(a1, a0), (1.0, 0.0, 0.0))))
            edge_a = minus(blend(o1, a1, time), blend(o0, a0, time))
            edge_b = minus(blend(p1, b1, time), blend(p0, b0, time))
            normal = unit_or(cross(edge_a, edge_b), side)
            if dot(normal, side) < 0.0:
                normal = (-normal[0], -normal[1], -normal[2])
            if dot(normal, side) < 0.1:
                normal = side
            w = minus(blend(a0, a1, s), blend(b0, b1, t))
            # Of the way there, what leaves them half their thickness apart, or half of what they had.
            way, had = dot(normal, minus(w0, w)), dot(normal, w0)
            reached = max(time - min(0.5 * reach, 0.5 * had) / way, 0.0) if way > 0.0 else 0.0
        else:
            along_a, along_b = unit_or(minus(a1, a0), (1.0, 0.0, 0.0)), unit_or(minus(b1, b0), (1.0, 0.0, 0.0))
            normal = unit_or(w, unit_or(cross(along_a, along_b), any_normal(along_a)))
            # Of rods that lie in each other, edges that are not beside but behind each other don't push.
            behind = abs(dot(along_a, along_b)) > _ALONG and abs(dot(normal, along_a)) > _ALONG
            if behind and not (is_tip(samples, i, s) or is_tip(samples, j, t)):
                continue
        o0, o1, p0, p1 = point(start, i), point(start, after[i]), point(start, j), point(start, after[j])
        s0, t0 = closest_on_segments(o0, o1, p0, p1)
        w0 = minus(blend(o0, o1, s0), blend(p0, p1, t0))
        before = math.sqrt(dot(w0, w0)) - reach
        near = before < margin[i] + margin[j] and not crossed
        upright = unit_or(w0, normal) if near else normal
        if written < capacity:
            contacts.edge[written, 0], contacts.edge[written, 1] = i, j
            contacts.at[written, 0], contacts.at[written, 1] = s, t
            contacts.normal[written, 0], contacts.normal[written, 1], contacts.normal[written, 2] = normal
            contacts.rubbing_at[written, 0], contacts.rubbing_at[written, 1] = (s0, t0) if near else (s, t)
            contacts.upright[written, 0], contacts.upright[written, 1], contacts.upright[written, 2] = upright
            contacts.rolling[written] = 0.0
            contacts.gap[written] = dot(normal, w) - reach
            contacts.before[written] = before
            contacts.deep[written] = before < -DEEP * radius[i]
            contacts.arm[written, 0], contacts.arm[written, 1] = radius[i], radius[j]
            for c in range(3):
                contacts.slide[written, c] = 0.0
            contacts.friction[written] = math.sqrt(friction[i] * friction[j])
            contacts.key[written] = i * n + j
            contacts.crossed[written] = crossed
            contacts.reached[written] = reached
        written += 1
    return written
