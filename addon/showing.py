"""What a curve shows: the drawn shape, or a frame of the simulation."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol

import bpy
import numpy as np

from ..core import TendrilError
from . import edits
from .bridge import curves
from .bridge.curves import ControlPoints
from .bridge.points import Data
from .bridge.rods import has_shape_keys
from .moments import DiskFrames, Moment


class NotSimulated(Exception):
    """The reason, in one sentence, why a rod does not show a simulated frame now, if it is not an error."""


class FrameSource(Protocol):
    """Frames that can be shown: of a simulation or of a file."""

    @property
    def first_frame(self) -> int: ...

    @property
    def last_frame(self) -> int: ...

    @property
    def uids(self) -> Collection[str]:
        """Of the rods it has."""

    @property
    def left_out(self) -> Mapping[str, str]:
        """Rods that it does not have, by uid, and why."""

    def moment(self, number: int) -> Moment | None: ...

    def fits(self, uid: str, curve: Data) -> bool:
        """Whether the curve still has the points that were simulated."""


class UnverifiedFrames:
    """Frames on disk that were not compared with the scene yet, because it was not at its start frame since the file was opened."""

    left_out: Mapping[str, str] = MappingProxyType({})

    def __init__(self, disk: DiskFrames) -> None:
        self.disk = disk
        self.first_frame, self.last_frame = disk.frames[0], disk.frames[-1]
        self._rows = dict(disk.contents.rods)
        self.uids: Collection[str] = self._rows.keys()

    def moment(self, number: int) -> Moment | None:
        return self.disk.moment(number) if number in self.disk.frames else None

    def fits(self, uid: str, curve: Data) -> bool:
        return self._rows[uid] == curves.row_count(curve)


class Display(NamedTuple):
    """Which simulated frame a scene shows at its current frame."""

    source: FrameSource | None
    frame: int  # of the scene
    subframe: float
    first: int  # frames of the simulation
    last: float  # after it nothing moves
    number: int  # the frame that is shown: the current one, or the nearest one that was simulated
    moment: Moment | None  # of that frame
    following: Moment | None  # the one after it, to interpolate subframes


def display_at(source: FrameSource | None, frame: int, subframe: float, first: int, last: float) -> Display:
    if source is None:
        return Display(None, frame, subframe, first, last, frame, None, None)
    number = min(max(frame, source.first_frame), source.last_frame)
    following = source.moment(frame + 1) if subframe > 0.0 and number == frame else None
    return Display(source, frame, subframe, first, last, number, source.moment(number), following)


def check_showable(obj: bpy.types.Object, owner: bpy.types.Object) -> None:
    """Raises NotSimulated if the curve, which the rod `owner` moves, can't show frames of this object."""
    if owner != obj:
        raise NotSimulated(f'The curve is also used by the rod "{owner.name}": make it single-user')
    if obj.mode in edits.EDITING:
        raise NotSimulated("The curve is in Edit Mode and shows its drawn shape: leave Edit Mode to simulate it")
    if has_shape_keys(obj) and not obj.tendril.baked:
        raise NotSimulated("The curve has shape keys, which hide the simulation: remove them")


def show_drawn(obj: bpy.types.Object) -> None:
    if not obj.tendril.shows_drawn:
        curves.restore_drawn(obj.data)
        obj.tendril.shows_drawn = True


def show(obj: bpy.types.Object, uid: str, display: Display, control_points: ControlPoints | None = None) -> None:
    """Writes the displayed frame to the curve. With `control_points`, see `curves.write_rows`, the curve is known to have the
    points that were simulated. Raises NotSimulated if the frame shown is not the current one."""
    source, frame, subframe, first, last, number, moment, following = display
    data = obj.data
    if source is not None and control_points is None and uid in source.uids and not source.fits(uid, data):
        raise NotSimulated(f"The number of points has changed since the simulation: go to frame {first}")
    rows = None if moment is None else moment.rows.get(uid)
    if source is None or rows is None:
        _check_expected(uid, display)
        return
    if following is not None and uid in following.rows:
        rows = rows + np.float32(subframe) * (following.rows[uid] - rows)
    elif number >= frame and number == source.first_frame:
        show_drawn(obj)
        return
    # The squared norm is faster than a test of each number. It overflows only for numbers that are not finite or huge.
    if not math.isfinite(np.vdot(rows, rows)) and not np.isfinite(rows).all():
        raise TendrilError(f"frame {number}", rows, "it has non-finite coordinates and was not shown: please report it")
    known_before = bool(control_points)
    if obj.tendril.shows_drawn or not edits.is_shown(uid, rows):
        curves.write_rows(data, rows, free_handles=True, control_points=control_points)
    # With control points this was done when they were read. Assigning an equal value would make Blender evaluate the object again.
    if not known_before and obj.tendril.shows_drawn:
        obj.tendril.shows_drawn = False
    edits.record(obj, rows)
    if number < min(frame, last):
        raise NotSimulated(f"Simulated up to frame {number}: continue from there")


def _check_expected(uid: str, display: Display) -> None:
    """Raises NotSimulated if a rod that the displayed frame does not have should be in it."""
    source = display.source
    if source is not None and uid in source.uids:
        raise NotSimulated(f"The object was not evaluated at frame {display.number}: go to frame {display.first}")
    if display.frame > display.first:
        left_out = {} if source is None else source.left_out
        raise NotSimulated(left_out.get(uid, f"Not simulated yet: play from frame {display.first}"))
