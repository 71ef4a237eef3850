"""A net at the iterate: frames and strains, and the potential that a stage minimises, with gradient and Hessian.

The potential is that of `der` (see its `evaluate.py`). New are the arms of joints, see `assemble.py`.
"""

from __future__ import annotations

import math

from ...compile.jit import part
from ...errors import Array
from ...maths.geometry.frames import Vector, cross, dot, signed_angle, transport, turn
from ..der.element import (
    ACROSS,
    ALONG,
    D1A,
    D1B,
    D2A,
    D2B,
    ENERGY,
    IA,
    IB,
    LANES,
    LEAST_CHI,
    MA,
    MB,
    PLACE,
    REST,
    STAR,
    STIFFNESS,
    STRAIN,
    TA,
    TB,
    curvatures,
    element_lanes,
)  # fmt: skip
from ..der.evaluate import get, nearest_turn, put
from .arrays import Nets, Room
from .assemble import add_arm, add_element


@part
def edge_between(q: Array, i: int, j: int) -> tuple[float, Vector]:
    """Length and tangent of the edge between vertices whose unknowns begin at i and j."""
    x, y, z = q[j] - q[i], q[j + 1] - q[i + 1], q[j + 2] - q[i + 2]
    length = math.sqrt(x * x + y * y + z * z)
    f = 1.0 / length if length > 0.0 else 0.0
    return length, (x * f, y * f, z * f)


@part
def rotate(rotation: Vector, a: Vector) -> Vector:
    """a turned by a rotation vector."""
    square = dot(rotation, rotation)
    if square < 1e-8:
        s, c = 1.0 - square * (1 / 6 - square / 120), 0.5 - square * (1 / 24 - square / 720)
    else:
        angle = math.sqrt(square)
        s, c = math.sin(angle) / angle, (1.0 - math.cos(angle)) / square
    b = cross(rotation, a)
    d = cross(rotation, b)
    return (a[0] + s * b[0] + c * d[0], a[1] + s * b[1] + c * d[1], a[2] + s * b[2] + c * d[2])


@part
def turn_frame(rotation: Vector, source: Array, k: int, target: Array) -> None:
    """Row k of the target becomes the frame of the source turned; rows of 9 are matrices whose columns are axes, row by row."""
    for c in range(3):
        x, y, z = rotate(rotation, (source[k, c], source[k, 3 + c], source[k, 6 + c]))
        target[k, c], target[k, 3 + c], target[k, 6 + c] = x, y, z


@part
def _in_frame(frame: Array, k: int, a: Array, e: int) -> Vector:
    x, y, z = a[e, 0], a[e, 1], a[e, 2]
    return (
        frame[k, 0] * x + frame[k, 1] * y + frame[k, 2] * z,
        frame[k, 3] * x + frame[k, 4] * y + frame[k, 5] * z,
        frame[k, 6] * x + frame[k, 7] * y + frame[k, 8] * z,
    )


