"""Where a rod is held."""

from bpy.props import BoolProperty, CollectionProperty, EnumProperty, IntProperty, StringProperty

from .attachment import TendrilAttachment

_HOLDS = [
    ("FREE", "Free", "The end moves freely"),
    ("PIN", "Pinned", "The end stays on the object and follows its animation, but turns freely"),
    ("CLAMP", "Clamped", "The end stays on the object and follows its animation, with its direction and its twist"),
]


class HoldSettings:
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
    pin_group: StringProperty(
        name="Pin Group",
        description="Vertex group, or attribute of hair: points with a weight of at least a half stay on the object",
    )
    clamp_pins: BoolProperty(
        name="Pins Hold Orientation",
        description="Points pinned by weight hold the direction and the twist of the rod, too",
    )
    attachments: CollectionProperty(
        name="Attachments", description="What the rod hangs on besides its own object", type=TendrilAttachment
    )
    active_attachment: IntProperty(description="The attachment that is shown below the list", options={"HIDDEN"})
