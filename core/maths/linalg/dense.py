"""Cholesky factorisation of small dense symmetric matrices, of which only the lower triangle is used."""

from __future__ import annotations

import math

from ...compile.jit import kernel, part
from ...errors import Array


@part
def factor_dense(a: Array, n: int) -> bool:
    """Factors the leading n rows in place, row by row. Returns False if the matrix is not positive definite."""
    for i in range(n):
        for j in range(i):
            value = a[i, j]
            for k in range(j):
                value -= a[i, k] * a[j, k]
            a[i, j] = value / a[j, j]
        pivot = a[i, i]
        least = 1e-15 * abs(pivot)
        for k in range(i):
            pivot -= a[i, k] * a[i, k]
        if not pivot > least:
            return False
        a[i, i] = math.sqrt(pivot)
    return True


@part
def half_solve(a: Array, n: int, b: Array) -> None:
    """b becomes L^-1 b."""
    for i in range(n):
        value = b[i]
        for k in range(i):
            value -= a[i, k] * b[k]
        b[i] = value / a[i, i]


@part
def solve_dense(a: Array, n: int, b: Array) -> None:
    """Solves with the factor of `factor_dense`, in place."""
    half_solve(a, n, b)
    for i in range(n - 1, -1, -1):
        b[i] /= a[i, i]
        value = b[i]
        for k in range(i):
            b[k] -= a[i, k] * value


@kernel
def solve_general(a: Array, n: int, b: Array) -> bool:
    """Solves a x = b for a general matrix by elimination with partial pivoting; overwrites a, and b with x. Returns False if
    singular."""
    for i in range(n):
        best = i
        for k in range(i + 1, n):
            if abs(a[k, i]) > abs(a[best, i]):
                best = k
        if not abs(a[best, i]) > 0.0:
            return False
        if best != i:
            for j in range(i, n):
                a[i, j], a[best, j] = a[best, j], a[i, j]
            b[i], b[best] = b[best], b[i]
        f = 1.0 / a[i, i]
        for k in range(i + 1, n):
            share = a[k, i] * f
            if share != 0.0:
                for j in range(i + 1, n):
                    a[k, j] -= share * a[i, j]
                b[k] -= share * b[i]
    for i in range(n - 1, -1, -1):
        value = b[i]
        for j in range(i + 1, n):
            value -= a[i, j] * b[j]
        b[i] = value / a[i, i]
    return True
