"""Coupled steps: backward Euler, one Newton iteration at a time for all rods that interact with each other."""

from __future__ import annotations

import math

from ...compile.jit import kernel, part
from ...errors import Array, Flags, Ints
from ...maths.linalg.dense import factor_dense, half_solve, solve_dense
from ..protocol import Pushes
from .arrays import Arrays, Coupled, Scratch, State
from .kinematics import is_held, unknowns_of
from .measures import AT_REST, SECANTS, measure, update_tension
from .newton import save_base, step_from_base
from .potential import evaluate_stage
from .rates import rates_of_pushed, slow_start, turn_rate
from .roots import place_root, shift_root
from .samples import place_samples, sample_jacobian, update_samples
from .stages import LARGEST_EXTRAPOLATION
from .stepping import (
    copy_state,
    set_edge_reference,
    set_point_reference,
    start_from_secants,
    update_forces,
)

LARGEST_ROTATION = 0.7  # rad, largest rotation of a section in one iteration
MOST_ATTEMPTS = 7  # of increasing regularisation until the matrix is positive definite


@kernel
def begin_rods(
    b: Arrays, c: Coupled, kept: State, scratch: Scratch, chosen: Ints, h: float, air_density: float, still: bool,
    sample_mass: Array, begin: int, stop: int,
) -> None:  # fmt: skip
    """Restores rods chosen[begin:stop] from the kept state and moves them to an initial guess of their state after h; with
    `still` only prescribed motion advances. `retreat_rods` can undo the guess except for the prescribed motion."""
    state, stage = b.state, b.stage
    for k in range(begin, stop):
        r = chosen[k]
        copy_state(b, kept, state, r)
        copy_state(b, kept, b.saved, r)
        set_edge_reference(b, r)
        update_forces(b, r, sample_mass, air_density)
        set_point_reference(b, scratch, r)
        start_from_secants(b, scratch, r, h)
        slow_start(b, r)
        for i in range(b.nodes.start[r], b.nodes.start[r + 1]):
            for s in range(3):
                stage.kappa[i, s] = state.kappa[i, s]
        place_root(b, r, 1.0)
        save_base(b, scratch, r)
        _start_move(b, c, r)
        rest = evaluate_stage(b, scratch, r, h, scratch.rows, 0, stage.sample_x, False, False, False, False)
        if not still and turn_rate(b, r) * h < LARGEST_EXTRAPOLATION:
            # Where contact blocks the extrapolated motion, the previous position is the better initial guess.
            step_from_base(b, scratch, r, state.rate, b.rods.vector_start[r], h)
            place_root(b, r, 1.0)
            if not evaluate_stage(b, scratch, r, h, scratch.rows, 0, stage.sample_x, False, False, False, False) < rest:
                step_from_base(b, scratch, r, state.rate, b.rods.vector_start[r], 0.0)
                place_root(b, r, 1.0)
            else:
                at = b.rods.vector_start[r]
                for i in range(unknowns_of(b.nodes, r)):
                    c.moved[at + i] = 0.0 if is_held(b.rods, r, i) else h * state.rate[at + i]
        place_samples(b, scratch, r)


@part
def _start_move(b: Arrays, c: Coupled, r: int) -> None:
    """Makes the state the start of a move of zero length."""
    state = b.state
    for i in range(b.nodes.start[r], b.nodes.start[r + 1]):
        for s in range(3):
            c.kappa[i, s] = state.kappa[i, s]
    for i in range(3):
        c.root[r, i] = state.root[r, i]
        for j in range(3):
            c.frame[r, i, j] = state.frame[r, i, j]
    for i in range(b.rods.vector_start[r], b.rods.vector_start[r + 1]):
        c.moved[i] = 0.0


@kernel
def probe_rods(b: Arrays, scratch: Scratch, chosen: Ints, h: float, mobility: Array, begin: int, stop: int) -> None:
    """mobility (S, 6): displacement of each sample point per force on it within the step, xx yx yy zx zy zz."""
    matrix, x = scratch.matrix, scratch.second
    for k in range(begin, stop):
        r = chosen[k]
        n = unknowns_of(b.nodes, r)
        for attempt in range(2):
            evaluate_stage(b, scratch, r, h, scratch.rows, 0, b.stage.sample_x, False, True, attempt == 0, False)
            if factor_dense(matrix, n):
                break
        sample_jacobian(b, scratch, r, scratch.rows, 0)
        first = b.samples.start[r]
        for i in range(first, b.samples.start[r + 1]):
            at = 4 * n * (i - first)
            for c in range(3):
                for j in range(n):
                    x[c, j] = 0.0 if is_held(b.rods, r, j) else scratch.rows[at + c * n + j]
                half_solve(matrix, n, x[c])
            m = 0
            for c in range(3):
                for d in range(c + 1):
                    value = 0.0
                    for j in range(n):
                        value += x[c, j] * x[d, j]
                    mobility[i, m] = value
                    m += 1


