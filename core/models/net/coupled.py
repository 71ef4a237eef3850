"""Steps of nets that push each other or other rods: backward Euler, one Newton iteration of all of them at a time. As in `der`."""

from __future__ import annotations

import math

from numpy import bool_, int64
from numpy.typing import NDArray

from ...compile.jit import kernel, part
from ...errors import Array
from ...maths.linalg.sparse_factor import factor, invert_within
from .arrays import Ints, Nets, Room
from .evaluate import evaluate, foresee_tension, measure, rebase, update_geometry
from .newton import solve_matrix
from .stages import (
    accept_iterate,
    break_what_must,
    copy_state,
    cylinder_drag,
    gyroscopic_forces,
    make_base,
    place_frames,
    place_held,
)

FARTHEST = 0.7  # rotation of an edge in one iteration, about
MOST_ATTEMPTS = 7  # to get a positive definite matrix


@kernel
def begin_nets(
    n: Nets, chosen: NDArray[int64], h: float, air_density: float, still: bool, part_over: float, begin: int, stop: int
) -> None:
    """Takes nets back to their saved state and forward to a guess of where they will be after h; with `still` only what is held
    goes on. Then a part of the step is over."""
    q, v, stage = n.state.q, n.state.v, n.stage
    for at in range(begin, stop):
        r = chosen[at]
        copy_state(n, r, True)
        make_base(n, r, 0.0)
        cylinder_drag(n, r, air_density)
        for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
            stage.q[k], stage.v[k], n.system.base[k] = q[k], v[k], q[k]
        if n.material.damping_time[r] > 0.0:
            update_geometry(n, r)
            for j in range(n.graph.edges[r], n.graph.edges[r + 1]):
                stage.stretch0[j] = stage.stretch[j] = n.geometry.stretch[j]
            for e in range(n.graph.elements[r], n.graph.elements[r + 1]):
                for c in range(5):
                    stage.strain0[e, c] = stage.strain[e, c] = n.geometry.strain[e, c]
        place_frames(n, r, part_over)
        rest = _guess(n, r, h, 0.0, part_over)
        if not still and not _guess(n, r, h, 1.0, part_over) < rest:
            _guess(n, r, h, 0.0, part_over)
        gyroscopic_forces(n, r, h)


@kernel
def go_on_nets(n: Nets, chosen: NDArray[int64], h: float, ratio: float, begin: int, stop: int) -> None:
    """From the end of the first stage of SDIRK2 to a guess of where its second one ends."""
    q, v, a, stage, geometry = n.state.q, n.state.v, n.state.a, n.stage, n.geometry
    for at in range(begin, stop):
        r = chosen[at]
        for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
            v[k] = (q[k] - stage.q[k]) / h
            a[k] = (v[k] - stage.v[k]) / h
            stage.q[k] += ratio * h * v[k]
            stage.v[k] += ratio * h * a[k]
            n.system.base[k] = q[k]
        for j in range(n.graph.edges[r], n.graph.edges[r + 1]):
            stage.stretch[j] = stage.stretch0[j] + ratio * (geometry.stretch[j] - stage.stretch0[j])
        for e in range(n.graph.elements[r], n.graph.elements[r + 1]):
            for c in range(5):
                stage.strain[e, c] = stage.strain0[e, c] + ratio * (geometry.strain[e, c] - stage.strain0[e, c])
        place_frames(n, r, 1.0)
        rest = _guess(n, r, h, 0.0, 1.0)
        if not _guess(n, r, h, 1.0, 1.0) < rest:
            _guess(n, r, h, 0.0, 1.0)
        gyroscopic_forces(n, r, h)


@part
def _guess(n: Nets, r: int, h: float, going: float, part_over: float) -> float:
    """Places the iterate where the net was (`going` 0) or where its speed takes it (1). Returns the potential there, but for air
    and damping."""
    q, a, mass, force, stage = n.state.q, n.state.a, n.material.mass, n.forces.force, n.stage
    first, end = n.graph.unknowns[r], n.graph.unknowns[r + 1]
    for k in range(first, end):
        q[k] = stage.q[k] + going * h * (stage.v[k] + h * a[k])
    place_held(n, r, part_over)
    if not update_geometry(n, r):
        return math.inf
    measure(n, r)
    potential = float(n.log.energy[r, 0] + n.log.energy[r, 1] + n.log.energy[r, 2])
    for k in range(first, end):
        deviation = q[k] - stage.q[k] - h * stage.v[k]
        potential += deviation * (0.5 * mass[k] * deviation / (h * h) - force[k])
    return potential


@kernel
def probe_nets(
    n: Nets, fronts: Ints, parent: Ints, z: Array, chosen: NDArray[int64], mobility: Array, begin: int, stop: int
) -> None:
    """mobility (V, 6): how far a force on each vertex moves it within the step, xx yx yy zx zy zz, by the net's factored matrix."""
    pattern, held = n.pattern, n.material.held
    first, place = pattern.first, pattern.place
    for at in range(begin, stop):
        r = chosen[at]
        invert_within(pattern, n.system.values, fronts, parent, z, r)
        for i in range(n.graph.vertices[r], n.graph.vertices[r + 1]):
            x = n.graph.x[i]
            low, high = pattern.net[r], pattern.net[r + 1]
            while high - low > 1:  # the supernode that has its columns, which stand side by side
                middle = (low + high) // 2
                if first[middle] <= place[x]:
                    low = middle
                else:
                    high = middle
            front = first[low + 1] - first[low] + pattern.below[low + 1] - pattern.below[low]
            k = place[x] - first[low]
            m = 0
            for s in range(3):
                for c in range(s + 1):
                    mobility[i, m] = 0.0 if held[x] else z[fronts[low] + (k + s) * front + k + c]
                    m += 1


