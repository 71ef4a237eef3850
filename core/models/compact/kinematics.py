"""From rotations to positions, frames and strains; and how a small change of the unknowns moves them (2022 paper, (7) and (18))."""

from __future__ import annotations

import math

from ...errors import Array
from ...geometry.frames import cross, dot, signed_angle, transport
from ...geometry.quaternions import Quaternion, directors_of, from_frame, product, relative, turned
from ...jit import part
from ...linalg.small import get3, put3
from ..der.arrays import FRAMED, FREE_END
from .arrays import Geometry, Linear, Rods, State


@part
def get4(a: Array, i: int) -> Quaternion:
    return (a[i, 0], a[i, 1], a[i, 2], a[i, 3])


@part
def put4(a: Array, i: int, q: Quaternion) -> None:
    a[i, 0], a[i, 1], a[i, 2], a[i, 3] = q


@part
def edge_count(rods: Rods | Linear, r: int) -> int:
    n = rods.start[r + 1] - rods.start[r]
    return int(n if rods.closed[r] else n - 1)


@part
def has_element(joint: int, slot: int, at_start: bool, at_end: bool, closed: bool) -> bool:
    """Whether a vertex has an element in this slot."""
    if joint == FREE_END:
        return False
    if joint != FRAMED:
        return slot == 0
    return bool(closed or not (at_start if slot == 0 else at_end))


@part
def end_frames(rods: Rods, geometry: Geometry, q: Array, r: int, i: int, slot: int) -> tuple[Quaternion, Quaternion]:
    """Frames before and after the element of vertex i: of edges, or held."""
    first, end = rods.start[r], rods.start[r + 1]
    p = i - 1 if i > first else end - 1
    framed = rods.joint[i] == FRAMED
    a = get4(geometry.frame, i) if framed and slot == 1 else get4(q, p)
    b = get4(geometry.frame, i) if framed and slot == 0 else get4(q, i)
    if (
        rods.closed[r] and i == first and slot == 0
    ):  # the seam lies before the first edge, and before a frame that is held there
        b = product(b, get4(rods.seam, r))
    return a, b


@part
def place(rods: Rods, state: State, geometry: Geometry, r: int) -> None:
    """Directors, positions and strains of the iterate, from its root and its quaternions. (7)"""
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    edges = edge_count(rods, r)
    x, q, d1, d2, d3, length = state.x, state.q, geometry.d1, geometry.d2, geometry.d3, rods.rest_length
    for j in range(first, first + edges):
        u, v, t = directors_of(get4(q, j))
        put3(d1, j, u)
        put3(d2, j, v)
        put3(d3, j, t)
        l = length[j]  # noqa: E741
        after = (x[j, 0] + l * t[0], x[j, 1] + l * t[1], x[j, 2] + l * t[2])
        if j + 1 < end:
            put3(x, j + 1, after)
        else:
            put3(geometry.gap, r, (after[0] - x[first, 0], after[1] - x[first, 1], after[2] - x[first, 2]))
    _miss(rods, state, geometry, first, end)
    strain = geometry.strain
    for i in range(first, end):
        for slot in range(2):
            if has_element(rods.joint[i], slot, i == first, i + 1 == end, closed):
                a, b = end_frames(rods, geometry, q, r, i, slot)
                rotation = relative(a, b)
                for c in range(3):
                    strain[i, slot, c] = 2.0 * rotation[c + 1]


@part
def _miss(rods: Rods, state: State, geometry: Geometry, first: int, end: int) -> None:
    x, target, miss, rail = state.x, geometry.target, geometry.miss, rods.rail
    for i in range(first, end):
        if rods.held[i]:
            m = (x[i, 0] - target[i, 0], x[i, 1] - target[i, 1], x[i, 2] - target[i, 2])
            u = get3(rail, i)
            along = dot(m, u)
            put3(miss, i, (m[0] - along * u[0], m[1] - along * u[1], m[2] - along * u[2]))


@part
def root_fixed(rods: Rods | Linear, r: int) -> bool:
    """The first vertex is held, and can't slide: then it is where it belongs from the beginning."""
    i = rods.start[r]
    return bool(rods.held[i] and dot(get3(rods.rail, i), get3(rods.rail, i)) == 0.0)


