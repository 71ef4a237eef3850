"""LDL^T of a symmetric tridiagonal matrix, or of one that also couples its first and last unknown, in O(n).

Entry (i, i) is `diagonal[i]`, entry (i, i - 1) is `beside[i]`; in a cyclic matrix `beside[first]` couples the first unknown and
the last. There the last row fills up: `fill` keeps it.
"""

from __future__ import annotations

from ...compile.jit import kernel
from ...errors import Array


@kernel
def factor_tridiagonal(
    diagonal: Array, beside: Array, fill: Array, first: int, n: int, cyclic: bool, least: float
) -> bool:
    """Factors rows first ... first + n - 1 in place. False as soon as a pivot is not above `least`."""
    last = first + n - 1
    if not cyclic:
        for i in range(first, last):
            if not diagonal[i] > least:
                return False
            ratio = beside[i + 1] / diagonal[i]
            diagonal[i + 1] -= ratio * beside[i + 1]
            beside[i + 1] = ratio
        return bool(diagonal[last] > least)
    carried = beside[first]
    for i in range(first, last):
        if not diagonal[i] > least:
            return False
        if i == last - 1:
            carried += beside[last]
        fill[i] = carried / diagonal[i]
        diagonal[last] -= fill[i] * carried
        if i < last - 1:
            ratio = beside[i + 1] / diagonal[i]
            diagonal[i + 1] -= ratio * beside[i + 1]
            beside[i + 1] = ratio
            carried *= -ratio
    return bool(diagonal[last] > least)


@kernel
def solve_tridiagonal(diagonal: Array, beside: Array, fill: Array, first: int, n: int, cyclic: bool, b: Array) -> None:
    """Solves with the factor; b[first:first+n] becomes the solution."""
    last = first + n - 1
    if not cyclic:
        for i in range(first, last):
            b[i + 1] -= beside[i + 1] * b[i]
        b[last] /= diagonal[last]
        for i in range(last - 1, first - 1, -1):
            b[i] = b[i] / diagonal[i] - beside[i + 1] * b[i + 1]
        return
    for i in range(first, last):
        b[last] -= fill[i] * b[i]
        if i < last - 1:
            b[i + 1] -= beside[i + 1] * b[i]
    b[last] /= diagonal[last]
    for i in range(last - 1, first - 1, -1):
        b[i] = b[i] / diagonal[i] - fill[i] * b[last]
        if i < last - 1:
            b[i] -= beside[i + 1] * b[i + 1]
