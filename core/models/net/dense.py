"""The matrix of a net, whole: for small vibrations, stability, and tests. Not for stepping."""

from __future__ import annotations

import numpy as np

from ...errors import Array
from .arrays import Nets


def dense_matrix(n: Nets, r: int) -> Array:
    """The matrix of net r as it stands among the values, unfactored, in the order of its unknowns."""
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
