"""Reference kernel: a fixed banded solve, as rods need it, in which all times are also expressed. Never change it."""

from __future__ import annotations

import time

import numba
import numpy as np


@numba.njit
def _reference(a: np.ndarray, b: np.ndarray) -> float:
    total = 0.0
    for _ in range(100):
        for i in range(8, len(a)):
            s = b[i]
            for k in range(8):
                s -= a[i, k] * b[i - 8 + k]
            b[i] = s / (2.0 + a[i, 0])
            total += b[i]
    return total


def reference_seconds() -> float:
    """Shortest time of one run of the reference kernel out of twenty."""
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-0.1, 0.1, (2000, 8)), rng.uniform(-1.0, 1.0, 2000)
    _reference(a, b.copy())
    least = np.inf
    for _ in range(20):
        x = b.copy()
        start = time.perf_counter()
        _reference(a, x)
        least = min(least, time.perf_counter() - start)
    return least
