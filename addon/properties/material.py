"""What a rod is made of."""

import bpy
from bpy.props import EnumProperty

from ...core import Material
from ..bridge.rods import MATERIAL_VALUES, MATERIALS
from .kinds import friction, number

_MATERIALS = [
    *(
        (identifier, name.capitalize(), f"The properties of {name}", "NONE", number)
        for number, (identifier, name) in enumerate(MATERIALS.items())
    ),
    # Its number stays when materials are added, so that files keep what they say.
    ("CUSTOM", "Custom", "Give the properties yourself", "NONE", 1000),
]


def _take_preset(self: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Custom values begin with those of the preset chosen before."""
    if self.material != "CUSTOM":
        material = Material.preset(MATERIALS[self.material])
        for name in MATERIAL_VALUES:
            setattr(self, name, getattr(material, name))


class MaterialSettings:
    material: EnumProperty(
        name="Material", description="What the rod is made of", items=_MATERIALS, update=_take_preset
    )
    young_modulus: number(
        "Young's Modulus (Pa)",
        "Stiffness against stretching and bending, in pascal: rubber 2e6, nylon 3e9, steel 2e11",
        5e8,
        1e2,
        1e13,
        3e11,
        soft_min=1e5,
        precision=0,
        step=100_000_000,
    )
    poisson_ratio: number(
        "Poisson's Ratio",
        "With Young's modulus it gives the stiffness against twisting: cork 0, metals 0.3, rubber 0.5",
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
        "Mass per volume, in kilograms per cubic metre: water 1000, rope 950, steel 7850",
        950.0,
        1.0,
        30_000.0,
        10_000.0,
        soft_min=100.0,
        precision=0,
        step=1000,
    )
    damping_time: number(
        "Damping",
        "Inner friction, as a time: vibrations much faster than this die out at once. Zero is undamped",
        2e-3,
        0.0,
        10.0,
        0.1,
        precision=4,
        step=0.1,
        subtype="TIME_ABSOLUTE",
    )
    strands: number(
        "Strands",
        "Fibres that slide on each other: a rope bends and twists that much easier than a solid section. 1 is solid",
        200.0,
        1.0,
        1e6,
        1000.0,
        precision=0,
        step=1000,
    )
    friction: friction()
