"""Pairs of boxes that overlap, from trees of boxes; pairs of edges of one rod that are left out; putting pairs in order."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy import int32, int64, uint64

from ..compile.jit import kernel, part
from ..errors import Array
from .arrays import Ints, Samples
from .broad_phase_tree import LANE_BITS, LANES, MOST_LEVELS, Cells, Ints32, Tree

ALL = (1 << LANES) - 1
ROWS = 4  # boxes of a leaf that are compared with another leaf in one go
ALL_ROWS = (1 << ROWS) - 1
BOTH = 32  # bits of each number of a pair that is kept in one number
SECOND = (1 << BOTH) - 1

# A number whose 64 runs of six bits are all different: multiplied by a power of two, its highest bits tell which one.
_RUNS = 0x03F79D71B4CB0A89
_POWER = np.zeros(64, int64)
for _power in range(64):
    _POWER[((_RUNS << _power) & 0xFFFFFFFFFFFFFFFF) >> 58] = _power


@part
def _lowest(bits: uint64) -> int:
    """The number of the lowest bit that is set."""
    alone = uint64(bits & (~bits + uint64(1)))
    return int(_POWER[uint64(alone * uint64(_RUNS)) >> uint64(58)])


@part
def _overlaps(lanes: Ints32, group: int, a: Cells) -> int:
    """Which of a group's boxes overlap box a, as bits. The sign of any of the six differences is that of their union."""
    lx, ly, lz, hx, hy, hz = a
    apart = int32(0)
    for k in range(LANES):
        gap = (
            int32(hx - lanes[group, 0, k])
            | int32(hy - lanes[group, 1, k])
            | int32(hz - lanes[group, 2, k])
            | int32(lanes[group, 3, k] - lx)
            | int32(lanes[group, 4, k] - ly)
            | int32(lanes[group, 5, k] - lz)
        )
        apart |= int32(gap >> int32(31)) & int32(int32(1) << int32(k))
    return ALL & ~int(apart)


@part
def _lane(lanes: Ints32, group: int, lane: int) -> Cells:
    return (
        lanes[group, 0, lane],
        lanes[group, 1, lane],
        lanes[group, 2, lane],
        lanes[group, 3, lane],
        lanes[group, 4, lane],
        lanes[group, 5, lane],
    )


@part
def _overlap(box: Array, p: int, other: Array, q: int) -> bool:
    return bool(
        (box[p, 0] <= other[q, 3])
        & (box[p, 1] <= other[q, 4])
        & (box[p, 2] <= other[q, 5])
        & (box[p, 3] >= other[q, 0])
        & (box[p, 4] >= other[q, 1])
        & (box[p, 5] >= other[q, 2])
    )


@part
def never_touch(
    along: float, length: float, other_along: float, other_length: float, around: float, arms: float
) -> bool:
    """Whether two edges of one rod are so near along it that their surfaces can only meet at a curvature above 1 / radius.

    Each edge is a stretch of arc length, `around` is the length of a closed rod (infinite: open), `arms` the sum of both radii.
    A rod that is bent to a half circle of its own radius touches itself, with pi / 2 * arms of arc length in between. All points of
    both edges must be nearer than that, the shorter way round.
    """
    if other_along < along:
        along, length, other_along, other_length = other_along, other_length, along, length
    farthest = min(other_along + other_length - along, around - (other_along - along - length), 0.5 * around)
    return farthest < 0.5 * math.pi * arms


@part
def _long(i: int, after: Ints, along: Array, length: Array) -> float:
    """Of an edge, in natural arc length."""
    long = along[after[i]] - along[i]
    return float(long + length[i] if long < 0.0 else long)  # a closed rod starts anew


@part
def _left_out(i: int, j: int, after: Ints, along: Array, length: Array, radius: Array) -> bool:
    """Edges i and j, of one rod, have a point in common or are too near along it to touch."""
    if after[i] == j or after[j] == i or after[i] == after[j]:
        return True
    long, other_long = _long(i, after, along, length), _long(j, after, along, length)
    return never_touch(along[i], long, along[j], other_long, length[i], radius[i] + radius[j])


class Kin(NamedTuple):
    """Where edges are on their rods, in the order of their tree: tells most pairs that are not left out without a search."""

    rod: Ints32  # (C,)
    along: Array  # (C,)
    length: Array  # (C,)
    reach: Array  # (1,) only edges that start no more than this apart along a rod are left out, if at all


def make_kin(capacity: int) -> Kin:
    return Kin(np.zeros(capacity, int32), np.zeros(capacity), np.zeros(capacity), np.zeros(1))


@kernel
def look_up_kin(tree: Tree, samples: Samples, kin: Kin) -> None:
    number, kin_rod, kin_along, kin_length = tree.number, kin.rod, kin.along, kin.length
    rod, after, along, length, radius = samples.rod, samples.after, samples.along, samples.length, samples.radius
    thickest = longest = 0.0
    for k in range(tree.boxes[0]):
        i = number[k]
        kin_rod[k] = rod[i]
        kin_along[k] = along[i]
        kin_length[k] = length[i]
        thickest = max(thickest, radius[i])
        longest = max(longest, _long(i, after, along, length))
    kin.reach[0] = max(math.pi * thickest, longest)


