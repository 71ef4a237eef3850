"""Draws over the viewport. What it draws is in shapes.py."""

from __future__ import annotations

import bpy

from ..bridge.rods import rods_in
from . import shapes
from .looks import Look, look_of

_handle: object | None = None
_LINE_WIDTH, _FRAME_WIDTH, _POINT_SIZE = 4.0, 1.5, 9.0


def register() -> None:
    global _handle
    if not bpy.app.background:  # without a window there is nothing to draw on
        _handle = bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_VIEW")


def unregister() -> None:
    global _handle
    if _handle is not None:
        bpy.types.SpaceView3D.draw_handler_remove(_handle, "WINDOW")
        _handle = None


def redraw(_settings: object = None, _context: object = None) -> None:
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def layers(scene: bpy.types.Scene, looks: list[Look]) -> tuple[list[tuple[shapes.Marks, float]], list[shapes.Marks]]:
    """Lines with their widths, and points, as the scene wants them."""
    shared = scene.tendril
    lines: list[tuple[shapes.Marks, float]] = []
    points: list[shapes.Marks] = []
    largest = shared.overlay_largest or shapes.largest_of(looks, shared.overlay_colour)
    for look in looks:
        if shared.overlay_colour in look.values:
            lines.append((shapes.coloured_edges(look, shared.overlay_colour, largest), _LINE_WIDTH))
        if shared.overlay_frames:
            lines.append((shapes.material_frames(look), _FRAME_WIDTH))
        if shared.overlay_pins:
            points.append(shapes.marks(look.pins, shapes.PIN))
        if shared.overlay_contacts:
            points.append(shapes.marks(look.contacts, shapes.CONTACT))
    return lines, points


def _draw() -> None:
    scene, view = bpy.context.scene, bpy.context.space_data
    if not scene.tendril.show_overlay or not view.overlay.show_overlays:
        return
    uids = [obj.tendril.uid for obj in rods_in(scene.objects) if obj.visible_get() and not obj.tendril.baked]
    looks = [look for look in (look_of(scene, uid) for uid in uids) if look is not None]
    lines, points = layers(scene, looks)
    import gpu
    from gpu_extras.batch import batch_for_shader

    gpu.state.depth_test_set("NONE")  # rods are drawn as tubes, and this lies inside
    gpu.state.blend_set("ALPHA")
    polyline = gpu.shader.from_builtin("POLYLINE_FLAT_COLOR")
    for marks, width in lines:
        if len(marks.points):
            batch = batch_for_shader(polyline, "LINES", {"pos": marks.points, "color": marks.colours})
            polyline.bind()
            polyline.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
            polyline.uniform_float("lineWidth", width * bpy.context.preferences.system.ui_scale)
            batch.draw(polyline)
    dots = gpu.shader.from_builtin("POINT_FLAT_COLOR" if bpy.app.version >= (4, 5, 0) else "FLAT_COLOR")
    gpu.state.point_size_set(_POINT_SIZE * bpy.context.preferences.system.ui_scale)
    for marks in points:
        if len(marks.points):
            batch_for_shader(dots, "POINTS", {"pos": marks.points, "color": marks.colours}).draw(dots)
    gpu.state.blend_set("NONE")
