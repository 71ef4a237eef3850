"""Coupled steps: stages of backward Euler, one Newton iteration at a time for all rods that interact with each other.

Contact and coupling forces on the vertices, and the stiffness of each edge against displacement and turn, become part of the
chain's system: the 7 x 7 matrix of an edge is rewritten in the displacement of its first vertex and its rotation.
"""

from __future__ import annotations

import math

from numpy import bool_
from numpy.typing import NDArray

from ...compile.jit import kernel, part
from ...errors import Array, Ints
from ...maths.linalg.small import (
    add6,
    get3,
    matvec,
    outer,
    plus,
    put3,
    skew,
    symmetric,
    times,
    transposed,
)
from ..protocol import Pushes
from ..schemes import Stage
from .arrays import Arrays, Geometry, Linear, Rods, System
from .evaluate import (
    add_constraint_potential,
    add_penalties,
    elements,
    fix_edges,
    gather_gradient,
    geometric_stiffness,
    largest_hold_force,
    penalty_stiffness,
    sections,
    vertices,
)
from .kinematics import displace, place, reset_turns, save_base, turn_edges
from .matrix import factor_matrix, mobility_of, solve_matrix
from .newton import copy_step, measure_step, satisfy_holds, update_multipliers
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
    store_strain_rates,
    update_drag,
    update_velocities,
)

LARGEST_ROTATION = 0.7  # rad, largest rotation of an edge in one iteration
SETTLED = 0.1  # segment lengths: below this step length the multipliers of the holds are updated as well
MOST_ATTEMPTS = 7  # of increasing regularisation until the matrix is positive definite


@kernel
def begin_rods(
    b: Arrays, chosen: Ints, h: float, air_density: float, still: bool, stage: Stage, begin: int, stop: int
) -> None:
    """Moves rods chosen[begin:stop] to an initial guess of their state after a stage of length h: from the kept state, or in a
    second stage from where they are. With `still` only prescribed motion advances."""
    rods, state, geometry, system = b.rods, b.state, b.geometry, b.system
    for k in range(begin, stop):
        r = chosen[k]
        first, end = rods.start[r], rods.start[r + 1]
        if stage.carried > 0.0:
            _end_stage(b, r, h, True)
            save_loads(rods, state, b.first_load, r)
            extrapolate_stage(rods, state, b.kept, geometry, b.start_strain, b.stage, r, stage.explicit)
        else:
            copy_state(b.kept, state, first, end, r)
            update_drag(rods, b.forces, state, air_density, r)
            place_held(rods, b.holds, b.frames, geometry, state, r, 0.0)
            copy_state(b.kept, state, first, end, r)
            place(rods, state, geometry, r)
            save_strains(rods, geometry, b.start_strain, r)
            begin_stage(rods, state, geometry, b.stage, r, stage.explicit * h)
            reset_turns(rods, geometry, r)
        save_base(rods, state, system, r)
        aim_sections(rods, b.stage, state.a, b.forces.drag_rate[r], r, h, stage.explicit > 0.0)
        place_held(rods, b.holds, b.frames, geometry, state, r, stage.end)
        # Where contact blocks the extrapolated motion, the previous position is the better initial guess.
        rest = _guess(b, r, h, 0.0)
        if not still and not _guess(b, r, h, 1.0) < rest:
            _guess(b, r, h, 0.0)
        turn_edges(rods, geometry, r)
        system.taken[r] = 0.0
        for i in range(first, end):
            put3(system.direction, i, (0.0, 0.0, 0.0))
        put3(system.direction, len(rods.arm) + r, (0.0, 0.0, 0.0))
        save_base(rods, state, system, r)


@part
def _guess(b: Arrays, r: int, h: float, extrapolate: float) -> float:
    """Sets the iterate to the previous state (`extrapolate` 0) or to its extrapolation (1). Returns the potential there without
    drag and damping."""
    rods, state, stage, geometry = b.rods, b.state, b.stage, b.geometry
    guess(rods, state, geometry, stage, b.system, r, h, extrapolate)
    potential = measure(rods, geometry, r, b.log.energy, r)
    for i in range(rods.start[r], rods.start[r + 1]):
        for c in range(3):
            deviation = state.x[i, c] - stage.x[i, c] - h * stage.v[i, c]
            potential += deviation * (0.5 * rods.mass[i, 0] * deviation / (h * h) - b.forces.force[i, c])
    return potential if math.isfinite(potential) else math.inf


