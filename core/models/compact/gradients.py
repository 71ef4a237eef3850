"""Preconditioned conjugate gradients on A = J^T H J (Zhao et al. 2022): products by prefix sums and three preconditioners, all
in O(n).

The hybrid preconditioner (22) consists of the exact block-tridiagonal matrix of the rotations and of the diagonal blocks B_j^T
(sum of the H beyond j) B_j of the vertices' inertia. As in the paper, H does not couple positions with rotations.
"""

from __future__ import annotations

import math

from ...compile.jit import part
from ...errors import Array
from ...maths.geometry.frames import cross
from ...maths.linalg.chain import ZERO, add_carried9, carried9
from ...maths.linalg.small import (
    add3,
    decompose,
    full,
    get3,
    get6,
    get9,
    matvec,
    matvec_t,
    plus,
    put3,
    put6,
    scaled,
    skew,
    solved,
    solved_columns,
    symmetric,
    times,
    transposed,
)
from .arrays import BLOCK_DIAGONAL, HYBRID, Geometry, Rods, System
from .forks import clear_forks, pass_to_fork, store_at_fork, sum_at_fork
from .kinematics import root_fixed

TOLERANCE = 1e-7  # residual norm relative to that of the right-hand side
MOST = 20_000


@part
def multiply(rods: Rods, geometry: Geometry, system: System, x: Array, out: Array, r: int) -> None:
    """out = A x without contact stiffness: forwards the motion of the vertices, backwards the forces on them; (18), (19)."""
    first, end, n = rods.start[r], rods.start[r + 1], len(rods.arm)
    h, d, o, d3, arm = system.h, system.d, system.o, geometry.d3, rods.arm
    p = get3(x, n + r)
    force = system.krylov[3]
    for i in range(first, end):
        p = sum_at_fork(geometry.carry, rods.of_fork, i, p)
        put3(force, i, matvec(full(get6(h, i)), p))
        own = (0.0, 0.0, 0.0)
        if rods.edge[i]:
            phi = get3(x, i)
            own = matvec(full(get6(d, i)), phi)
            if i > first:
                before = rods.before[i]
                below = matvec(get9(o, i), get3(x, before))
                own = (own[0] + below[0], own[1] + below[1], own[2] + below[2])
                add3(out, before, matvec_t(get9(o, i), phi), 1.0)
            way = cross(phi, get3(d3, i))
            p = (p[0] + arm[i] * way[0], p[1] + arm[i] * way[1], p[2] + arm[i] * way[2])
            store_at_fork(geometry.carry, rods.fork, i, p)
        put3(out, i, own)
    if rods.closed[r]:
        add3(out, first, matvec(get9(system.seam, r), get3(x, end - 1)), 1.0)
        add3(out, end - 1, matvec_t(get9(system.seam, r), get3(x, first)), 1.0)
    clear_forks(geometry.carry, rods.forks, r)
    f = (0.0, 0.0, 0.0)
    for i in range(end - 1, first - 1, -1):
        f = sum_at_fork(geometry.carry, rods.fork, i, f)
        if rods.edge[i]:
            add3(out, i, cross(get3(d3, i), f), arm[i])
        g = get3(force, i)
        f = pass_to_fork(geometry.carry, rods.of_fork, i, (f[0] + g[0], f[1] + g[1], f[2] + g[2]))
    put3(out, n + r, (0.0, 0.0, 0.0) if root_fixed(rods, r) else f)


@part
def precondition(rods: Rods, geometry: Geometry, system: System, r: int, kind: int) -> bool:
    """Factors the preconditioner: (22) by the block Thomas algorithm, its diagonal blocks only, or its diagonal."""
    first, end = rods.start[r], rods.start[r + 1]
    d3, arm, thomas, carry = geometry.d3, rods.arm, system.thomas, geometry.carry
    clear_forks(carry, rods.forks, r)
    beyond, eliminated = ZERO, ZERO
    good = True
    for j in range(end - 1, first - 1, -1):
        if not rods.edge[j]:
            beyond = full(get6(system.h, j))
            continue
        if rods.fork[j] >= 0:
            beyond, eliminated = carried9(carry, rods.fork[j], 0), carried9(carry, rods.fork[j], 1)
        put3(system.d3, j, get3(d3, j))
        b = skew(get3(d3, j), -arm[j])
        block = plus(times(times(transposed(b), beyond), b), full(get6(system.d, j)))
        beyond = plus(beyond, full(get6(system.h, j)))
        s = symmetric(block)
        if kind == HYBRID:
            s = symmetric(plus(block, scaled(eliminated, -1.0)))
        elif kind != BLOCK_DIAGONAL:
            s = (s[0], 0.0, s[2], 0.0, 0.0, s[5])
        fine, factor = decompose(s)
        good = good and fine
        put6(thomas, j, factor)
        if kind == HYBRID:
            below = get9(system.o, j)
            right = solved_columns(factor, below)
            eliminated = times(transposed(below), right)
            for e, value in enumerate(right):
                thomas[j, 6 + e] = value
        if rods.of_fork[j] >= 0:
            add_carried9(carry, rods.of_fork[j], 0, beyond)
            add_carried9(carry, rods.of_fork[j], 1, eliminated)
            beyond, eliminated = ZERO, ZERO
    fine, factor = decompose(symmetric(beyond))
    put6(system.root, r, factor)
    return good and fine


