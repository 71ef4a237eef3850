"""Coupled steps of explicit nets: a free step is taken, and contact forces then move the points against their mass alone.

The potential is (x - x_free) M (x - x_free) / (2 h^2), with the angle of each segment about its tangent as a further unknown.
Stiffnesses of edges are assembled in a sparse matrix with the pattern of the net.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import bool_, int64
from numpy.typing import NDArray

from ....compile.jit import kernel
from ....errors import Array, Ints
from ....maths.linalg.small import get4, put4
from ....maths.linalg.sparse_factor import Pattern, factor, solve
from ....maths.linalg.sparse_order import Finder, stack_size
from ...elastic.arrays import Graph
from ...elastic.build_nets import make_pattern
from ...elastic.plan import Plan
from .arrays import Arrays
from .forces import turned

MOST_ATTEMPTS = 6


class System(NamedTuple):
    """Linear system in the unknowns x y z of the points, then theta of the segments, net by net."""

    unknowns: Ints  # (R + 1,)
    x: Ints  # (V,) first unknown of a point
    theta: Ints  # (E,)
    free: Array  # (n,) end of the free step
    now: Array  # (n,)
    base: Array  # (n,) start of the last move
    mass: Array  # (n,)
    unit: Array  # (n,) one over the reference length of the unknown
    held: NDArray[bool_]  # (n,)
    gradient: Array  # (n,)
    trial: Array  # (n,)
    ordered: Array  # (n,) in elimination order
    diagonal: Ints  # (n,) matrix entries
    of_edge: Ints  # (E, 28) matrix entries
    values: Array
    stack: Array
    pattern: Pattern


def make_system(b: Arrays, graph: Graph, plans: list[Plan]) -> System:
    """Allocates the system of coupled steps."""
    n = int(graph.unknowns[-1])
    pattern, _ = make_pattern(plans, graph, elements=False)
    finder = Finder(pattern)
    mass, unit, held = np.zeros(n), np.ones(n), np.zeros(n, dtype=np.bool_)
    shortest = np.full(len(graph.x), np.inf)
    for ends in (graph.tail, graph.head):
        np.minimum.at(shortest, ends, b.nets.length)
    for c in range(3):
        mass[graph.x + c], unit[graph.x + c], held[graph.x + c] = b.nets.mass, 1.0 / shortest, b.nets.held
    mass[graph.theta], held[graph.theta] = b.nets.inertia[:, 2], b.nets.framed
    three = np.arange(3)
    of = np.concatenate(
        [graph.x[graph.tail][:, None] + three, graph.theta[:, None], graph.x[graph.head][:, None] + three], axis=1
    )
    of = np.where(held[of], -1, of)
    pairs = [(row, column) for row in range(7) for column in range(row + 1)]
    every = np.arange(n)
    free, now, base, gradient, trial, ordered = (np.zeros(n) for _ in range(6))
    return System(
        unknowns=graph.unknowns,
        x=graph.x,
        theta=graph.theta,
        free=free,
        now=now,
        base=base,
        mass=mass,
        unit=unit,
        held=held,
        gradient=gradient,
        trial=trial,
        ordered=ordered,
        diagonal=finder.entries(every, every),
        of_edge=finder.entries(of[:, [p for p, _ in pairs]], of[:, [p for _, p in pairs]]),
        values=np.zeros(int(pattern.panel[-1])),
        stack=np.zeros(stack_size(pattern)),
        pattern=pattern,
    )


@kernel
def begin_cordes(b: Arrays, s: System, chosen: NDArray[int64]) -> None:
    """Starts a coupled step from the end of the free step."""
    for r in chosen:
        for i in range(b.nets.vertices[r], b.nets.vertices[r + 1]):
            for c in range(3):
                s.free[s.x[i] + c] = b.state.r[i, c]
        for j in range(b.nets.edges[r], b.nets.edges[r + 1]):
            s.free[s.theta[j]] = 0.0
        for k in range(s.unknowns[r], s.unknowns[r + 1]):
            s.now[k] = s.base[k] = s.free[k]


@kernel
def linearise_cordes(
    b: Arrays,
    s: System,
    force: Array,
    stiffness: Array,
    touched: NDArray[bool_],
    chosen: NDArray[int64],
    h: float,
    potential: Array,
) -> None:
    for r in chosen:
        first, end = s.unknowns[r], s.unknowns[r + 1]
        pattern, values = s.pattern, s.values
        good = False
        for attempt in range(MOST_ATTEMPTS):
            for k in range(pattern.panel[pattern.net[r]], pattern.panel[pattern.net[r + 1]]):
                values[k] = 0.0
            energy = 0.0
            for k in range(first, end):
                deviation = s.now[k] - s.free[k]
                pull = s.mass[k] * deviation / (h * h)
                s.gradient[k] = pull - force[k]
                energy += 0.5 * deviation * pull
                values[s.diagonal[k]] += 1.0 if s.held[k] else s.mass[k] / (h * h)
            potential[r] = energy
            for j in range(b.nets.edges[r], b.nets.edges[r + 1]):
                if touched[j]:
                    for m in range(28):
                        values[s.of_edge[j, m]] += stiffness[j, m]
            if attempt > 0:
                for k in range(first, end):
                    values[s.diagonal[k]] += 1e-3 * 10.0**attempt * abs(values[s.diagonal[k]])
            good = factor(pattern, values, s.stack, r)
            if good:
                break
        for k in range(first, end):
            s.trial[k] = -s.gradient[k] if good and not s.held[k] else 0.0
        if good:
            _solve(s, r, s.trial)


@kernel
def _solve(s: System, r: int, x: Array) -> None:
    for k in range(s.unknowns[r], s.unknowns[r + 1]):
        s.ordered[s.pattern.place[k]] = 0.0 if s.held[k] else x[k]
    solve(s.pattern, s.values, r, s.ordered)
    for k in range(s.unknowns[r], s.unknowns[r + 1]):
        x[k] = s.ordered[s.pattern.place[k]]


@kernel
def solve_cordes(s: System, chosen: NDArray[int64], x: Array) -> None:
    for r in chosen:
        _solve(s, r, x)


@kernel
def weigh_cordes(s: System, chosen: NDArray[int64], longest: Array, slope: Array) -> None:
    for r in chosen:
        largest, change = 0.0, 0.0
        for k in range(s.unknowns[r], s.unknowns[r + 1]):
            change += s.gradient[k] * s.trial[k]
            size = abs(s.trial[k]) * s.unit[k]
            largest = size if not size <= largest else largest  # propagates NaN
        longest[r], slope[r] = largest, change


@kernel
def move_cordes(b: Arrays, s: System, chosen: NDArray[int64], sizes: Array, forward: bool) -> None:
    """Moves by the step vector (`forward`), or reduces the last move to fractions sizes (R,)."""
    for r in chosen:
        for k in range(s.unknowns[r], s.unknowns[r + 1]):
            if forward:
                s.base[k] = s.now[k]
                s.now[k] += s.trial[k]
            else:
                s.now[k] = s.base[k] + sizes[r] * (s.now[k] - s.base[k])
        for i in range(b.nets.vertices[r], b.nets.vertices[r + 1]):
            for c in range(3):
                b.state.r[i, c] = s.now[s.x[i] + c]


@kernel
def finish_cordes(b: Arrays, s: System, chosen: NDArray[int64], h: float, creep: bool) -> None:
    """Adds the velocity change of the contact forces; with `creep` all velocities become zero."""
    state = b.state
    for r in chosen:
        for i in range(b.nets.vertices[r], b.nets.vertices[r + 1]):
            for c in range(3):
                k = s.x[i] + c
                state.v[i, c] = 0.0 if creep else state.v[i, c] + (s.now[k] - s.free[k]) / h
        for j in range(b.nets.edges[r], b.nets.edges[r + 1]):
            turn = s.now[s.theta[j]]
            state.w[j, 2] += turn / h
            if turn != 0.0:
                put4(state.q, j, turned(get4(state.q, j), (0.0, 0.0, turn)))
            if creep:
                for c in range(3):
                    state.w[j, c] = 0.0
