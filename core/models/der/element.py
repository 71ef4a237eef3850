"""One bending-and-twisting element between two edges a and b: energy, gradient, Hessian in (e_a, theta_a, e_b, theta_b).

Formulas of the discrete elastic rod for extensible edges, in the notation of the papers: t are tangents, d1 d2 material
directors, kb the curvature binormal (1), chi = 1 + t_a.t_b, tt = (t_a + t_b) / chi. All derivatives are taken where frames
are transported from: at the iterate itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import Array
from ...geometry.frames import Vector, cross, dot
from ...jit import kernel

# A corner sharper than this has no usable curvature; whoever meets one rejects the step that led there.
LEAST_CHI = 1e-4


class Scratch(NamedTuple):
    """Where a worker writes an element's derivatives. Separate arrays, so that the compiler sees that they don't overlap."""

    gradient: Array  # (8,)
    hessian: Array  # (64,) 8 x 8, of which the lower triangle counts
    strains: Array  # (40,) gradients of the five strains
    vectors: Array  # (27,) nine vectors on the way
    local: Array  # (132,) the Hessian in x_p theta_p x_i theta_i x_f: 11 columns of 12


def make_scratch() -> Scratch:
    return Scratch(np.zeros(8), np.zeros(64), np.zeros(40), np.zeros(27), np.zeros(132))


@kernel
def curvatures(
    ta: Vector, d1a: Vector, d2a: Vector, tb: Vector, d1b: Vector, d2b: Vector
) -> tuple[float, float, float, float, float]:
    """The material curvatures (2) in both edges' frames, and chi. The curvature binormal (1) has magnitude 2 tan(phi / 2)."""
    chi = 1.0 + dot(ta, tb)
    c = cross(ta, tb)
    f = 2.0 / max(chi, LEAST_CHI)
    kb = (f * c[0], f * c[1], f * c[2])
    return dot(kb, d2a), -dot(kb, d1a), dot(kb, d2b), -dot(kb, d1b), chi


