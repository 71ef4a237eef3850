"""The coefficients of the equation of motion (eq. 7 and 8) by propagated power series (section 7.1).

Beside frame and place, series of the same kind give how they change in time at fixed accelerations zero, and how both change
with the unknowns; with kappa' the rate of the curvatures:
    R'' s own bias B:   B'  = B [kappa]x + 2 R' [kappa']x,       derivative of R':  dR'' = dR' [kappa]x + dR [kappa']x + R' [eta]x.
On a piece every unknown moves the rod as a rigid body does, and by six modes: twelve fields, whose products are integrated and then
gathered for all unknowns. Twelve Gauss points integrate products of series as short as a piece's to round-off, with a third of
the work of the Cauchy product.
"""

from __future__ import annotations

import numpy as np

from ...errors import Array
from ...geometry.frames import Vector
from ...jit import part
from .arrays import Block, Room, Workings
from .kinematics import BEND, TURN, unknowns_of
from .series import LANES, evaluate, expand, next_piece, total

# Columns of the fields: 1, r, modes of r; r', modes of r'; bias of r.
ONE, PLACE, MODES, SPEED, RATES, BIAS, FIELDS = 0, 1, 4, 22, 25, 43, 46
PADDED = 48  # to whole vector registers; what is beyond stays zero
LEFT = SPEED  # the first fields are those that products are taken with
QUADRATURE = 12
_RULE = np.polynomial.legendre.leggauss(QUADRATURE)  # type: ignore[no-untyped-call]
NODES, WEIGHTS = 0.5 * (_RULE[0] + 1.0), 0.5 * _RULE[1]


@part
def _expand_motion(k: Vector, g: Vector, p: Vector, q: Vector, tau: float, c: Array, w: Workings, count: int) -> None:
    """Terms of all fields of a piece. c holds those of frame and place; p + q u is the rate of the curvature, times tau."""
    speed, bias, d, e, fields = w.speed, w.bias, w.modes, w.rates, w.fields
    for m in range(9 * LANES):
        d[0, m], e[0, m] = 0.0, 0.0
    for m in range(FIELDS):
        fields[0, m] = 0.0
    fields[0, ONE] = 1.0
    for n in range(count - 1):
        f = 1.0 / (n + 1.0)
        h = f * tau
        fields[n + 1, ONE] = 0.0
        for i in range(0, 9, 3):
            _turn(speed, n, i, k, speed, f)
            _add_turn(speed, n, i, p, c, n, f)
            _turn(bias, n, i, k, bias, f)
            _add_turn(bias, n, i, p, speed, n, 2.0 * f)
            x, y, z = i * LANES, (i + 1) * LANES, (i + 2) * LANES
            now, then = d[n], d[n + 1]
            of_now, of_then = e[n], e[n + 1]
            for m in range(LANES):
                then[x + m] = f * (now[y + m] * k[2] - now[z + m] * k[1])
                then[y + m] = f * (now[z + m] * k[0] - now[x + m] * k[2])
                then[z + m] = f * (now[x + m] * k[1] - now[y + m] * k[0])
                of_then[x + m] = f * (
                    of_now[y + m] * k[2] - of_now[z + m] * k[1] + now[y + m] * p[2] - now[z + m] * p[1]
                )
                of_then[y + m] = f * (
                    of_now[z + m] * k[0] - of_now[x + m] * k[2] + now[z + m] * p[0] - now[x + m] * p[2]
                )
                of_then[z + m] = f * (
                    of_now[x + m] * k[1] - of_now[y + m] * k[0] + now[x + m] * p[1] - now[y + m] * p[0]
                )
            if n > 0:
                _add_turn(speed, n, i, g, speed, n - 1, f)
                _add_turn(speed, n, i, q, c, n - 1, f)
                _add_turn(bias, n, i, g, bias, n - 1, f)
                _add_turn(bias, n, i, q, speed, n - 1, 2.0 * f)
                last, of_last = d[n - 1], e[n - 1]
                for m in range(LANES):
                    then[x + m] += f * (last[y + m] * g[2] - last[z + m] * g[1])
                    then[y + m] += f * (last[z + m] * g[0] - last[x + m] * g[2])
                    then[z + m] += f * (last[x + m] * g[1] - last[y + m] * g[0])
                    of_then[x + m] += f * (
                        of_last[y + m] * g[2] - of_last[z + m] * g[1] + last[y + m] * q[2] - last[z + m] * q[1]
                    )
                    of_then[y + m] += f * (
                        of_last[z + m] * g[0] - of_last[x + m] * g[2] + last[z + m] * q[0] - last[x + m] * q[2]
                    )
                    of_then[z + m] += f * (
                        of_last[x + m] * g[1] - of_last[y + m] * g[0] + last[x + m] * q[1] - last[y + m] * q[0]
                    )
            for u in range(2):
                if n >= u:
                    _add_modes(then, c, n - u, i, 3 * u, h)
                    _add_modes(of_then, speed, n - u, i, 3 * u, h)
        for i in range(3):
            fields[n + 1, PLACE + i] = h * c[n, 3 * i]
            fields[n + 1, SPEED + i] = h * speed[n, 3 * i]
            fields[n + 1, BIAS + i] = h * bias[n, 3 * i]
            for m in range(6):
                fields[n + 1, MODES + 3 * m + i] = h * d[n, 3 * i * LANES + m]
                fields[n + 1, RATES + 3 * m + i] = h * e[n, 3 * i * LANES + m]
                a, lag = m % 3, m // 3
                w.rotation[n + 1, 3 * m + i] = h * c[n - lag, 3 * i + a] if n >= lag else 0.0
                w.spinning[n + 1, 3 * m + i] = h * speed[n - lag, 3 * i + a] if n >= lag else 0.0


