"""Pin settings of a rod."""

from bpy.props import BoolProperty, CollectionProperty, EnumProperty, IntProperty, StringProperty

from .attachment import TendrilAttachment

_HOLDS = [
    ("FREE", "Free", "The end point moves freely"),
    ("PIN", "Pinned", "The end point follows the object. The rod rotates freely about it"),
    ("CLAMP", "Clamped", "The end point, its direction and its twist follow the object"),
]


class HoldSettings:
    start_hold: EnumProperty(
        name="Start", description="Constraint of the first point of each spline", items=_HOLDS, default="PIN"
    )
    end_hold: EnumProperty(
        name="End",
        description="Constraint of the last point of each spline. It does not apply to cyclic splines",
        items=_HOLDS,
        default="FREE",
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
