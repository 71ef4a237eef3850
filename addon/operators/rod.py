"""Operators that make an object a rod and remove it."""

from __future__ import annotations

import uuid

import bpy
import numpy as np

from ...core import TendrilError
from .. import live, memory, migration
from ..baking.shape_keys import delete_bake
from ..bridge import curves, describing, rods, tilts
from ..bridge.poses import pose_of


class TENDRIL_OT_rod_add(bpy.types.Operator):
    """Simulate the active object as elastic rods, one per spline, strand or mesh edge"""

    bl_idname = "tendril.rod_add"
    bl_label = "Add Rod"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj, scene = context.active_object, context.scene
        problem = rods.why_not_a_rod(obj)
        if problem:
            self.report({"ERROR"}, problem)
            return {"CANCELLED"}
        context.view_layer.update()  # matrix_world is outdated if a script has just moved the object
        settings = obj.tendril
        bevel_depth = getattr(obj.data, "bevel_depth", 0.0)
        use_bevel = not settings.is_property_set("radius") and bevel_depth > 0.0
        if obj.type == "CURVES" and not settings.is_property_set("start_hold"):
            settings.start_hold = "CLAMP"  # hair keeps its direction at the root
        try:
            pose = pose_of(obj.matrix_world, scene)
            if use_bevel:  # initial radius: the visible one
                settings.radius = bevel_depth * float(np.cbrt(abs(obj.matrix_world.determinant())))
            describing.describe_rod(obj, scene, {settings.uid: pose}, curves.read_rows(obj.data))
        except TendrilError as error:
            if use_bevel:
                settings.property_unset("radius")
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        curves.make_3d(obj.data)
        tilts.follow_where_seen(obj)
        curves.keep_drawn(obj.data)
        settings.enabled = True
        settings.format = migration.FORMAT
        settings.uid = uuid.uuid4().hex
        settings.shows_drawn = True
        settings.baked = False
        # The add-on writes to curves during a render; the interface must not read them at the same time.
        scene.render.use_lock_interface = True
        live.stand(scene)
        return {"FINISHED"}


class TENDRIL_OT_rod_remove(bpy.types.Operator):
    """Stop simulating the object and restore its drawn shape"""

    bl_idname = "tendril.rod_remove"
    bl_label = "Remove Rod"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.active_object
        if not rods.is_rod(obj):
            self.report({"ERROR"}, "The active object is not a rod: select a rod first")
            return {"CANCELLED"}
        if obj.library is not None or obj.data.library is not None:
            self.report({"ERROR"}, f'"{obj.name}" is linked from another file: make it local first')
            return {"CANCELLED"}
        if obj.mode == "EDIT":
            self.report({"ERROR"}, f'"{obj.name}" is in Edit Mode: switch to Object Mode first')
            return {"CANCELLED"}
        if obj.tendril.baked:
            delete_bake(obj)
        if not obj.tendril.shows_drawn:
            curves.restore_drawn(obj.data)
        curves.restore_dimensions(obj.data)
        curves.forget_drawn(obj.data)
        memory.hush([obj.tendril.uid])
        obj.tendril.enabled = False
        return {"FINISHED"}


CLASSES = (TENDRIL_OT_rod_add, TENDRIL_OT_rod_remove)
