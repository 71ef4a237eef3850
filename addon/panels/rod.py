"""What a rod is, and what it is made of."""

from __future__ import annotations

import bpy

from .. import memory
from ..preset_menu import TENDRIL_PT_presets
from .base import RodPanel


class TENDRIL_PT_rod(RodPanel, bpy.types.Panel):
    bl_label = "Rod"

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        rod = context.object.tendril
        message = memory.status(rod.uid)
        if message:
            layout.label(text=message, icon="ERROR")
        layout.prop(rod, "model")
        layout.prop(rod, "radius_from")
        if rod.radius_from == "GIVEN":
            layout.prop(rod, "radius")
        layout.prop(rod, "rest_shape")
        if rod.rest_shape == "CURLY":
            layout.prop(rod, "curl_radius")
            layout.prop(rod, "curl_length")

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        TENDRIL_PT_presets.draw_panel_header(self.layout)


class TENDRIL_PT_material(RodPanel, bpy.types.Panel):
    bl_label = "Material"
    bl_parent_id = "TENDRIL_PT_rod"

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        rod = context.object.tendril
        layout.prop(rod, "material")
        values = layout.column()
        values.enabled = rod.material == "CUSTOM"
        values.prop(rod, "young_modulus")
        values.prop(rod, "poisson_ratio")
        values.prop(rod, "density")
        values.prop(rod, "damping_time")
        values.prop(rod, "strands")
        layout.prop(rod, "stiffness_at_end")
        layout.prop(rod, "stiffness_by_weight")


CLASSES = (TENDRIL_PT_rod, TENDRIL_PT_material)
