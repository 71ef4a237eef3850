"""Before and after a stage of a step: the state becomes the base of frames, held places move, the iterate is accepted."""

from __future__ import annotations

import math

from ...compile.jit import part
from ...compile.lanes import select
from ...errors import Array
from ...forces.air import add_edge_drag, isotropic_drag
from ...maths.geometry.frames import cross, dot, signed_angle, transport
from ...maths.geometry.rows import get, nearest_turn, put
from ..held_frames import between, blend, held_frame
from .arrays import Arrays, Forces, Geometry, Graph, Holds, Material, Stage, State
from .geometry import edge_between


@part
def copy_state(graph: Graph, material: Material, source: State, target: State, r: int) -> None:
    """The state of net r, between the state and the saved one."""
    q, v, a, m1, twist = source.q, source.v, source.a, source.m1, source.twist
    to_q, to_v, to_a, to_m1, to_twist = target.q, target.v, target.a, target.m1, target.twist
    for k in range(graph.unknowns[r], graph.unknowns[r + 1]):
        to_q[k], to_v[k], to_a[k] = q[k], v[k], a[k]
    for j in range(graph.edges[r], graph.edges[r + 1]):
        for c in range(3):
            to_m1[j, c] = m1[j, c]
    for e in range(graph.elements[r], graph.elements[r + 1]):
        to_twist[e] = twist[e]
    if material.breakable[r]:
        for j in range(graph.edges[r], graph.edges[r + 1]):
            target.whole_edge[j] = source.whole_edge[j]
        for e in range(graph.elements[r], graph.elements[r + 1]):
            target.whole_element[e] = source.whole_element[e]
    if not graph.chain[r]:
        for k in range(graph.joints[r], graph.joints[r + 1]):
            for c in range(9):
                target.frame[k, c] = source.frame[k, c]


@part
def make_base(
    graph: Graph, material: Material, state: State, holds: Holds, geometry: Geometry, r: int, at: float
) -> None:
    """Makes the state of net r the base of frames. `at` is the fraction of the step at which it stands."""
    q, x, tail, head, theta, m1 = state.q, graph.x, graph.tail, graph.head, graph.theta, state.m1
    tension, base_t, base_reference, edge_spin = (
        geometry.tension, geometry.base_t, geometry.base_reference, geometry.edge_spin,
    )  # fmt: skip
    ea, rest_length, edge_framed, spins = material.stretch, material.rest_length, material.edge_framed, holds.edge_spin
    joint, edge_a, framed, base_twist, twists = (
        graph.joint, graph.edge_a, material.framed, geometry.base_twist, state.twist,
    )  # fmt: skip
    for j in range(graph.edges[r], graph.edge_end[r]):
        q[theta[j]] = 0.0
        length, tangent = edge_between(q, x[tail[j]], x[head[j]])
        tension[j] = ea[j] * (length / rest_length[j] - 1.0)
        put(base_t, j, tangent)
        put(base_reference, j, get(m1, j))
        if edge_framed[j]:
            edge_spin[j] = between(spins[0, j], spins[1, j], at)
    if not graph.chain[r]:
        for k in range(graph.joints[r], graph.joints[r + 1]):
            for c in range(3):
                q[graph.omega[k] + c] = 0.0
                geometry.base_omega[graph.omega[k] + c] = 0.0
            for c in range(9):
                geometry.base_frame[k, c] = state.frame[k, c]
    for e in range(graph.elements[r], graph.elements[r + 1]):
        twist, k = twists[e], joint[e]
        if k >= 0 and framed[k]:
            spin = between(holds.spin[0, k], holds.spin[1, k], at)
            twist += -spin if edge_a[e] >= 0 else spin
        base_twist[e] = twist
    place_frames(graph, material, holds, geometry, r, at)


@part
def place_frames(graph: Graph, material: Material, holds: Holds, geometry: Geometry, r: int, at: float) -> None:
    """Held frames of joints at a fraction of the step, between those of its beginning and its end."""
    frame, framed = geometry.frame, material.framed
    for k in range(graph.joints[r], graph.joints[r + 1]):
        if not framed[k]:
            continue
        t, d = held_frame(holds.tangent, holds.director, k, at)
        s = cross(t, d)
        for c in range(3):
            frame[k, 3 * c], frame[k, 3 * c + 1], frame[k, 3 * c + 2] = d[c], s[c], t[c]
        geometry.spin[k] = between(holds.spin[0, k], holds.spin[1, k], at)


