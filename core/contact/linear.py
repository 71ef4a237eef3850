"""Newton's step of all coupled rods together, by conjugate gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..errors import Array
from ..models.protocol import ModelBlock
from .arrays import Contacts, Ints
from .coulomb import Forces, across_rods

MOST_SOLVES = 60
TOLERANCE = 1e-2  # relative
LARGEST_GROWTH = 1e6  # of the residual in one iteration

Chosen = Sequence[tuple[int, Ints]]  # number of a block, and of rods in it


class LinearSystem:
    """The matrix is that of the rods with their contacts' stiffness (B, factored in the blocks) and what couples the two sides of
    contacts (C)."""

    def __init__(self, blocks: Sequence[ModelBlock], rows: Sequence[slice], after: Ints) -> None:
        self._blocks, self._rows, self._after = blocks, rows, after
        self.steps = np.zeros((len(after), 4))  # of the sample points
        self._given = np.zeros((len(after), 4))
        self.solves = 0

    def solve(self, contacts: Contacts, count: int, forces: Forces, chosen: Chosen) -> bool:
        """The blocks' step vectors, which solve B d = b, become those that solve (B + C) d = b; C concerns the chosen rods.

        False if B + C turns out not to be positive definite."""
        d = [block.step_vector() for block in self._blocks]
        r = self._couple(contacts, count, forces, d)
        for x in r:
            np.negative(x, out=x)
        z = self._inverse(chosen, r)
        p, bp = [x.copy() for x in z], [x.copy() for x in r]  # B p needs no product: B z = r
        product = _dot(r, z)
        goal = TOLERANCE**2 * product
        for _ in range(MOST_SOLVES):
            if not product > goal:
                break
            self.solves += 1
            q = self._couple(contacts, count, forces, p)
            _add(q, bp, 1.0)
            curvature = _dot(p, q)
            if not curvature > 0.0:
                return False
            step = product / curvature
            if not math.isfinite(step * product):
                break
            _add(d, p, step)
            _add(r, q, -step)
            z = self._inverse(chosen, r)
            old, product = product, _dot(r, z)
            if not product < LARGEST_GROWTH * old:  # round-off has taken over
                break
            _scale_and_add(p, product / old, z)
            _scale_and_add(bp, product / old, r)
        return True

    def update_steps(self) -> None:
        for block, rows in zip(self._blocks, self._rows, strict=True):
            block.sample_steps(block.step_vector(), self.steps[rows])

    def _couple(self, contacts: Contacts, count: int, forces: Forces, vectors: list[Array]) -> list[Array]:
        """C times a vector."""
        for block, rows, x in zip(self._blocks, self._rows, vectors, strict=True):
            block.sample_steps(x, self.steps[rows])
        self._given[:] = 0.0
        across_rods(contacts, count, self._after, forces, self.steps, self._given)
        out = [np.empty_like(x) for x in vectors]
        for block, rows, x in zip(self._blocks, self._rows, out, strict=True):
            block.generalized_pushes(self._given[rows], x)
        return out

    def _inverse(self, chosen: Chosen, vectors: list[Array]) -> list[Array]:
        """B^-1 times a vector."""
        out = [x.copy() for x in vectors]
        for number, rods in chosen:
            self._blocks[number].solve_linearised(rods, out[number])
        return out


def _dot(a: list[Array], b: list[Array]) -> float:
    return float(sum(np.dot(x, y) for x, y in zip(a, b, strict=True)))


def _add(a: list[Array], b: list[Array], factor: float) -> None:
    for x, y in zip(a, b, strict=True):
        x += factor * y


def _scale_and_add(a: list[Array], factor: float, b: list[Array]) -> None:
    for x, y in zip(a, b, strict=True):
        x *= factor
        x += y
