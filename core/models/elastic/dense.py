"""The matrix of a rod or net, whole: for small vibrations, stability, and tests. Not for stepping."""

from __future__ import annotations

import numpy as np

from ...compile.jit import kernel
from ...errors import Array
from ...maths.linalg.bordered_band import BORDER, HALF_WIDTH
from .arrays import Arrays, Scratch
from .band import place
from .evaluate import evaluate
from .geometry import update_geometry

FOREVER = 1e30  # a step so long that inertia and damping have no part in the potential


@kernel
def lay_at(n: Arrays, q: Array) -> bool:
    """Moves all nets to q (n,), frames carried from their base, and computes their geometry there. False if that of one can't
    be."""
    good = True
    for r in range(len(n.graph.chain)):
        for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
            n.state.q[k] = q[k]
        if not update_geometry(n.graph, n.material, n.geometry, n.state, r):
            good = False
    return good


@kernel
def potential_here(n: Arrays, scratch: Scratch, h: float, exact: bool) -> float:
    """The potential of a stage of length h where the nets are, with gradient and matrix, unfactored; tensions are those of the
    lengths."""
    total, kind = 0.0, 1.0 if exact else 0.0
    for r in range(len(n.graph.chain)):
        for j in range(n.graph.edges[r], n.graph.edge_end[r]):
            n.geometry.tension[j] = n.material.stretch[j] * n.geometry.stretch[j]
        total += evaluate(
            n.graph, n.material, n.forces, n.stage, n.geometry, n.state, n.system, n.pattern, scratch, r, h, kind
        )
    return total


def dense_matrix(n: Arrays, r: int) -> Array:
    """The matrix of net r as it stands, unfactored, in the order of its unknowns."""
    return _from_band(n, r) if n.graph.chain[r] else _from_fronts(n, r)


def _from_band(n: Arrays, r: int) -> Array:
    first, end = int(n.graph.unknowns[r]), int(n.graph.unknowns[r + 1])
    closed, system, size = bool(n.graph.closed[r]), n.system, end - first
    inner = size - BORDER if closed else size
    full = np.zeros((size, size))
    for c in range(inner):
        reach = min(HALF_WIDTH, inner - 1 - c) + 1
        full[c : c + reach, c] = system.band[first + c, :reach]
        if closed:
            full[inner:, c] = system.border[first + c]
    if closed:
        full[inner:, inner:] = np.tril(system.corner[r])
    full = full + np.tril(full, -1).T
    order = [place(k, size, closed) for k in range(size)]
    return np.asarray(full[np.ix_(order, order)])


def _from_fronts(n: Arrays, r: int) -> Array:
    p = n.pattern
    first, end = int(n.graph.unknowns[r]), int(n.graph.unknowns[r + 1])
    start = int(p.first[p.net[r]])
    full = np.zeros((end - first, end - first))
    for s in range(int(p.net[r]), int(p.net[r + 1])):
        own = np.arange(p.first[s], p.first[s + 1])
        rows = np.concatenate([own, p.rows[p.below[s] : p.below[s + 1]]]) - start
        panel = n.system.values[p.panel[s] : p.panel[s + 1]].reshape(len(own), len(rows))
        for c, column in enumerate(own - start):
            full[rows[c:], column] = panel[c, c:]
    full = full + np.tril(full, -1).T
    order = p.place[first:end] - start
    return np.asarray(full[np.ix_(order, order)])
