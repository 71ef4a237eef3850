"""Power series of a moving piece and integrals of their products, from which the equation of motion is assembled (Casati and
Bertails-Descoubes 2013, section 7.1).

The series describe the frame R, its rate V, the bias B of its acceleration (its value for zero curvature accelerations), and
the derivatives of R and V with respect to the six modes of the piece. All terms follow from one recursion. With kappa' the rate
of the curvatures and eta_m(u) that of mode m, lanes of the same index satisfy
    X_m' = X_m [kappa]x + R [eta_m]x,       Y_m' = Y_m [kappa]x + X_m [kappa']x + V [eta_m]x:
X and Y are dR and dV for the modes e_c and u e_c; R and V for eta = 0; V and B for eta = kappa'. These eight lanes fill vector
registers. They are stored in one array with fixed strides between reads and writes, so that compilers can vectorise the loops.
Twelve Gauss points integrate products of these short series to round-off with a third of the work of Cauchy products.
"""

from __future__ import annotations

import numpy as np

from ...compile.jit import part
from ...errors import Array
from ...maths.geometry.frames import Vector
from .series import MOST_TERMS

LANES = 8
FRAME, EXTRA = 6, 7  # lanes of (R, V) and of (V, B); the lanes before are the modes
# strides: three components of X, then of Y; the integral of the first column is the position
Y, COLUMN = 3 * LANES, 6 * LANES
ETA, TERM = 3 * COLUMN, 3 * COLUMN + 6 * LANES  # after three columns follow eta at u = 0, and its slope

QUADRATURE = 12
_RULE = np.polynomial.legendre.leggauss(QUADRATURE)  # type: ignore[no-untyped-call]
NODES, WEIGHTS = 0.5 * (_RULE[0] + 1.0), 0.5 * _RULE[1]
_TERMS = np.arange(1, MOST_TERMS + 5)
POWERS = NODES[:, None] ** _TERMS / _TERMS  # [q, n]: the integral of u^n up to Gauss point q


def make_lanes() -> Array:
    """Buffer for the terms of all lanes, (T, TERM): of degree -1, which are zero, 0, 1 and so on."""
    terms = np.zeros((MOST_TERMS + 6, TERM))
    for c in range(3):
        terms[:, ETA + c * LANES + c] = 1.0
        terms[:, ETA + (3 + c) * LANES + 3 + c] = 1.0
    return terms


@part
def expand_moving(k: Vector, g: Vector, p: Vector, q: Vector, x: Array, count: int) -> None:
    """Writes the terms of degrees 1 to count - 1 of all lanes to x (flat), given those of degree 0. The curvature times the
    length of the piece is k + g u, its rate p + q u."""
    k0, k1, k2 = k
    g0, g1, g2 = g
    p0, p1, p2 = p
    q0, q1, q2 = q
    for n in range(count - 1):
        eta = TERM * n + ETA + EXTRA
        x[eta], x[eta + LANES], x[eta + 2 * LANES] = p0, p1, p2
        x[eta + 3 * LANES], x[eta + 4 * LANES], x[eta + 5 * LANES] = q0, q1, q2
    for n in range(count - 1):
        f = 1.0 / (n + 1.0)
        for i in range(3):
            was = TERM * n + i * LANES
            now, then, eta = was + TERM, was + 2 * TERM, TERM * n + ETA
            frame = was + FRAME
            s0, s1, s2 = x[frame], x[frame + COLUMN], x[frame + 2 * COLUMN]
            w0, w1, w2 = x[frame + Y], x[frame + Y + COLUMN], x[frame + Y + 2 * COLUMN]
            frame = now + FRAME
            r0, r1, r2 = x[frame], x[frame + COLUMN], x[frame + 2 * COLUMN]
            v0, v1, v2 = x[frame + Y], x[frame + Y + COLUMN], x[frame + Y + 2 * COLUMN]
            for m in range(LANES):
                a0, a1, a2 = x[eta + m], x[eta + LANES + m], x[eta + 2 * LANES + m]
                b0, b1, b2 = x[eta + 3 * LANES + m], x[eta + 4 * LANES + m], x[eta + 5 * LANES + m]
                x0, x1, x2 = x[now + m], x[now + COLUMN + m], x[now + 2 * COLUMN + m]
                z0, z1, z2 = x[was + m], x[was + COLUMN + m], x[was + 2 * COLUMN + m]
                y0, y1, y2 = x[now + Y + m], x[now + Y + COLUMN + m], x[now + Y + 2 * COLUMN + m]
                u0, u1, u2 = x[was + Y + m], x[was + Y + COLUMN + m], x[was + Y + 2 * COLUMN + m]
                x[then + m] = f * (
                    (x1 * k2 - x2 * k1) + (z1 * g2 - z2 * g1) + (r1 * a2 - r2 * a1) + (s1 * b2 - s2 * b1)
                )
                x[then + COLUMN + m] = f * (
                    (x2 * k0 - x0 * k2) + (z2 * g0 - z0 * g2) + (r2 * a0 - r0 * a2) + (s2 * b0 - s0 * b2)
                )
                x[then + 2 * COLUMN + m] = f * (
                    (x0 * k1 - x1 * k0) + (z0 * g1 - z1 * g0) + (r0 * a1 - r1 * a0) + (s0 * b1 - s1 * b0)
                )
                x[then + Y + m] = f * (
                    ((y1 * k2 - y2 * k1) + (u1 * g2 - u2 * g1) + (v1 * a2 - v2 * a1))
                    + ((w1 * b2 - w2 * b1) + (x1 * p2 - x2 * p1) + (z1 * q2 - z2 * q1))
                )
                x[then + Y + COLUMN + m] = f * (
                    ((y2 * k0 - y0 * k2) + (u2 * g0 - u0 * g2) + (v2 * a0 - v0 * a2))
                    + ((w2 * b0 - w0 * b2) + (x2 * p0 - x0 * p2) + (z2 * q0 - z0 * q2))
                )
                x[then + Y + 2 * COLUMN + m] = f * (
                    ((y0 * k1 - y1 * k0) + (u0 * g1 - u1 * g0) + (v0 * a1 - v1 * a0))
                    + ((w0 * b1 - w1 * b0) + (x0 * p1 - x1 * p0) + (z0 * q1 - z1 * q0))
                )
    for n in range(count, count + 3):  # the sums below take four terms at a time
        for m in range(ETA):
            x[TERM * (n + 1) + m] = 0.0


