"""Forces on the centerline (Bergou et al. 2008, section 7.1), energies, and the longest stable explicit step.

Moving a vertex bends the rod and rotates Bishop frames about the tangent, by the sums (10) of holonomies (9). The energy of
this rotation, summed over all following edges as in (11), telescopes for quasistatic material frames to the torque of the
element. Therefore each element's holonomy contributes k m grad psi, in one pass, for prescribed frames anywhere along the rod,
and forces and torques balance within each element.

The full gradient of the curvature binormal is used. The paper drops its dependence on the edge length; that part acts along the
edge, where the projection removes it.
"""

from __future__ import annotations

import math

from ....compile.jit import part
from ....errors import Array
from ....maths.geometry.frames import cross, dot
from ....maths.geometry.rows import get
from ...elastic.rods import Rods
from .arrays import Chain, Nodes


@part
def elastic_forces(rods: Rods, chain: Chain, nodes: Nodes, force: Array, r: int) -> None:
    """Adds -dE/dx to the force."""
    first, end = rods.start[r], rods.start[r + 1]
    begin, stop = chain.start[r], chain.start[r + 1]
    edge, slot, stiffness, rest = chain.edge, chain.slot, chain.stiffness, chain.rest
    t, u, kb, chi, bishop = nodes.t, nodes.u, nodes.kb, nodes.chi, nodes.bishop
    twist, inverse_length, simple = nodes.twist, nodes.inverse_length, chain.simple[r]
    sine, cosine = nodes.sine, nodes.cosine
    a = stop - 1
    for k in range(begin, stop):
        if slot[k] >= 0:
            ta, tb, b = get(t, a), get(t, k), get(kb, k)
            torque = stiffness[k, 4] * (twist[k] - rest[k, 4])
            # p is the stress conjugate to kb: the sum of omega's stresses times their directors.
            if simple:
                s = stiffness[k, 0] + stiffness[k, 2]
                p = (s * b[0], s * b[1], s * b[2])
            else:
                ua, ub = get(u, a), get(u, k)
                va, vb = cross(ta, ua), cross(tb, ub)
                sa, ca, sb, cb = sine[a], cosine[a], sine[k], cosine[k]
                x, y = bishop[k, 0], bishop[k, 1]
                s0 = stiffness[k, 0] * (ca * x + sa * y - rest[k, 0])
                s1 = stiffness[k, 1] * (ca * y - sa * x - rest[k, 1])
                x, y = bishop[k, 2], bishop[k, 3]
                s2 = stiffness[k, 2] * (cb * x + sb * y - rest[k, 2])
                s3 = stiffness[k, 3] * (cb * y - sb * x - rest[k, 3])
                ya, xa = ca * s0 - sa * s1, sa * s0 + ca * s1
                yb, xb = cb * s2 - sb * s3, sb * s2 + cb * s3
                p = (
                    ya * va[0] - xa * ua[0] + yb * vb[0] - xb * ub[0],
                    ya * va[1] - xa * ua[1] + yb * vb[1] - xb * ub[1],
                    ya * va[2] - xa * ua[2] + yb * vb[2] - xb * ub[2],
                )
            f = 1.0 / chi[k]
            g = dot(p, b) * f
            wa, wb = cross(tb, p), cross(ta, p)
            ja, jb = edge[a], edge[k]
            if ja >= 0:
                following = ja + 1 if ja + 1 < end else first
                scale = inverse_length[a]
                for c in range(3):
                    pull = scale * (2.0 * f * wa[c] - g * (ta[c] + tb[c]) + 0.5 * torque * b[c])
                    force[ja, c] += pull
                    force[following, c] -= pull
            if jb >= 0:
                following = jb + 1 if jb + 1 < end else first
                scale = inverse_length[k]
                for c in range(3):
                    pull = scale * (-2.0 * f * wb[c] - g * (ta[c] + tb[c]) + 0.5 * torque * b[c])
                    force[jb, c] += pull
                    force[following, c] -= pull
        a = k


