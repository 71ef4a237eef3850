"""Steps of rods that push each other: backward Euler, one Newton iteration of all of them at a time.

What others push with, forces on the vertices and the stiffness of each edge against motion and turn, becomes part of the chain: an
edge's 7 x 7 matrix is one of the motion of its first vertex and of its rotation.
"""

from __future__ import annotations

import math

from numpy import bool_
from numpy.typing import NDArray

from ...compile.jit import kernel, part
from ...errors import Array, Ints
from ...maths.linalg.small import (
    add6,
    crossing,
    get3,
    image,
    outer,
    plus,
    put3,
    symmetric,
    times,
    turned_over,
)
from ..protocol import Pushes
from .arrays import Arrays, Geometry, Linear, Rods, System
from .evaluate import (
    curve,
    elements,
    firm_holds,
    firmness,
    fix_edges,
    gather_gradient,
    largest_pull,
    sections,
    vertices,
)
from .kinematics import displace, keep_base, place, turn_edges
from .matrix import factor_matrix, mobility_of, solve_matrix
from .newton import copy_negative, foresee, meet_holds, weigh
from .stages import aim_sections, copy_state, drag_along, guess, measure, place_held, start_stage, take_velocities

FARTHEST = 0.7  # rad: rotation of an edge in one iteration
SETTLED = 0.1  # segment lengths: after shorter steps, the forces of holds follow
MOST_ATTEMPTS = 7  # to get a positive definite matrix


@kernel
def begin_rods(b: Arrays, chosen: Ints, h: float, air_density: float, still: bool, begin: int, stop: int) -> None:
    """Takes rods chosen[begin:stop] back to their kept state and forward to a guess of where they will be after h; with `still`
    only what is held goes on."""
    rods, state, geometry, stage, system = b.rods, b.state, b.geometry, b.stage, b.system
    for k in range(begin, stop):
        r = chosen[k]
        first, end = rods.start[r], rods.start[r + 1]
        copy_state(b.kept, state, first, end, r)
        drag_along(rods, b.forces, state, air_density, r)
        place_held(rods, b.holds, b.frames, geometry, state, r, 0.0)
        copy_state(b.kept, state, first, end, r)
        place(rods, state, geometry, r)
        start_stage(rods, state, geometry, stage, r, 0.0)
        for i in range(first, end):
            geometry.turn[i] = 0.0
            for c in range(3):
                geometry.t0[i, c] = geometry.d3[i, c]
                geometry.d0[i, c] = geometry.d1[i, c]
        keep_base(rods, state, system.base_q, system.base_root, r)
        aim_sections(rods, stage, b.forces.drag_rate[0], r, h)
        place_held(rods, b.holds, b.frames, geometry, state, r, 1.0)
        # Where contact does not let a rod go where its speed would take it, the place where it was is the better guess.
        rest = _guess(b, r, h, 0.0)
        if not still and not _guess(b, r, h, 1.0) < rest:
            _guess(b, r, h, 0.0)
        turn_edges(rods, geometry, r)
        system.taken[r] = 0.0
        for i in range(first, end):
            put3(system.direction, i, (0.0, 0.0, 0.0))
        put3(system.direction, len(rods.arm) + r, (0.0, 0.0, 0.0))
        keep_base(rods, state, system.base_q, system.base_root, r)


@part
def _guess(b: Arrays, r: int, h: float, going: float) -> float:
    """Places the iterate where the rod was (`going` 0) or where its speed takes it (1). Returns the potential there, but for air
    and damping."""
    rods, state, stage, geometry = b.rods, b.state, b.stage, b.geometry
    guess(rods, state, geometry, stage, b.system.base_q, b.system.base_root, r, h, going)
    potential = measure(rods, geometry, r, b.log.energy, r)
    for i in range(rods.start[r], rods.start[r + 1]):
        for c in range(3):
            deviation = state.x[i, c] - stage.x[i, c] - h * stage.v[i, c]
            potential += deviation * (0.5 * rods.mass[i, 0] * deviation / (h * h) - b.forces.force[i, c])
    return potential if math.isfinite(potential) else math.inf


