"""Finds contacts: candidates from boxes that sweep over the substep, then gaps at the solver's iterate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy import bool_, int64

from ..errors import Array
from ..jit import kernel
from ..models.protocol import ModelBlock
from ..workers import Workers
from .arrays import Contacts, Ints, Samples
from .broad_phase import BroadPhase
from .buried import Buried
from .colliders import ColliderMotion
from .mesh_contacts import edge_contacts, triangle_contacts
from .mesh_topology import mesh_boxes
from .rod_contacts import rod_contacts
from .shape_boxes import shape_boxes
from .shape_contacts import shape_contacts

MARGIN = 0.25  # radii beyond which two surfaces are not near each other
SLACK = 0.5  # radii, and
SLACK_OF_WAY = 0.1  # of the way of the substep: what the iterate may still move before candidates are sought anew


def pack_samples(blocks: Sequence[ModelBlock], friction: Sequence[Array]) -> Samples:
    """All blocks' sample points. `friction` is per block and rod."""
    parts = [block.edges() for block in blocks]
    offsets = np.cumsum([0] + [len(part.after) for part in parts])
    n = int(offsets[-1])
    after, rod = np.full(n, -1, int64), np.zeros(n, int64)
    rubbing = np.zeros(n)
    rods = 0
    for part, block, first, of_rods in zip(parts, blocks, offsets, friction, strict=False):
        rows = slice(int(first), int(first) + len(part.after))
        after[rows] = np.where(part.after >= 0, part.after + first, -1)
        numbers = np.repeat(np.arange(len(of_rods)), np.diff(block.sample_start))
        rod[rows] = numbers + rods
        rubbing[rows] = of_rods[numbers]
        rods += len(of_rods)
    last = np.zeros(n, bool_)
    has_edge = np.flatnonzero(after >= 0)
    last[has_edge] = after[after[has_edge]] < 0
    return Samples(
        start=np.zeros((n, 3)),
        now=np.zeros((n, 3)),
        after=after,
        last=last,
        rod=rod,
        along=np.concatenate([part.along for part in parts]),
        length=np.concatenate([part.length for part in parts]),
        radius=np.concatenate([part.radius for part in parts]),
        friction=rubbing,
    )


def joined_edges(blocks: Sequence[ModelBlock]) -> Ints:
    """(K, 2) sorted pairs of edges of all blocks that never touch each other."""
    first = 0
    pairs = [np.zeros((0, 2), int64)]
    for block in blocks:
        edges = block.edges()
        pairs.append(edges.joined + first)
        first += len(edges.after)
    return np.unique(np.concatenate(pairs), axis=0)


def make_contacts(capacity: int) -> Contacts:
    return Contacts(
        edge=np.zeros((capacity, 2), int64),
        at=np.zeros((capacity, 2)),
        normal=np.zeros((capacity, 3)),
        rubbing_at=np.zeros((capacity, 2)),
        upright=np.zeros((capacity, 3)),
        rolling=np.zeros(capacity),
        gap=np.zeros(capacity),
        before=np.zeros(capacity),
        deep=np.zeros(capacity, bool_),
        slide=np.zeros((capacity, 3)),
        arm=np.zeros((capacity, 2)),
        friction=np.zeros(capacity),
        key=np.zeros(capacity, int64),
        crossed=np.zeros(capacity, bool_),
        reached=np.zeros(capacity),
    )


