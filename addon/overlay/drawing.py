"""Draw handler of the viewport overlay. The geometry is built in shapes.py."""

from __future__ import annotations

import bpy

from ..bridge.rods import rods_in
from . import shapes
from .snapshots import Snapshot, snapshot_of

_handle: object | None = None
_LINE_WIDTH, _FRAME_WIDTH, _POINT_SIZE = 4.0, 1.5, 9.0


def register() -> None:
    global _handle
    if not bpy.app.background:  # background mode has no viewport
        _handle = bpy.types.SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_VIEW")


def unregister() -> None:
    global _handle
    if _handle is not None:
        bpy.types.SpaceView3D.draw_handler_remove(_handle, "WINDOW")
        _handle = None


def redraw(_settings: object = None, _context: object = None) -> None:
    """Redraws all viewports; also an update callback of properties."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def layers(
    scene: bpy.types.Scene, snapshots: list[Snapshot]
) -> tuple[list[tuple[shapes.ColouredVertices, float]], list[shapes.ColouredVertices]]:
    """Lines with their widths in pixels, and points, according to the overlay settings of the scene."""
    shared = scene.tendril
    lines: list[tuple[shapes.ColouredVertices, float]] = []
    points: list[shapes.ColouredVertices] = []
    largest = shared.overlay_largest or shapes.largest_magnitude(snapshots, shared.overlay_colour)
    for snapshot in snapshots:
        if shared.overlay_colour in snapshot.values:
            lines.append((shapes.coloured_edges(snapshot, shared.overlay_colour, largest), _LINE_WIDTH))
        if shared.overlay_frames:
            lines.append((shapes.material_frames(snapshot), _FRAME_WIDTH))
        if shared.overlay_pins:
            points.append(shapes.uniformly_coloured(snapshot.pins, shapes.PIN))
        if shared.overlay_contacts:
            points.append(shapes.uniformly_coloured(snapshot.contacts, shapes.CONTACT))
    return lines, points


def _draw() -> None:
    scene, view = bpy.context.scene, bpy.context.space_data
    if not scene.tendril.show_overlay or not view.overlay.show_overlays:
        return
    uids = [obj.tendril.uid for obj in rods_in(scene.objects) if obj.visible_get() and not obj.tendril.baked]
    snapshots = [found for found in (snapshot_of(scene, uid) for uid in uids) if found is not None]
    lines, points = layers(scene, snapshots)
    import gpu
    from gpu_extras.batch import batch_for_shader

    gpu.state.depth_test_set("NONE")  # the lines lie inside the tubes of the rods
    gpu.state.blend_set("ALPHA")
    polyline = gpu.shader.from_builtin("POLYLINE_FLAT_COLOR")
    for vertices, width in lines:
        if len(vertices.points):
            batch = batch_for_shader(polyline, "LINES", {"pos": vertices.points, "color": vertices.colours})
            polyline.bind()
            polyline.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
            polyline.uniform_float("lineWidth", width * bpy.context.preferences.system.ui_scale)
            batch.draw(polyline)
    dots = gpu.shader.from_builtin("POINT_FLAT_COLOR" if bpy.app.version >= (4, 5, 0) else "FLAT_COLOR")
    gpu.state.point_size_set(_POINT_SIZE * bpy.context.preferences.system.ui_scale)
    for vertices in points:
        if len(vertices.points):
            batch_for_shader(dots, "POINTS", {"pos": vertices.points, "color": vertices.colours}).draw(dots)
    gpu.state.blend_set("NONE")
