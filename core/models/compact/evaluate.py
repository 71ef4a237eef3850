"""The potential that a stage minimises, with gradient and Hessian: inertia (30, 31), elasticity (29), drag and loads.

As in the paper the Hessian is J^T H J, and what it drops, (dJ/ds) : (dE/dx), can be had here for next to nothing: a chain's
positions are sums of terms that depend on one rotation each, so it only changes the diagonal blocks. With `exact` it is
there.

The inertia of a segment's sections is that of its directors, I1 |d1'|^2 / 2 + I2 |d2'|^2 / 2: the same as (31) with the
radius that is missing there, but for the averaging over two segments, which would leave a twist to and fro without inertia. They
aim at where the angular velocity would turn them, and not straight on: a rod that spins keeps its spin.
"""

from __future__ import annotations

from ...compile.jit import part
from ...errors import Array
from ...maths.geometry.frames import Vector, cross, dot
from ...maths.geometry.quaternions import directors_of, relative
from ...maths.linalg.small import (
    Symmetric,
    add3,
    add6,
    crossing,
    get3,
    image,
    outer,
    plus,
    put3,
    scaled,
    symmetric,
    times,
    turned_over,
)
from ..held_frames import FRAMED
from .arrays import Forces, Geometry, Rods, Stage, State, System
from .forks import carried, clear_forks, hand_down
from .kinematics import across_seam, end_frames, has_element

FIRM = 1e4  # how stiff holds are, times the stiffest that they hold


@part
def evaluate(
    rods: Rods, forces: Forces, stage: Stage, geometry: Geometry, system: System, state: State, r: int, h: float,
    firm: float, exact: bool,
) -> tuple[float, float, float]:  # fmt: skip
    """Writes the linear system and the gradient at the iterate, which `place` has placed. Returns the potential; by how much holds
    and loops are missed, in metres (the constraints C of (11)); and the largest force that they give.

    `firm` is the stiffness of holds; with `exact` the Hessian is the true one, otherwise a positive definite part of it."""
    potential, misses, most = vertices(rods, forces, stage, geometry, system, state, r, h)
    potential += sections(rods, stage, geometry, system, r, exact)
    potential += elements(rods, stage, geometry, system, state.q, r, rods.damping_time[r] / h, exact)
    curve(rods, geometry, system, state.loop, r, exact)
    firm_holds(rods, geometry, system, r, firm)
    fix_edges(rods, system, r)
    gather_gradient(rods, geometry, system, state.loop, r)
    return potential, misses, most


@part
def firmness(rods: Rods, forces: Forces, state: State, r: int, h: float) -> float:
    """Of holds: far more than of all that they hold."""
    mass, pulls, length = 0.0, 0.0, 0.0
    for i in range(rods.start[r], rods.start[r + 1]):
        mass += rods.mass[i, 0]
        length += rods.rest_length[i]
        for c in range(3):
            pulls += abs(forces.force[i, c]) + abs(state.pull[i, c])
    return float(FIRM * (mass / (h * h) + rods.firmness[r] + pulls / length))


@part
def largest_pull(rods: Rods, forces: Forces, r: int, h: float) -> float:
    """N: more than any hold that can be met has to give. What is out of reach is pulled at no harder."""
    mass, loads, length = 0.0, 0.0, 0.0
    for i in range(rods.start[r], rods.start[r + 1]):
        mass += rods.mass[i, 0]
        length += rods.rest_length[i]
        for c in range(3):
            loads += abs(forces.force[i, c])
    return float(10.0 * (length * (mass / (h * h) + rods.firmness[r]) + loads))


@part
def vertices(
    rods: Rods, forces: Forces, stage: Stage, geometry: Geometry, system: System, state: State, r: int, h: float
) -> tuple[float, float, float]:
    """(30), drag, loads, and what holds give."""
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    x, pull, mass, force, drag, wind = state.x, state.pull, rods.mass, forces.force, forces.drag, forces.wind
    g, hh, miss = system.g, system.h, geometry.miss
    ih = 1.0 / h
    potential, misses, most = 0.0, 0.0, 0.0
    for i in range(first, end):
        m = mass[i, 0] * ih * ih
        for c in range(6):
            hh[i, c] = 0.0
        hh[i, 0], hh[i, 2], hh[i, 5] = m, m, m
        for c in range(3):
            deviation = x[i, c] - stage.x[i, c] - h * stage.v[i, c]
            g[i, c] = m * deviation - force[i, c]
            potential += deviation * (0.5 * m * deviation - force[i, c])
        if drag[i, 0] != 0.0 or drag[i, 2] != 0.0 or drag[i, 5] != 0.0:
            a = x[i, 0] - stage.x[i, 0] - h * wind[0]
            b = x[i, 1] - stage.x[i, 1] - h * wind[1]
            c_ = x[i, 2] - stage.x[i, 2] - h * wind[2]
            fx = (drag[i, 0] * a + drag[i, 1] * b + drag[i, 3] * c_) * ih
            fy = (drag[i, 1] * a + drag[i, 2] * b + drag[i, 4] * c_) * ih
            fz = (drag[i, 3] * a + drag[i, 4] * b + drag[i, 5] * c_) * ih
            add3(g, i, (fx, fy, fz), 1.0)
            potential += 0.5 * (a * fx + b * fy + c_ * fz)
            for c in range(6):
                hh[i, c] += drag[i, c] * ih
        if rods.held[i]:
            for c in range(3):
                g[i, c] -= pull[i, c]
                misses += abs(miss[i, c])
                most = max(most, abs(pull[i, c]))
    if closed:
        for c in range(3):
            misses += abs(geometry.gap[r, c])
            most = max(most, abs(state.loop[r, c]))
    return potential, misses, most


