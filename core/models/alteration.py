"""Changes of material and natural shape during a simulation: growing, curling, stiffening."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Array, not_negative, number, positive


class Factors(NamedTuple):
    """Factors on the properties of a rod as described."""

    stiffness: float = 1.0  # of bending and twist
    damping: float = 1.0
    length: float = 1.0  # rest length of all segments; mass is proportional to it
    curl: float = 1.0  # natural curvature


def check_factors(stiffness: float, damping: float, length: float, curl: float) -> Factors:
    return Factors(
        positive("stiffness", stiffness),
        not_negative("damping", damping),
        positive("length", length),
        number("curl", curl, "give a finite factor"),
    )


class Originals:
    """Arrays as described, from which scaled ones are computed any number of times."""

    def __init__(self, arrays: Sequence[Array]) -> None:
        self._arrays = arrays
        self._originals = [array.copy() for array in arrays]

    def scale(self, rows: Sequence[slice], factors: Sequence[Any]) -> None:
        """Sets rows of each array to a factor times the original."""
        for array, original, here, factor in zip(self._arrays, self._originals, rows, factors, strict=True):
            array[here] = original[here] * factor


def strain_factors(factors: Factors) -> NDArray[np.float64]:
    """Factors on the five natural strains of an element, integrated over its length: four of bending, one of twist."""
    return np.array([factors.curl * factors.length] * 4 + [factors.length])
