"""The settings at the top of the panel: what the rod is, and how thick."""

import bpy
from bpy.props import EnumProperty, FloatProperty

from .. import looks, participants
from ..bridge import rod_types
from .kinds import distance


def _apply_type(self: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    rod_types.apply_chosen(self)
    participants.invalidate_on_update(self, context)


def _apply_look(self: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    looks.apply(self.id_data)
    participants.invalidate_on_update(self, context)


def _thickness(self: bpy.types.PropertyGroup) -> float:
    return 2.0 * self.radius


class TypeSettings:
    rod_type: EnumProperty(
        name="Type",
        description="What the rod is. It sets material, cross-section, rest shape and friction",
        items=rod_types.items(),
        update=_apply_type,
    )
    look: EnumProperty(
        name="Look",
        description="What the rod looks like. Geometry nodes draw it as thick as it is simulated, and show its twist",
        items=looks.items(),
        update=_apply_look,
    )
    # A view of the radius.
    thickness: distance(
        "Thickness",
        "Diameter of the rod, or width of a flat one. Higher values make the rod heavier and stiffer, and the bevel of the curve "
        "follows",
        0.015,
        200.0,
        1.0,
        min=2e-6,
        soft_min=2e-4,
        get=_thickness,
        set=rod_types.set_thickness,
        options={"SKIP_SAVE"},
    )
    fitted_radius: FloatProperty(description="Radius that Tendril chose for the length of the rod", options={"HIDDEN"})
