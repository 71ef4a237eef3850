"""Free steps of every rod and net: stages of a scheme, each solved by Newton's method, and the retry ladder where one fails.

A block of rods has a workbench for each worker, to which a rod is fetched; nets are stepped where they are.
"""

from __future__ import annotations

import math

from ...compile.jit import kernel, part
from ...errors import Array, Flags
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
    b: Arrays, bench: Arrays | None, scratch: Scratch, step: Step, skip: Flags, first_net: int, last_net: int
) -> None:
    """Takes step.steps steps with nets first_net ... last_net - 1 but those to skip; with none of them it only measures.

    The work is done on the bench, or in place if there is none. Never raises. What was done is added up in the log's report, and
    the elastic energies at the end are written there."""
    for r in range(first_net, last_net):
        if skip[r]:
            continue
        if bench is None:
            _step_net(b, scratch, step, r)
        else:
            fetch(b, bench, r)
            _step_net(bench, scratch, step, 0)
            put_back(b, bench, r, step.steps > 0)


@part
def _step_net(n: Arrays, scratch: Scratch, step: Step, r: int) -> None:
    graph, material, state, saved, geometry, holds = n.graph, n.material, n.state, n.saved, n.geometry, n.holds
    report = n.log.report
    smallest = 0.5**step.most_halvings
    done = 0.0  # in steps; sums of powers of two are exact
    piece = 1.0
    wanted = step.scheme
    watched = WATCHED[wanted]
    pushed, angle = most_given(n, r, step.h, step.steps) if watched and step.steps > 0 else (0.0, 0.0)
    given = pushed
    scheme = wanted
    short = Step(
        step.h, step.steps, step.scheme, step.air_density, START * START * step.tolerance, step.most_iterations,
        step.most_halvings,
    )  # fmt: skip
    if step.steps > 0:
        begin_loads(n, r, step.h, step.air_density)
    energy = math.inf  # where the step begins; not known yet
    while done < step.steps:
        copy_state(graph, material, state, saved, r)
        make_base(graph, material, state, holds, geometry, r, done / step.steps)
        if watched and energy == math.inf and update_geometry(graph, material, geometry, state, r):
            energy, _ = energy_and_work(n, r)
            given = pushed + most_work(n, r, angle) if angle > 0.0 else pushed
        good = True
        starting = EXPLICIT[scheme, 0] > 0.0 and not knows_acceleration(n, r)
        for k in range(0 if starting else 2, 3):
            if k < 2:
                part_of = START * piece
                good = _attempt(n, scratch, r, short, done + k * part_of, part_of, BACKWARD_EULER)
            else:
                if starting:
                    keep_acceleration(n, r)
                    make_base(graph, material, state, holds, geometry, r, done / step.steps)
                good = _attempt(n, scratch, r, step, done, piece, scheme)
            if not good:
                break
        if good and watched:
            now, work = energy_and_work(n, r)
            blown = work_of_wind(n, r)
            allowed = GAIN * energy + ROUND_OFF * abs(work) + given + 2.0 * abs(blown)
            good = FALL_BACK[scheme] < 0 or now - energy - work <= allowed
            if good:
                energy = now
        if good:
            accept_iterate(graph, state, geometry, r)
            break_overloaded(n, r)
        else:
            scheme, piece, more = next_attempt(report, r, scheme, wanted, piece, smallest)
            if more:
                copy_state(graph, material, saved, state, r)
                continue
            _give_up(n, r, (done + piece) / step.steps)
            energy = math.inf
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


@part
def most_given(n: Arrays, r: int, h: float, steps: int) -> tuple[float, float]:
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
                way += (holds.position[1, i, c] - holds.position[0, i, c]) ** 2
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
    return 2.0 * mass * farthest / (steps * steps * h * h) if farthest > 0.0 else 0.0, angle


@part
def most_work(n: Arrays, r: int, angle: float) -> float:
    """Twice the work (J) of turning the end of any element by an angle (rad) while nothing else moves."""
    graph, material, geometry = n.graph, n.material, n.geometry
    most = 0.0
    for e in range(graph.elements[r], graph.elements[r + 1]):
        for c in range(5):
            stiffness, strain = material.stiffness[e, c], geometry.strain[e, c] - material.rest[e, c]
            most = max(most, stiffness * angle * (2.0 * abs(strain) + angle))
    return most


@part
def energy_and_work(n: Arrays, r: int) -> tuple[float, float]:
    """Energy of the net at the iterate, but for that of its weight; and the work of weight and loads since the saved state."""
    q, v, mass, force, saved, log = n.state.q, n.state.v, n.material.mass, n.forces.force, n.saved.q, n.log.energy
    measure(n.graph, n.material, n.geometry, n.state, log, r)
    energy = log[r, 0] + log[r, 1] + log[r, 2]
    work = 0.0
    for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
        energy += 0.5 * mass[k] * v[k] * v[k]
        work += force[k] * (q[k] - saved[k])
    return float(energy), work


