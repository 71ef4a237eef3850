"""Panels of the simulation and field settings."""

from __future__ import annotations

import bpy

from ..bridge.fields import WEIGHTS
from .base import RodPanel


class TENDRIL_PT_simulation(RodPanel, bpy.types.Panel):
    bl_label = "Simulation"
    bl_parent_id = "TENDRIL_PT_rod"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        shared = context.scene.tendril
        layout.label(text="Shared by all rods of the scene")
        layout.prop(shared, "substeps")
        layout.prop(shared, "effort")
        animated = layout.column()
        animated.use_property_decorate = True
        animated.prop(shared, "time_scale")
        chosen = animated.row()
        chosen.use_property_decorate = False
        chosen.prop(shared, "inertia_object")
        scales = animated.column()
        scales.active = shared.inertia_object is not None
        scales.prop(shared, "linear_inertia", slider=True)
        scales.prop(shared, "angular_inertia", slider=True)
        animated.prop(shared, "teleport_distance")
        animated.prop(shared, "air_density")
        animated.prop(shared, "wind")
        animated.prop(shared, "drag")


class TENDRIL_PT_fields(RodPanel, bpy.types.Panel):
    bl_label = "Field Weights"
    bl_parent_id = "TENDRIL_PT_rod"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        rod = context.object.tendril
        layout.prop(rod, "field_collection")
        animated = layout.column()
        animated.use_property_decorate = True
        for name in WEIGHTS:
            animated.prop(rod, name, slider=True)


class TENDRIL_PT_shared_fields(RodPanel, bpy.types.Panel):
    bl_label = "Shared Field Weights"
    bl_parent_id = "TENDRIL_PT_rod"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        shared = context.scene.tendril
        layout.label(text="Shared by all rods of the scene")
        layout.prop(shared, "field_collection")
        for name in WEIGHTS:
            row = layout.row()
            row.use_property_decorate = name == "gravity_weight"
            row.prop(shared, name, slider=True)


CLASSES = (TENDRIL_PT_simulation, TENDRIL_PT_fields, TENDRIL_PT_shared_fields)
