"""Reads and writes the points of a rod's data: control points of a Curve, points of a mesh or of hair.

While a rod shows a simulated frame, its data holds the coordinates of that frame. The drawn coordinates are stored in custom
properties of the data, so that they survive saving, undo, duplication and even the removal of the add-on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from . import points
from .nurbs import Knots
from .points import Data, check_count
from .strands import SplineKind

Rows = NDArray[np.float32]  # (r, 3), see strands.py
ControlPoints = dict[int, NDArray[np.float32]]  # (n, 4) with weights, of splines by their first row

DRAWN = "tendril_drawn"
DRAWN_HANDLES = "tendril_drawn_handles"
DRAWN_IN_2D = "tendril_drawn_in_2d"
TILTED = "tendril_tilted"  # if set, rows of control points are followed by their tilts, three per row
BREAKS = "tendril_breaks"  # if set, these are followed by their radii, which are zero where the rod is broken
_COLUMNS = ((TILTED, "tilt"), (BREAKS, "radius"))

_BEZIER_ROWS = ("handle_left", "co", "handle_right")
_HANDLE_TYPES = ("handle_left_type", "handle_right_type")
_FREE = 0  # value of a handle's type
_FOREACH_SET_TAGS = (4, 3, 0)  # the first Blender that notices points of splines written by `foreach_set`


def spline_kinds(curve: Data) -> tuple[SplineKind, ...]:
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
    """(s,) number of points of each strand of hair."""
    sizes = np.empty(len(hair.curves), dtype=np.int32)
    hair.curves.foreach_get("points_length", sizes)
    return sizes


def layout(curve: Data) -> tuple[tuple[str, int], ...]:
    """Type and number of points of each spline. Rows can be written to data of an equal layout."""
    if points.are_in(curve):
        return points.layout(curve)
    sizes = tuple((s.type, len(s.bezier_points) if s.type == "BEZIER" else len(s.points)) for s in curve.splines)
    return (*sizes, *((name.upper(), 1) for name in columns(curve)))


def row_count(curve: Data) -> int:
    if points.are_in(curve):
        return points.row_count(curve)
    return _counts(curve)[0]


def _counts(curve: Data) -> tuple[int, int]:
    """The number of rows, and of handle types."""
    bezier = plain = 0
    for spline in curve.splines:
        if spline.type == "BEZIER":
            bezier += len(spline.bezier_points)
        else:
            plain += len(spline.points)
    return 3 * bezier + plain + len(columns(curve)) * rows_of_column(bezier + plain), 2 * bezier


def is_tilted(curve: Data) -> bool:
    return bool(curve.get(TILTED, False))


def columns(curve: Data) -> tuple[str, ...]:
    """Properties of control points that change with the frame and follow their coordinates."""
    return tuple(name for flag, name in _COLUMNS if curve.get(flag, False))


def rows_of_column(controls: int) -> int:
    return -(-controls // 3)


def column_of(rows: Rows, names: tuple[str, ...], name: str, controls: int) -> NDArray[np.float32]:
    """(controls,) a view of the values of a column at the end of rows that have the columns `names`."""
    size = rows_of_column(controls)
    start = len(rows) - (len(names) - names.index(name)) * size
    return rows[start : start + size].reshape(-1)[:controls]


def drawn_tilts(curve: Data, rows: Rows) -> list[NDArray[np.float64]]:
    """The drawn tilts of each spline: from rows that contain them, or from the curve, whose tilt then does not change."""
    now = per_point(curve, "tilt")
    if not is_tilted(curve):
        return now
    sizes = [len(column) for column in now]
    kept = column_of(rows, columns(curve), "tilt", sum(sizes)).astype(np.float64)
    return np.split(kept, np.cumsum(sizes)[:-1])


def with_column(rows: Rows, values: NDArray[np.float64]) -> Rows:
    extra = np.zeros(3 * rows_of_column(len(values)), dtype=np.float32)
    extra[: len(values)] = values
    return np.concatenate([rows, extra.reshape(-1, 3)])


def read_rows(curve: Data) -> Rows:
    if points.are_in(curve):
        return points.read_rows(curve)
    rows = np.zeros((row_count(curve), 3), dtype=np.float32)
    for spline, part in _parts(curve, rows):
        if spline.type == "BEZIER":
            for place, name in enumerate(_BEZIER_ROWS):
                column = np.empty(len(part), dtype=np.float32)
                spline.bezier_points.foreach_get(name, column)
                part[place::3] = column.reshape(-1, 3)
        else:
            part[:] = _points(spline)[:, :3]
    names = columns(curve)
    for name in names:
        values = np.concatenate(per_point(curve, name))
        column_of(rows, names, name, len(values))[:] = values
    return rows


def write_rows(
    curve: Data,
    rows: Rows,
    free_handles: bool = False,
    control_points: ControlPoints | None = None,
) -> None:
    """Writes rows to the data. `free_handles` sets handles to Free, so that Blender does not recompute them. `control_points` is a
    cache of control points with weights for repeated writes to the same curve. Raises TendrilError if the number of rows is
    wrong."""
    if points.are_in(curve):
        points.write_rows(curve, rows)
        return
    start = 0
    for spline in curve.splines:
        places = control_points.get(start) if control_points else None
        if places is None and spline.type == "BEZIER":
            controls = spline.bezier_points
            stop = start + 3 * len(controls)
            check_count(rows, stop)
            if free_handles:
                for name in _HANDLE_TYPES:
                    _set_types(controls, name, np.full(len(controls), _FREE, dtype=np.int32))
            for place, name in enumerate(_BEZIER_ROWS):
                _set(curve, controls, name, rows[start + place : stop : 3])
        else:
            if places is None:
                places = _points(spline)  # the fourth coordinate is a weight
                if control_points is not None:
                    control_points[start] = places
            stop = start + len(places)
            check_count(rows, stop)
            places[:, :3] = rows[start:stop]
            _set(curve, spline.points, "co", places)
        start = stop
    if start < len(rows):
        _write_columns(curve, rows)
    # Writing points has tagged the curve. Another tag would make Blender evaluate much more, in proportion to all objects.
    if bpy.app.version < _FOREACH_SET_TAGS and start:
        _tag_by_assignment(curve.splines[0])


def _tag_by_assignment(spline: bpy.types.Spline) -> None:
    """Makes Blender evaluate the curve, as `foreach_set` does in later versions."""
    controls = spline.bezier_points if spline.type == "BEZIER" else spline.points
    controls[0].co = controls[0].co


def _write_columns(curve: Data, rows: Rows) -> None:
    controls, names = [s.bezier_points if s.type == "BEZIER" else s.points for s in curve.splines], columns(curve)
    total = sum(map(len, controls))
    for name in names:
        values, start = np.ascontiguousarray(column_of(rows, names, name, total)), 0
        for of_spline in controls:
            _set_column(of_spline, name, values[start : start + len(of_spline)])
            start += len(of_spline)


def _set_column(controls: Any, name: str, values: NDArray[np.float32]) -> None:
    if controls.id_data.override_library is None:
        controls.foreach_set(name, values)
    else:  # foreach_set has no effect on a library override
        for control, value in zip(controls, values.tolist(), strict=True):
            setattr(control, name, value)


def set_breaks(curve: Data, breaks: bool) -> None:
    """Makes radii a part of the rows of a curve, or not. Call it only while the curve shows its drawn shape."""
    if bool(curve.get(BREAKS, False)) != breaks:
        curve[BREAKS] = breaks
        keep_drawn(curve)


def per_point(curve: Data, name: str) -> list[NDArray[np.float64]]:
    """A property of the control points of each spline, such as "radius", "tilt" or "weight_softbody"."""
    columns = []
    for spline in curve.splines:
        controls = spline.bezier_points if spline.type == "BEZIER" else spline.points
        column = np.empty(len(controls), dtype=np.float32)
        controls.foreach_get(name, column)
        columns.append(column.astype(np.float64))
    return columns


def keep_drawn(curve: Data) -> None:
    """Stores the current shape as the drawn shape."""
    for name in (DRAWN, DRAWN_HANDLES):
        if name in curve:  # replacing an array by a longer one corrupts memory in Blender 5.0
            del curve[name]
    curve[DRAWN] = read_rows(curve).ravel()
    curve[DRAWN_HANDLES] = _read_handle_types(curve)


def drawn_rows(curve: Data) -> Rows | None:
    """The drawn shape; None if there is none or the number of points has changed."""
    return np.array(curve[DRAWN], dtype=np.float32).reshape(-1, 3) if keeps_drawn(curve) else None


def keeps_drawn(curve: Data) -> bool:
    """Whether a drawn shape with the current number of points is stored."""
    kept, handles = curve.get(DRAWN), curve.get(DRAWN_HANDLES)
    rows, types = (points.row_count(curve), 0) if points.are_in(curve) else _counts(curve)
    return kept is not None and len(kept) == 3 * rows and handles is not None and len(handles) == types


def is_as_drawn(curve: Data) -> bool:
    return np.array_equal(read_rows(curve).ravel(), np.asarray(curve[DRAWN])) and np.array_equal(
        _read_handle_types(curve), np.asarray(curve[DRAWN_HANDLES])
    )


def restore_drawn(curve: Data) -> None:
    rows = drawn_rows(curve)
    if rows is None:
        return
    write_rows(curve, rows)
    write_handle_types(curve, np.array(curve[DRAWN_HANDLES], dtype=np.int32))


def write_handle_types(curve: Data, types: NDArray[np.int32]) -> None:
    """Sets the types of handles, spline by spline, as far as there are any."""
    start = 0
    for spline in _splines(curve):
        if spline.type == "BEZIER":
            for name in _HANDLE_TYPES:
                stop = start + len(spline.bezier_points)
                if stop > len(types):
                    return
                _set_types(spline.bezier_points, name, types[start:stop])
                start = stop


def forget_drawn(curve: Data) -> None:
    for name in (DRAWN, DRAWN_HANDLES, DRAWN_IN_2D, TILTED, BREAKS):
        if name in curve:
            del curve[name]


def make_3d(curve: Data) -> None:
    """Makes a 2D curve 3D while it is a rod, because Blender would flatten every frame."""
    if isinstance(curve, bpy.types.Curve) and curve.dimensions == "2D":
        curve[DRAWN_IN_2D] = True
        curve.dimensions = "3D"


def restore_dimensions(curve: Data) -> None:
    if curve.get(DRAWN_IN_2D):
        curve.dimensions = "2D"


def _splines(curve: Data) -> Iterable[bpy.types.Spline]:
    return () if points.are_in(curve) else curve.splines


def _parts(curve: Data, rows: Rows) -> Iterator[tuple[bpy.types.Spline, Rows]]:
    start = 0
    for spline in curve.splines:
        stop = start + (3 * len(spline.bezier_points) if spline.type == "BEZIER" else len(spline.points))
        yield spline, rows[start:stop]
        start = stop


def _set(curve: Data, controls: Any, name: str, rows: NDArray[np.float32]) -> None:
    if curve.override_library is None:
        controls.foreach_set(name, rows.reshape(-1))
    else:  # foreach_set has no effect on a library override
        for point, row in zip(controls, rows.tolist(), strict=True):
            setattr(point, name, row)


def _set_types(points: Any, name: str, types: NDArray[np.int32]) -> None:
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


def _read_handle_types(curve: Data) -> NDArray[np.int32]:
    types = []
    for spline in _splines(curve):
        if spline.type == "BEZIER":
            for name in _HANDLE_TYPES:
                column = np.empty(len(spline.bezier_points), dtype=np.int32)
                spline.bezier_points.foreach_get(name, column)
                types.append(column)
    return np.concatenate(types) if types else np.empty(0, dtype=np.int32)
