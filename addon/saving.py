"""Saving a file under another name copies its frames on disk."""

from __future__ import annotations

from pathlib import Path

import bpy

from . import bodies, memory
from .bridge.scenes import first_frame_of, last_frame_of
from .cache_paths import path_of
from .showing import display_at

_paths_before: dict[int, Path | None] = {}  # per scene: path of its frames before the file is saved


def before_save() -> None:
    # The hidden scene is not saved; it is made again when it is needed. Bodies are saved as they are without the add-on.
    bodies.release_all()
    _paths_before.clear()
    _paths_before.update({scene.session_uid: path_of(scene) for scene in bpy.data.scenes})


def after_save() -> None:
    for scene in bpy.data.scenes:
        frame, subframe = scene.frame_current, scene.frame_subframe
        first, last = first_frame_of(scene), last_frame_of(scene)
        bodies.show(scene, display_at(memory.running_of(scene), frame, subframe, first, last))
        old, new = _paths_before.get(scene.session_uid), path_of(scene)
        shared = scene.tendril
        if old is None or new is None or old == new or not (shared.use_disk_cache or shared.disk_baked):
            continue
        if old.exists():
            with memory.errors_to_disk_note(scene):
                memory.copy_disk(scene, old, new)
