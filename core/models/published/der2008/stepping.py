"""Time steps of Bergou et al. 2008: forces, symplectic Euler, projection, Bishop frames, quasistatic material frames.

The scheme is explicit, so that a step consists of as many inner steps as the highest frequency requires. A rod that would need
too many, or for which an inner step fails, keeps its state and is flagged for an implicit step.
"""

from __future__ import annotations

import math

from ....compile.jit import kernel, part
from ....errors import Array, Flags
from ....forces.air import cylinder_drag
from ....maths.geometry.rows import get, put
from ...elastic.arrays import Step
from ...elastic.rods import RodArrays, Rods
from ...held_frames import between, place_frames
from ...report import ITERATIONS, RESIDUAL
from .arrays import Chain, Motion, Nodes
from .forces import elastic_forces, longest_step, measure_energies
from .frames import load_frames, relax_frames, store_frames, transport_frames
from .projection import TOLERANCE, displacement, preserve_lengths, project

MOST_INNER = 50_000  # per step
UPDATE_INTERVAL = 16  # inner steps between updates of the longest stable step
MOST_HALVINGS = 6  # of an inner step
FAILED_ERROR = 0.1  # relative length error after the projection above which the inner step was too long


@kernel
def step_rods_explicitly(
    b: RodArrays,
    chain: Chain,
    nodes: Nodes,
    m: Motion,
    step: Step,
    skip: Flags,
    failed: Flags,
    begin: int,
    stop: int,
    first_rod: int,
    last_rod: int,
) -> None:
    """Takes steps begin ... stop - 1 of step.steps with rods first_rod ... last_rod - 1 except those in `skip`; with none it
    only measures. Failed rods keep their state."""
    rods, forces, report = b.rods, b.forces, b.log.report
    for r in range(first_rod, last_rod):
        if skip[r]:
            continue
        first, end, closed = rods.start[r], rods.start[r + 1], rods.closed[r]
        failed[r] = True
        if not load_state(b, chain, nodes, m, r, begin / step.steps, stop > begin):
            continue
        good = True
        damped = rods.damping_time[r] > 0.0
        level = damped  # velocities are synchronised with x, rather than half a step earlier
        iterations, inner, most, residual = 0, 0, 0, 0.0
        h = step.h
        for done in range(begin, stop):
            cylinder_drag(
                rods.radii, rods.mass, m.x, m.v, forces.wind, step.air_density, forces.drag_rate[r], m.drag,
                first, end, closed,
            )  # fmt: skip
            passed, count, left = 0.0, 0, 0  # fraction of the step
            halvings, start = 0, 0.0
            while True:
                if left == 0 or count % UPDATE_INTERVAL == 0:
                    longest = longest_step(rods, chain, nodes, m.v, m.diagonal, r) / 2.0**halvings
                    if left == 0 or h > longest:
                        needed = math.ceil(step.h * (1.0 - passed) / longest)
                        if not needed <= MOST_INNER:
                            good = False
                            break
                        left = max(int(needed), 1)
                        h = step.h * (1.0 - passed) / left
                        start, count = passed, 0
                        make_metric(rods, m, r, h)
                        if level:
                            _shift_velocity(b, chain, nodes, m, r, -0.5 * h)
                            level = False
                now = 1.0 if left == 1 else start + (count + 1) * (h / step.h)
                tries, worst = _inner_step(b, chain, nodes, m, r, h, (done + now) / step.steps, step.tolerance)
                if not worst < FAILED_ERROR or tries < 0:
                    halvings += 1
                    if halvings > MOST_HALVINGS or not roll_back(b, chain, nodes, m, r, (done + passed) / step.steps):
                        good = False
                        break
                    left = 0
                    continue
                iterations += tries
                most = max(most, tries)
                residual = max(residual, worst)
                inner += 1
                count += 1
                left -= 1
                passed = now
                if left == 0:
                    break
            if not good:
                break
        if not good:
            continue
        failed[r] = False
        if damped and stop > begin:
            _shift_velocity(b, chain, nodes, m, r, 0.5 * h)
        measure_energies(chain, nodes, b.log.energy, r)
        if stop > begin:
            m.inner[r], m.most_iterations[r] = inner, most
            report[r, ITERATIONS] += iterations
            report[r, RESIDUAL] = max(report[r, RESIDUAL], residual)
            store_state(b, chain, nodes, m, r)


