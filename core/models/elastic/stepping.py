"""Free steps of every rod and net: stages of a scheme, each solved by Newton's method, and the retry ladder where one fails.

A block of rods has a workbench for each worker, to which a rod is fetched; nets are stepped where they are.
"""

from __future__ import annotations

import math

from ...compile.jit import kernel, part
from ...compile.lanes import (
    LANES,
    Numbers,
    Truth,
    always,
    any_of,
    as_lanes,
    both,
    but,
    either,
    is_finite,
    put_lane,
    select,
    with_axis,
)
from ...errors import Array, Flags, Ints
from ..ladder import GAIN, ROUND_OFF, lengthen, next_attempt
from ..schemes import (
    BACKWARD_EULER,
    CARRIED,
    ENDS,
    EXPLICIT,
    EXTRAPOLATED,
    FALL_BACK,
    LENGTH,
    STAGES,
    START,
    WATCHED,
)
from .arrays import Arrays, Scratch, Step
from .element import PLACE
from .evaluate import evaluate
from .geometry import measure, update_geometry
from .matrix import factor_matrix, solve_matrix
from .newton import minimise
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
from .start import add_loads, add_strain_rates, begin_loads, keep_acceleration, knows_acceleration
from .workbench import fetch, put_back


@kernel
def step_nets(
    b: Arrays, bench: Arrays | None, scratch: Scratch, step: Step, skip: Flags, nets: Ints, first: int, last: int
) -> None:
    """Takes step.steps steps with nets[first] ... nets[last - 1] but those to skip; with none of them it only measures.

    The work is done on the bench, or in place if there is none. Never raises. What was done is added up in the log's report, and
    the elastic energies at the end are written there."""
    for k in range(first, last):
        r = nets[k]
        if skip[r]:
            continue
        if bench is None:
            _step_net(b, scratch, step, r)
        else:
            fetch(b, with_axis(bench), r, 0)
            _step_net(bench, scratch, step, 0)
            put_back(b, with_axis(bench), r, 0, step.steps > 0)


@kernel
def step_rods(
    b: Arrays, bench: Arrays, scratch: Scratch, step: Step, skip: Flags, teams: Ints, left: Ints, first: int, last: int
) -> None:
    """The same for the rods of teams (T, LANES), in the lanes of the bench. Empty places have -1. Rods that are left behind
    try again together; `left` (LANES,) is scratch."""
    for team in range(first, last):
        for lane in range(LANES):
            r = teams[team, lane]
            left[lane] = -1 if r >= 0 and skip[r] else r
        while True:
            some = -1
            for lane in range(LANES):
                some = max(some, left[lane])
            if some < 0:
                break
            for lane in range(LANES):
                fetch(b, bench, left[lane] if left[lane] >= 0 else some, lane)
            _step_bench(as_lanes(bench), scratch, step)
            for lane in range(LANES):
                if left[lane] >= 0 and scratch.lanes[PLACE, lane] > 0.0:
                    put_back(b, bench, left[lane], lane, step.steps > 0)
                    left[lane] = -1


@part
def _step_bench(bench: Arrays, scratch: Scratch, step: Step) -> None:
    """Notes in the row PLACE which lanes are done."""
    done = _step_net(bench, scratch, step, 0)
    put_lane(scratch.lanes, PLACE, 0, select(done, 1.0, bench.forces.drag_rate[0] * 0.0))


