"""Prescribed motion through a frame: linear to a target pose, or along functions of time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from ..describe.rotations import interpolate_rotations
from ..errors import LARGEST_SIZE, Array, TendrilError, array

POSITION, ROTATION, OTHER = 0, 1, 2  # the arrays of a `Motion`


class Motion(ABC):
    """Positions, rotations and one more property of several things: now, at the start of the frame, and at its end."""

    def __init__(self, position: Array, rotation: Array, other: Array) -> None:
        """The arrays are kept, and always hold the current values."""
        self._now = (position, rotation, other)
        self._stop()

    def _stop(self) -> None:
        self._from = [array.copy() for array in self._now]
        self._to = [array.copy() for array in self._now]
        self._moving = False

    def _put(self, which: int, rows: Any, values: Array) -> None:
        """Sets values immediately, and as the target."""
        for arrays in (self._now, self._from, self._to):
            arrays[which][rows] = values

    def advance(self, at: float, time: float) -> None:
        """Moves everything to a fraction of the frame, at a time in s."""
        if self._moving:
            for which, (now, begin, end) in enumerate(zip(self._now, self._from, self._to, strict=True)):
                if at == 1.0:
                    now[:] = end  # to the last bit
                elif which == ROTATION:
                    now[:] = interpolate_rotations(begin, end, at)
                else:
                    now[:] = begin + at * (end - begin)
        self.follow_paths(time)

    def arrive(self) -> None:
        """Ends the frame: targets are reached, and everything stays there until it gets a new one."""
        if self._moving:
            self._stop()

    def carry(self, rotation: Array, translation: Array, rows: Any = slice(None)) -> None:
        """Moves where things are now rigidly. Their targets stay, so that the rest of the motion is that of the frame."""
        for arrays in (self._now, self._from):
            arrays[POSITION][rows] = arrays[POSITION][rows] @ rotation.T + translation
            arrays[ROTATION][rows] = rotation @ arrays[ROTATION][rows]
        self._moving = True

    @abstractmethod
    def follow_paths(self, time: float) -> None:
        """Evaluates the functions of time. Invalid values are ignored: the thing stays where it is."""


def finite_array(value: Any, shape: tuple[int, ...]) -> Array | None:
    """A value returned by a user's function, if it is finite and has the shape; else None."""
    try:
        return array("value", value, shape, "give finite numbers")
    except TendrilError:
        return None


def in_bounds(positions: Array) -> Any:
    """Whether positions (..., 3) are near enough to the origin for the solver."""
    return np.abs(positions).max(axis=-1) <= 10.0 * LARGEST_SIZE
