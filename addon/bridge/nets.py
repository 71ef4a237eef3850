"""Nets: a mesh whose edges are rods, and splines of a curve tied together."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import Net, TendrilError
from ...core.describe.joining import Joined, join_curves
from . import points
from .materials import mechanics
from .poses import Array
from .research import corde_of
from .sampling import edges_in
from .shapes import MIN_STIFFNESS, constant_radius, section_of
from .strands import Strand

Ints = NDArray[np.int64]


class NetStrand:
    """A mesh as a Strand: its vertices are the control points. Long edges are divided; vertices without edges do not move."""

    closed = False

    def __init__(self, places: Array, edges: Ints, longest: float) -> None:
        """`places` (n, 3) of the mesh's vertices; edges longer than `longest` are divided, unless it is zero."""
        self.control_count = len(places)
        used = np.unique(edges)
        self.of_control = np.full(len(places), -1)
        self.of_control[used] = np.arange(len(used))
        ends = self.of_control[edges]
        x = places[used]
        lengths = np.linalg.norm(x[ends[:, 1]] - x[ends[:, 0]], axis=1)
        pieces = None
        if longest > 0.0:
            edges_in(lengths.sum(), longest)  # raises if they are too many
            pieces = np.maximum(np.ceil(lengths / longest - 1e-6), 1).astype(np.int64)
        self.edges, self._tail, self._head, self._part = _divided(ends, len(used), pieces)
        self.edge_of = np.repeat(np.arange(len(ends)), 1 if pieces is None else pieces)
        inner = x[self._tail] + self._part[:, None] * (x[self._head] - x[self._tail])
        self.vertices = np.concatenate([x, inner])
        self._used = used

    def vertex_of(self, control: int) -> int:
        vertex = int(self.of_control[control])
        if vertex < 0:
            raise TendrilError("point", control, "the vertex has no edge and is not part of the net: choose another")
        return vertex

    def along(self, values: Array) -> Array:
        at = values[self._used]
        return np.concatenate([at, at[self._tail] + self._part * (at[self._head] - at[self._tail])])

    def bind(self, directors: Array) -> None:
        pass

    def controls(self, x: Array, directors: Array) -> Array:
        return x[: len(self._used)]


def _divided(ends: Ints, count: int, pieces: Ints | None) -> tuple[Ints, Ints, Ints, Array]:
    """Segments of divided edges; and for each new point both end vertices of its edge and its position between them, 0 to 1."""
    if pieces is None or pieces.max(initial=1) == 1:
        return ends, np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    inner = pieces - 1
    tail, head = np.repeat(ends[:, 0], inner), np.repeat(ends[:, 1], inner)
    begin = np.concatenate([[0], np.cumsum(inner)[:-1]])
    number = np.arange(inner.sum()) - np.repeat(begin, inner)
    part = (number + 1) / np.repeat(pieces, inner)
    piece = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    edge = np.repeat(np.arange(len(ends)), pieces)
    new = count + begin[edge] + piece
    segments = np.stack(
        [
            np.where(piece == 0, ends[edge, 0], new - 1),
            np.where(piece == pieces[edge] - 1, ends[edge, 1], new),
        ],
        axis=1,
    )
    return segments, tail, head, part


def edges_of(mesh: bpy.types.Mesh) -> Ints:
    ends = np.empty(2 * len(mesh.edges), dtype=np.int32)
    mesh.edges.foreach_get("vertices", ends)
    return ends.reshape(-1, 2).astype(np.int64)


def net_of_mesh(obj: bpy.types.Object, strand: NetStrand, rest: Array | None, scale: float) -> Net:
    settings = obj.tendril

    def per_segment(group: str) -> Array | float:
        """The mean weight of both ends of each segment."""
        if not group:
            return 1.0
        weights = points.weights(obj, group)
        if weights is None:
            raise TendrilError("vertex group", group, f'"{obj.name}" has no vertex group of this name: choose another')
        return np.maximum(strand.along(weights)[strand.edges].mean(axis=1), MIN_STIFFNESS)

    flat, radius = settings.section != "CIRCLE", constant_radius(settings, scale)
    radii = radius if flat else radius * per_segment(settings.radius_group)
    return Net.from_edges(
        strand.vertices,
        strand.edges,
        radius=None if flat else radii,
        section=section_of(settings, scale) if flat else None,
        rest=rest,
        stiffness_scale=per_segment(settings.stiffness_group),
        break_force=settings.break_force or np.inf,
        break_moment=settings.break_moment or np.inf,
        corde=corde_of(obj),
        **mechanics(settings, scale, radii, per_segment(settings.mass_group)),
    )


def tie(strands: Sequence[Strand], distance: float) -> tuple[Joined, tuple[Ints, ...], tuple[Ints, ...]]:
    """Joins strands where they are closer than `distance` (m). Returns the net, and for each strand its points and segments."""
    closed = [strand.closed for strand in strands]
    joined = join_curves([strand.vertices for strand in strands], closed, distance)
    points_of, edges_of_strands = [], []
    point = edge = 0
    for strand in strands:
        n = len(strand.vertices)
        m = n if strand.closed else n - 1
        points_of.append(joined.point_of[point : point + n])
        edges_of_strands.append(np.maximum(joined.edge_of[edge : edge + m], 0))
        point, edge = point + n, edge + m
    return joined, tuple(points_of), tuple(edges_of_strands)


def to_segments(joined: Joined, strands: Sequence[Strand], along: Sequence[float | Array]) -> Array:
    """Transfers values at the vertices of strands to the (m,) segments of the net; each segment is a piece of an edge."""
    of_edges = []
    for strand, values in zip(strands, along, strict=True):
        at = np.broadcast_to(values, len(strand.vertices))
        ends = np.roll(at, -1) if strand.closed else at[1:]
        of_edges.append(0.5 * (at[: len(ends)] + ends))
    begins = np.flatnonzero(joined.edge_of >= 0)  # other edges have collapsed
    which = np.searchsorted(joined.edge_of[begins], np.arange(len(joined.edges)), side="right") - 1
    return np.concatenate(of_edges)[begins[which]]