@kernel
def linearise_nets(
    n: Nets, room: Room, force: Array, stiffness: Array, touched: NDArray[bool_], chosen: NDArray[int64], h: float,
    potential: Array, attempts: int, begin: int, stop: int,
) -> None:  # fmt: skip
    """Potential, gradient and factored matrix of each net by itself. `force` (n,) pushes the unknowns; `stiffness` (E, 28) is
    that of edges. With no attempts the matrix is left as it is, with -1 of them it is a positive part.

    Where it is not positive definite, system.gradient becomes zero: such a net stays where it is."""
    system, graph = n.system, n.graph
    gradient, values = system.gradient, system.values
    for at in range(begin, stop):
        r = chosen[at]
        good = attempts <= 0
        for attempt in range(max(attempts, 1)):
            potential[r] = evaluate(n, room, r, h, attempt == 0 and attempts >= 0)
            for k in range(graph.unknowns[r], graph.unknowns[r + 1]):
                gradient[k] -= force[k]
            for j in range(graph.edges[r], graph.edges[r + 1]):
                if touched[j]:
                    for m in range(28):
                        values[system.of_edge[j, m]] += stiffness[j, m]
            if attempts <= 0:
                break
            if attempt > 1:  # contacts may take away more than the net has to give
                for i in range(graph.vertices[r], graph.vertices[r + 1]):
                    for c in range(3):
                        k = system.diagonal[graph.x[i] + c]
                        values[k] += 1e-3 * 10.0 ** (attempt - 2) * abs(values[k])
            good = factor(n.pattern, values, room.stack, r)
            if good:
                break
        if not good:
            for k in range(graph.unknowns[r], graph.unknowns[r + 1]):
                gradient[k] = 0.0


@kernel
def solve_coupled(n: Nets, chosen: NDArray[int64], x: Array, begin: int, stop: int) -> None:
    """x (n,) of the chosen nets becomes the inverse of their matrices times x."""
    for at in range(begin, stop):
        solve_matrix(n, chosen[at], x)


@kernel
def weigh_steps(n: Nets, chosen: NDArray[int64], longest: Array, slope: Array, begin: int, stop: int) -> None:
    """longest[r] is how far system.trial goes, in segment lengths or radians, at most; slope[r] how the potential changes on it."""
    trial, gradient, unit = n.system.trial, n.system.gradient, n.material.unit
    for at in range(begin, stop):
        r = chosen[at]
        largest, change = 0.0, 0.0
        for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
            change += gradient[k] * trial[k]
            size = abs(trial[k]) * unit[k]
            largest = size if not size <= largest else largest  # a NaN comes through
        longest[r], slope[r] = largest, change


@kernel
def move_nets(n: Nets, chosen: NDArray[int64], h: float, begin: int, stop: int) -> None:
    """Moves the nets by system.trial, or less where that would fold them."""
    graph, q, base, trial = n.graph, n.state.q, n.system.base, n.system.trial
    for at in range(begin, stop):
        r = chosen[at]
        first, end = graph.unknowns[r], graph.unknowns[r + 1]
        bend = 0.0
        for j in range(graph.edges[r], graph.edges[r + 1]):
            a, b = graph.x[graph.tail[j]], graph.x[graph.head[j]]
            for c in range(3):
                bend = max(bend, abs(trial[b + c] - trial[a + c]) / n.material.rest_length[j])
        for k in range(graph.joints[r], graph.joints[r + 1]):
            for c in range(3):
                bend = max(bend, abs(trial[graph.omega[k] + c]))
        for k in range(first, end):
            base[k] = q[k]
        rebase(n, r)
        foresee_tension(n, trial, r, n.material.damping_time[r] / h)
        size = 1.0 if bend < FARTHEST else FARTHEST / bend
        for _ in range(8):
            for k in range(first, end):
                q[k] = base[k] + size * trial[k]
            if update_geometry(n, r):
                break
            size *= 0.5
        else:
            for k in range(first, end):
                q[k] = base[k]
            update_geometry(n, r)


@kernel
def retreat_nets(n: Nets, chosen: NDArray[int64], sizes: Array, begin: int, stop: int) -> None:
    """Places nets at a part of the way that `move_nets` took them; sizes (R,) is how much of it, from 0 to 1."""
    q, base = n.state.q, n.system.base
    for at in range(begin, stop):
        r = chosen[at]
        for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
            q[k] = base[k] + sizes[r] * (q[k] - base[k])
        update_geometry(n, r)


@kernel
def finish_nets(n: Nets, chosen: NDArray[int64], h: float, creep: bool, smooth: bool, begin: int, stop: int) -> None:
    """Accepts where the nets are. With `creep` they lose their speed: the step was given up. With `smooth` they will be accelerated
    as they were: what a contact gave does not go on."""
    q, v, a = n.state.q, n.state.v, n.state.a
    for at in range(begin, stop):
        r = chosen[at]
        for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
            v[k] = 0.0 if creep else (q[k] - n.stage.q[k]) / h
            a[k] = (v[k] - n.stage.v[k]) / h if smooth and not creep else 0.0
        measure(n, r)
        accept_iterate(n, r)
        break_what_must(n, r)


@kernel
def recall_nets(n: Nets, chosen: NDArray[int64], back: bool) -> None:
    """Chosen nets go back to their saved state, or keep the state they have."""
    for r in chosen:
        copy_state(n, r, back)
