"""Coupled steps of rods and nets that push each other or bodies: one Newton iteration of all of them at a time.

Between iterations others see where the rods are and say how they are pushed there: forces on the unknowns and the matrix of their
stiffness, edge by edge, which goes into the matrix of each rod. What couples two edges beyond that they treat themselves, through
the inverse of the matrix.
"""

from __future__ import annotations

import math

from ...compile.jit import kernel, part
from ...errors import Array, Flags, Ints
from ..ladder import ROUND_OFF
from ..schemes import Stage
from .arrays import Arrays, Scratch
from .evaluate import evaluate
from .geometry import measure, rebase, update_geometry
from .matrix import add_edges, enlarge_diagonal, factor_matrix, solve_matrix
from .newton import predict_tension
from .stages import (
    accept_iterate,
    break_overloaded,
    carry_strains,
    copy_state,
    gyroscopic_forces,
    keep_strains,
    make_base,
    place_frames,
    place_held,
)
from .start import add_loads, add_strain_rates, begin_loads
from .stepping import energy_and_work, most_given, most_work

FARTHEST = 0.7  # rotation of an edge in one iteration, about
MOST_ATTEMPTS = 7  # to get a positive definite matrix


@kernel
def copy_states(n: Arrays, chosen: Ints, back: bool) -> None:
    """Chosen nets go back to their saved state, or save the state they have."""
    for r in chosen:
        _copy_state(n, r, back)


@part
def _copy_state(n: Arrays, r: int, back: bool) -> None:
    if back:
        copy_state(n.graph, n.material, n.saved, n.state, r)
    else:
        copy_state(n.graph, n.material, n.state, n.saved, r)


@kernel
def copy_rows(start: Ints, chosen: Ints, source: Array, target: Array) -> None:
    """(N, 4), of the chosen rods."""
    for r in chosen:
        for i in range(start[r], start[r + 1]):
            for s in range(4):
                target[i, s] = source[i, s]


@kernel
def begin_nets(
    n: Arrays, chosen: Ints, h: float, air_density: float, still: bool, stage: Stage, begin: int, stop: int
) -> None:  # fmt: skip
    """Takes nets chosen[begin:stop] to an initial guess of where they will be after a stage of length h: from their saved state, or
    in a second stage from where they are. With `still` only what is held goes on."""
    for at in range(begin, stop):
        if stage.carried > 0.0:
            _begin_second_stage(n, chosen[at], h, stage.carried, stage.explicit)
        else:
            _begin_net(n, chosen[at], h, h * (1.0 + stage.explicit) / stage.end, air_density, stage.explicit)
        _choose_guess(n, chosen[at], h, still, stage.end)


@part
def _begin_net(n: Arrays, r: int, h: float, step: float, air_density: float, explicit: float) -> None:
    q, v, a, stage = n.state.q, n.state.v, n.state.a, n.stage
    copy_state(n.graph, n.material, n.saved, n.state, r)
    begin_loads(n, r, step, air_density)
    make_base(n.graph, n.material, n.state, n.holds, n.geometry, r, 0.0)
    for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
        stage.q[k], stage.v[k] = q[k] + explicit * h * v[k], v[k] + explicit * h * a[k]
    if n.material.damping_time[r] > 0.0:
        update_geometry(n.graph, n.material, n.geometry, n.state, r)
        keep_strains(n.graph, stage, n.geometry, r)
        if explicit > 0.0:
            add_strain_rates(n, r, explicit * h)
    for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
        n.system.base[k] = q[k]


@part
def _begin_second_stage(n: Arrays, r: int, h: float, carried: float, explicit: float) -> None:
    q, v, a, stage = n.state.q, n.state.v, n.state.a, n.stage
    for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
        v[k] = (q[k] - stage.q[k]) / h
        a[k] = (v[k] - stage.v[k]) / h
        # The first stage was carried ahead by h times the derivatives at the start, if by anything.
        stage.q[k] += carried * h * v[k] + explicit * (stage.q[k] - n.saved.q[k])
        stage.v[k] += carried * h * a[k] + explicit * (stage.v[k] - n.saved.v[k])
        n.system.base[k] = q[k]
    carry_strains(n.graph, stage, n.geometry, r, carried)