@kernel
def linearise_rods(
    b: Arrays, c: Coupled, scratch: Scratch, pushes: Pushes, chosen: Ints, h: float, potential: Array, begin: int,
    stop: int,
) -> None:  # fmt: skip
    """Writes the Newton step of each rod, decoupled from the others, to c.step and keeps the factored matrices; potential (R,)."""
    force, stiffness, touched = pushes.force, pushes.stiffness, pushes.touched
    matrix, gradient = scratch.matrix, scratch.gradient
    for k in range(begin, stop):
        r = chosen[k]
        n, at, rows = unknowns_of(b.nodes, r), b.rods.vector_start[r], b.rods.rows_start[r]
        good = False
        for attempt in range(MOST_ATTEMPTS):
            potential[r] = evaluate_stage(b, scratch, r, h, c.rows, rows, force, True, True, attempt == 0, False)
            _add_stiffness(b, scratch, r, n, c.rows, rows, stiffness, touched)
            if attempt > 1:  # the contact stiffness may be indefinite
                for i in range(n):
                    matrix[i, i] *= 1.0 + 1e-3 * 10.0 ** (attempt - 2)
            good = factor_dense(matrix, n)
            if good:
                break
        m = b.rods.matrix_start[r]
        for i in range(n):
            c.gradient[at + i] = gradient[i]
            scratch.step[i] = -gradient[i] if good else 0.0
            for j in range(i + 1):
                c.matrix[m + i * n + j] = matrix[i, j] if good else (1e300 if i == j else 0.0)
        if good:
            solve_dense(matrix, n, scratch.step)
        for i in range(n):
            c.step[at + i] = scratch.step[i]


@part
def _add_stiffness(
    b: Arrays, scratch: Scratch, r: int, n: int, rows: Array, at: int, stiffness: Array, touched: Flags
) -> None:
    """Adds J^T S J for every edge in contact, where J are the seven rows of its start and its end. Prescribed unknowns are left
    out."""
    matrix, first = scratch.matrix, b.samples.start[r]
    low = 6 if b.rods.held_position[r] and b.rods.held_frame[r] else 0
    for i in range(first, b.samples.start[r + 1] - 1):
        if not touched[i]:
            continue
        q = at + 4 * n * (i - first)
        for a in range(low, n):
            if is_held(b.rods, r, a):
                continue
            for u in range(7):
                value = 0.0
                for v in range(7):
                    m = u * (u + 1) // 2 + v if v <= u else v * (v + 1) // 2 + u
                    value += stiffness[i, m] * rows[q + v * n + a]
                if value == 0.0:
                    continue
                for j in range(low, a + 1):
                    matrix[a, j] += value * rows[q + u * n + j]
        for j in range(low, 6):
            if is_held(b.rods, r, j):
                for a in range(j + 1, n):
                    matrix[a, j] = 0.0


@kernel
def solve_coupled(b: Arrays, c: Coupled, scratch: Scratch, chosen: Ints, x: Array, begin: int, stop: int) -> None:
    """Applies the inverse of the chosen rods' matrices to x (V,), in place."""
    matrix, step = scratch.matrix, scratch.step
    for k in range(begin, stop):
        r = chosen[k]
        n, at, m = unknowns_of(b.nodes, r), b.rods.vector_start[r], b.rods.matrix_start[r]
        for i in range(n):
            step[i] = 0.0 if is_held(b.rods, r, i) else x[at + i]
            for j in range(i + 1):
                matrix[i, j] = c.matrix[m + i * n + j]
        solve_dense(matrix, n, step)
        for i in range(n):
            x[at + i] = step[i]


@kernel
def map_motion(b: Arrays, rows: Array, chosen: Ints, x: Array, out: Array) -> None:
    """out (S, 4): displacement of the sample points and turn of their edges due to generalized x."""
    for r in chosen:
        n, at, first = unknowns_of(b.nodes, r), b.rods.vector_start[r], b.samples.start[r]
        q = b.rods.rows_start[r]
        for i in range(first, b.samples.start[r + 1]):
            for c in range(4):
                value = 0.0
                for j in range(n):
                    value += rows[q + j] * x[at + j]
                out[i, c] = value
                q += n


@kernel
def map_forces(b: Arrays, rows: Array, chosen: Ints, forces: Array, out: Array) -> None:
    """Transpose of `map_motion`: out (V,) of forces (S, 3 or 4)."""
    width = forces.shape[1]
    for r in chosen:
        n, at, first = unknowns_of(b.nodes, r), b.rods.vector_start[r], b.samples.start[r]
        q = b.rods.rows_start[r]
        for j in range(n):
            out[at + j] = 0.0
        for i in range(first, b.samples.start[r + 1]):
            for c in range(width):
                f = forces[i, c]
                if f != 0.0:
                    for j in range(n):
                        out[at + j] += f * rows[q + c * n + j]
            q += 4 * n


