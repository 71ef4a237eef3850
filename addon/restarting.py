"""Auto Restart: playback begins anew when a setting has changed that the running simulation can't take over."""

from __future__ import annotations

import bpy

from . import memory
from .bridge import scenes

_waiting: set[str] = set()  # names of scenes


def check(scene: bpy.types.Scene) -> bool:
    """Whether the scene has to go back to its start frame; it will, as soon as Blender is idle. Gravity, air, and what can be
    keyframed take effect in the next frame instead."""
    running = memory.running_of(scene)
    if not scene.tendril.auto_restart or running is None or memory.rendering:
        return False
    fixed = scenes.settings_of(scene, memory.taking_part(scene), live=False)
    if running.fixed_settings == fixed and not running.outdated:
        return False
    if scene.name not in _waiting:
        _waiting.add(scene.name)
        if not bpy.app.background:  # where timers never fire
            bpy.app.timers.register(go_back, first_interval=0.0)
    return True


def go_back() -> None:
    """Takes the waiting scenes to their start frames; playback then continues from there."""
    for name in list(_waiting):
        _waiting.discard(name)
        if name in bpy.data.scenes:
            scene = bpy.data.scenes[name]
            scene.frame_set(scenes.first_frame_of(scene))
