"""Coulomb's law at many contacts by Gauss-Seidel sweeps: contact after contact, each exactly, while the others' forces stay.

Seen from one contact, with forces r = (normal, two tangential), rods respond with v = W r + b to first order, where v is the gap
and the slip at the end of the step and W a diagonal block of the Delassus operator. The law: v_n >= 0, r_n >= 0, v_n r_n = 0;
|r_t| <= mu r_n, and where the two slip r_t = -mu r_n v_t / |v_t|. After de Saxce, r also minimises
r^T W r / 2 + r^T (b + mu |v_t| n) in the cone |r_t| <= mu r_n; with a fixed |v_t| that is a convex problem of all contacts, on
which sweeps can only descend. Solved as a law they may not: where a rod gives way almost along a surface, forces can grow from
sweep to sweep. So |v_t| is updated every few sweeps.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy import float32

from ..compile.jit import kernel, part
from ..errors import Array
from ..maths.geometry.frames import Vector, any_normal, cross, dot
from .arrays import Contacts, Ints, Samples, thickness_of
from .coulomb import arm_of
from .responses import Columns, Loads, Singles, add_response
from .rod_contacts import point
from .sweep_islands import SweepIslands

MOST_ROUNDS = 12  # to find the direction in which a contact slips; the next sweep goes on from there
MOST_BISECTIONS = 100
FARTHEST_TURN, ANGLE = 0.7, 1e-5  # of it in a round; good enough; rad
LIFT_EVERY = 6  # sweeps after which |v_t| is updated
LEAST_LEAN = 0.3  # cosine of the angle between the two normals below which a known force is forgotten
QUIET = 0.1  # of the tolerance: contacts of rods that have moved by less since the last sweep are skipped


class Rows(NamedTuple):
    """Contacts as the sweeps see them."""

    direction: Array  # (C, 3, 3) normal and two tangents, row by row
    apart: Array  # (C, 3) m, gap (less the one that is wanted) and slips at the iterate
    force: Array  # (C, 3) N along the directions
    lift: Array  # (C,) m: mu |v_t|
    seen: Array  # (C, 2) m: how far the rods of both sides had moved when the contact was last visited


def make_rows(capacity: int) -> Rows:
    return Rows(
        np.zeros((capacity, 3, 3)),
        np.zeros((capacity, 3)),
        np.zeros((capacity, 3)),
        np.zeros(capacity),
        np.zeros((capacity, 2)),
    )


@kernel
def describe(
    contacts: Contacts,
    count: int,
    samples: Samples,
    turns: Array,
    target: Array,
    known: Array,
    rows: Rows,
    loads: Loads,
) -> None:
    """Writes the rows and the loads of contacts. `known` (C, 3) are forces on side A; `turns` (N,) those of the edges since the
    step began."""
    start, now, after = samples.start, samples.now, samples.after
    for k in range(count):
        normal, upright = point(contacts.normal, k), point(contacts.upright, k)
        one = any_normal(upright)
        two = cross(upright, one)
        for c in range(3):
            rows.direction[k, 0, c], rows.direction[k, 1, c], rows.direction[k, 2, c] = normal[c], one[c], two[c]
        slip = (-contacts.slide[k, 0], -contacts.slide[k, 1], -contacts.slide[k, 2])
        for side in range(2):
            e, sign = contacts.edge[k, side], 1.0 - 2.0 * side
            if e < 0:
                continue
            f = after[e]
            arm = arm_of(start, e, f, upright, -sign * contacts.arm[k, side])
            s, t = contacts.at[k, side], contacts.rubbing_at[k, side]
            for d in range(3):
                u = s if d == 0 else t
                for c in range(3):
                    loads.load[k, side, d, c] = sign * (1.0 - u) * rows.direction[k, d, c]
                    loads.load[k, side, d, 4 + c] = sign * u * rows.direction[k, d, c]
            loads.load[k, side, 0, 3] = 0.0
            loads.load[k, side, 1, 3], loads.load[k, side, 2, 3] = sign * dot(arm, one), sign * dot(arm, two)
            a, b, p, q = point(now, e), point(start, e), point(now, f), point(start, f)
            w, z, m = sign * (1.0 - t), sign * t, sign * turns[e]
            slip = (
                slip[0] + w * (a[0] - b[0]) + z * (p[0] - q[0]) + m * arm[0],
                slip[1] + w * (a[1] - b[1]) + z * (p[1] - q[1]) + m * arm[1],
                slip[2] + w * (a[2] - b[2]) + z * (p[2] - q[2]) + m * arm[2],
            )
        rows.apart[k, 0] = contacts.gap[k] - target[k]
        rows.apart[k, 1], rows.apart[k, 2] = dot(slip, one), dot(slip, two)
        force = point(known, k)
        # The normal need not be upright to the plane of friction.
        lean = dot(normal, upright)
        pressed = max(dot(force, upright) / lean, 0.0) if lean > LEAST_LEAN else 0.0
        x, y = dot(force, one) - pressed * dot(normal, one), dot(force, two) - pressed * dot(normal, two)
        size, most = math.sqrt(x * x + y * y), contacts.friction[k] * pressed
        share = most / size if size > most else 1.0
        rows.force[k, 0], rows.force[k, 1], rows.force[k, 2] = pressed, share * x, share * y


@kernel
def act(contacts: Contacts, count: int, after: Ints, loads: Loads, force: Array, out: Array) -> None:
    """Adds the forces (C, 3) of contacts to those of the sample points, out (N, 4)."""
    for k in range(count):
        for d in range(3):
            value = force[k, d]
            if value == 0.0:
                continue
            for side in range(2):
                e = contacts.edge[k, side]
                if e < 0:
                    continue
                f = after[e]
                for c in range(4):
                    out[e, c] += value * loads.load[k, side, d, c]
                for c in range(3):
                    out[f, c] += value * loads.load[k, side, d, 4 + c]


@part
def _motion(load: Array, k: int, side: int, w: Array | Singles, e: int, f: int) -> Vector:
    """Motion of one side of a contact along its three directions."""
    x0, x1, x2, x3 = w[e, 0], w[e, 1], w[e, 2], w[e, 3]
    x4, x5, x6 = w[f, 0], w[f, 1], w[f, 2]
    g = load[k, side]
    return (
        g[0, 0] * x0 + g[0, 1] * x1 + g[0, 2] * x2 + g[0, 4] * x4 + g[0, 5] * x5 + g[0, 6] * x6,
        g[1, 0] * x0 + g[1, 1] * x1 + g[1, 2] * x2 + g[1, 3] * x3 + g[1, 4] * x4 + g[1, 5] * x5 + g[1, 6] * x6,
        g[2, 0] * x0 + g[2, 1] * x1 + g[2, 2] * x2 + g[2, 3] * x3 + g[2, 4] * x4 + g[2, 5] * x5 + g[2, 6] * x6,
    )


@part
def _at_contact(contacts: Contacts, k: int, after: Ints, rows: Rows, loads: Loads, w: Array | Singles) -> Vector:
    """Gap and slips after a motion w (N, 4) of the sample points."""
    v0, v1, v2 = rows.apart[k, 0], rows.apart[k, 1], rows.apart[k, 2]
    for side in range(2):
        if loads.rod[k, side] >= 0:
            e = contacts.edge[k, side]
            x, y, z = _motion(loads.load, k, side, w, e, after[e])
            v0, v1, v2 = v0 + x, v1 + y, v2 + z
    return v0, v1, v2


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


class Momentum(NamedTuple):
    """The direction in which sweeps have changed forces and motions, as in a method of conjugate gradients."""

    force: Array  # (C, 3)
    motion: Singles  # (4 N,)
    force_before: Array  # the last sweep
    motion_before: Singles
    now: Singles  # (N, 4) the motion of the sample points


def make_momentum(capacity: int, samples: int) -> Momentum:
    a, b, c = np.zeros(4 * samples, float32), np.zeros(4 * samples, float32), np.zeros((samples, 4), float32)
    return Momentum(np.zeros((capacity, 3)), a, np.zeros((capacity, 3)), b, c)


@part
def _go_on(
    island: int, islands: SweepIslands, matrix: Array, force: Array, w: Singles, momentum: Momentum, before: float,
    anew: bool, columns: Columns, stir: Array,
) -> float:  # fmt: skip
    """After a sweep goes on in the direction of the last ones, by Fletcher and Reeves; returns the size of the sweep's change.
    The next sweep brings forces back to Coulomb's cones. `anew`: the problem has changed."""
    size = 0.0
    first, last = islands.first[island], islands.first[island + 1]
    for j in range(first, last):
        k = islands.contact[j]
        for d in range(3):
            change = matrix[k, 0] * (force[k, d] - momentum.force_before[k, d])
            size += change * change
    share = size / before if before > 0.0 and not anew else 2.0
    if not share <= 1.0:
        share = 0.0
    for j in range(first, last):
        k = islands.contact[j]
        for d in range(3):
            more = share * momentum.force[k, d]
            momentum.force[k, d] = more + force[k, d] - momentum.force_before[k, d]
            force[k, d] += more
    for j in range(islands.first_rod[island], islands.first_rod[island + 1]):
        r = islands.rod[j]
        farthest = 0.0
        for u in range(4 * columns.first[r], 4 * (columns.first[r] + columns.size[r])):
            more = float32(share) * momentum.motion[u]
            momentum.motion[u] = more + w[u] - momentum.motion_before[u]
            w[u] += more
            farthest = max(farthest, abs(more))
        stir[r] += farthest
    return size


