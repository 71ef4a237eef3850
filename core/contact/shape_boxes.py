"""Boxes around convex colliders on their way through a substep."""

from __future__ import annotations

import numpy as np

from ..errors import Array
from .arrays import Shapes
from .convex_shapes import CONVEX_SHAPES

ENDLESS = 1e9  # m


def shape_boxes(shapes: Shapes, low: Array, high: Array) -> None:
    """Writes boxes that hold each shape at the beginning and at the end; a rotation in between bulges out a little."""
    turned = np.minimum(np.abs(shapes.rotation[1] - shapes.rotation[0]).max(axis=(1, 2)), 2.0)
    for record in CONVEX_SHAPES.values():
        rows = np.flatnonzero(shapes.kind == record.kind)
        if not len(rows):
            continue
        if record.reach is None:
            low[rows], high[rows] = -ENDLESS, ENDLESS
            continue
        size, position = shapes.size[rows], shapes.position[:, rows]
        reach = record.reach(size, shapes.rotation[:, rows])
        more = (shapes.thickness[rows] + turned[rows] * record.largest(size))[:, None]
        low[rows] = (position - reach).min(axis=0) - more
        high[rows] = (position + reach).max(axis=0) + more
