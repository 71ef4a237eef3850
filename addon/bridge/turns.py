"""Whole turns of rotating targets.

A matrix does not tell 0.6 turns per frame from -0.4. Keyframes of Euler angles and of axis and angle do, and are therefore read
from their F-curves: of the target, and of its parents and bones.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...core.describe.rotations import interpolate_rotations
from .animation import f_curves
from .poses import Array

# Number of rotations whose turns are counted per target: the rows of a pose.
MOST = 4
# Slower rotations per frame, in turns, are read from matrices without ambiguity.
_FAST = 0.45
# Cosine of the angle between the axis of a rotation and the rod below which a turn does not twist it in a definite direction.
_ACROSS = 0.1


class Rotation(NamedTuple):
    """A keyframed angle."""

    curve: bpy.types.FCurve
    owner: Any  # object or pose bone
    channel: int  # of the Euler angles; -1: of axis and angle


def key_of(key: str) -> str:
    """The key of the turns of a pose among poses."""
    return f"{key} turns"


def can_turn(obj: bpy.types.Object | None, bone: str = "") -> bool:
    """Whether keyframes may rotate an object, or its bone, by more than half a turn."""
    return obj is not None and next(_rotations(obj, bone), None) is not None


def angles(obj: bpy.types.Object, bone: str, depsgraph: bpy.types.Depsgraph, first: float, frame: float) -> Array:
    """(4, 4) per rotation its axis in the space of the target, and the angle (rad) from the first frame to this one."""
    found = np.zeros((4, 4))
    own: Any = obj.evaluated_get(depsgraph)
    part = own.pose.bones.get(bone) if bone and own.pose is not None else None
    world = own.matrix_world if part is None else own.matrix_world @ part.matrix
    for row, rotation in zip(found, _rotations(obj, bone), strict=False):
        row[:3] = world.to_3x3().normalized().transposed() @ _axis(rotation, depsgraph)
        row[3] = rotation.curve.evaluate(frame) - rotation.curve.evaluate(first)
    return found


def whole_turns(before: Array, now: Array, rotations: tuple[Array, Array], start: Array, tangents: Array) -> Array:
    """(k,) whole turns about `tangents` (k, 3) that a target makes during a frame besides the shortest rotation between the
    `rotations` (3, 3) at both of its ends, which are relative to the rotation `start`. `before` and `now` are the `angles`.

    A full turn about any axis that is not across the rod changes the linking of the rod by one turn."""
    turns = (now[:, 3] - before[:, 3]) / (2.0 * math.pi)
    fast = np.flatnonzero(np.abs(turns) > _FAST)
    axes = now[:, :3] @ start.T  # in world space, at the start
    whole = np.zeros(MOST)
    whole[fast] = np.round(turns[fast])
    if len(fast) == 1:  # also right at half a turn per frame, where the shortest rotation may take either direction
        whole[fast] = np.round(turns[fast] - _shortest_turn(*rotations, rotations[1] @ axes[fast[0]]))
    along = tangents @ axes.T
    return np.asarray(np.where(np.abs(along) > _ACROSS, np.sign(along), 0.0) @ whole)


def _shortest_turn(start: Array, end: Array, axis: Array) -> float:
    """Turns about an axis of the rotation by which the core interpolates."""
    quarter = interpolate_rotations(start, end, 0.25) @ start.T
    sine = 0.5 * np.array([quarter[2, 1] - quarter[1, 2], quarter[0, 2] - quarter[2, 0], quarter[1, 0] - quarter[0, 1]])
    return float(4.0 * math.asin(min(1.0, float(np.linalg.norm(sine)))) * np.sign(sine @ axis) / (2.0 * math.pi))


def _rotations(obj: bpy.types.Object, bone: str) -> Iterator[Rotation]:
    """Keyframed angles that may exceed half a turn, of a target and all that it is a child of."""
    at: Any = obj
    while at is not None:
        part: Any = at.pose.bones.get(bone) if bone and at.pose is not None else None
        while part is not None:
            yield from _keyed(at, part, f'pose.bones["{bpy.utils.escape_identifier(part.name)}"].')
            part = part.parent
        yield from _keyed(at, at, "")
        bone = at.parent_bone if at.parent_type == "BONE" else ""
        at = at.parent


def _keyed(obj: bpy.types.Object, owner: Any, prefix: str) -> Iterator[Rotation]:
    euler = owner.rotation_mode not in ("QUATERNION", "AXIS_ANGLE")
    path = prefix + ("rotation_euler" if euler else "rotation_axis_angle")
    for curve in f_curves(obj):
        if curve.data_path == path and (euler or curve.array_index == 0) and _exceeds_half_turn(curve):
            yield Rotation(curve, owner, curve.array_index if euler else -1)


def _exceeds_half_turn(curve: bpy.types.FCurve) -> bool:
    if len(curve.modifiers) or curve.extrapolation == "LINEAR":
        return True
    values = [value for key in curve.keyframe_points for value in (key.co[1], key.handle_left[1], key.handle_right[1])]
    return bool(values) and max(values) - min(values) > 0.9 * math.pi


def _axis(rotation: Rotation, depsgraph: bpy.types.Depsgraph) -> Any:
    """Its axis in world space."""
    owner = rotation.owner
    if isinstance(owner, bpy.types.PoseBone):
        armature: Any = owner.id_data
        armature = armature.evaluated_get(depsgraph)
        owner = armature.pose.bones[owner.name]
        matrix = armature.matrix_world @ owner.matrix
    else:
        owner = owner.evaluated_get(depsgraph)
        matrix = owner.matrix_world
    before = matrix.to_3x3().normalized() @ owner.matrix_basis.to_3x3().normalized().transposed()
    if rotation.channel < 0:
        _, *axis = owner.rotation_axis_angle
        return before @ Vector(axis).normalized()
    mode, turned = owner.rotation_mode, Matrix.Identity(3)
    name = "XYZ"[rotation.channel]
    for later in reversed(mode[mode.index(name) + 1 :]):  # the first of the order is applied first
        turned = turned @ Matrix.Rotation(owner.rotation_euler["XYZ".index(later)], 3, later)
    return (before @ turned).col[rotation.channel]
