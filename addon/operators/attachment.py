"""Attachments of a rod: one more, one less."""

from __future__ import annotations

import bpy

from ..bridge.rods import is_rod


class _OfRod:
    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = context.active_object
        return is_rod(obj) and not obj.tendril.baked


class TENDRIL_OT_attachment_add(_OfRod, bpy.types.Operator):
    """Attach the rod to something: to the other selected object, if there is one"""

    bl_idname = "tendril.attachment_add"
    bl_label = "Add Attachment"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> set[str]:
        rod = context.active_object.tendril
        attachment = rod.attachments.add()
        attachment.target = next((obj for obj in context.selected_objects if obj != context.active_object), None)
        attachment.name = attachment.target.name if attachment.target else "Attachment"
        rod.active_attachment = len(rod.attachments) - 1
        return {"FINISHED"}


class TENDRIL_OT_attachment_remove(_OfRod, bpy.types.Operator):
    """Remove the attachment that is shown below the list"""

    bl_idname = "tendril.attachment_remove"
    bl_label = "Remove Attachment"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> set[str]:
        rod = context.active_object.tendril
        if not 0 <= rod.active_attachment < len(rod.attachments):
            self.report({"ERROR"}, "No attachment is chosen: click one in the list")
            return {"CANCELLED"}
        rod.attachments.remove(rod.active_attachment)
        rod.active_attachment = max(0, min(rod.active_attachment, len(rod.attachments) - 1))
        return {"FINISHED"}


CLASSES = (TENDRIL_OT_attachment_add, TENDRIL_OT_attachment_remove)
