"""Operators that add and remove attachments of a rod."""

from __future__ import annotations

import bpy

from ..bridge.attachments import end_attachment
from ..bridge.rods import is_rod


class _RodOperator:
    """Operator that is available for rods without baked shape keys."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = context.active_object
        return is_rod(obj) and not obj.tendril.baked


class TENDRIL_OT_attachment_add(_RodOperator, bpy.types.Operator):
    """Add an attachment of the rod. If another object is selected, it becomes the target"""

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


class TENDRIL_OT_attachment_remove(_RodOperator, bpy.types.Operator):
    """Remove the attachment that is selected in the list"""

    bl_idname = "tendril.attachment_remove"
    bl_label = "Remove Attachment"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> set[str]:
        rod = context.active_object.tendril
        if not 0 <= rod.active_attachment < len(rod.attachments):
            self.report({"ERROR"}, "No attachment is selected: select one in the list")
            return {"CANCELLED"}
        where = rod.attachments[rod.active_attachment].where
        rod.attachments.remove(rod.active_attachment)
        for end, hold in (("START", "start_hold"), ("END", "end_hold")):
            if where == end and getattr(rod, hold) == "ATTACH" and end_attachment(rod, end) is None:
                setattr(rod, hold, "PIN")
        rod.active_attachment = max(0, min(rod.active_attachment, len(rod.attachments) - 1))
        return {"FINISHED"}


CLASSES = (TENDRIL_OT_attachment_add, TENDRIL_OT_attachment_remove)
