"""Panels of the rod itself: model, cross-section, rest shape, material, net, animated factors."""

from __future__ import annotations

import bpy

from .. import memory, migration, solver
from ..bridge import attachments, profiles, roots
from ..bridge.rods import is_net, is_rod, uses_elements
from ..preset_menu import TENDRIL_PT_presets
from .base import RodPanel, draw_message


class TENDRIL_PT_rod(RodPanel, bpy.types.Panel):
    bl_label = "Rod"

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        rod = context.object.tendril
        if solver.is_compiling():
            layout.progress(
                factor=solver.progress(), text=f"Compiling the solver, once: {100 * solver.progress():.0f} %"
            )
        status = "" if solver.is_compiling() else memory.status(rod.uid)
        lost = attachments.lost_targets(context.object, context.scene)
        for message in (status, *lost, solver.problem(), migration.problem(rod)):
            if message:
                draw_message(layout, context, message)
        kind = context.object.type
        modifier = roots.duplicate_deform_modifier(context.object) if kind == "CURVES" else None
        if modifier:
            draw_message(layout, context, f'The modifier "{modifier}" moves the roots a second time: disable it')
        net = is_net(context.object)
        layout.prop(rod, "net_model" if net else "model")
        if uses_elements(context.object):
            layout.prop(rod, "elements")
        if kind != "MESH":
            layout.prop(rod, "radius_from")
        if kind == "MESH" or rod.radius_from == "GIVEN" or rod.section != "CIRCLE":
            layout.prop(rod, "radius")
        layout.prop(rod, "section")
        if rod.section != "CIRCLE":
            layout.prop(rod, "flatness")
        layout.prop(rod, "segment_length")
        layout.prop(rod, "use_tilt" if kind == "CURVE" else "use_attributes")
        if net and kind == "CURVE":
            return
        layout.prop(rod, "rest_shape")
        if rod.rest_shape == "OBJECT":
            layout.prop(rod, "rest_object")
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
        values.prop(rod, "strands")
        values.prop(rod, "damping_time")
        layout.prop(rod, "swing_time")
        obj = context.object
        if obj.type == "MESH":
            for name in ("stiffness_group", "radius_group", "mass_group"):
                layout.prop_search(rod, name, obj, "vertex_groups")
            return
        layout.prop(rod, "stiffness_at_end")
        if obj.type == "CURVE":
            for name in ("stiffness_by_weight", "radius_by_weight", "mass_by_weight"):
                layout.prop(rod, name)
        else:
            layout.prop_search(rod, "stiffness_group", obj.data, "attributes")
            layout.prop_search(rod, "mass_group", obj.data, "attributes")


class TENDRIL_PT_profiles(RodPanel, bpy.types.Panel):
    bl_label = "Along the Rod"
    bl_parent_id = "TENDRIL_PT_rod"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return is_rod(context.object) and not is_net(context.object)

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(context.object.tendril, "use_profiles", text="")

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        rod = context.object.tendril
        for name in profiles.NAMES:
            node = profiles.node_of(rod, name)
            if node is not None:
                layout.label(text=name)
                layout.template_curve_mapping(node, "mapping")


class TENDRIL_PT_net(RodPanel, bpy.types.Panel):
    bl_label = "Net"
    bl_parent_id = "TENDRIL_PT_rod"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return is_rod(context.object) and context.object.type != "CURVES"

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        rod = context.object.tendril
        if context.object.type == "CURVE":
            layout.prop(rod, "tie_splines")
            layout = layout.column()
            layout.enabled = rod.tie_splines
            layout.prop(rod, "tie_distance")
        layout.prop(rod, "break_force")
        layout.prop(rod, "break_moment")


class TENDRIL_PT_over_time(RodPanel, bpy.types.Panel):
    bl_label = "Over Time"
    bl_parent_id = "TENDRIL_PT_rod"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        layout.use_property_decorate = True
        for name in ("stiffness_factor", "damping_factor", "length_factor", "curl_factor"):
            layout.prop(context.object.tendril, name)


CLASSES = (TENDRIL_PT_rod, TENDRIL_PT_material, TENDRIL_PT_profiles, TENDRIL_PT_net, TENDRIL_PT_over_time)
