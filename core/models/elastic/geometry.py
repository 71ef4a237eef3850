"""Frames and strains of a rod or net at the iterate, carried from a base in time by parallel transport."""

from __future__ import annotations

import math

from ...compile.jit import part
from ...compile.lanes import Truth, all_of, always, any_of, both, select
from ...errors import Array
from ...maths.geometry.frames import Vector, cross, dot, signed_angle, transport, turn
from ...maths.geometry.rows import get, nearest_turn, put
from .arrays import Geometry, Graph, Material, State
from .element import LEAST_CHI, curvatures


@part
def edge_between(q: Array, i: int, j: int) -> tuple[float, Vector]:
    """Length and tangent of the edge between vertices whose unknowns begin at i and j; length zero is left for the caller to
    see."""
    x, y, z = q[j] - q[i], q[j + 1] - q[i + 1], q[j + 2] - q[i + 2]
    length = math.sqrt(x * x + y * y + z * z)
    f = select(length > 0.0, 1.0 / length, 0.0)
    return length, (x * f, y * f, z * f)


@part
def rotate(rotation: Vector, a: Vector) -> Vector:
    """a turned by a rotation vector."""
    square = dot(rotation, rotation)
    s, c = 1.0 - square * (1 / 6 - square / 120), 0.5 - square * (1 / 24 - square / 720)
    small = square < 1e-8
    if not all_of(small):
        angle = math.sqrt(square)
        s = select(small, s, math.sin(angle) / angle)
        c = select(small, c, (1.0 - math.cos(angle)) / square)
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
def update_geometry(graph: Graph, material: Material, geometry: Geometry, state: State, r: int) -> Truth:
    """Frames and strains at q, carried from the base. False if an edge has collapsed or a corner is too sharp.

    Of lanes a mask; what is written in a lane where it is false has no meaning."""
    q, x, tail, head, theta, rest_length = state.q, graph.x, graph.tail, graph.head, graph.theta, material.rest_length
    t, d1, d2, reference, strain = geometry.t, geometry.d1, geometry.d2, geometry.reference, geometry.strain
    lengths, stretch, base_t, base_reference = (
        geometry.length,
        geometry.stretch,
        geometry.base_t,
        geometry.base_reference,
    )
    edge_a, edge_b, joint, framed, omega = graph.edge_a, graph.edge_b, graph.joint, material.framed, graph.omega
    frame, spins, arm, arm_t, arm_d = geometry.frame, geometry.spin, geometry.arm, material.arm_t, material.arm_d
    base_twist, reference_twist, whole_element = geometry.base_twist, geometry.reference_twist, state.whole_element
    base_frame, base_omega, whole_edge = geometry.base_frame, geometry.base_omega, state.whole_edge
    breakable = material.breakable[r]
    good = always(q[0])
    for j in range(graph.edges[r], graph.edge_end[r]):
        length, tangent = edge_between(q, x[tail[j]], x[head[j]])
        good = both(good, length > 1e-6 * rest_length[j])
        if not any_of(good):
            return good
        u = transport(get(base_reference, j), get(base_t, j), tangent)
        lengths[j] = length
        stretch[j] = length / rest_length[j] - 1.0
        if breakable:
            stretch[j] *= whole_edge[j]
        d = turn(u, tangent, q[theta[j]])
        put(t, j, tangent)
        put(reference, j, u)
        put(d1, j, d)
        put(d2, j, cross(tangent, d))
    if not graph.chain[r]:
        for k in range(graph.joints[r], graph.joints[r + 1]):
            if not framed[k]:
                w = omega[k]
                rotation = (q[w] - base_omega[w], q[w + 1] - base_omega[w + 1], q[w + 2] - base_omega[w + 2])
                turn_frame(rotation, base_frame, k, frame)
    for e in range(graph.elements[r], graph.elements[r + 1]):
        a, b, k = edge_a[e], edge_b[e], joint[e]
        if k < 0 and a < 0:
            continue  # idle, or only there to stretch its edge
        ta = ua = d1a = d2a = (0.0, 0.0, 0.0)
        tb = ub = d1b = d2b = (0.0, 0.0, 0.0)
        theta_a = theta_b = 0.0
        if k >= 0:
            tj, uj, spin = _in_frame(frame, k, arm_t, e), _in_frame(frame, k, arm_d, e), spins[k]
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
        if breakable and any_of(whole_element[e] == 0.0) and not any_of(chi > LEAST_CHI):
            continue  # loose: it may fold
        good = both(good, chi > LEAST_CHI)
        if not any_of(good):
            return good
        angle = nearest_turn(signed_angle(u, ub, tb), base_twist[e])
        reference_twist[e] = angle
        strain[e, 0], strain[e, 1], strain[e, 2], strain[e, 3] = o0, o1, o2, o3
        strain[e, 4] = angle + theta_b - theta_a
    return good


@part
def rebase(graph: Graph, geometry: Geometry, q: Array, r: int, where: Truth) -> None:
    """Makes the iterate the base from which frames are carried next; of lanes where a mask is true."""
    base_reference, reference, base_t, t = geometry.base_reference, geometry.reference, geometry.base_t, geometry.t
    base_twist, reference_twist, base_omega = geometry.base_twist, geometry.reference_twist, geometry.base_omega
    base_frame, frame, omega = geometry.base_frame, geometry.frame, graph.omega
    for j in range(graph.edges[r], graph.edge_end[r]):
        for c in range(3):
            base_reference[j, c] = select(where, reference[j, c], base_reference[j, c])
            base_t[j, c] = select(where, t[j, c], base_t[j, c])
    for e in range(graph.elements[r], graph.elements[r + 1]):
        base_twist[e] = select(where, reference_twist[e], base_twist[e])
    if graph.chain[r]:
        return
    for k in range(graph.joints[r], graph.joints[r + 1]):
        for c in range(9):
            base_frame[k, c] = select(where, frame[k, c], base_frame[k, c])
        w = omega[k]
        for c in range(w, w + 3):
            base_omega[c] = select(where, q[c], base_omega[c])


@part
def measure(graph: Graph, material: Material, geometry: Geometry, state: State, energy: Array, r: int) -> None:
    """Elastic energies of net r, into its row."""
    strain, rest, stiffness, breakable = geometry.strain, material.rest, material.stiffness, material.breakable[r]
    stretch, ea, rest_length, whole_element = (
        geometry.stretch, material.stretch, material.rest_length, state.whole_element,
    )  # fmt: skip
    stretching = bending = twisting = 0.0
    for j in range(graph.edges[r], graph.edge_end[r]):
        stretching += 0.5 * ea[j] * rest_length[j] * stretch[j] * stretch[j]
    for e in range(graph.elements[r], graph.elements[r + 1]):
        whole = whole_element[e] if breakable else 1.0
        for c in range(5):
            deviation = strain[e, c] - rest[e, c]
            piece = 0.5 * stiffness[e, c] * whole * deviation * deviation
            if c < 4:
                bending += piece
            else:
                twisting += piece
    energy[r, 0], energy[r, 1], energy[r, 2] = stretching, bending, twisting
