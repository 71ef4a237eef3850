"""LDL^T of a sparse symmetric matrix whose pattern never changes: the multifrontal method.

The order of elimination, the fill and where every entry goes are worked out once (`analyse` in sparse_order.py). Columns with
the same pattern below them make a supernode: a dense panel, stored column by column, of its own columns and of all rows that it
couples to. A supernode adds up what its children in the elimination tree leave over, eliminates its own columns, and leaves the
rest, its update matrix, to its parent. Update matrices lie on two stacks, for even and odd depth in the tree, so that what is
read and what is written never overlap.

Matrices of several nets lie side by side: net r owns supernodes net[r] ... net[r + 1] - 1.
"""

from __future__ import annotations

from typing import NamedTuple

from numpy import int64
from numpy.typing import NDArray

from ..errors import Array
from ..jit import kernel, part

Ints = NDArray[int64]


class Pattern(NamedTuple):
    """Numbers of columns and rows are places in the order of elimination."""

    net: Ints  # (R + 1,) first supernode of each net
    first: Ints  # (S + 1,) first column of each supernode
    panel: Ints  # (S + 1,) where its panel begins among the values
    below: Ints  # (S + 1,) where its rows below begin in `rows` and `relative`
    rows: Ints  # the rows below each supernode, sorted
    relative: Ints  # where these stand in the front of the parent
    children: Ints  # (S + 1,) where its children begin in `child`
    child: Ints
    update: Ints  # (S,) where its update matrix is on the stacks
    place: Ints  # (n,) where each unknown stands in the order


@part
def _gather_child(
    values: Array, stack: Array, relative: Ints, at: int, size: int, source: int, panel: int, front: int, own: int, target: int
) -> None:
    """Adds a child's update matrix to the front: to its panel, and to its own update matrix."""
    rest = front - own
    for j in range(size):
        column = relative[at + j]
        k = source + j * size
        if column < own:
            c = panel + column * front
            for i in range(j, size):
                values[c + relative[at + i]] += stack[k + i]
        else:
            c = target + (column - own) * rest - own
            for i in range(j, size):
                stack[c + relative[at + i]] += stack[k + i]


@part
def _eliminate(values: Array, stack: Array, panel: int, front: int, own: int, target: int) -> bool:
    """Factors the columns of a panel and takes what they explain out of the update matrix."""
    rest = front - own
    for c in range(own):
        column = panel + c * front
        d = values[column + c]
        if not d > 0.0:
            return False
        f = 1.0 / d
        for s in range(c + 1, own):
            k = values[column + s] * f
            other = panel + s * front
            for i in range(s, front):
                values[other + i] -= k * values[column + i]
    # Four columns at a time: the update matrix is read and written a quarter as often.
    c = 0
    while c + 4 <= own:
        c0 = panel + c * front
        c1, c2, c3 = c0 + front, c0 + 2 * front, c0 + 3 * front
        f0, f1 = 1.0 / values[c0 + c], 1.0 / values[c1 + c + 1]
        f2, f3 = 1.0 / values[c2 + c + 2], 1.0 / values[c3 + c + 3]
        for j in range(rest):
            k0, k1 = values[c0 + own + j] * f0, values[c1 + own + j] * f1
            k2, k3 = values[c2 + own + j] * f2, values[c3 + own + j] * f3
            to = target + j * rest
            for i in range(j, rest):
                stack[to + i] -= (
                    k0 * values[c0 + own + i] + k1 * values[c1 + own + i]
                    + k2 * values[c2 + own + i] + k3 * values[c3 + own + i]
                )  # fmt: skip
        c += 4
    while c < own:
        c0 = panel + c * front
        f0 = 1.0 / values[c0 + c]
        for j in range(rest):
            k0 = values[c0 + own + j] * f0
            to = target + j * rest
            for i in range(j, rest):
                stack[to + i] -= k0 * values[c0 + own + i]
        c += 1
    for c in range(own):
        column = panel + c * front
        f = 1.0 / values[column + c]
        for i in range(c + 1, front):
            values[column + i] *= f
    return True


@kernel
def factor(p: Pattern, values: Array, stack: Array, r: int) -> bool:
    """Factors the matrix of net r in place: D on the diagonal, L below. False if it is not positive definite."""
    first, panel, below, relative = p.first, p.panel, p.below, p.relative
    children, child, update = p.children, p.child, p.update
    for s in range(p.net[r], p.net[r + 1]):
        own, rest = first[s + 1] - first[s], below[s + 1] - below[s]
        front, target = own + rest, update[s]
        for k in range(rest * rest):
            stack[target + k] = 0.0
        for k in range(children[s], children[s + 1]):
            c = child[k]
            _gather_child(
                values, stack, relative, below[c], below[c + 1] - below[c], update[c], panel[s], front, own, target
            )
        if not _eliminate(values, stack, panel[s], front, own, target):
            return False
    return True


@kernel
def solve(p: Pattern, values: Array, r: int, y: Array) -> None:
    """Solves with the factor, in place; y is in the order of elimination."""
    first, panel, below, rows = p.first, p.panel, p.below, p.rows
    for s in range(p.net[r], p.net[r + 1]):
        begin, own, at = first[s], first[s + 1] - first[s], below[s]
        rest = below[s + 1] - at
        front = own + rest
        for c in range(own):
            k, column = y[begin + c], panel[s] + c * front
            for i in range(c + 1, own):
                y[begin + i] -= values[column + i] * k
            for i in range(rest):
                y[rows[at + i]] -= values[column + own + i] * k
    for s in range(p.net[r + 1] - 1, p.net[r] - 1, -1):
        begin, own, at = first[s], first[s + 1] - first[s], below[s]
        rest = below[s + 1] - at
        front = own + rest
        for c in range(own - 1, -1, -1):
            column = panel[s] + c * front
            k = y[begin + c] / values[column + c]
            for i in range(c + 1, own):
                k -= values[column + i] * y[begin + i]
            for i in range(rest):
                k -= values[column + own + i] * y[rows[at + i]]
            y[begin + c] = k


@kernel
def invert_within(p: Pattern, values: Array, fronts: Ints, parent: Ints, z: Array, r: int) -> None:
    """Those entries of the inverse that lie within the fronts, by Takahashi's recurrence from the last supernode to the first:
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
