"""Frames along the chain: Bishop frames by parallel transport along the rod, and in time at its first edge; material frames by
angles.

The material frames are quasistatic (Bergou et al. 2008, section 5): they always minimise the energy. For naturally straight,
isotropic rods the solution is known, (5). In general Newton's method on the tridiagonal system (7) finds it from the previous
angles.
"""

from __future__ import annotations

import math

from ....compile.jit import part
from ....errors import Array
from ....maths.geometry.frames import Vector, cross, dot, signed_angle, sine_cosine, transport, turn
from ....maths.geometry.rows import edge_of, get, nearest_turn, put
from ....maths.linalg.tridiagonal import factor_tridiagonal, solve_tridiagonal
from ...elastic.element import LEAST_CHI
from ...elastic.rods import Rods, RodState
from ...held_frames import HeldFrames, Holds, between, blend
from .arrays import Chain, Nodes

MOST_ITERATIONS = 60
CONVERGED = 1e-6  # rad, length of the last Newton step; by quadratic convergence the remaining error is negligible
LARGEST_STEP = 0.7  # rad, largest Newton step
NO_LINE_SEARCH = 1e-3  # rad, below this a step needs no line search
# regularisation relative to the largest stiffness, against drift of rods that can rotate freely about their axis
REGULARISATION = 1e-9


@part
def load_frames(rods: Rods, state: RodState, frames: HeldFrames, chain: Chain, nodes: Nodes, x: Array, r: int) -> None:
    """Bishop frames and angles of a state; theta includes whole turns of twist. Prescribed frames are those of the state's time."""
    first, end = rods.start[r], rods.start[r + 1]
    begin, stop = chain.start[r], chain.start[r + 1]
    edge, theta, m1 = chain.edge, nodes.theta, state.m1
    known = -1  # last node that is an edge
    for k in range(begin, stop):
        j = edge[k]
        if j < 0:
            theta[k] = frames.spin[chain.vertex[k]]
            continue
        _, t = edge_of(x, j, j + 1 if j + 1 < end else first)
        m = get(m1, j)
        if known < 0:
            put(nodes.u, k, m)
            theta[k] = 0.0
        else:
            u = transport(get(nodes.u, known), get(nodes.t, known), t)
            put(nodes.u, k, u)
            likely = theta[known] + state.twist[j, 0] + state.twist[j, 1]
            theta[k] = likely if k == known + 1 else nearest_turn(signed_angle(u, m, t), likely)
        put(nodes.t, k, t)
        nodes.lag[k] = theta[k] - frames.spin[j]
        known = k
    for k in range(begin, stop):
        nodes.sine[k], nodes.cosine[k] = sine_cosine(theta[k])
        if chain.slot[k] >= 0:
            a = k - 1 if k > begin else stop - 1
            nodes.reference[k] = state.twist[chain.vertex[k], chain.slot[k]] - (theta[k] - theta[a])


