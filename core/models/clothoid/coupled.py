"""Steps of rods that push each other: backward Euler, one Newton iteration of all of them at a time."""

from __future__ import annotations

import math

from ...compile.jit import kernel, part
from ...errors import Array
from ...maths.linalg.dense import factor_dense, half_solve, solve_dense
from ..protocol import Pushes
from .arrays import Block, Coupled, Flags, Ints, Room, State
from .kinematics import unknowns_of
from .measures import AT_REST, SECANTS, tell_tension
from .potential import evaluate_stage
from .rates import end_with_secants, turned_by_rates
from .roots import place_root, shift_root
from .samples import move_samples, place_samples, sample_rows
from .stepping import (
    LONGEST_GUESS,
    begin_edges,
    begin_forces,
    begin_points,
    go_from_base,
    keep_base,
    measure,
    save_rod,
    start_from_secants,
)

FARTHEST = 0.7  # rad, by which a section turns in one iteration
MOST_ATTEMPTS = 7  # to get a positive definite matrix


@kernel
def begin_rods(
    b: Block, c: Coupled, kept: State, room: Room, chosen: Ints, h: float, air_density: float, still: bool,
    sample_mass: Array, begin: int, stop: int,
) -> None:  # fmt: skip
    """Takes rods chosen[begin:stop] back to the state that was kept and forward to a guess of where they will be after h; with
    `still` only what is held goes on. From the guess `retreat_rods` goes back to where only what is held has moved."""
    state, stage = b.state, b.stage
    for k in range(begin, stop):
        r = chosen[k]
        save_rod(b, kept, state, r)
        save_rod(b, kept, b.saved, r)
        begin_edges(b, r)
        begin_forces(b, r, sample_mass, air_density)
        begin_points(b, room, r)
        start_from_secants(b, room, r, h)
        for i in range(b.nodes.start[r], b.nodes.start[r + 1]):
            for s in range(3):
                stage.kappa[i, s] = state.kappa[i, s]
        place_root(b, r, 1.0)
        keep_base(b, room, r)
        _keep_way(b, c, r)
        rest = evaluate_stage(b, room, r, h, room.rows, 0, stage.sample_x, False, False, False, False)
        if not still and turned_by_rates(b, r) * h < LONGEST_GUESS:
            # Where contact does not let a rod go where its speed would take it, the place where it was is the better guess.
            go_from_base(b, room, r, state.rate, b.rods.vector_start[r], h)
            place_root(b, r, 1.0)
            if not evaluate_stage(b, room, r, h, room.rows, 0, stage.sample_x, False, False, False, False) < rest:
                go_from_base(b, room, r, state.rate, b.rods.vector_start[r], 0.0)
                place_root(b, r, 1.0)
            else:
                at = b.rods.vector_start[r]
                for i in range(unknowns_of(b.nodes, r)):
                    held = (i < 3 and b.rods.held_position[r]) or (3 <= i < 6 and b.rods.held_frame[r])
                    c.moved[at + i] = 0.0 if held else h * state.rate[at + i]
        place_samples(b, room, r)


@part
def _keep_way(b: Block, c: Coupled, r: int) -> None:
    """The state is where a move begins, which has gone nowhere yet."""
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
def probe_rods(b: Block, room: Room, chosen: Ints, h: float, mobility: Array, begin: int, stop: int) -> None:
    """mobility (S, 6): how far a force on each sample point moves it within the step, xx yx yy zx zy zz, by the rod's matrix."""
    matrix, x = room.matrix, room.second
    for k in range(begin, stop):
        r = chosen[k]
        n = unknowns_of(b.nodes, r)
        for attempt in range(2):
            evaluate_stage(b, room, r, h, room.rows, 0, b.stage.sample_x, False, True, attempt == 0, False)
            if factor_dense(matrix, n):
                break
        sample_rows(b, room, r, room.rows, 0)
        first = b.samples.start[r]
        for i in range(first, b.samples.start[r + 1]):
            at = 4 * n * (i - first)
            for c in range(3):
                for j in range(n):
                    held = (j < 3 and b.rods.held_position[r]) or (3 <= j < 6 and b.rods.held_frame[r])
                    x[c, j] = 0.0 if held else room.rows[at + c * n + j]
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
    b: Block, c: Coupled, room: Room, pushes: Pushes, chosen: Ints, h: float, potential: Array, begin: int, stop: int
) -> None:
    """Writes Newton's step of each rod by itself into c.step, and keeps the factored matrices; potential[r] is the rod's."""
    force, stiffness, touched = pushes.force, pushes.stiffness, pushes.touched
    matrix, gradient = room.matrix, room.gradient
    for k in range(begin, stop):
        r = chosen[k]
        n, at, rows = unknowns_of(b.nodes, r), b.rods.vector_start[r], b.rods.rows_start[r]
        good = False
        for attempt in range(MOST_ATTEMPTS):
            potential[r] = evaluate_stage(b, room, r, h, c.rows, rows, force, True, True, attempt == 0, False)
            _add_stiffness(b, room, r, n, c.rows, rows, stiffness, touched)
            if attempt > 1:  # contacts may take away more than the rod has to give
                for i in range(n):
                    matrix[i, i] *= 1.0 + 1e-3 * 10.0 ** (attempt - 2)
            good = factor_dense(matrix, n)
            if good:
                break
        m = b.rods.matrix_start[r]
        for i in range(n):
            c.gradient[at + i] = gradient[i]
            room.step[i] = -gradient[i] if good else 0.0
            for j in range(i + 1):
                c.matrix[m + i * n + j] = matrix[i, j] if good else (1e300 if i == j else 0.0)
        if good:
            solve_dense(matrix, n, room.step)
        for i in range(n):
            c.step[at + i] = room.step[i]


