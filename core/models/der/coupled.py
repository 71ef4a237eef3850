"""Steps of rods that push each other: backward Euler, one Newton iteration of all of them at a time.

Between iterations others see where the rods are and say how they are pushed there: forces on the sample points and the matrix of
their stiffness, edge by edge, which goes into the band. What couples two edges beyond that they treat themselves, through
the inverse of the matrix.
"""

from __future__ import annotations

import math

from numpy import bool_, int64
from numpy.typing import NDArray

from ...compile.jit import kernel, part
from ...errors import Array
from ...forces.air import cylinder_drag
from ...maths.linalg.bordered_band import BORDER
from ...maths.linalg.selected_inverse import invert_within
from ..protocol import Pushes
from .arrays import Arrays, Rods, State, System
from .assemble import add_entry, place
from .evaluate import evaluate, rebase, update_geometry
from .newton import factor_matrix, foresee_tension, solve_matrix
from .stages import accept_iterate, gyroscopic_forces, make_base, measure, place_frames, place_held
from .workbench import copy_state

FARTHEST = 0.7  # rotation of an edge in one iteration, about
MOST_ATTEMPTS = 7  # to get a positive definite matrix

Ints = NDArray[int64]


@kernel
def copy_states(rods: Rods, chosen: Ints, source: State, target: State) -> None:
    for r in chosen:
        copy_state(source, rods.start[r], target, rods.start[r], rods.start[r + 1] - rods.start[r])


@kernel
def copy_unknowns(start: Ints, chosen: Ints, source: Array, target: Array) -> None:
    """(N, 4), of the chosen rods."""
    for r in chosen:
        for i in range(start[r], start[r + 1]):
            for s in range(4):
                target[i, s] = source[i, s]


@kernel
def begin_rods(
    c: Arrays, chosen: Ints, h: float, air_density: float, still: bool, at: float, begin: int, stop: int
) -> None:
    """Takes rods chosen[begin:stop] back to their saved state and forward to a guess of where they will be after h; with `still`
    only what is held goes on. Then a part `at` of the step is over."""
    rods, state, holds, frames, stage, geometry = c.rods, c.state, c.holds, c.frames, c.stage, c.geometry
    q, v, a, q_star, v_star = state.q, state.v, state.a, stage.q, stage.v
    for k in range(begin, stop):
        r = chosen[k]
        first, end = rods.start[r], rods.start[r + 1]
        copy_state(c.saved, first, state, first, end - first)
        make_base(rods, state, holds, frames, geometry, r, 0.0)
        cylinder_drag(
            rods.radii, rods.mass, q, v, c.forces.wind, air_density, c.forces.drag_rate[0], c.forces.drag,
            first, end, rods.closed[r],
        )  # fmt: skip
        for i in range(first, end):
            for s in range(4):
                q_star[i, s] = q[i, s]
                v_star[i, s] = v[i, s]
                c.system.base[i, s] = q[i, s]
        if rods.damping_time[r] > 0.0:
            update_geometry(rods, frames, geometry, q, r)
            for i in range(first, end):
                stage.stretch[i] = geometry.stretch[i]
                stage.stretch0[i] = geometry.stretch[i]
                for slot in range(2):
                    for s in range(5):
                        stage.strain[i, slot, s] = geometry.strain[i, slot, s]
                        stage.strain0[i, slot, s] = geometry.strain[i, slot, s]
        place_frames(rods, holds, frames, first, end, at)
        # Where contact does not let a rod go where its speed would take it, the place where it was is the better guess.
        rest = _guess(c, r, h, 0.0, at)
        if not still and not _guess(c, r, h, 1.0, at) < rest:
            _guess(c, r, h, 0.0, at)
        gyroscopic_forces(rods, geometry, stage, c.forces.gyroscopic, a, r, h)


