"""A rod at the iterate: its frames and strains, and the potential that a stage minimises, with gradient and Hessian.

The stage's potential is inertia + elasticity + drag - load,
    (q - q~) M (q - q~) / (2 h^2) + E(q) + (q - q* - h w) D (q - q* - h w) / (2 h) - f (q - q~),   q~ = q* + h v*,
whose minimum is a step of backward Euler, or a stage of SDIRK2 for the right q*, v* and h.
"""

from __future__ import annotations

import math

from ...geometry.frames import cross, dot, signed_angle, transport, turn
from ...jit import kernel
from ...linalg.bordered_band import BORDER, HALF_WIDTH
from .arrays import FRAMED, FREE_END
from .element import HESSIAN, LEAST_CHI, LOCAL, curvatures, element_derivatives, to_vertices


@kernel
def get(a, i):  # type: ignore[no-untyped-def]
    return (a[i, 0], a[i, 1], a[i, 2])


@kernel
def put(a, i, x):  # type: ignore[no-untyped-def]
    a[i, 0], a[i, 1], a[i, 2] = x


@kernel
def edge_of(q, i, j):  # type: ignore[no-untyped-def]
    """Length and tangent of the edge from vertex i to vertex j; length zero is left for the caller to see."""
    x, y, z = q[j, 0] - q[i, 0], q[j, 1] - q[i, 1], q[j, 2] - q[i, 2]
    length = math.sqrt(x * x + y * y + z * z)
    f = 1.0 / length if length > 0.0 else 0.0
    return length, (x * f, y * f, z * f)


@kernel
def nearest_turn(angle, to):  # type: ignore[no-untyped-def]
    """The angle plus the whole turns that bring it nearest to `to`: twist is remembered beyond pi."""
    difference = to - angle
    if abs(difference) <= math.pi:
        return angle
    return angle + 2.0 * math.pi * math.floor(difference / (2.0 * math.pi) + 0.5)


@kernel
def update_geometry(rods, frames, geometry, q, r):  # type: ignore[no-untyped-def]
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
def rebase(geometry, first, end):  # type: ignore[no-untyped-def]
    """Makes the iterate the base from which frames are transported next."""
    for i in range(first, end):
        for c in range(3):
            geometry.base_reference[i, c] = geometry.reference[i, c]
            geometry.base_t[i, c] = geometry.t[i, c]
        geometry.base_twist[i, 0] = geometry.reference_twist[i, 0]
        geometry.base_twist[i, 1] = geometry.reference_twist[i, 1]


@kernel
def evaluate(rods, frames, forces, stage, geometry, system, q, r, h, w, exact):  # type: ignore[no-untyped-def]
    """The potential at the iterate (its geometry must be up to date), its gradient and its Hessian.

    With `exact` the Hessian is the true one, otherwise a positive definite part of it. h is the stage's effective step.
    """
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    joint, stiffness, rest = rods.joint, rods.stiffness, rods.rest
    t, d1, d2, lengths, strain = geometry.t, geometry.d1, geometry.d2, geometry.length, geometry.strain
    gradient, band, border, corner = system.gradient, system.band, system.border, system.corner
    weight = rods.damping_time[r] / h
    n = 4 * (end - first)
    _clear(gradient, band, border, corner, first, end, closed, r)

    potential = 0.0
    for j in range(first, end if closed else end - 1):
        potential += _stretch(rods, geometry, stage, gradient, first, end, j, weight, w, exact)
        _scatter(band, border, corner, 4 * first, n, closed, r, 4 * (j - first), w, 0, 7)

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
            if framed:
                _drop_side(w, 0 if slot == 1 else 4)
            if has_a:
                for c in range(3):
                    gradient[p, c] -= w[c]
                    gradient[i, c] += w[c]
                gradient[p, 3] += w[3]
            if has_b:
                for c in range(3):
                    gradient[i, c] -= w[4 + c]
                    gradient[following, c] += w[4 + c]
                gradient[i, 3] += w[7]
            to_vertices(w)
            low, high = 0 if has_a else 4, 11 if has_b else 7
            _scatter(band, border, corner, 4 * first, n, closed, r, 4 * (i - first) - 4, w, low, high)

    for i in range(first, end):
        potential += _inertia(rods.mass, forces, stage, gradient, q, i, h, w)
        _scatter(band, border, corner, 4 * first, n, closed, r, 4 * (i - first), w, 0, 4)
    return potential


