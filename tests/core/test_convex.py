"""Convex shapes against their support functions, dense sampling in space and time, and motions built to hit."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit
from tendril.core.maths.geometry.convex import (
    BOX,
    CAPSULE,
    CYLINDER,
    PLANE,
    SPHERE,
    enters,
    lowest_on_segment,
    signed_distance,
)

KINDS = pytest.mark.parametrize(
    "kind", [PLANE, SPHERE, CAPSULE, BOX, CYLINDER], ids=["plane", "sphere", "capsule", "box", "cylinder"]
)
SIZES = np.array([[0.0, 0.0, 0.0], [0.7, 0.0, 0.0], [0.4, 0.6, 0.0], [0.5, 0.8, 0.2], [0.6, 0.3, 0.0]])


@njit(error_model="numpy")
def point(x, i, j):
    return (x[i, j, 0], x[i, j, 1], x[i, j, 2])


@njit(error_model="numpy")
def distances(kind, size, x, out):
    for i in range(len(x)):
        d, n = signed_distance(kind, size[0], size[1], size[2], point(x, i, 0))
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = d, n[0], n[1], n[2]


@njit(error_model="numpy")
def lowest(kind, size, x, out):
    for i in range(len(x)):
        out[i] = lowest_on_segment(kind, size[0], size[1], size[2], point(x, i, 0), point(x, i, 1))


@njit(error_model="numpy")
def entries(kind, size, x, out):
    for i in range(len(x)):
        p0, p1, p0e, p1e = point(x, i, 0), point(x, i, 1), point(x, i, 2), point(x, i, 3)
        out[i, 0], out[i, 1], out[i, 2] = enters(kind, size[0], size[1], size[2], p0, p1, p0e, p1e)


def measured(kind: int, x: np.ndarray, size: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Signed distances and gradients at points of any shape."""
    flat = np.ascontiguousarray(x.reshape(-1, 1, 3))
    out = np.empty((len(flat), 4))
    distances(kind, SIZES[kind] if size is None else size, flat, out)
    return out[:, 0].reshape(x.shape[:-1]), out[:, 1:].reshape(x.shape)


def support(kind: int, n: np.ndarray) -> np.ndarray:
    """How far the shape reaches in directions n."""
    s0, s1, _ = SIZES[kind]
    if kind == PLANE:
        return np.where(n[..., 2] == 1.0, 0.0, np.inf)
    if kind == SPHERE:
        return np.full(n.shape[:-1], s0)
    if kind == CAPSULE:
        return s0 + s1 * np.abs(n[..., 2])
    if kind == BOX:
        return np.abs(n) @ SIZES[kind]
    return s0 * np.hypot(n[..., 0], n[..., 1]) + s1 * np.abs(n[..., 2])


def points(n: int, rng: np.random.Generator) -> np.ndarray:
    """Some anywhere, some on a grid: on axes, faces, edges and in the centre."""
    x = rng.uniform(-1.5, 1.5, (n, 3))
    grid = np.array([-1.0, -0.8, -0.6, -0.5, -0.2, 0.0, 0.1, 0.3, 0.5, 0.7, 0.8, 1.0])
    x[::3] = grid[rng.integers(0, len(grid), (len(x[::3]), 3))]
    return x


@KINDS
def test_signed_distance_is_that_from_the_farthest_supporting_plane(kind: int) -> None:
    """Of a convex shape it is the maximum over directions n of n . p - support(n), inside and outside."""
    rng = np.random.default_rng(1)
    x = points(5000, rng)
    distance, gradient = measured(kind, x)
    assert np.abs(np.linalg.norm(gradient, axis=1) - 1.0).max() < 1e-14
    assert np.abs(np.einsum("ij,ij->i", gradient, x) - support(kind, gradient) - distance).max() < 1e-14
    ways = rng.standard_normal((500, 3))
    ways = np.concatenate([ways / np.linalg.norm(ways, axis=1)[:, None], np.eye(3), -np.eye(3)])
    assert (x @ ways.T - support(kind, ways) - distance[:, None] <= 1e-14).all()
    assert 0.02 < (distance < 0.0).mean() < 0.8


@KINDS
def test_gradient_is_that_of_finite_differences(kind: int) -> None:
    x = np.random.default_rng(2).uniform(-1.5, 1.5, (3000, 3))
    gradient = measured(kind, x)[1]
    step = 1e-6
    differences = np.stack(
        [measured(kind, x + step * e)[0] - measured(kind, x - step * e)[0] for e in np.eye(3)], axis=1
    )
    off = np.abs(differences / (2.0 * step) - gradient).max(axis=1)
    assert np.median(off) < 1e-9
    assert (off < 1e-4).mean() > 0.999  # all but those next to a ridge