@kernel
def go_on_rods(c: Arrays, chosen: Ints, h: float, ratio: float, begin: int, stop: int) -> None:
    """From the end of the first stage of SDIRK2 to a guess of where its second one ends."""
    rods, state, holds, frames, stage, geometry = c.rods, c.state, c.holds, c.frames, c.stage, c.geometry
    q, v, a, q_star, v_star = state.q, state.v, state.a, stage.q, stage.v
    for k in range(begin, stop):
        r = chosen[k]
        first, end = rods.start[r], rods.start[r + 1]
        for i in range(first, end):
            for s in range(4):
                v[i, s] = (q[i, s] - q_star[i, s]) / h
                a[i, s] = (v[i, s] - v_star[i, s]) / h
                q_star[i, s] += ratio * h * v[i, s]
                v_star[i, s] += ratio * h * a[i, s]
                c.system.base[i, s] = q[i, s]
            stage.stretch[i] = stage.stretch0[i] + ratio * (geometry.stretch[i] - stage.stretch0[i])
            for slot in range(2):
                for s in range(5):
                    earlier = stage.strain0[i, slot, s]
                    stage.strain[i, slot, s] = earlier + ratio * (geometry.strain[i, slot, s] - earlier)
        place_frames(rods, holds, frames, first, end, 1.0)
        rest = _guess(c, r, h, 0.0, 1.0)
        if not _guess(c, r, h, 1.0, 1.0) < rest:
            _guess(c, r, h, 0.0, 1.0)
        gyroscopic_forces(rods, geometry, stage, c.forces.gyroscopic, a, r, h)


@part
def _guess(c: Arrays, r: int, h: float, going: float, at: float) -> float:
    """Places the iterate where the rod was (`going` 0) or where its speed takes it (1). Returns the potential there, but for air
    and damping."""
    rods, stage, geometry, q, force = c.rods, c.stage, c.geometry, c.state.q, c.forces.force
    q_star, v_star, a, mass = stage.q, stage.v, c.state.a, rods.mass
    first, end = rods.start[r], rods.start[r + 1]
    for i in range(first, end):
        for s in range(4):
            q[i, s] = q_star[i, s] + going * h * (v_star[i, s] + h * a[i, s])
    place_held(rods, c.holds, c.frames, geometry, q, first, end, at)
    if not update_geometry(rods, c.frames, geometry, q, r):
        return math.inf
    energy = c.log.energy
    measure(rods, geometry, r, energy, r)
    potential = float(energy[r, 0] + energy[r, 1] + energy[r, 2])
    for i in range(first, end):
        for s in range(4):
            deviation = q[i, s] - q_star[i, s] - h * v_star[i, s]
            potential += deviation * (0.5 * mass[i, s] * deviation / (h * h) - force[i, s])
    return potential


@kernel
def probe_rods(
    c: Arrays, scratch: System, chosen: Ints, h: float, lanes: Array, mobility: Array, begin: int, stop: int
) -> None:
    """mobility (N, 6): how far a force on each sample point moves it within the step, xx yx yy zx zy zz, by the rod's matrix."""
    rods, system = c.rods, c.system
    band, border, z, z_border, z_corner = system.band, system.border, scratch.band, scratch.border, scratch.corner
    for k in range(begin, stop):
        r = chosen[k]
        first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
        n = 4 * (end - first)
        inner = n - BORDER if closed else n
        for attempt in range(2):
            evaluate(
                rods, c.frames, c.forces, c.stage, c.geometry, system, c.state.q, r, h, lanes, attempt == 0
            )  # fmt: skip
            if factor_matrix(rods, system, r):
                break
        invert_within(
            band, border, system.corner[r if closed else 0], 4 * first, n, closed, z, z_border,
            z_corner[0],
        )  # fmt: skip
        for i in range(first, end):
            m = 0
            for s in range(3):
                for t in range(s + 1):
                    a, b = place(4 * (i - first) + s, n, closed), place(4 * (i - first) + t, n, closed)
                    a, b = max(a, b), min(a, b)
                    if a < inner:
                        value = z[b, a - b]
                    elif b < inner:
                        value = z_border[b, a - inner]
                    else:
                        value = z_corner[0, a - inner, b - inner]
                    mobility[i, m] = 0.0 if rods.held[i, 0] else value
                    m += 1


