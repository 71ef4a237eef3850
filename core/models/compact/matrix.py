"""Factorisation and solution of Newton's linear system by elimination along the chain, with a Schur complement for closed rods.

At the seam of a closed rod the gap between its ends must vanish, and its last edge bends against its first. With U the columns
that select the gap and the rotations of the last and of the first edge, the system is A x + U z = b, where z are the closing
force and the moments of the seam's element. These nine unknowns are found from A^-1 U, so that the gap closes exactly, without
a penalty.
"""

from __future__ import annotations

import math

from ...compile.jit import part
from ...errors import Array
from ...maths.geometry.frames import cross
from ...maths.linalg.chain import chain_mobility, factor_chain, solve_chain
from ...maths.linalg.small import get3, put3
from .arrays import LOOP, Geometry, Linear, Rods, System
from .forks import clear_forks
from .kinematics import root_fixed


@part
def factor_matrix(rods: Rods, geometry: Geometry, system: System, r: int) -> bool:
    """Factors the matrix. Returns False if it is not positive definite."""
    for j in range(rods.start[r], rods.start[r + 1]):
        put3(system.d3, j, get3(geometry.d3, j))
    clear_forks(geometry.carry, rods.forks, r)
    good = factor_chain(
        rods.start[r], rods.start[r + 1], rods.edge, rods.fork, rods.of_fork, geometry.carry, rods.arm, geometry.d3, system.h,
        system.d, system.o, system.e, system.w, system.wg, system.wo, system.root, r,
    )  # fmt: skip
    if good and rods.closed[r]:
        return _prepare_closing(rods, geometry, system, r)
    return good


@part
def _solve_open(rods: Rods | Linear, geometry: Geometry | Linear, system: System | Linear, x: Array, r: int) -> None:
    clear_forks(geometry.carry, rods.forks, r)
    solve_chain(
        rods.start[r], rods.start[r + 1], rods.edge, rods.fork, rods.of_fork, geometry.carry, root_fixed(rods, r), rods.arm,
        system.d3, system.w, system.wg, system.wo, system.root, r, x, len(rods.arm) + r,
    )  # fmt: skip


@part
def solve_matrix(
    rods: Rods | Linear, geometry: Geometry | Linear, system: System | Linear, x: Array, r: int, closing: float
) -> None:
    """Solves for x (N + R, 3), in place. `closing` is the fraction of a closed rod's gap that the solution closes."""
    first = rods.start[r]
    for j in range(first, rods.start[r + 1]):
        if rods.edge_framed[j]:
            put3(x, j, (0.0, 0.0, 0.0))
    _solve_open(rods, geometry, system, x, r)
    if not rods.closed[r]:
        return
    seam, inverse, z = system.seam, system.closing[r], system.closed_by
    last = rods.start[r + 1] - 1
    way = _end_displacement(rods, system, x, r)
    for k in range(LOOP):
        total = 0.0
        for c in range(3):
            total += inverse[k, LOOP + c] * (way[c] + closing * geometry.gap[r, c])
            a, b = 0.0, 0.0
            for s in range(3):
                a += seam[r, 3 * s + c] * x[first, s]
                b += seam[r, 3 * c + s] * x[last, s]
            total += inverse[k, LOOP + 3 + c] * a + inverse[k, LOOP + 6 + c] * b
        z[r, k] = total
    n = len(rods.arm)
    loops = system.loops
    for k in range(LOOP):
        for c in range(3):
            for j in range(first, last + 1):
                x[j, c] -= loops[k, j, c] * z[r, k]
            x[n + r, c] -= loops[k, n + r, c] * z[r, k]


@part
def _end_displacement(rods: Rods | Linear, system: System | Linear, x: Array, r: int) -> tuple[float, float, float]:
    """Displacement of the end of the last edge relative to the root."""
    p = (0.0, 0.0, 0.0)
    for j in range(rods.start[r], rods.start[r + 1]):
        way = cross(get3(x, j), get3(system.d3, j))
        p = (p[0] + rods.arm[j] * way[0], p[1] + rods.arm[j] * way[1], p[2] + rods.arm[j] * way[2])
    return p


