"""Steps of every rod: implicit ones by Newton's method on the motion of the Gauss points, or the paper's semi-implicit ones.

Backward Euler finds the curvatures that make
    sum m |x - x* - h v*|^2 / 2 h^2  +  elastic energy  -  work of forces
least, x being the Gauss points of the curve: all terms of inertia are in it, those of a moving root too. SDIRK2 is Alexander's
scheme: with g = 1 - 1/sqrt(2), two stages of length g h, the second from q + (1 - g) h q1' and from the points' velocities
v + (1 - g) h a1; in each J^T m (J q' - v*) / h balances the forces, with q' = (q - q*) / h.
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
from .arrays import Block, Room, State, Step, Workings
from .kinematics import BEND, unknowns_of
from .measures import AT_REST, SECANTS, TANGENTS, tell_tension
from .potential import evaluate_stage, place_points, stage_velocity
from .rates import end_with_secants, move_points, turned_by_rates
from .roots import all_finite, place_root, rotation_between, shift_root, turn_frame
from .samples import move_samples, place_samples
from .semi_implicit import semi_implicit_step

MOST_HALVINGS = 5
LONGEST_GUESS = 1.5  # rad, by which rates may turn a rod within a step to be trusted with a guess
FARTHEST = 1.0  # rad, by which a section turns in one iteration


@kernel
def step_rods(
    b: Block,
    room: Room,
    workings: Workings,
    step: Step,
    skip: NDArray[bool_],
    sample_mass: Array,
    first_rod: int,
    last_rod: int,
) -> None:
    """Takes step.steps steps with rods first_rod ... last_rod - 1 but those to skip. Never raises."""
    report = b.log.report
    for r in range(first_rod, last_rod):
        if skip[r]:
            continue
        done, piece, scheme = 0.0, 1.0, step.scheme  # in steps; sums of powers of two are exact
        stage, accelerated = 1.0, AT_REST  # how the last one tells accelerations
        if step.steps > 0:
            begin_edges(b, r)
        while done < step.steps:
            save_rod(b, b.state, b.saved, r)
            begin_forces(b, r, sample_mass, step.air_density)
            stage = piece * step.h * LENGTH[scheme]
            accelerated = SECANTS if scheme == BACKWARD_EULER else TANGENTS
            if scheme == SEMI_IMPLICIT:
                if done + piece >= step.steps:
                    keep_velocities(b, room, r)
                good = semi_implicit_step(
                    b, room, workings, r, piece * step.h, done / step.steps, (done + piece) / step.steps
                )
            else:
                begin_points(b, room, r)
                good = _attempt(b, room, r, step, done, piece, scheme)
            if not good:
                save_rod(b, b.saved, b.state, r)
                scheme, piece, more = next_attempt(report, r, scheme, step.scheme, piece, 0.5**MOST_HALVINGS)
                if more:
                    continue
                accelerated = AT_REST
                _give_up(b, r, (done + piece) / step.steps)
            scheme = step.scheme
            done += piece
            piece = lengthen(done, piece)
            # Nobody looks at sample points between steps, unless something acts there.
            if b.forces.loaded[r] or done >= step.steps:
                move_samples(b, room, r)
        measure(b, room, r)
        if step.steps > 0:
            tell_tension(b, room, r, stage, accelerated, b.forces.load, False)


@part
def save_rod(b: Block, source: State, target: State, r: int) -> None:
    """Copies a rod's state."""
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
def begin_points(b: Block, room: Room, r: int) -> None:
    """Frames and places of the Gauss points become those that motion is measured from; and their velocities are known."""
    geometry = b.geometry
    move_points(b, room, r)
    for p in range(b.gauss.start[r], b.gauss.start[r + 1]):
        geometry.x[p, 3] = 0.0
        for c in range(3):
            geometry.tangent0[p, c], geometry.director0[p, c] = geometry.frame[p, c, 0], geometry.frame[p, c, 1]
            geometry.x0[p, c] = geometry.x[p, c]
        geometry.x0[p, 3] = 0.0


@part
def keep_velocities(b: Block, room: Room, r: int) -> None:
    """Those of the Gauss points become what a stage starts from."""
    move_points(b, room, r)
    for p in range(b.gauss.start[r], b.gauss.start[r + 1]):
        for c in range(4):
            b.stage.v[p, c] = b.geometry.v[p, c]


@part
def begin_edges(b: Block, r: int) -> None:
    """Turns of edges are measured from how these lie now."""
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
def begin_forces(b: Block, r: int, sample_mass: Array, air_density: float) -> None:
    """Air drags at the speed of this moment. Says whether any force acts at sample points."""
    state, forces = b.state, b.forces
    first, end = b.samples.start[r], b.samples.start[r + 1]
    for i in range(first, end):
        for c in range(4):
            b.stage.sample_x[i, c] = state.x[i, c]
    busy = air_density > 0.0 or forces.drag_rate[0] > 0.0
    if busy:
        cylinder_drag(
            b.samples.radii, sample_mass, state.x, state.v, forces.wind, air_density, forces.drag_rate[0], forces.drag,
            first, end, False,
        )  # fmt: skip
    for i in range(first, end):
        for c in range(3):
            busy = busy or forces.load[i, c] != 0.0
        if not (air_density > 0.0 or forces.drag_rate[0] > 0.0):
            for c in range(6):
                forces.drag[i, c] = 0.0
    forces.loaded[r] = busy


