"""Held frames at the ends of rods: the element between such a frame and the rod, which can be softened or made idle."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import Array, Ints
from .alteration import Factors


class EndFrames:
    def __init__(self, rods: Ints, rows: Ints, stiffness: Array, twist: Array) -> None:
        """Of each hold its rod, and the row of its element in the other arrays, which are kept and changed; -1: it has none."""
        self._rods, self._rows, self._stiffness, self._twist = rods, rows, stiffness, twist
        self._drawn = stiffness[rows].copy(), twist[rows].copy()
        self._factors: dict[int, float] = {}  # on the stiffness, by rod
        self._shares: dict[int, float] = {}  # by hold; 1 if missing

    def has_element(self, hold: int) -> bool:
        return bool(self._rows[hold] >= 0)

    def set_share(self, hold: int, share: float) -> None:
        """Scales the stiffness of an element. One that was idle begins with the drawn twist."""
        row = self._rows[hold]
        if row < 0:
            return
        if self._shares.get(hold) == 0.0:
            self._twist[row] = self._drawn[1][hold]
        self._shares[hold] = share
        self._stiffness[row] = self._drawn[0][hold] * (self._factors.get(int(self._rods[hold]), 1.0) * share)

    @contextmanager
    def altering(self, rod: int, factors: Factors) -> Iterator[None]:
        """While the stiffness of a rod is altered. Where that happens for the first time, elements count as described."""
        softened = {hold: self._rows[hold] for hold, share in self._shares.items() if share != 1.0}
        if not self._factors:
            for hold, row in softened.items():
                self._stiffness[row] = self._drawn[0][hold]
        yield
        self._factors[rod] = factors.stiffness / factors.length
        for hold in softened:
            self.set_share(hold, self._shares[hold])
