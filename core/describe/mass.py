"""Volume, centre of mass and inertia of solids."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import Array, TendrilError
from .shapes import Box, Capsule, Cone, Cylinder, Hull, Mesh, Solid, Sphere


class MassProperties(NamedTuple):
    """Of a solid of unit density, in its own coordinates."""

    volume: float  # m3
    center: Array  # (3,) m
    inertia: Array  # (3, 3) m5, about the centre


def mass_properties(shape: Solid) -> MassProperties:
    if isinstance(shape, (Mesh, Hull)):
        return of_mesh(shape) if isinstance(shape, Mesh) else of_mesh(hull_mesh(shape))
    volume, along, about = _round_or_box(shape)
    rotation = np.eye(3) if isinstance(shape, Sphere) else np.asarray(shape.rotation)
    center = np.asarray(shape.position) + along * rotation[:, 2]
    return MassProperties(volume, center, rotation @ np.diag(about) @ rotation.T)


def _round_or_box(shape: Sphere | Box | Capsule | Cylinder | Cone) -> tuple[float, float, tuple[float, float, float]]:
    """Volume, centre along the local z axis, principal moments about x, y, z."""
    if isinstance(shape, Box):
        a, b, c = np.asarray(shape.size)
        volume = a * b * c
        return volume, 0.0, tuple(volume / 12.0 * (p * p + q * q) for p, q in ((b, c), (c, a), (a, b)))
    r = shape.radius
    if isinstance(shape, Sphere):
        volume = 4.0 / 3.0 * math.pi * r**3
        return volume, 0.0, (0.4 * volume * r * r,) * 3
    length = shape.length
    if isinstance(shape, Cone):
        volume = math.pi * r * r * length / 3.0
        across = 3.0 / 80.0 * volume * (4.0 * r * r + length * length)
        return volume, -0.25 * length, (across, across, 0.3 * volume * r * r)
    tube = math.pi * r * r * length
    across, about = tube * (3.0 * r * r + length * length) / 12.0, 0.5 * tube * r * r
    if isinstance(shape, Cylinder):
        return tube, 0.0, (across, across, about)
    ball = 4.0 / 3.0 * math.pi * r**3  # both halves; each has its centre 3 r / 8 beyond the tube's end
    across += ball * (0.4 * r * r + 0.25 * length * length + 0.375 * length * r)
    return tube + ball, 0.0, (across, across, about + 0.4 * ball * r * r)


def of_mesh(mesh: Mesh) -> MassProperties:
    """Sums over tetrahedra from the mean vertex to each triangle."""
    vertices, triangles = np.asarray(mesh.vertices), np.asarray(mesh.triangles)
    if not _is_closed(triangles):
        raise TendrilError(
            "shape", mesh, "close the mesh: every edge must belong to two consistently oriented triangles"
        )
    origin = vertices.mean(axis=0)
    corners = vertices[triangles] - origin  # (m, 3, 3)
    sixfold = np.linalg.det(corners)  # six times the volume of each tetrahedron
    volume = float(sixfold.sum()) / 6.0
    size = float(np.abs(corners).max())
    if abs(volume) < 1e-12 * size**3:
        raise TendrilError("shape", mesh, "give a mesh that encloses a volume")
    center = np.einsum("m,mkc->c", sixfold, corners) / (24.0 * volume)
    # Second moments of a tetrahedron with one corner at the origin: det / 120 ((sum of corners)^2 + sum of (corner)^2).
    sums = corners.sum(axis=1)
    second = np.einsum("m,mi,mj->ij", sixfold, sums, sums) + np.einsum("m,mki,mkj->ij", sixfold, corners, corners)
    second = second / 120.0 - volume * np.outer(center, center)
    inertia = np.trace(second) * np.eye(3) - second
    sign = math.copysign(1.0, volume)  # an inverted mesh encloses the same volume
    return MassProperties(sign * volume, origin + center, sign * inertia)


def _is_closed(triangles: NDArray[np.int64]) -> bool:
    edges = np.concatenate([triangles[:, (0, 1)], triangles[:, (1, 2)], triangles[:, (2, 0)]])
    keys, back = edges @ (2**32, 1), edges[:, ::-1] @ (2**32, 1)
    return len(np.unique(keys)) == len(keys) and np.array_equal(np.sort(keys), np.sort(back))


def hull_mesh(hull: Hull) -> Mesh:
    from scipy.spatial import ConvexHull

    points = np.asarray(hull.points)
    found = ConvexHull(points)
    triangles = found.simplices.astype(np.int64)
    a, b, c = (points[triangles[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), found.equations[:, :3]) < 0.0
    triangles[inward] = triangles[inward][:, ::-1]
    used, numbers = np.unique(triangles, return_inverse=True)
    return Mesh(points[used], numbers.reshape(-1, 3))
