"""Hooks of a curve become attachments, which pull on the rod instead of on what is shown of it."""

from __future__ import annotations

import bpy

from ..bridge.curves import spline_kinds
from ..bridge.rods import is_rod


class TENDRIL_OT_hooks_to_attachments(bpy.types.Operator):
    """Attach the rod where its Hook modifiers hold it, and switch these off: they would move what is shown, not the rod"""

    bl_idname = "tendril.hooks_to_attachments"
    bl_label = "Hooks to Attachments"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = context.active_object
        return is_rod(obj) and obj.type != "CURVES" and not obj.tendril.baked

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.active_object
        hooks = [one for one in obj.modifiers if one.type == "HOOK" and one.object is not None and one.show_viewport]
        if not hooks:
            self.report({"ERROR"}, f'"{obj.name}" has no Hook modifier with an object')
            return {"CANCELLED"}
        held = {(one.spline, one.point) for one in obj.tendril.attachments if one.where == "POINT"}
        for hook in hooks:
            for spline, point in dict.fromkeys(_control_of(obj, index) for index in hook.vertex_indices):
                if (spline, point) in held:  # by a hook before this one: a point has one place
                    continue
                held.add((spline, point))
                attachment = obj.tendril.attachments.add()
                attachment.name, attachment.where = hook.name, "POINT"
                attachment.spline, attachment.point = spline, point
                attachment.target, attachment.bone = hook.object, hook.subtarget
            hook.show_viewport = hook.show_render = False
        return {"FINISHED"}


def _control_of(obj: bpy.types.Object, index: int) -> tuple[int, int]:
    """Spline and control point of what a hook calls by one number: handles of Bezier points count, too."""
    if obj.type == "MESH":
        return 0, index
    for number, kind in enumerate(spline_kinds(obj.data)):
        if index < kind.rows:
            return number, index // 3 if kind.type == "BEZIER" else index
        index -= kind.rows
    return number, kind.count - 1


CLASSES = (TENDRIL_OT_hooks_to_attachments,)
