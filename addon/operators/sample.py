"""Operator and menu that add sample scenes."""

from __future__ import annotations

import bpy
from bpy.props import EnumProperty

from ...sample_scenes.samples import TABLE
from ...sample_scenes.stage import look_through_camera


class TENDRIL_OT_sample_add(bpy.types.Operator):
    """Add a new scene with a sample that is ready to play. Existing scenes are not changed"""

    bl_idname = "tendril.sample_add"
    bl_label = "Add Rod Sample"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    name: EnumProperty(
        name="Sample",
        description="Sample to add",
        items=[(sample.name, sample.title, sample.shows) for sample in TABLE.values()],
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        if context.window is None:
            self.report({"ERROR"}, "Samples need a window: run Blender without -b")
            return {"CANCELLED"}
        if context.mode != "OBJECT":
            self.report({"ERROR"}, "Samples are added in Object Mode: switch to Object Mode first")
            return {"CANCELLED"}
        sample, before = TABLE[self.name], context.window.scene
        context.window.scene = bpy.data.scenes.new(sample.title)
        try:
            sample.build()
        except RuntimeError as error:  # raised by one of Blender's operators
            new = context.window.scene
            context.window.scene = before
            bpy.data.scenes.remove(new)
            self.report({"ERROR"}, f"The sample {sample.title} could not be created: {error}")
            return {"CANCELLED"}
        context.window.scene.frame_set(1)
        look_through_camera([context.window.screen], shaded=False)
        return {"FINISHED"}


class TENDRIL_MT_samples(bpy.types.Menu):
    bl_idname = "TENDRIL_MT_samples"
    bl_label = "Rod Sample"

    def draw(self, _context: bpy.types.Context) -> None:
        for research in (False, True):  # experiments of the papers come last, below a line
            if research:
                self.layout.separator()
            for sample in TABLE.values():
                if (sample.module == "research") == research:
                    self.layout.operator(TENDRIL_OT_sample_add.bl_idname, text=sample.title).name = sample.name


def draw_menu(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Appends the samples to Blender's Add menu."""
    self.layout.menu(TENDRIL_MT_samples.bl_idname, icon="OUTLINER_DATA_CURVES")


CLASSES = (TENDRIL_OT_sample_add, TENDRIL_MT_samples)