@part
def _evaluate(b: Arrays, r: int, h: float, firm: float, exact: bool, pushes: Pushes, pushed: bool) -> float:
    """The system of a rod by itself, under pushes. Returns its potential, with what its holds and loops add to it."""
    rods, state, stage, geometry, system = b.rods, b.state, b.stage, b.geometry, b.system
    potential, _, _ = vertices(rods, b.forces, stage, geometry, system, state, r, h)
    potential += sections(rods, stage, geometry, system, r, exact)
    potential += elements(rods, stage, geometry, system, state.q, r, rods.damping_time[r] / h, exact)
    if pushed:
        for i in range(rods.start[r], rods.start[r + 1]):
            for c in range(3):
                b.forces.push[i, c] = pushes.force[i, c]
                system.g[i, c] -= pushes.force[i, c]
                system.c[i, c] -= pushes.force[i, 3] * geometry.axis[i, c]
    curve(rods, geometry, system, state.loop, r, exact)
    if pushed:
        _stiffen(rods, geometry, system, pushes.stiffness, pushes.touched, r)
    firm_holds(rods, geometry, system, r, firm)
    fix_edges(rods, system, r)
    gather_gradient(rods, geometry, system, state.loop, r)
    for i in range(rods.start[r], rods.start[r + 1]):
        if rods.held[i]:
            for c in range(3):
                miss = geometry.miss[i, c]
                potential += miss * (0.5 * firm * miss - state.pull[i, c])
    if rods.closed[r]:
        for c in range(3):
            potential -= state.loop[r, c] * geometry.gap[r, c]
    return potential


@part
def _stiffen(rods: Rods, geometry: Geometry, system: System, stiffness: Array, touched: NDArray[bool_], r: int) -> None:
    """With p' = p + B phi and the turn a . phi, an edge's stiffness K in (p, turn, p') becomes one in (p, phi)."""
    for j in range(rods.start[r], rods.start[r + 1]):
        if not (touched[j] and rods.edge[j]):
            continue
        k = stiffness[j]
        pp = (k[0], k[1], k[3], k[1], k[2], k[4], k[3], k[4], k[5])
        tp = (k[6], k[7], k[8])
        tt = k[9]
        # Rows of p', columns of p.
        qp = (k[10], k[11], k[12], k[15], k[16], k[17], k[21], k[22], k[23])
        qt = (k[13], k[18], k[24])
        qq = (k[14], k[19], k[25], k[19], k[20], k[26], k[25], k[26], k[27])
        a = get3(geometry.axis, j)
        b = crossing(get3(geometry.d3, j), -rods.arm[j])
        add6(system.h, j, symmetric(plus(plus(pp, qq), plus(qp, turned_over(qp)))), 1.0)
        both = (tp[0] + qt[0], tp[1] + qt[1], tp[2] + qt[2])
        across = plus(times(plus(turned_over(qp), qq), b), outer(both, a, 1.0))
        for e, value in enumerate(across):
            system.e[j, e] += value
        bq = image(turned_over(b), qt)
        turning = plus(outer(bq, a, 1.0), outer(a, bq, 1.0))
        own = plus(plus(times(times(turned_over(b), qq), b), turning), outer(a, a, tt))
        add6(system.d, j, symmetric(own), 1.0)


@kernel
def probe_rods(b: Arrays, chosen: Ints, h: float, mobility: Array, begin: int, stop: int) -> None:
    """mobility (N, 6): how far a force on each sample point moves it within the step, xx yx yy zx zy zz, by the rod's matrix."""
    none = Pushes(mobility, mobility, b.rods.held)
    for k in range(begin, stop):
        r = chosen[k]
        firm = firmness(b.rods, b.forces, b.state, r, h)
        for attempt in range(2):
            _evaluate(b, r, h, firm, attempt == 0, none, False)
            if factor_matrix(b.rods, b.geometry, b.system, r):
                mobility_of(b.rods, b.geometry, b.system, r, mobility)
                break


