"""Panels of the statistics of a rod and of the viewport overlay."""

from __future__ import annotations

import bpy

from .. import memory, pace
from ..overlay.snapshots import snapshot_of
from .base import RodPanel, draw_message


def statistics_rows(scene: bpy.types.Scene, uid: str) -> list[tuple[str, str]]:
    """Names and values of the panel; empty if the current frame has no simulation state."""
    snapshot, running = snapshot_of(scene, uid), memory.running_of(scene)
    if snapshot is None or running is None:
        return []
    statistics = snapshot.statistics
    tension = "not available for this model" if statistics.tension is None else f"{statistics.tension:.4g} N"
    playing = pace.pace_of(scene)
    pace_rows = (
        [
            ("Frames per Second", f"{playing.rate:.3g}"),
            ("Solver", f"{1e3 * playing.solver:.3g} ms a frame"),
            ("Blender", f"{1e3 * playing.blender:.3g} ms a frame"),
        ]
        if playing is not None
        else []
    )
    return [
        *pace_rows,
        ("Length", f"{statistics.length:.5g} m"),
        ("Stretch", f"{100.0 * statistics.stretch:.3g} %"),
        ("Elastic Energy", f"{statistics.elastic:.4g} J"),
        ("Kinetic Energy", f"{statistics.kinetic:.4g} J"),
        ("Largest Tension", tension),
        ("Contacts", str(statistics.contacts)),
        (
            "A Frame Takes",
            "not simulated in this session" if running.seconds is None else f"{1e3 * running.seconds:.3g} ms",
        ),
    ]


class TENDRIL_PT_numbers(RodPanel, bpy.types.Panel):
    bl_label = "Numbers"
    bl_parent_id = "TENDRIL_PT_rod"
    bl_options = {"DEFAULT_CLOSED"}  # noqa: RUF012

    def draw(self, context: bpy.types.Context) -> None:
        rows = statistics_rows(context.scene, context.object.tendril.uid)
        if not rows:
            draw_message(self.layout, context, "No simulation data for this frame: play it", "INFO")
        for name, value in rows:
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
        layout.use_property_split = self.splits(context)
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
