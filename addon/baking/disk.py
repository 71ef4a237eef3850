"""Frames on disk as a bake: they are shown whatever is set, and nothing replaces them until the bake is deleted."""

from __future__ import annotations

import bpy

from .. import memory
from ..bridge.rods import rods_in
from ..moments import path_of
from .errors import BakeError


def is_needed(scene: bpy.types.Scene) -> bool:
    """Whether frames have to be written to disk while they are simulated."""
    return scene.tendril.use_disk_cache or scene.tendril.bake_to == "DISK"


def why_not(_obj: bpy.types.Object, scene: bpy.types.Scene) -> str | None:
    if scene.tendril.disk_baked:
        return "The scene is baked on disk already: delete the bake first"
    if path_of(scene) is None:
        return "The file has no place yet: save it first, the bake lies beside it"
    return None


def keep(_uids: list[str], scene: bpy.types.Scene) -> None:
    running = memory.running_of(scene)
    if running is None or running.disk is None or running.disk.frames.stop <= running.last_frame:
        raise BakeError(memory.disk_note(scene) or "The frames are not on disk: switch Disk Cache on and play")
    memory.forget(scene)
    scene.tendril.disk_baked = True


def release(scene: bpy.types.Scene) -> None:
    """The frames are a cache like any other again: they stay while they fit the scene."""
    scene.tendril.disk_baked = False
    memory.forget(scene)


def is_baked(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Whether what the rod shows is settled, in whatever way."""
    return obj.tendril.baked or scene.tendril.disk_baked


def unbaked_rods(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    return [obj for obj in rods_in(scene.objects) if not obj.tendril.baked]
