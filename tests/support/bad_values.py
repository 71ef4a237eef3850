"""Input values for tests of validation: invalid ones of all kinds as hypothesis strategies, and a few valid ones."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from tendril.core import Material, TendrilError

many = settings(max_examples=250, deadline=None)
RUBBER = Material.preset("rubber")


class Hostile:
    """An object whose every operation raises."""

    def _fail(self, *_):
        raise RuntimeError("no")

    __float__ = __int__ = __index__ = __len__ = __iter__ = __getitem__ = __bool__ = __array__ = __repr__ = _fail


class Multiline:
    def __repr__(self):
        return "two\nlines " * 100


def endless():
    while True:
        yield "nowhere"


def endless_vertices():
    while True:
        yield 1


def nested(depth):
    return [nested(depth - 1)] if depth else []


# Values that are neither a number nor an array of numbers, created anew for each example.
rubbish = st.one_of(
    st.sampled_from([None, True, False, "", "1", "1.0", "nan", "start\n", b"1", bytearray(b"1"), ..., int, len]),
    st.sampled_from([{}, {1.0: 2}, set(), frozenset({1.0}), range(0), slice(1), NotImplemented]),
    st.sampled_from([np.datetime64("2020-01-01"), np.timedelta64(1, "s"), np.str_("1"), np.bool_(True), np.void(b"1")]),
    st.builds(object),
    st.builds(Hostile),
    st.builds(Multiline),
    st.builds(endless),
    st.builds(nested, st.just(40)),
    st.complex_numbers(),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.lists(st.text(max_size=2), max_size=4),
    st.just([[1.0, 2.0, 3.0], [1.0, 2.0]]),
    st.just(np.array(["1", "2", "3"])),
    st.just(np.array([1 + 1j, 2, 3])),
    st.just(np.array([True, False, True])),
    st.just(np.array([None, 1.0, object()])),
)
not_finite = st.sampled_from([math.nan, math.inf, -math.inf, np.float32("nan"), np.float64("inf"), 10**400, -(10**400)])
wrong_arrays = st.sampled_from([[], [1.0], np.zeros(0), np.zeros((0, 3)), np.zeros((2, 2, 2)), [[[1.0]]], np.ones(1)])
not_a_number = st.one_of(rubbish, not_finite, wrong_arrays)
negative = st.one_of(st.floats(max_value=-5e-324, allow_infinity=False), st.integers(max_value=-1))
not_positive = st.one_of(not_a_number, negative, st.sampled_from([0, 0.0, -0.0, np.float64(0), Fraction(-1, 3)]))
not_an_index = st.one_of(rubbish, not_finite, wrong_arrays, st.sampled_from([0.0, 1.5, 10**30, -(10**30), "middle"]))
not_a_vector = st.one_of(
    rubbish,
    not_finite,
    wrong_arrays,
    st.floats(),
    st.lists(st.floats(-1e3, 1e3), max_size=6).filter(lambda v: len(v) != 3),
    st.tuples(st.floats(-1, 1), not_finite, st.floats(-1, 1)),
    st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.sampled_from(["1", None, [1.0], (), 1j])),
)
not_a_rotation = st.one_of(
    not_a_vector,
    st.sampled_from([np.zeros((3, 3)), 2.0 * np.eye(3), np.diag([1.0, 1.0, -1.0]), np.full((3, 3), np.nan)]),
    st.sampled_from(
        [np.ones((3, 3)), np.eye(4), np.eye(2), [[1, 0, 0], [0, 1, 0]], 1e200 * np.eye(3), (1.0, 0.0, 0.0)]
    ),
)
too_far = st.sampled_from([(1.01e5, 0.0, 0.0), (0.0, -1e300, 0.0), (0, 0, 10**200)])
not_a_function = rubbish.filter(lambda value: value is not None and not callable(value)) | st.floats()


def valid_points(n=6):
    points = np.zeros((n, 3))
    points[:, 0] = np.linspace(0.0, 1.0, n)
    points[:, 1] = 0.1 * np.sin(points[:, 0])
    return points


def ring(n):
    angle = np.linspace(0.0, 2.0 * math.pi, n, endpoint=False)
    return np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)


def refuse(call, *names):
    """Asserts that the call raises an error of one line that names one of the fields."""
    with pytest.raises(TendrilError) as caught:
        call()
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert len(message) < 300
    assert any(name in message for name in names), message
