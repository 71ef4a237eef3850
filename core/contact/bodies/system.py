"""Newton's step of rods and bodies that are tied to each other.

Each rod has its own step d = A^-1 b, and its own factored matrix A. With forces f of the ties' conditions c = 0, that change with
rods by C and with bodies by D, rods and bodies obey
    A d + C^T f = b,    B y + D^T f = g,    C d + D y = -c.
Rods are seen through the edges that are tied: G tells how these move when they are pushed, a few solves with A. What is left,
    B y + D^T f = g,    D y - C G C^T f = -c - C A^-1 b,
has six rows for a body and six for a tie, and is solved at once, dense or sparse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import Array
from ...maths.linalg.dense import solve_general
from ...models.protocol import EdgeResponses, ModelBlock
from .attached import Places

Ints = NDArray[np.int64]

LARGEST_DENSE = 150  # unknowns


class Selection(NamedTuple):
    """Some of the assemblies."""

    rods: list[tuple[int, Ints]]  # block, and numbers of rods there
    bodies: Ints  # all
    free: Ints  # those that are not led
    ties: Ints
    of_rod: list[Ints]  # of the rods: their assembly
    of_body: Ints  # of the free bodies
    of_tie: Ints
    led: NDArray[np.bool_]  # ties of bodies that are
    rows: Ints  # entries of the matrix: where they are
    columns: Ints
    pairs: list[
        tuple[int, Ints, Ints]
    ]  # block, and pairs (P, 2) of ties (numbers among `ties`) on one rod; their places


def select(
    rods: list[tuple[int, Ints]],
    of_rod: list[Ints],
    bodies: Ints,
    kinematic: NDArray[np.bool_],
    of_body: Ints,
    ties: Ints,
    of_tie: Ints,
    body_of_tie: Ints,
    places: Places,
) -> Selection:
    free = bodies[~kinematic[bodies]]
    number = np.full(len(kinematic), -1, dtype=np.int64)
    number[free] = np.arange(len(free))
    led = number[body_of_tie[ties]] < 0
    pairs = []
    for block in np.unique(places.block[ties]).tolist():
        own = np.flatnonzero(places.block[ties] == block)
        rod = places.rod[ties[own]]
        same = rod[:, None] == rod[None, :]
        second, first = np.nonzero(same)  # sorted by the one that is pushed
        pairs.append((block, np.stack([own[first], own[second]], axis=1), own))
    six = np.arange(6)

    def block_entries(first: Ints, second: Ints) -> tuple[Ints, Ints]:
        rows = np.broadcast_to(6 * first[:, None, None] + six[:, None], (len(first), 6, 6))
        columns = np.broadcast_to(6 * second[:, None, None] + six[None, :], (len(first), 6, 6))
        return rows.ravel(), columns.ravel()

    tie = len(free) + np.arange(len(ties))
    body = number[body_of_tie[ties]]
    parts = [block_entries(np.arange(len(free)), np.arange(len(free)))]
    parts.append(block_entries(tie[~led], body[~led]))
    parts.append(block_entries(body[~led], tie[~led]))
    for _, pair, _ in pairs:
        parts.append(block_entries(tie[pair[:, 0]], tie[pair[:, 1]]))
    rows, columns = (np.concatenate([part[side] for part in parts]) for side in range(2))
    return Selection(rods, bodies, free, ties, of_rod, of_body[free], of_tie[ties], led, rows, columns, pairs)


class TiedSystem:
    def __init__(self, blocks: Sequence[ModelBlock], places: Places) -> None:
        self._blocks, self._places = blocks, places
        self._last = np.zeros(0)  # the last matrix
        self._samples = [np.zeros((int(block.sample_start[-1]), 4)) for block in blocks]
        self._vectors = [np.zeros(block.generalized_size) for block in blocks]

    def solve(
        self,
        chosen: Selection,
        conditions: tuple[Array, Array, Array],
        unused: Array,
        residual: Array,
        matrix: Array,
    ) -> tuple[Array, Array] | None:
        """Steps of the free bodies (F, 6) and changes of the ties' forces (K, 6); the blocks' step vectors become those of the tied
        rods. `conditions` are c, C and D; `unused` (K, 6) is one for those that a tie does not have; `residual` (F, 6) and
        `matrix` (F, 6, 6) are -g and B. None if there is no solution."""
        amiss, by_edge, by_body = conditions
        free, ties = len(chosen.free), len(chosen.ties)
        moved = self._edge_steps(chosen)
        parts = [matrix.ravel()]
        pulling = by_body[~chosen.led]
        parts += [pulling.ravel(), np.swapaxes(pulling, 1, 2).ravel()]
        for block, pair, own in chosen.pairs:
            compliance = self._responses(chosen, block, pair, own)
            between = by_edge[pair[:, 0]] @ compliance @ np.swapaxes(by_edge[pair[:, 1]], 1, 2)
            self_pair = pair[:, 0] == pair[:, 1]
            idle = unused[pair[self_pair, 0]]
            between[self_pair] += idle[:, :, None] * np.eye(6)
            # Ropes that can't stretch may leave a condition to nobody: then its force is the smallest that will do.
            scale = np.abs(np.einsum("kii->ki", between[self_pair])).max(axis=1)
            between[self_pair] += 1e-12 * scale[:, None, None] * np.eye(6)
            parts.append(-between.ravel())
        right = np.concatenate([-residual.ravel(), (-amiss - np.einsum("kij,kj->ki", by_edge, moved)).ravel()])
        self._last = np.concatenate(parts)
        found = _solve(chosen.rows, chosen.columns, self._last, right)
        if found is None:
            return None
        change = found[6 * free :].reshape(ties, 6)
        self._push(chosen, -np.einsum("kij,ki->kj", by_edge, change))
        return found[: 6 * free].reshape(free, 6), change

    def project(self, chosen: Selection, by_edge: Array, vectors: Sequence[Array], loads: Array) -> None:
        """Steps of rods (one vector per block), each its own, become those of the tied rods, with bodies that are pushed by loads
        (F, 6); these become the bodies' steps. With the matrix of the last `solve`."""
        free = len(chosen.free)
        moved = self._edge_steps(chosen, vectors)
        right = np.concatenate([loads.ravel(), -np.einsum("kij,kj->ki", by_edge, moved).ravel()])
        found = _solve(chosen.rows, chosen.columns, self._last, right)
        if found is None:
            return
        loads[:] = found[: 6 * free].reshape(free, 6)
        self._push(chosen, -np.einsum("kij,ki->kj", by_edge, found[6 * free :].reshape(-1, 6)), vectors)

    def _edge_steps(self, chosen: Selection, vectors: Sequence[Array] | None = None) -> Array:
        """(K, 7) of the tied edges, by vectors or the blocks' step vectors."""
        out = np.zeros((len(chosen.ties), 7))
        for number, rods in chosen.rods:
            block, samples = self._blocks[number], self._samples[number]
            block.sample_steps(rods, block.step_vector() if vectors is None else vectors[number], samples)
            own = np.flatnonzero(self._places.block[chosen.ties] == number)
            out[own] = self._gather(samples, chosen.ties[own])
        return out

    def _gather(self, samples: Array, ties: Ints) -> Array:
        row, after = self._places.row[ties], self._places.after[ties]
        return np.concatenate([samples[row, :3], samples[after, :3], samples[row, 3:]], axis=1)

    def _responses(self, chosen: Selection, number: int, pair: Ints, own: Ints) -> Array:
        """(P, 7, 7) how the first edge of each pair moves when the second is pushed."""
        block, places = self._blocks[number], self._places
        out = np.zeros((len(pair), 7, 7))
        ties = chosen.ties[own]
        local = np.searchsorted(own, pair)
        if isinstance(block, EdgeResponses):
            block.responses(places.rod[ties], places.row[ties], places.after[ties], local, out)
            return out
        rods = np.unique(places.rod[ties])
        rank = np.zeros(len(own), dtype=np.int64)  # of a tie among those of its rod
        for rod in rods:
            of_rod = np.flatnonzero(places.rod[ties] == rod)
            rank[of_rod] = np.arange(len(of_rod))
        for turn in range(int(rank.max()) + 1):
            pushed = np.flatnonzero(rank == turn)
            answering = np.flatnonzero(rank[local[:, 1]] == turn)
            for coordinate in range(7):
                unit = np.zeros((len(pushed), 7))
                unit[:, coordinate] = 1.0
                vector = self._pushed(number, rods, ties[pushed], unit)
                block.sample_steps(rods, vector, self._samples[number])
                out[answering, :, coordinate] = self._gather(self._samples[number], ties[local[answering, 0]])
        return out

    def _pushed(self, number: int, rods: Ints, ties: Ints, forces: Array) -> Array:
        """The generalized motion of rods whose tied edges are pushed with forces (K, 7)."""
        block, samples, vector = self._blocks[number], self._samples[number], self._vectors[number]
        samples[:] = 0.0
        self.spread(samples, ties, forces)
        block.generalized_pushes(rods, samples, vector)
        block.solve_linearised(rods, vector)
        return vector

    def spread(self, samples: Array, ties: Ints, forces: Array) -> None:
        """Adds forces (K, 7) on edges to those on sample points (N, 4)."""
        row, after = self._places.row[ties], self._places.after[ties]
        np.add.at(samples, (row[:, None], np.arange(3)), forces[:, :3])
        np.add.at(samples, (after[:, None], np.arange(3)), forces[:, 3:6])
        np.add.at(samples[:, 3], row, forces[:, 6])

    def _push(self, chosen: Selection, forces: Array, vectors: Sequence[Array] | None = None) -> None:
        """The vectors, or the blocks' step vectors, with more forces (K, 7) on the tied edges."""
        for number, rods in chosen.rods:
            own = np.flatnonzero(self._places.block[chosen.ties] == number)
            if not len(own):
                continue
            vector = self._pushed(number, rods, chosen.ties[own], forces[own])
            block = self._blocks[number]
            step = block.step_vector() if vectors is None else vectors[number]
            for begin, end in block.generalized_ranges[rods].reshape(-1, 2).tolist():
                step[begin:end] += vector[begin:end]


def _solve(rows: Ints, columns: Ints, values: Array, right: Array) -> Array | None:
    size = len(right)
    if size <= LARGEST_DENSE:
        matrix, found = np.zeros((size, size)), right.copy()
        matrix[rows, columns] = values
        if not solve_general(matrix, size, found):
            return None
    else:
        from scipy.sparse import csc_matrix
        from scipy.sparse.linalg import splu

        try:
            found = splu(csc_matrix((values, (rows, columns)), shape=(size, size))).solve(right)
        except RuntimeError:  # it is singular
            return None
    return found if bool(np.all(np.isfinite(found))) else None
