"""Buttons in Blender's panel that adds physics to an object."""

from __future__ import annotations

import bpy

from ..bridge.colliders import is_chosen
from ..bridge.relevant import KINDS


def draw_add_button(self: bpy.types.Panel, context: bpy.types.Context) -> None:
    """Draws the buttons that add and remove a rod or a rod collider."""
    obj = context.object
    if obj is not None and obj.type == "MESH":
        if is_chosen(obj, context.scene):
            self.layout.operator("tendril.collider_remove", text="Rod Collider", icon="X")
        else:
            self.layout.operator("tendril.collider_add", text="Rod Collider", icon="MOD_PHYSICS")
    if obj is None or obj.type not in KINDS:
        return
    name = "Rod Net" if obj.type == "MESH" else "Rod"
    if obj.tendril.enabled:
        self.layout.operator("tendril.rod_remove", text=name, icon="X")
    else:
        self.layout.operator("tendril.rod_add", text=name, icon="OUTLINER_DATA_CURVES")
        if obj.type == "CURVES":
            self.layout.operator("tendril.simulate_guides", icon="OUTLINER_OB_CURVES")
