"""The holds of a block of nets: where they are, and how they let go and take hold again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...describe.scene import Hold
from ...errors import Array
from ...maths.linalg.sparse_order import Finder
from ..end_frames import EndFrames
from .arrays import Arrays
from .build_nets import matrix_places


class NetHolds:
    def __init__(self, nets: Arrays, holds: Sequence[tuple[int, Hold]]) -> None:
        """The vertex and joint of each, or its edge."""
        self._nets = nets
        graph, state = nets.graph, nets.state
        self._of_edge = np.array([hold.kind == "edge" for _, hold in holds], dtype=np.bool_)
        self._hold_edge = np.array(
            [int(graph.edges[r]) + hold.index for r, hold in holds if hold.kind == "edge"], dtype=np.int64
        )
        self._hold_vertex = np.array(
            [int(graph.vertices[r]) + hold.index for r, hold in holds if hold.kind != "edge"], dtype=np.int64
        )
        frames = np.array([hold.holds_frame for _, hold in holds if hold.kind != "edge"], dtype=np.bool_)
        self._has_frame = frames
        self._has_position = np.array([hold.holds_position for _, hold in holds if hold.kind != "edge"], dtype=np.bool_)
        self._hold_joint = np.searchsorted(graph.vertex, self._hold_vertex[frames])
        # What a hold's rotation turns.
        self._frame = state.frame[self._hold_joint].reshape(-1, 3, 3).copy()
        self._director = state.m1[self._hold_edge].copy()
        ends = [state.q[graph.x[k[self._hold_edge]][:, None] + np.arange(3)] for k in (graph.tail, graph.head)]
        self._half_edge = 0.5 * (ends[1] - ends[0])
        of_joint = {int(joint): np.flatnonzero(graph.joint == joint) for joint in self._hold_joint}
        element = np.full(len(holds), -1, dtype=np.int64)
        for k, joint in zip(np.flatnonzero(~self._of_edge)[frames], self._hold_joint, strict=True):
            element[k] = of_joint[int(joint)][0] if len(of_joint[int(joint)]) == 1 else -1
        self.frames = EndFrames(
            np.array([r for r, _ in holds], np.int64), element, nets.material.stiffness, state.twist
        )
        self.positions = np.zeros((len(holds), 3))
        self.positions[self._of_edge] = ends[0] + self._half_edge
        self.positions[~self._of_edge] = state.q[graph.x[self._hold_vertex][:, None] + np.arange(3)]

    def move(self, positions: Array, rotations: Array, spins: Array) -> None:
        b = self._nets
        for array in b.holds:
            array[0] = array[1]
        edge, vertex = self._of_edge, ~self._of_edge
        b.holds.position[1, self._hold_vertex] = positions[vertex]
        framed = np.flatnonzero(vertex)[self._has_frame]
        turned = rotations[framed] @ self._frame
        b.holds.director[1, self._hold_joint], b.holds.tangent[1, self._hold_joint] = turned[:, :, 0], turned[:, :, 2]
        b.holds.spin[1, self._hold_joint] = spins[framed]
        half = np.einsum("hij,hj->hi", rotations[edge], self._half_edge)
        b.holds.position[1, b.graph.tail[self._hold_edge]] = positions[edge] - half
        b.holds.position[1, b.graph.head[self._hold_edge]] = positions[edge] + half
        b.holds.edge_director[1, self._hold_edge] = np.einsum("hij,hj->hi", rotations[edge], self._director)
        b.holds.edge_spin[1, self._hold_edge] = spins[edge]

    def can_soften(self, hold: int) -> bool:
        """Whether its frame is held by one element."""
        return not self._of_edge[hold] and self.frames.has_element(hold)

    def change(self, hold: int, position: bool, share: float) -> None:
        """Whether the position is held, and by which share of its stiffness the frame is. The vertex of a released clamp inside of
        a net goes on as a joint."""
        b, of_edge = self._nets, self._of_edge
        graph, material, number = b.graph, b.material, int(np.sum(of_edge[:hold] == of_edge[hold]))
        if of_edge[hold]:
            edge = self._hold_edge[number]
            vertices = [graph.tail[edge], graph.head[edge]]
            material.edge_framed[edge] = material.held[graph.theta[edge]] = position
        else:
            vertices = [self._hold_vertex[number]] if self._has_position[number] else []
            if self._has_frame[number]:
                joint = int(np.searchsorted(graph.vertex, self._hold_vertex[number]))
                held = share > 0.0 or self.frames.has_element(hold)  # an end is free beside an idle element
                if b.material.framed[joint] and not held:
                    self._keep_spin(joint)
                b.material.framed[joint] = held
                omega = graph.omega[joint]
                b.material.held[omega : omega + 3] = held
                self.frames.set_share(hold, share)
        for vertex in vertices:
            material.held[graph.x[vertex] : graph.x[vertex] + 3] = position
        for old, new in zip(
            (b.system.of_vertex, b.system.of_edge, b.system.of_element),
            matrix_places(graph, material.held, Finder(b.pattern)),
            strict=True,
        ):
            old[:] = new

    def _keep_spin(self, joint: int) -> None:
        """The turns about its tangent that a joint was given become part of its frame."""
        b = self._nets
        spin = b.holds.spin[1, joint]
        c, s = np.cos(spin), np.sin(spin)
        about = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        b.state.frame[joint] = (b.state.frame[joint].reshape(3, 3) @ about).ravel()
        b.geometry.spin[joint] = 0.0
