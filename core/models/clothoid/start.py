"""Rods before their first step: in place, and moving as they are told to."""

from __future__ import annotations

from ...errors import Array
from ...jit import kernel
from ...linalg.dense import factor_dense, solve_dense
from .arrays import Block, Room
from .kinematics import lay_out, unknowns_of
from .samples import move_samples


@kernel
def place_rods(b: Block, room: Room, begin: int, stop: int) -> None:
    """Sample points, velocities and directors of rods begin to stop by their curvatures and rates."""
    for r in range(begin, stop):
        move_samples(b, room, r)
        for i in range(b.samples.start[r], b.samples.start[r + 1]):
            b.state.x[i, 3] = 0.0


@kernel
def start_moving(b: Block, room: Room, v: Array) -> None:
    """Generalized velocities with which the Gauss points come nearest to velocities v (G, 3), by mass; what is held stays."""
    gauss, rods = b.gauss, b.rods
    matrix, gradient = room.matrix, room.gradient
    for r in range(len(rods.degree)):
        n, at = unknowns_of(b.nodes, r), rods.vector_start[r]
        lay_out(rods, b.nodes, b.state, gauss, room, r, b.geometry.x, b.geometry.frame, True)
        for i in range(n):
            gradient[i] = 0.0
            for j in range(i + 1):
                matrix[i, j] = 0.0
        trace = 0.0
        for p in range(gauss.start[r], gauss.start[r + 1]):
            row = room.jacobian[p - gauss.start[r]]
            span = b.state.length[gauss.element[p]]
            m, inertia = gauss.mass[p, 0] * span, gauss.mass[p, 3] * span
            t0, t1, t2 = b.geometry.frame[p, 0, 0], b.geometry.frame[p, 1, 0], b.geometry.frame[p, 2, 0]
            for i in range(n):
                spin = inertia * (t0 * row[3, i] + t1 * row[4, i] + t2 * row[5, i])
                gradient[i] += m * (row[0, i] * v[p, 0] + row[1, i] * v[p, 1] + row[2, i] * v[p, 2])
                for j in range(i + 1):
                    matrix[i, j] += m * (row[0, i] * row[0, j] + row[1, i] * row[1, j] + row[2, i] * row[2, j])
                    matrix[i, j] += spin * (t0 * row[3, j] + t1 * row[4, j] + t2 * row[5, j])
        for i in range(n):
            trace = max(trace, matrix[i, i])
        for i in range(n):
            matrix[i, i] += 1e-13 * trace
            if (i < 3 and rods.held_position[r]) or (3 <= i < 6 and rods.held_frame[r]):
                gradient[i] = 0.0
                for j in range(n):
                    matrix[max(i, j), min(i, j)] = 0.0
                matrix[i, i] = 1.0
        if factor_dense(matrix, n):
            solve_dense(matrix, n, gradient)
            for i in range(n):
                b.state.rate[at + i] = gradient[i]
