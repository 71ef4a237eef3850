"""A rod at the iterate: its frames and strains, and the potential that a stage minimises, with gradient and Hessian.

The stage's potential is inertia + elasticity + drag - load,
    (q - q~) M (q - q~) / (2 h^2) + E(q) + (q - q* - h w) D (q - q* - h w) / (2 h) - f (q - q~),   q~ = q* + h v*,
whose minimum is a step of backward Euler, or a stage of SDIRK2 for the right q*, v* and h.
"""

from __future__ import annotations

import math

from ...compile.jit import part
from ...errors import Array
from ...maths.geometry.frames import Vector, cross, signed_angle, transport, turn
from .arrays import FRAMED, FREE_END, Forces, Geometry, HeldFrames, Rods, Stage, System
from .assemble import add_entry, clear_system, scatter_lanes
from .element import (
    ACROSS,
    ALONG,
    D1A,
    D1B,
    D2A,
    D2B,
    HIGH,
    IA,
    IB,
    LANES,
    LEAST_CHI,
    LOW,
    MA,
    MB,
    PLACE,
    REST,
    STAR,
    STIFFNESS,
    STRAIN,
    TA,
    TB,
    curvatures,
    element_lanes,
)  # fmt: skip


@part
def get(a: Array, i: int) -> Vector:
    return (a[i, 0], a[i, 1], a[i, 2])


@part
def put(a: Array, i: int, x: Vector) -> None:
    a[i, 0], a[i, 1], a[i, 2] = x


@part
def edge_of(q: Array, i: int, j: int) -> tuple[float, Vector]:
    """Length and tangent of the edge from vertex i to vertex j; length zero is left for the caller to see."""
    x, y, z = q[j, 0] - q[i, 0], q[j, 1] - q[i, 1], q[j, 2] - q[i, 2]
    length = math.sqrt(x * x + y * y + z * z)
    f = 1.0 / length if length > 0.0 else 0.0
    return length, (x * f, y * f, z * f)


@part
def nearest_turn(angle: float, to: float) -> float:
    """The angle plus the whole turns that bring it nearest to `to`: twist is remembered beyond pi."""
    difference = to - angle
    if abs(difference) <= math.pi:
        return angle
    return angle + 2.0 * math.pi * math.floor(difference / (2.0 * math.pi) + 0.5)


@part
def update_geometry(rods: Rods, frames: HeldFrames, geometry: Geometry, q: Array, r: int) -> bool:
    """Frames and strains at q: reference frames come from the base by parallel transport in time, the reference twist with them.

    False if an edge has collapsed or a corner is too sharp.
    """
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    joint, rest_length = rods.joint, rods.rest_length
    t, d1, d2, reference = geometry.t, geometry.d1, geometry.d2, geometry.reference
    reference_twist, base_twist, strain = geometry.reference_twist, geometry.base_twist, geometry.strain
    for j in range(first, end if closed else end - 1):
        length, tangent = edge_of(q, j, j + 1 if j + 1 < end else first)
        if not length > 1e-6 * rest_length[j]:
            return False
        u = transport(get(geometry.base_reference, j), get(geometry.base_t, j), tangent)
        geometry.length[j] = length
        geometry.stretch[j] = length / rest_length[j] - 1.0
        d = turn(u, tangent, q[j, 3])
        put(t, j, tangent)
        put(reference, j, u)
        put(d1, j, d)
        put(d2, j, cross(tangent, d))
    for i in range(first, end):
        if joint[i] == FREE_END:
            continue
        p = i - 1 if i > first else end - 1
        framed = joint[i] == FRAMED
        for slot in range(2):
            if slot == 1 and not framed:
                break
            if framed and not closed and ((slot == 0 and i == first) or (slot == 1 and i + 1 == end)):
                continue
            # Side a is the edge before or the held frame, side b the edge after or the held frame.
            if framed and slot == 1:
                ta, ua, theta_a = get(frames.tangent, i), get(frames.director, i), frames.spin[i]
                d1a = turn(ua, ta, theta_a)
                d2a = cross(ta, d1a)
            else:
                ta, ua, theta_a, d1a, d2a = get(t, p), get(reference, p), q[p, 3], get(d1, p), get(d2, p)
            if framed and slot == 0:
                tb, ub, theta_b = get(frames.tangent, i), get(frames.director, i), frames.spin[i]
                d1b = turn(ub, tb, theta_b)
                d2b = cross(tb, d1b)
            else:
                tb, ub, theta_b, d1b, d2b = get(t, i), get(reference, i), q[i, 3], get(d1, i), get(d2, i)
            o0, o1, o2, o3, chi, u = curvatures(ta, ua, d1a, d2a, tb, d1b, d2b)
            if not chi > LEAST_CHI:
                return False
            angle = nearest_turn(signed_angle(u, ub, tb), base_twist[i, slot])
            reference_twist[i, slot] = angle
            strain[i, slot, 0] = o0
            strain[i, slot, 1] = o1
            strain[i, slot, 2] = o2
            strain[i, slot, 3] = o3
            strain[i, slot, 4] = angle + theta_b - theta_a
    return True


