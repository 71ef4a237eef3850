"""The potential that a stage minimises, with gradient and Hessian.

The stage's potential is inertia + elasticity + drag - load,
    (q - q~) M (q - q~) / (2 h^2) + E(q) + (q - q* - h w) D (q - q* - h w) / (2 h) - f (q - q~),   q~ = q* + h v*,
whose minimum is a step of backward Euler, or a stage of another scheme for the right q*, v* and h.
"""

from __future__ import annotations

from ...compile.jit import part
from ...compile.lanes import Numbers, any_of, as_lanes, places_for, put_lane, select
from ...errors import Array
from ...forces.air import has_drag
from ...maths.linalg.sparse_factor import Pattern
from .arrays import Forces, Geometry, Graph, Material, Scratch, Stage, State, System
from .band import add_lanes as add_lanes_to_band
from .element import (
    ACROSS,
    ALONG,
    D1A,
    D1B,
    D2A,
    D2B,
    IA,
    IB,
    MA,
    MB,
    PLACE,
    REST,
    STAR,
    STIFFNESS,
    STRAIN,
    TA,
    TB,
    element_lanes,
)  # fmt: skip
from .fronts import add_lanes as add_lanes_to_fronts
from .matrix import begin_matrix


@part
def evaluate(
    graph: Graph, material: Material, forces: Forces, stage: Stage, geometry: Geometry, state: State, system: System,
    pattern: Pattern | None, scratch: Scratch, r: int, h: float, exact: Numbers,
) -> Numbers:  # fmt: skip
    """The potential at the iterate (its geometry must be up to date), its gradient and its Hessian.

    With `exact` 1 the Hessian is the true one, with 0 a positive definite part of it."""
    weight = material.damping_time[r] / h
    begin_matrix(graph, material, forces, system, pattern, r, h)
    potential = _inertia(graph, material, forces, stage, state, system.gradient, r, h)
    potential += _stretch(graph, material, geometry, stage, state.whole_edge, system.gradient, r, weight)
    return potential + _elements(graph, material, geometry, stage, state, system, pattern, scratch, r, weight, exact)


@part
def _inertia(
    graph: Graph, material: Material, forces: Forces, stage: Stage, state: State, gradient: Array, r: int, h: float
) -> Numbers:
    """Potential of inertia, drag and load, and its gradient."""
    q, mass, drag, force, wind, rate = (
        state.q, material.mass, forces.drag, forces.force, forces.wind, forces.drag_rate[r],
    )  # fmt: skip
    q_star, v_star, gyroscopic, vertex, theta = stage.q, stage.v, forces.gyroscopic, graph.x, graph.theta
    ih = 1.0 / h
    hh = ih * ih
    potential = 0.0
    for k in range(graph.unknowns[r], graph.unknowns[r + 1]):
        deviation = q[k] - q_star[k] - h * v_star[k]
        load = force[k] + gyroscopic[k]
        pull = mass[k] * hh * deviation - load
        gradient[k] = pull
        potential += 0.5 * deviation * (pull - load)
    for i in range(graph.vertices[r], graph.vertices[r + 1]):
        if not has_drag(drag, i):
            continue
        k = vertex[i]
        x = q[k] - q_star[k] - h * wind[0]
        y = q[k + 1] - q_star[k + 1] - h * wind[1]
        z = q[k + 2] - q_star[k + 2] - h * wind[2]
        fx = (drag[i, 0] * x + drag[i, 1] * y + drag[i, 3] * z) * ih
        fy = (drag[i, 1] * x + drag[i, 2] * y + drag[i, 4] * z) * ih
        fz = (drag[i, 3] * x + drag[i, 4] * y + drag[i, 5] * z) * ih
        gradient[k] += fx
        gradient[k + 1] += fy
        gradient[k + 2] += fz
        potential += 0.5 * (x * fx + y * fy + z * fz)
    if any_of(rate > 0.0):
        for j in range(graph.edges[r], graph.edge_end[r]):
            k = theta[j]
            spin, brake = q[k] - q_star[k], mass[k] * rate * ih
            gradient[k] += brake * spin
            potential += 0.5 * brake * spin * spin
    return potential