@part
def measure_energies(chain: Chain, nodes: Nodes, energy: Array, r: int) -> None:
    """Bending (3) and twisting energy (J); there is no stretching energy."""
    begin, stop = chain.start[r], chain.start[r + 1]
    stiffness, rest, bishop = chain.stiffness, chain.rest, nodes.bishop
    bending = twisting = 0.0
    for k in range(begin, stop):
        if chain.slot[k] < 0:
            continue
        a = k - 1 if k > begin else stop - 1
        if chain.simple[r]:
            b = get(nodes.kb, k)
            bending += 0.5 * (stiffness[k, 0] + stiffness[k, 2]) * dot(b, b)
        else:
            for side in range(2):
                node = a if side == 0 else k
                s, c = nodes.sine[node], nodes.cosine[node]
                x, y = bishop[k, 2 * side], bishop[k, 2 * side + 1]
                e0, e1 = c * x + s * y - rest[k, 2 * side], c * y - s * x - rest[k, 2 * side + 1]
                bending += 0.5 * (stiffness[k, 2 * side] * e0 * e0 + stiffness[k, 2 * side + 1] * e1 * e1)
        m = nodes.twist[k] - rest[k, 4]
        twisting += 0.5 * stiffness[k, 4] * m * m
    energy[r, 0], energy[r, 1], energy[r, 2] = 0.0, bending, twisting


@part
def longest_step(rods: Rods, chain: Chain, nodes: Nodes, v: Array, scratch: Array, r: int) -> float:
    """Longest stable step 2 / omega, from Gershgorin's bound on the highest frequency; also limits the rotation of edges. An
    element of bending stiffness K couples its three vertices by K g g^T, g = (1/a, -1/a - 1/b, 1/b) for edge lengths a and b. K
    includes the stiffening of a corner, kappa = 2 tan(phi / 2), the effect of twist on a bent rod, and the torque."""
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    begin, stop = chain.start[r], chain.start[r + 1]
    edge, stiffness, rest, inverse_length = chain.edge, chain.stiffness, chain.rest, nodes.inverse_length
    for i in range(first, end):
        scratch[i] = 0.0
    for k in range(begin, stop):
        if chain.slot[k] < 0:
            continue
        a = k - 1 if k > begin else stop - 1
        ia = inverse_length[a] if edge[a] >= 0 else 0.0
        ib = inverse_length[k] if edge[k] >= 0 else 0.0
        steep = 2.0 / nodes.chi[k]  # d kappa / d phi
        kappa = 2.0 * math.sqrt(max(steep - 1.0, 0.0))
        natural = math.sqrt(
            max(rest[k, 0] ** 2 + rest[k, 1] ** 2, rest[k, 2] ** 2 + rest[k, 3] ** 2)
        )  # fmt: skip
        bend = max(stiffness[k, 0], stiffness[k, 1]) + max(stiffness[k, 2], stiffness[k, 3])
        torque = stiffness[k, 4] * (nodes.twist[k] - rest[k, 4])
        stiff = bend * steep * (steep + 0.5 * kappa * (kappa + natural))
        stiff += 0.25 * stiffness[k, 4] * kappa * kappa + abs(torque)
        row = 2.0 * (ia + ib) * stiff
        if edge[a] >= 0:
            scratch[edge[a]] += row * ia
        scratch[chain.vertex[k]] += row * (ia + ib)
        if edge[k] >= 0:
            j = edge[k]
            scratch[j + 1 if j + 1 < end else first] += row * ib
    fastest = 0.0
    for i in range(first, end):
        if not rods.held[i, 0]:
            fastest = max(fastest, scratch[i] / rods.mass[i, 0])
    turning = 0.0
    for j in range(first, end if closed else end - 1):
        i = j + 1 if j + 1 < end else first
        w = (v[i, 0] - v[j, 0], v[i, 1] - v[j, 1], v[i, 2] - v[j, 2])
        turning = max(turning, dot(w, w) / (rods.rest_length[j] * rods.rest_length[j]))
    return float(1.0 / max(0.5 * math.sqrt(fastest) / STABLE_FRACTION, math.sqrt(turning) / TURN, 1e-12))


STABLE_FRACTION = 0.7  # fraction of the longest stable step
TURN = 0.2  # rad, largest rotation of an edge in a step for which the projection converges