@part
def _keep_forces(
    island: int, islands: SweepIslands, force: Array, columns: Columns, momentum: Momentum, w: Singles
) -> None:
    """Keeps forces and motions as they are before a sweep."""
    for j in range(islands.first[island], islands.first[island + 1]):
        k = islands.contact[j]
        for d in range(3):
            momentum.force_before[k, d] = force[k, d]
    for j in range(islands.first_rod[island], islands.first_rod[island + 1]):
        r = islands.rod[j]
        for u in range(4 * columns.first[r], 4 * (columns.first[r] + columns.size[r])):
            momentum.motion_before[u] = w[u]


@part
def _begin(
    island: int, islands: SweepIslands, rows: Rows, columns: Columns, momentum: Momentum, stir: Array, w: Array
) -> None:
    for j in range(islands.first[island], islands.first[island + 1]):
        k = islands.contact[j]
        rows.seen[k, 0], rows.seen[k, 1] = -1.0, -1.0
        for d in range(3):
            momentum.force[k, d] = 0.0
    for j in range(islands.first_rod[island], islands.first_rod[island + 1]):
        r = islands.rod[j]
        stir[r] = 0.0
        for i in range(columns.first[r], columns.first[r] + columns.size[r]):
            for c in range(4):
                momentum.now[i, c] = w[i, c]
                momentum.motion[4 * i + c] = 0.0


