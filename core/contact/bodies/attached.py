"""Where attachments are among the sample points of rods, and which rods and bodies hang together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...describe.attachment import Attachment
from ...describe.model import model_record
from ...describe.scene import Entry, Scene
from ...errors import Array
from ...maths.geometry.frames import transport, turn
from ...models.protocol import EdgeDirectors, IterateDirectors, ModelBlock, edge_rows, takes_stages
from .block import BodyBlock
from .ties import Ties

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

CONDITIONS = {"ball": 3, "swivel": 5, "weld": 6}
INWARD = 1e-3  # of an edge: a point of it that is beside its end belongs to no other edge


class Places(NamedTuple):
    """Of the attachments: the edge after a sample point of a block."""

    block: Ints  # (A,)
    rod: Ints  # (A,) its number in the block
    row: Ints  # (A,) the sample point, a row of the block
    after: Ints  # (A,) where the edge ends
    shown: Ints  # (A,) the row at which the block shows its first director


class Assemblies(NamedTuple):
    """Rods and bodies that hang together have the same number."""

    number: int  # how many
    of_body: Ints  # (B,)
    of_rod: list[Ints]  # per block (R,); -1: nothing is attached to it
    of_tie: Ints  # (A,)


def find_places(scene: Scene, blocks: Sequence[ModelBlock], rods: Sequence[tuple[int, int]]) -> tuple[Places, Array]:
    """`rods` are block and number there of each rod. Also where on the edges the attachments are (A,)."""
    found = [_place(one, scene, blocks, rods) for one in scene.attachments]
    columns = np.array([place for place, _ in found], dtype=np.int64).reshape(-1, 5).T
    return Places(*columns), np.array([at for _, at in found])


def _place(
    one: Attachment, scene: Scene, blocks: Sequence[ModelBlock], rods: Sequence[tuple[int, int]]
) -> tuple[tuple[int, int, int, int, int], float]:
    number, k = rods[one.rod]
    block = blocks[number]
    described = scene.entries[one.rod].rod
    first, last = (described.points[vertex] for vertex in described.ends(one.edge))
    inside = min(max(one.at, INWARD), 1.0 - INWARD)
    rows = np.arange(int(block.sample_start[k]), int(block.sample_start[k + 1]))
    after = block.edges().after
    rows = rows[after[rows] >= 0]
    start, end = block.positions()[rows], block.positions()[after[rows]]
    nearest, _ = _nearest(first + inside * (last - first), start, end)
    row = int(rows[nearest])
    _, at = _nearest(first + one.at * (last - first), start[nearest : nearest + 1], end[nearest : nearest + 1])
    of_block = [entry for (other, _), entry in zip(rods, scene.entries, strict=True) if other == number]
    before = sum(entry.rod.edge_count for entry in of_block[:k])
    shown = int(edge_rows(block, of_block)[before + one.edge])
    return (number, k, row, int(after[row]), shown), at


def _nearest(point: Array, start: Array, end: Array) -> tuple[int, float]:
    """Of edges the nearest to a point, and where on it."""
    edge = end - start
    at = np.clip(np.einsum("ij,ij->i", point - start, edge) / np.einsum("ij,ij->i", edge, edge), 0.0, 1.0)
    distance = np.linalg.norm(start + at[:, None] * edge - point, axis=1)
    k = int(np.argmin(distance))
    return k, float(at[k])


def make_ties(
    attachments: Sequence[Attachment], bodies: BodyBlock, edges: tuple[Array, Array, Array], at: Array
) -> Ties:
    """`edges` are start, end and director of each attachment's edge at the start."""
    start, end, director = edges
    count = len(attachments)
    point, frame = np.zeros((count, 3)), np.zeros((count, 3, 3))
    length = np.linalg.norm(end - start, axis=1)
    for k, one in enumerate(attachments):
        back = bodies.state.rotation[one.body].T
        t = (end[k] - start[k]) / length[k]
        d = np.array(transport(tuple(director[k]), tuple(t), tuple(t)))
        point[k] = one.point - bodies.center[one.body]
        frame[k] = back @ d, back @ np.cross(t, d), back @ t
    body = np.array([one.body for one in attachments], dtype=np.int64)
    conditions = np.array([CONDITIONS[one.kind] for one in attachments], dtype=np.int64)
    return Ties(body, conditions, at, point, frame, length)