@part
def place_held(graph: Graph, material: Material, holds: Holds, geometry: Geometry, q: Array, r: int, at: float) -> None:
    """Held unknowns of the iterate at a fraction of the step."""
    held, edge_framed, vertex, theta, position = (
        material.held,
        material.edge_framed,
        graph.x,
        graph.theta,
        holds.position,
    )
    for i in range(graph.vertices[r], graph.vertices[r + 1]):
        x = vertex[i]
        if held[x]:
            for c in range(3):
                q[x + c] = between(position[0, i, c], position[1, i, c], at)
    for j in range(graph.edges[r], graph.edges[r + 1]):
        k = theta[j]
        if edge_framed[j]:
            _, t = edge_between(q, vertex[graph.tail[j]], vertex[graph.head[j]])
            u = transport(get(geometry.base_reference, j), get(geometry.base_t, j), t)
            d = blend(get(holds.edge_director[0], j), get(holds.edge_director[1], j), at)
            spin = between(holds.edge_spin[0, j], holds.edge_spin[1, j], at)
            # At the beginning theta was zero, and the director lay behind the material by the spin of that time.
            q[k] = nearest_turn(signed_angle(u, transport(d, t, t), t), -geometry.edge_spin[j]) + spin
        elif held[k]:
            q[k] = 0.0
    if not graph.chain[r]:
        for k in range(graph.joints[r], graph.joints[r + 1]):
            if material.framed[k]:
                for c in range(3):
                    q[graph.omega[k] + c] = 0.0


@part
def gyroscopic_forces(
    graph: Graph, material: Material, geometry: Geometry, stage: Stage, force: Array, a: Array, r: int, h: float
) -> None:
    """An edge that spins and turns: what changes the direction of its spin I w t is a couple that its vertices must give.

    So these feel the couple -I w t', that is the forces -F and F = (I w / |e|) t x t', at the speeds that the initial guess
    predicts. Where the spin is so fast that a step would not follow, they are limited: taken from the guess they would grow.
    """
    mass, v, t, lengths = material.mass, stage.v, geometry.t, geometry.length
    vertex, tail, head, theta = graph.x, graph.tail, graph.head, graph.theta
    for k in range(graph.unknowns[r], graph.unknowns[r + 1]):
        force[k] = 0.0
    for e in range(graph.edges[r], graph.edge_end[r]):
        i, j, k = vertex[tail[e]], vertex[head[e]], theta[e]
        length = lengths[e]
        spin, more = v[k], h * a[k]
        # Otherwise the guess predicts nothing: it comes from an impact.
        spin += select(abs(more) < 0.6 * abs(spin), more, 0.0)
        moment = mass[k] * spin
        most = 0.2 * min(mass[i], mass[j]) * length * length / h
        moment = max(-most, min(most, moment))
        x, y, z = v[j] - v[i], v[j + 1] - v[i + 1], v[j + 2] - v[i + 2]
        gain = (h * (a[j] - a[i]), h * (a[j + 1] - a[i + 1]), h * (a[j + 2] - a[i + 2]))
        slow = dot(gain, gain) < 0.25 * (x * x + y * y + z * z)
        x += select(slow, gain[0], 0.0)
        y += select(slow, gain[1], 0.0)
        z += select(slow, gain[2], 0.0)
        way = cross(get(t, e), (x, y, z))
        for c in range(3):
            g = moment * way[c] / (length * length)
            force[i + c] -= g
            force[j + c] += g


@part
def accept_iterate(graph: Graph, state: State, geometry: Geometry, r: int) -> None:
    """Accepts the iterate: its frames become the state's, its angles begin anew."""
    q, m1, twist, d1, strain, theta = state.q, state.m1, state.twist, geometry.d1, geometry.strain, graph.theta
    for j in range(graph.edges[r], graph.edge_end[r]):
        for c in range(3):
            m1[j, c] = d1[j, c]
        q[theta[j]] = 0.0
    for e in range(graph.elements[r], graph.elements[r + 1]):
        twist[e] = strain[e, 4]
    if graph.chain[r]:
        return
    for k in range(graph.joints[r], graph.joints[r + 1]):
        for c in range(9):
            state.frame[k, c] = geometry.frame[k, c]
        # Round-off would slowly make it crooked.
        _straighten(state.frame, k)
        for c in range(3):
            state.q[graph.omega[k] + c] = 0.0