@kernel
def sweep(
    begin: int, end: int, islands: SweepIslands, contacts: Contacts, after: Ints, rows: Rows, loads: Loads,
    columns: Columns, soft: float, most: int, stir: Array, w: Array, momentum: Momentum,
) -> None:  # fmt: skip
    """Of islands `begin` to `end`: forces by Coulomb's law, written to rows.force; w (N, 4), the motion of the sample points under
    the forces before, becomes that under these. Contacts give way by `soft` m/N. Each island ends after `most` sweeps, or when a
    sweep moves no contact by more than the island's tolerance times its thickness. stir (R,) is scratch."""
    flat = momentum.now.reshape(-1)
    for island in range(begin, end):
        _begin(island, islands, rows, columns, momentum, stir, w)
        size = 0.0  # of the last sweep's change
        calm = False
        tolerance = islands.tolerance[island]
        for number in range(most):
            lifting = calm or number % LIFT_EVERY == 0
            _keep_forces(island, islands, rows.force, columns, momentum, flat)
            largest = _sweep_once(
                island, islands, contacts, after, rows, loads, columns, soft, tolerance, lifting, number == 0, stir,
                momentum.now, flat,
            )  # fmt: skip
            calm = largest <= tolerance
            if calm and lifting:
                break
            if number + 1 < most and not calm:
                size = _go_on(
                    island, islands, loads.matrix, rows.force, flat, momentum, size, lifting, columns, stir
                )  # fmt: skip
        for j in range(islands.first_rod[island], islands.first_rod[island + 1]):
            r = islands.rod[j]
            for i in range(columns.first[r], columns.first[r] + columns.size[r]):
                for c in range(4):
                    w[i, c] = momentum.now[i, c]