@kernel
def element_derivatives(
    ta: Vector,
    d1a: Vector,
    d2a: Vector,
    ia: float,
    tb: Vector,
    d1b: Vector,
    d2b: Vector,
    ib: float,
    strain: Array,
    k: Array,
    rest: Array,
    star: Array,
    weight: float,
    w: Scratch,
    exact: bool,
) -> float:
    """Returns the energy; writes gradient and Hessian (of which the lower triangle counts) into scratch w. ia, ib are 1/|e|.

    Kelvin-Voigt damping only changes constants: a strain rate (strain - star) / h adds `weight` = damping time / h times it to
    the strain that makes the stress.
    """
    chi = 1.0 + dot(ta, tb)
    f = 1.0 / chi
    f2 = 2.0 * f
    axis = cross(ta, tb)
    kb = (f2 * axis[0], f2 * axis[1], f2 * axis[2])
    tt = ((ta[0] + tb[0]) * f, (ta[1] + tb[1]) * f, (ta[2] + tb[2]) * f)

    scale = 1.0 + weight
    energy = 0.0
    g = w.strains
    o0, o1, o2, o3 = strain[0], strain[1], strain[2], strain[3]
    s0 = k[0] * (scale * o0 - rest[0] - weight * star[0])
    s1 = k[1] * (scale * o1 - rest[1] - weight * star[1])
    s2 = k[2] * (scale * o2 - rest[2] - weight * star[2])
    s3 = k[3] * (scale * o3 - rest[3] - weight * star[3])
    s4 = k[4] * (scale * strain[4] - rest[4] - weight * star[4])
    for c in range(5):
        elastic = strain[c] - rest[c]
        viscous = strain[c] - star[c]
        energy += 0.5 * k[c] * (elastic * elastic + weight * viscous * viscous)

    # Gradients of the curvatures: (-omega tt + 2 t_other x d / chi) / |e|.
    d = (-d1a[0], -d1a[1], -d1a[2])
    _curvature_gradient(ta, tb, d2a, o0, tt, f2, ia, ib, g, 0)
    _curvature_gradient(ta, tb, d, o1, tt, f2, ia, ib, g, 8)
    d = (-d1b[0], -d1b[1], -d1b[2])
    _curvature_gradient(ta, tb, d2b, o2, tt, f2, ia, ib, g, 16)
    _curvature_gradient(ta, tb, d, o3, tt, f2, ia, ib, g, 24)
    # Turning the frame by theta: d omega1 = omega2, d omega2 = -omega1.
    g[3], g[7] = o1, 0.0
    g[11], g[15] = -o0, 0.0
    g[19], g[23] = 0.0, o3
    g[27], g[31] = 0.0, -o2
    # Twist: kb / (2 |e|).
    g[32], g[33], g[34] = 0.5 * kb[0] * ia, 0.5 * kb[1] * ia, 0.5 * kb[2] * ia
    g[36], g[37], g[38] = 0.5 * kb[0] * ib, 0.5 * kb[1] * ib, 0.5 * kb[2] * ib
    g[35], g[39] = -1.0, 1.0

    gradient = w.gradient
    for c in range(8):
        gradient[c] = s0 * g[c] + s1 * g[8 + c] + s2 * g[16 + c] + s3 * g[24 + c] + s4 * g[32 + c]
    h = w.hessian
    k0, k1, k2, k3, k4 = k[0] * scale, k[1] * scale, k[2] * scale, k[3] * scale, k[4] * scale
    for r in range(8):
        x0, x1, x2, x3, x4 = k0 * g[r], k1 * g[8 + r], k2 * g[16 + r], k3 * g[24 + r], k4 * g[32 + r]
        for c in range(8):
            h[8 * r + c] = x0 * g[c] + x1 * g[8 + c] + x2 * g[16 + c] + x3 * g[24 + c] + x4 * g[32 + c]
    if exact:
        mua = (s0 * d2a[0] - s1 * d1a[0], s0 * d2a[1] - s1 * d1a[1], s0 * d2a[2] - s1 * d1a[2])
        mub = (s2 * d2b[0] - s3 * d1b[0], s2 * d2b[1] - s3 * d1b[1], s2 * d2b[2] - s3 * d1b[2])
        _add_second_derivatives(ta, ia, tb, ib, f, kb, tt, mua, mub, s4, h, w.vectors)
        # d2/dtheta de: turning the frame exchanges the curvatures' gradients; d2/dtheta2.
        for c in range(3):
            h[24 + c] += s0 * g[8 + c] - s1 * g[c]
            h[8 * c + 35] += s0 * g[12 + c] - s1 * g[4 + c]
            h[56 + c] += s2 * g[24 + c] - s3 * g[16 + c]
            h[60 + c] += s2 * g[28 + c] - s3 * g[20 + c]
        h[27] -= s0 * o0 + s1 * o1
        h[63] -= s2 * o2 + s3 * o3
    return energy


@kernel
def _curvature_gradient(
    ta: Vector, tb: Vector, d: Vector, o: float, tt: Vector, f2: float, ia: float, ib: float, g: Array, at: int
) -> None:
    pa = cross(tb, d)
    pb = cross(ta, d)
    g[at] = (f2 * pa[0] - o * tt[0]) * ia
    g[at + 1] = (f2 * pa[1] - o * tt[1]) * ia
    g[at + 2] = (f2 * pa[2] - o * tt[2]) * ia
    g[at + 4] = (-f2 * pb[0] - o * tt[0]) * ib
    g[at + 5] = (-f2 * pb[1] - o * tt[1]) * ib
    g[at + 6] = (-f2 * pb[2] - o * tt[2]) * ib