@KINDS
def test_nowhere_on_a_segment_is_lower(kind: int) -> None:
    rng = np.random.default_rng(3)
    x = np.stack([points(4000, rng), points(4000, rng)], axis=1)
    x[::5, 1] = x[::5, 0] + (x[::5, 1] - x[::5, 0]) * 10.0 ** rng.uniform(-8.0, 1.0, (len(x[::5]), 1))
    x[::50, 1] = x[::50, 0]
    s = np.empty(len(x))
    lowest(kind, SIZES[kind], x, s)
    assert ((s >= 0.0) & (s <= 1.0)).all()
    here = measured(kind, (1.0 - s)[:, None] * x[:, 0] + s[:, None] * x[:, 1])[0]
    length = np.linalg.norm(x[:, 1] - x[:, 0], axis=1)
    # A capsule's axis is kept with the precision of closest points of parallel segments.
    extra = 1e-3 * np.abs(here + SIZES[kind][0]) * (np.abs(x[:, 1] - x[:, 0])[:, :2].max(axis=1) < 1e-3 * length)
    tolerance = 1e-6 * length + (extra if kind == CAPSULE else 0.0) + 1e-15
    for t in np.linspace(0.0, 1.0, 301):
        assert (here <= measured(kind, (1.0 - t) * x[:, 0] + t * x[:, 1])[0] + tolerance).all()


@pytest.mark.parametrize(
    ("kind", "size", "ends", "expected"),
    [
        (PLANE, (0, 0, 0), ((-1, 0, 0.3), (2, 5, 0.3)), (-1.0, 2.0)),
        (CAPSULE, (0.4, 0.6, 0), ((1, 0, -0.2), (1, 0, 2.8)), (-0.2, 0.6)),
        (CYLINDER, (0.4, 0.6, 0), ((1, 0, -0.2), (1, 0, 2.8)), (-0.2, 0.6)),
        (CYLINDER, (0.4, 0.6, 0), ((-1, 0, 0.9), (3, 0, 0.9)), (-0.4, 0.4)),
        (BOX, (0.5, 0.8, 0.2), ((-0.3, 0, 1), (2.7, 0, 1)), (-0.3, 0.5)),
        (BOX, (0.5, 0.8, 0.2), ((-3, 0, 0.1999), (1, 0, 0.1999)), (-0.4999, 0.4999)),
    ],
)
def test_the_lowest_point_of_a_flat_stretch_is_its_middle(
    kind: int, size: tuple[float, ...], ends: tuple[tuple[float, ...], ...], expected: tuple[float, float]
) -> None:
    """`expected`: where the stretch begins and ends, along the coordinate the segment runs along."""
    x = np.array([ends], dtype=float)
    s = np.empty(1)
    lowest(kind, np.array(size, dtype=float), x, s)
    axis = 2 if x[0, 0, 2] != x[0, 1, 2] else 0
    found = (1.0 - s[0]) * x[0, 0, axis] + s[0] * x[0, 1, axis]
    tolerance = 2e-3  # the corners of what is level are rounded where they fall off softly
    assert found == pytest.approx(0.5 * sum(expected), abs=tolerance)


def test_the_lowest_point_moves_continuously_as_a_segment_tilts() -> None:
    tilt = np.linspace(-1e-4, 1e-4, 40_001)
    x = np.zeros((len(tilt), 2, 3))
    x[:, 0, 0], x[:, 1, 0] = -2.0, 2.0
    x[:, 0, 2], x[:, 1, 2] = 0.3 - 2.0 * tilt, 0.3 + 2.0 * tilt
    for kind in (BOX, CYLINDER, PLANE):
        s = np.empty(len(tilt))
        lowest(kind, np.array([0.5, 0.5, 0.2]) if kind == BOX else np.array([0.5, 0.2, 0.0]), x, s)
        reach = 2.0 if kind == PLANE else 0.5
        assert 4.0 * s[0] - 2.0 == pytest.approx(reach, rel=0.1)
        assert 4.0 * s[20_000] - 2.0 == pytest.approx(0.0, abs=1e-9)
        assert np.abs(np.diff(s)).max() < 5e-3


