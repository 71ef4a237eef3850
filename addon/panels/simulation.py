"""How the rods of a scene are simulated."""

from __future__ import annotations

import bpy

from ..bridge.fields import KINDS
from .base import RodPanel


class TENDRIL_PT_simulation(RodPanel, bpy.types.Panel):
    bl_label = "Simulation"
    bl_parent_id = "TENDRIL_PT_rod"

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        shared = context.scene.tendril
        layout.label(text="Shared by all rods of the scene")
        layout.prop(shared, "substeps")
        animated = layout.column()
        animated.use_property_decorate = True
        animated.prop(shared, "air_density")
        animated.prop(shared, "wind")
        animated.prop(shared, "drag")


class TENDRIL_PT_fields(RodPanel, bpy.types.Panel):
    bl_label = "Field Weights"
    bl_parent_id = "TENDRIL_PT_rod"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        shared = context.scene.tendril
        layout.label(text="Shared by all rods of the scene")
        layout.prop(shared, "field_collection")
        animated = layout.row()
        animated.use_property_decorate = True
        animated.prop(shared, "gravity_weight", slider=True)
        for name in ("field", *KINDS.values()):
            layout.prop(shared, f"{name}_weight", slider=True)


CLASSES = (TENDRIL_PT_simulation, TENDRIL_PT_fields)
