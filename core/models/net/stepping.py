"""Steps of every net: SDIRK2, backward Euler or midpoint as stages of one kind; another integrator or half a step where a stage
does not converge. The same rules as those of `der` (see its `stepping.py`), on flat arrays."""

from __future__ import annotations

import math

from numpy import bool_
from numpy.typing import NDArray

from ...compile.jit import kernel, part
from ..der.arrays import BACKWARD_EULER, MIDPOINT, SDIRK2, Step
from ..der.stepping import FAILURES, FALLBACKS, GAIN, GAMMA, HALVINGS, ROUND_OFF
from .arrays import Nets, Room
from .evaluate import measure, update_geometry
from .newton import minimise
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


@kernel
def step_nets(n: Nets, room: Room, step: Step, skip: NDArray[bool_], first_net: int, last_net: int) -> None:
    """Takes step.steps steps with nets first_net ... last_net - 1 but those to skip; with none of them it only measures.

    Never raises. What was done is added up in the log's report, and the elastic energies at the end are written there."""
    report = n.log.report
    smallest = 0.5**step.most_halvings
    for r in range(first_net, last_net):
        if skip[r]:
            continue
        done = 0.0  # in steps; sums of powers of two are exact
        part = 1.0
        scheme = step.scheme
        given = _most_given(n, r, step.steps * step.h) if scheme == SDIRK2 else math.inf
        watched = given < math.inf
        energy = math.inf  # where the step begins; not known yet
        while done < step.steps:
            copy_state(n, r, False)
            make_base(n, r, done / step.steps)
            if watched and energy == math.inf and update_geometry(n, r):
                energy, _ = _energy_and_work(n, r)
            if done == math.floor(done):
                cylinder_drag(n, r, step.air_density)
            good = _attempt(n, room, r, step, done, part, scheme)
            if good and watched:
                now, work = _energy_and_work(n, r)
                good = scheme == BACKWARD_EULER or now - energy - work <= GAIN * energy + ROUND_OFF * abs(work) + given
                if good:
                    energy = now
            if good:
                accept_iterate(n, r)
                break_what_must(n, r)
            elif scheme > BACKWARD_EULER:
                copy_state(n, r, True)
                scheme -= 1
                report[r, FALLBACKS] += 1.0
                continue
            elif part > smallest:
                copy_state(n, r, True)
                scheme = step.scheme
                part *= 0.5
                report[r, HALVINGS] += 1.0
                continue
            else:
                report[r, FAILURES] += 1.0
                _give_up(n, r, (done + part) / step.steps)
                energy = math.inf
            scheme = step.scheme
            done += part
            # Back to longer parts where they fit again: done must stay a multiple of the part.
            while part < 1.0 and done / (2.0 * part) == math.floor(done / (2.0 * part)):
                part *= 2.0
        make_base(n, r, 1.0)
        update_geometry(n, r)
        measure(n, r)


@part
def _most_given(n: Nets, r: int, time: float) -> float:
    """The most energy that holds which move may give to the net in a step, about. Infinite if holds turn or wind blows."""
    graph, holds, wind = n.graph, n.holds, n.forces.wind
    if wind[0] != 0.0 or wind[1] != 0.0 or wind[2] != 0.0:
        return math.inf
    farthest, mass = 0.0, 0.0
    for i in range(graph.vertices[r], graph.vertices[r + 1]):
        x = graph.x[i]
        mass += n.material.mass[x]
        if n.material.held[x]:
            way = 0.0
            for c in range(3):
                way += (holds.position[1, i, c] - holds.position[0, i, c]) ** 2
            farthest = max(farthest, way)
    for k in range(graph.joints[r], graph.joints[r + 1]):
        for c in range(9):
            if holds.frame[0, k, c] != holds.frame[1, k, c]:
                return math.inf
        if holds.spin[0, k] != holds.spin[1, k]:
            return math.inf
    for j in range(graph.edges[r], graph.edges[r + 1]):
        for c in range(3):
            if holds.director[0, j, c] != holds.director[1, j, c]:
                return math.inf
        if holds.edge_spin[0, j] != holds.edge_spin[1, j]:
            return math.inf
    return 2.0 * mass * farthest / (time * time) if farthest > 0.0 else 0.0


@part
def _energy_and_work(n: Nets, r: int) -> tuple[float, float]:
    """Energy of the net at the iterate, but for that of its weight; and the work of weight and loads since the saved state."""
    q, v, mass, force = n.state.q, n.state.v, n.material.mass, n.forces.force
    measure(n, r)
    energy = n.log.energy[r, 0] + n.log.energy[r, 1] + n.log.energy[r, 2]
    work = 0.0
    for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
        energy += 0.5 * mass[k] * v[k] * v[k]
        work += force[k] * (q[k] - n.saved.q[k])
    return float(energy), work


