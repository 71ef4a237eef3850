"""What all rods of a scene share."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatVectorProperty, IntProperty, PointerProperty

from .cache import CacheSettings
from .fields import FieldSettings
from .kinds import number
from .overlay import OverlaySettings


class TendrilScene(FieldSettings, CacheSettings, OverlaySettings, bpy.types.PropertyGroup):
    """What all rods of a scene share"""

    rod_contact: BoolProperty(
        name="Rods Collide",
        description="Rods collide with each other and with themselves. With colliders they always do",
        default=False,
    )
    contact: EnumProperty(
        name="Contact",
        description="How the forces between rods, and between rods and colliders, are found",
        items=(
            ("coulomb", "Exact", "To a thousandth of a radius, for all models and with rigid bodies"),
            (
                "gauss-seidel",
                "Hair",
                "For heads of hair: many times as fast where hundreds of strands touch, and good to a tenth of their thickness. "
                "All rods of the scene must be clothoids, and no rigid bodies be moved by them",
            ),
        ),
    )
    colliders: PointerProperty(
        name="Colliders",
        description="The meshes in this collection are what rods collide with, moving and deforming ones included. Without one, "
        "all meshes with Collision physics are",
        type=bpy.types.Collection,
    )
    use_rigid_bodies: BoolProperty(
        name="Rigid Bodies",
        description="Rods collide with the rigid bodies of the scene, with the friction of these",
        default=True,
    )
    push_bodies: BoolProperty(
        name="Push Bodies",
        description="Rods push the active rigid bodies they touch. All active bodies of the scene then move together with the "
        "rods, in Blender's own engine, unless these are baked there. What that can't do: rods that weigh more than some ten times "
        "the body, force fields, bodies whose mesh deforms, compound shapes, and settings that are animated",
        default=True,
    )
    substeps: IntProperty(
        name="Substeps",
        description="Steps per frame. More are more exact and slower",
        default=4,
        min=1,
        max=1000,
        soft_max=50,
    )
    air_density: number(
        "Air Density (kg/m³)",
        "Slows rods and lets the wind carry them, in kilograms per cubic metre: air 1.2, water 1000, vacuum 0",
        1.2,
        0.0,
        20_000.0,
        10.0,
        precision=2,
        step=10,
    )
    wind: FloatVectorProperty(
        name="Wind",
        description="Velocity of the air",
        size=3,
        soft_min=-50.0,
        soft_max=50.0,
        precision=2,
        step=10,
        subtype="VELOCITY",
    )
    drag: number(
        "Drag (1/s)",
        "Slows all motion against the air by this part of the speed each second, whatever the thickness",
        0.0,
        0.0,
        1000.0,
        10.0,
        precision=2,
        step=10,
    )


CLASSES = (TendrilScene,)


def register() -> None:
    bpy.types.Scene.tendril = PointerProperty(
        description=TendrilScene.__doc__, type=TendrilScene, override={"LIBRARY_OVERRIDABLE"}
    )


def unregister() -> None:
    del bpy.types.Scene.tendril
