"""Boxes around convex colliders on their way through a substep."""

from __future__ import annotations

import numpy as np

from ..errors import Array
from ..maths.geometry.convex import BOX, CAPSULE, CYLINDER, PLANE, SPHERE
from .arrays import Shapes

ENDLESS = 1e9  # m


def shape_boxes(shapes: Shapes, low: Array, high: Array) -> None:
    """Writes boxes that hold each shape at the beginning and at the end; a rotation in between bulges out a little."""
    kind, size = shapes.kind, shapes.size
    radius, half = size[:, 0], size[:, 1]
    along = np.abs(shapes.rotation[..., 2])  # (2, S, 3) of the axis
    reach = np.einsum("tsij,sj->tsi", np.abs(shapes.rotation), size)  # of boxes
    for of_kind in (SPHERE, CAPSULE, CYLINDER):
        rows = kind == of_kind
        reach[:, rows] = radius[rows][:, None]
        if of_kind == CAPSULE:
            reach[:, rows] += along[:, rows] * half[rows][:, None]
        if of_kind == CYLINDER:
            across = np.sqrt(np.maximum(1.0 - along[:, rows] ** 2, 0.0))
            reach[:, rows] = along[:, rows] * half[rows][:, None] + across * radius[rows][:, None]
    largest = np.where(kind == BOX, np.linalg.norm(size, axis=1), np.hypot(radius, half))
    turned = np.abs(shapes.rotation[1] - shapes.rotation[0]).max(axis=(1, 2))
    more = shapes.thickness + np.minimum(turned, 2.0) * largest
    low[:] = (shapes.position - reach).min(axis=0) - more[:, None]
    high[:] = (shapes.position + reach).max(axis=0) + more[:, None]
    low[kind == PLANE] = -ENDLESS
    high[kind == PLANE] = ENDLESS
