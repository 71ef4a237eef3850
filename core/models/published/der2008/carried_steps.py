"""Steps of rods and the rigid bodies that they carry, as published (section 8 of the paper, Algorithm 1).

Bodies and rods first move as if they knew nothing of each other. Fast projection then finds the nearest configuration in which
edges have their lengths and bodies carry their vertices, in the metric of the kinetic energy of both. A carried vertex is where
its body has it, so that it is no unknown; its mass adds to the body's generalized mass. With T the matrix of the rods' constraints
among each other, carried vertices held, and G how constraints change with the bodies' motion y, an iteration solves
    (M + G^T T^-1 G) y = -m J^T gap + G^T l,  l = -T^-1 C,    then the multipliers are l - T^-1 G y.
Forces come through the projection; the torque on a welded frame is handed to its body before each step (8.2).
"""

from __future__ import annotations

import math

from ....compile.jit import kernel, part
from ....contact.bodies.explicit import fly, lead, straighten, to_world, turn_body, turn_since
from ....errors import Array
from ....forces.air import cylinder_drag
from ....maths.geometry.frames import cross, dot
from ....maths.geometry.rows import get, put
from ....maths.linalg.dense import factor_dense, half_solve
from ....maths.linalg.sparse_factor import factor, solve
from ....maths.linalg.tridiagonal import solve_tridiagonal
from ...elastic.arrays import Step
from ...elastic.rods import RodArrays, Rods
from ...held_frames import place_frames
from ...report import FAILURES, HALVINGS, ITERATIONS, RESIDUAL
from .arrays import Chain, Motion, Nodes
from .carried import Carried
from .carried_bodies import add_vertex, frame_stiffness, frame_torque, weigh
from .forces import STABLE, TURN, longest_step, measure_energies
from .frames import carry_frames, give_frames, relax_frames
from .projection import MOST_ITERATIONS, factor_constraints, give_way_to_multipliers, lengths_off
from .stepping import MOST_HALVINGS, MOST_INNER, USELESS, WATCH, apply_forces, go_back, make_metric, predict, take_up


@kernel
def step_assemblies(
    b: RodArrays, chain: Chain, nodes: Nodes, m: Motion, c: Carried, step: Step, before: Array, first: int, last: int
) -> None:
    """One step of assemblies first ... last - 1. One that can't be stepped stays where it was and loses its speed."""
    for a in range(first, last):
        if not _step_assembly(b, chain, nodes, m, c, step, a):
            _give_up(b, c, before, a)


@kernel
def measure_assemblies(b: RodArrays, chain: Chain, nodes: Nodes, m: Motion, c: Carried, first: int, last: int) -> None:
    """The energies of their rods."""
    of = c.assemblies
    for a in range(first, last):
        _put_holds(b, c, a)
        for k in range(of.rods[a], of.rods[a + 1]):
            if take_up(b, chain, nodes, m, of.rod[k], 0.0, False):
                measure_energies(chain, nodes, b.log.energy, of.rod[k])


@part
def _step_assembly(b: RodArrays, chain: Chain, nodes: Nodes, m: Motion, c: Carried, step: Step, a: int) -> bool:
    rods, state, report, bodies, of = b.rods, b.state, b.log.report, c.bodies, c.assemblies
    _put_holds(b, c, a)
    for k in range(of.rods[a], of.rods[a + 1]):
        r = of.rod[k]
        if not take_up(b, chain, nodes, m, r, 0.0, True):
            return False
        for i in range(rods.start[r], rods.start[r + 1]):
            c.tension[i] = 0.0
        cylinder_drag(
            rods.radii, rods.mass, m.x, m.v, b.forces.wind, step.air_density, b.forces.drag_rate[0], m.drag,
            rods.start[r], rods.start[r + 1], rods.closed[r],
        )  # fmt: skip
    passed, count, left, halvings, start, h = 0.0, 0, 0, 0, 0.0, step.h
    inner, most, iterations, residual, tried = 0, 0, 0, 0.0, False
    while True:
        if left == 0 or count % WATCH == 0:
            longest = _longest(b, chain, nodes, m, c, a) / 2.0**halvings
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
        if tries < 0 or not worst < USELESS:
            halvings += 1
            if halvings > MOST_HALVINGS or not _take_back(b, chain, nodes, m, c, a, passed):
                return False
            report[of.rod[of.rods[a]], HALVINGS] += 1.0
            left = 0
            continue
        if inner == 0 and not tried:  # now tensions are known, and with them how long it may have been
            tried = True
            if h > _longest(b, chain, nodes, m, c, a) / 2.0**halvings:
                if not _take_back(b, chain, nodes, m, c, a, 0.0):
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
        give_frames(rods, state, chain, nodes, r)
        for i in range(rods.start[r], rods.start[r + 1]):
            for s in range(3):
                state.q[i, s] = m.x[i, s]
                state.v[i, s] = m.v[i, s]
            state.q[i, 3], state.v[i, 3] = 0.0, 0.0
            for s in range(4):
                state.a[i, s] = 0.0
    for k in range(of.bodies[a], of.bodies[a + 1]):
        straighten(bodies.rotation, of.body[k])
    return True


