"""Bending-and-twisting elements, one in each lane: energy, gradient, Hessian.

An element lies between two edges a and b (or an edge and a held frame). Its derivatives are those of the discrete elastic rod for
extensible edges, in the notation of the papers: t are tangents, d1 d2 material directors, kb the curvature binormal (1),
chi = 1 + t_a.t_b, tt = (t_a + t_b) / chi. They are taken where frames are transported from: at the iterate itself.

In the lanes are elements of one rod or net, one after the other, or the same element of several rods; see `compile/lanes.py`.
"""

from __future__ import annotations

import numpy as np

from ...compile.jit import part
from ...compile.lanes import LANES, align_stack
from ...errors import Array
from ...maths.geometry.frames import Vector, cross, dot

Five = tuple[float, float, float, float, float]

# A corner sharper than this has no usable curvature; whoever meets one rejects the step that led there.
LEAST_CHI = 1e-4

# Rows of the lanes' array. In: tangents and directors of the two sides, 1 / |e| (zero for a held frame), whether theta is an
# unknown (1 or 0), the five strains, their stiffnesses, their natural values, their values * for the damping.
TA, D1A, D2A, TB, D1B, D2B = 0, 3, 6, 9, 12, 15
IA, IB, MA, MB = 18, 19, 20, 21
STRAIN, STIFFNESS, REST, STAR = 22, 27, 32, 37
# Stretching of edge b: the Hessian's stiffness along it (less that across) and across it.
ALONG, ACROSS = 42, 43
# Out: energy; gradient in e_a theta_a e_b theta_b; Hessian in x_p theta_a x_i theta_b x_f, column by column of its lower triangle.
ENERGY, GRADIENT, LOCAL = 44, 45, 53
PLACE = 119  # number of the element, kept by the callers that fill the lanes
ROWS = 120


def make_lanes() -> Array:
    array = np.zeros((ROWS, LANES))
    array[TA] = array[TB] = 1.0  # lanes that are never filled compute something harmless
    return array


@part
def curvatures(
    ta: Vector, ua: Vector, d1a: Vector, d2a: Vector, tb: Vector, d1b: Vector, d2b: Vector
) -> tuple[float, float, float, float, float, Vector]:
    """The material curvatures (2) in both edges' frames, chi, and the reference director u_a transported to edge b.

    The curvature binormal (1) has magnitude 2 tan(phi / 2).
    """
    c = dot(ta, tb)
    chi = 1.0 + c
    b = cross(ta, tb)
    f = 1.0 / max(chi, LEAST_CHI)
    kb = (2.0 * f * b[0], 2.0 * f * b[1], 2.0 * f * b[2])
    w = cross(b, ua)
    k = f * dot(b, ua)
    u = (c * ua[0] + w[0] + k * b[0], c * ua[1] + w[1] + k * b[1], c * ua[2] + w[2] + k * b[2])
    return dot(kb, d2a), -dot(kb, d1a), dot(kb, d2b), -dot(kb, d1b), chi, u


@part
def _load(x: Array, row: int) -> Vector:
    return (x[row], x[row + 1], x[row + 2])


@part
def _scaled(f: float, a: Vector) -> Vector:
    return (f * a[0], f * a[1], f * a[2])


@part
def _plus(f: float, a: Vector, g: float, b: Vector) -> Vector:
    return (f * a[0] + g * b[0], f * a[1] + g * b[1], f * a[2] + g * b[2])


@part
def _rows(a: Vector, b: Vector, c: Vector, d: Vector, e: Vector) -> tuple[Five, Five, Five]:
    """The x, y and z components of five vectors."""
    return (
        (a[0], b[0], c[0], d[0], e[0]),
        (a[1], b[1], c[1], d[1], e[1]),
        (a[2], b[2], c[2], d[2], e[2]),
    )


@part
def _times(k0: float, k1: float, k2: float, k3: float, k4: float, a: Five) -> Five:
    return (k0 * a[0], k1 * a[1], k2 * a[2], k3 * a[3], k4 * a[4])


@part
def _dot5(a: Five, b: Five) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4]


