"""The matrix of a rod: a band, or for a closed rod a band with a border (see `maths/linalg/bordered_band.py`).

Rows and columns are unknowns in the order x0 theta0 x1 theta1 ... Unknowns of rod r begin at row `unknowns[r]` of the band.
`fronts.py` has the same functions for nets, and `matrix.py` chooses between them.
"""

from __future__ import annotations

from ...compile.jit import kernel, part
from ...compile.lanes import Numbers, Truth, take_lane
from ...errors import Array, Flags, Ints
from ...forces.air import has_drag
from ...maths.linalg.bordered_band import (
    BORDER,
    COLUMN,
    HALF_WIDTH,
    factor,
    factor_bordered,
    solve,
    solve_bordered,
)
from ...maths.linalg.selected_inverse import invert_within
from .arrays import Arrays, Forces, Graph, Material, System
from .element import ENERGY, GRADIENT, LOCAL, PLACE


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
    band: Array, border: Array, corner: Array, first: int, n: int, closed: bool, r: int, row: int, column: int,
    value: float,
) -> None:  # fmt: skip
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
def clear(graph: Graph, system: System, r: int) -> None:
    band, border, corner = system.band, system.border, system.corner
    first, end = graph.unknowns[r], graph.unknowns[r + 1]
    for row in range(first, end):
        for c in range(COLUMN):
            band[row, c] = 0.0
    if graph.closed[r]:
        for row in range(first, end):
            for c in range(BORDER):
                border[row, c] = 0.0
        for c in range(BORDER):
            for s in range(BORDER):
                corner[r, c, s] = 0.0


@part
def add_inertia(graph: Graph, material: Material, forces: Forces, system: System, r: int, h: float) -> None:
    """Masses, and what drag and spin lose."""
    first, end, closed = graph.unknowns[r], graph.unknowns[r + 1], graph.closed[r]
    n, v0 = end - first, graph.vertices[r]
    band, border, corner, mass, drag = system.band, system.border, system.corner, material.mass, forces.drag
    rate = forces.drag_rate[r]
    ih = 1.0 / h
    hh = ih * ih
    if closed:
        for k in range(n):
            add_entry(band, border, corner, first, n, True, r, k, k, mass[first + k] * hh)
    else:
        for k in range(first, end):
            band[k, 0] += mass[k] * hh
    for i in range(v0, graph.vertices[r + 1]):
        if not has_drag(drag, i):
            continue
        k = 4 * (i - v0)
        m = 0
        for c in range(3):
            for s in range(c + 1):
                add_entry(band, border, corner, first, n, closed, r, k + c, k + s, drag[i, m] * ih)
                m += 1
        brake = mass[first + k + 3] * rate * ih
        add_entry(band, border, corner, first, n, closed, r, k + 3, k + 3, brake)


@part
def add_lanes(
    edge_a: Ints, edge_b: Ints, middle: Ints, head: Ints, gradient: Array, band: Array, border: Array, corner: Array,
    lanes: Array, filled: int, first: int, n: int, closed: bool, r: int,
) -> Numbers:  # fmt: skip
    """Adds what element_lanes computed to gradient and matrix; returns the energy. Lanes say in PLACE which element they hold.
    Unknowns of the rod begin at `first` and are n. A vertex has the number of the edge that begins there."""
    energy = 0.0
    like = gradient[0]
    for lane in range(filled):
        energy += take_lane(lanes, ENERGY, lane, like)
        e = int(lanes[PLACE, lane])
        a, b = edge_a[e], edge_b[e]
        i = 4 * middle[e]
        if a >= 0:
            p = 4 * a
            for c in range(3):
                g = take_lane(lanes, GRADIENT + c, lane, like)
                gradient[p + c] -= g
                gradient[i + c] += g
            gradient[p + 3] += take_lane(lanes, GRADIENT + 3, lane, like)
        if b >= 0:
            f = 4 * head[b]
            for c in range(3):
                g = take_lane(lanes, GRADIENT + 4 + c, lane, like)
                gradient[i + c] -= g
                gradient[f + c] += g
            gradient[i + 3] += take_lane(lanes, GRADIENT + 7, lane, like)
        start = i - first - 4
        if closed or a < 0 or b < 0:
            low, high = 0 if a >= 0 else 4, 11 if b >= 0 else 7
            at = LOCAL
            for c in range(11):
                for s in range(c, 11):
                    if c >= low and s < high:
                        value = take_lane(lanes, at, lane, like)
                        add_entry(band, border, corner, first, n, closed, r, start + s, start + c, value)
                    at += 1
        else:
            k = first + start  # written out for the compiler, which then knows how long each loop is
            _add_column(band, k, lanes, LOCAL, 11, lane)
            _add_column(band, k + 1, lanes, LOCAL + 11, 10, lane)
            _add_column(band, k + 2, lanes, LOCAL + 21, 9, lane)
            _add_column(band, k + 3, lanes, LOCAL + 30, 8, lane)
            _add_column(band, k + 4, lanes, LOCAL + 38, 7, lane)
            _add_column(band, k + 5, lanes, LOCAL + 45, 6, lane)
            _add_column(band, k + 6, lanes, LOCAL + 51, 5, lane)
            _add_column(band, k + 7, lanes, LOCAL + 56, 4, lane)
            _add_column(band, k + 8, lanes, LOCAL + 60, 3, lane)
            _add_column(band, k + 9, lanes, LOCAL + 63, 2, lane)
            _add_column(band, k + 10, lanes, LOCAL + 65, 1, lane)
    return energy