@part
def update_geometry(n: Nets, r: int) -> bool:
    """Frames and strains at q, carried from the base. False if an edge has collapsed or a corner is too sharp."""
    graph, material, geometry, q = n.graph, n.material, n.geometry, n.state.q
    x, tail, head, theta, rest_length = graph.x, graph.tail, graph.head, graph.theta, material.rest_length
    t, d1, d2, reference, strain = geometry.t, geometry.d1, geometry.d2, geometry.reference, geometry.strain
    arm, whole_edge, whole = geometry.arm, n.state.whole_edge, n.state.whole_element
    for j in range(graph.edges[r], graph.edges[r + 1]):
        length, tangent = edge_between(q, x[tail[j]], x[head[j]])
        if not length > 1e-6 * rest_length[j]:
            return False
        u = transport(get(geometry.base_reference, j), get(geometry.base_t, j), tangent)
        geometry.length[j] = length
        geometry.stretch[j] = (length / rest_length[j] - 1.0) * whole_edge[j]
        d = turn(u, tangent, q[theta[j]])
        put(t, j, tangent)
        put(reference, j, u)
        put(d1, j, d)
        put(d2, j, cross(tangent, d))
    for k in range(graph.joints[r], graph.joints[r + 1]):
        if not material.framed[k]:
            w = graph.omega[k]
            rotation = (
                q[w] - geometry.base_omega[w],
                q[w + 1] - geometry.base_omega[w + 1],
                q[w + 2] - geometry.base_omega[w + 2],
            )
            turn_frame(rotation, geometry.base_frame, k, geometry.frame)
    for e in range(graph.elements[r], graph.elements[r + 1]):
        a, b, k = graph.edge_a[e], graph.edge_b[e], graph.joint[e]
        if k < 0 and a < 0:
            continue  # only there to stretch its edge
        ta = ua = d1a = d2a = (0.0, 0.0, 0.0)
        tb = ub = d1b = d2b = (0.0, 0.0, 0.0)
        theta_a = theta_b = 0.0
        if k >= 0:
            tj = _in_frame(geometry.frame, k, material.arm_t, e)
            uj = _in_frame(geometry.frame, k, material.arm_d, e)
            spin = geometry.spin[k]
            d1j = turn(uj, tj, spin)
            d2j = cross(tj, d1j)
            for c in range(3):
                arm[e, c], arm[e, 3 + c], arm[e, 6 + c] = tj[c], d1j[c], d2j[c]
            if a < 0:
                ta, ua, d1a, d2a, theta_a = tj, uj, d1j, d2j, spin
            else:
                tb, ub, d1b, d2b, theta_b = tj, uj, d1j, d2j, spin
        if a >= 0:
            ta, ua, d1a, d2a, theta_a = get(t, a), get(reference, a), get(d1, a), get(d2, a), q[theta[a]]
        if b >= 0:
            tb, ub, d1b, d2b, theta_b = get(t, b), get(reference, b), get(d1, b), get(d2, b), q[theta[b]]
        o0, o1, o2, o3, chi, u = curvatures(ta, ua, d1a, d2a, tb, d1b, d2b)
        if not chi > LEAST_CHI:
            if whole[e] > 0.0:
                return False
            continue  # loose: it may fold
        angle = nearest_turn(signed_angle(u, ub, tb), geometry.base_twist[e])
        geometry.reference_twist[e] = angle
        strain[e, 0], strain[e, 1], strain[e, 2], strain[e, 3] = o0, o1, o2, o3
        strain[e, 4] = angle + theta_b - theta_a
    return True


@part
def rebase(n: Nets, r: int) -> None:
    """Makes the iterate the base from which frames are carried next."""
    graph, geometry, q = n.graph, n.geometry, n.state.q
    for j in range(graph.edges[r], graph.edges[r + 1]):
        for c in range(3):
            geometry.base_reference[j, c] = geometry.reference[j, c]
            geometry.base_t[j, c] = geometry.t[j, c]
    for k in range(graph.joints[r], graph.joints[r + 1]):
        for c in range(9):
            geometry.base_frame[k, c] = geometry.frame[k, c]
        w = graph.omega[k]
        for c in range(w, w + 3):
            geometry.base_omega[c] = q[c]
    for e in range(graph.elements[r], graph.elements[r + 1]):
        geometry.base_twist[e] = geometry.reference_twist[e]


@part
def evaluate(n: Nets, room: Room, r: int, h: float, exact: bool) -> float:
    """The potential at the iterate (its geometry must be up to date), its gradient and its Hessian.

    With `exact` the Hessian is the true one, otherwise a positive definite part of it."""
    system, pattern, held = n.system, n.pattern, n.material.held
    values, gradient, diagonal = system.values, system.gradient, system.diagonal
    for k in range(pattern.panel[pattern.net[r]], pattern.panel[pattern.net[r + 1]]):
        values[k] = 0.0
    for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
        gradient[k] = 0.0
        if held[k]:
            values[diagonal[k]] = 1.0
    weight = n.material.damping_time[r] / h
    return _inertia(n, r, h) + _stretch(n, r, weight) + _elements(n, room, r, weight, exact)