@part
def _straighten(frame: Array, k: int) -> None:
    """Makes the columns orthonormal again."""
    t = (frame[k, 2], frame[k, 5], frame[k, 8])
    f = 1.0 / math.sqrt(dot(t, t))
    t = (t[0] * f, t[1] * f, t[2] * f)
    d = transport((frame[k, 0], frame[k, 3], frame[k, 6]), t, t)
    s = cross(t, d)
    for c in range(3):
        frame[k, 3 * c], frame[k, 3 * c + 1], frame[k, 3 * c + 2] = d[c], s[c], t[c]


@part
def keep_strains(graph: Graph, stage: Stage, geometry: Geometry, r: int) -> None:
    """The strains of the iterate are those at the beginning of the attempt."""
    stretch, stretch0, star = geometry.stretch, stage.stretch0, stage.stretch
    strain, strain0, strain_star = geometry.strain, stage.strain0, stage.strain
    for j in range(graph.edges[r], graph.edge_end[r]):
        stretch0[j] = star[j] = stretch[j]
    for e in range(graph.elements[r], graph.elements[r + 1]):
        for c in range(5):
            strain0[e, c] = strain_star[e, c] = strain[e, c]


@part
def carry_strains(graph: Graph, stage: Stage, geometry: Geometry, r: int, weight: float) -> None:
    """The strains from which rates are taken in the next stage: those at the beginning, and what the last stage added, weighted."""
    stretch, stretch0, star = geometry.stretch, stage.stretch0, stage.stretch
    strain, strain0, strain_star = geometry.strain, stage.strain0, stage.strain
    for j in range(graph.edges[r], graph.edge_end[r]):
        star[j] = stretch0[j] + weight * (stretch[j] - stretch0[j])
    for e in range(graph.elements[r], graph.elements[r + 1]):
        for c in range(5):
            strain_star[e, c] = strain0[e, c] + weight * (strain[e, c] - strain0[e, c])


@part
def air_drag(graph: Graph, material: Material, forces: Forces, q: Array, v: Array, r: int, air_density: float) -> None:
    """Writes the drag's matrix of the vertices, for the speed that they have now."""
    drag, wind, rate, mass, vertex = forces.drag, forces.wind, forces.drag_rate[r], material.mass, graph.x
    for i in range(graph.vertices[r], graph.vertices[r + 1]):
        isotropic_drag(drag, i, rate * mass[vertex[i]] + forces.brakes[i])
    if air_density == 0.0:
        return
    for e in range(graph.edges[r], graph.edge_end[r]):
        tail, head = graph.tail[e], graph.head[e]
        i, j = graph.x[tail], graph.x[head]
        length, t = edge_between(q, i, j)
        w = (
            0.5 * (v[i] + v[j]) - wind[0],
            0.5 * (v[i + 1] + v[j + 1]) - wind[1],
            0.5 * (v[i + 2] + v[j + 2]) - wind[2],
        )
        radius = 0.5 * (material.radii[e, 0] + material.radii[e, 1])
        add_edge_drag(drag, tail, head, radius, length, t, w, air_density)


@part
def break_overloaded(n: Arrays, r: int) -> None:
    """Segments that are pulled too hard carry nothing from now on; elements with too large a moment come loose.

    Judged by the iterate; positions and speeds stay as they are."""
    graph, state, geometry, material = n.graph, n.state, n.geometry, n.material
    if not material.breakable[r]:
        return
    for j in range(graph.edges[r], graph.edges[r + 1]):
        force = material.stretch[j] * geometry.stretch[j]
        state.whole_edge[j] = select(force > material.break_force[j], 0.0, state.whole_edge[j])
    for e in range(graph.elements[r], graph.elements[r + 1]):
        a, b = graph.edge_a[e], graph.edge_b[e]
        whole = state.whole_element[e]
        if a >= 0:
            whole = min(whole, state.whole_edge[a])
        if b >= 0:
            whole = min(whole, state.whole_edge[b])
        moment = 0.0
        for c in range(5):
            part = material.stiffness[e, c] * (geometry.strain[e, c] - material.rest[e, c])
            moment += part * part
        state.whole_element[e] = select(moment > material.break_moment[e] * material.break_moment[e], 0.0, whole)
