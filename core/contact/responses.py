"""Responses of rods to forces at contacts: columns of A⁻¹ Jᵀ, from which the Delassus operator J A⁻¹ Jᵀ is made.

They are kept in sample space: the response of a rod to a force at one of its edges is a displacement (n, 4) of its n sample points,
x y z and rotation of the edge after each. So all models look the same, and the Jacobian of a contact has two sample points a side.
A rod with few contacts has three columns for each of them. One with many has the whole inverse, a column for each coordinate of its
sample points: this takes less memory, and the responses to all its contacts are sums of the same columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy import bool_, float32, int64
from numpy.typing import NDArray

from ..compile.jit import kernel, part
from ..errors import Array
from ..models.protocol import ContactResponses, ModelBlock
from .arrays import Contacts, Flags, Ints

Singles = NDArray[float32]
DIRECTIONS = 3  # of a contact: normal and two tangents
WHOLE = np.eye(4, 7)  # loads of the whole inverse: x y z of the start of an edge, and its rotation
WHOLE_FROM = 1.0  # columns of contacts per coordinate of a rod's sample points, from which on it has the whole inverse


class Loads(NamedTuple):
    """Contacts as forces on edges."""

    load: Array  # (C, 2, 3, 7) Jacobian of gap and two slips in x y z of the start of an edge, its rotation, x y z of its end
    rod: Ints  # (C, 2) rods of the sides, numbered through all blocks; -1: none, or one that does not move
    start: Ints  # (C, 2) where the responses of a side begin in `column`; of a rod with the whole inverse: where that begins
    matrix: Array  # (C, 6) diagonal block of the Delassus operator: nn, n1, 11, n2, 12, 22


def make_loads(capacity: int) -> Loads:
    return Loads(
        np.zeros((capacity, 2, DIRECTIONS, 7)),
        np.full((capacity, 2), -1, int64),
        np.zeros((capacity, 2), int64),
        np.zeros((capacity, 6)),
    )


class Columns(NamedTuple):
    """Responses of rods, by which sweeps know how a force moves the sample points."""

    first: Ints  # (R,) first sample point of each rod
    size: Ints  # (R,) number of its sample points
    whole: Flags  # (R,) it has the whole inverse
    # All columns, one after the other. Sweeps are limited by memory, and by how much a force is corrected, not by round-off.
    column: Singles


class Responses:
    """The responses of all active rods to the contacts at hand."""

    def __init__(self, blocks: Sequence[ModelBlock], rows: Sequence[slice], rods: Sequence[slice], after: Ints) -> None:
        """`rows` and `rods` are the sample points and rods of each block among all."""
        self._blocks, self._rows, self._rods, self._after = blocks, rows, rods, after
        first = [block.sample_start[:-1] + part.start for block, part in zip(blocks, rows, strict=True)]
        size = np.concatenate([np.diff(block.sample_start) for block in blocks])
        self.columns = Columns(np.concatenate(first), size, np.zeros(len(size), bool_), np.zeros(0, float32))
        self._forces = np.zeros((len(after), 4))

    def compute(self, contacts: Contacts, count: int, loads: Loads) -> None:
        """Computes the columns, and the matrices of `loads`."""
        _, size, whole, _ = self.columns
        rod, start = loads.rod[:count].ravel(), loads.start[:count].ravel()
        side = np.flatnonzero(rod >= 0)
        number = np.bincount(rod[side], minlength=len(size))
        whole[:] = DIRECTIONS * number > WHOLE_FROM * 4 * size
        inverse = np.cumsum(np.where(whole, (4 * size) ** 2, 0)) - np.where(whole, (4 * size) ** 2, 0)
        total = int(np.sum(((4 * size) ** 2)[whole]))
        few = side[~whole[rod[side]]]
        lengths = 4 * DIRECTIONS * size[rod[few]]
        start[side] = inverse[rod[side]]
        start[few] = total + np.cumsum(lengths) - lengths
        total += int(lengths.sum())
        if len(self.columns.column) < total:
            self.columns = self.columns._replace(column=np.zeros(total + total // 2, float32))
        few = few[np.argsort(rod[few], kind="stable")]
        edge, load = contacts.edge[:count].ravel(), loads.load[:count].reshape(-1, DIRECTIONS, 7)
        self._fill(rod[few], edge[few], load[few], start[few])
        self._fill_whole(inverse)
        diagonal_blocks(count, contacts.edge, self._after, loads, self.columns)

    def _fill_whole(self, inverse: Ints) -> None:
        first, size, whole, _ = self.columns
        rods = np.flatnonzero(whole)
        if not len(rods):
            return
        rod = np.repeat(rods, size[rods])
        number = np.arange(len(rod)) - np.repeat(np.cumsum(size[rods]) - size[rods], size[rods])
        edge = first[rod] + number
        # The last sample point of an open rod has no edge: it is the end of the edge before.
        last = self._after[edge] < 0
        load = np.where(last[:, None, None], np.roll(WHOLE, 4, axis=1) * (np.arange(4) < DIRECTIONS)[:, None], WHOLE)
        self._fill(rod, edge - last, load, inverse[rod] + number * 4 * 4 * size[rod])

    def _fill(self, rod: Ints, edge: Ints, load: Array, start: Ints) -> None:
        """Columns of rods (K,), sorted, under loads (K, L, 7) on edges, from `start` on."""
        bounds = np.searchsorted(rod, [of.start for of in self._rods] + [self._rods[-1].stop])
        for number, block in enumerate(self._blocks):
            mine = slice(bounds[number], bounds[number + 1])
            if bounds[number] == bounds[number + 1]:
                continue
            of = (rod[mine] - self._rods[number].start, edge[mine] - self._rows[number].start, load[mine], start[mine])
            if isinstance(block, ContactResponses):
                block.contact_responses(*of, self.columns.column)
            else:
                self._one_by_one(block, self._rows[number], *of)

    def _one_by_one(self, block: ModelBlock, rows: slice, rod: Ints, edge: Ints, load: Array, start: Ints) -> None:
        """For any model, by solves of all its rods at once: the first column of each rod, then the second, ..."""
        after = self._after[rows][edge] - rows.start
        begin = np.flatnonzero(np.concatenate([[True], rod[1:] != rod[:-1]]))
        rank = np.arange(len(rod)) - np.repeat(begin, np.diff(np.append(begin, len(rod))))
        forces, moved = self._forces[rows], np.zeros((len(block.positions()), 4))
        x = np.zeros(block.generalized_size)
        for k in range(int(rank.max()) + 1):
            mine = np.flatnonzero(rank == k)
            for d in range(load.shape[1]):
                forces[:] = 0.0
                forces[edge[mine]] += load[mine, d, :4]
                forces[after[mine], :3] += load[mine, d, 4:]
                block.generalized_pushes(rod[mine], forces, x)
                block.solve_linearised(rod[mine], x)
                block.sample_steps(rod[mine], x, moved)
                put_columns(block.sample_start, rod[mine], start[mine], d, moved, self.columns.column)


@kernel
def put_columns(sample_start: Ints, chosen: Ints, start: Ints, d: int, moved: Array, column: Singles) -> None:
    """Copies displacements (N, 4) of rods to their column d."""
    for m in range(len(chosen)):
        first, end = sample_start[chosen[m]], sample_start[chosen[m] + 1]
        at = start[m] + d * 4 * (end - first)
        for i in range(first, end):
            for c in range(4):
                column[at] = moved[i, c]
                at += 1


@kernel
def diagonal_blocks(count: int, edge: Ints, after: Ints, loads: Loads, columns: Columns) -> None:
    load, rod, matrix = loads.load, loads.rod, loads.matrix
    for k in range(count):
        for m in range(6):
            matrix[k, m] = 0.0
        for side in range(2):
            for other in range(2):
                if rod[k, side] >= 0 and rod[k, other] == rod[k, side]:
                    _add_products(load[k, side], load[k, other], edge[k, side], edge[k, other], after, rod[k, side],
                                  loads.start[k, other], columns, matrix[k])  # fmt: skip


@part
def _add_products(
    a: Array, b: Array, e: int, o: int, after: Ints, r: int, start: int, columns: Columns, matrix: Array
) -> None:
    """Adds a A⁻¹ bᵀ to a diagonal block; a and b (3, 7) act on edges e and o of rod r."""
    first, n, column = columns.first[r], 4 * columns.size[r], columns.column
    at_e, at_f = 4 * (e - first), 4 * (after[e] - first)
    at_o, at_p = 4 * (o - first), 4 * (after[o] - first)
    m = 0
    for i in range(3):
        for j in range(i + 1):
            value = 0.0
            if not columns.whole[r]:
                value = _product(a, i, column, start + j * n, at_e, at_f)
            else:
                for c in range(4):
                    value += b[j, c] * _product(a, i, column, start + (at_o + c) * n, at_e, at_f)
                for c in range(3):
                    value += b[j, 4 + c] * _product(a, i, column, start + (at_p + c) * n, at_e, at_f)
            matrix[m] += value
            m += 1


@part
def _product(a: Array, i: int, column: Singles, at: int, e: int, f: int) -> float:
    value = 0.0
    for c in range(4):
        value += a[i, c] * column[at + e + c]
    for c in range(3):
        value += a[i, 4 + c] * column[at + f + c]
    return value


@part
def add_response(
    load: Array, e: int, f: int, r: int, start: int, columns: Columns, x: float, y: float, z: float, w: Singles
) -> None:
    """Moves the sample points of rod r, w (4 N,), by its response to a change (x, y, z) of a force on the edge from e to f."""
    first, n, column = columns.first[r], 4 * columns.size[r], columns.column
    to = 4 * first
    if not columns.whole[r]:
        _add_columns(column, start, n, x, y, z, w, to)
        return
    for half in range(2):
        at = start + (e - first if half == 0 else f - first) * 4 * n
        c = 0 if half == 0 else 4
        _add_columns(
            column, at, n, x * load[0, c] + y * load[1, c] + z * load[2, c],
            x * load[0, c + 1] + y * load[1, c + 1] + z * load[2, c + 1],
            x * load[0, c + 2] + y * load[1, c + 2] + z * load[2, c + 2], w, to,
        )  # fmt: skip
    turn = float32(y * load[1, 3] + z * load[2, 3])
    if turn != 0.0:
        at = start + (e - first) * 4 * n + 3 * n
        into, one = w[to : to + n], column[at : at + n]
        for u in range(n):
            into[u] += turn * one[u]


@part
def _add_columns(column: Singles, at: int, n: int, x: float, y: float, z: float, w: Singles, to: int) -> None:
    """Adds three columns of length n, times x, y and z. Single precision and slices, which have no negative indices: so the loop
    is compiled to vector instructions, which is most of the speed of the sweeps."""
    into, one, two, three = (
        w[to : to + n],
        column[at : at + n],
        column[at + n : at + 2 * n],
        column[at + 2 * n : at + 3 * n],
    )
    a, b, c = float32(x), float32(y), float32(z)
    for u in range(n):
        into[u] += a * one[u] + b * two[u] + c * three[u]