@part
def _give_up(b: RodArrays, c: Carried, before: Array, a: int) -> None:
    """Bodies go back to where they were, and everything stands still."""
    of, bodies = c.assemblies, c.bodies
    for n in range(of.bodies[a], of.bodies[a + 1]):
        k = of.body[n]
        for i in range(3):
            bodies.x[k, i] = before[k, i]
            bodies.v[k, i], bodies.w[k, i] = 0.0, 0.0
            for j in range(3):
                bodies.rotation[k, i, j] = before[k, 3 + 3 * i + j]
    _put_holds(b, c, a)
    for n in range(of.rods[a], of.rods[a + 1]):
        r = of.rod[n]
        b.log.report[r, FAILURES] += 1.0
        for i in range(b.rods.start[r], b.rods.start[r + 1]):
            for s in range(4):
                b.state.v[i, s], b.state.a[i, s] = 0.0, 0.0


@part
def _put_holds(b: RodArrays, c: Carried, a: int) -> None:
    """What bodies hold, for the rods."""
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
def _longest(b: RodArrays, chain: Chain, nodes: Nodes, m: Motion, c: Carried, a: int) -> float:
    """The longest stable inner step."""
    rods, of, ties, welds, bodies = b.rods, c.assemblies, c.ties, c.welds, c.bodies
    for n in range(of.bodies[a], of.bodies[a + 1]):
        weigh(bodies, of.body[n])
    longest, fastest, turning = math.inf, 0.0, 0.0
    for n in range(of.rods[a], of.rods[a + 1]):
        r = of.rod[n]
        longest = min(longest, longest_step(rods, chain, nodes, m.v, m.diagonal, r))
        for j in range(rods.start[r], rods.start[r + 1]):  # a taut rod vibrates like a string
            light = min(rods.mass[j, 0], rods.mass[j + 1 if j + 1 < rods.start[r + 1] else rods.start[r], 0])
            fastest = max(fastest, 4.0 * abs(c.tension[j]) / (rods.rest_length[j] * light))
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
            turned = bodies.pull[k]  # by a torque about the edge
            for s in range(3):
                turned[s], turned[3 + s] = 0.0, nodes.t[welds.node[n], s]
            half_solve(bodies.metric[k], 6, turned)
            mobility = 0.0
            for s in range(6):
                mobility += turned[s] * turned[s]
            fastest = max(fastest, stiff * mobility)
    return float(min(longest, 1.0 / max(0.5 * math.sqrt(fastest) / STABLE, math.sqrt(turning) / TURN, 1e-12)))


@part
def _inner_step(
    b: RodArrays, chain: Chain, nodes: Nodes, m: Motion, c: Carried, a: int, h: float, at: float, tolerance: float
) -> tuple[int, float]:
    """Algorithm 1 of the paper. Returns the iterations of the projection, -1 if a rod folded, and how far edges are off."""
    rods, of, ties, bodies = b.rods, c.assemblies, c.ties, c.bodies
    _hand_over_torques(rods, chain, nodes, c, a)
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
    iterations, worst = _project(rods, m, c, a, tolerance)
    if not worst < USELESS:
        return -1, worst
    _put_holds(b, c, a)
    for n in range(of.rods[a], of.rods[a + 1]):
        r = of.rod[n]
        place_frames(rods, b.holds, m.frames, rods.start[r], rods.start[r + 1], at)
        if not carry_frames(rods, b.holds, m.frames, chain, nodes, m.x, r, at):
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
def _hand_over_torques(rods: Rods, chain: Chain, nodes: Nodes, c: Carried, a: int) -> None:
    of, welds, bodies = c.assemblies, c.welds, c.bodies
    for n in range(of.bodies[a], of.bodies[a + 1]):
        put(bodies.torque, of.body[n], (0.0, 0.0, 0.0))
    for n in range(of.welds[a], of.welds[a + 1]):
        k = welds.node[n]
        torque = frame_torque(chain, nodes, welds.rod[n], k, rods.closed[welds.rod[n]])
        for s in range(3):
            bodies.torque[welds.body[n], s] += torque * nodes.t[k, s]


