"""Closest points against dense sampling and against what a minimum must satisfy; parallel and degenerate segments."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit
from tendril.core.maths.geometry.closest import closest_on_segment, closest_on_segments, closest_on_triangle

COUNT = 20_000


@njit(error_model="numpy")
def row(x, i, j):
    return (x[i, j, 0], x[i, j, 1], x[i, j, 2])


@njit(error_model="numpy")
def solve(points, out):
    """Of segments (four points), of a point and a triangle (four), of a point and a segment (three)."""
    for i in range(len(points)):
        a, b, c, d = row(points, i, 0), row(points, i, 1), row(points, i, 2), row(points, i, 3)
        out[i, 0], out[i, 1] = closest_on_segments(a, b, c, d)
        out[i, 2], out[i, 3], out[i, 4] = closest_on_triangle(a, b, c, d)
        out[i, 5] = closest_on_segment(a, b, c)


def solved(points: np.ndarray) -> np.ndarray:
    out = np.empty((len(points), 6))
    solve(np.ascontiguousarray(points, dtype=float), out)
    return out


def apart_on_segments(x: np.ndarray, s: np.ndarray, t: np.ndarray) -> np.ndarray:
    s, t = s[..., None], t[..., None]
    between = (1.0 - s) * x[..., 0, :] + s * x[..., 1, :] - (1.0 - t) * x[..., 2, :] - t * x[..., 3, :]
    return np.linalg.norm(between, axis=-1)


def exact_distance(x: np.ndarray) -> np.ndarray:
    """Of segments: the least of the four distances from ends, and of that between inner points of the lines."""
    candidates = []
    for point, other in ((0, 2), (1, 2), (2, 0), (3, 0)):
        along = x[:, other + 1] - x[:, other]
        square = np.einsum("ij,ij->i", along, along)
        s = np.einsum("ij,ij->i", x[:, point] - x[:, other], along) / np.where(square > 0.0, square, 1.0)
        s = np.clip(s, 0.0, 1.0)[:, None]
        candidates.append(np.linalg.norm(x[:, point] - x[:, other] - s * along, axis=1))
    u, v, e = x[:, 1] - x[:, 0], x[:, 3] - x[:, 2], x[:, 2] - x[:, 0]
    n = np.cross(u, v)
    square = np.einsum("ij,ij->i", n, n)
    safe = np.where(square > 0.0, square, 1.0)
    s = np.einsum("ij,ij->i", np.cross(e, v), n) / safe
    t = np.einsum("ij,ij->i", np.cross(e, u), n) / safe
    inner = (square > 0.0) & (s >= 0.0) & (s <= 1.0) & (t >= 0.0) & (t <= 1.0)
    candidates.append(np.where(inner, np.abs(np.einsum("ij,ij->i", e, n)) / np.sqrt(safe), np.inf))
    return np.min(candidates, axis=0)


def segments(kind: str, rng: np.random.Generator) -> np.ndarray:
    x = rng.uniform(-1.0, 1.0, (COUNT, 4, 3))
    if kind == "of all lengths":
        middle = 0.5 * (x[:, [0, 2]] + x[:, [1, 3]])
        half = 0.5 * (x[:, [1, 3]] - x[:, [0, 2]]) * 10.0 ** rng.uniform(-6.0, 3.0, (COUNT, 2, 1))
        x[:, [0, 2]], x[:, [1, 3]] = middle - half, middle + half
    elif kind == "without length":
        for ends in ((0, 1), (2, 3)):
            none = rng.random(COUNT) < 0.5
            x[none, ends[1]] = x[none, ends[0]]
    elif kind == "on a lattice":
        x = rng.integers(-1, 2, (COUNT, 4, 3)).astype(float)
    elif kind == "crossing":
        s, t = rng.random((2, COUNT, 1))
        x[:, 2:] += ((1 - s) * x[:, 0] + s * x[:, 1] - (1 - t) * x[:, 2] - t * x[:, 3])[:, None]
    return x


@pytest.mark.parametrize("kind", ["anywhere", "of all lengths", "without length", "crossing", "on a lattice"])
def test_segments_are_nowhere_closer(kind: str) -> None:
    x = segments(kind, np.random.default_rng(1))
    s, t = solved(x)[:, :2].T
    assert (s >= 0.0).all()
    assert (s <= 1.0).all()
    assert (t >= 0.0).all()
    assert (t <= 1.0).all()
    exact = exact_distance(x)
    assert (apart_on_segments(x, s, t) - exact <= 1e-6 * exact + 1e-12).all()


def test_nearly_parallel_segments_are_as_close_as_promised() -> None:
    """To 1e-6 beyond half a percent, of angle or of how far they run apart, and to a thousandth otherwise."""
    rng = np.random.default_rng(2)
    x = segments("anywhere", rng)
    u = x[:, 1] - x[:, 0]
    x[:, 3] = x[:, 2] + u * rng.uniform(-2.0, 2.0, (COUNT, 1))
    x[:, 3] += rng.standard_normal((COUNT, 3)) * 10.0 ** rng.uniform(-8.0, 0.0, (COUNT, 1))
    s, t = solved(x)[:, :2].T
    v = x[:, 3] - x[:, 2]
    exact = exact_distance(x)
    lengths = np.linalg.norm(u, axis=1), np.linalg.norm(v, axis=1)
    angle = np.linalg.norm(np.cross(u, v), axis=1) / (lengths[0] * lengths[1])
    varies = angle * np.maximum(np.minimum(*lengths) / exact, 1.0)
    wrong = apart_on_segments(x, s, t) / exact - 1.0
    assert 0.2 < (varies > 6e-3).mean() < 0.8
    assert wrong[varies > 6e-3].max() < 1e-6
    assert wrong.max() < 1e-3


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e3])
def test_parallel_segments_meet_in_the_middle_of_their_overlap(size: float) -> None:
    rng = np.random.default_rng(3)
    u = rng.standard_normal((COUNT, 1, 3))
    across = np.cross(u, rng.standard_normal((COUNT, 1, 3)))
    along = rng.uniform(-1.0, 1.0, (COUNT, 4))
    x = size * (along[..., None] * u + across * [[0.0], [0.0], [1.0], [1.0]] + rng.uniform(-1.0, 1.0, (COUNT, 1, 3)))
    s, t = solved(x)[:, :2].T
    a, b = np.sort(along[:, :2], axis=1), np.sort(along[:, 2:], axis=1)
    begin, end = np.maximum(a[:, 0], b[:, 0]), np.minimum(a[:, 1], b[:, 1])
    overlap = end > begin + 1e-2
    on_a, on_b = (1 - s) * along[:, 0] + s * along[:, 1], (1 - t) * along[:, 2] + t * along[:, 3]
    assert 0.3 < overlap.mean() < 0.9
    assert np.abs(on_a - 0.5 * (begin + end))[overlap].max() < 1e-7
    assert np.abs(on_b - on_a)[overlap].max() < 1e-7
    apart = end < begin - 1e-2  # then it is the ends that face each other
    facing_a = np.where(a[:, 1] < b[:, 0], a[:, 1], a[:, 0])
    assert np.abs(on_a - facing_a)[apart].max() < 1e-9


def test_closest_points_move_continuously_through_parallel() -> None:
    """One segment tips like a balance over another; its contact must not jump from end to end."""
    tilt = np.linspace(-2e-3, 2e-3, 20_001)
    x = np.zeros((len(tilt), 4, 3))
    x[:, 0, 0], x[:, 1, 0] = -1.0, 1.0
    x[:, 2, 0], x[:, 3, 0] = -0.5, 0.8
    x[:, 2, 2] = 0.2 - 0.5 * tilt
    x[:, 3, 2] = 0.2 + 0.8 * tilt
    s, t = solved(x)[:, :2].T
    assert s[0] > 0.89
    assert s[-1] < 0.26
    assert s[10_000] == pytest.approx(0.5 * (1.0 + 0.15), abs=1e-9)
    assert np.abs(np.diff(s)).max() < 5e-3
    assert np.abs(np.diff(t)).max() < 5e-3


@pytest.mark.parametrize("kind", ["anywhere", "thin", "flat", "lattice"])
def test_triangles_are_nowhere_closer(kind: str) -> None:
    rng = np.random.default_rng(4)
    x = rng.uniform(-1.0, 1.0, (COUNT, 4, 3))
    if kind == "thin":
        x[:, 3] = x[:, 1] + (x[:, 2] - x[:, 1]) * rng.uniform(-1.0, 2.0, (COUNT, 1))
        x[:, 3] += rng.standard_normal((COUNT, 3)) * 10.0 ** rng.uniform(-15.0, -2.0, (COUNT, 1))
    elif kind == "flat":
        x[..., 2] = 0.0
    elif kind == "lattice":
        x = rng.integers(-1, 2, (COUNT, 4, 3)).astype(float)
    weights = solved(x)[:, 2:5]
    assert (weights >= 0.0).all()
    assert np.abs(weights.sum(axis=1) - 1.0).max() < 1e-15 * 4
    near = np.einsum("ij,ijk->ik", weights, x[:, 1:])
    away = x[:, 0] - near
    distance = np.linalg.norm(away, axis=1)
    # The nearest point of a convex set: all of the set lies beyond the plane across the shortest line.
    beyond = np.einsum("ik,ijk->ij", away, x[:, 1:] - near[:, None])
    assert (beyond <= 1e-8 * distance[:, None]).all() if kind == "thin" else (beyond <= 1e-14).all()
    assert (distance > 1e-3).mean() > 0.2


def test_a_point_and_a_segment() -> None:
    x = np.random.default_rng(5).uniform(-1.0, 1.0, (COUNT, 4, 3))
    x[: COUNT // 2, 2] = x[: COUNT // 2, 1]
    s = solved(x)[:, 5]
    many = np.linspace(0.0, 1.0, 501)
    u = x[:, 2] - x[:, 1]
    reached = np.linalg.norm(x[:, 0] - x[:, 1] - s[:, None] * u, axis=1)
    sampled = np.full(COUNT, math.inf)
    for value in many:
        sampled = np.minimum(sampled, np.linalg.norm(x[:, 0] - x[:, 1] - value * u, axis=1))
    assert (reached <= sampled + 1e-15).all()
    assert (s[: COUNT // 2] == 0.5).all()
