"""Cache panel: frame range, disk cache and bakes."""

from __future__ import annotations

import bpy

from .. import memory, rendering
from ..baking import exporting
from ..baking.disk import is_baked
from ..bridge.scenes import range_of
from .base import RodPanel, draw_message


class TENDRIL_PT_cache(RodPanel, bpy.types.Panel):
    bl_label = "Cache"
    bl_parent_id = "TENDRIL_PT_rod"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        scene, shared = context.scene, context.scene.tendril
        layout.prop(shared, "use_own_range")
        if shared.use_own_range:
            column = layout.column(align=True)
            column.prop(shared, "cache_start")
            column.prop(shared, "cache_end")
        layout.prop(shared, "use_disk_cache")
        baked = context.object.tendril.baked
        draw_message(layout, context, "Baked in shape keys" if baked else memory.info(scene), "INFO")
        if memory.affected_rods(scene):
            layout.operator("tendril.select_affected", icon="RESTRICT_SELECT_OFF")
        for message in (memory.disk_note(scene), rendering.warning_of(scene)):
            draw_message(layout, context, message)
        self._draw_bake(layout, context)

    def _draw_bake(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        scene, shared, frames = context.scene, context.scene.tendril, range_of(context.scene)
        if is_baked(context.object, scene):
            column = layout.column(align=True)
            column.operator("tendril.bake_delete", icon="TRASH")
        else:
            layout.prop(shared, "bake_to")
            column = layout.column(align=True)
            if shared.bake_to == "SHAPE_KEYS":
                column.prop(shared, "key_step")
                column.prop(shared, "key_tolerance")
            elif shared.bake_to in exporting.EXTENSIONS:
                column.prop(shared, "export_path")
            column = layout.column(align=True)
            text = f"Bake Frames {frames[0]} to {frames[-1]}" if frames else "Bake"
            column.operator("tendril.bake", text=text, icon="REC")
            column.operator("tendril.calculate")
            column.operator("tendril.resume")
            column.operator("tendril.cache_to_bake")
        column.operator("tendril.cache_delete")
        column = layout.column(align=True)
        column.operator("tendril.bake_all")
        column.operator("tendril.bake_delete_all")


CLASSES = (TENDRIL_PT_cache,)
