"""Overlap of rods with each other and with cylinders, measured from positions by geometry that is independent of the solver."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from ...core.describe.shapes import Cylinder
from ...core.errors import Array

MAX_PAIRS = 200_000  # per batch, to limit memory


def between_segments(a: Array, b: Array, c: Array, d: Array) -> tuple[Array, Array, Array]:
    """Distance of segments ab and cd, row by row, and the parameters, from 0 to 1, of the closest points."""
    u, v, w = b - a, d - c, a - c
    uu, vv, uv = (np.einsum("ij,ij->i", *pair) for pair in ((u, u), (v, v), (u, v)))
    uw, vw = np.einsum("ij,ij->i", u, w), np.einsum("ij,ij->i", v, w)
    across = uu * vv - uv * uv
    tiny = np.finfo(float).tiny
    ways = []
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.where(across > 1e-12 * uu * vv, (uv * vw - vv * uw) / across, 0.0)
        s = np.clip(inside, 0.0, 1.0)
        t = (uv * s + vw) / np.maximum(vv, tiny)
        ways.append((s, t))
        # Otherwise an end of one segment is closest to the other: take the smallest of the four distances.
        for end in (0.0, 1.0):
            ways.append((np.full_like(uu, end), (uv * end + vw) / np.maximum(vv, tiny)))
            ways.append(((uv * end - uw) / np.maximum(uu, tiny), np.full_like(uu, end)))
    positions = [(np.clip(s, 0.0, 1.0), np.clip(t, 0.0, 1.0)) for s, t in ways]
    far = np.stack([np.linalg.norm(w + s[:, None] * u - t[:, None] * v, axis=1) for s, t in positions])
    best = far.argmin(axis=0)
    rows = np.arange(len(a))
    s, t = (np.stack([place[k] for place in positions])[best, rows] for k in range(2))
    return far[best, rows], s, t


def in_itself(points: Array, radius: float) -> float:
    """Largest self-overlap of a rod, m; if negative, the smallest gap. Pairs closer along the rod than half the circumference of
    its section are ignored: no rod can bend enough to bring them together."""
    i, j = np.triu_indices(len(points) - 1, 2)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    deepest = -math.inf
    for first in range(0, len(i), MAX_PAIRS):
        m, k = i[first : first + MAX_PAIRS], j[first : first + MAX_PAIRS]
        far, s, t = between_segments(points[m], points[m + 1], points[k], points[k + 1])
        apart = along[k] + t * (along[k + 1] - along[k]) - along[m] - s * (along[m + 1] - along[m])
        counts = apart >= math.pi * radius
        deepest = max(deepest, float((2.0 * radius - far[counts]).max(initial=-math.inf)))
    return deepest


def of_rods(first: Array, first_radius: float, second: Array, second_radius: float) -> float:
    """Largest overlap of two rods, m; if negative, the smallest gap."""
    i, j = (grid.ravel() for grid in np.meshgrid(np.arange(len(first) - 1), np.arange(len(second) - 1), indexing="ij"))
    far, _, _ = between_segments(first[i], first[i + 1], second[j], second[j + 1])
    return first_radius + second_radius - float(far.min())


def of_many(points: Array, starts: Array, radius: float) -> Array:
    """Overlaps, m, of all pairs of overlapping edges of different rods. Rod k has the points from starts[k] to starts[k + 1]."""
    rod = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    edge = np.flatnonzero(rod[1:] == rod[:-1])
    middle = 0.5 * (points[edge] + points[edge + 1])
    longest = float(np.linalg.norm(points[edge + 1] - points[edge], axis=1).max())
    pairs = cKDTree(middle).query_pairs(longest + 2.0 * radius, output_type="ndarray")
    i, j = edge[pairs[:, 0]], edge[pairs[:, 1]]
    others = rod[i] != rod[j]
    i, j = i[others], j[others]
    found = [np.zeros(0)]
    for first in range(0, len(i), MAX_PAIRS):
        m, k = i[first : first + MAX_PAIRS], j[first : first + MAX_PAIRS]
        far, _, _ = between_segments(points[m], points[m + 1], points[k], points[k + 1])
        found.append(2.0 * radius - far[far < 2.0 * radius])
    return np.concatenate(found)


def in_cylinder(points: Array, radius: float, cylinder: Cylinder, samples: int = 16) -> float:
    """Deepest penetration of a cylinder by a rod, m; if negative, the smallest gap. `samples` is the number of points per edge."""
    at = np.linspace(0.0, 1.0, samples + 1)[:, None, None]
    positions = ((1.0 - at) * points[:-1] + at * points[1:]).reshape(-1, 3)
    local = (positions - _array(cylinder.position)) @ _array(cylinder.rotation)  # to coordinates of the cylinder
    side = np.hypot(local[:, 0], local[:, 1]) - cylinder.radius
    cap = np.abs(local[:, 2]) - 0.5 * cylinder.length
    outside = np.hypot(np.maximum(side, 0.0), np.maximum(cap, 0.0))
    distance = np.where((side < 0.0) & (cap < 0.0), np.maximum(side, cap), outside)
    return radius - float(distance.min())


def _array(value: ArrayLike) -> Array:
    return np.asarray(value, dtype=float)