@kernel
def _clear(gradient, band, border, corner, first, end, closed, r):  # type: ignore[no-untyped-def]
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
def _stretch(rods, geometry, stage, gradient, first, end, j, weight, w, exact):  # type: ignore[no-untyped-def]
    """Energy EA l / 2 (|e| / l - 1)^2 of edge j, its gradient, and its Hessian in x_j theta_j x_j+1 into w[LOCAL:]."""
    following = j + 1 if j + 1 < end else first
    ea, length, strain, star = rods.stretch[j], rods.rest_length[j], geometry.stretch[j], stage.stretch[j]
    tension = ea * (strain + weight * (strain - star))
    along = ea * (1.0 + weight) / length
    across = tension / geometry.length[j]
    if not exact:
        across = max(across, 0.0)
    t = get(geometry.t, j)
    m = w[LOCAL:]
    for c in range(7):
        m[33 + c] = 0.0
        m[11 * c + 3] = 0.0
    for c in range(3):
        gradient[j, c] -= tension * t[c]
        gradient[following, c] += tension * t[c]
        for s in range(3):
            value = (along - across) * t[c] * t[s]
            if c == s:
                value += across
            m[11 * c + s] = value
            m[11 * (c + 4) + s] = -value
            m[11 * (c + 4) + s + 4] = value
    return 0.5 * ea * length * (strain * strain + weight * (strain - star) * (strain - star))


@kernel
def _inertia(mass, forces, stage, gradient, q, i, h, w):  # type: ignore[no-untyped-def]
    """Potential of inertia, drag and load at vertex i, its gradient, and its Hessian in x theta into w[LOCAL:]."""
    hh = 1.0 / (h * h)
    ih = 1.0 / h
    d, wind = forces.drag[i], forces.wind
    m = w[LOCAL:]
    potential = 0.0
    x = (q[i, 0] - stage.q[i, 0], q[i, 1] - stage.q[i, 1], q[i, 2] - stage.q[i, 2])
    for c in range(4):
        deviation = q[i, c] - stage.q[i, c] - h * stage.v[i, c]
        inertia = mass[i, c] * hh
        load = forces.force[i, c]
        potential += deviation * (0.5 * inertia * deviation - load)
        gradient[i, c] += inertia * deviation - load
        for s in range(c):
            m[11 * c + s] = 0.0
        m[12 * c] = inertia
    y = (x[0] - h * wind[0], x[1] - h * wind[1], x[2] - h * wind[2])
    f = (
        (d[0] * y[0] + d[1] * y[1] + d[3] * y[2]) * ih,
        (d[1] * y[0] + d[2] * y[1] + d[4] * y[2]) * ih,
        (d[3] * y[0] + d[4] * y[1] + d[5] * y[2]) * ih,
    )
    potential += 0.5 * dot(y, f)
    m[0] += d[0] * ih
    m[11] = d[1] * ih
    m[12] += d[2] * ih
    m[22] = d[3] * ih
    m[23] = d[4] * ih
    m[24] += d[5] * ih
    for c in range(3):
        gradient[i, c] += f[c]
    spin = q[i, 3] - stage.q[i, 3]
    brake = mass[i, 3] * forces.drag_rate[0] * ih
    gradient[i, 3] += brake * spin
    m[36] += brake
    return potential + 0.5 * brake * spin * spin


@kernel
def _drop_side(w, side):  # type: ignore[no-untyped-def]
    """Leaves out the derivatives in the unknowns of one side: a held frame has none."""
    h = w[HESSIAN:]
    for c in range(side, side + 4):
        w[c] = 0.0
        for s in range(8):
            h[8 * c + s] = 0.0
            h[8 * s + c] = 0.0


@kernel
def place(k, n, closed):  # type: ignore[no-untyped-def]
    """Where a rod's k-th unknown stands in its matrix. On a closed rod the order begins with theta of the first edge, so that
    just the last seven, x theta x around the seam, couple out of the band."""
    if not closed:
        return k
    k -= 3
    if k < 0:
        return k + n
    return k - n if k >= n else k


@kernel
def _scatter(band, border, corner, first, n, closed, r, start, w, low, high):  # type: ignore[no-untyped-def]
    """Adds rows and columns low ... high - 1 of the local matrix in w[LOCAL:], whose row 0 is the rod's unknown `start`."""
    m = w[LOCAL:]
    if not closed:
        column = first + start
        if low == 0 and high == 11:
            for c in range(11):
                for s in range(11 - c):
                    band[column + c, s] += m[12 * c + 11 * s]
        else:
            for c in range(low, high):
                for s in range(high - c):
                    band[column + c, s] += m[12 * c + 11 * s]
        return
    inner = n - BORDER
    for c in range(low, high):
        pc = place(start + c, n, True)
        for s in range(c, high):
            ps = place(start + s, n, True)
            row, column = max(pc, ps), min(pc, ps)
            value = m[11 * s + c]
            if row < inner:
                band[first + column, row - column] += value
            elif column < inner:
                border[first + column, row - inner] += value
            else:
                corner[r, row - inner, column - inner] += value