@part
def _add_stiffness(
    b: Block, room: Room, r: int, n: int, rows: Array, at: int, stiffness: Array, touched: Flags
) -> None:
    """J^T S J of every edge that is touched; J are the seven rows of its beginning and its end. Held unknowns stay out."""
    matrix, first = room.matrix, b.samples.start[r]
    low = 6 if b.rods.held_position[r] and b.rods.held_frame[r] else 0
    for i in range(first, b.samples.start[r + 1] - 1):
        if not touched[i]:
            continue
        q = at + 4 * n * (i - first)
        for a in range(low, n):
            held = (a < 3 and b.rods.held_position[r]) or (3 <= a < 6 and b.rods.held_frame[r])
            if held:
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
            held = (j < 3 and b.rods.held_position[r]) or (3 <= j < 6 and b.rods.held_frame[r])
            if held:
                for a in range(j + 1, n):
                    matrix[a, j] = 0.0


@kernel
def solve_coupled(b: Block, c: Coupled, room: Room, chosen: Ints, x: Array, begin: int, stop: int) -> None:
    """x (V,) of the chosen rods becomes the inverse of their matrices times x."""
    matrix, step = room.matrix, room.step
    for k in range(begin, stop):
        r = chosen[k]
        n, at, m = unknowns_of(b.nodes, r), b.rods.vector_start[r], b.rods.matrix_start[r]
        for i in range(n):
            held = (i < 3 and b.rods.held_position[r]) or (3 <= i < 6 and b.rods.held_frame[r])
            step[i] = 0.0 if held else x[at + i]
            for j in range(i + 1):
                matrix[i, j] = c.matrix[m + i * n + j]
        solve_dense(matrix, n, step)
        for i in range(n):
            x[at + i] = step[i]


@kernel
def steps_of_samples(b: Block, rows: Array, chosen: Ints, x: Array, out: Array) -> None:
    """out (S, 4): how the sample points of rods move, and their edges turn, with generalized x."""
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
def forces_of_samples(b: Block, rows: Array, chosen: Ints, forces: Array, out: Array) -> None:
    """The transpose: out (V,) of forces (S, 3 or 4)."""
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
def rows_of_rods(b: Block, c: Coupled, room: Room, begin: int, stop: int) -> None:
    """How sample points move with the unknowns at the state."""
    for r in range(begin, stop):
        sample_rows(b, room, r, c.rows, b.rods.rows_start[r])


@kernel
def weigh_steps(b: Block, c: Coupled, chosen: Ints, longest: Array, slope: Array, begin: int, stop: int) -> None:
    """longest[r] is how far c.step goes, in edge lengths or radians, at most; slope[r] how the potential changes on it."""
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
                largest = size if not size <= largest else largest  # a NaN comes through
        longest[r], slope[r] = largest, change


@kernel
def move_rods(b: Block, c: Coupled, room: Room, chosen: Ints, begin: int, stop: int) -> None:
    """Moves the rods by c.step, or less where that would turn them too far."""
    for k in range(begin, stop):
        r = chosen[k]
        n, at = unknowns_of(b.nodes, r), b.rods.vector_start[r]
        _keep_way(b, c, r)
        turned = _most_turned(b, c, r, n)
        size = 1.0 if turned < FARTHEST else FARTHEST / turned
        for i in range(n):
            c.moved[at + i] = size * c.step[at + i]
        _go(b, c, room, r)


@part
def _most_turned(b: Block, c: Coupled, r: int, n: int) -> float:
    """How far a step turns sections, at most: the turn of the root and what the curvatures add up to."""
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
def _go(b: Block, c: Coupled, room: Room, r: int) -> None:
    """From where the move began, by c.moved."""
    state, at, first = b.state, b.rods.vector_start[r], b.nodes.start[r]
    for i in range(first, b.nodes.start[r + 1]):
        for s in range(3):
            state.kappa[i, s] = c.kappa[i, s] + c.moved[at + 6 + 3 * (i - first) + s]
    for i in range(3):
        state.root[r, i] = c.root[r, i]
        for j in range(3):
            state.frame[r, i, j] = c.frame[r, i, j]
    shift_root(state.root, state.frame, r, c.moved, at, 1.0)
    place_samples(b, room, r)


@kernel
def retreat_rods(b: Block, c: Coupled, room: Room, chosen: Ints, sizes: Array, begin: int, stop: int) -> None:
    """Places rods at a part of the way that `move_rods` took them; sizes (R,) is how much of it, from 0 to 1."""
    for k in range(begin, stop):
        r = chosen[k]
        at = b.rods.vector_start[r]
        for i in range(unknowns_of(b.nodes, r)):
            c.moved[at + i] *= sizes[r]
        _go(b, c, room, r)


@kernel
def finish_rods(
    b: Block, room: Room, chosen: Ints, h: float, creep: bool, pushes: Array, begin: int, stop: int
) -> None:
    """Accepts where the rods are, pushed by others as they are. With `creep` they lose their speed: the step was given up."""
    for k in range(begin, stop):
        r = chosen[k]
        end_with_secants(b, room, r, h, False)
        if creep:
            for i in range(b.rods.vector_start[r], b.rods.vector_start[r + 1]):
                b.state.rate[i] = 0.0
        measure(b, room, r)
        move_samples(b, room, r)
        tell_tension(b, room, r, h, AT_REST if creep else SECANTS, pushes, True)
