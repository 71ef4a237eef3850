"""Preferences page of the add-on: version, state of the solver, and a button that compiles it in advance."""

from __future__ import annotations

import bpy

from ..core.compile.version import VERSION
from ..core.describe.model import DEFAULT_ROD_MODEL
from . import copies, solver


class TENDRIL_OT_compile(bpy.types.Operator):
    """Compile the solver and the contact code for this machine now, so that the first playback starts without delay"""

    bl_idname = "tendril.compile"
    bl_label = "Compile Now"
    bl_options = {"REGISTER"}  # noqa: RUF012

    def execute(self, _context: bpy.types.Context) -> set[str]:
        if not solver.prepare([DEFAULT_ROD_MODEL], True):
            from ..core.run import warm_up

            warm_up.warm_up([DEFAULT_ROD_MODEL], True)
        return {"FINISHED"}


class TendrilPreferences(bpy.types.AddonPreferences):
    bl_idname = __package__.rpartition(".")[0]
    other = ""  # module name of another enabled copy of Tendril

    def draw(self, _context: bpy.types.Context) -> None:
        layout = self.layout
        layout.label(text=f"Tendril {VERSION}")
        if self.other:
            layout.label(text=copies.problem(self.other), icon="ERROR")
        elif solver.problem():
            layout.label(text=solver.problem(), icon="ERROR")
        elif solver.is_compiling():
            layout.progress(factor=solver.progress(), text=solver.progress_text())
        elif solver.is_precompiled():
            layout.label(text="The solver is precompiled: playback starts at once", icon="CHECKMARK")
        else:
            row = layout.row()
            row.label(text="The solver is compiled for this machine at the first playback of a rod", icon="INFO")
            row.operator("tendril.compile")


def register(other: str = "") -> None:
    TendrilPreferences.other = other
    bpy.utils.register_class(TendrilPreferences)
    if not other:
        bpy.utils.register_class(TENDRIL_OT_compile)


def unregister() -> None:
    if not TendrilPreferences.other:
        bpy.utils.unregister_class(TENDRIL_OT_compile)
    bpy.utils.unregister_class(TendrilPreferences)
