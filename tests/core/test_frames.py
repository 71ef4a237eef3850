"""Parallel transport, angles and rotations against plain formulas of three-dimensional geometry."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation, Slerp
from tendril.core.describe.rotations import interpolate_rotations, rotation_about
from tendril.core.maths.geometry.frames import (
    any_normal,
    bishop_directors,
    signed_angle,
    sine_cosine,
    transport,
    turn,
    twist_angles,
)

many = settings(max_examples=200, deadline=None)
ROUND_OFF = 4e-15
seeds = st.integers(0, 2**32 - 1)
# Angles of all sizes: tiny ones, both sides of the places where series take over, nearly half turns.
angles = st.one_of(
    st.floats(-math.pi, math.pi),
    st.floats(-1e-3, 1e-3),
    st.sampled_from([0.0, 0.05, 0.1, math.asin(0.05), math.pi / 3.0, math.pi]).flatmap(
        lambda at: st.floats(-1e-6, 1e-6).map(lambda more: at + more)
    ),
)


def unit(v: np.ndarray) -> np.ndarray:
    return v / np.linalg.norm(v)


def frame(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A random tangent and a director across it."""
    rng = np.random.default_rng(seed)
    t = unit(rng.standard_normal(3))
    return t, unit(np.cross(t, rng.standard_normal(3)))


def direction(seed: int) -> np.ndarray:
    """Another random unit vector, which the frame of the same seed knows nothing of."""
    return unit(np.random.default_rng((seed, 1)).standard_normal(3))


def smallest_rotation(t: np.ndarray, s: np.ndarray) -> np.ndarray:
    """The matrix that takes t to s about their common normal, from its angle and axis."""
    axis = np.cross(t, s)
    sine = np.linalg.norm(axis)
    return Rotation.from_rotvec(axis / sine * math.atan2(sine, t @ s)).as_matrix() if sine > 0.0 else np.eye(3)


def carried(u: np.ndarray, t: np.ndarray, s: np.ndarray) -> np.ndarray:
    return np.array(transport(tuple(u), tuple(t), tuple(s)))


@many
@given(seeds, seeds, st.floats(0.0, 3.0))
def test_transport_is_the_smallest_rotation(seed: int, way: int, angle: float) -> None:
    t, u = frame(seed)
    across = unit(np.cross(t, direction(way)))
    s = math.cos(angle) * t + math.sin(angle) * across
    w = carried(u, t, s)
    assert np.abs(w - smallest_rotation(t, s) @ u).max() < 1e-12
    assert abs(np.linalg.norm(w) - 1.0) < ROUND_OFF
    assert abs(w @ s) < ROUND_OFF


@many
@given(seeds, seeds, st.floats(-3.0, 3.0))
def test_transport_keeps_angles_and_can_be_undone(seed: int, way: int, angle: float) -> None:
    t, u = frame(seed)
    s = unit(t + 0.9 * direction(way))
    other = math.cos(angle) * u + math.sin(angle) * np.cross(t, u)
    assert signed_angle(tuple(carried(u, t, s)), tuple(carried(other, t, s)), tuple(s)) == pytest.approx(
        angle, abs=1e-13
    )
    assert np.abs(carried(carried(u, t, s), s, t) - u).max() < 1e-13


@many
@given(seeds)
def test_transport_to_the_same_tangent_changes_nothing(seed: int) -> None:
    t, u = frame(seed)
    assert np.abs(carried(u, t, t) - u).max() < ROUND_OFF


@many
@given(seeds, st.one_of(st.just(0.0), st.floats(1e-18, 1e-3)))
def test_transport_to_the_opposite_tangent_still_gives_a_director(seed: int, off: float) -> None:
    t, u = frame(seed)
    s = unit(-t + off * np.cross(t, u) + 0.3 * off * u)
    w = carried(u, t, s)
    assert abs(np.linalg.norm(w) - 1.0) < ROUND_OFF
    assert abs(w @ s) < ROUND_OFF


@many
@given(seeds)
def test_any_normal_is_a_unit_vector_across(seed: int) -> None:
    t = frame(seed)[0]
    for tangent in (t, *np.eye(3), *-np.eye(3)):
        n = np.array(any_normal(tuple(tangent)))
        assert abs(np.linalg.norm(n) - 1.0) < ROUND_OFF
        assert abs(n @ tangent) < ROUND_OFF


@many
@given(seeds, angles)
def test_signed_angle_is_that_of_atan2(seed: int, angle: float) -> None:
    t, u = frame(seed)
    w = math.cos(angle) * u + math.sin(angle) * np.cross(t, u)
    found, back = signed_angle(tuple(u), tuple(w), tuple(t)), signed_angle(tuple(w), tuple(u), tuple(t))
    assert abs(found) <= math.pi
    # Half a turn to the left is one to the right: compared up to whole turns.
    for one, other in ((found, math.atan2(np.cross(u, w) @ t, u @ w)), (found, angle), (found, -back)):
        assert math.remainder(one - other, 2.0 * math.pi) == pytest.approx(0.0, abs=ROUND_OFF)


def test_the_series_of_the_angle_meets_atan2_to_round_off() -> None:
    """In the plane, where the sine is exact: relative errors, just below and above where the series ends."""
    for sine in (*np.geomspace(1e-300, 0.0499999, 400), 0.05, 0.0500001, 0.06):
        for sign in (1.0, -1.0):
            w = (math.sqrt(1.0 - sine * sine), sign * sine, 0.0)
            found = signed_angle((1.0, 0.0, 0.0), w, (0.0, 0.0, 1.0))
            assert found == pytest.approx(math.atan2(w[1], w[0]), rel=4e-15, abs=0.0)
    # A large angle has a small sine, too.
    assert signed_angle((1.0, 0.0, 0.0), (-1.0, 1e-9, 0.0), (0.0, 0.0, 1.0)) == pytest.approx(math.pi - 1e-9, abs=1e-15)


