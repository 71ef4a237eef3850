"""Linking, twist and writhe of closed polygons, exact up to round-off and counted in turns.

A closed framed curve keeps Lk = Tw + Wr as long as it does not pass through itself: Calugareanu's theorem.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...compile.jit import kernel
from ...errors import Array
from .frames import Vector, cross, dot, twist_angles


def linking_number(first: Array, second: Array) -> float:
    """How often one closed polygon (n, 3) winds around another (m, 3): Gauss's integral, a whole number up to round-off."""
    return _seen_turns(_vertices(first), _vertices(second))


def writhe(points: Array) -> float:
    """Gauss's integral of a closed polygon (n, 3) over itself: how much it coils, averaged over all directions of view."""
    x = _vertices(points)
    return _seen_turns(x, x)


def total_twist(points: Array, directors: Array) -> float:
    """Twist of a closed polygon's directors (n, 3), unit vectors across its edges. Less than half a turn from each edge
    to the next."""
    x = _vertices(points)
    edges = np.roll(x, -1, axis=0) - x
    angles = np.empty(len(x))
    twist_angles(edges / np.linalg.norm(edges, axis=1)[:, None], _vertices(directors), angles)
    return float(angles.sum()) / (2.0 * math.pi)


def self_linking(points: Array, directors: Array) -> float:
    """Lk of a closed polygon with its directors: a whole number up to round-off, which no motion changes but passing
    through itself, by two."""
    return total_twist(points, directors) + writhe(points)


def _vertices(values: Array) -> NDArray[np.float64]:
    return np.ascontiguousarray(values, dtype=np.float64)


@kernel
def _seen_turns(x: Array, y: Array) -> float:
    """The area, in unit spheres, of all directions in which a point of one closed polygon sees one of the other, with sign.

    For a pair of edges these fill a spherical quadrilateral whose sides are great arcs. Edges that share a vertex lie in one
    plane and see each other in no area; x and y may be the same polygon.
    """
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
    """Direction from x[i] to y[j]; of a point to itself zero."""
    e = (y[j, 0] - x[i, 0], y[j, 1] - x[i, 1], y[j, 2] - x[i, 2])
    length = math.sqrt(dot(e, e))
    f = 1.0 / length if length > 0.0 else 0.0
    return (f * e[0], f * e[1], f * e[2])


@kernel
def _triangle(a: Vector, b: Vector, c: Vector) -> float:
    """Signed area of a spherical triangle (Van Oosterom and Strackee, 1983): unlike formulas with asin, it never loses digits."""
    return 2.0 * math.atan2(dot(a, cross(b, c)), 1.0 + dot(a, b) + dot(b, c) + dot(c, a))
