"""What is shown of a rod beyond its shape: in numbers, and over the viewport."""

from __future__ import annotations

import bpy

from .. import memory
from ..overlay.looks import look_of
from .base import RodPanel, say


def lines_of(scene: bpy.types.Scene, uid: str) -> list[tuple[str, str]]:
    """Names and values for the panel; none if nothing is known of the frame that is shown."""
    look, running = look_of(scene, uid), memory.running_of(scene)
    if look is None or running is None:
        return []
    numbers = look.numbers
    tension = "not known to this model" if numbers.tension is None else f"{numbers.tension:.4g} N"
    return [
        ("Length", f"{numbers.length:.5g} m"),
        ("Stretch", f"{100.0 * numbers.stretch:.3g} %"),
        ("Elastic Energy", f"{numbers.elastic:.4g} J"),
        ("Kinetic Energy", f"{numbers.kinetic:.4g} J"),
        ("Largest Tension", tension),
        ("Contacts", str(numbers.contacts)),
        ("A Frame Takes", "not simulated here" if running.seconds is None else f"{1e3 * running.seconds:.3g} ms"),
    ]


class TENDRIL_PT_numbers(RodPanel, bpy.types.Panel):
    bl_label = "Numbers"
    bl_parent_id = "TENDRIL_PT_rod"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        found = lines_of(context.scene, context.object.tendril.uid)
        if not found:
            say(self.layout, context, "Nothing is known of this frame: play it", "INFO")
        for name, value in found:
            row = self.layout.split(factor=0.4)
            row.alignment = "RIGHT"
            row.label(text=name)
            row.label(text=value)


class TENDRIL_PT_overlay(RodPanel, bpy.types.Panel):
    bl_label = "Viewport Overlay"
    bl_parent_id = "TENDRIL_PT_rod"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(context.scene.tendril, "show_overlay", text="")

    def draw(self, context: bpy.types.Context) -> None:
        layout, shared = self.layout, context.scene.tendril
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.active = shared.show_overlay
        layout.prop(shared, "overlay_colour")
        if shared.overlay_colour != "NONE":
            layout.prop(shared, "overlay_largest")
        column = layout.column(heading="Show", align=True)
        column.prop(shared, "overlay_pins")
        column.prop(shared, "overlay_contacts")
        column.prop(shared, "overlay_frames")


CLASSES = (TENDRIL_PT_numbers, TENDRIL_PT_overlay)
