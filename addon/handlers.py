"""Handlers of Blender's events. Each calls one function."""

from __future__ import annotations

import bpy
from bpy.app.handlers import persistent

from . import live, rendering, saving


@persistent
def frame_change_pre(scene: bpy.types.Scene, _depsgraph: object = None) -> None:
    live.before_frame_change(scene)


@persistent
def frame_change_post(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    live.after_frame_change(scene, depsgraph)


@persistent
def depsgraph_update_post(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    live.after_update(scene, depsgraph)


@persistent
def load_pre(_file: object = None, _unused: object = None) -> None:
    live.before_replacement()


@persistent
def load_post(_file: object = None, _unused: object = None) -> None:
    live.after_load()


@persistent
def save_pre(_file: object = None, _unused: object = None) -> None:
    live.accept_edits()
    saving.before_save()


@persistent
def save_post(_file: object = None, _unused: object = None) -> None:
    saving.after_save()


@persistent
def undo_pre(_scene: object, _unused: object = None) -> None:
    live.before_replacement()


@persistent
def undo_post(scene: bpy.types.Scene, _unused: object = None) -> None:
    live.after_undo(scene, bpy.context.evaluated_depsgraph_get())


@persistent
def render_init(scene: bpy.types.Scene, _unused: object = None) -> None:
    rendering.begin(scene)


@persistent
def render_end(scene: bpy.types.Scene, _unused: object = None) -> None:
    rendering.end(scene)


_HANDLERS = (
    ("frame_change_pre", frame_change_pre),
    ("frame_change_post", frame_change_post),
    ("depsgraph_update_post", depsgraph_update_post),
    ("load_pre", load_pre),
    ("load_post", load_post),
    ("save_pre", save_pre),
    ("save_post", save_post),
    ("undo_pre", undo_pre),
    ("redo_pre", undo_pre),
    ("undo_post", undo_post),
    ("redo_post", undo_post),
    ("render_init", render_init),
    ("render_complete", render_end),
    ("render_cancel", render_end),
)


def register() -> None:
    for event, handler in _HANDLERS:
        getattr(bpy.app.handlers, event).append(handler)


def unregister() -> None:
    for event, handler in _HANDLERS:
        getattr(bpy.app.handlers, event).remove(handler)
