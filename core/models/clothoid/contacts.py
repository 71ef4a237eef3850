"""Responses of rods to forces at contacts: Z = L^-1 J^T, with the Cholesky factor L of each rod's dense matrix. Z^T Z is the
Delassus operator.
"""

from __future__ import annotations

from ...compile.jit import kernel, part
from ...errors import Array, Ints
from ...maths.linalg.dense import half_solve
from .arrays import Arrays, Coupled
from .kinematics import is_held, unknowns_of


@kernel
def contact_half_responses(
    b: Arrays, c: Coupled, rod: Ints, edge: Ints, at: Array, rubbing_at: Array, direction: Array, lever: Array,
    half: Array, moved: Array, begin: int, stop: int,
) -> None:  # fmt: skip
    """Writes half (C, 2, 3, n), and moved (C, 3), the contact displacements of c.step. Contact k pushes edges edge[k] of rods
    rod[k] (-1: none that moves) at fraction `at` in its first direction. Friction acts at fraction `rubbing_at` in the other
    two directions and turns the edge by the levers. A self-contact has all of its response in the first half."""
    width = half.shape[3]
    for k in range(begin, stop):
        for i in range(3):
            moved[k, i] = 0.0
            for j in range(width):
                half[k, 0, i, j], half[k, 1, i, j] = 0.0, 0.0
        for side in range(2):
            r = rod[k, side]
            if r >= 0:
                into = half[k, 0 if r == rod[k, 0] else 1]
                sign = 1.0 if side == 0 else -1.0
                _add_rows(
                    b, c, r, edge[k, side], sign, at[k, side], rubbing_at[k, side], direction[k], lever[k, side], into
                )
        for side in range(2):
            r = rod[k, side]
            if r < 0 or (side == 1 and r == rod[k, 0]):
                continue
            n, first, m = unknowns_of(b.nodes, r), b.rods.vector_start[r], b.rods.matrix_start[r]
            matrix = c.matrix[m : m + n * n].reshape((n, n))
            for i in range(3):
                row = half[k, side, i]
                for j in range(n):
                    moved[k, i] += row[j] * c.step[first + j]
                for j in range(6):
                    row[j] = 0.0 if is_held(b.rods, r, j) else row[j]
                half_solve(matrix, n, row)


@part
def _add_rows(
    b: Arrays, c: Coupled, r: int, e: int, sign: float, at: float, rubbing_at: float, direction: Array, lever: Array, out: Array
) -> None:  # fmt: skip
    """Adds the Jacobian of the surface of edge e at the contact to out (3, n)."""
    n, rows = unknowns_of(b.nodes, r), c.rows
    q = b.rods.rows_start[r] + 4 * n * (e - b.samples.start[r])
    for i in range(3):
        s = at if i == 0 else rubbing_at
        x, y, z = sign * direction[i, 0], sign * direction[i, 1], sign * direction[i, 2]
        turn = sign * lever[i - 1] if i > 0 else 0.0
        u, v, w = (1.0 - s) * x, (1.0 - s) * y, (1.0 - s) * z
        x, y, z = s * x, s * y, s * z
        for j in range(n):
            p = q + j
            value = u * rows[p] + v * rows[p + n] + w * rows[p + 2 * n] + turn * rows[p + 3 * n]
            p += 4 * n
            out[i, j] += value + x * rows[p] + y * rows[p + n] + z * rows[p + 2 * n]


@kernel
def add_half_responses(b: Arrays, c: Coupled, chosen: Ints, w: Array, begin: int, stop: int) -> None:
    """c.step += L^-T w of the chosen rods, w (R, n)."""
    for k in range(begin, stop):
        r = chosen[k]
        n, first, m = unknowns_of(b.nodes, r), b.rods.vector_start[r], b.rods.matrix_start[r]
        for i in range(n - 1, -1, -1):
            w[r, i] /= c.matrix[m + i * n + i]
            value = w[r, i]
            for j in range(i):
                w[r, j] -= c.matrix[m + i * n + j] * value
            c.step[first + i] += value