@part
def _evaluate(b: Arrays, r: int, h: float, penalty: float, exact: bool, pushes: Pushes, pushed: bool) -> float:
    """System of a rod under contact and coupling forces. Returns the potential with the terms of holds and loop closure."""
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
    geometric_stiffness(rods, geometry, system, state.loop_force, r, exact)
    if pushed:
        _stiffen(rods, geometry, system, pushes.stiffness, pushes.touched, r)
    add_penalties(rods, geometry, system, r, penalty)
    fix_edges(rods, system, r)
    gather_gradient(rods, geometry, system, state.loop_force, r)
    return add_constraint_potential(rods, geometry, state, potential, r, penalty)


@part
def _stiffen(rods: Rods, geometry: Geometry, system: System, stiffness: Array, touched: NDArray[bool_], r: int) -> None:
    """With p' = p + B phi and the turn a . phi, an edge's stiffness K in (p, turn, p') is transformed to (p, phi)."""
    for j in range(rods.start[r], rods.start[r + 1]):
        if not (touched[j] and rods.edge[j]):
            continue
        k = stiffness[j]
        pp = (k[0], k[1], k[3], k[1], k[2], k[4], k[3], k[4], k[5])
        tp = (k[6], k[7], k[8])
        tt = k[9]
        # rows p', columns p
        qp = (k[10], k[11], k[12], k[15], k[16], k[17], k[21], k[22], k[23])
        qt = (k[13], k[18], k[24])
        qq = (k[14], k[19], k[25], k[19], k[20], k[26], k[25], k[26], k[27])
        a = get3(geometry.axis, j)
        b = skew(get3(geometry.d3, j), -rods.arm[j])
        add6(system.h, j, symmetric(plus(plus(pp, qq), plus(qp, transposed(qp)))), 1.0)
        both = (tp[0] + qt[0], tp[1] + qt[1], tp[2] + qt[2])
        across = plus(times(plus(transposed(qp), qq), b), outer(both, a, 1.0))
        for e, value in enumerate(across):
            system.e[j, e] += value
        bq = matvec(transposed(b), qt)
        turning = plus(outer(bq, a, 1.0), outer(a, bq, 1.0))
        own = plus(plus(times(times(transposed(b), qq), b), turning), outer(a, a, tt))
        add6(system.d, j, symmetric(own), 1.0)


@kernel
def probe_rods(b: Arrays, chosen: Ints, h: float, mobility: Array, begin: int, stop: int) -> None:
    """mobility (N, 6): displacement of each sample point per force on it within the step, xx yx yy zx zy zz."""
    none = Pushes(mobility, mobility, b.rods.held)
    for k in range(begin, stop):
        r = chosen[k]
        penalty = penalty_stiffness(b.rods, b.forces, b.state, r, h)
        for attempt in range(2):
            _evaluate(b, r, h, penalty, attempt == 0, none, False)
            if factor_matrix(b.rods, b.geometry, b.system, r):
                mobility_of(b.rods, b.geometry, b.system, r, mobility)
                break


@kernel
def linearise_rods(b: Arrays, pushes: Pushes, chosen: Ints, h: float, potential: Array, begin: int, stop: int) -> None:
    """Writes the Newton step of each rod, decoupled from the others, to system.trial and keeps the factored matrices; potential
    (R,)."""
    rods, geometry, system = b.rods, b.geometry, b.system
    n = len(rods.arm)
    for k in range(begin, stop):
        r = chosen[k]
        penalty = penalty_stiffness(rods, b.forces, b.state, r, h)
        good = False
        for attempt in range(MOST_ATTEMPTS):
            potential[r] = _evaluate(b, r, h, penalty, attempt == 0, pushes, True)
            if attempt > 1:  # the contact stiffness may be indefinite
                _add_diagonal(rods, system, r, 10.0 ** (attempt - 5))
            good = factor_matrix(rods, geometry, system, r)
            if good:
                break
        if good:
            copy_step(rods, system.gradient, -1.0, system.trial, r)
            solve_matrix(rods, geometry, system, system.trial, r, 1.0)
        else:
            for j in range(rods.start[r], rods.start[r + 1]):
                put3(system.trial, j, (0.0, 0.0, 0.0))
            put3(system.trial, n + r, (0.0, 0.0, 0.0))


