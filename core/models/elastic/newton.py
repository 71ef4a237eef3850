"""Newton's method on a stage's potential."""

from __future__ import annotations

import math

from ...compile.jit import part
from ...errors import Array
from ...maths.linalg.sparse_factor import Pattern
from ..ladder import LEAST_SIZE
from ..report import ITERATIONS, RESIDUAL
from .arrays import Forces, Geometry, Graph, Material, Scratch, Stage, State, Step, System
from .evaluate import evaluate
from .geometry import rebase, update_geometry
from .matrix import factor_matrix, solve_matrix


@part
def minimise(
    graph: Graph, material: Material, forces: Forces, stage: Stage, geometry: Geometry, state: State, system: System,
    pattern: Pattern | None, report: Array, scratch: Scratch, r: int, h: float, step: Step,
) -> bool:  # fmt: skip
    """From the initial guess in the state, whose geometry is up to date. True if it converged.

    The Hessian is the exact one where that is positive definite, and a part of it that always is where not. The line search
    accepts a step if the potential falls or if Newton's next step is shorter: an almost inextensible rod lies in a narrow curved
    valley, along which the potential rises before it falls, so that by the potential alone only tiny steps would do. For the same
    reason the geometric stiffness takes the tension predicted by the linear system and not the one of the edge's length, which a
    sideways step stretches without need: this is Newton's method on positions and tensions together, with the tensions eliminated.
    """
    first, end = graph.unknowns[r], graph.unknowns[r + 1]
    q, unit, held, stack = state.q, material.unit, material.held, scratch.stack
    base, gradient, direction, trial = system.base, system.gradient, system.step, system.trial
    weight = material.damping_time[r] / h
    potential = math.inf  # at the base
    largest = math.inf  # the largest entry of the direction from the base
    slope = 0.0
    size = 1.0
    iterations = 0
    while True:
        value, good = 0.0, False
        for attempt in range(2):  # one place to call it from compiles in half the time
            here = evaluate(
                graph, material, forces, stage, geometry, state, system, pattern, scratch, r, h, attempt == 0
            )
            value = here if attempt == 0 else value
            good = factor_matrix(graph, held, system, pattern, stack, r)
            if good:
                break
        if not good:
            return False
        for k in range(first, end):
            trial[k] = -gradient[k]
        solve_matrix(graph, held, system, pattern, r, trial)
        trial_slope = 0.0
        trial_largest = 0.0
        for k in range(first, end):
            trial_slope += gradient[k] * trial[k]
            trial_largest = max(trial_largest, abs(trial[k]) * unit[k])
        iterations += 1
        report[r, ITERATIONS] += 1.0
        if iterations > step.most_iterations or not trial_largest < 1e9:
            return False
        if trial_largest <= 0.9 * largest or value <= potential + 1e-4 * size * slope:
            rebase(graph, geometry, q, r)
            predict_tension(graph, material, stage, geometry, trial, r, weight)
            # What is left after this step: the next ones would shrink at least as fast as the last two did.
            rate = min(trial_largest / largest, 0.5) if size == 1.0 and largest < math.inf else 0.5
            left = trial_largest * rate / (1.0 - rate)
            report[r, RESIDUAL] = left
            if left <= step.tolerance:
                for k in range(first, end):
                    q[k] += trial[k]
                return update_geometry(graph, material, geometry, state, r)
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
            if update_geometry(graph, material, geometry, state, r):
                break


@part
def predict_tension(
    graph: Graph, material: Material, stage: Stage, geometry: Geometry, direction: Array, r: int, weight: float
) -> None:
    """The tension of each edge after a step, as the linear system has it."""
    x, tail, head, t, rest_length = graph.x, graph.tail, graph.head, geometry.t, material.rest_length
    stretch, tension, ea, star = geometry.stretch, geometry.tension, material.stretch, stage.stretch
    for j in range(graph.edges[r], graph.edge_end[r]):
        i, k = x[tail[j]], x[head[j]]
        change = 0.0
        for c in range(3):
            change += t[j, c] * (direction[k + c] - direction[i + c])
        strain = stretch[j] + change / rest_length[j]
        tension[j] = ea[j] * (strain + weight * (strain - star[j]))
