"""Time steps of rods: implicit steps by Newton's method on the motion of the Gauss points, or the paper's semi-implicit Euler.

Backward Euler finds the curvatures that minimise
    sum m |x - x* - h v*|^2 / 2 h^2  +  elastic energy  -  work of forces,
where x are the Gauss points of the curve. This contains all inertial terms, including those of a moving root. SDIRK2 is
Alexander's scheme with g = 1 - 1/sqrt(2): two stages of length g h, the second from q + (1 - g) h q1' with the point velocities
v + (1 - g) h a1. In each stage J^T m (J q' - v*) / h balances the forces, with q' = (q - q*) / h.
"""

from __future__ import annotations

import math

from numpy import bool_
from numpy.typing import NDArray

from ...compile.jit import kernel, part
from ...errors import Array
from ...forces.air import cylinder_drag
from ...maths.linalg.dense import factor_dense, solve_dense
from ..ladder import LEAST_SIZE, MOST_ITERATIONS, lengthen, next_attempt
from ..report import ITERATIONS, RESIDUAL
from ..schemes import BACKWARD_EULER, CARRIED, ENDS, LENGTH, SDIRK2, SEMI_IMPLICIT, STAGES
from .arrays import Arrays, MotionScratch, Scratch, State, Step
from .kinematics import BEND, unknowns_of
from .measures import AT_REST, SECANTS, TANGENTS, measure, update_tension
from .potential import evaluate_stage, place_points, stage_velocity
from .rates import rates_from_secants, turn_rate, update_points
from .roots import all_finite, place_root, rotation_between, shift_root, turn_frame
from .samples import place_samples, update_samples
from .semi_implicit import semi_implicit_step

MOST_HALVINGS = 5
LARGEST_EXTRAPOLATION = 1.5  # rad, largest rotation within a step for which the rates are extrapolated
LARGEST_ROTATION = 1.0  # rad, largest rotation of a section in one iteration


@kernel
def step_rods(
    b: Arrays,
    scratch: Scratch,
    motion_scratch: MotionScratch,
    step: Step,
    skip: NDArray[bool_],
    sample_mass: Array,
    first_rod: int,
    last_rod: int,
) -> None:
    """Takes step.steps steps with rods first_rod ... last_rod - 1 except those in `skip`; with zero steps it only measures.
    Never raises."""
    report = b.log.report
    for r in range(first_rod, last_rod):
        if skip[r]:
            continue
        done, piece, scheme = 0.0, 1.0, step.scheme  # in steps; sums of powers of two are exact
        stage, accelerated = 1.0, AT_REST  # length of the last stage, and how its accelerations follow
        if step.steps > 0:
            set_edge_reference(b, r)
        while done < step.steps:
            copy_state(b, b.state, b.saved, r)
            update_forces(b, r, sample_mass, step.air_density)
            stage = piece * step.h * LENGTH[scheme]
            accelerated = SECANTS if scheme == BACKWARD_EULER else TANGENTS
            if scheme == SEMI_IMPLICIT:
                if done + piece >= step.steps:
                    save_velocities(b, scratch, r)
                good = semi_implicit_step(
                    b, scratch, motion_scratch, r, piece * step.h, done / step.steps, (done + piece) / step.steps
                )
            else:
                set_point_reference(b, scratch, r)
                good = _attempt(b, scratch, r, step, done, piece, scheme)
            if not good:
                copy_state(b, b.saved, b.state, r)
                scheme, piece, more = next_attempt(report, r, scheme, step.scheme, piece, 0.5**MOST_HALVINGS)
                if more:
                    continue
                accelerated = AT_REST
                _give_up(b, r, (done + piece) / step.steps)
            scheme = step.scheme
            done += piece
            piece = lengthen(done, piece)
            # Sample points between steps are only needed where forces act on them.
            if b.forces.loaded[r] or done >= step.steps:
                update_samples(b, scratch, r)
        measure(b, scratch, r)
        if step.steps > 0:
            update_tension(b, scratch, r, stage, accelerated, b.forces.load, False)


