"""Where the rods of each block are among all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .arrays import Flags, Ints

Chosen = Sequence[tuple[int, Ints]]  # number of a block, and of rods in it


def slices(sizes: Sequence[int]) -> list[slice]:
    """Where parts of these sizes lie one after the other."""
    ends = np.cumsum(sizes).tolist()
    return [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]


def chosen_of(which: Flags, rods: Sequence[slice]) -> Chosen:
    """Numbers of blocks, and of those of their rods that are meant; `rods` says where the rods of each block are."""
    parts = [(number, np.flatnonzero(which[of_block])) for number, of_block in enumerate(rods)]
    return [(number, chosen) for number, chosen in parts if len(chosen)]
