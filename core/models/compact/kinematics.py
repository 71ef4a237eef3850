"""Positions, frames and strains as functions of the rotations, with their derivatives (Zhao et al. 2022, (7) and (18))."""

from __future__ import annotations

import math

from ...compile.jit import part
from ...errors import Array
from ...maths.geometry.frames import cross, dot, signed_angle, transport
from ...maths.geometry.quaternions import Quaternion, directors_of, from_frame, product, relative, turned
from ...maths.geometry.swing_twist import bending_and_twist
from ...maths.linalg.small import get3, get4, put3, put4
from ..held_frames import FRAMED, FREE_END
from .arrays import Geometry, Linear, Rods, State, System
from .forks import clear_forks, pass_to_fork, store_at_fork, sum_at_fork


@part
def has_element(joint: int, slot: int, before: int, edge: bool, fork: int) -> bool:
    """Whether a vertex has an element in this slot."""
    if joint == FREE_END:
        return False
    if joint != FRAMED:
        return slot == 0
    return bool(before >= 0 if slot == 0 else edge and fork < 0)


@part
def end_frames(
    framed: bool, before: int, of_fork: int, splay: Array, frame: Array, q: Array, i: int, slot: int
) -> tuple[Quaternion, Quaternion]:
    """Frames before and after the element of vertex i, of edges or prescribed, before the correction by `across_seam`."""
    a = get4(frame, i) if framed and slot == 1 else get4(q, before)
    b = get4(frame, i) if framed and slot == 0 else get4(q, i)
    if of_fork >= 0:
        a = product(a, get4(splay, i))
    return a, b


@part
def across_seam(there: bool, seam: Array, r: int, slot: int, b: Quaternion) -> Quaternion:
    """Frame after an element. The seam of a closed rod lies before its first edge, and before a prescribed frame there."""
    return product(b, get4(seam, r)) if there and slot == 0 else b


@part
def held_spin(framed: bool, before: int, spin: Array, i: int, slot: int) -> float:
    """rad, how far prescribed spins twist an element."""
    a = spin[i, 0] if framed and slot == 1 else spin[before, 1]
    b = spin[i, 0] if framed and slot == 0 else spin[i, 1]
    return float(b - a)


@part
def place(rods: Rods, state: State, geometry: Geometry, r: int) -> None:
    """Directors, positions and strains of the iterate from its root and quaternions; (7). The twist is the one nearest to that
    of the last iterate."""
    first, end = rods.start[r], rods.start[r + 1]
    x, q, d1, d2, d3, length = state.x, state.q, geometry.d1, geometry.d2, geometry.d3, rods.rest_length
    after = get3(x, first)
    for j in range(first, end):
        after = sum_at_fork(geometry.carry, rods.of_fork, j, after)
        put3(x, j, after)
        if rods.edge[j]:
            u, v, t = directors_of(get4(q, j))
            put3(d1, j, u)
            put3(d2, j, v)
            put3(d3, j, t)
            if rods.fork[j] < 0:
                l = length[j]  # noqa: E741
                after = (after[0] + l * t[0], after[1] + l * t[1], after[2] + l * t[2])
            store_at_fork(geometry.carry, rods.fork, j, after)
    if rods.closed[r]:
        put3(geometry.gap, r, (after[0] - x[first, 0], after[1] - x[first, 1], after[2] - x[first, 2]))
    _hold_violations(rods, state, geometry, first, end)
    strain, joint, before = geometry.strain, rods.joint, rods.before
    edge, fork, of_fork = rods.edge, rods.fork, rods.of_fork
    for i in range(first, end):
        for slot in range(2):
            if has_element(joint[i], slot, before[i], edge[i], fork[i]):
                framed = joint[i] == FRAMED
                a, b = end_frames(framed, before[i], of_fork[i], rods.splay, geometry.frame, q, i, slot)
                rotation = relative(a, across_seam(rods.closed[r] and i == first, rods.seam, r, slot, b))
                turned_by = held_spin(framed, before[i], geometry.spin, i, slot)
                b1, b2, twist = bending_and_twist(rotation, state.twist[i, slot] + turned_by)
                strain[i, slot, 0], strain[i, slot, 1], strain[i, slot, 2] = b1, b2, twist
                state.twist[i, slot] = twist - turned_by


@part
def _hold_violations(rods: Rods, state: State, geometry: Geometry, first: int, end: int) -> None:
    x, target, violation, rail = state.x, geometry.target, geometry.violation, rods.rail
    for i in range(first, end):
        if rods.held[i]:
            m = (x[i, 0] - target[i, 0], x[i, 1] - target[i, 1], x[i, 2] - target[i, 2])
            u = get3(rail, i)
            along = dot(m, u)
            put3(violation, i, (m[0] - along * u[0], m[1] - along * u[1], m[2] - along * u[2]))


@part
def root_fixed(rods: Rods | Linear, r: int) -> bool:
    """Whether the first vertex is held and can't slide. It then sits at its prescribed position throughout."""
    i = rods.start[r]
    return bool(rods.held[i] and dot(get3(rods.rail, i), get3(rods.rail, i)) == 0.0)


@part
def displace(rods: Rods, state: State, geometry: Geometry, system: System, step: Array, size: float, r: int) -> None:
    """Sets the iterate to base + size * step."""
    first = rods.start[r]
    n = len(state.x)
    for c in range(3):
        state.x[first, c] = system.base_root[r, c] + size * step[n + r, c]
    for j in range(first, rods.start[r + 1]):
        geometry.ahead[j] = 0.0
        if rods.edge[j] and not rods.edge_framed[j]:
            w = (size * step[j, 0], size * step[j, 1], size * step[j, 2])
            q = get4(system.base_q, j)
            geometry.ahead[j] = dot(w, directors_of(q)[2])
            put4(state.q, j, turned(w, q))
    predict_twist(rods, state, geometry, system, r)
    place(rods, state, geometry, r)


