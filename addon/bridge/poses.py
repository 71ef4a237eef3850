"""Poses of objects: matrices (4, 4) from object space to world space in metres."""

from __future__ import annotations

import functools

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...core import TendrilError

Array = NDArray[np.float64]

# With a smaller scale, single precision can't represent the coordinates of points on the object.
SMALLEST_SCALE = 1e-9


def metres_per_unit(scene: bpy.types.Scene) -> float:
    units = scene.unit_settings
    return 1.0 if units.system == "NONE" else float(units.scale_length)


def scaled(matrix_world: object, scene: bpy.types.Scene) -> Array:
    return _scaled(matrix_world, metres_per_unit(scene))


def _scaled(matrix_world: object, scale: float) -> Array:
    pose = np.array(matrix_world, dtype=np.float64)
    if scale != 1.0:
        pose[:3] *= scale
    return pose


def same(pose: Array, other: Array | None) -> bool:
    """Compares bytes first, which is much faster than NumPy for so few numbers."""
    return pose is other or (other is not None and (pose.tobytes() == other.tobytes() or np.array_equal(pose, other)))


def pose_of(matrix_world: Matrix, scene: bpy.types.Scene) -> Array:
    """Read-only: an object that does not move gets the same array again."""
    return _pose(matrix_world.copy().freeze(), metres_per_unit(scene))


@functools.lru_cache(maxsize=512)
def _pose(matrix: Matrix, scale: float) -> Array:
    pose = _scaled(matrix.copy(), scale)  # NumPy can't read a frozen matrix before Blender 5.0
    _check_scale(pose, "the object's scale")
    pose.flags.writeable = False
    return pose


def rigid_pose(pose: Array, field: str) -> Array:
    """The pose without scale and shear: what is attached to it is not stretched."""
    _check_scale(pose, field)
    rigid = pose.copy()
    rigid[:3, :3] = nearest_rotation(pose[:3, :3])
    return rigid


def moved_since(start: Array, pose: Array) -> tuple[Array, Array]:
    """The transform (4, 4) from one pose to another, and its rotation (3, 3)."""
    moved = pose @ inverse(start)
    # Clamps rotate with an object whose scale or shear is animated, without deforming.
    return moved, nearest_rotation(moved[:3, :3])


def inverse(pose: Array) -> Array:
    return _inverse(pose.tobytes())[0]  # cached: most objects do not move


def in_space_of(pose: Array, world: Array) -> NDArray[np.float32]:
    """World positions (n, 3) in the space of an object at this pose."""
    _, turned, shift, elsewhere = _inverse(pose.tobytes())
    if elsewhere:
        world = np.dot(world, turned)
        world += shift
    return world.astype(np.float32)


@functools.lru_cache(maxsize=512)
def _inverse(data: bytes) -> tuple[Array, Array, Array, bool]:
    """The inverse (4, 4); its linear part transposed (3, 3), for products with rows, and its translation (3,); and whether it
    differs from the identity.

    Computed by cofactors in plain Python: LAPACK would start threads for this, which takes milliseconds on a busy machine."""
    (a, b, c, x), (d, e, f, y), (g, h, i, z), _ = np.frombuffer(data).reshape(4, 4).tolist()
    rows = [
        [e * i - f * h, c * h - b * i, b * f - c * e],
        [f * g - d * i, a * i - c * g, c * d - a * f],
        [d * h - e * g, b * g - a * h, a * e - b * d],
    ]
    volume = a * rows[0][0] + b * rows[1][0] + c * rows[2][0]
    back = [[value / volume for value in row] for row in rows]
    found = np.array([[*row, -(row[0] * x + row[1] * y + row[2] * z)] for row in back] + [[0.0, 0.0, 0.0, 1.0]])
    found.flags.writeable = False
    return found, np.ascontiguousarray(found[:3, :3].T), found[:3, 3].copy(), not np.array_equal(found, np.eye(4))


def nearest_rotation(matrix: Array) -> Array:
    u, _, v = np.linalg.svd(matrix)
    u[:, -1] *= np.sign(np.linalg.det(u @ v))
    return u @ v


def _check_scale(pose: Array, field: str) -> None:
    if not _is_usable(pose.tobytes()):
        raise TendrilError(field, 0.0, "it is zero along an axis: give it a scale above zero")


@functools.lru_cache(maxsize=512)
def _is_usable(data: bytes) -> bool:
    pose = np.frombuffer(data).reshape(4, 4)
    axes = np.linalg.norm(pose[:3, :3], axis=0)
    if not np.all(np.isfinite(pose)) or axes.min() < SMALLEST_SCALE:
        return False
    x, y, z = (pose[:3, :3] / axes).T
    return bool(abs(x @ np.cross(y, z)) >= 1e-9)
