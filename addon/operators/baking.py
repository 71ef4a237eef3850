"""Operators that bake rods and delete bakes."""

from __future__ import annotations

from collections.abc import Generator

import bpy

from .. import memory
from ..baking import bodies, disk, exporting
from ..baking.errors import BakeError
from ..baking.shape_keys import delete_bake
from ..baking.simulating import bake, plan, store, why_not_bakeable
from ..bridge.rods import rods_in
from .simulating import SimulationOperator, is_background


def _checked(objects: list[bpy.types.Object | None], scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """The rods to bake: the given objects, or all unbaked rods for a bake on disk. Raises BakeError if one cannot be baked."""
    for obj in objects:
        problem = why_not_bakeable(obj, scene)
        if problem:
            raise BakeError(problem)
    if scene.tendril.bake_to == "DISK":
        return disk.unbaked_rods(scene)
    return [obj for obj in objects if obj is not None]


def _needs_confirmation(operator: bpy.types.Operator, context: bpy.types.Context) -> bool:
    """In a window, asks the user about an export path that the file names; the dialog then starts the operator again."""
    if is_background() or context.window is None or exporting.unconfirmed_path(context.scene) is None:
        return False
    bpy.ops.tendril.confirm_export("INVOKE_DEFAULT", operator=operator.bl_idname)
    return True


class TENDRIL_OT_confirm_export(bpy.types.Operator):
    """Export to the path that is stored in the file, although it is outside of the folder of the file"""

    bl_idname = "tendril.confirm_export"
    bl_label = "Export Outside of the File's Folder"
    bl_options = {"INTERNAL"}  # noqa: RUF012

    operator: bpy.props.StringProperty(options={"SKIP_SAVE"})

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        text = f"The path stored in this file is {exporting.path_for(context.scene)}. Export there?"
        return context.window_manager.invoke_confirm(
            self, event, title=self.bl_label, message=text, confirm_text="Export", icon="WARNING"
        )

    def execute(self, context: bpy.types.Context) -> set[str]:
        memory.confirmed_exports.add(context.scene.tendril.export_path)
        for again in (TENDRIL_OT_bake, TENDRIL_OT_bake_all, TENDRIL_OT_cache_to_bake):
            if again.bl_idname == self.operator:
                getattr(bpy.ops.tendril, again.bl_idname.partition(".")[2])("INVOKE_DEFAULT")
        return {"FINISHED"}


class _BakeOperator(SimulationOperator):
    """Simulates all frames and stores those of `objects_to_bake`."""

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        return {"CANCELLED"} if _needs_confirmation(self, context) else super().invoke(context, event)

    def steps(self, context: bpy.types.Context) -> Generator[float, None, int | None]:
        objects = _checked(self.objects_to_bake(context), context.scene)
        return bake([obj.tendril.uid for obj in objects], context.scene.name)

    def completion_message(self, context: bpy.types.Context) -> str:
        if context.scene.tendril.bake_to in exporting.EXTENSIONS:
            return f"Exported to {exporting.path_for(context.scene)}"
        return ""

    def objects_to_bake(self, context: bpy.types.Context) -> list[bpy.types.Object | None]:
        raise NotImplementedError


class TENDRIL_OT_bake(_BakeOperator, bpy.types.Operator):
    """Simulate all frames and store the motion of this rod. A bake on disk stores all rods of the scene"""

    bl_idname = "tendril.bake"
    bl_label = "Bake"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def objects_to_bake(self, context: bpy.types.Context) -> list[bpy.types.Object | None]:
        return [context.active_object]


class TENDRIL_OT_bake_all(_BakeOperator, bpy.types.Operator):
    """Simulate all frames once and store the motion of all rods of the scene"""

    bl_idname = "tendril.bake_all"
    bl_label = "Bake All Rods"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def steps(self, context: bpy.types.Context) -> Generator[float, None, int | None]:
        planned = plan(disk.unbaked_rods(context.scene), context.scene)
        self._notes = planned.notes
        return bake(planned.uids, context.scene.name, planned.on_disk)

    def completion_message(self, context: bpy.types.Context) -> str:
        return ". ".join(filter(None, [super().completion_message(context), *self._notes]))


class TENDRIL_OT_cache_to_bake(bpy.types.Operator):
    """Bake the frames that are already simulated, without simulating again"""

    bl_idname = "tendril.cache_to_bake"
    bl_label = "Current Cache to Bake"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        return {"CANCELLED"} if _needs_confirmation(self, context) else self.execute(context)

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            objects = _checked([context.active_object], context.scene)
            if memory.is_outdated(context.scene):
                raise BakeError("The cached frames are outdated: play from the start frame first")
            store([obj.tendril.uid for obj in objects], context.scene)
        except BakeError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class TENDRIL_OT_bake_delete(bpy.types.Operator):
    """Remove the baked shape keys of the rod or the bake on disk of the scene, so that it is simulated again"""

    bl_idname = "tendril.bake_delete"
    bl_label = "Delete Bake"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.active_object
        if obj is None or not obj.tendril.enabled or not disk.is_baked(obj, context.scene):
            self.report({"ERROR"}, "The active object is not a baked rod: select one first")
            return {"CANCELLED"}
        if obj.mode == "EDIT":
            self.report({"ERROR"}, f'"{obj.name}" is in Edit Mode: switch to Object Mode first')
            return {"CANCELLED"}
        if obj.tendril.baked:
            delete_bake(obj)
            bodies.delete_keyframes(context.scene)
        else:
            disk.delete_bake(context.scene)
        return {"FINISHED"}


class TENDRIL_OT_bake_delete_all(bpy.types.Operator):
    """Remove the shape key bakes and the disk bake of all rods of the scene, so that they are simulated again"""

    bl_idname = "tendril.bake_delete_all"
    bl_label = "Delete All Bakes"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> set[str]:
        baked = [obj for obj in rods_in(context.scene.objects) if obj.tendril.baked and obj.mode != "EDIT"]
        if not baked and not context.scene.tendril.disk_baked:
            self.report({"ERROR"}, "The scene has no baked rod")
            return {"CANCELLED"}
        for obj in baked:
            delete_bake(obj)
        bodies.delete_keyframes(context.scene)
        disk.delete_bake(context.scene)
        return {"FINISHED"}


CLASSES = (
    TENDRIL_OT_confirm_export,
    TENDRIL_OT_bake,
    TENDRIL_OT_bake_all,
    TENDRIL_OT_cache_to_bake,
    TENDRIL_OT_bake_delete,
    TENDRIL_OT_bake_delete_all,
)
