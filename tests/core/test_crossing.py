"""Moving segments, points and triangles that pass through each other: built to meet, and compared with another program.

What is reported is checked by itself: at that time the two points named must be one. What is not reported is checked with
motions that are built to meet, and with the toolkit of Incremental Potential Contact (ipctk), which never misses a collision
but also reports near misses, up to about a millionth of the size. Hence the rule: where ipctk sees nothing there is nothing; where
ipctk alone sees something, the least distance over the motion, found by sampling and refinement, is above zero. Motions in a plane
are compared with sampling alone: for them ipctk needs seconds, and all memory there is.
"""

from __future__ import annotations

import math

import ipctk
import numpy as np
import pytest
from numba import njit
from tendril.core.maths.geometry.closest import closest_on_segments, closest_on_triangle
from tendril.core.maths.geometry.crossing import point_crosses_triangle, segments_cross

SEGMENTS, TRIANGLE = 0, 1
KINDS = pytest.mark.parametrize("kind", [SEGMENTS, TRIANGLE], ids=["segments", "triangle"])
TOUCH = 3e-7  # what the code calls touching where it can't tell times, with its measure of size: a little more than this one's


@njit(error_model="numpy")
def row(x, i, j):
    return (x[i, j, 0], x[i, j, 1], x[i, j, 2])


@njit(error_model="numpy")
def solve(kind, x, out):
    for i in range(len(x)):
        a, b, c, d = row(x, i, 0), row(x, i, 1), row(x, i, 2), row(x, i, 3)
        ae, be, ce, de = row(x, i, 4), row(x, i, 5), row(x, i, 6), row(x, i, 7)
        if kind == SEGMENTS:
            found, time, s, t = segments_cross(a, b, c, d, ae, be, ce, de)
        else:
            found, time, s, t = point_crosses_triangle(a, b, c, d, ae, be, ce, de)
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = found, time, s, t


@njit(error_model="numpy")
def distance_at(kind, x, i, time):
    p = (1.0 - time) * x[i, :4] + time * x[i, 4:]
    a, b = (p[0, 0], p[0, 1], p[0, 2]), (p[1, 0], p[1, 1], p[1, 2])
    c, d = (p[2, 0], p[2, 1], p[2, 2]), (p[3, 0], p[3, 1], p[3, 2])
    if kind == SEGMENTS:
        s, t = closest_on_segments(a, b, c, d)
        between = (1.0 - s) * p[0] + s * p[1] - (1.0 - t) * p[2] - t * p[3]
    else:
        u, v, w = closest_on_triangle(a, b, c, d)
        between = p[0] - u * p[1] - v * p[2] - w * p[3]
    return math.sqrt(np.sum(between * between))


@njit(error_model="numpy")
def least_distances(kind, x, samples, out):
    """Over the whole motion: sampled, then refined around every sample that is lower than its neighbours."""
    sampled = np.empty(samples + 1)
    for i in range(len(x)):
        for k in range(samples + 1):
            sampled[k] = distance_at(kind, x, i, k / samples)
        out[i] = sampled.min()
        for k in range(samples + 1):
            if (k == 0 or sampled[k] <= sampled[k - 1]) and (k == samples or sampled[k] <= sampled[k + 1]):
                low, high = max(k - 1, 0) / samples, min(k + 1, samples) / samples
                for _ in range(80):
                    first, second = low + 0.382 * (high - low), low + 0.618 * (high - low)
                    if distance_at(kind, x, i, first) < distance_at(kind, x, i, second):
                        high = second
                    else:
                        low = first
                out[i] = min(out[i], distance_at(kind, x, i, 0.5 * (low + high)))


