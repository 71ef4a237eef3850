"""Settings of the cross-section, the rest shape and the variation along a rod."""

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, PointerProperty, StringProperty

from .. import looks, participants
from ..bridge import curves, points, profiles, tilts
from .kinds import distance, number


def _make_profiles(self: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    if self.use_profiles and self.profiles is None:
        self.profiles = profiles.make(self.id_data)


def _set_tilted(self: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Updates the stored drawn shape to contain tilts, or not."""
    obj = self.id_data
    if obj.type != "CURVE" or curves.is_tilted(obj.data) == self.use_tilt:
        return
    if self.enabled and not self.shows_drawn:
        curves.restore_drawn(obj.data)
        self.shows_drawn = True
    obj.data[curves.TILTED] = self.use_tilt
    if self.enabled:
        curves.keep_drawn(obj.data)


def _show_twist(self: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    tilts.enable_where_visible(self.id_data)


def _show_thickness(self: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    looks.update_thickness(self.id_data)
    participants.invalidate_on_update(self, context)


def _set_attributes(self: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    data = self.id_data.data
    if points.are_in(data):
        points.set_attributes(data, self.use_attributes)


class ShapeSettings:
    radius_from: EnumProperty(
        name="Thickness Is",
        description="Source of the thickness",
        items=[
            ("GIVEN", "Given", "Constant radius along the rod"),
            ("CURVE", "From Curve", "Bevel depth of the curve times the radius of each point, or the radius of hair"),
        ],
    )
    section: EnumProperty(
        name="Section",
        description="Shape of the cross-section",
        items=[
            ("CIRCLE", "Circle", "Round cross-section"),
            ("ELLIPSE", "Ellipse", "Elliptical cross-section, as wide as twice the radius"),
            ("RIBBON", "Ribbon", "Rectangular cross-section, as wide as twice the radius: paper, tape, straps"),
        ],
        update=_show_twist,
    )
    flatness: number(
        "Flatness",
        "Thickness of the cross-section divided by its width. Lower values make the rod flatter and more flexible",
        0.1,
        0.001,
        1.0,
        1.0,
        precision=3,
        step=1,
    )
    segment_length: distance(
        "Segment Length",
        "Length of the simulated segments. Lower values are more accurate and slower, zero uses the points of the curve or the "
        "edges of the mesh",
        0.0,
        100.0,
        1.0,
        min=0.0,
    )
    radius: distance(
        "Radius",
        "Radius used for mechanics and contact; the curve's bevel determines the visible thickness. Higher values make the "
        "rod heavier and stiffer",
        0.01,
        100.0,
        0.5,
        min=1e-6,
        soft_min=1e-4,
        update=_show_thickness,
    )
    hairs: IntProperty(
        name="Hairs per Strand",
        description="Number of hairs, each with the given radius, that a simulated strand stands for. Weight and stiffness grow in "
        "proportion to it, and the radius for contact is that of the whole lock",
        default=1,
        min=1,
        max=1_000_000,
        soft_max=1000,
    )
    rest_shape: EnumProperty(
        name="Rest Shape",
        description="Shape of the rod without external forces",
        items=[
            ("AS_DRAWN", "As Drawn", "The drawn shape is the rest shape: springs, wires, hair"),
            ("STRAIGHT", "Straight", "The rest shape is straight, and the drawn shape is bent: ropes, cables"),
            ("CURLY", "Curly", "The rest shape is a helix, and the drawn shape is its extended state: curly hair"),
            ("OBJECT", "Another Object", "The rest shape and the rest length are those of another object"),
        ],
    )
    use_sag_free: BoolProperty(
        name="Sag-Free",
        description="The drawn shape is in equilibrium under gravity: nothing moves until something moves the rod, and it returns "
        "to the drawn shape. The start must be clamped",
    )
    rest_object: PointerProperty(
        name="Object",
        description="Object that defines the rest shape: a curve, or for a net a mesh with the same vertices",
        type=bpy.types.Object,
    )
    curl_radius: distance(
        "Curl Radius", "Radius of the rest helix. Higher values make wider curls", 0.005, 10.0, 0.1, min=1e-5
    )
    curl_length: distance(
        "Curl Length",
        "Pitch of the rest helix. Lower values make tight curls, higher values make waves",
        0.015,
        10.0,
        0.5,
        min=1e-5,
    )
    stiffness_at_end: number(
        "Stiffness at End",
        "Bending and torsional stiffness at the end divided by that at the start, linear in between. Values below 1 make the end "
        "softer",
        1.0,
        0.001,
        1000.0,
        10.0,
        soft_min=0.01,
        precision=3,
        step=1,
    )
    stiffness_random: number(
        "Random Stiffness",
        "Random variation of the stiffness from strand to strand: 0.3 is 30 per cent more or less. Strands then move out of step",
        0.0,
        0.0,
        1.0,
        1.0,
        precision=2,
        step=1,
    )
    random_seed: IntProperty(name="Seed", description="Another value gives other random numbers", default=0, min=0)
    stiffness_by_weight: BoolProperty(
        name="Stiffness by Weight",
        description="Multiply the stiffness at each control point by its goal weight, at least 0.001. Set the goal weight "
        "in the sidebar in Edit Mode",
    )
    radius_by_weight: BoolProperty(
        name="Radius by Weight",
        description="Multiply the radius at each control point by its goal weight, at least 0.001",
    )
    mass_by_weight: BoolProperty(
        name="Mass by Weight",
        description="Multiply the density at each control point by its goal weight, at least 0.001",
    )
    use_profiles: BoolProperty(
        name="Along the Rod",
        description="Vary radius, stiffness and mass from the start to the end of each rod by curves",
        update=_make_profiles,
    )
    profiles: PointerProperty(
        name="Profiles", description="Node group that stores the curves", type=bpy.types.NodeTree, options={"HIDDEN"}
    )
    stiffness_group: StringProperty(
        name="Stiffness Group",
        description="Vertex group, or attribute of hair, that multiplies the bending and torsional stiffness",
    )
    radius_group: StringProperty(name="Radius Group", description="Vertex group that multiplies the radius")
    mass_group: StringProperty(
        name="Mass Group", description="Vertex group, or attribute of hair, that multiplies the density"
    )
    use_tilt: BoolProperty(
        name="Tilt Follows",
        description="Update the tilt of the control points, so that a flat bevel shows the twist of the rod. The twist "
        "method of the curve must be Minimum or Z-Up",
        update=_set_tilted,
    )
    use_attributes: BoolProperty(
        name="Attributes",
        description='Store the point attributes "tension" (N) and "twist" (rad/m), and of hair also "velocity" for motion blur, '
        '"custom_normal" (the material frame) and "given_up" (1 where the solver failed), for shaders and geometry nodes',
        update=_set_attributes,
    )
