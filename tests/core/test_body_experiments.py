"""Experiments with bodies, the short ones whole."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tendril.sample_scenes.experiments import TABLE, torsion_pendulum, wilberforce


@pytest.mark.parametrize("name", ["transducer", "heavy_ball", "heavy_bodies"])
def test_experiment(name: str) -> None:
    outcome = TABLE[name].run()
    assert not [number for number in outcome.numbers if not number.within]


@pytest.mark.parametrize("segments", [4, 8])
def test_torsional_pendulum(segments: int) -> None:
    """Case 9 of the validation: half a per cent is asked for, but it is ten times better."""
    times, angles, rate, _ = torsion_pendulum.turn(segments)
    assert torsion_pendulum.measured_rate(times, angles, rate) == pytest.approx(rate, rel=5e-4)


def test_half_a_beat_of_wilberforces_pendulum() -> None:
    _, rates, motion = wilberforce.swing(0.55)
    half = math.pi / float(rates[1] - rates[0])
    share = motion.energies[1] / motion.energies.sum(axis=0)
    assert share[: len(share) // 8].max() < 0.2
    assert share.max() > 0.95
    assert motion.time[int(np.argmax(share))] == pytest.approx(half, rel=0.1)
