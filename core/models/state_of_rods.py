"""The state of some of a block's rods: copies of it, and where they are put back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import Array

Ints = NDArray[np.int64]


def rows_of(start: Ints, chosen: Ints) -> Ints:
    """The rows of rods that have those from start[r] to start[r + 1]."""
    meant = np.zeros(len(start) - 1, np.bool_)
    meant[chosen] = True
    return np.flatnonzero(np.repeat(meant, np.diff(start)))


def _places(state: Sequence[Array], start: Ints, chosen: Ints) -> list[Ints]:
    """Arrays have a row for each rod, or those that `start` tells."""
    rows, rods = rows_of(start, chosen), len(start) - 1
    return [np.sort(chosen) if len(array) == rods else rows for array in state]


def copy_rods(state: Sequence[Array], start: Ints, chosen: Ints) -> list[Array]:
    return [array[rows] for array, rows in zip(state, _places(state, start, chosen), strict=True)]


def put_rods(state: Sequence[Array], start: Ints, chosen: Ints, kept: Sequence[Array]) -> None:
    for array, rows, of_rods in zip(state, _places(state, start, chosen), kept, strict=True):
        array[rows] = of_rods
