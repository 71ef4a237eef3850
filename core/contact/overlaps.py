"""How deep rods overlap at the end of a frame, whatever the solver thought of its steps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import bool_, int64

from ..errors import Array
from .arrays import Ints
from .solver import ContactSolver

TOO_DEEP = 0.1  # radii of the thinner rod, beyond what was drawn


class Overlaps(NamedTuple):
    """Pairs of rods, or of a rod and a collider, that overlap."""

    pair: Ints  # (P,) sorted
    depth: Array  # (P,) radii of the thinner rod


class OverlapWatch:
    """Compares overlaps with those of the beginning: what was drawn in each other is no failure of the solver."""

    def __init__(self, solver: ContactSolver) -> None:
        self._solver = solver
        self._drawn = self._measure()

    def new_overlaps(self) -> tuple[float, frozenset[int]]:
        """The deepest overlap beyond what was drawn, in radii, and the rods that overlap by too much."""
        now, drawn = self._measure(), self._drawn
        before = np.zeros(len(now.pair))
        if len(drawn.pair):
            at = np.minimum(np.searchsorted(drawn.pair, now.pair), len(drawn.pair) - 1)
            before = np.where(drawn.pair[at] == now.pair, drawn.depth[at], 0.0)
        more = now.depth - before
        count = self._solver.rods[-1].stop
        deep = now.pair[more > TOO_DEEP]
        sides = np.concatenate([deep // (2 * count), deep % (2 * count)])
        return float(max(more.max(initial=0.0), 0.0)), frozenset(sides[sides < count].tolist())

    def _measure(self) -> Overlaps:
        solver = self._solver
        detection, samples = solver.detection, solver.detection.samples
        everything = np.ones(solver.rods[-1].stop, bool_)
        solver.fetch(everything, samples.start)
        samples.now[:] = samples.start
        detection.forget(everything)
        detection.look(samples.start, everything)
        detection.forget(everything)  # what was found here must not make a difference to the next step
        contacts, count = detection.contacts, detection.count
        rows = np.flatnonzero((contacts.gap[:count] < 0.0) & (samples.after[contacts.edge[:count, 0]] >= 0))
        edge, arm, gap = contacts.edge[rows], contacts.arm[rows], contacts.gap[rows]
        thin = np.where(edge[:, 1] >= 0, arm.min(axis=1), arm[:, 0])
        rods = len(everything)
        first = samples.rod[edge[:, 0]]
        # Colliders count as one: they are solid, and rods that begin in one are pushed out of it.
        second = np.where(edge[:, 1] >= 0, samples.rod[edge[:, 1]], rods)
        key = np.minimum(first, second) * (2 * rods) + np.maximum(first, second)
        pair, at = np.unique(key, return_inverse=True)
        depth = np.zeros(len(pair))
        np.maximum.at(depth, at, -gap / np.maximum(thin, 1e-300))
        return Overlaps(pair.astype(int64), depth)
