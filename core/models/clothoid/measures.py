"""Energies of the state; tensions and strains for display."""

from __future__ import annotations

import math

import numpy as np

from ...compile.jit import part
from ...errors import Array, Ints
from .arrays import Arrays, Scratch
from .potential import GAUSS, NODES, WEIGHTS
from .rates import update_points

SECANTS, TANGENTS, AT_REST = range(3)  # how accelerations follow from the last stage


def _shares() -> Array:
    """(j, k): the fraction sum_k (1 - u^(k + 1)) * this of Gauss point j's weight lies beyond u, by polynomial interpolation."""
    powers = np.arange(1, GAUSS + 1)
    return np.ascontiguousarray(np.linalg.inv(np.vander(NODES, increasing=True)).T / powers / WEIGHTS[:, None])


SHARES = _shares()


@part
def measure(b: Arrays, scratch: Scratch, r: int) -> None:
    """Writes the energies of the rod's state, and updates the Gauss points with their velocities and accelerations."""
    update_points(b, scratch, r, b.state.consistent[r] > 0.0)
    gauss, nodes, v, x, mass, k = b.gauss, b.nodes, b.geometry.v, b.geometry.x, b.gauss.mass, b.nodes.stiffness
    kinetic, height, bend, twist = 0.0, 0.0, 0.0, 0.0
    for p in range(gauss.start[r], gauss.start[r + 1]):
        span = b.state.length[gauss.element[p]]
        for c in range(4):
            kinetic += 0.5 * mass[p, c] * span * v[p, c] * v[p, c]
            if c < 3:
                height -= mass[p, c] * span * b.forces.gravity[r, c] * x[p, c]
    kappa, natural, first, affine = b.state.kappa, b.state.natural, nodes.element_start[r], b.rods.degree[r]
    for e in range(first, nodes.element_start[r + 1]):
        i = nodes.start[r] + e - first
        j, span = i + affine, b.state.length[e]
        for c in range(3):
            p, q = kappa[i, c] - natural[i, c], kappa[j, c] - natural[j, c]
            energy = 0.5 * span * (k[e, c, 0] * p * p + 2.0 * k[e, c, 1] * p * q + k[e, c, 2] * q * q)
            if c == 0:
                twist += energy
            else:
                bend += energy
    b.log.energy[r, 0], b.log.energy[r, 1], b.log.energy[r, 2], b.log.energy[r, 3] = kinetic, bend, twist, height


@part
def update_tension(b: Arrays, scratch: Scratch, r: int, h: float, kind: int, pushes: Array, pushed: bool) -> None:
    """Writes the axial force of the edges (N): all forces beyond the middle of each edge, minus the inertia there, after a
    stage of h seconds with known final positions and velocities. With `pushed` the contact forces pushes (S, 3 or 4) act, too."""
    gauss, samples, state, forces = b.gauss, b.samples, b.state, b.forces
    stage, x, v, force, drag, wind = b.stage, b.geometry.x, b.geometry.v, scratch.force, b.forces.drag, b.forces.wind
    first = gauss.start[r]
    for p in range(first, gauss.start[r + 1]):
        span = state.length[gauss.element[p]]
        for c in range(3):
            a = 0.0
            if kind == SECANTS:
                a = ((x[p, c] - stage.x[p, c]) / h - stage.v[p, c]) / h
            elif kind == TANGENTS:
                a = (v[p, c] - stage.v[p, c]) / h
            force[p - first, c] = gauss.mass[p, c] * span * (forces.gravity[r, c] - a)
    fx, fy, fz = 0.0, 0.0, 0.0  # sum of forces beyond a panel and beyond an edge
    panel = gauss.start[r + 1] - GAUSS
    for i in range(samples.start[r + 1] - 2, samples.start[r] - 1, -1):
        k = i + 1
        dx, dy, dz = state.v[k, 0] - wind[0], state.v[k, 1] - wind[1], state.v[k, 2] - wind[2]
        fx += forces.load[k, 0] - drag[k, 0] * dx - drag[k, 1] * dy - drag[k, 3] * dz
        fy += forces.load[k, 1] - drag[k, 1] * dx - drag[k, 2] * dy - drag[k, 4] * dz
        fz += forces.load[k, 2] - drag[k, 3] * dx - drag[k, 4] * dy - drag[k, 5] * dz
        if pushed:
            fx, fy, fz = fx + pushes[k, 0], fy + pushes[k, 1], fz + pushes[k, 2]
        middle = 0.5 * (samples.element[i] + samples.fraction[i] + samples.element[k] + samples.fraction[k])
        begin, width = _panel(gauss.fraction, panel)
        while panel > first and gauss.element[panel] + begin > middle:
            for q in range(panel - first, panel - first + GAUSS):
                fx, fy, fz = fx + force[q, 0], fy + force[q, 1], fz + force[q, 2]
            panel -= GAUSS
            begin, width = _panel(gauss.fraction, panel)
        u = min(max((middle - gauss.element[panel] - begin) / width, 0.0), 1.0)
        gx, gy, gz = fx, fy, fz
        for j in range(GAUSS):
            share, power = 0.0, 1.0
            for m in range(GAUSS):
                power *= u
                share += SHARES[j, m] * (1.0 - power)
            q = panel - first + j
            gx, gy, gz = gx + share * force[q, 0], gy + share * force[q, 1], gz + share * force[q, 2]
        ex, ey, ez = state.x[k, 0] - state.x[i, 0], state.x[k, 1] - state.x[i, 1], state.x[k, 2] - state.x[i, 2]
        size = math.sqrt(ex * ex + ey * ey + ez * ez)
        state.tension[i] = (gx * ex + gy * ey + gz * ez) / max(size, 1e-300)


@part
def _panel(fraction: Array, first: int) -> tuple[float, float]:
    """Start (within its element) and width of the panel whose first Gauss point is `first`."""
    width = (fraction[first + GAUSS - 1] - fraction[first]) / (NODES[GAUSS - 1] - NODES[0])
    return fraction[first] - NODES[0] * width, width


def edge_strains(b: Arrays, one: Ints, two: Ints) -> Array:
    """(E, 3) stretch, bending (1/m) and twist (rad/m) of the curve relative to the natural shape, in the middle of edges from
    sample `one` to sample `two`. The stretch is always zero."""
    rod = np.searchsorted(b.samples.start, one, side="right") - 1
    begin, end = (b.samples.element[k] + b.samples.fraction[k] for k in (one, two))
    first, last = b.nodes.element_start[rod], b.nodes.element_start[rod + 1]
    middle = 0.5 * (begin + end)
    element = np.clip(np.floor(middle).astype(np.int64), first, last - 1)
    node, at = b.nodes.start[rod] + element - first, (middle - element)[:, None]
    beyond = b.state.kappa - b.state.natural
    found = (1.0 - at) * beyond[node] + at * beyond[node + b.rods.degree[rod]]
    return np.stack([np.zeros(len(one)), np.linalg.norm(found[:, 1:], axis=1), found[:, 0]], axis=1)
