"""Before and after a stage of a step: the state becomes the base of frames, held places move, the iterate is accepted."""

from __future__ import annotations

import math

from ...compile.jit import part
from ...errors import Array
from ...forces.air import SKIN_FRICTION, VISCOSITY
from ...maths.geometry.frames import cross, dot, signed_angle, transport
from ..der.evaluate import get, nearest_turn, put
from ..der.stages import between, blend
from .arrays import Nets
from .evaluate import edge_between


@part
def copy_state(n: Nets, r: int, back: bool) -> None:
    """The state of net r into the saved one, or back."""
    source, target = (n.saved, n.state) if back else (n.state, n.saved)
    graph = n.graph
    for k in range(graph.unknowns[r], graph.unknowns[r + 1]):
        target.q[k], target.v[k], target.a[k] = source.q[k], source.v[k], source.a[k]
    for j in range(graph.edges[r], graph.edges[r + 1]):
        target.whole_edge[j] = source.whole_edge[j]
        for c in range(3):
            target.m1[j, c] = source.m1[j, c]
    for e in range(graph.elements[r], graph.elements[r + 1]):
        target.twist[e] = source.twist[e]
        target.whole_element[e] = source.whole_element[e]
    for k in range(graph.joints[r], graph.joints[r + 1]):
        for c in range(9):
            target.frame[k, c] = source.frame[k, c]


@part
def make_base(n: Nets, r: int, at: float) -> None:
    """Makes the state of net r the base of frames. `at` is the fraction of the step at which it stands."""
    graph, state, geometry, holds, material = n.graph, n.state, n.geometry, n.holds, n.material
    q = state.q
    for j in range(graph.edges[r], graph.edges[r + 1]):
        q[graph.theta[j]] = 0.0
        length, tangent = edge_between(q, graph.x[graph.tail[j]], graph.x[graph.head[j]])
        geometry.tension[j] = material.stretch[j] * (length / material.rest_length[j] - 1.0)
        put(geometry.base_t, j, tangent)
        put(geometry.base_reference, j, get(state.m1, j))
        if material.edge_framed[j]:
            geometry.edge_spin[j] = between(holds.edge_spin[0, j], holds.edge_spin[1, j], at)
    for k in range(graph.joints[r], graph.joints[r + 1]):
        for c in range(3):
            q[graph.omega[k] + c] = 0.0
            geometry.base_omega[graph.omega[k] + c] = 0.0
        for c in range(9):
            geometry.base_frame[k, c] = state.frame[k, c]
    for e in range(graph.elements[r], graph.elements[r + 1]):
        twist, k = state.twist[e], graph.joint[e]
        if k >= 0 and material.framed[k]:
            spin = between(holds.spin[0, k], holds.spin[1, k], at)
            twist += -spin if graph.edge_a[e] >= 0 else spin
        geometry.base_twist[e] = twist
    place_frames(n, r, at)


@part
def place_frames(n: Nets, r: int, at: float) -> None:
    """Held frames of joints at a fraction of the step, between those of its beginning and its end."""
    graph, holds, geometry = n.graph, n.holds, n.geometry
    frame = geometry.frame
    for k in range(graph.joints[r], graph.joints[r + 1]):
        if not n.material.framed[k]:
            continue
        t0 = (holds.frame[0, k, 2], holds.frame[0, k, 5], holds.frame[0, k, 8])
        t1 = (holds.frame[1, k, 2], holds.frame[1, k, 5], holds.frame[1, k, 8])
        t = blend(t0, t1, at)
        d0 = transport((holds.frame[0, k, 0], holds.frame[0, k, 3], holds.frame[0, k, 6]), t0, t)
        d1 = transport((holds.frame[1, k, 0], holds.frame[1, k, 3], holds.frame[1, k, 6]), t1, t)
        d = transport(blend(d0, d1, at), t, t)
        s = cross(t, d)
        for c in range(3):
            frame[k, 3 * c], frame[k, 3 * c + 1], frame[k, 3 * c + 2] = d[c], s[c], t[c]
        geometry.spin[k] = between(holds.spin[0, k], holds.spin[1, k], at)


@part
def place_held(n: Nets, r: int, at: float) -> None:
    """Held unknowns of the iterate at a fraction of the step."""
    graph, holds, geometry, held, q = n.graph, n.holds, n.geometry, n.material.held, n.state.q
    for i in range(graph.vertices[r], graph.vertices[r + 1]):
        x = graph.x[i]
        if held[x]:
            for c in range(3):
                q[x + c] = between(holds.position[0, i, c], holds.position[1, i, c], at)
    for j in range(graph.edges[r], graph.edges[r + 1]):
        k = graph.theta[j]
        if n.material.edge_framed[j]:
            _, t = edge_between(q, graph.x[graph.tail[j]], graph.x[graph.head[j]])
            u = transport(get(geometry.base_reference, j), get(geometry.base_t, j), t)
            d = blend(get(holds.director[0], j), get(holds.director[1], j), at)
            spin = between(holds.edge_spin[0, j], holds.edge_spin[1, j], at)
            # At the beginning theta was zero, and the director lay behind the material by the spin of that time.
            q[k] = nearest_turn(signed_angle(u, transport(d, t, t), t), -geometry.edge_spin[j]) + spin
        elif held[k]:
            q[k] = 0.0
    for k in range(graph.joints[r], graph.joints[r + 1]):
        if n.material.framed[k]:
            for c in range(3):
                q[graph.omega[k] + c] = 0.0


