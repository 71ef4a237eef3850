"""Steps of every rod, each a Newton solve; backward Euler or half a step where it does not converge.

Every step is a backward Euler step, from where the rod is or from a point that its last step shows: then it is one of BDF2,
of second order and L-stable. SDIRK2, which `der` takes, would be of first order here: the segments' lengths are constraints,
and stages within a step don't know the accelerations that these need. After contact, or whatever else makes the past useless,
BDF2 begins with backward Euler.
"""

from __future__ import annotations

import math

from numpy import bool_, int64
from numpy.typing import NDArray

from ...compile.jit import kernel, part
from ...errors import Array
from ..ladder import GAIN, lengthen, next_attempt
from ..schemes import BACKWARD_EULER, BDF2
from .arrays import Arrays, Linear, Step
from .evaluate import evaluate, firmness
from .kinematics import displace, keep_base, place, sample_forces, sample_motion
from .matrix import factor_matrix, solve_matrix
from .newton import minimise
from .stages import (
    aim_sections,
    copy_state,
    drag_along,
    guess,
    measure,
    place_held,
    remember,
    spin_energy,
    start_stage,
    take_velocities,
)

FASTEST_GROWTH = 2.0  # of steps, from one to the next: BDF2 is stable up to 2.4


@kernel
def step_rods(b: Arrays, step: Step, skip: NDArray[bool_], first_rod: int, last_rod: int) -> None:
    """Takes step.steps steps with rods first_rod ... last_rod - 1 but those to skip; with none of them it only measures.

    Never raises. What was done is added up in the log's report, and the elastic energies at the end are written there.
    """
    rods, state, saved, holds, report = b.rods, b.state, b.saved, b.holds, b.log.report
    smallest = 0.5**step.most_halvings
    for r in range(first_rod, last_rod):
        if skip[r]:
            continue
        first, end = rods.start[r], rods.start[r + 1]
        done, piece, scheme = 0.0, 1.0, step.scheme  # in steps; sums of powers of two are exact
        watched = scheme == BDF2 and _at_rest(b, r)
        energy = math.inf  # where the step begins; not known yet
        while done < step.steps:
            copy_state(state, saved, first, end, r)
            if done == math.floor(done):
                drag_along(rods, b.forces, state, step.air_density, r)
            place_held(rods, holds, b.frames, b.geometry, state, r, done / step.steps)
            copy_state(saved, state, first, end, r)
            place(rods, state, b.geometry, r)
            if watched and energy == math.inf:
                energy, _ = _energy_and_work(b, r)
            good = _attempt(b, step, r, done, piece, scheme)
            if good and watched:
                now, work = _energy_and_work(b, r)
                good = scheme == BACKWARD_EULER or now - energy - work <= GAIN * (energy + abs(work))
                if good:
                    energy = now
            if not good:
                copy_state(saved, state, first, end, r)
                scheme, piece, more = next_attempt(report, r, scheme, step.scheme, piece, smallest)
                if more:
                    continue
                give_up(b, r, (done + piece) / step.steps)
                energy = math.inf
            scheme = step.scheme
            done += piece
            piece = lengthen(done, piece)
        lay_out(b, r)
        measure(rods, b.geometry, r, b.log.energy, r)


@part
def lay_out(b: Arrays, r: int) -> None:
    """Directors and strains of the state, with holds where they are at the end of the step. The state stays as it is."""
    rods, first, end = b.rods, b.rods.start[r], b.rods.start[r + 1]
    copy_state(b.state, b.saved, first, end, r)
    place_held(rods, b.holds, b.frames, b.geometry, b.state, r, 1.0)
    copy_state(b.saved, b.state, first, end, r)
    place(rods, b.state, b.geometry, r)
    copy_state(b.saved, b.state, first, end, r)


@part
def _at_rest(b: Arrays, r: int) -> bool:
    """No hold moves and no wind blows: then nothing but weight and loads may give the rod energy."""
    holds = b.holds
    if b.forces.wind[0] != 0.0 or b.forces.wind[1] != 0.0 or b.forces.wind[2] != 0.0:
        return False
    for i in range(b.rods.start[r], b.rods.start[r + 1]):
        if holds.spin[0, i] != holds.spin[1, i]:
            return False
        for c in range(3):
            moves = b.rods.held[i] and holds.position[0, i, c] != holds.position[1, i, c]
            turns = (
                holds.director[0, i, c] != holds.director[1, i, c] or holds.tangent[0, i, c] != holds.tangent[1, i, c]
            )
            if moves or turns:
                return False
    return True


