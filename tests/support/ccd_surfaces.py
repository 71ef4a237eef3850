"""Surfaces of colliders and bodies for the independent collision checker: signed distances of convex shapes, and triangle meshes.

Convex shapes are measured exactly at the ends of a motion. A passage through one counts if a centre line reaches its core, the
shape shrunk to half its thickness, on the way: chords of a motion around a curved surface cut into it a little without any passage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from tendril.core import Box, Capsule, Cylinder, Mesh, Plane, Sphere

from .ccd_kernels import (
    crossings_of,
    depths_inside,
    inside_of,
    pairs_between,
    piercings_of,
    surface_distances,
)

Array = np.ndarray
GOLDEN = 0.5 * (np.sqrt(5.0) - 1.0)
SEARCHES = 30  # of golden section: 1e-6 of a segment
BETWEEN = 7  # times at which passages through convex shapes are looked for


class Pose(NamedTuple):
    position: Array  # (3,)
    rotation: Array  # (3, 3)


class Passage(NamedTuple):
    """Something that must not happen: edge and surface, or two edges, and when, in parts of the motion."""

    kind: str
    first: int
    second: int
    time: float


def boxes_of(x: Array, y: Array, groups: Array, margin: Array | float) -> tuple[Array, Array]:
    both = np.concatenate([x[groups], y[groups]], axis=1)
    more = np.asarray(margin)[..., None]
    return both.min(axis=1) - more, both.max(axis=1) + more


def between_boxes(a: tuple[Array, Array], b: tuple[Array, Array]) -> Array:
    """(P, 2) pairs of overlapping boxes of two sets."""
    orders = np.argsort(a[0][:, 0], kind="stable"), np.argsort(b[0][:, 0], kind="stable")
    out = np.empty((max(1024, 8 * len(a[0])), 2), np.int64)
    count = pairs_between(orders[0], *a, orders[1], *b, out)
    if count > len(out):
        out = np.empty((count, 2), np.int64)
        pairs_between(orders[0], *a, orders[1], *b, out)
    return out[:count]


class ConvexSurface:
    """A plane, sphere, capsule, cylinder or box."""

    def __init__(self, shape: Any, thickness: float, pose_at: Callable[[float], Pose] | None, name: str) -> None:
        self.shape, self.thickness, self.name = shape, thickness, name
        self.pose_at = pose_at or (lambda _: described_pose(shape))

    def local(self, x: Array, pose: Pose) -> Array:
        return np.asarray((x - pose.position) @ pose.rotation)

    def inner(self) -> float:
        shape = self.shape
        if isinstance(shape, Plane):
            return np.inf
        if isinstance(shape, Box):
            return 0.5 * float(np.min(shape.size))
        if isinstance(shape, Cylinder):
            return min(shape.radius, 0.5 * shape.length)
        return float(shape.radius)

    def distance(self, x: Array) -> Array:
        """Signed distance of points (n, 3) in local coordinates."""
        shape = self.shape
        if isinstance(shape, Plane):
            return x @ np.asarray(shape.normal)
        if isinstance(shape, Sphere):
            return np.asarray(np.linalg.norm(x, axis=1) - shape.radius)
        if isinstance(shape, Capsule):
            on = np.clip(x[:, 2], -0.5 * shape.length, 0.5 * shape.length)
            return np.sqrt(x[:, 0] ** 2 + x[:, 1] ** 2 + (x[:, 2] - on) ** 2) - shape.radius
        if isinstance(shape, Cylinder):
            q = np.stack([np.hypot(x[:, 0], x[:, 1]) - shape.radius, np.abs(x[:, 2]) - 0.5 * shape.length], axis=1)
        else:
            q = np.abs(x) - 0.5 * np.asarray(shape.size)
        return np.linalg.norm(np.maximum(q, 0.0), axis=1) + np.minimum(q.max(axis=1), 0.0)

    def edge_distance(self, a: Array, b: Array, near: float) -> Array:
        """Least signed distance on segments, by golden section, as it is convex; infinite where it is above `near`."""
        out = np.full(len(a), np.inf)
        middle = self.distance(0.5 * (a + b))
        some = np.flatnonzero(middle < near + 0.5 * np.linalg.norm(b - a, axis=1))
        if not len(some):
            return out
        a, e = a[some], (b - a)[some]
        low, high = np.zeros(len(some)), np.ones(len(some))
        s, t = high - GOLDEN, low + GOLDEN
        f, g = self.distance(a + s[:, None] * e), self.distance(a + t[:, None] * e)
        least = np.minimum.reduce([f, g, self.distance(a), self.distance(a + e)])
        for _ in range(SEARCHES):
            left = f < g
            low, high = np.where(left, low, s), np.where(left, t, high)
            s, t = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
            f, g = self.distance(a + s[:, None] * e), self.distance(a + t[:, None] * e)
            least = np.minimum(least, np.minimum(f, g))
        out[some] = least
        return out

    def gaps(self, x: Array, ends: Array, radius: Array, pose: Pose) -> Array:
        """Distance of each edge's surface from the collider's; negative where they overlap."""
        local = self.local(x, pose)
        more = radius + self.thickness
        return self.edge_distance(local[ends[:, 0]], local[ends[:, 1]], float(more.max())) - more

    def passages(self, x: Array, y: Array, ends: Array, before: Pose, after: Pose) -> list[Passage]:
        core = self.inner()
        if not np.isfinite(core):
            return []
        start, stop = self.local(x, before), self.local(y, after)
        way = np.linalg.norm(stop - start, axis=1).max()
        if way < 0.5 * core:
            return []
        found: dict[int, float] = {}
        for time in np.arange(1, BETWEEN + 1) / (BETWEEN + 1):
            now = start + time * (stop - start)
            far = self.edge_distance(now[ends[:, 0]], now[ends[:, 1]], 0.0)
            for edge in np.flatnonzero(far < -0.5 * core):
                found.setdefault(int(edge), float(time))
        return [Passage(f"rod, {self.name}", edge, -1, time) for edge, time in found.items()]


class MeshSurface:
    def __init__(
        self,
        shape: Mesh,
        thickness: float,
        vertices_at: Callable[[float], Array] | None,
        name: str,
        inside: bool = True,
    ) -> None:
        self.shape, self.thickness, self.name = shape, thickness, name
        self.triangles = np.ascontiguousarray(shape.triangles, np.int64)
        self.vertices = np.array(shape.vertices, float)
        self.pose_at = vertices_at or (lambda _: self.vertices)
        pairs = np.concatenate([self.triangles[:, [i, j]] for i, j in ((0, 1), (1, 2), (2, 0))])
        self.edges = np.unique(np.sort(pairs, axis=1), axis=0)
        self.solid = inside and self._is_solid(pairs)

    def _is_solid(self, pairs: Array) -> bool:
        """Whether the mesh is closed and its normals point outwards."""
        n = len(self.vertices)
        there, back = pairs[:, 0] * n + pairs[:, 1], pairs[:, 1] * n + pairs[:, 0]
        closed = len(np.unique(there)) == len(there) and set(there.tolist()) == set(back.tolist())
        a, b, c = (self.vertices[self.triangles[:, k]] for k in range(3))
        return bool(closed and np.einsum("ij,ij->", a, np.cross(b, c)) > 0.0)

    def gaps(self, x: Array, ends: Array, radius: Array, vertices: Array) -> Array:
        margin = radius + self.thickness
        pairs = between_boxes(boxes_of(x, x, ends, margin), boxes_of(vertices, vertices, self.triangles, 0.0))
        far = np.full(len(ends), np.inf)
        surface_distances(pairs, ends, x, self.triangles, vertices, far)
        if self.solid:
            far = np.minimum(far, -self._depths(x, vertices)[ends].max(axis=1))
        return far - margin

    def _depths(self, x: Array, vertices: Array) -> Array:
        """How deep points are inside; minus infinity outside."""
        out = np.full(len(x), -np.inf)
        some = np.flatnonzero(((x > vertices.min(axis=0)) & (x < vertices.max(axis=0))).all(axis=1))
        inside = np.zeros(len(some), np.bool_)
        inside_of(x[some], self.triangles, vertices, inside)
        some = some[inside]
        depths = np.zeros(len(some))
        depths_inside(x[some], self.triangles, vertices, depths)
        out[some] = depths
        return out

    def passages(self, x: Array, y: Array, ends: Array, before: Array, after: Array) -> list[Passage]:
        rods = boxes_of(x, y, ends, 0.0)
        pairs = between_boxes(rods, boxes_of(before, after, self.edges, 0.0))
        time, where = np.full(len(pairs), -1.0), np.zeros((len(pairs), 2))
        crossings_of(pairs, ends, self.edges, x, y, before, after, time, where)
        found = [
            Passage(f"rod edge, edge of {self.name}", int(i), int(j), float(at))
            for (i, j), at in zip(pairs[time >= 0.0], time[time >= 0.0], strict=True)
        ]
        points = np.unique(ends)
        pairs = between_boxes(boxes_of(x, y, points[:, None], 0.0), boxes_of(before, after, self.triangles, 0.0))
        pairs[:, 0] = points[pairs[:, 0]]
        time = np.full(len(pairs), -1.0)
        piercings_of(pairs, self.triangles, x, y, before, after, time)
        edge_at = dict(zip(ends.ravel().tolist(), np.repeat(np.arange(len(ends)), 2).tolist(), strict=True))
        return found + [
            Passage(f"rod vertex, {self.name}", edge_at[int(i)], int(j), float(at))
            for (i, j), at in zip(pairs[time >= 0.0], time[time >= 0.0], strict=True)
        ]


Surface = ConvexSurface | MeshSurface


def described_pose(shape: Any) -> Pose:
    position = shape.point if isinstance(shape, Plane) else shape.position
    return Pose(np.asarray(position, float), np.asarray(getattr(shape, "rotation", np.eye(3)), float))


def collider_surface(number: int, collider: Any) -> Surface:
    """The surface of a collider of a scene, as its path moves it."""
    shape, path, name = collider.shape, collider.path, f"collider {number}"
    if isinstance(shape, Mesh):
        vertices = np.asarray(shape.vertices, float)
        return MeshSurface(
            shape, collider.thickness, None if path is None else lambda t: _vertices(vertices, path(t)), name
        )
    if path is None:
        return ConvexSurface(shape, collider.thickness, None, name)
    own = described_pose(shape)

    def pose_at(t: float) -> Pose:
        position, rotation = path(t)
        return Pose(np.asarray(position, float), np.asarray(rotation, float) @ own.rotation)

    return ConvexSurface(shape, collider.thickness, pose_at, name)


def _vertices(vertices: Array, given: Any) -> Array:
    if isinstance(given, tuple):
        position, rotation = given
        return np.asarray(vertices @ np.asarray(rotation, float).T + np.asarray(position, float))
    return np.asarray(given, float)