@part
def rebase(geometry: Geometry, first: int, end: int) -> None:
    """Makes the iterate the base from which frames are transported next."""
    for i in range(first, end):
        for c in range(3):
            geometry.base_reference[i, c] = geometry.reference[i, c]
            geometry.base_t[i, c] = geometry.t[i, c]
        geometry.base_twist[i, 0] = geometry.reference_twist[i, 0]
        geometry.base_twist[i, 1] = geometry.reference_twist[i, 1]


@part
def evaluate(
    rods: Rods,
    frames: HeldFrames,
    forces: Forces,
    stage: Stage,
    geometry: Geometry,
    system: System,
    q: Array,
    r: int,
    h: float,
    lanes: Array,
    exact: bool,
) -> float:
    """The potential at the iterate (its geometry must be up to date), its gradient and its Hessian.

    With `exact` the Hessian is the true one, otherwise a positive definite part of it. h is the stage's effective step.
    """
    weight = rods.damping_time[r] / h
    clear_system(rods, system, r)
    potential = _inertia(rods, forces, stage, system, q, r, h)
    potential += _stretch(rods, geometry, stage, system.gradient, r, weight)
    return potential + _elements(rods, frames, stage, geometry, system, r, weight, lanes, exact)


@part
def _elements(
    rods: Rods,
    frames: HeldFrames,
    stage: Stage,
    geometry: Geometry,
    system: System,
    r: int,
    weight: float,
    lanes: Array,
    exact: bool,
) -> float:
    """Energy of bending and twisting, with derivatives. Elements are gathered until all lanes are full.

    Each takes the Hessian of stretching of its edge b along; beside a free first vertex an edge has a lane of its own.
    """
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    t, d1, d2, length, strain = geometry.t, geometry.d1, geometry.d2, geometry.length, geometry.strain
    stiffness, rest, star, tension = rods.stiffness, rods.rest, stage.strain, geometry.tension
    joint, stretch, rest_length = rods.joint, rods.stretch, rods.rest_length
    energy = 0.0
    filled = 0
    for i in range(first, end):
        p = i - 1 if i > first else end - 1
        framed, free = joint[i] == FRAMED, joint[i] == FREE_END
        for slot in range(2):
            has_a, has_b = not free and (not framed or slot == 0), not framed or slot == 1
            if slot == 1 and not framed:
                break
            if not closed and ((i == first and has_a) or (i + 1 == end and has_b)):
                continue  # no edge there
            a = p if has_a else i  # beside a free end any frame will do for side a: the stiffness is zero
            for c in range(3):
                lanes[(TA + c) * LANES + filled] = t[a, c]
                lanes[(D1A + c) * LANES + filled] = d1[a, c]
                lanes[(D2A + c) * LANES + filled] = d2[a, c]
                lanes[(TB + c) * LANES + filled] = t[i, c]
                lanes[(D1B + c) * LANES + filled] = d1[i, c]
                lanes[(D2B + c) * LANES + filled] = d2[i, c]
            if framed:
                _gather_frame(frames, lanes, filled, i, TA if slot == 1 else TB)
            for c in range(5):
                lanes[(STRAIN + c) * LANES + filled] = strain[i, slot, c]
                lanes[(STIFFNESS + c) * LANES + filled] = stiffness[i, slot, c]
                lanes[(REST + c) * LANES + filled] = rest[i, slot, c]
                lanes[(STAR + c) * LANES + filled] = star[i, slot, c]
            along = across = 0.0
            if has_b:
                across = tension[i] / length[i]
                if not exact:
                    across = max(across, 0.0)
                along = stretch[i] * (1.0 + weight) / rest_length[i] - across
            lanes[IA * LANES + filled] = 1.0 / length[p] if has_a else 0.0
            lanes[IB * LANES + filled] = 1.0 / length[i] if has_b else 0.0
            lanes[MA * LANES + filled] = 1.0 if has_a else 0.0
            lanes[MB * LANES + filled] = 1.0 if has_b else 0.0
            lanes[ALONG * LANES + filled] = along
            lanes[ACROSS * LANES + filled] = across
            lanes[PLACE * LANES + filled] = i
            lanes[LOW * LANES + filled] = 0.0 if has_a else 4.0
            lanes[HIGH * LANES + filled] = 11.0 if has_b else 7.0
            filled += 1
            if filled == LANES:
                element_lanes(lanes, weight, 1.0 if exact else 0.0)
                energy += scatter_lanes(system, lanes, filled, first, end, closed, r)
                filled = 0
    if filled > 0:
        element_lanes(lanes, weight, 1.0 if exact else 0.0)
        energy += scatter_lanes(system, lanes, filled, first, end, closed, r)
    return energy


