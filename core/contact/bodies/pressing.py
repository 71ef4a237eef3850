"""What bodies do to each other and to colliders where they touch: Coulomb's law as between rods, see contact/coulomb.py.

A body b moves its point at r from its centre by dx + w x r. Contacts here are those whose side A is a body.
"""

from __future__ import annotations

import math

from ...compile.jit import kernel, part
from ...errors import Array
from ...maths.geometry.frames import Vector, cross, dot
from ..arrays import Contacts, Ints
from ..coulomb import APART, SLIP, STICK, Forces
from ..coulomb import _law as law

SLIDING = 0.999  # of the most that friction can be


@part
def lever_of(contacts: Contacts, k: int, x: Array, b: int) -> Vector:
    """From the centre of a body to where it touches."""
    return (contacts.point[k, 0] - x[b, 0], contacts.point[k, 1] - x[b, 1], contacts.point[k, 2] - x[b, 2])


@part
def moved_by(steps: Array, b: int, r: Vector) -> Vector:
    s = steps[b]
    w = cross((s[3], s[4], s[5]), r)
    return (s[0] + w[0], s[1] + w[1], s[2] + w[2])


@part
def _stiffness(contacts: Contacts, forces: Forces, k: int, u: Vector) -> Vector:
    """How the force opposes a motion u of the two sides."""
    n, m = contacts.normal[k], forces.matrix[k]
    pressed = forces.pressing[k] * (n[0] * u[0] + n[1] * u[1] + n[2] * u[2])
    return (
        pressed * n[0] + m[0] * u[0] + m[1] * u[1] + m[3] * u[2],
        pressed * n[1] + m[1] * u[0] + m[2] * u[1] + m[4] * u[2],
        pressed * n[2] + m[3] * u[0] + m[4] * u[1] + m[5] * u[2],
    )


@part
def _add_force(gradient: Array, b: int, r: Vector, f: Vector, sign: float) -> None:
    t = cross(r, f)
    for c in range(3):
        gradient[b, c] += sign * (f[0] if c == 0 else f[1] if c == 1 else f[2])
        gradient[b, 3 + c] += sign * (t[0] if c == 0 else t[1] if c == 1 else t[2])


@part
def _unit(i: int) -> Vector:
    return (1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)


@part
def _add_matrix(contacts: Contacts, forces: Forces, k: int, matrix: Array, b: int, r: Vector) -> None:
    for i in range(6):
        u = _unit(i) if i < 3 else cross(_unit(i - 3), r)
        f = _stiffness(contacts, forces, k, u)
        t = cross(r, f)
        for c in range(3):
            matrix[b, c, i] += f[0] if c == 0 else f[1] if c == 1 else f[2]
            matrix[b, 3 + c, i] += t[0] if c == 0 else t[1] if c == 1 else t[2]


@part
def _slides(known: Vector, slip: Vector, n: Vector, mu: float) -> bool:
    """Whether it did when its force was learned, and still does: then its friction is constant along the slip. What has just begun
    to slip may well stick in the end: friction like a spring's does not carry that too far."""
    pressed = dot(known, n)
    t = (known[0] - pressed * n[0], known[1] - pressed * n[1], known[2] - pressed * n[2])
    return bool(dot(t, t) >= (SLIDING * mu * pressed) ** 2 and dot(t, slip) < 0.0)


