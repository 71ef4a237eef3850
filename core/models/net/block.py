"""The `net` block: implicit nets of elastic rods behind the protocol of all models."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...compile.workers import Workers
from ...describe.scene import Entry, Hold
from ...errors import Array
from ..alteration import Factors, Originals, strain_factors
from ..der.arrays import BACKWARD_EULER, Step
from ..der.block import MOST_HALVINGS, MOST_ITERATIONS, SCHEMES
from ..der.stepping import FAILURES, FALLBACKS, HALVINGS, ITERATIONS, RESIDUAL, STAGE
from ..protocol import WHOLE, Edges, Energies, Pushes, Work, in_one_piece
from ..state_of_rods import copy_rods, pack, put_rods, unpack
from .arrays import Flags, Ints, Nets, Room, State
from .build import build, make_room
from .coupled import (
    MOST_ATTEMPTS,
    begin_nets,
    finish_nets,
    go_on_nets,
    linearise_nets,
    move_nets,
    probe_nets,
    recall_nets,
    retreat_nets,
    solve_coupled,
    weigh_steps,
)
from .dense import dense_matrix
from .holds import NetHolds
from .samples import gather, lay_samples
from .stepping import base_net, step_nets

FOREVER = 1e30  # a step so long that inertia and damping have no part in the potential


class NetBlock:
    second_order = True  # of coupled steps

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
        self._nets = len(entries)
        self._workers = workers
        self._scheme = SCHEMES[integrator]
        self._tolerance = tolerance
        pieces = min(workers.most_pieces, self._nets)
        self._rooms: list[Room] = [make_room(b.pattern) for _ in range(pieces)]
        self._none = np.zeros(self._nets, dtype=np.bool_)
        self._every = np.arange(self._nets)
        start = self.arrays.graph.unknowns
        self.generalized_size, self.generalized_ranges = int(start[-1]), in_one_piece(start)
        self._stage = 0.0  # s, length of the last stage
        self._coupled: Nets | None = None  # the same nets with a saved state of their own; made when first needed
        self._fronts, self._inverse = np.zeros(0, np.int64), np.zeros(0)
        self._pushed = np.zeros(len(b.state.q))
        self._mobility = np.zeros((len(b.graph.x), 6))
        self._measured = False  # the log's energies are those of the state
        self._originals: Originals | None = None  # made when first needed
        self.state_size = sum(array.size for array in b.state)
        self._holds = NetHolds(b, holds)

    def hold_positions(self) -> Array:
        return self._holds.positions

    def positions(self) -> Array:
        return gather(self.arrays.state.q, self._samples, self.arrays.graph)

    def velocities(self) -> Array:
        return gather(self.arrays.state.v, self._samples, self.arrays.graph)

    def directors(self) -> Array:
        """From the first row of each net on: those of its edges, in the user's order."""
        out = np.zeros((int(self.sample_start[-1]), 3))
        out[self._samples.director_row] = self.arrays.state.m1
        return out

    def point_velocities(self, generalized: Array, out: Array) -> None:
        out[:] = gather(generalized, self._samples, self.arrays.graph)

    def generalized_forces(self, forces: Array, out: Array) -> None:
        out[:] = 0.0
        for c in range(3):
            np.add.at(out, self.arrays.graph.x[self._samples.vertex] + c, forces[:, c])

    def weight(self, gravity: Array, out: Array, share: Array = WHOLE) -> None:
        b = self.arrays
        out[:] = 0.0
        out[self._samples.point] = b.material.mass[b.graph.x][:, None] * gravity
        out *= share

    def move_holds(self, positions: Array, rotations: Array, spins: Array) -> None:
        self._holds.move(positions, rotations, spins)
        self._measured = False

    def release(self, hold: int) -> bool:
        """Lets go of one of the block's holds for good."""
        self._holds.release(hold)
        self._measured = False
        return True

    def alter(self, net: int, factors: Factors) -> None:
        """Makes a net other than it was described."""
        b = self.arrays
        m, g = b.material, b.graph
        if self._originals is None:
            self._originals = Originals([m.stiffness, m.rest, m.rest_length, m.mass, m.damping_time])

        def rows(start: Ints) -> slice:
            return slice(int(start[net]), int(start[net + 1]))

        self._originals.scale(
            [rows(g.elements), rows(g.elements), rows(g.edges), rows(g.unknowns), slice(net, net + 1)],
            [
                factors.stiffness / factors.length, strain_factors(factors), factors.length, factors.length,
                factors.damping,
            ],
        )  # fmt: skip
        self._measured = False

    def free_steps(
        self,
        h: float,
        count: int,
        point_forces: Array,
        wind: Array,
        air_density: float,
        drag_rate: float,
        calm: bool,
        skip: Flags | None = None,
    ) -> None:
        b = self.arrays
        self.generalized_forces(point_forces, b.forces.force)
        b.forces.wind[:] = wind
        b.forces.drag_rate[0] = drag_rate
        scheme = BACKWARD_EULER if calm else self._scheme
        self._stage = h * STAGE[scheme]
        self._run(h, count, scheme, air_density, self._none if skip is None else skip)

    def _run(self, h: float, count: int, scheme: int, air_density: float, skip: Flags) -> None:
        b = self.arrays
        step = Step(h, count, scheme, air_density, self._tolerance, MOST_ITERATIONS, MOST_HALVINGS)
        self._workers.run(
            lambda first, last, piece: step_nets(b, self._rooms[piece], step, skip, first, last),
            self._nets,
            len(b.graph.x) * max(count, 1),
        )
        self._measured = True

    def solve(self, generalized: Array) -> None:
        for r in self._every:
            base_net(self.arrays, r)
        self._factor(self.arrays, self._every)
        solve_coupled(self.arrays, self._every, generalized, 0, self._nets)

    def _factor(self, nets: Nets, chosen: Ints) -> None:
        """The matrix of a step where the nets are, as if nothing pushed them."""
        self._pushed[:] = 0.0
        edges = len(nets.graph.tail)
        none = Pushes(self._pushed, np.zeros((edges, 28)), np.zeros(edges, dtype=np.bool_))
        self._linearise(nets, none, chosen, np.zeros(self._nets))

    def _linearise(
        self, nets: Nets, pushes: Pushes, chosen: Ints, potential: Array, attempts: int = MOST_ATTEMPTS
    ) -> None:
        """Pushes are those of unknowns and edges."""
        h = self._stage
        self._share(
            lambda first, last, piece: linearise_nets(
                nets, self._rooms[piece], *pushes, chosen, h, potential, attempts, first, last
            ),
            chosen,
        )

    # A coupled step -----------------------------------------------------------------------------------------------

    def edges(self) -> Edges:
        return self._samples.edges

    def turns(self) -> Array:
        samples, b = self._samples, self.arrays
        out = np.zeros(len(samples.edge))
        out[samples.row_of_edge] = b.state.q[b.graph.theta]
        return out

    def save(self, chosen: Ints) -> None:
        if self._coupled is None:
            b = self.arrays
            self._coupled = b._replace(saved=State(*(array.copy() for array in b.state)))
            front = np.diff(b.pattern.first) + np.diff(b.pattern.below)
            self._fronts = np.concatenate([[0], np.cumsum(front**2)]).astype(np.int64)
            self._inverse = np.zeros(int(self._fronts[-1]))
        recall_nets(self._coupled, chosen, False)

    def rollback(self, chosen: Ints) -> None:
        recall_nets(self._room(), chosen, True)
        self._measured = False

    def copy(self, chosen: Ints) -> Sequence[Array]:
        return copy_rods(self.arrays.state, self._starts(), chosen)

    def restore(self, chosen: Ints, state: Sequence[Array]) -> None:
        put_rods(self.arrays.state, self._starts(), chosen, state)
        self._measured = False

    def _starts(self) -> list[Ints]:
        """Of the arrays of the state."""
        graph = self.arrays.graph
        unknowns, edges, elements, joints = graph.unknowns, graph.edges, graph.elements, graph.joints
        return [unknowns, unknowns, unknowns, edges, elements, joints, edges, elements]

    def begin(self, chosen: Ints, h: float, air_density: float, still: bool = False) -> None:
        self.begin_stage(chosen, h, air_density, 1.0, still)

    def begin_stage(self, chosen: Ints, h: float, air_density: float, at: float, still: bool = False) -> None:
        c = self._room()
        self._stage = h
        self._share(lambda first, last, piece: begin_nets(c, chosen, h, air_density, still, at, first, last), chosen)

    def begin_second_stage(self, chosen: Ints, ratio: float) -> None:
        c, h = self._room(), self._stage
        self._share(lambda first, last, piece: go_on_nets(c, chosen, h, ratio, first, last), chosen)

    def directors_now(self, row: Ints) -> Array:
        return np.asarray(self._room().geometry.d1[self._samples.edge[row]])

    def estimate_mobility(self, chosen: Ints, mobility: Array) -> None:
        c, out = self._room(), self._mobility
        fronts, parent, z = self._fronts, self._parent, self._inverse
        self._factor(c, chosen)
        self._share(
            lambda first, last, piece: probe_nets(c, fronts, parent, z, chosen, out, first, last),
            chosen,
        )
        for r in chosen:
            rows = slice(int(self.sample_start[r]), int(self.sample_start[r + 1]))
            mobility[rows] = out[self._samples.vertex[rows]]

    def linearise(self, chosen: Ints, pushes: Pushes, potential: Array) -> None:
        c, samples = self._room(), self._samples
        self.generalized_pushes(chosen, pushes.force, self._pushed)
        stiffness, touched = pushes.stiffness[samples.row_of_edge], pushes.touched[samples.row_of_edge]
        self._linearise(c, Pushes(self._pushed, stiffness, touched), chosen, potential)
        np.negative(c.system.gradient, out=self._pushed)
        for r in chosen:
            of = slice(int(c.graph.unknowns[r]), int(c.graph.unknowns[r + 1]))
            c.system.trial[of] = self._pushed[of]
        self.solve_linearised(chosen, c.system.trial)
        self.arrays.log.report[chosen, ITERATIONS] += 1.0

    def step_vector(self) -> Array:
        return self._room().system.trial

    def solve_linearised(self, chosen: Ints, generalized: Array) -> None:
        c = self._room()
        self._share(lambda first, last, piece: solve_coupled(c, chosen, generalized, first, last), chosen)

    def sample_steps(self, chosen: Ints, generalized: Array, out: Array) -> None:
        out[:, :3] = gather(generalized, self._samples, self.arrays.graph)
        out[:, 3] = 0.0
        out[self._samples.row_of_edge, 3] = generalized[self.arrays.graph.theta]

    def generalized_pushes(self, chosen: Ints, forces: Array, out: Array) -> None:
        b, samples = self.arrays, self._samples
        count = len(b.graph.x)
        out[:] = 0.0
        for c in range(3):
            out[b.graph.x + c] = np.bincount(samples.vertex, forces[:, c], count)
        out[b.graph.theta] = forces[samples.row_of_edge, 3]

    def measure_steps(self, chosen: Ints, longest: Array, slope: Array) -> None:
        c = self._room()
        self._share(lambda first, last, piece: weigh_steps(c, chosen, longest, slope, first, last), chosen)

    def move(self, chosen: Ints) -> None:
        c, h = self._room(), self._stage
        self._share(lambda first, last, piece: move_nets(c, chosen, h, first, last), chosen)

    def backtrack(self, chosen: Ints, sizes: Array) -> None:
        c = self._room()
        self._share(lambda first, last, piece: retreat_nets(c, chosen, sizes, first, last), chosen)

    def finish(self, chosen: Ints, creep: bool = False, smooth: bool = False) -> None:
        c, h = self._room(), self._stage
        self._share(lambda first, last, piece: finish_nets(c, chosen, h, creep, smooth, first, last), chosen)
        self._measured = False  # energies are those of the state, not of the iterate: a restored run has the same bits
        if creep:
            self.arrays.log.report[chosen, FAILURES] += 1.0

    def _room(self) -> Nets:
        assert self._coupled is not None, "save() comes first"
        return self._coupled

    def _share(self, work: Callable[[int, int, int], None], chosen: Ints) -> None:
        self._workers.run(work, len(chosen), len(chosen) * len(self.arrays.graph.x) // max(self._nets, 1))

    # --------------------------------------------------------------------------------------------------------------

    def evaluate(self, h: float, exact: bool = True) -> float:
        """The potential of a step of length h where the nets are, with gradient and matrix, unfactored: to look closely."""
        b = self.arrays
        b.geometry.tension[:] = b.material.stretch * b.geometry.stretch
        self._stage, potential = h, np.zeros(self._nets)
        self._pushed[:] = 0.0
        none = Pushes(self._pushed, np.zeros((len(b.graph.tail), 28)), np.zeros(len(b.graph.tail), dtype=np.bool_))
        self._linearise(b, none, self._every, potential, attempts=0 if exact else -1)
        return float(potential.sum())

    def stiffness_matrix(self, net: int) -> Array:
        """Second derivatives of the elastic energy of the block's net in its unknowns, at the state as it is."""
        for r in self._every:
            base_net(self.arrays, r)
        self.evaluate(FOREVER)
        return dense_matrix(self.arrays, net)

    def broken(self) -> tuple[Flags, Flags]:
        """Which segments are broken, and which of the elements at points have come loose."""
        state = self.arrays.state
        return state.whole_edge == 0.0, state.whole_element == 0.0

    def strains(self) -> Array:
        """(E, 3) stretch, bending and twist of the edges: the mean of the elements at their ends."""
        if not self._measured:
            self._run(0.0, 0, self._scheme, 0.0, self._none)
        geometry, material, graph = self.arrays.geometry, self.arrays.material, self.arrays.graph
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
        b = self.arrays
        return np.asarray(b.material.stretch * b.geometry.stretch * b.state.whole_edge)

    def energies(self, gravity: Array) -> Energies:
        b = self.arrays
        if not self._measured:
            self._run(0.0, 0, self._scheme, 0.0, self._none)
        stretch, bend, twist = (float(value) for value in b.log.energy.sum(axis=0))
        kinetic = 0.5 * float((b.material.mass * b.state.v * b.state.v).sum())
        x = b.state.q[b.graph.x[:, None] + np.arange(3)]
        height = -float((b.material.mass[b.graph.x] * (x @ gravity)).sum())
        return Energies(kinetic, stretch, bend, twist, height)

    def elastic_energies(self) -> Array:
        return np.asarray(self.arrays.log.energy.sum(axis=1))

    def take_work(self) -> Work:
        report = self.arrays.log.report
        work = Work(
            iterations=int(report[:, ITERATIONS].sum()),
            residual=float(report[:, RESIDUAL].max()),
            halvings=int(report[:, HALVINGS].sum()),
            fallbacks=int(report[:, FALLBACKS].sum()),
            failures=int(report[:, FAILURES].sum()),
        )
        report[:] = 0.0
        return work

    def pack_state(self, out: Array) -> None:
        pack(self.arrays.state, out)

    def unpack_state(self, state: Array) -> None:
        unpack(state, self.arrays.state)
        self._measured = False

    def stop(self) -> None:
        self.arrays.state.v[:] = 0.0
        self.arrays.state.a[:] = 0.0

    def disturb(self, size: float) -> None:
        b = self.arrays
        noise = np.random.default_rng(0).uniform(-size, size, (len(b.graph.x), 3))
        for c in range(3):
            k = b.graph.x + c
            b.state.q[k] += np.where(b.material.held[k], 0.0, noise[:, c] / b.material.unit[k])
        self._measured = False
