"""The matrix of a net: sparse, with a pattern that never changes (see `maths/linalg/sparse_factor.py`).

Where entries stand among the values is known from the start (`of_vertex`, `of_edge`, `of_element`), so that adding to the matrix is
adding to a list of places; entries of held unknowns have none. `band.py` has the same functions for rods, and `matrix.py` chooses
between them.

An arm, the element between a joint's frame and an edge, has the energy E(R, e, theta), which does not change
if joint and edge turn together; turning the joint by omega is turning the edge back, which also takes theta back by
omega.t + omega.dt / 2 + ..., because reference frames are carried by parallel transport. With g and H the derivatives that the
element has for a frame that is held, J = d(e, theta)/d omega = ([e]x, -t):
    g_omega = J^T g = -e x g_e - t g_theta,
    H_omega,omega = J^T H J + (g_e e^T + e g_e^T) / 2 - (g_e.e) 1,
    H_omega,e = J^T H_e + [g_e]x - (1 - t t^T) g_theta / (2 |e|),      H_omega,theta = J^T H_theta.
"""

from __future__ import annotations

from ...compile.jit import kernel, part
from ...errors import Array, Flags, Ints
from ...forces.air import has_drag
from ...maths.geometry.frames import Vector, cross, dot
from ...maths.geometry.rows import get
from ...maths.linalg.sparse_factor import Pattern, invert_within, solve
from .arrays import Arrays, Forces, Geometry, Graph, Material, Scratch, System
from .element import ACROSS, ALONG, ENERGY, GRADIENT, LOCAL, PLACE


@part
def clear(graph: Graph, held: Flags, system: System, pattern: Pattern, r: int) -> None:
    """Held unknowns have a one on the diagonal and nothing else."""
    values, diagonal = system.values, system.diagonal
    for k in range(pattern.panel[pattern.net[r]], pattern.panel[pattern.net[r + 1]]):
        values[k] = 0.0
    for k in range(graph.unknowns[r], graph.unknowns[r + 1]):
        if held[k]:
            values[diagonal[k]] = 1.0


@part
def add_inertia(graph: Graph, material: Material, forces: Forces, system: System, r: int, h: float) -> None:
    """Masses, and what drag and spin lose."""
    values, diagonal, mass, held, drag = system.values, system.diagonal, material.mass, material.held, forces.drag
    theta, of_vertex, rate = graph.theta, system.of_vertex, forces.drag_rate[r]
    ih = 1.0 / h
    hh = ih * ih
    for k in range(graph.unknowns[r], graph.unknowns[r + 1]):
        if not held[k]:
            values[diagonal[k]] += mass[k] * hh
    for i in range(graph.vertices[r], graph.vertices[r + 1]):
        if not has_drag(drag, i):
            continue
        for m in range(6):
            values[of_vertex[i, m]] += drag[i, m] * ih
    if rate > 0.0:
        for j in range(graph.edges[r], graph.edges[r + 1]):
            k = theta[j]
            if not held[k]:
                values[diagonal[k]] += mass[k] * rate * ih


@part
def add_lanes(
    graph: Graph, geometry: Geometry, system: System, scratch: Scratch, filled: int, r: int, exact: float
) -> float:
    """Adds what element_lanes computed to gradient and matrix; returns the energy. Lanes say in PLACE which element they hold."""
    lanes, gradient, values, of = scratch.lanes, system.gradient, system.values, system.of_element
    x, tail, head, theta, edge_a, edge_b = graph.x, graph.tail, graph.head, graph.theta, graph.edge_a, graph.edge_b
    joint, omega, vertex, t, length = graph.joint, graph.omega, graph.middle, geometry.t, geometry.length
    small, local = scratch.small, scratch.local
    energy = 0.0
    for lane in range(filled):
        energy += lanes[ENERGY, lane]
        e = int(lanes[PLACE, lane])
        a, b, middle = edge_a[e], edge_b[e], x[vertex[e]]
        if joint[e] < 0:
            near = x[tail[a]] if a >= 0 else -1
            turn_a = theta[a] if a >= 0 else -1
            _add_element(gradient, values, of, lanes, lane, e, near, turn_a, middle, theta[b], x[head[b]])
        else:
            edge = b if b >= 0 else a
            far = x[head[edge]] if b >= 0 else x[tail[edge]]
            _add_arm(
                gradient, values, of, lanes, lane, e, middle, far, theta[edge], omega[joint[e]], b >= 0,
                get(t, edge), length[edge], small, local, exact,
            )  # fmt: skip
    return energy