@part
def _turn(to: Array, n: int, i: int, k: Vector, source: Array, f: float) -> None:
    """Row i of the next term becomes f times that of source [k]x."""
    x, y, z = source[n, i], source[n, i + 1], source[n, i + 2]
    to[n + 1, i] = f * (y * k[2] - z * k[1])
    to[n + 1, i + 1] = f * (z * k[0] - x * k[2])
    to[n + 1, i + 2] = f * (x * k[1] - y * k[0])


@part
def _add_turn(to: Array, n: int, i: int, k: Vector, source: Array, row: int, f: float) -> None:
    x, y, z = source[row, i], source[row, i + 1], source[row, i + 2]
    to[n + 1, i] += f * (y * k[2] - z * k[1])
    to[n + 1, i + 1] += f * (z * k[0] - x * k[2])
    to[n + 1, i + 2] += f * (x * k[1] - y * k[0])


@part
def _add_modes(to: Array, source: Array, n: int, i: int, lane: int, h: float) -> None:
    """h times the source's term times [e_c]x, for the three modes from `lane` on."""
    x, y, z = i * LANES + lane, (i + 1) * LANES + lane, (i + 2) * LANES + lane
    p, q, r = h * source[n, i], h * source[n, i + 1], h * source[n, i + 2]
    to[y] += r
    to[z] -= q
    to[x + 1] -= r
    to[z + 1] += p
    to[x + 2] += q
    to[y + 2] -= p


@part
def _integrate(w: Workings, count: int) -> None:
    """w.gram[a, b] is the integral of field a times field b over the piece, from 0 to 1."""
    fields, at, gram = w.fields, w.at_nodes, w.gram
    for q in range(QUADRATURE):
        evaluate(fields, count, NODES[q], PADDED, at[q])
    for a in range(LEFT):
        for b in range(PADDED):
            gram[a, b] = 0.0
    for q in range(QUADRATURE):
        weight, row = WEIGHTS[q], at[q]
        for a in range(LEFT):
            f = weight * row[a]
            for b in range(PADDED):
                gram[a, b] += f * row[b]


