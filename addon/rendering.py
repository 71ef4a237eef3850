"""Renders show frames that exist and simulate nothing: a render may run on its own thread, and with other settings than the
viewport's. A warning after the render lists the frames that were missing.
"""

from __future__ import annotations

import itertools

import bpy

from . import bodies, memory
from .bridge import relevant, rods, scenes
from .memory import errors_to_status
from .showing import check_showable, display_at, show, show_drawn


def begin(scene: bpy.types.Scene) -> None:
    memory.rendering.add(scene.session_uid)
    memory.not_rendered.pop(scene.session_uid, None)


def show_frame(scene: bpy.types.Scene) -> None:
    """Shows the current frame of the render, and records it if it was not simulated."""
    has_problems = show_existing(scene)
    if scene.frame_current > scenes.first_frame_of(scene) and (has_problems or memory.is_outdated(scene)):
        memory.not_rendered.setdefault(scene.session_uid, set()).add(scene.frame_current)


def show_existing(scene: bpy.types.Scene) -> bool:
    """Shows the current frame on all rods that are not baked into their curves, without simulating. Returns whether a rod has a
    status message."""
    first = scenes.first_frame_of(scene)
    objects = {uid: obj for uid, obj in memory.taking_part(scene).items() if not obj.tendril.baked}
    owners = rods.owners_of_curves(rods.rods_in(relevant.in_file()))
    source = memory.frame_source(scene)
    display = display_at(source, scene.frame_current, scene.frame_subframe, first, scenes.last_frame_of(scene))
    memory.clear_status(objects)
    for uid, obj in objects.items():
        with errors_to_status([uid]):
            check_showable(obj, owners[obj.data])
            if scene.frame_current < first:
                show_drawn(obj)
            else:
                show(obj, uid, display)
    bodies.show(scene, display)
    return any(memory.status(uid) for uid in objects)


def end(scene: bpy.types.Scene) -> None:
    memory.rendering.discard(scene.session_uid)
    warning = warning_of(scene)
    if warning:
        print(f"Tendril: {warning}")
        if not bpy.app.background:  # this may be the render thread, which must not use the interface
            bpy.app.timers.register(lambda: _pop_up(warning))


def warning_of(scene: bpy.types.Scene) -> str:
    """The frames of the last render that were not simulated, in one sentence; empty if there are none."""
    missing = sorted(memory.not_rendered.get(scene.session_uid, ()))
    if not missing:
        return ""
    runs = [[number for _, number in run] for _, run in itertools.groupby(enumerate(missing), lambda p: p[1] - p[0])]
    listed = ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs[:4])
    more = ", ..." if len(runs) > 4 else ""
    return f"Rendered without simulation: frame{'s' * (len(missing) > 1)} {listed}{more}. Bake before rendering"


def _pop_up(warning: str) -> None:
    def draw(menu: bpy.types.UIPopupMenu, _context: bpy.types.Context) -> None:
        menu.layout.label(text=warning)

    bpy.context.window_manager.popup_menu(draw, title="Tendril", icon="ERROR")
