"""Quick effects: operators that add a rope, a cable, hair or a net ready to play, and their menus."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty
from mathutils import Vector

from ..bridge import hair_shapes, quick_shapes, rod_types
from ..bridge.poses import Array
from ..bridge.rods import why_not_a_rod

HEIGHT = 1.5  # of a new rope above the 3D cursor, divided by its length
PINS = "Pins"  # vertex group of a new net


def show_physics(context: bpy.types.Context) -> None:
    """Shows the panel of the new rod. An editor offers the Physics tab only after it has seen the object."""
    if bpy.app.background or context.screen is None:
        return
    name = context.screen.name

    def turn() -> None:
        screen: Any = bpy.data.screens.get(name)
        for area in screen.areas if screen is not None else ():
            if area.type == "PROPERTIES" and not area.spaces.active.use_pin_id:
                with suppress(TypeError):  # the tab is not there
                    area.spaces.active.context = "PHYSICS"

    bpy.app.timers.register(turn, first_interval=0.1)


class _QuickOperator:
    """Makes rods in Object Mode. A problem is reported, and the scene stays as it was."""

    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.mode == "OBJECT"

    def _make_rod(self, context: bpy.types.Context, obj: bpy.types.Object, is_new: bool = True) -> set[str]:
        """Makes an object a rod, active and alone selected. A new object that can't be one is removed."""
        before = context.view_layer.objects.active
        for other in context.selected_objects:
            other.select_set(False)
        context.view_layer.objects.active = obj
        obj.select_set(True)
        try:
            bpy.ops.tendril.rod_add()
            show_physics(context)
            return {"FINISHED"}
        except RuntimeError as error:
            self.report({"ERROR"}, str(error).removeprefix("Error: ").strip())
            if is_new:
                bpy.data.objects.remove(obj)
                context.view_layer.objects.active = before
            return {"CANCELLED"}