@part
def _twelve(w: Workings) -> None:
    """From integrals of components to those of the twelve fields: shifts, turns e x (r - r'), modes; with those themselves,
    with their rates (of shifts none), and with the bias."""
    gram, mass, rate, bias = w.gram, w.mass, w.rate, w.pull
    for a in range(12):
        for b in range(12):
            mass[a, b], rate[a, b] = 0.0, 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        mass[i, i] = gram[ONE, ONE]
        bias[i] = gram[ONE, BIAS + i]
        # e_i x r has -r_k at j and r_j at k.
        mass[3 + i, j], mass[3 + i, k] = -gram[ONE, PLACE + k], gram[ONE, PLACE + j]
        rate[j, 3 + i], rate[k, 3 + i] = -gram[ONE, SPEED + k], gram[ONE, SPEED + j]
        bias[3 + i] = gram[PLACE + j, BIAS + k] - gram[PLACE + k, BIAS + j]
        for o in range(3):
            # (e_i x r) . (e_o x s) = delta_io r . s - r_o s_i
            mass[3 + i, 3 + o] = -gram[PLACE + o, PLACE + i]
            rate[3 + i, 3 + o] = -gram[PLACE + o, SPEED + i]
            if i == o:
                for c in range(3):
                    mass[3 + i, 3 + o] += gram[PLACE + c, PLACE + c]
                    rate[3 + i, 3 + o] += gram[PLACE + c, SPEED + c]
        for m in range(6):
            mass[6 + m, i] = gram[ONE, MODES + 3 * m + i]
            rate[i, 6 + m] = gram[ONE, RATES + 3 * m + i]
            # psi . (e_i x r) = e_i . (r x psi)
            mass[6 + m, 3 + i] = gram[PLACE + j, MODES + 3 * m + k] - gram[PLACE + k, MODES + 3 * m + j]
            rate[3 + i, 6 + m] = gram[PLACE + j, RATES + 3 * m + k] - gram[PLACE + k, RATES + 3 * m + j]
            rate[6 + m, 3 + i] = gram[MODES + 3 * m + k, SPEED + j] - gram[MODES + 3 * m + j, SPEED + k]
    for m in range(6):
        bias[6 + m] = 0.0
        for c in range(3):
            bias[6 + m] += gram[MODES + 3 * m + c, BIAS + c]
        for o in range(6):
            for c in range(3):
                mass[6 + m, 6 + o] += gram[MODES + 3 * m + c, MODES + 3 * o + c]
                rate[6 + m, 6 + o] += gram[MODES + 3 * m + c, RATES + 3 * o + c]
    for a in range(12):
        for b in range(a):
            mass[b, a] = mass[a, b]


@part
def equation_of_motion(b: Block, room: Room, w: Workings, r: int) -> None:
    """Writes the mass matrix (whole) into room.matrix, the derivative of A by the velocities into room.second, A and the force
    of weight into w.force; at the state and its generalized velocities."""
    nodes, state, c = b.nodes, b.state, room.terms
    n, at = unknowns_of(nodes, r), b.rods.vector_start[r]
    kappa, length, rate, affine = state.kappa, state.length, state.rate, b.rods.degree[r]
    matrix, damping, force, gravity = room.matrix, room.second, w.force, b.forces.gravity
    local, turning = w.local, w.turning
    for i in range(n):
        force[0, i], force[1, i] = 0.0, 0.0
        for j in range(n):
            matrix[i, j], damping[i, j] = 0.0, 0.0
        for m in range(12):
            local[m, i], turning[m, i] = 0.0, 0.0
    spin = (rate[at + 3], rate[at + 4], rate[at + 5])
    for i in range(3):
        local[i, i] = 1.0
        local[3 + i, TURN + i] = 1.0
        j, m = (i + 1) % 3, (i + 2) % 3
        # A turn of the root is no coordinate: half of omega x e_i stands for its rate.
        turning[3 + j, TURN + i], turning[3 + m, TURN + i] = 0.5 * spin[m], -0.5 * spin[j]
        c[0, 9 + i] = state.root[r, i]
        w.pulled[i] = 0.0  # acceleration of the beginning of the piece
        for o in range(3):
            c[0, 3 * i + o] = state.frame[r, i, o]
    for o in range(3):
        x, y, z = state.frame[r, 0, o], state.frame[r, 1, o], state.frame[r, 2, o]
        u = (spin[1] * z - spin[2] * y, spin[2] * x - spin[0] * z, spin[0] * y - spin[1] * x)
        v = (spin[1] * u[2] - spin[2] * u[1], spin[2] * u[0] - spin[0] * u[2], spin[0] * u[1] - spin[1] * u[0])
        for i in range(3):
            w.speed[0, 3 * i + o], w.bias[0, 3 * i + o] = u[i], v[i]
    first, first_node = nodes.element_start[r], nodes.start[r]
    for e in range(first, nodes.element_start[r + 1]):
        a = first_node + e - first
        d = a + affine
        here = BEND + 3 * (e - first)
        active = here + 3 + 3 * affine
        there = here + 3 * affine
        span, sigma, last = length[e], 0.0, False
        slope = (
            (kappa[d, 0] - kappa[a, 0]) / span,
            (kappa[d, 1] - kappa[a, 1]) / span,
            (kappa[d, 2] - kappa[a, 2]) / span,
        )
        ra, rb = at + here, at + there
        rise = (
            (rate[rb] - rate[ra]) / span,
            (rate[rb + 1] - rate[ra + 1]) / span,
            (rate[rb + 2] - rate[ra + 2]) / span,
        )
        while not last:
            now = (kappa[a, 0] + sigma * slope[0], kappa[a, 1] + sigma * slope[1], kappa[a, 2] + sigma * slope[2])
            tau, last = next_piece(now, slope, span - sigma, span)
            tt = tau * tau
            k = (tau * now[0], tau * now[1], tau * now[2])
            g = (tt * slope[0], tt * slope[1], tt * slope[2])
            p = (
                tau * (rate[ra] + sigma * rise[0]),
                tau * (rate[ra + 1] + sigma * rise[1]),
                tau * (rate[ra + 2] + sigma * rise[2]),
            )
            q = (tt * rise[0], tt * rise[1], tt * rise[2])
            count = expand(k, g, tau, c)
            _expand_motion(k, g, p, q, tau, c, w, count)
            _integrate(w, count)
            _twelve(w)
            x, share = sigma / span, tau / span
            for node in range(1 + affine):
                level = (1.0 - x if node == 0 else x) if affine == 1 else 1.0
                grow = (-share if node == 0 else share) if affine == 1 else 0.0
                for m in range(3):
                    j = here + 3 * node + m
                    local[6 + m, j], local[9 + m, j] = level, grow
            _gather(b, room, w, active, nodes.mass[e] * tau, gravity)
            _pass_on(w, c, count, here, active)
            sigma += tau
        for j in range(here, active):
            for m in range(6, 12):
                local[m, j] = 0.0


