"""Bakes the motion of rigid bodies to keyframes, so that the file plays without the add-on."""

from __future__ import annotations

import bpy
import numpy as np

from .. import bodies, memory
from ..bridge.rigid_bodies import bodies_in
from ..bridge.rods import rods_in
from ..bridge.scenes import range_of
from .keyframes import write_keyframes


def make_keyframes(scene: bpy.types.Scene) -> None:
    """Creates keyframes from the cached frames for all bodies that Tendril moves."""
    frames = memory.shown_of(scene)
    numbers = [number for number in range_of(scene) if frames is not None and frames.moment(number) is not None]
    if not numbers:
        return
    for obj, _ in list(bodies.moved(scene, frames, numbers[-1])):
        bodies.take(obj)
        path = bodies.rotation_path(obj)
        locations, rotations = [], []
        for number in numbers:
            matrix = next(matrix for other, matrix in bodies.moved(scene, frames, number) if other == obj)
            bodies.place(obj, matrix)
            locations.append(tuple(obj.location))
            rotations.append(tuple(getattr(obj, path)))
        _animate(obj, path, numbers[0], np.array(locations, np.float32), np.array(rotations, np.float32))


def delete_keyframes(scene: bpy.types.Scene) -> None:
    """Removes the baked keyframes of all bodies, unless the scene still has a baked rod."""
    if any(obj.tendril.baked for obj in rods_in(scene.objects)):
        return
    for obj in bodies_in(scene):
        kept = obj.tendril_body
        if kept.baked:
            baked, obj.animation_data.action = obj.animation_data.action, kept.action
            if baked is not None and baked.users == 0:
                bpy.data.actions.remove(baked)
            kept.baked, kept.action = False, None
            bodies.restore(obj)


def _animate(obj: bpy.types.Object, path: str, first_frame: int, locations: np.ndarray, rotations: np.ndarray) -> None:
    """Writes the keyframes to a copy of the object's action and remembers the original action."""
    animation, kept = obj.animation_data_create(), obj.tendril_body
    kept.action = animation.action
    name = f"{obj.name} Bake"
    if kept.action is None:
        animation.action = bpy.data.actions.new(name)
    else:  # keeps the animation of other properties
        animation.action = kept.action.copy()
        animation.action.name = name
    for data_path, values in (("location", locations), (path, rotations)):
        for index in range(values.shape[1]):
            write_keyframes(obj, data_path, index, first_frame, values[:, index])
    kept.baked = True
