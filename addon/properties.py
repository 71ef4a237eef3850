"""What people set, per object and per scene. SI units: lengths are shown in the units of the scene."""

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ..core import Material
from ..core.scene import DEFAULT_FRICTION
from .bridge.rods import MATERIALS

# The numbers are what files keep. Nets are not made of curves.
_MODELS = [
    ("der", "Discrete Elastic Rod", "Bends, twists and stretches: for ropes, cables, springs and hair", "NONE", 0),
    ("compact", "Inextensible Rod", "Bends and twists and never stretches, whatever pulls on it", "NONE", 2),
    (
        "clothoid",
        "Super Space Clothoid",
        "Few elements that curl, and never stretch: for curls, ringlets and tendrils that are held at their start alone",
        "NONE",
        3,
    ),
    (
        "der2008",
        "Discrete Elastic Rod 2008",
        "As first published: can't be stretched, takes many short steps. For comparison",
        "NONE",
        1,
    ),
]

_MATERIALS = [
    *(
        (identifier, name.capitalize(), f"The properties of {name}", "NONE", number)
        for number, (identifier, name) in enumerate(MATERIALS.items())
    ),
    # Its number stays when materials are added, so that files keep what they say.
    ("CUSTOM", "Custom", "Give the properties yourself", "NONE", 1000),
]

_HOLDS = [
    ("FREE", "Free", "The end moves freely"),
    ("PIN", "Pinned", "The end stays on the object and follows its animation, but turns freely"),
    ("CLAMP", "Clamped", "The end stays on the object and follows its animation, with its direction and its twist"),
]