@part
def _gather(b: Block, room: Room, w: Workings, active: int, scale: float, gravity: Array) -> None:
    """Adds a piece of mass `scale` to the equation of motion."""
    local, turning, mass, rate, one, two = w.local, w.turning, w.mass, w.rate, w.one, w.two
    matrix, damping, force = room.matrix, room.second, w.force
    for m in range(12):
        w.weight[m] = 0.0
        for i in range(3):
            w.weight[m] += mass[m, i] * gravity[i]
            w.pull[m] += mass[m, i] * w.pulled[i]
    for m in range(12):
        for j in range(active):
            one[m, j], two[m, j] = 0.0, 0.0
        for o in range(12):
            x, y = scale * mass[m, o], scale * rate[m, o]
            for j in range(active):
                one[m, j] += x * local[o, j]
                two[m, j] += 2.0 * (x * turning[o, j] + y * local[o, j])
    for i in range(active):
        for m in range(12):
            f = local[m, i]
            if f == 0.0:
                continue
            force[0, i] += f * scale * w.pull[m]
            force[1, i] += f * scale * w.weight[m]
            for j in range(active):
                matrix[i, j] += f * one[m, j]
                damping[i, j] += f * two[m, j]


@part
def _pass_on(w: Workings, c: Array, count: int, here: int, active: int) -> None:
    """To the end of the piece: frames, speeds, and how these move with the unknowns."""
    local, turning, sums = w.local, w.turning, w.sums
    turned, spun, ends = w.at_nodes[0], w.at_nodes[1], w.at_nodes[2]  # the integrals are done with them
    total(w.fields, count, FIELDS, sums)
    total(w.rotation, count, 18, turned)
    total(w.spinning, count, 18, spun)
    px, py, pz = sums[PLACE], sums[PLACE + 1], sums[PLACE + 2]
    vx, vy, vz = sums[SPEED], sums[SPEED + 1], sums[SPEED + 2]
    for j in range(active):
        a, b, d = local[3, j], local[4, j], local[5, j]
        e, f, g = turning[3, j], turning[4, j], turning[5, j]
        turning[0, j] += f * pz - g * py + b * vz - d * vy
        turning[1, j] += g * px - e * pz + d * vx - a * vz
        turning[2, j] += e * py - f * px + a * vy - b * vx
        local[0, j] += b * pz - d * py
        local[1, j] += d * px - a * pz
        local[2, j] += a * py - b * px
    for j in range(here, active):
        for m in range(6):
            h = local[6 + m, j]
            if h == 0.0:
                continue
            for i in range(3):
                local[i, j] += h * sums[MODES + 3 * m + i]
                turning[i, j] += h * sums[RATES + 3 * m + i]
                local[3 + i, j] += h * turned[3 * m + i]
                turning[3 + i, j] += h * spun[3 * m + i]
    for i in range(3):
        w.pulled[i] += sums[BIAS + i]
        c[0, 9 + i] += sums[PLACE + i]
    for series in (c, w.speed, w.bias):
        total(series, count, 9, ends)
        for m in range(9):
            series[0, m] = ends[m]
