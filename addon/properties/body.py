"""A rigid body that Tendril moves."""

import bpy
from bpy.props import BoolProperty, FloatVectorProperty, PointerProperty


class TendrilBody(bpy.types.PropertyGroup):
    """What a rigid body was like before Tendril moved it: not to be set by people"""

    moved: BoolProperty(
        description="The object shows a frame of Tendril, as an animated rigid body", options={"HIDDEN"}
    )
    baked: BoolProperty(description="The motion is in keyframes", options={"HIDDEN"})
    location: FloatVectorProperty(size=3, options={"HIDDEN"})
    rotation: FloatVectorProperty(
        description="As the object's rotation mode has it; Euler angles take three of the four",
        size=4,
        options={"HIDDEN"},
    )


CLASSES = (TendrilBody,)


def register() -> None:
    bpy.types.Object.tendril_body = PointerProperty(type=TendrilBody)


def unregister() -> None:
    del bpy.types.Object.tendril_body
