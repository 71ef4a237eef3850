"""The tilt of control points, which aligns a flat bevel with the material frame.

Blender transports a normal along the curve, or derives it from the z axis, and rotates it by the tilt. The wide side of an extruded
bevel, and of a flat rod, is perpendicular to that normal.
"""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from .curves import Rows, drawn_tilts, spline_kinds
from .poses import Array
from .strands import Polyline, SplineKind, Strand, polylines

SUPPORTED_MODES = ("MINIMUM", "Z_UP")  # twist methods of curves that are supported


def enable_where_visible(obj: bpy.types.Object) -> None:
    """Enables Tilt Follows where twist is visible, unless the user has set the property."""
    settings, curve = obj.tendril, obj.data
    if obj.type != "CURVE" or curve.twist_mode not in SUPPORTED_MODES or settings.is_property_set("use_tilt"):
        return
    if settings.section != "CIRCLE" or curve.extrude > 0.0 or curve.bevel_mode != "ROUND":
        settings.use_tilt = True


def wide_sides(x: Array, closed: bool, mode: str) -> tuple[Array, Array]:
    """Tangents and wide sides without tilt (n, 3) at the points of an evaluated curve, as in Blender."""
    edges = np.roll(x, -1, axis=0) - x if closed else np.diff(x, axis=0)
    e = edges / np.maximum(np.linalg.norm(edges, axis=1), 1e-30)[:, None]
    t = e + np.roll(e, 1, axis=0) if closed else np.vstack([e[:1], e[:-1] + e[1:], e[-1:]])
    t /= np.maximum(np.linalg.norm(t, axis=1), 1e-30)[:, None]
    flat = np.hypot(t[:, 0], t[:, 1])
    upright = np.abs(t[:, 0]) + np.abs(t[:, 1]) < 1e-4
    level = np.stack([t[:, 1], -t[:, 0], 0.0 * flat], axis=1) / np.maximum(flat, 1e-30)[:, None]
    normals = np.where(upright[:, None], [1.0, 0.0, 0.0], level)
    if mode != "Z_UP":
        from ...core.maths.geometry.frames import bishop_directors

        # Blender starts at the last point of a closed curve.
        along = np.roll(t, 1, axis=0) if closed else t
        first = normals[-1 if closed else 0].copy()
        carried = np.empty_like(normals)
        bishop_directors(along, first, carried)
        if closed:  # the angle missing at the seam is distributed evenly
            again = np.empty((2, 3))
            bishop_directors(along[[-1, 0]], carried[-1].copy(), again)
            missing = -_angle(first[None], again[1:], along[:1])[0]
            carried = _turned(carried, along, missing * np.arange(1, len(t) + 1) / len(t))
        normals = np.roll(carried, -1, axis=0) if closed else carried
    return t, np.cross(t, normals)


def drawn_directors(obj: bpy.types.Object, strand: Polyline, number: int, pose: Array, rows: Rows) -> Array:
    """(m, 3) first directors of the rod's edges along the wide side of the drawn curve."""
    shown = _shown(obj, rows)[number]
    t, wide = wide_sides(shown.vertices, shown.closed, obj.data.twist_mode)
    wide = _turned(wide, t, shown.along(drawn_tilts(obj.data, rows)[number])) @ pose[:3, :3].T
    # Interpolated at equal relative arc lengths of the drawn curve and the rod.
    way, stops = (_relative_arc_length(v) for v in (shown.vertices, strand.vertices))
    x = strand.vertices
    edges = np.roll(x, -1, axis=0) - x if strand.closed else np.diff(x, axis=0)
    middles = stops[: len(edges)] + 0.5 * np.linalg.norm(edges, axis=1) / np.linalg.norm(edges, axis=1).sum()
    d = np.stack([np.interp(middles, way, column) for column in wide.T], axis=1)
    e = edges / np.linalg.norm(edges, axis=1)[:, None]
    d -= np.einsum("ij,ij->i", d, e)[:, None] * e
    return d / np.linalg.norm(d, axis=1)[:, None]


class Tilts:
    """Computes tilts of control points from directors of rods: the drawn tilt plus the rotation of the material since the start."""

    def __init__(self, kinds: tuple[SplineKind, ...], mode: str, drawn: Sequence[Array]) -> None:
        self._kinds, self._mode, self._drawn = kinds, mode, drawn
        self._start: list[Array] | None = None

    def bind(self, strands: Sequence[Strand], frames: Sequence[tuple[Array, Array]], rows: Array, pose: Array) -> None:
        self._start = self._turns(strands, frames, rows, pose)

    def at(self, strands: Sequence[Strand], frames: Sequence[tuple[Array, Array]], rows: Array, pose: Array) -> Array:
        """(k,) of all control points. `frames` are positions and directors of the rods, `rows` the control points shown."""
        assert self._start is not None, "bind() comes first"
        found = []
        for drawn, start, now in zip(self._drawn, self._start, self._turns(strands, frames, rows, pose), strict=True):
            turned = np.unwrap(now - start)
            # Common whole turns of all points are not visible; they are removed.
            found.append(drawn + turned - 2.0 * np.pi * np.round(turned[0] / (2.0 * np.pi)))
        return np.concatenate(found)

    def _turns(
        self, strands: Sequence[Strand], frames: Sequence[tuple[Array, Array]], rows: Array, pose: Array
    ) -> list[Array]:
        """Angles from the wide side without tilt to the director, at the control points."""
        to_own = np.linalg.inv(pose[:3, :3])
        found = []
        for strand, shown, (_, d) in zip(strands, polylines(self._kinds, rows), frames, strict=True):
            t, wide = wide_sides(shown.vertices, shown.closed, self._mode)
            controls = range(strand.control_count)
            at = np.array([strand.vertex_of(k) for k in controls])
            here = np.array([shown.vertex_of(k) for k in controls])
            director = _at_vertices(d, strand.closed)[at] @ to_own.T
            found.append(_angle(wide[here], director, t[here]))
        return found


def _shown(obj: bpy.types.Object, rows: Rows) -> list[Strand]:
    return list(polylines(spline_kinds(obj.data), rows.astype(np.float64)))


def _at_vertices(directors: Array, closed: bool) -> Array:
    """Directors at vertices: the mean of both edges, extrapolated at the ends."""
    d = directors
    if closed:
        return d + np.roll(d, 1, axis=0)
    if len(d) == 1:
        return np.repeat(d, 2, axis=0)
    return np.vstack([1.5 * d[0] - 0.5 * d[1], d[:-1] + d[1:], 1.5 * d[-1] - 0.5 * d[-2]])


def _relative_arc_length(x: Array) -> Array:
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1))])
    return way / max(way[-1], 1e-30)


def _turned(u: Array, t: Array, angle: Array) -> Array:
    a = np.asarray(angle)[:, None]
    return np.cos(a) * u + np.sin(a) * np.cross(t, u)


def _angle(u: Array, w: Array, t: Array) -> Array:
    """From u to w about t, in (-pi, pi]."""
    return np.arctan2(np.einsum("ij,ij->i", np.cross(u, w), t), np.einsum("ij,ij->i", u, w))