@part
def _step_net(n: Arrays, scratch: Scratch, step: Step, r: int) -> Truth:
    """Whether it is done: all lanes take the same steps, and those in which one fails that is good in others are left behind. At
    least one lane is done; the state of the others has no meaning."""
    graph, material, state, saved, geometry, holds = n.graph, n.material, n.state, n.saved, n.geometry, n.holds
    report = n.log.report
    zero = 0.0 * material.damping_time[r]
    smallest = 0.5**step.most_halvings
    done = 0.0  # in steps; sums of powers of two are exact
    piece = 1.0
    wanted = step.scheme
    watched = WATCHED[wanted]
    pushed, angle = _most_given(n, r, step.h, step.steps) if watched and step.steps > 0 else (zero, zero)
    given = pushed
    scheme = wanted
    short = Step(
        step.h, step.steps, step.scheme, step.air_density, START * START * step.tolerance, step.most_iterations,
        step.most_halvings,
    )  # fmt: skip
    if step.steps > 0:
        begin_loads(n, r, step.h, step.air_density)
    alive = always(zero)
    energy, known = zero, but(alive, alive)  # where the step begins
    while done < step.steps:
        copy_state(graph, material, state, saved, r)
        make_base(graph, material, state, holds, geometry, r, done / step.steps)
        if watched and any_of(but(alive, known)):
            usable = update_geometry(graph, material, geometry, state, r)
            now, _ = _energy_and_work(n, r)
            energy = select(known, energy, select(usable, now, math.inf))
            given = select(known, given, pushed + _most_work(n, r, angle))
            known = either(known, usable)
        good, starting = alive, False
        if EXPLICIT[scheme, 0] > 0.0:
            good = both(alive, knows_acceleration(n, r))
            if not any_of(good):
                good, starting = alive, True
        for k in range(0 if starting else 2, 3):
            if k < 2:
                part_of = START * piece
                good = _attempt(n, scratch, r, short, done + k * part_of, part_of, BACKWARD_EULER, good)
            else:
                if starting:
                    keep_acceleration(n, r)
                    make_base(graph, material, state, holds, geometry, r, done / step.steps)
                good = _attempt(n, scratch, r, step, done, piece, scheme, good)
            if not any_of(good):
                break
        if any_of(good) and watched:
            now, work = _energy_and_work(n, r)
            blown = _work_of_wind(n, r)
            allowed = GAIN * energy + ROUND_OFF * abs(work) + given + 2.0 * abs(blown)
            if FALL_BACK[scheme] >= 0:
                good = both(good, now - energy - work <= allowed)
            energy = select(good, now, energy)
        if any_of(good):
            alive = good
            accept_iterate(graph, state, geometry, r)
            break_overloaded(n, r)
        else:
            scheme, piece, more = next_attempt(report, r, scheme, wanted, piece, smallest)
            if more:
                copy_state(graph, material, saved, state, r)
                continue
            alive = _give_up(n, r, (done + piece) / step.steps, alive)
            known = but(known, known)
        scheme = wanted
        done += piece
        piece = lengthen(done, piece)
        if done == math.floor(done):  # as if every step was a call of its own, to the last bit
            add_loads(n, r, -1.0)
            if done < step.steps:
                begin_loads(n, r, step.h, step.air_density)
    make_base(graph, material, state, holds, geometry, r, 1.0)
    update_geometry(graph, material, geometry, state, r)
    measure(graph, material, geometry, state, n.log.energy, r)
    return alive


@part
def _most_given(n: Arrays, r: int, h: float, steps: int) -> tuple[Numbers, Numbers]:
    """Estimate of the most energy (J) that moving holds may give to the net in a step of length h: twice their speed to all of it.
    And by how much they turn in a step, rad."""
    graph, holds = n.graph, n.holds
    farthest, mass, angle = 0.0, 0.0, 0.0
    for i in range(graph.vertices[r], graph.vertices[r + 1]):
        x = graph.x[i]
        mass += n.material.mass[x]
        if n.material.held[x]:
            way = 0.0
            for c in range(3):
                piece = holds.position[1, i, c] - holds.position[0, i, c]
                way += piece * piece
            farthest = max(farthest, way)
    for k in range(graph.joints[r], graph.joints[r + 1]):
        turned = abs(holds.spin[1, k] - holds.spin[0, k])
        for c in range(3):
            turned += abs(holds.tangent[1, k, c] - holds.tangent[0, k, c])
            turned += abs(holds.director[1, k, c] - holds.director[0, k, c])
        angle += turned / steps
    if not graph.chain[r]:  # in a rod these are the same arrays
        for j in range(graph.edges[r], graph.edges[r + 1]):
            turned = abs(holds.edge_spin[1, j] - holds.edge_spin[0, j])
            for c in range(3):
                turned += abs(holds.edge_director[1, j, c] - holds.edge_director[0, j, c])
            angle += turned / steps
    return 2.0 * mass * farthest / (steps * steps * h * h), angle


