"""Newton's method on a stage's potential, with holds and loops as constraints (2022 paper, algorithm 1)."""

from __future__ import annotations

import math

from ...compile.jit import part
from ...errors import Array
from ...maths.geometry.frames import cross, dot
from ...maths.linalg.small import get3, put3
from ..ladder import LEAST_SIZE
from ..report import COLUMNS, ITERATIONS, RESIDUAL
from .arrays import ELIMINATION, Forces, Geometry, Rods, Stage, State, Step, System
from .evaluate import evaluate, firmness, largest_pull
from .forks import carried, clear_forks, hand_down, leave
from .gradients import conjugate_gradients
from .kinematics import displace, keep_base, root_fixed
from .matrix import factor_matrix, solve_matrix

FARTHEST = 1.0  # rad that an edge turns in an iteration
MET = 1e-15  # of the rod's length: by so much holds may be missed
MOST_PASSES = 8  # that only serve to meet holds

GRADIENTS = COLUMNS  # a column of the report: evaluations of the gradient


@part
def minimise(
    rods: Rods, forces: Forces, stage: Stage, geometry: Geometry, system: System, state: State, report: Array, r: int,
    h: float, step: Step,
) -> bool:  # fmt: skip
    """From the iterate as it is placed. True if it converged.

    The Hessian is the exact one where that is positive definite, and a part of it that always is where not. Forces of holds
    and loops are unknowns as well: each iteration finds them together with its step. A step is good if the merit function
    (11) falls, the potential plus the largest of those forces times what is missed, or if Newton's next step is shorter.
    """
    base_value, base_misses, nu = math.inf, 0.0, 0.0
    largest, slope, size = math.inf, 0.0, 1.0
    iterations = 0
    limit = largest_pull(rods, forces, r, h)
    while True:
        firm = firmness(rods, forces, state, r, h)
        value, misses, _ = linearise(rods, forces, stage, geometry, system, state, report, r, h, firm, step)
        if value == math.inf:
            return False
        trial_slope, trial_largest, trial_turn = weigh(rods, geometry, system.gradient, system.trial, r)
        iterations += 1
        report[r, ITERATIONS] += 1.0
        if iterations > step.most_iterations or not trial_largest < 1e9:
            return False
        falls = value + nu * misses <= base_value + nu * base_misses + 1e-4 * size * slope
        if trial_largest <= 0.9 * largest or falls:
            nu = max(nu, 2.0 * foresee(rods, geometry, system, state, r, firm, limit))
            # What is left after this step: the next ones would shrink at least as fast as the last two did.
            rate = min(trial_largest / largest, 0.5) if size == 1.0 and largest < math.inf else 0.5
            left = trial_largest * rate / (1.0 - rate)
            report[r, RESIDUAL] = left
            keep_base(rods, state, system.base_q, system.base_root, r)
            _keep_direction(rods, system, r)
            if left <= step.tolerance:
                displace(rods, state, geometry, system.base_q, system.base_root, system.direction, 1.0, r)
                if step.solver == ELIMINATION or rods.closed[r]:
                    meet_holds(rods, geometry, system, state, r, firm, limit)
                return True
            base_value, base_misses, largest, slope = value, misses, trial_largest, min(trial_slope, 0.0)
            size = 1.0 if trial_turn < FARTHEST else FARTHEST / trial_turn
        else:
            size *= 0.5
        if size < LEAST_SIZE:
            return False
        displace(rods, state, geometry, system.base_q, system.base_root, system.direction, size, r)


@part
def linearise(
    rods: Rods, forces: Forces, stage: Stage, geometry: Geometry, system: System, state: State, report: Array, r: int,
    h: float, firm: float, step: Step,
) -> tuple[float, float, float]:  # fmt: skip
    """Newton's step from the iterate into system.trial. Returns what `evaluate` does; infinite where there is no step."""
    for attempt in range(0 if step.exact else 1, 2):
        value, misses, most = evaluate(rods, forces, stage, geometry, system, state, r, h, firm, attempt == 0)
        copy_negative(rods, system.gradient, system.trial, r)
        if step.solver == ELIMINATION or rods.closed[r]:
            if factor_matrix(rods, geometry, system, r):
                solve_matrix(rods, geometry, system, system.trial, r, 1.0)
                return value, misses, most
        else:
            count = conjugate_gradients(rods, geometry, system, r, step.solver)
            if count >= 0:
                report[r, GRADIENTS] += count
                return value, misses, most
    return math.inf, 0.0, 0.0


@part
def copy_negative(rods: Rods, gradient: Array, trial: Array, r: int) -> None:
    n = len(rods.arm)
    for j in range(rods.start[r], rods.start[r + 1]):
        for c in range(3):
            trial[j, c] = -gradient[j, c]
    for c in range(3):
        trial[n + r, c] = -gradient[n + r, c]


@part
def _keep_direction(rods: Rods, system: System, r: int) -> None:
    n = len(rods.arm)
    for j in range(rods.start[r], rods.start[r + 1]):
        for c in range(3):
            system.direction[j, c] = system.trial[j, c]
    for c in range(3):
        system.direction[n + r, c] = system.trial[n + r, c]