@part
def _add_element(
    gradient: Array, values: Array, of: Ints, lanes: Array, lane: int, e: int,
    p: int, turn_a: int, i: int, turn_b: int, f: int,
) -> None:  # fmt: skip
    """Adds an element between two edges (or one that only stretches its edge: p is -1) to gradient and matrix. Numbers are those of
    unknowns: x_p theta_a x_i theta_b x_f."""
    if p >= 0:
        for c in range(3):
            g = lanes[GRADIENT + c, lane]
            gradient[p + c] -= g
            gradient[i + c] += g
        gradient[turn_a] += lanes[GRADIENT + 3, lane]
    for c in range(3):
        g = lanes[GRADIENT + 4 + c, lane]
        gradient[i + c] -= g
        gradient[f + c] += g
    gradient[turn_b] += lanes[GRADIENT + 7, lane]
    for m in range(66):
        values[of[e, m]] += lanes[LOCAL + m, lane]


@part
def _add_arm(
    gradient: Array, values: Array, of: Ints, lanes: Array, lane: int, e: int,
    near: int, far: int, theta: int, w: int, out: bool,
    t: Vector, length: float, small: Array, local: Array, exact: float,
) -> None:  # fmt: skip
    """Adds the element between a joint's frame and an edge with tangent t, which begins there (`out`) or ends there. Numbers are
    those of unknowns."""
    sign = 1.0 if out else -1.0  # e = sign (x_far - x_near)
    v = (length * t[0], length * t[1], length * t[2])
    along, across = 0.0, 0.0
    if out:
        along, across = lanes[ALONG, lane], lanes[ACROSS, lane]
        g0, g1 = lanes[GRADIENT + 4, lane], lanes[GRADIENT + 5, lane]
        g2, gt = lanes[GRADIENT + 6, lane], lanes[GRADIENT + 7, lane]
        h00, h10, h20 = lanes[LOCAL + 60, lane], lanes[LOCAL + 61, lane], lanes[LOCAL + 62, lane]
        h11, h21, h22 = lanes[LOCAL + 63, lane], lanes[LOCAL + 64, lane], lanes[LOCAL + 65, lane]
        # These contain the stretching of the edge, which knows nothing of the joint.
        h00, h11, h22 = h00 - across, h11 - across, h22 - across
        h00, h11, h22 = h00 - along * t[0] * t[0], h11 - along * t[1] * t[1], h22 - along * t[2] * t[2]
        h10, h20, h21 = h10 - along * t[1] * t[0], h20 - along * t[2] * t[0], h21 - along * t[2] * t[1]
        p0, p1, p2 = lanes[LOCAL + 57, lane], lanes[LOCAL + 58, lane], lanes[LOCAL + 59, lane]
        tt = lanes[LOCAL + 56, lane]
    else:
        g0, g1 = lanes[GRADIENT, lane], lanes[GRADIENT + 1, lane]
        g2, gt = lanes[GRADIENT + 2, lane], lanes[GRADIENT + 3, lane]
        h00, h10, h20 = lanes[LOCAL, lane], lanes[LOCAL + 1, lane], lanes[LOCAL + 2, lane]
        h11, h21, h22 = lanes[LOCAL + 11, lane], lanes[LOCAL + 12, lane], lanes[LOCAL + 21, lane]
        p0, p1, p2 = -lanes[LOCAL + 3, lane], -lanes[LOCAL + 13, lane], -lanes[LOCAL + 22, lane]
        tt = lanes[LOCAL + 30, lane]
    g = (g0, g1, g2)
    # Gradient: moments and forces balance.
    moment = cross(v, g)
    for c in range(3):
        gradient[w + c] -= moment[c] + t[c] * gt
        gradient[far + c] += sign * g[c]
        gradient[near + c] -= sign * g[c]
    gradient[theta] += gt
    # small: rows omega (3), e (3), theta; first H in e and theta.
    small[3, 3], small[4, 3], small[5, 3], small[6, 3] = h00, h10, h20, p0
    small[3, 4], small[4, 4], small[5, 4], small[6, 4] = h10, h11, h21, p1
    small[3, 5], small[4, 5], small[5, 5], small[6, 5] = h20, h21, h22, p2
    small[3, 6], small[4, 6], small[5, 6], small[6, 6] = p0, p1, p2, tt
    # J^T u = -v x u_e - t u_theta, for each column of H; then for the columns of J.
    for c in range(3, 7):
        y = cross(v, (small[3, c], small[4, c], small[5, c]))
        for s in range(3):
            small[s, c] = -y[s] - t[s] * small[6, c]
    for s in range(3):
        y = cross(v, (small[s, 3], small[s, 4], small[s, 5]))
        for c in range(3):
            small[s, c] = -y[c] - t[c] * small[s, 6]
    if exact > 0.0:
        product = dot(g, v)
        q = 0.5 * gt / length
        for s in range(3):
            for c in range(3):
                small[s, c] += 0.5 * (g[s] * v[c] + v[s] * g[c])
                small[s, 3 + c] += q * t[s] * t[c]
            small[s, s] -= product
            small[s, 3 + s] -= q
        small[0, 4] -= g2
        small[0, 5] += g1
        small[1, 3] += g2
        small[1, 5] -= g0
        small[2, 3] -= g1
        small[2, 4] += g0
    # local: omega, x_near, theta, x_far.
    for s in range(3):
        for c in range(3):
            hs = small[3 + max(s, c), 3 + min(s, c)] + along * t[s] * t[c] + (across if s == c else 0.0)
            local[s, c] = small[s, c]
            local[3 + s, c] = -sign * small[c, 3 + s]
            local[7 + s, c] = sign * small[c, 3 + s]
            local[3 + s, 3 + c] = hs
            local[7 + s, 3 + c] = -hs
            local[7 + s, 7 + c] = hs
        local[6, s] = small[s, 6]
        local[6, 3 + s] = -sign * small[6, 3 + s]
        local[7 + s, 6] = sign * small[6, 3 + s]
    local[6, 6] = tt
    m = 0
    for c in range(10):
        for s in range(c, 10):
            values[of[e, m]] += local[s, c]
            m += 1


