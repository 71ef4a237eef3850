"""What a curve shows: the drawn shape, or a frame of the simulation."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Protocol

import bpy
import numpy as np

from ..core import TendrilError
from .bridge import curves
from .bridge.curves import Rows, Written
from .bridge.rods import has_shape_keys
from .moments import DiskFrames, Moment


class Unable(Exception):
    """A rod is not simulated now, for a reason that is no error; said in one sentence."""


def check_showable(obj: bpy.types.Object, owner: bpy.types.Object) -> None:
    if owner != obj:
        raise Unable(f'The curve belongs to the rod "{owner.name}" too: make it a single user')
    if obj.mode == "EDIT":
        raise Unable("The curve is in Edit Mode: it moves when you leave it")
    if has_shape_keys(obj) and not obj.tendril.baked:
        raise Unable("The curve has shape keys, which hide the simulation: remove them")


def take_edits(obj: bpy.types.Object) -> bool:
    """What is changed while the curve shows its drawn shape is drawn. So are points added or removed at any time.
    True if there was something."""
    settings, data = obj.tendril, obj.data
    if curves.keeps_drawn(data) and (not settings.shows_drawn or curves.is_as_drawn(data)):
        return False
    curves.keep_drawn(data)
    settings.shows_drawn = True
    return True


def show_drawn(obj: bpy.types.Object) -> None:
    if not obj.tendril.shows_drawn:
        curves.restore_drawn(obj.data)
        obj.tendril.shows_drawn = True


class Shown(Protocol):
    """Frames that can be shown."""

    first_frame: int
    last_frame: int
    uids: Collection[str]
    left_out: Mapping[str, str]

    def moment(self, number: int) -> Moment | None: ...

    def fits(self, uid: str, curve: bpy.types.Curve) -> bool:
        """Whether the curve still has the points that were simulated."""


class Recorded:
    """Frames on disk that nobody has compared with the scene yet: it has not been at its start frame."""

    left_out: Mapping[str, str] = MappingProxyType({})

    def __init__(self, disk: DiskFrames) -> None:
        self.disk = disk
        self.first_frame, self.last_frame = disk.frames[0], disk.frames[-1]
        self._rows = dict(disk.contents.rods)
        self.uids = self._rows.keys()

    def moment(self, number: int) -> Moment | None:
        return self.disk.moment(number) if number in self.disk.frames else None

    def fits(self, uid: str, curve: bpy.types.Curve) -> bool:
        return self._rows[uid] == curves.row_count(curve)


def show(
    obj: bpy.types.Object,
    frames: Shown | None,
    frame: int,
    subframe: float,
    first: int,
    last: float,
    written: Written | None = None,
) -> None:
    """Writes a frame to the curve; beyond those that were simulated, the last one. After `last` nothing moves. With `written`, see
    `curves.write_rows`, the curve is known to have the points that were simulated."""
    settings, data = obj.tendril, obj.data
    uid = settings.uid
    if frames is None or uid not in frames.uids:
        if frame > first:
            left_out = {} if frames is None else frames.left_out
            raise Unable(left_out.get(uid, f"Not simulated yet: play from frame {first}"))
        return
    if written is None and not frames.fits(uid, data):
        raise Unable(f"The curve has other points than were simulated: go to frame {first}")
    shown = min(max(frame, frames.first_frame), frames.last_frame)
    moment = frames.moment(shown)
    if moment is None or uid not in moment.rows:
        raise Unable(f"The object could not be followed in frame {shown}: go to frame {first}")
    rows = moment.rows[uid]
    following = frames.moment(frame + 1) if subframe > 0.0 and shown == frame else None
    if following is not None and uid in following.rows:
        rows = rows + np.float32(subframe) * (following.rows[uid] - rows)
    elif shown == frames.first_frame >= frame:
        show_drawn(obj)
        return
    write(data, shown, rows, written)
    if settings.shows_drawn:  # what is set anew, even to the same, makes Blender evaluate the object once more
        settings.shows_drawn = False
    if shown < min(frame, last):
        raise Unable(f"Simulated up to frame {shown}: go on from there")


def write(data: bpy.types.ID, frame: int, rows: Rows, written: Written | None = None) -> None:
    """The rows of a frame to the curve. Raises TendrilError if they can't be shown."""
    # The square is quick to find, and only too large a number if it is not finite itself.
    if not math.isfinite(np.vdot(rows, rows)) and not np.isfinite(rows).all():
        raise TendrilError(f"frame {frame}", rows, "it is not finite and was not shown: please report this scene")
    curves.write_rows(data, rows, free_handles=True, written=written)
