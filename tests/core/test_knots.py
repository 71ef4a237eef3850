"""Knots are known by their polynomials, however they lie."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from tendril.core import TendrilError
from tendril.core.maths.geometry import knots
from tendril.core.maths.geometry.knots import alexander_polynomial, is_trefoil, is_unknot_like


def around(count):
    return 2.0 * math.pi * np.arange(count) / count


def torus_knot(p, q, count=200, thickness=0.7):
    s = around(count)
    out = 2.0 + thickness * np.cos(q * s)
    return np.stack([out * np.cos(p * s), out * np.sin(p * s), -thickness * np.sin(q * s)], axis=1)


def figure_eight(count=200):
    s = around(count)
    out = 2.0 + np.cos(2.0 * s)
    return np.stack([out * np.cos(3.0 * s), out * np.sin(3.0 * s), np.sin(4.0 * s)], axis=1)


def circle(count):
    s = around(count)
    return np.stack([np.cos(s), np.sin(s), np.zeros(count)], axis=1)


def long_trefoil(count=60, end=2.0):
    """From (-2, -12, 0) to (2, 12, 0), within |y| <= 12: can be strung one after the other (Shastri 1992)."""
    t = np.linspace(-end, end, count)
    return np.stack([t**3 - 3 * t, t**5 - 10 * t, t**4 - 4 * t**2], axis=1)


def long_figure_eight(count=80):
    t = np.linspace(-2.4, 2.4, count)
    return np.stack([t**3 - 3 * t, t * (t**2 - 1) * (t**2 - 4), t**7 - 42 * t], axis=1)


def strung(*pieces):
    """One long knot behind the other."""
    whole = pieces[0]
    for piece in pieces[1:]:
        whole = np.vstack([whole, piece[1:] - piece[0] + whole[-1]])
    return whole


def tangled(points, seed, times=16, size=1.0):
    """Sheared again and again in waves: a deformation of all of space, which takes every knot to itself."""
    rng = np.random.default_rng(seed)
    x = points / np.ptp(points, axis=0).max() * 2.0
    for _ in range(times):
        along, across = rng.permutation(3)[:2]
        x[:, along] += size * np.sin(rng.uniform(1.0, 2.5) * x[:, across] + rng.uniform(0.0, 7.0))
    return x


def times(first, second):
    return tuple(int(c) for c in np.convolve(first, second))


KNOTS = {
    "unknot": (circle(50), (1,)),
    "trefoil": (torus_knot(2, 3), (1, -1, 1)),
    "trefoil, otherwise round": (torus_knot(3, 2), (1, -1, 1)),
    "left-handed trefoil": (torus_knot(2, -3), (1, -1, 1)),
    "figure eight": (figure_eight(), (1, -3, 1)),
    "cinquefoil": (torus_knot(2, 5), (1, -1, 1, -1, 1)),
    "8_19": (torus_knot(3, 4), (1, -1, 0, 1, 0, -1, 1)),
    "unknot on a torus": (torus_knot(1, 9), (1,)),
}


@pytest.mark.parametrize("name", KNOTS)
def test_known_knots(name):
    points, expected = KNOTS[name]
    assert alexander_polynomial(points) == expected


@pytest.mark.parametrize("name", KNOTS)
@pytest.mark.parametrize("seed", range(3))
def test_neither_motion_nor_size_nor_refinement_changes_a_knot(name, seed):
    points, expected = KNOTS[name]
    moved = Rotation.random(random_state=seed).apply(points) * 10.0 ** (3 * seed - 3) + (5.0, -7.0, 1.0)
    finer = np.stack([moved, 0.7 * moved + 0.3 * np.roll(moved, -1, axis=0)], axis=1).reshape(-1, 3)
    for x in (moved, finer, moved[::-1], np.roll(moved, 17, axis=0), np.repeat(moved, 2, axis=0)):
        assert alexander_polynomial(x) == expected


FINE = {"unknot": circle, "trefoil": lambda count: torus_knot(2, 3, count), "figure eight": figure_eight}


@pytest.mark.parametrize("seed", [1, 2, 3, 5])
@pytest.mark.parametrize("name", FINE)
def test_no_tangle_hides_a_knot(name, seed):
    x = tangled(FINE[name](4000), seed)  # with far fewer, chords would cut through neighbouring strands
    assert alexander_polynomial(x) == KNOTS[name][1]
    most = max(len(knots._crossings(x[::4], view).sign) for view in knots._VIEWS[:3])
    assert most > 12, "not much of a tangle"


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", FINE)
def test_crossings_alone_tell_the_same(name, seed, monkeypatch):
    """Without the vertices being thinned out first there are many crossings."""
    x = tangled(FINE[name](1000), seed, times=10)
    monkeypatch.setattr(knots, "_simplified", lambda points: points)
    monkeypatch.setattr(knots, "_VIEWS", knots._VIEWS[:3])
    assert alexander_polynomial(x) == KNOTS[name][1]


def test_without_any_reduction_the_polynomial_is_the_same(monkeypatch):
    x = tangled(torus_knot(2, 5, 400), 3, times=4)
    monkeypatch.setattr(knots, "_simplified", lambda points: points)
    monkeypatch.setattr(knots, "_reduced", lambda diagram: diagram)
    assert alexander_polynomial(x) == (1, -1, 1, -1, 1)


def test_open_knots_are_closed_far_away():
    assert alexander_polynomial(long_trefoil(), closed=False) == (1, -1, 1)
    assert alexander_polynomial(long_figure_eight(), closed=False) == (1, -3, 1)
    assert alexander_polynomial(np.linspace((0, 0, 0), (1, 2, 3), 500), closed=False) == (1,)


def test_ends_run_out_the_way_they_are_told():
    """A trefoil cut open at its outer side: both ends leave it there, or one goes through it and undoes the knot."""
    cut = np.roll(torus_knot(2, 3), -2, axis=0)[:-4]
    assert alexander_polynomial(cut, closed=False) == (1, -1, 1)
    assert alexander_polynomial(cut, closed=False, ends=((1, 0, 0), (1, 0, 0))) == (1, -1, 1)
    assert alexander_polynomial(cut, closed=False, ends=((0, 0, 1), (0, 0, -1))) == (1, -1, 1)
    assert alexander_polynomial(cut, closed=False, ends=((-1, 0, 0), (1, 0, 0))) == (1,)


@pytest.mark.parametrize("same_hand", [True, False])
def test_polynomials_of_knots_in_a_row_multiply(same_hand):
    trefoil, eight = long_trefoil(), long_figure_eight()[:, [0, 2, 1]]
    other = trefoil * (1, 1, 1 if same_hand else -1)
    granny = strung(trefoil, other)
    assert alexander_polynomial(granny, closed=False) == (1, -2, 3, -2, 1)
    assert alexander_polynomial(strung(granny, trefoil), closed=False) == times((1, -2, 3, -2, 1), (1, -1, 1))
    both = strung(trefoil * (1, 10, 1), eight)
    assert alexander_polynomial(both, closed=False) == times((1, -1, 1), (1, -3, 1))


def test_sixty_crossings():
    """The coefficients are those of (t^61 + 1) / (t + 1)."""
    assert alexander_polynomial(torus_knot(2, 61, 1000, 0.3)) == tuple((-1) ** k for k in range(61))


def test_big_coefficients_are_exact():
    """Twenty figure eights in a row, (1 - 3 t + t^2)^20, whose coefficients need more than one prime."""
    row = strung(*[long_figure_eight(40)[:, [0, 2, 1]]] * 20)
    expected = (1,)
    for _ in range(20):
        expected = times(expected, (1, -3, 1))
    assert max(expected) > 2**40
    assert alexander_polynomial(row, closed=False) == expected


def test_remainders_are_put_together():
    """More than one prime is needed here, and negative coefficients come out negative: the diagram is known, not drawn."""
    count = 41  # of T(2, 41): over and under in turn, twice round
    walk = [k % count for k in range(2 * count)]
    diagram = knots.Diagram(walk, [k % 2 == 0 for k in range(2 * count)], [1] * count)
    assert knots._normalised(knots._determinant(diagram)) == tuple((-1) ** k for k in range(count))


@given(st.integers(0, 2**32 - 1), st.integers(4, 25))
@settings(max_examples=60)
def test_every_closed_polyline_has_the_polynomial_of_a_knot(seed, count):
    """Symmetric and of value +-1 at 1, seen from each single direction alike."""
    x = np.random.default_rng(seed).standard_normal((count, 3))
    expected = alexander_polynomial(x)
    assert expected == expected[::-1]
    assert abs(sum(expected)) == 1
    views = np.random.default_rng(seed + 1).standard_normal((2, 3))
    for view in views:
        seen = knots._crossings(x, view)
        assert knots._normalised(knots._determinant(knots._reduced(seen))) == expected


def test_questions_people_ask():
    assert is_trefoil(torus_knot(2, 3))
    assert is_trefoil(long_trefoil(), closed=False)
    assert not is_trefoil(circle(30))
    assert not is_trefoil(figure_eight())
    assert is_unknot_like(circle(30))
    assert not is_unknot_like(torus_knot(2, 3))


@pytest.mark.parametrize("count", range(4))
@pytest.mark.parametrize("closed", [True, False])
def test_few_points_make_no_knot(count, closed):
    points = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])[:count]
    assert alexander_polynomial(points.reshape(-1, 3), closed) == (1,)


def test_a_polyline_that_touches_itself_is_no_knot():
    through = np.array([[-1, -1, 0], [1, 1, 0], [1, -1, 0], [-1, 1, 0]], float)
    with pytest.raises(TendrilError, match="does not touch itself"):
        alexander_polynomial(through)
    with pytest.raises(TendrilError, match="points"):
        alexander_polynomial(np.zeros((5, 2)))
    with pytest.raises(TendrilError, match="ends"):
        alexander_polynomial(long_trefoil(), closed=False, ends=((0, 0, 0), (1, 0, 0)))
