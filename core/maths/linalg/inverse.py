"""Inverses of batches of small matrices."""

from __future__ import annotations

from ...compile.jit import kernel
from ...errors import Array


@kernel
def invert_each(matrices: Array) -> None:
    """Inverts (K, n, n) in place, by elimination without pivoting; positive definite, if not quite symmetric. Faster than
    LAPACK, whose threads would wait for each other."""
    n = matrices.shape[1]
    for k in range(len(matrices)):
        a = matrices[k]
        for i in range(n):
            pivot = 1.0 / a[i, i]
            a[i, i] = 1.0
            for j in range(n):
                a[i, j] *= pivot
            for row in range(n):
                if row != i:
                    share = a[row, i]
                    a[row, i] = 0.0
                    for j in range(n):
                        a[row, j] -= share * a[i, j]