class Detection:
    def __init__(
        self, samples: Samples, joined: Ints, colliders: ColliderMotion, between_rods: bool, workers: Workers
    ) -> None:
        """`joined` (K, 2) are pairs of edges that never touch; see `joined_edges`."""
        self.samples = samples
        self.contacts = make_contacts(256)
        self.count = 0
        self.candidates = 0
        self._colliders = colliders
        self._between_rods = between_rods
        self._workers = workers
        self._broad = BroadPhase()
        n = len(samples.after)
        self._low, self._high = np.zeros((n, 3)), np.zeros((n, 3))
        self._edges = samples.after >= 0
        self._joined = joined[:, 0] * n + joined[:, 1]
        self._margin = MARGIN * samples.radius
        shapes, meshes = colliders.shapes, colliders.meshes
        self._buried = Buried(samples, meshes, self._margin)
        self._shape_boxes = np.zeros((2, len(shapes.kind), 3))
        self._triangle_boxes = np.zeros((2, len(meshes.triangles), 3))
        self._edge_boxes = np.zeros((2, len(meshes.edges), 3))
        none = np.zeros((0, 2), int64)
        self._rod_pairs, self._shape_pairs, self._triangle_pairs, self._edge_pairs = none, none, none, none

    def forget(self) -> None:
        """Colliders have moved: candidates are to be sought anew."""
        self._low[:], self._high[:] = np.inf, -np.inf

    def sweep(self, base: Array) -> None:
        """Candidates for the ways from `start` and from `base` to `now`."""
        sweep_boxes(self.samples, base, self._margin, self._low, self._high)
        broad, workers = self._broad, self._workers
        broad.build(self._low, self._high, self._edges, workers)
        if self._between_rods:
            pairs = broad.self_pairs(self.samples, workers)[0]
            if len(self._joined):
                keys = pairs[:, 0] * len(self.samples.after) + pairs[:, 1]
                pairs = pairs[np.isin(keys, self._joined, invert=True)]
            self._rod_pairs = pairs.copy()
        if len(self._shape_boxes[0]):
            low, high = self._shape_boxes
            shape_boxes(self._colliders.shapes, low, high)
            self._shape_pairs = broad.pairs_with(low, high, workers)[0].copy()
        if len(self._triangle_boxes[0]):
            low, high = self._triangle_boxes
            low_edges, high_edges = self._edge_boxes
            mesh_boxes(self._colliders.meshes, low, high, low_edges, high_edges)
            self._triangle_pairs = broad.pairs_with(low, high, workers)[0].copy()
            self._edge_pairs = broad.pairs_with(low_edges, high_edges, workers)[0].copy()
        kinds = (self._rod_pairs, self._shape_pairs, self._triangle_pairs, self._edge_pairs)
        self.candidates = sum(len(of_kind) for of_kind in kinds)

    def look(self, base: Array) -> None:
        """Contacts at `now`. Whether rods pass through each other is judged on their way from `base`.

        Candidates are sought anew where a point has left its box."""
        if left_boxes(self.samples, self._margin, self._low, self._high):
            self.sweep(base)
        self._buried.follow()
        while True:
            written = 0
            samples, contacts, margin, colliders = self.samples, self.contacts, self._margin, self._colliders
            if len(self._rod_pairs):
                written = rod_contacts(self._rod_pairs, len(self._rod_pairs), samples, base, margin, contacts, written)
            pairs: Ints = self._shape_pairs
            if len(pairs):
                written = shape_contacts(pairs, len(pairs), samples, colliders.shapes, margin, contacts, written)
            pairs, first = self._triangle_pairs, written
            if len(pairs):
                written = triangle_contacts(pairs, len(pairs), samples, colliders.meshes, margin, contacts, written)
            written = self._buried.add_contacts(contacts, first, written)
            pairs = self._edge_pairs
            if len(pairs):
                written = edge_contacts(pairs, len(pairs), samples, colliders.meshes, margin, contacts, written)
            if written <= len(contacts.gap):
                break
            self.contacts = make_contacts(written + written // 2)
        self.count = written


@kernel
def sweep_boxes(samples: Samples, base: Array, margin: Array, low: Array, high: Array) -> None:
    """Boxes of all edges on their way, with all that is near them."""
    start, now, after, radius = samples.start, samples.now, samples.after, samples.radius
    for e in range(len(after)):
        f = after[e]
        if f < 0:
            continue
        way = 0.0
        for c in range(3):
            way = max(way, abs(now[e, c] - start[e, c]), abs(now[f, c] - start[f, c]))
        more = radius[e] * (1.0 + SLACK) + margin[e] + SLACK_OF_WAY * way
        for c in range(3):
            low[e, c] = min(start[e, c], now[e, c], base[e, c], start[f, c], now[f, c], base[f, c]) - more
            high[e, c] = max(start[e, c], now[e, c], base[e, c], start[f, c], now[f, c], base[f, c]) + more


@kernel
def left_boxes(samples: Samples, margin: Array, low: Array, high: Array) -> bool:
    """Whether an edge has left what its box allows for."""
    now, after, radius = samples.now, samples.after, samples.radius
    for e in range(len(after)):
        f = after[e]
        if f < 0:
            continue
        less = radius[e] + margin[e]
        for c in range(3):
            if min(now[e, c], now[f, c]) - less < low[e, c] or max(now[e, c], now[f, c]) + less > high[e, c]:
                return True
    return False