@kernel
def linearise_rods(b: Arrays, pushes: Pushes, chosen: Ints, h: float, potential: Array, begin: int, stop: int) -> None:
    """Writes Newton's step of each rod by itself into system.trial, and keeps the factored matrices; potential[r] is the rod's."""
    rods, geometry, system = b.rods, b.geometry, b.system
    n = len(rods.arm)
    for k in range(begin, stop):
        r = chosen[k]
        firm = firmness(rods, b.forces, b.state, r, h)
        good = False
        for attempt in range(MOST_ATTEMPTS):
            potential[r] = _evaluate(b, r, h, firm, attempt == 0, pushes, True)
            if attempt > 1:  # contacts may take away more than the rod has to give
                _add_diagonal(rods, system, r, 10.0 ** (attempt - 5))
            good = factor_matrix(rods, geometry, system, r)
            if good:
                break
        if good:
            copy_negative(rods, system.gradient, system.trial, r)
            solve_matrix(rods, geometry, system, system.trial, r, 1.0)
        else:
            for j in range(rods.start[r], rods.start[r + 1]):
                put3(system.trial, j, (0.0, 0.0, 0.0))
            put3(system.trial, n + r, (0.0, 0.0, 0.0))


@part
def _add_diagonal(rods: Rods, system: System, r: int, factor: float) -> None:
    """Makes the diagonal larger, by a part of itself."""
    for j in range(rods.start[r], rods.start[r + 1]):
        for e in (0, 2, 5):
            system.h[j, e] += factor * abs(system.h[j, e])
            system.d[j, e] += factor * abs(system.d[j, e])


@kernel
def solve_coupled(b: Linear, chosen: Ints, x: Array, begin: int, stop: int) -> None:
    """x (N + R, 3) of the chosen rods becomes the inverse of their matrices times x."""
    for k in range(begin, stop):
        solve_matrix(b, b, b, x, chosen[k], 0.0)


@kernel
def weigh_steps(b: Arrays, chosen: Ints, longest: Array, slope: Array, begin: int, stop: int) -> None:
    """longest[r] is how far system.trial goes, in segment lengths or radians, at most; slope[r] how the potential changes on it."""
    for k in range(begin, stop):
        r = chosen[k]
        change, largest, _ = weigh(b.rods, b.geometry, b.system.gradient, b.system.trial, r)
        longest[r], slope[r] = largest, change


@kernel
def move_rods(b: Arrays, chosen: Ints, h: float, begin: int, stop: int) -> None:
    """Moves the rods by system.trial, or less where that would turn an edge too far."""
    rods, system, state, geometry = b.rods, b.system, b.state, b.geometry
    n = len(rods.arm)
    for k in range(begin, stop):
        r = chosen[k]
        first, end = rods.start[r], rods.start[r + 1]
        _, largest, turns = weigh(rods, geometry, system.gradient, system.trial, r)
        for i in range(first, end):
            put3(system.direction, i, get3(system.trial, i))
        put3(system.direction, n + r, get3(system.trial, n + r))
        if rods.closed[r] or largest < SETTLED:
            firm, limit = firmness(rods, b.forces, state, r, h), largest_pull(rods, b.forces, r, h)
            foresee(rods, geometry, system, state, r, firm, limit)
        keep_base(rods, state, system.base_q, system.base_root, r)
        system.taken[r] = 1.0 if turns < FARTHEST else FARTHEST / turns
        displace(rods, state, geometry, system.base_q, system.base_root, system.direction, system.taken[r], r)
        turn_edges(rods, geometry, r)


@kernel
def retreat_rods(b: Arrays, chosen: Ints, sizes: Array, begin: int, stop: int) -> None:
    """Places rods at a part of the way that `move_rods` took them; sizes (R,) is how much of it, from 0 to 1."""
    rods, system = b.rods, b.system
    for k in range(begin, stop):
        r = chosen[k]
        system.taken[r] *= sizes[r]
        displace(rods, b.state, b.geometry, system.base_q, system.base_root, system.direction, system.taken[r], r)
        turn_edges(rods, b.geometry, r)


@kernel
def finish_rods(b: Arrays, chosen: Ints, h: float, creep: bool, begin: int, stop: int) -> None:
    """Accepts where the rods are. With `creep` they lose their speed: the step was given up."""
    rods, state = b.rods, b.state
    for k in range(begin, stop):
        r = chosen[k]
        first, end = rods.start[r], rods.start[r + 1]
        if not creep:
            firm, limit = firmness(rods, b.forces, state, r, h), largest_pull(rods, b.forces, r, h)
            meet_holds(rods, b.geometry, b.system, state, r, firm, limit)
        take_velocities(rods, state, b.stage, b.forces, r, h, True)
        state.past[r] = 0.0
        for i in range(first, end):
            for c in range(6):
                state.a[i, c] = 0.0  # what a push gave does not go on
                if creep:
                    state.v[i, c] = 0.0
