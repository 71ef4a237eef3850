"""Panel with settings for comparisons with the papers."""

from __future__ import annotations

import bpy

from ..bridge.research import CORDE, has_constants
from ..bridge.rods import uses_elements
from .base import RodPanel


class TENDRIL_PT_research(RodPanel, bpy.types.Panel):
    bl_label = "Research"
    bl_parent_id = "TENDRIL_PT_rod"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        shared, rod = context.scene.tendril, context.object.tendril
        layout.label(text="Shared by all rods of the scene")
        layout.prop(shared, "integrator")
        layout.prop(shared, "contact_solver")
        if uses_elements(context.object):
            layout.prop(rod, "element_kind")
        if has_constants(context.object):
            constants = layout.column(align=True)
            for name in CORDE.values():
                constants.prop(rod, name)


CLASSES = (TENDRIL_PT_research,)
