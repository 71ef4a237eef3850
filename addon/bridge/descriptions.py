"""Descriptions of rod objects for the simulation, without references to Blender's data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...core import Elements, Net, Rod
from . import points
from .bundle import Bundle
from .children import ALONE, Around, Children, Motion, motion_of_object, motion_of_points
from .curves import with_column
from .poses import Array, in_space_of, inverse
from .roots import all_of
from .roots import key_of as key_of_roots
from .strands import SplineKind, Strand, polylines
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
    loose: bool = False  # only the frame is held, not the position


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
    elements: Elements | None  # per rod; None: chosen by the model
    pose: Array  # (4, 4) of the object at the start
    start_poses: Mapping[str, Array]  # of the object and of the targets of its attachments
    surface_frames: Mapping[str, Array]  # (k, 4, 4) of points on surfaces at the start, by the key of their mean frame
    start_length: float  # length factor at the start
    constant: tuple[float | None, ...]  # factors; None for animated ones
    sag_free: bool  # the drawn shape is in equilibrium
    follow: tuple[Array, ...]  # strength of the pull to the drawn shape at the vertices of each rod; empty: none
    follow_time: float  # s
    cut_at: float  # part of its length at which a rod is cut

    tilts: Tilts | None = None  # if the tilt of control points follows the material
    radii: Array | None = None  # (c,) drawn radii of the control points of a curve, if it can break

    @cached_property
    def layout(self) -> tuple[tuple[str, int], ...]:
        sizes = tuple((kind.type, kind.count) for kind in self.kinds)
        columns = (("TILT", self.tilts), ("RADIUS", self.radii))
        return (*sizes, *((name, 1) for name, there in columns if there is not None))

    @property
    def measured(self) -> bool:
        """Whether it shows strains, or where it is broken."""
        return self.radii is not None

    @property
    def identity(self) -> object:
        """What decides how frames are shown, besides the simulation itself: equal for equal frames."""
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """What users should know about the description, in sentences."""
        loose = {one.strand for one in self.held} - {one.strand for one in self.held if one.clamped and not one.loose}
        if not (self.sag_free and loose):
            return ()
        return ("Sag-Free has no effect where the start is only pinned: set Start to Clamped",)

    def tangent(self, held: Held) -> Array:
        """(3,) direction of the rod at a held vertex at the start."""
        rod = self.rods[held.strand]
        begin, end = rod.ends(rod.edge_at(held.vertex))
        along = rod.points[end] - rod.points[begin]
        return np.asarray(along / np.linalg.norm(along))

    def target(self, pose: Array, around: Around, rows: Rows | None) -> Array:
        """(N, 3) m, where the vertices of all rods would be if they kept their drawn shape, or that of `rows`."""
        if rows is not None:
            world = rows.astype(np.float64) @ pose[:3, :3].T + pose[:3, 3]
            strands = polylines(self.kinds, world)
            return np.concatenate([one.vertices for one in strands])
        moved = pose @ inverse(self.start_poses[self.uid])
        return np.concatenate([rod.points for rod in self.rods]) @ moved[:3, :3].T + moved[:3, 3]

    def bind(self, frame: Frame, first_rod: int) -> None:
        """Stores the material frames of the rods as drawn."""
        for k, strand in enumerate(self.strands, start=first_rod):
            strand.bind(frame.directors(k))
        if self.tilts is not None:
            self.tilts.bind(self.strands, self._frames(frame, first_rod), self.rows.astype(np.float64), self.pose)

    def _frames(self, frame: Frame, first_rod: int) -> list[tuple[Array, Array]]:
        return [(frame.positions(first_rod + k), frame.directors(first_rod + k)) for k in range(len(self.strands))]

    def shown(self, frame: Frame, first_rod: int, pose: Array, strains: Strains | None, around: Around = ALONE) -> Rows:
        """The rows that show a frame on the object at `pose`."""
        if len(self.strands) == 1 and self.tilts is None and self.radii is None:
            return in_space_of(pose, self.strands[0].controls(frame.positions(first_rod), frame.directors(first_rod)))
        frames = self._frames(frame, first_rod)
        controls = [s.controls(x, d) for s, (x, d) in zip(self.strands, frames, strict=True)]
        rows = places = in_space_of(pose, np.concatenate(controls))
        if self.tilts is not None:
            rows = with_column(rows, self.tilts.at(self.strands, frames, places.astype(np.float64), pose))
        if self.radii is not None and strains is not None:
            broken = [strains.broken(first_rod + k) for k in range(len(self.strands))]
            rows = with_column(rows, self.radii * whole_controls(self.strands, broken))
        return rows


def whole_controls(strands: Sequence[Strand], broken: Sequence[NDArray[np.bool_]]) -> Array:
    """(c,) 1 for the control points of all strands, 0 for those at both sides of a broken edge."""
    found = []
    for strand, edges in zip(strands, broken, strict=True):
        whole, n = np.ones(strand.control_count), strand.control_count
        if edges.any():
            at = np.array([strand.vertex_of(k) for k in range(n)])
            before = np.searchsorted(at, np.flatnonzero(edges), side="right") - 1
            whole[before % n] = whole[(before + 1) % n if strand.closed else np.minimum(before + 1, n - 1)] = 0.0
        found.append(whole)
    return np.concatenate(found)


@dataclass(frozen=True, kw_only=True)
class TiedDescription(RodDescription):
    """A curve whose splines are tied together to one net."""

    point_of: tuple[NDArray[np.int64], ...]  # per strand: point of the net at each vertex
    edge_of: tuple[NDArray[np.int64], ...]  # per strand: segment of the net at the start of each edge

    def bind(self, frame: Frame, first_rod: int) -> None:
        for strand, edges in zip(self.strands, self.edge_of, strict=True):
            strand.bind(frame.directors(first_rod)[edges])

    def shown(self, frame: Frame, first_rod: int, pose: Array, strains: Strains | None, around: Around = ALONE) -> Rows:
        x, d = frame.positions(first_rod), frame.directors(first_rod)
        every = zip(self.strands, self.point_of, self.edge_of, strict=True)
        rows = in_space_of(pose, np.concatenate([s.controls(x[at], d[edges]) for s, at, edges in every]))
        if self.radii is None or strains is None:
            return rows
        segments = strains.broken(first_rod)
        # Segments of an edge follow each other, and end where the next edge begins.
        begins = np.unique(np.concatenate([*self.edge_of, [len(segments)]]))
        broken = [np.add.reduceat(segments, begins[:-1])[np.searchsorted(begins, of)] > 0 for of in self.edge_of]
        return with_column(rows, self.radii * whole_controls(self.strands, broken))


@dataclass(frozen=True, kw_only=True)
class PointsDescription(RodDescription):
    """A mesh or hair: points with attributes."""

    drawn_layout: tuple[tuple[str, int], ...]
    ends: NDArray[np.int64]  # (m, 2) vertices of all edges
    count: int  # of rows that are points; rows of attributes follow
    has_attributes: bool  # shows strains as attributes

    @cached_property
    def layout(self) -> tuple[tuple[str, int], ...]:
        return self.drawn_layout

    @property
    def measured(self) -> bool:
        return self.has_attributes

    def shown(self, frame: Frame, first_rod: int, pose: Array, strains: Strains | None, around: Around = ALONE) -> Rows:
        places = self._places(frame, first_rod, first_rod + len(self.rods) - 1, pose, around)
        if strains is None or not self.has_attributes:
            return places
        values = [self._at_points(self._at_vertices(of)) for of in strains.of_rods(first_rod, len(self.rods))]
        return points.with_attributes(places, [*values, *self._motion_values(frame, first_rod, pose, around)])

    def _motion_values(self, frame: Frame, first_rod: int, pose: Array, around: Around) -> list[Array]:
        """Further attributes (n,) or (n, 3) of the points."""
        return []

    def _places(self, frame: Frame, first: int, last: int, pose: Array, around: Around) -> Rows:
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
    edge_of: NDArray[np.int64] | None = None  # (m,) edge of the mesh that each segment belongs to, if it can break

    @property
    def measured(self) -> bool:
        return self.has_attributes or self.edge_of is not None

    def shown(self, frame: Frame, first_rod: int, pose: Array, strains: Strains | None, around: Around = ALONE) -> Rows:
        rows = super().shown(frame, first_rod, pose, strains, around)
        if self.edge_of is None or strains is None:
            return rows
        torn = np.bincount(self.edge_of, strains.broken(first_rod), self.kinds[1].count)
        return points.with_attributes(rows, [(torn > 0.0).astype(np.float64)])

    def bind(self, frame: Frame, first_rod: int) -> None:
        pass  # rows depend on vertices only

    def _places(self, frame: Frame, first: int, last: int, pose: Array, around: Around) -> Rows:
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

    bundle: Bundle  # of the strands that are simulated
    children: Children | None  # the others

    @property
    def identity(self) -> object:
        return None if self.children is None else self.children.identity

    @property
    def notes(self) -> tuple[str, ...]:
        return super().notes if self.children is None else (*super().notes, *self.children.notes)

    def bind(self, frame: Frame, first_rod: int) -> None:
        last = first_rod + len(self.rods) - 1
        directors = frame.directors_of(first_rod, last)
        self.bundle.bind(directors)
        if self.children is not None:
            self.children.bind(frame.positions_of(first_rod, last), directors)

    def _places(self, frame: Frame, first: int, last: int, pose: Array, around: Around) -> Rows:
        x, directors = frame.positions_of(first, last), frame.directors_of(first, last)
        controls = self.bundle.controls(x, directors)
        if self.children is None:
            return in_space_of(pose, controls)
        moved = self._motion(pose, around)
        places = self.children.place(controls, x, directors, moved, around.obstacles)
        return in_space_of(pose, places.astype(np.float64))

    def _motion_values(self, frame: Frame, first_rod: int, pose: Array, around: Around) -> list[Array]:
        """Velocity and first director in the space of the object, and 1 for strands that the solver gave up. The velocity is per
        second of the scene, as motion blur needs it."""
        last = first_rod + len(self.rods) - 1
        v = around.pace * frame.velocities_of(first_rod, last)
        starts = np.cumsum(self.bundle.counts) - self.bundle.counts
        d = np.empty_like(v)
        tails = self.bundle.edges[:, 0]
        d[tails] = frame.directors_of(first_rod, last)
        d[starts + self.bundle.counts - 1] = d[starts + self.bundle.counts - 2]
        turn = inverse(pose)[:3, :3]
        velocity, normal = (np.stack([self._at_points(column) for column in (of @ turn.T).T], axis=1) for of in (v, d))
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
        bad = np.array([float(first_rod + k in frame.report.affected) for k in range(len(self.rods))])
        return [velocity, normal, self._at_points(np.repeat(bad, self.bundle.counts))]

    def _motion(self, pose: Array, around: Around) -> Motion:
        """Of all roots since the start: with the surface, or with the object."""
        key = key_of_roots(self.uid)
        frames = around.poses.get(all_of(key))
        if key in self.surface_frames and frames is not None:
            return motion_of_points(self.surface_frames[key], frames)
        return motion_of_object(self.start_poses[self.uid], pose)

    def target(self, pose: Array, around: Around, rows: Rows | None) -> Array:
        rotations, start, now = self._motion(pose, around)
        x, counts = self.bundle.vertices, self.bundle.counts
        if len(start) > 1:
            of = np.repeat(self.bundle.numbers, counts)
            rotations, start, now = rotations[of], start[of], now[of]
            return np.asarray(np.einsum("kij,kj->ki", rotations, x - start) + now)
        return np.asarray((x - start) @ rotations[0].T + now)

    def _at_points(self, of_vertices: Array) -> Array:
        own = self.bundle.at_points(of_vertices)
        return own if self.children is None else self.children.spread(own, of_vertices)
