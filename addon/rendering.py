"""A render shows the frames that are there, and simulates nothing: it may run on a thread of its own, and with other settings
than the viewport's. Frames that were missing are told when it is over.
"""

from __future__ import annotations

import itertools

import bpy

from . import bodies, memory
from .bridge import rods, scenes
from .memory import told_at
from .showing import check_showable, show, show_drawn


def begin(scene: bpy.types.Scene) -> None:
    memory.rendering.add(scene.session_uid)
    memory.not_rendered.pop(scene.session_uid, None)


def show_frame(scene: bpy.types.Scene) -> None:
    """The frame the render stands at."""
    told = show_there(scene)
    if scene.frame_current > scenes.first_frame_of(scene) and (told or memory.is_outdated(scene)):
        memory.not_rendered.setdefault(scene.session_uid, set()).add(scene.frame_current)


def show_there(scene: bpy.types.Scene) -> bool:
    """The frame of the scene from those that are there, on all rods that are not baked into their curves. Whether something is to
    be said of one of them."""
    frame, first, last = scene.frame_current, scenes.first_frame_of(scene), scenes.last_frame_of(scene)
    objects = {uid: obj for uid, obj in memory.taking_part(scene).items() if not obj.tendril.baked}
    owners, shown = rods.owners_of_curves(rods.rods_in(bpy.data.objects)), memory.shown_of(scene)
    memory.hush(objects)
    for uid, obj in objects.items():
        with told_at([uid]):
            check_showable(obj, owners[obj.data])
            if frame < first:
                show_drawn(obj)
            else:
                show(obj, shown, frame, scene.frame_subframe, first, last)
    bodies.show(scene, shown, frame, scene.frame_subframe)
    return any(memory.status(uid) for uid in objects)


def end(scene: bpy.types.Scene) -> None:
    memory.rendering.discard(scene.session_uid)
    warning = warning_of(scene)
    if warning:
        print(f"Tendril: {warning}")
        if not bpy.app.background:  # the interface is not ours here: this may be the thread of the render
            bpy.app.timers.register(lambda: _pop_up(warning))


def warning_of(scene: bpy.types.Scene) -> str:
    """What is to be said of the last render."""
    missing = sorted(memory.not_rendered.get(scene.session_uid, ()))
    if not missing:
        return ""
    runs = [[number for _, number in run] for _, run in itertools.groupby(enumerate(missing), lambda p: p[1] - p[0])]
    told = ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs[:4])
    more = ", ..." if len(runs) > 4 else ""
    return f"Rendered without being simulated: frame{'s' * (len(missing) > 1)} {told}{more}. Bake before you render"


def _pop_up(warning: str) -> None:
    def draw(menu: bpy.types.UIPopupMenu, _context: bpy.types.Context) -> None:
        menu.layout.label(text=warning)

    bpy.context.window_manager.popup_menu(draw, title="Tendril", icon="ERROR")