@part
def _most_work(n: Arrays, r: int, angle: Numbers) -> Numbers:
    """Twice the work (J) of turning the end of any element by an angle (rad) while nothing else moves."""
    graph, material, geometry = n.graph, n.material, n.geometry
    most = 0.0 * angle
    if not any_of(angle > 0.0):
        return most
    for e in range(graph.elements[r], graph.elements[r + 1]):
        for c in range(5):
            stiffness, strain = material.stiffness[e, c], geometry.strain[e, c] - material.rest[e, c]
            most = max(most, stiffness * angle * (2.0 * abs(strain) + angle))
    return most


@part
def _energy_and_work(n: Arrays, r: int) -> tuple[Numbers, Numbers]:
    """Energy of the net at the iterate, but for that of its weight; and the work of weight and loads since the saved state."""
    q, v, mass, force, saved, log = n.state.q, n.state.v, n.material.mass, n.forces.force, n.saved.q, n.log.energy
    measure(n.graph, n.material, n.geometry, n.state, log, r)
    energy = log[r, 0] + log[r, 1] + log[r, 2]
    work = 0.0
    for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
        energy += 0.5 * mass[k] * v[k] * v[k]
        work += force[k] * (q[k] - saved[k])
    return energy, work


@part
def _work_of_wind(n: Arrays, r: int) -> Numbers:
    """Work since the saved state of the part of the drag that is due to the wind."""
    q, saved, drag, wind = n.state.q, n.saved.q, n.forces.drag, n.forces.wind
    work = 0.0 * q[0]
    if not any_of(abs(wind[0]) + abs(wind[1]) + abs(wind[2]) > 0.0):
        return work
    for i in range(n.graph.vertices[r], n.graph.vertices[r + 1]):
        k = n.graph.x[i]
        x, y, z = q[k] - saved[k], q[k + 1] - saved[k + 1], q[k + 2] - saved[k + 2]
        work += wind[0] * (drag[i, 0] * x + drag[i, 1] * y + drag[i, 3] * z)
        work += wind[1] * (drag[i, 1] * x + drag[i, 2] * y + drag[i, 4] * z)
        work += wind[2] * (drag[i, 3] * x + drag[i, 4] * y + drag[i, 5] * z)
    return work


@part
def _attempt(
    n: Arrays, scratch: Scratch, r: int, step: Step, done: float, piece: float, scheme: int, good: Truth
) -> Truth:
    """Advances by a piece of a step from a state that make_base has made the base. False if Newton did not converge; lanes that are
    not `good` remain so."""
    graph, material, state, stage, geometry, holds = n.graph, n.material, n.state, n.stage, n.geometry, n.holds
    saved, forces, system, pattern, report = n.saved, n.forces, n.system, n.pattern, n.log.report
    first, end = graph.unknowns[r], graph.unknowns[r + 1]
    q, v, a, base, held = state.q, state.v, state.a, system.base, material.held
    q_star, v_star, gyroscopic = stage.q, stage.v, forces.gyroscopic
    h = piece * step.h * LENGTH[scheme]
    damped = any_of(material.damping_time[r] > 0.0)
    if damped:
        good = both(good, update_geometry(graph, material, geometry, state, r))
        keep_strains(graph, stage, geometry, r)
        if EXPLICIT[scheme, 0] > 0.0:
            good = both(good, add_strain_rates(n, r, EXPLICIT[scheme, 0] * h))
        if not any_of(good):
            return good
    for k in range(first, end):
        q_star[k], v_star[k] = q[k], v[k]
    for number in range(STAGES[scheme]):
        explicit = EXPLICIT[scheme, number]
        if explicit > 0.0:
            for k in range(first, end):
                q_star[k] += explicit * h * saved.v[k]
                v_star[k] += explicit * h * saved.a[k]
        at = (done + piece * ENDS[scheme, number]) / step.steps
        if number > 0:
            carried = CARRIED[scheme, number, number - 1]
            for k in range(first, end):
                q_star[k] += carried * h * v[k]
                v_star[k] += carried * h * a[k]
            if damped:
                carry_strains(graph, stage, geometry, r, carried)
        place_frames(graph, material, holds, geometry, r, at)
        # The initial guess: the acceleration goes on. Where that folds the net, it starts from where it was.
        for k in range(first, end):
            base[k] = q[k]
            q[k] = q_star[k] + h * (v_star[k] + h * a[k])
        for trial in range(2):
            place_held(graph, material, holds, geometry, q, r, at)
            usable = update_geometry(graph, material, geometry, state, r)
            if not any_of(but(good, usable)):
                break
            if trial == 1:
                good = both(good, usable)
                break
            for k in range(first, end):
                q[k] = select(usable, q[k], base[k])
        gyroscopic_forces(graph, material, geometry, stage, gyroscopic, a, r, h)
        good = minimise(
            graph, material, forces, stage, geometry, state, system, pattern, report, scratch, r, h, step, good
        )
        for k in range(first, end):
            v[k] = (q[k] - q_star[k]) / h
            a[k] = (v[k] - v_star[k]) / h
            good = both(good, is_finite(a[k]))
        if not any_of(good):
            return good
    if EXTRAPOLATED[scheme]:
        at = (done + piece) / step.steps
        for k in range(first, end):
            q[k] += q[k] - q_star[k]
            if not held[k]:  # what is held has the speed of its way; twice it less the old one would ring
                v[k] += v[k] - v_star[k]
        place_frames(graph, material, holds, geometry, r, at)
        place_held(graph, material, holds, geometry, q, r, at)
        good = both(good, update_geometry(graph, material, geometry, state, r))
    return good