def find_assemblies(places: Places, ties: Ties, blocks: Sequence[ModelBlock], bodies: BodyBlock) -> Assemblies:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    first = np.concatenate([[0], np.cumsum([len(block.sample_start) - 1 for block in blocks])]).astype(np.int64)
    nodes = len(bodies) + int(first[-1])
    rods = len(bodies) + first[places.block] + places.rod
    # What is led pulls nothing along: rods on one kinematic body do not feel each other.
    tied = ~bodies.kinematic[ties.body]
    graph = coo_matrix((np.ones(int(tied.sum())), (ties.body[tied], rods[tied])), shape=(nodes, nodes))
    _, label = connected_components(graph, directed=False)
    meant = np.concatenate([np.arange(len(bodies)), rods])
    used, numbers = np.unique(label[meant], return_inverse=True)
    of = np.full(nodes, -1, dtype=np.int64)
    of[meant] = numbers
    of_rod = [of[len(bodies) + first[k] : len(bodies) + first[k + 1]] for k in range(len(blocks))]
    return Assemblies(len(used), of[: len(bodies)], of_rod, of[rods])


def supports(assemblies: Assemblies, blocks: Sequence[ModelBlock], scheme: str) -> Flags:
    """(count,) whether all rods of an assembly can take the stages of a scheme of second order."""
    found = np.ones(assemblies.number, dtype=np.bool_)
    for block, numbers in zip(blocks, assemblies.of_rod, strict=True):
        if not takes_stages(block, scheme):
            found[numbers[numbers >= 0]] = False
    return found


def softened(scene: Scene) -> list[Entry]:
    """The scene's rods, where an end that is fixed to a body bends and twists over its whole last edge.

    The frame of an edge is that of its middle, and between that and the end nothing can bend once the edge is fixed to a body. So
    what is beyond the middle goes into the element at the edge's other end, and results are second order in segment length.
    Clothoids know their frames everywhere: they are told where bodies are, and have a very short edge there."""
    entries = list(scene.entries)
    for one in scene.attachments:
        entry = entries[one.rod]
        rod = entry.rod
        if model_record(entry.model).attachment_samples:
            entries[one.rod] = replace(entry, tied=(*entry.tied, (one.edge, one.at)))
            continue
        vertex = rod.ends(one.edge)[round(one.at)]
        inside = one.at not in (0.0, 1.0) or not rod.is_end(vertex)
        if one.kind == "ball" or inside or rod.edge_count == 1:
            continue
        bend, twist = rod.bend.copy(), rod.twist_stiffness.copy()
        bend[one.edge] *= 0.5
        if one.kind == "weld":
            twist[one.edge] *= 0.5
        entries[one.rod] = replace(entry, rod=replace(rod, bend=bend, twist_stiffness=twist))
    return entries


class Edges:
    """The attachments' edges at the iterate."""

    def __init__(self, places: Places, blocks: Sequence[ModelBlock]) -> None:
        self._places, self._blocks = places, blocks
        self.start, self.end, self.director = (np.zeros((len(places.row), 3)) for _ in range(3))
        self._begin = np.zeros((2, len(places.row), 3))  # tangent and director where the step began
        self._of_block = [np.flatnonzero(places.block == number) for number in range(len(blocks))]

    def begin(self) -> None:
        """The state is where the step begins."""
        for block, which in zip(self._blocks, self._of_block, strict=True):
            if len(which):
                x = block.positions()
                edge = x[self._places.after[which]] - x[self._places.row[which]]
                self._begin[0, which] = edge / np.linalg.norm(edge, axis=1)[:, None]
                row, shown = self._places.row[which], self._places.shown[which]
                directors = block.edge_directors(row) if isinstance(block, EdgeDirectors) else block.directors()[shown]
                self._begin[1, which] = directors

    def fetch(self, ties: Ints | None = None) -> None:
        """Where the edges are: those of ties of which a coupled step has begun at this iterate of it; all of them in the state."""
        begun = ties is not None
        for block, of_block in zip(self._blocks, self._of_block, strict=True):
            which = of_block if ties is None else np.intersect1d(of_block, ties)
            if not len(which):
                continue
            x, row, after = block.positions(), self._places.row[which], self._places.after[which]
            self.start[which], self.end[which] = x[row], x[after]
            if isinstance(block, EdgeDirectors):
                self.director[which] = block.edge_directors(row)
                continue
            if begun and isinstance(block, IterateDirectors):
                self.director[which] = block.directors_now(row)
                continue
            turns = block.turns()[row] if begun else np.zeros(len(which))
            for k, angle in zip(which.tolist(), turns.tolist(), strict=True):
                edge = self.end[k] - self.start[k]
                t = tuple(edge / max(float(np.linalg.norm(edge)), 1e-300))
                carried = transport(tuple(self._begin[1, k]), tuple(self._begin[0, k]), t)
                self.director[k] = turn(carried, t, angle)
