"""Potential minimised by a stage, with its gradient and Hessian.

With forces p_k at points r_k along the rod, sums over the points beyond s give G(s) = sum p_k (r_k - r(s))^T, and
    sum p_k . d^2 r_k / dq_a dq_b = integral of phi_a . B phi_b' + phi_b . B phi_a',   B = G^T - tr(G) I,
because a rotation at s carries everything beyond s. The rotation vector of the root adds sym(G) - tr(G) I.
"""

from __future__ import annotations

import numpy as np

from ...compile.jit import part
from ...errors import Array
from ...maths.geometry.frames import cross, dot, signed_angle, transport
from ...maths.linalg.small import get3
from .arrays import Arrays, Scratch
from .kinematics import BEND, TURN, lay_out, unknowns_of
from .roots import rotation_between
from .samples import column, place_samples, sample_jacobian

GAUSS = 8  # points per panel
_RULE = np.polynomial.legendre.leggauss(GAUSS)  # type: ignore[no-untyped-call]
NODES, WEIGHTS = 0.5 * (_RULE[0] + 1.0), 0.5 * _RULE[1]


def _tails() -> Array:
    """[i, j]: the fraction of Gauss point j's weight that lies beyond Gauss point i of its panel, by polynomial interpolation."""
    vandermonde = np.vander(NODES, increasing=True)
    powers = np.arange(1, GAUSS + 1)
    beyond = (1.0 - NODES[:, None] ** powers) / powers
    return np.asarray(np.linalg.solve(vandermonde.T, beyond.T).T / WEIGHTS)


TAILS = _tails()


@part
def measure_turns(b: Arrays, r: int) -> None:
    """Turns of the Gauss points, from the frames at the iterate."""
    geometry = b.geometry
    x, frame, t0, d0 = geometry.x, geometry.frame, geometry.tangent0, geometry.director0
    for p in range(b.gauss.start[r], b.gauss.start[r + 1]):
        t = column(frame, p, 0)
        x[p, 3] = signed_angle(transport(get3(d0, p), get3(t0, p), t), column(frame, p, 1), t)


@part
def place_points(b: Arrays, scratch: Scratch, r: int) -> None:
    """Positions, frames and turns of the Gauss points at the iterate."""
    lay_out(b.rods, b.nodes, b.state, b.gauss, scratch, r, b.geometry.x, b.geometry.frame, False)
    measure_turns(b, r)


@part
def elastic(b: Arrays, r: int, weight: float, gradient: Array, matrix: Array, derivatives: bool) -> float:
    """Bending and twisting energy 0.5 (q - q0)^T K (q - q0) of Casati and Bertails-Descoubes 2013, eq. 7, plus
    stiffness-proportional damping with `weight` = damping time / h relative to the start of the stage."""
    nodes, affine = b.nodes, b.rods.degree[r]
    kappa, natural, star, k = b.state.kappa, b.state.natural, b.stage.kappa, nodes.stiffness
    first, energy = nodes.element_start[r], 0.0
    for e in range(first, nodes.element_start[r + 1]):
        i = nodes.start[r] + e - first
        j = i + affine
        at, span = BEND + 3 * (e - first), b.state.length[e]
        for c in range(3):
            aa, ab, bb = span * k[e, c, 0], span * k[e, c, 1], span * k[e, c, 2]
            p, q = kappa[i, c] - natural[i, c], kappa[j, c] - natural[j, c]
            u, v = kappa[i, c] - star[i, c], kappa[j, c] - star[j, c]
            energy += 0.5 * (aa * p * p + 2.0 * ab * p * q + bb * q * q)
            energy += 0.5 * weight * (aa * u * u + 2.0 * ab * u * v + bb * v * v)
            if derivatives:
                p, q, f = p + weight * u, q + weight * v, 1.0 + weight
                gradient[at + c] += aa * p + ab * q
                matrix[at + c, at + c] += f * aa
                if affine == 1:
                    gradient[at + 3 + c] += ab * p + bb * q
                    matrix[at + 3 + c, at + c] += f * ab
                    matrix[at + 3 + c, at + 3 + c] += f * bb
    return energy


