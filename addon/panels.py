"""The Physics tab of a curve."""

from __future__ import annotations

import bpy

from . import memory
from .bridge.colliders import colliders_of, has_collision_physics
from .bridge.scenes import range_of
from .preset_menu import TENDRIL_PT_presets


def draw_add_button(self: bpy.types.Panel, context: bpy.types.Context) -> None:
    """Among Blender's own buttons that add physics to an object."""
    obj = context.object
    if obj is not None and obj.type == "MESH":
        if obj in set(colliders_of(context.scene)):
            self.layout.operator("tendril.collider_remove", text="Rod Collider", icon="X")
        else:
            self.layout.operator("tendril.collider_add", text="Rod Collider", icon="MOD_PHYSICS")
    if obj is None or obj.type != "CURVE":
        return
    if obj.tendril.enabled:
        self.layout.operator("tendril.rod_remove", text="Rod", icon="X")
    else:
        self.layout.operator("tendril.rod_add", text="Rod", icon="OUTLINER_DATA_CURVES")


class RodPanel:
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return context.object is not None and context.object.type == "CURVE" and context.object.tendril.enabled

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False  # what is simulated is read once, at the start frame
        column = layout.column()
        column.enabled = not context.object.tendril.baked
        self.draw_settings(column, context)

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        raise NotImplementedError


class TENDRIL_PT_rod(RodPanel, bpy.types.Panel):
    bl_label = "Rod"

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        rod = context.object.tendril
        message = memory.status(rod.uid)
        if message:
            layout.label(text=message, icon="ERROR")
        layout.prop(rod, "model")
        layout.prop(rod, "radius_from")
        if rod.radius_from == "GIVEN":
            layout.prop(rod, "radius")
        layout.prop(rod, "rest_shape")
        if rod.rest_shape == "CURLY":
            layout.prop(rod, "curl_radius")
            layout.prop(rod, "curl_length")

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        TENDRIL_PT_presets.draw_panel_header(self.layout)


class TENDRIL_PT_material(RodPanel, bpy.types.Panel):
    bl_label = "Material"
    bl_parent_id = "TENDRIL_PT_rod"

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        rod = context.object.tendril
        layout.prop(rod, "material")
        values = layout.column()
        values.enabled = rod.material == "CUSTOM"
        values.prop(rod, "young_modulus")
        values.prop(rod, "poisson_ratio")
        values.prop(rod, "density")
        values.prop(rod, "damping_time")
        values.prop(rod, "strands")
        layout.prop(rod, "stiffness_at_end")
        layout.prop(rod, "stiffness_by_weight")


class TENDRIL_PT_ends(RodPanel, bpy.types.Panel):
    bl_label = "Ends"
    bl_parent_id = "TENDRIL_PT_rod"

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        rod = context.object.tendril
        layout.prop(rod, "start_hold")
        layout.prop(rod, "end_hold")
        layout.prop(rod, "pin_by_weight")


class TENDRIL_UL_attachments(bpy.types.UIList):
    def draw_item(self, _context, layout, _data, item, _icon, _active_data, _active_property, _index=0) -> None:
        layout.prop(item, "name", text="", emboss=False, icon="CONSTRAINT")
        if item.target is None:
            layout.label(text="Choose a target", icon="ERROR")


class TENDRIL_PT_attachments(RodPanel, bpy.types.Panel):
    bl_label = "Attachments"
    bl_parent_id = "TENDRIL_PT_rod"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        rod = context.object.tendril
        row = layout.row()
        row.template_list("TENDRIL_UL_attachments", "", rod, "attachments", rod, "active_attachment", rows=2)
        buttons = row.column(align=True)
        buttons.operator("tendril.attachment_add", text="", icon="ADD")
        buttons.operator("tendril.attachment_remove", text="", icon="REMOVE")
        if not 0 <= rod.active_attachment < len(rod.attachments):
            return
        attachment = rod.attachments[rod.active_attachment]
        layout.prop(attachment, "where")
        layout.prop(attachment, "spline")
        if attachment.where == "POINT":
            layout.prop(attachment, "point")
        layout.prop(attachment, "target")
        target = attachment.target
        if target is not None and target.type == "ARMATURE":
            layout.prop_search(attachment, "bone", target.data, "bones")
        if target is not None and target.type == "MESH":
            layout.prop(attachment, "vertex")
        layout.prop(attachment, "use_rotation")
        animated = layout.row()
        animated.use_property_decorate = True
        animated.prop(attachment, "influence")


class TENDRIL_PT_collisions(RodPanel, bpy.types.Panel):
    bl_label = "Collisions"
    bl_parent_id = "TENDRIL_PT_rod"

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        layout.prop(context.object.tendril, "friction")
        layout.label(text="Shared by all rods of the scene")
        layout.prop(context.scene.tendril, "rod_contact")
        layout.prop(context.scene.tendril, "colliders")
        for note in memory.notes(context.scene):
            layout.label(text=note, icon="ERROR")


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
            layout.label(text="Thickness (outer) and friction (cloth) are those of Collision", icon="INFO")
        else:
            layout.prop(context.object.tendril_collider, "thickness")
            layout.prop(context.object.tendril_collider, "friction")


class TENDRIL_PT_simulation(RodPanel, bpy.types.Panel):
    bl_label = "Simulation"
    bl_parent_id = "TENDRIL_PT_rod"

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        shared = context.scene.tendril
        layout.label(text="Shared by all rods of the scene")
        layout.prop(shared, "substeps")
        layout.prop(shared, "air_density")
        layout.prop(shared, "wind")
        layout.prop(shared, "drag")


class TENDRIL_PT_cache(RodPanel, bpy.types.Panel):
    bl_label = "Cache"
    bl_parent_id = "TENDRIL_PT_rod"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        rod, scene = context.object.tendril, context.scene
        shared = scene.tendril
        layout.prop(shared, "use_own_range")
        if shared.use_own_range:
            column = layout.column(align=True)
            column.prop(shared, "cache_start")
            column.prop(shared, "cache_end")
        layout.prop(shared, "use_disk_cache")
        layout.label(text=memory.info(scene), icon="INFO")
        if memory.disk_note(scene):
            layout.label(text=memory.disk_note(scene), icon="ERROR")
        frames = range_of(scene)
        column = layout.column(align=True)
        if rod.baked:
            count = len(context.object.data.shape_keys.key_blocks) if context.object.data.shape_keys else 0
            column.operator("tendril.bake_delete", text=f"Delete Bake of {count} Frames", icon="TRASH")
        else:
            text = f"Bake Frames {frames[0]} to {frames[-1]}" if frames else "Bake"
            column.operator("tendril.bake", text=text, icon="REC")
            column.operator("tendril.calculate")
            column.operator("tendril.cache_to_bake")
        column.operator("tendril.cache_delete")
        column = layout.column(align=True)
        column.operator("tendril.bake_all")
        column.operator("tendril.bake_delete_all")


CLASSES = (
    TENDRIL_PT_rod,
    TENDRIL_PT_material,
    TENDRIL_PT_ends,
    TENDRIL_UL_attachments,
    TENDRIL_PT_attachments,
    TENDRIL_PT_collisions,
    TENDRIL_PT_simulation,
    TENDRIL_PT_cache,
    TENDRIL_PT_collider,
)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.PHYSICS_PT_add.append(draw_add_button)


def unregister() -> None:
    bpy.types.PHYSICS_PT_add.remove(draw_add_button)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
