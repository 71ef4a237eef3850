"""Surface settings of a mesh that rods collide with."""

import bpy
from bpy.props import PointerProperty

from .kinds import distance, friction


class TendrilCollider(bpy.types.PropertyGroup):
    """Surface settings of a rod collider, used if the mesh has no Collision physics"""

    thickness: distance(
        "Thickness",
        "Distance that rods keep from the surface in addition to their radius. Higher values keep them farther away",
        0.0,
        10.0,
        0.1,
        min=0.0,
    )
    friction: friction()


CLASSES = (TendrilCollider,)


def register() -> None:
    bpy.types.Object.tendril_collider = PointerProperty(
        description=TendrilCollider.__doc__, type=TendrilCollider, override={"LIBRARY_OVERRIDABLE"}
    )


def unregister() -> None:
    del bpy.types.Object.tendril_collider
