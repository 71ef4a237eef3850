"""Settings of nets, which are meshes and curves whose splines are tied together; and of breaking."""

import bpy
from bpy.props import BoolProperty, EnumProperty

from .. import breaking, participants
from ..bridge import curves
from .kinds import distance, factor, number
from .models import net_models


def _mark_breaks(self: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    if self.enabled and not self.shows_drawn and not self.baked:
        curves.restore_drawn(self.id_data.data)
        self.shows_drawn = True
    if self.enabled:
        breaking.mark(self.id_data)
    participants.invalidate_on_update(self, context)


class NetSettings:
    net_model: EnumProperty(
        name="Model",
        description="Mechanical model of the net",
        items=net_models,
    )
    tie_splines: BoolProperty(
        name="Tie Splines",
        description="Join splines where they touch or cross, and simulate all splines as one net",
    )
    tie_distance: distance(
        "Distance",
        "Splines closer than this distance are tied, so higher values tie more of them. Zero uses twice the largest radius",
        0.0,
        10.0,
        0.5,
        min=0.0,
    )
    break_force: number(
        "Break Force (N)",
        "Tension above which a segment tears. Higher values make the rod stronger, zero disables tearing",
        0.0,
        0.0,
        1e12,
        1e5,
        precision=1,
        step=1000,
        update=_mark_breaks,
    )
    break_moment: number(
        "Break Moment (N m)",
        "Bending or torsional moment above which the rod becomes a hinge at a point. Higher values make it stronger, zero "
        "disables breaking",
        0.0,
        0.0,
        1e12,
        1e4,
        precision=2,
        step=100,
        update=_mark_breaks,
    )
    cut_influence: factor(
        "Whole",
        "The rod is cut when this value falls below 0.5, and stays cut. Animate it to cut the rod during the simulation",
        1.0,
    )
    cut_at: factor("Cut At", "Where the rod is cut: 0 is the start, 1 the end", 0.5)
