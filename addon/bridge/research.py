"""Settings for comparisons with the papers, as the core takes them."""

from __future__ import annotations

from typing import Any

import bpy

from ...core import Corde, Elements
from ...core.describe.model import model_records
from .rods import model_of, uses_elements

# Settings of a rod by the names of the constants in the core. Zero leaves the choice to the model, except of friction.
CORDE = {
    "alpha": "corde_alpha",
    "kappa": "corde_kappa",
    "gamma_t": "corde_gamma_t",
    "gamma_r": "corde_gamma_r",
    "inertia": "corde_inertia",
    "step": "corde_step",
    "substeps": "corde_substeps",
}
_ZERO_COUNTS = ("gamma_t", "gamma_r")


def has_constants(obj: bpy.types.Object) -> bool:
    chosen = model_of(obj)
    return any(record.constants for record in model_records() if record.name == chosen)


def corde_of(obj: bpy.types.Object) -> Corde | None:
    """Constants of the model CoRdE; None for other models, which do not have them."""
    if not has_constants(obj):
        return None
    values = {name: getattr(obj.tendril, setting) for name, setting in CORDE.items()}
    # Blender stores single precision: 0.01 comes back as 0.0099999998.
    given: dict[str, Any] = {
        name: float(f"{value:.7g}") for name, value in values.items() if value or name in _ZERO_COUNTS
    }
    if "substeps" in given:
        given["substeps"] = values["substeps"]
    return Corde(**given)


def elements_of(obj: bpy.types.Object) -> Elements | None:
    """Number and kind of elements; None if the model has none, or chooses everything itself."""
    settings = obj.tendril
    if not uses_elements(obj):
        return None
    helices = settings.element_kind == "HELIX"
    if not settings.elements and not helices:
        return None
    return Elements(settings.elements or None, degree=0 if helices else 1)
