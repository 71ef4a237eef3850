"""Shapes of colliders and bodies, validated on construction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import UnionType
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import LARGEST_SIZE, SMALLEST_SIZE, Array, TendrilError, array, dimensions, direction, positive, vector
from .rotations import are_rotations

UPRIGHT = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def size_of(field: str, value: Any) -> float:
    size = positive(field, value, "metres")
    if not SMALLEST_SIZE <= size <= 10.0 * LARGEST_SIZE:
        raise TendrilError(field, value, f"give a size from {SMALLEST_SIZE:g} to {10.0 * LARGEST_SIZE:g} m")
    return size


def within_range(field: str, value: Any, points: Array) -> Array:
    """Returns the points if none is too far from the origin."""
    if np.abs(points).max() > 10.0 * LARGEST_SIZE:
        raise TendrilError(field, value, f"stay within {10.0 * LARGEST_SIZE:g} m of the origin")
    return points


def position_vector(field: str, value: Any) -> Array:
    return within_range(field, value, vector(field, value))


def rotation_matrix(value: Any) -> Array:
    rotation = array("rotation", value, (3, 3), "give a rotation matrix (3, 3)")
    if not are_rotations(rotation):
        raise TendrilError("rotation", value, "give a rotation matrix: orthonormal columns, no mirror image")
    return rotation


def set_frozen(shape: object, **values: object) -> None:
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        object.__setattr__(shape, name, value)


@dataclass(frozen=True, eq=False)
class Plane:
    """Infinite plane, solid below."""

    point: ArrayLike = (0.0, 0.0, 0.0)
    normal: ArrayLike = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        set_frozen(self, point=position_vector("point", self.point), normal=direction("normal", self.normal))


@dataclass(frozen=True, eq=False)
class Sphere:
    radius: float
    position: ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        set_frozen(self, radius=size_of("radius", self.radius), position=position_vector("position", self.position))


@dataclass(frozen=True, eq=False)
class _Round:
    """Shared by capsule, cylinder and cone; the length is along the local z axis."""

    radius: float
    length: float
    position: ArrayLike = (0.0, 0.0, 0.0)
    rotation: ArrayLike = UPRIGHT

    def __post_init__(self) -> None:
        set_frozen(self, radius=size_of("radius", self.radius), length=size_of("length", self.length))
        set_frozen(self, position=position_vector("position", self.position), rotation=rotation_matrix(self.rotation))


class Capsule(_Round):
    """A cylinder of this length along its local z axis, with hemispherical caps."""


class Cylinder(_Round):
    """Length along the local z axis."""


class Cone(_Round):
    """Length along the local z axis: base disc below, apex above, `position` halfway up."""


@dataclass(frozen=True, eq=False)
class Box:
    """`size` are the lengths of its three edges."""

    size: ArrayLike
    position: ArrayLike = (0.0, 0.0, 0.0)
    rotation: ArrayLike = UPRIGHT

    def __post_init__(self) -> None:
        size = np.array([size_of("size", value) for value in vector("size", self.size)])
        set_frozen(
            self,
            size=size,
            position=position_vector("position", self.position),
            rotation=rotation_matrix(self.rotation),
        )


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles. A closed mesh is solid on the side opposite to its normals; an open one is a two-sided sheet."""

    vertices: ArrayLike
    triangles: ArrayLike

    def __post_init__(self) -> None:
        if dimensions(self.vertices) != 2:
            raise TendrilError("vertices", self.vertices, "give points as an array (n, 3)")
        rows = len(np.asarray(self.vertices))
        vertices = array("vertices", self.vertices, (rows, 3), "give finite points as an array (n, 3)")
        if rows < 3:
            raise TendrilError("vertices", self.vertices, "give at least three points")
        set_frozen(
            self, vertices=within_range("vertices", self.vertices, vertices), triangles=_triangles(self.triangles, rows)
        )


@dataclass(frozen=True, eq=False)
class Hull:
    """The convex hull of points."""

    points: ArrayLike

    def __post_init__(self) -> None:
        cure = "give at least four points that do not lie in a plane, as an array (n, 3)"
        points = (
            within_range("points", self.points, array("points", self.points, (None, 3), cure))
            if _rows(self.points)
            else None
        )
        if points is None or len(points) < 4:
            raise TendrilError("points", self.points, cure)
        spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
        if not spread[2] > 1e-6 * spread[0]:
            raise TendrilError("points", self.points, cure)
        set_frozen(self, points=points)


def _rows(value: Any) -> bool:
    return dimensions(value) == 2 and len(np.asarray(value)) > 0


def _triangles(value: Any, vertices: int) -> NDArray[np.int64]:
    cure = f"give vertex numbers from 0 to {vertices - 1} as an array (m, 3)"
    if dimensions(value) != 2 or np.asarray(value).dtype.kind not in "iu" or np.shape(value)[1] != 3:
        raise TendrilError("triangles", value, cure)
    triangles = np.array(value, dtype=np.int64)
    if not len(triangles) or triangles.min() < 0 or triangles.max() >= vertices:
        raise TendrilError("triangles", value, cure)
    a, b, c = triangles.T
    triangles = triangles[(a != b) & (b != c) & (c != a)]
    if not len(triangles):
        raise TendrilError("triangles", value, "give at least one triangle of three different points")
    return np.asarray(triangles)


Solid = Sphere | Capsule | Cylinder | Cone | Box | Hull | Mesh  # shapes of bodies
Shape = Plane | Sphere | Capsule | Cylinder | Box | Mesh  # shapes of colliders


def names_of(shapes: UnionType) -> str:
    """The classes of `Solid` or `Shape`, for messages."""
    *names, last = (shape.__name__ for shape in get_args(shapes))
    return f"{', '.join(names)} or {last}"


@dataclass(frozen=True)
class Collider:
    """An obstacle for rods. `path` is its motion as a function of time in seconds: (position, rotation), where the rotation
    applies to the shape as given; for a mesh also the vertices."""

    shape: Shape
    friction: float
    thickness: float  # m, added to its surface
    path: Callable[[float], Any] | None = None
