"""A rod at the iterate: its frames and strains, and the potential that a stage minimises, with gradient and Hessian.

The stage's potential is inertia + elasticity + drag - load,
    (q - q~) M (q - q~) / (2 h^2) + E(q) + (q - q* - h w) D (q - q* - h w) / (2 h) - f (q - q~),   q~ = q* + h v*,
whose minimum is a step of backward Euler, or a stage of SDIRK2 for the right q*, v* and h.
"""

from __future__ import annotations

import math

from ...errors import Array
from ...geometry.frames import Vector, cross, signed_angle, transport, turn
from ...jit import kernel
from ...linalg.bordered_band import BORDER, HALF_WIDTH
from .arrays import FRAMED, FREE_END, INNER, Forces, Geometry, HeldFrames, Rods, Stage, System
from .element import LEAST_CHI, Scratch, curvatures, element_derivatives, to_vertices


@kernel
def get(a: Array, i: int) -> Vector:
    return (a[i, 0], a[i, 1], a[i, 2])


@kernel
def put(a: Array, i: int, x: Vector) -> None:
    a[i, 0], a[i, 1], a[i, 2] = x


@kernel
def edge_of(q: Array, i: int, j: int) -> tuple[float, Vector]:
    """Length and tangent of the edge from vertex i to vertex j; length zero is left for the caller to see."""
    x, y, z = q[j, 0] - q[i, 0], q[j, 1] - q[i, 1], q[j, 2] - q[i, 2]
    length = math.sqrt(x * x + y * y + z * z)
    f = 1.0 / length if length > 0.0 else 0.0
    return length, (x * f, y * f, z * f)


@kernel
def nearest_turn(angle: float, to: float) -> float:
    """The angle plus the whole turns that bring it nearest to `to`: twist is remembered beyond pi."""
    difference = to - angle
    if abs(difference) <= math.pi:
        return angle
    return angle + 2.0 * math.pi * math.floor(difference / (2.0 * math.pi) + 0.5)


@kernel
def update_geometry(rods: Rods, frames: HeldFrames, geometry: Geometry, q: Array, r: int) -> bool:
    """Frames and strains at q: reference frames come from the base by parallel transport in time, the reference twist with them.

    False if an edge has collapsed or a corner is too sharp.
    """
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    joint, rest_length = rods.joint, rods.rest_length
    t, d1, d2, reference = geometry.t, geometry.d1, geometry.d2, geometry.reference
    reference_twist, base_twist, strain = geometry.reference_twist, geometry.base_twist, geometry.strain
    for j in range(first, end if closed else end - 1):
        length, tangent = edge_of(q, j, j + 1 if j + 1 < end else first)
        if not length > 1e-6 * rest_length[j]:
            return False
        u = transport(get(geometry.base_reference, j), get(geometry.base_t, j), tangent)
        geometry.length[j] = length
        geometry.stretch[j] = length / rest_length[j] - 1.0
        d = turn(u, tangent, q[j, 3])
        put(t, j, tangent)
        put(reference, j, u)
        put(d1, j, d)
        put(d2, j, cross(tangent, d))
    for i in range(first, end):
        if joint[i] == FREE_END:
            continue
        p = i - 1 if i > first else end - 1
        framed = joint[i] == FRAMED
        for slot in range(2):
            if slot == 1 and not framed:
                break
            if framed and not closed and ((slot == 0 and i == first) or (slot == 1 and i + 1 == end)):
                continue
            # Side a is the edge before or the held frame, side b the edge after or the held frame.
            if framed and slot == 1:
                ta, ua, theta_a = get(frames.tangent, i), get(frames.director, i), frames.spin[i]
                d1a = turn(ua, ta, theta_a)
                d2a = cross(ta, d1a)
            else:
                ta, ua, theta_a, d1a, d2a = get(t, p), get(reference, p), q[p, 3], get(d1, p), get(d2, p)
            if framed and slot == 0:
                tb, ub, theta_b = get(frames.tangent, i), get(frames.director, i), frames.spin[i]
                d1b = turn(ub, tb, theta_b)
                d2b = cross(tb, d1b)
            else:
                tb, ub, theta_b, d1b, d2b = get(t, i), get(reference, i), q[i, 3], get(d1, i), get(d2, i)
            o0, o1, o2, o3, chi = curvatures(ta, d1a, d2a, tb, d1b, d2b)
            if not chi > LEAST_CHI:
                return False
            angle = nearest_turn(signed_angle(transport(ua, ta, tb), ub, tb), base_twist[i, slot])
            reference_twist[i, slot] = angle
            s = strain[i, slot]
            s[0], s[1], s[2], s[3], s[4] = o0, o1, o2, o3, angle + theta_b - theta_a
    return True


@kernel
def rebase(geometry: Geometry, first: int, end: int) -> None:
    """Makes the iterate the base from which frames are transported next."""
    for i in range(first, end):
        for c in range(3):
            geometry.base_reference[i, c] = geometry.reference[i, c]
            geometry.base_t[i, c] = geometry.t[i, c]
        geometry.base_twist[i, 0] = geometry.reference_twist[i, 0]
        geometry.base_twist[i, 1] = geometry.reference_twist[i, 1]


