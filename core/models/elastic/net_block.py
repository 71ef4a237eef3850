"""The `net` block: nets of elastic rods, and rods among them, with a sparse matrix each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...compile.workers import Workers
from ...describe.scene import Entry, Hold
from ...errors import Array, Flags, Ints, TendrilError
from ...maths.linalg.sparse_order import stack_size
from ..protocol import WHOLE, Edges, Pushes
from .block import ElasticBlock
from .build_nets import build, make_scratch
from .coupled import factor_nets
from .dense import potential_here
from .fronts import probe_nets
from .holds import NetHolds
from .samples import gather, lay_samples


class NetBlock(ElasticBlock):
    """Sample points are the vertices and then, once more, those of each chain: see `samples.py`."""

    def __init__(
        self,
        entries: Sequence[Entry],
        holds: Sequence[tuple[int, Hold]],
        *,
        integrator: str,
        tolerance: float,
        workers: Workers,
    ) -> None:
        self.arrays, self._parent, plans = build(entries, holds)
        b = self.arrays
        self._samples = lay_samples(plans, b.graph)
        self.sample_start = self._samples.start
        self.vertices = self._samples.point
        self.director_rows = self._samples.director_row
        pieces = min(workers.most_pieces, len(entries))
        super().__init__(
            b,
            integrator=integrator,
            tolerance=tolerance,
            workers=workers,
            scratch=[make_scratch(stack_size(b.pattern)) for _ in range(pieces)],
        )
        self._fronts, self._inverse = np.zeros(0, np.int64), np.zeros(0)
        self._pushed = np.zeros(len(b.state.q))
        self._mobility = np.zeros((len(b.graph.x), 6))
        self._holds = NetHolds(b, holds)

    def hold_positions(self) -> Array:
        return self._holds.positions

    def positions(self) -> Array:
        return gather(self.flat.state.q, self._samples, self.flat.graph)

    def velocities(self) -> Array:
        return gather(self.flat.state.v, self._samples, self.flat.graph)

    def directors(self) -> Array:
        """From the first row of each net on: those of its edges, in the user's order."""
        out = np.zeros((int(self.sample_start[-1]), 3))
        out[self._samples.director_row] = self.flat.state.m1
        return out

    def point_velocities(self, generalized: Array, out: Array) -> None:
        out[:] = gather(generalized, self._samples, self.flat.graph)

    def generalized_forces(self, forces: Array, out: Array) -> None:
        out[:] = 0.0
        for c in range(3):
            np.add.at(out, self.flat.graph.x[self._samples.vertex] + c, forces[:, c])

    def weight(self, gravity: Array, out: Array, share: Array = WHOLE) -> None:
        b = self.flat
        out[:] = 0.0
        out[self._samples.point] = b.material.mass[b.graph.x][:, None] * gravity
        out *= share

    def move_holds(self, positions: Array, rotations: Array, spins: Array) -> None:
        self._holds.move(positions, rotations, spins)
        self._measured = False

    def release(self, hold: int) -> bool:
        """Lets go of one of the block's holds for good."""
        self._holds.release(hold)
        for net in range(self._rods):
            self.forget_acceleration(net)
        self._measured = False
        return True

    # A coupled step -----------------------------------------------------------------------------------------------

    def edges(self) -> Edges:
        return self._samples.edges

    def turns(self) -> Array:
        samples, b = self._samples, self.flat
        out = np.zeros(len(samples.edge))
        out[samples.row_of_edge] = b.state.q[b.graph.theta]
        return out

    def directors_now(self, row: Ints) -> Array:
        return np.asarray(self._at_once().geometry.d1[self._samples.edge[row]])

    def estimate_mobility(self, chosen: Ints, mobility: Array) -> None:
        c, h, scratch, out = self._at_once(), self._stage, self._scratch, self._mobility
        if len(self._fronts) == 0:
            front = np.diff(c.pattern.first) + np.diff(c.pattern.below)
            self._fronts = np.concatenate([[0], np.cumsum(front**2)]).astype(np.int64)
            self._inverse = np.zeros(int(self._fronts[-1]))
        fronts, parent, z = self._fronts, self._parent, self._inverse

        def work(first: int, last: int, piece: int) -> None:
            factor_nets(c, scratch[piece], chosen, h, first, last)
            probe_nets(c, fronts, parent, z, chosen, out, first, last)

        self._share(work, chosen)
        for r in chosen:
            rows = slice(int(self.sample_start[r]), int(self.sample_start[r + 1]))
            mobility[rows] = out[self._samples.vertex[rows]]

    def _pushes(self, chosen: Ints, pushes: Pushes) -> Pushes:
        rows = self._samples.row_of_edge
        self.generalized_pushes(chosen, pushes.force, self._pushed)
        return Pushes(self._pushed, pushes.stiffness[rows], pushes.touched[rows])

    def sample_steps(self, chosen: Ints, generalized: Array, out: Array) -> None:
        out[:, :3] = gather(generalized, self._samples, self.flat.graph)
        out[:, 3] = 0.0
        out[self._samples.row_of_edge, 3] = generalized[self.flat.graph.theta]

    def generalized_pushes(self, chosen: Ints, forces: Array, out: Array) -> None:
        b, samples = self.flat, self._samples
        count = len(b.graph.x)
        out[:] = 0.0
        for c in range(3):
            out[b.graph.x + c] = np.bincount(samples.vertex, forces[:, c], count)
        out[b.graph.theta] = forces[samples.row_of_edge, 3]

    # --------------------------------------------------------------------------------------------------------------

    def evaluate(self, h: float, exact: bool = True) -> float:
        """The potential of a step of length h where the nets are, with gradient and matrix, unfactored: to look closely."""
        return float(potential_here(self.flat, self._scratch[0], h, exact))

    def broken(self) -> tuple[Flags, Flags]:
        """Which segments are broken, and which of the elements at points have come loose."""
        state = self.flat.state
        return state.whole_edge == 0.0, state.whole_element == 0.0

    def broken_edges(self) -> Flags:
        return self.broken()[0]

    def cut(self, rod: int, edge: int) -> None:
        graph, state = self.flat.graph, self.flat.state
        if not self.flat.material.breakable[rod]:
            raise TendrilError("rod", rod, "it can't break: describe it with a break_force, however large")
        cut = int(graph.edges[rod]) + edge
        state.whole_edge[cut] = 0.0
        state.whole_element[(graph.edge_a == cut) | (graph.edge_b == cut)] = 0.0

    def strains(self) -> Array:
        """(E, 3) stretch, bending and twist of the edges: the mean of the elements at their ends."""
        self._measure()
        geometry, material, graph = self.flat.geometry, self.flat.material, self.flat.graph
        out = np.zeros((len(graph.tail), 3))
        out[:, 0] = geometry.stretch
        # An element's curvature counts in the frames of those of its edges that there are.
        bent = np.where(material.stiffness > 0.0, geometry.strain - material.rest, 0.0)
        sides = np.maximum((material.stiffness[:, [0, 2]] > 0.0).sum(axis=1), 1)
        real = (material.stiffness > 0.0).any(axis=1)  # beside a free end there is an element without stiffness
        ends = [(edge, (edge >= 0) & real) for edge in (graph.edge_a, graph.edge_b)]
        halves = [np.where(edge >= 0, 0.5 * material.rest_length[edge], 0.0) for edge, _ in ends]
        length = halves[0] + halves[1]
        bending = np.sqrt((bent[:, :4] ** 2).sum(axis=1) / sides) / length
        count = np.zeros(len(out))
        for edge, there in ends:
            for column, values in ((1, bending), (2, bent[:, 4] / length)):
                out[:, column] += np.bincount(edge[there], values[there], len(out))
            count += np.bincount(edge[there], minlength=len(out))
        out[:, 1:] /= np.maximum(count, 1)[:, None]
        return out

    def tension(self) -> Array:
        """(E,) N. A broken segment carries nothing."""
        b = self.flat
        return np.asarray(b.material.stretch * b.geometry.stretch * b.state.whole_edge)