@part
def transport_frames(
    rods: Rods, holds: Holds, frames: HeldFrames, chain: Chain, nodes: Nodes, x: Array, r: int, at: float
) -> bool:
    """Bishop frames and curvatures (1) of the centerline x, with prescribed angles at fraction `at` of the step. Returns False
    if an edge has collapsed or a corner is too sharp."""
    first, end = rods.start[r], rods.start[r + 1]
    begin, stop = chain.start[r], chain.start[r + 1]
    edge, t, u, theta, kb, chi = chain.edge, nodes.t, nodes.u, nodes.theta, nodes.kb, nodes.chi
    inverse_length, reference, rest_length = nodes.inverse_length, nodes.reference, rods.rest_length
    simple = chain.simple[r]
    known = -1
    for k in range(begin, stop):
        j = edge[k]
        if j < 0:
            i = chain.vertex[k]
            put(t, k, get(frames.tangent, i))
            put(u, k, get(frames.director, i))
            theta[k] = frames.spin[i]
            nodes.sine[k], nodes.cosine[k] = sine_cosine(theta[k])
            continue
        length, tangent = edge_of(x, j, j + 1 if j + 1 < end else first)
        if not length > 1e-6 * rest_length[j]:
            return False
        inverse_length[k] = 1.0 / length
        if k > begin and known == k - 1:
            ta, ua = get(t, known), get(u, known)
            director, binormal, one_plus = _along(ua, ta, tangent)
            if not one_plus > LEAST_CHI:
                return False
            chi[k] = one_plus
            put(kb, k, binormal)
            if not simple:
                _curvatures(nodes.bishop, k, binormal, ta, ua, 0)
                _curvatures(nodes.bishop, k, binormal, tangent, director, 2)
        else:  # in time at the first edge; across a prescribed frame along the rod
            a = k if known < 0 else known
            director = transport(get(u, a), get(t, a), tangent)
        put(u, k, director)
        put(t, k, tangent)
        known = k
        if chain.fixed[k]:
            d = blend(get(holds.director[0], j), get(holds.director[1], j), at)
            nodes.lag[k] = nearest_turn(signed_angle(director, transport(d, tangent, tangent), tangent), nodes.lag[k])
            theta[k] = nodes.lag[k] + between(holds.spin[0, j], holds.spin[1, j], at)
            nodes.sine[k], nodes.cosine[k] = sine_cosine(theta[k])
    for k in range(begin, stop):
        a = k - 1 if k > begin else stop - 1
        if chain.slot[k] < 0 or (k > begin and edge[a] >= 0 and edge[k] >= 0):
            continue
        ta, tb = get(t, a), get(t, k)
        director, binormal, one_plus = _along(get(u, a), ta, tb)
        if not one_plus > LEAST_CHI:
            return False
        chi[k] = one_plus
        put(kb, k, binormal)
        reference[k] = nearest_turn(signed_angle(director, get(u, k), tb), reference[k])
        if not simple:
            _curvatures(nodes.bishop, k, binormal, ta, get(u, a), 0)
            _curvatures(nodes.bishop, k, binormal, tb, get(u, k), 2)
    return True


@part
def _along(u: Vector, t: Vector, s: Vector) -> tuple[Vector, Vector, float]:
    """Parallel transport of u from tangent t to s, with the curvature binormal (1) and chi."""
    b = cross(t, s)
    c = dot(t, s)
    chi = 1.0 + c
    f = 1.0 / max(chi, LEAST_CHI)
    w = cross(b, u)
    k = f * dot(b, u)
    g = 2.0 * f
    carried = (c * u[0] + w[0] + k * b[0], c * u[1] + w[1] + k * b[1], c * u[2] + w[2] + k * b[2])
    return carried, (g * b[0], g * b[1], g * b[2]), chi


@part
def _curvatures(bishop: Array, k: int, kb: Vector, t: Vector, u: Vector, column: int) -> None:
    """Curvatures (2) in a Bishop frame."""
    bishop[k, column] = dot(kb, cross(t, u))
    bishop[k, column + 1] = -dot(kb, u)


@part
def relax_frames(chain: Chain, nodes: Nodes, mass: Array, r: int, closed: bool) -> int:
    """Makes the material frames quasistatic, (4). Returns the number of Newton iterations."""
    if chain.simple[r]:
        _even_twist(chain, nodes, mass, r, closed)
        return 0
    iterations = _least_energy(chain, nodes, r, closed)
    _twists(chain, nodes, r)
    return iterations


@part
def _twists(chain: Chain, nodes: Nodes, r: int) -> None:
    theta = nodes.theta
    begin, stop = chain.start[r], chain.start[r + 1]
    for k in range(begin, stop):
        if chain.slot[k] >= 0:
            nodes.twist[k] = nodes.reference[k] + theta[k] - theta[k - 1 if k > begin else stop - 1]


