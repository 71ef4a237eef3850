"""Coulomb's law at every contact, by the method of augmented Lagrangians.

With a force f = (f_n, f_t) as known so far, the gap g (below zero: overlap) and the slip u (how far the surfaces have moved along
each other in this substep), the law is
    f_n = max(0, f_n - k g),        f_t = the nearest to f_t - k u within the disc |f_t| <= mu f_n,
for any stiffness k > 0: at its solution g = 0 or f_n = 0, and u = 0 or f_t opposes it with mu f_n. Nothing is smoothed. Read as
a law of springs with that stiffness it has an energy, which goes into Newton's method; the disc's radius is that of the force
known so far. Whenever Newton's method has come to rest, the known forces are updated.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from numpy import int8
from numpy.typing import NDArray

from ..compile.jit import kernel, part
from ..errors import Array
from ..maths.geometry.frames import Vector, cross, dot
from ..models.protocol import Pushes
from .arrays import Contacts, Flags, Ints, Samples
from .curvature import add_curvature, curve, give_curvature

APART, STICK, SLIP = range(3)
SHALLOWEST = 0.1  # of the thickness that is left, down to which overlaps get stiffer


class Forces(NamedTuple):
    """What acts at the contacts, row by row."""

    known: Array  # (C, 3) N on side A
    limit: Array  # (C,) N: the normal force that limits friction
    stiffness: Array  # (C,) N/m
    target: Array  # (C,) m: the gap that is wanted; below zero where an overlap is taken out slowly
    soft: Flags  # (C,) a spring is all it is: deep overlaps may want to be taken out in ways that exclude each other
    matrix: Array  # (C, 6) N/m, xx yx yy zx zy zz: stiffness of friction
    pressing: Array  # (C,) N/m: stiffness of the normal force
    curvature: Array  # (C, 15) how the normal force changes as normal and points of contact between two rods do; see `curvature.py`
    arm: Array  # (C, 2, 3) m per rad: how the surface moves as the edge of side A, of side B turns
    slip: Array  # (C, 3) m
    mode: NDArray[int8]  # (C,) APART, STICK or SLIP
    error: Array  # (C,) m: how far gap and slip are from the law
    pressure: Array  # (C,) N: the normal force at the iterate
    energy: Array  # (C,) J
    motion: Array  # (C,) m: how far Newton's step moves the two sides, relative to each other


@part
def _law(
    f: Vector, gap: float, slip: Vector, n: Vector, most_friction: float, k: float, thickness: float
) -> tuple[int, float, float, Vector, float, float]:
    """Mode, normal force and stiffness, tangential force and stiffness, and the energy whose derivatives these are. But for the
    stiffness of what slips: it is that of a spring that would give the same force, also along the slip, where the true one is zero.
    With it Newton's steps never go too far. n is the normal of the plane in which friction acts.

    An overlap of more than half the thickness (if that is not zero) gets stiffer the deeper it is: what would pass through meets
    a wall.
    """
    known_n = dot(f, n)
    f_n, k_n = max(known_n, 0.0) - k * gap, k  # a force that was known for another direction may pull in this one
    if not f_n > 0.0:
        return APART, 0.0, 0.0, (0.0, 0.0, 0.0), 0.0, 0.0
    energy = 0.5 * f_n * f_n / k
    deeper = -2.0 * gap - thickness  # twice what is over one half
    if deeper > 0.0 and thickness > 0.0:
        left = max(1.0 - deeper / thickness, SHALLOWEST)
        most = thickness * (1.0 - left)  # up to here it gets stiffer, then not any more
        rest = deeper - most
        f_half = max(known_n, 0.0) + 0.5 * k * thickness
        f_most = max(known_n, 0.0) + 0.5 * k * thickness / left
        k_n = k / (left * left)
        f_n = f_most + 0.5 * k_n * rest
        energy = (
            0.5 * f_half * f_half / k
            + 0.5 * max(known_n, 0.0) * most
            - 0.25 * k * thickness * thickness * math.log(left)
        )
        energy += 0.5 * f_most * rest + 0.125 * k_n * rest * rest
    along = dot(slip, n)
    x = f[0] - known_n * n[0] - k * (slip[0] - along * n[0])
    y = f[1] - known_n * n[1] - k * (slip[1] - along * n[1])
    z = f[2] - known_n * n[2] - k * (slip[2] - along * n[2])
    size = math.sqrt(x * x + y * y + z * z)
    most = most_friction
    if not most > 0.0:
        return SLIP, f_n, k_n, (0.0, 0.0, 0.0), 0.0, energy
    if size <= most:
        return STICK, f_n, k_n, (x, y, z), k, energy + 0.5 * size * size / k
    c = most / size
    energy += most * (size - 0.5 * most) / k
    return SLIP, f_n, k_n, (x * c, y * c, z * c), k * c, energy


@part
def arm_of(now: Array, e: int, f: int, n: Vector, radius: float) -> Vector:
    """radius * tangent x n of the edge from sample e to sample f."""
    t = (now[f, 0] - now[e, 0], now[f, 1] - now[e, 1], now[f, 2] - now[e, 2])
    length = math.sqrt(dot(t, t))
    scale = radius / length if length > 0.0 else 0.0
    w = cross(t, n)
    return (w[0] * scale, w[1] * scale, w[2] * scale)


@kernel
def clear(which: Flags, rod: Ints, pushes: Pushes) -> None:
    """Takes away all that pushes these rods."""
    for i in range(len(rod)):
        if which[rod[i]]:
            pushes.touched[i] = False
            for s in range(4):
                pushes.force[i, s] = 0.0
            for m in range(28):
                pushes.stiffness[i, m] = 0.0


@kernel
def push(
    contacts: Contacts,
    count: int,
    samples: Samples,
    turns: Array,
    aim: Array,
    tame: Flags,
    fine: Flags,
    walls: bool,
    forces: Forces,
    pushes: Pushes,
) -> None:
    """Forces and stiffness of all contacts of rods at the iterate, added to those of the samples. Also slips, errors and energies.

    Slip is measured from where the sample points and turns would be if they kept still, `aim` (N, 4) from the start of the step.

    Between rods that are `tame` (R,) the stiffness is never negative. Contacts that slip have that of a spring also along the slip,
    but for rods that are `fine` (R,). With `walls` deep overlaps of rods get stiffer."""
    edge, at, normal, gap, slide = contacts.edge, contacts.at, contacts.normal, contacts.gap, contacts.slide
    rubbing_at, upright = contacts.rubbing_at, contacts.upright
    start, now, after = samples.start, samples.now, samples.after
    matrix, arm, slip = forces.matrix, forces.arm, forces.slip
    for k in range(count):
        e, s = edge[k, 0], rubbing_at[k, 0]
        f = after[e]
        if f < 0:  # a body: see bodies/pressing.py
            continue
        n = (upright[k, 0], upright[k, 1], upright[k, 2])
        a = arm_of(start, e, f, n, -contacts.arm[k, 0])
        arm[k, 0, 0], arm[k, 0, 1], arm[k, 0, 2] = a
        for c in range(3):
            moved = (1.0 - s) * (now[e, c] - start[e, c]) + s * (now[f, c] - start[f, c])
            moved -= (1.0 - s) * aim[e, c] + s * aim[f, c]
            slip[k, c] = moved - slide[k, c] + arm[k, 0, c] * (turns[e] - aim[e, 3])
        o = edge[k, 1]
        if o >= 0:
            t, p = rubbing_at[k, 1], after[o]
            b = arm_of(start, o, p, n, contacts.arm[k, 1])
            arm[k, 1, 0], arm[k, 1, 1], arm[k, 1, 2] = b
            for c in range(3):
                moved = (1.0 - t) * (now[o, c] - start[o, c]) + t * (now[p, c] - start[p, c])
                moved -= (1.0 - t) * aim[o, c] + t * aim[p, c]
                slip[k, c] -= moved + arm[k, 1, c] * (turns[o] - aim[o, 3])
        known = (forces.known[k, 0], forces.known[k, 1], forces.known[k, 2])
        u = (slip[k, 0], slip[k, 1], slip[k, 2])
        overlap = gap[k] - forces.target[k]
        thickness = contacts.arm[k, 0] + contacts.arm[k, 1]
        wall = thickness if o >= 0 and walls else 0.0
        mode, f_n, k_n, f_t, k_t, energy = _law(
            known, overlap, u, n, contacts.friction[k] * forces.limit[k], forces.stiffness[k], wall
        )
        forces.mode[k] = mode
        forces.pressure[k] = f_n
        forces.pressing[k] = k_n
        forces.energy[k] = energy
        if mode == APART:
            forces.error[k] = 0.0 if not overlap < 0.0 or forces.soft[k] else -overlap
            for c in range(6):
                matrix[k, c] = 0.0
            continue
        forces.error[k] = abs(overlap)
        if mode == STICK:
            along = dot(u, n)
            x, y, z = u[0] - along * n[0], u[1] - along * n[1], u[2] - along * n[2]
            forces.error[k] = max(abs(overlap), math.sqrt(x * x + y * y + z * z))
        if forces.soft[k]:
            forces.error[k] = 0.0
        if k_t > 0.0:
            size = dot(f_t, f_t)
            along = 1.0 / size if mode == SLIP and fine[samples.rod[e]] and size > 0.0 else 0.0
            m = 0
            for c in range(3):
                for r in range(c + 1):
                    matrix[k, m] = k_t * (
                        (1.0 if c == r else 0.0) - upright[k, c] * upright[k, r] - along * _of(f_t, c) * _of(f_t, r)
                    )
                    m += 1
            _add(pushes, matrix[k], e, f, s, a, f_t, 1.0)
            if o >= 0:
                _add(pushes, matrix[k], o, p, t, b, f_t, -1.0)
        else:
            for m in range(6):
                matrix[k, m] = 0.0
        n = (normal[k, 0], normal[k, 1], normal[k, 2])
        _press(pushes, e, f, at[k, 0], n, f_n, k_n)
        if contacts.rolling[k] > 0.0:
            resist_tilt(pushes.stiffness[e], n, f_n / contacts.rolling[k])
        if o >= 0:
            _press(pushes, o, p, at[k, 1], n, -f_n, k_n)
            curve(
                now, e, f, at[k, 0], o, p, at[k, 1], n, gap[k] + thickness, f_n, tame[samples.rod[e]],
                forces.curvature, k,
            )  # fmt: skip
            add_curvature(pushes.stiffness[e], forces.curvature[k], at[k, 0], n, 0)
            add_curvature(pushes.stiffness[o], forces.curvature[k], at[k, 1], n, 1)


@part
def _of(a: Vector, c: int) -> float:
    return a[0] if c == 0 else a[1] if c == 1 else a[2]


@part
def resist_tilt(g: Array, n: Vector, k: float) -> None:
    """The lowest point of an edge moves to the side that comes down: a stiffness k n n^T of the end against the beginning."""
    for c in range(3):
        nc = n[0] if c == 0 else n[1] if c == 1 else n[2]
        for d in range(3):
            value = k * nc * (n[0] if d == 0 else n[1] if d == 1 else n[2])
            g[(c + 4) * (c + 5) // 2 + d] -= value
            if d <= c:
                g[c * (c + 1) // 2 + d] += value
                g[(c + 4) * (c + 5) // 2 + d + 4] += value


@part
def _press(pushes: Pushes, e: int, f: int, s: float, n: Vector, force: float, k_n: float) -> None:
    """The normal force on one edge, and its stiffness k_n n n^T."""
    rows, g, w = pushes.force, pushes.stiffness[e], 1.0 - s
    pushes.touched[e] = True
    for c in range(3):
        nc = n[0] if c == 0 else n[1] if c == 1 else n[2]
        rows[e, c] += w * force * nc
        rows[f, c] += s * force * nc
        for d in range(3):
            value = k_n * nc * (n[0] if d == 0 else n[1] if d == 1 else n[2])
            g[(c + 4) * (c + 5) // 2 + d] += w * s * value  # row: the end's c, column: the beginning's d
            if d <= c:
                g[c * (c + 1) // 2 + d] += w * w * value
                g[(c + 4) * (c + 5) // 2 + d + 4] += s * s * value


@part
def _add(pushes: Pushes, matrix: Array, e: int, f: int, s: float, arm: Vector, force: Vector, sign: float) -> None:
    """Friction on one edge and its stiffness: J^T force and J^T H J, J = ((1 - s) I, arm, s I)."""
    rows, w = pushes.force, 1.0 - s
    for c, value in enumerate(force):
        rows[e, c] += sign * w * value
        rows[f, c] += sign * s * value
    rows[e, 3] += sign * dot(arm, force)
    h0, h1, h2, h3, h4, h5 = matrix[0], matrix[1], matrix[2], matrix[3], matrix[4], matrix[5]
    x = h0 * arm[0] + h1 * arm[1] + h3 * arm[2]
    y = h1 * arm[0] + h2 * arm[1] + h4 * arm[2]
    z = h3 * arm[0] + h4 * arm[1] + h5 * arm[2]
    g = pushes.stiffness[e]
    # Rows x y z, turn, x y z of the lower triangle.
    g[0] += w * w * h0
    g[1] += w * w * h1
    g[2] += w * w * h2
    g[3] += w * w * h3
    g[4] += w * w * h4
    g[5] += w * w * h5
    g[6] += w * x
    g[7] += w * y
    g[8] += w * z
    g[9] += arm[0] * x + arm[1] * y + arm[2] * z
    q = w * s
    g[10] += q * h0
    g[11] += q * h1
    g[12] += q * h3
    g[13] += s * x
    g[14] += s * s * h0
    g[15] += q * h1
    g[16] += q * h2
    g[17] += q * h4
    g[18] += s * y
    g[19] += s * s * h1
    g[20] += s * s * h2
    g[21] += q * h3
    g[22] += q * h4
    g[23] += q * h5
    g[24] += s * z
    g[25] += s * s * h3
    g[26] += s * s * h4
    g[27] += s * s * h5


@part
def _side_motion(steps: Array, e: int, f: int, s: float, arm: Array, k: int, side: int) -> Vector:
    turn = steps[e, 3]
    return (
        (1.0 - s) * steps[e, 0] + s * steps[f, 0] + arm[k, side, 0] * turn,
        (1.0 - s) * steps[e, 1] + s * steps[f, 1] + arm[k, side, 1] * turn,
        (1.0 - s) * steps[e, 2] + s * steps[f, 2] + arm[k, side, 2] * turn,
    )


@kernel
def across_rods(
    contacts: Contacts, count: int, after: Ints, forces: Forces, ranges: Ints, steps: Array, out: Array
) -> None:
    """out (N, 4) is the part of the contacts' stiffness times `steps` (N, 4) that couples side A with side B, in ranges (K, 2) of
    the rows; what is in others means nothing."""
    for k in range(len(ranges)):
        for i in range(ranges[k, 0], ranges[k, 1]):
            for c in range(4):
                out[i, c] = 0.0
    edge, at, rubbing_at, normal = contacts.edge, contacts.at, contacts.rubbing_at, contacts.normal
    arm, matrix, curvature = forces.arm, forces.matrix, forces.curvature
    for k in range(count):
        o = edge[k, 1]
        if o < 0 or forces.mode[k] == APART:
            continue
        e = edge[k, 0]
        f, p = after[e], after[o]
        s, t = rubbing_at[k, 0], rubbing_at[k, 1]
        a = _side_motion(steps, e, f, s, arm, k, 0)
        b = _side_motion(steps, o, p, t, arm, k, 1)
        _give(out, matrix, k, e, f, s, arm, 0, b)
        _give(out, matrix, k, o, p, t, arm, 1, a)
        s, t = at[k, 0], at[k, 1]
        n = (normal[k, 0], normal[k, 1], normal[k, 2])
        _give_normal(out, e, f, s, n, forces.pressing[k] * _normal_motion(steps, o, p, t, n))
        _give_normal(out, o, p, t, n, forces.pressing[k] * _normal_motion(steps, e, f, s, n))
        give_curvature(out, curvature, k, n, e, f, s, o, p, t, steps)


@part
def _normal_motion(steps: Array, e: int, f: int, s: float, n: Vector) -> float:
    x = (1.0 - s) * steps[e, 0] + s * steps[f, 0]
    y = (1.0 - s) * steps[e, 1] + s * steps[f, 1]
    z = (1.0 - s) * steps[e, 2] + s * steps[f, 2]
    return float(n[0] * x + n[1] * y + n[2] * z)


@part
def _give_normal(out: Array, e: int, f: int, s: float, n: Vector, force: float) -> None:
    for c, value in enumerate(n):
        out[e, c] -= (1.0 - s) * force * value
        out[f, c] -= s * force * value


@part
def _give(out: Array, h: Array, k: int, e: int, f: int, s: float, arm: Array, side: int, u: Vector) -> None:
    """out -= J^T H u on one side."""
    x = h[k, 0] * u[0] + h[k, 1] * u[1] + h[k, 3] * u[2]
    y = h[k, 1] * u[0] + h[k, 2] * u[1] + h[k, 4] * u[2]
    z = h[k, 3] * u[0] + h[k, 4] * u[1] + h[k, 5] * u[2]
    w = 1.0 - s
    out[e, 0] -= w * x
    out[e, 1] -= w * y
    out[e, 2] -= w * z
    out[e, 3] -= arm[k, side, 0] * x + arm[k, side, 1] * y + arm[k, side, 2] * z
    out[f, 0] -= s * x
    out[f, 1] -= s * y
    out[f, 2] -= s * z


@kernel
def relative_motion(contacts: Contacts, count: int, after: Ints, forces: Forces, steps: Array) -> None:
    """Writes forces.motion of the contacts that act: along the normal, and along the surface where it sticks."""
    edge, at, normal, rubbing_at = contacts.edge, contacts.at, contacts.normal, contacts.rubbing_at
    for k in range(count):
        e, o = edge[k, 0], edge[k, 1]
        f = after[e]
        if f < 0:
            continue
        forces.motion[k] = 0.0
        if forces.mode[k] == APART or forces.soft[k]:
            continue
        n = (normal[k, 0], normal[k, 1], normal[k, 2])
        away = _normal_motion(steps, e, f, at[k, 0], n)
        a = _side_motion(steps, e, f, rubbing_at[k, 0], forces.arm, k, 0)
        b = (0.0, 0.0, 0.0)
        if o >= 0:
            away -= _normal_motion(steps, o, after[o], at[k, 1], n)
            b = _side_motion(steps, o, after[o], rubbing_at[k, 1], forces.arm, k, 1)
        forces.motion[k] = abs(away)
        if forces.mode[k] == STICK:
            u = (a[0] - b[0], a[1] - b[1], a[2] - b[2])
            along = dot(u, (contacts.upright[k, 0], contacts.upright[k, 1], contacts.upright[k, 2]))
            forces.motion[k] = math.sqrt(max(dot(u, u) - along * along, 0.0) + away * away)


@kernel
def learn(contacts: Contacts, count: int, forces: Forces, which: Flags, walls: bool) -> None:
    """The known forces of those contacts become the ones at the iterate, friction within the disc of the normal force there."""
    upright = contacts.upright
    for k in range(count):
        if not which[k] or forces.soft[k]:
            continue
        n = (upright[k, 0], upright[k, 1], upright[k, 2])
        known = (forces.known[k, 0], forces.known[k, 1], forces.known[k, 2])
        u = (forces.slip[k, 0], forces.slip[k, 1], forces.slip[k, 2])
        wall = contacts.arm[k, 0] + contacts.arm[k, 1] if contacts.edge[k, 1] >= 0 and walls else 0.0
        mu, stiffness = contacts.friction[k], forces.stiffness[k]
        _, f_n, _, _, _, _ = _law(known, contacts.gap[k] - forces.target[k], u, n, 0.0, stiffness, wall)
        if f_n == 0.0:
            forces.known[k, 0], forces.known[k, 1], forces.known[k, 2] = 0.0, 0.0, 0.0
            continue
        along, was = dot(u, n), dot(known, n)
        x = known[0] - was * n[0] - stiffness * (u[0] - along * n[0])
        y = known[1] - was * n[1] - stiffness * (u[1] - along * n[1])
        z = known[2] - was * n[2] - stiffness * (u[2] - along * n[2])
        size = math.sqrt(x * x + y * y + z * z)
        c = mu * f_n / size if size > mu * f_n else 1.0
        forces.known[k, 0] = f_n * n[0] + c * x
        forces.known[k, 1] = f_n * n[1] + c * y
        forces.known[k, 2] = f_n * n[2] + c * z