@part
def _sweep_once(
    island: int, islands: SweepIslands, contacts: Contacts, after: Ints, rows: Rows, loads: Loads, columns: Columns,
    soft: float, tolerance: float, lifting: bool, first: bool, stir: Array, points: Singles, flat: Singles,
) -> float:  # fmt: skip
    """One sweep; returns the largest correction of a contact, in thicknesses. `lifting`: |v_t| is updated."""
    matrix, rod, force, largest = loads.matrix, loads.rod, rows.force, 0.0
    for j in range(islands.first[island], islands.first[island + 1]):
        k = islands.contact[j]
        a, b = rod[k, 0], rod[k, 1]
        at_a, at_b = stir[a] if a >= 0 else 0.0, stir[b] if b >= 0 else 0.0
        thickness = thickness_of(contacts, k)
        if not lifting and at_a + at_b - rows.seen[k, 0] - rows.seen[k, 1] <= QUIET * tolerance * thickness:
            continue
        mu = contacts.friction[k]
        v0, v1, v2 = _at_contact(contacts, k, after, rows, loads, points)
        if lifting:
            lift = mu * math.sqrt(v1 * v1 + v2 * v2)
            if force[k, 0] > 0.0:
                largest = np.inf if first else max(largest, abs(lift - rows.lift[k]) / thickness)
            rows.lift[k] = lift
        x, y, z = force[k, 0], force[k, 1], force[k, 2]
        m = matrix[k]
        free = (
            v0 - m[0] * x - m[1] * y - m[3] * z + rows.lift[k],
            v1 - m[1] * x - m[2] * y - m[4] * z,
            v2 - m[3] * x - m[4] * y - m[5] * z,
        )
        nx, ny, nz = one_contact(m, soft, free, mu, (x, y, z))
        dx, dy, dz = nx - x, ny - y, nz - z
        rows.seen[k, 0], rows.seen[k, 1] = at_a, at_b
        moved = max(m[0] * abs(dx), m[2] * abs(dy), m[5] * abs(dz))
        if moved == 0.0:
            continue
        force[k, 0], force[k, 1], force[k, 2] = nx, ny, nz
        largest = max(largest, moved / thickness)
        for side in range(2):
            r = rod[k, side]
            if r >= 0:
                stir[r] += moved
                e = contacts.edge[k, side]
                add_response(loads.load[k, side], e, after[e], r, loads.start[k, side], columns, dx, dy, dz, flat)
        rows.seen[k, 0] += moved if a >= 0 else 0.0  # its own motion is no reason to visit it again
        rows.seen[k, 1] += moved if b >= 0 else 0.0
    return largest


@kernel
def measure(
    contacts: Contacts, count: int, after: Ints, rows: Rows, loads: Loads, w: Array, error: Array, motion: Array
) -> None:
    """Of each contact: how far gap and slip are from the law (m), and how far the motion w (N, 4) moves its two sides."""
    for k in range(count):
        v0, v1, v2 = _at_contact(contacts, k, after, rows, loads, w)
        gap = rows.apart[k, 0]
        if rows.force[k, 0] > 0.0:
            error[k] = abs(gap)
            motion[k] = abs(v0 - gap)
            pressed = contacts.friction[k] * rows.force[k, 0]
            if rows.force[k, 1] ** 2 + rows.force[k, 2] ** 2 < (0.999 * pressed) ** 2:
                error[k] = max(error[k], math.sqrt(rows.apart[k, 1] ** 2 + rows.apart[k, 2] ** 2))
                motion[k] = max(motion[k], math.sqrt((v1 - rows.apart[k, 1]) ** 2 + (v2 - rows.apart[k, 2]) ** 2))
        else:
            error[k] = max(-gap, 0.0)
            motion[k] = max(-v0, 0.0)
