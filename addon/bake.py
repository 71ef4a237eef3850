"""A simulation as shape keys: the file then plays the same anywhere, without the add-on.

Keys are absolute: one per frame, picked by the evaluation time, which is keyframed. Between keys Blender interpolates.
"""

from __future__ import annotations

from collections.abc import Generator

import bpy
import numpy as np
from numpy.typing import NDArray

from . import memory
from .bridge import curves, rods
from .bridge.curves import Rows
from .bridge.scenes import range_of


class BakeError(Exception):
    """Why rods could not be baked, in one sentence."""


def why_not_bakeable(obj: bpy.types.Object | None, scene: bpy.types.Scene) -> str | None:
    if obj is None or obj.type != "CURVE" or not obj.tendril.enabled:
        return "No rod is active: select one first"
    if obj.library is not None or obj.data.library is not None:
        return f'"{obj.name}" is linked from another file: make it local first'
    if obj.mode == "EDIT":
        return f'"{obj.name}" is in Edit Mode: leave it first'
    if obj.tendril.baked:
        return f'"{obj.name}" is baked already: delete the bake first'
    if obj.data.shape_keys is not None:
        return f'"{obj.name}" has shape keys already: remove them first'
    if len(range_of(scene)) < 2:
        return "The scene has no second frame: set its end after its start"
    return None


def bake(uids: list[str], scene_name: str) -> Generator[float, None, int | None]:
    """Simulates from the first to the last frame of the scene and makes the keys of these rods. Gives its progress,
    0 to 1, and in the end the frame since which the motion is not exact, if there is one.

    Every frame is simulated and shown as in playback; the keys take what was shown. Blender's data is looked up anew in
    each step, because it may have moved in memory. Closing it early leaves unbaked rods.
    """
    scene = bpy.data.scenes[scene_name]
    first, last = range_of(scene)[0], range_of(scene)[-1]
    frame, subframe = scene.frame_current, scene.frame_subframe
    try:
        memory.forget(scene, distrust_disk=True)
        for number in range(first, last + 1):
            bpy.data.scenes[scene_name].frame_set(number)
            for uid in uids:
                if memory.status(uid):
                    raise BakeError(f"Frame {number} could not be simulated: {memory.status(uid)}")
            yield (number - first) / (last - first)
        not_exact_since = memory.not_exact_since(bpy.data.scenes[scene_name])
        bake_memory(uids, bpy.data.scenes[scene_name])
    finally:
        bpy.data.scenes[scene_name].frame_set(frame, subframe=subframe)
    return not_exact_since


def calculate(scene_name: str, until: int) -> Generator[float, None, int | None]:
    """Simulates up to a frame and stays there, beginning with what is there already. Gives as `bake` does."""
    scene = bpy.data.scenes[scene_name]
    running, first = memory.running_of(scene), range_of(scene)[0]
    if running is None or memory.is_outdated(scene):
        begin = first
    else:
        begin = min(max(running.last_frame, first), until)
    for number in range(begin, until + 1):
        bpy.data.scenes[scene_name].frame_set(number)
        yield (number - begin + 1) / (until - begin + 1)
    return memory.not_exact_since(bpy.data.scenes[scene_name])


def bake_memory(uids: list[str], scene: bpy.types.Scene) -> None:
    """Makes keys of the frames in memory, of all these rods or of none."""
    found = []
    for uid in uids:
        obj, frames = rods.find(uid), memory.frames_of(uid, scene)
        numbers = [number for number in range_of(scene) if number in frames]
        if obj is None or len(numbers) < 2 or numbers[-1] - numbers[0] >= len(numbers):
            raise BakeError("The rod was changed, or not simulated from the start: play it from there")
        found.append((obj, [frames[number] for number in numbers]))
    for obj, rows in found:
        make_keys(obj, rows, range_of(scene)[0])


def make_keys(obj: bpy.types.Object, frames: list[Rows], first_frame: int) -> None:
    curve = obj.data
    curves.free_handles(curve)
    curves.write_rows(curve, frames[0])
    places = _KeyPlaces(curve)
    for number, rows in enumerate(frames):
        if number > 0:
            # A new absolute key is put at the current evaluation time. Blender computes its place just as it later
            # computes the place to show, so that each frame meets its key exactly and nothing is mixed in.
            curve.shape_keys.eval_time = number
        block = obj.shape_key_add(name=f"Frame {first_frame + number}", from_mix=False)
        curve.shape_keys.use_relative = False
        block.interpolation = "KEY_LINEAR"
        places.write(block, rows)
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

    def __init__(self, curve: bpy.types.Curve) -> None:
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
        self.beziers = np.concatenate(beziers) if beziers else np.empty(0, dtype=np.int64)

    def write(self, block: bpy.types.ShapeKey, rows: Rows) -> None:
        data = block.data
        data.foreach_set("co", rows[self.points].ravel())
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
    keys.keyframe_insert("eval_time", frame=first_frame)
    fcurve = _fcurve(keys.animation_data, "eval_time")
    fcurve.keyframe_points.add(count - 1)
    times = np.arange(count, dtype=np.float32)
    places = np.stack([times + first_frame, times], axis=1)
    fcurve.keyframe_points.foreach_set("co", places.ravel())
    linear = bpy.types.Keyframe.bl_rna.properties["interpolation"].enum_items["LINEAR"].value
    fcurve.keyframe_points.foreach_set("interpolation", np.full(count, linear, dtype=np.int32))
    fcurve.update()


def _fcurve(animation: bpy.types.AnimData, path: str) -> bpy.types.FCurve:
    if not hasattr(animation, "action_slot"):  # up to Blender 4.3
        return animation.action.fcurves.find(path)
    return animation.action.layers[0].strips[0].channelbag(animation.action_slot).fcurves.find(path)
