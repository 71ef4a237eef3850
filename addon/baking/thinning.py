"""Selection of the frames that need a shape key if the others are interpolated linearly."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def frames_to_keep(frames: Sequence[NDArray[np.float32]], step: int, tolerance: float) -> list[int]:
    """Indices of the frames (k, 3) to keep. Candidates are every `step`-th frame and the last; no point of a candidate is farther
    than `tolerance` from the interpolation between the kept frames around it.

    Greedy algorithm: each candidate after a kept frame restricts the slope of every coordinate to an interval. A candidate
    whose slope leaves the intersection of these intervals cannot be the next kept frame, so the one before it is kept.
    """
    candidates = [*range(0, len(frames) - 1, step), len(frames) - 1]
    if tolerance <= 0.0:
        return candidates
    tolerance_per_axis = tolerance / np.sqrt(3.0)  # bounds the Euclidean distance by the tolerance
    kept = [0]
    lower, upper = -np.inf, np.inf
    previous = 0
    for k in candidates[1:]:
        slope = _slope(frames, kept[-1], k)
        if not np.all((lower <= slope) & (slope <= upper)):
            kept.append(previous)
            slope, lower, upper = _slope(frames, previous, k), -np.inf, np.inf
        margin = tolerance_per_axis / (k - kept[-1])
        lower, upper = np.maximum(lower, slope - margin), np.minimum(upper, slope + margin)
        previous = k
    return [*kept, candidates[-1]]


def _slope(frames: Sequence[NDArray[np.float32]], start: int, end: int) -> NDArray[np.float64]:
    """Change per frame (k, 3) between two frames."""
    return (frames[end].astype(np.float64) - frames[start]) / (end - start)