@kernel
def _add_second_derivatives(
    ta: Vector,
    ia: float,
    tb: Vector,
    ib: float,
    f: float,
    kb: Vector,
    tt: Vector,
    mua: Vector,
    mub: Vector,
    s4: float,
    h: Array,
    x: Array,
) -> None:
    """Adds stress times the second derivatives of the strains in e_a and e_b to h. x is scratch for vectors.

    Curvatures are linear in the directors, so the four of them are done at once with one director weighted by the stresses:
    mua, mub for the two edges' frames. With D = 2 (mua + mub) / chi and o = kb.D / 2 these are, for the curvatures,
        aa: [2 chi o tt tt - sym(t_b x D, tt) - o (1 - t_a t_a) + sym(kb, mua) / 2] / |e_a|^2,  bb likewise with -t_a x D,
        ba: [2 chi o tt tt - tt (t_b x D) + (t_a x D) tt - o (1 + t_b t_a) + [D]x] / |e_a||e_b|,
    and for the twist -sym(kb, t + tt) / 4|e|^2 and -(tt kb / 2 + [t_a]x / chi) / |e_a||e_b|.
    """
    dd = (2.0 * f * (mua[0] + mub[0]), 2.0 * f * (mua[1] + mub[1]), 2.0 * f * (mua[2] + mub[2]))
    o = 0.5 * dot(kb, dd)
    pa = cross(tb, dd)
    pb = cross(ta, dd)
    aa, bb, ab = ia * ia, ib * ib, ia * ib
    k = o / f
    q = 0.25 * s4
    # Vectors in memory: x[0:3] is tt, x[3:6] za, and so on, so that loops can index them.
    x[0], x[1], x[2] = tt
    x[3], x[4], x[5] = k * tt[0] - pa[0], k * tt[1] - pa[1], k * tt[2] - pa[2]
    x[6], x[7], x[8] = k * tt[0] + pb[0], k * tt[1] + pb[1], k * tt[2] + pb[2]
    x[9], x[10], x[11] = kb
    x[12] = 0.5 * mua[0] - q * (ta[0] + tt[0])
    x[13] = 0.5 * mua[1] - q * (ta[1] + tt[1])
    x[14] = 0.5 * mua[2] - q * (ta[2] + tt[2])
    x[15] = 0.5 * mub[0] - q * (tb[0] + tt[0])
    x[16] = 0.5 * mub[1] - q * (tb[1] + tt[1])
    x[17] = 0.5 * mub[2] - q * (tb[2] + tt[2])
    x[18], x[19], x[20] = ta
    x[21], x[22], x[23] = tb
    x[24], x[25], x[26] = x[3] - 2.0 * q * kb[0], x[4] - 2.0 * q * kb[1], x[5] - 2.0 * q * kb[2]
    for r in range(3):
        tr, za, zb, kr, ya, yb, ar, br = x[r], x[3 + r], x[6 + r], x[9 + r], x[12 + r], x[15 + r], x[18 + r], x[21 + r]
        for c in range(3):
            h[8 * r + c] += aa * (tr * x[3 + c] + za * x[c] + kr * x[12 + c] + ya * x[9 + c] + o * ar * x[18 + c])
            h[8 * r + c + 36] += bb * (tr * x[6 + c] + zb * x[c] + kr * x[15 + c] + yb * x[9 + c] + o * br * x[21 + c])
            h[8 * r + c + 32] += ab * (tr * x[24 + c] + zb * x[c] - o * br * x[18 + c])
        h[9 * r] -= aa * o
        h[9 * r + 36] -= bb * o
        h[9 * r + 32] -= ab * o
    dx = ab * (dd[0] - s4 * f * ta[0])
    dy = ab * (dd[1] - s4 * f * ta[1])
    dz = ab * (dd[2] - s4 * f * ta[2])
    h[33] -= dz
    h[34] += dy
    h[40] += dz
    h[42] -= dx
    h[48] -= dy
    h[49] += dx


@kernel
def to_vertices(w: Scratch) -> None:
    """The Hessian in x_p theta_a x_i theta_b x_f (11 x 11) from that in e_a = x_i - x_p, e_b = x_f - x_i.

    Only the lower triangle is read and written. Entry (row, column) of the result stands at w.local[12 column + row].
    """
    h = w.hessian
    m = w.local
    for r in range(3):
        for c in range(3):
            ba = h[8 * r + c + 32]
            aa = h[8 * max(r, c) + min(r, c)]
            bb = h[8 * max(r, c) + min(r, c) + 36]
            m[12 * c + r] = aa
            m[12 * c + r + 4] = ba - aa
            m[12 * c + r + 8] = -ba
            m[12 * c + r + 52] = aa - ba - h[8 * c + r + 32] + bb
            m[12 * c + r + 56] = ba - bb
            m[12 * c + r + 104] = bb
        a3, b3, a7, b7 = h[24 + r], h[8 * r + 35], h[56 + r], h[60 + r]
        m[12 * r + 3] = -a3
        m[40 + r] = a3 - b3
        m[44 + r] = b3
        m[12 * r + 7] = -a7
        m[12 * r + 55] = a7 - b7
        m[92 + r] = b7
    m[39] = h[27]
    m[43] = h[59]
    m[91] = h[63]
