"""Settings of a rod object."""

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, PointerProperty, StringProperty

from .. import cast
from .fields import OwnFieldSettings
from .holds import HoldSettings
from .material import MaterialSettings
from .net import NetSettings
from .over_time import OverTimeSettings
from .shape import ShapeSettings

# .blend files store the number of an item, so it must not change. Nets have a menu of their own.
_MODELS = [
    ("der", "Discrete Elastic Rod", "Rod that bends, twists and stretches: ropes, cables, springs and hair", "NONE", 0),
    ("compact", "Inextensible Rod", "Rod that bends and twists, but never stretches", "NONE", 2),
    (
        "clothoid",
        "Super Space Clothoid",
        "Few curved elements that never stretch: curls, ringlets and tendrils that are held only at the start",
        "NONE",
        3,
    ),
    (
        "der2008",
        "Discrete Elastic Rod 2008",
        "Inextensible rod as published in 2008, for comparison. It takes many small steps",
        "NONE",
        1,
    ),
]


class TendrilRod(
    MaterialSettings,
    ShapeSettings,
    NetSettings,
    HoldSettings,
    OverTimeSettings,
    OwnFieldSettings,
    bpy.types.PropertyGroup,
):
    """Rod settings of an object"""

    enabled: BoolProperty(
        name="Rod", description="The object is simulated as an elastic rod", options={"HIDDEN"}, update=cast.look_again
    )
    uid: StringProperty(description="Unique identifier of the rod", options={"HIDDEN"})
    shows_drawn: BoolProperty(
        description="The object shows the drawn shape, so editing it changes the drawn shape",
        default=True,
        options={"HIDDEN"},
    )
    format: IntProperty(description="Version of the format of these settings, see migration.py", options={"HIDDEN"})
    baked: BoolProperty(description="The motion is baked to shape keys", options={"HIDDEN"}, update=cast.look_again)
    model: EnumProperty(name="Model", description="Mechanical model of the rod", items=_MODELS)
    elements: IntProperty(
        name="Elements",
        description="Number of clothoid elements. Higher values follow the drawn curve more closely and are slower, zero "
        "chooses the number automatically",
        default=0,
        min=0,
        max=64,
        soft_max=20,
    )


CLASSES = (TendrilRod,)


def register() -> None:
    bpy.types.Object.tendril = PointerProperty(
        description=TendrilRod.__doc__, type=TendrilRod, override={"LIBRARY_OVERRIDABLE"}
    )


def unregister() -> None:
    del bpy.types.Object.tendril