@part
def load_state(b: RodArrays, chain: Chain, nodes: Nodes, m: Motion, r: int, at: float, ready: bool) -> bool:
    """Loads the state at fraction `at` of the step. With `ready` the edges get their rest lengths, without a change of
    velocity. Returns False if the state is invalid."""
    rods, state, holds, frames = b.rods, b.state, b.holds, m.frames
    first, end = rods.start[r], rods.start[r + 1]
    for i in range(first, end):
        put(m.x, i, get(state.q, i))
        put(m.v, i, get(state.v, i))
        if rods.edge_framed[i]:
            frames.spin[i] = between(holds.spin[0, i], holds.spin[1, i], at)
    place_frames(rods, holds, frames, first, end, at)
    load_frames(rods, state, frames, chain, nodes, m.x, r)
    if ready:
        for i in range(first, end):
            for c in range(6):
                m.drag[i, c] = 0.0
        make_metric(rods, m, r, 0.0)
        _, worst = project(rods, m, r, TOLERANCE, False)
        if not worst < math.inf:
            return False
    if not transport_frames(rods, holds, frames, chain, nodes, m.x, r, at):
        return False
    relax_frames(chain, nodes, rods.mass, r, rods.closed[r])
    return True


@part
def store_state(b: RodArrays, chain: Chain, nodes: Nodes, m: Motion, r: int) -> None:
    """Writes centerline, velocities and frames of rod r to the state."""
    rods, state = b.rods, b.state
    store_frames(rods, state, chain, nodes, r)
    for i in range(rods.start[r], rods.start[r + 1]):
        for c in range(3):
            state.q[i, c] = m.x[i, c]
            state.v[i, c] = m.v[i, c]
        state.q[i, 3], state.v[i, 3] = 0.0, 0.0
        for c in range(4):
            state.a[i, c] = 0.0


@part
def roll_back(b: RodArrays, chain: Chain, nodes: Nodes, m: Motion, r: int, at: float) -> bool:
    """Rolls back an inner step; the velocities are unchanged since its start."""
    rods = b.rods
    first, end = rods.start[r], rods.start[r + 1]
    for i in range(first, end):
        put(m.x, i, get(m.before, i))
    place_frames(rods, b.holds, m.frames, first, end, at)
    if not transport_frames(rods, b.holds, m.frames, chain, nodes, m.x, r, at):
        return False
    relax_frames(chain, nodes, rods.mass, r, rods.closed[r])
    return True


@part
def make_metric(rods: Rods, m: Motion, r: int, h: float) -> None:
    """Inverse of mass + h drag per vertex; zero for held vertices."""
    drag, metric = m.drag, m.metric
    for i in range(rods.start[r], rods.start[r + 1]):
        if rods.held[i, 0]:
            for c in range(6):
                metric[i, c] = 0.0
            continue
        mass = rods.mass[i, 0]
        xx, yx, yy = mass + h * drag[i, 0], h * drag[i, 1], mass + h * drag[i, 2]
        zx, zy, zz = h * drag[i, 3], h * drag[i, 4], mass + h * drag[i, 5]
        cx, cy, cz = yy * zz - zy * zy, zx * zy - yx * zz, yx * zy - yy * zx  # cofactors of the first row
        f = 1.0 / (xx * cx + yx * cy + zx * cz)
        metric[i, 0], metric[i, 1], metric[i, 3] = f * cx, f * cy, f * cz
        metric[i, 2], metric[i, 4], metric[i, 5] = (
            f * (xx * zz - zx * zx),
            f * (yx * zx - xx * zy),
            f * (xx * yy - yx * yx),
        )


@part
def _inner_step(
    b: RodArrays, chain: Chain, nodes: Nodes, m: Motion, r: int, h: float, at: float, tolerance: float
) -> tuple[int, float]:
    """Algorithm 1 of the paper, steps 6 to 11. Returns the number of projection iterations and the largest relative length
    error; -1 iterations if the rod folded, with unchanged velocities."""
    rods = b.rods
    first, end = rods.start[r], rods.start[r + 1]
    apply_forces(b, chain, nodes, m, r)
    predict(b, m, r, h, at)
    iterations, worst = project(rods, m, r, tolerance, m.symplectic[0])
    place_frames(rods, b.holds, m.frames, first, end, at)
    if not worst < FAILED_ERROR or not transport_frames(rods, b.holds, m.frames, chain, nodes, m.x, r, at):
        return -1, worst
    relax_frames(chain, nodes, rods.mass, r, rods.closed[r])
    f = 1.0 / h
    for i in range(first, end):
        for c in range(3):
            m.v[i, c] = f * (m.x[i, c] - m.before[i, c])
    return iterations, worst


