"""Time steps of rods by TR-BDF2 or backward Euler, each stage a Newton solve, with halved steps and backward Euler as fall-backs.

TR-BDF2 is L-stable and second order, with c = (1 + sqrt(2)) / 2 and two stages of length g h, g = 1 - 1/sqrt(2): a trapezoidal
stage, which is a backward Euler step from x + g h v, v + g h a, and a BDF2 stage, which is one from c x1 - (c - 1) x0 and likewise
for v. Its stage order is two, so that it remains second order with inextensible segments, where SDIRK2 drops to first order.

The accelerations a must be consistent with constraint forces and stiff elements, otherwise the trapezoidal stage rings. They are
those of the last stage. At the start, and after contact and other discontinuities, they follow from two short steps of backward
Euler, of which only the accelerations are kept.
"""

from __future__ import annotations

import math

from numpy import bool_, int64
from numpy.typing import NDArray

from ...compile.jit import kernel, part
from ...errors import Array
from ..ladder import GAIN, lengthen, next_attempt
from ..schemes import BACKWARD_EULER, BDF2_WEIGHT, GAMMA, LENGTH, START
from .arrays import Arrays, Linear, Step
from .evaluate import evaluate, penalty_stiffness
from .kinematics import displace, place, sample_forces, sample_motion, save_base
from .matrix import factor_matrix, solve_matrix
from .newton import minimise
from .stages import (
    aim_sections,
    begin_stage,
    copy_state,
    extrapolate_loads,
    extrapolate_stage,
    guess,
    measure,
    place_held,
    save_loads,
    save_strains,
    spin_energy,
    store_strain_rates,
    update_drag,
    update_velocities,
)

LARGEST_SPIN = (
    0.25 * math.pi
)  # rad per attempt, of prescribed frames: faster ones would wind past elements, whose turns are lost


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
        watched = scheme != BACKWARD_EULER and _at_rest(b, r)
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
            good, gained = _attempt(b, step, r, done, piece, scheme), False
            if good and watched:
                now, work = _energy_and_work(b, r)
                gained = scheme != BACKWARD_EULER and now - energy - work > GAIN * (energy + abs(work))
                if not gained:
                    energy = now
            if good and not gained:
                store_strain_rates(rods, state, b.geometry, b.stage, r, piece * step.h * LENGTH[scheme])
            else:
                copy_state(saved, state, first, end, r)
                if gained:
                    state.consistent[r] = 0.0  # inconsistent accelerations may have caused the gain
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
def _largest_spin(b: Arrays, r: int) -> float:
    """rad, prescribed spin of a frame during all steps."""
    largest, spin = 0.0, b.holds.spin
    for i in range(b.rods.start[r], b.rods.start[r + 1]):
        largest = max(largest, abs(spin[1, i] - spin[0, i]))
    return largest


@part
def _attempt(b: Arrays, step: Step, r: int, done: float, piece: float, scheme: int) -> bool:
    """Advances by `piece` of a step from the state, after `place`. Returns False if Newton did not converge."""
    rods, state = b.rods, b.state
    h = piece * step.h
    if piece > 0.5**step.most_halvings and _largest_spin(b, r) * piece > LARGEST_SPIN * step.steps:
        return False
    save_strains(rods, b.geometry, b.start_strain, r)
    if scheme == BACKWARD_EULER:
        begin_stage(rods, state, b.geometry, b.stage, r, 0.0)
        return _solve_stage(b, step, r, h, (done + piece) / step.steps, False)
    if state.consistent[r] == 0.0 and not _estimate_accelerations(b, step, r, done, piece):
        return False
    begin_stage(rods, state, b.geometry, b.stage, r, GAMMA * h)
    if not _solve_stage(b, step, r, GAMMA * h, (done + 2.0 * GAMMA * piece) / step.steps, True):
        return False
    save_loads(rods, state, b.first_load, r)
    extrapolate_stage(rods, state, b.saved, b.geometry, b.start_strain, b.stage, r, BDF2_WEIGHT - 1.0)
    if not _solve_stage(b, step, r, GAMMA * h, (done + piece) / step.steps, True):
        return False
    extrapolate_loads(rods, state, b.first_load, r)
    return True


@part
def _solve_stage(b: Arrays, step: Step, r: int, h: float, at: float, implicit: bool) -> bool:
    """A stage of length h, after its start was set; prescribed motion advances to the fraction `at`. For `implicit` see
    `predicted_spin`."""
    rods, state, stage, geometry, system = b.rods, b.state, b.stage, b.geometry, b.system
    aim_sections(rods, stage, state.a, b.forces.drag_rate[r], r, h, implicit)
    save_base(rods, state, system, r)
    place_held(rods, b.holds, b.frames, geometry, state, r, at)
    guess(rods, state, geometry, stage, system, r, h, 1.0)
    if not minimise(rods, b.forces, stage, geometry, system, state, b.log.report, r, h, step):
        return False
    return update_velocities(rods, state, stage, b.forces, r, h, False, implicit)


@part
def _estimate_accelerations(b: Arrays, step: Step, r: int, done: float, piece: float) -> bool:
    """Sets accelerations and strain rates; the rest of the state does not change. Returns False if a short step did not
    converge."""
    rods, state, saved, geometry = b.rods, b.state, b.saved, b.geometry
    first, end, h = rods.start[r], rods.start[r + 1], START * piece * step.h
    short = Step(
        h, step.steps, BACKWARD_EULER, step.air_density, START * START * step.tolerance, step.most_iterations,
        step.most_halvings, step.solver, step.exact,
    )  # fmt: skip
    for k in range(1, 3):
        begin_stage(rods, state, geometry, b.stage, r, 0.0)
        if not _solve_stage(b, short, r, h, (done + k * START * piece) / step.steps, False):
            return False
    store_strain_rates(rods, state, geometry, b.stage, r, h)
    for i in range(first, end):
        for c in range(6):
            saved.a[i, c] = state.a[i, c]
    state.consistent[r] = 1.0
    copy_state(saved, state, first, end, r)
    place_held(rods, b.holds, b.frames, geometry, state, r, done / step.steps)
    copy_state(saved, state, first, end, r)
    place(rods, state, geometry, r)
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
    state.consistent[r] = 0.0


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
        save_base(b.rods, b.state, system, r)
        displace(b.rods, b.state, b.geometry, system, x, 1.0, r)
