"""Fast manifold projection (section 8.1 of the paper): the nearest configuration whose edges have their lengths.

The constraint is that of the thesis (6.1.1), C = |e|^2 / 2l - l / 2, whose gradient e / l has about length one. "Near" is meant
in the metric of the kinetic energy, which is given as its inverse: a symmetric matrix per vertex that says by how much it gives way
to an impulse. It is 1/mass for a vertex by itself, less where air resists, zero where it is held; a rigid body that carries
a vertex gives that of the body there, and feels the multiplier of the edge along its gradient.
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

TOLERANCE = 1e-8  # of the length of an edge
MOST_ITERATIONS = 30
REGULAR = 1e-11  # of the diagonal: a straight rod between two pins has one constraint more than it needs


@part
def give_way(metric: Array, i: int, f: Vector) -> Vector:
    """A vertex's motion under an impulse."""
    return (
        metric[i, 0] * f[0] + metric[i, 1] * f[1] + metric[i, 3] * f[2],
        metric[i, 1] * f[0] + metric[i, 2] * f[1] + metric[i, 4] * f[2],
        metric[i, 3] * f[0] + metric[i, 4] * f[1] + metric[i, 5] * f[2],
    )


@part
def lengths_off(rods: Rods, m: Motion, r: int) -> float:
    """Constraints into `multiplier`, with the opposite sign, and their gradients. Returns the largest, in lengths of the edge."""
    first, end = rods.start[r], rods.start[r + 1]
    x, rest_length, gradient, multiplier = m.x, rods.rest_length, m.gradient, m.multiplier
    worst = 0.0
    for j in range(first, end if rods.closed[r] else end - 1):
        i = j + 1 if j + 1 < end else first
        f = 1.0 / rest_length[j]
        g = (f * (x[i, 0] - x[j, 0]), f * (x[i, 1] - x[j, 1]), f * (x[i, 2] - x[j, 2]))
        put(gradient, j, g)
        off = 0.5 * (dot(g, g) - 1.0)
        multiplier[j] = -off * rest_length[j]
        if rods.held[i, 0] and rods.held[j, 0]:
            multiplier[j] = 0.0  # nothing can be done about it
        else:
            worst = abs(off) if not abs(off) <= worst else worst  # a NaN comes through
    return worst


@part
def factor_constraints(rods: Rods, m: Motion, r: int) -> bool:
    """C' M^-1 C'^T of the gradients, factored: each edge touches its two neighbours."""
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    gradient, metric, diagonal, beside = m.gradient, m.metric, m.diagonal, m.beside
    count = end - first if closed else end - first - 1
    for j in range(first, first + count):
        i = j + 1 if j + 1 < end else first
        g = get(gradient, j)
        mine, its = give_way(metric, j, g), give_way(metric, i, g)
        d = dot(g, mine) + dot(g, its)
        diagonal[j] = d * (1.0 + REGULAR) if d > 0.0 else 1.0
        beside[j] = 0.0
        if closed or j > first:
            beside[j] = -dot(get(gradient, j - 1 if j > first else end - 1), mine)
    return factor_tridiagonal(diagonal, beside, m.fill, first, count, closed, 0.0)


@part
def give_way_to_multipliers(rods: Rods, m: Motion, out: Array, r: int) -> None:
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
        w = give_way(m.metric, i, f)
        for c in range(3):
            out[i, c] += w[c]


@part
def keep_lengths(rods: Rods, m: Motion, w: Array, r: int) -> None:
    """Takes out of displacements or velocities w (N, 3) at x what would change lengths, in the same metric."""
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    count = end - first if closed else end - first - 1
    lengths_off(rods, m, r)
    for j in range(first, first + count):
        i = j + 1 if j + 1 < end else first
        m.multiplier[j] = 0.0
        for c in range(3):
            m.multiplier[j] -= m.gradient[j, c] * (w[i, c] - w[j, c])
    if factor_constraints(rods, m, r):
        solve_tridiagonal(m.diagonal, m.beside, m.fill, first, count, closed, m.multiplier)
        give_way_to_multipliers(rods, m, w, r)


@part
def project(rods: Rods, m: Motion, r: int, tolerance: float) -> tuple[int, float]:
    """Moves x to where the edges have their lengths. Returns iterations, and how far they are off at the end.

    There is one at least. Whoever waits until edges are off by more than the tolerance lets them creep up to it and then kicks them
    back: of such kicks a rod at rest begins to move after thousands of steps, as the thesis saw."""
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    count = end - first if closed else end - first - 1
    before = math.inf
    for iteration in range(MOST_ITERATIONS):
        worst = lengths_off(rods, m, r)
        # Where it stops getting better there is no such configuration: the rod is held by ends too far apart.
        if (iteration > 0 and not worst > tolerance) or (iteration > 5 and worst > 0.5 * before):
            return iteration, worst
        before = worst
        if not worst < math.inf or not factor_constraints(rods, m, r):
            return iteration, math.inf
        solve_tridiagonal(m.diagonal, m.beside, m.fill, first, count, closed, m.multiplier)
        give_way_to_multipliers(rods, m, m.x, r)
    return MOST_ITERATIONS, lengths_off(rods, m, r)
