"""Chain of elements (Casati and Bertails-Descoubes 2013, section 6.5): frames and positions along the rod, and their
derivatives.

The unknowns of a rod are a displacement of its root (3), a rotation vector of its root (3), and the curvature vectors of its
nodes (3 each). Unknown j displaces the material at s by psi_j and rotates it by phi_j, where
    phi_j' = R d kappa / d q_j,     psi_j' = phi_j x t.
Beyond the elements that an unknown bends, the rod moves as a rigid body: phi is constant, and psi increases by phi x (r - r').
"""

from __future__ import annotations

from ...compile.jit import part
from ...errors import Array
from ...maths.linalg.small import get3
from .arrays import Nodes, Points, Rods, Scratch, State
from .series import (
    ACCELERATIONS,
    COLUMNS,
    FRAME,
    FRAME_ACCELERATION,
    MOTION,
    PLACE,
    PLACE_ACCELERATION,
    PLACE_RATE,
    ROTATION,
    SPEEDS,
    affine_at,
    evaluate,
    expand,
    expand_accelerations,
    expand_modes,
    expand_rates,
    next_piece,
    scaled,
    slope_between,
    sum_terms,
)

SHIFT, TURN, BEND = 0, 3, 6  # start of the root displacement, root rotation and curvatures among the unknowns of a rod


@part
def unknowns_of(nodes: Nodes, r: int) -> int:
    return int(BEND + 3 * (nodes.start[r + 1] - nodes.start[r]))


@part
def is_held(rods: Rods, r: int, j: int) -> bool:
    """Whether unknown j of rod r is prescribed."""
    return bool(rods.held_position[r] if j < TURN else j < BEND and rods.held_frame[r])


@part
def lay_out(
    rods: Rods, nodes: Nodes, state: State, points: Points, scratch: Scratch, r: int, place: Array, frame: Array,
    modes: bool,
) -> None:  # fmt: skip
    """Writes positions (P, 3 or more) and frames (P, 3, 3) of rod r's points to rows of the block, at the state's curvatures.
    With `modes` also scratch.jacobian (points of this rod, 6, unknowns): psi in rows 0 to 2, phi in rows 3 to 5."""
    kappa, length, element, fraction = state.kappa, state.length, points.element, points.fraction
    first_element, first_node = nodes.element_start[r], nodes.start[r]
    first, end = points.start[r], points.start[r + 1]
    affine = rods.degree[r]
    c, d, out = scratch.terms, scratch.derivatives, scratch.sums
    jacobian, phi, psi = scratch.jacobian, scratch.phi, scratch.psi
    unknowns = BEND + 3 * (nodes.start[r + 1] - first_node)
    columns = COLUMNS if modes else ROTATION
    for i in range(3):
        c[0, PLACE + i] = state.root[r, i]
        for j in range(3):
            c[0, FRAME + 3 * i + j] = state.frame[r, i, j]
    if modes:
        for i in range(3):
            for j in range(unknowns):
                phi[i, j], psi[i, j] = 0.0, 0.0
            psi[i, SHIFT + i] = 1.0
            phi[i, TURN + i] = 1.0
    p = first
    for e in range(first_element, nodes.element_start[r + 1]):
        a = first_node + e - first_element
        b = a + affine
        here = BEND + 3 * (a - first_node)  # first unknown of this element
        active = here + 3 + 3 * affine
        span, first_kappa = length[e], get3(kappa, a)
        slope = slope_between(first_kappa, get3(kappa, b), span)
        sigma, last = 0.0, False
        while not last:
            x = sigma / span
            now = affine_at(first_kappa, slope, sigma)
            tau, last = next_piece(now, slope, span - sigma, span)
            k, g = scaled(now, tau), scaled(slope, tau * tau)
            x0, y0, z0 = c[0, PLACE], c[0, PLACE + 1], c[0, PLACE + 2]
            count = expand(k, g, tau, c)
            if modes:
                expand_modes(k, g, tau, c, d, count)
            share = tau / span
            while p < end and element[p] == e and (last or fraction[p] <= x + share):
                evaluate(c, count, min((fraction[p] - x) / share, 1.0), columns, out)
                for i in range(3):
                    place[p, i] = out[PLACE + i]
                    for j in range(3):
                        frame[p, i, j] = out[FRAME + 3 * i + j]
                if modes:
                    row = jacobian[p - first]
                    _propagate_modes(
                        phi, psi, row[3:6], row[0:3], out, out[PLACE] - x0, out[PLACE + 1] - y0, out[PLACE + 2] - z0,
                        x, share, here, active, affine,
                    )  # fmt: skip
                    for i in range(6):
                        for j in range(active, unknowns):
                            row[i, j] = 0.0
                p += 1
            sum_terms(c, count, columns, out)
            if modes:
                _propagate_modes(
                    phi, psi, phi, psi, out, out[PLACE] - x0, out[PLACE + 1] - y0, out[PLACE + 2] - z0,
                    x, share, here, active, affine,
                )  # fmt: skip
            for m in range(ROTATION):
                c[0, m] = out[m]
            sigma += tau


