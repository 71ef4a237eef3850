"""The panel of guides and children of hair."""

from __future__ import annotations

import bpy

from ..bridge import roots
from ..bridge.rods import is_rod
from .base import RodPanel, draw_message


class TENDRIL_PT_guides(RodPanel, bpy.types.Panel):
    bl_label = "Guides"
    bl_parent_id = "TENDRIL_PT_rod"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return is_rod(context.object) and context.object.type == "CURVES"

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(context.object.tendril, "use_guides", text="")

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        obj = context.object
        rod = obj.tendril
        settings = layout.column()
        settings.active = rod.use_guides
        settings.prop_search(rod, "guide_group", obj.data, "attributes")
        if not rod.guide_group:
            settings.prop(rod, "guide_count")
        settings.prop(rod, "guide_influences")
        settings.prop(rod, "guide_reach")
        settings.prop_search(rod, "clump_group", obj.data, "attributes")
        if rod.use_guides and roots.surface_of(obj) is None:
            draw_message(
                layout,
                context,
                "The hair has no surface: its roots follow the object. Set one in the Curves data tab",
                "INFO",
            )
        layout.operator("tendril.interpolate_hair")


CLASSES = (TENDRIL_PT_guides,)
