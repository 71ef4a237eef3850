"""Buckling loads of a heavy column and of a thin strip, extrapolated from their deflection below them (Southwell, 1932)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tendril.core import Scene

from .cases import Case
from .mechanics_cases import mechanics_runs, of_model
from .rods import STIFF, line, mesh, precise, rod, settled, stiffness, weightless

ASIDE = 1e-5  # lateral force, small enough for a linear response at the loads that are measured


def critical_load(deflection: Callable[[float], float], loads: np.ndarray, power: float = 1.0) -> float:
    """The load at which the inverse deflection vanishes, from a straight line through two loads just below it. The line is drawn
    over load^power: the square where the sign of the load does not matter."""
    first, second = (1.0 / deflection(load) for load in loads)
    low, high = loads**power
    return float((high + (high - low) * second / (first - second)) ** (1.0 / power))


def near(case: Case) -> np.ndarray:
    return np.array(case.parameters["near"]) * case.expected["load"]


@pytest.mark.parametrize(("case", "model"), mechanics_runs("heavy column"))
def test_heavy_column(case: Case, model: str) -> None:
    made_of = stiffness(stretch=of_model(case.parameters["stretch"], model, STIFF), inertia=1e-3)

    def measure(level: int) -> dict[str, float]:
        segments, options = mesh(model, level)

        def deflection(weight: float) -> float:
            scene = Scene(gravity=(0.0, 0.0, -weight))
            scene.add(rod(line(segments)[:, [1, 2, 0]], made_of), model, **options)
            scene.clamp(0, "start")
            scene.load(0, "end", (ASIDE, 0.0, 0.0))
            return float(settled(precise(scene), stable=False).current().positions(0)[-1, 0])

        return {"load": critical_load(deflection, near(case))}

    case.check(model, measure)


@pytest.mark.parametrize(("case", "model"), mechanics_runs("strip that buckles"))
def test_strip(case: Case, model: str) -> None:
    """The load acts along the first director, towards which the strip is stiff."""
    p = case.parameters
    made_of = stiffness(bend=(p["strong"], 1.0), inertia=1e-3)

    def measure(level: int) -> dict[str, float]:
        segments, options = mesh(model, level)

        def deflection(load: float) -> float:
            scene = weightless()
            scene.add(rod(line(segments), made_of, director=(0.0, 0.0, 1.0)), model, **options)
            scene.clamp(0, "start")
            scene.load(0, "end", (0.0, ASIDE, -load))
            return float(settled(precise(scene), stable=False).current().positions(0)[-1, 1])

        return {"load": critical_load(deflection, near(case), power=2.0)}

    case.check(model, measure)
