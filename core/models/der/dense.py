"""The stiffness matrix of a rod, whole: for small vibrations, stability, and tests. Not for stepping."""

from __future__ import annotations

import numpy as np

from ...compile.jit import kernel
from ...errors import Array
from ...maths.linalg.bordered_band import BORDER, HALF_WIDTH
from .arrays import Arrays
from .assemble import place
from .evaluate import evaluate, update_geometry
from .stepping import lay_out

FOREVER = 1e30  # a step so long that inertia and damping have no part in the potential


@kernel
def lay_at(bench: Arrays, q: Array) -> bool:
    """Moves the rod on the workbench to q (n, 4), frames carried from their base, and computes its geometry there; or all rods of
    a block, where there is room for that. False if that of one can't be."""
    good = True
    for r in range(len(bench.rods.closed)):
        for i in range(bench.rods.start[r], bench.rods.start[r + 1]):
            for c in range(4):
                bench.state.q[i, c] = q[i, c]
        if not update_geometry(bench.rods, bench.frames, bench.geometry, bench.state.q, r):
            good = False
    return good


@kernel
def potential_here(bench: Arrays, h: float, lanes: Array, exact: bool) -> float:
    """The potential of a stage of length h where the rod is, with gradient and matrix; tensions are those of its lengths."""
    for i in range(bench.rods.start[1]):
        bench.geometry.tension[i] = bench.rods.stretch[i] * bench.geometry.stretch[i]
    return evaluate(
        bench.rods, bench.frames, bench.forces, bench.stage, bench.geometry, bench.system, bench.state.q,
        0, h, lanes, exact,
    )  # fmt: skip


def stiffness_matrix(b: Arrays, bench: Arrays, rod: int, lanes: Array) -> Array:
    """Second derivatives (4 n, 4 n) of the elastic energy in x y z theta of each vertex, at the state as it is."""
    lay_out(b, bench, rod)
    potential_here(bench, FOREVER, lanes, True)
    return dense_matrix(bench)


def dense_matrix(bench: Arrays) -> Array:
    """The matrix of the rod on the workbench as it stands in band, border and corner, in the order of the unknowns."""
    n = 4 * int(bench.rods.start[1])
    closed, system = bool(bench.rods.closed[0]), bench.system
    inner = n - BORDER if closed else n
    full = np.zeros((n, n))
    for c in range(inner):
        reach = min(HALF_WIDTH, inner - 1 - c) + 1
        full[c : c + reach, c] = system.band[c, :reach]
        if closed:
            full[inner:, c] = system.border[c]
    if closed:
        full[inner:, inner:] = np.tril(system.corner[0])
    full = full + np.tril(full, -1).T
    order = [place(k, n, closed) for k in range(n)]
    return np.asarray(full[np.ix_(order, order)])
