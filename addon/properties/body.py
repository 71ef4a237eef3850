"""State that Tendril stores on the rigid bodies it moves."""

import bpy
from bpy.props import BoolProperty, FloatVectorProperty, PointerProperty, StringProperty


class TendrilBody(bpy.types.PropertyGroup):
    """State of a rigid body before Tendril moved it. Internal, not a user setting"""

    uid: StringProperty(description="Unique identifier of the body", options={"HIDDEN"})
    moved: BoolProperty(
        description="The object shows a simulated frame and is an animated rigid body in the meantime",
        options={"HIDDEN"},
    )
    baked: BoolProperty(description="The motion is baked to keyframes", options={"HIDDEN"})
    action: PointerProperty(description="Action of the object before the bake", type=bpy.types.Action)
    location: FloatVectorProperty(
        description="Location of the object before the simulation", size=3, options={"HIDDEN"}
    )
    rotation: FloatVectorProperty(
        description="Rotation of the object before the simulation, in its rotation mode. Euler angles use three of the four values",
        size=4,
        options={"HIDDEN"},
    )


CLASSES = (TendrilBody,)


def register() -> None:
    bpy.types.Object.tendril_body = PointerProperty(description=TendrilBody.__doc__, type=TendrilBody)


def unregister() -> None:
    del bpy.types.Object.tendril_body
