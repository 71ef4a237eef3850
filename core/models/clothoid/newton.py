"""Newton's method of a stage, and moves of the iterate."""

from __future__ import annotations

import math

from ...compile.jit import part
from ...errors import Array
from ...maths.linalg.dense import factor_dense, solve_dense
from ..ladder import LEAST_SIZE, MOST_ITERATIONS
from ..report import ITERATIONS, RESIDUAL
from .arrays import Arrays, Scratch
from .kinematics import BEND, unknowns_of
from .potential import evaluate_stage
from .roots import shift_root

LARGEST_ROTATION = 1.0  # rad, largest rotation of a section in one iteration


@part
def minimise(b: Arrays, scratch: Scratch, r: int, h: float, tolerance: float, tangent: bool) -> bool:
    """Newton's method on the stage's potential, or on the equation of motion where there is none (`tangent`). Returns True if
    it converged.

    A step is accepted if the potential decreases, or if the next Newton step is shorter."""
    n = unknowns_of(b.nodes, r)
    gradient, matrix, direction, report = scratch.gradient, scratch.matrix, scratch.step, b.log.report
    trial = scratch.second[0]
    nothing = b.stage.sample_x  # no contact forces
    potential, largest, slope, size, spacing = math.inf, math.inf, 0.0, 1.0, b.rods.spacing[r]
    for _ in range(MOST_ITERATIONS):
        value = evaluate_stage(b, scratch, r, h, scratch.rows, 0, nothing, False, True, True, tangent)
        if not factor_dense(matrix, n):
            evaluate_stage(b, scratch, r, h, scratch.rows, 0, nothing, False, True, False, tangent)
            if not factor_dense(matrix, n):
                return False
        for i in range(n):
            trial[i] = -gradient[i]
        solve_dense(matrix, n, trial)
        trial_slope = 0.0
        for i in range(n):
            trial_slope += gradient[i] * trial[i]
        moved, turned = step_extent(b, scratch, r, n, trial, 0)
        report[r, ITERATIONS] += 1.0
        length = max(moved / spacing, turned)
        if not length < 1e9:
            return False
        if length <= 0.9 * largest or (not tangent and value <= potential + 1e-4 * size * slope):
            rate = min(length / largest, 0.5) if size == 1.0 and largest < math.inf else 0.5
            left = length * rate / (1.0 - rate)
            save_base(b, scratch, r)
            for i in range(n):
                direction[i] = trial[i]
            if left <= tolerance and turned < LARGEST_ROTATION:
                report[r, RESIDUAL] = max(report[r, RESIDUAL], left)
                step_from_base(b, scratch, r, direction, 0, 1.0)
                return True
            potential, largest, slope = value, length, trial_slope
            size = min(1.0, LARGEST_ROTATION / max(turned, 1e-300))
        else:
            size *= 0.5
            if size < LEAST_SIZE:
                return False
        step_from_base(b, scratch, r, direction, 0, size)
    return False


@part
def step_extent(b: Arrays, scratch: Scratch, r: int, n: int, step: Array, at: int) -> tuple[float, float]:
    """Largest displacement (m) and rotation (rad) of the Gauss points by a step, with their Jacobian in scratch.jacobian."""
    moved, turned = 0.0, 0.0
    for p in range(b.gauss.start[r + 1] - b.gauss.start[r]):
        row = scratch.jacobian[p]
        square, turn = 0.0, 0.0
        for c in range(6):
            value = 0.0
            for j in range(n):
                value += row[c, j] * step[at + j]
            if c < 3:
                square += value * value
            else:
                turn += value * value
        moved = square if not square <= moved else moved  # propagates NaN
        turned = turn if not turn <= turned else turned
    return math.sqrt(moved), math.sqrt(turned)


@part
def save_base(b: Arrays, scratch: Scratch, r: int) -> None:
    first = b.nodes.start[r]
    for i in range(first, b.nodes.start[r + 1]):
        for c in range(3):
            scratch.kappa[i - first, c] = b.state.kappa[i, c]
    for i in range(3):
        scratch.root[0, i] = b.state.root[r, i]
        for j in range(3):
            scratch.frame[0, i, j] = b.state.frame[r, i, j]


@part
def step_from_base(b: Arrays, scratch: Scratch, r: int, step: Array, at: int, size: float) -> None:
    """Sets the state to base + size * step."""
    first, state = b.nodes.start[r], b.state
    for i in range(first, b.nodes.start[r + 1]):
        for c in range(3):
            state.kappa[i, c] = scratch.kappa[i - first, c] + size * step[at + BEND + 3 * (i - first) + c]
    for i in range(3):
        state.root[r, i] = scratch.root[0, i]
        for j in range(3):
            state.frame[r, i, j] = scratch.frame[0, i, j]
    shift_root(state.root, state.frame, r, step, at, size)
