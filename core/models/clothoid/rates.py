"""Generalized velocities: the velocities of points that follow from them, and their reconstruction from point displacements."""

from __future__ import annotations

from ...compile.jit import part
from ...errors import Array
from ...maths.linalg.dense import factor_dense, solve_dense
from .arrays import Arrays, Scratch
from .kinematics import BEND, is_held, lay_out, lay_out_moving, unknowns_of
from .potential import measure_turns
from .roots import rotation_between

SMALL_TURN = 0.5  # rad, rotation within a step below which difference quotients are good rates


@part
def update_points(b: Arrays, scratch: Scratch, r: int, accelerated: bool) -> None:
    """Positions and velocities of the Gauss points from the generalized ones, and if `accelerated` their accelerations."""
    o = b.geometry
    lay_out_moving(b.rods, b.nodes, b.state, b.gauss, scratch, r, o.x, o.frame, o.v, o.a, accelerated)


@part
def turn_rate(b: Arrays, r: int) -> float:
    """rad/s, upper bound of the rotation rate between the rod's ends due to the rates of curvature."""
    at, first, affine, total = b.rods.vector_start[r] + BEND, b.nodes.element_start[r], b.rods.degree[r], 0.0
    for e in range(first, b.nodes.element_start[r + 1]):
        for c in range(3):
            j = at + 3 * (e - first) + c
            total += 0.5 * b.state.length[e] * (abs(b.state.rate[j]) + abs(b.state.rate[j + 3 * affine]))
    return float(total)


@part
def set_rates(b: Arrays, r: int, h: float) -> None:
    """Generalized velocities as difference quotients since the saved state, h ago."""
    state, saved, at = b.state, b.saved, b.rods.vector_start[r]
    for c in range(3):
        state.rate[at + c] = (state.root[r, c] - saved.root[r, c]) / h
    x, y, z = rotation_between(saved.frame, state.frame, r)
    state.rate[at + 3], state.rate[at + 4], state.rate[at + 5] = x / h, y / h, z / h
    for i in range(b.nodes.start[r], b.nodes.start[r + 1]):
        for c in range(3):
            j = at + BEND + 3 * (i - b.nodes.start[r]) + c
            state.rate[j] = (state.kappa[i, c] - saved.kappa[i, c]) / h


@part
def rates_from_secants(b: Arrays, scratch: Scratch, r: int, h: float, always: bool) -> None:
    """Rates after a backward Euler step, in which points moved along straight lines from x0 to x within h.

    For small rotations they are the difference quotients of the unknowns. For large ones, as when a bent end is released and
    snaps back, root and curvatures change together, and such rates would move the points much faster than they moved. Then, or
    with `always`, the rates are a mass-weighted least squares fit to the displacements of the points, which preserves momentum.
    """
    set_rates(b, r, h)
    at, state, geometry = b.rods.vector_start[r], b.state, b.geometry
    turn = abs(state.rate[at + 3]) + abs(state.rate[at + 4]) + abs(state.rate[at + 5])
    if not always and (turn + turn_rate(b, r)) * h < SMALL_TURN:
        return
    update_points(b, scratch, r, False)
    measure_turns(b, r)
    secant, tangent = 0.0, 0.0
    for p in range(b.gauss.start[r], b.gauss.start[r + 1]):
        span = state.length[b.gauss.element[p]]
        for c in range(4):
            went = (geometry.x[p, c] - geometry.x0[p, c]) / h
            secant += b.gauss.mass[p, c] * span * went * went
            tangent += b.gauss.mass[p, c] * span * geometry.v[p, c] * geometry.v[p, c]
            geometry.v[p, c] = went
    if always or tangent > 2.0 * secant:
        fit_rates(b, scratch, r, geometry.v)


@part
def rates_of_pushed(b: Arrays, scratch: Scratch, r: int, h: float) -> None:
    """Rates after a coupled step: as by `rates_from_secants`, but the points never go on faster than they moved.

    A backward Euler step creates no kinetic energy if it counts that of secants. Difference quotients of the unknowns move points
    along arcs, which is more, if only little in one step; contact would collect it step after step. So they go as far towards the
    least squares fit, whose energy is that of secants at most, as they have to."""
    set_rates(b, r, h)
    geometry = b.geometry
    update_points(b, scratch, r, False)
    tangent = kinetic(b, r, geometry.v)
    measure_turns(b, r)
    for p in range(b.gauss.start[r], b.gauss.start[r + 1]):
        for c in range(4):
            geometry.v[p, c] = (geometry.x[p, c] - geometry.x0[p, c]) / h
    secant = kinetic(b, r, geometry.v)
    if not tangent > secant:
        return
    at, end, rate, before = b.rods.vector_start[r], b.rods.vector_start[r + 1], b.state.rate, scratch.step
    for i in range(at, end):
        before[i - at] = rate[i]
    fit_rates(b, scratch, r, geometry.v)
    if tangent > 2.0 * secant:
        return
    update_points(b, scratch, r, False)
    fitted = kinetic(b, r, geometry.v)
    for i in range(at, end):
        rate[i] = 0.5 * (rate[i] + before[i - at])
    update_points(b, scratch, r, False)
    share = least_share(tangent, kinetic(b, r, geometry.v), fitted, secant)
    for i in range(at, end):
        rate[i] = before[i - at] + 2.0 * share * (rate[i] - before[i - at])