@kernel
def press(
    contacts: Contacts, count: int, after: Ints, first_row: int, partner: Ints, x: Array, since: Array, forces: Forces,
    gradient: Array, matrix: Array,
) -> None:  # fmt: skip
    """Forces of these contacts at the iterate: added to gradients (B, 6) and matrices (B, 6, 6) of the bodies' potentials. Also
    slips, errors and energies. `partner` (C,) is the body on side B, -1 a collider; `since` (B, 6) how far bodies have moved and
    turned since the step began."""
    upright, slip = contacts.upright, forces.slip
    for k in range(count):
        e = contacts.edge[k, 0]
        if after[e] >= 0:
            continue
        a, b = e - first_row, partner[k]
        ra = lever_of(contacts, k, x, a)
        u = moved_by(since, a, ra)
        rb = ra
        if b >= 0:
            rb = lever_of(contacts, k, x, b)
            v = moved_by(since, b, rb)
            u = (u[0] - v[0], u[1] - v[1], u[2] - v[2])
        else:
            u = (u[0] - contacts.slide[k, 0], u[1] - contacts.slide[k, 1], u[2] - contacts.slide[k, 2])
        slip[k, 0], slip[k, 1], slip[k, 2] = u
        n = (upright[k, 0], upright[k, 1], upright[k, 2])
        known = (forces.known[k, 0], forces.known[k, 1], forces.known[k, 2])
        overlap = contacts.gap[k] - forces.target[k]
        mode, f_n, k_n, f_t, k_t, energy = law(
            known, overlap, u, n, contacts.friction[k] * forces.limit[k], forces.stiffness[k], 0.0
        )
        forces.mode[k], forces.pressure[k], forces.pressing[k], forces.energy[k] = mode, f_n, k_n, energy
        for c in range(6):
            forces.matrix[k, c] = 0.0
        if mode == APART:
            forces.error[k] = 0.0 if not overlap < 0.0 or forces.soft[k] else -overlap
            continue
        forces.error[k] = abs(overlap)
        if mode == STICK:
            along = dot(u, n)
            square = dot(u, u) - along * along
            forces.error[k] = max(abs(overlap), math.sqrt(max(square, 0.0)))
        if forces.soft[k]:
            forces.error[k] = 0.0
        size = math.sqrt(dot(f_t, f_t))
        along = 1.0 / size if mode == SLIP and size > 0.0 and _slides(known, u, n, contacts.friction[k]) else 0.0
        m = 0
        for c in range(3):
            for r in range(c + 1):
                across = (1.0 if c == r else 0.0) - upright[k, c] * upright[k, r]
                tc = along * (f_t[0] if c == 0 else f_t[1] if c == 1 else f_t[2])
                tr = along * (f_t[0] if r == 0 else f_t[1] if r == 1 else f_t[2])
                forces.matrix[k, m] = k_t * (across - tc * tr)
                m += 1
        f = (f_n * n[0] + f_t[0], f_n * n[1] + f_t[1], f_n * n[2] + f_t[2])
        _add_force(gradient, a, ra, f, -1.0)
        _add_matrix(contacts, forces, k, matrix, a, ra)
        if b >= 0:
            _add_force(gradient, b, rb, f, 1.0)
            _add_matrix(contacts, forces, k, matrix, b, rb)


@kernel
def across(
    contacts: Contacts, count: int, after: Ints, first_row: int, partner: Ints, x: Array, forces: Forces, steps: Array,
    out: Array,
) -> None:  # fmt: skip
    """Adds the part of the contacts' stiffness that couples two bodies, times their steps (B, 6), to out (B, 6)."""
    for k in range(count):
        e, b = contacts.edge[k, 0], partner[k]
        if after[e] >= 0 or b < 0 or forces.mode[k] == APART:
            continue
        a = e - first_row
        ra, rb = lever_of(contacts, k, x, a), lever_of(contacts, k, x, b)
        _add_force(out, a, ra, _stiffness(contacts, forces, k, moved_by(steps, b, rb)), -1.0)
        _add_force(out, b, rb, _stiffness(contacts, forces, k, moved_by(steps, a, ra)), -1.0)


@kernel
def relative_motion(
    contacts: Contacts, count: int, after: Ints, first_row: int, partner: Ints, x: Array, forces: Forces, steps: Array
) -> None:
    """Writes forces.motion of the contacts of bodies that act: along the normal, and along the surface where it sticks."""
    for k in range(count):
        e, b = contacts.edge[k, 0], partner[k]
        if after[e] >= 0:
            continue
        forces.motion[k] = 0.0
        if forces.mode[k] == APART or forces.soft[k]:
            continue
        u = moved_by(steps, e - first_row, lever_of(contacts, k, x, e - first_row))
        if b >= 0:
            v = moved_by(steps, b, lever_of(contacts, k, x, b))
            u = (u[0] - v[0], u[1] - v[1], u[2] - v[2])
        away = dot(u, (contacts.normal[k, 0], contacts.normal[k, 1], contacts.normal[k, 2]))
        forces.motion[k] = math.sqrt(dot(u, u)) if forces.mode[k] == STICK else abs(away)