@kernel
def sample_jacobians(b: Arrays, c: Coupled, scratch: Scratch, begin: int, stop: int) -> None:
    """Writes the sample Jacobians at the state."""
    for r in range(begin, stop):
        sample_jacobian(b, scratch, r, c.rows, b.rods.rows_start[r])


@kernel
def weigh_steps(b: Arrays, c: Coupled, chosen: Ints, longest: Array, slope: Array, begin: int, stop: int) -> None:
    """longest[r]: maximum norm of c.step in edge lengths or radians; slope[r]: directional derivative of the potential."""
    for k in range(begin, stop):
        r = chosen[k]
        n, at, q = unknowns_of(b.nodes, r), b.rods.vector_start[r], b.rods.rows_start[r]
        change, largest, unit = 0.0, 0.0, 1.0 / b.rods.spacing[r]
        for i in range(n):
            change += c.gradient[at + i] * c.step[at + i]
        for _ in range(b.samples.start[r], b.samples.start[r + 1]):
            for row in range(4):
                value = 0.0
                for j in range(n):
                    value += c.rows[q + j] * c.step[at + j]
                q += n
                size = abs(value) * (unit if row < 3 else 1.0)
                largest = size if not size <= largest else largest  # propagates NaN
        longest[r], slope[r] = largest, change


@kernel
def move_rods(b: Arrays, c: Coupled, scratch: Scratch, chosen: Ints, begin: int, stop: int) -> None:
    """Moves the rods by c.step, shortened where a section would rotate too far."""
    for k in range(begin, stop):
        r = chosen[k]
        n, at = unknowns_of(b.nodes, r), b.rods.vector_start[r]
        _start_move(b, c, r)
        turned = _largest_turn(b, c, r, n)
        size = 1.0 if turned < LARGEST_ROTATION else LARGEST_ROTATION / turned
        for i in range(n):
            c.moved[at + i] = size * c.step[at + i]
        _apply_move(b, c, scratch, r)


@part
def _largest_turn(b: Arrays, c: Coupled, r: int, n: int) -> float:
    """rad, upper bound of the rotation of sections by a step: rotation of the root plus integrated curvatures."""
    at, total = b.rods.vector_start[r], 0.0
    for i in range(3, 6):
        total += c.step[at + i] * c.step[at + i]
    total = math.sqrt(total)
    first, affine = b.nodes.element_start[r], b.rods.degree[r]
    x, y, z, most = 0.0, 0.0, 0.0, 0.0
    for e in range(first, b.nodes.element_start[r + 1]):
        i = at + 6 + 3 * (e - first)
        j, span = i + 3 * affine, b.state.length[e]
        x += 0.5 * span * (c.step[i] + c.step[j])
        y += 0.5 * span * (c.step[i + 1] + c.step[j + 1])
        z += 0.5 * span * (c.step[i + 2] + c.step[j + 2])
        most = max(most, math.sqrt(x * x + y * y + z * z))
    return total + most


@part
def _apply_move(b: Arrays, c: Coupled, scratch: Scratch, r: int) -> None:
    """Sets the state to the start of the move plus c.moved."""
    state, at, first = b.state, b.rods.vector_start[r], b.nodes.start[r]
    for i in range(first, b.nodes.start[r + 1]):
        for s in range(3):
            state.kappa[i, s] = c.kappa[i, s] + c.moved[at + 6 + 3 * (i - first) + s]
    for i in range(3):
        state.root[r, i] = c.root[r, i]
        for j in range(3):
            state.frame[r, i, j] = c.frame[r, i, j]
    shift_root(state.root, state.frame, r, c.moved, at, 1.0)
    place_samples(b, scratch, r)


@kernel
def retreat_rods(b: Arrays, c: Coupled, scratch: Scratch, chosen: Ints, sizes: Array, begin: int, stop: int) -> None:
    """Reduces the step of `move_rods` to the fractions sizes (R,), from 0 to 1."""
    for k in range(begin, stop):
        r = chosen[k]
        at = b.rods.vector_start[r]
        for i in range(unknowns_of(b.nodes, r)):
            c.moved[at + i] *= sizes[r]
        _apply_move(b, c, scratch, r)


@kernel
def finish_rods(
    b: Arrays, scratch: Scratch, chosen: Ints, h: float, creep: bool, pushes: Array, begin: int, stop: int
) -> None:
    """Accepts the iterate. With `creep` the velocities are set to zero, because the step was given up."""
    for k in range(begin, stop):
        r = chosen[k]
        rates_of_pushed(b, scratch, r, h)
        b.state.consistent[r] = 0.0  # contact forces need not persist
        if creep:
            for i in range(b.rods.vector_start[r], b.rods.vector_start[r + 1]):
                b.state.rate[i] = 0.0
        measure(b, scratch, r)
        update_samples(b, scratch, r)
        update_tension(b, scratch, r, h, AT_REST if creep else SECANTS, pushes, True)