@part
def _stretch(
    graph: Graph, material: Material, geometry: Geometry, stage: Stage, whole_edge: Array, gradient: Array, r: int,
    weight: Numbers,
) -> Numbers:  # fmt: skip
    """Energy EA l / 2 (|e| / l - 1)^2 of the edges, and its gradient; its Hessian goes with the elements'."""
    x, tail, head = graph.x, graph.tail, graph.head
    t, strain, star = geometry.t, geometry.stretch, stage.stretch
    ea, rest_length, breakable = material.stretch, material.rest_length, material.breakable[r]
    energy = 0.0
    for j in range(graph.edges[r], graph.edge_end[r]):
        i, k = x[tail[j]], x[head[j]]
        whole = whole_edge[j] if breakable else 1.0
        rate = (strain[j] - star[j]) * whole
        tension = ea[j] * (strain[j] + weight * rate) * whole
        for c in range(3):
            gradient[i + c] -= tension * t[j, c]
            gradient[k + c] += tension * t[j, c]
        energy += 0.5 * ea[j] * rest_length[j] * (strain[j] * strain[j] + weight * rate * rate)
    return energy


@part
def _elements(
    graph: Graph, material: Material, geometry: Geometry, stage: Stage, state: State, system: System,
    pattern: Pattern | None, scratch: Scratch, r: int, weight: Numbers,
    exact: Numbers,
) -> Numbers:  # fmt: skip
    """Energy of bending and twisting, with derivatives. Elements of a single rod or net are gathered until all lanes are full.

    Each takes the Hessian of stretching of its edge b along; beside a free first vertex an edge has a lane of its own."""
    edge_a, edge_b, joint, arm, lanes = graph.edge_a, graph.edge_b, graph.joint, geometry.arm, scratch.lanes
    t, d1, d2, length, strain = geometry.t, geometry.d1, geometry.d2, geometry.length, geometry.strain
    stiffness, rest, star, tension = material.stiffness, material.rest, stage.strain, geometry.tension
    stretch, rest_length, breakable = material.stretch, material.rest_length, material.breakable[r]
    whole_edge, whole_element, middle, head = state.whole_edge, state.whole_element, graph.middle, graph.head
    gradient, band, border, corner = system.gradient, system.band, system.border, system.corner
    closed, first = graph.closed[r], graph.unknowns[r]
    n = graph.unknowns[r + 1] - first
    energy = 0.0
    filled, most = 0, places_for(weight)
    end = graph.elements[r + 1]
    for e in range(graph.elements[r], end + 1):
        if e < end and (edge_a[e] >= 0 or edge_b[e] >= 0):
            a, b = edge_a[e], edge_b[e]
            p, q = a if a >= 0 else b, b if b >= 0 else a  # where a side is missing any frame will do
            for c in range(3):
                put_lane(lanes, TA + c, filled, t[p, c])
                put_lane(lanes, D1A + c, filled, d1[p, c])
                put_lane(lanes, D2A + c, filled, d2[p, c])
                put_lane(lanes, TB + c, filled, t[q, c])
                put_lane(lanes, D1B + c, filled, d1[q, c])
                put_lane(lanes, D2B + c, filled, d2[q, c])
            if joint[e] >= 0:
                row = TA if a < 0 else TB
                for c in range(9):
                    put_lane(lanes, row + c, filled, arm[e, c])
            for c in range(5):
                put_lane(lanes, STRAIN + c, filled, strain[e, c])
                put_lane(lanes, STIFFNESS + c, filled, stiffness[e, c])
                put_lane(lanes, REST + c, filled, rest[e, c])
                put_lane(lanes, STAR + c, filled, star[e, c])
            along = across = 0.0 * weight
            if b >= 0:
                across = tension[b] / length[b]
                across = select(exact > 0.0, across, max(across, 0.0))
                along = stretch[b] * (1.0 + weight) / rest_length[b] - across
            if breakable:
                if b >= 0:
                    along, across = along * whole_edge[b], across * whole_edge[b]
                if any_of(whole_element[e] == 0.0):  # a loose element may be folded: any frame will do
                    for c in range(9):
                        lanes[TA + c, filled] = lanes[TB + c, filled]
                    for c in range(5):
                        lanes[STIFFNESS + c, filled] = 0.0
            none = 0.0 * weight
            put_lane(lanes, IA, filled, 1.0 / length[a] if a >= 0 else none)
            put_lane(lanes, IB, filled, 1.0 / length[b] if b >= 0 else none)
            put_lane(lanes, MA, filled, none + 1.0 if a >= 0 else none)
            put_lane(lanes, MB, filled, none + 1.0 if b >= 0 else none)
            put_lane(lanes, ALONG, filled, along)
            put_lane(lanes, ACROSS, filled, across)
            lanes[PLACE, filled] = e
            filled += 1
        if filled == most or (e == end and filled > 0):
            element_lanes(as_lanes(lanes), weight, exact)
            if pattern is None:
                energy += add_lanes_to_band(
                    edge_a, edge_b, middle, head, gradient, band, border, corner, lanes, filled, first, n, closed, r
                )
            else:
                energy += add_lanes_to_fronts(graph, geometry, system, scratch, filled, r, exact)
            filled = 0
    return energy
