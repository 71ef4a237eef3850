"""Operators that make an object a rod and remove it."""

from __future__ import annotations

import uuid

import bpy
import numpy as np
from bpy.props import BoolProperty

from ...core import TendrilError
from .. import breaking, live, memory, migration
from ..baking.shape_keys import delete_bake
from ..bridge import curves, describing, rod_types, rods, tilts
from ..bridge.poses import pose_of
from ..bridge.settings import settings_in


class TENDRIL_OT_rod_add(bpy.types.Operator):
    """Simulate the active object as elastic rods, one per spline, strand or mesh edge"""

    bl_idname = "tendril.rod_add"
    bl_label = "Add Rod"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    fit: BoolProperty(
        name="Fit to Length",
        description="Choose a thickness that suits the length of the curve, and make a curve without a bevel visibly as thick. If "
        "disabled, settings that were not set have their defaults",
        default=True,
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj, scene = context.active_object, context.scene
        problem = rods.why_not_a_rod(obj)
        if problem:
            self.report({"ERROR"}, problem)
            return {"CANCELLED"}
        context.view_layer.update()  # matrix_world is outdated if a script has just moved the object
        settings = obj.tendril
        unset = [name for name in settings_in(settings) if not settings.is_property_set(name)]
        bevel_depth = getattr(obj.data, "bevel_depth", 0.0)
        if obj.type == "CURVES" and "start_hold" in unset:
            settings.start_hold = "CLAMP"  # hair keeps its direction at the root
        if obj.type == "CURVES" and "use_sag_free" in unset:
            settings.use_sag_free = True
        try:
            pose = pose_of(obj.matrix_world, scene)
            if "radius" in unset and bevel_depth > 0.0:  # initial radius: the visible one
                settings.radius = bevel_depth * float(np.cbrt(abs(obj.matrix_world.determinant())))
            if self.fit:
                rod_types.apply_to_new(settings)
            elif "rod_type" in unset:
                rod_types.tell_by_material(settings)
            describing.describe_rod(obj, scene, {settings.uid: pose}, curves.read_rows(obj.data))
        except TendrilError as error:
            for name in unset:
                settings.property_unset(name)
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if self.fit and obj.type == "CURVE":
            rod_types.give_bevel(obj)
        curves.make_3d(obj.data)
        tilts.enable_where_visible(obj)
        curves.keep_drawn(obj.data)
        settings.enabled = True
        settings.format = migration.FORMAT
        settings.uid = uuid.uuid4().hex
        settings.shows_drawn = True
        settings.baked = False
        breaking.mark(obj)
        # The add-on writes to curves during a render; the interface must not read them at the same time.
        scene.render.use_lock_interface = True
        live.record_frame(scene)
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
        memory.clear_status([obj.tendril.uid])
        obj.tendril.enabled = False
        return {"FINISHED"}


CLASSES = (TENDRIL_OT_rod_add, TENDRIL_OT_rod_remove)