@kernel
def linearise_rods(
    c: Arrays, pushes: Pushes, chosen: Ints, h: float, lanes: Array, potential: Array, begin: int, stop: int
) -> None:
    """Writes Newton's step of each rod by itself into system.trial, and keeps the factored matrices; potential[r] is the rod's."""
    rods, system, q = c.rods, c.system, c.state.q
    gradient, trial = system.gradient, system.trial
    for k in range(begin, stop):
        r = chosen[k]
        first, end = rods.start[r], rods.start[r + 1]
        good = False
        for attempt in range(MOST_ATTEMPTS):
            potential[r] = evaluate(
                rods, c.frames, c.forces, c.stage, c.geometry, system, q, r, h, lanes, attempt == 0
            )  # fmt: skip
            _add_pushes(rods, system, pushes.force, pushes.stiffness, pushes.touched, r)
            if attempt > 1:  # contacts may take away more than the rod has to give
                _add_diagonal(rods, system, r, 10.0 ** (attempt - 2))
            good = factor_matrix(rods, system, r)
            if good:
                break
        for i in range(first, end):
            for s in range(4):
                trial[4 * i + s] = 0.0 if rods.held[i, s] or not good else -gradient[i, s]
        if good:
            solve_matrix(rods, system, r, trial)


@part
def _add_pushes(rods: Rods, system: System, force: Array, stiffness: Array, touched: NDArray[bool_], r: int) -> None:
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    n = 4 * (end - first)
    band, border, corner, gradient = system.band, system.border, system.corner, system.gradient
    for i in range(first, end):
        for s in range(4):
            gradient[i, s] -= force[i, s]
        if not touched[i]:
            continue
        m = 0
        for row in range(7):
            for column in range(row + 1):
                value = stiffness[i, m]
                m += 1
                k = 4 * (i - first)
                if closed:
                    add_entry(
                        band, border, corner, 4 * first, n, True, r, (k + row) % n, (k + column) % n, value
                    )  # fmt: skip
                else:
                    band[4 * i + column, row - column] += value


@part
def _add_diagonal(rods: Rods, system: System, r: int, factor: float) -> None:
    """Makes the diagonal of the positions larger, by so many thousandths."""
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    n = 4 * (end - first)
    inner = n - BORDER if closed else n
    for i in range(first, end):
        for s in range(3):
            k = place(4 * (i - first) + s, n, closed)
            if k < inner:
                system.band[4 * first + k, 0] += 1e-3 * factor * abs(system.band[4 * first + k, 0])
            else:
                system.corner[r, k - inner, k - inner] += 1e-3 * factor * abs(system.corner[r, k - inner, k - inner])


@kernel
def solve_coupled(rods: Rods, system: System, chosen: Ints, x: Array, begin: int, stop: int) -> None:
    """x (4 N,) of the chosen rods becomes the inverse of their matrices times x."""
    for k in range(begin, stop):
        r = chosen[k]
        for i in range(rods.start[r], rods.start[r + 1]):
            for s in range(4):
                if rods.held[i, s]:
                    x[4 * i + s] = 0.0
        solve_matrix(rods, system, r, x)


