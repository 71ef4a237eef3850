"""What rigid bodies show: their own place, or a frame of the simulation.

While Tendril moves a body it is an animated one for Blender, so that its own simulation does not move it as well. What it was like
is kept on the object, so that a file saved in the middle loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import numpy as np
from mathutils import Matrix

from .bridge import bullet
from .bridge.rigid_bodies import bodies_in, key_of
from .showing import Shown

_ROTATIONS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


def rotation_path(obj: bpy.types.Object) -> str:
    """The property that turns an object in its rotation mode."""
    return _ROTATIONS.get(obj.rotation_mode, "rotation_euler")


def put_back(scene: bpy.types.Scene) -> None:
    """All bodies to where they are without a simulation."""
    for obj in bodies_in(scene):
        if obj.tendril_body.moved and not obj.tendril_body.baked:
            restore(obj)


def leave() -> None:
    """As the add-on goes: bodies are Blender's again, those of all scenes that are not baked."""
    bullet.lose()
    for scene in bpy.data.scenes:
        put_back(scene)


def restore(obj: bpy.types.Object) -> None:
    kept, path = obj.tendril_body, rotation_path(obj)
    obj.location = kept.location
    setattr(obj, path, kept.rotation[: len(getattr(obj, path))])
    obj.rigid_body.kinematic = False
    kept.moved = False


def take(obj: bpy.types.Object) -> None:
    """From now on Tendril moves it."""
    kept = obj.tendril_body
    if not kept.moved:
        kept.location = obj.location
        kept.rotation = (*getattr(obj, rotation_path(obj)), 0.0)[:4]
        kept.moved = True
    obj.rigid_body.kinematic = True


def show(scene: bpy.types.Scene, frames: Shown | None, frame: int, subframe: float) -> None:
    """Puts the bodies to where they are in a frame; beyond those that were simulated, in the last one."""
    if frames is None or frame < frames.first_frame or (frame == frames.first_frame and subframe == 0.0):
        return
    for obj, matrix in moved(scene, frames, min(frame, frames.last_frame), subframe):
        take(obj)
        place(obj, matrix)


def moved(
    scene: bpy.types.Scene, frames: Shown, frame: int, subframe: float = 0.0
) -> Iterator[tuple[bpy.types.Object, Matrix]]:
    """The bodies that are moved, and where to."""
    moment = frames.moment(frame)
    following = frames.moment(frame + 1) if subframe > 0.0 else None
    if moment is None or not moment.bodies:
        return
    for obj in bodies_in(scene):
        matrix = moment.bodies.get(key_of(obj))
        if matrix is not None and np.all(np.isfinite(matrix)) and not obj.tendril_body.baked:
            goal = following.bodies.get(key_of(obj)) if following is not None else None
            yield obj, Matrix(matrix) if goal is None else Matrix(matrix).lerp(Matrix(goal), subframe)


def place(obj: bpy.types.Object, matrix: Matrix) -> None:
    """Whatever its parents do. Angles go on from where they are, so that nothing spins between two frames."""
    path = rotation_path(obj)
    before = getattr(obj, path).copy() if obj.rotation_mode != "AXIS_ANGLE" else None
    stretched = obj.scale.copy()
    obj.matrix_world = matrix
    obj.scale = stretched  # to the last bit
    if obj.rotation_mode == "QUATERNION" and before.dot(obj.rotation_quaternion) < 0.0:
        obj.rotation_quaternion.negate()
    elif path == "rotation_euler":
        obj.rotation_euler.make_compatible(before)
