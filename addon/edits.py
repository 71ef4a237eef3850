"""Edits of a rod while it shows a simulated frame: they are made to the drawn shape, whatever the curve shows.

In Edit Mode and when hair is sculpted, the curve shows its drawn shape. Everything else that changes points (*Apply Scale*, joining
objects, applying a modifier, a script) is found when the frame changes or the file is saved: what the curve holds then differs
from what was last written to it.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import bmesh
import bpy
import numpy as np
from numpy.typing import NDArray

from .affine import affine_map
from .bridge import curves, points, relevant
from .bridge.curves import Rows
from .bridge.points import Data

EDITING = ("EDIT", "SCULPT_CURVES", "SCULPT")  # modes in which points are moved
_TOLERANCE = 1e-5  # of the size of a curve: transforms by Blender are in single precision

_COLUMNS = ("TILT", "RADIUS")  # kinds of rows in layouts of curves that are no coordinates

Layout = tuple[tuple[str, int], ...]


class Shown(NamedTuple):
    """A simulated frame as it was written to a curve."""

    rows: Rows
    drawn: Rows
    layout: Layout
    places: int  # rows that are coordinates; rows of attributes or tilts follow
    matrix: NDArray[np.float64]  # (4, 4) of the object, to world space
    data: int  # session uid of the curve


CONVERTED = (
    "The rod was converted in a simulated frame, which is its drawn shape now: undo, and convert at the start frame"
)

CHANGED = "The number of points was changed in a simulated frame, which is the drawn shape now: undo, and do it at the start frame"

_shown: dict[str, Shown] = {}  # by uid
_notes: dict[str, str] = {}  # likewise
# Undo brings back what curves held, and drops what was done outside of its steps. So it must be known what those rows were:
_frames: set[tuple[str, int]] = set()  # digests of frames that were shown
_edited: dict[tuple[str, int], Shown] = {}  # frames that were edited, by the digest of the edited rows
_MOST_EDITED = 64


def record(obj: bpy.types.Object, rows: Rows) -> None:
    """Call it when a frame has been written to the curve of a rod."""
    _frames.add(_digest(obj.tendril.uid, rows))
    uid, matrix, data = obj.tendril.uid, np.array(obj.matrix_world, dtype=np.float64), obj.data
    before = _shown.get(uid)
    if before is not None and len(before.rows) == len(rows):
        _shown[uid] = Shown(rows, before.drawn, before.layout, before.places, matrix, data.session_uid)
        return
    drawn = curves.drawn_rows(data)
    if drawn is not None:
        _shown[uid] = Shown(rows, drawn, curves.layout(data), _places(data), matrix, data.session_uid)


def record_present(objects: Iterable[bpy.types.Object]) -> None:
    """Call it after a file was opened or undo, for all rods that may show a frame. It need not be one of those in memory, and undo
    may have brought back an edit that had not been accepted."""
    for obj in objects:
        settings, data = obj.tendril, obj.data
        before = _shown.pop(settings.uid, None)
        drawn = curves.drawn_rows(data)
        if drawn is None or settings.baked or obj.mode in EDITING:
            continue
        rows = curves.read_rows(data)
        digest = _digest(settings.uid, rows)
        # Undo may have replaced the object alone, with its setting, or the curve alone.
        is_drawn, base = np.array_equal(rows, drawn), _edited.get(digest)
        if settings.shows_drawn != is_drawn and (is_drawn or digest in _frames or base is not None):
            settings.shows_drawn = is_drawn
        if settings.shows_drawn:
            continue
        if base is None and digest not in _frames:
            known = (before, *(one for (uid, _), one in reversed(_edited.items()) if uid == settings.uid))
            base = next((one for one in known if one is not None and _is_base(one, data)), None)
        if base is None:
            record(obj, rows)
        else:
            _shown[settings.uid] = base._replace(data=data.session_uid)


def note_copy(uid: str, copy: str) -> None:
    """A rod was duplicated, with the frame that it showed."""
    if uid in _shown:
        _shown[copy] = _shown[uid]


def _is_base(shown: Shown, data: Data) -> bool:
    """Whether the curve may hold an edit of this frame: it has the same drawn shape."""
    drawn = curves.drawn_rows(data)
    return drawn is not None and np.array_equal(shown.drawn, drawn)


def _digest(uid: str, rows: Rows) -> tuple[str, int]:
    return uid, zlib.crc32(np.ascontiguousarray(rows).data)


def is_shown(uid: str, rows: Rows) -> bool:
    """Whether these very rows were the last that were written to the curve of a rod. Call `accept` before."""
    shown = _shown.get(uid)
    return shown is not None and shown.rows is rows


def forget(uids: Iterable[str] | None = None) -> None:
    """Forgets what curves show: undo has replaced it, or a file was opened."""
    for uid in list(_shown) if uids is None else uids:
        _shown.pop(uid, None)
        _notes.pop(uid, None)


def show_drawn_while_editing(objects: Iterable[bpy.types.Object]) -> bool:
    """Rods in Edit Mode show their drawn shape. Undo in Edit Mode may bring the frame back that was shown before. Returns
    whether an edit from before Edit Mode was accepted."""
    accepted = False
    for obj in objects:
        settings = obj.tendril
        if obj.mode not in EDITING or settings.baked:
            continue
        shown = _shown.get(settings.uid)
        undone = settings.shows_drawn and shown is not None and _is_same(_read(obj), shown.rows)
        if not settings.shows_drawn or undone:
            drawn = None if undone else _transferred(obj, shown, _read(obj))
            if drawn is not None:
                obj.data[curves.DRAWN] = drawn.ravel()
                accepted = True
            _write_drawn(obj)
            settings.shows_drawn = True
    return accepted


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
        else:
            drawn = _transferred(obj, _shown.get(settings.uid), curves.read_rows(data))
            if drawn is None:
                return False
            curves.restore_drawn(data)  # with the types of its handles
            curves.write_rows(data, drawn)
    elif not settings.shows_drawn:
        shown = _shown.get(settings.uid)
        if shown is not None and shown.data != data.session_uid:
            if not _take_over_converted(data, shown):
                _notes[settings.uid] = CONVERTED
        elif shown is None or not (_take_over_joined(obj, shown, rods) or _take_over_remaining(data, shown)):
            _notes[settings.uid] = CHANGED
    else:
        _take_back_joined(obj, rods)
    curves.keep_drawn(data)
    settings.shows_drawn = True
    _shown.pop(settings.uid, None)
    return True


def note_of(uid: str) -> str:
    """What the user should know of the last accepted edit of a rod; empty if there is nothing."""
    return _notes.get(uid, "")


def forget_notes(uids: Iterable[str]) -> None:
    """The user goes on with the shapes as they are."""
    for uid in uids:
        _notes.pop(uid, None)


def _transferred(obj: bpy.types.Object, shown: Shown | None, now: Rows) -> Rows | None:
    """The drawn shape, changed as the shown one was changed to what the object has now. None if it was not changed."""
    kept = curves.drawn_rows(obj.data)
    if shown is None or kept is None or not shown.places <= len(now) <= len(shown.rows):
        return None
    count = shown.places
    before, after = shown.rows[:count].astype(np.float64), now[:count].astype(np.float64)
    limit = _limit(before)
    if np.abs(after - before).max(initial=0.0) <= limit:
        return None
    drawn = kept.copy()
    transform = _applied_transform(obj, shown, before, after, limit)
    if transform is None:
        transform = affine_map(before, after, 10.0 * limit)
    if transform is None:
        drawn[:count] += (after - before).astype(np.float32)
    else:
        drawn[:count] = (kept[:count] @ transform[:3] + transform[3]).astype(np.float32)
    _edited[_digest(obj.tendril.uid, now)] = shown
    if len(_edited) > _MOST_EDITED:
        del _edited[next(iter(_edited))]
    return drawn


def _applied_transform(
    obj: bpy.types.Object, shown: Shown, before: NDArray[np.float64], after: NDArray[np.float64], limit: float
) -> NDArray[np.float64] | None:
    """(4, 3) what the object's transform was, if it has been applied to the points, so that they are where they were."""
    matrix = np.linalg.pinv(np.array(obj.matrix_world, dtype=np.float64)) @ shown.matrix
    fits = np.abs(before @ matrix[:3, :3].T + matrix[:3, 3] - after).max() <= 10.0 * limit * max(
        np.abs(matrix).max(), 1.0
    )
    return matrix[:3].T if fits else None


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
        if kind not in _COLUMNS:
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


