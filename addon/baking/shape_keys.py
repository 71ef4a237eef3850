"""Bakes to shape keys, so that the file plays without the add-on.

The keys are absolute, one per frame or fewer. The keyframed evaluation time selects the key, and Blender interpolates
between keys.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from .. import memory
from ..bridge import curves, rods
from ..bridge.curves import Rows
from ..bridge.points import are_in, broken_edges, count, marks_broken
from ..bridge.scenes import range_of
from ..looks.groups import BREAK_FRAME
from .errors import BakeError
from .keyframes import write_keyframes
from .thinning import frames_to_keep


def why_not_bakeable(obj: bpy.types.Object, scene: bpy.types.Scene) -> str | None:
    """Message why the object cannot be baked to shape keys; None if it can."""
    if obj.type == "CURVES":
        return f'"{obj.name}" is a hair object, which can\'t have shape keys: bake it to disk, Alembic or USD'
    if obj.data.shape_keys is not None:
        return f'"{obj.name}" already has shape keys: remove them first'
    if scene.tendril.disk_baked:
        return "The scene is baked on disk: delete the bake first"
    return None


def make_bakes(uids: list[str], scene: bpy.types.Scene) -> None:
    """Creates shape keys from the cached frames. Raises BakeError before any rod is changed."""
    found = []
    for uid in uids:
        obj, frames = rods.find(uid), memory.frames_of(uid, scene)
        numbers = [number for number in range_of(scene) if number in frames]
        if obj is None or len(numbers) < 2 or numbers[-1] - numbers[0] >= len(numbers):
            raise BakeError("The rod was changed or not simulated from the start frame: play from there")
        found.append((obj, [frames[number] for number in numbers]))
    shared = scene.tendril
    for obj, rows in found:
        scale = float(np.linalg.norm(np.array(obj.matrix_world)[:3, :3], 2))  # the tolerance is in world space
        # Frames of hair and meshes end with rows of attributes.
        positions = [row[: count(obj.data)] for row in rows] if are_in(obj.data) else rows
        kept = frames_to_keep(positions, shared.key_step, shared.key_tolerance / max(scale, 1e-9))
        make_keys(obj, rows, kept, range_of(scene)[0])


def make_keys(obj: bpy.types.Object, frames: list[Rows], kept: list[int], first_frame: int) -> None:
    """Creates shape keys for the frames with indices `kept`."""
    curve = obj.data
    curves.write_rows(curve, frames[0], free_handles=True)
    layout = _KeyLayout(curve)
    for number in kept:
        if number > 0:
            # Blender places a new absolute key at the current evaluation time. It computes the key position
            # with the same arithmetic as in playback, so each frame coincides exactly with its key.
            curve.shape_keys.eval_time = number
        block = obj.shape_key_add(name=f"Frame {first_frame + number}", from_mix=False)
        curve.shape_keys.use_relative = False
        block.interpolation = "KEY_LINEAR"
        layout.write(block, frames[number])
    _animate_evaluation_time(curve.shape_keys, f"{obj.name} Bake", first_frame, len(frames))
    if marks_broken(curve):
        _store_break_frames(curve, frames, first_frame)
    obj.tendril.baked = True
    obj.tendril.shows_drawn = False


def _store_break_frames(mesh: Any, frames: list[Rows], first_frame: int) -> None:
    """Stores when each edge tears, by which the file hides it without the add-on."""
    torn = np.array([broken_edges(mesh, rows) for rows in frames])
    when = np.where(torn.any(axis=0), first_frame + np.argmax(torn, axis=0), 0.0).astype(np.float32)
    attribute = mesh.attributes.get(BREAK_FRAME) or mesh.attributes.new(BREAK_FRAME, "FLOAT", "EDGE")
    attribute.data.foreach_set("value", when)


def delete_bake(obj: bpy.types.Object) -> None:
    """Removes the shape keys and their action, and restores the drawn shape."""
    if obj.type == "MESH" and BREAK_FRAME in obj.data.attributes:
        obj.data.attributes.remove(obj.data.attributes[BREAK_FRAME])
    keys = obj.data.shape_keys
    if keys is not None:
        action = keys.animation_data.action if keys.animation_data else None
        obj.shape_key_clear()
        if action is not None and action.users == 0:
            bpy.data.actions.remove(action)
    curves.restore_drawn(obj.data)
    obj.tendril.baked = False
    obj.tendril.shows_drawn = True


class _KeyLayout:
    """Mapping from the rows of a frame to the elements of a key block: one per control point, with handles for Bezier points."""

    def __init__(self, curve: bpy.types.ID) -> None:
        self.columns: tuple[str, ...] = ()  # tilts and radii at the end of the rows
        if are_in(curve):
            self.points, self.beziers = np.arange(count(curve)), np.empty(0, dtype=np.int64)
            return
        points: list[NDArray[np.int64]] = []
        beziers: list[NDArray[np.int64]] = []  # elements with handles
        row = element = 0
        for kind in curves.spline_kinds(curve):
            of_spline = np.arange(row, row + kind.rows)
            if kind.type == "BEZIER":
                of_spline = of_spline[1::3]
                beziers.append(np.arange(element, element + kind.count))
            points.append(of_spline)
            row += kind.rows
            element += kind.count
        self.points = np.concatenate(points)
        self.columns = curves.columns(curve)
        self.beziers = np.concatenate(beziers) if beziers else np.empty(0, dtype=np.int64)

    def write(self, block: bpy.types.ShapeKey, rows: Rows) -> None:
        data = block.data
        data.foreach_set("co", rows[self.points].ravel())
        for name in self.columns:
            values = curves.column_of(rows, self.columns, name, len(self.points))
            data.foreach_set(name, np.ascontiguousarray(values))
        centres = self.points[self.beziers]
        for name, handles in (("handle_left", rows[centres - 1]), ("handle_right", rows[centres + 1])):
            if len(self.beziers) == len(self.points):
                data.foreach_set(name, handles.ravel())
            else:  # foreach_set does not support mixed element types
                for element, handle in zip(self.beziers.tolist(), handles, strict=True):
                    setattr(data[element], name, handle)


def _animate_evaluation_time(keys: bpy.types.Key, name: str, first_frame: int, count: int) -> None:
    # A separate action, because Blender would otherwise add the keyframes to the action of the object.
    keys.animation_data_create().action = bpy.data.actions.new(name)
    keys.eval_time = 0.0
    write_keyframes(keys, "eval_time", -1, first_frame, np.arange(count, dtype=np.float32))
