"""Groups of contacts that the sweeps solve one after the other, or at the same time: no force of one group moves another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import Array
from .arrays import Flags, Ints
from .islands import label_islands


class SweepIslands(NamedTuple):
    contact: Ints  # (C,) the contacts of the first island, then those of the second, ...
    first: Ints  # (I + 1,) where those of each island begin
    rod: Ints  # (R,) its rods, likewise
    first_rod: Ints  # (I + 1,)
    tolerance: Array  # (I,) thicknesses


def make_islands(sides: Ints, mobile: Flags, tolerance: Array) -> SweepIslands:
    """`sides` (C, 2) are the rods that each contact moves, or -1; `mobile` (C,): it moves any. Of the tolerances (R,) of its rods an
    island has the largest."""
    island = np.zeros(len(tolerance), np.int64)
    label_islands(sides[np.all(sides >= 0, axis=1)], island)
    contact = np.flatnonzero(mobile)
    of = island[sides[contact].max(axis=1)]
    order = np.argsort(of, kind="stable")
    labels, first = np.unique(of[order], return_index=True)
    moved = np.zeros(len(tolerance), bool)
    moved[sides[sides >= 0]] = True
    moved &= np.isin(island, labels)
    rod = np.flatnonzero(moved)
    rod = rod[np.argsort(island[rod], kind="stable")]
    first_rod = np.searchsorted(island[rod], labels)
    largest = np.maximum.reduceat(tolerance[rod], first_rod) if len(labels) else np.zeros(0)
    return SweepIslands(
        contact[order], np.append(first, len(order)), rod, np.append(first_rod, len(rod)), np.asarray(largest)
    )