@many
@given(st.one_of(angles, st.floats(-1e3, 1e3)))
def test_sine_and_cosine(angle: float) -> None:
    sine, cosine = sine_cosine(angle)
    assert sine == pytest.approx(math.sin(angle), rel=4e-16, abs=2e-16)
    assert cosine == pytest.approx(math.cos(angle), abs=2e-16)


@many
@given(seeds, st.floats(-50.0, 50.0))
def test_turning_about_the_tangent(seed: int, angle: float) -> None:
    t, u = frame(seed)
    expected = Rotation.from_rotvec(angle * t).as_matrix() @ u
    assert np.abs(np.array(turn(tuple(u), tuple(t), angle)) - expected).max() < 1e-13


def test_bishop_frames_of_a_helix_show_the_torsion_that_material_frames_do_not() -> None:
    """Directors that point to the axis of a helix twist against parallel transport by its torsion per length."""
    radius, pitch, count = 1.0, 0.5, 4000
    s = np.linspace(0.0, 10.0, count)
    x = np.stack([radius * np.cos(s), radius * np.sin(s), pitch * s], axis=1)
    t = np.diff(x, axis=0)
    lengths = np.linalg.norm(t, axis=1)
    t /= lengths[:, None]
    middle = 0.5 * (s[1:] + s[:-1])
    inward = -np.stack([np.cos(middle), np.sin(middle), np.zeros(count - 1)], axis=1)
    twist, none = np.empty(count - 1), np.empty(count - 1)
    twist_angles(t, inward, twist)
    torsion = pitch / (radius**2 + pitch**2)
    assert twist[1:].sum() == pytest.approx(torsion * lengths[1:].sum(), rel=1e-5)
    carried_along = np.empty_like(t)
    bishop_directors(t, inward[0], carried_along)
    twist_angles(t, carried_along, none)
    assert np.abs(none[1:]).max() < 1e-14
    assert np.array_equal(carried_along[0], inward[0])


rotations = seeds.map(lambda seed: Rotation.random(rng=np.random.default_rng(seed)).as_matrix())


def turned(start: np.ndarray, seed: int, angle: float) -> np.ndarray:
    return Rotation.from_rotvec(angle * frame(seed)[0]).as_matrix() @ start


@many
@given(rotations, seeds, angles.map(abs).filter(lambda angle: angle < math.pi - 1e-6), st.floats(0.0, 1.0))
def test_rotations_are_interpolated_along_the_shortest_way_at_an_even_rate(
    start: np.ndarray, seed: int, angle: float, at: float
) -> None:
    end = turned(start, seed, angle)
    found = interpolate_rotations(start, end, at)
    assert np.abs(found - turned(start, seed, at * angle)).max() < 1e-9
    assert np.abs(found - Slerp([0.0, 1.0], Rotation.from_matrix([start, end]))(at).as_matrix()).max() < 1e-9
    assert np.abs(interpolate_rotations(start, end, 0.0) - start).max() < ROUND_OFF
    assert np.abs(interpolate_rotations(start, end, 1.0) - end).max() < 1e-9


@many
@given(rotations, seeds, st.one_of(st.just(0.0), st.floats(1e-17, 1e-5)), st.floats(0.0, 1.0))
def test_half_turns_are_interpolated_either_way_around(start: np.ndarray, seed: int, short: float, at: float) -> None:
    """Of an exact half turn both ways are shortest; in any case it begins at the start and ends at the end."""
    angle = math.pi - short
    end = turned(start, seed, angle)
    found = interpolate_rotations(start, end, at)
    ways = [turned(start, seed, at * angle), turned(start, seed, -at * (2.0 * math.pi - angle))]
    assert min(np.abs(found - way).max() for way in ways) < 1e-8
    assert np.abs(interpolate_rotations(start, end, 1.0) - end).max() < 1e-8


@pytest.mark.parametrize("axis", [*np.eye(3), *(-np.eye(3)), unit(np.array([1.0, 1.0, 0.0])), unit(np.ones(3))])
def test_half_turns_about_special_axes(axis: np.ndarray) -> None:
    end = 2.0 * np.outer(axis, axis) - np.eye(3)
    quarter = interpolate_rotations(np.eye(3), end, 0.5)
    assert np.abs(quarter @ axis - axis).max() < 1e-12
    assert np.abs(quarter @ quarter - end).max() < 1e-12


def test_many_rotations_at_once_are_those_one_by_one() -> None:
    start = Rotation.random(20, rng=np.random.default_rng(3)).as_matrix()
    end = Rotation.random(20, rng=np.random.default_rng(4)).as_matrix()
    end[:3] = start[:3]
    end[3:6] = start[3:6] @ np.diag([1.0, -1.0, -1.0])
    together = interpolate_rotations(start, end, 0.3)
    for k in range(20):
        assert np.abs(together[k] - interpolate_rotations(start[k], end[k], 0.3)).max() < ROUND_OFF
    assert np.array_equal(together[:3], start[:3])
    axes = unit(np.ones(3)) * np.ones((4, 1))
    by_scipy = Rotation.from_rotvec(axes * np.arange(4.0)[:, None]).as_matrix()
    assert np.abs(rotation_about(axes, np.arange(4.0)) - by_scipy).max() < ROUND_OFF
