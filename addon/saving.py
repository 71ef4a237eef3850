"""A file that is saved elsewhere takes its frames on disk along."""

from __future__ import annotations

from pathlib import Path

import bpy

from . import bodies, memory, moments

_before: dict[int, Path | None] = {}  # per scene: where its frames lie as the file is about to be saved


def before_save() -> None:
    # The hidden scene is not to be saved; it is made again when it is needed. Bodies are saved as they are without the add-on.
    bodies.leave()
    _before.clear()
    _before.update({scene.session_uid: moments.path_of(scene) for scene in bpy.data.scenes})


def after_save() -> None:
    for scene in bpy.data.scenes:
        bodies.show(scene, memory.running_of(scene), scene.frame_current, scene.frame_subframe)
        old, new = _before.get(scene.session_uid), moments.path_of(scene)
        shared = scene.tendril
        if old is None or new is None or old == new or not (shared.use_disk_cache or shared.disk_baked):
            continue
        if old.exists():
            with memory.told_of_disk(scene):
                memory.move_disk(scene, old, new)
