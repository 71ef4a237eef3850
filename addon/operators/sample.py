"""Samples: scenes that are ready to play, made in a scene of their own."""

from __future__ import annotations

import bpy
from bpy.props import EnumProperty

from ...sample_scenes.samples import TABLE


class TENDRIL_OT_sample_add(bpy.types.Operator):
    """Make a new scene in this file that shows what rods can do, ready to play. The scenes there are stay as they are"""

    bl_idname = "tendril.sample_add"
    bl_label = "Add Rod Sample"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012, as Blender wants it

    name: EnumProperty(
        name="Sample",
        description="What the new scene shows",
        items=[(sample.name, sample.title, sample.shows) for sample in TABLE.values()],
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        if context.window is None:
            self.report({"ERROR"}, "A sample is made in a window: there is none")
            return {"CANCELLED"}
        if context.mode != "OBJECT":
            self.report({"ERROR"}, "Leave Edit Mode first: a sample is made in Object Mode")
            return {"CANCELLED"}
        sample, before = TABLE[self.name], context.window.scene
        context.window.scene = bpy.data.scenes.new(sample.title)
        try:
            sample.build()
        except RuntimeError as error:  # of one of Blender's own operators
            made = context.window.scene
            context.window.scene = before
            bpy.data.scenes.remove(made)
            self.report({"ERROR"}, f"{sample.title} could not be made: {error}")
            return {"CANCELLED"}
        context.window.scene.frame_set(1)
        return {"FINISHED"}


class TENDRIL_MT_samples(bpy.types.Menu):
    bl_idname = "TENDRIL_MT_samples"
    bl_label = "Rod Sample"

    def draw(self, _context: bpy.types.Context) -> None:
        for sample in TABLE.values():
            self.layout.operator(TENDRIL_OT_sample_add.bl_idname, text=sample.title).name = sample.name


def draw_menu(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """At the end of Blender's menu Add."""
    self.layout.separator()
    self.layout.menu(TENDRIL_MT_samples.bl_idname, icon="OUTLINER_DATA_CURVES")


CLASSES = (TENDRIL_OT_sample_add, TENDRIL_MT_samples)
