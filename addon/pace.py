"""How fast a scene plays, and what takes the time: the solver, or Blender with everything else."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import bpy

SMOOTHING = 0.2  # part of a new frame in the means
LONGEST = 2.0  # s between frames of one playback
REDRAW_INTERVAL = 0.5  # s
_redrawn = 0.0
_clock = time.perf_counter  # replaced by tests


class Pace(NamedTuple):
    """Means over the last frames of a playback."""

    frame: int
    when: float  # s, of the last frame
    interval: float | None  # s between frames; None after the first
    solver: float  # s

    @property
    def rate(self) -> float:
        """Frames per second."""
        return 1.0 / max(self.interval or 0.0, 1e-6)

    @property
    def blender(self) -> float:
        """s per frame that the solver does not take."""
        return max((self.interval or 0.0) - self.solver, 0.0)


_paces: dict[int, Pace] = {}  # by the session uid of the scene


def note(scene: bpy.types.Scene, solver: float) -> None:
    """Call it at the end of every frame change, with the time that the solver took for it."""
    now, frame, before = _clock(), scene.frame_current, _paces.get(scene.session_uid)
    if before is None or frame != before.frame + 1 or now - before.when > LONGEST:
        _paces[scene.session_uid] = Pace(frame, now, None, solver)
        return
    interval = now - before.when
    if before.interval is not None:
        interval = before.interval + SMOOTHING * (interval - before.interval)
        solver = before.solver + SMOOTHING * (solver - before.solver)
    _paces[scene.session_uid] = Pace(frame, now, interval, solver)


def pace_of(scene: bpy.types.Scene) -> Pace | None:
    """Of the playback that is going on; None if the scene is not being played."""
    found = _paces.get(scene.session_uid)
    is_playing = found is not None and found.interval is not None and _clock() - found.when < LONGEST
    return found if is_playing else None


def redraw_panels() -> None:
    """Redraws the Physics tab, which Blender does not draw during playback; a few times a second."""
    global _redrawn
    if _clock() - _redrawn < REDRAW_INTERVAL or bpy.context.window_manager is None:
        return
    _redrawn = _clock()
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            space: Any = area.spaces.active
            if area.type == "PROPERTIES" and space.context == "PHYSICS":
                area.tag_redraw()


def forget() -> None:
    _paces.clear()
