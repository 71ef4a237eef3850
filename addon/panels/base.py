"""What all panels of a rod share."""

from __future__ import annotations

import textwrap

import bpy

from ..baking.disk import is_baked
from ..bridge.rods import is_rod

LETTER, MARGIN = 6.5, 60.0  # pixels, at a scale of one: how wide letters are on average, and what is no room for them


def say(layout: bpy.types.UILayout, context: bpy.types.Context, message: str, icon: str = "ERROR") -> None:
    """A sentence, in as many lines as it needs: Blender cuts off what does not fit in one."""
    scale = context.preferences.system.ui_scale or 1.0  # it is not known without a window
    room = (context.region.width if context.region else 300) / scale - MARGIN
    lines = layout.column(align=True)
    for number, line in enumerate(textwrap.wrap(message[:1].upper() + message[1:], max(20, int(room / LETTER)))):
        lines.label(text=line, icon="BLANK1" if number else icon)


class RodPanel:
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return is_rod(context.object)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False  # what is simulated is read once, at the start frame
        column = layout.column()
        column.enabled = not is_baked(context.object, context.scene)
        self.draw_settings(column, context)

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        raise NotImplementedError
