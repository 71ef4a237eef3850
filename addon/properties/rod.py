"""Settings of a rod object."""

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, PointerProperty, StringProperty

from .. import participants
from .fields import OwnFieldSettings
from .follow import FollowSettings
from .guides import GuideSettings
from .holds import HoldSettings
from .material import MaterialSettings
from .models import rod_models
from .net import NetSettings
from .over_time import OverTimeSettings
from .research import ResearchSettings
from .shape import ShapeSettings
from .stiffness import StiffnessSettings
from .type import TypeSettings


class TendrilRod(
    TypeSettings,
    MaterialSettings,
    ShapeSettings,
    StiffnessSettings,
    NetSettings,
    FollowSettings,
    GuideSettings,
    HoldSettings,
    OverTimeSettings,
    OwnFieldSettings,
    ResearchSettings,
    bpy.types.PropertyGroup,
):
    """Rod settings of an object"""

    enabled: BoolProperty(
        name="Rod",
        description="The object is simulated as an elastic rod",
        options={"HIDDEN"},
        update=participants.invalidate_on_update,
    )
    uid: StringProperty(description="Unique identifier of the rod", options={"HIDDEN"})
    shows_drawn: BoolProperty(
        description="The object shows the drawn shape, so editing it changes the drawn shape",
        default=True,
        options={"HIDDEN"},
    )
    format: IntProperty(description="Version of the format of these settings, see migration.py", options={"HIDDEN"})
    baked: BoolProperty(
        description="The motion is baked to shape keys", options={"HIDDEN"}, update=participants.invalidate_on_update
    )
    model: EnumProperty(
        name="Model", description="How the rod is computed. Standard suits nearly all rods", items=rod_models
    )
    elements: IntProperty(
        name="Elements",
        description="Number of curved elements. Higher values follow the drawn curve more closely and are slower, zero "
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
