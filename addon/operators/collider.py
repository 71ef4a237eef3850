"""Operators that add a mesh to the colliders of a scene and remove it."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Vector

from ..bridge.colliders import with_collision_physics
from ..bridge.rods import rods_in

COLLECTION = "Rod Colliders"
GROUND_SIZE = 5.0  # half width of a new ground, divided by the size of the rods
HEIGHT = 0.1  # of rods above z = 0, divided by their size, from which on the ground is placed there


class TENDRIL_OT_collider_add(bpy.types.Operator):
    """Make rods collide with the active mesh, by adding it to the collider collection of the scene"""

    bl_idname = "tendril.collider_add"
    bl_label = "Add Rod Collider"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj, shared = context.active_object, context.scene.tendril
        if obj is None or obj.type != "MESH":
            self.report({"ERROR"}, "The active object is not a mesh: select a mesh first")
            return {"CANCELLED"}
        if shared.colliders is not None and obj in set(shared.colliders.all_objects):
            self.report({"ERROR"}, f'"{obj.name}" is already a collider')
            return {"CANCELLED"}
        if shared.colliders is not None and shared.colliders.library is not None:
            self.report({"ERROR"}, f'"{shared.colliders.name}" is linked from another file: choose a local collection')
            return {"CANCELLED"}
        if shared.colliders is None:
            # Without a collection, all meshes with Collision physics are colliders; the new collection keeps them.
            others = [other for other in with_collision_physics(context.scene) if other != obj]
            shared.colliders = bpy.data.collections.new(COLLECTION)
            context.scene.collection.children.link(shared.colliders)
            for other in others:
                shared.colliders.objects.link(other)
        shared.colliders.objects.link(obj)
        return {"FINISHED"}


class TENDRIL_OT_ground_add(bpy.types.Operator):
    """Add a large plane below the rods of the scene, which they collide with"""

    bl_idname = "tendril.ground_add"
    bl_label = "Add Ground"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> set[str]:
        rod = context.active_object
        found = list(rods_in(context.scene.objects))
        if not found:
            self.report({"ERROR"}, "The scene has no rod: add one first")
            return {"CANCELLED"}
        context.view_layer.update()
        corners = np.array([obj.matrix_world @ Vector(corner) for obj in found for corner in obj.bound_box])
        size = float(np.linalg.norm(corners.max(axis=0) - corners.min(axis=0)))
        lowest = float(corners[:, 2].min())
        ground = bpy.data.meshes.new("Ground")
        half = GROUND_SIZE * size
        ground.from_pydata([(-half, -half, 0), (half, -half, 0), (half, half, 0), (-half, half, 0)], [], [(0, 1, 2, 3)])
        obj = bpy.data.objects.new("Ground", ground)
        # Where people expect it; or as far below rods that lie there as they can hang down.
        obj.location = (*corners.mean(axis=0)[:2], 0.0 if lowest > HEIGHT * size else lowest - size)
        context.scene.collection.objects.link(obj)
        with context.temp_override(active_object=obj):
            done = bpy.ops.tendril.collider_add()
        if rod is not None:
            context.view_layer.objects.active = rod
        return done


class TENDRIL_OT_collider_remove(bpy.types.Operator):
    """Make rods pass through the active mesh, by removing it from the collider collection of the scene"""

    bl_idname = "tendril.collider_remove"
    bl_label = "Remove Rod Collider"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj, shared = context.active_object, context.scene.tendril
        if obj is None or shared.colliders is None or obj.name not in shared.colliders.objects:
            self.report({"ERROR"}, "The active object is not in the collider collection: select a collider first")
            return {"CANCELLED"}
        shared.colliders.objects.unlink(obj)
        if not obj.users_collection:  # otherwise the object would be removed from the scene
            context.scene.collection.objects.link(obj)
        return {"FINISHED"}


CLASSES = (TENDRIL_OT_collider_add, TENDRIL_OT_ground_add, TENDRIL_OT_collider_remove)
