"""Types of rods: what people call the thing, and the settings that make a rod behave like it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import bpy
import numpy as np

from .nets import edges_of


class RodType(NamedTuple):
    number: int  # stored in .blend files, so it must not change
    label: str
    icon: str
    description: str
    thickness: float  # of a new rod, divided by its length; of hair in metres
    settings: dict[str, Any]  # names and values of settings of a rod
    look: str = "NONE"  # of a rod that a quick effect makes


def _settings(material: str, rest_shape: str, friction: float, **more: Any) -> dict[str, Any]:
    common = {"section": "CIRCLE", "rest_shape": rest_shape, "use_sag_free": False, "hairs": 1, "stiffness_at_end": 1.0}
    return {"material": material, **common, "friction": friction, **more}


HAIR, CUSTOM = "HAIR", "CUSTOM"
TYPES = {
    "ROPE": RodType(
        0, "Rope", "CURVE_PATH", "Soft rope of many yarns that hardly stretches", 0.0075,
        _settings("NYLON_ROPE", "STRAIGHT", 0.4), "ROPE",
    ),
    "CABLE": RodType(
        1, "Cable", "PLUGIN", "Heavy steel cable that keeps wide bends", 0.005, _settings("STEEL_CABLE", "STRAIGHT", 0.2), "CABLE"
    ),
    "CHAIN": RodType(
        2, "Chain", "LINKED", "Heavy, and free to bend and twist", 0.01, _settings("CHAIN", "STRAIGHT", 0.4), "CHAIN"
    ),
    "WIRE": RodType(
        3, "Wire", "IPO_LINEAR", "Stiff copper wire that returns to its drawn shape", 0.001,
        _settings("COPPER_WIRE", "AS_DRAWN", 0.3),
    ),
    "SPRING": RodType(
        4, "Spring", "IPO_ELASTIC", "Spring steel in its drawn shape: draw the coils", 0.002,
        _settings("SPRING_STEEL", "AS_DRAWN", 0.3),
    ),
    HAIR: RodType(
        5, "Hair", "OUTLINER_OB_CURVES", "Human hair that keeps its drawn shape under gravity", 8e-5,
        _settings("HUMAN_HAIR", "AS_DRAWN", 0.3, use_sag_free=True),
    ),
    "RIBBON": RodType(
        6, "Ribbon", "MOD_THICKNESS", "Flat band of paper. Its thickness setting is the width", 0.02,
        _settings("PAPER", "AS_DRAWN", 0.4, section="RIBBON", flatness=0.01), "RIBBON",
    ),
    "RUBBER": RodType(
        7, "Rubber", "IPO_BOUNCE", "Rubber band that stretches and springs back", 0.006,
        _settings("RUBBER", "STRAIGHT", 0.9),
    ),
    "VINE": RodType(
        8, "Vine", "OUTLINER_DATA_GREASEPENCIL", "Green stem, softer towards its tip", 0.005,
        _settings("VINE", "AS_DRAWN", 0.6, stiffness_at_end=0.1),
    ),
    "HOSE": RodType(
        9, "Hose", "MOD_FLUIDSIM", "Thick soft tube that keeps its drawn bends", 0.01,
        _settings("GARDEN_HOSE", "AS_DRAWN", 0.6),
    ),
    "LINE": RodType(
        10, "Fishing Line", "IPO_QUAD", "Thin, light and springy thread", 0.0005,
        _settings("FISHING_LINE", "STRAIGHT", 0.15),
    ),
    CUSTOM: RodType(1000, "Custom", "PREFERENCES", "Settings of the sub-panels as they are", 0.0075, {}),
}  # fmt: skip

# A new net is at most this thick, divided by the mean length of its edges.
THICKEST_OF_EDGES = 0.125

_labelling = False


def items() -> list[tuple[str, str, str, str, int]]:
    """For an EnumProperty."""
    return [(name, one.label, one.description, one.icon, one.number) for name, one in TYPES.items()]


def type_of_material(material: str) -> str:
    """The type whose material this is; rods of files without types have one like it."""
    if material == "HEMP_ROPE":
        return "ROPE"
    return next((name for name, one in TYPES.items() if one.settings.get("material") == material), CUSTOM)


@contextmanager
def only_labelled() -> Iterator[None]:
    """Within this context the type of a rod can be set without changing its other settings."""
    global _labelling
    before, _labelling = _labelling, True
    try:
        yield
    finally:
        _labelling = before


def tell_by_material(settings: bpy.types.PropertyGroup) -> None:
    """Sets the type that suits the material of a rod. No other setting changes."""
    with only_labelled():
        settings.rod_type = type_of_material(settings.material)


def apply_chosen(settings: bpy.types.PropertyGroup) -> None:
    """Applies the settings of the chosen type. A thickness that the user has set stays."""
    if _labelling:
        return
    for name, value in TYPES[settings.rod_type].settings.items():
        setattr(settings, name, value)
    if settings.enabled and math.isclose(settings.radius, settings.fitted_radius, rel_tol=1e-6):
        fit_thickness(settings)


def apply_to_new(settings: bpy.types.PropertyGroup) -> None:
    """Sets what was not set yet on a rod that is being made: settings of its type, and a thickness that suits its length."""
    if not settings.is_property_set("rod_type"):
        with only_labelled():
            settings.rod_type = HAIR if _owner(settings).type == "CURVES" else "ROPE"
    for name, value in TYPES[settings.rod_type].settings.items():
        if not settings.is_property_set(name):
            setattr(settings, name, value)
    if not settings.is_property_set("radius"):
        fit_thickness(settings)


def fit_thickness(settings: bpy.types.PropertyGroup) -> None:
    """Chooses a thickness by the type and the length of the rod, with two digits."""
    obj, chosen = _owner(settings), TYPES[settings.rod_type]
    thickness = chosen.thickness
    if settings.rod_type != HAIR:
        length = length_of(obj)
        if not 0.0 < length < math.inf:
            return
        thickness *= length
        if obj.type == "MESH":
            thickness = min(thickness, THICKEST_OF_EDGES * _mean_edge(obj))
    digits = 1 - math.floor(math.log10(thickness))
    set_thickness(settings, round(thickness, digits))
    settings.fitted_radius = settings.radius


def set_thickness(settings: bpy.types.PropertyGroup, thickness: float) -> None:
    """Sets the radius, and scales the bevel of the curve with it, so that one sees what is simulated."""
    obj, before = _owner(settings), settings.radius
    settings.radius = 0.5 * thickness
    if settings.enabled and obj.type == "CURVE" and settings.radius_from == "GIVEN":
        curve = obj.data
        curve.bevel_depth *= settings.radius / before
        curve.extrude *= settings.radius / before


def give_bevel(obj: bpy.types.Object) -> None:
    """Makes a curve that is drawn as a bare line as thick as its rod. Flat rods are extruded across their width."""
    curve, settings = obj.data, obj.tendril
    shaped = curve.bevel_depth > 0.0 or curve.extrude > 0.0 or curve.bevel_object is not None
    if shaped or any(modifier.type == "NODES" for modifier in obj.modifiers):
        return
    radius = settings.radius / max(float(np.cbrt(abs(obj.matrix_world.determinant()))), 1e-30)
    curve.use_fill_caps = True
    if settings.section == "CIRCLE":
        curve.bevel_depth = radius
    else:
        curve.extrude, curve.bevel_depth = radius, radius * settings.flatness


def _owner(settings: bpy.types.PropertyGroup) -> bpy.types.Object:
    obj: Any = settings.id_data
    return obj


def length_of(obj: bpy.types.Object) -> float:
    """Mean length of the splines, or of the diagonal of a mesh, in units of the scene."""
    scale = float(np.cbrt(abs(obj.matrix_world.determinant())))
    if obj.type == "CURVE":
        lengths = [spline.calc_length() for spline in obj.data.splines]
        return scale * float(np.mean(lengths)) if lengths else 0.0
    corners = np.array([corner[:] for corner in obj.bound_box])
    return scale * float(np.linalg.norm(corners.max(axis=0) - corners.min(axis=0)))


def _mean_edge(obj: bpy.types.Object) -> float:
    edges = edges_of(obj.data)
    if not len(edges):
        return math.inf
    x = np.empty(3 * len(obj.data.vertices), dtype=np.float32)
    obj.data.vertices.foreach_get("co", x)
    lengths = np.linalg.norm(np.diff(x.reshape(-1, 3)[edges], axis=1), axis=2)
    return float(lengths.mean()) * float(np.cbrt(abs(obj.matrix_world.determinant())))