@part
def apply(rods: Rods, geometry: Geometry, system: System, x: Array, out: Array, r: int, kind: int) -> None:
    """out = P^-1 x."""
    first, end, n = rods.start[r], rods.start[r + 1], len(rods.arm)
    thomas, carry = system.thomas, geometry.carry
    if root_fixed(rods, r):
        put3(out, n + r, (0.0, 0.0, 0.0))
    else:
        put3(out, n + r, solved(get6(system.root, r), get3(x, n + r)))
    if kind != HYBRID:
        for j in range(first, end):
            put3(out, j, solved(get6(thomas, j), get3(x, j)) if rods.edge[j] else (0.0, 0.0, 0.0))
        return
    clear_forks(carry, rods.forks, r)
    z = (0.0, 0.0, 0.0)
    for j in range(end - 1, first - 1, -1):
        if not rods.edge[j]:
            put3(out, j, (0.0, 0.0, 0.0))
            continue
        z = sum_at_fork(carry, rods.fork, j, z)
        b = (x[j, 0] - z[0], x[j, 1] - z[1], x[j, 2] - z[2])
        put3(out, j, solved(get6(thomas, j), b))
        z = pass_to_fork(carry, rods.of_fork, j, matvec_t(_beside(thomas, j), b))
    for j in range(first + 1, end):
        if rods.edge[j]:
            add3(out, j, matvec(_beside(thomas, j), get3(out, rods.before[j])), -1.0)


@part
def _beside(thomas: Array, j: int) -> tuple[float, float, float, float, float, float, float, float, float]:
    return (
        thomas[j, 6], thomas[j, 7], thomas[j, 8], thomas[j, 9], thomas[j, 10], thomas[j, 11], thomas[j, 12], thomas[j, 13],
        thomas[j, 14],
    )  # fmt: skip


@part
def conjugate_gradients(rods: Rods, geometry: Geometry, system: System, r: int, kind: int) -> int:
    """Solves A x = b, in place in system.trial. Returns the number of iterations; -1 if A is not positive definite."""
    if not precondition(rods, geometry, system, r, kind):
        return -1
    x, res, z, p = system.trial, system.krylov[0], system.krylov[1], system.krylov[2]
    ap = system.krylov[4]
    n = len(rods.arm)
    begin, end, root = rods.start[r], rods.start[r + 1], n + r
    if root_fixed(rods, r):
        put3(x, root, (0.0, 0.0, 0.0))
    goal, old = 0.0, 0.0
    for k in range(begin, end + 1):
        j = k if k < end else root
        for c in range(3):
            if k < end and (rods.edge_framed[j] or not rods.edge[j]):
                x[j, c] = 0.0
            res[j, c] = x[j, c]
            x[j, c] = 0.0
            p[j, c] = 0.0
            goal += res[j, c] * res[j, c]
    goal = TOLERANCE * math.sqrt(goal)
    for count in range(MOST):
        size = 0.0
        for k in range(begin, end + 1):
            j = k if k < end else root
            size += res[j, 0] * res[j, 0] + res[j, 1] * res[j, 1] + res[j, 2] * res[j, 2]
        if not math.sqrt(size) > goal:
            return count
        apply(rods, geometry, system, res, z, r, kind)
        product = 0.0
        for k in range(begin, end + 1):
            j = k if k < end else root
            product += res[j, 0] * z[j, 0] + res[j, 1] * z[j, 1] + res[j, 2] * z[j, 2]
        factor = product / old if count > 0 else 0.0
        for k in range(begin, end + 1):
            j = k if k < end else root
            for c in range(3):
                p[j, c] = z[j, c] + factor * p[j, c]
        old = product
        multiply(rods, geometry, system, p, ap, r)
        curvature = 0.0
        for k in range(begin, end + 1):
            j = k if k < end else root
            curvature += p[j, 0] * ap[j, 0] + p[j, 1] * ap[j, 1] + p[j, 2] * ap[j, 2]
        if not curvature > 0.0:
            return -1
        alpha = product / curvature
        for k in range(begin, end + 1):
            j = k if k < end else root
            for c in range(3):
                x[j, c] += alpha * p[j, c]
                res[j, c] -= alpha * ap[j, c]
    return MOST
