"""Panels of pins and attachments."""

from __future__ import annotations

import bpy

from .base import RodPanel


class TENDRIL_PT_ends(RodPanel, bpy.types.Panel):
    bl_label = "Pins"
    bl_parent_id = "TENDRIL_PT_rod"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        rod = context.object.tendril
        obj = context.object
        if obj.type == "CURVE":
            layout.prop(rod, "pin_by_weight")
        elif obj.type == "CURVES":
            layout.prop_search(rod, "pin_group", obj.data, "attributes")
        if rod.pin_by_weight or rod.pin_group:
            layout.prop(rod, "clamp_pins")
        animated = layout.row()
        animated.use_property_decorate = True
        animated.prop(rod, "pin_influence")


class TENDRIL_UL_attachments(bpy.types.UIList):
    def draw_item(self, _context, layout, _data, item, _icon, _active_data, _active_property, _index=0) -> None:
        layout.prop(item, "name", text="", emboss=False, icon="CONSTRAINT")
        if item.target is None:
            layout.label(text="Choose a target", icon="ERROR")


class TENDRIL_PT_attachments(RodPanel, bpy.types.Panel):
    bl_label = "Attachments"
    bl_parent_id = "TENDRIL_PT_rod"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        rod = context.object.tendril
        row = layout.row()
        row.template_list("TENDRIL_UL_attachments", "", rod, "attachments", rod, "active_attachment", rows=2)
        buttons = row.column(align=True)
        buttons.operator("tendril.attachment_add", text="", icon="ADD")
        buttons.operator("tendril.attachment_remove", text="", icon="REMOVE")
        if any(modifier.type == "HOOK" for modifier in context.object.modifiers):
            layout.operator("tendril.hooks_to_attachments")
        if not 0 <= rod.active_attachment < len(rod.attachments):
            return
        attachment = rod.attachments[rod.active_attachment]
        layout.prop(attachment, "where")
        layout.prop(attachment, "spline")
        if attachment.where == "POINT":
            layout.prop(attachment, "point")
        layout.prop(attachment, "target")
        target = attachment.target
        if target is not None and target.type == "ARMATURE":
            layout.prop_search(attachment, "bone", target.data, "bones")
        if target is not None and target.type == "MESH":
            layout.prop(attachment, "use_surface")
            if not attachment.use_surface:
                layout.prop(attachment, "vertex")
        layout.prop(attachment, "use_position")
        layout.prop(attachment, "use_rotation")
        if target is not None and target.rigid_body is not None and target.rigid_body.type == "ACTIVE":
            layout.prop(attachment, "use_pull")
        animated = layout.row()
        animated.use_property_decorate = True
        animated.prop(attachment, "influence")


CLASSES = (TENDRIL_PT_ends, TENDRIL_UL_attachments, TENDRIL_PT_attachments)
