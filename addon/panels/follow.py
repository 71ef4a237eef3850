"""The panel of the soft goal towards the drawn shape."""

from __future__ import annotations

import bpy

from ..bridge.rods import is_net, is_rod
from .base import RodPanel


class TENDRIL_PT_follow(RodPanel, bpy.types.Panel):
    bl_label = "Follow Groom"
    bl_parent_id = "TENDRIL_PT_rod"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return is_rod(context.object) and not is_net(context.object)

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(context.object.tendril, "use_follow", text="")

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        obj = context.object
        rod = obj.tendril
        layout.active = rod.use_follow
        animated = layout.row()
        animated.use_property_decorate = True
        animated.prop(rod, "follow_strength")
        layout.prop(rod, "follow_time")
        layout.prop(rod, "follow_at_end")
        if obj.type == "CURVE":
            layout.prop(rod, "follow_by_weight")
        else:
            layout.prop_search(rod, "follow_group", obj.data, "attributes")


CLASSES = (TENDRIL_PT_follow,)
