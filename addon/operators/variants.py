"""Operators of the Variants panel."""

from __future__ import annotations

from collections.abc import Generator
from inspect import get_annotations
from typing import Any

import bpy
from bpy.props import EnumProperty, IntProperty

from ..baking.errors import BakeError
from ..bridge.rods import is_rod
from ..bridge.settings import settings_in
from ..properties.cache import CacheSettings
from ..properties.overlay import OverlaySettings
from .simulating import SimulationOperator

_NOT_SIMULATED = frozenset({*get_annotations(CacheSettings), *get_annotations(OverlaySettings)})
_items: list[tuple[str, str, str]] = []  # Blender does not keep references to the items of a menu


def _settings(_operator: object, context: bpy.types.Context | None) -> list[tuple[str, str, str]]:
    """Settings with values of the active rod and of the scene, as (path, name, tooltip)."""
    obj = context.object if context is not None else None
    groups = [(f'objects["{obj.name}"].tendril', obj.tendril, obj.name)] if is_rod(obj) else []
    if context is not None:
        groups.append(("scene.tendril", context.scene.tendril, "Scene"))
    found = []
    for prefix, group, owner in groups:
        for name in settings_in(group):
            if name in _NOT_SIMULATED:
                continue
            declared = group.bl_rna.properties[name]
            if declared.type in ("FLOAT", "INT", "ENUM", "BOOLEAN"):
                found.append((f"{prefix}.{name}", f"{declared.name} ({owner})", declared.description))
    _items[:] = found
    return _items


class TENDRIL_OT_variant_axis_add(bpy.types.Operator):
    """Choose a setting that differs between variants"""

    bl_idname = "tendril.variant_axis_add"
    bl_label = "Add Setting"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012
    bl_property = "setting"

    setting: EnumProperty(name="Setting", description="Setting of the rod or of the scene", items=_settings)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        context.window_manager.invoke_search_popup(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        from ..variants.parameters import find  # late, as below: most sessions of Blender have no variants

        chosen = context.scene.tendril_variants
        axis = chosen.axes.add()
        axis.path = self.setting
        axis.values = _as_text(find(context.scene, axis.path).read())
        chosen.active_axis = len(chosen.axes) - 1
        return {"FINISHED"}


def _as_text(value: Any) -> str:
    """A value as it is written in the list of values."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (str, bool, int)):
        return str(value)
    return f"({', '.join(f'{part:.6g}' for part in value)})"


class TENDRIL_OT_variant_axis_remove(bpy.types.Operator):
    """Remove the setting that is selected in the list"""

    bl_idname = "tendril.variant_axis_remove"
    bl_label = "Remove Setting"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> set[str]:
        chosen = context.scene.tendril_variants
        if not 0 <= chosen.active_axis < len(chosen.axes):
            self.report({"ERROR"}, "No setting is selected: select one in the list")
            return {"CANCELLED"}
        chosen.axes.remove(chosen.active_axis)
        chosen.active_axis = max(0, min(chosen.active_axis, len(chosen.axes) - 1))
        return {"FINISHED"}


class TENDRIL_OT_variants_bake(SimulationOperator, bpy.types.Operator):
    """Bake all variants of the scene, each in a Blender of its own. Variants that are baked already are not baked again"""

    bl_idname = "tendril.variants_bake"
    bl_label = "Bake Variants"
    bl_options = {"REGISTER"}  # noqa: RUF012

    activity = "baking variants"

    def steps(self, context: bpy.types.Context) -> Generator[float, None, int | None]:
        from ..variants.baking import bake_variants

        return bake_variants(context.scene)

    def completion_message(self, context: bpy.types.Context) -> str:
        from ...sweep.variants import DONE
        from ..variants.baking import listed_variants

        outcomes = [outcome for _, outcome in listed_variants(context.scene)]
        failed = [outcome for outcome in outcomes if outcome.status != DONE]
        told = f"{len(outcomes) - len(failed)} variants are baked"
        return f"{told}, {len(failed)} failed: {failed[0].message}" if failed else told


class TENDRIL_OT_variants_show(bpy.types.Operator):
    """Show all baked variants side by side, as instances that play with the scene"""

    bl_idname = "tendril.variants_show"
    bl_label = "Show Side by Side"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> set[str]:
        from ..variants.baking import listed_variants
        from ..variants.showing import show_side_by_side

        scene = context.scene
        try:
            show_side_by_side(scene, listed_variants(scene), scene.tendril_variants.spacing)
        except BakeError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class TENDRIL_OT_variants_hide(bpy.types.Operator):
    """Remove the variants that are shown side by side. Their frames stay on disk"""

    bl_idname = "tendril.variants_hide"
    bl_label = "Remove from Scene"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    def execute(self, context: bpy.types.Context) -> set[str]:
        from ..variants.showing import remove_shown

        remove_shown(context.scene)
        return {"FINISHED"}


class TENDRIL_OT_variant_keep(bpy.types.Operator):
    """Set the values of this variant in the scene and take over its frames"""

    bl_idname = "tendril.variant_keep"
    bl_label = "Keep"
    bl_options = {"REGISTER", "UNDO"}  # noqa: RUF012

    index: IntProperty(name="Variant", description="Number of the variant in the list, starting at 0", min=0)

    def execute(self, context: bpy.types.Context) -> set[str]:
        from ..variants.baking import listed_variants
        from ..variants.showing import keep

        listed = listed_variants(context.scene)
        if self.index >= len(listed):
            self.report({"ERROR"}, "There is no such variant: bake variants first")
            return {"CANCELLED"}
        try:
            keep(context.scene, listed[self.index][1])
        except BakeError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


CLASSES = (
    TENDRIL_OT_variant_axis_add,
    TENDRIL_OT_variant_axis_remove,
    TENDRIL_OT_variants_bake,
    TENDRIL_OT_variants_show,
    TENDRIL_OT_variants_hide,
    TENDRIL_OT_variant_keep,
)
