"""Potential minimised by a stage, with gradient and Hessian: inertia (30, 31), elasticity (29), drag and loads. Equation
numbers refer to Zhao et al. 2022.

As in the paper the Hessian is J^T H J. The dropped term (dJ/ds) : (dE/dx) is cheap here: positions along a chain are sums of
terms that depend on one rotation each, so it only changes the diagonal blocks. It is included with `exact`.

The inertia of a segment's cross-sections is I1 |d1'|^2 / 2 + I2 |d2'|^2 / 2. This is (31) with the radius that is missing there
and without averaging over two segments, which would leave alternating twist without inertia. The directors' targets are rotated
by the angular velocity rather than extrapolated along straight lines, so that a spinning rod keeps its spin.
"""

from __future__ import annotations

from ...compile.jit import part
from ...errors import Array
from ...maths.geometry.frames import Vector, cross, dot
from ...maths.geometry.quaternions import directors_of, relative
from ...maths.geometry.swing_twist import facing, strain_curvature, strain_gradients
from ...maths.linalg.small import (
    Symmetric,
    add3,
    add6,
    get3,
    matvec,
    matvec_t,
    outer,
    plus,
    put3,
    scaled,
    skew,
    symmetric,
    times,
    transposed,
)
from ..held_frames import FRAMED
from .arrays import Forces, Geometry, Rods, Stage, State, System
from .forks import clear_forks, pass_to_fork, sum_at_fork
from .kinematics import across_seam, end_frames, has_element

PENALTY_FACTOR = 1e4  # penalty stiffness of holds relative to the stiffest part of the rod


@part
def evaluate(
    rods: Rods, forces: Forces, stage: Stage, geometry: Geometry, system: System, state: State, r: int, h: float,
    penalty: float, exact: bool,
) -> tuple[float, float, float]:  # fmt: skip
    """Writes the linear system and the gradient at the iterate, after `place`. Returns the potential; the 1-norm of the
    violations of holds and loop closure in metres (the constraints C of (11)); and the largest multiplier.

    `penalty` is the stiffness of holds. With `exact` the Hessian is the exact one, otherwise a positive definite part of it."""
    potential, violations, most = vertices(rods, forces, stage, geometry, system, state, r, h)
    potential += sections(rods, stage, geometry, system, r, exact)
    potential += elements(rods, stage, geometry, system, state.q, r, rods.damping_time[r] / h, exact)
    geometric_stiffness(rods, geometry, system, state.loop_force, r, exact)
    add_penalties(rods, geometry, system, r, penalty)
    fix_edges(rods, system, r)
    gather_gradient(rods, geometry, system, state.loop_force, r)
    return potential, violations, most


@part
def penalty_stiffness(rods: Rods, forces: Forces, state: State, r: int, h: float) -> float:
    """N/m, penalty stiffness of holds: far above all other stiffnesses of the rod."""
    mass, hold_forces, length = 0.0, 0.0, 0.0
    for i in range(rods.start[r], rods.start[r + 1]):
        mass += rods.mass[i, 0]
        length += rods.rest_length[i]
        for c in range(3):
            hold_forces += abs(forces.force[i, c]) + abs(state.hold_force[i, c])
    return float(PENALTY_FACTOR * (mass / (h * h) + rods.stiffest[r] + hold_forces / length))


@part
def largest_hold_force(rods: Rods, forces: Forces, r: int, h: float) -> float:
    """N, upper bound of the force of a hold that can be satisfied; it limits the pull towards holds out of reach."""
    mass, loads, length = 0.0, 0.0, 0.0
    for i in range(rods.start[r], rods.start[r + 1]):
        mass += rods.mass[i, 0]
        length += rods.rest_length[i]
        for c in range(3):
            loads += abs(forces.force[i, c])
    return float(10.0 * (length * (mass / (h * h) + rods.stiffest[r]) + loads))