@part
def _choose_guess(n: Arrays, r: int, h: float, still: bool, part_over: float) -> None:
    """Where contact does not let a rod go where its speed would take it, the place where it was is the better initial guess."""
    place_frames(n.graph, n.material, n.holds, n.geometry, r, part_over)
    rest = _guess(n, r, h, 0.0, part_over)
    if not still and not _guess(n, r, h, 1.0, part_over) < rest:
        _guess(n, r, h, 0.0, part_over)
    gyroscopic_forces(n.graph, n.material, n.geometry, n.stage, n.forces.gyroscopic, n.state.a, r, h)


@part
def _guess(n: Arrays, r: int, h: float, going: float, part_over: float) -> float:
    """Places the iterate where the net was (`going` 0) or where its speed takes it (1). Returns the potential there, but for air
    and damping."""
    q, a, mass, force, stage = n.state.q, n.state.a, n.material.mass, n.forces.force, n.stage
    first, end = n.graph.unknowns[r], n.graph.unknowns[r + 1]
    for k in range(first, end):
        q[k] = stage.q[k] + going * h * (stage.v[k] + h * a[k])
    place_held(n.graph, n.material, n.holds, n.geometry, q, r, part_over)
    if not update_geometry(n.graph, n.material, n.geometry, n.state, r):
        return math.inf
    measure(n.graph, n.material, n.geometry, n.state, n.log.energy, r)
    potential = float(n.log.energy[r, 0] + n.log.energy[r, 1] + n.log.energy[r, 2])
    for k in range(first, end):
        deviation = q[k] - stage.q[k] - h * stage.v[k]
        potential += deviation * (0.5 * mass[k] * deviation / (h * h) - force[k])
    return potential


@kernel
def factor_nets(n: Arrays, scratch: Scratch, chosen: Ints, h: float, begin: int, stop: int) -> None:
    """The factored matrix of a stage where the nets are, as if nothing pushed them."""
    for at in range(begin, stop):
        _factor_net(n, scratch, chosen[at], h)


@part
def _factor_net(n: Arrays, scratch: Scratch, r: int, h: float) -> None:
    graph, material, forces, stage, geometry, state = n.graph, n.material, n.forces, n.stage, n.geometry, n.state
    system, pattern, held, stack = n.system, n.pattern, n.material.held, scratch.stack
    for attempt in range(2):
        evaluate(graph, material, forces, stage, geometry, state, system, pattern, scratch, r, h, attempt == 0)
        if factor_matrix(graph, held, system, pattern, stack, r):
            break


@kernel
def linearise_nets(
    n: Arrays, scratch: Scratch, force: Array, stiffness: Array, touched: Flags, chosen: Ints, h: float,
    potential: Array, begin: int, stop: int,
) -> None:  # fmt: skip
    """Potential and factored matrix of each net by itself, and its Newton step in system.trial. `force` (n,) pushes the unknowns;
    `stiffness` (E, 28) is that of edges. A net whose matrix can't be made positive definite stays where it is."""
    for at in range(begin, stop):
        _linearise_net(n, scratch, force, stiffness, touched, chosen[at], h, potential)


@part
def _linearise_net(
    n: Arrays, scratch: Scratch, force: Array, stiffness: Array, touched: Flags, r: int, h: float, potential: Array
) -> None:
    graph, material, forces, stage, geometry, state = n.graph, n.material, n.forces, n.stage, n.geometry, n.state
    system, pattern, held, stack = n.system, n.pattern, n.material.held, scratch.stack
    gradient, trial = system.gradient, system.trial
    first, end = graph.unknowns[r], graph.unknowns[r + 1]
    good = False
    for attempt in range(MOST_ATTEMPTS):
        potential[r] = evaluate(
            graph, material, forces, stage, geometry, state, system, pattern, scratch, r, h, attempt == 0
        )
        for k in range(first, end):
            gradient[k] -= force[k]
        add_edges(graph, system, n.pattern, stiffness, touched, r)
        if attempt > 1:  # contacts may take away more than the net has to give
            enlarge_diagonal(graph, system, n.pattern, r, 1e-3 * 10.0 ** (attempt - 2))
        good = factor_matrix(graph, held, system, pattern, stack, r)
        if good:
            break
    for k in range(first, end):
        trial[k] = -gradient[k] if good else 0.0
    if good:
        solve_matrix(graph, held, system, pattern, r, trial)


