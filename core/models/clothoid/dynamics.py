"""Coefficients of the equation of motion (Casati and Bertails-Descoubes 2013, eq. 7 and 8) by propagated power series (section
7.1).

On a piece every unknown moves the rod as a rigid body and by six modes. These are twelve fields, whose products are integrated
(`moving.py`) and then assembled for all unknowns. Rotations e x (r - r') and modes are scaled by the length tau of the piece.
Loops over unknowns run over whole vector registers; the entries beyond the unknowns are zero.
"""

from __future__ import annotations

from ...compile.jit import part
from ...errors import Array
from ...maths.linalg.small import get3
from .arrays import Arrays, MotionScratch, Scratch
from .kinematics import BEND, TURN, unknowns_of
from .moving import (
    COLUMN,
    EXTRA,
    FRAME,
    LANES,
    Y,
    ends_of_piece,
    expand_moving,
    fields_at_nodes,
    integrate_products,
)
from .series import affine_at, expand, next_piece, scaled, slope_between, sum_terms


@part
def _field_products(w: MotionScratch, tau: float, scale: float) -> None:
    """Integrals of the products of the twelve fields (displacements, rotations, modes) with each other, with their rates (zero
    for displacements) and with the bias; all times `scale`."""
    dots, outer, mass, rate, bias = w.dots, w.outer, w.mass, w.rate, w.bias
    alone, one, two = outer[6], scale * tau, scale * tau * tau
    for a in range(12):
        for b in range(12):
            mass[a, b], rate[a, b] = 0.0, 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        mass[i, i] = scale
        bias[i] = one * alone[Y + i * LANES + EXTRA]
        # e_i x r has the components -r_k at j and r_j at k.
        mass[3 + i, j], mass[3 + i, k] = -one * alone[k * LANES + FRAME], one * alone[j * LANES + FRAME]
        rate[j, 3 + i], rate[k, 3 + i] = -one * alone[k * LANES + EXTRA], one * alone[j * LANES + EXTRA]
        bias[3 + i] = two * (outer[j, Y + k * LANES + EXTRA] - outer[k, Y + j * LANES + EXTRA])
        for o in range(3):
            # (e_i x r) . (e_o x s) = delta_io r . s - r_o s_i
            mass[3 + i, 3 + o] = -two * outer[o, i * LANES + FRAME]
            rate[3 + i, 3 + o] = -two * outer[o, i * LANES + EXTRA]
        for c in range(3):
            mass[3 + i, 3 + i] += two * outer[c, c * LANES + FRAME]
            rate[3 + i, 3 + i] += two * outer[c, c * LANES + EXTRA]
        for m in range(6):
            mass[6 + m, i] = one * alone[i * LANES + m]
            rate[i, 6 + m] = one * alone[Y + i * LANES + m]
            # psi . (e_i x r) = e_i . (r x psi)
            mass[6 + m, 3 + i] = two * (outer[j, k * LANES + m] - outer[k, j * LANES + m])
            rate[3 + i, 6 + m] = two * (outer[j, Y + k * LANES + m] - outer[k, Y + j * LANES + m])
            rate[6 + m, 3 + i] = two * (outer[3 + j, k * LANES + m] - outer[3 + k, j * LANES + m])
    for m in range(6):
        bias[6 + m] = two * dots[m, LANES + EXTRA]
        for o in range(6):
            mass[6 + m, 6 + o] = two * dots[m, o]
            rate[6 + m, 6 + o] = two * dots[m, LANES + o]
    for a in range(12):
        for b in range(a):
            mass[b, a] = mass[a, b]


