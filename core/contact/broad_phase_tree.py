"""A tree of boxes: sixteen boxes to a leaf, sixteen nodes to a node, in the order of a curve that fills space.

Coordinates are rounded down to a grid of 2^30 cells along each axis, anything beyond it to its border. Rounding keeps order, so
boxes that overlap still do on the grid; whether boxes that overlap on the grid really do is up to whoever asks. With whole numbers
of 32 bits, sixteen overlaps are found by a handful of vector instructions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import int32, int64, uint64
from numpy.typing import NDArray

from ..compile.jit import kernel, part
from ..errors import Array
from .arrays import Flags, Ints

LANES = 16  # boxes in a leaf, nodes in a node
LANE_BITS = 4
MOST_LEVELS = 9  # enough for 2^31 boxes

CELLS = 30  # bits of a coordinate on the grid
HALF = 1 << (CELLS - 1)
FAR = 1 << CELLS  # the low side of a box that isn't there
KEY_BITS = 20  # of a coordinate in a key
DIGIT_BITS = 11  # of a key, sorted in one go
DIGITS = 1 << DIGIT_BITS
PASSES = 6

SAMPLE = 63  # boxes that stand for all where the grid is chosen
SMALL = 6  # so many of them are smaller than what counts as small
FINEST = 2.0**-8  # cells need not be smaller than this fraction of a small box
KEY_CELL = 0.25  # nor those of keys than this one
SIZE_STEP = 16.0  # boxes so many times larger are kept apart, and those so many times larger again, ...
MOST_STEPS = 7
HUGE = 1e100

ORIGIN, SCALE, SMALL_SIZE, KEY_SHIFT, FRAME = 0, 3, 4, 5, 6

Ints32 = NDArray[int32]
Keys = NDArray[uint64]


class Tree(NamedTuple):
    frame: Array  # (6,) origin and scale of the grid, size of a small box, bits of a coordinate that are too fine for a key
    boxes: Ints  # (1,) boxes in the tree
    level: Ints  # (MOST_LEVELS + 1,) first group of each level, leaves being level 0; level[-1] is the number of levels
    key: Keys  # (2, C)
    order: Ints32  # (2, C)
    tally: Ints  # (PASSES, DIGITS)
    number: Ints32  # (C,) of each box in the tree's order, as it was given
    box: Array  # (C, 6) low and high, in the tree's order
    lanes: Ints32  # (G, 6, LANES) low and high on the grid of the boxes or nodes of each group


def make_tree(capacity: int) -> Tree:
    groups, level = 0, capacity
    while level > 1 or groups < 2:
        level = -(-level // LANES)
        groups += max(level, 1)
    return Tree(
        frame=np.zeros(FRAME),
        boxes=np.zeros(1, int64),
        level=np.zeros(MOST_LEVELS + 1, int64),
        key=np.zeros((2, capacity), uint64),
        order=np.zeros((2, capacity), int32),
        tally=np.zeros((PASSES, DIGITS), int64),
        number=np.zeros(capacity, int32),
        box=np.zeros((capacity, 6)),
        lanes=np.zeros((groups, 6, LANES), int32),
    )


@part
def _cell(x: float, origin: float, scale: float) -> int32:
    """Never decreases with x. Written so that no compiler can fuse operations in one place and not in another."""
    return int32(int32(np.floor(min(max((x - origin) * scale, -float(HALF)), float(HALF - 1)))) + int32(HALF))


@part
def _insert(values: Array, count: int, value: float) -> None:
    """Puts value among the first `count`, which are sorted."""
    k = count
    while k > 0 and values[k - 1] > value:
        values[k] = values[k - 1]
        k -= 1
    values[k] = value


@part
def _size(low: Array, high: Array, i: int) -> float:
    return float(max(high[i, 0] - low[i, 0], high[i, 1] - low[i, 1], high[i, 2] - low[i, 2]))


@part
def _near(x: float) -> float:
    return min(max(x, -HUGE), HUGE)


@part
def _is_box(low: Array, high: Array, i: int) -> bool:
    """False also for NaN."""
    return bool(low[i, 0] <= high[i, 0] and low[i, 1] <= high[i, 1] and low[i, 2] <= high[i, 2])


@kernel
def gather(low: Array, high: Array, valid: Flags, tree: Tree, scratch: Array) -> None:
    """Lists the valid boxes and chooses a grid for them. `scratch` has room for (4, SAMPLE)."""
    order, frame = tree.order, tree.frame
    count = 0
    lowest = (HUGE, HUGE, HUGE)
    highest = (-HUGE, -HUGE, -HUGE)
    for i in range(len(low)):
        if valid[i] and _is_box(low, high, i):
            order[0, count] = i
            count += 1
            lowest = (min(lowest[0], low[i, 0]), min(lowest[1], low[i, 1]), min(lowest[2], low[i, 2]))
            highest = (max(highest[0], high[i, 0]), max(highest[1], high[i, 1]), max(highest[2], high[i, 2]))
    tree.boxes[0] = count
    extent = max(
        _near(highest[0]) - _near(lowest[0]), _near(highest[1]) - _near(lowest[1]), _near(highest[2]) - _near(lowest[2])
    )
    # The middle of the crowd and the size of its smaller boxes: one that is huge or far away must not coarsen the grid for all.
    samples = min(count, SAMPLE)
    for k in range(samples):
        i = order[0, k * count // samples]
        _insert(scratch[3], k, min(_size(low, high, i), HUGE))
        for axis in range(3):
            _insert(scratch[axis], k, 0.5 * (_near(low[i, axis]) + _near(high[i, axis])))
    small = scratch[3, samples * SMALL // SAMPLE] if samples else 0.0
    cell = max(extent, 0.0) / HALF
    if small > 0.0:
        cell = min(cell, small * FINEST)
    for axis in range(3):
        frame[ORIGIN + axis] = scratch[axis, samples // 2] if samples else 0.0
    frame[SCALE] = 1.0 / max(cell, 1e-200)
    frame[SMALL_SIZE] = small
    shift = CELLS - KEY_BITS
    while shift < CELLS - 1 and small * frame[SCALE] * KEY_CELL >= 2.0 ** (shift + 1):
        shift += 1
    frame[KEY_SHIFT] = shift


@kernel
def gather_near(low: Array, high: Array, other: Tree, tree: Tree) -> None:
    """Lists the boxes that overlap the whole of another tree, and takes over its grid."""
    order, frame, lanes = tree.order, other.frame, other.lanes
    root = other.level[other.level[MOST_LEVELS] - 1]
    ox, oy, oz, scale = frame[ORIGIN], frame[ORIGIN + 1], frame[ORIGIN + 2], frame[SCALE]
    for k in range(FRAME):
        tree.frame[k] = frame[k]
    count = 0
    if other.boxes[0]:
        a = box_of(lanes, root)
        for i in range(len(low)):
            if (
                _is_box(low, high, i)
                and _cell(low[i, 0], ox, scale) <= a[3]
                and _cell(low[i, 1], oy, scale) <= a[4]
                and _cell(low[i, 2], oz, scale) <= a[5]
                and _cell(high[i, 0], ox, scale) >= a[0]
                and _cell(high[i, 1], oy, scale) >= a[1]
                and _cell(high[i, 2], oz, scale) >= a[2]
            ):
                order[0, count] = i
                count += 1
    tree.boxes[0] = count


Cells = tuple[int32, int32, int32, int32, int32, int32]


@part
def box_of(lanes: Ints32, group: int) -> Cells:
    """Around all of a group."""
    lx = ly = lz = int32(FAR)
    hx = hy = hz = int32(-1)
    for k in range(LANES):
        lx = min(lx, lanes[group, 0, k])
        ly = min(ly, lanes[group, 1, k])
        lz = min(lz, lanes[group, 2, k])
        hx = max(hx, lanes[group, 3, k])
        hy = max(hy, lanes[group, 4, k])
        hz = max(hz, lanes[group, 5, k])
    return lx, ly, lz, hx, hy, hz


@part
def _spread(x: uint64) -> uint64:
    """Two zeros after each of the lowest 21 bits."""
    x = (x | (x << uint64(32))) & uint64(0x001F00000000FFFF)
    x = (x | (x << uint64(16))) & uint64(0x001F0000FF0000FF)
    x = (x | (x << uint64(8))) & uint64(0x100F00F00F00F00F)
    x = (x | (x << uint64(4))) & uint64(0x10C30C30C30C30C3)
    return (x | (x << uint64(2))) & uint64(0x1249249249249249)


@kernel
def make_keys(low: Array, high: Array, tree: Tree, first: int, last: int) -> None:
    """Where on the curve each box is: the bits of its centre's coordinates in turn, below how large it is."""
    key, order, frame = tree.key, tree.order, tree.frame
    ox, oy, oz, scale = frame[ORIGIN], frame[ORIGIN + 1], frame[ORIGIN + 2], frame[SCALE]
    small, shift = frame[SMALL_SIZE], int32(frame[KEY_SHIFT] + 1)
    for k in range(first, last):
        i = order[0, k]
        x = uint64((_cell(low[i, 0], ox, scale) + _cell(high[i, 0], ox, scale)) >> shift)
        y = uint64((_cell(low[i, 1], oy, scale) + _cell(high[i, 1], oy, scale)) >> shift)
        z = uint64((_cell(low[i, 2], oz, scale) + _cell(high[i, 2], oz, scale)) >> shift)
        size = _size(low, high, i)
        steps = 0
        limit = small * SIZE_STEP
        while steps < MOST_STEPS and size > limit:
            limit *= SIZE_STEP
            steps += 1
        key[0, k] = _spread(x) | _spread(y) << uint64(1) | _spread(z) << uint64(2) | uint64(steps) << uint64(60)


