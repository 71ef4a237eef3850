"""Prescribed motion during a frame: linear to a target, or along functions of time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from ..describe.rotations import interpolate_rotations
from ..errors import Array

POSITION, ROTATION, OTHER = 0, 1, 2  # properties, each in its own array


class Motion(ABC):
    """Positions, rotations and one more property: now, at the start and at the end of the frame."""

    def __init__(self, position: Array, rotation: Array, other: Array) -> None:
        """The arrays are kept, and hold the current values."""
        self._now = (position, rotation, other)
        self._stop()

    def _stop(self) -> None:
        self._from = [array.copy() for array in self._now]
        self._to = [array.copy() for array in self._now]
        self._moving = False

    def _put(self, which: int, rows: Any, values: Array) -> None:
        """Sets values immediately, including start and target."""
        for arrays in (self._now, self._from, self._to):
            arrays[which][rows] = values

    def advance(self, at: float, time: float) -> None:
        """Advances to the fraction `at` of the frame, which is at `time` (s)."""
        if self._moving:
            for which, (now, begin, end) in enumerate(zip(self._now, self._from, self._to, strict=True)):
                if at == 1.0:
                    now[:] = end  # bit-identical
                elif which == ROTATION:
                    now[:] = interpolate_rotations(begin, end, at)
                else:
                    now[:] = begin + at * (end - begin)
        self.follow_paths(time)

    def arrive(self) -> None:
        """Ends the frame at the targets."""
        if self._moving:
            self._stop()

    @abstractmethod
    def follow_paths(self, time: float) -> None:
        """Calls the functions of time. Unusable return values are ignored."""
