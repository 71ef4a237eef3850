"""Newton's system, put together: where unknowns stand in the matrix, and how elements are added to it."""

from __future__ import annotations

from ...compile.jit import kernel, part
from ...errors import Array
from ...maths.linalg.bordered_band import BORDER, COLUMN
from .arrays import Rods, System
from .element import ENERGY, GRADIENT, HIGH, LANES, LOCAL, LOW, PLACE


@kernel
def place(k: int, n: int, closed: bool) -> int:
    """Where a rod's k-th unknown stands in its matrix. On a closed rod the order begins with theta of the first edge, so that
    just the last seven, x theta x around the seam, couple out of the band."""
    if not closed:
        return k
    k -= 3
    if k < 0:
        return k + n
    return k - n if k >= n else k


@part
def add_entry(
    band: Array,
    border: Array,
    corner: Array,
    first: int,
    n: int,
    closed: bool,
    r: int,
    row: int,
    column: int,
    value: float,
) -> None:
    """Adds to one entry of the rod's matrix; row and column are numbers of unknowns."""
    if not closed:
        band[first + column, row - column] += value
        return
    inner = n - BORDER
    i, j = place(row, n, True), place(column, n, True)
    i, j = max(i, j), min(i, j)
    if i < inner:
        band[first + j, i - j] += value
    elif j < inner:
        border[first + j, i - inner] += value
    else:
        corner[r, i - inner, j - inner] += value


@part
def clear_system(rods: Rods, system: System, r: int) -> None:
    first, end = rods.start[r], rods.start[r + 1]
    gradient, band, border, corner = system.gradient, system.band, system.border, system.corner
    for i in range(first, end):
        for c in range(4):
            gradient[i, c] = 0.0
    for row in range(4 * first, 4 * end):
        for c in range(COLUMN):
            band[row, c] = 0.0
    if rods.closed[r]:
        for row in range(4 * first, 4 * end):
            for c in range(BORDER):
                border[row, c] = 0.0
        for c in range(BORDER):
            for s in range(BORDER):
                corner[r, c, s] = 0.0


@part
def scatter_lanes(system: System, lanes: Array, filled: int, first: int, end: int, closed: bool, r: int) -> float:
    """Adds what element_lanes computed to gradient and matrix; returns the energy."""
    gradient, band, border, corner = system.gradient, system.band, system.border, system.corner
    n = 4 * (end - first)
    energy = 0.0
    for lane in range(filled):
        energy += lanes[ENERGY * LANES + lane]
        i = int(lanes[PLACE * LANES + lane])
        low, high = int(lanes[LOW * LANES + lane]), int(lanes[HIGH * LANES + lane])
        p = i - 1 if i > first else end - 1
        following = i + 1 if i + 1 < end else first
        if low == 0:
            for c in range(3):
                g = lanes[(GRADIENT + c) * LANES + lane]
                gradient[p, c] -= g
                gradient[i, c] += g
            gradient[p, 3] += lanes[(GRADIENT + 3) * LANES + lane]
        if high == 11:
            for c in range(3):
                g = lanes[(GRADIENT + 4 + c) * LANES + lane]
                gradient[i, c] -= g
                gradient[following, c] += g
            gradient[i, 3] += lanes[(GRADIENT + 7) * LANES + lane]
        start = 4 * (i - first) - 4
        at = LOCAL * LANES + lane
        if closed or low != 0 or high != 11:
            for c in range(11):
                for s in range(c, 11):
                    if c >= low and s < high:
                        add_entry(band, border, corner, 4 * first, n, closed, r, start + s, start + c, lanes[at])
                    at += LANES
        else:
            for c in range(11):
                for s in range(11 - c):
                    band[4 * first + start + c, s] += lanes[at]
                    at += LANES
    return energy