@part
def vertices(
    rods: Rods, forces: Forces, stage: Stage, geometry: Geometry, system: System, state: State, r: int, h: float
) -> tuple[float, float, float]:
    """Inertia of the vertices (30), drag, loads and multipliers of the holds."""
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    x, hold_force, mass = state.x, state.hold_force, rods.mass
    force, drag, wind = forces.force, forces.drag, forces.wind
    g, hh, violation = system.g, system.h, geometry.violation
    ih = 1.0 / h
    potential, violations, most = 0.0, 0.0, 0.0
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
                g[i, c] -= hold_force[i, c]
                violations += abs(violation[i, c])
                most = max(most, abs(hold_force[i, c]))
    if closed:
        for c in range(3):
            violations += abs(geometry.gap[r, c])
            most = max(most, abs(state.loop_force[r, c]))
    return potential, violations, most


@part
def sections(rods: Rods, stage: Stage, geometry: Geometry, system: System, r: int, exact: bool) -> float:
    """Inertia of the sections (31). With |d| = 1 the potential m |d - d~|^2 / 2 h^2 equals a constant minus m d~ . d / h^2,
    where d~ is the director's target."""
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
    """Elastic energy (29), with the strains of `geometry/swing_twist.py` integrated over the element.

    Under rotations a and b of the two frames, expressed in the frame before, the quaternion is multiplied by exp(-a) exp(b), to
    second order exp(delta - a x b / 2) with delta = b - a. With the strains' gradients M and the stress s the first-order term is
    the moment mu = M^T s; the second-order terms are those of the strains and -mu . (a x b) / 2."""
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
            rotation = facing(relative(a, b), strain[i, slot, 2])
            s0, k0, e0 = _stress(stiffness[i, slot, 0], strain[i, slot, 0], rest[i, slot, 0], star[i, slot, 0], weight)
            s1, k1, e1 = _stress(stiffness[i, slot, 1], strain[i, slot, 1], rest[i, slot, 1], star[i, slot, 1], weight)
            s2, k2, e2 = _stress(stiffness[i, slot, 2], strain[i, slot, 2], rest[i, slot, 2], star[i, slot, 2], weight)
            s = (s0, s1, s2)
            energy += e0 + e1 + e2
            m = strain_gradients(rotation)
            mu = matvec_t(m, s)
            t1, t2, t3 = directors_of(a)
            frame = (t1[0], t2[0], t3[0], t1[1], t2[1], t3[1], t1[2], t2[2], t3[2])
            moment = matvec(frame, mu)
            km = (
                k0 * m[0], k0 * m[1], k0 * m[2], k1 * m[3], k1 * m[4], k1 * m[5], k2 * m[6], k2 * m[7], k2 * m[8],
            )  # fmt: skip
            inner = times(transposed(m), km)
            if exact:
                inner = plus(inner, strain_curvature(rotation, s, m))
            k = times(times(frame, inner), transposed(frame))
            has_a, has_b = not framed or slot == 0, not framed or slot == 1
            if has_a:
                add3(c, p, moment, -1.0)
                add6(d, p, symmetric(k), 1.0)
            if has_b:
                add3(c, i, moment, 1.0)
                add6(d, i, symmetric(k), 1.0)
            if has_a and has_b:
                # rows: the edge after; columns: the edge before
                beside = plus(scaled(k, -1.0), skew(moment, -0.5)) if exact else scaled(k, -1.0)
                for e, value in enumerate(beside):
                    o[i, e] += value
    return energy


@part
def _stress(k: float, strain: float, rest: float, star: float, weight: float) -> tuple[float, float, float]:
    """Moment, stiffness and energy; `weight` is the damping time divided by the step length."""
    deviation, rate = strain - rest, strain - star
    return (
        k * (deviation + weight * rate),
        k * (1.0 + weight),
        0.5 * k * (deviation * deviation + weight * rate * rate),
    )


