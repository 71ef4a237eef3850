"""Newton's method on a stage's potential, and the linear system it solves."""

from __future__ import annotations

import math

from ...compile.jit import part
from ...errors import Array
from ...maths.linalg.bordered_band import BORDER, HALF_WIDTH, factor, factor_bordered, solve, solve_bordered
from .arrays import Arrays, Forces, Geometry, HeldFrames, Rods, Stage, Step, System
from .assemble import place
from .evaluate import evaluate, rebase, update_geometry

LEAST_SIZE = 1e-4  # of a step along Newton's direction


@part
def minimise(
    rods: Rods,
    frames: HeldFrames,
    forces: Forces,
    stage: Stage,
    geometry: Geometry,
    system: System,
    report: Array,
    q: Array,
    r: int,
    h: float,
    step: Step,
    lanes: Array,
) -> bool:
    """From the guess q, whose geometry is up to date. True if it converged.

    The Hessian is the exact one where that is positive definite, and a part of it that always is where not. A step is good if the
    potential falls or if Newton's next step is shorter: an almost inextensible rod lies in a narrow curved valley, along which
    the potential rises before it falls, so that by the potential alone only tiny steps would do. For the same reason the geometric
    stiffness takes the tension that the linear system foresaw and not the one of the edge's length, which a sideways step
    stretches without need: this is Newton's method on positions and tensions together, with the tensions eliminated.
    """
    first, end = rods.start[r], rods.start[r + 1]
    base, gradient, direction, trial, held = system.base, system.gradient, system.step, system.trial, rods.held
    potential = math.inf  # at the base
    largest = math.inf  # the largest entry of the direction from the base
    slope = 0.0
    size = 1.0
    iterations = 0
    while True:
        value = evaluate(rods, frames, forces, stage, geometry, system, q, r, h, lanes, True)
        if not factor_matrix(rods, system, r):
            evaluate(rods, frames, forces, stage, geometry, system, q, r, h, lanes, False)
            if not factor_matrix(rods, system, r):
                return False
        for i in range(first, end):
            for c in range(4):
                trial[4 * i + c] = 0.0 if held[i, c] else -gradient[i, c]
        solve_matrix(rods, system, r, trial)
        trial_slope = 0.0
        trial_largest = 0.0
        for i in range(first, end):
            unit = 1.0 / rods.rest_length[i]
            for c in range(4):
                trial_slope += gradient[i, c] * trial[4 * i + c]
                trial_largest = max(trial_largest, abs(trial[4 * i + c]) * (unit if c < 3 else 1.0))
        iterations += 1
        report[r, 0] += 1.0
        if iterations > step.most_iterations or not trial_largest < 1e9:
            return False
        if trial_largest <= 0.9 * largest or value <= potential + 1e-4 * size * slope:
            rebase(geometry, first, end)
            foresee_tension(rods, stage, geometry, trial, first, end, rods.closed[r], rods.damping_time[r] / h)
            # What is left after this step: the next ones would shrink at least as fast as the last two did.
            rate = min(trial_largest / largest, 0.5) if size == 1.0 and largest < math.inf else 0.5
            left = trial_largest * rate / (1.0 - rate)
            report[r, 1] = left
            if left <= step.tolerance:
                for i in range(first, end):
                    for c in range(4):
                        q[i, c] += trial[4 * i + c]
                return update_geometry(rods, frames, geometry, q, r)
            for i in range(first, end):
                for c in range(4):
                    base[i, c] = q[i, c]
                    direction[i, c] = trial[4 * i + c]
            potential, largest, slope, size = value, trial_largest, trial_slope, 2.0
        while True:
            size *= 0.5
            if size < LEAST_SIZE:
                return False
            for i in range(first, end):
                for c in range(4):
                    q[i, c] = base[i, c] + size * direction[i, c]
            if update_geometry(rods, frames, geometry, q, r):
                break


@part
def linearise(bench: Arrays, h: float, lanes: Array) -> bool:
    """Factors the matrix of a stage of length h at the state on the workbench, whose geometry is up to date."""
    rods, system, q = bench.rods, bench.system, bench.state.q
    evaluate(rods, bench.frames, bench.forces, bench.stage, bench.geometry, system, q, 0, h, lanes, True)
    if factor_matrix(rods, system, 0):
        return True
    evaluate(rods, bench.frames, bench.forces, bench.stage, bench.geometry, system, q, 0, h, lanes, False)
    return factor_matrix(rods, system, 0)


@part
def foresee_tension(
    rods: Rods, stage: Stage, geometry: Geometry, direction: Array, first: int, end: int, closed: bool, weight: float
) -> None:
    t, tension = geometry.t, geometry.tension
    for j in range(first, end if closed else end - 1):
        k = j + 1 if j + 1 < end else first
        change = 0.0
        for c in range(3):
            change += t[j, c] * (direction[4 * k + c] - direction[4 * j + c])
        strain = geometry.stretch[j] + change / rods.rest_length[j]
        tension[j] = rods.stretch[j] * (strain + weight * (strain - stage.stretch[j]))


@part
def factor_matrix(rods: Rods, system: System, r: int) -> bool:
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


@part
def solve_matrix(rods: Rods, system: System, r: int, x: Array) -> None:
    """Solves with the factored matrix, in place; x is (4 N,)."""
    first, end = rods.start[r], rods.start[r + 1]
    n = 4 * (end - first)
    if not rods.closed[r]:
        solve(system.band, 4 * first, n, x)
        return
    packed = system.packed
    for k in range(n):
        packed[4 * first + place(k, n, True)] = x[4 * first + k]
    solve_bordered(system.band, system.border, system.corner[r], 4 * first, n, packed)
    for k in range(n):
        x[4 * first + k] = packed[4 * first + place(k, n, True)]