def least_over_motion(kind: int, size: np.ndarray, x: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The least signed distance of the segment at each time: (times, segments)."""
    result = []
    for time in times:
        p = np.ascontiguousarray((1.0 - time) * x[:, :2] + time * x[:, 2:])
        s = np.empty(len(x))
        lowest(kind, size, p, s)
        result.append(measured(kind, (1.0 - s)[:, None] * p[:, 0] + s[:, None] * p[:, 1], size)[0])
    return np.array(result)


@KINDS
@pytest.mark.parametrize("length", [0.0, 0.1, 1.5])
def test_entries_are_those_of_dense_sampling(kind: int, length: float) -> None:
    rng = np.random.default_rng(4)
    n = 1000
    x = rng.uniform(-2.0, 2.0, (n, 4, 3))
    x[:, 1] = x[:, 0] + length * (x[:, 1] - x[:, 0])
    x[:, 3] = x[:, 2] + length * (x[:, 3] - x[:, 2])
    out = np.empty((n, 3))
    entries(kind, SIZES[kind], x, out)
    found, time, s = out[:, 0] == 1.0, out[:, 1], out[:, 2]
    times = np.linspace(0.0, 1.0, 301)
    sampled = least_over_motion(kind, SIZES[kind], x, times)
    inside = sampled[0] < 0.0
    assert not found[inside].any()
    assert (time[inside] == 0.0).all()
    gets_in = ~inside & (sampled.min(axis=0) < -1e-6)
    assert 0.03 < gets_in.mean() < 0.9
    assert found[gets_in].all()
    # What is found touches then and there, and before that is nowhere inside.
    p = (1.0 - time)[:, None, None] * x[:, :2] + time[:, None, None] * x[:, 2:]
    q = (1.0 - s)[:, None] * p[:, 0] + s[:, None] * p[:, 1]
    assert np.abs(measured(kind, q)[0])[found].max() < 2e-5
    before = times[:, None] < time - 1e-9
    assert (sampled[:, found][before[:, found]] > -1e-5).all()
    # What is not found never comes near; a graze may be reported.
    assert (sampled.min(axis=0) > -1e-7)[~found & ~inside].all()


def test_a_small_sphere_is_hit_by_a_fast_segment() -> None:
    """1 mm, hit by 10 cm that fly half a metre; aimed at a place inside, from anywhere and turning."""
    rng = np.random.default_rng(5)
    n = 20_000
    radius = 1e-3
    aim, fly, along = rng.standard_normal((3, n, 3))
    aim *= (0.9 * radius * rng.random(n) ** (1 / 3) / np.linalg.norm(aim, axis=1))[:, None]
    fly *= 0.25 / np.linalg.norm(fly, axis=1)[:, None]
    half = 0.05 * along / np.linalg.norm(along, axis=1)[:, None]
    turn = 0.01 * rng.standard_normal((n, 3))
    where = rng.uniform(-1.0, 1.0, (n, 1))
    x = np.stack([aim - (where + 1) * half - fly, aim - (where - 1) * half - fly], axis=1)
    x = np.concatenate(
        [x - turn[:, None] * [[1.0], [-1.0]], x + 2 * fly[:, None] + turn[:, None] * [[1.0], [-1.0]]], axis=1
    )
    middle = 0.5 * (x[:, :2] + x[:, 2:])
    weight = 0.5 * (where + 1)
    hit = np.linalg.norm((1 - weight) * middle[:, 0] + weight * middle[:, 1], axis=1) < radius
    assert hit.mean() > 0.99
    out = np.empty((n, 3))
    entries(SPHERE, np.array([radius, 0.0, 0.0]), x, out)
    starts_inside = (out[:, 0] == 0.0) & (out[:, 1] == 0.0)
    assert starts_inside.mean() < 0.02
    assert (out[:, 0] == 1.0)[hit & ~starts_inside].all()
    assert (out[hit & ~starts_inside, 1] < 0.5 + 1e-9).all()


def test_resting_on_a_surface_or_leaving_it_is_no_entry() -> None:
    x = np.array(
        [
            [[-1, 0, 0.2], [1, 0, 0.2], [-1, 0, 0.2], [1, 0, 0.2]],
            [[-1, 0, 0.2], [1, 0, 0.2], [-1, 0.5, 0.2], [1, 0.5, 0.2]],
            [[-1, 0, 0.2], [1, 0, 0.2], [-1, 0, 0.4], [1, 0, 0.3]],
        ],
        dtype=float,
    )
    out = np.empty((3, 3))
    entries(BOX, SIZES[BOX], x, out)
    assert (out[:, 0] == 0.0).all()
    assert (out[:, 1] == 1.0).all()


@KINDS
def test_entries_at_the_size_of_hair_and_of_houses(kind: int) -> None:
    """Everything scales: the same motion, ten thousand times smaller or larger."""
    rng = np.random.default_rng(6)
    x = rng.uniform(-2.0, 2.0, (2000, 4, 3))
    results = []
    for scale in (1e-4, 1.0, 1e4):
        out = np.empty((len(x), 3))
        entries(kind, scale * SIZES[kind], scale * x, out)
        results.append(out)
    for other in (results[0], results[2]):
        assert np.array_equal(other[:, 0], results[1][:, 0])
        assert np.abs(other[:, 1] - results[1][:, 1]).max() < 1e-7
    assert 0.05 < results[1][:, 0].mean() < 0.75


def test_an_unknown_kind_raises_and_is_no_cylinder() -> None:
    out = np.zeros((1, 4))
    with pytest.raises(ValueError, match="unknown kind"):
        distances(CYLINDER + 1, SIZES[CYLINDER], np.zeros((1, 1, 3)), out)
