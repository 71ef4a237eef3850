"""Vectors in the rows of arrays, and angles that remember whole turns."""

from __future__ import annotations

import math

from ...compile.jit import part
from ...compile.lanes import all_of, select
from ...errors import Array
from .frames import Vector


@part
def get(a: Array, i: int) -> Vector:
    return (a[i, 0], a[i, 1], a[i, 2])


@part
def put(a: Array, i: int, x: Vector) -> None:
    a[i, 0], a[i, 1], a[i, 2] = x


@part
def edge_of(q: Array, i: int, j: int) -> tuple[float, Vector]:
    """Length and tangent of the edge from row i to row j; length zero is left for the caller to see."""
    x, y, z = q[j, 0] - q[i, 0], q[j, 1] - q[i, 1], q[j, 2] - q[i, 2]
    length = math.sqrt(x * x + y * y + z * z)
    f = 1.0 / length if length > 0.0 else 0.0
    return length, (x * f, y * f, z * f)


@part
def nearest_turn(angle: float, to: float) -> float:
    """The angle plus the whole turns that bring it nearest to `to`: twist is remembered beyond pi."""
    difference = to - angle
    near = abs(difference) <= math.pi
    if all_of(near):
        return angle
    turns: float = select(near, 0.0, math.floor(difference / (2.0 * math.pi) + 0.5))
    return angle + 2.0 * math.pi * turns