@part
def slow_start(b: Arrays, r: int) -> None:
    """The velocities with which a coupled step starts get no more kinetic energy than the rates have: those of secants go as far
    towards those of tangents as they have to."""
    start, v = b.stage.v, b.geometry.v
    secant, tangent = kinetic(b, r, start), kinetic(b, r, v)
    if not secant > tangent:
        return
    product = 0.0
    for p in range(b.gauss.start[r], b.gauss.start[r + 1]):
        span = b.state.length[b.gauss.element[p]]
        for c in range(4):
            product += b.gauss.mass[p, c] * span * start[p, c] * v[p, c]
    share = least_share(secant, 0.25 * (secant + 2.0 * product + tangent), tangent, tangent)
    for p in range(b.gauss.start[r], b.gauss.start[r + 1]):
        for c in range(4):
            start[p, c] += share * (v[p, c] - start[p, c])


@part
def kinetic(b: Arrays, r: int, v: Array) -> float:
    """J, twice the kinetic energy of Gauss points with velocities v (G, 4)."""
    total = 0.0
    for p in range(b.gauss.start[r], b.gauss.start[r + 1]):
        span = b.state.length[b.gauss.element[p]]
        for c in range(4):
            total += b.gauss.mass[p, c] * span * v[p, c] * v[p, c]
    return total


@part
def least_share(start: float, middle: float, end: float, most: float) -> float:
    """The least share u from 0 to 1 at which a parabola through `start` (0), `middle` (0.5) and `end` (1) is `most` or less; 1 if
    there is none."""
    c = 2.0 * (start - 2.0 * middle + end)
    b = end - start - c
    low, high = 0.0, 1.0
    for _ in range(50):
        u = 0.5 * (low + high)
        if start + u * (b + u * c) > most:
            low = u
        else:
            high = u
    return high


@part
def fit_rates(b: Arrays, scratch: Scratch, r: int, v: Array) -> None:
    """Mass-weighted least squares fit of the rates that are not prescribed to velocities v (G, 3 or 4) of the Gauss points;
    without a fourth column the spin is zero."""
    gauss, rods, frame, rate = b.gauss, b.rods, b.geometry.frame, b.state.rate
    matrix, gradient, spins = scratch.matrix, scratch.gradient, v.shape[1] > 3
    n, at = unknowns_of(b.nodes, r), rods.vector_start[r]
    lay_out(rods, b.nodes, b.state, gauss, scratch, r, b.geometry.x, frame, True)
    for i in range(n):
        gradient[i] = 0.0
        for j in range(i + 1):
            matrix[i, j] = 0.0
    trace = 0.0
    for p in range(gauss.start[r], gauss.start[r + 1]):
        row = scratch.jacobian[p - gauss.start[r]]
        span = b.state.length[gauss.element[p]]
        m, inertia = gauss.mass[p, 0] * span, gauss.mass[p, 3] * span
        t0, t1, t2 = frame[p, 0, 0], frame[p, 1, 0], frame[p, 2, 0]
        x, y, z, w = v[p, 0], v[p, 1], v[p, 2], v[p, 3] if spins else 0.0
        for i in range(n):
            scratch.trial[i] = t0 * row[3, i] + t1 * row[4, i] + t2 * row[5, i]
            x -= row[0, i] * rate[at + i]
            y -= row[1, i] * rate[at + i]
            z -= row[2, i] * rate[at + i]
            w -= scratch.trial[i] * rate[at + i]
        for i in range(n):
            spin = inertia * scratch.trial[i]
            gradient[i] += m * (row[0, i] * x + row[1, i] * y + row[2, i] * z) + spin * w
            for j in range(i + 1):
                matrix[i, j] += m * (row[0, i] * row[0, j] + row[1, i] * row[1, j] + row[2, i] * row[2, j])
                matrix[i, j] += spin * scratch.trial[j]
    for i in range(n):
        trace = max(trace, matrix[i, i])
    for i in range(n):
        matrix[i, i] += 1e-13 * trace
        if is_held(rods, r, i):
            gradient[i] = 0.0
            for j in range(n):
                matrix[max(i, j), min(i, j)] = 0.0
            matrix[i, i] = 1.0
    if factor_dense(matrix, n):
        solve_dense(matrix, n, gradient)
        for i in range(n):
            rate[at + i] += gradient[i]
