"""The acceleration at the start of a step, which schemes with an explicit first stage need.

The end of a step leaves it behind: the last stage's (v - v*) / h. It is that of the slow motion, with tensions in balance; forces
evaluated at the state would instead amplify Newton's tolerance by the stiffest spring. The state keeps it without external loads
and drag, which may change from step to step. Where nothing is known of it (at the start, after a release or an impact) it is all
zero, and is estimated by two short backward Euler steps, of which only the acceleration is kept: the first one makes velocities
consistent with stiff springs, the second one accelerations.
"""

from __future__ import annotations

import math

from ...compile.jit import part
from ...compile.lanes import Truth, always, any_of, both, select
from ...forces.air import has_drag
from .arrays import Arrays
from .geometry import update_geometry
from .stages import air_drag

LARGEST_CHANGE = (
    0.5  # of the speed through the air within half a step: where it would change more, it is not extrapolated so far
)
DIFFERENCE = 1e-6  # segment lengths, for strain rates


@part
def begin_loads(n: Arrays, r: int, h: float, air_density: float) -> None:
    """The drag's matrix for a step of length h, and the acceleration with which it begins. The matrix is that of the speeds in the
    middle of the step, where they can be extrapolated: so drag that grows with speed is of second order."""
    graph, forces, state, v, a = n.graph, n.forces, n.state, n.state.v, n.state.a
    air_drag(graph, n.material, forces, state.q, v, r, air_density)
    add_loads(n, r, 1.0)
    if not (air_density > 0.0 and any_of(knows_acceleration(n, r))):
        return
    wind, middle = forces.wind, n.stage.v
    for i in range(graph.vertices[r], graph.vertices[r + 1]):
        k = graph.x[i]
        speed = gain = 0.0
        for c in range(3):
            x, y = v[k + c] - wind[c], 0.5 * h * a[k + c]
            speed += x * x
            gain += y * y
        most = LARGEST_CHANGE * LARGEST_CHANGE * speed
        size = 0.5 * h * select(gain <= most, 1.0, math.sqrt(most / gain))
        for c in range(3):
            middle[k + c] = v[k + c] + size * a[k + c]
    add_loads(n, r, -1.0)
    air_drag(graph, n.material, forces, state.q, middle, r, air_density)
    add_loads(n, r, 1.0)


@part
def add_loads(n: Arrays, r: int, sign: float) -> None:
    """Adds the acceleration by external loads and drag to the state's, or takes it out again; one that is not known stays zero."""
    known = knows_acceleration(n, r)
    if not any_of(known):
        return
    graph, v, a, mass, held = n.graph, n.state.v, n.state.a, n.material.mass, n.material.held
    force, drag, wind, rate = n.forces.force, n.forces.drag, n.forces.wind, n.forces.drag_rate[r]
    for k in range(graph.unknowns[r], graph.unknowns[r + 1]):
        if not held[k]:
            a[k] += sign * select(both(known, mass[k] > 0.0), force[k] / mass[k], 0.0)
    for i in range(graph.vertices[r], graph.vertices[r + 1]):
        k = graph.x[i]
        if held[k] or not has_drag(drag, i):
            continue
        x, y, z, f = v[k] - wind[0], v[k + 1] - wind[1], v[k + 2] - wind[2], select(known, sign / mass[k], 0.0)
        a[k] -= f * (drag[i, 0] * x + drag[i, 1] * y + drag[i, 3] * z)
        a[k + 1] -= f * (drag[i, 1] * x + drag[i, 2] * y + drag[i, 4] * z)
        a[k + 2] -= f * (drag[i, 3] * x + drag[i, 4] * y + drag[i, 5] * z)
    if any_of(rate > 0.0):
        for j in range(graph.edges[r], graph.edge_end[r]):
            k = graph.theta[j]
            if not held[k]:
                a[k] -= select(known, sign * rate * v[k], 0.0)


@part
def knows_acceleration(n: Arrays, r: int) -> Truth:
    """False if all are zero."""
    a = n.state.a
    largest = abs(a[n.graph.unknowns[r]])
    for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
        largest = max(largest, abs(a[k]))
    return largest > 0.0


@part
def keep_acceleration(n: Arrays, r: int) -> None:
    """After the short steps: back to the saved state, with the acceleration that they found."""
    state, saved = n.state, n.saved
    for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
        saved.a[k] = state.a[k]
        state.q[k], state.v[k] = saved.q[k], saved.v[k]


@part
def add_strain_rates(n: Arrays, r: int, h: float) -> Truth:
    """Adds h times the strain rates at the state to the strains from which the stage takes rates. False if the net folds."""
    graph, state, stage, geometry, unit, was = n.graph, n.state, n.stage, n.geometry, n.material.unit, n.system.base
    first, end = graph.unknowns[r], graph.unknowns[r + 1]
    largest = 0.0
    for k in range(first, end):
        largest = max(largest, abs(state.v[k]) * unit[k])
    moves = largest > 0.0
    if not any_of(moves):
        return always(largest)
    e = DIFFERENCE / select(moves, largest, math.inf)
    for k in range(first, end):
        was[k] = state.q[k]
        state.q[k] += e * state.v[k]
    good = update_geometry(graph, n.material, geometry, state, r)
    for k in range(first, end):
        state.q[k] = was[k]
    if not any_of(good):
        return good
    f = select(moves, h * largest / DIFFERENCE, 0.0)
    for j in range(graph.edges[r], graph.edge_end[r]):
        stage.stretch[j] += f * (geometry.stretch[j] - stage.stretch0[j])
    for i in range(graph.elements[r], graph.elements[r + 1]):
        for c in range(5):
            stage.strain[i, c] += f * (geometry.strain[i, c] - stage.strain0[i, c])
    return good