@part
def _energy_and_work(b: Arrays, r: int) -> tuple[float, float]:
    """Energy of the rod at the iterate, but for that of its weight; and the work of weight and loads since the saved state."""
    rods, state, saved, force = b.rods, b.state, b.saved, b.forces.force
    energy = measure(rods, b.geometry, r, b.log.energy, r)
    work = 0.0
    for i in range(rods.start[r], rods.start[r + 1]):
        energy += spin_energy(rods.mass, b.geometry.d1, b.geometry.d2, state.v, i)
        for c in range(3):
            energy += 0.5 * rods.mass[i, 0] * state.v[i, c] * state.v[i, c]
            work += force[i, c] * (state.x[i, c] - saved.x[i, c])
    return energy, work


@part
def _attempt(b: Arrays, step: Step, r: int, done: float, piece: float, scheme: int) -> bool:
    """Advances by a piece of a step from the state, which is placed. False if Newton did not converge.

    BDF2 with steps of h after one of h / rho: y' = y* + k f(y') with y* = y + back (y - y1), back = rho^2 / (1 + 2 rho), and
    k = h (1 + rho) / (1 + 2 rho)."""
    rods, state, stage, geometry, system = b.rods, b.state, b.stage, b.geometry, b.system
    h, back = piece * step.h, 0.0
    whole = h
    if scheme == BDF2 and state.past[r] > 0.0:
        rho = h / state.past[r]
        if rho <= FASTEST_GROWTH:
            back = rho * rho / (1.0 + 2.0 * rho)
            h *= (1.0 + rho) / (1.0 + 2.0 * rho)
    start_stage(rods, state, geometry, stage, r, back)
    aim_sections(rods, stage, b.forces.drag_rate[0], r, h)
    keep_base(rods, state, system.base_q, system.base_root, r)
    strain = b.before
    for i in range(rods.start[r], rods.start[r + 1]):
        for s in range(2):
            for c in range(3):
                strain[i, s, c] = geometry.strain[i, s, c]
    place_held(rods, b.holds, b.frames, geometry, state, r, (done + piece) / step.steps)
    guess(rods, state, geometry, stage, system.base_q, system.base_root, r, h, 1.0)
    if not minimise(rods, b.forces, stage, geometry, system, state, b.log.report, r, h, step):
        return False
    if not take_velocities(rods, state, stage, b.forces, r, h, False):
        return False
    remember(rods, state, b.saved, strain, r, whole)
    return True


@part
def give_up(b: Arrays, r: int, at: float) -> None:
    """The last resort where no step converges: the rod stays as it is, but for what is held, and loses its speed."""
    rods, state = b.rods, b.state
    place_held(rods, b.holds, b.frames, b.geometry, state, r, at)
    place(rods, state, b.geometry, r)
    for i in range(rods.start[r], rods.start[r + 1]):
        for c in range(6):
            state.v[i, c] = 0.0
            state.a[i, c] = 0.0
        for c in range(3):
            state.pull[i, c] = 0.0
            state.load[i, c] = 0.0
    for c in range(3):
        state.loop[r, c] = 0.0
    state.past[r] = 0.0


@kernel
def solve_rods(b: Arrays, h: float, x: Array, first_rod: int, last_rod: int) -> None:
    """Applies the inverse of the matrix of a stage of length h at the state to x (N + R, 3), in place."""
    rods, stage, geometry, system, state = b.rods, b.stage, b.geometry, b.system, b.state
    for r in range(first_rod, last_rod):
        lay_out(b, r)
        for i in range(rods.start[r], rods.start[r + 1]):
            for s in range(2):
                for c in range(3):
                    stage.strain[i, s, c] = geometry.strain[i, s, c]
        firm = firmness(rods, b.forces, state, r, h)
        for attempt in range(2):
            evaluate(rods, b.forces, stage, geometry, system, state, r, h, firm, attempt == 0)
            if factor_matrix(rods, geometry, system, r):
                solve_matrix(rods, geometry, system, x, r, 0.0)
                break


@kernel
def map_motion(b: Linear, chosen: NDArray[int64], x: Array, out: Array) -> None:
    """out (N, 4) = J x of the chosen rods: the motion of vertices and the turn of edges at the iterate."""
    for r in chosen:
        sample_motion(b, b, x, out, r)


@kernel
def map_forces(b: Linear, chosen: NDArray[int64], forces: Array, out: Array) -> None:
    """out (N + R, 3) = J^T of forces (N, 4), of the chosen rods."""
    for r in chosen:
        sample_forces(b, b, forces, out, r)


@kernel
def disturb_rods(b: Arrays, x: Array) -> None:
    """Moves all rods by x (N + R, 3) from where they are."""
    system = b.system
    for r in range(len(b.rods.closed)):
        keep_base(b.rods, b.state, system.base_q, system.base_root, r)
        displace(b.rods, b.state, b.geometry, system.base_q, system.base_root, x, 1.0, r)