@part
def _add_column(band: Array, k: int, lanes: Array, at: int, count: int, lane: int) -> None:
    for s in range(count):
        band[k, s] += take_lane(lanes, at + s, lane, band[k, s])


@part
def add_edges(graph: Graph, system: System, stiffness: Array, touched: Flags, r: int) -> None:
    """Adds stiffness (E, 28) of x theta x of edges that are touched, lower triangle by rows."""
    first, closed = graph.unknowns[r], graph.closed[r]
    n, e0 = graph.unknowns[r + 1] - first, graph.edges[r]
    band, border, corner = system.band, system.border, system.corner
    for j in range(e0, graph.edges[r + 1]):
        if not touched[j]:
            continue
        k = 4 * (j - e0)
        m = 0
        for row in range(7):
            for column in range(row + 1):
                value = stiffness[j, m]
                m += 1
                if closed:
                    add_entry(band, border, corner, first, n, True, r, (k + row) % n, (k + column) % n, value)
                else:
                    band[first + k + column, row - column] += value


@part
def enlarge_diagonal(graph: Graph, system: System, r: int, factor: float) -> None:
    """Makes the diagonal of the positions larger by a factor."""
    first, closed = graph.unknowns[r], graph.closed[r]
    n = graph.unknowns[r + 1] - first
    inner = n - BORDER if closed else n
    for i in range(0, n, 4):
        for s in range(3):
            k = place(i + s, n, closed)
            if k < inner:
                system.band[first + k, 0] += factor * abs(system.band[first + k, 0])
            else:
                system.corner[r, k - inner, k - inner] += factor * abs(system.corner[r, k - inner, k - inner])


@part
def factor_band(graph: Graph, held: Flags, system: System, r: int) -> Truth:
    """Takes the held unknowns out of the matrix and factors it. False if it is not positive definite."""
    first, end, closed = graph.unknowns[r], graph.unknowns[r + 1], graph.closed[r]
    band, border, corner = system.band, system.border, system.corner
    n = end - first
    inner = n - BORDER if closed else n
    for unknown in range(n):
        if not held[first + unknown]:
            continue
        k = place(unknown, n, closed)
        if k >= inner:
            k -= inner
            for s in range(BORDER):
                corner[r, max(k, s), min(k, s)] = 0.0
            corner[r, k, k] = 1.0
            for s in range(inner):
                border[first + s, k] = 0.0
        else:
            for s in range(1, HALF_WIDTH + 1):
                band[first + k, s] = 0.0
                if k >= s:
                    band[first + k - s, s] = 0.0
            band[first + k, 0] = 1.0
            if closed:
                for s in range(BORDER):
                    border[first + k, s] = 0.0
    if closed:
        return factor_bordered(band, border, corner[r], first, n)
    return factor(band, first, n)


@part
def solve_band(graph: Graph, held: Flags, system: System, r: int, x: Array) -> None:
    """Solves with the factored matrix, in place; x is (n,)."""
    first, end = graph.unknowns[r], graph.unknowns[r + 1]
    n = end - first
    for k in range(first, end):
        if held[k]:
            x[k] = 0.0
    if not graph.closed[r]:
        solve(system.band, first, n, x)
        return
    ordered = system.ordered
    for k in range(n):
        ordered[first + place(k, n, True)] = x[first + k]
    solve_bordered(system.band, system.border, system.corner[r], first, n, ordered)
    for k in range(n):
        x[first + k] = ordered[first + place(k, n, True)]


@kernel
def probe_rods(n: Arrays, scratch: System, chosen: Ints, mobility: Array, begin: int, stop: int) -> None:
    """mobility (V, 6): how far a force on each vertex moves it within the step, xx yx yy zx zy zz, by the rod's factored matrix."""
    graph, system, held = n.graph, n.system, n.material.held
    z, z_border, z_corner = scratch.band, scratch.border, scratch.corner
    for at in range(begin, stop):
        r = chosen[at]
        first, closed = graph.unknowns[r], graph.closed[r]
        size = graph.unknowns[r + 1] - first
        inner = size - BORDER if closed else size
        invert_within(
            system.band, system.border, system.corner[r if closed else 0], first, size, closed, z, z_border,
            z_corner[0],
        )  # fmt: skip
        for i in range(graph.vertices[r], graph.vertices[r + 1]):
            x = graph.x[i]
            m = 0
            for s in range(3):
                for t in range(s + 1):
                    a, b = place(x - first + s, size, closed), place(x - first + t, size, closed)
                    a, b = max(a, b), min(a, b)
                    if a < inner:
                        value = z[b, a - b]
                    elif b < inner:
                        value = z_border[b, a - inner]
                    else:
                        value = z_corner[0, a - inner, b - inner]
                    mobility[i, m] = 0.0 if held[x] else value
                    m += 1
