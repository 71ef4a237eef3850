"""Passages of rods through each other, and the side on which a rod has to stay.

Whether edges pass through each other is judged on straight ways from the start of a step to the iterate. A rod that slides over a
bend of another one may seem to pass through the edge before the bend and back through the edge behind it: two such passages in
opposite directions cancel. What remains is a passage of two curves, not of two edges. After it they may have slid on to the edges
next to those that passed, which are then on the wrong side of each other, too, unless these were near each other when the step
began: two rods may wind around each other, and so have other sides an edge further. Where an iterate has passed through nothing,
every rod is on its side, whatever earlier iterates did.

This is for thin rods, which meet as lines. Edges that are not much longer than they are thick touch before they pass, also side by
side, where the direction of a passage says little: only edges that passed themselves keep their side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import bool_, int64

from ..compile.jit import kernel, part
from ..errors import Array
from ..maths.geometry.closest import blend, minus
from ..maths.geometry.crossing import segments_cross
from ..maths.geometry.frames import Vector, any_normal, cross, dot
from .arrays import Flags, Ints, Samples
from .rod_contacts import point, unit_or

_TOGETHER = 1e-6  # of the substep, and of the thickness
_PARALLEL = 1e-4  # sine of the angle below which two edges have no common normal
_JUST_BEFORE = 0.99  # of the time of a passage: the side a rod comes from is the one it is on then


class Passages(NamedTuple):
    """Passages on the way to the iterate, in the order of the pairs of edges."""

    pair: Ints  # (K,) number of the pair
    at: Array  # (K, 2) where on the two edges
    normal: Array  # (K, 3) towards the side that the first edge comes from
    counts: Flags  # (K,) not cancelled by one in the opposite direction


class Passed(NamedTuple):
    """Pairs of edges whose side is known in this step, sorted by key."""

    key: Ints  # (K,)
    normal: Array  # (K, 3) towards the side of the first edge
    at: Array  # (K, 2) where they passed; -1: next to such a pair


NOTHING_PASSED = Passed(np.zeros(0, int64), np.zeros((0, 3)), np.zeros((0, 2)))
_NEIGHBOURS = np.array([(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j], int64)


def make_passages(capacity: int) -> Passages:
    return Passages(
        np.zeros(capacity, int64), np.zeros((capacity, 2)), np.zeros((capacity, 3)), np.zeros(capacity, bool_)
    )


def remember(passed: Passed, edge: Ints, at: Array, normal: Array, samples: Samples) -> Passed:
    """The sides known so far, with the newest ones of pairs of edges (K, 2)."""
    key = np.concatenate([edge[:, 0] * len(samples.after) + edge[:, 1], passed.key])
    key, first = np.unique(key, return_index=True)
    return Passed(key, np.concatenate([normal, passed.normal])[first], np.concatenate([at, passed.at])[first])


def beside_passages(pairs: Ints, found: Passages, count: int, thin: Flags, samples: Samples) -> Passed:
    """The pairs of thin edges next to pairs of edges that have passed, with the sides of these."""
    n, rod = len(samples.after), samples.rod
    edge, normal = pairs[found.pair[:count]], found.normal[:count]
    rows = found.counts[:count] & np.all(thin[edge], axis=1)
    if not rows.any():
        return NOTHING_PASSED
    edge, normal = edge[rows], normal[rows]
    near = (edge[:, None, :] + _NEIGHBOURS).reshape(-1, 2)
    of = np.repeat(np.arange(len(edge)), len(_NEIGHBOURS))
    inside = np.clip(near, 0, n - 1)
    exists = np.all((inside == near) & (samples.after[inside] >= 0) & (rod[inside] == rod[edge[of]]), axis=1)
    exists &= near[:, 0] < near[:, 1]
    near, of = near[exists], of[exists]
    key, first = np.unique(near[:, 0] * n + near[:, 1], return_index=True)
    return Passed(key, normal[of[first]], np.full((len(key), 2), -1.0))


@kernel
def find_passages(pairs: Ints, count: int, samples: Samples, found: Passages) -> int:
    """Writes the passages of pairs of edges; returns their number. Those beyond the capacity are counted, not written."""
    start, now, after, radius = samples.start, samples.now, samples.after, samples.radius
    written, capacity = 0, len(found.pair)
    for k in range(count):
        i, j = pairs[k, 0], pairs[k, 1]
        a0, a1, b0, b1 = point(now, i), point(now, after[i]), point(now, j), point(now, after[j])
        o0, o1, p0, p1 = point(start, i), point(start, after[i]), point(start, j), point(start, after[j])
        crossed, time, s, t = segments_cross(o0, o1, p0, p1, a0, a1, b0, b1)
        if crossed and time < _TOGETHER:  # what begins in each other may leave on either side
            w = minus(blend(o0, o1, s), blend(p0, p1, t))
            crossed = dot(w, w) > (_TOGETHER * (radius[i] + radius[j])) ** 2
        if not crossed:
            continue
        if written < capacity:
            normal = _side_of_passage(o0, o1, p0, p1, a0, a1, b0, b1, time, s, t)
            found.pair[written], found.counts[written] = k, True
            found.at[written, 0], found.at[written, 1] = s, t
            found.normal[written, 0], found.normal[written, 1], found.normal[written, 2] = normal
        written += 1
    return written


@kernel
def cancel_returns(pairs: Ints, count: int, rod: Ints, thin: Flags, found: Passages) -> None:
    """Two passages of neighbouring thin edges in opposite directions don't count."""
    for a in range(count):
        i, j = pairs[found.pair[a], 0], pairs[found.pair[a], 1]
        if not (thin[i] and thin[j]):
            continue
        b = a + 1
        while found.counts[a] and b < count and pairs[found.pair[b], 0] <= i + 1:
            p, q = pairs[found.pair[b], 0], pairs[found.pair[b], 1]
            alike = rod[p] == rod[i] and rod[q] == rod[j] and abs(q - j) <= 1
            if alike and found.counts[b] and dot(point(found.normal, a), point(found.normal, b)) < 0.0:
                found.counts[a], found.counts[b] = False, False
            b += 1


@part
def _side_of_passage(
    o0: Vector, o1: Vector, p0: Vector, p1: Vector, a0: Vector, a1: Vector, b0: Vector, b1: Vector,
    time: float, s: float, t: float,
) -> Vector:  # fmt: skip
    """Normal of the passage of two edges at a time, on the side that the first comes from."""
    before = _JUST_BEFORE * time
    c0, c1, d0, d1 = blend(o0, a0, before), blend(o1, a1, before), blend(p0, b0, before), blend(p1, b1, before)
    u, v = minus(c1, c0), minus(d1, d0)
    normal = cross(u, v)
    away = minus(blend(c0, c1, s), blend(d0, d1, t))
    if dot(normal, normal) > _PARALLEL**2 * dot(u, u) * dot(v, v):
        normal = unit_or(normal, (0.0, 0.0, 1.0))
        return normal if dot(normal, minus(c0, d0)) >= 0.0 else (-normal[0], -normal[1], -normal[2])
    tangent = unit_or(u, (1.0, 0.0, 0.0))
    along = dot(away, tangent)
    across = minus(away, (along * tangent[0], along * tangent[1], along * tangent[2]))
    return unit_or(across, any_normal(tangent))
