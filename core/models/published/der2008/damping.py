"""Internal (Kelvin-Voigt) damping, which the paper does not include. It is applied implicitly after each step, because an
explicit treatment would need far shorter steps than bending.

The new velocity solves (M / h + tau K) dv = -tau K v, where K is the tangent stiffness of the rod, a sum of k g g^T over its
strains, so that tau K v are the forces of strain rates. The system is assembled as a `der` step of length s, with strain rates
and damping chosen such that both sides are multiplied by 2 / tau.
"""

from __future__ import annotations

import math

from ....compile.jit import kernel, part
from ....errors import Array
from ...der.arrays import Arrays, State, Step
from ...der.evaluate import evaluate, update_geometry
from ...der.newton import factor_matrix, solve_matrix
from ...der.stepping import lay_out
from ...der.workbench import copy_state
from .arrays import Chain, Motion, Nodes
from .stepping import Flags, step_rods_explicitly

SMALL = 1e-6  # edge lengths: displacement of the difference quotient for strain rates


@kernel
def step_and_damp_rods(
    b: Arrays,
    start: State,
    bench: Arrays,
    lanes: Array,
    chain: Chain,
    nodes: Nodes,
    m: Motion,
    step: Step,
    skip: Flags,
    failed: Flags,
    first_rod: int,
    last_rod: int,
) -> None:
    """Like `step_rods_explicitly` for all steps, with internal damping after each."""
    for r in range(first_rod, last_rod):
        if skip[r]:
            continue
        first, n = b.rods.start[r], b.rods.start[r + 1] - b.rods.start[r]
        copy_state(b.state, first, start, first, n)
        inner, most = 0, 0
        for k in range(step.steps):
            step_rods_explicitly(b, chain, nodes, m, step, skip, failed, k, k + 1, r, r + 1)
            if failed[r]:
                copy_state(start, first, b.state, first, n)
                break
            inner += m.inner[r]
            most = max(most, m.most_iterations[r])
            _damp(b, bench, step.h, lanes, r)
        m.inner[r], m.most_iterations[r] = inner, most


@part
def _damp(b: Arrays, bench: Arrays, h: float, lanes: Array, r: int) -> None:
    """Applies internal damping over h seconds to the velocities."""
    rods, state, stage, geometry, system = bench.rods, bench.state, bench.stage, bench.geometry, bench.system
    tau = b.rods.damping_time[r]
    if tau == 0.0 or not lay_out(b, bench, r):
        return
    first, n = b.rods.start[r], rods.start[1]
    fastest = 0.0
    for i in range(n):
        for c in range(3):
            fastest = max(fastest, abs(state.v[i, c]) / rods.rest_length[i])
    if not 0.0 < fastest < math.inf:
        return
    ago = SMALL / fastest
    for i in range(n):
        for c in range(4):
            stage.q[i, c] = state.q[i, c]
            stage.v[i, c] = 0.0
            bench.forces.force[i, c] = 0.0
            bench.forces.gyroscopic[i, c] = 0.0
            state.q[i, c] -= ago * state.v[i, c] if c < 3 else 0.0
        for c in range(6):
            bench.forces.drag[i, c] = 0.0
    if not update_geometry(rods, bench.frames, geometry, state.q, 0):
        return
    for i in range(n):
        for slot in range(2):
            for c in range(5):
                stage.strain[i, slot, c] = geometry.strain[i, slot, c]
        for c in range(4):
            state.q[i, c] = stage.q[i, c]
    update_geometry(rods, bench.frames, geometry, state.q, 0)
    for i in range(n):
        for slot in range(2):
            for c in range(5):
                strain = geometry.strain[i, slot, c]
                rods.rest[i, slot, c] = strain
                stage.strain[i, slot, c] = strain - 2.0 * (strain - stage.strain[i, slot, c]) / ago
        geometry.stretch[i], stage.stretch[i], geometry.tension[i] = 0.0, 0.0, 0.0
    s = math.sqrt(0.5 * h * tau)
    rods.damping_time[0] = s
    evaluate(rods, bench.frames, bench.forces, stage, geometry, system, state.q, 0, s, lanes, False)
    if not factor_matrix(rods, system, 0):
        return
    for i in range(n):
        for c in range(4):
            system.trial[4 * i + c] = 0.0 if rods.held[i, c] else -system.gradient[i, c]
    solve_matrix(rods, system, 0, system.trial)
    for i in range(n):
        for c in range(3):
            b.state.v[first + i, c] += system.trial[4 * i + c]
