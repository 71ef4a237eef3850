"""Migrates the settings of files of older versions. Each rod stores the format number of its settings; each step below converts one
format to the next. Settings that a file lacks have their defaults and need no step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import bpy
import numpy as np

from ..core import Material
from .bridge.rod_types import tell_by_material
from .bridge.rods import MATERIAL_VALUES, MATERIALS

Settings = bpy.types.PropertyGroup


def _separate_vine_from_custom(settings: Settings) -> None:
    """In format 0 the material Custom had the number that Vine has now; its values differ from those of vine."""
    vine = Material.preset(MATERIALS["VINE"])
    if settings.material == "VINE" and not all(
        np.isclose(getattr(settings, name), getattr(vine, name), rtol=1e-5) for name in MATERIAL_VALUES
    ):
        settings.material = "CUSTOM"


def _tell_type(settings: Settings) -> None:
    """Format 1 had no types. The type follows from the material, and no other setting changes."""
    tell_by_material(settings)


STEPS: tuple[Callable[[Settings], None], ...] = (
    _separate_vine_from_custom,
    _tell_type,
)  # from 0 to 1, from 1 to 2, ...
FORMAT = len(STEPS)


def migrate(rods: Iterable[bpy.types.Object]) -> None:
    """Converts the settings of rods to the current format. Settings of newer formats are not changed."""
    for obj in rods:
        if obj.tendril.format < FORMAT:
            for step in STEPS[obj.tendril.format :]:
                step(obj.tendril)
            obj.tendril.format = FORMAT


def problem(settings: Settings) -> str:
    """A message for a rod with settings of a newer format; empty otherwise."""
    if settings.format > FORMAT:
        return "Made with a newer version of Tendril, some settings are unknown to this one: update Tendril"
    return ""
