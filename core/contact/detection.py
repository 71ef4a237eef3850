"""Finds contacts: candidates from boxes that sweep over the substep, then gaps at the solver's iterate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy import bool_, int64

from ..compile.jit import kernel
from ..compile.workers import Workers
from ..errors import Array
from ..models.protocol import ModelBlock
from .arrays import Contacts, Flags, Ints, Samples
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


NO_PAIRS: Ints = np.zeros((0, 2), int64)


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
        drift=np.zeros((capacity, 3)),
        reached=np.zeros(capacity),
        point=np.zeros((capacity, 3)),
        give=np.zeros(capacity),
        rebound=np.zeros(capacity),
    )


class Detection:
    def __init__(
        self, samples: Samples, joined: Ints, colliders: ColliderMotion, between_rods: bool, workers: Workers
    ) -> None:
        """`joined` (K, 2) are pairs of edges that never touch; see `joined_edges`."""
        self.samples = samples
        self.contacts = make_contacts(256)
        self.count = 0
        self._colliders = colliders
        self._between_rods = between_rods
        self._workers = workers
        self._broad, self._broad_of_some = BroadPhase(), BroadPhase()
        n, rods = len(samples.after), int(samples.rod[-1]) + 1
        self._low, self._high = np.full((n, 3), np.inf), np.full((n, 3), -np.inf)
        self._edges = samples.after >= 0
        self._joined = joined[:, 0] * n + joined[:, 1]
        self._margin = MARGIN * samples.radius
        self._rod_margin = self._margin  # the same between rods
        shapes, meshes = colliders.shapes, colliders.meshes
        self._buried = Buried(samples, meshes, self._margin.copy())
        self._shape_boxes = np.zeros((2, len(shapes.kind), 3))
        self._triangle_boxes = np.zeros((2, len(meshes.triangles), 3))
        self._edge_boxes = np.zeros((2, len(meshes.edges), 3))
        self._boxed = np.full_like(meshes.vertices, np.nan)  # vertices that these boxes belong to
        self._candidates = [NO_PAIRS] * 4  # edges of rods with edges of rods, shapes, triangles, edges
        self._covered = np.zeros(rods, bool_)  # rods of which these are all
        self._moved_on = np.ones(rods, bool_)  # rods whose boxes in the tree are not those they have
        self._selected, self._selection = self._covered.copy(), self._candidates  # the latter: those of the former rods

    def widen(self, colliders: Array, rods: Array) -> None:
        """From now on contacts count as near that are so many radii (N,) away from colliders, and from other rods; at least the
        usual ones. The former are not the lesser."""
        self._margin[:] = self.samples.radius * np.maximum(colliders, MARGIN)
        self._rod_margin = self.samples.radius * np.maximum(rods, MARGIN)

    def forget(self, which: Flags) -> None:
        """Colliders have moved: candidates of these rods are to be sought anew."""
        self._covered[which] = False

    def look(self, base: Array, which: Flags) -> None:
        """Contacts of these rods at `now`. Whether rods pass through each other is judged on their way from `base`.

        Candidates are sought anew where a point has left its box."""
        samples, margin = self.samples, self._margin
        if np.any(which & ~self._covered) or left_boxes(samples, margin, which, self._low, self._high):
            self._sweep(base, which)
        if not np.array_equal(which, self._selected):
            everything = bool(np.all(which >= self._covered))
            self._selection = (
                self._candidates
                if everything
                else [_select(pairs, samples, which, k == 0) for k, pairs in enumerate(self._candidates)]
            )
            self._selected = which.copy()
        self._buried.follow()
        rod_pairs, shape_pairs, triangle_pairs, edge_pairs = self._selection
        while True:
            written, contacts, colliders = 0, self.contacts, self._colliders
            if len(rod_pairs):
                written = self._rod_contacts(rod_pairs, base, contacts)
            if len(shape_pairs):
                written = shape_contacts(
                    shape_pairs, len(shape_pairs), samples, colliders.shapes, margin, contacts, written
                )
            first = written
            if len(triangle_pairs):
                written = triangle_contacts(
                    triangle_pairs, len(triangle_pairs), samples, colliders.meshes, margin, contacts, written
                )
            written = self._buried.add_contacts(contacts, first, written, which)
            if len(edge_pairs):
                written = edge_contacts(
                    edge_pairs, len(edge_pairs), samples, colliders.meshes, margin, contacts, written
                )
            if written <= len(contacts.gap):
                break
            self.contacts = make_contacts(written + written // 2)
        self.count = written

    def _rod_contacts(self, pairs: Ints, base: Array, contacts: Contacts) -> int:
        """Writes the contacts of pairs of edges of rods, from the first row on."""
        return rod_contacts(pairs, len(pairs), self.samples, base, self._rod_margin, contacts, 0)

    def make_room(self, capacity: int) -> None:
        """For so many contacts; those that are there stay."""
        before, self.contacts = self.contacts, make_contacts(capacity)
        for old, new in zip(before, self.contacts, strict=True):
            new[: self.count] = old[: self.count]

    def _sweep(self, base: Array, which: Flags) -> None:
        """Candidates of these rods for the ways from `start` and from `base` to `now`."""
        samples, workers = self.samples, self._workers
        sweep_boxes(samples, base, self._margin, which, self._low, self._high)
        self._moved_on |= which
        if which.all():
            self._plant()
            broad = self._broad
            own = broad.self_pairs(samples, workers)[0].copy() if self._between_rods else NO_PAIRS
        else:
            broad = self._broad_of_some
            broad.build(self._low, self._high, self._edges & which[samples.rod], workers)
            own = self._pairs_of_some(which) if self._between_rods else NO_PAIRS
        if len(self._joined) and len(own):
            own = own[np.isin(own[:, 0] * len(samples.after) + own[:, 1], self._joined, invert=True)]
        self._candidates = [own, NO_PAIRS, NO_PAIRS, NO_PAIRS]
        if len(self._shape_boxes[0]):
            low, high = self._shape_boxes
            shape_boxes(self._colliders.shapes, low, high)
            self._candidates[1] = broad.pairs_with(low, high, workers)[0].copy()
        if len(self._triangle_boxes[0]):
            low, high = self._triangle_boxes
            low_edges, high_edges = self._edge_boxes
            if not np.array_equal(self._colliders.meshes.vertices, self._boxed):
                mesh_boxes(self._colliders.meshes, low, high, low_edges, high_edges)
                self._boxed[:] = self._colliders.meshes.vertices
            self._candidates[2] = broad.pairs_with(low, high, workers)[0].copy()
            self._candidates[3] = broad.pairs_with(low_edges, high_edges, workers)[0].copy()
        self._covered[:] = which
        self._selected[:] = False

    def _plant(self) -> None:
        """The tree of all rods' boxes."""
        self._broad.build(self._low, self._high, self._edges, self._workers)
        self._moved_on[:] = False

    def _pairs_of_some(self, which: Flags) -> Ints:
        """Pairs of edges of which at least one belongs to these rods, as `self_pairs` would give them."""
        samples, workers, n = self.samples, self._workers, len(self._edges)
        within = self._broad_of_some.self_pairs(samples, workers)[0].copy()
        if np.any(self._moved_on & ~which):
            self._plant()
        edges = np.flatnonzero(self._edges & which[samples.rod])
        found = self._broad.pairs_with(self._low[edges], self._high[edges], workers)[0]
        found = found[~which[samples.rod[found[:, 0]]]]
        across = np.stack([found[:, 0], edges[found[:, 1]]], axis=1)
        pairs = np.concatenate([within, np.sort(across, axis=1)])
        return np.ascontiguousarray(pairs[np.argsort(pairs[:, 0] * n + pairs[:, 1], kind="stable")])


