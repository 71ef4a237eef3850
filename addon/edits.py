"""Edits of a rod while it shows a simulated frame: they are made to the drawn shape, whatever the curve shows.

In Edit Mode and when hair is sculpted, the curve shows its drawn shape. Everything else that changes points (*Apply Scale*, joining
objects, applying a modifier, a script) is found when the frame changes or the file is saved: what the curve holds then differs
from what was last written to it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

import bmesh
import bpy
import numpy as np
from numpy.typing import NDArray

from .bridge import curves, points
from .bridge.curves import Rows
from .bridge.points import Data

EDITING = ("EDIT", "SCULPT_CURVES", "SCULPT")  # modes in which points are moved
_FEWEST = 6  # rows from which on a fitting affine map is no coincidence
_TOLERANCE = 1e-5  # of the size of a curve: transforms by Blender are in single precision

Layout = tuple[tuple[str, int], ...]


class Shown(NamedTuple):
    """A simulated frame as it was written to a curve."""

    rows: Rows
    drawn: Rows
    layout: Layout
    matrix: NDArray[np.float64]  # (4, 4) of the object, to world space
    data: int  # session uid of the curve


CONVERTED = (
    "The rod was converted in a simulated frame, which is its drawn shape now: undo, and convert at the start frame"
)

_shown: dict[str, Shown] = {}  # by uid
_notes: dict[str, str] = {}  # likewise


def record(obj: bpy.types.Object, rows: Rows) -> None:
    """Call it when a frame has been written to the curve of a rod."""
    uid, matrix, data = obj.tendril.uid, np.array(obj.matrix_world, dtype=np.float64), obj.data
    before = _shown.get(uid)
    if before is not None and len(before.rows) == len(rows):
        _shown[uid] = Shown(rows, before.drawn, before.layout, matrix, data.session_uid)
        return
    drawn = curves.drawn_rows(data)
    if drawn is not None:
        _shown[uid] = Shown(rows, drawn, curves.layout(data), matrix, data.session_uid)


def is_shown(uid: str, rows: Rows) -> bool:
    """Whether these very rows were the last that were written to the curve of a rod. Call `accept` before."""
    shown = _shown.get(uid)
    return shown is not None and shown.rows is rows


def forget(uids: Iterable[str] | None = None) -> None:
    """Forgets what curves show: undo has replaced it, or a file was opened."""
    for uid in list(_shown) if uids is None else uids:
        _shown.pop(uid, None)


def show_drawn_while_editing(objects: Iterable[bpy.types.Object]) -> None:
    """Rods in Edit Mode show their drawn shape. Undo in Edit Mode may bring the frame back that was shown before."""
    for obj in objects:
        settings = obj.tendril
        if obj.mode not in EDITING or settings.baked:
            continue
        shown = _shown.get(settings.uid)
        undone = settings.shows_drawn and shown is not None and _is_same(_read(obj), shown.rows)
        if not settings.shows_drawn or undone:
            _write_drawn(obj)
            settings.shows_drawn = True


def accept(obj: bpy.types.Object, rods: Collection[str]) -> bool:
    """Stores the edits that the user has made to a rod as its drawn shape; `rods` are the uids of all rods of the file. Returns
    whether there were any."""
    settings, data = obj.tendril, obj.data
    if settings.baked:  # its shape keys hide the points
        _shown.pop(settings.uid, None)
        return False
    if curves.keeps_drawn(data):
        if settings.shows_drawn:
            if curves.is_as_drawn(data):
                return False
        elif not _transfer(obj, _shown.get(settings.uid)):
            return False
    elif not settings.shows_drawn:
        shown = _shown.get(settings.uid)
        is_converted = shown is not None and shown.data != data.session_uid
        if not is_converted:
            _take_over_joined(obj, rods)
        elif shown is not None and not _take_over_converted(data, shown):
            _notes[settings.uid] = CONVERTED
    curves.keep_drawn(data)
    settings.shows_drawn = True
    _shown.pop(settings.uid, None)
    return True


def take_note(uid: str) -> str:
    """What the user should know of the last accepted edit of a rod, once; empty if there is nothing."""
    return _notes.pop(uid, "")


def _transfer(obj: bpy.types.Object, shown: Shown | None) -> bool:
    """Changes the drawn shape as the shown one was changed, and writes it. False if it was not changed."""
    data = obj.data
    now, kept = curves.read_rows(data), curves.drawn_rows(data)
    if shown is None or kept is None or len(shown.rows) < len(now):
        return False
    count = _places(data)
    before, after = shown.rows[:count].astype(np.float64), now[:count].astype(np.float64)
    limit = _TOLERANCE * max(float(np.abs(before).max(initial=0.0)), 1e-6)
    if np.abs(after - before).max(initial=0.0) <= limit:
        return False
    drawn = kept.copy()
    transform = _applied_transform(obj, shown, before, after, limit)
    if transform is None and len(before) >= _FEWEST:
        transform = _transform_between(before, after, limit)
    if transform is None:
        drawn[:count] += (after - before).astype(np.float32)
    else:
        drawn[:count] = (kept[:count] @ transform[:3] + transform[3]).astype(np.float32)
    curves.restore_drawn(data)  # with the types of its handles
    curves.write_rows(data, drawn)
    return True


def _applied_transform(
    obj: bpy.types.Object, shown: Shown, before: NDArray[np.float64], after: NDArray[np.float64], limit: float
) -> NDArray[np.float64] | None:
    """(4, 3) what the object's transform was, if it has been applied to the points, so that they are where they were."""
    matrix = np.linalg.pinv(np.array(obj.matrix_world, dtype=np.float64)) @ shown.matrix
    fits = np.abs(before @ matrix[:3, :3].T + matrix[:3, 3] - after).max() <= 10.0 * limit * max(
        np.abs(matrix).max(), 1.0
    )
    return matrix[:3].T if fits else None


