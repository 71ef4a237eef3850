"""Panels in the Physics tab."""

from __future__ import annotations

import bpy

from . import cache, collisions, follow, guides, holds, overlay, research, rod, simulation, variants
from .add_button import draw_add_button

# Blender shows sub-panels in the order of registration.
_CLASSES = (
    *rod.CLASSES,
    *guides.CLASSES,
    *follow.CLASSES,
    *holds.CLASSES,
    *collisions.CLASSES,
    *simulation.CLASSES,
    *cache.CLASSES,
    *variants.CLASSES,
    *overlay.CLASSES,
    *research.CLASSES,
)


def register() -> None:
    for cls in _CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.PHYSICS_PT_add.append(draw_add_button)


def unregister() -> None:
    bpy.types.PHYSICS_PT_add.remove(draw_add_button)
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