def solved(kind: int, x: np.ndarray) -> tuple[np.ndarray, ...]:
    """found, time, s and t; and what holds for all that is found: the two points are then at one place."""
    out = np.empty((len(x), 4))
    solve(kind, x, out)
    found, (time, s, t) = out[:, 0] == 1.0, out[:, 1:].T
    assert ((out[:, 1:] >= 0.0) & (out[:, 1:] <= 1.0)).all()
    p = at(x, time)
    s, t = s[:, None], t[:, None]
    if kind == SEGMENTS:
        between = (1.0 - s) * p[:, 0] + s * p[:, 1] - (1.0 - t) * p[:, 2] - t * p[:, 3]
    else:
        assert (s + t <= 1.0 + 1e-15).all()
        between = p[:, 0] - (1.0 - s - t) * p[:, 1] - s * p[:, 2] - t * p[:, 3]
    assert (np.linalg.norm(between, axis=1) <= TOUCH * size(x))[found].all()
    return found, time, s[:, 0], t[:, 0]


def at(x: np.ndarray, time: np.ndarray) -> np.ndarray:
    return (1.0 - time)[:, None, None] * x[:, :4] + time[:, None, None] * x[:, 4:]


def size(x: np.ndarray) -> np.ndarray:
    return (x.max(axis=1) - x.min(axis=1)).max(axis=1)


