"""Before and after a stage of a step: held places move, the rod goes to a guess, the iterate is accepted."""

from __future__ import annotations

import math

from ...errors import Array
from ...geometry.frames import cross, dot, transport
from ...geometry.quaternions import from_frame
from ...jit import part
from ...linalg.small import get3, put3
from ..der.arrays import FRAMED, HeldFrames, Holds
from ..der.stages import place_frames
from .arrays import Geometry, Rods, Stage, State
from .kinematics import edge_count, frame_quaternion, get4, place, put4, root_fixed


@part
def copy_state(source: State, target: State, first: int, end: int, r: int) -> None:
    """Of rod r, whose vertices are first ... end - 1."""
    for i in range(first, end):
        for c in range(3):
            target.x[i, c] = source.x[i, c]
            target.pull[i, c] = source.pull[i, c]
        for c in range(4):
            target.q[i, c] = source.q[i, c]
        for c in range(9):
            target.v[i, c] = source.v[i, c]
            target.a[i, c] = source.a[i, c]
    for c in range(3):
        target.loop[r, c] = source.loop[r, c]


@part
def place_held(
    rods: Rods, holds: Holds, frames: HeldFrames, geometry: Geometry, state: State, r: int, at: float
) -> None:
    """Held places and frames at a fraction of the step; the root goes there at once."""
    first, end = rods.start[r], rods.start[r + 1]
    place_frames(rods, holds, frames, first, end, at)
    for i in range(first, end):
        if rods.held[i]:
            for c in range(3):
                begin, goal = holds.position[0, i, c], holds.position[1, i, c]
                geometry.target[i, c] = goal if at == 1.0 else begin + at * (goal - begin)
        if rods.joint[i] == FRAMED:
            put4(
                geometry.frame,
                i,
                frame_quaternion(get3(frames.tangent, i), get3(frames.director, i), frames.spin[i]),
            )
    if root_fixed(rods, r):
        put3(state.x, first, get3(geometry.target, first))
    for j in range(first, end):
        if rods.edge_framed[j]:
            k = j + 1 if j + 1 < end else first
            t = _unit(
                geometry.target[k, 0] - geometry.target[j, 0],
                geometry.target[k, 1] - geometry.target[j, 1],
                geometry.target[k, 2] - geometry.target[j, 2],
            )
            d0, d1 = get3(holds.director[0], j), get3(holds.director[1], j)
            d = _unit(d0[0] + at * (d1[0] - d0[0]), d0[1] + at * (d1[1] - d0[1]), d0[2] + at * (d1[2] - d0[2]))
            spin = holds.spin[0, j] + at * (holds.spin[1, j] - holds.spin[0, j])
            put4(state.q, j, frame_quaternion(t, transport(d, t, t), spin))


@part
def _unit(x: float, y: float, z: float) -> tuple[float, float, float]:
    length = math.sqrt(x * x + y * y + z * z)
    f = 1.0 / length if length > 0.0 else 0.0
    return (x * f, y * f, z * f)


@part
def start_stage(rods: Rods, state: State, geometry: Geometry, stage: Stage, r: int) -> None:
    """Where a step starts, with the directors that `place` has found."""
    for i in range(rods.start[r], rods.start[r + 1]):
        for c in range(3):
            stage.y[i, c] = state.x[i, c]
            stage.y[i, 3 + c] = geometry.d1[i, c]
            stage.y[i, 6 + c] = geometry.d2[i, c]
        for c in range(9):
            stage.v[i, c] = state.v[i, c]


@part
def guess(
    rods: Rods, state: State, geometry: Geometry, stage: Stage, base_q: Array, base_root: Array, r: int, h: float,
    going: float,
) -> None:  # fmt: skip
    """Places the iterate where its velocities and accelerations take its directors (`going` 1), or where the base is (0). Held
    places must be placed before."""
    first = rods.start[r]
    y, v, a = stage.y, stage.v, state.a
    if not root_fixed(rods, r):
        for c in range(3):
            ahead = y[first, c] + h * (v[first, c] + h * a[first, c])
            state.x[first, c] = ahead if going > 0.0 else base_root[r, c]
    for j in range(first, first + edge_count(rods, r)):
        if rods.edge_framed[j]:
            continue
        q = get4(base_q, j)
        put4(state.q, j, q)
        if going > 0.0:
            d1 = (
                y[j, 3] + h * (v[j, 3] + h * a[j, 3]),
                y[j, 4] + h * (v[j, 4] + h * a[j, 4]),
                y[j, 5] + h * (v[j, 5] + h * a[j, 5]),
            )
            d2 = (
                y[j, 6] + h * (v[j, 6] + h * a[j, 6]),
                y[j, 7] + h * (v[j, 7] + h * a[j, 7]),
                y[j, 8] + h * (v[j, 8] + h * a[j, 8]),
            )
            t = cross(d1, d2)
            size = math.sqrt(dot(t, t))
            if 0.1 < size < 10.0:  # else it turned so far that the guess is none
                t = (t[0] / size, t[1] / size, t[2] / size)
                along = dot(d1, t)
                d = _unit(d1[0] - along * t[0], d1[1] - along * t[1], d1[2] - along * t[2])
                put4(state.q, j, from_frame(t, d))
    place(rods, state, geometry, r)


@part
def take_velocities(rods: Rods, state: State, geometry: Geometry, stage: Stage, r: int, h: float) -> bool:
    """Of vertices and directors at the end of a stage, and their accelerations. False if one is not finite."""
    good = True
    for i in range(rods.start[r], rods.start[r + 1]):
        for c in range(9):
            if c < 3:
                now = state.x[i, c]
            elif c < 6:
                now = geometry.d1[i, c - 3]
            else:
                now = geometry.d2[i, c - 6]
            v = (now - stage.y[i, c]) / h
            state.v[i, c] = v
            state.a[i, c] = (v - stage.v[i, c]) / h
            good = good and math.isfinite(state.a[i, c])
    return good


@part
def measure(rods: Rods, geometry: Geometry, r: int, energy: Array, row: int) -> float:
    """Elastic energies of rod r, of bending and of twisting, into a row. Returns their sum."""
    stiffness, rest, strain = rods.stiffness, rods.rest, geometry.strain
    bending = twisting = 0.0
    for i in range(rods.start[r], rods.start[r + 1]):
        for slot in range(2):
            for c in range(3):
                deviation = strain[i, slot, c] - rest[i, slot, c]
                part = 0.5 * stiffness[i, slot, c] * deviation * deviation
                if c < 2:
                    bending += part
                else:
                    twisting += part
    energy[row, 0], energy[row, 1] = bending, twisting
    return bending + twisting