@part
def _attempt(b: Block, room: Room, r: int, step: Step, done: float, piece: float, scheme: int) -> bool:
    """Advances by a piece of a step. False if Newton's method did not converge."""
    state, saved, stage = b.state, b.saved, b.stage
    whole = piece * step.h
    h = whole * LENGTH[scheme]
    gauss, speed, loaded = range(b.gauss.start[r], b.gauss.start[r + 1]), b.geometry.v, b.forces.loaded[r]
    nodes, v0 = range(b.nodes.start[r], b.nodes.start[r + 1]), b.rods.vector_start[r]
    fallen_back = scheme != step.scheme
    if scheme == BACKWARD_EULER and not fallen_back:
        start_from_secants(b, room, r, h)
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
        # The guess: all goes on as in the last step, or as in the first stage.
        if scheme == SDIRK2 and (k == 1 or turned_by_rates(b, r) * h < LONGEST_GUESS):
            for i in nodes:
                for c in range(3):
                    j = v0 + BEND + 3 * (i - b.nodes.start[r]) + c
                    went = state.kappa[i, c] - saved.kappa[i, c]
                    state.kappa[i, c] += h * state.rate[j] if k == 0 else ratio * went
            if k == 0:
                shift_root(state.root, state.frame, r, state.rate, v0, h)
            else:
                _go_on(saved, state, r, ratio)
        place_root(b, r, at)
        if not minimise(b, room, r, h, step.tolerance, scheme == SDIRK2):
            return False
        if scheme == BACKWARD_EULER:
            end_with_secants(b, room, r, h, fallen_back)
            return all_finite(state.rate, v0, b.rods.vector_start[r + 1])
        stage_velocity(b, r, h, room.velocity)
        for i in range(unknowns_of(b.nodes, r)):
            state.rate[v0 + i] = room.velocity[i]
        if k == 0:
            move_points(b, room, r)
            if loaded:
                place_samples(b, room, r)
    return all_finite(state.rate, v0, b.rods.vector_start[r + 1])


@part
def start_from_secants(b: Block, room: Room, r: int, h: float) -> None:
    """The stage starts where the Gauss points are, with the velocities that took them there in the last h if the rates did not
    change: what goes with the potential of backward Euler, in which half of the acceleration of a curved way is that of secants."""
    stage, geometry = b.stage, b.geometry
    if not turned_by_rates(b, r) * h < 2.0 * LONGEST_GUESS:  # too far for a secant
        for p in range(b.gauss.start[r], b.gauss.start[r + 1]):
            for c in range(4):
                stage.x[p, c], stage.v[p, c] = geometry.x0[p, c], geometry.v[p, c]
        return
    keep_base(b, room, r)
    go_from_base(b, room, r, b.state.rate, b.rods.vector_start[r], -h)
    place_points(b, room, r)
    for p in range(b.gauss.start[r], b.gauss.start[r + 1]):
        for c in range(4):
            stage.x[p, c] = geometry.x0[p, c]
            stage.v[p, c] = (geometry.x0[p, c] - geometry.x[p, c]) / h
    go_from_base(b, room, r, b.state.rate, b.rods.vector_start[r], 0.0)


@part
def _go_on(saved: State, state: State, r: int, more: float) -> None:
    """The root goes on as it did since the saved state."""
    x, y, z = rotation_between(saved.frame, state.frame, r)
    for c in range(3):
        state.root[r, c] += more * (state.root[r, c] - saved.root[r, c])
    turn_frame(state.frame, r, more * x, more * y, more * z)


@part
def farthest(b: Block, room: Room, r: int, n: int, step: Array, at: int) -> tuple[float, float]:
    """How far a step moves the Gauss points (m), and turns them (rad), at most. room.jacobian must be theirs."""
    moved, turned = 0.0, 0.0
    for p in range(b.gauss.start[r + 1] - b.gauss.start[r]):
        row = room.jacobian[p]
        square, turn = 0.0, 0.0
        for c in range(6):
            value = 0.0
            for j in range(n):
                value += row[c, j] * step[at + j]
            if c < 3:
                square += value * value
            else:
                turn += value * value
        moved = square if not square <= moved else moved  # a NaN comes through
        turned = turn if not turn <= turned else turned
    return math.sqrt(moved), math.sqrt(turned)


