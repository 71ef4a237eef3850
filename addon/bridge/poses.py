"""Where objects stand: matrices (4, 4) from their own space to world space in metres."""

from __future__ import annotations

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
    axes = np.linalg.norm(pose[:3, :3], axis=0)
    if not np.all(np.isfinite(pose)) or axes.min() < SMALLEST_SCALE or abs(np.linalg.det(pose[:3, :3] / axes)) < 1e-9:
        raise TendrilError(field, 0.0, "it is flat along an axis: give it a scale above zero")
