"""Operators of the add-on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy

from . import attachment, baking, cache, collider, guides, hooks, quick, rod, sample, shape, variants

CLASSES = (
    *rod.CLASSES,
    *attachment.CLASSES,
    *hooks.CLASSES,
    *guides.CLASSES,
    *collider.CLASSES,
    *baking.CLASSES,
    *cache.CLASSES,
    *quick.CLASSES,
    *sample.CLASSES,
    *shape.CLASSES,
    *variants.CLASSES,
)


def _menus() -> list[tuple[Any, Callable[[bpy.types.Menu, bpy.types.Context], None]]]:
    """Menus of Blender, and what is appended to them."""
    return [
        (bpy.types.VIEW3D_MT_add, quick.draw_add_menu),
        (bpy.types.VIEW3D_MT_add, sample.draw_menu),
        (bpy.types.VIEW3D_MT_object, quick.draw_object_menu),
        (bpy.types.VIEW3D_MT_object_quick_effects, quick.draw_quick_effects),
    ]


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    for menu, draw in _menus():
        menu.append(draw)


def unregister() -> None:
    for menu, draw in _menus():
        menu.remove(draw)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