@part
def apply_forces(b: RodArrays, chain: Chain, nodes: Nodes, m: Motion, r: int) -> None:
    """Loads, elastic forces, and the wind's drag on a vertex at rest."""
    rods, force, wind, drag = b.rods, b.forces.force, b.forces.wind, m.drag
    for i in range(rods.start[r], rods.start[r + 1]):
        for c in range(3):
            m.force[i, c] = force[i, c]
        if drag[i, 0] != 0.0:
            w = displacement(drag, i, (wind[0], wind[1], wind[2]))
            for c in range(3):
                m.force[i, c] += w[c]
    elastic_forces(rods, chain, nodes, m.force, r)


@part
def _shift_velocity(b: RodArrays, chain: Chain, nodes: Nodes, m: Motion, r: int, by: float) -> None:
    """Adds the length-preserving part of the velocity that the forces cause within `by` seconds.

    The velocity of symplectic Euler belongs to a time half a step before its positions. Internal damping must act on
    synchronised velocities, otherwise it excites vibrations by acting at the wrong phase."""
    first, end = b.rods.start[r], b.rods.start[r + 1]
    apply_forces(b, chain, nodes, m, r)
    for i in range(first, end):
        f = get(m.force, i)
        put(m.before, i, displacement(m.metric, i, (by * f[0], by * f[1], by * f[2])))
    preserve_lengths(b.rods, m, m.before, r)
    for i in range(first, end):
        for c in range(3):
            m.v[i, c] += m.before[i, c]


@part
def predict(b: RodArrays, m: Motion, r: int, h: float, at: float) -> None:
    """Symplectic Euler without constraints: x + h v', v' = (M + h D)^-1 (M v + h f). Held vertices follow their prescribed
    motion."""
    rods, holds = b.rods, b.holds
    x, v, before, force = m.x, m.v, m.before, m.force
    for i in range(rods.start[r], rods.start[r + 1]):
        put(before, i, get(x, i))
        if rods.held[i, 0]:
            for c in range(3):
                x[i, c] = between(holds.position[0, i, c], holds.position[1, i, c], at)
            continue
        mass = rods.mass[i, 0]
        w = displacement(
            m.metric, i,
            (mass * v[i, 0] + h * force[i, 0], mass * v[i, 1] + h * force[i, 1], mass * v[i, 2] + h * force[i, 2]),
        )  # fmt: skip
        for c in range(3):
            x[i, c] += h * w[c]


@kernel
def respond(
    b: RodArrays, chain: Chain, nodes: Nodes, m: Motion, h: float, x: Array, first_rod: int, last_rod: int
) -> None:
    """x (N, 4) becomes the displacement by forces x within a step of length h: through the inverse mass, and length-preserving.
    Angles have no inertia, and their entries become zero."""
    rods = b.rods
    for r in range(first_rod, last_rod):
        first, end = rods.start[r], rods.start[r + 1]
        inner = max(m.inner[r], 1)
        # n steps of h / n under a force f give f / m (h / n)^2 (1 + 2 + ... + n); with synchronised velocities the
        # first counts half.
        scale = 0.5 * h * h * (1.0 + (0.0 if rods.damping_time[r] > 0.0 else 1.0 / inner))
        for i in range(first, end):
            put(m.x, i, get(b.state.q, i))
            for c in range(6):
                m.drag[i, c] = 0.0
        make_metric(rods, m, r, 0.0)
        for i in range(first, end):
            f = (scale * x[i, 0], scale * x[i, 1], scale * x[i, 2])
            put(m.before, i, displacement(m.metric, i, f))
        preserve_lengths(rods, m, m.before, r)
        for i in range(first, end):
            for c in range(3):
                x[i, c] = m.before[i, c]
            x[i, 3] = 0.0