@kernel
def find_pairs(
    first: int,
    last: int,
    query: Tree,
    target: Tree,
    within: bool,
    samples: Samples,
    kin: Kin,
    node: Ints,
    found: Ints,
) -> tuple[int, int]:
    """Pairs of a box of `target` and a box of leaves [first, last) of `query`, as numbers (i << 32) + j.

    within: both trees are the same; each pair once, i < j, without edges of one rod that never touch.
    Returns the number of pairs, of which `found` got as many as it has room for, and how many groups were looked at.
    """
    lanes, box, number, level = query.lanes, query.box, query.number, query.level
    other_lanes, other_box, other_number, other_level = target.lanes, target.box, target.number, target.level
    after, along, length, radius = samples.after, samples.along, samples.length, samples.radius
    kin_rod, kin_along, kin_length, reach = kin.rod, kin.along, kin.length, kin.reach[0]
    top = other_level[MOST_LEVELS] - 1
    room = len(found)
    pairs = 0
    looked = 0
    if target.boxes[0] == 0 or query.boxes[0] == 0:
        return 0, 0
    for leaf in range(first, last):
        whole = _lane(lanes, level[1] + (leaf >> LANE_BITS), leaf & (LANES - 1))
        # Depth first: node[h, 0] is where we are at height h, node[h, 1] which of its lanes are still to be visited.
        height = top
        node[top, 0] = 0
        node[top, 1] = _overlaps(other_lanes, other_level[top], whole)
        looked += 1
        if within:
            node[top, 1] &= ALL << (leaf >> LANE_BITS * (top - 1))
        while height <= top:
            left = node[height, 1]
            if left == 0:
                height += 1
                continue
            child = node[height, 0] * LANES + _lowest(uint64(left))
            node[height, 1] = left & (left - 1)
            if height > 1:
                height -= 1
                looked += 1
                mask = _overlaps(other_lanes, other_level[height] + child, whole)
                if within:  # only towards later leaves
                    earlier = (leaf >> LANE_BITS * (height - 1)) - child * LANES
                    mask &= ALL << max(earlier, 0)
                node[height, 0] = child
                node[height, 1] = mask
                continue
            looked += 1
            rows = _overlaps(
                lanes, leaf, _lane(other_lanes, other_level[1] + (child >> LANE_BITS), child & (LANES - 1))
            )
            for quarter in range(0, LANES, ROWS):
                if (rows >> quarter) & ALL_ROWS == 0:
                    continue
                # Four rows at once, wanted or not: a branch that is guessed wrong costs more than a row.
                hits = uint64(0)
                for row in range(ROWS):
                    mask = _overlaps(other_lanes, child, _lane(lanes, leaf, quarter + row))
                    if within and child == leaf:
                        mask &= ALL << (quarter + row + 1)
                    hits |= uint64(mask) << uint64(LANES * row)
                looked += ROWS
                while hits:
                    bit = _lowest(hits)
                    hits &= hits - uint64(1)
                    p, q = leaf * LANES + quarter + (bit >> LANE_BITS), child * LANES + (bit & (LANES - 1))
                    if not _overlap(box, p, other_box, q):
                        continue
                    i, j = number[p], other_number[q]
                    if within:
                        apart = abs(kin_along[q] - kin_along[p])
                        if (
                            kin_rod[p] == kin_rod[q]
                            and min(apart, kin_length[p] - apart) <= reach
                            and _left_out(i, j, after, along, length, radius)
                        ):
                            continue
                        pair = (min(i, j) << BOTH) | max(i, j)
                    else:
                        pair = (j << BOTH) | i
                    if pairs < room:
                        found[pairs] = pair
                    pairs += 1
    return pairs, looked


@kernel
def tally(found: Ints, count: int, row: Ints, column: Ints) -> None:
    """Adds how many pairs begin with each number to `row`, how many end with it to `column`."""
    for k in range(count):
        row[found[k] >> BOTH] += 1
        column[found[k] & SECOND] += 1


@kernel
def start(row: Ints) -> None:
    """From how many there are to where the first of them goes."""
    total = 0
    for i in range(len(row)):
        here = row[i]
        row[i] = total
        total += here


@kernel
def put_by_column(found: Ints, count: int, column: Ints, firsts: Ints32) -> None:
    """The first numbers of all pairs, by the second; column[j] moves on from where those of j start to where they end."""
    for k in range(count):
        j = found[k] & SECOND
        firsts[column[j]] = int32(found[k] >> BOTH)
        column[j] += 1


@kernel
def put_by_row(firsts: Ints32, column: Ints, row: Ints, seconds: Ints32) -> None:
    """The second numbers of all pairs, by the first, and increasing for each. row[i] moves on like column[j]."""
    k = 0
    for j in range(len(column)):
        while k < column[j]:
            i = firsts[k]
            seconds[row[i]] = j
            row[i] += 1
            k += 1


@kernel
def write_pairs(first: int, last: int, row: Ints, seconds: Ints32, pairs: Ints) -> None:
    k = row[first - 1] if first else 0
    for i in range(first, last):
        while k < row[i]:
            pairs[k, 0] = i
            pairs[k, 1] = seconds[k]
            k += 1
