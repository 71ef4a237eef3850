"""Which frames need a key, if the others are found between them by straight lines. Plain NumPy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def frames_to_keep(frames: Sequence[NDArray[np.float32]], step: int, tolerance: float) -> list[int]:
    """Numbers of frames (k, 3) such that, of every step-th frame and the last, none is farther than `tolerance` from the line
    between the two kept ones around it.

    Goes from one kept frame as far as all points allow: each frame on the way leaves every coordinate a range of slopes, and the
    next kept frame must lie within all of them.
    """
    candidates = [*range(0, len(frames) - 1, step), len(frames) - 1]
    if tolerance <= 0.0:
        return candidates
    within = tolerance / np.sqrt(3.0)  # per coordinate, so that the distance is within the tolerance
    kept = [0]
    least, most = -np.inf, np.inf
    before = 0
    for k in candidates[1:]:
        slope = _slope(frames, kept[-1], k)
        if not np.all((least <= slope) & (slope <= most)):
            kept.append(before)
            slope, least, most = _slope(frames, before, k), -np.inf, np.inf
        room = within / (k - kept[-1])
        least, most = np.maximum(least, slope - room), np.minimum(most, slope + room)
        before = k
    return [*kept, candidates[-1]]


def _slope(frames: Sequence[NDArray[np.float32]], start: int, end: int) -> NDArray[np.float64]:
    return (frames[end].astype(np.float64) - frames[start]) / (end - start)