@part
def _take_back(b: RodArrays, chain: Chain, nodes: Nodes, m: Motion, c: Carried, a: int, at: float) -> bool:
    """Back to where an inner step began."""
    of, bodies = c.assemblies, c.bodies
    for n in range(of.bodies[a], of.bodies[a + 1]):
        k = of.body[n]
        for i in range(3):
            bodies.x[k, i] = bodies.before_x[k, i]
            bodies.v[k, i], bodies.w[k, i] = bodies.before_v[k, i], bodies.before_w[k, i]
            for j in range(3):
                bodies.rotation[k, i, j] = bodies.before_rotation[k, i, j]
    _put_holds(b, c, a)
    good = True
    for n in range(of.rods[a], of.rods[a + 1]):
        good = go_back(b, chain, nodes, m, of.rod[n], at) and good
    return good


@part
def _carry_vertices(rods: Rods, m: Motion, c: Carried, a: int, first: bool) -> float:
    """Puts carried vertices where their bodies have them, and finds the bodies' generalized mass, what the gap pulls on them (there
    is one the first time), and how constraints change with their motion. Returns how far edges are off."""
    of, ties, bodies = c.assemblies, c.ties, c.bodies
    for n in range(of.bodies[a], of.bodies[a + 1]):
        weigh(bodies, of.body[n])
        for s in range(6):
            bodies.pull[of.body[n], s] = 0.0
    worst = 0.0
    for n in range(of.rods[a], of.rods[a + 1]):
        r = of.rod[n]
        for t in range(of.tie_of_rod[r], of.tie_of_rod[r + 1]):
            i, k = ties.vertex[t], ties.body[t]
            arm = to_world(bodies.rotation, k, get(ties.point, t))
            place = (bodies.x[k, 0] + arm[0], bodies.x[k, 1] + arm[1], bodies.x[k, 2] + arm[2])
            add_vertex(bodies, ties, t, rods.mass[i, 0], arm)
            if first:
                mass = rods.mass[i, 0]
                gap = (mass * (m.x[i, 0] - place[0]), mass * (m.x[i, 1] - place[1]), mass * (m.x[i, 2] - place[2]))
                couple = cross(arm, gap)
                for s in range(3):
                    bodies.pull[k, s] += gap[s]
                    bodies.pull[k, 3 + s] += couple[s]
            put(m.x, i, place)
        off = lengths_off(rods, m, r)
        worst = off if not off <= worst else worst
        for t in range(of.tie_of_rod[r], of.tie_of_rod[r + 1]):
            if ties.edge[t] >= 0:
                k = ties.body[t]
                arm = to_world(bodies.rotation, k, get(ties.point, t))
                g, sign = get(m.gradient, ties.edge[t]), ties.sign[t]
                couple = cross(arm, g)
                for s in range(3):
                    ties.reach[t, s] = sign * g[s]
                    ties.reach[t, 3 + s] = sign * couple[s]
    return worst


