"""Hair made by scripts: roots spread over a mesh, and hair Curves from strands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import bpy
import numpy as np

from .poses import Array
from .shapes import constant_radius


class Roots(NamedTuple):
    """Points on a mesh, in its own space, with outward normals."""

    x: Array  # (n, 3)
    normal: Array  # (n, 3)


def scatter(
    mesh: bpy.types.Mesh,
    count: int,
    rng: np.random.Generator,
    chosen: Callable[[Array, Array], Array] | None = None,
) -> Roots | None:
    """Roots spread evenly over the triangles whose centres and normals `chosen` accepts; None if their area is zero."""
    mesh.calc_loop_triangles()
    x = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", x)
    corners = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
    mesh.loop_triangles.foreach_get("vertices", corners)
    a, b, c = np.moveaxis(x.reshape(-1, 3).astype(np.float64)[corners.reshape(-1, 3)], 1, 0)
    normal = np.cross(b - a, c - a)
    area = np.linalg.norm(normal, axis=1)
    normal /= np.maximum(area, 1e-30)[:, None]
    if chosen is not None:
        area = np.where(chosen((a + b + c) / 3.0, normal), area, 0.0)
    if not area.sum() > 0.0:
        return None
    face = rng.choice(len(area), count, p=area / area.sum())
    u, v = rng.uniform(size=(2, count, 1))
    u, v = np.where(u + v > 1.0, 1.0 - u, u), np.where(u + v > 1.0, 1.0 - v, v)
    return Roots(a[face] + u * (b - a)[face] + v * (c - a)[face], normal[face])


def hair_object(name: str, surface: bpy.types.Object, strands: Array) -> bpy.types.Object:
    """Hair Curves from strands (n, points, 3) in the space of the surface, which becomes their parent. Not linked to a scene."""
    count, points = strands.shape[:2]
    data: Any = bpy.data.hair_curves.new(name)
    data.add_curves([points] * count)
    data.attributes["position"].data.foreach_set("vector", strands.astype(np.float32).ravel())
    data.surface = surface
    obj = bpy.data.objects.new(name, data)
    obj.parent = surface
    return obj


def set_visible_radii(data: Any, radii: Array) -> None:
    """Radii of all points, in the space of the object. Without them renders show strands that are millimetres thick."""
    if "radius" not in data.attributes:
        data.attributes.new("radius", "FLOAT", "POINT")
    data.attributes["radius"].data.foreach_set("value", radii.astype(np.float32))


def show_thickness(obj: bpy.types.Object) -> None:
    """Makes strands look as thick as their rods are."""
    scale = max(float(np.cbrt(abs(obj.matrix_world.determinant()))), 1e-30)
    set_visible_radii(obj.data, np.full(len(obj.data.points), constant_radius(obj.tendril, 1.0) / scale))
