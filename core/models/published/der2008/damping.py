"""Internal damping (Kelvin-Voigt), which the paper does not have: after a step, and implicit, as an explicit one would need far
shorter steps than bending does.

The new speed solves (M / h + tau K) dv = -tau K v, where K is the stiffness of the rod about where it is, a sum of k g g^T over its
strains. So tau K v are the forces of strain rates. The system is one of elastic rods for a step of length s, with
strain rates and damping chosen such that both sides come out 2 / tau times as large.
"""

from __future__ import annotations

import math

from ....compile.jit import kernel, part
from ....errors import Flags
from ...elastic.arrays import Arrays, Scratch, Step
from ...elastic.evaluate import evaluate
from ...elastic.geometry import update_geometry
from ...elastic.matrix import factor_matrix, solve_matrix
from ...elastic.rods import RodArrays, RodState
from ...elastic.stepping import lay_out
from .arrays import Chain, Motion, Nodes
from .stepping import step_rods_explicitly

SMALL = 1e-6  # of an edge: how far back strain rates are looked for


@kernel
def step_and_damp_rods(
    b: RodArrays,
    start: RodState,
    flat: Arrays,
    bench: Arrays,
    scratch: Scratch,
    chain: Chain,
    nodes: Nodes,
    m: Motion,
    step: Step,
    skip: Flags,
    failed: Flags,
    first_rod: int,
    last_rod: int,
) -> None:
    """As step_rods_explicitly, all steps, with internal damping after each. `flat` are the same rods as `b`."""
    for r in range(first_rod, last_rod):
        if skip[r]:
            continue
        first, n = b.rods.start[r], b.rods.start[r + 1] - b.rods.start[r]
        _copy(b.state, start, first, n)
        inner, most = 0, 0
        for k in range(step.steps):
            step_rods_explicitly(b, chain, nodes, m, step, skip, failed, k, k + 1, r, r + 1)
            if failed[r]:
                _copy(start, b.state, first, n)
                break
            inner += m.inner[r]
            most = max(most, m.most_iterations[r])
            _damp(flat, bench, step.h, scratch, r)
        m.inner[r], m.most_iterations[r] = inner, most


@part
def _copy(source: RodState, target: RodState, first: int, n: int) -> None:
    for i in range(first, first + n):
        for c in range(4):
            target.q[i, c], target.v[i, c], target.a[i, c] = source.q[i, c], source.v[i, c], source.a[i, c]
        for c in range(3):
            target.m1[i, c] = source.m1[i, c]
        for c in range(2):
            target.twist[i, c] = source.twist[i, c]


@part
def _damp(b: Arrays, bench: Arrays, h: float, scratch: Scratch, r: int) -> None:
    """Takes out of the speed what internal damping takes in h seconds."""
    graph, material, state, stage, geometry = bench.graph, bench.material, bench.state, bench.stage, bench.geometry
    system, forces = bench.system, bench.forces
    tau = b.material.damping_time[r]
    if tau == 0.0 or not lay_out(b, bench, r):
        return
    first, n = b.graph.vertices[r], graph.vertices[1]
    fastest = 0.0
    for i in range(n):
        for c in range(3):
            fastest = max(fastest, abs(state.v[4 * i + c]) / material.rest_length[i])
    if not 0.0 < fastest < math.inf:
        return
    ago = SMALL / fastest
    for i in range(n):
        for c in range(4):
            k = 4 * i + c
            stage.q[k] = state.q[k]
            stage.v[k] = 0.0
            forces.force[k] = 0.0
            forces.gyroscopic[k] = 0.0
            state.q[k] -= ago * state.v[k] if c < 3 else 0.0
        for c in range(6):
            forces.drag[i, c] = 0.0
    forces.drag_rate[0] = 0.0
    if not update_geometry(graph, material, geometry, state, 0):
        return
    for e in range(2 * n):
        for c in range(5):
            stage.strain[e, c] = geometry.strain[e, c]
    for k in range(4 * n):
        state.q[k] = stage.q[k]
    update_geometry(graph, material, geometry, state, 0)
    for e in range(2 * n):
        for c in range(5):
            strain = geometry.strain[e, c]
            material.rest[e, c] = strain
            stage.strain[e, c] = strain - 2.0 * (strain - stage.strain[e, c]) / ago
    for i in range(n):
        geometry.stretch[i], stage.stretch[i], geometry.tension[i] = 0.0, 0.0, 0.0
    s = math.sqrt(0.5 * h * tau)
    material.damping_time[0] = s
    evaluate(
        graph, material, forces, stage, geometry, state, system, bench.pattern, scratch, 0, s, 0.0
    )  # fmt: skip
    if not factor_matrix(graph, material.held, system, bench.pattern, scratch.stack, 0):
        return
    for k in range(4 * n):
        system.trial[k] = -system.gradient[k]
    solve_matrix(graph, material.held, system, bench.pattern, 0, system.trial)
    for i in range(n):
        for c in range(3):
            b.state.v[4 * (first + i) + c] += system.trial[4 * i + c]
