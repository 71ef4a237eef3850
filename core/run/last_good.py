"""The last resort of the stepping loop: whatever a solver does, no frame has a NaN, and no frame raises.

Solvers recover from hard steps by themselves, by the retry ladder of their model. What still goes wrong is an error of Tendril or a
state that somebody made up; then everything concerned returns to the end of the previous frame, at rest, and the report says so.
"""

from __future__ import annotations

import math

import numpy as np

from ..errors import Array, TendrilError
from .world import World

LARGEST = 1e30  # of any number in a state: squares and products of some of them are finite


class LastGood:
    """A copy of the state at the end of the last frame."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._good, self._spare = world.pack_state(), np.empty(world.state_size)

    def keep(self) -> bool:
        """Copies the current state. Parts of it that are not finite are reset; returns whether there were none."""
        self._world.pack_state(self._spare)
        if _is_usable(self._spare):
            self._good, self._spare = self._spare, self._good
            return True
        bad = [not _is_usable(part) for part in self._world.parts(self._spare)]
        self._reset(bad)
        self._world.pack_state(self._good)
        return False

    def reset(self) -> None:
        """Returns everything to the kept state, at rest."""
        self._reset([True] * len(self._world.parts(self._good)))

    def restore(self, flat: Array, cure: str) -> None:
        """Restores and keeps a given state. Raises TendrilError for an impossible one; the world is then unchanged."""
        self._world.pack_state(self._spare)
        if not _is_usable(flat):
            raise TendrilError("state", flat, cure)
        self._world.restore(flat)
        if not self._world.is_plausible(flat):
            self._world.restore(self._spare)
            raise TendrilError("state", flat, cure)
        self._good[:] = flat

    def _reset(self, bad: list[bool]) -> None:
        self._world.reset(self._good, bad)


def _is_usable(numbers: Array) -> bool:
    squares = float(np.dot(numbers, numbers))  # the fastest test there is
    return math.isfinite(squares) and (squares < LARGEST or float(np.abs(numbers).max()) < LARGEST)
