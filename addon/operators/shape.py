"""Operators that take over the shape of the current frame, as the shape to start with or as the shape at rest."""

from __future__ import annotations

import bpy

from .. import edits, memory
from ..baking.disk import is_baked
from ..bridge import curves, scenes
from ..bridge.curves import Rows
from ..bridge.rods import is_net, is_rod

REST = "Rest"  # in the name of the object that defines a rest shape


def _problem(obj: bpy.types.Object | None, scene: bpy.types.Scene) -> str:
    """Why the shape of a rod can't be taken over; empty if it can."""
    if obj is None or not is_rod(obj):
        return "The active object is not a rod: select a rod first"
    if obj.mode != "OBJECT":
        return f'"{obj.name}" is being edited: switch to Object Mode first'
    if is_baked(obj, scene):
        return f'"{obj.name}" is baked: delete the bake first'
    if obj.tendril.shows_drawn:
        return f'"{obj.name}" shows its drawn shape: go to a simulated frame first'
    return ""


def _has_tied_splines(obj: bpy.types.Object) -> bool:
    return is_net(obj) and obj.type == "CURVE"


def _make_rest(obj: bpy.types.Object, rows: Rows) -> None:
    """Makes these rows the rest shape, kept in a hidden object."""
    data = obj.data.copy()
    curves.write_rows(data, rows)
    curves.forget_drawn(data)
    holder = bpy.data.objects.new(f"{obj.name} {REST}", data)
    holder.matrix_world = obj.matrix_world
    holder.hide_viewport = holder.hide_render = True
    for collection in obj.users_collection[:1]:
        collection.objects.link(holder)
    obj.tendril.rest_object, obj.tendril.rest_shape = holder, "OBJECT"
    obj.tendril.use_sag_free = False


class _TakesShape:
    """Takes over the shape of the active rod, or reports why it can't."""

    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj, scene = context.active_object, context.scene
        problem = _problem(obj, scene) or self._own_problem(obj)
        if problem:
            self.report({"ERROR"}, problem)
            return {"CANCELLED"}
        self._take(obj, scene)
        return {"FINISHED"}

    def _own_problem(self, obj: bpy.types.Object) -> str:
        return ""


class TENDRIL_OT_set_as_start(_TakesShape, bpy.types.Operator):
    """Start the simulation with the shape of the current frame. The rest shape stays as it was"""

    bl_idname = "tendril.set_as_start"
    bl_label = "Set as Start"

    def _take(self, obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
        settings, drawn = obj.tendril, curves.drawn_rows(obj.data)
        as_drawn = settings.rest_shape == "AS_DRAWN" and not settings.use_sag_free
        if as_drawn and drawn is not None and not _has_tied_splines(obj):
            _make_rest(obj, drawn)
        curves.keep_drawn(obj.data)
        settings.shows_drawn = True
        edits.forget([settings.uid])
        memory.forget(scene, distrust_disk=True)
        scene.frame_set(scenes.first_frame_of(scene))


class TENDRIL_OT_set_as_rest(_TakesShape, bpy.types.Operator):
    """Make the shape of the current frame the rest shape, which the rod has without forces. It is kept in a hidden object"""

    bl_idname = "tendril.set_as_rest"
    bl_label = "Set as Rest"

    def _own_problem(self, obj: bpy.types.Object) -> str:
        return "Tied splines rest as they are drawn: use Set as Start" if _has_tied_splines(obj) else ""

    def _take(self, obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
        _make_rest(obj, curves.read_rows(obj.data))


CLASSES = (TENDRIL_OT_set_as_start, TENDRIL_OT_set_as_rest)
