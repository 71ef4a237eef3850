"""Steps of every rod: one or two stages, each a Newton solve; another integrator or half a step where it does not converge.

SDIRK2 is Alexander's L-stable scheme of second order: with g = 1 - 1/sqrt(2),
    y1 = y + g h f(y1),   y' = y + (1 - g) h f(y1) + g h f(y'),
so each of its two stages is a backward Euler step of length g h from another starting point. The implicit midpoint rule is
a backward Euler step to the middle, gone twice as far.
"""

from __future__ import annotations

import math

from numpy import bool_
from numpy.typing import NDArray

from ...compile.jit import kernel, part
from ...errors import Array
from ...forces.air import cylinder_drag
from .arrays import BACKWARD_EULER, MIDPOINT, SDIRK2, Arrays, Holds, Rods, Step
from .evaluate import update_geometry
from .newton import linearise, minimise, solve_matrix
from .stages import accept_iterate, gyroscopic_forces, make_base, measure, place_frames, place_held
from .workbench import copy_state, fetch

GAMMA = 1.0 - math.sqrt(0.5)
STAGE = {BACKWARD_EULER: 1.0, SDIRK2: GAMMA, MIDPOINT: 0.5}  # the length of a stage, in steps

# Columns of the report; Newton counts the first two.
ITERATIONS, RESIDUAL, HALVINGS, FALLBACKS, FAILURES = range(5)

GAIN = 1e-3  # of its energy: what gains more in a step of SDIRK2, of nothing, takes a step of backward Euler instead
ROUND_OFF = 1e-9  # of the work that was done: of what is at rest the energy is zero, and any error would be a gain


@kernel
def step_rods(
    b: Arrays, bench: Arrays, step: Step, lanes: Array, skip: NDArray[bool_], first_rod: int, last_rod: int
) -> None:
    """Takes step.steps steps with rods first_rod ... last_rod - 1 but those to skip; with none of them it only measures.

    Never raises. What was done is added up in the log's report, and the elastic energies at the end are written there.
    """
    rods, state, saved, holds = bench.rods, bench.state, bench.saved, bench.holds
    frames, geometry, forces, report = bench.frames, bench.geometry, bench.forces, b.log.report
    smallest = 0.5**step.most_halvings
    for r in range(first_rod, last_rod):
        if skip[r]:
            continue
        fetch(b, bench, r)
        n = rods.start[1]
        bench.log.report[0, ITERATIONS] = 0.0
        bench.log.report[0, RESIDUAL] = report[r, RESIDUAL]
        done = 0.0  # in steps; sums of powers of two are exact
        part = 1.0
        scheme = step.scheme
        given = _most_given(rods, holds, forces.wind, step.steps * step.h) if scheme == SDIRK2 else math.inf
        watched = given < math.inf
        energy = math.inf  # where the step begins; not known yet
        while done < step.steps:
            copy_state(state, 0, saved, 0, n)
            make_base(rods, state, holds, frames, geometry, 0, done / step.steps)
            if watched and energy == math.inf and update_geometry(rods, frames, geometry, state.q, 0):
                energy, _ = _energy_and_work(bench)
            if done == math.floor(done):
                cylinder_drag(
                    rods.radii, rods.mass, state.q, state.v, forces.wind, step.air_density, forces.drag_rate[0],
                    forces.drag, 0, n, rods.closed[0],
                )  # fmt: skip
            good = _attempt(bench, step, lanes, done, part, scheme)
            if good and watched:
                now, work = _energy_and_work(bench)
                good = scheme == BACKWARD_EULER or now - energy - work <= GAIN * energy + ROUND_OFF * abs(work) + given
                if good:
                    energy = now
            if good:
                accept_iterate(state, geometry, 0, n)
            elif scheme > BACKWARD_EULER:
                copy_state(saved, 0, state, 0, n)
                scheme -= 1
                report[r, FALLBACKS] += 1.0
                continue
            elif part > smallest:
                copy_state(saved, 0, state, 0, n)
                scheme = step.scheme
                part *= 0.5
                report[r, HALVINGS] += 1.0
                continue
            else:
                report[r, FAILURES] += 1.0
                _give_up(bench, (done + part) / step.steps)
                energy = math.inf
            scheme = step.scheme
            done += part
            # Back to longer parts where they fit again: done must stay a multiple of the part.
            while part < 1.0 and done / (2.0 * part) == math.floor(done / (2.0 * part)):
                part *= 2.0
        if step.steps > 0:
            copy_state(state, 0, b.state, b.rods.start[r], n)
            report[r, ITERATIONS] += bench.log.report[0, ITERATIONS]
            report[r, RESIDUAL] = bench.log.report[0, RESIDUAL]
        make_base(rods, state, holds, frames, geometry, 0, 1.0)
        update_geometry(rods, frames, geometry, state.q, 0)
        measure(rods, geometry, 0, b.log.energy, r)