@part
def sections(rods: Rods, stage: Stage, geometry: Geometry, system: System, r: int, exact: bool) -> float:
    """(31). With |d| = 1 the potential m |d - d~|^2 / 2 h^2 is a constant less m d~ . d / h^2, where d~ is the director's aim."""
    first = rods.start[r]
    aim, weight = stage.aim, stage.weight
    c, d, o = system.c, system.d, system.o
    potential = 0.0
    for j in range(first, rods.start[r + 1]):
        for s in range(9):
            o[j, s] = 0.0
            system.e[j, s] = 0.0
            if s < 6:
                d[j, s] = 0.0
            if s < 3:
                c[j, s] = 0.0
    for j in range(first, rods.start[r + 1]):
        if not rods.edge[j]:
            continue
        for k in range(2):
            director = get3(geometry.d1, j) if k == 0 else get3(geometry.d2, j)
            goal = (aim[j, 3 * k], aim[j, 3 * k + 1], aim[j, 3 * k + 2])
            near = dot(goal, director)
            potential += weight[j, k] - near
            add3(c, j, cross(goal, director), 1.0)
            if exact:
                add6(d, j, symmetric(outer(goal, director, -1.0)), 1.0)
                for e in (0, 2, 5):
                    d[j, e] += near
            else:
                add6(d, j, _across(director), weight[j, k])
    return potential


@part
def _across(t: Vector) -> Symmetric:
    """I - t t^T"""
    return (1.0 - t[0] * t[0], -t[1] * t[0], 1.0 - t[1] * t[1], -t[2] * t[0], -t[2] * t[1], 1.0 - t[2] * t[2])


@part
def elements(
    rods: Rods, stage: Stage, geometry: Geometry, system: System, q: Array, r: int, weight: float, exact: bool
) -> float:
    """(29), with the strain 2 v of the quaternion (w, v) from the frame before to the frame after, integrated over the element.

    Under rotations a and b of the two frames, in the frame before, its quaternion becomes exp(-a/2) exp(b/2) (w, v): to second
    order in a, b and delta = b - a
        2 v changes by M delta, M = w - [v]x, and by -v delta^2 / 4 - (w + [v]x)^-1-like terms of a x b,
    which add up to the moment mu = w s + v x s of the stress s, and to -(s.v) delta^2 / 4 - mu . (a x b) / 2.
    """
    before, edge, fork, of_fork = rods.before, rods.edge, rods.fork, rods.of_fork
    joint, stiffness, rest, star, strain = rods.joint, rods.stiffness, rods.rest, stage.strain, geometry.strain
    c, d, o = system.c, system.d, system.o
    energy = 0.0
    for i in range(rods.start[r], rods.start[r + 1]):
        p = before[i]
        framed = joint[i] == FRAMED
        for slot in range(2):
            if not has_element(joint[i], slot, p, edge[i], fork[i]):
                continue
            a, b = end_frames(framed, p, of_fork[i], rods.splay, geometry.frame, q, i, slot)
            b = across_seam(rods.closed[r] and i == rods.start[r], rods.seam, r, slot, b)
            rotation = relative(a, b)
            w, v = rotation[0], (rotation[1], rotation[2], rotation[3])
            s0, k0, e0 = _stress(stiffness[i, slot, 0], strain[i, slot, 0], rest[i, slot, 0], star[i, slot, 0], weight)
            s1, k1, e1 = _stress(stiffness[i, slot, 1], strain[i, slot, 1], rest[i, slot, 1], star[i, slot, 1], weight)
            s2, k2, e2 = _stress(stiffness[i, slot, 2], strain[i, slot, 2], rest[i, slot, 2], star[i, slot, 2], weight)
            s = (s0, s1, s2)
            energy += e0 + e1 + e2
            turning = cross(v, s)
            mu = (w * s[0] + turning[0], w * s[1] + turning[1], w * s[2] + turning[2])
            t1, t2, t3 = directors_of(a)
            frame = (t1[0], t2[0], t3[0], t1[1], t2[1], t3[1], t1[2], t2[2], t3[2])
            moment = image(frame, mu)
            m = (w, v[2], -v[1], -v[2], w, v[0], v[1], -v[0], w)  # w - [v]x
            km = (
                k0 * m[0], k0 * m[1], k0 * m[2], k1 * m[3], k1 * m[4], k1 * m[5], k2 * m[6], k2 * m[7], k2 * m[8],
            )  # fmt: skip
            inner = times(turned_over(m), km)
            if exact:
                shift = -0.5 * dot(s, v)
                inner = (
                    inner[0] + shift, inner[1], inner[2], inner[3], inner[4] + shift, inner[5], inner[6], inner[7],
                    inner[8] + shift,
                )  # fmt: skip
            k = times(times(frame, inner), turned_over(frame))
            has_a, has_b = not framed or slot == 0, not framed or slot == 1
            if has_a:
                add3(c, p, moment, -1.0)
                add6(d, p, symmetric(k), 1.0)
            if has_b:
                add3(c, i, moment, 1.0)
                add6(d, i, symmetric(k), 1.0)
            if has_a and has_b:
                # Rows: the edge after; columns: the edge before.
                beside = plus(scaled(k, -1.0), crossing(moment, -0.5)) if exact else scaled(k, -1.0)
                for e, value in enumerate(beside):
                    o[i, e] += value
    return energy


