"""Coulomb's law at many contacts by Gauss-Seidel sweeps: contact after contact, each exactly, while the others' forces stay.

Seen from one contact, with forces r = (normal, two tangential), the rods answer with v = W r + b to first order, where v is the gap
and the slip at the end of the step. The law: v_n >= 0, r_n >= 0, v_n r_n = 0; |r_t| <= mu r_n, and where the two slip r_t = -mu r_n
v_t / |v_t|. As de Saxce saw, r is also what minimises r^T W r / 2 + r^T (b + mu |v_t| n) in the cone |r_t| <= mu r_n; with |v_t| as
known from the iterate that is a convex problem of all contacts, on which sweeps can but descend. Solved as a law, they may not:
where a rod gives way almost along a surface, its forces grow from sweep to sweep. W = Z^T Z, where Z = L^-1 J^T takes a force at
the contact to a rod whose matrix is L L^T: so rods answer each other through short vectors w = sum of Z r, one per rod, and a sweep
costs as much as there are contacts.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..compile.jit import kernel, part
from ..errors import Array
from ..maths.geometry.frames import Vector, any_normal, cross, dot
from .arrays import Contacts, Ints, Samples
from .coulomb import arm_of
from .rod_contacts import point

MOST_ROUNDS = 12  # to find the direction in which a contact slips; the next sweep goes on from there
MOST_BISECTIONS = 100
FARTHEST_TURN, ANGLE = 0.7, 1e-5  # of it in a round; good enough; rad


class Rows(NamedTuple):
    """Contacts as the sweeps see them."""

    direction: Array  # (C, 3, 3) normal and two tangents, row by row
    lever: Array  # (C, 2, 2) m: how the surfaces of side A, of side B move along the tangents as the edge turns
    apart: Array  # (C, 3) m, gap (less the one that is wanted) and slips at the iterate
    force: Array  # (C, 3) N, those known, along the directions
    lift: Array  # (C,) m: mu |v_t| at the iterate


class Answer(NamedTuple):
    """How the rods answer to forces at the contacts."""

    half: Array  # (C, 2, 3, n) Z of both sides; the second is that of side B. Of a rod that touches itself the first is both
    moved: Array  # (C, 3) m, by Newton's step under the known forces
    matrix: Array  # (C, 6) W: nn, n1, 11, n2, 12, 22
    rod: Ints  # (C, 2) rods of the sides, numbers of the rows of w; -1: none


@kernel
def describe(
    contacts: Contacts, count: int, samples: Samples, turns: Array, target: Array, known: Array, rows: Rows
) -> None:
    """Writes the rows of contacts. `known` (C, 3) are forces on side A; `turns` (N,) those of the edges since the step began."""
    start, now, after = samples.start, samples.now, samples.after
    for k in range(count):
        normal, upright = point(contacts.normal, k), point(contacts.upright, k)
        one = any_normal(upright)
        two = cross(upright, one)
        slip = (-contacts.slide[k, 0], -contacts.slide[k, 1], -contacts.slide[k, 2])
        for side in range(2):
            e, s, sign = contacts.edge[k, side], contacts.rubbing_at[k, side], 1.0 if side == 0 else -1.0
            if e < 0:
                rows.lever[k, side, 0], rows.lever[k, side, 1] = 0.0, 0.0
                continue
            f = after[e]
            arm = arm_of(start, e, f, upright, -sign * contacts.arm[k, side])
            rows.lever[k, side, 0], rows.lever[k, side, 1] = dot(arm, one), dot(arm, two)
            a, b, p, q = point(now, e), point(start, e), point(now, f), point(start, f)
            w, t = sign * (1.0 - s), sign * turns[e]
            s *= sign
            slip = (
                slip[0] + w * (a[0] - b[0]) + s * (p[0] - q[0]) + t * arm[0],
                slip[1] + w * (a[1] - b[1]) + s * (p[1] - q[1]) + t * arm[1],
                slip[2] + w * (a[2] - b[2]) + s * (p[2] - q[2]) + t * arm[2],
            )
        rows.apart[k, 0] = contacts.gap[k] - target[k]
        rows.apart[k, 1], rows.apart[k, 2] = dot(slip, one), dot(slip, two)
        rows.lift[k] = contacts.friction[k] * math.sqrt(rows.apart[k, 1] ** 2 + rows.apart[k, 2] ** 2)
        for c in range(3):
            rows.direction[k, 0, c], rows.direction[k, 1, c], rows.direction[k, 2, c] = normal[c], one[c], two[c]
        force = point(known, k)
        pressed = max(dot(force, normal), 0.0)
        x, y = dot(force, one), dot(force, two)
        size, most = math.sqrt(x * x + y * y), contacts.friction[k] * pressed
        share = most / size if size > most else 1.0
        rows.force[k, 0], rows.force[k, 1], rows.force[k, 2] = pressed, share * x, share * y


@kernel
def soften(contacts: Contacts, count: int, deepest: float, gone_through: float, target: Array) -> None:
    """Between rods that overlap deeply the gap that is wanted is one that opens by no more than a part of their thickness: all at
    once they might be asked to leave each other in ways that exclude each other. What has gone through is no contact."""
    for k in range(count):
        if contacts.edge[k, 1] < 0:
            continue
        thickness = contacts.arm[k, 0] + contacts.arm[k, 1]
        target[k] = min(target[k], contacts.gap[k] + deepest * thickness)
        if contacts.crossed[k] and contacts.gap[k] < -gone_through * thickness:
            target[k] = -np.inf


@kernel
def act(contacts: Contacts, count: int, after: Ints, rows: Rows, out: Array) -> None:
    """Adds the forces of contacts to those of the sample points, out (N, 4)."""
    for k in range(count):
        n, x, y = rows.force[k, 0], rows.force[k, 1], rows.force[k, 2]
        if n == 0.0:
            continue
        for side in range(2):
            e = contacts.edge[k, side]
            if e < 0:
                continue
            f, sign = after[e], 1.0 if side == 0 else -1.0
            s, t = contacts.at[k, side], contacts.rubbing_at[k, side]
            for c in range(3):
                press = sign * n * rows.direction[k, 0, c]
                rub = sign * (x * rows.direction[k, 1, c] + y * rows.direction[k, 2, c])
                out[e, c] += (1.0 - s) * press + (1.0 - t) * rub
                out[f, c] += s * press + t * rub
            out[e, 3] += sign * (x * rows.lever[k, side, 0] + y * rows.lever[k, side, 1])


@kernel
def add_up(count: int, answer: Answer) -> None:
    """W of every contact."""
    half, matrix, rod = answer.half, answer.matrix, answer.rod
    n = half.shape[3]
    for k in range(count):
        m = 0
        for i in range(3):
            for j in range(i + 1):
                value = 0.0
                for side in range(2):
                    if rod[k, side] >= 0:
                        for u in range(n):
                            value += half[k, side, i, u] * half[k, side, j, u]
                matrix[k, m] = value
                m += 1


@part
def one_contact(w: Array, soft: float, b: Vector, mu: float, known: Vector) -> Vector:
    """The force r in Coulomb's cone at one contact that minimises r^T (W + soft I) r / 2 + r^T b; a force that
    is known shortens the search."""
    nn, n1, t11, n2, t12, t22 = w[0] + soft, w[1], w[2] + soft, w[3], w[4], w[5] + soft
    if mu == 0.0:
        return (max(-b[0] / nn, 0.0), 0.0, 0.0)
    if not b[0] < mu * math.sqrt(b[1] * b[1] + b[2] * b[2]):
        return (0.0, 0.0, 0.0)
    # Does it stick? Without the normal force first.
    a, d, c = t11 - n1 * n1 / nn, t12 - n1 * n2 / nn, t22 - n2 * n2 / nn
    x, y = b[1] - n1 * b[0] / nn, b[2] - n2 * b[0] / nn
    det = a * c - d * d
    if det > 1e-12 * t11 * t22:
        x, y = (d * y - c * x) / det, (d * x - a * y) / det
        n = -(b[0] + n1 * x + n2 * y) / nn
        if n > 0.0 and x * x + y * y <= mu * mu * n * n:
            return (n, x, y)
    # It slips: n (1, mu cos, mu sin), by Newton's method for the angle, from the one known.
    x, y = known[1], known[2]
    size = math.sqrt(x * x + y * y)
    if not (size > 0.0 and b[0] * size + mu * (x * b[1] + y * b[2]) < 0.0):
        x, y, size = -b[1], -b[2], math.sqrt(b[1] * b[1] + b[2] * b[2])
    x, y = (x / size, y / size) if size > 0.0 else (1.0, 0.0)
    n, way, least = 0.0, 0.0, np.inf
    for _ in range(MOST_ROUNDS):
        c, s = math.cos(way), math.sin(way)
        u, v = c * x - s * y, s * x + c * y
        w1, w2 = n1 + mu * (t11 * u + t12 * v), n2 + mu * (t12 * u + t22 * v)
        push, give = b[0] + mu * (u * b[1] + v * b[2]), nn + mu * (n1 * u + n2 * v + u * w1 + v * w2)
        energy = -push * push / give
        if push >= 0.0 or energy > least:
            way *= 0.25
            continue
        x, y, n, least = u, v, -push / give, energy
        # In the slopes and curvatures a factor of mu n is left out.
        g1, g2 = n * w1 + b[1], n * w2 + b[2]
        slope = x * g2 - y * g1
        mixed = n * (x * w2 - y * w1) + slope
        turned = t22 * x * x - 2.0 * t12 * x * y + t11 * y * y
        curvature = n * mu * turned - (x * g1 + y * g2) - mu * mixed * mixed / (give * n)
        way = -slope / curvature if curvature > 0.0 else -math.copysign(FARTHEST_TURN, slope)
        way = min(max(way, -FARTHEST_TURN), FARTHEST_TURN)
        if curvature > 0.0 and abs(way) <= ANGLE:
            if x * g1 + y * g2 <= 0.0:
                return (n, mu * n * x, mu * n * y)
            break  # less than its neighbours on the cone, but not than those inside: the least of all is elsewhere
    return _slipping(nn, n1, t11, n2, t12, t22, b, mu)


@part
def _slipping(nn: float, n1: float, t11: float, n2: float, t12: float, t22: float, b: Vector, mu: float) -> Vector:
    """As `one_contact`, of one that slips, slowly and surely. For a normal force n the friction of least energy is known, and what
    is least then is a convex function of n; its slope rises from below zero where there is no force."""
    below, above = b[0] - mu * math.sqrt(b[1] * b[1] + b[2] * b[2]), 0.0
    low, high, n = 0.0, np.inf, -below / nn
    x, y = 0.0, 0.0
    for k in range(MOST_BISECTIONS):
        x, y, shift = _on_disc(t11, t12, t22, b[1] + n1 * n, b[2] + n2 * n, mu * n)
        slope = b[0] + nn * n + n1 * x + n2 * y - shift * mu * mu * n
        if abs(slope) <= 1e-9 * nn * n:
            break
        if slope < 0.0:
            low, below, above = n, slope, 0.5 * above
        else:
            high, above, below = n, slope, 0.5 * below
        if high == np.inf:
            n *= 4.0
        else:  # false position, as in the method "Illinois"; every third time the middle
            n = 0.5 * (low + high) if k % 3 == 2 else (low * above - high * below) / (above - below)
    return (n, x, y)


@part
def _on_disc(a: float, b: float, c: float, x: float, y: float, radius: float) -> Vector:
    """The tangential force of least energy on a disc: (T + l I) r = -(x, y), T = (a b; b c), where l >= 0 makes |r| <= radius.
    Returns r and l."""
    middle, spread = 0.5 * (a + c), math.sqrt(0.25 * (a - c) * (a - c) + b * b)
    e1, e2 = middle + spread, max(middle - spread, 1e-12 * middle)
    # The first axis of T.
    u, v = (b, e1 - a) if abs(e1 - a) > abs(e1 - c) else (e1 - c, b)
    size = math.sqrt(u * u + v * v)
    u, v = (u / size, v / size) if size > 0.0 else (1.0, 0.0)
    p, q = -(u * x + v * y), -(u * y - v * x)
    shift = 0.0
    f, g = p / e1, q / e2
    length = math.sqrt(f * f + g * g)
    if length > radius:
        # Newton's method on 1 / |r|, which is nearly straight, and from this side never goes too far.
        for _ in range(20):
            slope = (f * f / (e1 + shift) + g * g / (e2 + shift)) / length
            shift += (length - radius) / radius * length / slope
            f, g = p / (e1 + shift), q / (e2 + shift)
            length = math.sqrt(f * f + g * g)
            if length - radius <= 1e-12 * radius:
                break
    return u * f - v * g, v * f + u * g, shift


@kernel
def sweep(
    count: int, friction: Array, thickness: Array, rows: Rows, answer: Answer, soft: float, most: int, tolerance: float, w: Array
) -> int:  # fmt: skip
    """Forces by Coulomb's law, written to rows.force; w (R, n) becomes what they add to those known before. Contacts give way by
    `soft` m/N. Ends after `most` sweeps, or when a sweep moves no contact by more than `tolerance` of its thickness. Returns the
    number of sweeps."""
    half, matrix, rod, force = answer.half, answer.matrix, answer.rod, rows.force
    n = w.shape[1]
    for number in range(most):
        largest = 0.0
        for k in range(count):
            if not matrix[k, 0] > 0.0:  # nothing moves it: its force stays
                continue
            v0, v1, v2 = (
                rows.apart[k, 0] + answer.moved[k, 0] + rows.lift[k],
                rows.apart[k, 1] + answer.moved[k, 1],
                rows.apart[k, 2] + answer.moved[k, 2],
            )
            for side in range(2):
                r = rod[k, side]
                if r < 0:
                    continue
                for u in range(n):
                    value = w[r, u]
                    v0 += half[k, side, 0, u] * value
                    v1 += half[k, side, 1, u] * value
                    v2 += half[k, side, 2, u] * value
            a, b, c = force[k, 0], force[k, 1], force[k, 2]
            m = matrix[k]
            free = (
                v0 - m[0] * a - m[1] * b - m[3] * c,
                v1 - m[1] * a - m[2] * b - m[4] * c,
                v2 - m[3] * a - m[4] * b - m[5] * c,
            )
            x, y, z = one_contact(m, soft, free, friction[k], (a, b, c))
            dx, dy, dz = x - a, y - b, z - c
            if dx == 0.0 and dy == 0.0 and dz == 0.0:
                continue
            force[k, 0], force[k, 1], force[k, 2] = x, y, z
            moved = max(m[0] * abs(dx), m[2] * abs(dy), m[5] * abs(dz))
            largest = max(largest, moved / thickness[k])
            for side in range(2):
                r = rod[k, side]
                if r >= 0:
                    for u in range(n):
                        w[r, u] += dx * half[k, side, 0, u] + dy * half[k, side, 1, u] + dz * half[k, side, 2, u]
        if largest <= tolerance:
            return number + 1
    return most