@part
def _most_given(rods: Rods, holds: Holds, wind: Array, time: float) -> float:
    """The most energy that holds which move may give to the rod in a step, about: twice their speed to all of it. Infinite if holds
    turn or wind blows: that is not so easily told."""
    if wind[0] != 0.0 or wind[1] != 0.0 or wind[2] != 0.0:
        return math.inf
    farthest, mass = 0.0, 0.0
    for i in range(rods.start[1]):
        mass += rods.mass[i, 0]
        way = 0.0
        for c in range(3):
            if holds.director[0, i, c] != holds.director[1, i, c] or holds.tangent[0, i, c] != holds.tangent[1, i, c]:
                return math.inf
            if rods.held[i, 0]:
                way += (holds.position[1, i, c] - holds.position[0, i, c]) ** 2
        if holds.spin[0, i] != holds.spin[1, i]:
            return math.inf
        farthest = max(farthest, way)
    return 2.0 * mass * farthest / (time * time) if farthest > 0.0 else 0.0


@part
def _energy_and_work(bench: Arrays) -> tuple[float, float]:
    """Energy of the rod at the iterate, but for that of its weight; and the work of weight and loads since the saved state."""
    rods, state, saved, force, log = bench.rods, bench.state, bench.saved, bench.forces.force, bench.log
    measure(rods, bench.geometry, 0, log.energy, 0)
    energy = log.energy[0, 0] + log.energy[0, 1] + log.energy[0, 2]
    work = 0.0
    for i in range(rods.start[1]):
        for c in range(4):
            energy += 0.5 * rods.mass[i, c] * state.v[i, c] * state.v[i, c]
            work += force[i, c] * (state.q[i, c] - saved.q[i, c])
    return float(energy), work


@kernel
def solve_rods(b: Arrays, bench: Arrays, h: float, lanes: Array, x: Array, first_rod: int, last_rod: int) -> None:
    """Applies the inverse of the matrix of a stage of length h at the state to x (N, 4), in place."""
    rods, system, stage, geometry = bench.rods, bench.system, bench.stage, bench.geometry
    for r in range(first_rod, last_rod):
        if not lay_out(b, bench, r):
            continue
        first, n = b.rods.start[r], rods.start[1]
        for i in range(n):
            stage.stretch[i] = geometry.stretch[i]
            for slot in range(2):
                for c in range(5):
                    stage.strain[i, slot, c] = geometry.strain[i, slot, c]
            for c in range(4):
                system.trial[4 * i + c] = 0.0 if rods.held[i, c] else x[first + i, c]
        if linearise(bench, h, lanes):
            solve_matrix(rods, system, 0, system.trial)
            for i in range(n):
                for c in range(4):
                    x[first + i, c] = system.trial[4 * i + c]


@kernel
def lay_out(b: Arrays, bench: Arrays, r: int) -> bool:
    """Fetches rod r and computes its geometry at the end of the last steps."""
    fetch(b, bench, r)
    make_base(bench.rods, bench.state, bench.holds, bench.frames, bench.geometry, 0, 1.0)
    return update_geometry(bench.rods, bench.frames, bench.geometry, bench.state.q, 0)


