"""Entries of the inverse within the band (and border) of a factored matrix, at the cost of a factorisation.

From Z L = L^-T D^-1 (Takahashi), column by column from the last:
    Z[j, i] = -sum over k of Z[j, k] L[k, i]  for j > i,      Z[i, i] = 1 / d[i] - sum over k of Z[k, i] L[k, i],
where k runs over the entries of column i below its diagonal, so that no entries outside the band are needed.
"""

from __future__ import annotations

from ...compile.jit import kernel
from ...errors import Array
from .bordered_band import BORDER, HALF_WIDTH


@kernel
def invert_within(
    band: Array,
    border: Array,
    corner: Array,
    first: int,
    n: int,
    bordered: bool,
    z: Array,
    z_border: Array,
    z_corner: Array,
) -> None:
    """From the factorisation of columns first ... first + n - 1 (see `bordered_band.py`) to z[0:n], in the same layout."""
    inner = n - BORDER if bordered else n
    if bordered:
        for p in range(BORDER - 1, -1, -1):
            for q in range(BORDER - 1, p - 1, -1):
                total = 1.0 / corner[p, p] if p == q else 0.0
                for k in range(p + 1, BORDER):
                    total -= corner[k, p] * (z_corner[k, q] if k >= q else z_corner[q, k])
                z_corner[q, p] = total
    for i in range(inner - 1, -1, -1):
        c = first + i
        reach = min(HALF_WIDTH, inner - 1 - i)
        f = 1.0 / band[c, 0]
        if bordered:
            for p in range(BORDER):
                total = 0.0
                for s in range(1, reach + 1):
                    total -= band[c, s] * z_border[i + s, p]
                for q in range(BORDER):
                    total -= border[c, q] * f * (z_corner[p, q] if p >= q else z_corner[q, p])
                z_border[i, p] = total
        for j in range(reach, 0, -1):
            total = 0.0
            for s in range(1, reach + 1):
                total -= band[c, s] * (z[i + s, j - s] if s <= j else z[i + j, s - j])
            if bordered:
                for p in range(BORDER):
                    total -= border[c, p] * f * z_border[i + j, p]
            z[i, j] = total
        total = f
        for s in range(1, reach + 1):
            total -= band[c, s] * z[i, s]
        if bordered:
            for p in range(BORDER):
                total -= border[c, p] * f * z_border[i, p]
        z[i, 0] = total
