"""Overlapping boxes against comparing all with all; how much is looked at; what is left out on one rod; threads."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
from boxes import CROWDED, KINDS, Boxes, far_away, in_line, one_huge, uniform
from hypothesis import given
from hypothesis import strategies as st
from tendril.core.compile import workers as workers_module
from tendril.core.compile.workers import Workers
from tendril.core.contact.arrays import Samples
from tendril.core.contact.broad_phase import BroadPhase, never_touch

ONE = Workers(1)


def all_pairs(a: Boxes, b: Boxes) -> np.ndarray:
    """Rows (i, j) of boxes of a and of b that overlap, sorted."""
    low, high = (np.ascontiguousarray(side.T) for side in b)
    rows, block = [np.zeros((0, 2), int)], 64
    for first in range(0, len(a[0]), block):
        overlap = np.ones((min(block, len(a[0]) - first), len(b[0])), bool)
        for axis in range(3):
            overlap &= a[0][first : first + block, axis, None] <= high[axis]
            overlap &= a[1][first : first + block, axis, None] >= low[axis]
        rows.append(np.argwhere(overlap) + np.array([first, 0]))
    return np.concatenate(rows)


def single_edges(n: int) -> Samples:
    """n edges, each a rod of its own."""
    return Samples(
        start=np.zeros((n, 3)),
        now=np.zeros((n, 3)),
        after=np.arange(n) + n,
        last=np.ones(n, bool),
        rod=np.arange(n),
        along=np.zeros(2 * n),
        length=np.full(n, np.inf),
        radius=np.zeros(n),
        friction=np.zeros(n),
    )


def check(boxes: Boxes, valid: np.ndarray | None = None, broad: BroadPhase | None = None) -> None:
    n = len(boxes[0])
    valid = np.ones(n, bool) if valid is None else valid
    broad = broad or BroadPhase()
    broad.build(*boxes, valid, ONE)
    pairs, count = broad.self_pairs(single_edges(n), ONE)
    wanted = all_pairs(boxes, boxes)
    wanted = wanted[(wanted[:, 0] < wanted[:, 1]) & valid[wanted[:, 0]] & valid[wanted[:, 1]]]
    assert count == len(pairs)
    assert pairs.dtype == np.int64
    np.testing.assert_array_equal(pairs, wanted)


def check_with(boxes: Boxes, others: Boxes, broad: BroadPhase | None = None) -> None:
    broad = broad or BroadPhase()
    broad.build(*boxes, np.ones(len(boxes[0]), bool), ONE)
    pairs, count = broad.pairs_with(*others, ONE)
    assert count == len(pairs)
    np.testing.assert_array_equal(pairs, all_pairs(boxes, others))


@pytest.mark.parametrize("kind", [*KINDS, *CROWDED], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("n", [0, 1, 2, 16, 17, 255, 257, 600])
def test_all_overlaps_are_found_and_no_others(kind, n: int) -> None:
    check(kind(np.random.default_rng(n), n))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_all_overlaps_of_many_are_found_and_no_others(kind) -> None:
    check(kind(np.random.default_rng(1), 4500))  # leaves, and three levels above them


@pytest.mark.parametrize("kind", [*KINDS, *CROWDED], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(("n", "others"), [(0, 5), (5, 0), (1, 400), (400, 1), (300, 300), (30, 3000), (3000, 30)])
def test_all_overlaps_with_others_are_found(kind, n: int, others: int) -> None:
    rng = np.random.default_rng(n)
    check_with(kind(rng, n), kind(rng, others))
    check_with(kind(rng, n), uniform(rng, others))
    check_with(uniform(rng, n), kind(rng, others))


@given(st.data())
def test_any_boxes(data: st.DataObject) -> None:
    """Of any size anywhere, also where differences of numbers round or overflow."""
    number = st.one_of(st.floats(allow_nan=False), st.integers(-3, 3).map(float), st.floats(-1e-3, 1e-3))
    box = st.tuples(*[st.tuples(number, number).map(sorted)] * 3)

    def draw() -> Boxes:
        drawn = np.array(data.draw(st.lists(box, min_size=1, max_size=40)), float)
        return np.ascontiguousarray(drawn[:, :, 0]), np.ascontiguousarray(drawn[:, :, 1])

    boxes, others = draw(), draw()
    check(boxes)
    check_with(boxes, others)


def test_boxes_that_do_not_count() -> None:
    rng = np.random.default_rng(5)
    low, high = uniform(rng, 700)
    valid = rng.random(700) < 0.5
    check((low, high), valid)
    check((low, high), np.zeros(700, bool))
    low[3, 1] = low[4, 0] = high[70, 2] = high[71, 0] = np.nan
    low[80:90] = high[80:90] = np.nan
    low[100] = high[100] + 1.0  # inside out
    broad = BroadPhase()
    check((low, high), broad=broad)
    assert broad._edges.boxes[0] == 700 - 15
    check((low, high), valid)
    check_with((low, high), uniform(rng, 100))
    check_with(uniform(rng, 100), (low, high))


def test_arrays_are_used_again() -> None:
    broad = BroadPhase()
    rng = np.random.default_rng(6)
    for n in (300, 20, 2000, 0, 1999, 2600):
        boxes = uniform(rng, n)
        check(boxes, broad=broad)
        for others in (50, 700, 0):
            check_with(boxes, uniform(rng, others), broad)


def test_results_stay_on_their_shelves() -> None:
    rng = np.random.default_rng(7)
    broad, n = BroadPhase(), 500
    broad.build(*uniform(rng, n), np.ones(n, bool), ONE)
    results = [broad.self_pairs(single_edges(n), ONE)[0]]
    results += [broad.pairs_with(*uniform(rng, n), ONE, shelf)[0] for shelf in range(3)]
    assert all(len(result) > 100 for result in results)
    kept = [result.copy() for result in results]
    broad.pairs_with(*uniform(rng, n), ONE, shelf=3)
    for result, copy in zip(results, kept, strict=True):
        np.testing.assert_array_equal(result, copy)


# Rods


def make_samples(points: np.ndarray, counts: list[int], closed: list[bool], radius: np.ndarray) -> Samples:
    """Natural lengths are those of the points as they are."""
    after, along, length, rod, last, first = [], [], [], [], [], 0
    for number, (count, ring) in enumerate(zip(counts, closed, strict=True)):
        own = points[first : first + count]
        edges = np.linalg.norm(np.roll(own, -1, axis=0) - own, axis=1)
        along.append(np.concatenate(([0.0], np.cumsum(edges[:-1]))))
        length.append(np.full(count, edges.sum() if ring else np.inf))
        after.append(first + np.r_[1:count, 0 if ring else -1 - first])
        last.append(np.arange(count) == (-1 if ring else count - 2))
        rod.append(np.full(count, number))
        first += count
    return Samples(
        start=points,
        now=points,
        after=np.concatenate(after),
        last=np.concatenate(last),
        rod=np.concatenate(rod),
        along=np.concatenate(along),
        length=np.concatenate(length),
        radius=radius,
        friction=np.zeros(len(points)),
    )


def boxes_of(samples: Samples, margin: np.ndarray | float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    ends = samples.start[samples.after]
    low, high = np.minimum(samples.start, ends) - margin, np.maximum(samples.start, ends) + margin
    return low, high, samples.after >= 0


@numba.njit
def _never_touch(a: float, la: float, b: float, lb: float, around: float, arms: float) -> bool:
    return never_touch(a, la, b, lb, around, arms)


GRID = np.linspace(0.0, 1.0, 65)


def farthest_apart(a: float, la: float, b: float, lb: float, around: float) -> tuple[float, float]:
    """Between points of two stretches of arc length, the shorter way round: at least, at most. By trying."""
    along = np.abs((a + la * GRID)[:, None] - (b + lb * GRID)[None, :])
    found = float(np.minimum(along, around - along).max())
    return found, found + (la + lb) / 64


@given(
    st.floats(0.0, 10.0), st.floats(0.0, 2.0), st.floats(0.0, 3.0), st.floats(0.0, 2.0), st.floats(0.01, 5.0),
    st.floats(0.0, 5.0), st.sampled_from(["open", "closed", "start within", "end within"]), st.booleans(),
)  # fmt: skip
def test_never_touch_is_about_the_farthest_points(
    a: float, la: float, gap: float, lb: float, arms: float, rest: float, where: str, exchange: bool
) -> None:
    b = a + la + gap
    around = np.inf if where == "open" else b + lb + rest
    if where == "start within":  # closed, and the first of the two edges begins it
        b, around, a = b - a, around - a, 0.0
    if where == "end within":  # closed, and the second of the two ends it
        around = b + lb
    if exchange:
        a, la, b, lb = b, lb, a, la
    least, most = farthest_apart(a, la, b, lb, around)
    reach = math.pi / 2 * arms
    answer = bool(_never_touch(a, la, b, lb, around, arms))
    if most * (1 + 1e-12) < reach:
        assert answer
    if least * (1 - 1e-12) >= reach:
        assert not answer


def wanted_on_rods(samples: Samples, low: np.ndarray, high: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """Which pairs are wanted, edge by edge and by definition."""
    pairs = all_pairs((low, high), (low, high))
    wanted = []
    for i, j in pairs:
        if i >= j or not (valid[i] and valid[j]):
            continue
        if len({i, j, samples.after[i], samples.after[j]}) < 4:
            continue
        if samples.rod[i] == samples.rod[j]:
            around = samples.length[i]
            stretches = []
            for e in (i, j):
                end = samples.along[samples.after[e]]
                stretches += [samples.along[e], (end if samples.after[e] > e else around + end) - samples.along[e]]
            least, most = farthest_apart(*stretches, around)
            reach = math.pi / 2 * (samples.radius[i] + samples.radius[j])
            assert least >= reach or most < reach, "too close to call by trying: choose other lengths"
            if most < reach:
                continue
        wanted.append((i, j))
    return np.array(wanted).reshape(-1, 2)


@pytest.mark.parametrize("thickness", ["thin", "thick", "mixed"])
def test_what_is_left_out_on_open_and_closed_rods(thickness: str) -> None:
    """Segments of length 1, and radii at which the distance that decides is never near that of any points."""
    rng = np.random.default_rng(8)
    counts, closed = [60, 3, 40, 2, 4, 9, 25], [False, True, True, False, True, True, False]
    steps = rng.standard_normal((sum(counts), 3))
    points = np.cumsum(steps / np.linalg.norm(steps, axis=1)[:, None], axis=0) * 0.5
    samples = make_samples(points, counts, closed, np.zeros(len(points)))
    first = np.concatenate(([0], np.cumsum(counts)[:-1]))
    along = np.concatenate([np.arange(float(count)) for count in counts])
    length = np.repeat([float(c) if ring else np.inf for c, ring in zip(counts, closed, strict=True)], counts)
    samples = samples._replace(along=along, length=length)
    unit = 2 / math.pi  # arms of so much reach as far as one segment
    radius = {"thin": 0.1, "thick": unit * 2.3, "mixed": unit * (rng.choice([0.2, 1.15, 3.1], len(points)) + 0.001)}
    samples = samples._replace(radius=np.broadcast_to(np.asarray(radius[thickness]), len(points)).copy())
    low, high, valid = boxes_of(samples, 1.0)
    broad = BroadPhase()
    broad.build(low, high, valid, ONE)
    pairs, _ = broad.self_pairs(samples, ONE)
    wanted = wanted_on_rods(samples, low, high, valid)
    np.testing.assert_array_equal(pairs, wanted)
    own = samples.rod[wanted[:, 0]] == samples.rod[wanted[:, 1]]
    assert np.count_nonzero(own) > 50
    assert np.count_nonzero(~own) > 50
    nearest = {"thin": 2, "thick": 4, "mixed": 2}[thickness]  # in segments, from start to start
    assert np.diff(wanted[own & (wanted[:, 0] >= first[6])]).min() == nearest


def hair(strands: int, seed: int = 0) -> Samples:
    """Strands of 25 cm hang down from a head of 10 cm, curled."""
    rng = np.random.default_rng(seed)
    direction = np.abs(rng.standard_normal((strands, 3))) * rng.choice([-1.0, 1.0], (strands, 3)) ** [1, 1, 0]
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    along = np.linspace(0.0, 0.25, 26)
    polar, azimuth = np.arccos(direction[:, 2:]), np.arctan2(direction[:, 1:2], direction[:, :1])
    angle = np.minimum(polar + along / 0.05, math.pi / 2)
    out = np.sin(angle) * 0.05 * rng.uniform(1.0, 1.1, (strands, 1))
    phase = rng.uniform(0, 7, (strands, 1)) + along * (2 * math.pi / 0.05)
    x, y = out * np.cos(azimuth) + 0.004 * np.cos(phase), out * np.sin(azimuth) + 0.004 * np.sin(phase)
    z = np.cos(angle) * 0.05 - np.maximum(along - (math.pi / 2 - polar) * 0.05, 0.0)
    points = np.stack((x, y, z), axis=-1).reshape(-1, 3)
    return make_samples(points, [26] * strands, [False] * strands, np.full(len(points), 5e-5))


def test_hair() -> None:
    samples = hair(60)
    low, high, valid = boxes_of(samples, 1e-3)
    broad = BroadPhase()
    broad.build(low, high, valid, ONE)
    pairs, count = broad.self_pairs(samples, ONE)
    np.testing.assert_array_equal(pairs, wanted_on_rods(samples, low, high, valid))
    assert count > 500


# Cost


def heads(rng: np.random.Generator, n: int) -> Boxes:
    """Side by side, of 200 strands each."""
    samples = hair(200)
    low, high, valid = boxes_of(samples, 1e-3)
    offsets = np.arange(n // 5000)[:, None, None] * np.array([0.3, 0.0, 0.0])
    return (low[valid] + offsets).reshape(-1, 3), (high[valid] + offsets).reshape(-1, 3)


@pytest.mark.parametrize("kind", [*KINDS[:-1], heads], ids=lambda kind: kind.__name__)
def test_cost_grows_with_boxes_and_pairs_only(kind) -> None:
    """Counted in groups of sixteen boxes looked at."""
    costs = []
    for n in (10_000, 80_000):
        boxes = kind(np.random.default_rng(2), n)
        broad = BroadPhase()
        broad.build(*boxes, np.ones(n, bool), ONE)
        _, count = broad.self_pairs(single_edges(n), ONE)
        costs.append(broad.looked / (n + count))
    assert costs[1] < 30
    assert costs[1] < 1.7 * costs[0]


@pytest.mark.parametrize("kind", [uniform, one_huge, in_line, far_away], ids=lambda kind: kind.__name__)
def test_cost_with_others_grows_with_boxes_and_pairs_only(kind) -> None:
    rng = np.random.default_rng(3)
    costs = []
    for n in (10_000, 80_000):
        broad = BroadPhase()
        broad.build(*kind(rng, n), np.ones(n, bool), ONE)
        _, count = broad.pairs_with(*kind(rng, n), ONE)
        costs.append(broad.looked / (n + count))
    assert costs[1] < 30
    assert costs[1] < 1.7 * costs[0]


# Threads


def test_same_pairs_for_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, "SMALLEST_PARALLEL", 0)
    samples = hair(150)
    low, high, valid = boxes_of(samples, 1e-3)
    others = uniform(np.random.default_rng(9), 3000)
    others = (others[0] * 0.02 - 0.15, others[1] * 0.02 - 0.15)
    results = []
    for threads in (1, 2, 3):
        workers, broad = Workers(threads), BroadPhase()
        for _ in range(2):  # once with arrays that have to grow
            broad.build(low, high, valid, workers)
            results.append((broad.self_pairs(samples, workers)[0], broad.pairs_with(*others, workers)[0]))
        assert threads == 1 or workers._pool is not None
    assert len(results[0][0]) > 5 * 1024
    assert len(results[0][1]) > 1000
    for own, with_others in results:
        assert own.tobytes() == results[0][0].tobytes()
        assert with_others.tobytes() == results[0][1].tobytes()
