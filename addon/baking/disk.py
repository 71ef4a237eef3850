"""Bakes to disk: the disk cache is shown regardless of the settings and is not replaced until the bake is deleted."""

from __future__ import annotations

import bpy

from .. import memory
from ..bridge.rods import rods_in
from ..cache_paths import path_of
from .errors import BakeError


def is_needed(scene: bpy.types.Scene) -> bool:
    """Whether frames must be written to disk during the simulation."""
    return scene.tendril.use_disk_cache or scene.tendril.bake_to == "DISK"


def why_not_bakeable(_obj: bpy.types.Object, scene: bpy.types.Scene) -> str | None:
    """Message why the scene cannot be baked to disk; None if it can."""
    if scene.tendril.disk_baked:
        return "The scene is already baked on disk: delete the bake first"
    if path_of(scene) is None:
        return "The disk cache is stored next to the .blend file, which is not saved yet: save it first"
    return None


def make_bake(_uids: list[str], scene: bpy.types.Scene) -> None:
    """Makes the disk cache of the scene a bake. Raises BakeError if frames are missing on disk."""
    running = memory.running_of(scene)
    if running is None or running.disk is None or running.disk.frames.stop <= running.last_frame:
        raise BakeError(
            memory.disk_note(scene) or "The frames are not on disk: enable Disk Cache and play from the start frame"
        )
    memory.forget(scene)
    scene.tendril.disk_baked = True


def delete_bake(scene: bpy.types.Scene) -> None:
    """Makes the bake an ordinary disk cache again, which is valid as long as it matches the scene."""
    scene.tendril.disk_baked = False
    memory.forget(scene)


def is_baked(obj: bpy.types.Object, scene: bpy.types.Scene) -> bool:
    """Whether the rod is baked to shape keys or on disk."""
    return obj.tendril.baked or scene.tendril.disk_baked


def unbaked_rods(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    return [obj for obj in rods_in(scene.objects) if not obj.tendril.baked]
