"""Strains of explicit nets for display."""

from __future__ import annotations

import numpy as np

from ....errors import Array
from .arrays import Arrays
from .stepping import strains_of_elements


def strains_of_segments(b: Arrays) -> Array:
    """(E, 3) stretch, bending (1/m) and twist (rad/m) relative to the natural shape: for bending and twist the mean over the
    orientation elements of a segment."""
    nets, state = b.nets, b.state
    count = len(nets.tail)
    out = np.zeros((count, 3))
    out[:, 0] = np.linalg.norm(state.r[nets.head] - state.r[nets.tail], axis=1) / nets.length - 1.0
    u = np.zeros((len(nets.a), 3))
    strains_of_elements(b, u)
    u = u / nets.reach[:, None] - nets.rest
    number = np.zeros(count)
    for ends in (nets.a, nets.b):
        real = ends < count  # the others are prescribed frames
        out[:, 1] += np.bincount(ends[real], np.hypot(u[real, 0], u[real, 1]), count)
        out[:, 2] += np.bincount(ends[real], u[real, 2], count)
        number += np.bincount(ends[real], minlength=count)
    out[:, 1:] /= np.maximum(number, 1.0)[:, None]
    return out
