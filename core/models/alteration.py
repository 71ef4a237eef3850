"""Rods whose material and natural shape change while they move: they grow, curl, stiffen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Array, TendrilError, not_negative, number, positive

MODELS = ("der", "net", "compact", "clothoid")


class Factors(NamedTuple):
    """On what was described."""

    stiffness: float = 1.0  # against bending and twisting
    damping: float = 1.0
    length: float = 1.0  # of all segments: mass grows with it
    curl: float = 1.0  # the natural curvature


def check_factors(stiffness: float, damping: float, length: float, curl: float) -> Factors:
    return Factors(
        positive("stiffness", stiffness),
        not_negative("damping", damping),
        positive("length", length),
        number("curl", curl, "give a finite factor"),
    )


class Originals:
    """Arrays as they were described, to be scaled again and again."""

    def __init__(self, arrays: Sequence[Array]) -> None:
        self._arrays = arrays
        self._were = [array.copy() for array in arrays]

    def scale(self, rows: Sequence[slice], factors: Sequence[Any]) -> None:
        """Writes rows of each array as they were, times a factor."""
        for array, was, here, factor in zip(self._arrays, self._were, rows, factors, strict=True):
            array[here] = was[here] * factor

    def clear(self, number: int, rows: int | slice) -> None:
        """What is gone stays gone."""
        self._were[number][rows] = 0.0


def strain_factors(factors: Factors) -> NDArray[np.float64]:
    """Of the five natural strains of an element, which are integrated over its length: four of bending, one of twist."""
    return np.array([factors.curl * factors.length] * 4 + [factors.length])


def refuse_others(model: str) -> None:
    if model not in MODELS:
        raise TendrilError(
            "rod", model, f"rods of this model stay as they were made: choose one of {', '.join(MODELS)}"
        )
