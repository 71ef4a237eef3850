"""Bodies that a model steps explicitly, with its rods: their arrays, and how they move by themselves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy import bool_, int64
from numpy.typing import NDArray

from ...compile.jit import part
from ...describe.attachment import Attachment
from ...errors import Array
from ...maths.geometry.frames import Vector, cross, dot
from ...maths.geometry.rows import get, put
from .block import BodyBlock
from .rotation import logarithm

Ints = NDArray[int64]

SPIN_ITERATIONS = 4


class Bodies(NamedTuple):
    """All bodies of the scene; the first four are their state."""

    x: Array  # (B, 3) centre of mass
    rotation: Array  # (B, 3, 3)
    v: Array  # (B, 3)
    w: Array  # (B, 3) angular velocity, in the world
    mass: Array  # (B,)
    inertia: Array  # (B, 3, 3) in the body's axes
    inverse_inertia: Array  # (B, 3, 3)
    damping: Array  # (B, 2) 1/s
    kinematic: NDArray[bool_]  # (B,)
    before_x: Array  # (B, 3) where an inner step began
    before_rotation: Array  # (B, 3, 3)
    before_v: Array  # (B, 3)
    before_w: Array  # (B, 3)
    start_x: Array  # (B, 3) of kinematic ones: where the step begins,
    start_rotation: Array  # (B, 3, 3)
    way: Array  # (B, 3) how far they go in it,
    turn: Array  # (B, 3) and turn
    force: Array  # (B, 3) N, all but what rods do
    torque: Array  # (B, 3) N m, that rods exert on them through their frames
    metric: Array  # (B, 6, 6) generalized mass: of the body and of the vertices that it carries
    pull: Array  # (B, 6) what of it the unknown motion is asked for
    motion: Array  # (B, 6) one iteration of the projection moves and turns it by this


def explicit_bodies(block: BodyBlock) -> Bodies:
    x, rotation, v, w, _ = block.state
    n = len(block)

    def zeros(*shape: int) -> Array:
        return np.zeros((n, *shape))

    return Bodies(
        x, rotation, v, w, block.mass, block.inertia, np.linalg.inv(block.inertia), block.damping.copy(), block.kinematic,
        zeros(3), zeros(3, 3), zeros(3), zeros(3), zeros(3), zeros(3, 3), zeros(3), zeros(3), zeros(3), zeros(3),
        zeros(6, 6), zeros(6), zeros(6),
    )  # fmt: skip


def begin_bodies(bodies: Bodies, block: BodyBlock, gravity: Array, wind: Array, drag_rate: float) -> Array:
    """Before a step: what acts on them, and where kinematic ones go. Returns where all are, for `end_bodies`."""
    goal_x, goal_rotation = block.goal
    np.multiply(bodies.mass[:, None], gravity + drag_rate * wind, out=bodies.force)
    bodies.damping[:] = block.damping + drag_rate
    bodies.start_x[:], bodies.start_rotation[:] = bodies.x, bodies.rotation
    bodies.way[:] = goal_x - bodies.x
    bodies.turn[:] = logarithm(goal_rotation @ np.swapaxes(bodies.rotation, 1, 2))
    return np.concatenate([bodies.x, bodies.rotation.reshape(-1, 9), bodies.v, bodies.w], axis=1)


def end_bodies(bodies: Bodies, before: Array) -> None:
    """Kinematic ones are back where they were: they go their way with all others of the scene."""
    led = bodies.kinematic
    bodies.x[led], bodies.rotation[led] = before[led, :3], before[led, 3:12].reshape(-1, 3, 3)
    bodies.v[led], bodies.w[led] = before[led, 12:15], before[led, 15:]


def groups_of(
    rods: int, block: BodyBlock, attachments: Sequence[tuple[int, Attachment]]
) -> list[tuple[list[int], list[int]]]:
    """Rods and bodies that hang together; kinematic bodies hold nothing together, and are in every group that they hold."""
    leader = list(range(rods))

    def find(k: int) -> int:
        while leader[k] != k:
            k = leader[k]
        return k

    first: dict[int, int] = {}
    for rod, one in attachments:
        if not block.kinematic[one.body]:
            leader[find(rod)] = find(first.setdefault(one.body, rod))
    groups: dict[int, tuple[list[int], list[int]]] = {}
    for rod in sorted({rod for rod, _ in attachments}):
        groups.setdefault(find(rod), ([], []))[0].append(rod)
    for rod, one in attachments:
        members = groups[find(rod)][1]
        if one.body not in members:
            members.append(one.body)
    return list(groups.values())


def starts(lists: Sequence[Sequence[object]]) -> Ints:
    return np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(int64)


@part
def turn_body(rotation: Array, k: int, w: Vector) -> None:
    """Turns a body by the rotation vector w, in the world."""
    angle = math.sqrt(dot(w, w))
    s = math.sin(angle) / angle if angle > 1e-8 else 1.0
    half = math.sin(0.5 * angle) / angle if angle > 1e-8 else 0.5
    f = 2.0 * half * half
    for c in range(3):
        u = (rotation[k, 0, c], rotation[k, 1, c], rotation[k, 2, c])
        wu = cross(w, u)
        wwu = cross(w, wu)
        for i in range(3):
            rotation[k, i, c] += s * wu[i] + f * wwu[i]


@part
def turn_since(rotation: Array, before: Array, k: int) -> Vector:
    """The rotation vector that leads from one rotation to a near one."""
    w = (0.0, 0.0, 0.0)
    cosine = -1.0
    for c in range(3):
        a = (before[k, 0, c], before[k, 1, c], before[k, 2, c])
        b = (rotation[k, 0, c], rotation[k, 1, c], rotation[k, 2, c])
        x = cross(a, b)
        w = (w[0] + 0.5 * x[0], w[1] + 0.5 * x[1], w[2] + 0.5 * x[2])
        cosine += dot(a, b)
    sine = math.sqrt(dot(w, w))
    f = math.atan2(sine, 0.5 * cosine) / sine if sine > 1e-8 else 1.0
    return (f * w[0], f * w[1], f * w[2])


@part
def straighten(rotation: Array, k: int) -> None:
    """The nearest rotation, where round-off has made it not quite one."""
    columns = (_column(rotation, k, 0), _column(rotation, k, 1), _column(rotation, k, 2))
    product = (
        (dot(columns[0], columns[0]), dot(columns[0], columns[1]), dot(columns[0], columns[2])),
        (dot(columns[1], columns[0]), dot(columns[1], columns[1]), dot(columns[1], columns[2])),
        (dot(columns[2], columns[0]), dot(columns[2], columns[1]), dot(columns[2], columns[2])),
    )
    for i in range(3):
        row = (rotation[k, i, 0], rotation[k, i, 1], rotation[k, i, 2])
        for c in range(3):
            rotation[k, i, c] = 1.5 * row[c] - 0.5 * dot(row, product[c])


@part
def _column(rotation: Array, k: int, c: int) -> Vector:
    return (rotation[k, 0, c], rotation[k, 1, c], rotation[k, 2, c])


@part
def to_world(rotation: Array, k: int, u: Vector) -> Vector:
    return (
        rotation[k, 0, 0] * u[0] + rotation[k, 0, 1] * u[1] + rotation[k, 0, 2] * u[2],
        rotation[k, 1, 0] * u[0] + rotation[k, 1, 1] * u[1] + rotation[k, 1, 2] * u[2],
        rotation[k, 2, 0] * u[0] + rotation[k, 2, 1] * u[1] + rotation[k, 2, 2] * u[2],
    )


@part
def in_axes(tensor: Array, rotation: Array, k: int, w: Vector) -> Vector:
    """R J R^T w of a tensor J in the body's axes."""
    u = (
        dot(_column(rotation, k, 0), w),
        dot(_column(rotation, k, 1), w),
        dot(_column(rotation, k, 2), w),
    )
    return to_world(rotation, k, to_world(tensor, k, u))