@kernel
def solve_coupled(n: Arrays, chosen: Ints, x: Array, begin: int, stop: int) -> None:
    """x (n,) of the chosen nets becomes the inverse of their matrices times x."""
    graph, held, system, pattern = n.graph, n.material.held, n.system, n.pattern
    for at in range(begin, stop):
        solve_matrix(graph, held, system, pattern, chosen[at], x)


@kernel
def respond_nets(
    n: Arrays, owner: Ints, row: Ints, after: Ints, theta: Ints, pair: Ints, x: Array, response: Array
) -> None:
    """How edges of nets move when they or others of the same net are pushed, by the factored matrices: response (P, 7, 7) for each
    pair (P, 2) of edges, which are sorted by the second: motion of the first, x y z of either end and turn, by a push on the
    second. `owner` is the net of each edge; `row`, `after` and `theta` are where its unknowns begin."""
    graph, system, pattern, held = n.graph, n.system, n.pattern, n.material.held
    last = -1
    for p in range(len(pair)):
        if pair[p, 1] == last:
            continue
        last = pair[p, 1]
        r = owner[last]
        for push in range(7):
            at = row[last] + push if push < 3 else after[last] + push - 3 if push < 6 else theta[last]
            for k in range(graph.unknowns[r], graph.unknowns[r + 1]):
                x[k] = 0.0
            if not held[at]:
                x[at] = 1.0
                solve_matrix(graph, held, system, pattern, r, x)
            m = p
            while m < len(pair) and pair[m, 1] == last:
                i = pair[m, 0]
                for c in range(3):
                    response[m, c, push] = x[row[i] + c]
                    response[m, 3 + c, push] = x[after[i] + c]
                response[m, 6, push] = x[theta[i]]
                m += 1


@kernel
def weigh_steps(n: Arrays, chosen: Ints, longest: Array, slope: Array, begin: int, stop: int) -> None:
    """longest[r] is how far system.trial goes, in segment lengths or radians, at most; slope[r] how the potential changes on it."""
    for at in range(begin, stop):
        _weigh_step(n, chosen[at], longest, slope)


@part
def _weigh_step(n: Arrays, r: int, longest: Array, slope: Array) -> None:
    trial, gradient, unit = n.system.trial, n.system.gradient, n.material.unit
    largest, change = 0.0, 0.0
    for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
        change += gradient[k] * trial[k]
        size = abs(trial[k]) * unit[k]
        largest = size if not size <= largest else largest  # a NaN comes through
    longest[r], slope[r] = largest, change


@kernel
def move_nets(n: Arrays, chosen: Ints, h: float, begin: int, stop: int) -> None:
    """Moves the nets by system.trial, or less where that would fold them."""
    for at in range(begin, stop):
        _move_net(n, chosen[at], h)


@part
def _move_net(n: Arrays, r: int, h: float) -> None:
    graph, q, base, trial = n.graph, n.state.q, n.system.base, n.system.trial
    first, end = graph.unknowns[r], graph.unknowns[r + 1]
    bend = 0.0
    for j in range(graph.edges[r], graph.edge_end[r]):
        a, b = graph.x[graph.tail[j]], graph.x[graph.head[j]]
        for c in range(3):
            bend = max(bend, abs(trial[b + c] - trial[a + c]) / n.material.rest_length[j])
    if not graph.chain[r]:
        for k in range(graph.joints[r], graph.joints[r + 1]):
            for c in range(3):
                bend = max(bend, abs(trial[graph.omega[k] + c]))
    for k in range(first, end):
        base[k] = q[k]
    rebase(graph, n.geometry, q, r)
    predict_tension(graph, n.material, n.stage, n.geometry, trial, r, n.material.damping_time[r] / h)
    size = 1.0 if bend < FARTHEST else FARTHEST / bend
    for _ in range(8):
        for k in range(first, end):
            q[k] = base[k] + size * trial[k]
        if update_geometry(graph, n.material, n.geometry, n.state, r):
            break
        size *= 0.5
    else:
        for k in range(first, end):
            q[k] = base[k]
        update_geometry(graph, n.material, n.geometry, n.state, r)


