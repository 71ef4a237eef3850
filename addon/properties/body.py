"""A rigid body that Tendril moves."""

import bpy
from bpy.props import BoolProperty, FloatVectorProperty, PointerProperty, StringProperty


class TendrilBody(bpy.types.PropertyGroup):
    """What a rigid body was like before Tendril moved it: not to be set by people"""

    uid: StringProperty(description="Tells this body from all others", options={"HIDDEN"})
    moved: BoolProperty(
        description="The object shows a frame of Tendril, as an animated rigid body", options={"HIDDEN"}
    )
    baked: BoolProperty(description="The motion is in keyframes", options={"HIDDEN"})
    action: PointerProperty(description="The animation it had before it was baked", type=bpy.types.Action)
    location: FloatVectorProperty(description="Where the object was", size=3, options={"HIDDEN"})
    rotation: FloatVectorProperty(
        description="As the object's rotation mode has it; Euler angles take three of the four",
        size=4,
        options={"HIDDEN"},
    )


CLASSES = (TendrilBody,)


def register() -> None:
    bpy.types.Object.tendril_body = PointerProperty(description=TendrilBody.__doc__, type=TendrilBody)


def unregister() -> None:
    del bpy.types.Object.tendril_body
