"""Which rod edges may touch each other, and which colliders, within a substep: overlaps of boxes."""

from __future__ import annotations

import numpy as np
from numpy import bool_, int32, int64

from ..compile.workers import Workers
from ..errors import Array
from . import broad_phase_query as query
from . import broad_phase_tree as trees
from .arrays import Flags, Ints, Samples
from .broad_phase_query import never_touch
from .broad_phase_tree import LANES, MOST_LEVELS, SAMPLE, Tree, make_tree

__all__ = ["BroadPhase", "Tree", "make_tree", "never_touch"]

# Per box (WRITE: per pair), in the unit in which Workers tell whether threads are worth their while.
BUILD_EFFORT = 1 / 64
QUERY_EFFORT = 1 / 4
WRITE_EFFORT = 1 / 256

OWN = -1  # the shelf for pairs of edges
ROOM = 1024  # pairs there is room for at first


class BroadPhase:
    """Boxes of all edges, and what overlaps them. Boxes that just touch overlap.

    Owns all arrays, which grow as needed: what a query returns is on a shelf until the next query that uses the same one.
    Results are the same for any number of threads.
    """

    def __init__(self) -> None:
        self.looked = 0  # how many groups of sixteen boxes the last query compared with a box
        self._edge_count = 0
        self._edges = make_tree(0)
        self._others = make_tree(0)
        self._kin = query.make_kin(0)
        self._scratch = np.zeros((4, SAMPLE))
        self._nodes = np.zeros((0, MOST_LEVELS, 2), int64)  # of each piece of work
        self._found: list[Ints] = []  # by each piece of work
        self._row = np.zeros(0, int64)
        self._column = np.zeros(0, int64)
        self._numbers = np.zeros((2, 0), int32)
        self._shelves: dict[int, Ints] = {}

    def build(self, low: Array, high: Array, valid: Flags, workers: Workers) -> None:
        """From the boxes of all edges. Those that aren't valid, or have a NaN, overlap nothing."""
        self._edge_count = len(low)
        if len(low) > len(self._edges.number):
            self._edges = make_tree(_roomy(len(low)))
            self._kin = query.make_kin(_roomy(len(low)))
        trees.gather(low, high, valid, self._edges, self._scratch)
        _raise_tree(low, high, self._edges, workers)

    def self_pairs(self, samples: Samples, workers: Workers) -> tuple[Ints, int]:
        """(P, 2) edges i < j that overlap, sorted, and P; without those of one rod that share a point or `never_touch`."""
        query.look_up_kin(self._edges, samples, self._kin)
        counts = self._find(self._edges, True, samples, workers)
        return self._sorted(counts, self._edge_count, OWN, workers)

    def pairs_with(self, low: Array, high: Array, workers: Workers, shelf: int = 0) -> tuple[Ints, int]:
        """(P, 2) edge and other box that overlap, sorted, and P."""
        if len(low) > len(self._others.number):
            self._others = make_tree(_roomy(len(low)))
        trees.gather_near(low, high, self._edges, self._others)
        _raise_tree(low, high, self._others, workers)
        counts = self._find(self._others, False, NO_SAMPLES, workers)
        return self._sorted(counts, len(low), shelf, workers)

    def _find(self, tree: Tree, within: bool, samples: Samples, workers: Workers) -> list[int]:
        """Fills self._found and returns how many pairs each piece of work has found."""
        pieces = workers.most_pieces
        if len(self._nodes) < pieces:
            self._nodes = np.zeros((pieces, MOST_LEVELS, 2), int64)
        while len(self._found) < pieces:
            self._found.append(np.zeros(ROOM, int64))
        counts, looked = [0] * pieces, [0] * pieces

        def find(first: int, last: int, piece: int) -> None:
            while True:
                found = self._found[piece]
                counts[piece], looked[piece] = query.find_pairs(
                    first, last, tree, self._edges, within, samples, self._kin, self._nodes[piece], found
                )
                if counts[piece] <= len(found):
                    break
                self._found[piece] = np.zeros(_roomy(counts[piece]), int64)

        boxes = int(tree.boxes[0])
        workers.run(find, -(-boxes // LANES), int(boxes * QUERY_EFFORT))
        self.looked = sum(looked)
        return counts

    def _sorted(self, counts: list[int], columns: int, shelf: int, workers: Workers) -> tuple[Ints, int]:
        """Sorts by the second number, then by the first: in linear time, however many pairs one box has."""
        total, rows = sum(counts), self._edge_count
        if len(self._row) < rows:
            self._row = np.zeros(_roomy(rows), int64)
        if len(self._column) < columns:
            self._column = np.zeros(_roomy(columns), int64)
        if self._numbers.shape[1] < total:
            self._numbers = np.zeros((2, _roomy(total)), int32)
        if shelf not in self._shelves or len(self._shelves[shelf]) < total:
            self._shelves[shelf] = np.zeros((_roomy(total), 2), int64)
        row, column, pairs = self._row[:rows], self._column[:columns], self._shelves[shelf]
        firsts, seconds = self._numbers
        row[:], column[:] = 0, 0
        some = [(found, count) for found, count in zip(self._found, counts, strict=False) if count]
        for found, count in some:
            query.tally(found, count, row, column)
        query.start(row)
        query.start(column)
        for found, count in some:
            query.put_by_column(found, count, column, firsts)
        query.put_by_row(firsts, column, row, seconds)

        def write(first: int, last: int, _: int) -> None:
            query.write_pairs(first, last, row, seconds, pairs)

        workers.run(write, rows, int(total * WRITE_EFFORT))
        return pairs[:total], total


NO_SAMPLES = Samples(
    start=np.zeros((0, 3)),
    now=np.zeros((0, 3)),
    after=np.zeros(0, int64),
    last=np.zeros(0, bool_),
    rod=np.zeros(0, int64),
    along=np.zeros(0),
    length=np.zeros(0),
    radius=np.zeros(0),
    friction=np.zeros(0),
)


def _roomy(count: int) -> int:
    """So that arrays don't grow a little in every substep."""
    return count + count // 4


def _raise_tree(low: Array, high: Array, tree: Tree, workers: Workers) -> None:
    """From a list of boxes and a grid to a tree."""
    boxes = int(tree.boxes[0])
    effort = int(boxes * BUILD_EFFORT)
    workers.run(lambda first, last, _: trees.make_keys(low, high, tree, first, last), boxes, effort)
    side = trees.sort(tree)
    leaves = -(-boxes // LANES)
    workers.run(lambda first, last, _: trees.fill_leaves(low, high, tree, side, first, last), leaves, effort)
    trees.fill_nodes(tree)
