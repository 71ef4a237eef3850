"""The stiffness matrix of a rod, whole: for small vibrations, stability, and tests. Not for stepping."""

from __future__ import annotations

import numpy as np

from ...errors import Array
from ...linalg.bordered_band import BORDER, HALF_WIDTH
from .arrays import Arrays
from .assemble import place
from .evaluate import evaluate, update_geometry
from .stepping import measure_rods

FOREVER = 1e30  # a step so long that inertia and damping have no part in the potential


def stiffness_matrix(b: Arrays, rod: int, lanes: Array) -> Array:
    """Second derivatives (4 n, 4 n) of the elastic energy in x y z theta of each vertex, at the state as it is."""
    measure_rods(b, rod, rod + 1)  # makes the state the base of frames
    update_geometry(b.rods, b.frames, b.geometry, b.state.q, rod)
    b.geometry.tension[:] = b.rods.stretch * b.geometry.stretch
    evaluate(b.rods, b.frames, b.forces, b.stage, b.geometry, b.system, b.state.q, rod, FOREVER, lanes, True)
    return dense_matrix(b, rod)


def dense_matrix(b: Arrays, rod: int) -> Array:
    """The rod's matrix as it stands in band, border and corner, in the order of the unknowns."""
    first, n = 4 * int(b.rods.start[rod]), 4 * int(b.rods.start[rod + 1] - b.rods.start[rod])
    closed = bool(b.rods.closed[rod])
    inner = n - BORDER if closed else n
    full = np.zeros((n, n))
    for c in range(inner):
        reach = min(HALF_WIDTH, inner - 1 - c) + 1
        full[c : c + reach, c] = b.system.band[first + c, :reach]
        if closed:
            full[inner:, c] = b.system.border[first + c]
    if closed:
        full[inner:, inner:] = np.tril(b.system.corner[rod])
    full = full + np.tril(full, -1).T
    order = [place(k, n, closed) for k in range(n)]
    return np.asarray(full[np.ix_(order, order)])
