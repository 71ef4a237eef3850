"""Panels of the rod itself: what an animator needs first, then shape, material, net and animated factors."""

from __future__ import annotations

import bpy

from ...core import TendrilError
from .. import memory, solver
from ..baking.disk import is_baked
from ..bridge import profiles
from ..bridge.attachments import end_attachment
from ..bridge.colliders import colliders_of
from ..bridge.materials import stiffness_of
from ..bridge.poses import metres_per_unit
from ..bridge.rods import is_net, is_rod, is_sag_free_possible, uses_elements
from ..bridge.scenes import range_of
from ..preset_menu import TENDRIL_PT_presets
from ..status import status_of
from .base import RodPanel, draw_message


class TENDRIL_PT_rod(RodPanel, bpy.types.Panel):
    bl_label = "Rod"

    def draw(self, context: bpy.types.Context) -> None:
        draw_status(self.layout, context)
        RodPanel.draw(self, context)
        self.layout.separator(factor=0.5)
        draw_bake(self.layout, context)

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        obj = context.object
        rod = obj.tendril
        layout.prop(rod, "rod_type")
        if obj.type == "MESH" or rod.radius_from == "GIVEN" or rod.section != "CIRCLE":
            layout.prop(rod, "thickness")
        else:
            layout.prop(rod, "radius_from")
        sliders = layout.column(align=True)
        sliders.use_property_decorate = True
        sliders.prop(rod, "stiffness_factor", slider=True)
        sliders.prop(rod, "damping_factor", slider=True)
        layout.label(text=si_values(obj, context.scene), icon="BLANK1")
        if obj.type != "MESH":
            _draw_end(layout, rod, "start_hold", "START")
            _draw_end(layout, rod, "end_hold", "END")
        else:
            layout.prop_search(rod, "pin_group", obj, "vertex_groups")
        shared = context.scene.tendril
        layout.prop(shared, "colliders")
        layout.prop(shared, "rod_contact")
        if not any(True for _ in colliders_of(context.scene)):
            layout.operator("tendril.ground_add", icon="ADD")
        layout.prop(rod, "look")

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        TENDRIL_PT_presets.draw_panel_header(self.layout)


