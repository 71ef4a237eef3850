"""Steps of every rod: one or two stages, each a Newton solve; another integrator or half a step where it does not converge.

SDIRK2 is Alexander's L-stable scheme of second order: with g = 1 - 1/sqrt(2),
    y1 = y + g h f(y1),   y' = y + (1 - g) h f(y1) + g h f(y'),
so each of its two stages is a backward Euler step of length g h from another starting point. The implicit midpoint rule is
a backward Euler step to the middle, gone twice as far.
"""

from __future__ import annotations

import math

from ...errors import Array
from ...forces.air import cylinder_drag
from ...geometry.frames import Vector, cross, dot, signed_angle, transport
from ...jit import kernel, part
from .arrays import (
    BACKWARD_EULER,
    FRAMED,
    MIDPOINT,
    SDIRK2,
    Arrays,
    Geometry,
    HeldFrames,
    Holds,
    Rods,
    Stage,
    State,
    Step,
)
from .evaluate import edge_of, get, nearest_turn, put, update_geometry
from .newton import linearise, minimise, solve_matrix
from .workbench import copy_state, fetch

GAMMA = 1.0 - math.sqrt(0.5)
STAGE = {BACKWARD_EULER: 1.0, SDIRK2: GAMMA, MIDPOINT: 0.5}  # the length of a stage, in steps

# Columns of the report; Newton counts the first two.
ITERATIONS, RESIDUAL, HALVINGS, FALLBACKS, FAILURES = range(5)


@kernel
def step_rods(b: Arrays, bench: Arrays, step: Step, lanes: Array, first_rod: int, last_rod: int) -> None:
    """Takes step.steps steps with rods first_rod ... last_rod - 1; with none of them it only measures.

    Never raises. What was done is added up in the log's report, and the elastic energies at the end are written there.
    """
    rods, state, saved, holds = bench.rods, bench.state, bench.saved, bench.holds
    frames, geometry, forces, report = bench.frames, bench.geometry, bench.forces, b.log.report
    smallest = 0.5**step.most_halvings
    for r in range(first_rod, last_rod):
        fetch(b, bench, r)
        n = rods.start[1]
        bench.log.report[0, ITERATIONS] = 0.0
        bench.log.report[0, RESIDUAL] = report[r, RESIDUAL]
        done = 0.0  # in steps; sums of powers of two are exact
        part = 1.0
        scheme = step.scheme
        while done < step.steps:
            copy_state(state, 0, saved, 0, n)
            _begin(rods, state, holds, frames, geometry, done / step.steps)
            if done == math.floor(done):
                cylinder_drag(
                    rods.radii, rods.mass, state.q, state.v, forces.wind, step.air_density, forces.drag_rate[0],
                    forces.drag, 0, n, rods.closed[0],
                )  # fmt: skip
            if _attempt(bench, step, lanes, done, part, scheme):
                _finish(state, geometry, n)
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
            scheme = step.scheme
            done += part
            # Back to longer parts where they fit again: done must stay a multiple of the part.
            while part < 1.0 and done / (2.0 * part) == math.floor(done / (2.0 * part)):
                part *= 2.0
        if step.steps > 0:
            copy_state(state, 0, b.state, b.rods.start[r], n)
            report[r, ITERATIONS] += bench.log.report[0, ITERATIONS]
            report[r, RESIDUAL] = bench.log.report[0, RESIDUAL]
        _begin(rods, state, holds, frames, geometry, 1.0)
        update_geometry(rods, frames, geometry, state.q, 0)
        _measure(rods, geometry, b.log.energy, r)


