"""Independent check of a simulation's motion: do rods cross each other, themselves or a collider, and how much do they overlap?

It reads positions only, and shares no code with the solver. Between consecutive snapshots every vertex moves linearly. Overlaps are
measured at snapshots, in radii of the thinner rod, and what overlapped in the drawn input is subtracted. Parts of one rod that are
closer along it than half the circumference of its section are no contact. Where edges are chords of a curved element, the height of
the arc above them is granted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra
from tendril.core import Mesh, Net, Scene

from .ccd_kernels import crossings_of, overlaps_of, pairs_within
from .ccd_surfaces import ConvexSurface, MeshSurface, Passage, Pose, Surface, boxes_of, collider_surface

Array = np.ndarray
CURVED = ("clothoid",)  # models whose rods are curves; vertices are points on them


class Curves(NamedTuple):
    """The edges of all rods and nets of a scene, whose vertices are numbered through in the order of their ids."""

    ends: Array  # (E, 2) vertices
    curve: Array  # (E,) rod
    radius: Array  # (E,) m
    start: Array  # (E,) m along the rod
    rest: Array  # (E,) m, length
    total: Array  # (E,) m, length of a closed rod; infinite for open ones
    first: Array  # (R + 1,) first vertex of each rod
    near: dict[int, Array]  # of nets: (n, n) which vertices are close along the net
    smooth: Array  # (E,) the edge is a chord of a curved element


def curves_of(scene: Scene) -> Curves:
    ends, curve, radius, start, rest, total, smooth, first, near = [], [], [], [], [], [], [], [0], {}
    for number, entry in enumerate(scene.entries):
        rod = entry.rod
        m = rod.edge_count
        own = np.array([rod.ends(edge) for edge in range(m)], np.int64).reshape(m, 2)
        ends.append(own + first[-1])
        curve.append(np.full(m, number))
        radius.append(rod.radii.min(axis=1))
        lengths = np.asarray(rod.rest_lengths)
        rest.append(lengths)
        start.append(np.concatenate([[0.0], np.cumsum(lengths)[:-1]]))
        total.append(np.full(m, lengths.sum() if getattr(rod, "closed", False) else np.inf))
        smooth.append(np.full(m, entry.model in CURVED))
        if isinstance(rod, Net):
            graph = csr_matrix((lengths, (own[:, 0], own[:, 1])), shape=(rod.vertex_count,) * 2)
            reach = math.pi * float(rod.radii.max())
            near[number] = np.isfinite(dijkstra(graph, directed=False, limit=reach))
        first.append(first[-1] + rod.vertex_count)
    joined = [np.concatenate(part) for part in (ends, curve, radius, start, rest, total)]
    return Curves(*joined, np.array(first), near, np.concatenate(smooth))


@dataclass
class Findings:
    """Of a sequence of snapshots."""

    passages: list[tuple[int, Passage]] = field(default_factory=list)  # with the number of the snapshot
    worst: float = 0.0  # overlap in radii of the thinner rod, beyond that of the drawn input
    worst_pair: str = ""
    deep: int = 0  # pairs of edges deeper than a tenth of a radius at the last snapshot
    snapshots: int = 0


class Deepest(NamedTuple):
    overlap: float  # radii
    pair: str
    deep: int


class Checker:
    """Follows a scene through snapshots. `rods`: contact between rods is checked, by default if the scene has it."""

    def __init__(self, scene: Scene, *, rods: bool | None = None) -> None:
        self.scene, self.curves = scene, curves_of(scene)
        self.rods = scene.rod_contact if rods is None else rods
        self.surfaces: list[Surface] = [collider_surface(k, one) for k, one in enumerate(scene.colliders)]
        self.bodies = [k for k, body in enumerate(scene.bodies) if body.collides]
        self.free = [self._not_attached(k) for k in self.bodies]
        self.body_surfaces = [_body_surface(k, scene.bodies[k]) for k in self.bodies]
        self.findings = Findings()
        self._allowed_rods: dict[int, float] = {}
        self._allowed_surfaces: list[Array] = []
        self._x: Array | None = None
        self._poses: list[Any] = []
        self._bodies: list[Pose] = []
        self._x_bodies: Array | None = None  # positions when the poses of bodies were last known

    def _not_attached(self, body: int) -> Array:
        """Which edges belong to rods that are not attached to this body."""
        attached = {one.rod for one in self.scene.attachments if one.body == body}
        return ~np.isin(self.curves.curve, list(attached))

    # Snapshots

    def begin(self, positions: Array, time: float = 0.0, bodies: Sequence[Pose] = ()) -> list[float]:
        """The drawn input. Its overlaps are not counted later on; they are returned, in m."""
        self._x, self._bodies = np.ascontiguousarray(positions, float), list(bodies)
        self._x_bodies, self._poses = self._x, self._poses_at(time, bodies)
        if self.rods:
            pairs, gap = self._rod_gaps(self._x)
            for key, depth in zip(self._keys(pairs), -gap, strict=True):
                self._allowed_rods[key] = max(self._allowed_rods.get(key, 0.0), depth)
        self._allowed_surfaces = [np.maximum(0.0, -gap) for gap in self._surface_gaps(self._x, self._poses)]
        return [*self._allowed_rods.values(), *(float(one.max(initial=0.0)) for one in self._allowed_surfaces)]

    def look(self, positions: Array, time: float = 0.0, bodies: Sequence[Pose] | None = ()) -> Deepest:
        """The next snapshot: all positions (N, 3) at a time in s, and poses of all bodies. Returns its worst overlap.

        With None for the poses, bodies are left out; the next snapshot that has them covers all the motion since the last."""
        assert self._x is not None, "begin comes first"
        y, fixed = np.ascontiguousarray(positions, float), len(self.surfaces)
        poses = self._poses_at(time, self._bodies if bodies is None else bodies)
        self.findings.snapshots += 1
        if self.rods:
            self._note(self._rod_passages(self._x, y))
        surfaces, masks = self._surfaces(), self._masks()
        for k in range(fixed if bodies is None else len(surfaces)):
            x = self._x if k < fixed else self._x_bodies
            found = surfaces[k].passages(x, y, self.curves.ends, self._poses[k], poses[k])
            self._note([one for one in found if masks[k][one.first]])
        deepest = self._deepest(y, poses[:fixed] if bodies is None else poses)
        if deepest.overlap > self.findings.worst:
            self.findings.worst = deepest.overlap
            self.findings.worst_pair = f"snapshot {self.findings.snapshots}: {deepest.pair}"
        self.findings.deep = deepest.deep
        self._x, self._poses = y, poses
        if bodies is not None:
            self._x_bodies, self._bodies = y, list(bodies)
        return deepest

    def _surfaces(self) -> list[Surface]:
        return [*self.surfaces, *self.body_surfaces]

    def _note(self, passages: list[Passage]) -> None:
        self.findings.passages += [(self.findings.snapshots, one) for one in passages]

    def _poses_at(self, time: float, bodies: Sequence[Pose]) -> list[Any]:
        poses: list[Any] = [surface.pose_at(time) for surface in self.surfaces]
        for k, surface in zip(self.bodies, self.body_surfaces, strict=True):
            pose = bodies[k]
            if isinstance(surface, MeshSurface):
                poses.append(surface.vertices @ pose.rotation.T + pose.position)
            else:
                own = surface.pose_at(0.0)
                poses.append(Pose(pose.position + pose.rotation @ own.position, pose.rotation @ own.rotation))
        return poses

    def _masks(self) -> list[Array]:
        return [np.ones(len(self.curves.ends), bool)] * len(self.surfaces) + self.free

    # Overlaps

    def _deepest(self, x: Array, poses: list[Any]) -> Deepest:
        overlap, pair, deep = 0.0, "", 0
        thin = self.curves.radius
        if self.rods:
            pairs, gap = self._rod_gaps(x)
            allowed = np.array([self._allowed_rods.get(key, 0.0) for key in self._keys(pairs)])
            depth = (-gap - allowed) / np.minimum(thin[pairs[:, 0]], thin[pairs[:, 1]])
            deep += int((depth > 0.1).sum())
            if len(depth) and depth.max() > overlap:
                worst = int(depth.argmax())
                overlap, pair = float(depth[worst]), self._pair_name(*pairs[worst])
        gaps = self._surface_gaps(x, poses)
        for surface, gap, allowed in zip(self._surfaces(), gaps, self._allowed_surfaces, strict=False):
            depth = (-gap - allowed) / thin
            deep += int((depth > 0.1).sum())
            if depth.max(initial=0.0) > overlap:
                worst = int(depth.argmax())
                overlap, pair = float(depth[worst]), f"{self._edge_name(worst)}, {surface.name}"
        return Deepest(overlap, pair, deep)

    def _surface_gaps(self, x: Array, poses: list[Any]) -> list[Array]:
        """Of each edge from the surfaces whose poses are given: all of them, or those of colliders alone."""
        gaps = []
        for surface, mask, pose in zip(self._surfaces(), self._masks(), poses, strict=False):
            gap = surface.gaps(x, self.curves.ends, self.curves.radius, pose) + self._arc_heights(x)
            gaps.append(np.where(mask, gap, np.inf))
        return gaps

    def _rod_gaps(self, x: Array) -> tuple[Array, Array]:
        """Pairs of edges that overlap, and their (negative) gaps."""
        pairs = self._candidates(x, x, self.curves.radius)
        gap, where = np.zeros(len(pairs)), np.zeros((len(pairs), 2))
        overlaps_of(pairs, self.curves.ends, x, self.curves.radius, gap, where)
        arc = self._arc_heights(x)
        gap += arc[pairs[:, 0]] + arc[pairs[:, 1]]
        pairs, gap, where = pairs[gap < 0.0], gap[gap < 0.0], where[gap < 0.0]
        far = self._apart_along(pairs, where)
        return pairs[far], gap[far]

    def _arc_heights(self, x: Array) -> Array:
        """Of curved elements above the chords that stand for them: an eighth of the second difference of their points."""
        c = self.curves
        out = np.zeros(len(c.ends))
        if c.smooth.any():
            e = x[c.ends[:, 1]] - x[c.ends[:, 0]]
            turn = np.linalg.norm(np.diff(e, axis=0), axis=1) * (np.diff(c.curve) == 0)
            before, after = np.concatenate([[0.0], turn]), np.concatenate([turn, [0.0]])
            out[c.smooth] = np.maximum(before, after)[c.smooth] / 8.0
        return out

    def _rod_passages(self, x: Array, y: Array) -> list[Passage]:
        pairs = self._candidates(x, y, 0.0)
        time, where = np.full(len(pairs), -1.0), np.zeros((len(pairs), 2))
        ends = self.curves.ends
        crossings_of(pairs, ends, ends, x, y, x, y, time, where)
        pairs, time, where = pairs[time >= 0.0], time[time >= 0.0], where[time >= 0.0]
        far = self._apart_along(pairs, where)
        curve = self.curves.curve
        return [
            Passage("rod, itself" if curve[i] == curve[j] else "rod, rod", int(i), int(j), float(at))
            for (i, j), at in zip(pairs[far], time[far], strict=True)
        ]

    def _candidates(self, x: Array, y: Array, margin: Array | float) -> Array:
        """(P, 2) pairs of edges whose swept boxes overlap, without those that share a vertex."""
        ends = self.curves.ends
        y = y - (y - x).mean(axis=0)
        low, high = boxes_of(x, y, ends, margin)
        axis = int(np.argmax(np.std(low, axis=0) / (np.mean(high - low, axis=0) + 1e-300)))
        swap = [axis, *(k for k in range(3) if k != axis)]
        low, high = np.ascontiguousarray(low[:, swap]), np.ascontiguousarray(high[:, swap])
        order = np.argsort(low[:, 0], kind="stable")
        out = np.empty((max(1024, 16 * len(ends)), 2), np.int64)
        count = pairs_within(order, low, high, out)
        if count > len(out):
            out = np.empty((count, 2), np.int64)
            pairs_within(order, low, high, out)
        pairs = out[:count]
        a, b = ends[pairs[:, 0]], ends[pairs[:, 1]]
        shared = (a[:, 0] == b[:, 0]) | (a[:, 0] == b[:, 1]) | (a[:, 1] == b[:, 0]) | (a[:, 1] == b[:, 1])
        return np.ascontiguousarray(pairs[~shared])

    def _apart_along(self, pairs: Array, where: Array) -> Array:
        """Which pairs can touch: not those of one rod nearer along it than half its circumference."""
        c = self.curves
        i, j = pairs[:, 0], pairs[:, 1]
        at_i, at_j = c.start[i] + where[:, 0] * c.rest[i], c.start[j] + where[:, 1] * c.rest[j]
        apart = np.abs(at_i - at_j)
        apart = np.minimum(apart, np.abs(c.total[i] - apart))
        far = (c.curve[i] != c.curve[j]) | (apart >= 0.5 * math.pi * (c.radius[i] + c.radius[j]))
        for net, near in c.near.items():
            of_net = np.flatnonzero((c.curve[i] == net) & (c.curve[j] == net))
            a, b = c.ends[i[of_net]] - c.first[net], c.ends[j[of_net]] - c.first[net]
            close = np.zeros(len(of_net), bool)
            for p in range(2):
                for q in range(2):
                    close |= near[a[:, p], b[:, q]]
            far[of_net] = ~close
        return far

    # Names

    def _keys(self, pairs: Array) -> list[int]:
        curve, count = self.curves.curve, len(self.curves.first)
        return (curve[pairs[:, 0]] * count + curve[pairs[:, 1]]).tolist()

    def _edge_name(self, edge: int) -> str:
        rod = int(self.curves.curve[edge])
        return f"rod {rod} edge {edge - int(np.searchsorted(self.curves.curve, rod))}"

    def _pair_name(self, i: int, j: int) -> str:
        return f"{self._edge_name(int(i))}, {self._edge_name(int(j))}"


def _body_surface(number: int, body: Any) -> Surface:
    name = f"body {number}"
    if isinstance(body.shape, Mesh):
        return MeshSurface(body.shape, body.thickness, None, name)
    return ConvexSurface(body.shape, body.thickness, None, name)


# Frames of a simulation


def snapshot(frame: Any, scene: Scene) -> tuple[Array, float, list[Pose]]:
    """Positions, time and poses of bodies of a frame, as `Checker.begin` and `Checker.look` take them."""
    positions = [frame.positions(rod) for rod in range(len(scene.entries))]
    bodies = [Pose(frame.body_position(k), frame.body_rotation(k)) for k in range(len(scene.bodies))]
    return np.concatenate(positions) if positions else np.zeros((0, 3)), frame.time, bodies