@part
def evaluate_stage(
    b: Arrays, scratch: Scratch, r: int, h: float, rows: Array, at: int, pushes: Array, pushed: bool, derivatives: bool,
    exact: bool, tangent: bool,
) -> float:  # fmt: skip
    """Potential of a stage of length h at the iterate; with `derivatives` also scratch.gradient and scratch.matrix, the exact
    Hessian or its positive semidefinite part. The contact forces `pushes` (S, 4) only enter the derivatives, if `pushed`.

    Inertia is m (x - x* - h v*) / h^2, which has a potential; or with `tangent` m (J q' - v*) / h with generalized velocities
    q' = (q - q*) / h, which has none but preserves the order of the integrator, because secants of a curved path are not
    velocities. If forces act on sample points, the sample Jacobian is written to `rows` (see `sample_jacobian`)."""
    rods, gauss, forces, stage, geometry = b.rods, b.gauss, b.forces, b.stage, b.geometry
    gradient, matrix, force, length = scratch.gradient, scratch.matrix, scratch.force, b.state.length
    n = unknowns_of(b.nodes, r)
    if derivatives:
        for i in range(n):
            gradient[i] = 0.0
            for j in range(i + 1):
                matrix[i, j] = 0.0
    potential = elastic(b, r, rods.damping_time[r] / h, gradient, matrix, derivatives)
    loaded = forces.loaded[r] or pushed
    if loaded:
        if derivatives:
            sample_jacobian(b, scratch, r, rows, at)
        else:
            place_samples(b, scratch, r)
        potential += _sample_forces(b, scratch, r, h, rows, at, pushes, pushed, derivatives)
    lay_out(rods, b.nodes, b.state, gauss, scratch, r, geometry.x, geometry.frame, derivatives)
    measure_turns(b, r)
    first, end = gauss.start[r], gauss.start[r + 1]
    x, frame, t0, mass, element = geometry.x, geometry.frame, geometry.tangent0, gauss.mass, gauss.element
    x_star, v_star, gravity, rate = stage.x, stage.v, forces.gravity[r], forces.drag_rate[r]
    ih = 1.0 / h
    hh = ih * ih
    low = BEND if rods.held_position[r] and rods.held_frame[r] else 0
    first_element = b.nodes.element_start[r]
    if tangent:
        stage_velocity(b, r, h, scratch.velocity)
    for p in range(first, end):
        if tangent:
            _point_velocity(scratch.jacobian[p - first], scratch.velocity, n, frame, p, scratch.sums)
        span = length[element[p]]
        for c in range(4):
            m = mass[p, c] * span
            deviation = h * (scratch.sums[c] - v_star[p, c]) if tangent else x[p, c] - x_star[p, c] - h * v_star[p, c]
            pull = m * (gravity[c] if c < 3 else 0.0)
            f = pull - m * hh * deviation
            potential += 0.5 * m * hh * deviation * deviation - pull * x[p, c]
            if c == 3 and rate > 0.0:
                spin = x[p, 3] - x_star[p, 3]
                f -= m * rate * ih * spin
                potential += 0.5 * m * rate * ih * spin * spin
            force[p - first, c] = f
        if not derivatives:
            continue
        row = scratch.jacobian[p - first]
        t, before = column(frame, p, 0), get3(t0, p)
        s = 1.0 / (1.0 + dot(t, before))
        wx, wy, wz = (t[0] + before[0]) * s, (t[1] + before[1]) * s, (t[2] + before[2]) * s
        m, inertia = mass[p, 0] * span * hh, mass[p, 3] * span * (hh + rate * ih)
        fx, fy, fz, couple = force[p - first, 0], force[p - first, 1], force[p - first, 2], force[p - first, 3]
        active = min(BEND + 3 * (element[p] - first_element + 1 + rods.degree[r]), n)
        for i in range(low, active):
            scratch.trial[i] = wx * row[3, i] + wy * row[4, i] + wz * row[5, i]
        for i in range(low, active):
            px, py, pz, turn = row[0, i], row[1, i], row[2, i], scratch.trial[i]
            gradient[i] -= fx * px + fy * py + fz * pz + couple * turn
            px, py, pz, turn = m * px, m * py, m * pz, inertia * turn
            for j in range(low, i + 1):
                matrix[i, j] += px * row[0, j] + py * row[1, j] + pz * row[2, j] + turn * scratch.trial[j]
    if derivatives and exact:
        _geometric_stiffness(b, scratch, r, n, low, loaded)
    if derivatives:
        _fix_held(rods.held_position[r], rods.held_frame[r], gradient, matrix, n)
    return potential


@part
def stage_velocity(b: Arrays, r: int, h: float, velocity: Array) -> None:
    """Generalized velocities at the end of a stage: (q - q*) / h, with the derivative of the rotation vector for the root."""
    stage, state, first = b.stage, b.state, b.nodes.start[r]
    for c in range(3):
        velocity[c] = (state.root[r, c] - stage.root[r, c]) / h
    for i in range(first, b.nodes.start[r + 1]):
        for c in range(3):
            velocity[BEND + 3 * (i - first) + c] = (state.kappa[i, c] - stage.kappa[i, c]) / h
    t = rotation_between(b.saved.frame, state.frame, r)
    d = ((t[0] - stage.turn[r, 0]) / h, (t[1] - stage.turn[r, 1]) / h, (t[2] - stage.turn[r, 2]) / h)
    one = cross(t, d)
    two = cross(t, one)
    for c in range(3):
        velocity[TURN + c] = d[c] + 0.5 * one[c] + two[c] / 6.0


