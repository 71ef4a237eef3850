"""Symbolic part of a sparse factorisation: elimination order, fill-in, and the position of each entry of the matrix."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy import int64

from ...errors import Array, Ints
from .sparse_factor import Pattern

LEAF = 6  # nodes: smaller sets are not dissected further
TRASH = 0  # position in the values for entries of prescribed unknowns


def dissect(neighbours: Sequence[set[int]], where: Array) -> list[int]:
    """Nested dissection: an order of nodes in which both halves precede their separator. `where` (k, 3) are the positions used
    for bisection."""
    order: list[int] = []
    todo: list[tuple[list[int], bool]] = [(list(range(len(neighbours))), False)]
    while todo:
        nodes, ready = todo.pop()
        if ready or len(nodes) <= LEAF:
            order += nodes
            continue
        x = where[nodes]
        axis = int(np.argmax(x.max(axis=0) - x.min(axis=0)))
        ranks = np.argsort(x[:, axis], kind="stable")
        half = len(nodes) // 2
        low, high = [nodes[k] for k in ranks[:half]], {nodes[k] for k in ranks[half:]}
        between = [k for k in low if not neighbours[k].isdisjoint(high)]
        if len(between) == len(low):
            order += nodes
            continue
        apart = set(between)
        todo.append((between, True))
        todo.append(([k for k in low if k not in apart], False))
        todo.append((sorted(high), False))
    return order


def fill_in(neighbours: Sequence[set[int]], order: Sequence[int]) -> list[list[int]]:
    """For each elimination step, the later steps that it couples to, sorted. `neighbours` are those of nodes."""
    step = {node: k for k, node in enumerate(order)}
    inherited: list[list[set[int]]] = [[] for _ in order]
    below: list[list[int]] = []
    for k, node in enumerate(order):
        own = {step[other] for other in neighbours[node] if step[other] > k}
        own.update(*inherited[k])
        own.discard(k)
        inherited[k] = []
        if own:
            inherited[min(own)].append(own)
        below.append(sorted(own))
    return below


def in_postorder(neighbours: Sequence[set[int]], order: Sequence[int]) -> tuple[list[int], list[list[int]]]:
    """The same elimination in postorder of the elimination tree, with its fill-in."""
    below = fill_in(neighbours, order)
    children: list[list[int]] = [[] for _ in order]
    todo = []
    for k, later in enumerate(below):
        if later:
            children[later[0]].append(k)
        else:
            todo.append(k)
    backwards = []
    while todo:
        k = todo.pop()
        backwards.append(k)
        todo += children[k]
    step = np.zeros(len(order), int64)
    step[backwards[::-1]] = np.arange(len(order))
    steps = [sorted(step[below[k]].tolist()) for k in reversed(backwards)]
    return [order[k] for k in reversed(backwards)], steps


def analyse(
    nets: Sequence[tuple[Sequence[Sequence[int]], Sequence[set[int]], Sequence[int]]], count: int
) -> tuple[Pattern, Ints]:
    """For each net: the unknowns of its nodes, the nodes' neighbours, the order of nodes. `count` is the total number of
    unknowns. Returns the pattern, and the parent of each supernode (-1: none)."""
    place = np.full(count, -1, int64)
    net, first = [0], [0]
    rows: list[list[int]] = []
    parents: list[int] = []
    for unknowns, neighbours, chosen_order in nets:
        offset = len(first) - 1
        order, below = in_postorder(neighbours, chosen_order)
        # Consecutive nodes that couple to the same later ones, and to each other, form a supernode.
        starts = [
            k
            for k in range(len(order))
            if k == 0 or not (below[k - 1] and below[k - 1][0] == k and len(below[k - 1]) == len(below[k]) + 1)
        ]
        number = np.zeros(len(order), int64)
        number[starts] = 1
        number = np.cumsum(number) - 1 + offset
        columns = first[-1]
        begins = []  # first column of each step
        for node in order:
            begins.append(columns)
            for unknown in unknowns[node]:
                place[unknown] = columns
                columns += 1
        ends = [*begins[1:], columns]
        for k in range(len(starts)):
            last = (starts[k + 1] if k + 1 < len(starts) else len(order)) - 1
            first.append(ends[last])
            rows.append([column for s in below[last] for column in range(begins[s], ends[s])])
            parents.append(int(number[below[last][0]]) if below[last] else -1)
        net.append(len(first) - 1)
    return _pattern(net, first, rows, parents, place)


def _pattern(
    net: list[int], first: list[int], rows: list[list[int]], parents: list[int], place: Ints
) -> tuple[Pattern, Ints]:
    s = len(parents)
    own = np.diff(first)
    rest = np.array([len(of) for of in rows], int64)
    below = np.concatenate([[0], np.cumsum(rest)]).astype(int64)
    panel = TRASH + 1 + np.concatenate([[0], np.cumsum(own * (own + rest))]).astype(int64)
    parent = np.array(parents, int64).reshape(-1)
    children: list[list[int]] = [[] for _ in range(s)]
    for k, of in enumerate(parents):
        if of >= 0:
            children[of].append(k)
    relative = np.zeros(int(below[-1]), int64)
    flat = np.array([row for of in rows for row in of], int64)
    starts = np.array(first, int64)
    for k, of in enumerate(parents):
        if of < 0:
            continue
        mine = flat[below[k] : below[k + 1]]
        theirs = flat[below[of] : below[of + 1]]
        inside = mine < starts[of + 1]
        relative[below[k] : below[k + 1]] = np.where(inside, mine - starts[of], own[of] + np.searchsorted(theirs, mine))
    depth = np.zeros(s, int64)
    for k in range(s - 1, -1, -1):
        if parents[k] >= 0:
            depth[k] = depth[parents[k]] + 1
    offsets, highest = _stacks(net, children, depth, rest)
    update = np.where(depth % 2 == 0, offsets, offsets + highest[0])
    pattern = Pattern(
        net=np.array(net, int64),
        first=starts,
        panel=panel,
        below=below,
        rows=flat,
        relative=relative,
        children=np.concatenate([[0], np.cumsum([len(of) for of in children])]).astype(int64),
        child=np.array([c for of in children for c in of], int64),
        update=update,
        place=place,
    )
    return pattern, parent


def _stacks(net: list[int], children: list[list[int]], depth: Ints, rest: Ints) -> tuple[Ints, list[int]]:
    """Positions of the update matrices on the stacks of even and odd depth, and the heights of the stacks."""
    offsets = np.zeros(len(rest), int64)
    highest = [0, 0]
    for begin, end in pairwise(net):
        tops = [0, 0]
        for k in range(begin, end):
            parity = int(depth[k]) % 2
            offsets[k] = tops[parity]
            tops[parity] += int(rest[k]) ** 2
            highest[parity] = max(highest[parity], tops[parity])
            if children[k]:
                tops[1 - parity] = int(offsets[min(children[k])])
    return offsets, highest


def stack_size(pattern: Pattern) -> int:
    rest = np.diff(pattern.below)
    return int((pattern.update + rest**2).max(initial=0)) + 1


class Finder:
    """Finds positions of matrix entries in the values."""

    def __init__(self, pattern: Pattern) -> None:
        self._p = pattern
        self._columns = int(pattern.first[-1])
        owner = np.repeat(np.arange(len(pattern.below) - 1), np.diff(pattern.below))
        self._keys = owner * np.int64(self._columns + 1) + pattern.rows

    def entries(self, rows: Ints, columns: Ints) -> Ints:
        """Positions for arrays of unknowns of the same shape; TRASH where one of them is -1."""
        p = self._p
        absent = (rows < 0) | (columns < 0)
        a, b = p.place[np.where(absent, 0, rows)], p.place[np.where(absent, 0, columns)]
        low, high = np.minimum(a, b), np.maximum(a, b)
        s = np.searchsorted(p.first, low, side="right") - 1
        own = p.first[s + 1] - p.first[s]
        front = own + p.below[s + 1] - p.below[s]
        inside = high < p.first[s + 1]
        found = np.searchsorted(self._keys, s * np.int64(self._columns + 1) + high)
        row = np.where(inside, high - p.first[s], own + found - p.below[s])
        at = p.panel[s] + (low - p.first[s]) * front + row
        return np.asarray(np.where(absent, TRASH, at), int64)
