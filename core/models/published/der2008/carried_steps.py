"""Steps of coupled rods and rigid bodies (Bergou et al. 2008, section 8, algorithm 1).

Bodies and rods first move uncoupled. Fast projection then finds the nearest configuration, in the metric of the kinetic energy
of both, in which edges have their lengths and tied vertices follow their bodies. A tied vertex is not an unknown; its mass adds
to the body's generalized mass. With T the matrix of the rods' constraints for fixed tied vertices, and G the derivative of the
constraints with respect to the bodies' motion y, an iteration solves the Schur complement system
    (M + G^T T^-1 G) y = -m J^T gap + G^T l,  l = -T^-1 C,    then the multipliers are l - T^-1 G y.
The projection transmits the forces; the torque on a welded frame is applied to its body before each step (section 8.2).
"""

from __future__ import annotations

import math

from ....compile.jit import kernel, part
from ....contact.bodies.explicit import fly, lead, straighten, to_world, turn_since
from ....errors import Array, Flags
from ....forces.air import cylinder_drag
from ....maths.geometry.frames import dot
from ....maths.geometry.rows import get, put
from ....maths.linalg.dense import factor_dense, half_solve
from ...elastic.arrays import Step
from ...elastic.rods import RodArrays, Rods
from ...held_frames import place_frames
from ...report import HALVINGS, ITERATIONS, RESIDUAL
from .arrays import Chain, Motion, Nodes
from .carried import Carried
from .carried_bodies import add_vertex, body_metric, frame_stiffness, frame_torque
from .carried_projection import project_assembly
from .forces import STABLE_FRACTION, TURN, longest_step, measure_energies
from .frames import relax_frames, transport_frames
from .stepping import (
    FAILED_ERROR,
    MOST_HALVINGS,
    MOST_INNER,
    UPDATE_INTERVAL,
    apply_forces,
    load_state,
    make_metric,
    predict,
    roll_back,
    store_state,
)


@kernel
def step_assemblies(
    b: RodArrays,
    chain: Chain,
    nodes: Nodes,
    m: Motion,
    c: Carried,
    step: Step,
    before: Array,
    skip: Flags,
    failed: Flags,
) -> None:
    """One step of all assemblies but those of rods to skip (R,). Rods and bodies of one that can't be stepped stay as they were,
    and its rods are written to `failed` (R,)."""
    of = c.assemblies
    for a in range(len(of.rods) - 1):
        if skip[of.rod[of.rods[a]]] or _step_assembly(b, chain, nodes, m, c, step, a):
            continue
        _restore_bodies(c, before, a)
        for k in range(of.rods[a], of.rods[a + 1]):
            failed[of.rod[k]] = True


@kernel
def measure_assemblies(b: RodArrays, chain: Chain, nodes: Nodes, m: Motion, c: Carried, first: int, last: int) -> None:
    """Measures the energies of the assemblies' rods."""
    of = c.assemblies
    for a in range(first, last):
        _set_holds(b, c, a)
        for k in range(of.rods[a], of.rods[a + 1]):
            if load_state(b, chain, nodes, m, of.rod[k], 0.0, False):
                measure_energies(chain, nodes, b.log.energy, of.rod[k])


@part
def _step_assembly(b: RodArrays, chain: Chain, nodes: Nodes, m: Motion, c: Carried, step: Step, a: int) -> bool:
    rods, state, report, bodies, of = b.rods, b.state, b.log.report, c.bodies, c.assemblies
    _set_holds(b, c, a)
    for k in range(of.rods[a], of.rods[a + 1]):
        r = of.rod[k]
        if not load_state(b, chain, nodes, m, r, 0.0, True):
            return False
        for i in range(rods.start[r], rods.start[r + 1]):
            c.tension[i] = 0.0
        cylinder_drag(
            rods.radii, rods.mass, m.x, m.v, b.forces.wind, step.air_density, b.forces.drag_rate[r], m.drag,
            rods.start[r], rods.start[r + 1], rods.closed[r],
        )  # fmt: skip
    passed, count, left, halvings, start, h = 0.0, 0, 0, 0, 0.0, step.h
    inner, most, iterations, residual, tried = 0, 0, 0, 0.0, False
    while True:
        if left == 0 or count % UPDATE_INTERVAL == 0:
            longest = _longest_stable_step(b, chain, nodes, m, c, a) / 2.0**halvings
            if left == 0 or h > longest:
                needed = math.ceil(step.h * (1.0 - passed) / longest)
                if not needed <= MOST_INNER:
                    return False
                left = max(int(needed), 1)
                h = step.h * (1.0 - passed) / left
                start, count = passed, 0
                for k in range(of.rods[a], of.rods[a + 1]):
                    make_metric(rods, m, of.rod[k], h)
        now = 1.0 if left == 1 else start + (count + 1) * (h / step.h)
        tries, worst = _inner_step(b, chain, nodes, m, c, a, h, now, step.tolerance)
        if tries < 0 or not worst < FAILED_ERROR:
            halvings += 1
            if halvings > MOST_HALVINGS or not _roll_back(b, chain, nodes, m, c, a, passed):
                return False
            report[of.rod[of.rods[a]], HALVINGS] += 1.0
            left = 0
            continue
        if inner == 0 and not tried:  # the first step yields tensions, which may require a shorter step
            tried = True
            if h > _longest_stable_step(b, chain, nodes, m, c, a) / 2.0**halvings:
                if not _roll_back(b, chain, nodes, m, c, a, 0.0):
                    return False
                for k in range(of.rods[a], of.rods[a + 1]):
                    for i in range(rods.start[of.rod[k]], rods.start[of.rod[k] + 1]):
                        put(m.v, i, get(state.v, i))
                left = 0
                continue
        iterations += tries
        most = max(most, tries)
        residual = max(residual, worst)
        inner += 1
        count += 1
        left -= 1
        passed = now
        if left == 0:
            break
    for k in range(of.rods[a], of.rods[a + 1]):
        r = of.rod[k]
        m.inner[r], m.most_iterations[r] = inner, most
        report[r, ITERATIONS] += iterations
        report[r, RESIDUAL] = max(report[r, RESIDUAL], residual)
        measure_energies(chain, nodes, b.log.energy, r)
        store_state(b, chain, nodes, m, r)
    for k in range(of.bodies[a], of.bodies[a + 1]):
        straighten(bodies.rotation, of.body[k])
    return True


