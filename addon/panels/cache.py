"""Cache panel: frame range, disk cache and bakes."""

from __future__ import annotations

import bpy

from .. import memory, rendering
from ..baking import exporting
from ..baking.disk import is_baked
from .base import RodPanel, draw_message
from .rod import draw_bake


class TENDRIL_PT_cache(RodPanel, bpy.types.Panel):
    bl_label = "Cache"
    bl_parent_id = "TENDRIL_PT_rod"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = self.splits(context)
        layout.use_property_decorate = False
        scene, shared = context.scene, context.scene.tendril
        layout.prop(shared, "use_own_range")
        layout.prop(shared, "auto_restart")
        if not shared.use_own_range:
            layout.prop(shared, "pre_roll")
        else:
            column = layout.column(align=True)
            column.prop(shared, "cache_start")
            column.prop(shared, "cache_end")
        layout.prop(shared, "use_disk_cache")
        baked = context.object.tendril.baked
        draw_message(layout, context, "Baked in shape keys" if baked else memory.info(scene), "INFO")
        for message in (memory.disk_note(scene), rendering.warning_of(scene)):
            draw_message(layout, context, message)
        self._draw_bake(layout, context)

    def _draw_bake(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        scene, shared = context.scene, context.scene.tendril
        draw_bake(layout, context)
        column = layout.column(align=True)
        if not is_baked(context.object, scene):
            layout.prop(shared, "bake_to")
            column = layout.column(align=True)
            if shared.bake_to == "SHAPE_KEYS":
                column.prop(shared, "key_step")
                column.prop(shared, "key_tolerance")
            elif shared.bake_to in exporting.EXTENSIONS:
                column.prop(shared, "export_path")
            column = layout.column(align=True)
            column.operator("tendril.calculate")
            column.operator("tendril.resume")
            column.operator("tendril.cache_to_bake")
        column.operator("tendril.cache_delete")
        column = layout.column(align=True)
        column.operator("tendril.bake_all")
        column.operator("tendril.bake_delete_all")


CLASSES = (TENDRIL_PT_cache,)
