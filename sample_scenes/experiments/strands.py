"""Measurements of rods in contact: gaps, contact partners, passages through each other, and linking (twist and writhe)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...core.compile.jit import kernel, part
from ...core.errors import Array
from ...core.maths.geometry.closest import blend, closest_on_segments, minus
from ...core.maths.geometry.crossing import segments_cross
from ...core.maths.geometry.frames import Vector, dot, twist_angles
from ...core.maths.geometry.linking import writhe

# Diameters along the rod: points closer than this cannot touch, because the rod would have to bend too much.
NEVER_TOUCH = 0.5 * math.pi


def self_gaps(points: Array, radius: float) -> Array:
    """Gap, m, from each edge of an open rod to the closest other part of it; negative where they overlap."""
    return _nearest(points, radius)[0]


def partners(points: Array, radius: float, near: float) -> NDArray[np.int64]:
    """(k, 2) indices of edges whose gap to another part of their rod is below `near`, m, each with the closest other edge."""
    gaps, edge = _nearest(points, radius)
    touching = np.flatnonzero(gaps < near)
    return np.stack([touching, edge[touching]], axis=1)


def _nearest(points: Array, radius: float) -> tuple[Array, NDArray[np.int64]]:
    x = np.ascontiguousarray(points)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1))])
    distances = np.full(len(x) - 1, math.inf)
    edges = np.full(len(x) - 1, -1)
    _self_distances(x, along, NEVER_TOUCH * 2.0 * radius, distances, edges)
    return np.asarray(distances - 2.0 * radius), edges


def gap(first: Array, second: Array, reach: float, closed: bool = False) -> float:
    """Gap, m, between the surfaces of two rods whose radii add up to `reach`."""
    return float(_distance(_edges_of(first, closed), _edges_of(second, closed))) - reach


def _edges_of(points: Array, closed: bool) -> Array:
    """Points such that every edge runs from one row to the next: the first vertex of a closed rod is repeated at the end."""
    return np.vstack([points, points[:1]]) if closed else np.ascontiguousarray(points)


def resampled(points: Array, edges: int) -> Array:
    """The polyline resampled with edges of equal length."""
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    places = np.linspace(0.0, along[-1], edges + 1)
    return np.stack([np.interp(places, along, points[:, axis]) for axis in range(3)], axis=1)


def passages(first: Array, second: Array, first_after: Array, second_after: Array, closed: bool = False) -> int:
    """Number of edge pairs of two rods that pass through each other during linear motion between two states."""
    return int(_passages(*(_edges_of(x, closed) for x in (first, second, first_after, second_after))))


class ClampedLink:
    """Twist and writhe of an open rod between two clamps, in turns; their sum changes by the rotation of the clamps.

    The rod is extended straight beyond the clamps and closed far away by a fixed curve."""

    def __init__(self, points: Array, directors: Array) -> None:
        """Takes the initial state of the rod."""
        edges = np.diff(points, axis=0)
        t = edges / np.linalg.norm(edges, axis=1)[:, None]
        far = 10.0 * float(np.abs(edges).sum())
        out = [points[0] - far * t[0], points[-1] + far * t[-1]]
        # Both ends may lie on one line, therefore the closing curve makes a bow around it.
        across = np.cross(out[1] - out[0], np.eye(3)[np.abs(out[1] - out[0]).argmin()])
        bow = 0.5 * (out[0] + out[1]) + 3.0 * far * across / np.linalg.norm(across)
        self._tangents, self._directors = t[[0, -1]], np.array(directors)[[0, -1]]
        self._after, self._before = np.array([out[1], bow]), out[0]

    def of(self, points: Array, directors: Array, spins: tuple[float, float] = (0.0, 0.0)) -> tuple[float, float]:
        """Twist and writhe, in turns. `spins` are the rotation angles of the clamps, rad; the twist between edges is below pi."""
        edges = np.diff(points, axis=0)
        t = edges / np.linalg.norm(edges, axis=1)[:, None]
        angle = np.array(spins)[:, None]
        held = np.cos(angle) * self._directors + np.sin(angle) * np.cross(self._tangents, self._directors)
        tangents = np.vstack([self._tangents[:1], t, self._tangents[1:]])
        angles = np.empty(len(tangents))
        twist_angles(tangents, np.ascontiguousarray(np.vstack([held[:1], directors, held[1:]])), angles)
        curve = np.vstack([self._before, points, self._after])
        return float(angles[1:].sum()) / (2.0 * math.pi), writhe(curve)


@part
def _row(x: Array, i: int) -> Vector:
    return (x[i, 0], x[i, 1], x[i, 2])


@part
def _closest(x: Array, i: int, y: Array, j: int) -> tuple[float, float, float]:
    """Parameters of the closest points of two edges, and their distance."""
    a, b, c, d = _row(x, i), _row(x, i + 1), _row(y, j), _row(y, j + 1)
    s, t = closest_on_segments(a, b, c, d)
    w = minus(blend(a, b, s), blend(c, d, t))
    return s, t, math.sqrt(dot(w, w))


@kernel
def _passages(x: Array, y: Array, x_after: Array, y_after: Array) -> int:
    count = 0
    for i in range(len(x) - 1):
        for j in range(len(y) - 1):
            count += segments_cross(
                _row(x, i), _row(x, i + 1), _row(y, j), _row(y, j + 1),
                _row(x_after, i), _row(x_after, i + 1), _row(y_after, j), _row(y_after, j + 1),
            )[0]  # fmt: skip
    return count


@kernel
def _distance(x: Array, y: Array) -> float:
    least = math.inf
    for i in range(len(x) - 1):
        for j in range(len(y) - 1):
            least = min(least, _closest(x, i, y, j)[2])
    return least


@kernel
def _self_distances(x: Array, along: Array, near: float, out: Array, other: NDArray[np.int64]) -> None:
    for i in range(len(x) - 1):
        for j in range(i + 1, len(x) - 1):
            s, t, distance = _closest(x, i, x, j)
            if along[j] + t * (along[j + 1] - along[j]) - along[i] - s * (along[i + 1] - along[i]) < near:
                continue
            if distance < out[i]:
                out[i], other[i] = distance, j
            if distance < out[j]:
                out[j], other[j] = distance, i
