"""How rods are strained, for whoever wants to show it."""

from __future__ import annotations

import numpy as np

from ...errors import Array
from .arrays import Block, Ints


def edge_strains(b: Block, one: Ints, two: Ints) -> Array:
    """(E, 3) stretch, bending (1/m) and twist (rad/m) of the curve in the middle of edges from sample `one` to sample `two`,
    beyond those of the natural shape. Nothing stretches."""
    rod = np.searchsorted(b.samples.start, one, side="right") - 1
    begin, end = (b.samples.element[k] + b.samples.fraction[k] for k in (one, two))
    first, last = b.nodes.element_start[rod], b.nodes.element_start[rod + 1]
    middle = 0.5 * (begin + end)
    element = np.clip(np.floor(middle).astype(np.int64), first, last - 1)
    node, at = b.nodes.start[rod] + element - first, (middle - element)[:, None]
    beyond = b.state.kappa - b.state.natural
    found = (1.0 - at) * beyond[node] + at * beyond[node + b.rods.degree[rod]]
    return np.stack([np.zeros(len(one)), np.linalg.norm(found[:, 1:], axis=1), found[:, 0]], axis=1)
