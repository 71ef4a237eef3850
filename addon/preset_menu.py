"""Presets of rods in the header of the panel: those of Tendril, and the user's own, which Blender stores."""

from __future__ import annotations

from pathlib import Path

import bpy
from bl_operators.presets import AddPresetBase
from bl_ui.utils import PresetPanel

from .bridge.rods import MATERIAL_VALUES

FOLDER = "tendril_rod"
# The type comes first, because it sets most others; then the material, which sets the values that follow unless it is Custom.
SETTINGS = (
    "rod_type",
    "material",
    *MATERIAL_VALUES,
    "swing_time",
    "radius_from",
    "radius",
    "hairs",
    "section",
    "flatness",
    "rest_shape",
    "use_sag_free",
    "curl_radius",
    "curl_length",
    "stiffness_at_end",
    "stiffness_by_weight",
    "friction",
)


class TENDRIL_PT_presets(PresetPanel, bpy.types.Panel):
    bl_label = "Rod Presets"
    preset_subdir = FOLDER
    preset_operator = "script.execute_preset"
    preset_add_operator = "tendril.preset_add"


class TENDRIL_OT_preset_add(AddPresetBase, bpy.types.Operator):
    """Save the rod's material and shape as a preset, or remove one"""

    bl_idname = "tendril.preset_add"
    bl_label = "Add Rod Preset"
    preset_menu = "TENDRIL_PT_presets"
    preset_subdir = FOLDER
    preset_defines = ["rod = bpy.context.object.tendril"]  # noqa: RUF012
    preset_values = [f"rod.{name}" for name in SETTINGS]  # noqa: RUF012


CLASSES = (TENDRIL_PT_presets, TENDRIL_OT_preset_add)


def register() -> None:
    bpy.utils.register_preset_path(str(Path(__file__).parent))
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
    bpy.utils.unregister_preset_path(str(Path(__file__).parent))
