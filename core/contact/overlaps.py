"""How deep rods overlap at the end of a frame, whatever the solver thought of its steps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import bool_, int64

from ..errors import Array
from .arrays import Contacts, Ints
from .solver import ContactSolver

TOO_DEEP = 0.1  # radii of the thinner rod, beyond what was drawn
# The same for a rod between two colliders. Room is a matter of geometry, so that any lack of it is too much for the solver, which
# stretches the rod or lets it sink in; a little is left for curved surfaces, whose normals differ along an edge.
NO_ROOM = 0.02
OPPOSITE = -0.9  # product of the normals of two colliders that a rod is between


class Overlaps(NamedTuple):
    """Pairs of rods, or of a rod and a collider, that overlap."""

    pair: Ints  # (P,) sorted
    depth: Array  # (P,) radii of the thinner rod


class OverlapWatch:
    """Compares overlaps with those of the beginning: what was drawn in each other is no failure of the solver."""

    def __init__(self, solver: ContactSolver) -> None:
        self._solver = solver
        self._drawn, self._drawn_lack = self._measure()

    def new_overlaps(self) -> tuple[float, frozenset[int]]:
        """The deepest overlap beyond what was drawn, in radii, and the rods that overlap by too much."""
        (now, lack), drawn = self._measure(), self._drawn
        before = np.zeros(len(now.pair))
        if len(drawn.pair):
            at = np.minimum(np.searchsorted(drawn.pair, now.pair), len(drawn.pair) - 1)
            before = np.where(drawn.pair[at] == now.pair, drawn.depth[at], 0.0)
        more = now.depth - before
        count = self._solver.rods[-1].stop
        deep = now.pair[more > TOO_DEEP]
        squeezed = np.flatnonzero(lack - self._drawn_lack > NO_ROOM)
        sides = np.concatenate([deep // (2 * count), deep % (2 * count), squeezed])
        return float(max(more.max(initial=0.0), 0.0)), frozenset(sides[sides < count].tolist())

    def _measure(self) -> tuple[Overlaps, Array]:
        """Overlaps, and the lack of room for each rod between colliders (R,), in radii."""
        solver = self._solver
        detection, samples = solver.detection, solver.detection.samples
        everything = np.ones(solver.rods[-1].stop, bool_)
        solver.fetch(everything, samples.start)
        samples.now[:] = samples.start
        detection.forget(everything)
        with solver.colliders.at_rest():  # too: rods that moved with one in the last substep did not pass through it
            detection.look(samples.start, everything)
        detection.forget(everything)  # what was found here must not make a difference to the next step
        contacts, count = detection.contacts, detection.count
        lack = _lack_of_room(contacts, count, samples.rod, len(everything))
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
        return Overlaps(pair.astype(int64), depth), lack


def _lack_of_room(contacts: Contacts, count: int, rod: Ints, rods: int) -> Array:
    """(R,) by how much each rod is thicker than the room between two colliders on opposite sides of it, in radii."""
    of_colliders = np.flatnonzero(contacts.edge[:count, 1] < 0)
    order = of_colliders[np.argsort(contacts.edge[of_colliders, 0], kind="stable")]
    edge, gap, normal = contacts.edge[order, 0], contacts.gap[order], contacts.normal[order]
    radius, lack = np.maximum(contacts.arm[order, 0], 1e-300), np.zeros(rods)
    for shift in range(1, len(order)):
        pairs = np.flatnonzero(edge[shift:] == edge[:-shift])
        if not len(pairs):
            break
        opposite = np.einsum("ij,ij->i", normal[pairs], normal[pairs + shift]) < OPPOSITE
        one = pairs[opposite]
        np.maximum.at(lack, rod[edge[one]], -(gap[one] + gap[one + shift]) / radius[one])
    return lack
