"""Shapes of what rods can collide with, and of bodies. Each is checked when it is made."""

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


def near(field: str, value: Any, points: Array) -> Array:
    """The points that a value gives, if none of them is too far out."""
    if np.abs(points).max() > 10.0 * LARGEST_SIZE:
        raise TendrilError(field, value, f"stay within {10.0 * LARGEST_SIZE:g} m of the origin")
    return points


def place(field: str, value: Any) -> Array:
    return near(field, value, vector(field, value))


def turn(value: Any) -> Array:
    rotation = array("rotation", value, (3, 3), "give a rotation matrix (3, 3)")
    if not are_rotations(rotation):
        raise TendrilError("rotation", value, "give a rotation matrix: orthonormal columns, no mirror image")
    return rotation


def settle(shape: object, **values: object) -> None:
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
        object.__setattr__(shape, name, value)


@dataclass(frozen=True, eq=False)
class Plane:
    """Everything below it is solid; it has no end."""

    point: ArrayLike = (0.0, 0.0, 0.0)
    normal: ArrayLike = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        settle(self, point=place("point", self.point), normal=direction("normal", self.normal))


@dataclass(frozen=True, eq=False)
class Sphere:
    radius: float
    position: ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        settle(self, radius=size_of("radius", self.radius), position=place("position", self.position))


@dataclass(frozen=True, eq=False)
class _Round:
    """What a capsule and a cylinder have in common; the length is along their own z axis."""

    radius: float
    length: float
    position: ArrayLike = (0.0, 0.0, 0.0)
    rotation: ArrayLike = UPRIGHT

    def __post_init__(self) -> None:
        settle(self, radius=size_of("radius", self.radius), length=size_of("length", self.length))
        settle(self, position=place("position", self.position), rotation=turn(self.rotation))


class Capsule(_Round):
    """A cylinder of this length along its own z axis, with half spheres on top."""


class Cylinder(_Round):
    """Of this length along its own z axis."""


class Cone(_Round):
    """Of this length along its own z axis: a disc of this radius below, the tip above, its position halfway up."""


@dataclass(frozen=True, eq=False)
class Box:
    """`size` are its three edges."""

    size: ArrayLike
    position: ArrayLike = (0.0, 0.0, 0.0)
    rotation: ArrayLike = UPRIGHT

    def __post_init__(self) -> None:
        size = np.array([size_of("size", value) for value in vector("size", self.size)])
        settle(self, size=size, position=place("position", self.position), rotation=turn(self.rotation))


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles. A closed mesh is solid on the side its normals point away from; an open one is a sheet with two sides."""

    vertices: ArrayLike
    triangles: ArrayLike

    def __post_init__(self) -> None:
        if dimensions(self.vertices) != 2:
            raise TendrilError("vertices", self.vertices, "give points as an array (n, 3)")
        rows = len(np.asarray(self.vertices))
        vertices = array("vertices", self.vertices, (rows, 3), "give finite points as an array (n, 3)")
        if rows < 3:
            raise TendrilError("vertices", self.vertices, "give at least three points")
        settle(self, vertices=near("vertices", self.vertices, vertices), triangles=_triangles(self.triangles, rows))


@dataclass(frozen=True, eq=False)
class Hull:
    """The convex hull of points."""

    points: ArrayLike

    def __post_init__(self) -> None:
        cure = "give at least four points that do not lie in a plane, as an array (n, 3)"
        points = (
            near("points", self.points, array("points", self.points, (None, 3), cure)) if _rows(self.points) else None
        )
        if points is None or len(points) < 4:
            raise TendrilError("points", self.points, cure)
        spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
        if not spread[2] > 1e-6 * spread[0]:
            raise TendrilError("points", self.points, cure)
        settle(self, points=points)


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


Solid = Sphere | Capsule | Cylinder | Cone | Box | Hull | Mesh  # what a body can be
Shape = Plane | Sphere | Capsule | Cylinder | Box | Mesh  # what a collider can be


def names_of(shapes: UnionType) -> str:
    """The classes of `Solid` or `Shape`, for messages."""
    *names, last = (shape.__name__ for shape in get_args(shapes))
    return f"{', '.join(names)} or {last}"


@dataclass(frozen=True)
class Collider:
    """Something rods can't pass. `path` gives its motion over time in seconds: (position, rotation), where the rotation turns the
    shape as it was given; of a mesh also the vertices."""

    shape: Shape
    friction: float
    thickness: float  # m, on top of its surface
    path: Callable[[float], Any] | None = None
