"""Records of arrays: allocation, and the state of a block or of some of its rods, packed, copied and restored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from ..errors import Array, Ints

Record = TypeVar("Record", bound=NamedTuple)


def zeros_of(kind: type[Record], default: tuple[int, ...], **shapes: tuple[int, ...]) -> Record:
    """A record of zero arrays of shape `default`, except for those named in `shapes`."""
    return kind._make(np.zeros(shapes.get(name, default)) for name in kind._fields)


def rows_of(start: Ints, chosen: Ints) -> Ints:
    """Rows start[r] ... start[r + 1] - 1 of the chosen rods r."""
    meant = np.zeros(len(start) - 1, np.bool_)
    meant[chosen] = True
    return np.flatnonzero(np.repeat(meant, np.diff(start)))


def copy_rods(state: Sequence[Array], starts: Sequence[Ints], chosen: Ints) -> list[Array]:
    """Copies the rows of the chosen rods; `starts` are the starts of the rods in each array."""
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
