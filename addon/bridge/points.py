"""Meshes and hair Curves: data whose points are one attribute, and further attributes for shading and motion blur.

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

# Attributes of points and their number of components: newtons, radians per metre; for hair also metres per second, the first
# material director, and 1 where the solver gave up a strand in this frame.
_STRAINS = {"tension": 1, "twist": 1}
_OF_HAIR = {**_STRAINS, "velocity": 3, "custom_normal": 3, "given_up": 1}
_FREE_NORMALS = 2  # normal_mode of curves with custom normals


def attributes_of(data: Data) -> dict[str, int]:
    """Names and numbers of components of the attributes that Tendril writes."""
    return _OF_HAIR if isinstance(data, _CURVES) else _STRAINS


def are_in(data: Data) -> bool:
    return isinstance(data, (_MESH, _CURVES))


def count(data: Data) -> int:
    return len(data.vertices if isinstance(data, _MESH) else data.points)


BROKEN = "broken"  # attribute of the edges of a net that can break: 1 where it is torn


def marks_broken(data: Data) -> bool:
    return isinstance(data, _MESH) and BROKEN in data.attributes


def set_broken(data: Data, wanted: bool) -> None:
    """Adds the attribute of torn edges to a mesh, or removes it."""
    if wanted and BROKEN not in data.attributes:
        data.attributes.new(BROKEN, "FLOAT", "EDGE")
    elif not wanted and BROKEN in data.attributes:
        data.attributes.remove(data.attributes[BROKEN])


def broken_edges(data: Data, rows: Rows) -> NDArray[np.bool_]:
    """(m,) which edges of a mesh are torn in a frame; none if it can't break."""
    edges = len(data.edges)
    if not marks_broken(data):
        return np.zeros(edges, np.bool_)
    return rows[len(rows) - rows_of_attributes(edges, 1) :].reshape(-1)[:edges] > 0.5


def has_attributes(data: Data) -> bool:
    return all(name in data.attributes for name in attributes_of(data))


def row_count(data: Data) -> int:
    n = count(data)
    rows = n + rows_of_attributes(n, sum(attributes_of(data).values())) if has_attributes(data) else n
    return rows + rows_of_attributes(len(data.edges), 1) if marks_broken(data) else rows


def rows_of_attributes(n: int, components: int) -> int:
    return -(-components * n // 3)


def layout(data: Data) -> tuple[tuple[str, int], ...]:
    """Two objects with equal layouts have the same rows."""
    if isinstance(data, _MESH):
        return ("MESH", row_count(data)), ("EDGES", len(data.edges))
    return ("HAIR", row_count(data)), ("STRANDS", len(data.curves))


def read_rows(data: Data) -> Rows:
    n = count(data)
    rows = np.zeros((row_count(data), 3), dtype=np.float32)
    _get(data, "position", "vector", rows[:n].reshape(-1))
    if marks_broken(data):
        edges = len(data.edges)
        _get(data, BROKEN, "value", rows[len(rows) - rows_of_attributes(edges, 1) :].reshape(-1)[:edges])
    if has_attributes(data):
        values, start = rows[n:].reshape(-1), 0
        for name, width in attributes_of(data).items():
            _get(data, name, "value" if width == 1 else "vector", values[start : start + width * n])
            start += width * n
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
    if marks_broken(data) and len(rows) == row_count(data):
        data.attributes[BROKEN].data.foreach_set("value", broken_edges(data, rows).astype(np.float32))
    if len(rows) > n and has_attributes(data):
        values, start = np.ascontiguousarray(rows[n:]).ravel(), 0
        for name, width in attributes_of(data).items():
            own = values[start : start + width * n]
            data.attributes[name].data.foreach_set("value" if width == 1 else "vector", own)
            start += width * n
    if isinstance(data, _MESH):
        data.update()  # normals
    data.update_tag()


def with_attributes(places: Rows, values: list[Values]) -> Rows:
    """Appends attributes (n,) or (n, 3) to the rows of points (n, 3)."""
    together = np.concatenate([one.ravel() for one in values])
    extra = np.zeros(3 * rows_of_attributes(1, len(together)), dtype=np.float32)
    extra[: len(together)] = together
    return np.concatenate([places, extra.reshape(-1, 3)])


def set_attributes(data: Data, wanted: bool) -> None:
    for name, width in attributes_of(data).items():
        if wanted and name not in data.attributes:
            data.attributes.new(name, "FLOAT" if width == 1 else "FLOAT_VECTOR", "POINT")
        elif not wanted and name in data.attributes:
            data.attributes.remove(data.attributes[name])
    if isinstance(data, _CURVES):
        mode: Any = data.attributes.get("normal_mode")
        if wanted and mode is None and len(data.curves):
            mode = data.attributes.new("normal_mode", "INT8", "CURVE")
            mode.data.foreach_set("value", np.full(len(data.curves), _FREE_NORMALS, dtype=np.int32))
        elif not wanted and mode is not None:
            data.attributes.remove(mode)


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