@part
def weigh(rods: Rods, geometry: Geometry, gradient: Array, trial: Array, r: int) -> tuple[float, float, float]:
    """How the potential changes along a step; how far it goes at most, in segment lengths or radians; how far it turns an edge."""
    first, n = rods.start[r], len(rods.arm)
    slope, largest, turns = 0.0, 0.0, 0.0
    p = get3(trial, n + r)
    for c in range(3):
        slope += gradient[n + r, c] * trial[n + r, c]
    for i in range(first, rods.start[r + 1]):
        p = carried(geometry.carry, rods.of_fork, i, p)
        size = max(abs(p[0]), abs(p[1]), abs(p[2])) / rods.rest_length[i]
        largest = size if not size <= largest else largest  # a NaN comes through
        if rods.edge[i]:
            phi = get3(trial, i)
            slope += dot(get3(gradient, i), phi)
            turn = max(abs(phi[0]), abs(phi[1]), abs(phi[2]))
            turns = turn if not turn <= turns else turns
            way = cross(phi, get3(geometry.d3, i))
            p = (p[0] + rods.arm[i] * way[0], p[1] + rods.arm[i] * way[1], p[2] + rods.arm[i] * way[2])
            leave(geometry.carry, rods.fork, i, p)
    return slope, turns if not turns <= largest else largest, turns


@part
def foresee(rods: Rods, geometry: Geometry, system: System, state: State, r: int, firm: float, limit: float) -> float:
    """The forces of holds and loops after system.trial, as the linear system has them. Returns the largest."""
    first, end, n = rods.start[r], rods.start[r + 1], len(rods.arm)
    fixed = root_fixed(rods, r)
    trial, pull, miss = system.trial, state.pull, geometry.miss
    most = 0.0
    p = get3(trial, n + r)
    for i in range(first, end):
        p = carried(geometry.carry, rods.of_fork, i, p)
        if rods.held[i] and not (fixed and i == first):
            u = get3(rods.rail, i)
            along = dot(p, u)
            for c in range(3):
                new = pull[i, c] - firm * (miss[i, c] + p[c] - along * u[c])
                pull[i, c] = max(-limit, min(limit, new))
                most = max(most, abs(pull[i, c]))
        if rods.edge[i]:
            way = cross(get3(trial, i), get3(system.d3, i))
            p = (p[0] + rods.arm[i] * way[0], p[1] + rods.arm[i] * way[1], p[2] + rods.arm[i] * way[2])
            leave(geometry.carry, rods.fork, i, p)
    if rods.closed[r]:
        for c in range(3):
            state.loop[r, c] -= system.closed_by[r, c]
            most = max(most, abs(state.loop[r, c]))
    return float(most)


@part
def meet_holds(rods: Rods, geometry: Geometry, system: System, state: State, r: int, firm: float, limit: float) -> None:
    """Newton's last step is straight, the ways of the vertices are not. What holds and loops are missed by after it is made
    up for with the factored matrix at hand, as long as that gets better."""
    before, length = math.inf, _length(rods, r)
    for _ in range(MOST_PASSES):
        miss = missed(rods, geometry, r)
        if not MET * length < miss < 0.5 * before:
            break
        before = miss
        _pull_back(rods, geometry, system, r, firm)
        solve_matrix(rods, geometry, system, system.trial, r, 1.0)
        foresee(rods, geometry, system, state, r, firm, limit)
        keep_base(rods, state, system.base_q, system.base_root, r)
        displace(rods, state, geometry, system.base_q, system.base_root, system.trial, 1.0, r)
        if not missed(rods, geometry, r) < miss:
            displace(rods, state, geometry, system.base_q, system.base_root, system.trial, 0.0, r)
            break


@part
def _pull_back(rods: Rods, geometry: Geometry, system: System, r: int, firm: float) -> None:
    """What springs at the holds push with, as a right-hand side."""
    out = system.trial
    first, end, n = rods.start[r], rods.start[r + 1], len(rods.arm)
    clear_forks(geometry.carry, rods.forks, r)
    f = (0.0, 0.0, 0.0)
    for i in range(end - 1, first - 1, -1):
        f = carried(geometry.carry, rods.fork, i, f)
        m = cross(get3(system.d3, i), f) if rods.edge[i] else (0.0, 0.0, 0.0)
        put3(out, i, (rods.arm[i] * m[0], rods.arm[i] * m[1], rods.arm[i] * m[2]))
        if rods.held[i]:
            miss = get3(geometry.miss, i)
            f = (f[0] - firm * miss[0], f[1] - firm * miss[1], f[2] - firm * miss[2])
        f = hand_down(geometry.carry, rods.of_fork, i, f)
    put3(out, n + r, f)


@part
def missed(rods: Rods, geometry: Geometry, r: int) -> float:
    """The most by which a hold is missed or a loop open."""
    most = 0.0
    fixed = root_fixed(rods, r)
    for i in range(rods.start[r], rods.start[r + 1]):
        if rods.held[i] and not (fixed and i == rods.start[r]):
            for c in range(3):
                most = max(most, abs(geometry.miss[i, c]))
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
