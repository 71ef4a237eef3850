"""Joins curves that cross or touch into one graph, by splitting and merging them where they come close."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import Array, TendrilError, array

MOST_CURVES = 1_000_000
SNAP = 0.2  # relative to a segment: a joint this close to its end is placed at the end


class Joined(NamedTuple):
    """A graph made of curves, whose points and segments are numbered consecutively."""

    points: Array  # (n, 3)
    edges: NDArray[np.int64]  # (m, 2)
    point_of: NDArray[np.int64]  # point of the graph for each point of the curves
    edge_of: NDArray[np.int64]  # first graph segment of each curve segment; -1: it collapsed


def join_curves(curves: Iterable[ArrayLike], closed: bool | Sequence[bool], distance: float) -> Joined:
    """Joins curves where two of them, or a curve and itself, come closer than `distance` (m)."""
    try:
        given = list(islice(curves, MOST_CURVES))
    except Exception:  # iterating runs the caller's code
        raise TendrilError("curves", curves, "give a list of curves, each an array of shape (n, 3)") from None
    if not given:
        raise TendrilError("curves", given, "give at least one curve")
    loops = [closed] * len(given) if isinstance(closed, (bool, np.bool_)) else list(closed)
    if len(loops) != len(given):
        raise TendrilError("closed", closed, f"give True or False, or {len(given)} of them, one per curve")
    points, edges, owner = [], [], []
    count = 0
    for k, (curve, loop) in enumerate(zip(given, loops, strict=True)):
        x = array(f"curve {k} of curves", curve, (None, 3), "give an array of shape (n, 3)")
        if len(x) < (3 if loop else 2):
            raise TendrilError(f"curve {k} of curves", x, "give at least two points, three if it is closed")
        first = count + np.arange(len(x) if loop else len(x) - 1)
        edges.append(np.stack([first, np.where(first + 1 < count + len(x), first + 1, count)], axis=1))
        owner.append(np.full(len(first), k))
        points.append(x)
        count += len(x)
    x, ends, curve_of = np.concatenate(points), np.concatenate(edges), np.concatenate(owner)
    i, j, s, t = _near(x, ends, curve_of, distance)
    return _tie(x, ends, i, j, s, t)


def _near(
    x: Array, ends: NDArray[np.int64], curve: NDArray[np.int64], distance: float
) -> tuple[Any, Any, Array, Array]:
    """Pairs of segments closer than `distance`, with the parameters of their closest points; within one curve only non-adjacent
    ones."""
    from scipy.spatial import cKDTree  # imported here, because most scenes do not need it

    a, b = x[ends[:, 0]], x[ends[:, 1]]
    half = 0.5 * np.linalg.norm(b - a, axis=1)
    tree = cKDTree(0.5 * (a + b))
    pairs = tree.query_pairs(2.0 * float(half.max()) + distance, output_type="ndarray")
    i, j = pairs[:, 0], pairs[:, 1]
    apart = np.ones(len(i), dtype=bool)
    for p in range(2):
        for q in range(2):
            apart &= ends[i, p] != ends[j, q]
    i, j = i[apart], j[apart]
    s, t = _closest(a[i], b[i], a[j], b[j])
    gap = np.linalg.norm(a[i] + s[:, None] * (b - a)[i] - a[j] - t[:, None] * (b - a)[j], axis=1)
    near = gap <= distance
    # A bent curve is always close to itself; it must return from farther away.
    own = curve[i] == curve[j]
    near &= ~own | (gap < 0.5 * np.minimum(half[i], half[j]))
    order = np.lexsort((j[near], i[near]))
    return i[near][order], j[near][order], s[near][order], t[near][order]


def _closest(a0: Array, a1: Array, b0: Array, b1: Array) -> tuple[Array, Array]:
    """Parameters (0 to 1) of the closest points of pairs of segments."""
    u, v, e = a1 - a0, b1 - b0, a0 - b0
    uu, vv, uv = (u * u).sum(1), (v * v).sum(1), (u * v).sum(1)
    ue, ve = (u * e).sum(1), (v * e).sum(1)
    wide = uu * vv - uv * uv
    s = np.where(wide > 1e-12 * uu * vv, (uv * ve - vv * ue) / np.where(wide > 0.0, wide, 1.0), 0.5)
    s = np.clip(s, 0.0, 1.0)
    t = np.clip((uv * s + ve) / vv, 0.0, 1.0)
    s = np.clip((uv * t - ue) / uu, 0.0, 1.0)
    return s, t


def _tie(x: Array, ends: NDArray[np.int64], i: Any, j: Any, s: Array, t: Array) -> Joined:
    points = list(x)
    group = list(range(len(points)))  # union-find of merged points

    def find(k: int) -> int:
        while group[k] != k:
            group[k] = group[group[k]]
            k = group[k]
        return k

    cuts: dict[int, list[tuple[float, int]]] = {}

    def point_on(segment: int, at: float) -> int:
        if at <= SNAP:
            return int(ends[segment, 0])
        if at >= 1.0 - SNAP:
            return int(ends[segment, 1])
        for there, k in cuts.get(segment, []):
            if abs(there - at) <= SNAP:
                return k
        points.append((1.0 - at) * x[ends[segment, 0]] + at * x[ends[segment, 1]])
        group.append(len(group))
        cuts.setdefault(segment, []).append((at, len(points) - 1))
        return len(points) - 1

    for one, other, at_one, at_other in zip(i.tolist(), j.tolist(), s.tolist(), t.tolist(), strict=True):
        a, b = find(point_on(one, at_one)), find(point_on(other, at_other))
        group[max(a, b)] = min(a, b)
    roots = np.array([find(k) for k in range(len(points))])
    kept, number = np.unique(roots, return_inverse=True)
    sums, counts = np.zeros((len(kept), 3)), np.bincount(number)
    np.add.at(sums, number, np.array(points))
    segments: dict[tuple[int, int], int] = {}
    first_of = np.full(len(ends), -1)
    for segment, (first, last) in enumerate(ends.tolist()):
        chain = [first, *(k for _, k in sorted(cuts.get(segment, []))), last]
        for p, q in pairwise(chain):
            a, b = int(number[p]), int(number[q])
            if a == b:
                continue
            if (b, a) not in segments:
                segments.setdefault((a, b), len(segments))
            if first_of[segment] < 0:
                first_of[segment] = segments.get((a, b), segments.get((b, a), -1))
    return Joined(sums / counts[:, None], np.array(list(segments), np.int64), number[: len(x)], first_of)
