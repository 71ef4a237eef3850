"""Operators of the add-on."""

from __future__ import annotations

import bpy

from . import attachment, baking, cache, collider, hooks, rod, sample

CLASSES = (
    *rod.CLASSES,
    *attachment.CLASSES,
    *hooks.CLASSES,
    *collider.CLASSES,
    *baking.CLASSES,
    *cache.CLASSES,
    *sample.CLASSES,
)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.VIEW3D_MT_add.append(sample.draw_menu)


def unregister() -> None:
    bpy.types.VIEW3D_MT_add.remove(sample.draw_menu)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