@part
def fields_at_nodes(x: Array, count: int, at: Array) -> None:
    """at[q, m]: the fields of all lanes (x, flat) at Gauss point q, divided by the length of the piece."""
    for q in range(QUADRATURE):
        row = at[q]
        for m in range(COLUMN):
            row[m] = 0.0
    for four_terms in range((count + 3) // 4):
        n = 4 * four_terms
        one = TERM * (n + 1)
        two, three, four = one + TERM, one + 2 * TERM, one + 3 * TERM
        for q in range(QUADRATURE):
            row = at[q]
            a, b, c, d = POWERS[q, n], POWERS[q, n + 1], POWERS[q, n + 2], POWERS[q, n + 3]
            for m in range(COLUMN):
                row[m] += (a * x[one + m] + b * x[two + m]) + (c * x[three + m] + d * x[four + m])


@part
def integrate_products(at: Array, dots: Array, outer: Array) -> None:
    """Integrals over the piece, from 0 to 1. dots[m, l]: of mode m with lane l of X (0 to 7) and of Y (8 to 15). outer[i, l]:
    of component i of the position with all fields; outer[3 + i, l]: of its rate with those of X; outer[6, l]: of the fields."""
    for a in range(6):
        for m in range(2 * LANES):
            dots[a, m] = 0.0
    for a in range(7):
        for m in range(COLUMN):
            outer[a, m] = 0.0
    for q in range(0, QUADRATURE, 2):
        one, two = at[q], at[q + 1]
        f, g = WEIGHTS[q], WEIGHTS[q + 1]
        for a in range(6):
            row = dots[a]
            a0, a1, a2 = f * one[a], f * one[LANES + a], f * one[2 * LANES + a]
            b0, b1, b2 = g * two[a], g * two[LANES + a], g * two[2 * LANES + a]
            for m in range(LANES):
                row[m] += (a0 * one[m] + a1 * one[LANES + m] + a2 * one[2 * LANES + m]) + (
                    b0 * two[m] + b1 * two[LANES + m] + b2 * two[2 * LANES + m]
                )
            for m in range(LANES):
                row[LANES + m] += (a0 * one[Y + m] + a1 * one[Y + LANES + m] + a2 * one[Y + 2 * LANES + m]) + (
                    b0 * two[Y + m] + b1 * two[Y + LANES + m] + b2 * two[Y + 2 * LANES + m]
                )
        for i in range(3):
            row, a0, b0 = outer[i], f * one[i * LANES + FRAME], g * two[i * LANES + FRAME]
            for m in range(COLUMN):
                row[m] += a0 * one[m] + b0 * two[m]
            row, a0, b0 = outer[3 + i], f * one[i * LANES + EXTRA], g * two[i * LANES + EXTRA]
            for m in range(Y):
                row[m] += a0 * one[m] + b0 * two[m]
        row = outer[6]
        for m in range(COLUMN):
            row[m] += f * one[m] + g * two[m]


@part
def ends_of_piece(x: Array, count: int, ends: Array) -> None:
    """Sums of the terms: ends[0] unweighted; ends[1] divided by degree + 1, the integral; ends[2] divided by degree + 2, the
    integral of u times the series."""
    plain, once, twice = ends[0], ends[1], ends[2]
    for m in range(ETA):
        plain[m], once[m], twice[m] = 0.0, 0.0, 0.0
    for four_terms in range((count + 3) // 4):
        n = 4 * four_terms
        one, two, three, four = x[n + 1], x[n + 2], x[n + 3], x[n + 4]
        a, b, c, d, e = 1.0 / (n + 1.0), 1.0 / (n + 2.0), 1.0 / (n + 3.0), 1.0 / (n + 4.0), 1.0 / (n + 5.0)
        for m in range(ETA):
            plain[m] += (one[m] + two[m]) + (three[m] + four[m])
            once[m] += (a * one[m] + b * two[m]) + (c * three[m] + d * four[m])
            twice[m] += (b * one[m] + c * two[m]) + (d * three[m] + e * four[m])
