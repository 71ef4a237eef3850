"""Looks of rods: a geometry nodes modifier that draws a rod as a rope, a chain or a cable, as thick as it is simulated.

Node groups are built by a script where they are first needed, so that they suit the Blender that runs; a file keeps them, and plays
without the add-on. They follow the material frame, by the tilt of curves and the normals of hair.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import bpy
import numpy as np

from ..bridge.modifier_inputs import inputs_called, set_input
from ..bridge.rod_types import give_bevel
from ..bridge.tilts import SUPPORTED_MODES
from . import groups

MODIFIER = "Rod Look"
HIDE_BROKEN = "Rod Without Broken"


class Look(NamedTuple):
    number: int  # stored in .blend files, so it must not change
    label: str
    description: str
    build: Callable[[str], bpy.types.NodeTree] | None
    colour: tuple[float, float, float]  # of the material, if the object has none
    metallic: float
    roughness: float


NONE = "NONE"
LOOKS = {
    NONE: Look(0, "Plain", "The bevel of the curve", None, (0.8, 0.8, 0.8), 0.0, 0.5),
    "ROPE": Look(1, "Rope", "Three strands laid about each other", groups.rope, (0.42, 0.27, 0.12), 0.0, 0.9),
    "BRAID": Look(2, "Braid", "Three plaited strands", groups.braid, (0.25, 0.11, 0.05), 0.0, 0.7),
    "CHAIN": Look(3, "Chain", "Links of steel", groups.chain, (0.55, 0.56, 0.58), 1.0, 0.3),
    "CABLE": Look(
        4, "Cable with Plugs", "Round, with a plug at each end", groups.cable, (0.02, 0.02, 0.025), 0.0, 0.45
    ),
    "COIL": Look(5, "Coil Cord", "A cord wound to a coil", groups.coil, (0.5, 0.03, 0.03), 0.0, 0.4),
    "RIBBON": Look(6, "Stitched Ribbon", "A flat band with stitches", groups.ribbon, (0.45, 0.02, 0.08), 0.0, 0.6),
    "BARBED": Look(
        7,
        "Barbed Wire",
        "Two wires laid about each other, with barbs",
        groups.barbed_wire,
        (0.4, 0.38, 0.36),
        1.0,
        0.45,
    ),
}


def items() -> list[tuple[str, str, str, str, int]]:
    """For an EnumProperty."""
    return [(name, one.label, one.description, "NONE", one.number) for name, one in LOOKS.items()]


def apply(obj: bpy.types.Object) -> None:
    """Gives the object the modifier of its look, or removes it."""
    look = LOOKS[obj.tendril.look]
    modifier: Any = obj.modifiers.get(MODIFIER)
    if look.build is None:
        if modifier is not None:
            obj.modifiers.remove(modifier)
        if obj.type == "CURVE" and obj.tendril.enabled:
            give_bevel(obj)
        return
    if obj.type == "CURVE":
        # Of a curve with a bevel, nodes get the mesh; and a look is equally thick everywhere.
        obj.tendril.radius_from = "GIVEN"
        obj.data.bevel_depth = obj.data.extrude = 0.0
    if obj.type == "CURVE" and obj.data.twist_mode in SUPPORTED_MODES:
        obj.tendril.use_tilt = True  # so that twist is visible
    elif obj.type == "CURVES":
        obj.tendril.use_attributes = True
    modifier = modifier or obj.modifiers.new(MODIFIER, "NODES")
    modifier.node_group = _group(look)
    _set_input(modifier, "Material", obj.active_material or _material(look))
    update_thickness(obj)


def hide_broken(obj: bpy.types.Object, hide: bool) -> None:
    """Adds or removes the modifier that hides the torn edges of a net. It comes first, before the look."""
    modifier: Any = obj.modifiers.get(HIDE_BROKEN)
    if hide and modifier is None:
        modifier = obj.modifiers.new(HIDE_BROKEN, "NODES")
        found: Any = bpy.data.node_groups.get(HIDE_BROKEN)
        modifier.node_group = found or groups.without_broken(HIDE_BROKEN)
        obj.modifiers.move(len(obj.modifiers) - 1, 0)
    elif not hide and modifier is not None:
        obj.modifiers.remove(modifier)


def update_thickness(obj: bpy.types.Object) -> None:
    """Makes the look as thick as the rod."""
    modifier: Any = obj.modifiers.get(MODIFIER)
    if modifier is None or modifier.type != "NODES" or modifier.node_group is None:
        return
    scale = float(np.cbrt(abs(obj.matrix_world.determinant())))
    _set_input(modifier, "Thickness", obj.tendril.thickness / max(scale, 1e-30))


def _group(look: Look) -> bpy.types.NodeTree:
    name = f"Rod Look {look.label}"
    assert look.build is not None
    found: Any = bpy.data.node_groups.get(name)
    return found or look.build(name)


def _material(look: Look) -> bpy.types.Material:
    name = f"Rod {look.label}"
    found: Any = bpy.data.materials.get(name)
    if found is None:
        found = bpy.data.materials.new(name)
        if bpy.app.version < (5, 0, 0):  # later all materials have nodes
            found.use_nodes = True
        surface = next(node for node in found.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
        surface.inputs["Base Color"].default_value = (*look.colour, 1.0)
        surface.inputs["Metallic"].default_value = look.metallic
        surface.inputs["Roughness"].default_value = look.roughness
        found.diffuse_color = (*look.colour, 1.0)
    return found


def _set_input(modifier: Any, name: str, value: Any) -> None:
    for item in inputs_called(modifier, name):
        set_input(modifier, item.identifier, value)
    modifier.id_data.update_tag()