@part
def _gather_frame(frames: HeldFrames, lanes: Array, lane: int, i: int, row: int) -> None:
    t = get(frames.tangent, i)
    d1 = turn(get(frames.director, i), t, frames.spin[i])
    d2 = cross(t, d1)
    at = row * LANES + lane
    lanes[at], lanes[at + LANES], lanes[at + 2 * LANES] = t
    at += 3 * LANES
    lanes[at], lanes[at + LANES], lanes[at + 2 * LANES] = d1
    at += 3 * LANES
    lanes[at], lanes[at + LANES], lanes[at + 2 * LANES] = d2


@part
def _stretch(rods: Rods, geometry: Geometry, stage: Stage, gradient: Array, r: int, weight: float) -> float:
    """Energy EA l / 2 (|e| / l - 1)^2 of the edges, and its gradient; its Hessian goes with the elements'."""
    first, end = rods.start[r], rods.start[r + 1]
    t, strain, star, ea, rest_length = geometry.t, geometry.stretch, stage.stretch, rods.stretch, rods.rest_length
    energy = 0.0
    for j in range(first, end if rods.closed[r] else end - 1):
        following = j + 1 if j + 1 < end else first
        rate = strain[j] - star[j]
        tension = ea[j] * (strain[j] + weight * rate)
        for c in range(3):
            gradient[j, c] -= tension * t[j, c]
            gradient[following, c] += tension * t[j, c]
        energy += 0.5 * ea[j] * rest_length[j] * (strain[j] * strain[j] + weight * rate * rate)
    return energy


@part
def _inertia(rods: Rods, forces: Forces, stage: Stage, system: System, q: Array, r: int, h: float) -> float:
    """Potential of inertia, drag and load, with its derivatives."""
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    mass, drag, force, wind, rate = rods.mass, forces.drag, forces.force, forces.wind, forces.drag_rate[0]
    q_star, v_star, gradient, gyroscopic = stage.q, stage.v, system.gradient, forces.gyroscopic
    band, border, corner = system.band, system.border, system.corner
    n = 4 * (end - first)
    ih = 1.0 / h
    hh = ih * ih
    potential = 0.0
    for i in range(first, end):
        energy = 0.0
        for c in range(4):
            deviation = q[i, c] - q_star[i, c] - h * v_star[i, c]
            load = force[i, c] + gyroscopic[i, c]
            pull = mass[i, c] * hh * deviation - load
            gradient[i, c] += pull
            energy += deviation * (pull - load)
        potential += 0.5 * energy
    if closed:
        for k in range(n):
            inertia = mass[first + k // 4, k % 4] * hh
            add_entry(band, border, corner, 4 * first, n, closed, r, k, k, inertia)
    else:
        for i in range(first, end):
            for c in range(4):
                band[4 * i + c, 0] += mass[i, c] * hh
    for i in range(first, end):
        k = 4 * (i - first)
        if drag[i, 0] == 0.0 and drag[i, 2] == 0.0 and drag[i, 5] == 0.0:
            continue
        x = q[i, 0] - q_star[i, 0] - h * wind[0]
        y = q[i, 1] - q_star[i, 1] - h * wind[1]
        z = q[i, 2] - q_star[i, 2] - h * wind[2]
        fx = (drag[i, 0] * x + drag[i, 1] * y + drag[i, 3] * z) * ih
        fy = (drag[i, 1] * x + drag[i, 2] * y + drag[i, 4] * z) * ih
        fz = (drag[i, 3] * x + drag[i, 4] * y + drag[i, 5] * z) * ih
        spin = q[i, 3] - q_star[i, 3]
        brake = mass[i, 3] * rate * ih
        gradient[i, 0] += fx
        gradient[i, 1] += fy
        gradient[i, 2] += fz
        gradient[i, 3] += brake * spin
        potential += 0.5 * (x * fx + y * fy + z * fz + brake * spin * spin)
        m = 0
        for c in range(3):
            for s in range(c + 1):
                add_entry(band, border, corner, 4 * first, n, closed, r, k + c, k + s, drag[i, m] * ih)
                m += 1
        add_entry(band, border, corner, 4 * first, n, closed, r, k + 3, k + 3, brake)
    return potential
