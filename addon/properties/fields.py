"""How much force fields count, as Blender's own field weights say for its own physics."""

import bpy
from bpy.props import PointerProperty

from .kinds import number


def _weight(name: str, what: str) -> object:
    return number(name, f"How much {what} counts for rods", 1.0, -200.0, 200.0, 1.0, soft_min=0.0, precision=3, step=1)


class FieldSettings:
    field_collection: PointerProperty(
        name="Effector Collection",
        description="Only force fields of this collection act on rods; without one, all of the scene do. A strength of 1 "
        "is an acceleration of one metre per second squared",
        type=bpy.types.Collection,
    )
    gravity_weight: _weight("Gravity", "the gravity of the scene")
    field_weight: _weight("All", "all force fields together")
    wind_weight: _weight("Wind", "wind")
    force_weight: _weight("Force", "force")
    vortex_weight: _weight("Vortex", "vortex")
    magnetic_weight: _weight("Magnetic", "magnetic")
    harmonic_weight: _weight("Harmonic", "harmonic")
    turbulence_weight: _weight("Turbulence", "turbulence")
    drag_weight: _weight("Drag", "drag")
