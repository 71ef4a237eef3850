"""Base class of the rod panels, and wrapped messages."""

from __future__ import annotations

import textwrap

import bpy

from ..baking.disk import is_baked
from ..bridge.rods import is_rod

# Pixels at a UI scale of one: average width of a character, and width that is not available for text.
_CHARACTER_WIDTH, _MARGIN = 6.5, 60.0

# Pixels likewise, of a region in which the longest label of a sub-panel fits into the left two fifths.
_WIDTH_OF_LABELS = 390.0


def draw_message(layout: bpy.types.UILayout, context: bpy.types.Context, message: str, icon: str = "ERROR") -> None:
    """Draws a message wrapped to the width of the panel, because Blender truncates long labels."""
    scale = context.preferences.system.ui_scale or 1.0  # zero without a window
    width = (context.region.width if context.region else 300) / scale - _MARGIN
    column = layout.column(align=True)
    for number, line in enumerate(
        textwrap.wrap(message[:1].upper() + message[1:], max(20, int(width / _CHARACTER_WIDTH)))
    ):
        column.label(text=line, icon="BLANK1" if number else icon)


def fits_labels(context: bpy.types.Context) -> bool:
    """Whether the region is wide enough for labels beside their settings. Otherwise they are drawn inside or above them, because
    Blender truncates them."""
    scale = context.preferences.system.ui_scale or 1.0
    return context.region is not None and context.region.width / scale >= _WIDTH_OF_LABELS


class RodPanel:
    """Panel of a rod whose settings are disabled while the rod is baked."""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return is_rod(context.object)

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        layout.use_property_split = self.splits(context)
        layout.use_property_decorate = False  # most settings are read only at the start frame
        column = layout.column()
        column.enabled = not is_baked(context.object, context.scene)
        self.draw_settings(column, context)

    def splits(self, context: bpy.types.Context) -> bool:
        """Whether labels are beside their settings. Those of the main panel are short."""
        return not getattr(self, "bl_parent_id", "") or fits_labels(context)

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        raise NotImplementedError