@part
def equation_of_motion(b: Arrays, scratch: Scratch, w: MotionScratch, r: int) -> None:
    """Writes the mass matrix (both triangles) to w.inertia, the derivative of A with respect to the velocities to w.slope, and
    A and the force of gravity to w.force, all at the state and its generalized velocities."""
    nodes, state, c = b.nodes, b.state, scratch.terms
    n, at = unknowns_of(nodes, r), b.rods.vector_start[r]
    kappa, length, rate, affine = state.kappa, state.length, state.rate, b.rods.degree[r]
    inertia, steep, force, gravity = w.inertia, w.slope, w.force, b.forces.gravity[r]
    local, turning, lanes = w.local, w.turning, w.lanes
    padded = _padded(n)
    for i in range(n):
        force[0, i], force[1, i] = 0.0, 0.0
        for j in range(padded):
            inertia[i, j], steep[i, j] = 0.0, 0.0
    for m in range(6):
        for j in range(padded):
            local[m, j], turning[m, j] = 0.0, 0.0
    spin = (rate[at + 3], rate[at + 4], rate[at + 5])
    for i in range(3):
        local[i, i] = 1.0
        local[3 + i, TURN + i] = 1.0
        j, m = (i + 1) % 3, (i + 2) % 3
        # The rotation of the root is not a coordinate; half of omega x e_i represents its rate.
        turning[3 + j, TURN + i], turning[3 + m, TURN + i] = 0.5 * spin[m], -0.5 * spin[j]
        c[0, 9 + i] = state.root[r, i]
        w.start_acceleration[i] = 0.0
        for o in range(3):
            c[0, 3 * i + o] = state.frame[r, i, o]
    for o in range(3):
        x, y, z = state.frame[r, 0, o], state.frame[r, 1, o], state.frame[r, 2, o]
        u = (spin[1] * z - spin[2] * y, spin[2] * x - spin[0] * z, spin[0] * y - spin[1] * x)
        v = (spin[1] * u[2] - spin[2] * u[1], spin[2] * u[0] - spin[0] * u[2], spin[0] * u[1] - spin[1] * u[0])
        for i in range(3):
            here = o * COLUMN + i * LANES
            lanes[1, here + FRAME], lanes[1, here + Y + FRAME] = state.frame[r, i, o], u[i]
            lanes[1, here + EXTRA], lanes[1, here + Y + EXTRA] = u[i], v[i]
    first, first_node = nodes.element_start[r], nodes.start[r]
    for e in range(first, nodes.element_start[r + 1]):
        a = first_node + e - first
        d = a + affine
        here = BEND + 3 * (e - first)
        active = here + 3 + 3 * affine
        there = here + 3 * affine
        span, sigma, last = length[e], 0.0, False
        ra, rb = at + here, at + there
        first_kappa, first_rate = get3(kappa, a), (rate[ra], rate[ra + 1], rate[ra + 2])
        slope = slope_between(first_kappa, get3(kappa, d), span)
        rise = slope_between(first_rate, (rate[rb], rate[rb + 1], rate[rb + 2]), span)
        while not last:
            now = affine_at(first_kappa, slope, sigma)
            tau, last = next_piece(now, slope, span - sigma, span)
            tt = tau * tau
            k, g = scaled(now, tau), scaled(slope, tt)
            p, q = scaled(affine_at(first_rate, rise, sigma), tau), scaled(rise, tt)
            count = expand(k, g, tau, c)
            expand_moving(k, g, p, q, w.flat, count)
            fields_at_nodes(w.flat, count, w.at_nodes)
            integrate_products(w.at_nodes, w.dots, w.outer)
            _field_products(w, tau, nodes.mass[e] * tau)
            x, share = sigma / span, tau / span
            for node in range(1 + affine):
                # Hat function of a node at the start of the piece, and its increase over the piece.
                w.hats[node, 0] = tau * ((1.0 - x if node == 0 else x) if affine == 1 else 1.0)
                w.hats[node, 1] = tau * ((-share if node == 0 else share) if affine == 1 else 0.0)
            _gather(w, here, active, gravity)
            _propagate(w, c, count, tau, here, active)
            sigma += tau


