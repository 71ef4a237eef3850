"""Blender's events. Each calls one function."""

from __future__ import annotations

import bpy
from bpy.app.handlers import persistent

from . import live


@persistent
def frame_change_pre(scene: bpy.types.Scene, _depsgraph: object = None) -> None:
    live.before_frame_change(scene)


@persistent
def frame_change_post(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    live.after_frame_change(scene, depsgraph)


@persistent
def load_post(_file: object = None, _unused: object = None) -> None:
    live.after_load()


@persistent
def undo_post(scene: bpy.types.Scene, _unused: object = None) -> None:
    live.after_undo(scene, bpy.context.evaluated_depsgraph_get())


_HANDLERS = (
    ("frame_change_pre", frame_change_pre),
    ("frame_change_post", frame_change_post),
    ("load_post", load_post),
    ("undo_post", undo_post),
    ("redo_post", undo_post),
)


def register() -> None:
    for event, handler in _HANDLERS:
        getattr(bpy.app.handlers, event).append(handler)


def unregister() -> None:
    for event, handler in _HANDLERS:
        getattr(bpy.app.handlers, event).remove(handler)