def made_to_meet(kind: int, x: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Shifted so that they meet, also at ends, corners and edges; and the time."""
    n = len(x)
    time = rng.uniform(0.01, 0.99, n)
    p = at(x, time)
    s, t = (np.where(w < 0.15, 0.0, np.where(w > 0.85, 1.0, v)) for v, w in rng.random((2, 2, n, 1)))
    if kind == SEGMENTS:
        between = (1.0 - s) * p[:, 0] + s * p[:, 1] - (1.0 - t) * p[:, 2] - t * p[:, 3]
        others = [2, 3, 6, 7]
    else:
        t = t * (1.0 - s)
        between = p[:, 0] - (1.0 - s - t) * p[:, 1] - s * p[:, 2] - t * p[:, 3]
        others = [1, 2, 3, 5, 6, 7]
    x = x.copy()
    x[:, others] += between[:, None]
    return x, time


def motions(name: str, kind: int, n: int, rng: np.random.Generator) -> np.ndarray:
    x = rng.uniform(-1.0, 1.0, (n, 8, 3))
    small = 10.0 ** rng.uniform(-16.0, -2.0, (n, 1, 1))
    if name == "fast":
        x *= 0.01
        x[:, [4, 5] if kind == SEGMENTS else [4]] += rng.uniform(-1.0, 1.0, (n, 1, 3))
    elif name == "slow":
        x[:, 4:] = x[:, :4] + 1e-4 * x[:, 4:]
    elif name == "far away":
        x += 100.0
    elif name == "planar":
        x[..., 2] = 0.0
    elif name == "nearly planar":
        x[..., 2:] *= small
    elif name == "collinear":
        x[..., 1:] = 0.0
    elif name == "nearly collinear":
        x[..., 1:] *= small
    elif name in ("parallel", "nearly parallel"):
        for a, b, c, d in ((0, 1, 2, 3), (4, 5, 6, 7)):
            x[:, d] = x[:, c] + (x[:, b] - x[:, a]) * rng.uniform(-2.0, 2.0, (n, 1))
        if name == "nearly parallel":
            x += small * rng.standard_normal(x.shape)
    elif name == "without length":
        a, b = (0, 1) if kind == SEGMENTS else (1, 2)
        x[:, b], x[:, b + 4] = x[:, a], x[:, a + 4]
        both = rng.random(n) < 0.3
        x[both, 3], x[both, 7] = x[both, 2], x[both, 6]
    elif name == "rigid":
        x[:, 4:] = x[:, :4]
        x[:, 4 : 6 if kind == SEGMENTS else 5] += rng.uniform(-2.0, 2.0, (n, 1, 3))
    return x


NAMES = ["loose", "fast", "slow", "far away", "rigid", "planar", "nearly planar", "collinear", "nearly collinear"]
NAMES += ["parallel", "nearly parallel", "without length"]


@KINDS
@pytest.mark.parametrize("name", NAMES)
def test_what_is_built_to_meet_is_found(name: str, kind: int) -> None:
    rng = np.random.default_rng(1)
    x, time = made_to_meet(kind, motions(name, kind, 10_000, rng), rng)
    found, first, _, _ = solved(kind, x)
    assert found.all()
    # Almost flat motions can touch, within the tolerance, over some time.
    assert (first <= time + (1e-5 if "nearly" in name else 1e-8)).all()


@KINDS
@pytest.mark.parametrize("name", ["planar", "collinear", "lattice"])
def test_whatever_meets_in_a_plane_or_on_a_line_is_found(name: str, kind: int) -> None:
    rng = np.random.default_rng(2)
    n = 400
    x = rng.integers(-2, 3, (n, 8, 3)).astype(float) if name == "lattice" else motions(name, kind, n, rng)
    found = solved(kind, x)[0]
    least = np.empty(n)
    least_distances(kind, x, 200, least)
    assert 0.05 < found.mean() < 0.95
    assert np.array_equal(found, least < 1e-9)


@KINDS
def test_near_misses_are_not_taken_for_crossings(kind: int) -> None:
    """Segments that pass at a distance across both, a point that passes beside an edge."""
    rng = np.random.default_rng(3)
    n = 10_000
    x = rng.uniform(-1.0, 1.0, (n, 8, 3))
    x[:, 4:] = x[:, :4]
    x, _ = made_to_meet(kind, x, rng)
    if kind == SEGMENTS:
        n_across = np.cross(x[:, 1] - x[:, 0], x[:, 3] - x[:, 2])
        along = x[:, 1] - x[:, 0] + 0.3 * (x[:, 3] - x[:, 2])
        moved = [2, 3]
    else:
        n_across = x[:, 0] - x[:, 1:].mean(
            axis=1
        )  # away from the middle; below, the point comes down from over the triangle
        along = np.cross(x[:, 2] - x[:, 1], x[:, 3] - x[:, 1])
        moved = [0]
    miss = n_across / np.linalg.norm(n_across, axis=1)[:, None] * 1e-5
    x[:, moved] += (miss - along)[:, None]
    x[:, [m + 4 for m in moved]] += (miss + along)[:, None]
    found = solved(kind, x)[0]
    least = np.empty(400)
    least_distances(kind, x[:400], 200, least)
    missed = least > 2.0 * TOUCH * size(x[:400])
    assert missed.mean() > 0.1
    assert not found[:400][missed].any()
    assert found[:400][least < 1e-12].all()


@KINDS
@pytest.mark.parametrize(("name", "n"), [("loose", 6000), ("fast", 500), ("near", 500)])
def test_against_the_incremental_potential_contact_toolkit(name: str, n: int, kind: int) -> None:
    rng = np.random.default_rng(4)
    x = motions("fast" if name == "fast" else "loose", kind, n, rng)
    if name in ("fast", "near"):
        x, _ = made_to_meet(kind, x, rng)
        away = rng.standard_normal((n, 1, 3)) * 10.0 ** rng.uniform(-9.0, -2.0, (n, 1, 1))
        x[:, [0, 1, 4, 5] if kind == SEGMENTS else [0, 4]] += away * size(x)[:, None, None]
    found, first, _, _ = solved(kind, x)
    ipctk.set_logger_level(ipctk.LoggerLevel.off)
    checker = ipctk.TightInclusionCCD(conservative_rescaling=1.0, max_iterations=100_000)
    check = checker.edge_edge_ccd if kind == SEGMENTS else checker.point_triangle_ccd
    theirs, toi = np.array([check(*points) for points in x]).T
    assert 0.05 < found.mean() < 0.95
    assert (theirs[found] == 1.0).all()
    only_theirs = (theirs == 1.0) & ~found
    least = np.empty(int(only_theirs.sum()))
    least_distances(kind, x[only_theirs], 1000, least)
    assert (least > 1e-10 * size(x[only_theirs])).all()
    # Theirs is never later, but where it starts to touch; earlier only where there is a near miss before.
    assert (toi <= first + 1e-6)[found].all()
    assert (toi > first - 1e-3)[found].mean() > 0.98