@part
def copy_state(b: Arrays, source: State, target: State, r: int) -> None:
    """Copies the state of rod r."""
    for e in range(b.nodes.element_start[r], b.nodes.element_start[r + 1]):
        target.length[e] = source.length[e]
    for i in range(b.nodes.start[r], b.nodes.start[r + 1]):
        for c in range(3):
            target.natural[i, c] = source.natural[i, c]
            target.kappa[i, c] = source.kappa[i, c]
    for i in range(3):
        target.root[r, i] = source.root[r, i]
        for j in range(3):
            target.frame[r, i, j] = source.frame[r, i, j]
    for i in range(b.rods.vector_start[r], b.rods.vector_start[r + 1]):
        target.rate[i] = source.rate[i]
    for p in range(b.samples.start[r], b.samples.start[r + 1]):
        for c in range(4):
            target.x[p, c] = source.x[p, c]
        for c in range(3):
            target.v[p, c] = source.v[p, c]
            target.director[p, c] = source.director[p, c]


@part
def set_point_reference(b: Arrays, scratch: Scratch, r: int) -> None:
    """Makes the current frames and positions of the Gauss points the reference of motion, and computes their velocities."""
    geometry = b.geometry
    update_points(b, scratch, r)
    for p in range(b.gauss.start[r], b.gauss.start[r + 1]):
        geometry.x[p, 3] = 0.0
        for c in range(3):
            geometry.tangent0[p, c], geometry.director0[p, c] = geometry.frame[p, c, 0], geometry.frame[p, c, 1]
            geometry.x0[p, c] = geometry.x[p, c]
        geometry.x0[p, 3] = 0.0


@part
def save_velocities(b: Arrays, scratch: Scratch, r: int) -> None:
    """Makes the velocities of the Gauss points the start of a stage."""
    update_points(b, scratch, r)
    for p in range(b.gauss.start[r], b.gauss.start[r + 1]):
        for c in range(4):
            b.stage.v[p, c] = b.geometry.v[p, c]


@part
def set_edge_reference(b: Arrays, r: int) -> None:
    """Makes the current edges the reference of their turns."""
    geometry, state = b.geometry, b.state
    for i in range(b.samples.start[r], b.samples.start[r + 1] - 1):
        dx, dy, dz = (
            state.x[i + 1, 0] - state.x[i, 0],
            state.x[i + 1, 1] - state.x[i, 1],
            state.x[i + 1, 2] - state.x[i, 2],
        )
        f = 1.0 / max(math.sqrt(dx * dx + dy * dy + dz * dz), 1e-300)
        geometry.edge0[i, 0], geometry.edge0[i, 1], geometry.edge0[i, 2] = dx * f, dy * f, dz * f
        for c in range(3):
            geometry.edge_director0[i, c] = state.director[i, c]
    for i in range(b.samples.start[r], b.samples.start[r + 1]):
        state.x[i, 3] = 0.0


@part
def update_forces(b: Arrays, r: int, sample_mass: Array, air_density: float) -> None:
    """Drag at the current velocities. Also determines whether any force acts on sample points."""
    state, forces = b.state, b.forces
    first, end = b.samples.start[r], b.samples.start[r + 1]
    for i in range(first, end):
        for c in range(4):
            b.stage.sample_x[i, c] = state.x[i, c]
    loaded = air_density > 0.0 or forces.drag_rate[0] > 0.0
    if loaded:
        cylinder_drag(
            b.samples.radii, sample_mass, state.x, state.v, forces.wind, air_density, forces.drag_rate[0], forces.drag,
            first, end, False,
        )  # fmt: skip
    for i in range(first, end):
        for c in range(3):
            loaded = loaded or forces.load[i, c] != 0.0
        if not (air_density > 0.0 or forces.drag_rate[0] > 0.0):
            for c in range(6):
                forces.drag[i, c] = 0.0
    forces.loaded[r] = loaded


