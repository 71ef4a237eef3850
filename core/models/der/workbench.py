"""Between a block and a workbench: rods are fetched, worked on, and put back."""

from __future__ import annotations

from ...compile.jit import part
from .arrays import Arrays, State


@part
def fetch(b: Arrays, bench: Arrays, r: int) -> None:
    """Copies rod r of the block to the workbench, as its rod 0."""
    first, n = b.rods.start[r], b.rods.start[r + 1] - b.rods.start[r]
    rods, to = b.rods, bench.rods
    to.start[0], to.start[1] = 0, n
    to.closed[0] = rods.closed[r]
    to.damping_time[0] = rods.damping_time[r]
    for i in range(n):
        k = first + i
        to.rest_length[i] = rods.rest_length[k]
        to.stretch[i] = rods.stretch[k]
        to.joint[i] = rods.joint[k]
        to.edge_framed[i] = rods.edge_framed[k]
        for c in range(2):
            to.radii[i, c] = rods.radii[k, c]
        for c in range(4):
            to.mass[i, c] = rods.mass[k, c]
            to.held[i, c] = rods.held[k, c]
            bench.forces.force[i, c] = b.forces.force[k, c]
        for s in range(2):
            for c in range(5):
                to.stiffness[i, s, c] = rods.stiffness[k, s, c]
                to.rest[i, s, c] = rods.rest[k, s, c]
            bench.holds.spin[s, i] = b.holds.spin[s, k]
            for c in range(3):
                bench.holds.position[s, i, c] = b.holds.position[s, k, c]
                bench.holds.tangent[s, i, c] = b.holds.tangent[s, k, c]
                bench.holds.director[s, i, c] = b.holds.director[s, k, c]
    for c in range(3):
        bench.forces.wind[c] = b.forces.wind[c]
    bench.forces.drag_rate[0] = b.forces.drag_rate[0]
    # Entries that are idle on this rod must not remember the one before: they go into its state.
    geometry = bench.geometry
    for i in range(n):
        geometry.stretch[i] = 0.0
        for c in range(3):
            geometry.d1[i, c] = 0.0
        for s in range(2):
            for c in range(5):
                geometry.strain[i, s, c] = 0.0
    copy_state(b.state, first, bench.state, 0, n)


@part
def copy_state(source: State, first: int, target: State, at: int, n: int) -> None:
    """n rows of the state, from row `first` of the source to row `at` of the target."""
    for k in range(n):
        i, j = first + k, at + k
        for c in range(4):
            target.q[j, c] = source.q[i, c]
            target.v[j, c] = source.v[i, c]
            target.a[j, c] = source.a[i, c]
        for c in range(3):
            target.m1[j, c] = source.m1[i, c]
        target.twist[j, 0] = source.twist[i, 0]
        target.twist[j, 1] = source.twist[i, 1]