@part
def gyroscopic_forces(n: Nets, r: int, h: float) -> None:
    """An edge that spins and turns: what changes the direction of its spin is a couple that its vertices must give. As in `der`."""
    graph, geometry, mass, force, a = n.graph, n.geometry, n.material.mass, n.forces.gyroscopic, n.state.a
    v = n.stage.v
    for k in range(graph.unknowns[r], graph.unknowns[r + 1]):
        force[k] = 0.0
    for e in range(graph.edges[r], graph.edges[r + 1]):
        i, j, k = graph.x[graph.tail[e]], graph.x[graph.head[e]], graph.theta[e]
        length = geometry.length[e]
        spin, more = v[k], h * a[k]
        if abs(more) < 0.6 * abs(spin):
            spin += more
        moment = mass[k] * spin
        most = 0.2 * min(mass[i], mass[j]) * length * length / h
        moment = max(-most, min(most, moment))
        x, y, z = v[j] - v[i], v[j + 1] - v[i + 1], v[j + 2] - v[i + 2]
        gain = (h * (a[j] - a[i]), h * (a[j + 1] - a[i + 1]), h * (a[j + 2] - a[i + 2]))
        if dot(gain, gain) < 0.25 * (x * x + y * y + z * z):
            x, y, z = x + gain[0], y + gain[1], z + gain[2]
        f = cross(get(geometry.t, e), (x, y, z))
        for c in range(3):
            g = moment * f[c] / (length * length)
            force[i + c] -= g
            force[j + c] += g


@part
def accept_iterate(n: Nets, r: int) -> None:
    """Accepts the iterate: its frames become the state's, its angles begin anew."""
    graph, state, geometry = n.graph, n.state, n.geometry
    for j in range(graph.edges[r], graph.edges[r + 1]):
        for c in range(3):
            state.m1[j, c] = geometry.d1[j, c]
        state.q[graph.theta[j]] = 0.0
    for e in range(graph.elements[r], graph.elements[r + 1]):
        state.twist[e] = geometry.strain[e, 4]
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
def cylinder_drag(n: Nets, r: int, air_density: float) -> None:
    """Writes the drag's matrix of the net's vertices, for the speed that they have now: as in forces/air.py, on a graph."""
    graph, drag, wind, q, v = n.graph, n.forces.drag, n.forces.wind, n.state.q, n.state.v
    for i in range(graph.vertices[r], graph.vertices[r + 1]):
        isotropic = n.forces.drag_rate[0] * n.material.mass[graph.x[i]]
        for c in range(6):
            drag[i, c] = isotropic if c == 0 or c == 2 or c == 5 else 0.0
    if air_density == 0.0:
        return
    for e in range(graph.edges[r], graph.edges[r + 1]):
        i, j = graph.x[graph.tail[e]], graph.x[graph.head[e]]
        length, t = edge_between(q, i, j)
        w = (
            0.5 * (v[i] + v[j]) - wind[0],
            0.5 * (v[i + 1] + v[j + 1]) - wind[1],
            0.5 * (v[i + 2] + v[j + 2]) - wind[2],
        )
        along = dot(w, t)
        across = math.sqrt(max(dot(w, w) - along * along, 0.0))
        radius = 0.5 * (n.material.radii[e, 0] + n.material.radii[e, 1])
        reynolds = air_density * across * 2.0 * radius / VISCOSITY
        coefficient = 1.0 + 10.0 / math.pow(reynolds, 2.0 / 3.0) if reynolds > 0.0 else 0.0
        normal = 0.5 * air_density * coefficient * 2.0 * radius * length * across
        axial = 0.5 * air_density * SKIN_FRICTION * 2.0 * math.pi * radius * length * abs(along)
        f, g = 0.5 * normal, 0.5 * (axial - normal)
        for k in (graph.tail[e], graph.head[e]):
            drag[k, 0] += f + g * t[0] * t[0]
            drag[k, 1] += g * t[1] * t[0]
            drag[k, 2] += f + g * t[1] * t[1]
            drag[k, 3] += g * t[2] * t[0]
            drag[k, 4] += g * t[2] * t[1]
            drag[k, 5] += f + g * t[2] * t[2]


@part
def break_what_must(n: Nets, r: int) -> None:
    """Segments that are pulled too hard carry nothing from now on; elements with too large a moment come loose.

    Judged by the iterate; positions and speeds stay as they are."""
    graph, state, geometry, material = n.graph, n.state, n.geometry, n.material
    if not material.breakable[r]:
        return
    for j in range(graph.edges[r], graph.edges[r + 1]):
        if state.whole_edge[j] > 0.0 and material.stretch[j] * geometry.stretch[j] > material.break_force[j]:
            state.whole_edge[j] = 0.0
    for e in range(graph.elements[r], graph.elements[r + 1]):
        if state.whole_element[e] == 0.0:
            continue
        a, b = graph.edge_a[e], graph.edge_b[e]
        gone = (a >= 0 and state.whole_edge[a] == 0.0) or (b >= 0 and state.whole_edge[b] == 0.0)
        moment = 0.0
        for c in range(5):
            part = material.stiffness[e, c] * (geometry.strain[e, c] - material.rest[e, c])
            moment += part * part
        if gone or moment > material.break_moment[e] ** 2:
            state.whole_element[e] = 0.0
