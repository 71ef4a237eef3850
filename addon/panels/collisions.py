"""Collision panels of rods and of colliders."""

from __future__ import annotations

import bpy

from .. import memory
from ..bridge.colliders import colliders_of, has_collision_physics, is_chosen
from .base import RodPanel, draw_message


class TENDRIL_PT_collisions(RodPanel, bpy.types.Panel):
    bl_label = "Collisions"
    bl_parent_id = "TENDRIL_PT_rod"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        layout.prop(context.object.tendril, "friction")
        if context.scene.rigidbody_world is not None:
            layout.prop(context.scene.tendril, "use_rigid_bodies")
            if context.scene.tendril.use_rigid_bodies:
                layout.prop(context.scene.tendril, "push_bodies")
        for note in memory.notes(context.scene):
            draw_message(layout, context, note)


class TENDRIL_PT_collider(bpy.types.Panel):
    bl_label = "Rod Collider"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = context.object
        return obj is not None and obj.type == "MESH" and obj in set(colliders_of(context.scene))

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        if has_collision_physics(context.object):
            draw_message(
                layout, context, "Thickness (Outer) and friction (Cloth) are set in the Collision panel", "INFO"
            )
        elif context.object.rigid_body is not None and not is_chosen(context.object, context.scene):
            draw_message(layout, context, "Friction is set in the Rigid Body panel", "INFO")
        else:
            layout.prop(context.object.tendril_collider, "thickness")
            layout.prop(context.object.tendril_collider, "friction")


CLASSES = (TENDRIL_PT_collisions, TENDRIL_PT_collider)