@part
def _inertia(n: Nets, r: int, h: float) -> float:
    """Potential of inertia, drag and load, with its derivatives."""
    graph, forces, system, q = n.graph, n.forces, n.system, n.state.q
    mass, held, drag, force, wind = n.material.mass, n.material.held, forces.drag, forces.force, forces.wind
    q_star, v_star, gradient, values = n.stage.q, n.stage.v, system.gradient, system.values
    diagonal, of_vertex, rate = system.diagonal, system.of_vertex, forces.drag_rate[0]
    ih = 1.0 / h
    hh = ih * ih
    potential = 0.0
    for k in range(graph.unknowns[r], graph.unknowns[r + 1]):
        deviation = q[k] - q_star[k] - h * v_star[k]
        load = force[k] + forces.gyroscopic[k]
        pull = mass[k] * hh * deviation - load
        gradient[k] += pull
        potential += 0.5 * deviation * (pull - load)
        if not held[k]:
            values[diagonal[k]] += mass[k] * hh
    for i in range(graph.vertices[r], graph.vertices[r + 1]):
        if drag[i, 0] == 0.0 and drag[i, 2] == 0.0 and drag[i, 5] == 0.0:
            continue
        k = graph.x[i]
        x, y, z = (
            q[k] - q_star[k] - h * wind[0],
            q[k + 1] - q_star[k + 1] - h * wind[1],
            q[k + 2] - q_star[k + 2] - h * wind[2],
        )
        fx = (drag[i, 0] * x + drag[i, 1] * y + drag[i, 3] * z) * ih
        fy = (drag[i, 1] * x + drag[i, 2] * y + drag[i, 4] * z) * ih
        fz = (drag[i, 3] * x + drag[i, 4] * y + drag[i, 5] * z) * ih
        gradient[k] += fx
        gradient[k + 1] += fy
        gradient[k + 2] += fz
        potential += 0.5 * (x * fx + y * fy + z * fz)
        for m in range(6):
            values[of_vertex[i, m]] += drag[i, m] * ih
    if rate > 0.0:
        for j in range(graph.edges[r], graph.edges[r + 1]):
            k = graph.theta[j]
            spin, brake = q[k] - q_star[k], mass[k] * rate * ih
            gradient[k] += brake * spin
            potential += 0.5 * brake * spin * spin
            if not held[k]:
                values[diagonal[k]] += brake
    return potential


@part
def _stretch(n: Nets, r: int, weight: float) -> float:
    """Energy EA l / 2 (|e| / l - 1)^2 of the edges, and its gradient; its Hessian goes with the elements'."""
    graph, gradient, whole = n.graph, n.system.gradient, n.state.whole_edge
    t, strain, star = n.geometry.t, n.geometry.stretch, n.stage.stretch
    ea, rest_length = n.material.stretch, n.material.rest_length
    energy = 0.0
    for j in range(graph.edges[r], graph.edges[r + 1]):
        i, k = graph.x[graph.tail[j]], graph.x[graph.head[j]]
        rate = (strain[j] - star[j]) * whole[j]
        tension = ea[j] * (strain[j] + weight * rate) * whole[j]
        for c in range(3):
            gradient[i + c] -= tension * t[j, c]
            gradient[k + c] += tension * t[j, c]
        energy += 0.5 * ea[j] * rest_length[j] * (strain[j] * strain[j] + weight * rate * rate)
    return energy