@part
def _give_up(n: Arrays, r: int, at: float, alive: Truth) -> Truth:
    """The last resort where no step converges: the net goes as far as Newton's method came, its held places follow, and it
    loses its speed. So it creeps out of where it would be stuck. Where that folds it, it stays where it was."""
    graph, material, state, geometry = n.graph, n.material, n.state, n.geometry
    first, end = graph.unknowns[r], graph.unknowns[r + 1]
    for k in range(first, end):
        state.q[k] = n.system.base[k]
    place_frames(graph, material, n.holds, geometry, r, at)
    place_held(graph, material, n.holds, geometry, state.q, r, at)
    good = both(alive, update_geometry(graph, material, geometry, state, r))
    if any_of(good):
        alive = good
        accept_iterate(graph, state, geometry, r)
    else:
        copy_state(graph, material, n.saved, state, r)
    for k in range(first, end):
        state.v[k] = 0.0
        state.a[k] = 0.0
    return alive


@kernel
def lay_out(b: Arrays, bench: Arrays | None, r: int) -> bool:
    """Geometry of net r at its state, with held places as at the end of the last steps; its strains are those of which rates are
    taken. On the workbench if there is one."""
    if bench is None:
        return _lay_out(b, r)
    fetch(b, with_axis(bench), r, 0)
    return _lay_out(bench, 0)


@part
def _lay_out(n: Arrays, r: int) -> bool:
    graph, material, state, geometry = n.graph, n.material, n.state, n.geometry
    make_base(graph, material, state, n.holds, geometry, r, 1.0)
    good: bool = update_geometry(graph, material, geometry, state, r)
    keep_strains(graph, n.stage, geometry, r)
    return good


@kernel
def solve_nets(
    b: Arrays, bench: Arrays | None, scratch: Scratch, h: float, x: Array, first_net: int, last_net: int
) -> None:
    """Applies the inverse of the matrix of a stage of length h at the state to x (n,), in place."""
    for r in range(first_net, last_net):
        if not lay_out(b, bench, r):
            continue
        if bench is None:
            _solve_net(b, scratch, h, x, b.graph.unknowns[r], r)
        else:
            _solve_net(bench, scratch, h, x, b.graph.unknowns[r], 0)


@part
def _solve_net(n: Arrays, scratch: Scratch, h: float, x: Array, begin: int, r: int) -> None:
    """The same for net r, which is laid out; its part of x begins at `begin`."""
    first, end, trial = n.graph.unknowns[r], n.graph.unknowns[r + 1], n.system.trial
    for attempt in range(2):
        evaluate(
            n.graph, n.material, n.forces, n.stage, n.geometry, n.state, n.system, n.pattern, scratch, r, h,
            1.0 - attempt,
        )  # fmt: skip
        if factor_matrix(n.graph, n.material.held, n.system, n.pattern, scratch.stack, r):
            for i in range(first, end):
                trial[i] = x[begin + i - first]
            solve_matrix(n.graph, n.material.held, n.system, n.pattern, r, trial)
            for i in range(first, end):
                x[begin + i - first] = trial[i]
            return
