"""The surface of a mesh that rods collide with."""

import bpy
from bpy.props import PointerProperty

from .kinds import distance, friction


class TendrilCollider(bpy.types.PropertyGroup):
    """The surface of a mesh that rods collide with, where Blender's own Collision physics does not say it"""

    thickness: distance(
        "Thickness", "Rods keep this distance from the surface, on top of their radius", 0.0, 10.0, 0.1, min=0.0
    )
    friction: friction()


CLASSES = (TendrilCollider,)


def register() -> None:
    bpy.types.Object.tendril_collider = PointerProperty(
        description=TendrilCollider.__doc__, type=TendrilCollider, override={"LIBRARY_OVERRIDABLE"}
    )


def unregister() -> None:
    del bpy.types.Object.tendril_collider
