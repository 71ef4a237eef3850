"""Things on their way through a frame: evenly to where they were sent, or along functions of time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from ..describe.rotations import interpolate_rotations
from ..errors import Array

POSITION, ROTATION, OTHER = 0, 1, 2  # what there is of things; each in an array of its own


class Motion(ABC):
    """Positions, rotations and one more property of things: now, where the frame began, and where it is to end."""

    def __init__(self, position: Array, rotation: Array, other: Array) -> None:
        """The arrays are kept, and hold what is now."""
        self._now = (position, rotation, other)
        self._stop()

    def _stop(self) -> None:
        self._from = [array.copy() for array in self._now]
        self._to = [array.copy() for array in self._now]
        self._moving = False

    def _put(self, which: int, rows: Any, values: Array) -> None:
        """There at once, and sent nowhere else."""
        for arrays in (self._now, self._from, self._to):
            arrays[which][rows] = values

    def advance(self, at: float, time: float) -> None:
        """To a fraction of the frame, which is at that time."""
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
        """The frame is over: what was sent somewhere is there."""
        if self._moving:
            self._stop()

    @abstractmethod
    def follow_paths(self, time: float) -> None:
        """Calls the functions of time. What they give is taken if it is usable, otherwise things stay where they are."""
