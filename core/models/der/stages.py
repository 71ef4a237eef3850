"""Before and after a stage of a step: the state becomes the base of frames, held places move, the iterate is accepted."""

from __future__ import annotations

import math

from ...compile.jit import part
from ...errors import Array
from ...maths.geometry.frames import Vector, cross, dot, signed_angle, transport
from .arrays import FRAMED, Geometry, HeldFrames, Holds, Rods, Stage, State
from .evaluate import edge_of, get, nearest_turn, put


@part
def make_base(
    rods: Rods, state: State, holds: Holds, frames: HeldFrames, geometry: Geometry, r: int, at: float
) -> None:
    """Makes the state of rod r the base of frames. `at` is the fraction of the step at which it stands."""
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    q, twist = state.q, state.twist
    for i in range(first, end):
        q[i, 3] = 0.0
        geometry.base_twist[i, 0] = twist[i, 0]
        geometry.base_twist[i, 1] = twist[i, 1]
        spin = between(holds.spin[0, i], holds.spin[1, i], at)
        if rods.joint[i] == FRAMED:
            geometry.base_twist[i, 0] -= spin
            geometry.base_twist[i, 1] += spin
        if rods.edge_framed[i]:
            frames.spin[i] = spin
        if closed or i + 1 < end:
            length, tangent = edge_of(q, i, i + 1 if i + 1 < end else first)
            geometry.tension[i] = rods.stretch[i] * (length / rods.rest_length[i] - 1.0)
            put(geometry.base_t, i, tangent)
            put(geometry.base_reference, i, get(state.m1, i))
    place_frames(rods, holds, frames, first, end, at)


@part
def place_frames(rods: Rods, holds: Holds, frames: HeldFrames, first: int, end: int, at: float) -> None:
    """Held frames of vertices at a fraction of the step, between those of its beginning and its end."""
    for i in range(first, end):
        if rods.joint[i] == FRAMED:
            t0, t1 = get(holds.tangent[0], i), get(holds.tangent[1], i)
            t = blend(t0, t1, at)
            d = blend(transport(get(holds.director[0], i), t0, t), transport(get(holds.director[1], i), t1, t), at)
            put(frames.tangent, i, t)
            put(frames.director, i, transport(d, t, t))
            frames.spin[i] = between(holds.spin[0, i], holds.spin[1, i], at)


@part
def place_held(
    rods: Rods, holds: Holds, frames: HeldFrames, geometry: Geometry, q: Array, first: int, end: int, at: float
) -> None:
    """Held unknowns of the iterate at a fraction of the step."""
    for i in range(first, end):
        if rods.held[i, 0]:
            for c in range(3):
                q[i, c] = between(holds.position[0, i, c], holds.position[1, i, c], at)
    for i in range(first, end):
        if rods.edge_framed[i]:
            _, t = edge_of(q, i, i + 1 if i + 1 < end else first)
            u = transport(get(geometry.base_reference, i), get(geometry.base_t, i), t)
            d = blend(get(holds.director[0], i), get(holds.director[1], i), at)
            spin = between(holds.spin[0, i], holds.spin[1, i], at)
            # At the beginning theta was zero, and the director lay behind the material by the spin of that time.
            q[i, 3] = nearest_turn(signed_angle(u, transport(d, t, t), t), -frames.spin[i]) + spin
        elif rods.held[i, 3]:
            q[i, 3] = 0.0


@part
def between(x: float, y: float, at: float) -> float:
    """From x to y, where it arrives to the last bit."""
    return y if at == 1.0 else x + at * (y - x)


@part
def blend(x: Vector, y: Vector, at: float) -> Vector:
    if at == 1.0:
        return y
    z = (x[0] + at * (y[0] - x[0]), x[1] + at * (y[1] - x[1]), x[2] + at * (y[2] - x[2]))
    length = math.sqrt(dot(z, z))
    if not length > 1e-9:
        return y
    f = 1.0 / length
    return (z[0] * f, z[1] * f, z[2] * f)


@part
def gyroscopic_forces(rods: Rods, geometry: Geometry, stage: Stage, force: Array, a: Array, r: int, h: float) -> None:
    """An edge that spins and turns: what changes the direction of its spin I w t is a couple that its vertices must give.

    So these feel the couple -I w t', that is the forces -F and F = (I w / |e|) t x t', at the speeds that the guess foresees.
    Where the spin is so fast that a step would not follow, they are limited: taken from the guess they would grow.
    """
    first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
    v_star, t, mass = stage.v, geometry.t, rods.mass
    for i in range(first, end):
        for c in range(4):
            force[i, c] = 0.0
    for i in range(first, end if closed else end - 1):
        j = i + 1 if i + 1 < end else first
        length = geometry.length[i]
        spin, more = v_star[i, 3], h * a[i, 3]
        if abs(more) < 0.6 * abs(spin):  # or else the guess foresees nothing: it comes from an impact
            spin += more
        moment = mass[i, 3] * spin
        most = 0.2 * min(mass[i, 0], mass[j, 0]) * length * length / h
        moment = max(-most, min(most, moment))
        x, y, z = v_star[j, 0] - v_star[i, 0], v_star[j, 1] - v_star[i, 1], v_star[j, 2] - v_star[i, 2]
        gain = (h * (a[j, 0] - a[i, 0]), h * (a[j, 1] - a[i, 1]), h * (a[j, 2] - a[i, 2]))
        if dot(gain, gain) < 0.25 * (x * x + y * y + z * z):
            x, y, z = x + gain[0], y + gain[1], z + gain[2]
        f = cross(get(t, i), (x, y, z))
        for c in range(3):
            g = moment * f[c] / (length * length)
            force[i, c] -= g
            force[j, c] += g


@part
def accept_iterate(state: State, geometry: Geometry, first: int, end: int) -> None:
    """Accepts the iterate: its frames become the state's, its theta begins anew."""
    q = state.q
    for i in range(first, end):
        state.twist[i, 0] = geometry.strain[i, 0, 4]
        state.twist[i, 1] = geometry.strain[i, 1, 4]
        for c in range(3):
            state.m1[i, c] = geometry.d1[i, c]
        q[i, 3] = 0.0


@part
def measure(rods: Rods, geometry: Geometry, r: int, energy: Array, row: int) -> None:
    """Elastic energies of rod r, into a row."""
    stiffness, rest, strain = rods.stiffness, rods.rest, geometry.strain
    stretching = bending = twisting = 0.0
    for i in range(rods.start[r], rods.start[r + 1]):
        stretch = geometry.stretch[i]
        stretching += 0.5 * rods.stretch[i] * rods.rest_length[i] * stretch * stretch
        for slot in range(2):
            for c in range(5):
                deviation = strain[i, slot, c] - rest[i, slot, c]
                part = 0.5 * stiffness[i, slot, c] * deviation * deviation
                if c < 4:
                    bending += part
                else:
                    twisting += part
    energy[row, 0], energy[row, 1], energy[row, 2] = stretching, bending, twisting
