"""Newton's step of all coupled rods together, by conjugate gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..compile.jit import kernel
from ..errors import Array
from ..models.protocol import ModelBlock
from .arrays import Contacts, Ints
from .blocks import Chosen, slices
from .bodies.surfaces import BodySurfaces
from .bodies.tied_contact import TiedContact
from .coulomb import Forces, across_rods

MOST_SOLVES = 60
TOLERANCE = 0.1  # relative; Newton's method needs no more
LARGEST_GROWTH = 1e6  # of the residual in one iteration


class LinearSystem:
    """The matrix is that of the rods with their contacts' stiffness (B, factored in the blocks) and what couples the two sides of
    contacts (C). Vectors are those of all blocks, one after the other; only what belongs to the chosen rods is ever looked at."""

    def __init__(
        self,
        blocks: Sequence[ModelBlock],
        rows: Sequence[slice],
        after: Ints,
        ties: TiedContact | None = None,
        surfaces: BodySurfaces | None = None,
    ) -> None:
        self._blocks, self._rows, self._after, self._ties, self._surfaces = blocks, rows, after, ties, surfaces
        self.steps = np.zeros((len(after), 4))  # of the sample points
        self._given = np.zeros((len(after), 4))
        self._parts = slices([block.generalized_size for block in blocks])
        self._vectors = np.zeros((6, self._parts[-1].stop))
        self._chosen: Chosen = []
        self._ranges = np.zeros((0, 2), np.int64)  # of the vectors: those of all chosen rods; and
        self._row_ranges = np.zeros((0, 2), np.int64)  # of the sample points: one for each chosen rod
        self._tied = np.zeros(0, np.bool_)  # rods and bodies that are chosen
        self.solves = 0

    def solve(self, contacts: Contacts, count: int, forces: Forces, chosen: Chosen) -> bool:
        """The blocks' step vectors, which solve B d = b, become those that solve (B + C) d = b; C concerns the chosen rods.

        False if B + C turns out not to be positive definite."""
        self._chosen = chosen
        if self._ties is not None:
            starts = [0, *np.cumsum([len(block.sample_start) - 1 for block in self._blocks]).tolist()]
            self._tied = np.zeros(starts[-1], np.bool_)
            for number, rods in chosen:
                self._tied[starts[number] + rods] = True
        own = [self._blocks[number].generalized_ranges[rods].reshape(-1, 2) for number, rods in chosen]
        firsts = [self._parts[number].start for number, _ in chosen]
        self._ranges = np.concatenate([ranges + first for ranges, first in zip(own, firsts, strict=True)])
        self._row_ranges = np.concatenate(
            [_ranges(self._blocks[number].sample_start, rods, self._rows[number].start) for number, rods in chosen]
        )
        d, r, z, p, bp, q = self._vectors  # B p needs no product: B z = r
        for (number, _), ranges in zip(chosen, own, strict=True):
            copy(ranges, self._blocks[number].step_vector(), d[self._parts[number]])
        definite = self._iterate(contacts, count, forces, d, r, z, p, bp, q)
        for (number, _), ranges in zip(chosen, own, strict=True):
            copy(ranges, d[self._parts[number]], self._blocks[number].step_vector())
        return definite

    def _iterate(
        self, contacts: Contacts, count: int, forces: Forces,
        d: Array, r: Array, z: Array, p: Array, bp: Array, q: Array,
    ) -> bool:  # fmt: skip
        self._couple(contacts, count, forces, d, q)
        begin(self._ranges, q, r, p, bp)
        old, goal = 1.0, 0.0
        for solve in range(MOST_SOLVES):
            self._inverse(r, z)
            product = turn(self._ranges, p, bp, z, r, old)
            if solve == 0:
                goal = TOLERANCE**2 * product
            elif not product < LARGEST_GROWTH * old:  # round-off has taken over
                return True
            if not product > goal:
                return True
            self.solves += 1
            self._couple(contacts, count, forces, p, q)
            curvature = advance(self._ranges, d, r, p, bp, q, product)
            if not curvature > 0.0:
                return False
            old = product
        return True

    def update_steps(self, chosen: Chosen) -> None:
        """Of the sample points, from the blocks' step vectors."""
        for number, rods in chosen:
            block = self._blocks[number]
            block.sample_steps(rods, block.step_vector(), self.steps[self._rows[number]])

    def _couple(self, contacts: Contacts, count: int, forces: Forces, x: Array, out: Array) -> None:
        """out = C x."""
        for number, rods in self._chosen:
            self._blocks[number].sample_steps(rods, x[self._parts[number]], self.steps[self._rows[number]])
        across_rods(contacts, count, self._after, forces, self._row_ranges, self.steps, self._given)
        if self._surfaces is not None:
            turned = x[self._parts[-1]].reshape(-1, 6)
            pushed = np.zeros_like(turned)
            self._surfaces.across(contacts, count, self._after, forces, self.steps, turned, self._given, pushed)
        for number, rods in self._chosen:
            self._blocks[number].generalized_pushes(rods, self._given[self._rows[number]], out[self._parts[number]])
        if self._surfaces is not None:
            bodies = np.flatnonzero(self._tied[-len(pushed) :])
            out[self._parts[-1]].reshape(-1, 6)[bodies] = pushed[bodies]

    def _inverse(self, x: Array, out: Array) -> None:
        """out = B^-1 x."""
        copy(self._ranges, x, out)
        for number, rods in self._chosen:
            self._blocks[number].solve_linearised(rods, out[self._parts[number]])
        if self._ties is not None:
            self._ties.project(self._tied, [out[part] for part in self._parts])


def _ranges(start: Ints, rods: Ints, first: int) -> Ints:
    """(K, 2) where the parts of rods begin and end in vectors whose first entry has this number."""
    return np.stack([start[rods] + first, start[rods + 1] + first], axis=1)


@kernel
def copy(ranges: Ints, source: Array, target: Array) -> None:
    for k in range(len(ranges)):
        for i in range(ranges[k, 0], ranges[k, 1]):
            target[i] = source[i]


@kernel
def begin(ranges: Ints, q: Array, r: Array, p: Array, bp: Array) -> None:
    """The residual r = -q; no direction yet."""
    for k in range(len(ranges)):
        for i in range(ranges[k, 0], ranges[k, 1]):
            r[i] = -q[i]
            p[i], bp[i] = 0.0, 0.0


@kernel
def turn(ranges: Ints, p: Array, bp: Array, z: Array, r: Array, old: float) -> float:
    """r . z, and the next direction p with B p."""
    product = 0.0
    for k in range(len(ranges)):
        for i in range(ranges[k, 0], ranges[k, 1]):
            product += r[i] * z[i]
    factor = product / old
    for k in range(len(ranges)):
        for i in range(ranges[k, 0], ranges[k, 1]):
            p[i] = z[i] + factor * p[i]
            bp[i] = r[i] + factor * bp[i]
    return product


@kernel
def advance(ranges: Ints, d: Array, r: Array, p: Array, bp: Array, q: Array, product: float) -> float:
    """Goes on along p, q = C p; returns p (B + C) p, and stays where it is unless that is positive."""
    curvature = 0.0
    for k in range(len(ranges)):
        for i in range(ranges[k, 0], ranges[k, 1]):
            q[i] += bp[i]
            curvature += p[i] * q[i]
    if curvature > 0.0:
        step = product / curvature
        if math.isfinite(step * product):
            for k in range(len(ranges)):
                for i in range(ranges[k, 0], ranges[k, 1]):
                    d[i] += step * p[i]
                    r[i] -= step * q[i]
    return curvature