@part
def add_edges(graph: Graph, system: System, stiffness: Array, touched: Flags, r: int) -> None:
    """Adds stiffness (E, 28) of x theta x of edges that are touched, lower triangle by rows."""
    for j in range(graph.edges[r], graph.edges[r + 1]):
        if touched[j]:
            for m in range(28):
                system.values[system.of_edge[j, m]] += stiffness[j, m]


@part
def enlarge_diagonal(graph: Graph, system: System, r: int, factor: float) -> None:
    """Makes the diagonal of the positions larger by a factor."""
    for i in range(graph.vertices[r], graph.vertices[r + 1]):
        for c in range(3):
            k = system.diagonal[graph.x[i] + c]
            system.values[k] += factor * abs(system.values[k])


@part
def solve_fronts(graph: Graph, held: Flags, system: System, pattern: Pattern, r: int, x: Array) -> None:
    """Solves with the factored matrix of net r, in place; x is (n,)."""
    place, ordered = pattern.place, system.ordered
    for k in range(graph.unknowns[r], graph.unknowns[r + 1]):
        ordered[place[k]] = 0.0 if held[k] else x[k]
    solve(pattern, system.values, r, ordered)
    for k in range(graph.unknowns[r], graph.unknowns[r + 1]):
        x[k] = ordered[place[k]]


@kernel
def probe_nets(
    n: Arrays, fronts: Ints, parent: Ints, z: Array, chosen: Ints, mobility: Array, begin: int, stop: int
) -> None:
    """mobility (V, 6): how far a force on each vertex moves it within the step, xx yx yy zx zy zz, by the net's factored matrix."""
    pattern, held = n.pattern, n.material.held
    first, place = pattern.first, pattern.place
    for at in range(begin, stop):
        r = chosen[at]
        invert_within(pattern, n.system.values, fronts, parent, z, r)
        for i in range(n.graph.vertices[r], n.graph.vertices[r + 1]):
            x = n.graph.x[i]
            low, high = pattern.net[r], pattern.net[r + 1]
            while high - low > 1:  # the supernode that has its columns, which stand side by side
                middle = (low + high) // 2
                if first[middle] <= place[x]:
                    low = middle
                else:
                    high = middle
            front = first[low + 1] - first[low] + pattern.below[low + 1] - pattern.below[low]
            k = place[x] - first[low]
            m = 0
            for s in range(3):
                for c in range(s + 1):
                    mobility[i, m] = 0.0 if held[x] else z[fronts[low] + (k + s) * front + k + c]
                    m += 1