@part
def _padded(count: int) -> int:
    return LANES * ((count + LANES - 1) // LANES)


@part
def _gather(w: MotionScratch, here: int, active: int, gravity: Array) -> None:
    """Adds a piece to the equation of motion. The unknowns from `here` on belong to its own nodes."""
    local, turning, mass, rate, one, two, hats = w.local, w.turning, w.mass, w.rate, w.one, w.two, w.hats
    inertia, steep, force = w.inertia, w.slope, w.force
    padded = _padded(active)
    for m in range(12):
        w.weight[m] = 0.0
        for i in range(3):
            w.weight[m] += mass[m, i] * gravity[i]
            w.bias[m] += mass[m, i] * w.start_acceleration[i]
    for m in range(12):
        a0, a1, a2, a3, a4, a5 = mass[m, 0], mass[m, 1], mass[m, 2], mass[m, 3], mass[m, 4], mass[m, 5]
        b3, b4, b5 = rate[m, 3], rate[m, 4], rate[m, 5]
        for j in range(padded):
            one[m, j] = (a0 * local[0, j] + a1 * local[1, j] + a2 * local[2, j]) + (
                a3 * local[3, j] + a4 * local[4, j] + a5 * local[5, j]
            )
        for j in range(padded):
            two[m, j] = 2.0 * (
                (a0 * turning[0, j] + a1 * turning[1, j] + a2 * turning[2, j])
                + (a3 * turning[3, j] + a4 * turning[4, j] + a5 * turning[5, j])
                + (b3 * local[3, j] + b4 * local[4, j] + b5 * local[5, j])
            )
        for j in range(here, active):
            node, c = (j - here) // 3, (j - here) % 3
            one[m, j] += hats[node, 0] * mass[m, 6 + c] + hats[node, 1] * mass[m, 9 + c]
            two[m, j] += 2.0 * (hats[node, 0] * rate[m, 6 + c] + hats[node, 1] * rate[m, 9 + c])
    for i in range(active):
        a0, a1, a2, a3, a4, a5 = local[0, i], local[1, i], local[2, i], local[3, i], local[4, i], local[5, i]
        force[0, i] += (a0 * w.bias[0] + a1 * w.bias[1] + a2 * w.bias[2]) + (
            a3 * w.bias[3] + a4 * w.bias[4] + a5 * w.bias[5]
        )
        force[1, i] += (a0 * w.weight[0] + a1 * w.weight[1] + a2 * w.weight[2]) + (
            a3 * w.weight[3] + a4 * w.weight[4] + a5 * w.weight[5]
        )
        for j in range(padded):
            inertia[i, j] += (a0 * one[0, j] + a1 * one[1, j] + a2 * one[2, j]) + (
                a3 * one[3, j] + a4 * one[4, j] + a5 * one[5, j]
            )
        for j in range(padded):
            steep[i, j] += (a0 * two[0, j] + a1 * two[1, j] + a2 * two[2, j]) + (
                a3 * two[3, j] + a4 * two[4, j] + a5 * two[5, j]
            )
    for i in range(here, active):
        node, c = (i - here) // 3, (i - here) % 3
        a, b = hats[node, 0], hats[node, 1]
        force[0, i] += a * w.bias[6 + c] + b * w.bias[9 + c]
        force[1, i] += a * w.weight[6 + c] + b * w.weight[9 + c]
        for j in range(padded):
            inertia[i, j] += a * one[6 + c, j] + b * one[9 + c, j]
        for j in range(padded):
            steep[i, j] += a * two[6 + c, j] + b * two[9 + c, j]


@part
def _propagate(w: MotionScratch, c: Array, count: int, tau: float, here: int, active: int) -> None:
    """Propagates frames, velocities and their derivatives to the end of the piece."""
    local, turning, lanes, hats = w.local, w.turning, w.lanes, w.hats
    once, twice, ends = w.ends[1], w.ends[2], w.ends[0]
    ends_of_piece(lanes, count, w.ends)
    px, py, pz = tau * once[FRAME], tau * once[LANES + FRAME], tau * once[2 * LANES + FRAME]
    vx, vy, vz = tau * once[EXTRA], tau * once[LANES + EXTRA], tau * once[2 * LANES + EXTRA]
    for j in range(_padded(active)):
        a, b, d = local[3, j], local[4, j], local[5, j]
        e, f, g = turning[3, j], turning[4, j], turning[5, j]
        turning[0, j] += f * pz - g * py + b * vz - d * vy
        turning[1, j] += g * px - e * pz + d * vx - a * vz
        turning[2, j] += e * py - f * px + a * vy - b * vx
        local[0, j] += b * pz - d * py
        local[1, j] += d * px - a * pz
        local[2, j] += a * py - b * px
    for j in range(here, active):
        node, m = (j - here) // 3, (j - here) % 3
        a, b = hats[node, 0], hats[node, 1]
        for i in range(3):
            k = i * LANES + m
            local[i, j] += tau * (a * once[k] + b * once[k + 3])
            turning[i, j] += tau * (a * once[Y + k] + b * once[Y + k + 3])
            # A mode rotates the rod by the integral of the frame's column, or of u times that column.
            k = m * COLUMN + i * LANES + FRAME
            local[3 + i, j] += a * once[k] + b * twice[k]
            turning[3 + i, j] += a * once[Y + k] + b * twice[Y + k]
    for i in range(3):
        w.start_acceleration[i] += tau * once[Y + i * LANES + EXTRA]
        c[0, 9 + i] += tau * once[i * LANES + FRAME]
    sum_terms(c, count, 9, w.sums)
    for i in range(3):
        for o in range(3):
            k = o * COLUMN + i * LANES
            c[0, 3 * i + o] = w.sums[3 * i + o]
            lanes[1, k + FRAME], lanes[1, k + Y + FRAME] = c[0, 3 * i + o], ends[k + Y + FRAME]
            lanes[1, k + EXTRA], lanes[1, k + Y + EXTRA] = ends[k + Y + FRAME], ends[k + Y + EXTRA]