def _take_over_joined(obj: bpy.types.Object, shown: Shown, rods: Collection[str]) -> bool:
    """After objects were joined, the points of rods among them return to their drawn shapes. Points of other objects follow those
    of the rod; the number of points has changed. False if something else has happened."""
    data, now = obj.data, curves.read_rows(obj.data)
    splines = tuple(one for one in shown.layout if one[0] not in _COLUMNS)
    if curves.layout(data)[: len(splines)] != splines and not points.are_in(data):
        return False
    own, count = shown.places, _places(data)
    if own > count or not _is_same(now[:own], shown.rows[:own]):
        return False
    result = now.copy()
    result[:own] = shown.drawn[:own]
    found = _take_back(obj, now[own:count], result[own:count], rods)
    if isinstance(data, bpy.types.Mesh) and not found:  # a modifier may have made them from the frame
        return False
    types = np.asarray(data.get(curves.DRAWN_HANDLES, ()), dtype=np.int32)
    curves.write_rows(data, result)
    curves.write_handle_types(data, types)
    return True


def _take_back(obj: bpy.types.Object, now: Rows, result: Rows, rods: Collection[str]) -> bool:
    """Writes the drawn shapes of rods that are gone to `result`, where `now` has their frames. Returns whether there are any."""
    to_local, found = np.linalg.pinv(np.array(obj.matrix_world, dtype=np.float64)), False
    for other in (other for uid, other in _shown.items() if uid not in rods):
        matrix, size = to_local @ other.matrix, other.places
        place = (other.rows[:size] @ matrix[:3, :3].T + matrix[:3, 3]).astype(np.float32)
        first = np.abs(now[: max(len(now) - size + 1, 0)] - place[:1]).max(axis=1, initial=0.0)
        starts = np.flatnonzero(first <= _limit(place))
        start = next((k for k in starts.tolist() if _is_same(now[k : k + size], place)), None)
        if start is not None:
            result[start : start + size] = other.drawn[:size] @ matrix[:3, :3].T + matrix[:3, 3]
            found = True
    return found


