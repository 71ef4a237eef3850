"""Elements added to gradient and matrix: between two edges, and between a joint's frame and an edge.

An arm has the energy E(R, e, theta), which does not change
if joint and edge turn together; turning the joint by omega is turning the edge back, which also takes theta back by
omega.t + omega.dt / 2 + ..., because reference frames are carried by parallel transport. With g and H the derivatives that the
element has for a frame that is held, J = d(e, theta)/d omega = ([e]x, -t):
    g_omega = J^T g = -e x g_e - t g_theta,
    H_omega,omega = J^T H J + (g_e e^T + e g_e^T) / 2 - (g_e.e) 1,
    H_omega,e = J^T H_e + [g_e]x - (1 - t t^T) g_theta / (2 |e|),      H_omega,theta = J^T H_theta.
"""

from __future__ import annotations

from ...compile.jit import part
from ...errors import Array
from ...maths.geometry.frames import Vector, cross, dot
from ..der.element import ACROSS, ALONG, GRADIENT, LANES, LOCAL
from .arrays import Ints


@part
def add_element(
    gradient: Array, values: Array, of: Ints, lanes: Array, lane: int, e: int,
    p: int, turn_a: int, i: int, turn_b: int, f: int,
) -> None:  # fmt: skip
    """Adds an element between two edges (or one that only stretches its edge: p is -1) to gradient and matrix. Numbers are those of
    unknowns: x_p theta_a x_i theta_b x_f."""
    if p >= 0:
        for c in range(3):
            g = lanes[(GRADIENT + c) * LANES + lane]
            gradient[p + c] -= g
            gradient[i + c] += g
        gradient[turn_a] += lanes[(GRADIENT + 3) * LANES + lane]
    for c in range(3):
        g = lanes[(GRADIENT + 4 + c) * LANES + lane]
        gradient[i + c] -= g
        gradient[f + c] += g
    gradient[turn_b] += lanes[(GRADIENT + 7) * LANES + lane]
    at = LOCAL * LANES + lane
    for m in range(66):
        values[of[e, m]] += lanes[at]
        at += LANES


@part
def add_arm(
    gradient: Array, values: Array, of: Ints, lanes: Array, lane: int, e: int,
    near: int, far: int, theta: int, w: int, out: bool,
    t: Vector, length: float, small: Array, local: Array, exact: bool,
) -> None:  # fmt: skip
    """Adds the element between a joint's frame and an edge with tangent t, which begins there (`out`) or ends there. Numbers are
    those of unknowns."""
    sign = 1.0 if out else -1.0  # e = sign (x_far - x_near)
    v = (length * t[0], length * t[1], length * t[2])
    k = LANES
    at = LOCAL * LANES + lane
    along, across = 0.0, 0.0
    if out:
        along, across = lanes[ALONG * LANES + lane], lanes[ACROSS * LANES + lane]
        g0, g1 = lanes[(GRADIENT + 4) * k + lane], lanes[(GRADIENT + 5) * k + lane]
        g2, gt = lanes[(GRADIENT + 6) * k + lane], lanes[(GRADIENT + 7) * k + lane]
        h00, h10, h20 = lanes[at + 60 * k], lanes[at + 61 * k], lanes[at + 62 * k]
        h11, h21, h22 = lanes[at + 63 * k], lanes[at + 64 * k], lanes[at + 65 * k]
        # These contain the stretching of the edge, which knows nothing of the joint.
        h00, h11, h22 = h00 - across, h11 - across, h22 - across
        h00, h11, h22 = h00 - along * t[0] * t[0], h11 - along * t[1] * t[1], h22 - along * t[2] * t[2]
        h10, h20, h21 = h10 - along * t[1] * t[0], h20 - along * t[2] * t[0], h21 - along * t[2] * t[1]
        p0, p1, p2 = lanes[at + 57 * k], lanes[at + 58 * k], lanes[at + 59 * k]
        tt = lanes[at + 56 * k]
    else:
        g0, g1 = lanes[GRADIENT * k + lane], lanes[(GRADIENT + 1) * k + lane]
        g2, gt = lanes[(GRADIENT + 2) * k + lane], lanes[(GRADIENT + 3) * k + lane]
        h00, h10, h20 = lanes[at], lanes[at + k], lanes[at + 2 * k]
        h11, h21, h22 = lanes[at + 11 * k], lanes[at + 12 * k], lanes[at + 21 * k]
        p0, p1, p2 = -lanes[at + 3 * k], -lanes[at + 13 * k], -lanes[at + 22 * k]
        tt = lanes[at + 30 * k]
    g = (g0, g1, g2)
    # Gradient: moments and forces balance.
    moment = cross(v, g)
    for c in range(3):
        gradient[w + c] -= moment[c] + t[c] * gt
        gradient[far + c] += sign * g[c]
        gradient[near + c] -= sign * g[c]
    gradient[theta] += gt
    # small: rows omega (3), e (3), theta; first H in e and theta.
    small[3, 3], small[4, 3], small[5, 3], small[6, 3] = h00, h10, h20, p0
    small[3, 4], small[4, 4], small[5, 4], small[6, 4] = h10, h11, h21, p1
    small[3, 5], small[4, 5], small[5, 5], small[6, 5] = h20, h21, h22, p2
    small[3, 6], small[4, 6], small[5, 6], small[6, 6] = p0, p1, p2, tt
    # J^T u = -v x u_e - t u_theta, for each column of H; then for the columns of J.
    for c in range(3, 7):
        y = cross(v, (small[3, c], small[4, c], small[5, c]))
        for s in range(3):
            small[s, c] = -y[s] - t[s] * small[6, c]
    for s in range(3):
        y = cross(v, (small[s, 3], small[s, 4], small[s, 5]))
        for c in range(3):
            small[s, c] = -y[c] - t[c] * small[s, 6]
    if exact:
        product = dot(g, v)
        q = 0.5 * gt / length
        for s in range(3):
            for c in range(3):
                small[s, c] += 0.5 * (g[s] * v[c] + v[s] * g[c])
                small[s, 3 + c] += q * t[s] * t[c]
            small[s, s] -= product
            small[s, 3 + s] -= q
        small[0, 4] -= g2
        small[0, 5] += g1
        small[1, 3] += g2
        small[1, 5] -= g0
        small[2, 3] -= g1
        small[2, 4] += g0
    # local: omega, x_near, theta, x_far.
    for s in range(3):
        for c in range(3):
            hs = small[3 + max(s, c), 3 + min(s, c)] + along * t[s] * t[c] + (across if s == c else 0.0)
            local[s, c] = small[s, c]
            local[3 + s, c] = -sign * small[c, 3 + s]
            local[7 + s, c] = sign * small[c, 3 + s]
            local[3 + s, 3 + c] = hs
            local[7 + s, 3 + c] = -hs
            local[7 + s, 7 + c] = hs
        local[6, s] = small[s, 6]
        local[6, 3 + s] = -sign * small[6, 3 + s]
        local[7 + s, 6] = sign * small[6, 3 + s]
    local[6, 6] = tt
    m = 0
    for c in range(10):
        for s in range(c, 10):
            values[of[e, m]] += local[s, c]
            m += 1
