"""Linking number, twist and writhe of closed polygons, exact to round-off and in turns.

A closed framed curve preserves Lk = Tw + Wr as long as it does not pass through itself (Calugareanu's theorem).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...compile.jit import kernel
from ...errors import Array
from .frames import Vector, cross, dot, twist_angles


def linking_number(first: Array, second: Array) -> float:
    """Linking number of two closed polygons (n, 3) and (m, 3): Gauss's integral, an integer up to round-off."""
    return _seen_turns(_vertices(first), _vertices(second))


def writhe(points: Array) -> float:
    """Writhe of a closed polygon (n, 3): Gauss's integral over itself, the signed crossings averaged over all projections."""
    x = _vertices(points)
    return _seen_turns(x, x)


def total_twist(points: Array, directors: Array) -> float:
    """Twist of a closed polygon's directors (n, 3), unit vectors across its edges; less than half a turn between adjacent edges."""
    x = _vertices(points)
    edges = np.roll(x, -1, axis=0) - x
    angles = np.empty(len(x))
    twist_angles(edges / np.linalg.norm(edges, axis=1)[:, None], _vertices(directors), angles)
    return float(angles.sum()) / (2.0 * math.pi)


def self_linking(points: Array, directors: Array) -> float:
    """Linking number of a closed polygon with its directors: an integer up to round-off, which changes only, by two, if the
    polygon passes through itself."""
    return total_twist(points, directors) + writhe(points)


def _vertices(values: Array) -> NDArray[np.float64]:
    return np.ascontiguousarray(values, dtype=np.float64)


@kernel
def _seen_turns(x: Array, y: Array) -> float:
    """Signed area, in unit spheres, of the directions from points of one closed polygon to points of the other.

    For a pair of edges these form a spherical quadrilateral bounded by great arcs. Edges that share a vertex are coplanar and
    contribute no area; x and y may be the same polygon."""
    total = 0.0
    n, m = len(x), len(y)
    for i in range(n):
        k = i + 1 if i + 1 < n else 0
        for j in range(m):
            o = j + 1 if j + 1 < m else 0
            a, b, c, d = _unit(x, i, y, j), _unit(x, k, y, j), _unit(x, k, y, o), _unit(x, i, y, o)
            total += _triangle(a, b, c) + _triangle(a, c, d)
    return total / (4.0 * math.pi)


@kernel
def _unit(x: Array, i: int, y: Array, j: int) -> Vector:
    """Unit vector from x[i] to y[j]; zero if they coincide."""
    e = (y[j, 0] - x[i, 0], y[j, 1] - x[i, 1], y[j, 2] - x[i, 2])
    length = math.sqrt(dot(e, e))
    f = 1.0 / length if length > 0.0 else 0.0
    return (f * e[0], f * e[1], f * e[2])


@kernel
def _triangle(a: Vector, b: Vector, c: Vector) -> float:
    """Signed area of a spherical triangle (Van Oosterom and Strackee 1983); unlike formulas with asin it has no cancellation."""
    return 2.0 * math.atan2(dot(a, cross(b, c)), 1.0 + dot(a, b) + dot(b, c) + dot(c, a))
