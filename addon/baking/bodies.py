"""The motion of rigid bodies as keyframes: the file then plays the same anywhere, without the add-on."""

from __future__ import annotations

import bpy
import numpy as np

from .. import bodies, memory
from ..bridge.curves import Rows
from ..bridge.rigid_bodies import bodies_in
from ..bridge.rods import rods_in
from ..bridge.scenes import range_of
from .keyframes import write_keyframes


def make_all(scene: bpy.types.Scene) -> None:
    """Makes keyframes of the frames in memory, for all bodies that Tendril moves."""
    source = memory.frame_source(scene)
    numbers, moments = [], []
    for number in range_of(scene) if source is not None else ():
        moment = source.moment(number)
        if moment is not None:
            numbers.append(number)
            moments.append(moment)
    if not moments:
        return
    for obj, _ in list(bodies.transforms_at(scene, moments[-1])):
        bodies.take_over(obj)
        path = bodies.rotation_path(obj)
        places: list[tuple[float, ...]] = []
        turns: list[tuple[float, ...]] = []
        for moment in moments:
            matrix = next(matrix for other, matrix in bodies.transforms_at(scene, moment) if other == obj)
            bodies.set_transform(obj, matrix)
            places.append(tuple(obj.location))
            turns.append(tuple(getattr(obj, path)))
        _animate(obj, path, numbers[0], np.array(places, np.float32), np.array(turns, np.float32))


def delete_all(scene: bpy.types.Scene) -> None:
    """Takes the keyframes away again, if no rod of the scene is baked any more."""
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


def _animate(obj: bpy.types.Object, path: str, first_frame: int, places: Rows, turns: Rows) -> None:
    animation, kept = obj.animation_data_create(), obj.tendril_body
    kept.action = animation.action
    name = f"{obj.name} Bake"
    if kept.action is None:
        animation.action = bpy.data.actions.new(name)
    else:  # what else is animated stays so
        animation.action = kept.action.copy()
        animation.action.name = name
    for data_path, values in (("location", places), (path, turns)):
        for index in range(values.shape[1]):
            write_keyframes(obj, data_path, index, first_frame, values[:, index])
    kept.baked = True