@part
def _point_velocity(row: Array, velocity: Array, n: int, frame: Array, p: int, out: Array) -> None:
    """Velocity of a point (0 to 2) and its spin about the tangent (3)."""
    out[3] = 0.0
    for c in range(6):
        value = 0.0
        for j in range(n):
            value += row[c, j] * velocity[j]
        if c < 3:
            out[c] = value
        else:
            out[3] += value * frame[p, c - 3, 0]


@part
def _sample_forces(
    b: Arrays, scratch: Scratch, r: int, h: float, rows: Array, at: int, pushes: Array, pushed: bool, derivatives: bool
) -> float:
    """Loads, drag and contact forces at the sample points. Leaves the forces in scratch.acting for the geometric stiffness."""
    forces, x, x_star = b.forces, b.state.x, b.stage.sample_x
    drag, load, wind = forces.drag, forces.load, forces.wind
    first, end = b.samples.start[r], b.samples.start[r + 1]
    n = unknowns_of(b.nodes, r)
    gradient, matrix, acting = scratch.gradient, scratch.matrix, scratch.acting
    ih, potential = 1.0 / h, 0.0
    for i in range(first, end):
        k = i - first
        dx = x[i, 0] - x_star[i, 0] - h * wind[0]
        dy = x[i, 1] - x_star[i, 1] - h * wind[1]
        dz = x[i, 2] - x_star[i, 2] - h * wind[2]
        fx = (drag[i, 0] * dx + drag[i, 1] * dy + drag[i, 3] * dz) * ih
        fy = (drag[i, 1] * dx + drag[i, 2] * dy + drag[i, 4] * dz) * ih
        fz = (drag[i, 3] * dx + drag[i, 4] * dy + drag[i, 5] * dz) * ih
        potential += 0.5 * (dx * fx + dy * fy + dz * fz)
        potential -= load[i, 0] * x[i, 0] + load[i, 1] * x[i, 1] + load[i, 2] * x[i, 2]
        if not derivatives:
            continue
        fx, fy, fz, couple = load[i, 0] - fx, load[i, 1] - fy, load[i, 2] - fz, 0.0
        if pushed:
            fx, fy, fz, couple = fx + pushes[i, 0], fy + pushes[i, 1], fz + pushes[i, 2], pushes[i, 3]
        acting[k, 0], acting[k, 1], acting[k, 2] = fx, fy, fz
        q = at + 4 * n * k
        if fx != 0.0 or fy != 0.0 or fz != 0.0 or couple != 0.0:
            for j in range(n):
                gradient[j] -= (
                    fx * rows[q + j] + fy * rows[q + n + j] + fz * rows[q + 2 * n + j] + couple * rows[q + 3 * n + j]
                )
        if drag[i, 0] > 0.0 or drag[i, 2] > 0.0 or drag[i, 5] > 0.0:
            for a in range(n):
                px, py, pz = rows[q + a], rows[q + n + a], rows[q + 2 * n + a]
                gx = (drag[i, 0] * px + drag[i, 1] * py + drag[i, 3] * pz) * ih
                gy = (drag[i, 1] * px + drag[i, 2] * py + drag[i, 4] * pz) * ih
                gz = (drag[i, 3] * px + drag[i, 4] * py + drag[i, 5] * pz) * ih
                for j in range(a + 1):
                    matrix[a, j] += gx * rows[q + j] + gy * rows[q + n + j] + gz * rows[q + 2 * n + j]
    return potential


