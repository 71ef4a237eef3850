"""Newton's method on the potential of a stage, with holds and loop closure as constraints (Zhao et al. 2022, algorithm 1)."""

from __future__ import annotations

import math

from ...compile.jit import part
from ...errors import Array
from ...maths.geometry.frames import cross, dot
from ...maths.linalg.small import get3, put3
from ..ladder import LEAST_SIZE
from ..report import COLUMNS, ITERATIONS, RESIDUAL
from .arrays import ELIMINATION, Forces, Geometry, Rods, Stage, State, Step, System
from .evaluate import evaluate, largest_hold_force, penalty_stiffness
from .forks import clear_forks, pass_to_fork, store_at_fork, sum_at_fork
from .gradients import conjugate_gradients
from .kinematics import displace, root_fixed, save_base
from .matrix import factor_matrix, solve_matrix

LARGEST_ROTATION = 1.0  # rad, largest rotation of an edge per iteration
MET_TOLERANCE = 1e-15  # tolerated violation of holds, relative to the rod's length
MOST_PASSES = 8  # of the correction of holds after convergence

GRADIENTS = COLUMNS  # a column of the report: evaluations of the gradient


@part
def minimise(
    rods: Rods, forces: Forces, stage: Stage, geometry: Geometry, system: System, state: State, report: Array, r: int,
    h: float, step: Step,
) -> bool:  # fmt: skip
    """Minimises the potential from the current iterate. Returns True if it converged.

    The Hessian is exact where that is positive definite, otherwise a positive definite part of it. The multipliers of holds and
    loop closure are unknowns as well, updated in each iteration. A step is accepted if the merit function (11) decreases (the
    potential plus the largest multiplier times the violation), or if the next Newton step is shorter."""
    base_value, base_misses, nu = math.inf, 0.0, 0.0
    largest, slope, size = math.inf, 0.0, 1.0
    iterations = 0
    limit = largest_hold_force(rods, forces, r, h)
    while True:
        penalty = penalty_stiffness(rods, forces, state, r, h)
        value, violations, _ = linearise(rods, forces, stage, geometry, system, state, report, r, h, penalty, step)
        if value == math.inf:
            return False
        trial_slope, trial_largest, trial_turn = measure_step(rods, geometry, system.gradient, system.trial, r)
        iterations += 1
        report[r, ITERATIONS] += 1.0
        if iterations > step.most_iterations or not trial_largest < 1e9:
            return False
        falls = value + nu * violations <= base_value + nu * base_misses + 1e-4 * size * slope
        if trial_largest <= 0.9 * largest or falls:
            nu = max(nu, 2.0 * update_multipliers(rods, geometry, system, state, r, penalty, limit))
            # Estimated error after this step, assuming that the step lengths keep shrinking at the present rate.
            rate = min(trial_largest / largest, 0.5) if size == 1.0 and largest < math.inf else 0.5
            left = trial_largest * rate / (1.0 - rate)
            report[r, RESIDUAL] = left
            save_base(rods, state, system, r)
            copy_step(rods, system.trial, 1.0, system.direction, r)
            if left <= step.tolerance:
                displace(rods, state, geometry, system, system.direction, 1.0, r)
                if step.solver == ELIMINATION or rods.closed[r]:
                    satisfy_holds(rods, geometry, system, state, r, penalty, limit)
                return True
            base_value, base_misses, largest, slope = value, violations, trial_largest, min(trial_slope, 0.0)
            size = 1.0 if trial_turn < LARGEST_ROTATION else LARGEST_ROTATION / trial_turn
        else:
            size *= 0.5
        if size < LEAST_SIZE:
            return False
        displace(rods, state, geometry, system, system.direction, size, r)


@part
def linearise(
    rods: Rods, forces: Forces, stage: Stage, geometry: Geometry, system: System, state: State, report: Array, r: int,
    h: float, penalty: float, step: Step,
) -> tuple[float, float, float]:  # fmt: skip
    """Writes the Newton step from the iterate to system.trial. Returns the values of `evaluate`; infinity if there is no step."""
    for attempt in range(0 if step.exact else 1, 2):
        value, violations, most = evaluate(rods, forces, stage, geometry, system, state, r, h, penalty, attempt == 0)
        copy_step(rods, system.gradient, -1.0, system.trial, r)
        if step.solver == ELIMINATION or rods.closed[r]:
            if factor_matrix(rods, geometry, system, r):
                solve_matrix(rods, geometry, system, system.trial, r, 1.0)
                return value, violations, most
        else:
            count = conjugate_gradients(rods, geometry, system, r, step.solver)
            if count >= 0:
                report[r, GRADIENTS] += count
                return value, violations, most
    return math.inf, 0.0, 0.0


@part
def copy_step(rods: Rods, source: Array, factor: float, target: Array, r: int) -> None:
    """target = factor * source (N + R, 3), of rod r."""
    n = len(rods.arm)
    for j in range(rods.start[r], rods.start[r + 1] + 1):
        k = j if j < rods.start[r + 1] else n + r
        for c in range(3):
            target[k, c] = factor * source[k, c]


