"""Tensions and strains for display, and geometry updates of altered rods."""

from __future__ import annotations

import numpy as np

from ...compile.jit import kernel
from ...errors import Array
from ...maths.geometry.frames import dot
from ...maths.linalg.small import get3
from .arrays import Arrays
from .forks import clear_forks, pass_to_fork, sum_at_fork
from .kinematics import place


@kernel
def tensions(b: Arrays, out: Array) -> None:
    """out (N,): N, axial force of each edge at the end of the last step: the sum of loads minus inertia beyond it."""
    rods, state, geometry = b.rods, b.state, b.geometry
    for r in range(len(rods.closed)):
        clear_forks(geometry.carry, rods.forks, r)
        f = get3(state.loop_force, r) if rods.closed[r] else (0.0, 0.0, 0.0)
        for i in range(rods.start[r + 1] - 1, rods.start[r] - 1, -1):
            f = sum_at_fork(geometry.carry, rods.fork, i, f)
            out[i] = dot(f, get3(geometry.d3, i)) if rods.edge[i] else 0.0
            g = get3(state.load, i)
            f = pass_to_fork(geometry.carry, rods.of_fork, i, (f[0] + g[0], f[1] + g[1], f[2] + g[2]))


@kernel
def rebuild_vertices(b: Arrays, r: int) -> None:
    """Recomputes the vertices after a change of lengths, with unchanged edge rotations, and invalidates the accelerations."""
    place(b.rods, b.state, b.geometry, r)
    b.state.consistent[r] = 0.0


def edge_strains(b: Arrays) -> Array:
    """(N, 3) stretch, bending (1/m) and twist (rad/m) of the edges relative to the natural shape: means of the elements at both
    ends."""
    rods = b.rods
    n = len(rods.arm)
    out, count = np.zeros((n, 3)), np.zeros(n)
    half = np.where(rods.edge & (rods.fork < 0), 0.5 * rods.rest_length, 0.0)
    turned = b.geometry.strain - rods.rest
    for slot in range(2):
        i = np.flatnonzero(rods.stiffness[:, slot, 0] > 0.0)
        # A prescribed frame splits the element at the vertex into two.
        framed = rods.stiffness[i, 1, 0] > 0.0
        before = np.where((slot == 1) | (rods.before[i] < 0), i, rods.before[i])
        after = np.where((slot == 0) & (framed | (half[i] == 0.0)), before, i)
        length = np.where(before == after, half[before], half[before] + half[after])
        length = np.where(length > 0.0, length, half[after])
        bend = np.linalg.norm(turned[i, slot, :2], axis=1) / length
        twist = turned[i, slot, 2] / length
        for rows, there in ((before, half[before] > 0.0), (after, (half[after] > 0.0) & (before != after))):
            for column, values in ((1, bend), (2, twist)):
                out[:, column] += np.bincount(rows[there], values[there], n)
            count += np.bincount(rows[there], minlength=n)
    return np.asarray(out / np.maximum(count, 1.0)[:, None])