@part
def _even_twist(chain: Chain, nodes: Nodes, mass: Array, r: int, closed: bool) -> None:
    """The special case (5): uniform torque between prescribed frames, zero torque beyond the last. Without prescribed frames
    the angles are shifted so that the net angular momentum about the axis is zero."""
    begin, stop = chain.start[r], chain.start[r + 1]
    theta, fixed, reference = nodes.theta, chain.fixed, nodes.reference
    stiffness, rest = chain.stiffness, chain.rest
    anchor = -1  # first prescribed node
    for k in range(begin, stop):
        if fixed[k]:
            anchor = k
            break
    if anchor < 0:
        torque = 0.0
        if closed:
            torque = _torque(chain, nodes, begin, begin, begin, stop)
        weight, turned, old = 0.0, 0.0, theta[begin]
        angle = old
        for k in range(begin, stop):
            if k > begin:
                m = rest[k, 4] + torque / stiffness[k, 4]
                angle += m - reference[k]
            inertia = mass[chain.edge[k], 3]
            weight += inertia
            turned += inertia * (angle - theta[k])
            theta[k] = angle
        turned /= weight
        for k in range(begin, stop):
            theta[k] -= turned
    else:
        for k in range(anchor - 1, begin - 1, -1):  # the free start of an open rod; the second loop handles closed ones
            theta[k] = theta[k + 1] - rest[k + 1, 4] + reference[k + 1]
        k = anchor
        while True:
            following, steps = k, 0
            while True:  # next prescribed node; on a closed rod it may be the same
                following += 1
                steps += 1
                if following == stop:
                    if not closed:
                        break
                    following = begin
                if fixed[following]:
                    break
            torque = 0.0
            if following < stop:
                torque = _torque(chain, nodes, k, following, begin, stop)
            angle = theta[k]
            node = k
            for _ in range(steps - 1):
                node = node + 1 if node + 1 < stop else begin
                angle += rest[node, 4] + torque / stiffness[node, 4] - reference[node]
                theta[node] = angle
            if following in (stop, anchor):
                break
            k = following
    _twists(chain, nodes, r)


@part
def _torque(chain: Chain, nodes: Nodes, a: int, b: int, begin: int, stop: int) -> float:
    """N m, torque between nodes a and b; if they are the same, around the whole closed rod."""
    angle, compliance = nodes.theta[b] - nodes.theta[a], 0.0
    k = a
    while True:
        k = k + 1 if k + 1 < stop else begin
        angle += nodes.reference[k] - chain.rest[k, 4]
        compliance += 1.0 / chain.stiffness[k, 4]
        if k == b:
            return float(angle / compliance)


@part
def _least_energy(chain: Chain, nodes: Nodes, r: int, closed: bool) -> int:
    """The general case: Newton's method with line search on a tridiagonal Hessian."""
    begin, stop = chain.start[r], chain.start[r + 1]
    step, diagonal, beside, fill, fixed = nodes.step, nodes.diagonal, nodes.beside, nodes.fill, chain.fixed
    if stop - begin < 2:
        return 0
    for iteration in range(1, MOST_ITERATIONS + 1):
        shift = 0.0
        while True:
            stiffest = _derivatives(chain, nodes, r)
            shift = max(shift, REGULARISATION * stiffest)
            for k in range(begin, stop):
                diagonal[k] += shift
                if fixed[k]:
                    diagonal[k], beside[k], step[k] = stiffest, 0.0, 0.0
                elif fixed[k - 1 if k > begin else stop - 1]:
                    beside[k] = 0.0
            if factor_tridiagonal(diagonal, beside, fill, begin, stop - begin, closed, 1e-12 * stiffest):
                break
            if shift > 1e3 * stiffest or not stiffest < math.inf:
                return iteration
            shift = max(4.0 * shift, 1e-2 * stiffest)  # strong anisotropy can make it indefinite
        solve_tridiagonal(diagonal, beside, fill, begin, stop - begin, closed, step)
        longest = 0.0
        for k in range(begin, stop):
            longest = max(longest, abs(step[k]))
        if not longest < math.inf:
            return iteration
        size = 1.0 if longest < LARGEST_STEP else LARGEST_STEP / longest
        if longest > NO_LINE_SEARCH:
            energy = _energy(chain, nodes, 0.0, r)
            for _ in range(30):
                if _energy(chain, nodes, size, r) <= energy:
                    break
                size *= 0.5
            else:
                return iteration
        _turn_angles(nodes, begin, stop, size)
        if longest < CONVERGED:
            return iteration
    return MOST_ITERATIONS


@part
def _turn_angles(nodes: Nodes, begin: int, stop: int, size: float) -> None:
    """Advances the angles by size * step."""
    theta, sine, cosine, step = nodes.theta, nodes.sine, nodes.cosine, nodes.step
    for k in range(begin, stop):
        theta[k] += size * step[k]
        s, c = _turned(sine[k], cosine[k], size * step[k])
        f = 1.5 - 0.5 * (s * s + c * c)  # against accumulated round-off
        sine[k], cosine[k] = f * s, f * c


@part
def _turned(sine: float, cosine: float, angle: float) -> tuple[float, float]:
    s, c = sine_cosine(angle)
    return c * sine + s * cosine, c * cosine - s * sine


