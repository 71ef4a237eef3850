"""The formulas give the numbers of the literature, and each other's limits."""

from __future__ import annotations

import math

import numpy as np
import pytest

from . import mechanics_cases, theory
from .cases import CASES


@pytest.mark.parametrize(
    ("expected", "printed"),
    [
        pytest.param(case.expected[key], printed, id=f"{case.name}, {key}")
        for case in (*CASES, *mechanics_cases.CASES)
        for key, printed in case.published.items()
    ],
)
def test_published_numbers(expected: float, printed: str) -> None:
    decimals = len(printed.partition(".")[2])
    assert f"{expected:.{decimals}f}" == printed


def test_published_constants() -> None:
    assert f"{theory.pinned_elastica(math.radians(60.0)).span:.4f}" == "0.7410"
    assert [f"{b:.4f}" for b in theory.cantilever_wave_numbers(3)] == ["1.8751", "4.6941", "7.8548"]


@pytest.mark.parametrize("tip", [theory.loaded_cantilever, theory.heavy_cantilever])
def test_small_deflections_are_those_of_beam_theory(tip) -> None:
    part = {theory.loaded_cantilever: 1.0 / 3.0, theory.heavy_cantilever: 1.0 / 8.0}[tip]
    assert tip(1e-4).y == pytest.approx(part * 1e-4, rel=1e-6)


def test_a_buckled_rod_begins_at_the_critical_load() -> None:
    flat = theory.pinned_elastica(1e-4)
    assert flat.load == pytest.approx(theory.EULER_LOAD["pinned"], rel=1e-8)
    assert flat.span == pytest.approx(1.0, rel=1e-8)


def test_critical_torque_between_its_limits() -> None:
    assert theory.greenhill_moment(1e-2) == pytest.approx(theory.greenhill_moment(0.0), rel=1e-3)
    for tension in (1e3, 1e4, 1e6):
        assert theory.greenhill_moment(tension) ** 2 / (4.0 * tension) - 1.0 == pytest.approx(
            math.pi**2 / tension, rel=0.02
        )


def test_the_cantilevers_mode_meets_its_ends() -> None:
    step = 1e-3
    for b in theory.cantilever_wave_numbers(3):
        w = theory.cantilever_mode(b, np.arange(0.0, 1.0 + 0.5 * step, step))
        assert abs(w[0]) < 1e-12
        assert abs(w[1]) < b**2 * step**2  # no slope
        assert abs(w[-1] - 2.0 * w[-2] + w[-3]) / step**2 < b**4 * step * 2.0  # no moment at the tip
