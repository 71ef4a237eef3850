"""Files of older versions. Each rod carries the number of the format its settings are in; each step below leads from one number
to the next. Settings that a file does not have take their defaults and need no step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import bpy
import numpy as np

from ..core import Material
from .bridge.rods import MATERIAL_VALUES, MATERIALS

Settings = bpy.types.PropertyGroup


def _tell_vine_from_custom(settings: Settings) -> None:
    """What was custom in the first list of materials has the number that vine has now, but not the properties of vine."""
    vine = Material.preset(MATERIALS["VINE"])
    if settings.material == "VINE" and not all(
        np.isclose(getattr(settings, name), getattr(vine, name), rtol=1e-5) for name in MATERIAL_VALUES
    ):
        settings.material = "CUSTOM"


STEPS: tuple[Callable[[Settings], None], ...] = (_tell_vine_from_custom,)  # from 0 to 1, from 1 to 2, ...
FORMAT = len(STEPS)


def migrate(rods: Iterable[bpy.types.Object]) -> None:
    """Brings the settings of rods to the format of this version. Those of newer ones stay as they are."""
    for obj in rods:
        if obj.tendril.format < FORMAT:
            for step in STEPS[obj.tendril.format :]:
                step(obj.tendril)
            obj.tendril.format = FORMAT


def trouble(settings: Settings) -> str:
    """What is to be said of a rod whose settings this version can't know."""
    if settings.format > FORMAT:
        return "Made by a newer version of Tendril: some of its settings are unknown here, install that version"
    return ""
