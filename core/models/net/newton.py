"""Newton's method on a stage's potential, and the linear system it solves. The ideas are those of `der` (see its `newton.py`)."""

from __future__ import annotations

import math

from ...compile.jit import part
from ...errors import Array
from ...maths.linalg.sparse_factor import factor, solve
from ..der.arrays import Step
from .arrays import Nets, Room
from .evaluate import evaluate, foresee_tension, rebase, update_geometry

LEAST_SIZE = 1e-4  # of a step along Newton's direction


@part
def solve_matrix(n: Nets, r: int, x: Array) -> None:
    """Solves with the factored matrix of net r, in place; x is (n,)."""
    place, ordered, held = n.pattern.place, n.system.ordered, n.material.held
    for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
        ordered[place[k]] = 0.0 if held[k] else x[k]
    solve(n.pattern, n.system.values, r, ordered)
    for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
        x[k] = ordered[place[k]]


@part
def minimise(n: Nets, room: Room, r: int, h: float, step: Step) -> bool:
    """From the guess in the state, whose geometry is up to date. True if it converged."""
    first, end = n.graph.unknowns[r], n.graph.unknowns[r + 1]
    system, q, unit, report = n.system, n.state.q, n.material.unit, n.log.report
    base, gradient, direction, trial = system.base, system.gradient, system.step, system.trial
    weight = n.material.damping_time[r] / h
    potential = math.inf  # at the base
    largest = math.inf  # the largest entry of the direction from the base
    slope = 0.0
    size = 1.0
    iterations = 0
    while True:
        value, good = 0.0, False
        for attempt in range(2):  # one place to call it from compiles in half the time
            here = evaluate(n, room, r, h, attempt == 0)
            value = here if attempt == 0 else value
            good = factor(n.pattern, system.values, room.stack, r)
            if good:
                break
        if not good:
            return False
        for k in range(first, end):
            trial[k] = -gradient[k]
        solve_matrix(n, r, trial)
        trial_slope = 0.0
        trial_largest = 0.0
        for k in range(first, end):
            trial_slope += gradient[k] * trial[k]
            trial_largest = max(trial_largest, abs(trial[k]) * unit[k])
        iterations += 1
        report[r, 0] += 1.0
        if iterations > step.most_iterations or not trial_largest < 1e9:
            return False
        if trial_largest <= 0.9 * largest or value <= potential + 1e-4 * size * slope:
            rebase(n, r)
            foresee_tension(n, trial, r, weight)
            # What is left after this step: the next ones would shrink at least as fast as the last two did.
            rate = min(trial_largest / largest, 0.5) if size == 1.0 and largest < math.inf else 0.5
            left = trial_largest * rate / (1.0 - rate)
            report[r, 1] = left
            if left <= step.tolerance:
                for k in range(first, end):
                    q[k] += trial[k]
                return update_geometry(n, r)
            for k in range(first, end):
                base[k] = q[k]
                direction[k] = trial[k]
            potential, largest, slope, size = value, trial_largest, trial_slope, 2.0
        while True:
            size *= 0.5
            if size < LEAST_SIZE:
                return False
            for k in range(first, end):
                q[k] = base[k] + size * direction[k]
            if update_geometry(n, r):
                break
