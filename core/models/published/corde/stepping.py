"""Time steps of CoRdE: semi-implicit Euler for the points, and for the frames in equal or shorter steps (Spillmann and Teschner
2009, section V).
"""

from __future__ import annotations

import math

from numpy import bool_, int64
from numpy.typing import NDArray

from ....compile.jit import kernel, part
from ....errors import Array
from ....forces.air import cylinder_coefficients
from ....maths.geometry.frames import Vector, dot
from ....maths.geometry.swing_twist import bending_and_twist, facing
from ....maths.linalg.small import get4, put4
from ...report import FAILURES, HALVINGS, ITERATIONS
from .arrays import Arrays
from .forces import (
    Quaternion,
    bending_torques,
    between,
    constraint,
    segment_force,
    third_director,
    times_b,
    to_frame,
    to_space,
    turned,
)

MOST_HALVINGS = 6
MOST_STEPS = 1e5  # in one step of the simulation, which may be a whole frame; what needs more is given up
MOST_WORK = 1e7  # the same, times the number of segments: some seconds
# bounds of a segment's length relative to its rest length; beyond them the step has failed
SHORTEST, LONGEST = 1e-3, 30.0


@kernel
def step_cordes(b: Arrays, saved: Arrays, h: float, skip: NDArray[bool_], first: int, last: int) -> None:
    """Advances nets first ... last - 1 except those in `skip` by h, in as many steps as they need. Never raises and never
    produces NaN: a failed attempt is repeated with shorter steps, and finally only prescribed motion advances, with zero
    velocities. `saved` is the block with the rollback state."""
    n, report = b.nets, b.work.report
    for r in range(first, last):
        if skip[r]:
            continue
        copy_state(saved, r, False)
        b.work.span[r] = h
        segments = n.substeps[r] * float(n.edges[r + 1] - n.edges[r])
        if not h / n.step[r] * max(segments, MOST_WORK / MOST_STEPS) < MOST_WORK:
            report[r, FAILURES] += 1.0
            stop_net(b, r)
            continue
        steps = max(1, math.ceil(h / n.step[r] - 1e-9))
        for attempt in range(MOST_HALVINGS + 1):
            good = True
            for k in range(steps):
                good = _step(b, r, h / steps, (k + 1.0) / steps)
                if not good:
                    break
            report[r, ITERATIONS] += steps
            if good:
                break
            copy_state(saved, r, True)
            if attempt == MOST_HALVINGS or 2.0 * steps * max(segments, MOST_WORK / MOST_STEPS) > MOST_WORK:
                report[r, FAILURES] += 1.0
                stop_net(b, r)
                break
            report[r, HALVINGS] += 1.0
            steps *= 2


@part
def copy_state(b: Arrays, r: int, back: bool) -> None:
    """Copies the state of net r to the saved state, or `back`. Prescribed quaternions are not part of it."""
    source, target = (b.saved, b.state) if back else (b.state, b.saved)
    for i in range(b.nets.vertices[r], b.nets.vertices[r + 1]):
        for c in range(3):
            target.r[i, c], target.v[i, c] = source.r[i, c], source.v[i, c]
    for j in range(b.nets.edges[r], b.nets.edges[r + 1]):
        for c in range(4):
            target.q[j, c] = source.q[j, c]
        for c in range(3):
            target.w[j, c] = source.w[j, c]
    for e in range(b.nets.elements[r], b.nets.elements[r + 1]):
        target.twist[e] = source.twist[e]


@kernel
def copy_nets(b: Arrays, chosen: NDArray[int64], back: bool) -> None:
    for r in chosen:
        copy_state(b, r, back)


@part
def stop_net(b: Arrays, r: int) -> None:
    for i in range(b.nets.vertices[r], b.nets.vertices[r + 1]):
        for c in range(3):
            b.state.v[i, c] = 0.0
            if b.nets.held[i]:
                b.state.r[i, c] = b.holds.position[1, i, c]
    for j in range(b.nets.edges[r], b.nets.edges[r + 1]):
        for c in range(3):
            b.state.w[j, c] = 0.0


@part
def _held_quaternion(b: Arrays, k: int, at: float) -> None:
    """Prescribed quaternion at fraction `at` of the step."""
    hold, q = b.holds.q, b.state.q
    sign = 1.0 if dot4_rows(hold, k) >= 0.0 else -1.0
    square = 0.0
    for c in range(4):
        q[k, c] = (1.0 - at) * hold[0, k, c] + at * sign * hold[1, k, c]
        square += q[k, c] * q[k, c]
    f = 1.0 / math.sqrt(square)
    for c in range(4):
        q[k, c] *= f


