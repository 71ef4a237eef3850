"""A simulation as shape keys: the file then plays the same anywhere, without the add-on.

Keys are absolute: one per frame, or fewer, picked by the evaluation time, which is keyframed. Between keys Blender interpolates.
"""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from .. import memory
from ..bridge import curves, rods
from ..bridge.curves import Rows
from ..bridge.points import are_in, count
from ..bridge.scenes import range_of
from .errors import BakeError
from .keyframes import write_keyframes
from .thinning import frames_to_keep


def why_not(obj: bpy.types.Object, scene: bpy.types.Scene) -> str | None:
    if obj.type == "CURVES":
        return f'"{obj.name}" is hair, which can\'t have shape keys: bake it to disk, Alembic or USD'
    if obj.data.shape_keys is not None:
        return f'"{obj.name}" has shape keys already: remove them first'
    if scene.tendril.disk_baked:
        return "The scene is baked on disk: delete the bake first"
    return None


def make_all(uids: list[str], scene: bpy.types.Scene) -> None:
    """Makes keys of the frames in memory, of all these rods or of none."""
    found = []
    for uid in uids:
        obj, frames = rods.find(uid), memory.frames_of(uid, scene)
        numbers = [number for number in range_of(scene) if number in frames]
        if obj is None or len(numbers) < 2 or numbers[-1] - numbers[0] >= len(numbers):
            raise BakeError("The rod was changed, or not simulated from the start: play it from there")
        found.append((obj, [frames[number] for number in numbers]))
    shared = scene.tendril
    for obj, rows in found:
        scale = float(np.linalg.norm(np.array(obj.matrix_world)[:3, :3], 2))  # what is seen counts
        seen = [row[: count(obj.data)] for row in rows] if are_in(obj.data) else rows  # without attributes
        kept = frames_to_keep(seen, shared.key_step, shared.key_tolerance / max(scale, 1e-9))
        make_keys(obj, rows, kept, range_of(scene)[0])


def make_keys(obj: bpy.types.Object, frames: list[Rows], kept: list[int], first_frame: int) -> None:
    """Keys for some of the frames: Blender finds those between."""
    curve = obj.data
    curves.write_rows(curve, frames[0], free_handles=True)
    places = _KeyPlaces(curve)
    for number in kept:
        if number > 0:
            # A new absolute key is put at the current evaluation time. Blender computes its place just as it later
            # computes the place to show, so that each frame meets its key exactly and nothing is mixed in.
            curve.shape_keys.eval_time = number
        block = obj.shape_key_add(name=f"Frame {first_frame + number}", from_mix=False)
        curve.shape_keys.use_relative = False
        block.interpolation = "KEY_LINEAR"
        places.write(block, frames[number])
    _animate_evaluation_time(curve.shape_keys, f"{obj.name} Bake", first_frame, len(frames))
    obj.tendril.baked = True
    obj.tendril.shows_drawn = False


def delete_bake(obj: bpy.types.Object) -> None:
    keys = obj.data.shape_keys
    if keys is not None:
        action = keys.animation_data.action if keys.animation_data else None
        obj.shape_key_clear()
        if action is not None and action.users == 0:
            bpy.data.actions.remove(action)
    curves.restore_drawn(obj.data)
    obj.tendril.baked = False
    obj.tendril.shows_drawn = True


class _KeyPlaces:
    """Which rows go where in a key block: it has one element per control point, Bezier points with handles."""

    def __init__(self, curve: bpy.types.ID) -> None:
        self.tilts = 0  # rows of them
        if are_in(curve):
            self.points, self.beziers = np.arange(count(curve)), np.empty(0, dtype=np.int64)
            return
        points: list[NDArray[np.int64]] = []
        beziers: list[NDArray[np.int64]] = []  # elements that have handles
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
        if curves.is_tilted(curve):
            self.tilts = curves.rows_of_tilts(len(self.points))
        self.beziers = np.concatenate(beziers) if beziers else np.empty(0, dtype=np.int64)

    def write(self, block: bpy.types.ShapeKey, rows: Rows) -> None:
        data = block.data
        data.foreach_set("co", rows[self.points].ravel())
        if self.tilts:
            data.foreach_set("tilt", np.ascontiguousarray(rows[-self.tilts :]).ravel()[: len(self.points)])
        centres = self.points[self.beziers]
        for name, handles in (("handle_left", rows[centres - 1]), ("handle_right", rows[centres + 1])):
            if len(self.beziers) == len(self.points):
                data.foreach_set(name, handles.ravel())
            else:  # foreach_set refuses elements of two kinds
                for element, handle in zip(self.beziers.tolist(), handles, strict=True):
                    setattr(data[element], name, handle)


def _animate_evaluation_time(keys: bpy.types.Key, name: str, first_frame: int, count: int) -> None:
    # An action of its own: Blender would put the keyframes into that of the object, if it has one.
    keys.animation_data_create().action = bpy.data.actions.new(name)
    keys.eval_time = 0.0
    write_keyframes(keys, "eval_time", -1, first_frame, np.arange(count, dtype=np.float32))
