"""Multifrontal LDL^T factorisation of a sparse symmetric matrix with a constant pattern.

The elimination order, the fill-in and the position of every entry are computed once (`analyse` in sparse_order.py). Columns
with the same pattern below them form a supernode: a dense panel, stored by columns, of its own columns and all rows it couples
to. A supernode assembles the update matrices of its children in the elimination tree, eliminates its own columns, and leaves
the rest, its update matrix, to its parent. Update matrices are on two stacks, for even and odd depth in the tree, so that reads
and writes never overlap.

Matrices of several nets are stored one after the other: net r owns supernodes net[r] ... net[r + 1] - 1.
"""

from __future__ import annotations

from typing import NamedTuple

from ...compile.jit import kernel, part
from ...errors import Array, Ints


class Pattern(NamedTuple):
    """Column and row numbers are positions in the elimination order."""

    net: Ints  # (R + 1,) first supernode of each net
    first: Ints  # (S + 1,) first column of each supernode
    panel: Ints  # (S + 1,) start of its panel in the values
    below: Ints  # (S + 1,) start of its rows below in `rows` and `relative`
    rows: Ints  # rows below each supernode, sorted
    relative: Ints  # their positions in the parent's front
    children: Ints  # (S + 1,) start of its children in `child`
    child: Ints
    update: Ints  # (S,) position of its update matrix on the stacks
    place: Ints  # (n,) position of each unknown in the elimination order


@part
def _gather_child(panel: Array, update: Array, child: Array, relative: Ints, size: int, front: int, own: int) -> None:
    """Adds a child's update matrix to the front: to its panel and its update matrix."""
    rest = front - own
    for j in range(size):
        at = relative[j]
        source = child[j * size : (j + 1) * size]
        if at < own:
            target = panel[at * front : (at + 1) * front]
            for i in range(j, size):
                target[relative[i]] += source[i]
        else:
            target = update[(at - own) * rest : (at - own + 1) * rest]
            for i in range(j, size):
                target[relative[i] - own] += source[i]


@part
def _subtract(
    target: Array, begin: int, k0: float, a: Array, k1: float, b: Array, k2: float, c: Array, k3: float, d: Array
) -> None:
    for i in range(begin, len(target)):
        target[i] -= k0 * a[i] + k1 * b[i] + k2 * c[i] + k3 * d[i]


@part
def _eliminate(panel: Array, update: Array, front: int, own: int) -> bool:
    """Factors the columns of a panel and subtracts their contribution from the update matrix. Four columns at a time reduce
    memory traffic to a quarter."""
    rest = front - own
    c = 0
    while c < own:
        group = min(4, own - c)
        for p in range(c, c + group):
            column = panel[p * front : (p + 1) * front]
            if not column[p] > 0.0:
                return False
            f = 1.0 / column[p]
            for s in range(p + 1, c + group):
                k = column[s] * f
                other = panel[s * front : (s + 1) * front]
                for i in range(s, front):
                    other[i] -= k * column[i]
        if group == 4:
            c0, c1 = panel[c * front : (c + 1) * front], panel[(c + 1) * front : (c + 2) * front]
            c2, c3 = panel[(c + 2) * front : (c + 3) * front], panel[(c + 3) * front : (c + 4) * front]
            f0, f1, f2, f3 = 1.0 / c0[c], 1.0 / c1[c + 1], 1.0 / c2[c + 2], 1.0 / c3[c + 3]
            for s in range(c + 4, own):
                other = panel[s * front : (s + 1) * front]
                _subtract(other, s, c0[s] * f0, c0, c1[s] * f1, c1, c2[s] * f2, c2, c3[s] * f3, c3)
            b0, b1, b2, b3 = c0[own:], c1[own:], c2[own:], c3[own:]
            for j in range(rest):
                other = update[j * rest : (j + 1) * rest]
                _subtract(other, j, b0[j] * f0, b0, b1[j] * f1, b1, b2[j] * f2, b2, b3[j] * f3, b3)
        else:
            for p in range(c, c + group):
                column = panel[p * front : (p + 1) * front]
                f = 1.0 / column[p]
                for j in range(rest):
                    k = column[own + j] * f
                    other = update[j * rest : (j + 1) * rest]
                    for i in range(j, rest):
                        other[i] -= k * column[own + i]
        c += group
    for p in range(own):
        column = panel[p * front : (p + 1) * front]
        f = 1.0 / column[p]
        for i in range(p + 1, front):
            column[i] *= f
    return True


