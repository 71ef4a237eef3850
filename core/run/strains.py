"""Strains of rods and nets per edge: stretch, tension, bending and twist.

By default they are computed from positions and directors, the same for all models. Blocks with the capability `MeasuresStrains`
compute their own: joints of nets have frames of their own, the tension of inextensible rods is a constraint force, and curved
elements are more accurate than the straight edges between their points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..describe.model import model_names, model_record
from ..describe.rod import Rod
from ..describe.scene import Entry, RodId
from ..errors import Array, Flags, TendrilError
from ..models.alteration import Factors, strain_factors
from ..models.protocol import Balances, Breaks, MeasuresStrains, ModelBlock
from .frame import Place

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Strains:
    """Strains at the moment they were read, per edge in the order of the rod's edges."""

    _blocks: tuple[Array, ...] = field(repr=False)  # per block: (E, 3) stretch, bending, twist
    _tension: tuple[Array | None, ...] = field(repr=False)  # per block: (E,) N
    _places: Sequence[Place] = field(repr=False)  # per rod
    _broken: tuple[Flags | None, ...] = field(repr=False, default=())  # per block: (E,), None if its rods can't break

    def stretch(self, rod: RodId) -> Array:
        """(m,) elongation of an edge relative to its rest length."""
        return self._column(rod, 0)

    def bending(self, rod: RodId) -> Array:
        """(m,) 1/m: norm of the difference of curvature from that of the natural shape."""
        return self._column(rod, 1)

    def twist(self, rod: RodId) -> Array:
        """(m,) rad/m relative to the natural shape, right-handed about the edge. Modulo a turn between consecutive edges, except
        where the block measures it."""
        return self._column(rod, 2)

    def tension(self, rod: RodId) -> Array:
        """(m,) N, negative in compression. For inextensible models it is the constraint force of the last step. Raises TendrilError
        for models that do not know it."""
        place = self._places[rod]
        tension = self._tension[place.block]
        if tension is None:
            known = model_names(lambda record: record.tension != "unknown")
            raise TendrilError("rod", rod, f"its model does not know the tension: models that do are {known}")
        return tension[place.first_edge : place.end_edge]

    def knows_tension(self, rod: RodId) -> bool:
        """Whether the tension is known."""
        return self._tension[self._places[rod].block] is not None

    def broken(self, rod: RodId) -> Flags:
        """(m,) whether an edge is broken."""
        place = self._places[rod]
        broken = self._broken[place.block]
        if broken is None:
            return np.zeros(place.end_edge - place.first_edge, np.bool_)
        return broken[place.first_edge : place.end_edge]

    def of_rods(self, first: RodId, count: int) -> tuple[Array, Array]:
        """Tension and twist of all edges of `count` rods that were added consecutively to one model. Unknown tension is zero."""
        place = self._places[first]
        edges = slice(place.first_edge, self._places[first + count - 1].end_edge)
        tension, twist = self._tension[place.block], self._blocks[place.block][edges, 2]
        return (np.zeros(len(twist)) if tension is None else tension[edges]), twist

    def _column(self, rod: RodId, column: int) -> Array:
        place = self._places[rod]
        return self._blocks[place.block][place.first_edge : place.end_edge, column]


class NaturalShape:
    """The natural shape of all rods of a block, with which their strains are compared."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        from ..models.elastic.build_rods import shapes_of_rod  # late: many simulations never read strains

        self.tail, self.head = _ends(entries)
        self.rest_length = np.concatenate([entry.rod.rest_lengths for entry in entries])
        self.stretching = np.concatenate([entry.rod.stretch for entry in entries])
        self.elements = _elements(entries)
        a, b = self.elements.T
        self._length = 0.5 * (self.rest_length[a] + self.rest_length[b])
        counts = np.bincount(self.elements.ravel(), minlength=len(self.tail))
        self._share = 1.0 / np.maximum(counts, 1.0)
        self._rest = np.zeros((len(a), 5))
        first = 0
        for entry in entries:
            if not isinstance(entry.rod, Rod):
                continue
            rest = shapes_of_rod(entry.rod)[1]
            count = entry.rod.edge_count if entry.rod.closed else entry.rod.edge_count - 1
            here = slice(first, first + count)
            if rest is not None:
                local = _pairs(entry.rod.edge_count, entry.rod.closed)
                self._rest[here] = _angles(rest.tangents, rest.directors, local)
            self._rest[here, 4] += entry.rod.rest_twist * self._length[here]
            first += count
        self._described = self.rest_length.copy(), self._rest.copy()

    def set_lengths(self, lengths: Array) -> None:
        """Replaces the described rest lengths (E,): a sag-free rod is stretched as drawn."""
        self.rest_length[:] = self._described[0][:] = lengths

    def alter(self, edges: slice, factors: Factors) -> None:
        self.rest_length[edges] = self._described[0][edges] * factors.length
        mine = (self.elements[:, 0] >= edges.start) & (self.elements[:, 0] < edges.stop)
        self._rest[mine] = self._described[1][mine] * strain_factors(factors)
        self._length[mine] = 0.5 * self.rest_length[self.elements[mine]].sum(axis=1)

    def measure(self, x: Array, directors: Array) -> Array:
        """(E, 3) stretch, bending, twist of edges, from vertices x and the edges' directors."""
        edges = x[self.head] - x[self.tail]
        lengths = np.linalg.norm(edges, axis=1)
        out = np.zeros((len(lengths), 3))
        out[:, 0] = lengths / self.rest_length - 1.0
        if len(self.elements):
            t = edges / np.maximum(lengths, 1e-300)[:, None]
            bent = _angles(t, directors, self.elements) - self._rest
            turn = (bent[:, 4] + np.pi) % (2.0 * np.pi) - np.pi
            self._to_edges(np.sqrt(0.5 * (bent[:, :4] ** 2).sum(axis=1)) / self._length, out[:, 1])
            self._to_edges(turn / self._length, out[:, 2])
        return out

    def _to_edges(self, values: Array, out: Array) -> None:
        """Adds to each edge the mean of the elements at its two ends."""
        for side in range(2):
            out += np.bincount(self.elements[:, side], values, len(out))
        out *= self._share


