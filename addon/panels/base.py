"""What all panels of a rod share."""

from __future__ import annotations

import bpy

from ..baking.disk import is_baked
from ..bridge.rods import is_rod


class RodPanel:
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return is_rod(context.object)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False  # what is simulated is read once, at the start frame
        column = layout.column()
        column.enabled = not is_baked(context.object, context.scene)
        self.draw_settings(column, context)

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        raise NotImplementedError