def _take_preset(self: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Custom values begin with those of the preset chosen before."""
    if self.material != "CUSTOM":
        material = Material.preset(MATERIALS[self.material])
        for name in ("young_modulus", "poisson_ratio", "density", "damping_time", "strands"):
            setattr(self, name, getattr(material, name))


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
    use_rotation: BoolProperty(
        name="Orientation",
        description="The direction and the twist of the rod follow the target too; without it the rod turns freely",
    )
    influence: FloatProperty(
        name="Influence",
        description="Below a half the attachment lets go. Animate it to release a rod on the way; then it stays free",
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )


class TendrilRod(bpy.types.PropertyGroup):
    """A curve object as a rod"""

    enabled: BoolProperty(name="Rod", description="The curve is an elastic rod", options={"HIDDEN"})
    uid: StringProperty(description="Tells this rod from all others", options={"HIDDEN"})
    shows_drawn: BoolProperty(
        description="The curve shows the shape that was drawn, so that edits of it are edits of the drawn shape",
        default=True,
        options={"HIDDEN"},
    )
    baked: BoolProperty(description="The motion lies in shape keys", options={"HIDDEN"})

    model: EnumProperty(
        name="Model",
        description="How the rod is computed",
        items=_MODELS,
    )
    radius_from: EnumProperty(
        name="Thickness",
        description="How thick the rod is",
        items=[
            ("GIVEN", "Given", "The same radius all along the rod"),
            ("CURVE", "As It Looks", "The bevel depth of the curve times the radius of each point"),
        ],
    )
    radius: FloatProperty(
        name="Radius",
        description="Half the thickness of the rod: it makes it heavy and stiff. What one sees is the curve's bevel",
        default=0.01,
        min=1e-6,
        max=100.0,
        soft_min=1e-4,
        soft_max=0.5,
        precision=4,
        step=0.1,
        subtype="DISTANCE",
    )
    material: EnumProperty(
        name="Material", description="What the rod is made of", items=_MATERIALS, update=_take_preset
    )
    young_modulus: FloatProperty(
        name="Young's Modulus (Pa)",
        description="Stiffness against stretching and bending, in pascal: rubber 2e6, nylon 3e9, steel 2e11",
        default=5e8,
        min=1e2,
        max=1e13,
        soft_min=1e5,
        soft_max=3e11,
        precision=0,
        step=100_000_000,
    )
    poisson_ratio: FloatProperty(
        name="Poisson's Ratio",
        description="With Young's modulus it gives the stiffness against twisting: cork 0, metals 0.3, rubber 0.5",
        default=0.39,
        min=-0.99,
        max=0.5,
        soft_min=0.0,
        precision=3,
        step=1,
    )
    density: FloatProperty(
        name="Density (kg/m³)",
        description="Mass per volume, in kilograms per cubic metre: water 1000, rope 950, steel 7850",
        default=950.0,
        min=1.0,
        max=30_000.0,
        soft_min=100.0,
        soft_max=10_000.0,
        precision=0,
        step=1000,
    )
    damping_time: FloatProperty(
        name="Damping",
        description="Inner friction, as a time: vibrations much faster than this die out at once. Zero is undamped",
        default=2e-3,
        min=0.0,
        max=10.0,
        soft_max=0.1,
        precision=4,
        step=0.1,
        subtype="TIME_ABSOLUTE",
    )
    strands: FloatProperty(
        name="Strands",
        description="Fibres that slide on each other: a rope bends and twists that much easier than a solid section. "
        "1 is solid",
        default=200.0,
        min=1.0,
        max=1e6,
        soft_max=1000.0,
        precision=0,
        step=1000,
    )
    friction: FloatProperty(
        name="Friction",
        description="Coefficient of friction of the surface. Between two surfaces it is the root of the product of "
        "theirs: ice 0.05, wood 0.4, rubber 1",
        default=DEFAULT_FRICTION,
        min=0.0,
        max=100.0,
        soft_max=2.0,
        precision=2,
        step=1,
    )
    rest_shape: EnumProperty(
        name="Rest Shape",
        description="The shape the rod has when nothing pulls on it",
        items=[
            ("AS_DRAWN", "As Drawn", "The rod was made in the shape that is drawn: springs, wires, hair"),
            ("STRAIGHT", "Straight", "The rod was made straight and is bent into the shape that is drawn: ropes, rods"),
            ("CURLY", "Curly", "The rod was made as a helix and is stretched into the shape that is drawn: curly hair"),
        ],
    )
    curl_radius: FloatProperty(
        name="Curl Radius",
        description="Radius of the helix the rod has when nothing pulls on it",
        default=0.005,
        min=1e-5,
        max=10.0,
        soft_max=0.1,
        precision=4,
        step=0.1,
        subtype="DISTANCE",
    )
    curl_length: FloatProperty(
        name="Curl Length",
        description="How far the helix gets in one turn: short for curls, long for waves",
        default=0.015,
        min=1e-5,
        max=10.0,
        soft_max=0.5,
        precision=4,
        step=0.1,
        subtype="DISTANCE",
    )
    stiffness_at_end: FloatProperty(
        name="Stiffness at End",
        description="How stiff against bending and twisting the rod is at its end, as a part of what it is at its start; "
        "between them it changes evenly",
        default=1.0,
        min=0.001,
        max=1000.0,
        soft_min=0.01,
        soft_max=10.0,
        precision=3,
        step=1,
    )
    stiffness_by_weight: BoolProperty(
        name="Stiffness by Weight",
        description="The goal weight of each control point multiplies its stiffness; a weight below 0.001 counts as that. "
        "The weight is in the sidebar in Edit Mode",
    )
    start_hold: EnumProperty(
        name="Start", description="What holds the first point of each spline", items=_HOLDS, default="PIN"
    )
    end_hold: EnumProperty(
        name="End",
        description="What holds the last point of each spline; a cyclic spline has none",
        items=_HOLDS,
        default="FREE",
    )

    pin_by_weight: BoolProperty(
        name="Pin by Weight",
        description="Control points with a goal weight of at least a half stay on the object. The weight is in the "
        "sidebar in Edit Mode",
    )
    attachments: CollectionProperty(
        name="Attachments", description="What the rod hangs on besides its own object", type=TendrilAttachment
    )
    active_attachment: IntProperty(description="The attachment that is shown below the list", options={"HIDDEN"})


class TendrilScene(bpy.types.PropertyGroup):
    """What all rods of a scene share"""

    rod_contact: BoolProperty(
        name="Rods Collide",
        description="Rods collide with each other and with themselves. With colliders they always do",
        default=False,
    )
    colliders: PointerProperty(
        name="Colliders",
        description="The meshes in this collection are what rods collide with, moving and deforming ones included",
        type=bpy.types.Collection,
    )
    use_own_range: BoolProperty(
        name="Own Range",
        description="Simulate other frames than those of the scene",
    )
    cache_start: IntProperty(
        name="Simulation Start", description="The frame at which the rods are as they are drawn", default=1
    )
    cache_end: IntProperty(
        name="End", description="The last frame that is simulated; after it nothing moves", default=250
    )
    use_disk_cache: BoolProperty(
        name="Disk Cache",
        description="Keep simulated frames in a folder beside the .blend file: they are there when it is opened again",
    )
    substeps: IntProperty(
        name="Substeps",
        description="Steps per frame. More are more exact and slower",
        default=4,
        min=1,
        max=1000,
        soft_max=50,
    )
    air_density: FloatProperty(
        name="Air Density (kg/m³)",
        description="Slows rods and lets the wind carry them, in kilograms per cubic metre: air 1.2, water 1000, "
        "vacuum 0",
        default=1.2,
        min=0.0,
        max=20_000.0,
        soft_max=10.0,
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
    drag: FloatProperty(
        name="Drag (1/s)",
        description="Slows all motion against the air by this part of the speed each second, whatever the thickness",
        default=0.0,
        min=0.0,
        max=1000.0,
        soft_max=10.0,
        precision=2,
        step=10,
    )


class TendrilCollider(bpy.types.PropertyGroup):
    """The surface of a mesh that rods collide with, where Blender's own Collision physics does not say it"""

    thickness: FloatProperty(
        name="Thickness",
        description="Rods keep this distance from the surface, on top of their radius",
        default=0.0,
        min=0.0,
        max=10.0,
        soft_max=0.1,
        precision=4,
        step=0.1,
        subtype="DISTANCE",
    )
    friction: FloatProperty(
        name="Friction",
        description="Coefficient of friction of the surface. Between two surfaces it is the root of the product of "
        "theirs: ice 0.05, wood 0.4, rubber 1",
        default=DEFAULT_FRICTION,
        min=0.0,
        max=100.0,
        soft_max=2.0,
        precision=2,
        step=1,
    )


CLASSES = (TendrilAttachment, TendrilRod, TendrilScene, TendrilCollider)


def register() -> None:
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Object.tendril = PointerProperty(type=TendrilRod)
    bpy.types.Object.tendril_collider = PointerProperty(type=TendrilCollider)
    bpy.types.Scene.tendril = PointerProperty(type=TendrilScene)


def unregister() -> None:
    del bpy.types.Scene.tendril
    del bpy.types.Object.tendril_collider
    del bpy.types.Object.tendril
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