@part
def _measure(rods: Rods, geometry: Geometry, energy: Array, r: int) -> None:
    """Elastic energies of the rod on the workbench, into row r."""
    stiffness, rest, strain = rods.stiffness, rods.rest, geometry.strain
    stretching = bending = twisting = 0.0
    for i in range(rods.start[1]):
        stretch = geometry.stretch[i]
        stretching += 0.5 * rods.stretch[i] * rods.rest_length[i] * stretch * stretch
        for slot in range(2):
            for c in range(5):
                deviation = strain[i, slot, c] - rest[i, slot, c]
                part = 0.5 * stiffness[i, slot, c] * deviation * deviation
                if c < 4:
                    bending += part
                else:
                    twisting += part
    energy[r, 0], energy[r, 1], energy[r, 2] = stretching, bending, twisting


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
    _begin(bench.rods, bench.state, bench.holds, bench.frames, bench.geometry, 1.0)
    return update_geometry(bench.rods, bench.frames, bench.geometry, bench.state.q, 0)


@part
def _begin(rods: Rods, state: State, holds: Holds, frames: HeldFrames, geometry: Geometry, at: float) -> None:
    """Makes the state the base of frames. `at` is the fraction of the step at which it stands."""
    first, end, closed = 0, rods.start[1], rods.closed[0]
    q, twist = state.q, state.twist
    for i in range(first, end):
        q[i, 3] = 0.0
        geometry.base_twist[i, 0] = twist[i, 0]
        geometry.base_twist[i, 1] = twist[i, 1]
        spin = _between(holds.spin[0, i], holds.spin[1, i], at)
        if rods.joint[i] == FRAMED:
            geometry.base_twist[i, 0] -= spin
            geometry.base_twist[i, 1] += spin
        if rods.edge_framed[i]:
            frames.spin[i] = spin
        if closed or i + 1 < end:
            length, tangent = edge_of(q, i, i + 1 if i + 1 < end else first)
            geometry.tension[i] = rods.stretch[i] * (length / rods.rest_length[i] - 1.0)
            put(geometry.base_t, i, tangent)
            put(geometry.base_reference, i, get(state.m1, i))
    _place_frames(rods, holds, frames, first, end, at)


@part
def _place_frames(rods: Rods, holds: Holds, frames: HeldFrames, first: int, end: int, at: float) -> None:
    """Held frames of vertices at a fraction of the step, between those of its beginning and its end."""
    for i in range(first, end):
        if rods.joint[i] == FRAMED:
            t0, t1 = get(holds.tangent[0], i), get(holds.tangent[1], i)
            t = _blend(t0, t1, at)
            d = _blend(transport(get(holds.director[0], i), t0, t), transport(get(holds.director[1], i), t1, t), at)
            put(frames.tangent, i, t)
            put(frames.director, i, transport(d, t, t))
            frames.spin[i] = _between(holds.spin[0, i], holds.spin[1, i], at)


@part
def _between(x: float, y: float, at: float) -> float:
    """From x to y, where it arrives to the last bit."""
    return y if at == 1.0 else x + at * (y - x)


@part
def _blend(x: Vector, y: Vector, at: float) -> Vector:
    if at == 1.0:
        return y
    z = (x[0] + at * (y[0] - x[0]), x[1] + at * (y[1] - x[1]), x[2] + at * (y[2] - x[2]))
    length = math.sqrt(dot(z, z))
    if not length > 1e-9:
        return y
    f = 1.0 / length
    return (z[0] * f, z[1] * f, z[2] * f)


@part
def _place_held(
    rods: Rods, holds: Holds, frames: HeldFrames, geometry: Geometry, q: Array, first: int, end: int, at: float
) -> None:
    """Held unknowns of the iterate at a fraction of the step."""
    for i in range(first, end):
        if rods.held[i, 0]:
            for c in range(3):
                q[i, c] = _between(holds.position[0, i, c], holds.position[1, i, c], at)
    for i in range(first, end):
        if rods.edge_framed[i]:
            _, t = edge_of(q, i, i + 1 if i + 1 < end else first)
            u = transport(get(geometry.base_reference, i), get(geometry.base_t, i), t)
            d = _blend(get(holds.director[0], i), get(holds.director[1], i), at)
            spin = _between(holds.spin[0, i], holds.spin[1, i], at)
            # At the beginning theta was zero, and the director lay behind the material by the spin of that time.
            q[i, 3] = nearest_turn(signed_angle(u, transport(d, t, t), t), -frames.spin[i]) + spin
        elif rods.held[i, 3]:
            q[i, 3] = 0.0