@part
def dot4_rows(a: Array, k: int) -> float:
    return float(a[0, k, 0] * a[1, k, 0] + a[0, k, 1] * a[1, k, 1] + a[0, k, 2] * a[1, k, 2] + a[0, k, 3] * a[1, k, 3])


@part
def _step(b: Arrays, r: int, h: float, at: float) -> bool:
    """One step; `at` is the fraction of the prescribed motion at its end.

    Weight, stretching and its friction act on the points once. Constraint, bending and twisting act in the steps of the frames,
    in which points and frames move together, so that the constraint exchanges energy between them without creating any."""
    good = step_points(b, r, h)
    parts = b.nets.substeps[r]
    before = at - h / b.work.span[r]
    for k in range(parts):
        good = good and step_frames(b, r, h / parts, before + (at - before) * (k + 1.0) / parts)
    return good


@part
def step_points(b: Arrays, r: int, h: float) -> bool:
    """Applies weight, air drag, stretching and its friction to the points. Returns False if a segment has come apart."""
    n, state, work = b.nets, b.state, b.work
    x, v, force = state.r, state.v, work.force
    tail, head, length, mass = n.tail, n.head, n.length, n.mass
    first, end = n.vertices[r], n.vertices[r + 1]
    for i in range(first, end):
        for c in range(3):
            force[i, c] = work.external[i, c]
    if work.air[0] > 0.0:
        _air(b, r)
    good = True
    for j in range(n.edges[r], n.edges[r + 1]):
        i, k = tail[j], head[j]
        e = (x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2])
        dv = (v[k, 0] - v[i, 0], v[k, 1] - v[i, 1], v[k, 2] - v[i, 2])
        ratio = math.sqrt(dot(e, e)) / length[j]
        good = good and SHORTEST < ratio < LONGEST  # also False for NaN
        f = segment_force(e, dv, length[j], n.stretch[j], n.gamma[r, 0])
        for c in range(3):
            force[k, c] += f[c]
            force[i, c] -= f[c]
    if not good:
        return False
    slow = 1.0 / (1.0 + h * work.drag_rate[r])
    for i in range(first, end):
        for c in range(3):
            v[i, c] = work.wind[c] + slow * (v[i, c] - work.wind[c] + h * force[i, c] / mass[i])
    return True


@part
def _place_held(b: Arrays, r: int, h: float, at: float) -> None:
    """Prescribed positions and frames at fraction `at` of the step."""
    n, x, v, hold = b.nets, b.state.r, b.state.v, b.holds.position
    for i in range(n.vertices[r], n.vertices[r + 1]):
        if n.held[i]:
            for c in range(3):
                to = (1.0 - at) * hold[0, i, c] + at * hold[1, i, c]
                v[i, c] = (to - x[i, c]) / h
                x[i, c] = to
    edges = len(n.length)
    for e in range(n.elements[r], n.elements[r + 1]):
        if n.a[e] >= edges or n.framed[n.a[e]]:
            _held_quaternion(b, n.a[e], at)
        if n.b[e] >= edges or n.framed[n.b[e]]:
            _held_quaternion(b, n.b[e], at)


@part
def element_strains(b: Arrays, e: int) -> tuple[Quaternion, Vector]:
    """Rotation of an orientation element, and its strains times its length: angles, where (19) has their sines."""
    n, q = b.nets, b.state.q
    end = _rolled(_end(q, n.b[e], n.turned_b[e]), n.roll, e)
    rotation = between(_end(q, n.a[e], n.turned_a[e]), end)
    u = bending_and_twist(rotation, b.state.twist[e])
    return facing(rotation, u[2]), u


