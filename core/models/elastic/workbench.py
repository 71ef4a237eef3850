"""Between a block of rods and a workbench: rods are fetched, worked on, and put back."""

from __future__ import annotations

import numpy as np

from ...compile.jit import part
from ..report import COLUMNS
from .arrays import (
    Arrays,
    Graph,
    Holds,
    Material,
    Sizes,
    make_banded,
    make_forces,
    make_geometry,
    make_holds,
    make_log,
    make_stage,
    make_state,
)
from .rods import chain_graph, chain_material


def make_workbench(n: int, any_closed: bool) -> Arrays:
    """For one rod of up to n vertices. `with_lanes` makes it one for as many rods as there are lanes."""
    size = Sizes.of_rods(1, n)
    return Arrays(
        graph=chain_graph(np.array([0, n]), np.array([False])),
        material=chain_material(size),
        state=make_state(size, True),
        saved=make_state(size, True),
        holds=make_holds(size, True),
        forces=make_forces(size, size),
        stage=make_stage(size),
        geometry=make_geometry(size, True),
        system=make_banded(size, any_closed),
        pattern=None,
        log=make_log(size),
    )


@part
def fetch(b: Arrays, bench: Arrays, r: int, lane: int) -> None:
    """Copies rod r of the block to a lane of the workbench, as its rod 0."""
    first, n = b.graph.vertices[r], b.graph.vertices[r + 1] - b.graph.vertices[r]
    graph, to = b.graph, bench.graph
    to.closed[0] = graph.closed[r]
    to.vertices[1] = to.edges[1] = to.joints[1] = n
    to.edge_end[0], to.elements[1], to.unknowns[1] = graph.edge_end[r] - first, 2 * n, 4 * n
    _fetch_graph(graph, to, first, n)
    _fetch_material(b.material, bench.material, r, first, n, lane)
    _fetch_holds(b.holds, bench.holds, first, n, lane)
    force, to_force = b.forces.force, bench.forces.force
    for i in range(4 * n):
        to_force[i, lane] = force[4 * first + i]
    for i in range(n):
        bench.forces.brakes[i, lane] = b.forces.brakes[first + i]
    for c in range(3):
        bench.forces.wind[c, lane] = b.forces.wind[c]
    bench.forces.drag_rate[0, lane] = b.forces.drag_rate[r]
    for c in range(COLUMNS):
        bench.log.report[0, c, lane] = b.log.report[r, c]
    # Entries that are idle on this rod must not remember the one before: they go into its state.
    stretch, d1, strain = bench.geometry.stretch, bench.geometry.d1, bench.geometry.strain
    for i in range(n):
        stretch[i, lane] = 0.0
        for c in range(3):
            d1[i, c, lane] = 0.0
    for i in range(2 * n):
        for c in range(5):
            strain[i, c, lane] = 0.0
    state, to_state = b.state, bench.state
    q, v, a, m1, twist = state.q, state.v, state.a, state.m1, state.twist
    to_q, to_v, to_a, to_m1, to_twist = to_state.q, to_state.v, to_state.a, to_state.m1, to_state.twist
    for k in range(4 * n):
        i = 4 * first + k
        to_q[k, lane], to_v[k, lane], to_a[k, lane] = q[i], v[i], a[i]
    for k in range(n):
        for c in range(3):
            to_m1[k, c, lane] = m1[first + k, c]
    for k in range(2 * n):
        to_twist[k, lane] = twist[2 * first + k]


@part
def _fetch_graph(graph: Graph, to: Graph, first: int, n: int) -> None:
    """What differs between rods of n vertices: where they are closed, and which elements there are."""
    head, edge_a, edge_b, joint = graph.head, graph.edge_a, graph.edge_b, graph.joint
    to_head, to_a, to_b, to_joint = to.head, to.edge_a, to.edge_b, to.joint
    for i in range(n):
        to_head[i] = head[first + i] - first
    for i in range(2 * n):
        k = 2 * first + i
        to_a[i] = max(edge_a[k] - first, -1)
        to_b[i] = max(edge_b[k] - first, -1)
        to_joint[i] = max(joint[k] - first, -1)


@part
def _fetch_material(m: Material, to: Material, r: int, first: int, n: int, lane: int) -> None:
    rest_length, stretch, framed, edge_framed = m.rest_length, m.stretch, m.framed, m.edge_framed
    to_length, to_stretch, to_framed, to_edge_framed = to.rest_length, to.stretch, to.framed, to.edge_framed
    radii, stiffness, rest, mass, unit, held = m.radii, m.stiffness, m.rest, m.mass, m.unit, m.held
    to_radii, to_stiffness, to_rest, to_mass, to_unit, to_held = (
        to.radii, to.stiffness, to.rest, to.mass, to.unit, to.held,
    )  # fmt: skip
    to.damping_time[0, lane] = m.damping_time[r]
    for i in range(n):
        k = first + i
        to_length[i, lane] = rest_length[k]
        to_stretch[i, lane] = stretch[k]
        to_framed[i] = framed[k]
        to_edge_framed[i] = edge_framed[k]
        for c in range(2):
            to_radii[i, c, lane] = radii[k, c]
    for i in range(2 * n):
        for c in range(5):
            to_stiffness[i, c, lane] = stiffness[2 * first + i, c]
            to_rest[i, c, lane] = rest[2 * first + i, c]
    for i in range(4 * n):
        k = 4 * first + i
        to_mass[i, lane] = mass[k]
        to_unit[i, lane] = unit[k]
        to_held[i] = held[k]


@part
def _fetch_holds(holds: Holds, to: Holds, first: int, n: int, lane: int) -> None:
    position, tangent, director, spin = holds.position, holds.tangent, holds.director, holds.spin
    to_position, to_tangent, to_director, to_spin = to.position, to.tangent, to.director, to.spin
    for i in range(n):
        k = first + i
        for s in range(2):
            to_spin[s, i, lane] = spin[s, k]
            for c in range(3):
                to_position[s, i, c, lane] = position[s, k, c]
                to_tangent[s, i, c, lane] = tangent[s, k, c]
                to_director[s, i, c, lane] = director[s, k, c]


@part
def put_back(b: Arrays, bench: Arrays, r: int, lane: int, moved: bool) -> None:
    """What was done and measured in a lane of the workbench, and, where the rod moved, its state."""
    first, n = b.graph.vertices[r], b.graph.vertices[r + 1] - b.graph.vertices[r]
    for c in range(3):
        b.log.energy[r, c] = bench.log.energy[0, c, lane]
    for c in range(COLUMNS):
        b.log.report[r, c] = bench.log.report[0, c, lane]
    if not moved:
        return
    state, source = b.state, bench.state
    q, v, a, m1, twist = state.q, state.v, state.a, state.m1, state.twist
    of_q, of_v, of_a, of_m1, of_twist = source.q, source.v, source.a, source.m1, source.twist
    for k in range(4 * n):
        i = 4 * first + k
        q[i], v[i], a[i] = of_q[k, lane], of_v[k, lane], of_a[k, lane]
    for k in range(n):
        for c in range(3):
            m1[first + k, c] = of_m1[k, c, lane]
    for k in range(2 * n):
        twist[2 * first + k] = of_twist[k, lane]