@part
def _project(rods: Rods, m: Motion, c: Carried, a: int, tolerance: float) -> tuple[int, float]:
    """Fast projection. Returns iterations, and how far edges are off at the end."""
    of, bodies, pattern = c.assemblies, c.bodies, c.pattern
    before = math.inf
    for n in range(of.rods[a], of.rods[a + 1]):
        for j in range(rods.start[of.rod[n]], rods.start[of.rod[n] + 1]):
            c.tension[j] = 0.0
    for iteration in range(MOST_ITERATIONS):
        worst = _carry_vertices(rods, m, c, a, iteration == 0)
        if (iteration > 0 and not worst > tolerance) or (iteration > 5 and worst > 0.5 * before):
            return iteration, worst
        before = worst
        if not worst < math.inf:
            return iteration, math.inf
        for e in range(pattern.panel[pattern.net[a]], pattern.panel[pattern.net[a + 1]]):
            c.values[e] = 0.0
        for n in range(of.bodies[a], of.bodies[a + 1]):
            k = of.body[n]
            if not bodies.kinematic[k]:
                for p in range(6):
                    for q in range(p + 1):
                        c.values[of.own[k, p, q]] += bodies.metric[k, p, q]
        for n in range(of.rods[a], of.rods[a + 1]):
            if not _gather_rod(rods, m, c, of.rod[n]):
                return iteration, math.inf
        if not factor(pattern, c.values, c.stack, a):
            return iteration, math.inf
        for n in range(of.bodies[a], of.bodies[a + 1]):
            k = of.body[n]
            if not bodies.kinematic[k]:
                for p in range(6):
                    c.order[pattern.place[6 * k + p]] = bodies.pull[k, p]
        solve(pattern, c.values, a, c.order)
        for n in range(of.bodies[a], of.bodies[a + 1]):
            k = of.body[n]
            for p in range(6):
                bodies.motion[k, p] = 0.0 if bodies.kinematic[k] else c.order[pattern.place[6 * k + p]]
            if not bodies.kinematic[k]:
                for s in range(3):
                    bodies.x[k, s] += bodies.motion[k, s]
                turn_body(bodies.rotation, k, (bodies.motion[k, 3], bodies.motion[k, 4], bodies.motion[k, 5]))
        for n in range(of.rods[a], of.rods[a + 1]):
            _follow_bodies(rods, m, c, of.rod[n])
    return MOST_ITERATIONS, _carry_vertices(rods, m, c, a, False)


@part
def _gather_rod(rods: Rods, m: Motion, c: Carried, r: int) -> bool:
    """Adds G^T T^-1 G of a rod to the matrix of the bodies and G^T l to the right-hand side."""
    of, ties, bodies = c.assemblies, c.ties, c.bodies
    first, closed = rods.start[r], rods.closed[r]
    count = rods.start[r + 1] - first if closed else rods.start[r + 1] - first - 1
    if not factor_constraints(rods, m, r):
        return False
    solve_tridiagonal(m.diagonal, m.beside, m.fill, first, count, closed, m.multiplier)
    begin, stop = of.tie_of_rod[r], of.tie_of_rod[r + 1]
    for t in range(begin, stop):
        k = ties.body[t]
        if ties.edge[t] < 0 or bodies.kinematic[k]:
            continue
        for p in range(6):
            bodies.pull[k, p] += ties.reach[t, p] * m.multiplier[ties.edge[t]]
        for j in range(first, first + count):
            c.response[j] = 0.0
        c.response[ties.edge[t]] = 1.0
        solve_tridiagonal(m.diagonal, m.beside, m.fill, first, count, closed, c.response)
        for u in range(begin, stop):
            other = ties.body[u]
            if ties.edge[u] < 0 or bodies.kinematic[other] or (k != other and t > u):
                continue
            weight = c.response[ties.edge[u]]
            pair = of.pair[t] + u - begin
            for p in range(6):
                for q in range(p + 1 if k == other else 6):
                    c.values[of.place[pair, p, q]] += ties.reach[t, p] * weight * ties.reach[u, q]
    return True


@part
def _follow_bodies(rods: Rods, m: Motion, c: Carried, r: int) -> None:
    """The rod's multipliers now that the bodies have moved, and what they do to its vertices."""
    of, ties, bodies = c.assemblies, c.ties, c.bodies
    first, closed = rods.start[r], rods.closed[r]
    count = rods.start[r + 1] - first if closed else rods.start[r + 1] - first - 1
    for j in range(first, first + count):
        c.response[j] = 0.0
    for t in range(of.tie_of_rod[r], of.tie_of_rod[r + 1]):
        if ties.edge[t] >= 0:
            for p in range(6):
                c.response[ties.edge[t]] -= ties.reach[t, p] * bodies.motion[ties.body[t], p]
    solve_tridiagonal(m.diagonal, m.beside, m.fill, first, count, closed, c.response)
    for j in range(first, first + count):
        m.multiplier[j] += c.response[j]
        c.tension[j] += m.multiplier[j]
    give_way_to_multipliers(rods, m, m.x, r)