@kernel
def factor(p: Pattern, values: Array, stack: Array, r: int) -> bool:
    """Factors the matrix of net r in place: D on the diagonal, L below. Returns False if not positive definite."""
    first, panel, below, relative = p.first, p.panel, p.below, p.relative
    children, child, update = p.children, p.child, p.update
    for s in range(p.net[r], p.net[r + 1]):
        own, rest = first[s + 1] - first[s], below[s + 1] - below[s]
        front = own + rest
        columns = values[panel[s] : panel[s] + own * front]
        left = stack[update[s] : update[s] + rest * rest]
        for k in range(rest * rest):
            left[k] = 0.0
        for k in range(children[s], children[s + 1]):
            c = child[k]
            size = below[c + 1] - below[c]
            of = stack[update[c] : update[c] + size * size]
            _gather_child(columns, left, of, relative[below[c] : below[c + 1]], size, front, own)
        if not _eliminate(columns, left, front, own):
            return False
    return True


@kernel
def solve(p: Pattern, values: Array, r: int, y: Array) -> None:
    """Solves with the factorisation, in place; y is in elimination order."""
    first, panel, below, rows = p.first, p.panel, p.below, p.rows
    for s in range(p.net[r], p.net[r + 1]):
        own = first[s + 1] - first[s]
        rest = below[s + 1] - below[s]
        front = own + rest
        here, there = y[first[s] : first[s + 1]], rows[below[s] : below[s + 1]]
        for c in range(own):
            column = values[panel[s] + c * front : panel[s] + (c + 1) * front]
            k = here[c]
            for i in range(c + 1, own):
                here[i] -= column[i] * k
            for i in range(rest):
                y[there[i]] -= column[own + i] * k
    for s in range(p.net[r + 1] - 1, p.net[r] - 1, -1):
        own = first[s + 1] - first[s]
        rest = below[s + 1] - below[s]
        front = own + rest
        here, there = y[first[s] : first[s + 1]], rows[below[s] : below[s + 1]]
        for c in range(own - 1, -1, -1):
            column = values[panel[s] + c * front : panel[s] + (c + 1) * front]
            k = here[c] / column[c]
            for i in range(c + 1, own):
                k -= column[i] * here[i]
            for i in range(rest):
                k -= column[own + i] * y[there[i]]
            here[c] = k


@kernel
def invert_within(p: Pattern, values: Array, fronts: Ints, parent: Ints, z: Array, r: int) -> None:
    """Entries of the inverse within the fronts, by Takahashi's recurrence from the last supernode to the first:
        Z[i, c] = -sum over k of Z[i, k] L[k, c]  for i > c,      Z[c, c] = 1 / d[c] - sum over k of Z[k, c] L[k, c].
    z[fronts[s]:] gets the whole symmetric front of supernode s, row by row."""
    first, panel, below, relative = p.first, p.panel, p.below, p.relative
    for s in range(p.net[r + 1] - 1, p.net[r] - 1, -1):
        own, at = first[s + 1] - first[s], below[s]
        rest = below[s + 1] - at
        front, here = own + rest, fronts[s]
        if rest > 0:
            q = parent[s]
            there = fronts[q]
            wide = first[q + 1] - first[q] + below[q + 1] - below[q]
            for i in range(rest):
                for j in range(rest):
                    z[here + (own + i) * front + own + j] = z[there + relative[at + i] * wide + relative[at + j]]
        for c in range(own - 1, -1, -1):
            column = panel[s] + c * front
            for i in range(front - 1, c, -1):
                total = 0.0
                for k in range(c + 1, front):
                    total -= z[here + i * front + k] * values[column + k]
                z[here + i * front + c] = total
                z[here + c * front + i] = total
            total = 1.0 / values[column + c]
            for k in range(c + 1, front):
                total -= z[here + k * front + c] * values[column + k]
            z[here + c * front + c] = total
