"""Strains of explicit nets for display, in NumPy because they are needed at most once a frame."""

from __future__ import annotations

import numpy as np

from ....errors import Array, Flags, Ints
from .arrays import Nets, State

# B_1, B_2, B_3 of appendix I, as in forces.py.
_B = np.array(
    [
        [[0, 0, 0, 1], [0, 0, 1, 0], [0, -1, 0, 0], [-1, 0, 0, 0]],
        [[0, 0, -1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, -1, 0, 0]],
        [[0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 1], [0, 0, -1, 0]],
    ],
    dtype=np.float64,
)


def strains_of_segments(nets: Nets, state: State) -> Array:
    """(E, 3) stretch, bending (1/m) and twist (rad/m) relative to the natural shape: for bending and twist the mean over the
    orientation elements of a segment. Angles are represented by their sines, as in the model."""
    count = len(nets.tail)
    out = np.zeros((count, 3))
    out[:, 0] = np.linalg.norm(state.r[nets.head] - state.r[nets.tail], axis=1) / nets.length - 1.0
    u = _strains_of_elements(nets, state)
    number = np.zeros(count)
    for ends in (nets.a, nets.b):
        real = ends < count  # the others are prescribed frames
        out[:, 1] += np.bincount(ends[real], np.hypot(u[real, 0], u[real, 1]), count)
        out[:, 2] += np.bincount(ends[real], u[real, 2], count)
        number += np.bincount(ends[real], minlength=count)
    out[:, 1:] /= np.maximum(number, 1.0)[:, None]
    return out


def _strains_of_elements(nets: Nets, state: State) -> Array:
    """(L, 3) u_k of (19) minus the natural strains."""
    a = _end(state.q, nets.a, nets.turned_a)
    b = _end(state.q, nets.b, nets.turned_b)
    cosine, sine = nets.roll.T
    b = cosine[:, None] * b + sine[:, None] * b @ _B[2].T
    u = 2.0 / nets.reach[:, None] * np.einsum("kij,ej,ei->ek", _B, a, b)
    return np.asarray(nets.sign[:, None] * u - nets.rest)


def _end(q: Array, which: Ints, backwards: Flags) -> Array:
    ends = q[which]
    return np.asarray(np.where(backwards[:, None], ends @ _B[0].T, ends))