class StrainGauge:
    """Reads the strains of a simulation."""

    def __init__(
        self, entries: Sequence[Sequence[Entry]], places: Sequence[Place], blocks: Sequence[ModelBlock]
    ) -> None:
        """`entries` are those of each block."""
        self._naturals = [NaturalShape(of_block) for of_block in entries]
        for natural, of_block, block in zip(self._naturals, entries, blocks, strict=True):
            if any(entry.sag_free for entry in of_block) and isinstance(block, Balances):
                natural.set_lengths(block.rest_lengths())
        self._tension = [model_record(of_block[0].model).tension for of_block in entries]
        self._places = places

    def alter(self, rod: RodId, factors: Factors) -> None:
        """A rod was changed by `Simulation.alter`."""
        place = self._places[rod]
        self._naturals[place.block].alter(slice(place.first_edge, place.end_edge), factors)

    def read(self, blocks: Sequence[ModelBlock], samples: Sequence[tuple[Array, Array]]) -> Strains:
        """`samples` are positions of vertices and directors of edges, per block."""
        found: list[Array] = []
        tensions: list[Array | None] = []
        for block, natural, tension, (x, directors) in zip(blocks, self._naturals, self._tension, samples, strict=True):
            if tension == "block" and isinstance(block, MeasuresStrains):
                found.append(block.strains())
                tensions.append(block.tension())
            else:
                found.append(natural.measure(x, directors))
                tensions.append(natural.stretching * found[-1][:, 0] if tension == "stretch" else None)
        broken = tuple(block.broken_edges().copy() if isinstance(block, Breaks) else None for block in blocks)
        return Strains(tuple(found), tuple(tensions), self._places, broken)


def _ends(entries: Sequence[Entry]) -> tuple[Ints, Ints]:
    tails, heads, start = [], [], 0
    for entry in entries:
        rod = entry.rod
        if isinstance(rod, Rod):
            tail = np.arange(rod.edge_count)
            ends = np.stack([tail, (tail + 1) % rod.vertex_count], axis=1)
        else:
            ends = rod.edges
        tails.append(start + ends[:, 0])
        heads.append(start + ends[:, 1])
        start += rod.vertex_count
    return np.concatenate(tails), np.concatenate(heads)


def _elements(entries: Sequence[Entry]) -> Ints:
    """(L, 2) pairs of consecutive edges of rods."""
    found, start = [np.zeros((0, 2), np.int64)], 0
    for entry in entries:
        if isinstance(entry.rod, Rod):
            found.append(start + _pairs(entry.rod.edge_count, entry.rod.closed))
        start += entry.rod.edge_count
    return np.concatenate(found)


def _pairs(edges: int, closed: bool) -> Ints:
    first = np.arange(edges if closed else edges - 1)
    return np.stack([first, (first + 1) % edges], axis=1)


def _angles(t: Array, d1: Array, elements: Ints) -> Array:
    """(L, 5) rad, of pairs of edges: curvature in the frame of the first edge (2) and of the second (2), and twist."""
    a, b = elements.T
    ta, tb, da, db = t[a], t[b], d1[a], d1[b]
    chi = np.maximum(1.0 + np.einsum("ij,ij->i", ta, tb), 1e-12)
    axis = np.cross(ta, tb)
    bend = 2.0 * axis / chi[:, None]
    # The director of a, parallel-transported to b.
    carried = np.einsum("ij,ij->i", ta, tb)[:, None] * da + np.cross(axis, da)
    carried += (np.einsum("ij,ij->i", axis, da) / chi)[:, None] * axis
    twist = np.arctan2(np.einsum("ij,ij->i", np.cross(carried, db), tb), np.einsum("ij,ij->i", carried, db))
    across = (np.cross(ta, da), -da, np.cross(tb, db), -db)
    return np.stack([*(np.einsum("ij,ij->i", bend, d) for d in across), twist], axis=1)
