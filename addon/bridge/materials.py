"""Material and stiffness of a rod object."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy
import numpy as np

from ...core import Material, Stiffness
from .poses import Array
from .rods import MATERIAL_VALUES, MATERIALS
from .shapes import constant_radius, section_of

# Settings that replace a stiffness of the material, by its name in the core. Zero leaves that of the material.
_DIRECT = {
    "stretch": "axial_stiffness",
    "bend_1": "bending_stiffness",
    "bend_2": "bending_stiffness_2",
    "twist": "torsional_stiffness",
}


def material_of(settings: bpy.types.PropertyGroup) -> Material:
    if settings.material != "CUSTOM":
        material = Material.preset(MATERIALS[settings.material])
    else:
        material = Material(**{name: getattr(settings, name) for name in MATERIAL_VALUES})
    strands = material.strands * settings.hairs  # see `hairs` and `shapes.constant_radius`
    return replace(material, swing_time=settings.swing_time, shear_modulus=None, strands=strands)


def is_direct(settings: bpy.types.PropertyGroup) -> bool:
    """Whether a stiffness is given directly."""
    return any(getattr(settings, name) > 0.0 for name in _DIRECT.values())


def stiffness_of(settings: bpy.types.PropertyGroup, scale: float) -> Stiffness:
    """Stiffness of a rod with its constant radius: of its material and section, or given directly."""
    given = {name: float(getattr(settings, setting)) for name, setting in _DIRECT.items()}
    if settings.section == "CIRCLE":
        given["bend_2"] = given["bend_1"]
    found = material_of(settings).stiffness(section_of(settings, scale))
    return replace(found, **{name: value for name, value in given.items() if value > 0.0})


def mechanics(
    settings: bpy.types.PropertyGroup, scale: float, radius: float | Array, density_scale: float | Array
) -> dict[str, Any]:
    """Arguments of the core's rods and nets that say what they are made of. With a stiffness given directly, only their mass
    follows the `radius` (m), which may vary along the rod."""
    material = material_of(settings)
    if not is_direct(settings):
        return {"material": material, "density_scale": density_scale}
    return {
        "stiffness": stiffness_of(settings, scale),
        "density_scale": density_scale * np.square(radius / constant_radius(settings, scale)),
        "damping_time": material.damping_time,
        "swing_time": material.swing_time,
    }
