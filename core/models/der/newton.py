"""Newton's method on a stage's potential, and the linear system it solves."""

from __future__ import annotations

import math

from ...jit import kernel
from ...linalg.bordered_band import BORDER, HALF_WIDTH, factor, factor_bordered, solve, solve_bordered
from .evaluate import evaluate, place, rebase, update_geometry

MOST_BACKTRACKS = 12


@kernel
def minimise(rods, frames, forces, stage, geometry, system, report, q, r, h, step, w):  # type: ignore[no-untyped-def]
    """From the guess q, whose geometry is up to date. The exact Hessian where it is positive definite, a part of it that always
    is where not, and a line search on the potential. True if it converged."""
    first, end = rods.start[r], rods.start[r + 1]
    base, gradient, direction, held = system.base, system.gradient, system.step, rods.held
    potential = math.inf  # at the base of the line search
    slope = 0.0
    size = 1.0
    iterations = 0
    exact = True
    usable = True  # the geometry at q could be computed
    while True:
        # q is the guess, or a trial along the direction, or (with exact False) an accepted point met before.
        value = math.inf
        if usable:
            value = evaluate(rods, frames, forces, stage, geometry, system, q, r, h, w, exact)
        if iterations == 0 and not value < math.inf:
            return False
        # Round-off of the potential's parts must not stop a search that is at its end.
        slack = 1e-12 * (abs(potential) + abs(value)) if potential < math.inf else 0.0
        if exact and not value <= potential + 1e-4 * size * slope + slack:
            size *= 0.5
            if size < 0.5**MOST_BACKTRACKS:
                return False
        else:
            potential = value
            if not factor_matrix(rods, system, r):
                if not exact:
                    return False
                exact = False
                continue
            exact = True
            for i in range(first, end):
                for c in range(4):
                    base[i, c] = q[i, c]
                    direction[i, c] = 0.0 if held[i, c] else -gradient[i, c]
            solve_matrix(rods, system, r, direction)
            slope = 0.0
            largest = 0.0
            for i in range(first, end):
                unit = 1.0 / rods.rest_length[i]
                for c in range(4):
                    slope += gradient[i, c] * direction[i, c]
                    largest = max(largest, abs(direction[i, c]) * (unit if c < 3 else 1.0))
            iterations += 1
            report[r, 0] += 1.0
            report[r, 1] = largest
            if not largest < 1e9:
                return False
            rebase(geometry, first, end)
            size = 1.0
            if largest <= step.tolerance:
                # Newton converges quadratically: what is left after this step is far below the tolerance.
                for i in range(first, end):
                    for c in range(4):
                        q[i, c] += direction[i, c]
                return update_geometry(rods, frames, geometry, q, r)
            if iterations >= step.most_iterations:
                return False
        for i in range(first, end):
            for c in range(4):
                q[i, c] = base[i, c] + size * direction[i, c]
        usable = update_geometry(rods, frames, geometry, q, r)


@kernel
def factor_matrix(rods, system, r):  # type: ignore[no-untyped-def]
    """Takes the held unknowns out of the matrix and factors it. False if it is not positive definite."""
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    band, border, corner = system.band, system.border, system.corner
    n = 4 * (end - first)
    inner = n - BORDER if closed else n
    for i in range(first, end):
        for c in range(4):
            if not rods.held[i, c]:
                continue
            k = place(4 * (i - first) + c, n, closed)
            if k >= inner:
                k -= inner
                for s in range(BORDER):
                    corner[r, max(k, s), min(k, s)] = 0.0
                corner[r, k, k] = 1.0
                for s in range(inner):
                    border[4 * first + s, k] = 0.0
            else:
                for s in range(1, HALF_WIDTH + 1):
                    band[4 * first + k, s] = 0.0
                    if k >= s:
                        band[4 * first + k - s, s] = 0.0
                band[4 * first + k, 0] = 1.0
                if closed:
                    for s in range(BORDER):
                        border[4 * first + k, s] = 0.0
    if closed:
        return factor_bordered(band, border, corner[r], 4 * first, n)
    return factor(band, 4 * first, n)


@kernel
def solve_matrix(rods, system, r, x):  # type: ignore[no-untyped-def]
    """Solves with the factored matrix, in place; x is (N, 4)."""
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    packed = system.packed
    n = 4 * (end - first)
    for k in range(n):
        packed[4 * first + place(k, n, closed)] = x[first + k // 4, k % 4]
    if closed:
        solve_bordered(system.band, system.border, system.corner[r], 4 * first, n, packed)
    else:
        solve(system.band, 4 * first, n, packed)
    for k in range(n):
        x[first + k // 4, k % 4] = packed[4 * first + place(k, n, closed)]
