"""What a point of a rod hangs on."""

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, PointerProperty, StringProperty

from .kinds import factor


class TendrilAttachment(bpy.types.PropertyGroup):
    """A point of a rod that goes where something else goes"""

    where: EnumProperty(
        name="Where",
        description="Which point of the rod is attached",
        items=[
            ("START", "Start", "The first point of the spline"),
            ("END", "End", "The last point of the spline"),
            ("POINT", "Point", "A control point, chosen by its number"),
        ],
    )
    spline: IntProperty(
        name="Spline", description="Number of the spline, beginning with 0; -1 is all splines", default=-1, min=-1
    )
    point: IntProperty(name="Point", description="Number of the control point, beginning with 0", min=0)
    target: PointerProperty(
        name="Target",
        description="The point keeps its place on this object, as it was at the start frame",
        type=bpy.types.Object,
    )
    bone: StringProperty(name="Bone", description="A bone of the armature; without one the object is followed")
    vertex: IntProperty(
        name="Vertex",
        description="Number of a vertex of the mesh, followed as modifiers deform it; -1 follows the object",
        default=-1,
        min=-1,
    )
    use_surface: BoolProperty(
        name="Surface",
        description="Follows the point of the mesh that is nearest at the start frame, as modifiers deform it; with orientation "
        "the face there. Of several splines each has its own point. Without it the object is followed, or a vertex",
    )
    use_rotation: BoolProperty(
        name="Orientation",
        description="The direction and the twist of the rod follow the target too; without it the rod turns freely",
    )
    use_pull: BoolProperty(
        name="Pull",
        description="If the target is an active rigid body, the rod pulls on it and does not only follow. All active bodies of "
        "the scene then move together with the rods, in Blender's own engine. What that can't do: force fields, bodies whose mesh "
        "deforms, compound shapes, and settings that are animated",
        default=True,
    )
    influence: factor(
        "Influence",
        "Below a half the attachment lets go. Animate it to release a rod on the way; then it stays free",
        1.0,
    )


CLASSES = (TendrilAttachment,)