@part
def predict_twist(rods: Rods, state: State, geometry: Geometry, system: System, r: int) -> None:
    """Estimates the twist at an iterate from that at the base and the rotations of the edges: where neighbours rotate by more than
    half a turn against each other, the twist nearest to the last one would be short of a whole turn."""
    ahead, twist, base, joint, before = geometry.ahead, state.twist, system.base_twist, rods.joint, rods.before
    for i in range(rods.start[r], rods.start[r + 1]):
        framed = joint[i] == FRAMED
        for slot in range(2):
            if has_element(joint[i], slot, before[i], rods.edge[i], rods.fork[i]):
                a = 0.0 if framed and slot == 1 else ahead[before[i]]
                b = 0.0 if framed and slot == 0 else ahead[i]
                twist[i, slot] = base[i, slot] + b - a


@part
def save_base(rods: Rods, state: State, system: System, r: int) -> None:
    first, end = rods.start[r], rods.start[r + 1]
    put3(system.base_root, r, get3(state.x, first))
    for j in range(first, end):
        put4(system.base_q, j, get4(state.q, j))
        system.base_twist[j, 0], system.base_twist[j, 1] = state.twist[j, 0], state.twist[j, 1]


@part
def reset_turns(rods: Rods, geometry: Geometry, r: int) -> None:
    """Makes the current frames the reference of the turns."""
    for i in range(rods.start[r], rods.start[r + 1]):
        geometry.turn[i] = 0.0
        put3(geometry.t0, i, get3(geometry.d3, i))
        put3(geometry.d0, i, get3(geometry.d1, i))


@part
def turn_edges(rods: Rods, geometry: Geometry, r: int) -> None:
    """Rotation of each edge's material about its tangent since t0 and d0, and its derivative with respect to a small rotation:
    with parallel transport from t0, the angle changes by phi . (t + t0) / (1 + t . t0)."""
    t0, d0, d1, d3, turn, axis = geometry.t0, geometry.d0, geometry.d1, geometry.d3, geometry.turn, geometry.axis
    for j in range(rods.start[r], rods.start[r + 1]):
        if not rods.edge[j]:
            continue
        s, t = get3(t0, j), get3(d3, j)
        angle = signed_angle(transport(get3(d0, j), s, t), get3(d1, j), t)
        difference = turn[j] - angle
        turn[j] = angle + 2.0 * math.pi * math.floor(difference / (2.0 * math.pi) + 0.5)
        f = 1.0 / max(1.0 + dot(s, t), 0.2)
        put3(axis, j, (f * (s[0] + t[0]), f * (s[1] + t[1]), f * (s[2] + t[2])))


@part
def sample_motion(rods: Rods | Linear, geometry: Geometry | Linear, step: Array, out: Array, r: int) -> None:
    """out (N, 4): displacement of the vertices, by a prefix sum, and turn of the edges; (18). Held vertices move only along
    their rail."""
    first, end = rods.start[r], rods.start[r + 1]
    n, arm, d3, axis = len(out), rods.arm, geometry.d3, geometry.axis
    p = get3(step, n + r)
    for i in range(first, end):
        p = sum_at_fork(geometry.carry, rods.of_fork, i, p)
        if rods.held[i]:
            along = dot(p, get3(rods.rail, i))
            for c in range(3):
                out[i, c] = along * rods.rail[i, c]
        else:
            out[i, 0], out[i, 1], out[i, 2] = p
        out[i, 3] = 0.0
        if rods.edge[i]:
            phi = get3(step, i)
            out[i, 3] = dot(get3(axis, i), phi)
            way = cross(phi, get3(d3, i))
            p = (p[0] + arm[i] * way[0], p[1] + arm[i] * way[1], p[2] + arm[i] * way[2])
            store_at_fork(geometry.carry, rods.fork, i, p)


@part
def sample_forces(rods: Rods | Linear, geometry: Geometry | Linear, forces: Array, out: Array, r: int) -> None:
    """Transpose of `sample_motion` for forces (N, 4), by a suffix sum."""
    first, end = rods.start[r], rods.start[r + 1]
    n, arm, d3, axis = len(forces), rods.arm, geometry.d3, geometry.axis
    clear_forks(geometry.carry, rods.forks, r)
    f = (0.0, 0.0, 0.0)
    for i in range(end - 1, first - 1, -1):
        f = sum_at_fork(geometry.carry, rods.fork, i, f)
        moment = (0.0, 0.0, 0.0)
        if rods.edge[i]:
            m, a = cross(get3(d3, i), f), get3(axis, i)
            turn = forces[i, 3]
            moment = (arm[i] * m[0] + turn * a[0], arm[i] * m[1] + turn * a[1], arm[i] * m[2] + turn * a[2])
        put3(out, i, moment)
        g = (forces[i, 0], forces[i, 1], forces[i, 2])
        if rods.held[i]:
            u = get3(rods.rail, i)
            along = dot(g, u)
            g = (along * u[0], along * u[1], along * u[2])
        f = pass_to_fork(geometry.carry, rods.of_fork, i, (f[0] + g[0], f[1] + g[1], f[2] + g[2]))
    put3(out, n + r, f)


@part
def frame_quaternion(t: tuple[float, float, float], d: tuple[float, float, float], spin: float) -> Quaternion:
    """Quaternion of the frame with tangent t and director d, rotated by `spin` about the tangent."""
    half = 0.5 * spin
    return product(from_frame(t, d), (math.cos(half), 0.0, 0.0, math.sin(half)))