@part
def displace(
    rods: Rods, state: State, geometry: Geometry, base_q: Array, base_root: Array, step: Array, size: float, r: int
) -> None:
    """Places the iterate at a part of a step from a base."""
    first = rods.start[r]
    n = len(state.x)
    for c in range(3):
        state.x[first, c] = base_root[r, c] + size * step[n + r, c]
    for j in range(first, first + edge_count(rods, r)):
        if not rods.edge_framed[j]:
            w = (size * step[j, 0], size * step[j, 1], size * step[j, 2])
            put4(state.q, j, turned(w, get4(base_q, j)))
    place(rods, state, geometry, r)


@part
def keep_base(rods: Rods, state: State, base_q: Array, base_root: Array, r: int) -> None:
    first, end = rods.start[r], rods.start[r + 1]
    put3(base_root, r, get3(state.x, first))
    for j in range(first, end):
        put4(base_q, j, get4(state.q, j))


@part
def turn_edges(rods: Rods, geometry: Geometry, r: int) -> None:
    """By how much each edge's material has turned about its tangent since t0 and d0, and how a small rotation changes it:
    carried by parallel transport from t0, the angle changes with phi . (t + t0) / (1 + t . t0)."""
    first = rods.start[r]
    t0, d0, d1, d3, turn, axis = geometry.t0, geometry.d0, geometry.d1, geometry.d3, geometry.turn, geometry.axis
    for j in range(first, first + edge_count(rods, r)):
        s, t = get3(t0, j), get3(d3, j)
        angle = signed_angle(transport(get3(d0, j), s, t), get3(d1, j), t)
        difference = turn[j] - angle
        turn[j] = angle + 2.0 * math.pi * math.floor(difference / (2.0 * math.pi) + 0.5)
        f = 1.0 / max(1.0 + dot(s, t), 0.2)
        put3(axis, j, (f * (s[0] + t[0]), f * (s[1] + t[1]), f * (s[2] + t[2])))


@part
def sample_motion(rods: Rods | Linear, geometry: Geometry | Linear, step: Array, out: Array, r: int) -> None:
    """out (N, 4): the motion of vertices, by a prefix sum, and the turn of edges. What is held stays. (18)"""
    first, end = rods.start[r], rods.start[r + 1]
    n, arm, d3, axis = len(out), rods.arm, geometry.d3, geometry.axis
    p = get3(step, n + r)
    last = first + edge_count(rods, r)
    for i in range(first, end):
        if rods.held[i]:
            along = dot(p, get3(rods.rail, i))
            for c in range(3):
                out[i, c] = along * rods.rail[i, c]
        else:
            out[i, 0], out[i, 1], out[i, 2] = p
        out[i, 3] = 0.0
        if i < last:
            phi = get3(step, i)
            out[i, 3] = dot(get3(axis, i), phi)
            way = cross(phi, get3(d3, i))
            p = (p[0] + arm[i] * way[0], p[1] + arm[i] * way[1], p[2] + arm[i] * way[2])


@part
def sample_forces(rods: Rods | Linear, geometry: Geometry | Linear, forces: Array, out: Array, r: int) -> None:
    """The transpose, by a suffix sum, for forces (N, 4)."""
    first, end = rods.start[r], rods.start[r + 1]
    n, arm, d3, axis = len(forces), rods.arm, geometry.d3, geometry.axis
    last = first + edge_count(rods, r)
    f = (0.0, 0.0, 0.0)
    for i in range(end - 1, first - 1, -1):
        moment = (0.0, 0.0, 0.0)
        if i < last:
            m, a = cross(get3(d3, i), f), get3(axis, i)
            turn = forces[i, 3]
            moment = (arm[i] * m[0] + turn * a[0], arm[i] * m[1] + turn * a[1], arm[i] * m[2] + turn * a[2])
        put3(out, i, moment)
        g = (forces[i, 0], forces[i, 1], forces[i, 2])
        if rods.held[i]:
            u = get3(rods.rail, i)
            along = dot(g, u)
            g = (along * u[0], along * u[1], along * u[2])
        f = (f[0] + g[0], f[1] + g[1], f[2] + g[2])
    put3(out, n + r, f)


@part
def frame_quaternion(t: tuple[float, float, float], d: tuple[float, float, float], spin: float) -> Quaternion:
    """Of a tangent and a director across it, turned about the tangent."""
    half = 0.5 * spin
    return product(from_frame(t, d), (math.cos(half), 0.0, 0.0, math.sin(half)))
