"""Coupled steps of explicit nets are implicit: backward Euler on the rods and joints of `net`.

A contact force acts for the whole step, in which stretching waves run through a net many times. Explicit steps would have to find
contacts anew in every inner step; contact forces that act on masses alone, after them, compress or stretch the segments next to a
contact and create energy. So a net in contact becomes one of `net`, with the same points, segments, material and holds: frames are
turned to their segments and free joints get the mean of the frames that their arms have. Afterwards the frames follow the segments.
The penalty constant, the friction and the inertia across the segments of CoRdE play no part in such a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ....compile.workers import Workers
from ....describe.scene import Entry, Hold
from ....errors import Array, Flags, Ints
from ...elastic.net_block import NetBlock
from ...elastic.plan import Plan
from ...state_of_rods import rows_of
from .arrays import Arrays
from .build import frame_of, quaternions
from .stepping import strains_of_elements


class _Rows(NamedTuple):
    """Rows of the chosen nets."""

    vertices: Ints
    edges: Ints
    x: Ints  # (V, 3) unknowns of `net`
    theta: Ints  # (E,)


class ImplicitSteps:
    """A block of `net` with the nets of a `corde` block, and the way there and back."""

    def __init__(
        self,
        b: Arrays,
        entries: Sequence[Entry],
        holds: Sequence[tuple[int, Hold]],
        plans: Sequence[Plan],
        *,
        tolerance: float,
        workers: Workers,
    ) -> None:
        self._b = b
        self.block = NetBlock(entries, holds, integrator="backward euler", tolerance=tolerance, workers=workers)
        self.block.save(np.zeros(0, np.int64))  # allocates
        flat = self.block.flat
        flat.material.breakable[:] = False
        flat.material.mass[flat.graph.theta] = b.nets.inertia[:, 2]
        self._ours, self._theirs = _common_elements(b, flat.graph.elements, holds, plans)
        self._arms = np.flatnonzero((flat.graph.joint >= 0) & ((flat.graph.edge_a >= 0) | (flat.graph.edge_b >= 0)))
        edge_a, edge_b = flat.graph.edge_a[self._arms], flat.graph.edge_b[self._arms]
        self._edge_of_arm = np.where(edge_a >= 0, edge_a, edge_b)
        self._joint_of_arm = flat.graph.joint[self._arms]
        axes = frame_of(flat.material.arm_t[self._arms], flat.material.arm_d[self._arms])
        self._to_joint = np.swapaxes(axes, 1, 2)
        self._stiffen_joints()

    def _stiffen_joints(self) -> None:
        """In a free joint of n equal arms, all pairs of which are orientation elements, these are as stiff as arms of n / 2 times
        their own stiffness that meet in a frame."""
        flat = self.block.flat
        count = np.bincount(self._joint_of_arm, minlength=len(flat.graph.vertex))[self._joint_of_arm]
        free = ~flat.material.framed[self._joint_of_arm]
        flat.material.stiffness[self._arms[free]] *= 0.5 * count[free][:, None]

    def _rows(self, chosen: Ints) -> _Rows:
        nets, graph = self._b.nets, self.block.flat.graph
        vertices, edges = rows_of(nets.vertices, chosen), rows_of(nets.edges, chosen)
        return _Rows(vertices, edges, graph.x[vertices][:, None] + np.arange(3), graph.theta[edges])

    def set_forces(self, forces: Array, wind: Array, drag_rate: Array) -> None:
        """Forces (N, 3) on sample points, as in free steps."""
        of = self.block.flat.forces
        self.block.generalized_forces(forces, of.force)
        of.wind[:], of.drag_rate[:] = wind, drag_rate

    def load(self, chosen: Ints) -> None:
        """Takes over the state of nets, and saves it as the start of a step."""
        state, flat, rows = self._b.state, self.block.flat, self._rows(chosen)
        new = flat.state
        for values in (new.q, new.v, new.a):
            values[rows_of(flat.graph.unknowns, chosen)] = 0.0  # angles, and accelerations, which no state keeps
        new.q[rows.x], new.v[rows.x] = state.r[rows.vertices], state.v[rows.vertices]
        new.v[rows.theta] = state.w[rows.edges, 2]
        new.m1[rows.edges] = self._directors(rows.edges)
        new.twist[rows_of(flat.graph.elements, chosen)] = 0.0  # arms of joints make no whole turns
        ours = np.isin(self._ours, rows_of(self._b.nets.elements, chosen))
        new.twist[self._theirs[ours]] = state.twist[self._ours[ours]]
        self._turn_joints(rows_of(flat.graph.joints, chosen))
        self.block.save(chosen)

    def _tangents(self, edges: Ints) -> Array:
        nets, r = self._b.nets, self._b.state.r
        way = r[nets.head[edges]] - r[nets.tail[edges]]
        return np.asarray(way / np.linalg.norm(way, axis=1)[:, None])

    def _directors(self, edges: Ints) -> Array:
        """First directors, made perpendicular to the segments."""
        x, y, z, w = self._b.state.q[edges].T
        d = np.stack([x * x - y * y - z * z + w * w, 2 * (x * y + z * w), 2 * (x * z - y * w)], axis=1)
        t = self._tangents(edges)
        d -= np.einsum("ij,ij->i", d, t)[:, None] * t
        return np.asarray(d / np.linalg.norm(d, axis=1)[:, None])

    def _turn_joints(self, joints: Ints) -> None:
        """Frames and angular velocities of free joints: the means of their arms'."""
        flat, count = self.block.flat, len(self.block.flat.graph.vertex)
        free = np.zeros(count, np.bool_)
        free[joints] = ~flat.material.framed[joints]
        if not free.any():
            return
        edges = self._edge_of_arm
        frames = frame_of(self._tangents(edges), flat.state.m1[edges]) @ self._to_joint
        total, spin = np.zeros((count, 3, 3)), np.zeros((count, 3))
        np.add.at(total, self._joint_of_arm, frames)
        np.add.at(spin, self._joint_of_arm, self._angular_velocities(edges))
        u, _, v = np.linalg.svd(total[free])
        u[:, :, 2] *= np.sign(np.linalg.det(u @ v))[:, None]
        flat.state.frame[free] = (u @ v).reshape(-1, 9)
        arms = np.bincount(self._joint_of_arm, minlength=count)[free]
        flat.state.v[flat.graph.omega[free][:, None] + np.arange(3)] = spin[free] / np.maximum(arms, 1)[:, None]

    def _angular_velocities(self, edges: Ints) -> Array:
        """(k, 3) rad/s, of segments with their spin, by the velocities of `net`."""
        nets, graph, v = self._b.nets, self.block.flat.graph, self.block.flat.state.v
        r, three = self._b.state.r, np.arange(3)
        tail, head = nets.tail[edges], nets.head[edges]
        long = np.linalg.norm(r[head] - r[tail], axis=1)[:, None]
        t = (r[head] - r[tail]) / long
        change = (v[graph.x[head][:, None] + three] - v[graph.x[tail][:, None] + three]) / long
        return np.asarray(np.cross(t, change) + v[graph.theta[edges]][:, None] * t)

    def show(self, chosen: Ints) -> None:
        """Points go to where the iterate is."""
        rows = self._rows(chosen)
        self._b.state.r[rows.vertices] = self.block.flat.state.q[rows.x]

    def store(self, chosen: Ints) -> None:
        """Hands back the state after a step. Frames and their angular velocities follow the segments."""
        b, new, rows = self._b, self.block.flat.state, self._rows(chosen)
        state, edges = b.state, rows.edges
        state.r[rows.vertices], state.v[rows.vertices] = new.q[rows.x], new.v[rows.x]
        frames = frame_of(self._tangents(edges), new.m1[edges])
        q = quaternions(frames)
        q[np.einsum("ij,ij->i", q, state.q[edges]) < 0.0] *= -1.0
        state.q[edges] = q
        w = np.einsum("kji,kj->ki", frames, self._angular_velocities(edges))
        state.w[edges] = np.where(b.nets.framed[edges][:, None], 0.0, w)

    def count_turns(self, chosen: Ints) -> None:
        """Twist of the orientation elements, once all frames are where they belong."""
        elements = rows_of(self._b.nets.elements, chosen)
        strains = np.zeros((len(self._b.nets.a), 3))
        strains_of_elements(self._b, strains)
        self._b.state.twist[elements] = strains[elements, 2]

    def forget_angles(self, chosen: Ints) -> None:
        self.block.flat.state.q[self._rows(chosen).theta] = 0.0


def _common_elements(
    b: Arrays, starts: Ints, holds: Sequence[tuple[int, Hold]], plans: Sequence[Plan]
) -> tuple[Ints, Ints]:
    """Orientation elements that are elements of `net`, too, and their numbers there: all but those of free joints, which
    come last in each net."""
    framed: list[set[int]] = [set() for _ in plans]
    for r, hold in holds:
        if hold.holds_frame and hold.kind != "edge":
            framed[r].add(hold.index)
    ours, theirs = [], []
    for r, plan in enumerate(plans):
        held = np.isin(plan.middle, list(framed[r]))
        same: Flags = plan.stiffness.any(axis=1) & (held | ~plan.joints[plan.middle])
        theirs.append(int(starts[r]) + np.flatnonzero(same))
        ours.append(int(b.nets.elements[r]) + np.arange(int(same.sum())))
    return np.concatenate(ours), np.concatenate(theirs)
