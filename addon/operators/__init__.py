"""What the buttons do."""

from __future__ import annotations

import bpy

from . import attachment, baking, cache, collider, hooks, rod

CLASSES = (*rod.CLASSES, *attachment.CLASSES, *hooks.CLASSES, *collider.CLASSES, *baking.CLASSES, *cache.CLASSES)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
