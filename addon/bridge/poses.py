"""Where objects stand: matrices (4, 4) from their own space to world space in metres."""

from __future__ import annotations

import math

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import TendrilError

Array = NDArray[np.float64]

# Below it, single precision can't hold the coordinates of what is seen any more.
SMALLEST_SCALE = 1e-9


def metres_per_unit(scene: bpy.types.Scene) -> float:
    units = scene.unit_settings
    return 1.0 if units.system == "NONE" else float(units.scale_length)


def scaled(matrix_world: object, scene: bpy.types.Scene) -> Array:
    pose = np.array(matrix_world, dtype=np.float64)
    pose[:3] *= metres_per_unit(scene)
    return pose


def pose_of(matrix_world: object, scene: bpy.types.Scene) -> Array:
    pose = scaled(matrix_world, scene)
    _check_scale(pose, "the object's scale")
    return pose


def rigid_pose(pose: Array, field: str) -> Array:
    """Place and rotation alone: what hangs on it is not stretched along."""
    _check_scale(pose, field)
    rigid = pose.copy()
    rigid[:3, :3] = nearest_rotation(pose[:3, :3])
    return rigid


def moved_since(start: Array, pose: Array) -> tuple[Array, Array]:
    """The way from one pose to another (4, 4), and the rotation of it (3, 3)."""
    moved = pose @ np.linalg.inv(start)
    # An object that is also scaled or sheared over time turns its clamps without deforming them.
    return moved, nearest_rotation(moved[:3, :3])


def nearest_rotation(matrix: Array) -> Array:
    u, _, v = np.linalg.svd(matrix)
    u[:, -1] *= np.sign(np.linalg.det(u @ v))
    return u @ v


def _check_scale(pose: Array, field: str) -> None:
    # Plain numbers: NumPy takes ten times as long for so few.
    x, y, z = pose[:3, :3].T.tolist()
    sizes = [math.hypot(*axis) for axis in (x, y, z)]
    finite = math.isfinite(sum(sizes) + sum(pose[:3, 3].tolist()))
    if finite and min(sizes) >= SMALLEST_SCALE:
        x, y, z = ([value / size for value in axis] for axis, size in zip((x, y, z), sizes, strict=True))
        volume = (
            x[0] * (y[1] * z[2] - y[2] * z[1]) + x[1] * (y[2] * z[0] - y[0] * z[2]) + x[2] * (y[0] * z[1] - y[1] * z[0])
        )
        if abs(volume) >= 1e-9:
            return
    raise TendrilError(field, 0.0, "it is flat along an axis: give it a scale above zero")