@part
def _restore_bodies(c: Carried, before: Array, a: int) -> None:
    """To where the step began; the state of rods is only written when a step has worked out."""
    of, bodies = c.assemblies, c.bodies
    for n in range(of.bodies[a], of.bodies[a + 1]):
        k = of.body[n]
        for i in range(3):
            bodies.x[k, i] = before[k, i]
            bodies.v[k, i], bodies.w[k, i] = before[k, 12 + i], before[k, 15 + i]
            for j in range(3):
                bodies.rotation[k, i, j] = before[k, 3 + 3 * i + j]


@part
def _set_holds(b: RodArrays, c: Carried, a: int) -> None:
    """Sets the holds of tied vertices and welded frames from the bodies."""
    of, ties, welds, holds, bodies = c.assemblies, c.ties, c.welds, b.holds, c.bodies
    for k in range(of.rods[a], of.rods[a + 1]):
        r = of.rod[k]
        for t in range(of.tie_of_rod[r], of.tie_of_rod[r + 1]):
            arm = to_world(bodies.rotation, ties.body[t], get(ties.point, t))
            for s in range(3):
                place = bodies.x[ties.body[t], s] + arm[s]
                holds.position[0, ties.vertex[t], s] = place
                holds.position[1, ties.vertex[t], s] = place
    for n in range(of.welds[a], of.welds[a + 1]):
        d = to_world(bodies.rotation, welds.body[n], get(welds.director, n))
        put(holds.director[0], welds.edge[n], d)
        put(holds.director[1], welds.edge[n], d)


@part
def _longest_stable_step(b: RodArrays, chain: Chain, nodes: Nodes, m: Motion, c: Carried, a: int) -> float:
    """s, longest stable inner step."""
    rods, of, ties, welds, bodies = b.rods, c.assemblies, c.ties, c.welds, c.bodies
    for n in range(of.bodies[a], of.bodies[a + 1]):
        body_metric(bodies, of.body[n])
    longest, fastest, turning = math.inf, 0.0, 0.0
    for n in range(of.rods[a], of.rods[a + 1]):
        r = of.rod[n]
        longest = min(longest, longest_step(rods, chain, nodes, m.v, m.diagonal, r))
        for j in range(rods.start[r], rods.start[r + 1]):  # a taut rod vibrates like a string
            lighter = min(rods.mass[j, 0], rods.mass[j + 1 if j + 1 < rods.start[r + 1] else rods.start[r], 0])
            fastest = max(fastest, 4.0 * abs(c.tension[j]) / (rods.rest_length[j] * lighter))
        for t in range(of.tie_of_rod[r], of.tie_of_rod[r + 1]):
            i = ties.vertex[t]
            arm = to_world(bodies.rotation, ties.body[t], get(ties.point, t))
            add_vertex(bodies, ties, t, rods.mass[i, 0], arm)
            fastest = max(fastest, m.diagonal[i] / rods.mass[i, 0])
    for n in range(of.bodies[a], of.bodies[a + 1]):
        w = get(bodies.w, of.body[n])
        turning = max(turning, dot(w, w))
        factor_dense(bodies.metric[of.body[n]], 6)
    for n in range(of.welds[a], of.welds[a + 1]):
        k = welds.body[n]
        if not bodies.kinematic[k]:
            stiff = frame_stiffness(chain, welds.rod[n], welds.node[n], rods.closed[welds.rod[n]])
            turned = bodies.pull[k]  # response to a torque about the edge
            for s in range(3):
                turned[s], turned[3 + s] = 0.0, nodes.t[welds.node[n], s]
            half_solve(bodies.metric[k], 6, turned)
            mobility = 0.0
            for s in range(6):
                mobility += turned[s] * turned[s]
            fastest = max(fastest, stiff * mobility)
    return float(min(longest, 1.0 / max(0.5 * math.sqrt(fastest) / STABLE_FRACTION, math.sqrt(turning) / TURN, 1e-12)))


