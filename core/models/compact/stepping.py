"""Time steps of rods, each a Newton solve, with backward Euler and halved steps as fall-backs.

Each step solves a backward Euler problem, either from the state or from a point extrapolated with the previous step; the latter
is BDF2, second order and L-stable. SDIRK2, the scheme of `der`, would be first order here: the inextensibility constraints
require accelerations that the stages within a step don't know. BDF2 restarts with backward Euler after contact and other events
that invalidate its history.
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
from .evaluate import evaluate, penalty_stiffness
from .kinematics import displace, place, sample_forces, sample_motion, save_base
from .matrix import factor_matrix, solve_matrix
from .newton import minimise
from .stages import (
    aim_sections,
    copy_state,
    guess,
    measure,
    place_held,
    spin_energy,
    start_stage,
    store_history,
    update_drag,
    update_velocities,
)

LARGEST_GROWTH = 2.0  # ratio of successive step lengths; BDF2 is stable up to 2.4


@kernel
def step_rods(b: Arrays, step: Step, skip: NDArray[bool_], first_rod: int, last_rod: int) -> None:
    """Takes step.steps steps with rods first_rod ... last_rod - 1 except those in `skip`; with zero steps it only measures.

    Never raises. The counters of the log's report are increased, and the final elastic energies are written to the log."""
    rods, state, saved, holds, report = b.rods, b.state, b.saved, b.holds, b.log.report
    smallest = 0.5**step.most_halvings
    for r in range(first_rod, last_rod):
        if skip[r]:
            continue
        first, end = rods.start[r], rods.start[r + 1]
        done, piece, scheme = 0.0, 1.0, step.scheme  # in steps; sums of powers of two are exact
        watched = scheme == BDF2 and _at_rest(b, r)
        energy = math.inf  # at the start of the step; not known yet
        while done < step.steps:
            copy_state(state, saved, first, end, r)
            if done == math.floor(done):
                update_drag(rods, b.forces, state, step.air_density, r)
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
        update_geometry(b, r)
        measure(rods, b.geometry, r, b.log.energy, r)


@part
def update_geometry(b: Arrays, r: int) -> None:
    """Updates directors and strains of the state, with holds at the end of the step. The state does not change."""
    rods, first, end = b.rods, b.rods.start[r], b.rods.start[r + 1]
    copy_state(b.state, b.saved, first, end, r)
    place_held(rods, b.holds, b.frames, b.geometry, b.state, r, 1.0)
    copy_state(b.saved, b.state, first, end, r)
    place(rods, b.state, b.geometry, r)
    copy_state(b.saved, b.state, first, end, r)


@part
def _at_rest(b: Arrays, r: int) -> bool:
    """Whether no hold moves and no wind blows, so that only weight and loads can do work on the rod."""
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
    """J, energy of the rod at the iterate without that of gravity; and work of weight and loads since the saved state."""
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
    """Advances by a piece of a step from the state, after `place`. Returns False if Newton did not converge.

    BDF2 with a step h after one of h / rho: y' = y* + k f(y') with y* = y + back (y - y1), back = rho^2 / (1 + 2 rho), k = h (1
    + rho) / (1 + 2 rho)."""
    rods, state, stage, geometry, system = b.rods, b.state, b.stage, b.geometry, b.system
    h, back = piece * step.h, 0.0
    whole = h
    if scheme == BDF2 and state.previous_h[r] > 0.0:
        rho = h / state.previous_h[r]
        if rho <= LARGEST_GROWTH:
            back = rho * rho / (1.0 + 2.0 * rho)
            h *= (1.0 + rho) / (1.0 + 2.0 * rho)
    start_stage(rods, state, geometry, stage, r, back)
    aim_sections(rods, stage, b.forces.drag_rate[0], r, h)
    save_base(rods, state, system.base_q, system.base_root, r)
    strain = b.start_strain
    for i in range(rods.start[r], rods.start[r + 1]):
        for s in range(2):
            for c in range(3):
                strain[i, s, c] = geometry.strain[i, s, c]
    place_held(rods, b.holds, b.frames, geometry, state, r, (done + piece) / step.steps)
    guess(rods, state, geometry, stage, system.base_q, system.base_root, r, h, 1.0)
    if not minimise(rods, b.forces, stage, geometry, system, state, b.log.report, r, h, step):
        return False
    if not update_velocities(rods, state, stage, b.forces, r, h, False):
        return False
    store_history(rods, state, b.saved, strain, r, whole)
    return True


@part
def give_up(b: Arrays, r: int, at: float) -> None:
    """Last resort where no step converges: only prescribed motion advances, and the velocities are set to zero."""
    rods, state = b.rods, b.state
    place_held(rods, b.holds, b.frames, b.geometry, state, r, at)
    place(rods, state, b.geometry, r)
    for i in range(rods.start[r], rods.start[r + 1]):
        for c in range(6):
            state.v[i, c] = 0.0
            state.a[i, c] = 0.0
        for c in range(3):
            state.hold_force[i, c] = 0.0
            state.load[i, c] = 0.0
    for c in range(3):
        state.loop_force[r, c] = 0.0
    state.previous_h[r] = 0.0


@kernel
def solve_rods(b: Arrays, h: float, x: Array, first_rod: int, last_rod: int) -> None:
    """Applies the inverse of the matrix of a stage of length h at the state to x (N + R, 3), in place."""
    rods, stage, geometry, system, state = b.rods, b.stage, b.geometry, b.system, b.state
    for r in range(first_rod, last_rod):
        update_geometry(b, r)
        for i in range(rods.start[r], rods.start[r + 1]):
            for s in range(2):
                for c in range(3):
                    stage.strain[i, s, c] = geometry.strain[i, s, c]
        penalty = penalty_stiffness(rods, b.forces, state, r, h)
        for attempt in range(2):
            evaluate(rods, b.forces, stage, geometry, system, state, r, h, penalty, attempt == 0)
            if factor_matrix(rods, geometry, system, r):
                solve_matrix(rods, geometry, system, x, r, 0.0)
                break


@kernel
def map_motion(b: Linear, chosen: NDArray[int64], x: Array, out: Array) -> None:
    """out (N, 4) = J x of the chosen rods: displacement of vertices and turn of edges at the iterate."""
    for r in chosen:
        sample_motion(b, b, x, out, r)


@kernel
def map_forces(b: Linear, chosen: NDArray[int64], forces: Array, out: Array) -> None:
    """out (N + R, 3) = J^T of forces (N, 4), of the chosen rods."""
    for r in chosen:
        sample_forces(b, b, forces, out, r)


@kernel
def disturb_rods(b: Arrays, x: Array) -> None:
    """Displaces all rods by x (N + R, 3)."""
    system = b.system
    for r in range(len(b.rods.closed)):
        save_base(b.rods, b.state, system.base_q, system.base_root, r)
        displace(b.rods, b.state, b.geometry, system.base_q, system.base_root, x, 1.0, r)
