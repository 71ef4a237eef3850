"""A rod: what it is, and all that people set for it."""

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, PointerProperty, StringProperty

from .. import participants
from .fields import OwnFieldSettings
from .holds import HoldSettings
from .material import MaterialSettings
from .net import NetSettings
from .over_time import OverTimeSettings
from .shape import ShapeSettings

# The numbers are what files keep. Nets have models of their own.
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


class TendrilRod(
    MaterialSettings,
    ShapeSettings,
    NetSettings,
    HoldSettings,
    OverTimeSettings,
    OwnFieldSettings,
    bpy.types.PropertyGroup,
):
    """A curve object as a rod"""

    enabled: BoolProperty(
        name="Rod",
        description="The curve is an elastic rod",
        options={"HIDDEN"},
        update=participants.invalidate_on_update,
    )
    uid: StringProperty(description="Tells this rod from all others", options={"HIDDEN"})
    shows_drawn: BoolProperty(
        description="The curve shows the shape that was drawn, so that edits of it are edits of the drawn shape",
        default=True,
        options={"HIDDEN"},
    )
    format: IntProperty(description="Of these settings: see migration.py", options={"HIDDEN"})
    baked: BoolProperty(
        description="The motion lies in shape keys", options={"HIDDEN"}, update=participants.invalidate_on_update
    )
    model: EnumProperty(name="Model", description="How the rod is computed", items=_MODELS)
    elements: IntProperty(
        name="Elements",
        description="Curved elements that a clothoid is made of. Zero: as few as follow the drawn points, and at least four",
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
