"""Coupling of rods and rigid bodies (Bergou et al. 2008, section 8): index arrays for the kernels.

A welded edge moves with its body: both vertices and the material frame follow the body. A swivel ties both vertices and leaves
the frame free, a ball ties one vertex. Rods and bodies that are connected form an assembly, which is stepped as a whole. Bodies
are coupled by the rods between them, so that the matrix of an assembly's bodies is sparse with a constant pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy import bool_, int64
from numpy.typing import NDArray

from ....contact.bodies.block import BodyBlock
from ....contact.bodies.explicit import Bodies, explicit_bodies, groups_of, starts
from ....describe.attachment import Attachment
from ....describe.scene import Entry
from ....errors import Array, Ints
from ....maths.linalg.sparse_factor import Pattern
from ....maths.linalg.sparse_order import Finder, analyse, dissect, stack_size
from ...elastic.rods import RodArrays
from .arrays import Chain


class Ties(NamedTuple):
    """Vertices that follow bodies."""

    vertex: Ints  # (T,) row of the block
    body: Ints  # (T,)
    point: Array  # (T, 3) m, relative to the centre of mass, in body coordinates
    # (T,) the edge whose length depends on the body's motion; -1: none, both of its vertices are tied or held
    edge: Ints
    sign: Array  # (T,) 1 if the vertex is the end of that edge, -1 if it is its start
    reach: Array  # (T, 6) derivative of the edge's constraint with respect to the body's motion
    answer: Array  # (T,) entries of the inverse of a rod's constraint matrix


class Welds(NamedTuple):
    """Edges whose material frame follows a body."""

    node: Ints  # (F,) node of the chain
    edge: Ints  # (F,) row of the block
    rod: Ints  # (F,)
    body: Ints  # (F,)
    director: Array  # (F, 3) first material director, in body coordinates


class Assemblies(NamedTuple):
    """Assemblies, as ranges of the lists."""

    rods: Ints  # (A + 1,) of rod
    bodies: Ints  # (A + 1,) of body
    welds: Ints  # (A + 1,) of Welds
    rod: Ints
    body: Ints
    tie_of_rod: Ints  # (R + 1,) of Ties, per rod of the block
    place: Ints  # (T, T', 6, 6) entries of pairs of ties of one rod in the matrix, see `pair`
    pair: Ints  # (T + 1,) first pair of each tie, followed by those with all ties of the same rod
    own: Ints  # (B, 6, 6) entries of a body's diagonal block


class Carried(NamedTuple):
    bodies: Bodies
    ties: Ties
    welds: Welds
    assemblies: Assemblies
    pattern: Pattern  # of the matrices of the assemblies' bodies
    values: Array
    stack: Array
    order: Array  # right-hand sides in elimination order
    response: Array  # (N,) multipliers of the edges
    tension: Array  # (N,) N, of the edges


def _vertices(one: Attachment, entry: Entry) -> tuple[int, ...]:
    first, last = entry.rod.ends(one.edge)
    if one.kind != "ball":
        return (first, last)
    return (first,) if one.at == 0.0 else (last,)


def can_carry(
    entries: Sequence[Entry], attachments: Sequence[tuple[int, Attachment]], held: NDArray[bool_], start: Ints
) -> bool:
    """Whether connected rods can be stepped as published: they have no internal damping, balls are at ends of rods, and there
    is a free vertex between any two tied or held (N,) parts."""
    carried: dict[tuple[int, int], int] = {}
    for rod, one in attachments:
        described = entries[rod].rod
        if described.damping_time > 0.0 or (one.kind == "ball" and one.at not in (0.0, 1.0)):
            return False
        for vertex in _vertices(one, entries[rod]):
            if (rod, vertex) in carried or held[int(start[rod]) + vertex]:
                return False
            if one.kind == "ball" and not described.is_end(vertex):
                return False
            carried[rod, vertex] = one.body
    for (rod, vertex), body in carried.items():
        described = entries[rod].rod
        n = described.vertex_count
        for other in (vertex - 1, vertex + 1):
            if described.closed or 0 <= other < n:
                near = (rod, other % n)
                if held[int(start[rod]) + other % n] or carried.get(near, body) != body:
                    return False
    return True


def with_carried_held(
    b: RodArrays, entries: Sequence[Entry], attachments: Sequence[tuple[int, Attachment]]
) -> RodArrays:
    """The same rods and state, with all tied vertices and frames held."""
    held, framed = b.rods.held.copy(), b.rods.edge_framed.copy()
    for rod, one in attachments:
        first = int(b.rods.start[rod])
        for vertex in _vertices(one, entries[rod]):
            held[first + vertex, :3] = True
        if one.kind == "weld":
            held[first + one.edge, 3] = True
            framed[first + one.edge] = True
    return b._replace(rods=b.rods._replace(held=held, edge_framed=framed))


def carry(
    b: RodArrays,
    chain: Chain,
    entries: Sequence[Entry],
    attachments: Sequence[tuple[int, Attachment]],
    block: BodyBlock,
) -> Carried:
    ties, of_rod = _ties(b, entries, attachments, block)
    welds_at = [(rod, one) for rod, one in attachments if one.kind == "weld"]
    groups = groups_of(len(entries), block, attachments)
    group_of_rod = {rod: k for k, (rods, _) in enumerate(groups) for rod in rods}
    welds_at.sort(key=lambda pair: group_of_rod[pair[0]])
    edges = np.array([int(b.rods.start[rod]) + one.edge for rod, one in welds_at], int64)
    node_of_edge = {int(edge): k for k, edge in enumerate(chain.edge) if edge >= 0}
    body = np.array([one.body for _, one in welds_at], int64)
    directors = np.einsum("fji,fj->fi", block.state.rotation[body], b.state.m1[edges]).reshape(-1, 3)
    welds = Welds(
        np.array([node_of_edge[int(edge)] for edge in edges], int64), edges,
        np.array([rod for rod, _ in welds_at], int64), body, directors,
    )  # fmt: skip
    free = ~block.kinematic
    nets = []
    neighbours: list[set[int]] = [set() for _ in range(len(block))]
    for rod in range(len(entries)):
        here = {int(k) for k in ties.body[of_rod[rod] : of_rod[rod + 1]] if free[k]}
        for k in here:
            neighbours[k] |= here - {k}
    for _, members in groups:
        moving = [k for k in members if free[k]]
        number = {k: i for i, k in enumerate(moving)}
        near = [{number[other] for other in neighbours[k]} for k in moving]
        unknowns = [list(range(6 * k, 6 * k + 6)) for k in moving]
        nets.append((unknowns, near, dissect(near, block.state.x[moving])))
    pattern, _ = analyse(nets, 6 * len(block))
    place, pair = _places(ties, of_rod, free, Finder(pattern))
    unknown = np.where(free[:, None], 6 * np.arange(len(block))[:, None] + np.arange(6), -1)
    own = Finder(pattern).entries(np.repeat(unknown[:, :, None], 6, axis=2), np.repeat(unknown[:, None, :], 6, axis=1))
    assemblies = Assemblies(
        starts([rods for rods, _ in groups]), starts([members for _, members in groups]),
        starts([[w for w in welds_at if group_of_rod[w[0]] == k] for k in range(len(groups))]),
        np.array([rod for rods, _ in groups for rod in rods], int64),
        np.array([k for _, members in groups for k in members], int64),
        of_rod, place, pair, own,
    )  # fmt: skip
    return Carried(
        explicit_bodies(block), ties, welds, assemblies, pattern, np.zeros(int(pattern.panel[-1])),
        np.zeros(stack_size(pattern)), np.zeros(6 * len(block)), np.zeros(len(b.state.q)),
        np.zeros(len(b.state.q)),
    )  # fmt: skip


def _ties(
    b: RodArrays, entries: Sequence[Entry], attachments: Sequence[tuple[int, Attachment]], block: BodyBlock
) -> tuple[Ties, Ints]:
    rows = sorted((rod, vertex, one.body) for rod, one in attachments for vertex in _vertices(one, entries[rod]))
    edge, sign = [], []
    for rod, vertex, _ in rows:
        described, first = entries[rod].rod, int(b.rods.start[rod])
        n = described.vertex_count
        found = (-1, 0.0)
        for other, begin, s in ((vertex - 1, vertex - 1, 1.0), (vertex + 1, vertex, -1.0)):
            if (described.closed or 0 <= other < n) and not b.rods.held[first + other % n, 0]:
                found = (first + begin % n, s)
        edge.append(found[0])
        sign.append(found[1])
    vertices = np.array([int(b.rods.start[rod]) + vertex for rod, vertex, _ in rows], int64)
    of_body = np.array([row[2] for row in rows], int64)
    arm = b.state.q[vertices, :3] - block.state.x[of_body]
    point = np.einsum("tji,tj->ti", block.state.rotation[of_body], arm).reshape(-1, 3)
    of_rod = np.searchsorted(np.array([row[0] for row in rows], int64), np.arange(len(entries) + 1))
    count = len(rows)
    return (
        Ties(vertices, of_body, point, np.array(edge, int64), np.array(sign), np.zeros((count, 6)), np.zeros(count)),
        of_rod.astype(int64),
    )


def _places(ties: Ties, of_rod: Ints, free: NDArray[bool_], finder: Finder) -> tuple[Ints, Ints]:
    """For each tie, the matrix entries of its 36-entry blocks with all ties of the same rod; and the start of each tie's pairs."""
    first, pairs = [0], []
    for rod in range(len(of_rod) - 1):
        here = range(int(of_rod[rod]), int(of_rod[rod + 1]))
        for k in here:
            pairs += [(k, other) for other in here]
            first.append(len(pairs))
    a, b = (np.array([pair[side] for pair in pairs], int64) for side in range(2))

    def unknowns(tie: Ints) -> Ints:
        body = ties.body[tie]
        return np.where(free[body][:, None], 6 * body[:, None] + np.arange(6), -1)

    rows = np.repeat(unknowns(a)[:, :, None], 6, axis=2)
    columns = np.repeat(unknowns(b)[:, None, :], 6, axis=1)
    return finder.entries(rows, columns), np.array(first, int64)
