"""One bending-and-twisting element between two edges a and b: energy, gradient, Hessian in (e_a, theta_a, e_b, theta_b).

Formulas of the discrete elastic rod for extensible edges, in the notation of the papers: t are tangents, d1 d2 material
directors, kb the curvature binormal (1), chi = 1 + t_a.t_b, tt = (t_a + t_b) / chi. All derivatives are taken where frames
are transported from: at the iterate itself.
"""

from __future__ import annotations

from ...geometry.frames import cross, dot
from ...jit import kernel

# A corner sharper than this has no usable curvature; whoever meets one rejects the step that led there.
LEAST_CHI = 1e-4

# Where an element's derivatives lie in the scratch array: its gradient (8), Hessian (8 x 8), the strains' gradients (5 x 8),
# and the Hessian in the unknowns of its vertices and edges x_p theta_p x_i theta_i x_f (11 x 11).
HESSIAN = 8
STRAIN_GRADIENTS = HESSIAN + 64
LOCAL = STRAIN_GRADIENTS + 40


@kernel
def curvatures(ta, d1a, d2a, tb, d1b, d2b):  # type: ignore[no-untyped-def]
    """The material curvatures (2) in both edges' frames, and chi. The curvature binormal (1) has magnitude 2 tan(phi / 2)."""
    chi = 1.0 + dot(ta, tb)
    c = cross(ta, tb)
    f = 2.0 / max(chi, LEAST_CHI)
    kb = (f * c[0], f * c[1], f * c[2])
    return dot(kb, d2a), -dot(kb, d1a), dot(kb, d2b), -dot(kb, d1b), chi


@kernel
def element_derivatives(ta, d1a, d2a, ia, tb, d1b, d2b, ib, strain, k, rest, star, weight, w, exact):  # type: ignore[no-untyped-def]
    """Returns the energy; writes gradient and Hessian (lower triangle) into scratch w. ia, ib are 1/|e|.

    Kelvin-Voigt damping only changes constants: a strain rate (strain - star) / h adds `weight` = damping time / h times it to
    the strain that makes the stress.
    """
    chi = 1.0 + dot(ta, tb)
    f = 1.0 / chi
    f2 = 2.0 * f
    c = cross(ta, tb)
    kb = (f2 * c[0], f2 * c[1], f2 * c[2])
    tt = ((ta[0] + tb[0]) * f, (ta[1] + tb[1]) * f, (ta[2] + tb[2]) * f)

    scale = 1.0 + weight
    energy = 0.0
    g = w[STRAIN_GRADIENTS:]
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

    for c in range(8):
        w[c] = s0 * g[c] + s1 * g[8 + c] + s2 * g[16 + c] + s3 * g[24 + c] + s4 * g[32 + c]
    h = w[HESSIAN:]
    k0, k1, k2, k3, k4 = k[0] * scale, k[1] * scale, k[2] * scale, k[3] * scale, k[4] * scale
    for r in range(8):
        x0, x1, x2, x3, x4 = k0 * g[r], k1 * g[8 + r], k2 * g[16 + r], k3 * g[24 + r], k4 * g[32 + r]
        for c in range(8):
            h[8 * r + c] = x0 * g[c] + x1 * g[8 + c] + x2 * g[16 + c] + x3 * g[24 + c] + x4 * g[32 + c]
    if exact:
        mua = (s0 * d2a[0] - s1 * d1a[0], s0 * d2a[1] - s1 * d1a[1], s0 * d2a[2] - s1 * d1a[2])
        mub = (s2 * d2b[0] - s3 * d1b[0], s2 * d2b[1] - s3 * d1b[1], s2 * d2b[2] - s3 * d1b[2])
        _add_second_derivatives(ta, ia, tb, ib, f, kb, tt, mua, mub, s4, h)
        # d2/dtheta de: turning the frame exchanges the curvatures' gradients; d2/dtheta2.
        for c in range(8):
            if c != 3 and c != 7:
                ha = s0 * g[8 + c] - s1 * g[c]
                hb = s2 * g[24 + c] - s3 * g[16 + c]
                h[24 + c] += ha
                h[8 * c + 3] += ha
                h[56 + c] += hb
                h[8 * c + 7] += hb
        h[27] -= s0 * o0 + s1 * o1
        h[63] -= s2 * o2 + s3 * o3
    return energy