def draw_status(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """One line, or the progress of the compiler; and notes of the rod below."""
    if solver.is_compiling():
        part = solver.progress()
        layout.progress(factor=part, text=f"Compiling the solver, once: {100 * part:.0f} %")
        return
    status = status_of(context.object, context.scene)
    draw_message(layout, context, status.text, icon=status.icon)
    if status.frame is not None:
        layout.operator("tendril.go_to_frame", text=f"Go to Frame {status.frame}").frame = status.frame
    if status.select:
        layout.operator("tendril.select_affected", icon="RESTRICT_SELECT_OFF")
    for note in memory.rod_notes(context.scene, context.object.tendril.uid):
        draw_message(layout, context, note, icon="INFO")


def draw_bake(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """The button that bakes the rod, or deletes its bake."""
    shared, frames = context.scene.tendril, range_of(context.scene)
    row = layout.row(align=True)
    if is_baked(context.object, context.scene):
        row.operator("tendril.bake_delete", icon="TRASH")
    else:
        text = f"Bake Frames {frames[0]} to {frames[-1]}" if frames else "Bake"
        row.operator("tendril.bake", text=text, icon="REC")
        row.prop(shared, "bake_to", text="", icon_only=True)


def _draw_end(layout: bpy.types.UILayout, rod: bpy.types.PropertyGroup, name: str, where: str) -> None:
    """How an end is held, and what it is attached to."""
    layout.prop(rod, name)
    attachment = end_attachment(rod, where)
    if attachment is not None:
        row = layout.row(align=True)
        row.prop(attachment, "target", text=" ")
        row.prop(attachment, "use_rotation", text="", icon="ORIENTATION_GIMBAL")


def si_values(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """Bending stiffness and duration of a swing as they are simulated; empty if the settings do not give them."""
    rod = obj.tendril
    try:
        stiffness = stiffness_of(rod, metres_per_unit(scene))
    except TendrilError:
        return ""
    bending = f"{min(stiffness.bend_1, stiffness.bend_2) * rod.stiffness_factor:.2g} N m²"
    damped = rod.swing_time > 0.0 and rod.damping_factor > 0.0
    return f"{bending}, swings {rod.swing_time / rod.damping_factor:.2g} s" if damped else f"{bending}, undamped"


class TENDRIL_PT_shape(RodPanel, bpy.types.Panel):
    bl_label = "Shape and Model"
    bl_parent_id = "TENDRIL_PT_rod"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        obj = context.object
        rod, net = obj.tendril, is_net(obj)
        layout.prop(rod, "net_model" if net else "model")
        if uses_elements(obj):
            layout.prop(rod, "elements")
        if obj.type != "MESH":
            layout.prop(rod, "radius_from")
        if obj.type == "CURVES":
            layout.prop(rod, "hairs")
        layout.prop(rod, "section")
        if rod.section != "CIRCLE":
            layout.prop(rod, "flatness")
        layout.prop(rod, "segment_length")
        layout.prop(rod, "use_tilt" if obj.type == "CURVE" else "use_attributes")
        if not (net and obj.type == "CURVE"):
            self._draw_rest(layout, context)

    def _draw_rest(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        rod = context.object.tendril
        layout.prop(rod, "rest_shape")
        if rod.rest_shape == "OBJECT":
            layout.prop(rod, "rest_object")
        if is_sag_free_possible(context.object):
            layout.prop(rod, "use_sag_free")
            sagging = memory.sagging(context.scene, rod.uid)
            if sagging:
                draw_message(layout, context, sagging, icon="INFO")
        if rod.rest_shape == "CURLY":
            layout.prop(rod, "curl_radius")
            layout.prop(rod, "curl_length")
        if not is_net(context.object):
            layout.prop(rod, "initial_twist")
        row = layout.row(align=True)
        row.operator("tendril.set_as_start")
        row.operator("tendril.set_as_rest")


def _draw_stiffness(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Stiffnesses that replace those of the material, and the resulting ones: the fields show too few digits of thin rods."""
    rod = context.object.tendril
    direct = layout.column(align=True)
    direct.prop(rod, "bending_stiffness")
    if rod.section != "CIRCLE":
        direct.prop(rod, "bending_stiffness_2")
    direct.prop(rod, "torsional_stiffness")
    direct.prop(rod, "axial_stiffness")
    try:
        found = stiffness_of(rod, metres_per_unit(context.scene))
    except TendrilError:
        return
    bending = f"{found.bend_1:.4g}" if rod.section == "CIRCLE" else f"{found.bend_1:.4g}, {found.bend_2:.4g}"
    layout.label(text=f"EI {bending}, GJ {found.twist:.4g} N m², EA {found.stretch:.4g} N", icon="BLANK1")


class TENDRIL_PT_material(RodPanel, bpy.types.Panel):
    bl_label = "Material (SI)"
    bl_parent_id = "TENDRIL_PT_rod"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        rod = context.object.tendril
        layout.prop(rod, "material")
        values = layout.column()
        values.enabled = rod.material == "CUSTOM"
        values.prop(rod, "young_gpa" if rod.young_modulus >= 1e9 else "young_mpa")
        values.prop(rod, "poisson_ratio")
        values.prop(rod, "density")
        values.prop(rod, "strands")
        values.prop(rod, "damping_time")
        layout.prop(rod, "swing_time")
        obj = context.object
        _draw_stiffness(layout, context)
        if obj.type == "MESH":
            for name in ("stiffness_group", "radius_group", "mass_group"):
                layout.prop_search(rod, name, obj, "vertex_groups")
            return
        layout.prop(rod, "stiffness_at_end")
        layout.prop(rod, "stiffness_random")
        if rod.stiffness_random > 0.0:
            layout.prop(rod, "random_seed")
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
    bl_label = "Breaking and Nets"
    bl_parent_id = "TENDRIL_PT_rod"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        rod = context.object.tendril
        layout.prop(rod, "break_force")
        layout.prop(rod, "break_moment")
        if not is_net(context.object):
            animated = layout.row()
            animated.use_property_decorate = True
            animated.prop(rod, "cut_influence")
            layout.prop(rod, "cut_at")
        if context.object.type == "CURVE":
            layout.prop(rod, "tie_splines")
            tied = layout.column()
            tied.enabled = rod.tie_splines
            tied.prop(rod, "tie_distance")


class TENDRIL_PT_over_time(RodPanel, bpy.types.Panel):
    bl_label = "Over Time"
    bl_parent_id = "TENDRIL_PT_rod"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        layout.use_property_decorate = True
        for name in ("length_factor", "curl_factor"):
            layout.prop(context.object.tendril, name)


CLASSES = (
    TENDRIL_PT_rod,
    TENDRIL_PT_shape,
    TENDRIL_PT_material,
    TENDRIL_PT_profiles,
    TENDRIL_PT_net,
    TENDRIL_PT_over_time,
)
