"""How much force fields count, as Blender's own field weights say for its own physics: for all rods of a scene, and for each."""

import bpy
from bpy.props import PointerProperty

from ..bridge.fields import KINDS
from .kinds import number

_WEIGHTS = {
    "gravity": "the gravity of the scene",
    "field": "all force fields together",
    **dict.fromkeys(KINDS.values(), "force fields of this kind"),
}


def _weights(whom: str) -> dict[str, object]:
    return {
        f"{kind}_weight": number(
            "All" if kind == "field" else kind.capitalize(),
            f"How much {what} counts for {whom}",
            *(1.0, -200.0, 200.0, 1.0),
            soft_min=0.0,
            precision=3,
            step=1,
        )
        for kind, what in _WEIGHTS.items()
    }


class FieldSettings:
    """Of a scene."""

    field_collection: PointerProperty(
        name="Effector Collection",
        description="Only force fields of this collection act on rods; without one, all of the scene do. A strength of 1 "
        "is an acceleration of one metre per second squared",
        type=bpy.types.Collection,
    )
    __annotations__.update(_weights("all rods of the scene"))


class OwnFieldSettings:
    """Of a rod. Its weights and those of the scene are multiplied."""

    field_collection: PointerProperty(
        name="Effector Collection",
        description="Only force fields of this collection act on this rod; without one, those that act on all rods do",
        type=bpy.types.Collection,
    )
    __annotations__.update(_weights("this rod. Animate it"))