@part
def _in_material(bishop: Array, k: int, column: int, sine: float, cosine: float) -> tuple[float, float]:
    """Material curvatures (2) from those in the Bishop frame."""
    x, y = bishop[k, column], bishop[k, column + 1]
    return cosine * x + sine * y, cosine * y - sine * x


@part
def _derivatives(chain: Chain, nodes: Nodes, r: int) -> float:
    """Writes the negative gradient (7) of the energy to `step`, and its Hessian. Returns the largest entry of the Hessian."""
    begin, stop = chain.start[r], chain.start[r + 1]
    stiffness, rest, slot, bishop, theta = chain.stiffness, chain.rest, chain.slot, nodes.bishop, nodes.theta
    sine, cosine, reference = nodes.sine, nodes.cosine, nodes.reference
    diagonal, beside, step = nodes.diagonal, nodes.beside, nodes.step
    stiffest = 0.0
    for k in range(begin, stop):
        diagonal[k], beside[k], step[k] = 0.0, 0.0, 0.0
    a = stop - 1
    for k in range(begin, stop):
        if slot[k] >= 0:
            k0, k1, k2, k3, k4 = stiffness[k, 0], stiffness[k, 1], stiffness[k, 2], stiffness[k, 3], stiffness[k, 4]
            o0, o1 = _in_material(bishop, k, 0, sine[a], cosine[a])
            o2, o3 = _in_material(bishop, k, 2, sine[k], cosine[k])
            e0, e1, e2, e3 = o0 - rest[k, 0], o1 - rest[k, 1], o2 - rest[k, 2], o3 - rest[k, 3]
            torque = k4 * (reference[k] + theta[k] - theta[a] - rest[k, 4])
            step[a] -= k0 * e0 * o1 - k1 * e1 * o0 - torque
            step[k] -= k2 * e2 * o3 - k3 * e3 * o2 + torque
            diagonal[a] += k4 + k0 * (o1 * o1 - e0 * o0) + k1 * (o0 * o0 - e1 * o1)
            diagonal[k] += k4 + k2 * (o3 * o3 - e2 * o2) + k3 * (o2 * o2 - e3 * o3)
            beside[k] -= k4
            stiffest = max(stiffest, 2.0 * k4, abs(diagonal[a]))
        a = k
    return stiffest


@part
def _energy(chain: Chain, nodes: Nodes, size: float, r: int) -> float:
    """J, energy at size * step."""
    begin, stop = chain.start[r], chain.start[r + 1]
    stiffness, rest, bishop, theta, step = chain.stiffness, chain.rest, nodes.bishop, nodes.theta, nodes.step
    energy = 0.0
    a = stop - 1
    sa, ca = _turned(nodes.sine[a], nodes.cosine[a], size * step[a])
    for k in range(begin, stop):
        sb, cb = _turned(nodes.sine[k], nodes.cosine[k], size * step[k])
        if chain.slot[k] >= 0:
            o0, o1 = _in_material(bishop, k, 0, sa, ca)
            o2, o3 = _in_material(bishop, k, 2, sb, cb)
            e0, e1, e2, e3 = o0 - rest[k, 0], o1 - rest[k, 1], o2 - rest[k, 2], o3 - rest[k, 3]
            e4 = nodes.reference[k] + theta[k] + size * step[k] - theta[a] - size * step[a] - rest[k, 4]
            energy += 0.5 * (stiffness[k, 0] * e0 * e0 + stiffness[k, 1] * e1 * e1 + stiffness[k, 2] * e2 * e2)
            energy += 0.5 * (stiffness[k, 3] * e3 * e3 + stiffness[k, 4] * e4 * e4)
        a, sa, ca = k, sb, cb
    return energy


@part
def store_frames(rods: Rods, state: RodState, chain: Chain, nodes: Nodes, r: int) -> None:
    """Writes material frames and twists to the state."""
    begin, stop = chain.start[r], chain.start[r + 1]
    for k in range(begin, stop):
        if chain.slot[k] >= 0:
            state.twist[chain.vertex[k], chain.slot[k]] = nodes.twist[k]
        j = chain.edge[k]
        if j >= 0:
            put(state.m1, j, turn(get(nodes.u, k), get(nodes.t, k), nodes.theta[k]))
