"""Delassus operator of the contacts: the matrix of the dual problem, Zhao et al. 2022, (14)."""

from __future__ import annotations

from ...compile.jit import kernel
from ...errors import Array, Ints
from .arrays import Linear
from .kinematics import sample_forces, sample_motion
from .matrix import solve_matrix


@kernel
def respond(
    b: Linear, rod: Ints, rows: Ints, weights: Array, known: int, forces: Array, x: Array, motion: Array, out: Array
) -> None:
    """out (C, C) = U^T A^-1 U, where column c of U holds the forces weights (C, 4, 3) on the sample points rows (C, 4); -1:
    none. All right-hand sides share the factorisation of A. The first `known` columns are kept.

    `forces` and `motion` (N, 4) and x (N + R, 3) are scratch buffers."""
    for c in range(known, len(rows)):
        first, second = rod[rows[c, 0]], rod[rows[c, 2]] if rows[c, 2] >= 0 else -1
        for side in range(2):
            r = first if side == 0 else second
            if r < 0 or (side == 1 and first == second):
                continue
            for i in range(b.start[r], b.start[r + 1]):
                for k in range(4):
                    forces[i, k] = 0.0
        for s in range(4):
            if rows[c, s] >= 0:
                for k in range(3):
                    forces[rows[c, s], k] += weights[c, s, k]
        for side in range(2):
            r = first if side == 0 else second
            if r < 0 or (side == 1 and first == second):
                continue
            sample_forces(b, b, forces, x, r)
            solve_matrix(b, b, b, x, r, 0.0)
            sample_motion(b, b, x, motion, r)
        for k in range(c + 1):
            way = 0.0
            for s in range(4):
                i = rows[k, s]
                if i >= 0 and (rod[i] == first or rod[i] == second):
                    way += (
                        weights[k, s, 0] * motion[i, 0]
                        + weights[k, s, 1] * motion[i, 1]
                        + weights[k, s, 2] * motion[i, 2]
                    )
            out[k, c], out[c, k] = way, way
