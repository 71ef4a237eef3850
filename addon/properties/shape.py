"""How thick and how stiff a rod is along its way, and the shape it was made in."""

import bpy
from bpy.props import BoolProperty, EnumProperty, PointerProperty, StringProperty

from ..bridge import curves, points, profiles, tilts
from .kinds import distance, number


def _make_profiles(self: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    if self.use_profiles and self.profiles is None:
        self.profiles = profiles.make(self.id_data)


def _set_tilted(self: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """The kept shape has tilts from now on, or none."""
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


def _set_attributes(self: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    data = self.id_data.data
    if points.are_in(data):
        points.set_attributes(data, self.use_attributes)


class ShapeSettings:
    radius_from: EnumProperty(
        name="Thickness",
        description="How thick the rod is",
        items=[
            ("GIVEN", "Given", "The same radius all along the rod"),
            ("CURVE", "As It Looks", "The bevel depth of the curve times the radius of each point; the radius of hair"),
        ],
    )
    section: EnumProperty(
        name="Section",
        description="The shape of a cut through the rod",
        items=[
            ("CIRCLE", "Circle", "Round, the same in all directions"),
            ("ELLIPSE", "Ellipse", "Twice the radius wide, and flatter across"),
            ("RIBBON", "Ribbon", "A rectangle, twice the radius wide: paper, tape, straps"),
        ],
        update=_show_twist,
    )
    flatness: number(
        "Flatness",
        "How thick the section is, as a part of its width. It lies as the curve shows it",
        0.1,
        0.001,
        1.0,
        1.0,
        precision=3,
        step=1,
    )
    segment_length: distance(
        "Segment Length",
        "Length of the pieces the rod is computed in: shorter ones are more exact and slower. Zero takes the points of a curve "
        "as they are, and the edges of a mesh",
        0.0,
        100.0,
        1.0,
        min=0.0,
    )
    radius: distance(
        "Radius",
        "Half the thickness of the rod: it makes it heavy and stiff. What one sees is the curve's bevel",
        0.01,
        100.0,
        0.5,
        min=1e-6,
        soft_min=1e-4,
    )
    rest_shape: EnumProperty(
        name="Rest Shape",
        description="The shape the rod has when nothing pulls on it",
        items=[
            ("AS_DRAWN", "As Drawn", "The rod was made in the shape that is drawn: springs, wires, hair"),
            ("STRAIGHT", "Straight", "The rod was made straight and is bent into the shape that is drawn: ropes, rods"),
            ("CURLY", "Curly", "The rod was made as a helix and is stretched into the shape that is drawn: curly hair"),
            ("OBJECT", "Another Object", "The rod was made in the shape of another curve, and as long as that"),
        ],
    )
    rest_object: PointerProperty(
        name="Object",
        description="A curve that shows the shape the rod was made in; the rest shape of a net is a mesh with the same vertices",
        type=bpy.types.Object,
    )
    curl_radius: distance(
        "Curl Radius", "Radius of the helix the rod has when nothing pulls on it", 0.005, 10.0, 0.1, min=1e-5
    )
    curl_length: distance(
        "Curl Length", "How far the helix gets in one turn: short for curls, long for waves", 0.015, 10.0, 0.5, min=1e-5
    )
    stiffness_at_end: number(
        "Stiffness at End",
        "How stiff against bending and twisting the rod is at its end, as a part of what it is at its start; "
        "between them it changes evenly",
        1.0,
        0.001,
        1000.0,
        10.0,
        soft_min=0.01,
        precision=3,
        step=1,
    )
    stiffness_by_weight: BoolProperty(
        name="Stiffness by Weight",
        description="The goal weight of each control point multiplies its stiffness; a weight below 0.001 counts as that. "
        "The weight is in the sidebar in Edit Mode",
    )
    radius_by_weight: BoolProperty(
        name="Radius by Weight",
        description="The goal weight of each control point multiplies its radius; a weight below 0.001 counts as that",
    )
    mass_by_weight: BoolProperty(
        name="Mass by Weight",
        description="The goal weight of each control point multiplies its density; a weight below 0.001 counts as that",
    )
    use_profiles: BoolProperty(
        name="Along the Rod",
        description="Draw how radius, stiffness and mass change from the start of each rod to its end",
        update=_make_profiles,
    )
    profiles: PointerProperty(
        name="Profiles", description="The curves that are drawn", type=bpy.types.NodeTree, options={"HIDDEN"}
    )
    stiffness_group: StringProperty(
        name="Stiffness Group",
        description="Vertex group, or attribute of hair, whose weight multiplies the stiffness against bending and twisting",
    )
    radius_group: StringProperty(name="Radius Group", description="Vertex group whose weight multiplies the radius")
    mass_group: StringProperty(
        name="Mass Group", description="Vertex group, or attribute of hair, whose weight multiplies the density"
    )
    use_tilt: BoolProperty(
        name="Tilt Follows",
        description="The tilt of control points follows the material, so that a flat bevel shows how the rod is twisted. The "
        "twist method of the curve must be Minimum or Z-Up",
        update=_set_tilted,
    )
    use_attributes: BoolProperty(
        name="Tension and Twist",
        description="Store attributes for shading at the points: tension in newtons, and twist in radians per metre",
        update=_set_attributes,
    )
