"""Power series of an element of affine curvature, summed piece by piece (Casati and Bertails-Descoubes 2013, sections 5 and 6).

A frame R has the tangent and the two directors as columns, and R' = R [kappa]x with kappa = (twist, curvature 1, curvature 2).
On a piece of length tau everything is a power series in u = (s - sigma) / tau, from 0 to 1. The stored rows are its terms, so
that their sum is the value at the end of the piece. With kappa tau = k + g u, eq. 10 reads
    R_0 = R(sigma),   R_n+1 = (R_n [k]x + R_n-1 [g]x) / (n + 1).
The derivatives (eq. 15) are taken along the six modes kappa' = e_c and kappa' = u e_c of the piece, and vanish at its start.
"""

from __future__ import annotations

import math

import numpy as np

from ...compile.jit import kernel, part
from ...errors import Array
from ...maths.geometry.frames import Vector

MOST_TERMS = 72
BOUND = 10.0  # M of eq. 13, upper bound of lambda on a piece
MOST_PIECES = 60  # per element, about fifty turns; guarantees termination
NEGLIGIBLE = 1e-17  # rotation terms below this do not contribute
FEWEST_TERMS = 7  # needed even by a straight piece: displacements go with u^2, and accelerations with u^5

# Columns of the terms: frame row by row, position; then either the rotation and displacement of each mode, or the first and
# the second derivatives of frame and position with respect to time.
FRAME, PLACE, ROTATION, MOTION, COLUMNS = 0, 9, 12, 30, 48
PLACE_RATE, SPEEDS, FRAME_ACCELERATION, PLACE_ACCELERATION, ACCELERATIONS = 21, 24, 24, 33, 36
LANES = 8  # six modes, padded to whole vector registers


def make_terms() -> tuple[Array, Array]:
    """Buffers for the terms of a piece, and for those of the frames' derivatives."""
    return np.zeros((MOST_TERMS + 3, COLUMNS)), np.zeros((MOST_TERMS + 2, 9 * LANES))


@part
def slope_between(a: Vector, b: Vector, span: float) -> Vector:
    return ((b[0] - a[0]) / span, (b[1] - a[1]) / span, (b[2] - a[2]) / span)


@part
def affine_at(a: Vector, slope: Vector, sigma: float) -> Vector:
    return (a[0] + sigma * slope[0], a[1] + sigma * slope[1], a[2] + sigma * slope[2])


@part
def scaled(a: Vector, f: float) -> Vector:
    return (f * a[0], f * a[1], f * a[2])


@part
def longest_piece(kappa: Vector, slope: Vector, bound: float) -> float:
    """Largest length of a piece that starts with curvature `kappa` and slope `slope` (eq. 14)."""
    k = max(abs(kappa[0]), abs(kappa[1]), abs(kappa[2]))
    g = max(abs(slope[0]), abs(slope[1]), abs(slope[2]))
    if bound == math.inf:
        return math.inf
    if g > 1e-12 * k * k:
        # The paper's formula, rearranged against cancellation for small g.
        return bound / (math.sqrt(k * k + 2.0 * bound * g) + k)
    return 0.5 * bound / k if k > 0.0 else math.inf


@part
def next_piece(kappa: Vector, slope: Vector, left: float, span: float) -> tuple[float, bool]:
    """Length of the next piece of an element with remaining length `left`, and whether it is the last. Terminates for all
    curvatures, including NaN."""
    tau = longest_piece(kappa, slope, BOUND)
    if not tau < left * (1.0 - 1e-12):
        return left, True
    tau = max(tau, span / MOST_PIECES)
    if not tau < left:
        return left, True
    return (
        0.5 * left if tau > 0.5 * left else tau
    ), False  # two equal pieces need fewer terms than a long and a short one


