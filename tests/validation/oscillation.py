"""Frequencies of small free vibrations, read from a run."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import curve_fit
from tendril.core import Frame, Scene, Simulation

PER_PERIOD = 16  # frames


def frequency(
    scene: Scene, reading: Callable[[Frame], float], expected: float, steps: int, periods: float = 1.5
) -> float:
    """Angular frequency (rad/s) of a reading of the frames, from the fit of a damped oscillation. `steps` is the number of time
    steps per expected period. The motion must be that of one mode."""
    sim = Simulation(
        scene, PER_PERIOD * expected / (2.0 * math.pi), substeps=steps // PER_PERIOD, tolerance=1e-9, threads=1
    )
    frames = list(sim.frames(1, 1 + round(PER_PERIOD * periods)))
    assert sum(frame.report.failures for frame in frames) == 0
    times, values = np.array([frame.time for frame in frames]), np.array([reading(frame) for frame in frames])

    def wave(t: np.ndarray, middle: float, cosine: float, sine: float, rate: float, decay: float) -> np.ndarray:
        return np.asarray(middle + (cosine * np.cos(rate * t) + sine * np.sin(rate * t)) * np.exp(-decay * t))

    size = float(np.abs(values).max())
    found, _ = curve_fit(wave, times, values / size, p0=(0.0, values[0] / size, 1.0, expected, 0.0))
    assert np.abs(wave(times, *found) - values / size).max() < 5e-3, "more than one mode moves"
    return abs(float(found[3]))


def part_of_mode(frame: Frame, rod: int, start: np.ndarray, mode: np.ndarray, mass: np.ndarray) -> float:
    """Amplitude of a mode (n, 3) in the displacement from the start."""
    weights = mass[:, None] * mode
    return float(np.sum((frame.positions(rod) - start) * weights) / np.sum(mode * weights))