@kernel
def evaluate(
    rods: Rods,
    frames: HeldFrames,
    forces: Forces,
    stage: Stage,
    geometry: Geometry,
    system: System,
    q: Array,
    r: int,
    h: float,
    w: Scratch,
    exact: bool,
) -> float:
    """The potential at the iterate (its geometry must be up to date), its gradient and its Hessian.

    With `exact` the Hessian is the true one, otherwise a positive definite part of it. h is the stage's effective step.
    """
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    joint, stiffness, rest = rods.joint, rods.stiffness, rods.rest
    t, d1, d2, lengths, strain = geometry.t, geometry.d1, geometry.d2, geometry.length, geometry.strain
    gradient, band, border, corner = system.gradient, system.band, system.border, system.corner
    g = w.gradient
    weight = rods.damping_time[r] / h
    n = 4 * (end - first)
    _clear(gradient, band, border, corner, first, end, closed, r)

    potential = 0.0
    for j in range(first, end if closed else end - 1):
        if joint[j] != INNER:
            # No element takes the stretching of this edge along.
            for c in range(64):
                w.hessian[c] = 0.0
            potential += _stretch(rods, geometry, stage, gradient, first, end, j, weight, w, exact)
            to_vertices(w)
            _scatter(band, border, corner, 4 * first, n, closed, r, 4 * (j - first) - 4, w, 4, 11)

    for i in range(first, end):
        if joint[i] == FREE_END:
            continue
        p = i - 1 if i > first else end - 1
        following = i + 1 if i + 1 < end else first
        framed = joint[i] == FRAMED
        for slot in range(2):
            if slot == 1 and not framed:
                break
            if framed and not closed and ((slot == 0 and i == first) or (slot == 1 and i + 1 == end)):
                continue
            has_a, has_b = not framed or slot == 0, not framed or slot == 1
            ia = ib = 1.0
            if has_a:
                ta, d1a, d2a, ia = get(t, p), get(d1, p), get(d2, p), 1.0 / lengths[p]
            else:
                ta = get(frames.tangent, i)
                d1a = turn(get(frames.director, i), ta, frames.spin[i])
                d2a = cross(ta, d1a)
            if has_b:
                tb, d1b, d2b, ib = get(t, i), get(d1, i), get(d2, i), 1.0 / lengths[i]
            else:
                tb = get(frames.tangent, i)
                d1b = turn(get(frames.director, i), tb, frames.spin[i])
                d2b = cross(tb, d1b)
            potential += element_derivatives(
                ta, d1a, d2a, ia, tb, d1b, d2b, ib,
                strain[i, slot], stiffness[i, slot], rest[i, slot], stage.strain[i, slot], weight, w, exact,
            )  # fmt: skip
            if not framed:
                potential += _stretch(rods, geometry, stage, gradient, first, end, i, weight, w, exact)
            else:
                _drop_side(w, 0 if slot == 1 else 4)
            if has_a:
                for c in range(3):
                    gradient[p, c] -= g[c]
                    gradient[i, c] += g[c]
                gradient[p, 3] += g[3]
            if has_b:
                for c in range(3):
                    gradient[i, c] -= g[4 + c]
                    gradient[following, c] += g[4 + c]
                gradient[i, 3] += g[7]
            to_vertices(w)
            low, high = 0 if has_a else 4, 11 if has_b else 7
            _scatter(band, border, corner, 4 * first, n, closed, r, 4 * (i - first) - 4, w, low, high)

    for i in range(first, end):
        potential += _inertia(rods.mass, forces, stage, gradient, q, i, h, w)
        m = w.local
        k = 4 * (i - first)
        for c in range(4):
            _add(band, border, corner, 4 * first, n, closed, r, k + c, k + c, m[13 * c])
        if m[1] != 0.0 or m[2] != 0.0 or m[14] != 0.0:
            _add(band, border, corner, 4 * first, n, closed, r, k + 1, k, m[1])
            _add(band, border, corner, 4 * first, n, closed, r, k + 2, k, m[2])
            _add(band, border, corner, 4 * first, n, closed, r, k + 2, k + 1, m[14])
    return potential


@kernel
def _clear(
    gradient: Array, band: Array, border: Array, corner: Array, first: int, end: int, closed: bool, r: int
) -> None:
    for i in range(first, end):
        for c in range(4):
            gradient[i, c] = 0.0
    for row in range(4 * first, 4 * end):
        for c in range(HALF_WIDTH + 1):
            band[row, c] = 0.0
    if closed:
        for row in range(4 * first, 4 * end):
            for c in range(BORDER):
                border[row, c] = 0.0
        for c in range(BORDER):
            for s in range(BORDER):
                corner[r, c, s] = 0.0


