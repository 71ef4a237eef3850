"""The state of a block as a flat array; that of some of its rods, copied and put back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import Array, Ints


def rows_of(start: Ints, chosen: Ints) -> Ints:
    """The rows of rods that have those from start[r] to start[r + 1]."""
    meant = np.zeros(len(start) - 1, np.bool_)
    meant[chosen] = True
    return np.flatnonzero(np.repeat(meant, np.diff(start)))


def copy_rods(state: Sequence[Array], starts: Sequence[Ints], chosen: Ints) -> list[Array]:
    """`starts` tells for each array which rows are whose."""
    return [array[rows_of(start, chosen)] for array, start in zip(state, starts, strict=True)]


def put_rods(state: Sequence[Array], starts: Sequence[Ints], chosen: Ints, kept: Sequence[Array]) -> None:
    for array, start, of_rods in zip(state, starts, kept, strict=True):
        array[rows_of(start, chosen)] = of_rods


def pack(state: Sequence[Array], out: Array) -> None:
    np.concatenate([array.ravel() for array in state], out=out)


def unpack(flat: Array, state: Sequence[Array]) -> None:
    at = 0
    for array in state:
        array[:] = flat[at : at + array.size].reshape(array.shape)
        at += array.size
