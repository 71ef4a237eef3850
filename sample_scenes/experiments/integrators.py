"""Integrators of R' = R [kappa]x, r' = R e0 that the paper compares its power series with, compiled like the series."""

from __future__ import annotations

import numpy as np

from ...core.compile.jit import kernel, part
from ...core.errors import Array

EULER, LIE_EULER, RK2, RK4 = range(4)


@part
def _slope(y: Array, k0: float, k1: float, k2: float, out: Array) -> None:
    """Derivative along the arc of y (12,): the frame row by row, then the position."""
    for i in range(3):
        a, b, c = y[3 * i], y[3 * i + 1], y[3 * i + 2]
        out[3 * i] = b * k2 - c * k1
        out[3 * i + 1] = c * k0 - a * k2
        out[3 * i + 2] = a * k1 - b * k0
        out[9 + i] = a


@kernel
def integrate(first: Array, last: Array, length: float, steps: int, scheme: int, y: Array, work: Array) -> None:
    """Integrates y (12,) from the start of the element to its end; `work` (5, 12) is scratch."""
    h = length / steps
    g0, g1, g2 = (last[0] - first[0]) / steps, (last[1] - first[1]) / steps, (last[2] - first[2]) / steps
    one, two, three, four, at = work[0], work[1], work[2], work[3], work[4]
    for n in range(steps):
        k0, k1, k2 = first[0] + n * g0, first[1] + n * g1, first[2] + n * g2
        _slope(y, k0, k1, k2, one)
        if scheme == EULER:
            for m in range(12):
                y[m] += h * one[m]
        elif scheme == LIE_EULER:
            angle = h * np.sqrt(k0 * k0 + k1 * k1 + k2 * k2)
            s = np.sin(angle) / angle if angle > 0.0 else 1.0
            c = 2.0 * (np.sin(0.5 * angle) / angle) ** 2 if angle > 0.0 else 0.5
            _slope(one, k0, k1, k2, two)
            for m in range(9, 12):
                y[m] += h * one[m]
            for m in range(9):
                y[m] += s * h * one[m] + c * h * h * two[m]
        elif scheme == RK2:
            for m in range(12):
                at[m] = y[m] + 0.5 * h * one[m]
            _slope(at, k0 + 0.5 * g0, k1 + 0.5 * g1, k2 + 0.5 * g2, two)
            for m in range(12):
                y[m] += h * two[m]
        else:
            for m in range(12):
                at[m] = y[m] + 0.5 * h * one[m]
            _slope(at, k0 + 0.5 * g0, k1 + 0.5 * g1, k2 + 0.5 * g2, two)
            for m in range(12):
                at[m] = y[m] + 0.5 * h * two[m]
            _slope(at, k0 + 0.5 * g0, k1 + 0.5 * g1, k2 + 0.5 * g2, three)
            for m in range(12):
                at[m] = y[m] + h * three[m]
            _slope(at, k0 + g0, k1 + g1, k2 + g2, four)
            for m in range(12):
                y[m] += h / 6.0 * (one[m] + 2.0 * two[m] + 2.0 * three[m] + four[m])


def _integrator(scheme: int):
    def run(first: Array, last: Array, length: float, steps: int) -> tuple[Array, Array]:
        y = np.concatenate([np.eye(3).ravel(), np.zeros(3)])
        integrate(first, last, length, steps, scheme, y, np.zeros((5, 12)))
        return y[:9].reshape(3, 3), y[9:]

    return run


INTEGRATORS = {
    "Euler": _integrator(EULER),
    "Lie-Euler": _integrator(LIE_EULER),
    "RK2": _integrator(RK2),
    "RK4": _integrator(RK4),
}


def warm_up(first: Array, last: Array, length: float) -> None:
    for run in INTEGRATORS.values():
        run(first, last, length, 2)
