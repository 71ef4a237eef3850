"""Field weights, as in Blender's own physics: per scene and per rod."""

import bpy
from bpy.props import PointerProperty

from ..bridge.fields import KINDS
from .kinds import number

_WEIGHTS = {
    "gravity": "the gravity of the scene",
    "field": "all force fields together",
    **dict.fromkeys(KINDS.values(), "force fields of this type"),
}


def _weights(affected: str) -> dict[str, object]:
    return {
        f"{kind}_weight": number(
            "All" if kind == "field" else kind.capitalize(),
            f"Factor for the effect of {effect} on {affected}. Higher values strengthen it, zero disables it",
            *(1.0, -200.0, 200.0, 1.0),
            soft_min=0.0,
            precision=3,
            step=1,
        )
        for kind, effect in _WEIGHTS.items()
    }


class FieldSettings:
    """Field settings of a scene."""

    field_collection: PointerProperty(
        name="Effector Collection",
        description="Limit the force fields that act on rods to this collection. A field strength of 1 is an acceleration "
        "of 1 m/s²",
        type=bpy.types.Collection,
    )
    __annotations__.update(_weights("all rods of the scene"))


class OwnFieldSettings:
    """Field settings of a rod. Its weights multiply those of the scene."""

    field_collection: PointerProperty(
        name="Effector Collection",
        description="Limit the force fields that act on this rod to this collection. It replaces the collection of the scene",
        type=bpy.types.Collection,
    )
    __annotations__.update(_weights("this rod"))
