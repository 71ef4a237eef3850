"""Arrangements of bounding boxes, each a function of a random generator and the number of boxes."""

from __future__ import annotations

import math

import numpy as np

Boxes = tuple[np.ndarray, np.ndarray]


def around(centre: np.ndarray, half: np.ndarray | float) -> Boxes:
    return np.ascontiguousarray(centre - half), np.ascontiguousarray(centre + half)


def uniform(rng: np.random.Generator, n: int) -> Boxes:
    return around(rng.uniform(0, n ** (1 / 3), (n, 3)), rng.uniform(0, 0.7, (n, 3)))


def touching(rng: np.random.Generator, n: int) -> Boxes:
    """Boxes on a lattice, most of which only touch."""
    centre = rng.integers(0, math.ceil(n ** (1 / 3)), (n, 3)).astype(float)
    return around(centre, rng.choice([0.25, 0.5], (n, 1)))


def points(rng: np.random.Generator, n: int) -> Boxes:
    centre = rng.integers(0, math.ceil((2 * n) ** (1 / 3)), (n, 3)).astype(float)
    return centre, centre.copy()


def identical(rng: np.random.Generator, n: int) -> Boxes:
    return around(np.full((n, 3), 1.234), 0.1)


def one_point(rng: np.random.Generator, n: int) -> Boxes:
    return np.full((n, 3), -7.0), np.full((n, 3), -7.0)


def one_huge(rng: np.random.Generator, n: int) -> Boxes:
    half = np.full((n, 1), 0.4)
    half[n // 3 : n // 3 + 1] *= 1000
    return around(rng.uniform(0, n ** (1 / 3), (n, 3)), half)


def all_sizes(rng: np.random.Generator, n: int) -> Boxes:
    half = 10.0 ** rng.uniform(-3, 0, (n, 1))
    return around(rng.uniform(-1, 1, (n, 3)) * n ** (1 / 3), half)


def in_line(rng: np.random.Generator, n: int) -> Boxes:
    return around(np.arange(n)[:, None] * np.array([0.01, 0.0, 0.0]), 0.006)


def rods_on_one_axis(rng: np.random.Generator, n: int) -> Boxes:
    """Long thin boxes that differ only by their position along one axis, to which they are perpendicular."""
    return around(rng.uniform(0, n, (n, 1)) * [0.0, 0.0, 1.0] + [3.0, 4.0, 0.0], np.array([10.0, 0.01, 0.4]))


def sticks(rng: np.random.Generator, n: int) -> Boxes:
    """Long thin boxes, each along one of the axes."""
    half = np.full((n, 3), 0.01)
    half[np.arange(n), rng.integers(0, 3, n)] = 1.0
    return around(rng.uniform(0, n ** (1 / 3), (n, 3)), half)


def far_away(rng: np.random.Generator, n: int) -> Boxes:
    """A few boxes at extreme coordinates, which must not coarsen the grid for all others."""
    low, high = uniform(rng, n)
    for k, where in zip(range(0, n, 1 + n // 4), (-1e300, 1e9, -1e15, 1e308), strict=False):
        low[k] = high[k] = where
    return low, high


def without_end(rng: np.random.Generator, n: int) -> Boxes:
    low, high = uniform(rng, n)
    low[::50, 2] = -np.inf
    high[1::50] = np.inf
    return low, high


KINDS = [uniform, touching, points, one_huge, all_sizes, in_line, rods_on_one_axis, sticks, far_away, without_end]
CROWDED = [identical, one_point]