@part
def _attempt(b: Arrays, step: Step, lanes: Array, done: float, part: float, scheme: int) -> bool:
    """Advances by `part` of a step from a state that make_base has made the base. False if Newton did not converge."""
    rods, state, holds, frames, stage, geometry = b.rods, b.state, b.holds, b.frames, b.stage, b.geometry
    first, end = 0, rods.start[1]
    q, v, a, base = state.q, state.v, state.a, b.system.base
    q_star, v_star, strain_star, stretch_star = stage.q, stage.v, stage.strain, stage.stretch
    strain0, stretch0, strain, stretch = stage.strain0, stage.stretch0, geometry.strain, geometry.stretch
    stages = 2 if scheme == SDIRK2 else 1
    fraction = (
        GAMMA if scheme == SDIRK2 else 0.5 if scheme == MIDPOINT else 1.0
    )  # of the step, at the end of the first stage
    h = part * step.h * fraction
    ratio = (1.0 - GAMMA) / GAMMA
    damped = rods.damping_time[0] > 0.0
    if damped:
        if not update_geometry(rods, frames, geometry, q, 0):
            return False
        for i in range(first, end):
            stretch0[i] = stretch[i]
            stretch_star[i] = stretch[i]
            for s in range(2):
                for c in range(5):
                    strain0[i, s, c] = strain[i, s, c]
                    strain_star[i, s, c] = strain[i, s, c]
    for i in range(first, end):
        for c in range(4):
            q_star[i, c] = q[i, c]
            v_star[i, c] = v[i, c]
    for k in range(stages):
        at = (done + part * (fraction if k == 0 else 1.0)) / step.steps
        if k == 1 and damped:
            for i in range(first, end):
                stretch_star[i] = stretch0[i] + ratio * (stretch[i] - stretch0[i])
                for s in range(2):
                    for c in range(5):
                        strain_star[i, s, c] = strain0[i, s, c] + ratio * (strain[i, s, c] - strain0[i, s, c])
        if k == 1:
            for i in range(first, end):
                for c in range(4):
                    q_star[i, c] += ratio * h * v[i, c]
                    v_star[i, c] += ratio * h * a[i, c]
        place_frames(rods, holds, frames, first, end, at)
        # The guess: the acceleration goes on. Where that folds the rod, it starts from where it was.
        for trial in range(2):
            for i in range(first, end):
                for c in range(4):
                    if trial == 0:
                        base[i, c] = q[i, c]
                        q[i, c] = q_star[i, c] + h * (v_star[i, c] + h * a[i, c])
                    else:
                        q[i, c] = base[i, c]
            place_held(rods, holds, frames, geometry, q, first, end, at)
            if update_geometry(rods, frames, geometry, q, 0):
                break
            if trial == 1:
                return False
        gyroscopic_forces(rods, geometry, stage, b.forces.gyroscopic, a, 0, h)
        if not minimise(rods, frames, b.forces, stage, geometry, b.system, b.log.report, q, 0, h, step, lanes):
            return False
        good = True
        for i in range(first, end):
            for c in range(4):
                v[i, c] = (q[i, c] - q_star[i, c]) / h
                a[i, c] = (v[i, c] - v_star[i, c]) / h
                good = good and math.isfinite(a[i, c])
        if not good:
            return False
    if scheme == MIDPOINT:
        at = (done + part) / step.steps
        for i in range(first, end):
            for c in range(4):
                q[i, c] += q[i, c] - q_star[i, c]
                if not rods.held[i, c]:  # what is held has the speed of its way; twice it less the old one would ring
                    v[i, c] += v[i, c] - v_star[i, c]
        place_frames(rods, holds, frames, first, end, at)
        place_held(rods, holds, frames, geometry, q, first, end, at)
        return update_geometry(rods, frames, geometry, q, 0)
    return True


@part
def _give_up(b: Arrays, at: float) -> None:
    """The last resort where no step converges: the rod goes as far as Newton's method came, its held places follow, and it
    loses its speed. So it creeps out of where it would be stuck. Where that folds it, it stays where it was."""
    rods, state, frames, geometry = b.rods, b.state, b.frames, b.geometry
    n = rods.start[1]
    for i in range(n):
        for c in range(4):
            state.q[i, c] = b.system.base[i, c]
    place_frames(rods, b.holds, frames, 0, n, at)
    place_held(rods, b.holds, frames, geometry, state.q, 0, n, at)
    if update_geometry(rods, frames, geometry, state.q, 0):
        accept_iterate(state, geometry, 0, n)
    else:
        copy_state(b.saved, 0, state, 0, n)
    for i in range(n):
        for c in range(4):
            state.v[i, c] = 0.0
            state.a[i, c] = 0.0
