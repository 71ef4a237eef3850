"""A chain of elements (section 6.5): frames and places at points along the rod, and how they move with the unknowns.

The unknowns of a rod are a shift of its root (3), a turn of its root as a rotation vector (3), and the curvature vectors of its
nodes (3 each). Unknown j moves the material at s by psi_j and turns it by phi_j, where
    phi_j' = R d kappa / d q_j,     psi_j' = phi_j x t.
Beyond the elements that an unknown bends, the rod moves as a rigid body: phi stays, psi grows by phi x (r - r').
"""

from __future__ import annotations

from ...errors import Array
from ...jit import part
from .arrays import Nodes, Points, Rods, Room, State
from .series import COLUMNS, FRAME, MOTION, PLACE, ROTATION, evaluate, expand, expand_modes, next_piece, total

SHIFT, TURN, BEND = 0, 3, 6  # where the unknowns of a rod begin


@part
def lay_out(
    rods: Rods, nodes: Nodes, state: State, points: Points, room: Room, r: int, place: Array, frame: Array, modes: bool
) -> None:
    """Writes places (P, 3 or more) and frames (P, 3, 3) of rod r's points into rows of the block, at the state's curvatures;
    with `modes` also room.jacobian (points of this rod, 6, unknowns): psi in rows 0 to 2, phi in rows 3 to 5."""
    kappa, length, element, fraction = state.kappa, state.length, points.element, points.fraction
    first_element, first_node = nodes.element_start[r], nodes.start[r]
    first, end = points.start[r], points.start[r + 1]
    affine = rods.degree[r]
    c, d, out, jacobian, phi, psi = room.terms, room.derivatives, room.sums, room.jacobian, room.phi, room.psi
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
        here = BEND + 3 * (a - first_node)  # the first unknown of this element
        active = here + 3 + 3 * affine
        span = length[e]
        slope = (
            (kappa[b, 0] - kappa[a, 0]) / span,
            (kappa[b, 1] - kappa[a, 1]) / span,
            (kappa[b, 2] - kappa[a, 2]) / span,
        )
        sigma = 0.0
        last = False
        while not last:
            x = sigma / span
            now = (
                kappa[a, 0] + sigma * slope[0],
                kappa[a, 1] + sigma * slope[1],
                kappa[a, 2] + sigma * slope[2],
            )
            tau, last = next_piece(now, slope, span - sigma, span)
            k = (tau * now[0], tau * now[1], tau * now[2])
            g = (tau * tau * slope[0], tau * tau * slope[1], tau * tau * slope[2])
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
                    _carry(
                        phi, psi, row[3:6], row[0:3], out, out[PLACE] - x0, out[PLACE + 1] - y0, out[PLACE + 2] - z0,
                        x, share, here, active, affine,
                    )  # fmt: skip
                    for i in range(6):
                        for j in range(active, unknowns):
                            row[i, j] = 0.0
                p += 1
            total(c, count, columns, out)
            if modes:
                _carry(
                    phi, psi, phi, psi, out, out[PLACE] - x0, out[PLACE + 1] - y0, out[PLACE + 2] - z0,
                    x, share, here, active, affine,
                )  # fmt: skip
            for m in range(ROTATION):
                c[0, m] = out[m]
            sigma += tau


@part
def _carry(
    phi: Array, psi: Array, to_phi: Array, to_psi: Array, out: Array, dx: float, dy: float, dz: float,
    x: float, share: float, here: int, active: int, affine: int,
) -> None:  # fmt: skip
    """From the beginning of a piece, at the fraction x of its element, to where the sums are `out` and the place is (dx, dy, dz)
    farther: as rigid bodies, and for the element's own unknowns by the piece's modes."""
    for j in range(active):
        a, b, c = phi[0, j], phi[1, j], phi[2, j]
        to_psi[0, j] = psi[0, j] + b * dz - c * dy
        to_psi[1, j] = psi[1, j] + c * dx - a * dz
        to_psi[2, j] = psi[2, j] + a * dy - b * dx
        to_phi[0, j], to_phi[1, j], to_phi[2, j] = a, b, c
    # The hat of the element's first node is 1 - x and falls by `share` over the piece; of degree 0 it is one.
    for node in range(1 + affine):
        level = (1.0 - x if node == 0 else x) if affine == 1 else 1.0
        rise = (-share if node == 0 else share) if affine == 1 else 0.0
        for m in range(3):
            j = here + 3 * node + m
            for i in range(3):
                to_phi[i, j] += level * out[ROTATION + 3 * m + i] + rise * out[ROTATION + 9 + 3 * m + i]
                to_psi[i, j] += level * out[MOTION + 3 * m + i] + rise * out[MOTION + 9 + 3 * m + i]