@part
def add_torques(b: Arrays, r: int) -> None:
    """Forces of the constraint on the points; torques of constraint, bending, twisting and friction on the frames."""
    n, state, force, torque = b.nets, b.state, b.work.force, b.work.torque
    x, q, w, edges = state.r, state.q, state.w, len(b.nets.length)
    gamma_r, roll = n.gamma[r, 1], n.roll
    for i in range(n.vertices[r], n.vertices[r + 1]):
        for c in range(3):
            force[i, c] = 0.0
    for j in range(n.edges[r], n.edges[r + 1]):
        i, k = n.tail[j], n.head[j]
        way = (x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2])
        f, g = constraint(way, get4(q, j), n.length[j], n.kappa[j])
        for c in range(3):
            force[k, c] += f[c]
            force[i, c] -= f[c]
            torque[j, c] = g[c]
    for e in range(n.elements[r], n.elements[r + 1]):
        i, j = n.a[e], n.b[e]
        reach = n.reach[e]
        rotation, u = element_strains(b, e)
        state.twist[e] = u[2]
        s = (
            n.stiffness[e, 0] * (u[0] / reach - n.rest[e, 0]),
            n.stiffness[e, 1] * (u[1] / reach - n.rest[e, 1]),
            n.stiffness[e, 2] * (u[2] / reach - n.rest[e, 2]),
        )
        pa, pc = bending_torques(rotation, s)
        if gamma_r > 0.0:  # (27): friction compares angular velocities in world space
            va = to_space(get4(q, i), (w[i, 0], w[i, 1], w[i, 2])) if i < edges else (0.0, 0.0, 0.0)
            vc = to_space(get4(q, j), (w[j, 0], w[j, 1], w[j, 2])) if j < edges else (0.0, 0.0, 0.0)
            f = gamma_r / reach
            rub = (f * (vc[0] - va[0]), f * (vc[1] - va[1]), f * (vc[2] - va[2]))
        else:
            rub = (0.0, 0.0, 0.0)
        if i < edges:
            back = -1.0 if n.turned_a[e] else 1.0  # in the frame of the segment itself
            ra = to_frame(get4(q, i), rub)
            torque[i, 0] += pa[0] + ra[0]
            torque[i, 1] += back * pa[1] + ra[1]
            torque[i, 2] += back * pa[2] + ra[2]
        if j < edges:
            back = -1.0 if n.turned_b[e] else 1.0
            rc = to_frame(get4(q, j), rub)
            cosine, sine = roll[e, 0] * roll[e, 0] - roll[e, 1] * roll[e, 1], 2.0 * roll[e, 0] * roll[e, 1]
            torque[j, 0] += cosine * pc[0] - sine * pc[1] - rc[0]
            torque[j, 1] += back * (sine * pc[0] + cosine * pc[1]) - rc[1]
            torque[j, 2] += back * pc[2] - rc[2]


@part
def step_frames(b: Arrays, r: int, h: float, at: float) -> bool:
    """One step of the frames by (22), and of the points with them."""
    n, q, w, x, v, force, torque = b.nets, b.state.q, b.state.w, b.state.r, b.state.v, b.work.force, b.work.torque
    add_torques(b, r)
    for i in range(n.vertices[r], n.vertices[r + 1]):
        if not n.held[i]:
            for c in range(3):
                v[i, c] += h * force[i, c] / n.mass[i]
                x[i, c] += h * v[i, c]
    slow = 1.0 / (1.0 + h * b.work.drag_rate[r])
    for j in range(n.edges[r], n.edges[r + 1]):
        if n.framed[j]:
            for c in range(3):
                w[j, c] = 0.0
            continue
        for c in range(3):
            w[j, c] = slow * (w[j, c] + h * torque[j, c] / n.inertia[j, c])
        square = w[j, 0] * w[j, 0] + w[j, 1] * w[j, 1] + w[j, 2] * w[j, 2]
        if not square * h * h < 4.0:  # more than two radians in a step
            return False
        put4(q, j, turned(get4(q, j), (h * w[j, 0], h * w[j, 1], h * w[j, 2])))
    _place_held(b, r, h, at)
    return True


@part
def _end(q: Array, i: int, backwards: bool) -> Quaternion:
    """Quaternion of a segment, rotated by pi about d1 where the element traverses it backwards."""
    return times_b(0, get4(q, i)) if backwards else get4(q, i)


@part
def _rolled(q: Quaternion, roll: Array, e: int) -> Quaternion:
    """q rotated about its third axis; row e of `roll` has cosine and sine of half the angle."""
    b, c, s = times_b(2, q), roll[e, 0], roll[e, 1]
    return (c * q[0] + s * b[0], c * q[1] + s * b[1], c * q[2] + s * b[2], c * q[3] + s * b[3])


@part
def _air(b: Arrays, r: int) -> None:
    """Adds the air drag to the forces; see forces/air.py."""
    n, x, v, force, wind = b.nets, b.state.r, b.state.v, b.work.force, b.work.wind
    density = b.work.air[0]
    for j in range(n.edges[r], n.edges[r + 1]):
        i, k = n.tail[j], n.head[j]
        t = (x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2])
        length = math.sqrt(dot(t, t))
        t = (t[0] / length, t[1] / length, t[2] / length)
        w = (
            0.5 * (v[i, 0] + v[k, 0]) - wind[0],
            0.5 * (v[i, 1] + v[k, 1]) - wind[1],
            0.5 * (v[i, 2] + v[k, 2]) - wind[2],
        )
        along = dot(w, t)
        across = math.sqrt(max(dot(w, w) - along * along, 0.0))
        radius = 0.5 * (n.radii[j, 0] + n.radii[j, 1])
        normal, axial = cylinder_coefficients(radius, length, across, along, density)
        for c in range(3):
            f = 0.5 * (normal * (w[c] - along * t[c]) + axial * along * t[c])
            force[i, c] -= f
            force[k, c] -= f