@part
def keep_base(b: Block, room: Room, r: int) -> None:
    first = b.nodes.start[r]
    for i in range(first, b.nodes.start[r + 1]):
        for c in range(3):
            room.kappa[i - first, c] = b.state.kappa[i, c]
    for i in range(3):
        room.root[0, i] = b.state.root[r, i]
        for j in range(3):
            room.frame[0, i, j] = b.state.frame[r, i, j]


@part
def go_from_base(b: Block, room: Room, r: int, step: Array, at: int, size: float) -> None:
    """From the base along a step."""
    first, state = b.nodes.start[r], b.state
    for i in range(first, b.nodes.start[r + 1]):
        for c in range(3):
            state.kappa[i, c] = room.kappa[i - first, c] + size * step[at + BEND + 3 * (i - first) + c]
    for i in range(3):
        state.root[r, i] = room.root[0, i]
        for j in range(3):
            state.frame[r, i, j] = room.frame[0, i, j]
    shift_root(state.root, state.frame, r, step, at, size)


@part
def minimise(b: Block, room: Room, r: int, h: float, tolerance: float, tangent: bool) -> bool:
    """Newton's method on the stage's potential, or the equation of motion where there is none (`tangent`). True if it converged.
    A step is good if the potential falls, or if Newton's next step is shorter."""
    n = unknowns_of(b.nodes, r)
    gradient, matrix, direction, report = room.gradient, room.matrix, room.step, b.log.report
    trial = room.second[0]
    nothing = b.stage.sample_x  # no pushes
    potential, largest, slope, size, spacing = math.inf, math.inf, 0.0, 1.0, b.rods.spacing[r]
    for _ in range(MOST_ITERATIONS):
        value = evaluate_stage(b, room, r, h, room.rows, 0, nothing, False, True, True, tangent)
        if not factor_dense(matrix, n):
            evaluate_stage(b, room, r, h, room.rows, 0, nothing, False, True, False, tangent)
            if not factor_dense(matrix, n):
                return False
        for i in range(n):
            trial[i] = -gradient[i]
        solve_dense(matrix, n, trial)
        trial_slope = 0.0
        for i in range(n):
            trial_slope += gradient[i] * trial[i]
        moved, turned = farthest(b, room, r, n, trial, 0)
        report[r, ITERATIONS] += 1.0
        length = max(moved / spacing, turned)
        if not length < 1e9:
            return False
        if length <= 0.9 * largest or (not tangent and value <= potential + 1e-4 * size * slope):
            rate = min(length / largest, 0.5) if size == 1.0 and largest < math.inf else 0.5
            left = length * rate / (1.0 - rate)
            keep_base(b, room, r)
            for i in range(n):
                direction[i] = trial[i]
            if left <= tolerance and turned < FARTHEST:
                report[r, RESIDUAL] = max(report[r, RESIDUAL], left)
                go_from_base(b, room, r, direction, 0, 1.0)
                return True
            potential, largest, slope = value, length, trial_slope
            size = min(1.0, FARTHEST / max(turned, 1e-300))
        else:
            size *= 0.5
            if size < LEAST_SIZE:
                return False
        go_from_base(b, room, r, direction, 0, size)
    return False


@part
def _give_up(b: Block, r: int, at: float) -> None:
    """The last resort where no step converges: what is held moves on, all else stays as it was bent, and loses its speed."""
    place_root(b, r, at)
    for i in range(b.rods.vector_start[r], b.rods.vector_start[r + 1]):
        b.state.rate[i] = 0.0


@part
def measure(b: Block, room: Room, r: int) -> None:
    """Writes the energies of the rod at its state."""
    move_points(b, room, r)
    gauss, nodes, v, x, mass, k = b.gauss, b.nodes, b.geometry.v, b.geometry.x, b.gauss.mass, b.nodes.stiffness
    kinetic, height, bend, twist = 0.0, 0.0, 0.0, 0.0
    for p in range(gauss.start[r], gauss.start[r + 1]):
        span = b.state.length[gauss.element[p]]
        for c in range(4):
            kinetic += 0.5 * mass[p, c] * span * v[p, c] * v[p, c]
            if c < 3:
                height -= mass[p, c] * span * b.forces.gravity[r, c] * x[p, c]
    kappa, natural, first, affine = b.state.kappa, b.state.natural, nodes.element_start[r], b.rods.degree[r]
    for e in range(first, nodes.element_start[r + 1]):
        i = nodes.start[r] + e - first
        j, span = i + affine, b.state.length[e]
        for c in range(3):
            p, q = kappa[i, c] - natural[i, c], kappa[j, c] - natural[j, c]
            energy = 0.5 * span * (k[e, c, 0] * p * p + 2.0 * k[e, c, 1] * p * q + k[e, c, 2] * q * q)
            if c == 0:
                twist += energy
            else:
                bend += energy
    b.log.energy[r, 0], b.log.energy[r, 1], b.log.energy[r, 2], b.log.energy[r, 3] = kinetic, bend, twist, height
