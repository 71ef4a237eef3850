"""Newton's step of all coupled rods together, by conjugate gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..errors import Array
from ..jit import kernel
from ..models.protocol import ModelBlock
from .arrays import Contacts, Ints
from .coulomb import Forces, across_rods

MOST_SOLVES = 60
TOLERANCE = 0.1  # relative; Newton's method needs no more
LARGEST_GROWTH = 1e6  # of the residual in one iteration

Chosen = Sequence[tuple[int, Ints]]  # number of a block, and of rods in it


class LinearSystem:
    """The matrix is that of the rods with their contacts' stiffness (B, factored in the blocks) and what couples the two sides of
    contacts (C). Vectors are those of all blocks, one after the other."""

    def __init__(self, blocks: Sequence[ModelBlock], rows: Sequence[slice], after: Ints) -> None:
        self._blocks, self._rows, self._after = blocks, rows, after
        self.steps = np.zeros((len(after), 4))  # of the sample points
        self._given = np.zeros((len(after), 4))
        self._parts: list[slice] = []
        self._vectors = np.zeros((6, 0))
        self.solves = 0

    def solve(self, contacts: Contacts, count: int, forces: Forces, chosen: Chosen) -> bool:
        """The blocks' step vectors, which solve B d = b, become those that solve (B + C) d = b; C concerns the chosen rods.

        False if B + C turns out not to be positive definite."""
        if not self._parts:
            ends = np.cumsum([len(block.step_vector()) for block in self._blocks]).tolist()
            self._parts = [slice(begin, end) for begin, end in zip([0, *ends[:-1]], ends, strict=True)]
            self._vectors = np.zeros((6, ends[-1]))
        d, r, z, p, bp, q = self._vectors  # B p needs no product: B z = r
        for block, part in zip(self._blocks, self._parts, strict=True):
            d[part] = block.step_vector()
        definite = self._iterate(contacts, count, forces, chosen, d, r, z, p, bp, q)
        for block, part in zip(self._blocks, self._parts, strict=True):
            block.step_vector()[:] = d[part]
        return definite

    def _iterate(
        self, contacts: Contacts, count: int, forces: Forces, chosen: Chosen,
        d: Array, r: Array, z: Array, p: Array, bp: Array, q: Array,
    ) -> bool:  # fmt: skip
        p[:], bp[:] = 0.0, 0.0
        self._couple(contacts, count, forces, d, r)
        np.negative(r, out=r)
        old, goal = 1.0, 0.0
        for solve in range(MOST_SOLVES):
            self._inverse(chosen, r, z)
            product = turn(p, bp, z, r, old)
            if solve == 0:
                goal = TOLERANCE**2 * product
            elif not product < LARGEST_GROWTH * old:  # round-off has taken over
                return True
            if not product > goal:
                return True
            self.solves += 1
            self._couple(contacts, count, forces, p, q)
            curvature = advance(d, r, p, bp, q, product)
            if not curvature > 0.0:
                return False
            old = product
        return True

    def update_steps(self) -> None:
        for block, rows in zip(self._blocks, self._rows, strict=True):
            block.sample_steps(block.step_vector(), self.steps[rows])

    def _couple(self, contacts: Contacts, count: int, forces: Forces, x: Array, out: Array) -> None:
        """out = C x."""
        for block, rows, part in zip(self._blocks, self._rows, self._parts, strict=True):
            block.sample_steps(x[part], self.steps[rows])
        across_rods(contacts, count, self._after, forces, self.steps, self._given)
        for block, rows, part in zip(self._blocks, self._rows, self._parts, strict=True):
            block.generalized_pushes(self._given[rows], out[part])

    def _inverse(self, chosen: Chosen, x: Array, out: Array) -> None:
        """out = B^-1 x."""
        out[:] = x
        for number, rods in chosen:
            self._blocks[number].solve_linearised(rods, out[self._parts[number]])


@kernel
def turn(p: Array, bp: Array, z: Array, r: Array, old: float) -> float:
    """r . z, and the next direction p with B p."""
    product = 0.0
    for i in range(len(p)):
        product += r[i] * z[i]
    factor = product / old
    for i in range(len(p)):
        p[i] = z[i] + factor * p[i]
        bp[i] = r[i] + factor * bp[i]
    return product


@kernel
def advance(d: Array, r: Array, p: Array, bp: Array, q: Array, product: float) -> float:
    """Goes on along p, q = C p; returns p (B + C) p, and stays where it is unless that is positive."""
    curvature = 0.0
    for i in range(len(p)):
        q[i] += bp[i]
        curvature += p[i] * q[i]
    if curvature > 0.0:
        step = product / curvature
        if math.isfinite(step * product):
            for i in range(len(p)):
                d[i] += step * p[i]
                r[i] -= step * q[i]
    return curvature
