"""The acceleration at the start of a step, which schemes with an explicit first stage need.

The end of a step leaves it behind: the last stage's (v - v*) / h. It is that of the slow motion, with tensions in balance; forces
evaluated at the state would instead amplify Newton's tolerance by the stiffest spring. The state keeps it without external loads,
which may change from step to step. Where nothing is known of it (at the start, after a release or an impact) it is all zero, and is
estimated by two short backward Euler steps, of which only the acceleration is kept: the first one makes velocities consistent with
stiff springs, the second one accelerations.
"""

from __future__ import annotations

from ...compile.jit import part
from .arrays import Arrays
from .geometry import update_geometry

DIFFERENCE = 1e-6  # segment lengths, for strain rates


@part
def add_load(n: Arrays, r: int, sign: float) -> None:
    """Adds the acceleration by external loads to the state's, or takes it out again; one that is not known stays zero."""
    if not knows_acceleration(n, r):
        return
    a, force, mass, held = n.state.a, n.forces.force, n.material.mass, n.material.held
    for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
        if not held[k] and mass[k] > 0.0:
            a[k] += sign * (force[k] / mass[k])


@part
def knows_acceleration(n: Arrays, r: int) -> bool:
    """False if all are zero."""
    known = False
    for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
        known = known or n.state.a[k] != 0.0
    return known


@part
def keep_acceleration(n: Arrays, r: int) -> None:
    """After the short steps: back to the saved state, with the acceleration that they found."""
    state, saved = n.state, n.saved
    for k in range(n.graph.unknowns[r], n.graph.unknowns[r + 1]):
        saved.a[k] = state.a[k]
        state.q[k], state.v[k] = saved.q[k], saved.v[k]


@part
def add_strain_rates(n: Arrays, r: int, h: float) -> bool:
    """Adds h times the strain rates at the state to the strains from which the stage takes rates. False if the net folds."""
    graph, state, stage, geometry, unit, was = n.graph, n.state, n.stage, n.geometry, n.material.unit, n.system.base
    first, end = graph.unknowns[r], graph.unknowns[r + 1]
    largest = 0.0
    for k in range(first, end):
        largest = max(largest, abs(state.v[k]) * unit[k])
    if not largest > 0.0:
        return True
    e = DIFFERENCE / largest
    for k in range(first, end):
        was[k] = state.q[k]
        state.q[k] += e * state.v[k]
    good = update_geometry(graph, n.material, geometry, state, r)
    for k in range(first, end):
        state.q[k] = was[k]
    if not good:
        return False
    f = h / e
    for j in range(graph.edges[r], graph.edge_end[r]):
        stage.stretch[j] += f * (geometry.stretch[j] - stage.stretch0[j])
    for i in range(graph.elements[r], graph.elements[r + 1]):
        for c in range(5):
            stage.strain[i, c] += f * (geometry.strain[i, c] - stage.strain0[i, c])
    return True