@kernel
def _stretch(
    rods: Rods,
    geometry: Geometry,
    stage: Stage,
    gradient: Array,
    first: int,
    end: int,
    j: int,
    weight: float,
    w: Scratch,
    exact: bool,
) -> float:
    """Energy EA l / 2 (|e| / l - 1)^2 of edge j and its gradient; adds its Hessian to that of the element whose edge b it is."""
    following = j + 1 if j + 1 < end else first
    ea, length, strain, star = rods.stretch[j], rods.rest_length[j], geometry.stretch[j], stage.stretch[j]
    tension = ea * (strain + weight * (strain - star))
    along = ea * (1.0 + weight) / length
    across = geometry.tension[j] / geometry.length[j]
    if not exact:
        across = max(across, 0.0)
    t = geometry.t[j]
    h = w.hessian[36:]
    for c in range(3):
        gradient[j, c] -= tension * t[c]
        gradient[following, c] += tension * t[c]
        f = (along - across) * t[c]
        for s in range(3):
            h[8 * c + s] += f * t[s]
        h[9 * c] += across
    return float(0.5 * ea * length * (strain * strain + weight * (strain - star) * (strain - star)))


@kernel
def _inertia(
    mass: Array, forces: Forces, stage: Stage, gradient: Array, q: Array, i: int, h: float, w: Scratch
) -> float:
    """Potential of inertia, drag and load at vertex i, its gradient, and its Hessian in x theta, laid out as by to_vertices."""
    ih = 1.0 / h
    d, wind, m = forces.drag[i], forces.wind, w.local
    potential = 0.0
    for c in range(4):
        deviation = q[i, c] - stage.q[i, c] - h * stage.v[i, c]
        inertia = mass[i, c] * ih * ih
        load = forces.force[i, c]
        potential += deviation * (0.5 * inertia * deviation - load)
        gradient[i, c] += inertia * deviation - load
        m[13 * c] = inertia
    x = q[i, 0] - stage.q[i, 0] - h * wind[0]
    y = q[i, 1] - stage.q[i, 1] - h * wind[1]
    z = q[i, 2] - stage.q[i, 2] - h * wind[2]
    fx = (d[0] * x + d[1] * y + d[3] * z) * ih
    fy = (d[1] * x + d[2] * y + d[4] * z) * ih
    fz = (d[3] * x + d[4] * y + d[5] * z) * ih
    gradient[i, 0] += fx
    gradient[i, 1] += fy
    gradient[i, 2] += fz
    m[0] += d[0] * ih
    m[1] = d[1] * ih
    m[13] += d[2] * ih
    m[2] = d[3] * ih
    m[14] = d[4] * ih
    m[26] += d[5] * ih
    spin = q[i, 3] - stage.q[i, 3]
    brake = mass[i, 3] * forces.drag_rate[0] * ih
    gradient[i, 3] += brake * spin
    m[39] += brake
    return float(potential + 0.5 * (x * fx + y * fy + z * fz + brake * spin * spin))


@kernel
def _drop_side(w: Scratch, side: int) -> None:
    """Leaves out the derivatives in the unknowns of one side: a held frame has none."""
    h = w.hessian
    for c in range(side, side + 4):
        w.gradient[c] = 0.0
        for s in range(8):
            h[8 * c + s] = 0.0
            h[8 * s + c] = 0.0


@kernel
def place(k: int, n: int, closed: bool) -> int:
    """Where a rod's k-th unknown stands in its matrix. On a closed rod the order begins with theta of the first edge, so that
    just the last seven, x theta x around the seam, couple out of the band."""
    if not closed:
        return k
    k -= 3
    if k < 0:
        return k + n
    return k - n if k >= n else k


@kernel
def _add(
    band: Array,
    border: Array,
    corner: Array,
    first: int,
    n: int,
    closed: bool,
    r: int,
    row: int,
    column: int,
    value: float,
) -> None:
    """Adds to one entry of the rod's matrix; row and column are numbers of unknowns."""
    if not closed:
        band[first + column, row - column] += value
        return
    inner = n - BORDER
    i, j = place(row, n, True), place(column, n, True)
    i, j = max(i, j), min(i, j)
    if i < inner:
        band[first + j, i - j] += value
    elif j < inner:
        border[first + j, i - inner] += value
    else:
        corner[r, i - inner, j - inner] += value


@kernel
def _scatter(
    band: Array,
    border: Array,
    corner: Array,
    first: int,
    n: int,
    closed: bool,
    r: int,
    start: int,
    w: Scratch,
    low: int,
    high: int,
) -> None:
    """Adds rows and columns low ... high - 1 of the local matrix of to_vertices, whose row 0 is the rod's unknown `start`."""
    m = w.local
    if closed or low != 0 or high != 11:
        for c in range(low, high):
            for s in range(c, high):
                _add(band, border, corner, first, n, closed, r, start + s, start + c, m[12 * c + s])
    else:
        for c in range(11):
            for s in range(11 - c):
                band[first + start + c, s] += m[13 * c + s]
