"""What a curve shows: the drawn shape, or a frame of the simulation."""

from __future__ import annotations

import bpy
import numpy as np

from ..core import TendrilError
from .bridge import curves
from .running import Running


class Unable(Exception):
    """A rod is not simulated now, for a reason that is no error; said in one sentence."""


def check_showable(obj: bpy.types.Object, owner: bpy.types.Object) -> None:
    if owner != obj:
        raise Unable(f'The curve belongs to the rod "{owner.name}" too: make it a single user')
    if obj.mode == "EDIT":
        raise Unable("The curve is in Edit Mode: it moves when you leave it")
    if obj.data.shape_keys is not None and not obj.tendril.baked:
        raise Unable("The curve has shape keys, which hide the simulation: remove them")


def take_edits(obj: bpy.types.Object) -> bool:
    """What is changed while the curve shows its drawn shape is drawn. So are points added or removed at any time.
    True if there was something."""
    kept_fits = curves.drawn_rows(obj.data) is not None
    if kept_fits and (not obj.tendril.shows_drawn or curves.is_as_drawn(obj.data)):
        return False
    curves.keep_drawn(obj.data)
    obj.tendril.shows_drawn = True
    return True


def show_drawn(obj: bpy.types.Object) -> None:
    if not obj.tendril.shows_drawn:
        curves.restore_drawn(obj.data)
        obj.tendril.shows_drawn = True


def show(obj: bpy.types.Object, running: Running | None, frame: int, subframe: float, first: int) -> None:
    """Writes a frame in memory to the curve; beyond them, the last one."""
    uid = obj.tendril.uid
    if running is None or uid not in running.description.parts:
        if frame > first:
            left_out = {} if running is None else running.left_out
            raise Unable(left_out.get(uid, f"Not simulated yet: play from frame {first}"))
        return
    if running.description.parts[uid].described.layout != curves.layout(obj.data):
        raise Unable(f"The curve has other points than were simulated: go to frame {first}")
    shown = min(max(frame, running.first_frame), running.last_frame)
    moment, following = running.moments[shown], running.moments.get(frame + 1)
    if uid not in moment.rows:
        raise Unable(f"The object could not be followed in frame {shown}: go to frame {first}")
    rows = moment.rows[uid]
    if subframe > 0.0 and shown == frame and following is not None and uid in following.rows:
        rows = rows + np.float32(subframe) * (following.rows[uid] - rows)
    elif shown == running.first_frame >= frame:
        show_drawn(obj)
        return
    if not np.all(np.isfinite(rows)):
        raise TendrilError(f"frame {shown}", rows, "it is not finite and was not shown: please report this scene")
    curves.free_handles(obj.data)
    curves.write_rows(obj.data, rows)
    obj.tendril.shows_drawn = False
    if shown < frame:
        raise Unable(f"Simulated up to frame {shown}: go on from there")
