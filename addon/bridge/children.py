"""Strands of hair that are not simulated: they follow guides, or their root where no guide is within reach. Plain NumPy."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.compile.workers import Workers
from .bundle import Bundle
from .poses import Array, moved_since, nearest_rotation

Ints = NDArray[np.int64]

# Part of a cell of the distance field by which a collider may deform before its field is made again.
DEFORMATION = 0.5


class Obstacle(NamedTuple):
    """A collider, with its vertices at the start frame and now."""

    key: str
    start: Array  # (v, 3) m
    triangles: Ints
    thickness: float  # m
    vertices: Array  # (v, 3) m


class Around(NamedTuple):
    """What surrounds hair in a frame."""

    poses: Mapping[str, Array]  # by key
    obstacles: Sequence[Obstacle]
    pace: float = 1.0  # simulated time per time of the scene


ALONE = Around(MappingProxyType({}), ())

Motion = tuple[Array, Array, Array]  # of all roots since the start: rotations (s, 3, 3), from (s, 3), to (s, 3)


def motion_of_points(start: Array, now: Array) -> Motion:
    """Of points on a surface, from their frames (s, 4, 4)."""
    rotations = now[:, :3, :3] @ np.swapaxes(start[:, :3, :3], 1, 2)
    return rotations, start[:, :3, 3], now[:, :3, 3]


def motion_of_object(start: Array, now: Array) -> Motion:
    """Of points on an object that moves from one pose (4, 4) to another."""
    moved, rotation = moved_since(start, now)
    return rotation[None], np.zeros((1, 3)), (moved[:3, 3] + 0.0)[None]


class Children:
    """All strands of a hair object that are not in the bundle of simulated ones."""

    def __init__(
        self,
        points: Array,
        sizes: NDArray[np.integer[Any]],
        bundle: Bundle,
        influences: int,
        reach: float,
        clumps: Ints | None,
    ) -> None:
        """`points` (N, 3) of all strands as drawn, in m; `influences` is the number of guides that a strand follows, if they are
        within `reach` (m) of its root. Strands with the same number in `clumps` (S,) follow the same guides."""
        self._bundle, self._influences, self._reach, self._clumps = bundle, influences, reach, clumps
        starts = np.cumsum(sizes) - sizes
        own = np.ones(len(sizes), dtype=np.bool_)
        own[bundle.numbers] = False
        self.numbers = np.flatnonzero(own & (sizes > 0))
        self._count = len(points)
        self._rows = np.concatenate([np.arange(starts[k], starts[k] + sizes[k]) for k in self.numbers])
        self._start = np.concatenate([[0], np.cumsum(sizes[self.numbers])]).astype(np.int64)
        self._points = points[self._rows]
        self._roots = points[starts[self.numbers]]
        self._guide_start = np.concatenate([[0], np.cumsum(bundle.counts)]).astype(np.int64)
        index, weight = self._guides()
        self._index, self._weight = index, weight
        self.lost = int((weight.sum(axis=1) == 0.0).sum())
        self.notes: tuple[str, ...] = ()
        self._workers = Workers()
        self._fields: dict[str, Any] = {}  # distance fields of colliders, and their vertices then
        digest = zlib.crc32(np.ascontiguousarray(self._points).tobytes())
        self.identity = digest, tuple(bundle.numbers.tolist()), influences, reach, zlib.crc32(weight.tobytes())

    def _guides(self) -> tuple[Ints, Array]:
        from ...core.maths.geometry.guides import nearest_guides

        guides = self._bundle.vertices[self._guide_start[:-1]]
        places = self._roots
        if self._clumps is not None:  # the middle of the clump decides for all of its strands
            _, of = np.unique(self._clumps[self.numbers], return_inverse=True)
            total = np.stack([np.bincount(of, column) for column in places.T], axis=1)
            places = (total / np.bincount(of)[:, None])[of]
        return nearest_guides(places, guides, self._influences, self._reach)

    def bind(self, x: Array, directors: Array) -> None:
        """Call once, with the guides as drawn."""
        from ...core.maths.geometry.guides import bind, vertex_frames

        frames = vertex_frames(x, directors, self._guide_start)
        self._bound = bind(self._points, self._start, self._index, self._weight, x, frames, self._guide_start)
        self._rigid = np.flatnonzero(self._weight.sum(axis=1) == 0.0)

    def place(
        self, controls: Array, x: Array, directors: Array, motion: Motion, obstacles: Sequence[Obstacle]
    ) -> NDArray[np.float32]:
        """(N, 3) points of all strands: `controls` of simulated ones, and children for guides at x with these directors."""
        from ...core.maths.geometry.guides import deform, vertex_frames

        rotations, start, now = motion
        if len(start) > 1:
            rotations, start, now = rotations[self.numbers], start[self.numbers], now[self.numbers]
        roots = np.einsum("sij,sj->si", np.broadcast_to(rotations, (len(self._roots), 3, 3)), self._roots - start) + now
        frames = vertex_frames(x, directors, self._guide_start)
        places = deform(self._bound, x, frames, roots, self._workers)
        for k in self._rigid.tolist():
            own = slice(int(self._start[k]), int(self._start[k + 1]))
            rotation = rotations[min(k, len(rotations) - 1)]
            places[own] = (self._points[own] - self._roots[k]) @ rotation.T + roots[k]
        for obstacle in obstacles:
            self._push(obstacle, places)
        out = np.empty((self._count, 3), dtype=np.float32)
        out[self._rows] = places
        out[slice(None) if self._bundle.rows is None else self._bundle.rows] = controls
        return out

    def spread(self, own: Array, of_vertices: Array) -> Array:
        """Values at all points: those of the bundle's points, and for children those of the guide vertex they follow most."""
        out = np.zeros(self._count)
        out[self._rows] = of_vertices[self._bound.vertex[:, 0]]
        out[slice(None) if self._bundle.rows is None else self._bundle.rows] = own
        return out

    def _push(self, obstacle: Obstacle, places: NDArray[np.float32]) -> None:
        from ...core.maths.geometry.distance_field import make_field, push_out

        field, vertices = self._fields.get(obstacle.key, (None, None))
        if field is not None:
            rotation, shift = _rigid_motion(vertices, obstacle.vertices)
            error = float(np.abs(vertices @ rotation.T + shift - obstacle.vertices).max())
        if field is None or error > DEFORMATION * field.cell:
            field = make_field(obstacle.vertices, obstacle.triangles, obstacle.thickness)
            self._fields[obstacle.key] = field, obstacle.vertices
            rotation, shift = np.eye(3), np.zeros(3)
        push_out(field, rotation, shift, self._start, places, self._workers)


def _rigid_motion(x: Array, y: Array) -> tuple[Array, Array]:
    """The rotation and translation that map points (v, 3) to others best (Kabsch 1976)."""
    a, b = x.mean(axis=0), y.mean(axis=0)
    rotation = nearest_rotation((y - b).T @ (x - a))
    return rotation, b - rotation @ a
