"""What a rod is drawn as: control points of a Curve, points of a mesh or of hair. They are read and written in one go, and the
drawn shape is kept beside them.

While a rod shows a simulated frame, the curve holds that frame's coordinates; the coordinates the user drew are kept in
custom properties of the curve, so that they survive saving, undo, duplication and even the removal of the add-on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import bpy
import numpy as np
from numpy.typing import NDArray

from . import points
from .nurbs import Knots
from .strands import SplineKind

Rows = NDArray[np.float32]  # (r, 3), see strands.py

DRAWN = "tendril_drawn"
DRAWN_HANDLES = "tendril_drawn_handles"
DRAWN_IN_2D = "tendril_drawn_in_2d"

_BEZIER_ROWS = ("handle_left", "co", "handle_right")
_HANDLE_TYPES = ("handle_left_type", "handle_right_type")
_FREE = 0  # of a handle's type


def spline_kinds(curve: bpy.types.ID) -> tuple[SplineKind, ...]:
    if isinstance(curve, bpy.types.Curves):
        return tuple(SplineKind("POLY", int(size), False) for size in strand_sizes(curve))
    kinds = []
    for spline in curve.splines:
        if spline.type == "BEZIER":
            kinds.append(SplineKind("BEZIER", len(spline.bezier_points), spline.use_cyclic_u, spline.resolution_u))
        elif spline.type == "NURBS":
            knots = Knots(spline.order_u, spline.use_cyclic_u, spline.use_endpoint_u, spline.use_bezier_u)
            weights = tuple(_points(spline)[:, 3].tolist())
            count = len(spline.points)
            kinds.append(SplineKind("NURBS", count, spline.use_cyclic_u, spline.resolution_u, knots, weights))
        else:
            kinds.append(SplineKind("POLY", len(spline.points), spline.use_cyclic_u))
    return tuple(kinds)


def strand_sizes(hair: bpy.types.Curves) -> NDArray[np.int32]:
    """(s,) how many points each strand of hair has."""
    sizes = np.empty(len(hair.curves), dtype=np.int32)
    hair.curves.foreach_get("points_length", sizes)
    return sizes


def layout(curve: bpy.types.ID) -> tuple[tuple[str, int], ...]:
    """Type and number of points of each spline: what must agree for rows to be written."""
    if points.are_in(curve):
        return points.layout(curve)
    return tuple((s.type, len(s.bezier_points) if s.type == "BEZIER" else len(s.points)) for s in curve.splines)


def row_count(curve: bpy.types.ID) -> int:
    if points.are_in(curve):
        return points.row_count(curve)
    return sum(3 * len(s.bezier_points) if s.type == "BEZIER" else len(s.points) for s in curve.splines)


def read_rows(curve: bpy.types.ID) -> Rows:
    if points.are_in(curve):
        return points.read_rows(curve)
    rows = np.empty((row_count(curve), 3), dtype=np.float32)
    for spline, part in _parts(curve, rows):
        if spline.type == "BEZIER":
            for place, name in enumerate(_BEZIER_ROWS):
                column = np.empty(len(part), dtype=np.float32)
                spline.bezier_points.foreach_get(name, column)
                part[place::3] = column.reshape(-1, 3)
        else:
            part[:] = _points(spline)[:, :3]
    return rows


def write_rows(curve: bpy.types.ID, rows: Rows) -> None:
    if points.are_in(curve):
        points.write_rows(curve, rows)
        return
    for spline, part in _parts(curve, rows):
        if spline.type == "BEZIER":
            for place, name in enumerate(_BEZIER_ROWS):
                _set(spline.bezier_points, name, part[place::3])
        else:
            places = _points(spline)
            places[:, :3] = part
            _set(spline.points, "co", places)
    curve.update_tag()


def per_point(curve: bpy.types.Curve, name: str) -> list[NDArray[np.float64]]:
    """A property of the control points, "radius", "tilt" or "weight_softbody" for instance, per spline."""
    columns = []
    for spline in curve.splines:
        controls = spline.bezier_points if spline.type == "BEZIER" else spline.points
        column = np.empty(len(controls), dtype=np.float32)
        controls.foreach_get(name, column)
        columns.append(column.astype(np.float64))
    return columns


def free_handles(curve: bpy.types.Curve) -> None:
    """Keeps Blender from computing the handles anew: their simulated places count."""
    for spline in _splines(curve):
        if spline.type == "BEZIER":
            for name in _HANDLE_TYPES:
                _set_types(spline.bezier_points, name, np.full(len(spline.bezier_points), _FREE, dtype=np.int32))


def keep_drawn(curve: bpy.types.Curve) -> None:
    """The curve as it is now becomes the drawn shape."""
    for name in (DRAWN, DRAWN_HANDLES):
        if name in curve:  # Blender 5.0 corrupts its memory when an array is replaced by a longer one
            del curve[name]
    curve[DRAWN] = read_rows(curve).ravel()
    curve[DRAWN_HANDLES] = _read_handle_types(curve)


def drawn_rows(curve: bpy.types.Curve) -> Rows | None:
    """The drawn shape; None if there is none, or if the curve has other points by now."""
    return np.array(curve[DRAWN], dtype=np.float32).reshape(-1, 3) if keeps_drawn(curve) else None


def keeps_drawn(curve: bpy.types.Curve) -> bool:
    """Whether there is a drawn shape of as many points as the curve has now."""
    kept, handles = curve.get(DRAWN), curve.get(DRAWN_HANDLES)
    if kept is None or len(kept) != 3 * row_count(curve) or handles is None:
        return False
    return len(handles) == 2 * sum(len(spline.bezier_points) for spline in _splines(curve))


def is_as_drawn(curve: bpy.types.Curve) -> bool:
    return np.array_equal(read_rows(curve).ravel(), np.asarray(curve[DRAWN])) and np.array_equal(
        _read_handle_types(curve), np.asarray(curve[DRAWN_HANDLES])
    )


def restore_drawn(curve: bpy.types.Curve) -> None:
    rows = drawn_rows(curve)
    if rows is None:
        return
    write_rows(curve, rows)
    types = np.array(curve[DRAWN_HANDLES], dtype=np.int32)
    start = 0
    for spline in _splines(curve):
        if spline.type == "BEZIER":
            for name in _HANDLE_TYPES:
                stop = start + len(spline.bezier_points)
                _set_types(spline.bezier_points, name, types[start:stop])
                start = stop


def forget_drawn(curve: bpy.types.Curve) -> None:
    for name in (DRAWN, DRAWN_HANDLES, DRAWN_IN_2D):
        if name in curve:
            del curve[name]


def make_3d(curve: bpy.types.Curve) -> None:
    """A 2D curve would flatten every frame; it becomes 3D for as long as it is a rod."""
    if isinstance(curve, bpy.types.Curve) and curve.dimensions == "2D":
        curve[DRAWN_IN_2D] = True
        curve.dimensions = "3D"


def restore_dimensions(curve: bpy.types.Curve) -> None:
    if curve.get(DRAWN_IN_2D):
        curve.dimensions = "2D"


def _splines(curve: bpy.types.ID) -> Iterable[bpy.types.Spline]:
    return curve.splines if isinstance(curve, bpy.types.Curve) else ()


def _parts(curve: bpy.types.Curve, rows: Rows) -> Iterator[tuple[bpy.types.Spline, Rows]]:
    start = 0
    for spline in curve.splines:
        stop = start + (3 * len(spline.bezier_points) if spline.type == "BEZIER" else len(spline.points))
        yield spline, rows[start:stop]
        start = stop


def _set(points: bpy.types.bpy_prop_collection, name: str, rows: NDArray[np.float32]) -> None:
    if points.id_data.override_library is None:
        points.foreach_set(name, rows.ravel())
    else:  # of a library override foreach_set changes nothing
        for point, row in zip(points, rows.tolist(), strict=True):
            setattr(point, name, row)


def _set_types(points: bpy.types.bpy_prop_collection, name: str, types: NDArray[np.int32]) -> None:
    if points.id_data.override_library is None:
        points.foreach_set(name, types)
    else:
        items = bpy.types.BezierSplinePoint.bl_rna.properties[name].enum_items
        names = {item.value: item.identifier for item in items}
        for point, number in zip(points, types.tolist(), strict=True):
            setattr(point, name, names[number])


def _points(spline: bpy.types.Spline) -> NDArray[np.float32]:
    places = np.empty(4 * len(spline.points), dtype=np.float32)
    spline.points.foreach_get("co", places)
    return places.reshape(-1, 4)


def _read_handle_types(curve: bpy.types.Curve) -> NDArray[np.int32]:
    types = []
    for spline in _splines(curve):
        if spline.type == "BEZIER":
            for name in _HANDLE_TYPES:
                column = np.empty(len(spline.bezier_points), dtype=np.int32)
                spline.bezier_points.foreach_get(name, column)
                types.append(column)
    return np.concatenate(types) if types else np.empty(0, dtype=np.int32)
