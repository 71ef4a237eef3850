"""LDL^T factorisation, in O(n), of a symmetric matrix that is banded except for a few last rows.

The unknowns of a rod, x0 theta0 x1 theta1 ..., couple over at most ten places, so that column c of the lower triangle is
`band[c, 0:11]`. A closed rod also couples its ends: its last BORDER unknowns are stored in a border, with entry (b, c) in
`border[c, b]`, and in a small dense corner `corner[b, b']`. The same structure serves any few unknowns that couple to all
others.
"""

from __future__ import annotations

from ...compile.jit import kernel
from ...compile.lanes import Truth, always, any_of, both
from ...errors import Array

HALF_WIDTH = 10
COLUMN = 12  # entries stored per column, one of them padding for alignment
BORDER = 7


@kernel
def factor(band: Array, first: int, n: int) -> Truth:
    """Factors columns first ... first + n - 1 in place: D on the diagonal, L below. Returns False if not positive definite."""
    good = always(band[0, 0])
    for c in range(first, first + n):
        d = band[c, 0]
        good = both(good, d > 0.0)
        if not any_of(good):
            return good
        f = 1.0 / d
        reach = min(HALF_WIDTH, first + n - 1 - c)
        if reach == HALF_WIDTH:
            for s in range(1, HALF_WIDTH + 1):
                k = band[c, s] * f
                for r in range(HALF_WIDTH + 1 - s):
                    band[c + s, r] -= k * band[c, s + r]
        else:
            for s in range(1, reach + 1):
                k = band[c, s] * f
                for r in range(reach + 1 - s):
                    band[c + s, r] -= k * band[c, s + r]
        for s in range(1, HALF_WIDTH + 1):
            band[c, s] *= f
    return good


@kernel
def solve(band: Array, first: int, n: int, b: Array) -> None:
    """Solves with the factorisation, in place in b[first:first+n]."""
    last = first + n - 1
    inner = max(last - HALF_WIDTH + 1, first)  # columns before this have their full depth
    for c in range(first, inner):
        k = b[c]
        for s in range(1, HALF_WIDTH + 1):
            b[c + s] -= band[c, s] * k
    for c in range(inner, last + 1):
        k = b[c]
        for s in range(1, last - c + 1):
            b[c + s] -= band[c, s] * k
    for c in range(last, inner - 1, -1):
        k = b[c] / band[c, 0]
        for s in range(1, last - c + 1):
            k -= band[c, s] * b[c + s]
        b[c] = k
    for c in range(inner - 1, first - 1, -1):
        # Two independent sums; the entry that was computed last comes last, to shorten the dependency chain.
        even = b[c] / band[c, 0] - band[c, 10] * b[c + 10]
        odd = band[c, 9] * b[c + 9]
        even -= band[c, 8] * b[c + 8]
        odd += band[c, 7] * b[c + 7]
        even -= band[c, 6] * b[c + 6]
        odd += band[c, 5] * b[c + 5]
        even -= band[c, 4] * b[c + 4]
        odd += band[c, 3] * b[c + 3]
        even -= band[c, 2] * b[c + 2]
        b[c] = (even - odd) - band[c, 1] * b[c + 1]


@kernel
def factor_bordered(band: Array, border: Array, corner: Array, first: int, n: int) -> Truth:
    """Like `factor`, for n columns of which the last BORDER are the border. `border` is left unscaled: L^-1 B^T."""
    inner = n - BORDER
    good = always(band[0, 0])
    for c in range(first, first + inner):
        d = band[c, 0]
        good = both(good, d > 0.0)
        if not any_of(good):
            return good
        f = 1.0 / d
        reach = min(HALF_WIDTH, first + inner - 1 - c)
        for s in range(1, reach + 1):
            k = band[c, s] * f
            for r in range(reach + 1 - s):
                band[c + s, r] -= k * band[c, s + r]
            for p in range(BORDER):
                border[c + s, p] -= k * border[c, p]
        for p in range(BORDER):
            k = border[c, p] * f
            for r in range(p + 1):
                corner[p, r] -= k * border[c, r]
        for s in range(1, HALF_WIDTH + 1):
            band[c, s] *= f
    for p in range(BORDER):
        d = corner[p, p]
        good = both(good, d > 0.0)
        if not any_of(good):
            return good
        for r in range(p + 1, BORDER):
            k = corner[r, p] / d
            for m in range(r, BORDER):
                corner[m, r] -= k * corner[m, p]
        for r in range(p + 1, BORDER):
            corner[r, p] /= d
    return good


@kernel
def solve_bordered(band: Array, border: Array, corner: Array, first: int, n: int, b: Array) -> None:
    inner = n - BORDER
    last = first + inner - 1
    edge = first + inner  # start of the border's unknowns in b
    for c in range(first, last + 1):
        k = b[c]
        for s in range(1, min(HALF_WIDTH, last - c) + 1):
            b[c + s] -= band[c, s] * k
        k /= band[c, 0]
        for p in range(BORDER):
            b[edge + p] -= border[c, p] * k
    for p in range(BORDER):
        for r in range(p + 1, BORDER):
            b[edge + r] -= corner[r, p] * b[edge + p]
    for p in range(BORDER - 1, -1, -1):
        k = b[edge + p] / corner[p, p]
        for r in range(p + 1, BORDER):
            k -= corner[r, p] * b[edge + r]
        b[edge + p] = k
    for c in range(last, first - 1, -1):
        k = b[c]
        for p in range(BORDER):
            k -= border[c, p] * b[edge + p]
        k /= band[c, 0]
        for s in range(1, min(HALF_WIDTH, last - c) + 1):
            k -= band[c, s] * b[c + s]
        b[c] = k