@kernel
def relax_cordes(b: Arrays, steps: int, skip: NDArray[bool_], first: int, last: int) -> None:
    """Searches for a state of rest: steps of unit length in which every mass equals the local stiffness, and all motion is
    stopped whenever its power becomes negative."""
    n, x, v, q, w = b.nets, b.state.r, b.state.v, b.state.q, b.state.w
    force, torque = b.work.force, b.work.torque
    for r in range(first, last):
        if skip[r]:
            continue
        for i in range(n.vertices[r], n.vertices[r + 1]):
            for c in range(3):
                v[i, c] = 0.0
        for j in range(n.edges[r], n.edges[r + 1]):
            for c in range(3):
                w[j, c] = 0.0
        copy_state(b, r, False)
        for _ in range(steps):
            add_torques(b, r)
            for j in range(n.edges[r], n.edges[r + 1]):
                i, k = n.tail[j], n.head[j]
                e = (x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2])
                f = segment_force(e, (0.0, 0.0, 0.0), n.length[j], n.stretch[j], 0.0)
                for c in range(3):
                    force[k, c] += f[c]
                    force[i, c] -= f[c]
            power, largest = 0.0, 0.0
            for i in range(n.vertices[r], n.vertices[r + 1]):
                for c in range(3):
                    force[i, c] = 0.0 if n.held[i] else force[i, c] + b.work.external[i, c]
                    power += force[i, c] * v[i, c]
            for j in range(n.edges[r], n.edges[r + 1]):
                for c in range(3):
                    torque[j, c] = 0.0 if n.framed[j] else torque[j, c]
                    power += torque[j, c] * w[j, c]
            keep = 0.0 if power < 0.0 else 1.0
            for i in range(n.vertices[r], n.vertices[r + 1]):
                for c in range(3):
                    v[i, c] = keep * v[i, c] + force[i, c] / n.fictitious_mass[i]
                    x[i, c] += v[i, c]
                    largest = max(largest, abs(v[i, c]))
            for j in range(n.edges[r], n.edges[r + 1]):
                for c in range(3):
                    w[j, c] = keep * w[j, c] + torque[j, c] / n.fictitious_inertia[j, c]
                put4(q, j, turned(get4(q, j), (w[j, 0], w[j, 1], w[j, 2])))
            _place_held(b, r, 1.0, 1.0)
            if not largest > 0.0:
                break
        good = True
        for i in range(n.vertices[r], n.vertices[r + 1]):
            for c in range(3):
                good = good and math.isfinite(x[i, c])
        if not good:
            copy_state(b, r, True)
            b.work.report[r, FAILURES] += 1.0
        stop_net(b, r)


@kernel
def measure_cordes(b: Arrays) -> None:
    """Energies of stretching, bending, twisting and the constraint."""
    n, x, q = b.nets, b.state.r, b.state.q
    for r in range(len(n.step)):
        stretching = bending = twisting = tied = 0.0
        for j in range(n.edges[r], n.edges[r + 1]):
            i, k = n.tail[j], n.head[j]
            way = (x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2])
            long = math.sqrt(dot(way, way))
            stretching += 0.5 * n.stretch[j] * n.length[j] * (long / n.length[j] - 1.0) ** 2
            tied += n.length[j] * n.kappa[j] * (1.0 - dot(way, third_director(get4(q, j))) / long)
        for e in range(n.elements[r], n.elements[r + 1]):
            _, u = element_strains(b, e)
            half, reach = 0.5 * n.reach[e], n.reach[e]
            bending += half * n.stiffness[e, 0] * (u[0] / reach - n.rest[e, 0]) ** 2
            bending += half * n.stiffness[e, 1] * (u[1] / reach - n.rest[e, 1]) ** 2
            twisting += half * n.stiffness[e, 2] * (u[2] / reach - n.rest[e, 2]) ** 2
        b.work.energy[r, 0], b.work.energy[r, 1] = stretching, bending
        b.work.energy[r, 2], b.work.energy[r, 3] = twisting, tied


@kernel
def strains_of_elements(b: Arrays, out: Array) -> None:
    """out (L, 3): strains of the orientation elements times their lengths."""
    for e in range(len(b.nets.a)):
        _, u = element_strains(b, e)
        out[e, 0], out[e, 1], out[e, 2] = u