def _take_back_joined(obj: bpy.types.Object, rods: Collection[str]) -> None:
    now, count = curves.read_rows(obj.data), _places(obj.data)
    result = now.copy()
    if _take_back(obj, now[:count], result[:count], rods):
        curves.write_rows(obj.data, result)


def accept_joined(obj: bpy.types.Object | None, rods: Collection[str]) -> None:
    """The active object may be no rod, and others that were may have been joined to it: they have their drawn shapes there."""
    if obj is None or all(uid in rods for uid in _shown) or obj.tendril.uid in rods or obj.type not in relevant.KINDS:
        return
    if obj.mode in EDITING or obj.data.library is not None or curves.DRAWN in obj.data:
        return
    _take_back_joined(obj, rods)
    forget([uid for uid in _shown if uid not in rods])


def _take_over_remaining(data: Data, shown: Shown) -> bool:
    """After points were removed or put in another order, those that are left return to their drawn places. False if there are
    none, or if others may have been made from them."""
    now = curves.read_rows(data)
    if not points.are_in(data) and curves.columns(data):
        return False
    both, size = np.concatenate([shown.rows, now]), len(shown.rows)
    _, same = np.unique(both, axis=0, return_inverse=True)
    keys = np.array([same.ravel(), np.zeros(len(both), dtype=np.int64)])
    for part in (slice(None, size), slice(size, None)):  # points at one place are told apart by their order
        order = np.argsort(keys[0, part], kind="stable")
        values = keys[0, part][order]
        keys[1, part][order] = np.arange(len(values)) - np.searchsorted(values, values)
    number = keys[0] * len(both) + keys[1]
    order = np.argsort(number[:size])
    place = np.minimum(np.searchsorted(number[:size], number[size:], sorter=order), size - 1)
    remain = number[:size][order][place] == number[size:]
    # Points that were added by a script are where it wanted them. Those of a mesh may be made from others, by a modifier.
    if not (remain.all() or (remain.any() and not isinstance(data, bpy.types.Mesh))):
        return False
    now[remain] = shown.drawn[order][place][remain]
    curves.write_rows(data, now)
    return True


def _places(data: Data) -> int:
    """Number of rows that are coordinates; rows of attributes or tilts may follow."""
    if points.are_in(data):
        return points.count(data)
    rows = curves.row_count(data)
    controls, names = sum(map(len, curves.per_point(data, "tilt"))), curves.columns(data)
    return rows - len(names) * curves.rows_of_column(controls)


def _is_same(now: Rows, before: Rows) -> bool:
    return now.shape == before.shape and bool(np.abs(now - before).max(initial=0.0) <= _limit(before))


def _limit(rows: NDArray[Any]) -> float:
    return _TOLERANCE * max(float(np.abs(rows).max(initial=0.0)), 1e-6)


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