@kernel
def _curvature_gradient(ta, tb, d, o, tt, f2, ia, ib, g, at):  # type: ignore[no-untyped-def]
    pa = cross(tb, d)
    pb = cross(ta, d)
    g[at] = (f2 * pa[0] - o * tt[0]) * ia
    g[at + 1] = (f2 * pa[1] - o * tt[1]) * ia
    g[at + 2] = (f2 * pa[2] - o * tt[2]) * ia
    g[at + 4] = (-f2 * pb[0] - o * tt[0]) * ib
    g[at + 5] = (-f2 * pb[1] - o * tt[1]) * ib
    g[at + 6] = (-f2 * pb[2] - o * tt[2]) * ib


@kernel
def _add_second_derivatives(ta, ia, tb, ib, f, kb, tt, mua, mub, s4, h):  # type: ignore[no-untyped-def]
    """Adds stress times the second derivatives of the strains in e_a and e_b to h.

    Curvatures are linear in the directors, so the four of them are done at once with one director weighted by the stresses:
    mua, mub for the two edges' frames.
    """
    dd = (2.0 * f * (mua[0] + mub[0]), 2.0 * f * (mua[1] + mub[1]), 2.0 * f * (mua[2] + mub[2]))
    of = 0.5 * dot(kb, dd)  # stress . omega / chi
    o2 = 2.0 * of / f
    pa = cross(tb, dd)
    pb = cross(ta, dd)
    aa = ia * ia
    bb = ib * ib
    ab = ia * ib
    q4 = 0.25 * s4
    for r in range(3):
        for c in range(3):
            outer = o2 * tt[r] * tt[c]
            # d2/de_a2, d2/de_b2; twist: -sym(kb, t + tt) / (4 |e|^2)
            h[8 * r + c] += aa * (
                outer
                - (pa[r] * tt[c] + tt[r] * pa[c])
                + of * ta[r] * ta[c]
                + 0.5 * (kb[r] * mua[c] + mua[r] * kb[c])
                - q4 * (kb[r] * (ta[c] + tt[c]) + (ta[r] + tt[r]) * kb[c])
            )
            h[8 * r + c + 36] += bb * (
                outer
                + (pb[r] * tt[c] + tt[r] * pb[c])
                + of * tb[r] * tb[c]
                + 0.5 * (kb[r] * mub[c] + mub[r] * kb[c])
                - q4 * (kb[r] * (tb[c] + tt[c]) + (tb[r] + tt[r]) * kb[c])
            )
            # d2/de_b de_a, row of e_b, column of e_a; what is left of it follows below
            ba = ab * (
                outer - of * tb[r] * ta[c] - tt[r] * pa[c] + pb[r] * tt[c] - 0.5 * s4 * tt[r] * kb[c]
            )
            h[8 * (r + 4) + c] += ba
            h[8 * c + r + 4] += ba
        h[9 * r] -= aa * of
        h[9 * r + 36] -= bb * of
        h[8 * (r + 4) + r] -= ab * of
        h[8 * r + r + 4] -= ab * of
    # -[dd]x of the curvatures and (1/chi) [t_a]x of the twist, transposed because rows belong to e_b.
    x = ab * (dd[0] - s4 * f * ta[0])
    y = ab * (dd[1] - s4 * f * ta[1])
    z = ab * (dd[2] - s4 * f * ta[2])
    h[33] -= z
    h[34] += y
    h[40] += z
    h[42] -= x
    h[48] -= y
    h[49] += x
    h[12] -= z
    h[20] += y
    h[5] += z
    h[21] -= x
    h[6] -= y
    h[14] += x


@kernel
def to_vertices(w):  # type: ignore[no-untyped-def]
    """The Hessian in x_p theta_a x_i theta_b x_f (11 x 11, in w[LOCAL:]) from that in e_a = x_i - x_p, e_b = x_f - x_i."""
    h = w[HESSIAN:]
    m = w[LOCAL:]
    for r in range(3):
        for c in range(3):
            aa, ab, ba, bb = h[8 * r + c], h[8 * r + c + 4], h[8 * r + c + 32], h[8 * r + c + 36]
            m[11 * r + c] = aa
            m[11 * (r + 4) + c] = ba - aa
            m[11 * (r + 8) + c] = -ba
            m[11 * (r + 4) + c + 4] = aa - ab - ba + bb
            m[11 * (r + 8) + c + 4] = ba - bb
            m[11 * (r + 8) + c + 8] = bb
        a3, b3, a7, b7 = h[24 + r], h[28 + r], h[56 + r], h[60 + r]
        m[33 + r] = -a3
        m[11 * (r + 4) + 3] = a3 - b3
        m[11 * (r + 8) + 3] = b3
        m[77 + r] = -a7
        m[77 + 4 + r] = a7 - b7
        m[11 * (r + 8) + 7] = b7
    m[33 + 3] = h[27]
    m[77 + 3] = h[59]
    m[77 + 7] = h[63]