@part
def measure_step(rods: Rods, geometry: Geometry, gradient: Array, trial: Array, r: int) -> tuple[float, float, float]:
    """Directional derivative of the potential along a step; its maximum norm in segment lengths or radians; its largest
    rotation."""
    first, n = rods.start[r], len(rods.arm)
    slope, largest, turns = 0.0, 0.0, 0.0
    p = get3(trial, n + r)
    for c in range(3):
        slope += gradient[n + r, c] * trial[n + r, c]
    for i in range(first, rods.start[r + 1]):
        p = sum_at_fork(geometry.carry, rods.of_fork, i, p)
        size = max(abs(p[0]), abs(p[1]), abs(p[2])) / rods.rest_length[i]
        largest = size if not size <= largest else largest  # propagates NaN
        if rods.edge[i]:
            phi = get3(trial, i)
            slope += dot(get3(gradient, i), phi)
            turn = max(abs(phi[0]), abs(phi[1]), abs(phi[2]))
            turns = turn if not turn <= turns else turns
            way = cross(phi, get3(geometry.d3, i))
            p = (p[0] + rods.arm[i] * way[0], p[1] + rods.arm[i] * way[1], p[2] + rods.arm[i] * way[2])
            store_at_fork(geometry.carry, rods.fork, i, p)
    return slope, turns if not turns <= largest else largest, turns


@part
def update_multipliers(
    rods: Rods, geometry: Geometry, system: System, state: State, r: int, penalty: float, limit: float
) -> float:
    """Updates the multipliers of holds and loop closure to their values after system.trial. Returns the largest."""
    first, end, n = rods.start[r], rods.start[r + 1], len(rods.arm)
    fixed = root_fixed(rods, r)
    trial, hold_force, violation = system.trial, state.hold_force, geometry.violation
    most = 0.0
    p = get3(trial, n + r)
    for i in range(first, end):
        p = sum_at_fork(geometry.carry, rods.of_fork, i, p)
        if rods.held[i] and not (fixed and i == first):
            u = get3(rods.rail, i)
            along = dot(p, u)
            for c in range(3):
                new = hold_force[i, c] - penalty * (violation[i, c] + p[c] - along * u[c])
                hold_force[i, c] = max(-limit, min(limit, new))
                most = max(most, abs(hold_force[i, c]))
        if rods.edge[i]:
            way = cross(get3(trial, i), get3(system.d3, i))
            p = (p[0] + rods.arm[i] * way[0], p[1] + rods.arm[i] * way[1], p[2] + rods.arm[i] * way[2])
            store_at_fork(geometry.carry, rods.fork, i, p)
    if rods.closed[r]:
        for c in range(3):
            state.loop_force[r, c] -= system.closed_by[r, c]
            most = max(most, abs(state.loop_force[r, c]))
    return float(most)


@part
def satisfy_holds(
    rods: Rods, geometry: Geometry, system: System, state: State, r: int, penalty: float, limit: float
) -> None:
    """Newton's last step is linear in the rotations, the motion of the vertices is not. This corrects the remaining violations
    of holds and loop closure with the factored matrix, as long as they decrease."""
    before, length = math.inf, _length(rods, r)
    for _ in range(MOST_PASSES):
        violation = largest_violation(rods, geometry, r)
        if not MET_TOLERANCE * length < violation < 0.5 * before:
            break
        before = violation
        _penalty_forces(rods, geometry, system, r, penalty)
        solve_matrix(rods, geometry, system, system.trial, r, 1.0)
        update_multipliers(rods, geometry, system, state, r, penalty, limit)
        save_base(rods, state, system, r)
        displace(rods, state, geometry, system, system.trial, 1.0, r)
        if not largest_violation(rods, geometry, r) < violation:
            displace(rods, state, geometry, system, system.trial, 0.0, r)
            break


@part
def _penalty_forces(rods: Rods, geometry: Geometry, system: System, r: int, penalty: float) -> None:
    """Right-hand side of the penalty springs at the holds."""
    out = system.trial
    first, end, n = rods.start[r], rods.start[r + 1], len(rods.arm)
    clear_forks(geometry.carry, rods.forks, r)
    f = (0.0, 0.0, 0.0)
    for i in range(end - 1, first - 1, -1):
        f = sum_at_fork(geometry.carry, rods.fork, i, f)
        m = cross(get3(system.d3, i), f) if rods.edge[i] else (0.0, 0.0, 0.0)
        put3(out, i, (rods.arm[i] * m[0], rods.arm[i] * m[1], rods.arm[i] * m[2]))
        if rods.held[i]:
            violation = get3(geometry.violation, i)
            f = (f[0] - penalty * violation[0], f[1] - penalty * violation[1], f[2] - penalty * violation[2])
        f = pass_to_fork(geometry.carry, rods.of_fork, i, f)
    put3(out, n + r, f)


@part
def largest_violation(rods: Rods, geometry: Geometry, r: int) -> float:
    """m, largest violation of a hold or gap of a loop."""
    most = 0.0
    fixed = root_fixed(rods, r)
    for i in range(rods.start[r], rods.start[r + 1]):
        if rods.held[i] and not (fixed and i == rods.start[r]):
            for c in range(3):
                most = max(most, abs(geometry.violation[i, c]))
    if rods.closed[r]:
        for c in range(3):
            most = max(most, abs(geometry.gap[r, c]))
    return float(most)


@part
def _length(rods: Rods, r: int) -> float:
    total = 0.0
    for j in range(rods.start[r], rods.start[r + 1]):
        total += rods.rest_length[j]
    return float(total)
