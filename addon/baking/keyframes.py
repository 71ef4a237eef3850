"""Writes one keyframe per frame for a property."""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray


def write_keyframes(owner: bpy.types.ID, path: str, index: int, first_frame: int, values: NDArray[np.float32]) -> None:
    """Replaces the keyframes of the property in the owner's action by one value per frame, with linear interpolation.

    `index` is the array index of the property, -1 for a scalar."""
    found = _fcurve(owner.animation_data, path, index)
    if found is not None:
        found.keyframe_points.clear()
    owner.keyframe_insert(path, index=index, frame=first_frame)
    fcurve = _fcurve(owner.animation_data, path, index)
    fcurve.keyframe_points.add(len(values) - 1)
    coordinates = np.stack([np.arange(len(values), dtype=np.float32) + first_frame, values.astype(np.float32)], axis=1)
    fcurve.keyframe_points.foreach_set("co", coordinates.ravel())
    linear = bpy.types.Keyframe.bl_rna.properties["interpolation"].enum_items["LINEAR"].value
    fcurve.keyframe_points.foreach_set("interpolation", np.full(len(values), linear, dtype=np.int32))
    fcurve.update()


def _fcurve(animation: bpy.types.AnimData, path: str, index: int) -> bpy.types.FCurve | None:
    index = max(index, 0)
    if not hasattr(animation, "action_slot"):  # up to Blender 4.3
        return animation.action.fcurves.find(path, index=index)
    layers = animation.action.layers
    if not layers or animation.action_slot is None:
        return None
    channels = layers[0].strips[0].channelbag(animation.action_slot)
    return None if channels is None else channels.fcurves.find(path, index=index)
