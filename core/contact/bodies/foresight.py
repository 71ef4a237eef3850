"""A guess of what contacts of bodies will do, before they are solved for with everything else.

Contacts are taken one after the other, many times round: each gets the force with which its two bodies, free but for the forces of
their other contacts, obey the law of Coulomb there. With that guess the solver begins where contacts stick that will stick.
"""

from __future__ import annotations

import math

from ...compile.jit import kernel, part
from ...errors import Array
from ...maths.geometry.frames import Vector, cross, dot
from ..arrays import Contacts, Flags, Ints
from ..coulomb import Forces
from .meeting import Moving
from .pressing import lever_of, moved_by

MOST_ROUNDS = 400
ENOUGH = 2e-5  # of the scale: changes of gap and slip in a round


@part
def _give(moving: Moving, b: int, r: Vector, n: Vector) -> Vector:
    """How the point at r from the centre of a body moves under a force n, times 1 / h^2."""
    t = cross(r, n)
    i, m = moving.inverse_inertia[b], moving.inverse_mass[b]
    w = (
        i[0, 0] * t[0] + i[0, 1] * t[1] + i[0, 2] * t[2],
        i[1, 0] * t[0] + i[1, 1] * t[1] + i[1, 2] * t[2],
        i[2, 0] * t[0] + i[2, 1] * t[1] + i[2, 2] * t[2],
    )
    u = cross(w, r)
    return (m * n[0] + u[0], m * n[1] + u[1], m * n[2] + u[2])


@part
def _push(moving: Moving, steps: Array, b: int, r: Vector, f: Vector) -> None:
    t = cross(r, f)
    i, m = moving.inverse_inertia[b], moving.inverse_mass[b]
    for c in range(3):
        steps[b, c] += m * (f[0] if c == 0 else f[1] if c == 1 else f[2])
        steps[b, 3 + c] += i[c, 0] * t[0] + i[c, 1] * t[1] + i[c, 2] * t[2]


@kernel
def foresee(
    contacts: Contacts, count: int, after: Ints, first_row: int, partner: Ints, moving: Moving, chosen: Flags, h: float,
    forces: Forces, steps: Array,
) -> None:  # fmt: skip
    """Forces of contacts of the chosen bodies (B,), which begin and end in forces.known, and the steps (B, 6) with which bodies
    follow them. `steps` are at first those that take bodies to where they would be without contacts; gaps and forces.slip are
    those at the iterate."""
    x, square = moving.x[1], h * h
    for k in range(count):
        if after[contacts.edge[k, 0]] >= 0:
            continue
        a, b = contacts.edge[k, 0] - first_row, partner[k]
        f = (square * forces.known[k, 0], square * forces.known[k, 1], square * forces.known[k, 2])
        if chosen[a]:
            _push(moving, steps, a, lever_of(contacts, k, x, a), f)
        if b >= 0 and chosen[b]:
            _push(moving, steps, b, lever_of(contacts, k, x, b), (-f[0], -f[1], -f[2]))
    for _ in range(MOST_ROUNDS):
        largest = 0.0
        for k in range(count):
            if after[contacts.edge[k, 0]] >= 0 or forces.soft[k] or not contacts.give[k] > 0.0:
                continue
            a, b = contacts.edge[k, 0] - first_row, partner[k]
            if not chosen[a] or (b >= 0 and not chosen[b]):
                continue
            n = (contacts.normal[k, 0], contacts.normal[k, 1], contacts.normal[k, 2])
            ra = lever_of(contacts, k, x, a)
            rb = lever_of(contacts, k, x, b) if b >= 0 else ra
            for turn in range(2):  # across the surface, then along it
                u = moved_by(steps, a, ra)
                if b >= 0:
                    v = moved_by(steps, b, rb)
                    u = (u[0] - v[0], u[1] - v[1], u[2] - v[2])
                known = (forces.known[k, 0], forces.known[k, 1], forces.known[k, 2])
                pressed = dot(known, n)
                if turn == 0:
                    gap = contacts.gap[k] - forces.target[k] + dot(u, n)
                    change = max(-gap / contacts.give[k], -pressed)
                    d = (change * n[0], change * n[1], change * n[2])
                    largest = max(largest, abs(change) * contacts.give[k] / contacts.arm[k, 0])
                else:
                    s = (forces.slip[k, 0] + u[0], forces.slip[k, 1] + u[1], forces.slip[k, 2] + u[2])
                    along = dot(s, n)
                    s = (s[0] - along * n[0], s[1] - along * n[1], s[2] - along * n[2])
                    size = math.sqrt(dot(s, s))
                    t = (known[0] - pressed * n[0], known[1] - pressed * n[1], known[2] - pressed * n[2])
                    unit = (s[0] / size, s[1] / size, s[2] / size) if size > 0.0 else (0.0, 0.0, 0.0)
                    give = dot(unit, _give(moving, a, ra, unit))
                    if b >= 0:
                        give += dot(unit, _give(moving, b, rb, unit))
                    back = size / (square * give) if give > 0.0 else 0.0
                    w = (t[0] - back * unit[0], t[1] - back * unit[1], t[2] - back * unit[2])
                    most, length = contacts.friction[k] * max(pressed, 0.0), math.sqrt(dot(w, w))
                    part_of = most / length if length > most else 1.0
                    d = (part_of * w[0] - t[0], part_of * w[1] - t[1], part_of * w[2] - t[2])
                    largest = max(largest, math.sqrt(dot(d, d)) * square * give / contacts.arm[k, 0])
                if d[0] == 0.0 and d[1] == 0.0 and d[2] == 0.0:
                    continue
                for c in range(3):
                    forces.known[k, c] += d[0] if c == 0 else d[1] if c == 1 else d[2]
                f = (square * d[0], square * d[1], square * d[2])
                _push(moving, steps, a, ra, f)
                if b >= 0:
                    _push(moving, steps, b, rb, (-f[0], -f[1], -f[2]))
        if largest <= ENOUGH:
            break
