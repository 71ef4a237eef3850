"""Convex colliders as data: one record per shape.

A collider shape is a class in `describe/shapes.py`, a number with its signed distance in `maths/geometry/convex.py`, and a record
here. Detection, bounding boxes and the contact of rigid bodies read the record; nothing else asks which shape it has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..describe.shapes import Box, Capsule, Cylinder, Plane, Sphere
from ..errors import Array, TendrilError
from ..maths.geometry.convex import BOX, CAPSULE, CYLINDER, PLANE, SPHERE

Pose = tuple[ArrayLike, ArrayLike]  # position (3,), rotation (3, 3)


def _own_pose(shape: Any) -> Pose:
    return shape.position, shape.rotation


@dataclass(frozen=True)
class ConvexShape:
    """What contact knows of a class of convex shapes. Sizes are the (s0, s1, s2) that `signed_distance` takes, in metres."""

    kind: int  # its number in maths/geometry/convex.py
    size: Callable[[Any], ArrayLike]  # (3,) of a shape
    # Half extents (2, n, 3) of axis-aligned boxes around n shapes, by their sizes (n, 3) and rotations (2, n, 3, 3) at the
    # beginning and the end of a substep. None: the shape is unbounded.
    reach: Callable[[Array, Array], Array] | None
    largest: Callable[[Array], Array]  # (n,) how far a rotation can move a point of n shapes, by their sizes (n, 3)
    # (k, 3) points in the shape's own axes, whose convex hull is the shape to rigid bodies. None: contact/bodies/pieces.py
    # represents it exactly.
    corners: Callable[[Any], Array] | None = None
    pose: Callable[[Any], Pose] = _own_pose


def _upright(normal: Array) -> Array:
    """A rotation that takes z to the normal."""
    across = np.eye(3)[int(np.argmin(np.abs(normal)))]
    x = np.cross(across, normal)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(normal, x), normal], axis=1)


def _along(rotation: Array) -> Array:
    """(2, n, 3) of each world axis, the part along the shape's own z axis."""
    return np.asarray(np.abs(rotation[..., 2]))


def _reach_of_spheres(size: Array, rotation: Array) -> Array:
    return np.broadcast_to(size[:, :1], rotation.shape[:3])


def _reach_of_capsules(size: Array, rotation: Array) -> Array:
    return np.asarray(size[:, :1] + _along(rotation) * size[:, 1:2])


def _reach_of_cylinders(size: Array, rotation: Array) -> Array:
    along = _along(rotation)
    return np.asarray(along * size[:, 1:2] + np.sqrt(np.maximum(1.0 - along**2, 0.0)) * size[:, :1])


def _reach_of_boxes(size: Array, rotation: Array) -> Array:
    return np.asarray(np.einsum("tsij,sj->tsi", np.abs(rotation), size))


def _radius_and_half_length(size: Array) -> Array:
    return np.hypot(size[:, 0], size[:, 1])


def _half_diagonal(size: Array) -> Array:
    return np.asarray(np.linalg.norm(size, axis=1))


def _corners_of_box(box: Box) -> Array:
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return np.asarray(0.5 * corners * np.asarray(box.size))


CONVEX_SHAPES: dict[type, ConvexShape] = {
    Plane: ConvexShape(
        PLANE,
        size=lambda plane: (0.0, 0.0, 0.0),
        reach=None,
        largest=_half_diagonal,
        pose=lambda plane: (plane.point, _upright(np.asarray(plane.normal))),
    ),
    Sphere: ConvexShape(
        SPHERE,
        size=lambda sphere: (sphere.radius, 0.0, 0.0),
        reach=_reach_of_spheres,
        largest=_radius_and_half_length,
        pose=lambda sphere: (sphere.position, np.eye(3)),
    ),
    Capsule: ConvexShape(
        CAPSULE,
        size=lambda capsule: (capsule.radius, 0.5 * capsule.length, 0.0),
        reach=_reach_of_capsules,
        largest=_radius_and_half_length,
    ),
    Cylinder: ConvexShape(
        CYLINDER,
        size=lambda cylinder: (cylinder.radius, 0.5 * cylinder.length, 0.0),
        reach=_reach_of_cylinders,
        largest=_radius_and_half_length,
    ),
    Box: ConvexShape(
        BOX,
        size=lambda box: 0.5 * np.asarray(box.size),
        reach=_reach_of_boxes,
        largest=_half_diagonal,
        corners=_corners_of_box,
    ),
}


def convex_shape(shape: object) -> ConvexShape:
    """The record of a shape."""
    found = CONVEX_SHAPES.get(type(shape))
    if found is None:
        raise TendrilError(
            "shape", shape, f"give one of {', '.join(known.__name__ for known in CONVEX_SHAPES)}, or a Mesh"
        )
    return found