@part
def _keep_strains(n: Nets, r: int) -> None:
    """The strains of the iterate are those at the beginning of the attempt."""
    graph, stage, geometry = n.graph, n.stage, n.geometry
    for j in range(graph.edges[r], graph.edges[r + 1]):
        stage.stretch0[j] = stage.stretch[j] = geometry.stretch[j]
    for e in range(graph.elements[r], graph.elements[r + 1]):
        for c in range(5):
            stage.strain0[e, c] = stage.strain[e, c] = geometry.strain[e, c]


@part
def _attempt(n: Nets, room: Room, r: int, step: Step, done: float, part: float, scheme: int) -> bool:
    """Advances by `part` of a step from a state that make_base has made the base. False if Newton did not converge."""
    graph, state, stage, geometry = n.graph, n.state, n.stage, n.geometry
    first, end = graph.unknowns[r], graph.unknowns[r + 1]
    q, v, a, base = state.q, state.v, state.a, n.system.base
    stages = 2 if scheme == SDIRK2 else 1
    fraction = GAMMA if scheme == SDIRK2 else 0.5 if scheme == MIDPOINT else 1.0
    h = part * step.h * fraction
    ratio = (1.0 - GAMMA) / GAMMA
    damped = n.material.damping_time[r] > 0.0
    if damped:
        if not update_geometry(n, r):
            return False
        _keep_strains(n, r)
    for k in range(first, end):
        stage.q[k], stage.v[k] = q[k], v[k]
    for number in range(stages):
        at = (done + part * (fraction if number == 0 else 1.0)) / step.steps
        if number == 1:
            for k in range(first, end):
                stage.q[k] += ratio * h * v[k]
                stage.v[k] += ratio * h * a[k]
            if damped:
                for j in range(graph.edges[r], graph.edges[r + 1]):
                    stage.stretch[j] = stage.stretch0[j] + ratio * (geometry.stretch[j] - stage.stretch0[j])
                for e in range(graph.elements[r], graph.elements[r + 1]):
                    for c in range(5):
                        stage.strain[e, c] = stage.strain0[e, c] + ratio * (geometry.strain[e, c] - stage.strain0[e, c])
        place_frames(n, r, at)
        # The guess: the acceleration goes on. Where that folds the net, it starts from where it was.
        for trial in range(2):
            for k in range(first, end):
                if trial == 0:
                    base[k] = q[k]
                    q[k] = stage.q[k] + h * (stage.v[k] + h * a[k])
                else:
                    q[k] = base[k]
            place_held(n, r, at)
            if update_geometry(n, r):
                break
            if trial == 1:
                return False
        gyroscopic_forces(n, r, h)
        if not minimise(n, room, r, h, step):
            return False
        good = True
        for k in range(first, end):
            v[k] = (q[k] - stage.q[k]) / h
            a[k] = (v[k] - stage.v[k]) / h
            good = good and math.isfinite(a[k])
        if not good:
            return False
    if scheme == MIDPOINT:
        at = (done + part) / step.steps
        for k in range(first, end):
            q[k] += q[k] - stage.q[k]
            if not n.material.held[k]:
                v[k] += v[k] - stage.v[k]
        place_frames(n, r, at)
        place_held(n, r, at)
        return update_geometry(n, r)
    return True


@part
def _give_up(n: Nets, r: int, at: float) -> None:
    """The last resort: the net goes as far as Newton's method came, its held places follow, and it loses its speed."""
    first, end = n.graph.unknowns[r], n.graph.unknowns[r + 1]
    for k in range(first, end):
        n.state.q[k] = n.system.base[k]
    place_frames(n, r, at)
    place_held(n, r, at)
    if update_geometry(n, r):
        accept_iterate(n, r)
    else:
        copy_state(n, r, True)
    for k in range(first, end):
        n.state.v[k] = 0.0
        n.state.a[k] = 0.0


@kernel
def lay_net(n: Nets, r: int) -> bool:
    """Geometry of net r at q as it stands, frames carried from their base."""
    return update_geometry(n, r)


@kernel
def base_net(n: Nets, r: int) -> bool:
    """Makes the state the base of frames, its strains those of which rates are taken, and computes its geometry."""
    make_base(n, r, 1.0)
    good = update_geometry(n, r)
    _keep_strains(n, r)
    return good
