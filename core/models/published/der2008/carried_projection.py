"""Fast projection of coupled rods and rigid bodies; the equations are in `carried_steps.py`."""

from __future__ import annotations

import math

from ....compile.jit import part
from ....contact.bodies.explicit import to_world, turn_body
from ....maths.geometry.frames import cross
from ....maths.geometry.rows import get, put
from ....maths.linalg.sparse_factor import factor, solve
from ....maths.linalg.tridiagonal import solve_tridiagonal
from ...elastic.rods import Rods
from .arrays import Motion
from .carried import Carried
from .carried_bodies import add_vertex, body_metric
from .projection import MOST_ITERATIONS, apply_multipliers, factor_constraints, length_errors


@part
def _update_ties(rods: Rods, m: Motion, c: Carried, a: int, first: bool) -> float:
    """Moves tied vertices with their bodies, and computes the bodies' generalized mass, the impulse of the initial gap (in the
    first iteration only), and the derivative of the constraints with respect to the bodies' motion. Returns the largest
    relative length error."""
    of, ties, bodies = c.assemblies, c.ties, c.bodies
    for n in range(of.bodies[a], of.bodies[a + 1]):
        body_metric(bodies, of.body[n])
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
        off = length_errors(rods, m, r, m.symplectic[0])
        worst = off if not off <= worst else worst
        for t in range(of.tie_of_rod[r], of.tie_of_rod[r + 1]):
            if ties.edge[t] >= 0:
                k = ties.body[t]
                arm = to_world(bodies.before_rotation if m.symplectic[0] else bodies.rotation, k, get(ties.point, t))
                g, sign = get(m.gradient, ties.edge[t]), ties.sign[t]
                couple = cross(arm, g)
                for s in range(3):
                    ties.reach[t, s] = sign * g[s]
                    ties.reach[t, 3 + s] = sign * couple[s]
    return worst


@part
def project_assembly(rods: Rods, m: Motion, c: Carried, a: int, tolerance: float) -> tuple[int, float]:
    """Fast projection. Returns the number of iterations and the largest relative length error."""
    of, bodies, pattern = c.assemblies, c.bodies, c.pattern
    before = math.inf
    for n in range(of.rods[a], of.rods[a + 1]):
        for j in range(rods.start[of.rod[n]], rods.start[of.rod[n] + 1]):
            c.tension[j] = 0.0
    for iteration in range(MOST_ITERATIONS):
        worst = _update_ties(rods, m, c, a, iteration == 0)
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
            if not _add_rod(rods, m, c, of.rod[n]):
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
            _update_rod(rods, m, c, of.rod[n])
    return MOST_ITERATIONS, _update_ties(rods, m, c, a, False)


@part
def _add_rod(rods: Rods, m: Motion, c: Carried, r: int) -> bool:
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
def _update_rod(rods: Rods, m: Motion, c: Carried, r: int) -> None:
    """Updates the rod's multipliers for the bodies' motion, and displaces its vertices."""
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
    apply_multipliers(rods, m, m.x, r)
