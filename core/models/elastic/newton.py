"""Newton's method on a stage's potential."""

from __future__ import annotations

import math

from ...compile.jit import part
from ...compile.lanes import Numbers, Truth, any_of, both, but, either, select
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
    active: Truth,
) -> Truth:  # fmt: skip
    """From the initial guess in the state, whose geometry is up to date. True if it converged.

    The Hessian is the exact one where that is positive definite, and a part of it that always is where not. The line search
    accepts a step if the potential falls or if Newton's next step is shorter: an almost inextensible rod lies in a narrow curved
    valley, along which the potential rises before it falls, so that by the potential alone only tiny steps would do. For the same
    reason the geometric stiffness takes the tension predicted by the linear system and not the one of the edge's length, which a
    sideways step stretches without need: this is Newton's method on positions and tensions together, with the tensions eliminated.

    Each lane goes its own way: it is `active` until it has converged or failed, and stays where it is from then on.
    """
    first, end = graph.unknowns[r], graph.unknowns[r + 1]
    q, unit, held, stack = state.q, material.unit, material.held, scratch.stack
    base, gradient, direction, trial = system.base, system.gradient, system.step, system.trial
    weight = material.damping_time[r] / h
    zero = 0.0 * weight
    potential = zero + math.inf  # at the base
    largest = zero + math.inf  # the largest entry of the direction from the base
    slope = zero
    size = zero + 1.0
    done = good = but(active, active)
    for _ in range(step.most_iterations):
        value, exact = zero, zero + 1.0
        bad = done
        for _attempt in range(2):  # one place to call it from compiles in half the time
            value = evaluate(graph, material, forces, stage, geometry, state, system, pattern, scratch, r, h, exact)
            good = factor_matrix(graph, held, system, pattern, stack, r)
            bad = but(active, good)
            if not any_of(bad):
                break
            exact = select(bad, zero, exact)
        active = but(active, bad)
        for k in range(first, end):
            trial[k] = -gradient[k]
        solve_matrix(graph, held, system, pattern, r, trial)
        trial_slope = zero
        trial_largest = zero
        for k in range(first, end):
            trial_slope += gradient[k] * trial[k]
            trial_largest = max(trial_largest, abs(trial[k]) * unit[k])
        report[r, ITERATIONS] += select(active, 1.0, 0.0)
        active = both(active, trial_largest < 1e9)
        falls = value <= potential + 1e-4 * size * slope
        accepted = both(active, either(trial_largest <= 0.9 * largest, falls))
        if any_of(accepted):
            rebase(graph, geometry, q, r, accepted)
            predict_tension(graph, material, stage, geometry, trial, r, weight, accepted)
            # What is left after this step: the next ones would shrink at least as fast as the last two did.
            shrinks = both(size == 1.0, largest < math.inf)
            rate = select(shrinks, min(trial_largest / largest, 0.5), 0.5)
            left = trial_largest * rate / (1.0 - rate)
            report[r, RESIDUAL] = select(accepted, left, report[r, RESIDUAL])
            converged = both(accepted, left <= step.tolerance)
            for k in range(first, end):
                base[k] = select(accepted, q[k], base[k])
                direction[k] = select(accepted, trial[k], direction[k])
            potential = select(accepted, value, potential)
            largest = select(accepted, trial_largest, largest)
            slope = select(accepted, trial_slope, slope)
            for k in range(first, end):
                q[k] = select(converged, base[k] + direction[k], q[k])
            active, done = but(active, converged), either(done, converged)
        size = select(accepted, 1.0, 0.5 * size)
        moving = active
        while True:
            lost = both(moving, size < LEAST_SIZE)
            active, moving = but(active, lost), but(moving, lost)
            for k in range(first, end):
                q[k] = select(moving, base[k] + size * direction[k], q[k])
            good = update_geometry(graph, material, geometry, state, r)
            if not any_of(active):
                return both(done, good)
            moving = but(active, good)
            if not any_of(moving):
                break
            size = select(moving, 0.5 * size, size)
    return both(done, good)


@part
def predict_tension(
    graph: Graph, material: Material, stage: Stage, geometry: Geometry, direction: Array, r: int, weight: Numbers,
    where: Truth,
) -> None:  # fmt: skip
    """The tension of each edge after a step, as the linear system has it; of lanes where a mask is true."""
    x, tail, head, t, rest_length = graph.x, graph.tail, graph.head, geometry.t, material.rest_length
    stretch, tension, ea, star = geometry.stretch, geometry.tension, material.stretch, stage.stretch
    for j in range(graph.edges[r], graph.edge_end[r]):
        i, k = x[tail[j]], x[head[j]]
        change = 0.0
        for c in range(3):
            change += t[j, c] * (direction[k + c] - direction[i + c])
        strain = stretch[j] + change / rest_length[j]
        tension[j] = select(where, ea[j] * (strain + weight * (strain - star[j])), tension[j])