class TENDRIL_OT_quick_rope(_QuickOperator, bpy.types.Operator):
    """Make the active curve a rope; or, if none is selected, add a rope that hangs above the 3D cursor"""

    bl_idname = "tendril.quick_rope"
    bl_label = "Quick Rope"

    rod_type: EnumProperty(name="Type", description="What the rod is", items=rod_types.items())
    length: FloatProperty(
        name="Length",
        description="Length of a new rope. Higher values make it thicker too",
        default=2.0,
        min=1e-3,
        soft_max=100.0,
        subtype="DISTANCE",
    )
    hold_end: BoolProperty(
        name="Hold Both Ends", description="Pin the end of the rope as well, so that it sags instead of swinging"
    )
    add: BoolProperty(
        name="New Rope", description="Add a new rope even if a curve is selected", options={"SKIP_SAVE", "HIDDEN"}
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.active_object
        if not self.add and obj is not None and obj.type == "CURVE" and obj.select_get():
            problem = why_not_a_rod(obj)
            if problem:
                self.report({"ERROR"}, problem)
                return {"CANCELLED"}
            quick_shapes.resample(obj)
            return self._finish(context, obj, is_new=False)
        start = np.array(context.scene.cursor.location) + np.array([0.0, 0.0, HEIGHT * self.length])
        along = np.array([self.length, 0.0, 0.0])
        if self.rod_type == "SPRING":
            points = quick_shapes.coil(start, 0.5 * self.length)
        else:
            points = quick_shapes.straight(start, start + along * (0.9 if self.hold_end else 1.0), 0.1 * self.hold_end)
        label = rod_types.TYPES[self.rod_type].label
        return self._finish(context, quick_shapes.make_curve(label, points, context.scene))

    def _finish(self, context: bpy.types.Context, obj: bpy.types.Object, is_new: bool = True) -> set[str]:
        if is_new or self.properties.is_property_set("rod_type"):
            obj.tendril.rod_type = self.rod_type
        if is_new or not obj.data.bevel_depth:
            obj.tendril.look = rod_types.TYPES[self.rod_type].look
        if self.hold_end:
            obj.tendril.end_hold = "PIN"
        return self._make_rod(context, obj, is_new)


class TENDRIL_OT_quick_cable(_QuickOperator, bpy.types.Operator):
    """Hang a cable between two selected objects, whose ends follow them"""

    bl_idname = "tendril.quick_cable"
    bl_label = "Quick Cable"

    rod_type: EnumProperty(name="Type", description="What the rod is", items=rod_types.items(), default="CABLE")
    slack: FloatProperty(
        name="Slack",
        description="Length of the cable beyond the distance of the objects, divided by it. Higher values make it sag more",
        default=0.1,
        min=0.0,
        soft_max=1.0,
        subtype="FACTOR",
    )
    use_rotation: BoolProperty(
        name="Orientation", description="Make the direction and the twist of both ends follow the objects, like a plug"
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        chosen = list(context.selected_objects)
        if len(chosen) != 2:
            self.report({"ERROR"}, f"{len(chosen)} objects are selected: select the two that the cable connects")
            return {"CANCELLED"}
        context.view_layer.update()
        ends = [np.array(obj.matrix_world.translation) for obj in chosen]
        if np.linalg.norm(ends[1] - ends[0]) < 1e-6:
            self.report({"ERROR"}, f'"{chosen[0].name}" and "{chosen[1].name}" are at the same place: move one of them')
            return {"CANCELLED"}
        ends = [_surface_towards(context, obj, ends[1 - k]) for k, obj in enumerate(chosen)]
        obj = quick_shapes.make_curve("Cable", quick_shapes.straight(ends[0], ends[1], self.slack), context.scene)
        rod = obj.tendril
        rod.rod_type = self.rod_type
        rod.look = rod_types.TYPES[self.rod_type].look
        rod.start_hold = rod.end_hold = "ATTACH"
        for attachment, target in zip(rod.attachments, chosen, strict=True):
            attachment.target, attachment.use_rotation = target, self.use_rotation
            attachment.name = target.name
        return self._make_rod(context, obj)


def _surface_towards(context: bpy.types.Context, obj: bpy.types.Object, other: Array) -> Array:
    """Where the line from a mesh's origin to another point leaves its surface; the origin of other objects."""
    origin = np.array(obj.matrix_world.translation)
    if obj.type != "MESH" or not len(obj.data.polygons):
        return origin
    inverse = obj.matrix_world.inverted_safe()
    start, stop = (inverse @ Vector(p) for p in (other, origin))
    hit, place, _, _ = obj.evaluated_get(context.evaluated_depsgraph_get()).ray_cast(start, stop - start)
    return np.array(obj.matrix_world @ place) if hit else origin


class TENDRIL_OT_quick_hair(_QuickOperator, bpy.types.Operator):
    """Grow hair on the active mesh and simulate it"""

    bl_idname = "tendril.quick_hair"
    bl_label = "Quick Hair"

    count: IntProperty(
        name="Strands", description="Number of strands. Higher values are slower", default=500, min=1, soft_max=20_000
    )
    length: FloatProperty(
        name="Length",
        description="Length of the strands divided by the size of the mesh. Higher values make longer hair",
        default=0.2,
        min=0.001,
        soft_max=1.0,
    )
    points: IntProperty(
        name="Points", description="Points of each strand. Higher values bend more smoothly and are slower", default=10,
        min=3, soft_max=40,
    )  # fmt: skip
    seed: IntProperty(name="Seed", description="Another value gives other roots", min=0)

    def execute(self, context: bpy.types.Context) -> set[str]:
        surface = context.active_object
        if surface is None or surface.type != "MESH":
            self.report({"ERROR"}, "The active object is not a mesh: select the mesh to grow hair on")
            return {"CANCELLED"}
        size = float(np.linalg.norm(np.ptp(np.array([corner[:] for corner in surface.bound_box]), axis=0)))
        hair = quick_shapes.make_hair(surface, self.count, self.length * size, self.points, self.seed)
        if hair is None:
            self.report({"ERROR"}, f'"{surface.name}" has no faces to grow hair on: choose a mesh with faces')
            return {"CANCELLED"}
        context.scene.collection.objects.link(hair)
        context.view_layer.update()
        # A strand stands for a lock: hair of a large mesh would be too thin to be seen.
        hair.tendril.rod_type = rod_types.HAIR
        hair.tendril.hairs = 20
        made = self._make_rod(context, hair)
        if made == {"FINISHED"}:
            hair_shapes.show_thickness(hair)
        return made


class TENDRIL_OT_quick_net(_QuickOperator, bpy.types.Operator):
    """Make the edges of the active mesh a net that hangs on its corners; or, if none is selected, add a net above the 3D cursor"""

    bl_idname = "tendril.quick_net"
    bl_label = "Quick Net"

    size: FloatProperty(
        name="Size", description="Width of a new net", default=2.0, min=1e-3, soft_max=100.0, subtype="DISTANCE"
    )
    pin: BoolProperty(
        name="Pin Corners",
        description="Pin the corners of the net, or the highest points of a closed mesh, by a new vertex group",
        default=True,
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj = context.active_object
        is_new = obj is None or obj.type != "MESH" or not obj.select_get()
        if is_new:
            place = np.array(context.scene.cursor.location) + np.array([0.0, 0.0, HEIGHT * self.size])
            obj = quick_shapes.make_net(self.size, place, context.scene)
        assert obj is not None
        problem = why_not_a_rod(obj)
        if problem:
            self.report({"ERROR"}, problem)
            return {"CANCELLED"}
        if self.pin and len(obj.data.edges):
            quick_shapes.pin_corners(obj, PINS)
            obj.tendril.pin_group = PINS
        return self._make_rod(context, obj, is_new)


QUICK = (TENDRIL_OT_quick_rope, TENDRIL_OT_quick_cable, TENDRIL_OT_quick_hair, TENDRIL_OT_quick_net)


class TENDRIL_MT_add(bpy.types.Menu):
    bl_idname = "TENDRIL_MT_add"
    bl_label = "Rod"

    def draw(self, _context: bpy.types.Context) -> None:
        for name, one in rod_types.TYPES.items():
            if name not in (rod_types.HAIR, rod_types.CUSTOM):
                button = self.layout.operator("tendril.quick_rope", text=one.label, icon=one.icon)
                button.rod_type, button.add = name, True
        self.layout.separator()
        self.layout.operator("tendril.quick_net", text="Net", icon="MESH_GRID")


class TENDRIL_MT_rods(bpy.types.Menu):
    """Operators that have no menu of Blender's own; the search by F3 finds what is in a menu"""

    bl_idname = "TENDRIL_MT_rods"
    bl_label = "Rods"

    def draw(self, _context: bpy.types.Context) -> None:
        layout = self.layout
        layout.operator("tendril.rod_add", text="Simulate as Rope, Hair or Net")
        layout.operator("tendril.rod_remove")
        layout.operator("tendril.collider_add", text="Make Rod Collider")
        layout.operator("tendril.ground_add", text="Add Ground for Rods")
        layout.separator()
        layout.operator("tendril.bake_all")
        layout.operator("tendril.bake_delete_all", text="Delete All Rod Bakes")
        layout.operator("tendril.cache_delete", text="Delete Rod Cache")


def draw_quick_effects(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Appends the quick effects to those of Blender."""
    self.layout.separator()
    for cls in QUICK:
        self.layout.operator(cls.bl_idname)


def draw_object_menu(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    self.layout.menu(TENDRIL_MT_rods.bl_idname)


def draw_add_menu(self: bpy.types.Menu, _context: bpy.types.Context) -> None:
    self.layout.separator()
    self.layout.menu(TENDRIL_MT_add.bl_idname, icon="CURVE_PATH")


CLASSES = (*QUICK, TENDRIL_MT_add, TENDRIL_MT_rods)