@part
def expand(k: Vector, g: Vector, tau: float, c: Array) -> int:
    """Writes the terms of frame and position of a piece, given c[0] at its start. Returns the number of terms."""
    k0, k1, k2 = k
    g0, g1, g2 = g
    most, before = len(c) - 3, 1.0
    for n in range(most):
        f = 1.0 / (n + 1.0)
        size = 0.0
        for i in range(0, 9, 3):
            x, y, z = c[n, i], c[n, i + 1], c[n, i + 2]
            a, b, d = y * k2 - z * k1, z * k0 - x * k2, x * k1 - y * k0
            if n > 0:
                x, y, z = c[n - 1, i], c[n - 1, i + 1], c[n - 1, i + 2]
                a, b, d = a + y * g2 - z * g1, b + z * g0 - x * g2, d + x * g1 - y * g0
            c[n + 1, i], c[n + 1, i + 1], c[n + 1, i + 2] = f * a, f * b, f * d
            size = max(size, abs(f * a), abs(f * b), abs(f * d))
        for i in range(3):
            c[n + 1, PLACE + i] = f * tau * c[n, 3 * i]  # eq. 9b
        if n + 2 >= FEWEST_TERMS and size < NEGLIGIBLE and before < NEGLIGIBLE:
            return n + 2
        before = size
    return most + 1


@part
def expand_modes(k: Vector, g: Vector, tau: float, c: Array, d: Array, count: int) -> None:
    """Adds the terms of the modes to those of `expand`; d holds the terms of the frames' derivatives, lane by lane."""
    k0, k1, k2 = k
    g0, g1, g2 = g
    for m in range(9 * LANES):
        d[0, m] = 0.0
    for m in range(ROTATION, COLUMNS):
        c[0, m] = 0.0
    for n in range(count - 1):
        f = 1.0 / (n + 1.0)
        now, next = d[n], d[n + 1]
        for i in range(0, 9, 3):
            x, y, z = i * LANES, (i + 1) * LANES, (i + 2) * LANES
            for m in range(LANES):
                next[x + m] = f * (now[y + m] * k2 - now[z + m] * k1)
                next[y + m] = f * (now[z + m] * k0 - now[x + m] * k2)
                next[z + m] = f * (now[x + m] * k1 - now[y + m] * k0)
            if n > 0:
                last = d[n - 1]
                for m in range(LANES):
                    next[x + m] += f * (last[y + m] * g2 - last[z + m] * g1)
                    next[y + m] += f * (last[z + m] * g0 - last[x + m] * g2)
                    next[z + m] += f * (last[x + m] * g1 - last[y + m] * g0)
            # R [e_c]x: mode c starts with the terms of R, mode 3 + c with those of u R.
            for u in range(2):
                if n < u:
                    continue
                h = f * tau
                p, q, r, lane = h * c[n - u, i], h * c[n - u, i + 1], h * c[n - u, i + 2], 3 * u
                next[y + lane] += r
                next[z + lane] -= q
                next[x + lane + 1] -= r
                next[z + lane + 1] += p
                next[x + lane + 2] += q
                next[y + lane + 2] -= p
        for m in range(6):
            a = m % 3
            for i in range(3):
                at = 3 * m + i
                c[n + 1, ROTATION + at] = (
                    f * tau * (c[n, 3 * i + a] if m < 3 else c[n - 1, 3 * i + a] if n > 0 else 0.0)
                )
                c[n + 1, MOTION + at] = f * tau * now[3 * i * LANES + m]


@part
def expand_rates(k: Vector, g: Vector, p: Vector, q: Vector, tau: float, c: Array, count: int) -> None:
    """Adds the terms of the rates of frame and position to those of `expand`, for a curvature times tau with the rate p + q u."""
    for n in range(count - 1):
        f = 1.0 / (n + 1.0)
        for i in range(0, 9, 3):
            x, y, z = c[n, i], c[n, i + 1], c[n, i + 2]
            u, v, w = c[n, ROTATION + i], c[n, ROTATION + i + 1], c[n, ROTATION + i + 2]
            a = v * k[2] - w * k[1] + y * p[2] - z * p[1]
            b = w * k[0] - u * k[2] + z * p[0] - x * p[2]
            d = u * k[1] - v * k[0] + x * p[1] - y * p[0]
            if n > 0:
                x, y, z = c[n - 1, i], c[n - 1, i + 1], c[n - 1, i + 2]
                u, v, w = c[n - 1, ROTATION + i], c[n - 1, ROTATION + i + 1], c[n - 1, ROTATION + i + 2]
                a += v * g[2] - w * g[1] + y * q[2] - z * q[1]
                b += w * g[0] - u * g[2] + z * q[0] - x * q[2]
                d += u * g[1] - v * g[0] + x * q[1] - y * q[0]
            row = ROTATION + i
            c[n + 1, row], c[n + 1, row + 1], c[n + 1, row + 2] = f * a, f * b, f * d
        for i in range(3):
            c[n + 1, PLACE_RATE + i] = f * tau * c[n, ROTATION + 3 * i]


