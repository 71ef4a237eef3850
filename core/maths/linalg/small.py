"""3 x 3 matrices as tuples, row by row, so that they stay in registers."""

from __future__ import annotations

from ...compile.jit import part
from ...errors import Array
from ..geometry.frames import Vector

Matrix = tuple[float, float, float, float, float, float, float, float, float]
Symmetric = tuple[float, float, float, float, float, float]  # xx yx yy zx zy zz


@part
def get3(a: Array, i: int) -> Vector:
    return (a[i, 0], a[i, 1], a[i, 2])


@part
def put3(a: Array, i: int, x: Vector) -> None:
    a[i, 0], a[i, 1], a[i, 2] = x


@part
def add3(a: Array, i: int, x: Vector, f: float) -> None:
    """a[i] += f x"""
    a[i, 0] += f * x[0]
    a[i, 1] += f * x[1]
    a[i, 2] += f * x[2]


@part
def get4(a: Array, i: int) -> tuple[float, float, float, float]:
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3])


@part
def put4(a: Array, i: int, x: tuple[float, float, float, float]) -> None:
    a[i, 0], a[i, 1], a[i, 2], a[i, 3] = x


@part
def get9(a: Array, i: int) -> Matrix:
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5], a[i, 6], a[i, 7], a[i, 8])


@part
def put9(a: Array, i: int, m: Matrix) -> None:
    a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5], a[i, 6], a[i, 7], a[i, 8] = m


@part
def get6(a: Array, i: int) -> Symmetric:
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5])


@part
def put6(a: Array, i: int, m: Symmetric) -> None:
    a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5] = m


@part
def add6(a: Array, i: int, m: Symmetric, f: float) -> None:
    """a[i] += f m"""
    for c, value in enumerate(m):
        a[i, c] += f * value


@part
def plus(a: Matrix, b: Matrix) -> Matrix:
    return (
        a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5], a[6] + b[6], a[7] + b[7], a[8] + b[8],
    )  # fmt: skip


@part
def scaled(a: Matrix, f: float) -> Matrix:
    return (f * a[0], f * a[1], f * a[2], f * a[3], f * a[4], f * a[5], f * a[6], f * a[7], f * a[8])


@part
def transposed(a: Matrix) -> Matrix:
    return (a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8])


@part
def times(a: Matrix, b: Matrix) -> Matrix:
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6],
        a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[3] + a[5] * b[6],
        a[3] * b[1] + a[4] * b[4] + a[5] * b[7],
        a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6],
        a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )


@part
def matvec(a: Matrix, x: Vector) -> Vector:
    """a x"""
    return (
        a[0] * x[0] + a[1] * x[1] + a[2] * x[2],
        a[3] * x[0] + a[4] * x[1] + a[5] * x[2],
        a[6] * x[0] + a[7] * x[1] + a[8] * x[2],
    )


@part
def matvec_t(a: Matrix, x: Vector) -> Vector:
    """a^T x"""
    return (
        a[0] * x[0] + a[3] * x[1] + a[6] * x[2],
        a[1] * x[0] + a[4] * x[1] + a[7] * x[2],
        a[2] * x[0] + a[5] * x[1] + a[8] * x[2],
    )


@part
def skew(x: Vector, f: float) -> Matrix:
    """f [x]x, where [x]x y = x x y."""
    return (0.0, -f * x[2], f * x[1], f * x[2], 0.0, -f * x[0], -f * x[1], f * x[0], 0.0)


@part
def outer(x: Vector, y: Vector, f: float) -> Matrix:
    a, b, c = f * x[0], f * x[1], f * x[2]
    return (a * y[0], a * y[1], a * y[2], b * y[0], b * y[1], b * y[2], c * y[0], c * y[1], c * y[2])


@part
def full(s: Symmetric) -> Matrix:
    return (s[0], s[1], s[3], s[1], s[2], s[4], s[3], s[4], s[5])


@part
def symmetric(m: Matrix) -> Symmetric:
    """The symmetric part."""
    return (m[0], 0.5 * (m[1] + m[3]), m[4], 0.5 * (m[2] + m[6]), 0.5 * (m[5] + m[7]), m[8])


@part
def decompose(s: Symmetric) -> tuple[bool, Symmetric]:
    """L and 1 / D of L D L^T: (1/d0, l10, 1/d1, l20, l21, 1/d2). Returns False if not positive definite."""
    d0 = s[0]
    if not d0 > 0.0:
        return False, s
    f0 = 1.0 / d0
    l10, l20 = s[1] * f0, s[3] * f0
    d1 = s[2] - l10 * s[1]
    if not d1 > 0.0:
        return False, s
    f1 = 1.0 / d1
    rest = s[4] - l20 * s[1]
    l21 = rest * f1
    d2 = s[5] - l20 * s[3] - l21 * rest
    if not d2 > 0.0:
        return False, s
    return True, (f0, l10, f1, l20, l21, 1.0 / d2)


@part
def solved(w: Symmetric, x: Vector) -> Vector:
    """Solution with the factors of `decompose`."""
    y1 = x[1] - w[1] * x[0]
    y2 = x[2] - w[3] * x[0] - w[4] * y1
    z2 = y2 * w[5]
    z1 = y1 * w[2] - w[4] * z2
    return (x[0] * w[0] - w[1] * z1 - w[3] * z2, z1, z2)


@part
def solved_columns(w: Symmetric, m: Matrix) -> Matrix:
    """Solution for the three columns of a matrix."""
    a, b, c = solved(w, (m[0], m[3], m[6])), solved(w, (m[1], m[4], m[7])), solved(w, (m[2], m[5], m[8]))
    return (a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2])