@kernel
def respond_rods(
    rods: Rods, system: System, owner: Ints, row: Ints, after: Ints, pair: Ints, x: Array, response: Array
) -> None:
    """How edges of rods move when they or others of the same rod are pushed, by the factored matrices: response (P, 7, 7) for each
    pair (P, 2) of edges, which are sorted by the second: motion of the first, x y z of either end and turn, by a push on the
    second. `owner`, `row` and `after` are the rod and the vertices of each edge."""
    held = rods.held
    last = -1
    for p in range(len(pair)):
        if pair[p, 1] == last:
            continue
        last = pair[p, 1]
        r = owner[last]
        for push in range(7):
            at = 4 * row[last] + push if push < 3 else 4 * after[last] + push - 3 if push < 6 else 4 * row[last] + 3
            for k in range(4 * rods.start[r], 4 * rods.start[r + 1]):
                x[k] = 0.0
            if not held[at // 4, at % 4]:
                x[at] = 1.0
                solve_matrix(rods, system, r, x)
            m = p
            while m < len(pair) and pair[m, 1] == last:
                i = pair[m, 0]
                for c in range(3):
                    response[m, c, push] = x[4 * row[i] + c]
                    response[m, 3 + c, push] = x[4 * after[i] + c]
                response[m, 6, push] = x[4 * row[i] + 3]
                m += 1


@kernel
def weigh_steps(c: Arrays, chosen: Ints, longest: Array, slope: Array, begin: int, stop: int) -> None:
    """longest[r] is how far system.trial goes, in segment lengths or radians, at most; slope[r] how the potential changes on it."""
    rods, trial, gradient = c.rods, c.system.trial, c.system.gradient
    for k in range(begin, stop):
        r = chosen[k]
        largest, change = 0.0, 0.0
        for i in range(rods.start[r], rods.start[r + 1]):
            unit = 1.0 / rods.rest_length[i]
            for s in range(4):
                change += gradient[i, s] * trial[4 * i + s]
                size = abs(trial[4 * i + s]) * (unit if s < 3 else 1.0)
                largest = size if not size <= largest else largest  # a NaN comes through
        longest[r], slope[r] = largest, change


@kernel
def move_rods(c: Arrays, chosen: Ints, h: float, begin: int, stop: int) -> None:
    """Moves the rods by system.trial, or less where that would fold them."""
    rods, system, geometry, q = c.rods, c.system, c.geometry, c.state.q
    base, trial = system.base, system.trial
    for k in range(begin, stop):
        r = chosen[k]
        first, end = rods.start[r], rods.start[r + 1]
        bend = 0.0
        for i in range(first, end):
            j = i + 1 if i + 1 < end else first
            for s in range(4):
                if s < 3 and (j > i or rods.closed[r]):
                    bend = max(bend, abs(trial[4 * j + s] - trial[4 * i + s]) / rods.rest_length[i])
                base[i, s] = q[i, s]
        rebase(geometry, first, end)
        foresee_tension(
            rods, c.stage, geometry, trial, first, end, rods.closed[r], rods.damping_time[r] / h
        )  # fmt: skip
        size = 1.0 if bend < FARTHEST else FARTHEST / bend
        for _ in range(8):
            for i in range(first, end):
                for s in range(4):
                    q[i, s] = base[i, s] + size * trial[4 * i + s]
            if update_geometry(rods, c.frames, geometry, q, r):
                break
            size *= 0.5
        else:
            for i in range(first, end):
                for s in range(4):
                    q[i, s] = base[i, s]
            update_geometry(rods, c.frames, geometry, q, r)


@kernel
def retreat_rods(c: Arrays, chosen: Ints, sizes: Array, begin: int, stop: int) -> None:
    """Places rods at a part of the way that `move_rods` took them; sizes (R,) is how much of it, from 0 to 1."""
    rods, system, q = c.rods, c.system, c.state.q
    base = system.base
    for k in range(begin, stop):
        r = chosen[k]
        for i in range(rods.start[r], rods.start[r + 1]):
            for s in range(4):
                q[i, s] = base[i, s] + sizes[r] * (q[i, s] - base[i, s])
        update_geometry(rods, c.frames, c.geometry, q, r)


@kernel
def finish_rods(c: Arrays, chosen: Ints, h: float, creep: bool, smooth: bool, begin: int, stop: int) -> None:
    """Accepts where the rods are. With `creep` they lose their speed: the step was given up. With `smooth` they will be accelerated
    as they were: what a contact gave does not go on."""
    rods, state, stage = c.rods, c.state, c.stage
    q, v, a = state.q, state.v, state.a
    for k in range(begin, stop):
        r = chosen[k]
        first, end = rods.start[r], rods.start[r + 1]
        for i in range(first, end):
            for s in range(4):
                v[i, s] = 0.0 if creep else (q[i, s] - stage.q[i, s]) / h
                a[i, s] = (v[i, s] - stage.v[i, s]) / h if smooth and not creep else 0.0
        measure(rods, c.geometry, r, c.log.energy, r)
        accept_iterate(state, c.geometry, first, end)
