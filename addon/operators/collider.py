"""Operators that add a mesh to the colliders of a scene and remove it."""

from __future__ import annotations

import bpy

from ..bridge.colliders import with_collision_physics

COLLECTION = "Rod Colliders"


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


CLASSES = (TENDRIL_OT_collider_add, TENDRIL_OT_collider_remove)
