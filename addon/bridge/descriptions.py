"""Descriptions of rod objects for the simulation, without references to Blender's data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...core import Net, Rod
from . import points
from .bundle import Bundle
from .curves import with_tilts
from .poses import Array, in_space_of
from .strands import SplineKind, Strand
from .tilts import Tilts

if TYPE_CHECKING:
    from ...core import Frame
    from ...core.run.strains import Strains

Rows = NDArray[np.float32]


@dataclass(frozen=True)
class Held:
    """A vertex that follows a pose."""

    strand: int
    vertex: int
    clamped: bool
    place: Array  # (3,) m, at the start
    follows: str  # key of the pose: the uid of the object, or the key of an attachment or of roots
    root: int = -1  # index of its point on the surface
    body: str = ""  # key of the rigid body it follows, if that is simulated with the rods
    pulls: bool = False  # whether it acts on that body


@dataclass(frozen=True, kw_only=True)
class RodDescription:
    """A curve: one rod per spline."""

    uid: str  # of the object
    kinds: tuple[SplineKind, ...]
    rows: Rows  # of the drawn shape, in object space
    strands: tuple[Strand, ...]
    rods: tuple[Rod | Net, ...]  # one per strand, or one net
    held: tuple[Held, ...]
    pulling: tuple[Held, ...]  # attached to rigid bodies and acting on them
    riding: tuple[Held, ...]  # attached to rigid bodies without acting on them
    model: str
    friction: float
    elements: int  # per rod; 0: chosen by the model
    pose: Array  # (4, 4) of the object at the start
    start_poses: Mapping[str, Array]  # of the object and of the targets of its attachments
    surface_frames: Mapping[str, Array]  # (k, 4, 4) of points on surfaces at the start, by the key of their mean frame
    start_length: float  # length factor at the start
    constant: tuple[float | None, ...]  # factors; None for animated ones

    tilts: Tilts | None = None  # if the tilt of control points follows the material

    @cached_property
    def layout(self) -> tuple[tuple[str, int], ...]:
        sizes = tuple((kind.type, kind.count) for kind in self.kinds)
        return sizes if self.tilts is None else (*sizes, ("TILT", 1))

    @property
    def measured(self) -> bool:
        """Whether it shows strains as attributes."""
        return False

    def bind(self, frame: Frame, first_rod: int) -> None:
        """Stores the material frames of the rods as drawn."""
        for k, strand in enumerate(self.strands, start=first_rod):
            strand.bind(frame.directors(k))
        if self.tilts is not None:
            self.tilts.bind(self.strands, self._frames(frame, first_rod), self.rows.astype(np.float64), self.pose)

    def _frames(self, frame: Frame, first_rod: int) -> list[tuple[Array, Array]]:
        return [(frame.positions(first_rod + k), frame.directors(first_rod + k)) for k in range(len(self.strands))]

    def shown(self, frame: Frame, first_rod: int, pose: Array, strains: Strains | None) -> Rows:
        """The rows that show a frame on the object at `pose`."""
        if len(self.strands) == 1 and self.tilts is None:
            return in_space_of(pose, self.strands[0].controls(frame.positions(first_rod), frame.directors(first_rod)))
        frames = self._frames(frame, first_rod)
        controls = [s.controls(x, d) for s, (x, d) in zip(self.strands, frames, strict=True)]
        rows = in_space_of(pose, np.concatenate(controls))
        if self.tilts is None:
            return rows
        return with_tilts(rows, self.tilts.at(self.strands, frames, rows.astype(np.float64), pose))


@dataclass(frozen=True, kw_only=True)
class TiedDescription(RodDescription):
    """A curve whose splines are tied together to one net."""

    point_of: tuple[NDArray[np.int64], ...]  # per strand: point of the net at each vertex
    edge_of: tuple[NDArray[np.int64], ...]  # per strand: segment of the net at the start of each edge

    def bind(self, frame: Frame, first_rod: int) -> None:
        for strand, edges in zip(self.strands, self.edge_of, strict=True):
            strand.bind(frame.directors(first_rod)[edges])

    def shown(self, frame: Frame, first_rod: int, pose: Array, strains: Strains | None) -> Rows:
        x, d = frame.positions(first_rod), frame.directors(first_rod)
        every = zip(self.strands, self.point_of, self.edge_of, strict=True)
        return in_space_of(pose, np.concatenate([s.controls(x[at], d[edges]) for s, at, edges in every]))


@dataclass(frozen=True, kw_only=True)
class PointsDescription(RodDescription):
    """A mesh or hair: points with attributes."""

    drawn_layout: tuple[tuple[str, int], ...]
    ends: NDArray[np.int64]  # (m, 2) vertices of all edges
    count: int  # of rows that are points; rows of attributes follow

    @cached_property
    def layout(self) -> tuple[tuple[str, int], ...]:
        return self.drawn_layout

    @property
    def measured(self) -> bool:
        return len(self.rows) > self.count

    def shown(self, frame: Frame, first_rod: int, pose: Array, strains: Strains | None) -> Rows:
        places = self._places(frame, first_rod, first_rod + len(self.rods) - 1, pose)
        if strains is None or not self.measured:
            return places
        values = [self._at_points(self._at_vertices(of)) for of in strains.of_rods(first_rod, len(self.rods))]
        return points.with_attributes(places, values)

    def _places(self, frame: Frame, first: int, last: int, pose: Array) -> Rows:
        """(count, 3) positions shown for the rods from the first to the last."""
        raise NotImplementedError

    def _at_points(self, of_vertices: Array) -> Array:
        """Values at vertices, interpolated to the (count,) points."""
        raise NotImplementedError

    def _at_vertices(self, of_edges: Array) -> Array:
        """Mean values of the edges that meet at each vertex."""
        n = int(self.ends.max()) + 1
        total = np.bincount(self.ends[:, 0], of_edges, n) + np.bincount(self.ends[:, 1], of_edges, n)
        return total / np.maximum(np.bincount(self.ends.ravel(), minlength=n), 1)


@dataclass(frozen=True, kw_only=True)
class MeshDescription(PointsDescription):
    """A mesh as a net. Mesh vertices without edges are not part of it."""

    row: NDArray[np.int64]  # (k,) rows that move
    vertex: NDArray[np.int64]  # (k,) vertex of the net for each

    def bind(self, frame: Frame, first_rod: int) -> None:
        pass  # rows depend on vertices only

    def _places(self, frame: Frame, first: int, last: int, pose: Array) -> Rows:
        places = self.rows[: self.count].copy()
        places[self.row] = in_space_of(pose, frame.positions_of(first, last)[self.vertex])
        return places

    def _at_points(self, of_vertices: Array) -> Array:
        values = np.zeros(self.count)
        values[self.row] = of_vertices[self.vertex]
        return values


@dataclass(frozen=True, kw_only=True)
class HairDescription(PointsDescription):
    """Hair: one rod per strand."""

    bundle: Bundle

    def bind(self, frame: Frame, first_rod: int) -> None:
        self.bundle.bind(frame.directors_of(first_rod, first_rod + len(self.rods) - 1))

    def _places(self, frame: Frame, first: int, last: int, pose: Array) -> Rows:
        controls = self.bundle.controls(frame.positions_of(first, last), frame.directors_of(first, last))
        return in_space_of(pose, controls)

    def _at_points(self, of_vertices: Array) -> Array:
        return self.bundle.at_points(of_vertices)