def _select(pairs: Ints, samples: Samples, which: Flags, both: bool) -> Ints:
    """Those of the pairs that concern these rods. `both` are edges of rods, else only the first."""
    meant = which[samples.rod[pairs[:, 0]]]
    if both:
        meant |= which[samples.rod[pairs[:, 1]]]
    return np.ascontiguousarray(pairs[meant])


@kernel
def sweep_boxes(samples: Samples, base: Array, margin: Array, which: Flags, low: Array, high: Array) -> None:
    """Boxes of these rods' edges on their way, with all that is near them."""
    start, now, after, radius, rod = samples.start, samples.now, samples.after, samples.radius, samples.rod
    for e in range(len(after)):
        f = after[e]
        if f < 0 or not which[rod[e]]:
            continue
        way = 0.0
        for c in range(3):
            way = max(way, abs(now[e, c] - start[e, c]), abs(now[f, c] - start[f, c]))
        more = radius[e] * (1.0 + SLACK) + margin[e] + SLACK_OF_WAY * way
        for c in range(3):
            low[e, c] = min(start[e, c], now[e, c], base[e, c], start[f, c], now[f, c], base[f, c]) - more
            high[e, c] = max(start[e, c], now[e, c], base[e, c], start[f, c], now[f, c], base[f, c]) + more


@kernel
def left_boxes(samples: Samples, margin: Array, which: Flags, low: Array, high: Array) -> bool:
    """Whether an edge of these rods has left what its box allows for."""
    now, after, radius, rod = samples.now, samples.after, samples.radius, samples.rod
    for e in range(len(after)):
        f = after[e]
        if f < 0 or not which[rod[e]]:
            continue
        less = radius[e] + margin[e]
        for c in range(3):
            if min(now[e, c], now[f, c]) - less < low[e, c] or max(now[e, c], now[f, c]) + less > high[e, c]:
                return True
    return False
