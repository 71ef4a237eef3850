"""Time steps of rods: implicit steps by Newton's method on the motion of the Gauss points, or the paper's semi-implicit Euler.

Backward Euler finds the curvatures that minimise
    sum m |x - x* - h v*|^2 / 2 h^2  +  elastic energy  -  work of forces,
where x are the Gauss points of the curve. This contains all inertial terms, including those of a moving root.

TR-BDF2 is L-stable and second order, with g = 1 - 1/sqrt(2) and two stages of length g h. In each of them J^T m (J q' - v*) / (g h)
balances the forces, with q' = (q - q*) / (g h) and point velocities v*. The trapezoidal stage starts from q + g h q', v + g h a,
the BDF2 stage from q + c (q1 - q), v + c (v1 - v), c = (1 + sqrt(2)) / 2.

The accelerations a must be consistent with stiff elements, otherwise the trapezoidal stage rings. They are those at the end of the
last step. At the start, and after contact and other discontinuities, they follow from two short steps of backward Euler, of which
only the accelerations are kept. Where the prescribed velocity of the root jumps there is no acceleration to start with, and one
step of SDIRK2 is taken, whose stages start from q, v and from q + (1 - g) h q1', v + (1 - g) h a1. Its stage order is one, so that
many such steps would lose energy and angular momentum.

An error e of the positions is one of e / h in the velocities of each step, and of e / h^2 in the accelerations. The tolerance of
Newton's method therefore decreases with h^2, so that errors per time do not grow with the number of steps.
"""

from __future__ import annotations

import math

from numpy import bool_
from numpy.typing import NDArray

from ...compile.jit import kernel, part
from ...errors import Array
from ...forces.air import cylinder_drag
from ...maths.geometry.frames import Vector
from ...maths.linalg.small import get3
from ..ladder import GAIN, lengthen, next_attempt
from ..schemes import BACKWARD_EULER, CARRIED, ENDS, EXPLICIT, LENGTH, SDIRK2, SEMI_IMPLICIT, START, TR_BDF2
from .arrays import Arrays, MotionScratch, Scratch, State, Step
from .measures import AT_REST, SECANTS, TANGENTS, measure, update_tension
from .momentum import add_impulse, centre_of_mass, correct_motion, is_free, momentum
from .newton import minimise, save_base, step_from_base
from .potential import place_points
from .rates import rates_from_secants, turn_rate, update_points
from .roots import all_finite, place_root
from .samples import place_samples, update_samples
from .semi_implicit import semi_implicit_step
from .stages import (
    LARGEST_EXTRAPOLATION,
    begin_first_stage,
    begin_second_stage,
    guess,
    moves_steadily,
    stands_still,
    update_rates,
)

MOST_HALVINGS = 5
TOLERANCE_STEP = (
    1.0 / 96.0
)  # s, step to which the tolerance of Newton's method refers; shorter steps have a smaller one


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
        fresh = False  # energies and Gauss points belong to the state
        watched = scheme == TR_BDF2 and stands_still(b, r)
        jumps = False  # the prescribed velocity of the root, at the start of the next step
        if step.steps > 0:
            set_edge_reference(b, r)
            jumps = not moves_steadily(b, r, step.steps * step.h)
        while done < step.steps:
            copy_state(b, b.state, b.saved, r)
            update_forces(b, r, sample_mass, step.air_density)
            kind = SDIRK2 if scheme == TR_BDF2 and jumps else scheme
            stage = piece * step.h * LENGTH[kind]
            accelerated = SECANTS if kind == BACKWARD_EULER else TANGENTS
            energy, height = 0.0, 0.0
            if kind == SEMI_IMPLICIT:
                if done + piece >= step.steps:
                    save_velocities(b, scratch, r)
                good = semi_implicit_step(
                    b, scratch, motion_scratch, r, piece * step.h, done / step.steps, (done + piece) / step.steps
                )
            else:
                if not fresh:
                    measure(b, scratch, r)
                energy, height = _energy(b, r)
                mark_point_reference(b, r)
                if kind == TR_BDF2 and b.state.consistent[r] == 0.0:
                    kind = _estimate_accelerations(b, scratch, r, step, done, piece)
                good = _attempt(b, scratch, r, step, done, piece, kind)
            fresh = False
            # Sample points between steps are only needed where forces act on them.
            if good and (b.forces.loaded[r] or done + piece >= step.steps):
                update_samples(b, scratch, r)
            if good and kind != SEMI_IMPLICIT:
                b.state.consistent[r] = 1.0 if kind == TR_BDF2 else 0.0
                measure(b, scratch, r)
                fresh = True
                if watched and kind != BACKWARD_EULER:
                    now, low = _energy(b, r)
                    work = height - low + _work(b, r)
                    good = now - energy - work <= GAIN * (energy + abs(work))
            if not good:
                copy_state(b, b.saved, b.state, r)
                b.state.consistent[r], fresh = 0.0, False
                scheme, piece, more = next_attempt(report, r, scheme, step.scheme, piece, 0.5**MOST_HALVINGS)
                if more:
                    continue
                accelerated = AT_REST
                _give_up(b, r, (done + piece) / step.steps)
                update_samples(b, scratch, r)
            scheme, jumps = step.scheme, False
            done += piece
            piece = lengthen(done, piece)
        if not fresh:
            measure(b, scratch, r)
        if step.steps > 0:
            update_tension(b, scratch, r, stage, accelerated, b.forces.load, False)


