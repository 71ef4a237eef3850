"""A file that is saved elsewhere takes its frames on disk along."""

from __future__ import annotations

from pathlib import Path

import bpy

from . import memory, moments
from .bridge import bullet

_before: dict[int, Path | None] = {}  # per scene: where its frames lie as the file is about to be saved


def before_save() -> None:
    bullet.lose()  # the hidden scene is not to be saved; it is made again when it is needed
    _before.clear()
    _before.update({scene.session_uid: moments.path_of(scene) for scene in bpy.data.scenes})


def after_save() -> None:
    for scene in bpy.data.scenes:
        old, new = _before.get(scene.session_uid), moments.path_of(scene)
        shared = scene.tendril
        if old is None or new is None or old == new or not (shared.use_disk_cache or shared.disk_baked):
            continue
        if old.exists():
            with memory.told_of_disk(scene):
                memory.move_disk(scene, old, new)
