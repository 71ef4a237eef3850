"""Settings of an attachment of a rod point to another object."""

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, PointerProperty, StringProperty

from .kinds import factor


class TendrilAttachment(bpy.types.PropertyGroup):
    """Point of a rod that follows another object"""

    where: EnumProperty(
        name="Where",
        description="Point of the rod that is attached",
        items=[
            ("START", "Start", "First point of the spline"),
            ("END", "End", "Last point of the spline"),
            ("POINT", "Point", "Control point given by its index"),
        ],
    )
    spline: IntProperty(
        name="Spline", description="Index of the spline, starting at 0. -1 attaches all splines", default=-1, min=-1
    )
    point: IntProperty(name="Point", description="Index of the control point, starting at 0", min=0)
    target: PointerProperty(
        name="Target",
        description="Object to follow. The point keeps the position relative to it that it has at the start frame",
        type=bpy.types.Object,
    )
    bone: StringProperty(
        name="Bone", description="Bone of the armature to follow. If empty, the armature object is followed"
    )
    vertex: IntProperty(
        name="Vertex",
        description="Index of a vertex to follow on the deformed mesh. -1 follows the object",
        default=-1,
        min=-1,
    )
    use_surface: BoolProperty(
        name="Surface",
        description="Follow the point of the deformed mesh that is closest at the start frame, separately for each spline. With "
        "Orientation, the rotation of the face is followed too",
    )
    use_position: BoolProperty(
        name="Position",
        description="Make the point follow the target. If disabled, only the direction and the twist of the rod follow it, and the "
        "point moves freely",
        default=True,
    )
    use_rotation: BoolProperty(
        name="Orientation",
        description="Make the direction and the twist of the rod follow the target. If disabled, the rod rotates freely "
        "about the point",
    )
    use_pull: BoolProperty(
        name="Pull",
        description="Apply the force of the rod to the target if it is an active rigid body. All active rigid bodies of the scene "
        "are then simulated together with the rods, without force fields, deforming meshes, compound shapes and animated settings",
        default=True,
    )
    influence: factor(
        "Influence",
        "How firmly the attachment holds: 1 is rigid, 0 lets go, and anything between is a spring. Animate it to release the rod, "
        "or to take hold of it again",
        1.0,
    )


CLASSES = (TendrilAttachment,)
