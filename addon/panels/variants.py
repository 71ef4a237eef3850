"""Variants panel: settings with several values, baked side by side."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import bpy

from ..baking.errors import BakeError
from .base import RodPanel, draw_message

if TYPE_CHECKING:
    from ...sweep.variants import Outcome

MOST_LISTED = 24
_READ_AGAIN_AFTER = 1.0  # s; panels are drawn many times a second
_listed: dict[int, tuple[float, list[tuple[str, Outcome]]]] = {}  # by scene: when it was read, and what was


class TENDRIL_UL_variant_axes(bpy.types.UIList):
    def draw_item(self, _context, layout, _data, axis, _icon, _active_data, _active_property) -> None:
        split = layout.split(factor=0.55, align=True)
        split.prop(axis, "path", text="", emboss=False)
        split.prop(axis, "values", text="", emboss=False)


class TENDRIL_PT_variants(RodPanel, bpy.types.Panel):
    bl_label = "Variants"
    bl_parent_id = "TENDRIL_PT_rod"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw_settings(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        from ..variants.baking import planned  # late, as below: most sessions of Blender have no variants

        scene, chosen = context.scene, context.scene.tendril_variants
        layout.label(text="Settings that differ, and their values")
        row = layout.row()
        row.template_list("TENDRIL_UL_variant_axes", "", chosen, "axes", chosen, "active_axis", rows=2)
        column = row.column(align=True)
        column.operator("tendril.variant_axis_add", text="", icon="ADD")
        column.operator("tendril.variant_axis_remove", text="", icon="REMOVE")
        if 0 <= chosen.active_axis < len(chosen.axes):
            axis = chosen.axes[chosen.active_axis]
            layout.prop(axis, "path")
            layout.prop(axis, "values")
        layout.prop(chosen, "sampling")
        if chosen.sampling != "grid":
            column = layout.column(align=True)
            column.prop(chosen, "samples")
            column.prop(chosen, "seed")
        layout.prop(chosen, "workers")
        if not chosen.axes:
            return
        try:
            text = f"Bake {len(planned(scene))} Variants"
        except BakeError as error:
            draw_message(layout, context, str(error))
            return
        layout.operator("tendril.variants_bake", text=text, icon="REC")
        self._draw_baked(layout, context)

    def _draw_baked(self, layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
        from ...sweep.variants import DONE

        listed = _read(context.scene)
        box = layout.box().column(align=True) if listed else None
        for number, (label, outcome) in enumerate(listed[:MOST_LISTED]):
            assert box is not None
            if outcome.status == DONE:
                row = box.split(factor=0.8, align=True)
                row.label(text=label, icon="CHECKMARK")
                row.operator("tendril.variant_keep").index = number
            else:
                draw_message(box, context, f"{label}: {outcome.message.replace('--set ', '')}")
        if box is not None and len(listed) > MOST_LISTED:
            box.label(text=f"and {len(listed) - MOST_LISTED} more")
        column = layout.column(align=True)
        column.prop(context.scene.tendril_variants, "spacing")
        row = column.row(align=True)
        row.operator("tendril.variants_show")
        row.operator("tendril.variants_hide")


def _read(scene: bpy.types.Scene) -> list[tuple[str, Outcome]]:
    from ..variants.baking import listed_variants

    when, listed = _listed.get(scene.session_uid, (-_READ_AGAIN_AFTER, []))
    if time.monotonic() - when >= _READ_AGAIN_AFTER:
        when, listed = _listed[scene.session_uid] = time.monotonic(), listed_variants(scene)
    return listed


CLASSES = (TENDRIL_UL_variant_axes, TENDRIL_PT_variants)