@part
def _inner_step(
    b: RodArrays, chain: Chain, nodes: Nodes, m: Motion, c: Carried, a: int, h: float, at: float, tolerance: float
) -> tuple[int, float]:
    """Algorithm 1 of the paper. Returns the number of projection iterations, -1 if a rod folded, and the largest relative
    length error."""
    rods, of, ties, bodies = b.rods, c.assemblies, c.ties, c.bodies
    _apply_torques(rods, chain, nodes, c, a)
    for n in range(of.bodies[a], of.bodies[a + 1]):
        k = of.body[n]
        for i in range(3):
            bodies.before_x[k, i] = bodies.x[k, i]
            bodies.before_v[k, i], bodies.before_w[k, i] = bodies.v[k, i], bodies.w[k, i]
            for j in range(3):
                bodies.before_rotation[k, i, j] = bodies.rotation[k, i, j]
        if bodies.kinematic[k]:
            lead(bodies, k, at)
        else:
            fly(bodies, k, h)
    for n in range(of.rods[a], of.rods[a + 1]):
        r = of.rod[n]
        apply_forces(b, chain, nodes, m, r)
        predict(b, m, r, h, at)
        for t in range(of.tie_of_rod[r], of.tie_of_rod[r + 1]):
            i = ties.vertex[t]
            f = h * h / rods.mass[i, 0]
            for s in range(3):
                m.x[i, s] = m.before[i, s] + h * m.v[i, s] + f * m.force[i, s]
    iterations, worst = project_assembly(rods, m, c, a, tolerance)
    if not worst < FAILED_ERROR:
        return -1, worst
    _set_holds(b, c, a)
    for n in range(of.rods[a], of.rods[a + 1]):
        r = of.rod[n]
        place_frames(rods, b.holds, m.frames, rods.start[r], rods.start[r + 1], at)
        if not transport_frames(rods, b.holds, m.frames, chain, nodes, m.x, r, at):
            return -1, worst
        relax_frames(chain, nodes, rods.mass, r, rods.closed[r])
    f = 1.0 / h
    for n in range(of.rods[a], of.rods[a + 1]):
        for i in range(rods.start[of.rod[n]], rods.start[of.rod[n] + 1]):
            c.tension[i] *= f * f
            for s in range(3):
                m.v[i, s] = f * (m.x[i, s] - m.before[i, s])
    for n in range(of.bodies[a], of.bodies[a + 1]):
        k = of.body[n]
        turn = turn_since(bodies.rotation, bodies.before_rotation, k)
        for s in range(3):
            bodies.v[k, s] = f * (bodies.x[k, s] - bodies.before_x[k, s])
            bodies.w[k, s] = f * turn[s]
    return iterations, worst


@part
def _apply_torques(rods: Rods, chain: Chain, nodes: Nodes, c: Carried, a: int) -> None:
    of, welds, bodies = c.assemblies, c.welds, c.bodies
    for n in range(of.bodies[a], of.bodies[a + 1]):
        put(bodies.torque, of.body[n], (0.0, 0.0, 0.0))
    for n in range(of.welds[a], of.welds[a + 1]):
        k = welds.node[n]
        torque = frame_torque(chain, nodes, welds.rod[n], k, rods.closed[welds.rod[n]])
        for s in range(3):
            bodies.torque[welds.body[n], s] += torque * nodes.t[k, s]


@part
def _roll_back(b: RodArrays, chain: Chain, nodes: Nodes, m: Motion, c: Carried, a: int, at: float) -> bool:
    """Rolls back an inner step."""
    of, bodies = c.assemblies, c.bodies
    for n in range(of.bodies[a], of.bodies[a + 1]):
        k = of.body[n]
        for i in range(3):
            bodies.x[k, i] = bodies.before_x[k, i]
            bodies.v[k, i], bodies.w[k, i] = bodies.before_v[k, i], bodies.before_w[k, i]
            for j in range(3):
                bodies.rotation[k, i, j] = bodies.before_rotation[k, i, j]
    _set_holds(b, c, a)
    good = True
    for n in range(of.rods[a], of.rods[a + 1]):
        good = roll_back(b, chain, nodes, m, of.rod[n], at) and good
    return good
