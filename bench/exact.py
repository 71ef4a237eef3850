"""Exact solutions that the workloads are compared with. Needs only numpy and scipy, so that the peers' scripts can use it."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import solve_bvp


def cantilever_tip(length: float, bend: float, weight: float, stretch: float = math.inf) -> tuple[float, float]:
    """Tip of a heavy cantilever at rest relative to its clamp: horizontal distance and height, in m.

    The rod is clamped horizontally. `bend` is EI, `weight` the weight per length and `stretch` EA; the default is the classical
    inextensible elastica. With theta the angle below the horizontal and s the arc length at rest:
    EI theta'' = -(1 + e) weight (L - s) cos(theta), where e = weight (L - s) sin(theta) / EA.
    """

    def slopes(s: np.ndarray, y: np.ndarray) -> np.ndarray:
        theta, curvature = y[:2]
        hanging = weight * (length - s)
        extended = 1.0 + hanging * np.sin(theta) / stretch
        return np.array(
            [
                curvature,
                -extended * hanging * np.cos(theta) / bend,
                extended * np.cos(theta),
                -extended * np.sin(theta),
            ]
        )

    def boundary_conditions(start: np.ndarray, end: np.ndarray) -> np.ndarray:
        return np.array([start[0], start[2], start[3], end[1]])

    # A heavy rod bends within a boundary layer at the clamp and then hangs: from this initial guess the solver needs no
    # continuation, however heavy the rod is.
    layer = math.sqrt(bend / (weight * length))
    s = np.linspace(0.0, length, 400)
    theta = 0.5 * math.pi * (1.0 - np.exp(-s / layer))
    guess = np.array([theta, (0.5 * math.pi - theta) / layer, np.zeros_like(s), -s])
    solution = solve_bvp(slopes, boundary_conditions, s, guess, tol=1e-9, max_nodes=100_000)
    if not solution.success:
        raise ArithmeticError(f"no exact solution of the cantilever found: {solution.message}")
    return float(solution.y[2, -1]), float(solution.y[3, -1])


def michell_twist(bend: float, twist: float) -> float:
    """Total twist, in rad, at which a ring closed from a straight round rod buckles out of its plane (Michell 1889)."""
    return 2.0 * math.pi * math.sqrt(3.0) * bend / twist