@part
def _geometric_stiffness(b: Arrays, scratch: Scratch, r: int, n: int, low: int, loaded: bool) -> None:
    """Subtracts sum p . d^2 r / dq^2 from the matrix."""
    gauss, x, frame, length = b.gauss, b.geometry.x, b.geometry.frame, b.state.length
    tail, matrix = scratch.tail, scratch.matrix
    affine, first_element = b.rods.degree[r], b.nodes.element_start[r]
    _sum_tails(b, scratch, r, loaded)
    first = gauss.start[r]
    for p in range(first, gauss.start[r + 1]):
        e, at = gauss.element[p], gauss.fraction[p]
        row = scratch.jacobian[p - first]
        g = _stress(tail, p - first, x[p, 0], x[p, 1], x[p, 2])
        trace = g[0] + g[4] + g[8]
        weight = gauss.weight[p] * length[e]
        active = min(BEND + 3 * (e - first_element + 1 + affine), n)
        for node in range(1 + affine):
            hat = weight * ((1.0 - at if node == 0 else at) if affine == 1 else 1.0)
            for c in range(3):
                j = BEND + 3 * (e - first_element + node) + c
                u, v, w = hat * frame[p, 0, c], hat * frame[p, 1, c], hat * frame[p, 2, c]
                yx = g[0] * u + g[3] * v + g[6] * w - trace * u
                yy = g[1] * u + g[4] * v + g[7] * w - trace * v
                yz = g[2] * u + g[5] * v + g[8] * w - trace * w
                for i in range(low, j):
                    matrix[j, i] -= row[3, i] * yx + row[4, i] * yy + row[5, i] * yz
                matrix[j, j] -= 2.0 * (row[3, j] * yx + row[4, j] * yy + row[5, j] * yz)
                for i in range(j + 1, active):
                    matrix[i, j] -= row[3, i] * yx + row[4, i] * yy + row[5, i] * yz
    if low == 0:
        whole = gauss.start[r + 1] - first  # the row after the last point: sum over all points
        g = _stress(tail, whole, b.state.root[r, 0], b.state.root[r, 1], b.state.root[r, 2])
        trace = g[0] + g[4] + g[8]
        for i in range(3):
            for j in range(i + 1):
                matrix[TURN + i, TURN + j] -= 0.5 * (g[3 * i + j] + g[3 * j + i]) - (trace if i == j else 0.0)


@part
def _stress(
    tail: Array, k: int, x: float, y: float, z: float
) -> tuple[float, float, float, float, float, float, float, float, float]:
    """G = sum p (r - x)^T over everything beyond point k, at (x, y, z); row by row."""
    a, b, c = tail[k, 0], tail[k, 1], tail[k, 2]
    return (
        tail[k, 3] - a * x, tail[k, 4] - a * y, tail[k, 5] - a * z,
        tail[k, 6] - b * x, tail[k, 7] - b * y, tail[k, 8] - b * z,
        tail[k, 9] - c * x, tail[k, 10] - c * y, tail[k, 11] - c * z,
    )  # fmt: skip


@part
def _sum_tails(b: Arrays, scratch: Scratch, r: int, loaded: bool) -> None:
    """Sums of p (0 to 2) and of p r^T (3 to 11) over everything beyond each Gauss point; the last row is the sum over all."""
    gauss, samples, x, sample_x = b.gauss, b.samples, b.geometry.x, b.state.x
    force, acting, tail, sums = scratch.force, scratch.acting, scratch.tail, scratch.sums
    first, end = gauss.start[r], gauss.start[r + 1]
    left = samples.start[r + 1] - 1  # last sample point not yet added
    for m in range(12):
        sums[m] = 0.0
    for panel in range(end - GAUSS, first - 1, -GAUSS):
        for p in range(panel + GAUSS - 1, panel - 1, -1):
            while (
                loaded
                and left >= samples.start[r]
                and (
                    samples.element[left] > gauss.element[p]
                    or (samples.element[left] == gauss.element[p] and samples.fraction[left] > gauss.fraction[p])
                )
            ):
                k = left - samples.start[r]
                _add_force(sums, 1.0, acting, k, sample_x, left)
                left -= 1
            row = tail[p - first]
            for m in range(12):
                row[m] = sums[m]
            for q in range(GAUSS):
                _add_force(row, TAILS[p - panel, q], force, panel + q - first, x, panel + q)
        for q in range(GAUSS):
            _add_force(sums, 1.0, force, panel + q - first, x, panel + q)
    while loaded and left >= samples.start[r]:
        _add_force(sums, 1.0, acting, left - samples.start[r], sample_x, left)
        left -= 1
    for m in range(12):
        tail[end - first, m] = sums[m]


@part
def _add_force(row: Array, weight: float, force: Array, k: int, x: Array, p: int) -> None:
    for i in range(3):
        f = weight * force[k, i]
        row[i] += f
        for j in range(3):
            row[3 + 3 * i + j] += f * x[p, j]


@part
def _fix_held(position: bool, turn: bool, gradient: Array, matrix: Array, n: int) -> None:
    """Removes prescribed unknowns from the system."""
    for k in range(BEND):
        if not (position if k < TURN else turn):
            continue
        gradient[k] = 0.0
        for j in range(k):
            matrix[k, j] = 0.0
        for i in range(k + 1, n):
            matrix[i, k] = 0.0
        matrix[k, k] = 1.0