@part
def _prepare_closing(rods: Rods, geometry: Geometry, system: System, r: int) -> bool:
    first, end = rods.start[r], rods.start[r + 1]
    last, n = end - 1, len(rods.arm)
    loops, closing, seam = system.loops, system.closing[r], system.seam
    for k in range(LOOP):
        for c in range(3):
            loops[k, n + r, c] = 0.0
        unit = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
        for j in range(first, end):
            column = cross(get3(system.d3, j), unit)
            put3(loops[k], j, (rods.arm[j] * column[0], rods.arm[j] * column[1], rods.arm[j] * column[2]))
        if 3 <= k < 6:
            loops[k, last, k - 3] = 1.0
        elif k >= 6:
            loops[k, first, k - 6] = 1.0
        for j in range(first, end):
            if rods.edge_framed[j]:
                put3(loops[k], j, (0.0, 0.0, 0.0))
        _solve_open(rods, geometry, system, loops[k], r)
    for k in range(LOOP):
        way = _end_displacement(rods, system, loops[k], r)
        for c in range(3):
            closing[c, k] = way[c]
            a, b = 0.0, 0.0
            for s in range(3):
                a += seam[r, 3 * s + c] * loops[k, first, s]
                b += seam[r, 3 * c + s] * loops[k, last, s]
            closing[3 + c, k] = a + (1.0 if k == 3 + c else 0.0)
            closing[6 + c, k] = b + (1.0 if k == 6 + c else 0.0)
    return _invert(closing)


@part
def _invert(m: Array) -> bool:
    """Writes the inverse of the left half of m (LOOP, 2 LOOP) to its right half, by Gauss-Jordan elimination with partial
    pivoting. Returns False if it is singular."""
    for i in range(LOOP):
        largest = 0.0
        for k in range(LOOP):
            largest = max(largest, abs(m[i, k]))
        if not 0.0 < largest < math.inf:
            return False
        for k in range(LOOP):
            m[i, k] /= largest  # row scaling: the rows have different units
            m[i, LOOP + k] = 1.0 / largest if i == k else 0.0
    for column in range(LOOP):
        row = column
        for i in range(column + 1, LOOP):
            if abs(m[i, column]) > abs(m[row, column]):
                row = i
        pivot = m[row, column]
        if not abs(pivot) > 1e-14:
            return False
        for k in range(2 * LOOP):
            m[row, k], m[column, k] = m[column, k], m[row, k] / pivot
        for i in range(LOOP):
            if i != column:
                f = m[i, column]
                for k in range(2 * LOOP):
                    m[i, k] -= f * m[column, k]
    return True


@part
def mobility_of(rods: Rods, geometry: Geometry, system: System, r: int, mobility: Array) -> None:
    """mobility (N, 6): displacement of each vertex per force on it, with the factored matrix; zero for held vertices."""
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    chain_mobility(
        first, end, rods.edge, rods.fork, rods.of_fork, geometry.carry, root_fixed(rods, r), rods.arm, system.d3, system.w,
        system.wg, system.wo, system.root, r, mobility,
    )  # fmt: skip
    if closed:
        _closed_mobility(rods, system, r, mobility)
    for i in range(first, end):
        if rods.held[i]:
            for s in range(6):
                mobility[i, s] = 0.0


@part
def _closed_mobility(rods: Rods, system: System, r: int, mobility: Array) -> None:
    """Subtracts the effect of the closure constraints: V M^-1 (V, seam V)^T with V = J A^-1 U."""
    first, end = rods.start[r], rods.start[r + 1]
    n, loops, inverse, seam = len(rods.arm), system.loops, system.closing[r], system.seam
    for k in range(LOOP):
        p = get3(loops[k], n + r)
        for i in range(first, end):
            # The columns now hold displacements of vertices; the next factorisation overwrites them.
            phi = get3(loops[k], i)
            put3(loops[k], i, p)
            way = cross(phi, get3(system.d3, i))
            p = (p[0] + rods.arm[i] * way[0], p[1] + rods.arm[i] * way[1], p[2] + rods.arm[i] * way[2])
    for i in range(first, end):
        m = 0
        for a in range(3):
            for b in range(a + 1):
                total = 0.0
                for k in range(LOOP):
                    for s in range(3):
                        right = inverse[k, LOOP + s] * loops[s, i, b]
                        for t in range(3):
                            right += inverse[k, LOOP + 3 + s] * seam[r, 3 * t + s] * loops[6 + t, i, b]
                            right += inverse[k, LOOP + 6 + s] * seam[r, 3 * s + t] * loops[3 + t, i, b]
                        total += loops[k, i, a] * right
                mobility[i, m] -= total
                m += 1
