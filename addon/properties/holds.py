"""Pin settings of a rod."""

import bpy
from bpy.props import BoolProperty, CollectionProperty, EnumProperty, IntProperty, StringProperty

from .. import participants
from ..bridge import attachments
from .attachment import TendrilAttachment

# .blend files store the number of an item, so it must not change.
_HOLDS = [
    ("FREE", "Free", "The end point moves freely", "NONE", 0),
    ("PIN", "Pinned", "The end point follows the object. The rod rotates freely about it", "NONE", 1),
    ("CLAMP", "Clamped", "The end point, its direction and its twist follow the object", "NONE", 2),
    ("ATTACH", "Attached to", "The end point follows another object, which may be a bone or a rigid body", "NONE", 3),
    ("ORIENT", "Oriented", "Direction and twist follow the object, and the end point moves freely", "NONE", 4),
]


def _attach_start(self: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    attachments.keep_end_attachment(self, "START", self.start_hold)
    participants.invalidate_on_update(self, context)


def _attach_end(self: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    attachments.keep_end_attachment(self, "END", self.end_hold)
    participants.invalidate_on_update(self, context)


class HoldSettings:
    start_hold: EnumProperty(
        name="Start",
        description="Constraint of the first point of each spline",
        items=_HOLDS,
        default="PIN",
        update=_attach_start,
    )
    end_hold: EnumProperty(
        name="End",
        description="Constraint of the last point of each spline. It does not apply to cyclic splines",
        items=_HOLDS,
        default="FREE",
        update=_attach_end,
    )
    pin_by_weight: BoolProperty(
        name="Pin by Weight",
        description="Pin control points whose goal weight is at least 0.5. Set the goal weight in the sidebar in Edit Mode",
    )
    pin_group: StringProperty(
        name="Pin Group",
        description="Vertex group, or attribute of hair. Points with a weight of at least 0.5 are pinned to the object",
    )
    clamp_pins: BoolProperty(
        name="Pins Hold Orientation",
        description="Clamp points that are pinned by weight, so that the direction and the twist of the rod follow the object too",
    )
    attachments: CollectionProperty(
        name="Attachments", description="Points of the rod that follow other objects", type=TendrilAttachment
    )
    active_attachment: IntProperty(description="Index of the attachment shown below the list", options={"HIDDEN"})