@part
def _attempt(b: Arrays, scratch: Scratch, r: int, step: Step, done: float, piece: float, scheme: int) -> bool:
    """Advances by a piece of a step. Returns False if Newton's method did not converge."""
    state, saved, stage = b.state, b.saved, b.stage
    whole = piece * step.h
    h = whole * LENGTH[scheme]
    gauss, speed, loaded = range(b.gauss.start[r], b.gauss.start[r + 1]), b.geometry.v, b.forces.loaded[r]
    nodes, v0 = range(b.nodes.start[r], b.nodes.start[r + 1]), b.rods.vector_start[r]
    fallen_back = scheme != step.scheme
    if scheme == BACKWARD_EULER and not fallen_back:
        start_from_secants(b, scratch, r, h)
    else:
        for p in gauss:
            for c in range(4):
                stage.x[p, c], stage.v[p, c] = b.geometry.x0[p, c], speed[p, c]
    for i in nodes:
        for c in range(3):
            stage.kappa[i, c] = saved.kappa[i, c]
    for c in range(3):
        stage.root[r, c], stage.turn[r, c] = saved.root[r, c], 0.0
    for k in range(STAGES[scheme]):
        at = (done + piece * ENDS[scheme, k]) / step.steps
        ratio = CARRIED[scheme, k, 0]
        if k == 1:
            for p in gauss:
                for c in range(4):
                    stage.v[p, c] += ratio * (speed[p, c] - stage.v[p, c])
            if loaded:
                for p in range(b.samples.start[r], b.samples.start[r + 1]):
                    for c in range(4):
                        stage.sample_x[p, c] += ratio * (state.x[p, c] - saved.x[p, c])
            for i in nodes:
                for c in range(3):
                    stage.kappa[i, c] += ratio * (state.kappa[i, c] - saved.kappa[i, c])
            turned = rotation_between(saved.frame, state.frame, r)
            for c in range(3):
                stage.root[r, c] += ratio * (state.root[r, c] - saved.root[r, c])
                stage.turn[r, c] = ratio * turned[c]
        # Initial guess: extrapolation of the last step or of the first stage.
        if scheme == SDIRK2 and (k == 1 or turn_rate(b, r) * h < LARGEST_EXTRAPOLATION):
            for i in nodes:
                for c in range(3):
                    j = v0 + BEND + 3 * (i - b.nodes.start[r]) + c
                    went = state.kappa[i, c] - saved.kappa[i, c]
                    state.kappa[i, c] += h * state.rate[j] if k == 0 else ratio * went
            if k == 0:
                shift_root(state.root, state.frame, r, state.rate, v0, h)
            else:
                _extrapolate_root(saved, state, r, ratio)
        place_root(b, r, at)
        if not minimise(b, scratch, r, h, step.tolerance, scheme == SDIRK2):
            return False
        if scheme == BACKWARD_EULER:
            rates_from_secants(b, scratch, r, h, fallen_back)
            return all_finite(state.rate, v0, b.rods.vector_start[r + 1])
        stage_velocity(b, r, h, scratch.velocity)
        for i in range(unknowns_of(b.nodes, r)):
            state.rate[v0 + i] = scratch.velocity[i]
        if k == 0:
            update_points(b, scratch, r)
            if loaded:
                place_samples(b, scratch, r)
    return all_finite(state.rate, v0, b.rods.vector_start[r + 1])


@part
def start_from_secants(b: Arrays, scratch: Scratch, r: int, h: float) -> None:
    """Start of a backward Euler stage: the Gauss points, with the difference quotients that constant rates would have produced
    over the last h. This matches the potential of backward Euler, in which half of the acceleration on a curved path is that of
    secants."""
    stage, geometry = b.stage, b.geometry
    if not turn_rate(b, r) * h < 2.0 * LARGEST_EXTRAPOLATION:  # too far for a secant
        for p in range(b.gauss.start[r], b.gauss.start[r + 1]):
            for c in range(4):
                stage.x[p, c], stage.v[p, c] = geometry.x0[p, c], geometry.v[p, c]
        return
    save_base(b, scratch, r)
    step_from_base(b, scratch, r, b.state.rate, b.rods.vector_start[r], -h)
    place_points(b, scratch, r)
    for p in range(b.gauss.start[r], b.gauss.start[r + 1]):
        for c in range(4):
            stage.x[p, c] = geometry.x0[p, c]
            stage.v[p, c] = (geometry.x0[p, c] - geometry.x[p, c]) / h
    step_from_base(b, scratch, r, b.state.rate, b.rods.vector_start[r], 0.0)


@part
def _extrapolate_root(saved: State, state: State, r: int, more: float) -> None:
    """Extrapolates the motion of the root since the saved state."""
    x, y, z = rotation_between(saved.frame, state.frame, r)
    for c in range(3):
        state.root[r, c] += more * (state.root[r, c] - saved.root[r, c])
    turn_frame(state.frame, r, more * x, more * y, more * z)


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
def _give_up(b: Arrays, r: int, at: float) -> None:
    """Last resort where no step converges: prescribed motion advances, the curvatures stay, and the velocities are set to zero."""
    place_root(b, r, at)
    for i in range(b.rods.vector_start[r], b.rods.vector_start[r + 1]):
        b.state.rate[i] = 0.0
