"""Operators for hair with many strands: simulate guides, and let Blender interpolate more strands."""

from __future__ import annotations

from pathlib import Path

import bpy
from bpy.props import IntProperty

from ..bridge import rods
from ..bridge.modifier_inputs import inputs_called, set_input

INTERPOLATE = "Interpolate Hair Curves"  # Blender's node group, an asset that comes with it


class TENDRIL_OT_simulate_guides(bpy.types.Operator):
    """Simulate some strands of the active hair, spread evenly, and let all others follow them"""

    bl_idname = "tendril.simulate_guides"
    bl_label = "Simulate Guides"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    count: IntProperty(name="Count", description="Number of guides", default=300, min=1, soft_max=5000)

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.active_object
        if obj is None or obj.type != "CURVES":
            self.report({"ERROR"}, "The active object is not hair: select a Hair Curves object first")
            return {"CANCELLED"}
        before = obj.tendril.use_guides, obj.tendril.guide_count
        obj.tendril.use_guides, obj.tendril.guide_count = True, self.count
        if not rods.is_rod(obj):
            try:
                bpy.ops.tendril.rod_add()
            except RuntimeError as error:
                obj.tendril.use_guides, obj.tendril.guide_count = before
                self.report({"ERROR"}, str(error).removeprefix("Error: ").strip())
                return {"CANCELLED"}
        return {"FINISHED"}


class TENDRIL_OT_interpolate_hair(bpy.types.Operator):
    """Add Blender's modifier Interpolate Hair Curves, which makes many strands between those that are simulated"""

    bl_idname = "tendril.interpolate_hair"
    bl_label = "Interpolate Hair Curves"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.active_object
        if obj is None or obj.type != "CURVES":
            self.report({"ERROR"}, "The active object is not hair: select a Hair Curves object first")
            return {"CANCELLED"}
        if obj.data.surface is None:
            self.report({"ERROR"}, f'"{obj.name}" has no surface to grow hair on: set one in the Curves data tab')
            return {"CANCELLED"}
        group = _node_group()
        if group is None:
            self.report({"ERROR"}, f"This Blender has no asset {INTERPOLATE}: install Blender's Essentials assets")
            return {"CANCELLED"}
        modifier = obj.modifiers.new(INTERPOLATE, "NODES")
        modifier.node_group = group
        _set_input(modifier, "Surface", obj.data.surface)
        return {"FINISHED"}


def _node_group() -> bpy.types.NodeTree | None:
    """Blender's node group, appended from its assets unless the file has it already."""
    if INTERPOLATE in bpy.data.node_groups:
        return bpy.data.node_groups[INTERPOLATE]
    for kind in ("LOCAL", "SYSTEM"):
        for path in sorted(Path(bpy.utils.resource_path(kind)).glob("datafiles/assets/**/procedural_hair*.blend")):
            with bpy.data.libraries.load(str(path)) as (source, target):
                if INTERPOLATE in source.node_groups:
                    target.node_groups = [INTERPOLATE]
            if INTERPOLATE in bpy.data.node_groups:
                return bpy.data.node_groups[INTERPOLATE]
    return None


def _set_input(modifier: bpy.types.Modifier, name: str, value: object) -> None:
    """Sets the inputs of this name that take such a value; Blender has two called Surface."""
    for item in inputs_called(modifier, name):
        if item.socket_type == "NodeSocketObject":
            set_input(modifier, item.identifier, value)


CLASSES = (TENDRIL_OT_simulate_guides, TENDRIL_OT_interpolate_hair)
