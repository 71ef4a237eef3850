"""Calculate, bake, and delete what was baked."""

from __future__ import annotations

import math
import time
from collections.abc import Generator

import bpy

from ...core import TendrilError
from .. import live, memory
from ..baking import disk, exporting
from ..baking.errors import BakeError
from ..baking.shape_keys import delete_bake
from ..baking.simulating import bake, calculate, store, why_not_bakeable
from ..bridge.rods import rods_in
from ..moments import delete, path_of

# How long the window may wait for the next event while a bake runs, s.
PATIENCE = 0.05


def _checked(chosen: list[bpy.types.Object | None], scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """What the target of the scene stores of these: frames on disk are those of all rods. Raises BakeError."""
    for obj in chosen:
        problem = why_not_bakeable(obj, scene)
        if problem:
            raise BakeError(problem)
    return disk.unbaked_rods(scene) if scene.tendril.bake_to == "DISK" else chosen


class _Simulates:
    """Simulates many frames: with progress, time left and ESC in the window, plainly without one."""

    doing = "bakes"

    def execute(self, context: bpy.types.Context) -> set[str]:
        if not self._begin(context):
            return {"CANCELLED"}
        return self._advance(context, math.inf) or {"CANCELLED"}

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        if bpy.app.background or context.window is None:
            return self.execute(context)
        if not self._begin(context):
            return {"CANCELLED"}
        manager = context.window_manager
        self._timer = manager.event_timer_add(0.01, window=context.window)
        manager.progress_begin(0, 100)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if event.type == "ESC":
            self._steps.close()
            self._end(context)
            self.report({"INFO"}, "Cancelled")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        result = self._advance(context, time.monotonic() + PATIENCE)
        if result:
            self._end(context)
            return result
        context.window_manager.progress_update(100.0 * self._progress)
        context.workspace.status_text_set(self._told())
        return {"RUNNING_MODAL"}

    def _advance(self, context: bpy.types.Context, until: float) -> set[str] | None:
        """Bakes on until that time; gives the result when it is done."""
        try:
            while time.monotonic() < until:
                self._progress = next(self._steps)
        except StopIteration as end:
            if end.value is not None:
                self.report({"WARNING"}, f"The motion is not exact since frame {end.value}: try more substeps")
            elif self.done(context):
                self.report({"INFO"}, self.done(context))
            return {"FINISHED"}
        except BakeError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return None

    def _told(self) -> str:
        spent = time.monotonic() - self._began
        left = spent * (1.0 - self._progress) / self._progress if self._progress > 0.0 else 0.0
        return f"Tendril {self.doing}: {100.0 * self._progress:.0f} %, {left:.0f} s left    ESC: cancel"

    def _end(self, context: bpy.types.Context) -> None:
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)

    def _begin(self, context: bpy.types.Context) -> bool:
        live.give_unique_ids()
        self._progress, self._began = 0.0, time.monotonic()
        try:
            self._steps = self.steps(context)
        except BakeError as error:
            self.report({"ERROR"}, str(error))
            return False
        return True

    def steps(self, context: bpy.types.Context) -> Generator[float, None, int | None]:
        raise NotImplementedError

    def done(self, context: bpy.types.Context) -> str:
        """What is to be said in the end."""
        return ""


class _Bakes(_Simulates):
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
        return disk.unbaked_rods(context.scene) or [None]


class TENDRIL_OT_calculate(_Simulates, bpy.types.Operator):
    """Simulate up to the current frame, going on from the frames that are there"""

    bl_idname = "tendril.calculate"
    bl_label = "Calculate to Frame"
    bl_options = {"REGISTER"}  # noqa: RUF012
    doing = "calculates"

    def steps(self, context: bpy.types.Context) -> Generator[float, None, int | None]:
        if not memory.taking_part(context.scene):
            raise BakeError("The scene has no rod that is not baked")
        if context.scene.tendril.disk_baked:
            raise BakeError("The scene is baked on disk: delete the bake first")
        return calculate(context.scene.name, context.scene.frame_current)


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


class TENDRIL_OT_cache_delete(bpy.types.Operator):
    """Throw away the simulated frames of the scene, in memory and on disk. Bakes stay"""

    bl_idname = "tendril.cache_delete"
    bl_label = "Delete Cache"
    bl_options = {"REGISTER"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> set[str]:
        if context.scene.tendril.disk_baked:
            self.report({"ERROR"}, "The frames on disk are a bake: delete the bake first")
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
        disk.release(context.scene)
        return {"FINISHED"}


CLASSES = (
    TENDRIL_OT_bake,
    TENDRIL_OT_bake_all,
    TENDRIL_OT_calculate,
    TENDRIL_OT_cache_to_bake,
    TENDRIL_OT_cache_delete,
    TENDRIL_OT_bake_delete,
    TENDRIL_OT_bake_delete_all,
)