@part
def work_of_wind(n: Arrays, r: int) -> float:
    """Work since the saved state of the part of the drag that is due to the wind."""
    q, saved, drag, wind = n.state.q, n.saved.q, n.forces.drag, n.forces.wind
    work = 0.0
    if wind[0] == 0.0 and wind[1] == 0.0 and wind[2] == 0.0:
        return work
    for i in range(n.graph.vertices[r], n.graph.vertices[r + 1]):
        k = n.graph.x[i]
        x, y, z = q[k] - saved[k], q[k + 1] - saved[k + 1], q[k + 2] - saved[k + 2]
        work += wind[0] * (drag[i, 0] * x + drag[i, 1] * y + drag[i, 3] * z)
        work += wind[1] * (drag[i, 1] * x + drag[i, 2] * y + drag[i, 4] * z)
        work += wind[2] * (drag[i, 3] * x + drag[i, 4] * y + drag[i, 5] * z)
    return work


@part
def _attempt(n: Arrays, scratch: Scratch, r: int, step: Step, done: float, piece: float, scheme: int) -> bool:
    """Advances by a piece of a step from a state that make_base has made the base. False if Newton did not converge."""
    graph, material, state, stage, geometry, holds = n.graph, n.material, n.state, n.stage, n.geometry, n.holds
    saved, forces, system, pattern, report = n.saved, n.forces, n.system, n.pattern, n.log.report
    first, end = graph.unknowns[r], graph.unknowns[r + 1]
    q, v, a, base, held = state.q, state.v, state.a, system.base, material.held
    q_star, v_star, gyroscopic = stage.q, stage.v, forces.gyroscopic
    h = piece * step.h * LENGTH[scheme]
    damped = material.damping_time[r] > 0.0
    if damped:
        if not update_geometry(graph, material, geometry, state, r):
            return False
        keep_strains(graph, stage, geometry, r)
        if EXPLICIT[scheme, 0] > 0.0 and not add_strain_rates(n, r, EXPLICIT[scheme, 0] * h):
            return False
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
        for trial in range(2):
            for k in range(first, end):
                if trial == 0:
                    base[k] = q[k]
                    q[k] = q_star[k] + h * (v_star[k] + h * a[k])
                else:
                    q[k] = base[k]
            place_held(graph, material, holds, geometry, q, r, at)
            if update_geometry(graph, material, geometry, state, r):
                break
            if trial == 1:
                return False
        gyroscopic_forces(graph, material, geometry, stage, gyroscopic, a, r, h)
        if not minimise(graph, material, forces, stage, geometry, state, system, pattern, report, scratch, r, h, step):
            return False
        good = True
        for k in range(first, end):
            v[k] = (q[k] - q_star[k]) / h
            a[k] = (v[k] - v_star[k]) / h
            good = good and math.isfinite(a[k])
        if not good:
            return False
    if EXTRAPOLATED[scheme]:
        at = (done + piece) / step.steps
        for k in range(first, end):
            q[k] += q[k] - q_star[k]
            if not held[k]:  # what is held has the speed of its way; twice it less the old one would ring
                v[k] += v[k] - v_star[k]
        place_frames(graph, material, holds, geometry, r, at)
        place_held(graph, material, holds, geometry, q, r, at)
        return update_geometry(graph, material, geometry, state, r)
    return True


@part
def _give_up(n: Arrays, r: int, at: float) -> None:
    """The last resort where no step converges: the net goes as far as Newton's method came, its held places follow, and it
    loses its speed. So it creeps out of where it would be stuck. Where that folds it, it stays where it was."""
    graph, material, state, geometry = n.graph, n.material, n.state, n.geometry
    first, end = graph.unknowns[r], graph.unknowns[r + 1]
    for k in range(first, end):
        state.q[k] = n.system.base[k]
    place_frames(graph, material, n.holds, geometry, r, at)
    place_held(graph, material, n.holds, geometry, state.q, r, at)
    if update_geometry(graph, material, geometry, state, r):
        accept_iterate(graph, state, geometry, r)
    else:
        copy_state(graph, material, n.saved, state, r)
    for k in range(first, end):
        state.v[k] = 0.0
        state.a[k] = 0.0


@kernel
def lay_out(b: Arrays, bench: Arrays | None, r: int) -> bool:
    """Geometry of net r at its state, with held places as at the end of the last steps; its strains are those of which rates are
    taken. On the workbench if there is one."""
    if bench is None:
        return _lay_out(b, r)
    fetch(b, bench, r)
    return _lay_out(bench, 0)


@part
def _lay_out(n: Arrays, r: int) -> bool:
    graph, material, state, geometry = n.graph, n.material, n.state, n.geometry
    make_base(graph, material, state, n.holds, geometry, r, 1.0)
    good = update_geometry(graph, material, geometry, state, r)
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
            attempt == 0,
        )  # fmt: skip
        if factor_matrix(n.graph, n.material.held, n.system, n.pattern, scratch.stack, r):
            for i in range(first, end):
                trial[i] = x[begin + i - first]
            solve_matrix(n.graph, n.material.held, n.system, n.pattern, r, trial)
            for i in range(first, end):
                x[begin + i - first] = trial[i]
            return