@part
def _energy(b: Arrays, r: int) -> tuple[float, float]:
    """J, kinetic and elastic energy, and the energy of gravity, when last measured."""
    energy = b.log.energy
    return energy[r, 0] + energy[r, 1] + energy[r, 2], energy[r, 3]


@part
def _work(b: Arrays, r: int) -> float:
    """J, work of the loads on sample points since the saved state."""
    work = 0.0
    if b.forces.loaded[r]:
        for p in range(b.samples.start[r], b.samples.start[r + 1]):
            for c in range(3):
                work += b.forces.load[p, c] * (b.state.x[p, c] - b.saved.x[p, c])
    return work


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
        target.acceleration[i] = source.acceleration[i]
    target.consistent[r] = source.consistent[r]
    for p in range(b.samples.start[r], b.samples.start[r + 1]):
        for c in range(4):
            target.x[p, c] = source.x[p, c]
        for c in range(3):
            target.v[p, c] = source.v[p, c]
            target.director[p, c] = source.director[p, c]


@part
def set_point_reference(b: Arrays, scratch: Scratch, r: int) -> None:
    """Updates the Gauss points with their velocities and makes them the reference of motion."""
    update_points(b, scratch, r, False)
    mark_point_reference(b, r)


@part
def mark_point_reference(b: Arrays, r: int) -> None:
    """Makes the current frames and positions of the Gauss points the reference of motion."""
    geometry = b.geometry
    for p in range(b.gauss.start[r], b.gauss.start[r + 1]):
        geometry.x[p, 3] = 0.0
        for c in range(3):
            geometry.tangent0[p, c], geometry.director0[p, c] = geometry.frame[p, c, 0], geometry.frame[p, c, 1]
            geometry.x0[p, c] = geometry.x[p, c]
        geometry.x0[p, 3] = 0.0


@part
def save_velocities(b: Arrays, scratch: Scratch, r: int) -> None:
    """Makes the velocities of the Gauss points the start of a stage."""
    update_points(b, scratch, r, False)
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
    loaded = air_density > 0.0 or forces.drag_rate[r] > 0.0
    if loaded:
        cylinder_drag(
            b.samples.radii, sample_mass, state.x, state.v, forces.wind, air_density, forces.drag_rate[r], forces.drag,
            first, end, False,
        )  # fmt: skip
    for i in range(first, end):
        for c in range(3):
            loaded = loaded or forces.load[i, c] != 0.0
        if not (air_density > 0.0 or forces.drag_rate[r] > 0.0):
            for c in range(6):
                forces.drag[i, c] = 0.0
    forces.loaded[r] = loaded


@part
def _attempt(b: Arrays, scratch: Scratch, r: int, step: Step, done: float, piece: float, scheme: int) -> bool:
    """Advances by `piece` of a step. Returns False if Newton's method did not converge."""
    state = b.state
    h = piece * step.h
    tolerance = _tolerance(step, h)
    if scheme == BACKWARD_EULER:
        begin_first_stage(b, r, 0.0)
        fallen_back = scheme != step.scheme
        if not fallen_back:
            start_from_secants(b, scratch, r, h)
        place_root(b, r, (done + piece) / step.steps)
        if not minimise(b, scratch, r, h, tolerance, False):
            return False
        rates_from_secants(b, scratch, r, h, fallen_back)
        return all_finite(state.rate, b.rods.vector_start[r], b.rods.vector_start[r + 1])
    length, end, ratio = LENGTH[scheme], ENDS[scheme, 0], CARRIED[scheme, 1, 0]
    ahead = EXPLICIT[scheme, 0] * length * h
    if scheme == SDIRK2:
        for i in range(b.rods.vector_start[r], b.rods.vector_start[r + 1]):
            state.acceleration[i] = 0.0
    times = (length * h, end * h, (1.0 - end) * h)
    places = ((done + piece * end) / step.steps, (done + piece) / step.steps)
    return _two_stages(b, scratch, r, times, places, ahead, ratio, tolerance, is_free(b, r))