@part
def _propagate_modes(
    phi: Array, psi: Array, to_phi: Array, to_psi: Array, out: Array, dx: float, dy: float, dz: float,
    x: float, share: float, here: int, active: int, affine: int,
) -> None:  # fmt: skip
    """Propagates phi and psi from the start of a piece, at fraction x of its element, to the point with sums `out` and offset
    (dx, dy, dz): as rigid bodies, plus the piece's modes for the element's own unknowns."""
    for j in range(active):
        a, b, c = phi[0, j], phi[1, j], phi[2, j]
        to_psi[0, j] = psi[0, j] + b * dz - c * dy
        to_psi[1, j] = psi[1, j] + c * dx - a * dz
        to_psi[2, j] = psi[2, j] + a * dy - b * dx
        to_phi[0, j], to_phi[1, j], to_phi[2, j] = a, b, c
    # The hat function of the element's first node is 1 - x and decreases by `share` over the piece; for degree 0 it is one.
    for node in range(1 + affine):
        level = (1.0 - x if node == 0 else x) if affine == 1 else 1.0
        rise = (-share if node == 0 else share) if affine == 1 else 0.0
        for m in range(3):
            j = here + 3 * node + m
            for i in range(3):
                to_phi[i, j] += level * out[ROTATION + 3 * m + i] + rise * out[ROTATION + 9 + 3 * m + i]
                to_psi[i, j] += level * out[MOTION + 3 * m + i] + rise * out[MOTION + 9 + 3 * m + i]


@part
def lay_out_moving(
    rods: Rods, nodes: Nodes, state: State, points: Points, scratch: Scratch, r: int, place: Array, frame: Array,
    speed: Array,
    acceleration: Array, accelerated: bool,
) -> None:  # fmt: skip
    """Like `lay_out`, and the velocities (P, 3) at the state's rates; a fourth column, if there is one, is the spin about the
    tangent. Two more series suffice, which is cheaper than a mode for each unknown. If `accelerated`, also the accelerations
    (P, 4) at the state's generalized accelerations."""
    kappa, rate, length, element, fraction = state.kappa, state.rate, state.length, points.element, points.fraction
    second = state.acceleration
    first_element, first_node, at = nodes.element_start[r], nodes.start[r], rods.vector_start[r]
    end, affine, spins = points.start[r + 1], rods.degree[r], speed.shape[1] > 3
    c, out, columns = scratch.terms, scratch.sums, ACCELERATIONS if accelerated else SPEEDS
    wx, wy, wz = rate[at + TURN], rate[at + TURN + 1], rate[at + TURN + 2]
    for i in range(3):
        c[0, PLACE + i], c[0, PLACE_RATE + i] = state.root[r, i], rate[at + SHIFT + i]
    for j in range(3):
        x, y, z = state.frame[r, 0, j], state.frame[r, 1, j], state.frame[r, 2, j]
        c[0, FRAME + j], c[0, FRAME + 3 + j], c[0, FRAME + 6 + j] = x, y, z
        c[0, ROTATION + j] = wy * z - wz * y
        c[0, ROTATION + 3 + j] = wz * x - wx * z
        c[0, ROTATION + 6 + j] = wx * y - wy * x
        if accelerated:
            u, v, w = c[0, ROTATION + j], c[0, ROTATION + 3 + j], c[0, ROTATION + 6 + j]
            ax, ay, az = second[at + TURN], second[at + TURN + 1], second[at + TURN + 2]
            c[0, FRAME_ACCELERATION + j] = ay * z - az * y + wy * w - wz * v
            c[0, FRAME_ACCELERATION + 3 + j] = az * x - ax * z + wz * u - wx * w
            c[0, FRAME_ACCELERATION + 6 + j] = ax * y - ay * x + wx * v - wy * u
            c[0, PLACE_ACCELERATION + j] = second[at + SHIFT + j]
    p = points.start[r]
    for e in range(first_element, nodes.element_start[r + 1]):
        a = first_node + e - first_element
        b, span = a + affine, length[e]
        ra = at + BEND + 3 * (a - first_node)
        rb = ra + 3 * affine
        first_kappa, first_rate = get3(kappa, a), (rate[ra], rate[ra + 1], rate[ra + 2])
        slope = slope_between(first_kappa, get3(kappa, b), span)
        rise = slope_between(first_rate, (rate[rb], rate[rb + 1], rate[rb + 2]), span)
        sigma, last = 0.0, False
        while not last:
            now = affine_at(first_kappa, slope, sigma)
            tau, last = next_piece(now, slope, span - sigma, span)
            tt = tau * tau
            k, g = scaled(now, tau), scaled(slope, tt)
            count = expand(k, g, tau, c)
            u, v = scaled(affine_at(first_rate, rise, sigma), tau), scaled(rise, tt)
            expand_rates(k, g, u, v, tau, c, count)
            if accelerated:
                x = (second[rb] - second[ra]) / span
                y = (second[rb + 1] - second[ra + 1]) / span
                z = (second[rb + 2] - second[ra + 2]) / span
                w = (
                    tau * (second[ra] + sigma * x),
                    tau * (second[ra + 1] + sigma * y),
                    tau * (second[ra + 2] + sigma * z),
                )
                expand_accelerations(k, g, u, v, w, (tt * x, tt * y, tt * z), tau, c, count)
            begin, share = sigma / span, tau / span
            while p < end and element[p] == e and (last or fraction[p] <= begin + share):
                evaluate(c, count, min((fraction[p] - begin) / share, 1.0), columns, out)
                spin, spinning = 0.0, 0.0
                for i in range(3):
                    place[p, i], speed[p, i] = out[PLACE + i], out[PLACE_RATE + i]
                    spin += out[FRAME + 3 * i + 2] * out[ROTATION + 3 * i + 1]
                    for j in range(3):
                        frame[p, i, j] = out[FRAME + 3 * i + j]
                if spins:
                    speed[p, 3] = spin
                if accelerated:
                    for i in range(3):
                        acceleration[p, i] = out[PLACE_ACCELERATION + i]
                        spinning += out[ROTATION + 3 * i + 2] * out[ROTATION + 3 * i + 1]
                        spinning += out[FRAME + 3 * i + 2] * out[FRAME_ACCELERATION + 3 * i + 1]
                    acceleration[p, 3] = spinning
                p += 1
            sum_terms(c, count, columns, out)
            for m in range(columns):
                c[0, m] = out[m]
            sigma += tau
