"""Responses of rods to forces on their edges, many at a time: right-hand sides lie side by side in vector registers."""

from __future__ import annotations

from ...compile.jit import kernel, part
from ...errors import Array, Flags, Ints
from ...maths.linalg.bordered_band import HALF_WIDTH
from .arrays import Arrays, Graph, System
from .band import solve_band

LANES = 24  # right-hand sides at once


@kernel
def respond_to_loads(
    n: Arrays, rod: Ints, edge: Ints, after: Ints, load: Array, start: Ints, x: Array, lanes: Array, out: Array,
    begin: int, stop: int,
) -> None:  # fmt: skip
    """See `ContactResponses` in `models/protocol.py`; `after` (K,) are the ends of the edges.

    x (n,) and lanes (n, LANES) are scratch."""
    graph, system, held = n.graph, n.system, n.material.held
    most = LANES // load.shape[1]
    k = begin
    while k < stop:
        r = rod[k]
        last = k + 1
        while last < stop and rod[last] == r and last - k < most:
            last += 1
        if graph.closed[r]:
            last = k + 1
            _one_edge(graph, held, system, r, edge[k], after[k], load[k], x, out, start[k])
        else:
            _edges(graph, held, system, r, edge, after, load, k, last, lanes, out, start)
        k = last


@part
def _one_edge(
    graph: Graph, held: Flags, system: System, r: int, e: int, f: int, load: Array, x: Array, out: Array, start: int
) -> None:
    first, end = graph.unknowns[r], graph.unknowns[r + 1]
    for d in range(len(load)):
        for i in range(first, end):
            x[i] = 0.0
        for c in range(4):
            x[4 * e + c] += load[d, c]
        for c in range(3):
            x[4 * f + c] += load[d, 4 + c]
        solve_band(graph, held, system, r, x)
        at = start + d * (end - first) - first
        for i in range(first, end):
            out[at + i] = x[i]


@part
def _edges(
    graph: Graph, held: Flags, system: System, r: int, edge: Ints, after: Ints, load: Array, begin: int, stop: int,
    lanes: Array, out: Array, start: Ints,
) -> None:  # fmt: skip
    first, band, loads = graph.unknowns[r], system.band, load.shape[1]
    n = graph.unknowns[r + 1] - first
    for i in range(n):
        for m in range(LANES):
            lanes[i, m] = 0.0
    lowest = n
    for k in range(begin, stop):
        e, f, m = 4 * edge[k] - first, 4 * after[k] - first, loads * (k - begin)
        lowest = min(lowest, e)
        for d in range(loads):
            for c in range(4):
                lanes[e + c, m + d] = load[k, d, c]
            for c in range(3):
                lanes[f + c, m + d] = load[k, d, 4 + c]
    for i in range(lowest, n):
        if held[first + i]:
            for m in range(LANES):
                lanes[i, m] = 0.0
    for i in range(lowest, n):
        for s in range(1, min(HALF_WIDTH, n - 1 - i) + 1):
            factor = band[first + i, s]
            for m in range(LANES):
                lanes[i + s, m] -= factor * lanes[i, m]
    for i in range(n - 1, -1, -1):
        inverse = 1.0 / band[first + i, 0]
        for m in range(LANES):
            lanes[i, m] *= inverse
        for s in range(1, min(HALF_WIDTH, n - 1 - i) + 1):
            factor = band[first + i, s]
            for m in range(LANES):
                lanes[i, m] -= factor * lanes[i + s, m]
    for k in range(begin, stop):
        for d in range(loads):
            at, m = start[k] + d * n, loads * (k - begin) + d
            for i in range(n):
                out[at + i] = lanes[i, m]
