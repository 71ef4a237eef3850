"""Steps of explicit nets that others push: the free step is taken, and pushes then move what they push against its mass alone.

So the potential is (x - x_free) M (x - x_free) / (2 h^2), with the angle of each segment about its tangent as a further
unknown; what stiffens an edge goes into a sparse matrix with the pattern of the net."""

from __future__ import annotations

from typing import NamedTuple

from numpy import bool_, int64
from numpy.typing import NDArray

from ....compile.jit import kernel
from ....errors import Array
from ....maths.linalg.sparse_factor import Pattern, factor, solve
from .arrays import Block, Ints
from .forces import load, turned

MOST_ATTEMPTS = 6


class System(NamedTuple):
    """In the unknowns x y z of the points, then theta of the segments, net by net."""

    unknowns: Ints  # (R + 1,)
    x: Ints  # (V,) the first unknown of a point
    theta: Ints  # (E,)
    free: Array  # (n,) where the free step ends
    now: Array  # (n,)
    base: Array  # (n,) where the last move began
    mass: Array  # (n,)
    unit: Array  # (n,) one over what its size is compared with
    held: NDArray[bool_]  # (n,)
    gradient: Array  # (n,)
    trial: Array  # (n,)
    ordered: Array  # (n,)
    diagonal: Ints  # (n,)
    of_edge: Ints  # (E, 28)
    values: Array
    stack: Array
    pattern: Pattern


@kernel
def begin_cordes(b: Block, s: System, chosen: NDArray[int64]) -> None:
    """Where the free step has taken the nets is where the coupled one begins."""
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
    b: Block,
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
            largest = size if not size <= largest else largest  # a NaN comes through
        longest[r], slope[r] = largest, change


@kernel
def move_cordes(b: Block, s: System, chosen: NDArray[int64], sizes: Array, forward: bool) -> None:
    """Moves by the step vector; or back to a part of the way."""
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
def finish_cordes(b: Block, s: System, chosen: NDArray[int64], h: float, creep: bool) -> None:
    """What was pushed has the speed of the push on top; with `creep` none."""
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
                state.q[j, 0], state.q[j, 1], state.q[j, 2], state.q[j, 3] = turned(load(state.q, j), (0.0, 0.0, turn))
            if creep:
                for c in range(3):
                    state.w[j, c] = 0.0
