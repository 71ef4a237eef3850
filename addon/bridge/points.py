"""Meshes and hair Curves: data whose points are one attribute, and attributes with tension and twist for shading.

Rows (r, 3) are the points. If the data has the attributes, their values follow one after the other, three per row, so that caches
store them like points.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import TendrilError

Data = Any  # Mesh, Curves or Curve: which one is known at run time
Rows = NDArray[np.float32]
Values = NDArray[np.float64]

# Access to bpy.types is as slow as writing the points of a short rope.
_MESH, _CURVES = bpy.types.Mesh, bpy.types.Curves

# Newtons, and radians per metre.
ATTRIBUTES = ("tension", "twist")


def are_in(data: Data) -> bool:
    return isinstance(data, (_MESH, _CURVES))


def count(data: Data) -> int:
    return len(data.vertices if isinstance(data, _MESH) else data.points)


def has_attributes(data: Data) -> bool:
    return all(name in data.attributes for name in ATTRIBUTES)


def row_count(data: Data) -> int:
    n = count(data)
    return n + rows_of_attributes(n) if has_attributes(data) else n


def rows_of_attributes(n: int) -> int:
    return -(-len(ATTRIBUTES) * n // 3)


def layout(data: Data) -> tuple[tuple[str, int], ...]:
    """Two objects with equal layouts have the same rows."""
    if isinstance(data, _MESH):
        return ("MESH", row_count(data)), ("EDGES", len(data.edges))
    return ("HAIR", row_count(data)), ("STRANDS", len(data.curves))


def read_rows(data: Data) -> Rows:
    n = count(data)
    rows = np.zeros((row_count(data), 3), dtype=np.float32)
    _get(data, "position", "vector", rows[:n].reshape(-1))
    if len(rows) > n:
        values = rows[n:].reshape(-1)
        for k, name in enumerate(ATTRIBUTES):
            _get(data, name, "value", values[k * n : (k + 1) * n])
    return rows


def check_count(rows: Rows, least: int) -> None:
    if len(rows) < least:
        raise TendrilError(
            "the curve", "points", "its number of points has changed since the simulation: go to the start frame"
        )


def write_rows(data: Data, rows: Rows) -> None:
    n = count(data)
    check_count(rows, n)
    if isinstance(data, _MESH):
        data.vertices.foreach_set("co", np.ascontiguousarray(rows[:n]).ravel())
    else:
        data.attributes["position"].data.foreach_set("vector", np.ascontiguousarray(rows[:n]).ravel())
    if len(rows) > n and has_attributes(data):
        values = np.ascontiguousarray(rows[n:]).ravel()
        for k, name in enumerate(ATTRIBUTES):
            data.attributes[name].data.foreach_set("value", values[k * n : (k + 1) * n])
    if isinstance(data, _MESH):
        data.update()  # normals
    data.update_tag()


def with_attributes(places: Rows, values: list[Values]) -> Rows:
    """Appends attributes (n,) to the rows of points (n, 3)."""
    extra = np.zeros(3 * rows_of_attributes(len(places)), dtype=np.float32)
    together = np.concatenate(values)
    extra[: len(together)] = together
    return np.concatenate([places, extra.reshape(-1, 3)])


def set_attributes(data: Data, wanted: bool) -> None:
    for name in ATTRIBUTES:
        if wanted and name not in data.attributes:
            data.attributes.new(name, "FLOAT", "POINT")
        elif not wanted and name in data.attributes:
            data.attributes.remove(data.attributes[name])


def weights(obj: bpy.types.Object, name: str) -> Values | None:
    """Weights of all points from the vertex group or attribute of this name; None if there is none."""
    data = obj.data
    if isinstance(data, _MESH) and name in obj.vertex_groups:
        group = obj.vertex_groups[name].index
        found = np.zeros(len(data.vertices))
        for vertex in data.vertices:
            for member in vertex.groups:
                if member.group == group:
                    found[vertex.index] = member.weight
        return found
    attribute = data.attributes.get(name)
    if attribute is None or attribute.domain != "POINT" or attribute.data_type != "FLOAT":
        return None
    values = np.empty(count(data), dtype=np.float32)
    attribute.data.foreach_get("value", values)
    return values.astype(np.float64)


def _get(data: Data, name: str, field: str, out: NDArray[np.float32]) -> None:
    if len(out):  # data without points has no attributes
        column = np.empty(len(out), dtype=np.float32)
        data.attributes[name].data.foreach_get(field, column)
        out[:] = column
