"""A cantilever's frequencies: of the matrices, and of a real run with the simulator's defaults."""

from __future__ import annotations

import numpy as np
import pytest
from small_vibrations import squared_frequencies
from tendril.core import Simulation

from . import theory
from .cases import Case, runs
from .rods import line, rod, weightless


@pytest.mark.parametrize(("case", "model"), runs("cantilever modes"))
def test_modes(case: Case, model: str) -> None:
    def measure(segments: int) -> dict[str, float]:
        scene = weightless()
        beam = scene.add(rod(line(segments)), model)
        scene.clamp(beam, "start")
        found = np.sqrt(squared_frequencies(scene, 2 * len(case.expected)))
        # A round rod swings alike in two planes.
        assert found[::2] == pytest.approx(found[1::2], rel=1e-6)
        return {f"mode {k + 1}": value for k, value in enumerate(found[::2])}

    case.check(model, measure)


@pytest.mark.parametrize(("case", "model"), runs("cantilever swinging"))
def test_swinging(case: Case, model: str) -> None:
    def measure(segments: int) -> dict[str, float]:
        points = line(segments)
        velocity = np.zeros_like(points)
        first = theory.cantilever_wave_numbers(1)[0]
        velocity[:, 2] = case.parameters["speed"] * theory.cantilever_mode(first, points[:, 0])
        scene = weightless()
        beam = scene.add(rod(points), model, velocity=velocity)
        scene.clamp(beam, "start")
        sim = Simulation(scene)
        frames = list(sim.frames(1, 1 + 24 * 10))
        tip = np.array([frame.positions(beam)[-1, 2] for frame in frames])
        period = np.abs(tip[: len(tip) // 5])  # a little more than one
        return {
            "frequency": np.pi / half_period(np.array([frame.time for frame in frames]), tip),
            "kept": np.abs(tip[-len(period) :]).max() / period.max(),
        }

    case.check(model, measure)


def half_period(times: np.ndarray, values: np.ndarray) -> float:
    """The mean time from one passage through zero to the next."""
    k = np.flatnonzero(values[1:-1] * values[2:] < 0.0) + 1
    passages = times[k] - values[k] * (times[k + 1] - times[k]) / (values[k + 1] - values[k])
    assert len(passages) > 4
    return float(np.polyfit(np.arange(len(passages)), passages, 1)[0])
