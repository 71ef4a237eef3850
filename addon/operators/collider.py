"""A mesh becomes something rods collide with, and a mesh they pass through again."""

from __future__ import annotations

import bpy

from ..bridge.colliders import with_collision_physics

COLLECTION = "Rod Colliders"


class TENDRIL_OT_collider_add(bpy.types.Operator):
    """Let rods collide with the active mesh: put it into the scene's collection of colliders"""

    bl_idname = "tendril.collider_add"
    bl_label = "Add Rod Collider"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj, shared = context.active_object, context.scene.tendril
        if obj is None or obj.type != "MESH":
            self.report({"ERROR"}, "No mesh is active: select one first")
            return {"CANCELLED"}
        if shared.colliders is not None and obj in set(shared.colliders.all_objects):
            self.report({"ERROR"}, f'"{obj.name}" is a collider already')
            return {"CANCELLED"}
        if shared.colliders is not None and shared.colliders.library is not None:
            self.report({"ERROR"}, f'"{shared.colliders.name}" is linked from another file: choose another collection')
            return {"CANCELLED"}
        if shared.colliders is None:
            others = [
                other for other in with_collision_physics(context.scene) if other != obj
            ]  # they were colliders till now
            shared.colliders = bpy.data.collections.new(COLLECTION)
            context.scene.collection.children.link(shared.colliders)
            for other in others:
                shared.colliders.objects.link(other)
        shared.colliders.objects.link(obj)
        return {"FINISHED"}


class TENDRIL_OT_collider_remove(bpy.types.Operator):
    """Let rods pass through the active mesh: take it out of the scene's collection of colliders"""

    bl_idname = "tendril.collider_remove"
    bl_label = "Remove Rod Collider"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj, shared = context.active_object, context.scene.tendril
        if obj is None or shared.colliders is None or obj.name not in shared.colliders.objects:
            self.report({"ERROR"}, "No collider is active: select one first")
            return {"CANCELLED"}
        shared.colliders.objects.unlink(obj)
        if not obj.users_collection:  # it would vanish from the scene
            context.scene.collection.objects.link(obj)
        return {"FINISHED"}


CLASSES = (TENDRIL_OT_collider_add, TENDRIL_OT_collider_remove)
