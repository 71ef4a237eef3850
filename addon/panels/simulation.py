"""How the rods of a scene are simulated."""

from __future__ import annotations

import bpy

from .base import RodPanel


class TENDRIL_PT_simulation(RodPanel, bpy.types.Panel):
    bl_label = "Simulation"
    bl_parent_id = "TENDRIL_PT_rod"

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        shared = context.scene.tendril
        layout.label(text="Shared by all rods of the scene")
        layout.prop(shared, "substeps")
        layout.prop(shared, "air_density")
        layout.prop(shared, "wind")
        layout.prop(shared, "drag")


CLASSES = (TENDRIL_PT_simulation,)