@part
def _add_diagonal(rods: Rods, system: System, r: int, factor: float) -> None:
    """Increases the diagonal by a fraction of its absolute value."""
    for j in range(rods.start[r], rods.start[r + 1]):
        for e in (0, 2, 5):
            system.h[j, e] += factor * abs(system.h[j, e])
            system.d[j, e] += factor * abs(system.d[j, e])


@kernel
def solve_coupled(b: Linear, chosen: Ints, x: Array, begin: int, stop: int) -> None:
    """Applies the inverse of the chosen rods' matrices to x (N + R, 3), in place."""
    for k in range(begin, stop):
        solve_matrix(b, b, b, x, chosen[k], 0.0)


@kernel
def weigh_steps(b: Arrays, chosen: Ints, longest: Array, slope: Array, begin: int, stop: int) -> None:
    """longest[r]: maximum norm of system.trial in segment lengths or radians; slope[r]: directional derivative of the potential."""
    for k in range(begin, stop):
        r = chosen[k]
        change, largest, _ = measure_step(b.rods, b.geometry, b.system.gradient, b.system.trial, r)
        longest[r], slope[r] = largest, change


@kernel
def move_rods(b: Arrays, chosen: Ints, h: float, begin: int, stop: int) -> None:
    """Moves the rods by system.trial, shortened where an edge would rotate too far."""
    rods, system, state, geometry = b.rods, b.system, b.state, b.geometry
    for k in range(begin, stop):
        r = chosen[k]
        _, largest, turns = measure_step(rods, geometry, system.gradient, system.trial, r)
        copy_step(rods, system.trial, 1.0, system.direction, r)
        if rods.closed[r] or largest < SETTLED:
            penalty, limit = penalty_stiffness(rods, b.forces, state, r, h), largest_hold_force(rods, b.forces, r, h)
            update_multipliers(rods, geometry, system, state, r, penalty, limit)
        save_base(rods, state, system, r)
        system.taken[r] = 1.0 if turns < LARGEST_ROTATION else LARGEST_ROTATION / turns
        displace(rods, state, geometry, system, system.direction, system.taken[r], r)
        turn_edges(rods, geometry, r)


@kernel
def retreat_rods(b: Arrays, chosen: Ints, sizes: Array, begin: int, stop: int) -> None:
    """Reduces the step of `move_rods` to the fractions sizes (R,), from 0 to 1."""
    rods, system = b.rods, b.system
    for k in range(begin, stop):
        r = chosen[k]
        system.taken[r] *= sizes[r]
        displace(rods, b.state, b.geometry, system, system.direction, system.taken[r], r)
        turn_edges(rods, b.geometry, r)


@kernel
def finish_rods(
    b: Arrays, chosen: Ints, h: float, creep: bool, smooth: bool, implicit: bool, begin: int, stop: int
) -> None:
    """Accepts the iterate. With `creep` the velocities are set to zero, because the step was given up. With `smooth` accelerations
    are kept: contact impulses do not persist, so they are a bad prediction. For `implicit` see `predicted_spin`."""
    rods, state = b.rods, b.state
    for k in range(begin, stop):
        r = chosen[k]
        first, end = rods.start[r], rods.start[r + 1]
        if creep:
            update_velocities(rods, state, b.stage, b.forces, r, h, True, False)
        else:
            _end_stage(b, r, h, implicit)
            if implicit:
                extrapolate_loads(rods, state, b.first_load, r)
        if smooth and not creep:
            store_strain_rates(rods, state, b.geometry, b.stage, r, h)
            continue
        state.consistent[r] = 0.0
        for i in range(first, end):
            for c in range(6):
                state.a[i, c] = 0.0
                if creep:
                    state.v[i, c] = 0.0


@part
def _end_stage(b: Arrays, r: int, h: float, implicit: bool) -> None:
    """Velocities and accelerations at the iterate, where a stage of length h ends."""
    rods, state = b.rods, b.state
    penalty, limit = penalty_stiffness(rods, b.forces, state, r, h), largest_hold_force(rods, b.forces, r, h)
    satisfy_holds(rods, b.geometry, b.system, state, r, penalty, limit)
    update_velocities(rods, state, b.stage, b.forces, r, h, True, implicit)