@kernel
def sort(tree: Tree) -> int:
    """Sorts keys and order by digits, the last digit first; returns in which half of the arrays the result is."""
    key, order, tally = tree.key, tree.order, tree.tally
    count = tree.boxes[0]
    mask = uint64(DIGITS - 1)
    tally[:] = 0
    for k in range(count):
        this = key[0, k]
        for turn in range(PASSES):
            tally[turn, int64(this >> uint64(turn * DIGIT_BITS) & mask)] += 1
    side = 0
    for turn in range(PASSES):
        shift = uint64(turn * DIGIT_BITS)
        if count == 0 or tally[turn, int64(key[0, 0] >> shift & mask)] == count:
            continue  # all are equal in this digit
        start = 0
        for digit in range(DIGITS):
            here = tally[turn, digit]
            tally[turn, digit] = start
            start += here
        for k in range(count):
            this = key[side, k]
            place = int64(this >> shift & mask)
            to = tally[turn, place]
            tally[turn, place] = to + 1
            key[1 - side, to] = this
            order[1 - side, to] = order[side, k]
        side = 1 - side
    return side


@kernel
def fill_leaves(low: Array, high: Array, tree: Tree, side: int, first: int, last: int) -> None:
    order, number, box, lanes, frame = tree.order, tree.number, tree.box, tree.lanes, tree.frame
    count = tree.boxes[0]
    scale = frame[SCALE]
    for group in range(first, last):
        for lane in range(LANES):
            k = group * LANES + lane
            if k < count:
                i = order[side, k]
                number[k] = i
                for axis in range(3):
                    box[k, axis] = low[i, axis]
                    box[k, 3 + axis] = high[i, axis]
                    lanes[group, axis, lane] = _cell(low[i, axis], frame[ORIGIN + axis], scale)
                    lanes[group, 3 + axis, lane] = _cell(high[i, axis], frame[ORIGIN + axis], scale)
            else:
                for axis in range(3):
                    lanes[group, axis, lane] = FAR
                    lanes[group, 3 + axis, lane] = -1


@kernel
def fill_nodes(tree: Tree) -> None:
    """The levels above the leaves, at least one."""
    lanes, level = tree.lanes, tree.level
    below = 0  # the first group of the level below
    groups = (tree.boxes[0] + LANES - 1) // LANES
    levels = 1
    level[0] = 0
    while groups > 1 or levels < 2:
        first = below + groups
        level[levels] = first
        for k in range((groups + LANES - 1) // LANES * LANES):
            group, lane = first + (k >> LANE_BITS), k & (LANES - 1)
            if k < groups:
                a = box_of(lanes, below + k)
            else:
                a = (int32(FAR), int32(FAR), int32(FAR), int32(-1), int32(-1), int32(-1))
            lanes[group, 0, lane], lanes[group, 1, lane], lanes[group, 2, lane] = a[0], a[1], a[2]
            lanes[group, 3, lane], lanes[group, 4, lane], lanes[group, 5, lane] = a[3], a[4], a[5]
        below = first
        groups = (groups + LANES - 1) // LANES
        levels += 1
    level[MOST_LEVELS] = levels
