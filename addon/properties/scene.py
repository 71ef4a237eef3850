"""Simulation settings shared by all rods of a scene."""

import bpy
from bpy.props import BoolProperty, FloatVectorProperty, IntProperty, PointerProperty

from .cache import CacheSettings
from .fields import FieldSettings
from .kinds import distance, factor, number
from .overlay import OverlaySettings
from .research import ResearchScene


class TendrilScene(FieldSettings, CacheSettings, OverlaySettings, ResearchScene, bpy.types.PropertyGroup):
    """Simulation settings shared by all rods of a scene"""

    rod_contact: BoolProperty(
        name="Itself and Rods",
        description="Detect contact between rods and of each rod with itself. Without it rods collide with colliders only, which "
        "is faster",
        default=False,
    )
    colliders: PointerProperty(
        name="Collides With",
        description="Collection of the meshes that rods collide with; they may move and deform. If empty, rods collide with all "
        "meshes that have Collision physics",
        type=bpy.types.Collection,
    )
    use_rigid_bodies: BoolProperty(
        name="Rigid Bodies",
        description="Make rods collide with the rigid bodies of the scene, using the friction of each body",
        default=True,
    )
    push_bodies: BoolProperty(
        name="Push Bodies",
        description="Apply contact forces of rods to active rigid bodies, unless the rigid body world is baked. All active "
        "bodies are then simulated together with the rods, without force fields, deforming meshes, compound shapes and "
        "animated settings",
        default=True,
    )
    substeps: IntProperty(
        name="Substeps",
        description="Time steps per frame. Higher values are more accurate and slower",
        default=4,
        min=1,
        max=1000,
        soft_max=50,
    )
    effort: IntProperty(
        name="Effort",
        description="Iterations that contact may take in a frame. Lower values bound the time of difficult frames: what is not "
        "resolved then stays where it was, and is reported",
        default=5000,
        min=10,
        max=1000000,
        soft_max=20000,
    )
    time_scale: number(
        "Time Scale",
        "Simulated time per time of the scene. Lower values are slow motion: rods move more slowly, while objects follow their "
        "keyframes",
        1.0,
        0.001,
        100.0,
        10.0,
        soft_min=0.01,
        precision=3,
        step=1,
    )
    inertia_object: PointerProperty(
        name="Inertia Object",
        description="Object whose motion rods feel only in part, such as a head or a character. Linear and angular inertia say "
        "how much of it",
        type=bpy.types.Object,
    )
    linear_inertia: factor(
        "Linear Inertia",
        "How much rods feel of the way that the object moves: 1 is physics, at 0 rods are carried along rigidly",
        1.0,
    )
    angular_inertia: factor(
        "Angular Inertia",
        "How much rods feel of the rotation of the object: 1 is physics, at 0 rods turn along rigidly",
        1.0,
    )
    teleport_distance: distance(
        "Teleport Distance",
        "Rods are carried along rigidly in a frame in which the object, or without one what their start is attached to, moves "
        "farther than this. At 0 nothing teleports",
        0.0,
        1e6,
        100.0,
        min=0.0,
    )
    air_density: number(
        "Air Density (kg/m³)",
        "Density of the surrounding medium in kg/m³: vacuum 0, air 1.2, water 1000. Higher values increase air drag and "
        "the effect of wind",
        1.2,
        0.0,
        20_000.0,
        10.0,
        precision=2,
        step=10,
    )
    wind: FloatVectorProperty(
        name="Wind",
        description="Velocity of the air, the same everywhere in the scene",
        size=3,
        soft_min=-50.0,
        soft_max=50.0,
        precision=2,
        step=10,
        subtype="VELOCITY",
    )
    drag: number(
        "Drag (1/s)",
        "Rate at which the velocity relative to the air decays, independent of the thickness. Higher values slow rods more",
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