@part
def fly(bodies: Bodies, k: int, h: float) -> None:
    """Symplectic Euler of a body without constraints. The spin is implicit, so that the angular momentum changes by torques alone:
    R' = exp(h w') R, R' J R'^T w' = L + h torque."""
    x, rotation, v, w = bodies.x, bodies.rotation, bodies.v, bodies.w
    slow, calm = 1.0 / (1.0 + h * bodies.damping[k, 0]), 1.0 / (1.0 + h * bodies.damping[k, 1])
    spin = in_axes(bodies.inertia, rotation, k, get(w, k))
    momentum = (
        calm * (spin[0] + h * bodies.torque[k, 0]),
        calm * (spin[1] + h * bodies.torque[k, 1]),
        calm * (spin[2] + h * bodies.torque[k, 2]),
    )
    for c in range(3):
        v[k, c] = slow * (v[k, c] + h * bodies.force[k, c] / bodies.mass[k])
        x[k, c] += h * v[k, c]
    for _ in range(SPIN_ITERATIONS):
        rate = in_axes(bodies.inverse_inertia, rotation, k, momentum)
        for i in range(3):
            for c in range(3):
                rotation[k, i, c] = bodies.before_rotation[k, i, c]
        turn_body(rotation, k, (h * rate[0], h * rate[1], h * rate[2]))
        put(w, k, rate)


@part
def lead(bodies: Bodies, k: int, at: float) -> None:
    """Puts a kinematic body where it is at a fraction of the step."""
    for i in range(3):
        bodies.x[k, i] = bodies.start_x[k, i] + at * bodies.way[k, i]
        for c in range(3):
            bodies.rotation[k, i, c] = bodies.start_rotation[k, i, c]
    turn_body(bodies.rotation, k, (at * bodies.turn[k, 0], at * bodies.turn[k, 1], at * bodies.turn[k, 2]))
