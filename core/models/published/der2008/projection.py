"""Fast manifold projection (Bergou et al. 2008, section 8.1): the nearest configuration whose edges have their rest lengths.

The constraint is C = |e|^2 / 2l - l / 2 (Kirsch 2012, (6.1.1)), whose gradient e / l has a norm of about one. Distances
are in the metric of the kinetic energy. It is given as its inverse, a symmetric matrix per vertex: displacement per impulse.
This is 1/mass for a vertex alone, smaller with air drag, and zero for a held vertex.

Fast projection dissipates, because constraint forces act along the gradients at the end of a step. With `symplectic` they act along
those at its start: this is SHAKE, the leapfrog scheme for constrained systems (Ryckaert et al. 1977), which is symplectic, so that
energy oscillates without drift. Its matrix is that of the start, too, and is factored once a step.
"""

from __future__ import annotations

import math

from ....compile.jit import part
from ....errors import Array
from ....maths.geometry.frames import Vector, dot
from ....maths.geometry.rows import get, put
from ....maths.linalg.tridiagonal import factor_tridiagonal, solve_tridiagonal
from ...elastic.rods import Rods
from .arrays import Motion

TOLERANCE = 1e-8  # relative length error
MOST_ITERATIONS = 30
REGULARISATION = 1e-11  # relative regularisation: a straight rod between two pins has one redundant constraint


@part
def displacement(metric: Array, i: int, f: Vector) -> Vector:
    """Displacement of a vertex under an impulse."""
    return (
        metric[i, 0] * f[0] + metric[i, 1] * f[1] + metric[i, 3] * f[2],
        metric[i, 1] * f[0] + metric[i, 2] * f[1] + metric[i, 4] * f[2],
        metric[i, 3] * f[0] + metric[i, 4] * f[1] + metric[i, 5] * f[2],
    )


@part
def length_errors(rods: Rods, m: Motion, r: int, at_start: bool) -> float:
    """Writes the negative constraints to `multiplier`, and their gradients, at x or `at_start` of the step. Returns the largest
    relative length error."""
    first, end = rods.start[r], rods.start[r + 1]
    x, rest_length, gradient, multiplier = m.x, rods.rest_length, m.gradient, m.multiplier
    worst = 0.0
    for j in range(first, end if rods.closed[r] else end - 1):
        i = j + 1 if j + 1 < end else first
        f = 1.0 / rest_length[j]
        g = (f * (x[i, 0] - x[j, 0]), f * (x[i, 1] - x[j, 1]), f * (x[i, 2] - x[j, 2]))
        off = 0.5 * (dot(g, g) - 1.0)
        if at_start:
            x0 = m.before
            g = (f * (x0[i, 0] - x0[j, 0]), f * (x0[i, 1] - x0[j, 1]), f * (x0[i, 2] - x0[j, 2]))
        put(gradient, j, g)
        multiplier[j] = -off * rest_length[j]
        if rods.held[i, 0] and rods.held[j, 0]:
            multiplier[j] = 0.0  # both ends are prescribed
        else:
            worst = abs(off) if not abs(off) <= worst else worst  # propagates NaN
    return worst


@part
def factor_constraints(rods: Rods, m: Motion, r: int) -> bool:
    """Assembles and factors C' M^-1 C'^T, which is tridiagonal."""
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    gradient, metric, diagonal, beside = m.gradient, m.metric, m.diagonal, m.beside
    count = end - first if closed else end - first - 1
    for j in range(first, first + count):
        i = j + 1 if j + 1 < end else first
        g = get(gradient, j)
        mine, its = displacement(metric, j, g), displacement(metric, i, g)
        d = dot(g, mine) + dot(g, its)
        diagonal[j] = d * (1.0 + REGULARISATION) if d > 0.0 else 1.0
        beside[j] = 0.0
        if closed or j > first:
            beside[j] = -dot(get(gradient, j - 1 if j > first else end - 1), mine)
    return factor_tridiagonal(diagonal, beside, m.fill, first, count, closed, 0.0)


@part
def apply_multipliers(rods: Rods, m: Motion, out: Array, r: int) -> None:
    """Adds M^-1 C'^T multiplier to `out`."""
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    gradient, multiplier = m.gradient, m.multiplier
    for i in range(first, end):
        f = (0.0, 0.0, 0.0)
        if closed or i + 1 < end:
            g, s = get(gradient, i), multiplier[i]
            f = (-s * g[0], -s * g[1], -s * g[2])
        if closed or i > first:
            p = i - 1 if i > first else end - 1
            g, s = get(gradient, p), multiplier[p]
            f = (f[0] + s * g[0], f[1] + s * g[1], f[2] + s * g[2])
        w = displacement(m.metric, i, f)
        for c in range(3):
            out[i, c] += w[c]


@part
def preserve_lengths(rods: Rods, m: Motion, w: Array, r: int) -> None:
    """Projects displacements or velocities w (N, 3) at x onto those that preserve lengths, in the same metric."""
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    count = end - first if closed else end - first - 1
    length_errors(rods, m, r, False)
    for j in range(first, first + count):
        i = j + 1 if j + 1 < end else first
        m.multiplier[j] = 0.0
        for c in range(3):
            m.multiplier[j] -= m.gradient[j, c] * (w[i, c] - w[j, c])
    if factor_constraints(rods, m, r):
        solve_tridiagonal(m.diagonal, m.beside, m.fill, first, count, closed, m.multiplier)
        apply_multipliers(rods, m, w, r)


@part
def project(rods: Rods, m: Motion, r: int, tolerance: float, at_start: bool) -> tuple[int, float]:
    """Moves x onto the constraint manifold, along the constraints' gradients at x or `at_start` of the step. Returns the number of
    iterations and the largest relative length error.

    There is at least one iteration. Iterating only above the tolerance would let edges drift up to it and then kick them back,
    and such kicks would set a rod at rest in motion after thousands of steps (Kirsch 2012)."""
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    count = end - first if closed else end - first - 1
    before = math.inf
    for iteration in range(MOST_ITERATIONS):
        worst = length_errors(rods, m, r, at_start)
        # Without progress there is no solution: the rod's ends are held too far apart.
        if (iteration > 0 and not worst > tolerance) or (iteration > 5 and worst > 0.5 * before):
            return iteration, worst
        before = worst
        if not worst < math.inf:
            return iteration, math.inf
        if (iteration == 0 or not at_start) and not factor_constraints(rods, m, r):
            return iteration, math.inf
        solve_tridiagonal(m.diagonal, m.beside, m.fill, first, count, closed, m.multiplier)
        apply_multipliers(rods, m, m.x, r)
    return MOST_ITERATIONS, length_errors(rods, m, r, at_start)