@part
def _attempt(b: Arrays, step: Step, lanes: Array, done: float, part: float, scheme: int) -> bool:
    """Advances by `part` of a step from a state that _begin has made the base. False if Newton did not converge."""
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
        _place_frames(rods, holds, frames, first, end, at)
        # The guess: the acceleration goes on. Where that folds the rod, it starts from where it was.
        for trial in range(2):
            for i in range(first, end):
                for c in range(4):
                    if trial == 0:
                        base[i, c] = q[i, c]
                        q[i, c] = q_star[i, c] + h * (v_star[i, c] + h * a[i, c])
                    else:
                        q[i, c] = base[i, c]
            _place_held(rods, holds, frames, geometry, q, first, end, at)
            if update_geometry(rods, frames, geometry, q, 0):
                break
            if trial == 1:
                return False
        _gyroscopic_forces(rods, geometry, stage, b.forces.gyroscopic, a, h)
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
        _place_frames(rods, holds, frames, first, end, at)
        _place_held(rods, holds, frames, geometry, q, first, end, at)
        return update_geometry(rods, frames, geometry, q, 0)
    return True


@part
def _gyroscopic_forces(rods: Rods, geometry: Geometry, stage: Stage, force: Array, a: Array, h: float) -> None:
    """An edge that spins and turns: what changes the direction of its spin I w t is a couple that its vertices must give.

    So these feel the couple -I w t', that is the forces -F and F = (I w / |e|) t x t', at the speeds that the guess foresees.
    Where the spin is so fast that a step would not follow, they are limited: taken from the guess they would grow.
    """
    n, closed = rods.start[1], rods.closed[0]
    v_star, t, mass = stage.v, geometry.t, rods.mass
    for i in range(n):
        for c in range(4):
            force[i, c] = 0.0
    for i in range(n if closed else n - 1):
        j = i + 1 if i + 1 < n else 0
        length = geometry.length[i]
        moment = mass[i, 3] * (v_star[i, 3] + h * a[i, 3])
        inertia = min(mass[i, 0], mass[j, 0]) * length * length
        most = 0.2 * inertia / h
        moment = max(-most, min(most, moment))
        x = v_star[j, 0] - v_star[i, 0] + h * (a[j, 0] - a[i, 0])
        y = v_star[j, 1] - v_star[i, 1] + h * (a[j, 1] - a[i, 1])
        z = v_star[j, 2] - v_star[i, 2] + h * (a[j, 2] - a[i, 2])
        f = cross(get(t, i), (x, y, z))
        for c in range(3):
            g = moment * f[c] / (length * length)
            force[i, c] -= g
            force[j, c] += g


@part
def _finish(state: State, geometry: Geometry, n: int) -> None:
    """Accepts the iterate: its frames become the state's, its theta begins anew."""
    q = state.q
    for i in range(n):
        state.twist[i, 0] = geometry.strain[i, 0, 4]
        state.twist[i, 1] = geometry.strain[i, 1, 4]
        for c in range(3):
            state.m1[i, c] = geometry.d1[i, c]
        q[i, 3] = 0.0


@part
def _give_up(b: Arrays, at: float) -> None:
    """The last resort where no step converges: the rod goes as far as Newton's method came, its held places follow, and it
    loses its speed. So it creeps out of where it would be stuck. Where that folds it, it stays where it was."""
    rods, state, frames, geometry = b.rods, b.state, b.frames, b.geometry
    n = rods.start[1]
    for i in range(n):
        for c in range(4):
            state.q[i, c] = b.system.base[i, c]
    _place_frames(rods, b.holds, frames, 0, n, at)
    _place_held(rods, b.holds, frames, geometry, state.q, 0, n, at)
    if update_geometry(rods, frames, geometry, state.q, 0):
        _finish(state, geometry, n)
    else:
        copy_state(b.saved, 0, state, 0, n)
    for i in range(n):
        for c in range(4):
            state.v[i, c] = 0.0
            state.a[i, c] = 0.0
