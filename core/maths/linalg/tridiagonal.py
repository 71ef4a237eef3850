"""LDL^T factorisation of a symmetric tridiagonal or cyclic tridiagonal matrix, in O(n).

Entry (i, i) is `diagonal[i]`, entry (i, i - 1) is `beside[i]`; in a cyclic matrix `beside[first]` couples the first and the
last unknown. The last row of its factor, which fills in, is stored in `fill`.
"""

from __future__ import annotations

from ...compile.jit import kernel
from ...errors import Array


@kernel
def factor_tridiagonal(
    diagonal: Array, beside: Array, fill: Array, first: int, n: int, cyclic: bool, least: float
) -> bool:
    """Factors rows first ... first + n - 1 in place. Returns False if a pivot is not above `least`."""
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
    """Solves with the factorisation, in place in b[first:first+n]."""
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