@part
def expand_accelerations(
    k: Vector, g: Vector, p: Vector, q: Vector, s: Vector, t: Vector, tau: float, c: Array, count: int
) -> None:
    """Adds the terms of the accelerations of frame and position to those of `expand_rates`, for a curvature times tau with the
    rate p + q u and the acceleration s + t u."""
    for n in range(count - 1):
        f = 1.0 / (n + 1.0)
        for i in range(0, 9, 3):
            row = FRAME_ACCELERATION + i
            a, b, d = 0.0, 0.0, 0.0
            for back in range(2 if n > 0 else 1):
                now, k0, k1, k2 = c[n], k[0], k[1], k[2]
                p0, p1, p2, s0, s1, s2 = 2.0 * p[0], 2.0 * p[1], 2.0 * p[2], s[0], s[1], s[2]
                if back == 1:
                    now, k0, k1, k2 = c[n - 1], g[0], g[1], g[2]
                    p0, p1, p2, s0, s1, s2 = 2.0 * q[0], 2.0 * q[1], 2.0 * q[2], t[0], t[1], t[2]
                x, y, z = now[i], now[i + 1], now[i + 2]
                u, v, w = now[ROTATION + i], now[ROTATION + i + 1], now[ROTATION + i + 2]
                e, h, m = now[row], now[row + 1], now[row + 2]
                a += h * k2 - m * k1 + v * p2 - w * p1 + y * s2 - z * s1
                b += m * k0 - e * k2 + w * p0 - u * p2 + z * s0 - x * s2
                d += e * k1 - h * k0 + u * p1 - v * p0 + x * s1 - y * s0
            c[n + 1, row], c[n + 1, row + 1], c[n + 1, row + 2] = f * a, f * b, f * d
        for i in range(3):
            c[n + 1, PLACE_ACCELERATION + i] = f * tau * c[n, FRAME_ACCELERATION + 3 * i]


@part
def evaluate(c: Array, count: int, u: float, columns: int, out: Array) -> None:
    """Sums of the first columns at u, by Horner's rule, four terms at a time."""
    top = count - 1
    for m in range(columns):
        out[m] = c[top, m]
    for _ in range(top % 4):
        top -= 1
        for m in range(columns):
            out[m] = out[m] * u + c[top, m]
    for _ in range(top // 4):
        top -= 4
        for m in range(columns):
            out[m] = (((out[m] * u + c[top + 3, m]) * u + c[top + 2, m]) * u + c[top + 1, m]) * u + c[top, m]


@part
def sum_terms(c: Array, count: int, columns: int, out: Array) -> None:
    """Sums at the end of the piece; small terms first."""
    evaluate(c, count, 1.0, columns, out)


@kernel
def sum_element(
    kappa0: Array, kappa1: Array, length: float, bound: float, at: Array, frames: Array, places: Array, c: Array
) -> int:
    """Frames (n, 3, 3) and positions (n, 3) of one element at increasing arc lengths `at` (n,), from frames[0] and places[0] at
    at[0] = 0. With an infinite `bound` there is one piece: the naive summation. Returns the number of pieces."""
    for i in range(3):
        c[0, PLACE + i] = places[0, i]
        for j in range(3):
            c[0, 3 * i + j] = frames[0, i, j]
    start, end = (kappa0[0], kappa0[1], kappa0[2]), (kappa1[0], kappa1[1], kappa1[2])
    slope = slope_between(start, end, length)
    out, sigma, row, pieces = c[len(c) - 1], 0.0, 0, 0
    while row < len(at):
        kappa = affine_at(start, slope, sigma)
        tau = min(longest_piece(kappa, slope, bound), length - sigma)
        last = sigma + tau >= length * (1.0 - 1e-14)
        count = expand(scaled(kappa, tau), scaled(slope, tau * tau), tau, c)
        while row < len(at) and (last or at[row] <= sigma + tau):
            evaluate(c, count, min((at[row] - sigma) / tau, 1.0), 12, out)
            for i in range(3):
                places[row, i] = out[PLACE + i]
                for j in range(3):
                    frames[row, i, j] = out[3 * i + j]
            row += 1
        sum_terms(c, count, 12, out)
        for m in range(12):
            c[0, m] = out[m]
        sigma += tau
        pieces += 1
    return pieces