def _transform_between(
    before: NDArray[np.float64], after: NDArray[np.float64], limit: float
) -> NDArray[np.float64] | None:
    """(4, 3) affine map that takes all points from one shape to the other; None if there is none. Along directions in which the
    points do not extend, it does what it does across."""
    centre, goal = before.mean(axis=0), after.mean(axis=0)
    matrix = np.linalg.lstsq(before - centre, after - goal, rcond=1e-6)[0]
    if np.abs((before - centre) @ matrix + goal - after).max() > 10.0 * limit:
        return None
    # A straight or flat shape leaves the map open in the other directions; there the drawn shape is scaled like the shown one.
    axes, sizes, _ = np.linalg.svd((before - centre).T, full_matrices=True)
    missing = axes[:, int((sizes > 1e-6 * sizes[0]).sum()) :]
    scale = float(np.linalg.norm(after - goal)) / max(float(np.linalg.norm(before - centre)), 1e-30)
    matrix = matrix + scale * missing @ missing.T
    return np.concatenate([matrix, (goal - centre @ matrix)[None]])


def _take_over_converted(data: Data, shown: Shown) -> bool:
    """*Convert* has made new data from the frame that was shown: its points go where the same conversion puts those of the drawn
    shape. False if that is unknown, for example because modifiers were applied."""
    count, now = _places(data), curves.read_rows(data)
    before, drawn = (_control_points(rows, shown.layout) for rows in (shown.rows, shown.drawn))
    if len(before) != count or not _is_same(now[:count], before):
        made = _made_from(shown) if isinstance(data, bpy.types.Mesh) else None
        if made is None or len(made) != count:
            return False
        drawn = made
    now[:count] = drawn
    curves.write_rows(data, now)
    return True


