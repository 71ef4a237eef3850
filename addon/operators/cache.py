"""Operators on the cache: calculate, recalculate and delete frames that are not baked."""

from __future__ import annotations

from collections.abc import Generator

import bpy
from bpy.props import IntProperty

from ...core import TendrilError
from .. import memory
from ..baking.errors import BakeError
from ..baking.simulating import calculate, resume
from ..bridge.rods import is_rod
from ..cache_paths import path_of
from ..moments import delete
from .simulating import SimulationOperator


class TENDRIL_OT_calculate(SimulationOperator, bpy.types.Operator):
    """Simulate up to the current frame, continuing from the last cached frame"""

    bl_idname = "tendril.calculate"
    bl_label = "Calculate to Frame"
    bl_options = {"REGISTER"}  # noqa: RUF012
    activity = "calculating"

    def steps(self, context: bpy.types.Context) -> Generator[float, None, int | None]:
        if not memory.taking_part(context.scene):
            raise BakeError("The scene has no unbaked rod: delete a bake or add a rod first")
        if context.scene.tendril.disk_baked:
            raise BakeError("The scene is baked on disk: delete the bake first")
        return calculate(context.scene.name, context.scene.frame_current)


class TENDRIL_OT_resume(SimulationOperator, bpy.types.Operator):
    """Delete the cached frames after the current one, so that playback simulates them again. Use it after changing the animation \
from this frame on"""

    bl_idname = "tendril.resume"
    bl_label = "Go On from Here"
    bl_options = {"REGISTER"}  # noqa: RUF012
    activity = "calculating"

    def steps(self, context: bpy.types.Context) -> Generator[float, None, int | None]:
        return resume(context.scene.name, context.scene.frame_current)


class TENDRIL_OT_cache_delete(bpy.types.Operator):
    """Delete the cached frames of the scene in memory and on disk. Bakes are kept"""

    bl_idname = "tendril.cache_delete"
    bl_label = "Delete Cache"
    bl_options = {"REGISTER"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> set[str]:
        if context.scene.tendril.disk_baked:
            self.report({"ERROR"}, "The disk cache is a bake: delete the bake first")
            return {"CANCELLED"}
        memory.forget(context.scene)
        path = path_of(context.scene)
        try:
            if path is not None:
                delete(path)
        except TendrilError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class TENDRIL_OT_go_to_frame(bpy.types.Operator):
    """Go to the frame from which the rods can be simulated"""

    bl_idname = "tendril.go_to_frame"
    bl_label = "Go to Frame"
    bl_options = {"INTERNAL"}  # noqa: RUF012

    frame: IntProperty(name="Frame", description="Frame of the scene to go to")

    def execute(self, context: bpy.types.Context) -> set[str]:
        context.scene.frame_set(self.frame)
        return {"FINISHED"}


class TENDRIL_OT_select_affected(bpy.types.Operator):
    """Select the rods whose motion is inaccurate at the current frame, or in any frame"""

    bl_idname = "tendril.select_affected"
    bl_label = "Select Inaccurate Rods"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> set[str]:
        uids = memory.affected_rods(context.scene)
        found = [obj for obj in context.view_layer.objects if is_rod(obj) and obj.tendril.uid in uids]
        if not found:
            self.report({"ERROR"}, "All rods have converged in all frames that were simulated")
            return {"CANCELLED"}
        for obj in context.view_layer.objects:
            obj.select_set(obj in found)
        context.view_layer.objects.active = found[0]
        return {"FINISHED"}


CLASSES = (
    TENDRIL_OT_go_to_frame,
    TENDRIL_OT_select_affected,
    TENDRIL_OT_calculate,
    TENDRIL_OT_resume,
    TENDRIL_OT_cache_delete,
)
