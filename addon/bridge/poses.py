"""Where objects stand: matrices (4, 4) from their own space to world space in metres."""

from __future__ import annotations

import functools

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...core import TendrilError

Array = NDArray[np.float64]

# Below it, single precision can't hold the coordinates of what is seen any more.
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
    """Bytes first: that takes a fraction of the time that NumPy needs to compare so few numbers."""
    return pose is other or (other is not None and (pose.tobytes() == other.tobytes() or np.array_equal(pose, other)))


def pose_of(matrix_world: Matrix, scene: bpy.types.Scene) -> Array:
    """Not to be written to: for what stands still it is the same array again."""
    return _pose(matrix_world.copy().freeze(), metres_per_unit(scene))


@functools.lru_cache(maxsize=512)
def _pose(matrix: Matrix, scale: float) -> Array:
    pose = _scaled(matrix.copy(), scale)  # before Blender 5.0 NumPy can't read a frozen matrix
    _check_scale(pose, "the object's scale")
    pose.flags.writeable = False
    return pose


def rigid_pose(pose: Array, field: str) -> Array:
    """Place and rotation alone: what hangs on it is not stretched along."""
    _check_scale(pose, field)
    rigid = pose.copy()
    rigid[:3, :3] = nearest_rotation(pose[:3, :3])
    return rigid


def moved_since(start: Array, pose: Array) -> tuple[Array, Array]:
    """The way from one pose to another (4, 4), and the rotation of it (3, 3)."""
    moved = pose @ inverse(start)
    # An object that is also scaled or sheared over time turns its clamps without deforming them.
    return moved, nearest_rotation(moved[:3, :3])


def inverse(pose: Array) -> Array:
    return _inverse(pose.tobytes())[0]  # most things stand still


def in_space_of(pose: Array, world: Array) -> NDArray[np.float32]:
    """Places of the world, as what stands at the pose has them."""
    _, turned, shift, elsewhere = _inverse(pose.tobytes())
    if elsewhere:
        world = np.dot(world, turned)
        world += shift
    return world.astype(np.float32)


@functools.lru_cache(maxsize=512)
def _inverse(data: bytes) -> tuple[Array, Array, Array, bool]:
    """The inverse (4, 4), as it is multiplied with rows of places: (3, 3), (3,); and whether it moves anything.

    By the cofactors, in plain numbers: LAPACK wakes threads for these few, which takes milliseconds on a busy machine."""
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
        raise TendrilError(field, 0.0, "it is flat along an axis: give it a scale above zero")


@functools.lru_cache(maxsize=512)
def _is_usable(data: bytes) -> bool:
    pose = np.frombuffer(data).reshape(4, 4)
    axes = np.linalg.norm(pose[:3, :3], axis=0)
    if not np.all(np.isfinite(pose)) or axes.min() < SMALLEST_SCALE:
        return False
    x, y, z = (pose[:3, :3] / axes).T
    return bool(abs(x @ np.cross(y, z)) >= 1e-9)