@part
def _stress(k: float, strain: float, rest: float, star: float, weight: float) -> tuple[float, float, float]:
    """Moment, stiffness and energy; `weight` is the damping time by the step's length."""
    deviation, rate = strain - rest, strain - star
    return (
        k * (deviation + weight * rate),
        k * (1.0 + weight),
        0.5 * k * (deviation * deviation + weight * rate * rate),
    )


@part
def curve(rods: Rods, geometry: Geometry, system: System, loop: Array, r: int, exact: bool) -> None:
    """What the paper drops: as a segment turns, all beyond it moves on a circle, so that the force G on what is beyond it resists.
    With G . l d(phi) to second order, the diagonal block is l ((G d^T + d G^T) / 2 - (G . d)). Under tension -G . d is
    positive."""
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    g, d, arm, d3 = system.g, system.d, rods.arm, geometry.d3
    clear_forks(geometry.carry, rods.forks, r)
    f = (-loop[r, 0], -loop[r, 1], -loop[r, 2]) if closed else (0.0, 0.0, 0.0)
    for i in range(end - 1, first - 1, -1):
        f = carried(geometry.carry, rods.fork, i, f)
        if rods.edge[i]:
            t = get3(d3, i)
            tension = -dot(f, t)
            if exact:
                add6(d, i, symmetric(outer(f, t, 1.0)), arm[i])
                for e in (0, 2, 5):
                    d[i, e] += arm[i] * tension
            elif tension > 0.0:
                add6(d, i, _across(t), arm[i] * tension)
        f = hand_down(geometry.carry, rods.of_fork, i, (f[0] + g[i, 0], f[1] + g[i, 1], f[2] + g[i, 2]))


@part
def firm_holds(rods: Rods, geometry: Geometry, system: System, r: int, firm: float) -> None:
    """Springs that close what holds are missed by: stiff, and only to find the way, for in the end the known pull is all
    there is."""
    first, end = rods.start[r], rods.start[r + 1]
    for i in range(first, end):
        if rods.held[i]:
            add3(system.g, i, get3(geometry.miss, i), firm)
            add6(system.h, i, _across(get3(rods.rail, i)), firm)


@part
def fix_edges(rods: Rods, system: System, r: int) -> None:
    """Takes edges with prescribed frames out of the matrix, and the coupling across the seam of a closed rod out of the chain."""
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    d, o, e, seam = system.d, system.o, system.e, system.seam
    for j in range(first, end):
        if rods.edge_framed[j] or (rods.before[j] >= 0 and rods.edge_framed[rods.before[j]]):
            for s in range(9):
                o[j, s] = 0.0
        if rods.edge_framed[j]:
            for s in range(9):
                e[j, s] = 0.0
            for s in range(6):
                d[j, s] = 0.0
            d[j, 0], d[j, 2], d[j, 5] = 1.0, 1.0, 1.0
    for s in range(9):
        seam[r, s] = o[first, s] if closed else 0.0
        o[first, s] = 0.0


@part
def gather_gradient(rods: Rods, geometry: Geometry, system: System, loop: Array, r: int) -> None:
    """Of rotations and root: J^T of that at the vertices, by a suffix sum, and what the rotations have of their own."""
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    g, c, d3, arm, gradient = system.g, system.c, geometry.d3, rods.arm, system.gradient
    clear_forks(geometry.carry, rods.forks, r)
    f = (-loop[r, 0], -loop[r, 1], -loop[r, 2]) if closed else (0.0, 0.0, 0.0)
    for i in range(end - 1, first - 1, -1):
        f = carried(geometry.carry, rods.fork, i, f)
        m = (0.0, 0.0, 0.0)
        if rods.edge[i] and not rods.edge_framed[i]:
            m = cross(get3(d3, i), f)
            m = (arm[i] * m[0] + c[i, 0], arm[i] * m[1] + c[i, 1], arm[i] * m[2] + c[i, 2])
        put3(gradient, i, m)
        f = hand_down(geometry.carry, rods.of_fork, i, (f[0] + g[i, 0], f[1] + g[i, 1], f[2] + g[i, 2]))
    if closed:
        f = (f[0] + loop[r, 0], f[1] + loop[r, 1], f[2] + loop[r, 2])
    put3(gradient, len(g) + r, f)
