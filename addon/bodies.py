"""What rigid bodies show: their own transform, or a frame of the simulation.

While Tendril moves a body, the body is set to Animated, so that Blender's own simulation does not move it as well. Its original
transform is stored on the object, so a file saved during a simulation loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from .bridge import bullet
from .bridge.rigid_bodies import bodies_in, key_of
from .moments import Moment
from .showing import Display

_ROTATIONS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


def rotation_path(obj: bpy.types.Object) -> str:
    """The property that rotates an object in its rotation mode."""
    return _ROTATIONS.get(obj.rotation_mode, "rotation_euler")


def restore_all(scene: bpy.types.Scene) -> None:
    """Returns all bodies that are not baked to their transforms without a simulation."""
    for obj in bodies_in(scene):
        if obj.tendril_body.moved and not obj.tendril_body.baked:
            restore(obj)


def release_all() -> None:
    """Hands the bodies of all scenes back to Blender: the add-on is disabled, or the file is saved."""
    bullet.invalidate()
    for scene in bpy.data.scenes:
        restore_all(scene)


def restore(obj: bpy.types.Object) -> None:
    stored, path = obj.tendril_body, rotation_path(obj)
    obj.location = stored.location
    setattr(obj, path, stored.rotation[: len(getattr(obj, path))])
    obj.rigid_body.kinematic = False
    stored.moved = False


def take_over(obj: bpy.types.Object) -> None:
    """Stores the transform of a body that Tendril moves from now on."""
    stored = obj.tendril_body
    if not stored.moved:
        stored.location = obj.location
        stored.rotation = (*getattr(obj, rotation_path(obj)), 0.0)[:4]
        stored.moved = True
    obj.rigid_body.kinematic = True


def show(scene: bpy.types.Scene, display: Display) -> None:
    """Moves the bodies to where they are in the displayed frame."""
    source, moment = display.source, display.moment
    if moment is None or not moment.bodies or source is None:
        return
    frame, subframe = display.frame, display.subframe
    if frame < source.first_frame or (frame == source.first_frame and subframe == 0.0):
        return
    for obj, matrix in transforms_at(scene, moment, display.following, subframe):
        take_over(obj)
        set_transform(obj, matrix)


def transforms_at(
    scene: bpy.types.Scene, moment: Moment, following: Moment | None = None, subframe: float = 0.0
) -> Iterator[tuple[bpy.types.Object, Matrix]]:
    """The bodies that Tendril moves, with their world matrices."""
    for obj in bodies_in(scene):
        matrix = moment.bodies.get(key_of(obj))
        if matrix is not None and np.all(np.isfinite(matrix)) and not obj.tendril_body.baked:
            goal = following.bodies.get(key_of(obj)) if following is not None else None
            now = Matrix(matrix.tolist())
            yield obj, now if goal is None else now.lerp(Matrix(goal.tolist()), subframe)


def set_transform(obj: bpy.types.Object, matrix: Matrix) -> None:
    """Sets the world matrix, whatever the parents are. Angles stay near their previous values, so that interpolation between two
    frames does not add turns."""
    path = rotation_path(obj)
    before: Any = getattr(obj, path).copy() if obj.rotation_mode != "AXIS_ANGLE" else None
    scale = obj.scale.copy()
    obj.matrix_world = matrix
    obj.scale = scale  # Blender rounds it
    if obj.rotation_mode == "QUATERNION" and before.dot(obj.rotation_quaternion) < 0.0:
        obj.rotation_quaternion.negate()
    elif path == "rotation_euler":
        obj.rotation_euler.make_compatible(before)