@part
def _elements(n: Nets, room: Room, r: int, weight: float, exact: bool) -> float:
    """Energy of bending and twisting, with derivatives; each element takes the Hessian of stretching of its edge b along."""
    graph, material, geometry, lanes = n.graph, n.material, n.geometry, room.lanes
    edge_a, edge_b, joint, arm = graph.edge_a, graph.edge_b, graph.joint, geometry.arm
    t, d1, d2, length, strain = geometry.t, geometry.d1, geometry.d2, geometry.length, geometry.strain
    stiffness, rest, star, tension = material.stiffness, material.rest, n.stage.strain, geometry.tension
    stretch, rest_length = material.stretch, material.rest_length
    whole, whole_edge = n.state.whole_element, n.state.whole_edge
    gradient, values, of = n.system.gradient, n.system.values, n.system.of_element
    x, vertex, tail, head, theta, omega = graph.x, graph.middle, graph.tail, graph.head, graph.theta, graph.omega
    energy = 0.0
    filled = 0
    last = graph.elements[r + 1] - 1
    for e in range(graph.elements[r], graph.elements[r + 1]):
        a, b, k = edge_a[e], edge_b[e], joint[e]
        p, q = a if a >= 0 else b, b if b >= 0 else a
        for c in range(3):
            lanes[(TA + c) * LANES + filled] = t[p, c]
            lanes[(D1A + c) * LANES + filled] = d1[p, c]
            lanes[(D2A + c) * LANES + filled] = d2[p, c]
            lanes[(TB + c) * LANES + filled] = t[q, c]
            lanes[(D1B + c) * LANES + filled] = d1[q, c]
            lanes[(D2B + c) * LANES + filled] = d2[q, c]
        if k >= 0:
            row = TA if a < 0 else TB
            for c in range(9):
                lanes[(row + c) * LANES + filled] = arm[e, c]
        for c in range(5):
            lanes[(STRAIN + c) * LANES + filled] = strain[e, c]
            lanes[(STIFFNESS + c) * LANES + filled] = stiffness[e, c] * whole[e]
            lanes[(REST + c) * LANES + filled] = rest[e, c]
            lanes[(STAR + c) * LANES + filled] = star[e, c]
        along = across = 0.0
        if b >= 0 and whole_edge[b] > 0.0:
            across = tension[b] / length[b]
            if not exact:
                across = max(across, 0.0)
            along = stretch[b] * (1.0 + weight) / rest_length[b] - across
        if whole[e] == 0.0:  # a loose element may be folded: any frame will do
            for c in range(9):
                lanes[(TA + c) * LANES + filled] = lanes[(TB + c) * LANES + filled]
        lanes[IA * LANES + filled] = 1.0 / length[a] if a >= 0 else 0.0
        lanes[IB * LANES + filled] = 1.0 / length[b] if b >= 0 else 0.0
        lanes[MA * LANES + filled] = 1.0 if a >= 0 else 0.0
        lanes[MB * LANES + filled] = 1.0 if b >= 0 else 0.0
        lanes[ALONG * LANES + filled] = along
        lanes[ACROSS * LANES + filled] = across
        lanes[PLACE * LANES + filled] = e
        filled += 1
        if filled == LANES or e == last:
            element_lanes(lanes, weight, 1.0 if exact else 0.0)
            for lane in range(filled):
                energy += lanes[ENERGY * LANES + lane]
                place = int(lanes[PLACE * LANES + lane])
                pa, pb, middle = edge_a[place], edge_b[place], x[vertex[place]]
                if joint[place] < 0:
                    near = x[tail[pa]] if pa >= 0 else -1
                    turn_a = theta[pa] if pa >= 0 else -1
                    add_element(gradient, values, of, lanes, lane, place, near, turn_a, middle, theta[pb], x[head[pb]])
                else:
                    edge = pb if pb >= 0 else pa
                    far = x[head[edge]] if pb >= 0 else x[tail[edge]]
                    add_arm(
                        gradient, values, of, lanes, lane, place, middle, far, theta[edge], omega[joint[place]], pb >= 0,
                        get(t, edge), length[edge], room.small, room.local, exact,
                    )  # fmt: skip
            filled = 0
    return energy


@part
def measure(n: Nets, r: int) -> None:
    """Elastic energies of net r, into the log."""
    graph, geometry, material, energy = n.graph, n.geometry, n.material, n.log.energy
    stretching = bending = twisting = 0.0
    for j in range(graph.edges[r], graph.edges[r + 1]):
        stretch = geometry.stretch[j]
        stretching += 0.5 * material.stretch[j] * material.rest_length[j] * stretch * stretch
    for e in range(graph.elements[r], graph.elements[r + 1]):
        for c in range(5):
            deviation = geometry.strain[e, c] - material.rest[e, c]
            piece = 0.5 * material.stiffness[e, c] * n.state.whole_element[e] * deviation * deviation
            if c < 4:
                bending += piece
            else:
                twisting += piece
    energy[r, 0], energy[r, 1], energy[r, 2] = stretching, bending, twisting


@part
def foresee_tension(n: Nets, direction: Array, r: int, weight: float) -> None:
    graph, geometry, material = n.graph, n.geometry, n.material
    for j in range(graph.edges[r], graph.edges[r + 1]):
        i, k = graph.x[graph.tail[j]], graph.x[graph.head[j]]
        change = 0.0
        for c in range(3):
            change += geometry.t[j, c] * (direction[k + c] - direction[i + c])
        strain = geometry.stretch[j] + change / material.rest_length[j]
        geometry.tension[j] = material.stretch[j] * (strain + weight * (strain - n.stage.stretch[j]))