@part
def element_lanes(x: Array, weight: float, exact: float) -> None:
    """Fills the rows ENERGY ... of all lanes.

    `exact` is 1 for the true Hessian, 0 for its positive semidefinite part (Gauss-Newton). Kelvin-Voigt damping only changes
    constants: a strain rate (strain - star) / h adds `weight` = damping time / h times it to the strain that makes the stress.
    """
    align_stack()
    scale = 1.0 + weight
    ta, d1a, d2a = _load(x, TA), _load(x, D1A), _load(x, D2A)
    tb, d1b, d2b = _load(x, TB), _load(x, D1B), _load(x, D2B)
    ia, ib, ma, mb = x[IA], x[IB], x[MA], x[MB]
    o0, o1, o2 = _load(x, STRAIN)
    o3, o4 = x[STRAIN + 3], x[STRAIN + 4]
    k0, k1, k2 = _load(x, STIFFNESS)
    k3, k4 = x[STIFFNESS + 3], x[STIFFNESS + 4]
    e0, e1, e2 = _load(x, REST)
    e3, e4 = x[REST + 3], x[REST + 4]
    v0, v1, v2 = _load(x, STAR)
    v3, v4 = x[STAR + 3], x[STAR + 4]
    e0, e1, e2, e3, e4 = o0 - e0, o1 - e1, o2 - e2, o3 - e3, o4 - e4
    v0, v1, v2, v3, v4 = o0 - v0, o1 - v1, o2 - v2, o3 - v3, o4 - v4
    x[ENERGY] = 0.5 * (
        k0 * (e0 * e0 + weight * v0 * v0)
        + k1 * (e1 * e1 + weight * v1 * v1)
        + k2 * (e2 * e2 + weight * v2 * v2)
        + k3 * (e3 * e3 + weight * v3 * v3)
        + k4 * (e4 * e4 + weight * v4 * v4)
    )
    s0, s1, s2 = k0 * (e0 + weight * v0), k1 * (e1 + weight * v1), k2 * (e2 + weight * v2)
    s3, s4 = k3 * (e3 + weight * v3), k4 * (e4 + weight * v4)

    f = 1.0 / (1.0 + dot(ta, tb))
    kb = _scaled(2.0 * f, cross(ta, tb))
    tt = _plus(f, ta, f, tb)

    # Gradients of the curvatures in e_a, e_b: (-omega tt + 2 t_other x d / chi) / |e|. In theta: d omega1 = omega2,
    # d omega2 = -omega1. Of the twist: kb / (2 |e|), -1, 1.
    fa, fb = 2.0 * f * ia, -2.0 * f * ib
    a0, b0 = _plus(fa, cross(tb, d2a), -o0 * ia, tt), _plus(fb, cross(ta, d2a), -o0 * ib, tt)
    a1, b1 = _plus(-fa, cross(tb, d1a), -o1 * ia, tt), _plus(-fb, cross(ta, d1a), -o1 * ib, tt)
    a2, b2 = _plus(fa, cross(tb, d2b), -o2 * ia, tt), _plus(fb, cross(ta, d2b), -o2 * ib, tt)
    a3, b3 = _plus(-fa, cross(tb, d1b), -o3 * ia, tt), _plus(-fb, cross(ta, d1b), -o3 * ib, tt)
    a4, b4 = _scaled(0.5 * ia, kb), _scaled(0.5 * ib, kb)
    x[GRADIENT] = s0 * a0[0] + s1 * a1[0] + s2 * a2[0] + s3 * a3[0] + s4 * a4[0]
    x[GRADIENT + 1] = s0 * a0[1] + s1 * a1[1] + s2 * a2[1] + s3 * a3[1] + s4 * a4[1]
    x[GRADIENT + 2] = s0 * a0[2] + s1 * a1[2] + s2 * a2[2] + s3 * a3[2] + s4 * a4[2]
    x[GRADIENT + 3] = ma * (s0 * o1 - s1 * o0 - s4)
    x[GRADIENT + 4] = s0 * b0[0] + s1 * b1[0] + s2 * b2[0] + s3 * b3[0] + s4 * b4[0]
    x[GRADIENT + 5] = s0 * b0[1] + s1 * b1[1] + s2 * b2[1] + s3 * b3[1] + s4 * b4[1]
    x[GRADIENT + 6] = s0 * b0[2] + s1 * b1[2] + s2 * b2[2] + s3 * b3[2] + s4 * b4[2]
    x[GRADIENT + 7] = mb * (s2 * o3 - s3 * o2 + s4)

    # Gauss-Newton: the sum of k g g^T over the strains, damping included. ax: the five x-components in e_a; kax: those times k.
    k0, k1, k2, k3, k4 = scale * k0, scale * k1, scale * k2, scale * k3, scale * k4
    ax, ay, az = _rows(a0, a1, a2, a3, a4)
    bx, by, bz = _rows(b0, b1, b2, b3, b4)
    kax, kay, kaz = _times(k0, k1, k2, k3, k4, ax), _times(k0, k1, k2, k3, k4, ay), _times(k0, k1, k2, k3, k4, az)
    kbx, kby, kbz = _times(k0, k1, k2, k3, k4, bx), _times(k0, k1, k2, k3, k4, by), _times(k0, k1, k2, k3, k4, bz)

    # Second derivatives times stress. Curvatures are linear in the directors, so the four of them are done at once with the
    # directors weighted by the stresses, mua and mub. With D = 2 (mua + mub) / chi and o = kb.D / 2:
    #   aa: [2 chi o tt tt - sym(t_b x D, tt) - o (1 - t_a t_a) + sym(kb, mua) / 2] / |e_a|^2, bb likewise with -t_a x D,
    #   ba: [2 chi o tt tt - tt (t_b x D) + (t_a x D) tt - o (1 + t_b t_a) + [D]x] / |e_a||e_b|,
    # and for the twist -sym(kb, t + tt) / 4|e|^2 and -(tt kb / 2 + [t_a]x / chi) / |e_a||e_b|.
    mua, mub = _plus(exact * s0, d2a, -exact * s1, d1a), _plus(exact * s2, d2b, -exact * s3, d1b)
    dd = _plus(2.0 * f, mua, 2.0 * f, mub)
    q = 0.25 * exact * s4
    o = 0.5 * dot(kb, dd)
    k = o / f
    za, zb = _plus(k, tt, -1.0, cross(tb, dd)), _plus(k, tt, 1.0, cross(ta, dd))
    ya = _plus(0.5, mua, -q, _plus(1.0, ta, 1.0, tt))
    yb = _plus(0.5, mub, -q, _plus(1.0, tb, 1.0, tt))
    zk = _plus(1.0, za, -2.0 * q, kb)
    aa, bb, ab = ia * ia, ib * ib, ia * ib
    dx, dy, dz = _plus(ab, dd, -4.0 * ab * q * f, ta)

    # Each block is a sum of outer products: left factors l, right factors r.
    lax, lay, laz = _rows(_scaled(aa, tt), _scaled(aa, za), _scaled(aa, kb), _scaled(aa, ya), _scaled(aa * o, ta))
    rax, ray, raz = _rows(za, tt, ya, kb, ta)
    lbx, lby, lbz = _rows(_scaled(bb, tt), _scaled(bb, zb), _scaled(bb, kb), _scaled(bb, yb), _scaled(bb * o, tb))
    rbx, rby, rbz = _rows(zb, tt, yb, kb, tb)
    zero = (0.0, 0.0, 0.0)
    lcx, lcy, lcz = _rows(_scaled(ab, tt), _scaled(ab, zb), _scaled(-ab * o, tb), zero, zero)
    rcx, rcy, rcz = _rows(zk, tt, ta, zero, zero)

    # aa and bb (six entries each), ba (nine); with the stretching of edge b.
    along, across = x[ALONG], x[ACROSS]
    wx, wy, wz = _scaled(along, tb)
    aa00 = _dot5(kax, ax) + _dot5(lax, rax) - aa * o
    aa10 = _dot5(kay, ax) + _dot5(lay, rax)
    aa11 = _dot5(kay, ay) + _dot5(lay, ray) - aa * o
    aa20 = _dot5(kaz, ax) + _dot5(laz, rax)
    aa21 = _dot5(kaz, ay) + _dot5(laz, ray)
    aa22 = _dot5(kaz, az) + _dot5(laz, raz) - aa * o
    bb00 = _dot5(kbx, bx) + _dot5(lbx, rbx) - bb * o + wx * tb[0] + across
    bb10 = _dot5(kby, bx) + _dot5(lby, rbx) + wy * tb[0]
    bb11 = _dot5(kby, by) + _dot5(lby, rby) - bb * o + wy * tb[1] + across
    bb20 = _dot5(kbz, bx) + _dot5(lbz, rbx) + wz * tb[0]
    bb21 = _dot5(kbz, by) + _dot5(lbz, rby) + wz * tb[1]
    bb22 = _dot5(kbz, bz) + _dot5(lbz, rbz) - bb * o + wz * tb[2] + across
    ba00 = _dot5(kbx, ax) + _dot5(lcx, rcx) - ab * o
    ba01 = _dot5(kbx, ay) + _dot5(lcx, rcy) - dz
    ba02 = _dot5(kbx, az) + _dot5(lcx, rcz) + dy
    ba10 = _dot5(kby, ax) + _dot5(lcy, rcx) + dz
    ba11 = _dot5(kby, ay) + _dot5(lcy, rcy) - ab * o
    ba12 = _dot5(kby, az) + _dot5(lcy, rcz) - dx
    ba20 = _dot5(kbz, ax) + _dot5(lcz, rcx) - dy
    ba21 = _dot5(kbz, ay) + _dot5(lcz, rcy) + dx
    ba22 = _dot5(kbz, az) + _dot5(lcz, rcz) - ab * o
    # theta: turning the frame exchanges the curvatures' gradients.
    g0, g1 = ma * (k0 * o1 - exact * s1), ma * (exact * s0 - k1 * o0)
    g2, g3 = mb * (k2 * o3 - exact * s3), mb * (exact * s2 - k3 * o2)
    pa = _plus(1.0, _plus(g0, a0, g1, a1), -ma * k4, a4)
    pb = _plus(1.0, _plus(g0, b0, g1, b1), -ma * k4, b4)
    ra = _plus(1.0, _plus(g2, a2, g3, a3), mb * k4, a4)
    rb = _plus(1.0, _plus(g2, b2, g3, b3), mb * k4, b4)
    pp = ma * (k0 * o1 * o1 + k1 * o0 * o0 + k4 - exact * (s0 * o0 + s1 * o1))
    rp = -ma * mb * k4
    rr = mb * (k2 * o3 * o3 + k3 * o2 * o2 + k4 - exact * (s2 * o2 + s3 * o3))

    # To the unknowns of the vertices, e_a = x_i - x_p and e_b = x_f - x_i: eleven columns, each from its diagonal down.
    # x_p
    x[LOCAL] = aa00
    x[LOCAL + 1] = aa10
    x[LOCAL + 2] = aa20
    x[LOCAL + 3] = -pa[0]
    x[LOCAL + 4] = ba00 - aa00
    x[LOCAL + 5] = ba10 - aa10
    x[LOCAL + 6] = ba20 - aa20
    x[LOCAL + 7] = -ra[0]
    x[LOCAL + 8] = -ba00
    x[LOCAL + 9] = -ba10
    x[LOCAL + 10] = -ba20
    x[LOCAL + 11] = aa11
    x[LOCAL + 12] = aa21
    x[LOCAL + 13] = -pa[1]
    x[LOCAL + 14] = ba01 - aa10
    x[LOCAL + 15] = ba11 - aa11
    x[LOCAL + 16] = ba21 - aa21
    x[LOCAL + 17] = -ra[1]
    x[LOCAL + 18] = -ba01
    x[LOCAL + 19] = -ba11
    x[LOCAL + 20] = -ba21
    x[LOCAL + 21] = aa22
    x[LOCAL + 22] = -pa[2]
    x[LOCAL + 23] = ba02 - aa20
    x[LOCAL + 24] = ba12 - aa21
    x[LOCAL + 25] = ba22 - aa22
    x[LOCAL + 26] = -ra[2]
    x[LOCAL + 27] = -ba02
    x[LOCAL + 28] = -ba12
    x[LOCAL + 29] = -ba22
    # theta_a
    x[LOCAL + 30] = pp
    x[LOCAL + 31] = pa[0] - pb[0]
    x[LOCAL + 32] = pa[1] - pb[1]
    x[LOCAL + 33] = pa[2] - pb[2]
    x[LOCAL + 34] = rp
    x[LOCAL + 35] = pb[0]
    x[LOCAL + 36] = pb[1]
    x[LOCAL + 37] = pb[2]
    # x_i
    x[LOCAL + 38] = aa00 - 2.0 * ba00 + bb00
    x[LOCAL + 39] = aa10 - ba10 - ba01 + bb10
    x[LOCAL + 40] = aa20 - ba20 - ba02 + bb20
    x[LOCAL + 41] = ra[0] - rb[0]
    x[LOCAL + 42] = ba00 - bb00
    x[LOCAL + 43] = ba10 - bb10
    x[LOCAL + 44] = ba20 - bb20
    x[LOCAL + 45] = aa11 - 2.0 * ba11 + bb11
    x[LOCAL + 46] = aa21 - ba21 - ba12 + bb21
    x[LOCAL + 47] = ra[1] - rb[1]
    x[LOCAL + 48] = ba01 - bb10
    x[LOCAL + 49] = ba11 - bb11
    x[LOCAL + 50] = ba21 - bb21
    x[LOCAL + 51] = aa22 - 2.0 * ba22 + bb22
    x[LOCAL + 52] = ra[2] - rb[2]
    x[LOCAL + 53] = ba02 - bb20
    x[LOCAL + 54] = ba12 - bb21
    x[LOCAL + 55] = ba22 - bb22
    # theta_b
    x[LOCAL + 56] = rr
    x[LOCAL + 57] = rb[0]
    x[LOCAL + 58] = rb[1]
    x[LOCAL + 59] = rb[2]
    # x_f
    x[LOCAL + 60] = bb00
    x[LOCAL + 61] = bb10
    x[LOCAL + 62] = bb20
    x[LOCAL + 63] = bb11
    x[LOCAL + 64] = bb21
    x[LOCAL + 65] = bb22