@part
def _two_stages(
    b: Arrays, scratch: Scratch, r: int, times: tuple[float, float, float], places: tuple[float, float], ahead: float,
    ratio: float, tolerance: float, free: bool,
) -> bool:  # fmt: skip
    """Two stages of length times[0], which advance the time by times[1] and times[2], and prescribed motion to the fractions
    `places`. The first starts `ahead` seconds after the state, the second from the state plus `ratio` times the change during
    the first. If `free`, the momentum of the rod is kept. Returns False if Newton's method did not converge."""
    h, first, second = times
    at, start, kept = get3(b.saved.root, r), scratch.momentum[0], scratch.momentum[1]
    place, mass = (0.0, 0.0, 0.0), 1.0
    if free:
        place, mass = centre_of_mass(b, r)
        momentum(b, r, at, start)
        place = _ahead(place, start, ratio * ahead / mass)
        for c in range(6):
            kept[c] = start[c]
        add_impulse(b, r, at, ahead, b.stage.sample_x, 0.0, kept)
    begin_first_stage(b, r, ahead)
    if turn_rate(b, r) * h < LARGEST_EXTRAPOLATION:
        guess(b, r, first)
    place_root(b, r, places[0])
    if not minimise(b, scratch, r, h, tolerance, True):
        return False
    update_rates(b, scratch, r, h, ahead, 0.0)
    update_points(b, scratch, r, False)
    if b.forces.loaded[r]:
        place_samples(b, scratch, r)
    if free:
        add_impulse(b, r, at, h, b.stage.sample_x, h, kept)
        place = _ahead(place, kept, ratio * h / mass)
        for c in range(6):
            kept[c] = start[c] + ratio * (kept[c] - start[c])
    begin_second_stage(b, r, ahead, ratio)
    guess(b, r, second)
    place_root(b, r, places[1])
    if not minimise(b, scratch, r, h, tolerance, True):
        return False
    update_rates(b, scratch, r, h, 0.0, ratio)
    if free:
        update_points(b, scratch, r, False)
        if b.forces.loaded[r]:
            place_samples(b, scratch, r)
        add_impulse(b, r, at, h, b.stage.sample_x, h, kept)
        correct_motion(b, r, at, kept, _ahead(place, kept, h / mass), scratch.momentum[2])
    return all_finite(b.state.rate, b.rods.vector_start[r], b.rods.vector_start[r + 1])


@part
def _ahead(place: Vector, momentum: Array, time: float) -> Vector:
    """A place that moves with the linear momentum; `time` is divided by the mass."""
    return (place[0] + time * momentum[0], place[1] + time * momentum[1], place[2] + time * momentum[2])


@part
def _estimate_accelerations(b: Arrays, scratch: Scratch, r: int, step: Step, done: float, piece: float) -> int:
    """Sets the accelerations; the rest of the state does not change. Returns the scheme of the next step: SDIRK2, which does
    without accelerations, if a short step did not converge."""
    state, h = b.state, START * piece * step.h
    for i in range(b.rods.vector_start[r], b.rods.vector_start[r + 1]):
        state.acceleration[i] = 0.0
    places = ((done + START * piece) / step.steps, (done + 2.0 * START * piece) / step.steps)
    good = _two_stages(b, scratch, r, (h, h, h), places, 0.0, 1.0, _tolerance(step, h), False)
    if good:
        for i in range(b.rods.vector_start[r], b.rods.vector_start[r + 1]):
            b.saved.acceleration[i] = state.acceleration[i]
        b.saved.consistent[r] = 1.0
    copy_state(b, b.saved, state, r)
    measure(b, scratch, r)
    mark_point_reference(b, r)
    return TR_BDF2 if good else SDIRK2


@part
def _tolerance(step: Step, h: float) -> float:
    """Of Newton's method in a step of length h."""
    return float(step.tolerance * min(1.0, (h / TOLERANCE_STEP) ** 2))


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
def _give_up(b: Arrays, r: int, at: float) -> None:
    """Last resort where no step converges: prescribed motion advances, the curvatures stay, and the velocities are set to zero."""
    place_root(b, r, at)
    for i in range(b.rods.vector_start[r], b.rods.vector_start[r + 1]):
        b.state.rate[i] = 0.0
    b.state.consistent[r] = 0.0
