"""Material settings of a rod."""

from typing import Any

import bpy
from bpy.props import EnumProperty

from ...core import Material
from ..bridge.rods import MATERIAL_VALUES, MATERIALS
from .kinds import friction, number

_MATERIALS = [
    *(
        (identifier, name.capitalize(), f"Handbook properties of {name}", "NONE", number)
        for number, (identifier, name) in enumerate(MATERIALS.items())
    ),
    # .blend files store this number, so it must not change when materials are added.
    ("CUSTOM", "Custom", "Material with user-defined properties", "NONE", 1000),
]


def _copy_preset_values(self: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Initialises the custom values with those of the material selected before."""
    if self.material != "CUSTOM":
        material = Material.preset(MATERIALS[self.material])
        for name in (*MATERIAL_VALUES, "swing_time"):
            setattr(self, name, getattr(material, name))


def _modulus_in(unit: float, name: str) -> Any:
    """A view of Young's modulus in multiples of a Pa, for values that people can read."""

    def shown(self: bpy.types.PropertyGroup) -> float:
        return self.young_modulus / unit

    def store(self: bpy.types.PropertyGroup, value: float) -> None:
        self.young_modulus = value * unit

    return number(
        f"Young's Modulus ({name})",
        "Stiffness of the material: rubber 2 MPa, nylon 3 GPa, steel 200 GPa. Higher values resist stretching, bending and "
        "twisting more",
        5e8 / unit,
        1e2 / unit,
        1e13 / unit,
        3e11 / unit,
        precision=3,
        step=10,
        get=shown,
        set=store,
        options={"SKIP_SAVE"},
    )


class MaterialSettings:
    material: EnumProperty(
        name="Material", description="Material of the rod", items=_MATERIALS, update=_copy_preset_values
    )
    young_modulus: number(
        "Young's Modulus (Pa)",
        "Stiffness of the material in Pa: rubber 2e6, nylon 3e9, steel 2e11. Higher values resist stretching, bending and "
        "twisting more",
        5e8,
        1e2,
        1e13,
        3e11,
        soft_min=1e5,
        precision=0,
        step=100_000_000,
    )
    young_mpa: _modulus_in(1e6, "MPa")
    young_gpa: _modulus_in(1e9, "GPa")
    poisson_ratio: number(
        "Poisson's Ratio",
        "Ratio of transverse contraction to extension: cork 0, metals 0.3, rubber 0.5. Higher values reduce the torsional "
        "stiffness",
        0.39,
        -0.99,
        0.5,
        0.5,
        soft_min=0.0,
        precision=3,
        step=1,
    )
    density: number(
        "Density (kg/m³)",
        "Mass per volume in kg/m³: rope 950, water 1000, steel 7850. Higher values make the rod heavier",
        950.0,
        1.0,
        30_000.0,
        10_000.0,
        soft_min=100.0,
        precision=0,
        step=1000,
    )
    swing_time: number(
        "Swing Lasts",
        "How long the rod swings: the time in which friction within it makes a swing ten times smaller, in still air and in "
        "vacuum. Zero disables this friction. Each material sets its own value",
        30.0,
        0.0,
        3600.0,
        120.0,
        precision=1,
        step=100,
        subtype="TIME_ABSOLUTE",
    )
    damping_time: number(
        "Vibration Damping",
        "Time constant of the material damping. Higher values damp fast vibrations more, zero disables damping",
        2e-3,
        0.0,
        10.0,
        0.1,
        precision=4,
        step=0.1,
        subtype="TIME_ABSOLUTE",
    )
    strands: number(
        "Yarns",
        "Number of yarns or fibres that slide on each other; 1 is a solid rod. Higher values divide the bending and torsional "
        "stiffness, not the axial stiffness",
        200.0,
        1.0,
        1e6,
        1000.0,
        precision=0,
        step=1000,
    )
    friction: friction()