@part
def geometric_stiffness(rods: Rods, geometry: Geometry, system: System, loop_force: Array, r: int, exact: bool) -> None:
    """Geometric stiffness, dropped by the paper: rotating a segment moves everything beyond it on an arc, which the force G on
    that part resists. Expanding G . l d(phi) to second order gives the diagonal block l ((G d^T + d G^T) / 2 - (G . d)). Under
    tension -G . d is positive."""
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    g, d, arm, d3 = system.g, system.d, rods.arm, geometry.d3
    clear_forks(geometry.carry, rods.forks, r)
    f = (-loop_force[r, 0], -loop_force[r, 1], -loop_force[r, 2]) if closed else (0.0, 0.0, 0.0)
    for i in range(end - 1, first - 1, -1):
        f = sum_at_fork(geometry.carry, rods.fork, i, f)
        if rods.edge[i]:
            t = get3(d3, i)
            tension = -dot(f, t)
            if exact:
                add6(d, i, symmetric(outer(f, t, 1.0)), arm[i])
                for e in (0, 2, 5):
                    d[i, e] += arm[i] * tension
            elif tension > 0.0:
                add6(d, i, _across(t), arm[i] * tension)
        f = pass_to_fork(geometry.carry, rods.of_fork, i, (f[0] + g[i, 0], f[1] + g[i, 1], f[2] + g[i, 2]))


@part
def add_penalties(rods: Rods, geometry: Geometry, system: System, r: int, penalty: float) -> None:
    """Penalty springs at the violations of holds. They only guide Newton's method; at convergence the multipliers carry all of
    the force."""
    first, end = rods.start[r], rods.start[r + 1]
    for i in range(first, end):
        if rods.held[i]:
            add3(system.g, i, get3(geometry.violation, i), penalty)
            add6(system.h, i, _across(get3(rods.rail, i)), penalty)


@part
def add_constraint_potential(
    rods: Rods, geometry: Geometry, state: State, potential: float, r: int, penalty: float
) -> float:
    """Returns the potential with the penalties and multipliers of holds and the multiplier of the loop closure."""
    for i in range(rods.start[r], rods.start[r + 1]):
        if rods.held[i]:
            for c in range(3):
                violation = geometry.violation[i, c]
                potential += violation * (0.5 * penalty * violation - state.hold_force[i, c])
    if rods.closed[r]:
        for c in range(3):
            potential -= state.loop_force[r, c] * geometry.gap[r, c]
    return potential


@part
def fix_edges(rods: Rods, system: System, r: int) -> None:
    """Removes edges with prescribed frames from the matrix, and moves the coupling across the seam of a closed rod from the
    chain to `seam`."""
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
def gather_gradient(rods: Rods, geometry: Geometry, system: System, loop_force: Array, r: int) -> None:
    """Gradient of rotations and root: J^T of the gradient at the vertices, by a suffix sum, plus the direct gradient of the
    rotations."""
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    g, c, d3, arm, gradient = system.g, system.c, geometry.d3, rods.arm, system.gradient
    clear_forks(geometry.carry, rods.forks, r)
    f = (-loop_force[r, 0], -loop_force[r, 1], -loop_force[r, 2]) if closed else (0.0, 0.0, 0.0)
    for i in range(end - 1, first - 1, -1):
        f = sum_at_fork(geometry.carry, rods.fork, i, f)
        m = (0.0, 0.0, 0.0)
        if rods.edge[i] and not rods.edge_framed[i]:
            m = cross(get3(d3, i), f)
            m = (arm[i] * m[0] + c[i, 0], arm[i] * m[1] + c[i, 1], arm[i] * m[2] + c[i, 2])
        put3(gradient, i, m)
        f = pass_to_fork(geometry.carry, rods.of_fork, i, (f[0] + g[i, 0], f[1] + g[i, 1], f[2] + g[i, 2]))
    if closed:
        f = (f[0] + loop_force[r, 0], f[1] + loop_force[r, 1], f[2] + loop_force[r, 2])
    put3(gradient, len(g) + r, f)
