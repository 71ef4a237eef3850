"""Operator that converts Hook modifiers to attachments, which act on the simulation instead of the displayed result."""

from __future__ import annotations

import bpy

from ..bridge.curves import spline_kinds
from ..bridge.rods import is_rod


class TENDRIL_OT_hooks_to_attachments(bpy.types.Operator):
    """Convert the Hook modifiers to attachments and disable them. Hooks deform the displayed curve, not the simulated rod"""

    bl_idname = "tendril.hooks_to_attachments"
    bl_label = "Hooks to Attachments"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = context.active_object
        return is_rod(obj) and obj.type != "CURVES" and not obj.tendril.baked

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.active_object
        hooks = [mod for mod in obj.modifiers if mod.type == "HOOK" and mod.object is not None and mod.show_viewport]
        if not hooks:
            self.report({"ERROR"}, f'"{obj.name}" has no enabled Hook modifier with an object')
            return {"CANCELLED"}
        attached = {(item.spline, item.point) for item in obj.tendril.attachments if item.where == "POINT"}
        for hook in hooks:
            for spline, point in dict.fromkeys(_control_of(obj, index) for index in hook.vertex_indices):
                if (spline, point) in attached:  # a point can have only one attachment
                    continue
                attached.add((spline, point))
                attachment = obj.tendril.attachments.add()
                attachment.name, attachment.where = hook.name, "POINT"
                attachment.spline, attachment.point = spline, point
                attachment.target, attachment.bone = hook.object, hook.subtarget
            hook.show_viewport = hook.show_render = False
        return {"FINISHED"}


def _control_of(obj: bpy.types.Object, index: int) -> tuple[int, int]:
    """Spline and control point of a hook's vertex index, which counts the handles of Bezier points."""
    if obj.type == "MESH":
        return 0, index
    for number, kind in enumerate(spline_kinds(obj.data)):
        if index < kind.rows:
            return number, index // 3 if kind.type == "BEZIER" else index
        index -= kind.rows
    return number, kind.count - 1


CLASSES = (TENDRIL_OT_hooks_to_attachments,)
