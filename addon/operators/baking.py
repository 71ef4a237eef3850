"""Bake, and delete what was baked."""

from __future__ import annotations

from collections.abc import Generator

import bpy

from .. import memory
from ..baking import bodies, disk, exporting
from ..baking.errors import BakeError
from ..baking.shape_keys import delete_bake
from ..baking.simulating import bake, store, why_not_bakeable
from ..bridge.rods import rods_in
from .simulating import Simulates


def _checked(chosen: list[bpy.types.Object | None], scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """What the target of the scene stores of these: frames on disk are those of all rods. Raises BakeError."""
    for obj in chosen:
        problem = why_not_bakeable(obj, scene)
        if problem:
            raise BakeError(problem)
    if scene.tendril.bake_to == "DISK":
        return disk.unbaked_rods(scene)
    return [obj for obj in chosen if obj is not None]


class _Bakes(Simulates):
    def steps(self, context: bpy.types.Context) -> Generator[float, None, int | None]:
        chosen = _checked(self.choose(context), context.scene)
        return bake([obj.tendril.uid for obj in chosen], context.scene.name)

    def done(self, context: bpy.types.Context) -> str:
        if context.scene.tendril.bake_to in exporting.EXTENSIONS:
            return f"Written: {exporting.path_for(context.scene)}"
        return ""

    def choose(self, context: bpy.types.Context) -> list[bpy.types.Object | None]:
        raise NotImplementedError


class TENDRIL_OT_bake(_Bakes, bpy.types.Operator):
    """Simulate all frames of the scene and store this rod's: as shape keys the file plays without the add-on"""

    bl_idname = "tendril.bake"
    bl_label = "Bake"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def choose(self, context: bpy.types.Context) -> list[bpy.types.Object | None]:
        return [context.active_object]


class TENDRIL_OT_bake_all(_Bakes, bpy.types.Operator):
    """Simulate all frames of the scene once and store those of all its rods"""

    bl_idname = "tendril.bake_all"
    bl_label = "Bake All Rods"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def choose(self, context: bpy.types.Context) -> list[bpy.types.Object | None]:
        return [*disk.unbaked_rods(context.scene)] or [None]


class TENDRIL_OT_cache_to_bake(bpy.types.Operator):
    """Store the frames simulated so far, without simulating again"""

    bl_idname = "tendril.cache_to_bake"
    bl_label = "Current Cache to Bake"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            chosen = _checked([context.active_object], context.scene)
            if memory.is_outdated(context.scene):
                raise BakeError("The frames are outdated: play from the start frame first")
            store([obj.tendril.uid for obj in chosen], context.scene)
        except BakeError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class TENDRIL_OT_bake_delete(bpy.types.Operator):
    """Remove the baked shape keys of the rod, or the bake on disk of the scene: it is simulated again"""

    bl_idname = "tendril.bake_delete"
    bl_label = "Delete Bake"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.active_object
        if obj is None or not obj.tendril.enabled or not disk.is_baked(obj, context.scene):
            self.report({"ERROR"}, "No baked rod is active: select one first")
            return {"CANCELLED"}
        if obj.mode == "EDIT":
            self.report({"ERROR"}, f'"{obj.name}" is in Edit Mode: leave it first')
            return {"CANCELLED"}
        if obj.tendril.baked:
            delete_bake(obj)
            bodies.delete_all(context.scene)
        else:
            disk.release(context.scene)
        return {"FINISHED"}


class TENDRIL_OT_bake_delete_all(bpy.types.Operator):
    """Remove the bakes of all rods of the scene, as shape keys and on disk: they are simulated again"""

    bl_idname = "tendril.bake_delete_all"
    bl_label = "Delete All Bakes"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> set[str]:
        baked = [obj for obj in rods_in(context.scene.objects) if obj.tendril.baked and obj.mode != "EDIT"]
        if not baked and not context.scene.tendril.disk_baked:
            self.report({"ERROR"}, "No rod of the scene is baked")
            return {"CANCELLED"}
        for obj in baked:
            delete_bake(obj)
        bodies.delete_all(context.scene)
        disk.release(context.scene)
        return {"FINISHED"}


CLASSES = (
    TENDRIL_OT_bake,
    TENDRIL_OT_bake_all,
    TENDRIL_OT_cache_to_bake,
    TENDRIL_OT_bake_delete,
    TENDRIL_OT_bake_delete_all,
)
