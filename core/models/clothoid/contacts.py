"""Responses of rods to forces on their edges, by the Cholesky factor of each rod's dense matrix."""

from __future__ import annotations

from ...compile.jit import kernel, part
from ...errors import Array, Ints
from ...maths.linalg.dense import solve_dense
from .arrays import Arrays, Coupled
from .kinematics import is_held, unknowns_of


@kernel
def respond_to_loads(
    b: Arrays, c: Coupled, rod: Ints, edge: Ints, load: Array, start: Ints, x: Array, out: Array, begin: int, stop: int
) -> None:
    """See `ContactResponses` in `models/protocol.py`; x (K, n) is scratch."""
    for k in range(begin, stop):
        r = rod[k]
        n, m = unknowns_of(b.nodes, r), b.rods.matrix_start[r]
        matrix = c.matrix[m : m + n * n].reshape((n, n))
        samples = b.samples.start[r + 1] - b.samples.start[r]
        for d in range(load.shape[1]):
            _generalize(b, c, r, n, edge[k], load[k, d], x[k])
            for j in range(6):
                x[k, j] = 0.0 if is_held(b.rods, r, j) else x[k, j]
            solve_dense(matrix, n, x[k])
            at = start[k] + 4 * d * samples
            q = b.rods.rows_start[r]
            for i in range(4 * samples):
                value = 0.0
                for j in range(n):
                    value += c.rows[q + j] * x[k, j]
                out[at + i] = value
                q += n


@part
def _generalize(b: Arrays, c: Coupled, r: int, n: int, e: int, load: Array, x: Array) -> None:
    """x = J^T f of a load (7,) on edge e."""
    q = b.rods.rows_start[r] + 4 * n * (e - b.samples.start[r])
    for j in range(n):
        value = 0.0
        for i in range(7):
            value += load[i] * c.rows[q + i * n + j]
        x[j] = value
