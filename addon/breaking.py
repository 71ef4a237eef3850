"""Rods that can break: what is torn is not drawn.

Control points of curves beside a tear have the radius zero; a modifier deletes the torn edges of meshes, by an attribute. Both are
a part of the rows that are cached and baked.
"""

from __future__ import annotations

import bpy

from . import looks
from .bridge import curves, points
from .bridge.rods import can_break


def mark(obj: bpy.types.Object) -> None:
    """Prepares the data of a rod object to show tears, or not. Call it while the data shows its drawn shape."""
    data, breaks = obj.data, can_break(obj)
    if data.library is not None or not obj.tendril.shows_drawn or obj.tendril.baked:
        return
    if obj.type == "CURVE":
        curves.set_breaks(data, breaks)
    elif obj.type == "MESH" and points.marks_broken(data) != breaks:
        points.set_broken(data, breaks)
        curves.keep_drawn(data)
        looks.hide_broken(obj, breaks)
