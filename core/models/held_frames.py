"""Frames of cross-sections that are held: what is at a vertex, and how a held frame moves within a step."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..compile.jit import part
from ..compile.lanes import select
from ..errors import Array
from ..maths.geometry.frames import Vector, dot, transport
from ..maths.geometry.rows import get, put

# What is at a vertex of a rod.
FREE_END = 0  # an end of an open rod: no element
INNER = 1  # one element between the two edges
FRAMED = 2  # the frame is held: an element on either side where there is an edge


class Holds(NamedTuple):
    """Prescribed motion, at the beginning [0] and the end [1] of the step."""

    position: Array  # (2, N, 3) of held vertices
    tangent: Array  # (2, N, 3) of held frames
    director: Array  # (2, N, 3) first director of held frames, of vertices and of edges
    spin: Array  # (2, N) rad about the tangent, on top; counts whole turns


class HeldFrames(NamedTuple):
    """Held frames of vertices at the stage's time."""

    tangent: Array  # (N, 3)
    director: Array  # (N, 3) without the spin
    spin: Array  # (N,); of a held edge that at the beginning of the attempt


class HasJoints(Protocol):
    @property
    def joint(self) -> NDArray[np.int8]: ...  # (N,) FREE_END, INNER or FRAMED


@part
def between(x: float, y: float, at: float) -> float:
    """From x to y, where it arrives to the last bit."""
    return y if at == 1.0 else x + at * (y - x)


@part
def blend(x: Vector, y: Vector, at: float) -> Vector:
    """The direction between two, at a fraction of the way."""
    if at == 1.0:
        return y
    z = (x[0] + at * (y[0] - x[0]), x[1] + at * (y[1] - x[1]), x[2] + at * (y[2] - x[2]))
    length = math.sqrt(dot(z, z))
    usable = length > 1e-9
    f = 1.0 / select(usable, length, 1.0)
    return (select(usable, z[0] * f, y[0]), select(usable, z[1] * f, y[1]), select(usable, z[2] * f, y[2]))


@part
def held_frame(tangent: Array, director: Array, i: int, at: float) -> tuple[Vector, Vector]:
    """Tangent and first director of held frame i (arrays as in `Holds`) at a fraction of the step."""
    t0, t1 = get(tangent[0], i), get(tangent[1], i)
    t = blend(t0, t1, at)
    d = blend(transport(get(director[0], i), t0, t), transport(get(director[1], i), t1, t), at)
    return t, transport(d, t, t)


@part
def place_frames(rods: HasJoints, holds: Holds, frames: HeldFrames, first: int, end: int, at: float) -> None:
    """Held frames of vertices at a fraction of the step, between those of its beginning and its end."""
    for i in range(first, end):
        if rods.joint[i] == FRAMED:
            t, d = held_frame(holds.tangent, holds.director, i, at)
            put(frames.tangent, i, t)
            put(frames.director, i, d)
            frames.spin[i] = between(holds.spin[0, i], holds.spin[1, i], at)
