"""Semi-implicit Euler (Casati and Bertails-Descoubes 2013, section 7.2): elastic forces implicit, A to first order in the
velocities.
"""

from __future__ import annotations

import math

from ...compile.jit import part
from ...maths.linalg.dense import solve_general
from .arrays import Arrays, MotionScratch, Scratch
from .dynamics import equation_of_motion
from .kinematics import BEND, unknowns_of
from .roots import all_finite, place_root, rotation_between, shift_root
from .samples import sample_jacobian

LARGEST_ROTATION = 1.5  # rad, largest rotation of a rod in a step


@part
def semi_implicit_step(
    b: Arrays, scratch: Scratch, w: MotionScratch, r: int, h: float, start: float, end: float
) -> bool:
    """Steps from fraction `start` to fraction `end` of the prescribed motion. Returns False if the step rotates the rod too
    far.

    A is quadratic in the velocities v, so that A(v) = A' v - A(v_n) to first order, and the step solves
        (M / h + A' + h K) v = M v_n / h + A(v_n) - K (q_n - q0) + forces."""
    state, at, n = b.state, b.rods.vector_start[r], unknowns_of(b.nodes, r)
    equation_of_motion(b, scratch, w, r)
    matrix, right = scratch.matrix, scratch.step
    for i in range(n):
        right[i] = w.force[0, i] + w.force[1, i]
        for j in range(n):
            share = w.inertia[i, j] / h
            right[i] += share * state.rate[at + j]
            matrix[i, j] = share + w.slope[i, j]
    _elastic(b, scratch, r, h)
    if b.forces.loaded[r]:
        _forces_at_samples(b, scratch, r, n)
    _spin(b, scratch, r, n, h)
    _root(b, scratch, r, n, h, start, end)
    if not solve_general(matrix, n, right):
        return False
    turned, first, affine = 0.0, b.nodes.element_start[r], b.rods.degree[r]
    if not all_finite(right, 0, n):
        return False
    for e in range(first, b.nodes.element_start[r + 1]):
        j = BEND + 3 * (e - first)
        k = j + 3 * affine
        x, y, z = right[j] + right[k], right[j + 1] + right[k + 1], right[j + 2] + right[k + 2]
        turned += 0.5 * h * state.length[e] * math.sqrt(x * x + y * y + z * z)
    if turned > LARGEST_ROTATION:
        return False
    for i in range(n):
        state.rate[at + i] = right[i]
    for i in range(b.nodes.start[r], b.nodes.start[r + 1]):
        for c in range(3):
            state.kappa[i, c] += h * right[BEND + 3 * (i - b.nodes.start[r]) + c]
    shift_root(state.root, state.frame, r, right, 0, h)
    place_root(b, r, end)
    return True


@part
def _elastic(b: Arrays, scratch: Scratch, r: int, h: float) -> None:
    nodes, state, k, affine = b.nodes, b.state, b.nodes.stiffness, b.rods.degree[r]
    matrix, right, factor = scratch.matrix, scratch.step, h + b.rods.damping_time[r]
    first = nodes.element_start[r]
    for e in range(first, nodes.element_start[r + 1]):
        i = nodes.start[r] + e - first
        j, at, span = i + affine, BEND + 3 * (e - first), state.length[e]
        for c in range(3):
            aa, ab, bb = span * k[e, c, 0], span * k[e, c, 1], span * k[e, c, 2]
            p, q = state.kappa[i, c] - state.natural[i, c], state.kappa[j, c] - state.natural[j, c]
            a, d = at + c, at + c + 3 * affine
            right[a] -= aa * p + ab * q
            matrix[a, a] += factor * aa
            if affine == 1:
                right[d] -= ab * p + bb * q
                matrix[d, d] += factor * bb
                matrix[a, d] += factor * ab
                matrix[d, a] += factor * ab


@part
def _spin(b: Arrays, scratch: Scratch, r: int, n: int, h: float) -> None:
    """Rotational inertia about the axis, which the paper omits. The system of a rod with a free root is singular without it; it
    only acts on the root's rotation, as if the rod were straight."""
    if b.rods.held_frame[r]:
        return
    inertia, frame = 0.0, b.state.frame
    for p in range(b.gauss.start[r], b.gauss.start[r + 1]):
        inertia += b.gauss.mass[p, 3] * b.state.length[b.gauss.element[p]]
    for i in range(3):
        for j in range(3):
            value = inertia * frame[r, i, 0] * frame[r, j, 0] / h
            scratch.matrix[3 + i, 3 + j] += value
            scratch.step[3 + i] += value * b.state.rate[b.rods.vector_start[r] + 3 + j]


@part
def _forces_at_samples(b: Arrays, scratch: Scratch, r: int, n: int) -> None:
    """Loads, and drag implicit in the velocities."""
    sample_jacobian(b, scratch, r, scratch.rows, 0)
    drag, load, wind, rows = b.forces.drag, b.forces.load, b.forces.wind, scratch.rows
    first = b.samples.start[r]
    for i in range(first, b.samples.start[r + 1]):
        q = 4 * n * (i - first)
        fx = load[i, 0] + drag[i, 0] * wind[0] + drag[i, 1] * wind[1] + drag[i, 3] * wind[2]
        fy = load[i, 1] + drag[i, 1] * wind[0] + drag[i, 2] * wind[1] + drag[i, 4] * wind[2]
        fz = load[i, 2] + drag[i, 3] * wind[0] + drag[i, 4] * wind[1] + drag[i, 5] * wind[2]
        dragged = drag[i, 0] > 0.0 or drag[i, 2] > 0.0 or drag[i, 5] > 0.0
        for a in range(n):
            x, y, z = rows[q + a], rows[q + n + a], rows[q + 2 * n + a]
            scratch.step[a] += fx * x + fy * y + fz * z
            if dragged:
                u = drag[i, 0] * x + drag[i, 1] * y + drag[i, 3] * z
                v = drag[i, 1] * x + drag[i, 2] * y + drag[i, 4] * z
                t = drag[i, 3] * x + drag[i, 4] * y + drag[i, 5] * z
                for j in range(n):
                    scratch.matrix[a, j] += u * rows[q + j] + v * rows[q + n + j] + t * rows[q + 2 * n + j]


@part
def _root(b: Arrays, scratch: Scratch, r: int, n: int, h: float, start: float, end: float) -> None:
    """Replaces the equations of a held root by its prescribed velocities."""
    matrix, right, holds = scratch.matrix, scratch.step, b.holds
    turn = rotation_between(holds.frame[0], holds.frame[1], r)
    share = (end - start) / h
    for i in range(BEND):
        held = b.rods.held_position[r] if i < 3 else b.rods.held_frame[r]
        if not held:
            continue
        for j in range(n):
            matrix[i, j] = 0.0
        matrix[i, i] = 1.0
        right[i] = share * (holds.position[1, r, i] - holds.position[0, r, i]) if i < 3 else share * turn[i - 3]
