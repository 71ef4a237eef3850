"""Energy, forces and frames of a rod near its state, and single parts of a step; for tests and timing."""

from __future__ import annotations

from ....compile.jit import kernel
from ....errors import Array
from ....maths.geometry.rows import get, put
from ...elastic.rods import RodArrays
from ...held_frames import place_frames
from .arrays import Chain, Motion, Nodes
from .carried_bodies import frame_torque
from .forces import elastic_forces, measure_energies
from .frames import load_frames, relax_frames, transport_frames
from .projection import TOLERANCE, project


@kernel
def evaluate_at(b: RodArrays, chain: Chain, nodes: Nodes, m: Motion, r: int, x: Array, relax: bool) -> bool:
    """Transports the frames of rod r from its state to the centerline x (N, 3); with `relax` the material frames become
    quasistatic, otherwise they are transported, too. Writes energies to the log and elastic forces to the motion. Returns False
    if x is invalid."""
    rods, state, frames = b.rods, b.state, m.frames
    first, end = rods.start[r], rods.start[r + 1]
    for i in range(first, end):
        put(m.x, i, get(state.q, i))
        if rods.edge_framed[i]:
            frames.spin[i] = b.holds.spin[1, i]
    place_frames(rods, b.holds, frames, first, end, 1.0)
    load_frames(rods, state, frames, chain, nodes, m.x, r)
    for i in range(first, end):
        put(m.x, i, get(x, i))
        put(m.force, i, (0.0, 0.0, 0.0))
    if not transport_frames(rods, b.holds, frames, chain, nodes, m.x, r, 1.0):
        return False
    if relax:
        relax_frames(chain, nodes, rods.mass, r, rods.closed[r])
    measure_energies(chain, nodes, b.log.energy, r)
    elastic_forces(rods, chain, nodes, m.force, r)
    return True


@kernel
def torque_on_frame(chain: Chain, nodes: Nodes, r: int, k: int, closed: bool) -> float:
    """N m, of the rod on the frame of node k, after `evaluate_at`."""
    return frame_torque(chain, nodes, r, k, closed)


FORCES, FRAMES, PROJECTION = range(3)  # parts of a step


@kernel
def repeat_part(
    b: RodArrays, chain: Chain, nodes: Nodes, m: Motion, r: int, which: int, x: Array, angles: Array, times: int
) -> int:
    """Repeats one part of a step for timing: elastic forces at the state; the projection of x (N, 3); or the frames of x,
    starting from angles (K, 3): theta, sine, cosine. Returns the number of iterations."""
    rods = b.rods
    first, end = rods.start[r], rods.start[r + 1]
    begin, stop = chain.start[r], chain.start[r + 1]
    iterations = 0
    for _ in range(times):
        if which == FORCES:
            for i in range(first, end):
                put(m.force, i, (0.0, 0.0, 0.0))
            elastic_forces(rods, chain, nodes, m.force, r)
            continue
        for i in range(first, end):
            put(m.x, i, get(x, i))
        if which == PROJECTION:
            iterations += project(rods, m, r, TOLERANCE, False)[0]
        else:
            for k in range(begin, stop):
                nodes.theta[k], nodes.sine[k], nodes.cosine[k] = angles[k, 0], angles[k, 1], angles[k, 2]
            transport_frames(rods, b.holds, m.frames, chain, nodes, m.x, r, 1.0)
            iterations += relax_frames(chain, nodes, rods.mass, r, rods.closed[r])
    return iterations