def _control_points(rows: Rows, layout: Layout) -> Rows:
    """Rows of control points, without handles and tilts."""
    if layout[0][0] in ("MESH", "HAIR"):
        return rows
    parts, start = [rows[:0]], 0
    for kind, size in layout:
        if kind not in ("TILT", "RADIUS"):
            step = 3 if kind == "BEZIER" else 1
            parts.append(rows[start + step // 2 : start + step * size : step])
            start += step * size
    return np.concatenate(parts)


def _made_from(shown: Shown) -> Rows | None:
    """The mesh of a curve in its drawn shape, with bevel; None if Blender has removed the curve."""
    curve = next((one for one in bpy.data.curves if one.session_uid == shown.data), None)
    if curve is None or curves.row_count(curve) != len(shown.drawn):
        return None
    curves.restore_drawn(curve)
    obj = bpy.data.objects.new("Converted", curve)
    mesh = bpy.data.meshes.new_from_object(obj)
    rows = points.read_rows(mesh)
    bpy.data.objects.remove(obj)
    bpy.data.meshes.remove(mesh)
    return rows


def _take_over_joined(obj: bpy.types.Object, rods: Collection[str]) -> None:
    """After objects were joined, the points of rods among them return to their drawn shapes. Points of other objects follow those
    of the rod; the number of points has changed."""
    data, now = obj.data, curves.read_rows(obj.data)
    shown = _shown.get(obj.tendril.uid)
    if shown is None or (curves.layout(data)[: len(shown.layout)] != shown.layout and not points.are_in(data)):
        return
    own, count = len(shown.rows), _places(data)
    if own > count or not _is_same(now[:own], shown.rows):
        return
    result, at = now.copy(), own
    result[:own] = shown.drawn
    gone = [other for uid, other in _shown.items() if uid not in rods]
    to_local = np.linalg.inv(np.array(obj.matrix_world, dtype=np.float64))
    while at < count:
        for other in gone:
            size, matrix = len(other.rows), to_local @ other.matrix
            place = (other.rows @ matrix[:3, :3].T + matrix[:3, 3]).astype(np.float32)
            if at + size <= count and _is_same(now[at : at + size], place):
                result[at : at + size] = other.drawn @ matrix[:3, :3].T + matrix[:3, 3]
                at += size
                break
        else:
            break
    types = np.asarray(data.get(curves.DRAWN_HANDLES, ()), dtype=np.int32)
    curves.write_rows(data, result)
    curves.write_handle_types(data, types)


def _places(data: Data) -> int:
    """Number of rows that are coordinates; rows of attributes or tilts may follow."""
    if points.are_in(data):
        return points.count(data)
    rows = curves.row_count(data)
    controls, names = sum(map(len, curves.per_point(data, "tilt"))), curves.columns(data)
    return rows - len(names) * curves.rows_of_column(controls)


def _is_same(now: Rows, before: Rows) -> bool:
    return now.shape == before.shape and bool(
        np.abs(now - before).max(initial=0.0) <= _TOLERANCE * max(float(np.abs(before).max(initial=0.0)), 1e-6)
    )


def _read(obj: bpy.types.Object) -> Rows:
    """The rows of an object in Edit Mode. A mesh has its own copy of its points there."""
    if obj.type == "MESH" and obj.mode == "EDIT":
        vertices = bmesh.from_edit_mesh(obj.data).verts
        return np.array([vertex.co[:] for vertex in vertices], dtype=np.float32).reshape(-1, 3)
    return curves.read_rows(obj.data)


def _write_drawn(obj: bpy.types.Object) -> None:
    rows = curves.drawn_rows(obj.data)
    if obj.type != "MESH" or obj.mode != "EDIT":
        curves.restore_drawn(obj.data)
        return
    mesh = bmesh.from_edit_mesh(obj.data)
    if rows is None or len(mesh.verts) > len(rows):
        return
    for vertex, place in zip(mesh.verts, rows.tolist(), strict=False):
        vertex.co = place
    bmesh.update_edit_mesh(obj.data)