@kernel
def retreat_nets(n: Arrays, chosen: Ints, sizes: Array, begin: int, stop: int) -> None:
    """Places nets at a part of the way that `move_nets` took them; sizes (R,) is how much of it, from 0 to 1."""
    for at in range(begin, stop):
        _retreat_net(n, chosen[at], sizes[chosen[at]])


@part
def _retreat_net(n: Arrays, r: int, size: float) -> None:
    q, base, held = n.state.q, n.system.base, n.material.held
    for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
        if not held[k]:  # the initial guess has held places where they belong, and no later step moves them
            q[k] = base[k] + size * (q[k] - base[k])
    update_geometry(n.graph, n.material, n.geometry, n.state, r)


@kernel
def measure_nets(n: Arrays, chosen: Ints, energy: Array, begin: int, stop: int) -> None:
    """energy (R,) J of the nets at their saved state, but for that of weight and loads."""
    for at in range(begin, stop):
        r = chosen[at]
        copy_state(n.graph, n.material, n.saved, n.state, r)
        make_base(n.graph, n.material, n.state, n.holds, n.geometry, r, 0.0)
        update_geometry(n.graph, n.material, n.geometry, n.state, r)
        energy[r], _ = energy_and_work(n, r)


@kernel
def gains_of_nets(n: Arrays, chosen: Ints, h: float, before: Array, gain: Array, begin: int, stop: int) -> None:
    """gain (R,) J of the nets since the saved state, where they had the energies `before`, at the end of a stage of length h."""
    for at in range(begin, stop):
        r = chosen[at]
        for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
            n.state.v[k] = (n.state.q[k] - n.stage.q[k]) / h
        energy, work = energy_and_work(n, r)
        gain[r] = energy - before[r] - work - 2.0 * _work_of_holds(n, r) - ROUND_OFF * abs(work)


@part
def _work_of_holds(n: Arrays, r: int) -> float:
    """The most work (J) that what is held has done since the saved state, by the forces that hold it now."""
    graph, held, gradient, q, saved = n.graph, n.material.held, n.system.gradient, n.state.q, n.saved.q
    work, angle = 0.0, 0.0
    for i in range(graph.vertices[r], graph.vertices[r + 1]):
        x = graph.x[i]
        if held[x]:
            for c in range(3):
                work += abs(gradient[x + c] * (q[x + c] - saved[x + c]))
    angle = most_given(n, r, 1.0, 1)[1]
    return work + most_work(n, r, angle) if angle > 0.0 else work


@kernel
def finish_nets(n: Arrays, chosen: Ints, h: float, creep: bool, smooth: bool, begin: int, stop: int) -> None:
    """Accepts where the nets are. With `creep` they lose their speed: the step was given up. With `smooth` the
    acceleration is kept for the next step: what a contact gave does not go on."""
    for at in range(begin, stop):
        _finish_net(n, chosen[at], h, creep, smooth)


@part
def _finish_net(n: Arrays, r: int, h: float, creep: bool, smooth: bool) -> None:
    q, v, a = n.state.q, n.state.v, n.state.a
    for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
        v[k] = 0.0 if creep else (q[k] - n.stage.q[k]) / h
        a[k] = (v[k] - n.stage.v[k]) / h if smooth and not creep else 0.0
    if smooth and not creep:
        add_loads(n, r, -1.0)
    measure(n.graph, n.material, n.geometry, n.state, n.log.energy, r)
    accept_iterate(n.graph, n.state, n.geometry, r)
    break_overloaded(n, r)
