"""The `der` block: implicit discrete elastic rods behind the protocol of all models."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ...compile.workers import Workers
from ...describe.scene import Entry, Hold
from ...errors import Array
from ..alteration import Factors, Originals, strain_factors
from ..protocol import WHOLE, Edges, Energies, Pushes, Work, in_one_piece
from ..state_of_rods import copy_rods, pack, put_rods, unpack
from .arrays import BACKWARD_EULER, FRAMED, FREE_END, MIDPOINT, SDIRK2, Arrays, Step, for_coupling, make_workbench
from .build import build
from .coupled import (
    begin_rods,
    copy_states,
    copy_unknowns,
    finish_rods,
    go_on_rods,
    linearise_rods,
    move_rods,
    probe_rods,
    respond_rods,
    retreat_rods,
    solve_coupled,
    weigh_steps,
)
from .dense import stiffness_matrix
from .element import make_lanes
from .stepping import (
    FAILURES,
    FALLBACKS,
    HALVINGS,
    ITERATIONS,
    RESIDUAL,
    STAGE,
    lay_out,
    solve_rods,
    step_rods,
)

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

SCHEMES = {"sdirk2": SDIRK2, "backward euler": BACKWARD_EULER, "midpoint": MIDPOINT}
MOST_ITERATIONS = 25
MOST_HALVINGS = 8


class DerBlock:
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
        self.arrays = self._build(entries, holds)
        b = self.arrays
        self.sample_start = b.rods.start
        start = 4 * b.rods.start
        self.generalized_size, self.generalized_ranges = int(start[-1]), in_one_piece(start)
        self._rods = len(entries)
        self._workers = workers
        self._scheme = SCHEMES[integrator]
        self._tolerance = tolerance
        pieces = min(workers.most_pieces, self._rods)
        largest = max(entry.rod.vertex_count for entry in entries)
        any_closed = any(entry.rod.closed for entry in entries)
        self._lanes = [make_lanes() for _ in range(pieces)]
        self._benches = [make_workbench(largest, any_closed) for _ in range(pieces)]
        self._none = np.zeros(self._rods, dtype=np.bool_)
        self._stage = 0.0  # s, length of the last stage
        self._coupled: Arrays | None = None  # made when first needed
        self._moved = np.zeros(0)  # for `responses`
        self._measured = False  # the log's energies are those of the state
        self._originals: Originals | None = None  # made when first needed
        self.state_size = sum(array.size for array in b.state)
        rows = [int(b.rods.start[number]) + hold.index for number, hold in holds]
        self._hold_rows = np.array(rows, dtype=np.int64)
        self._edge_holds = np.array([hold.kind == "edge" for _, hold in holds], dtype=np.bool_)
        self._after = np.array(
            [int(b.rods.start[number]) + (hold.index + 1) % entries[number].rod.vertex_count for number, hold in holds],
            dtype=np.int64,
        )
        # What a hold's rotation turns: the frame, and for an edge also half its vector, from the middle to its end.
        self._tangent = b.holds.tangent[1, self._hold_rows].copy()
        self._director = b.holds.director[1, self._hold_rows].copy()
        self._half_edge = (
            0.5 * (b.state.q[self._after, :3] - b.state.q[self._hold_rows, :3]) if rows else np.zeros((0, 3))
        )

    def _build(self, entries: Sequence[Entry], holds: Sequence[tuple[int, Hold]]) -> Arrays:
        return build(entries, holds)

    def hold_positions(self) -> Array:
        """(H, 3) where the holds are at the start: the vertex, or the middle of the edge."""
        x = self.arrays.state.q[self._hold_rows, :3]
        return np.asarray(np.where(self._edge_holds[:, None], x + self._half_edge, x))

    def positions(self) -> Array:
        return self.arrays.state.q[:, :3]

    def velocities(self) -> Array:
        return self.arrays.state.v[:, :3]

    def directors(self) -> Array:
        return self.arrays.state.m1

    def point_velocities(self, generalized: Array, out: Array) -> None:
        out[:] = generalized.reshape(-1, 4)[:, :3]

    def generalized_forces(self, forces: Array, out: Array) -> None:
        out.reshape(-1, 4)[:, :3] = forces
        out.reshape(-1, 4)[:, 3] = 0.0

    def weight(self, gravity: Array, out: Array, share: Array = WHOLE) -> None:
        np.multiply(self.arrays.rods.mass[:, :1] * share, gravity, out=out)

    def move_holds(self, positions: Array, rotations: Array, spins: Array) -> None:
        b, rows = self.arrays, self._hold_rows
        for array in b.holds:
            array[0] = array[1]
        edge = self._edge_holds
        half = np.einsum("hij,hj->hi", rotations, self._half_edge)
        b.holds.position[1, rows] = np.where(edge[:, None], positions - half, positions)
        b.holds.position[1, self._after[edge]] = (positions + half)[edge]
        b.holds.tangent[1, rows] = np.einsum("hij,hj->hi", rotations, self._tangent)
        b.holds.director[1, rows] = np.einsum("hij,hj->hi", rotations, self._director)
        b.holds.spin[1, rows] = spins
        self._measured = False

    def release(self, hold: int) -> bool:
        """Lets go of one of the block's holds for good. Not of an edge, nor of a frame inside of a rod: the two elements beside
        it can't become one while it moves."""
        rods, row = self.arrays.rods, int(self._hold_rows[hold])
        rod = int(np.searchsorted(rods.start, row, side="right")) - 1
        at_end = not rods.closed[rod] and row in (rods.start[rod], rods.start[rod + 1] - 1)
        framed = rods.joint[row] == FRAMED
        if self._edge_holds[hold] or (framed and not at_end):
            return False
        rods.held[row, :3] = False
        if framed:
            rods.joint[row] = FREE_END
            rods.stiffness[row] = 0.0
            if self._originals is not None:
                self._originals.clear(0, row)
        self._measured = False
        return True

    def alter(self, rod: int, factors: Factors) -> None:
        """Makes a rod other than it was described."""
        rods = self.arrays.rods
        if self._originals is None:
            self._originals = Originals([rods.stiffness, rods.rest, rods.rest_length, rods.mass, rods.damping_time])
        rows = slice(int(rods.start[rod]), int(rods.start[rod + 1]))
        self._originals.scale(
            [rows, rows, rows, rows, slice(rod, rod + 1)],
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
        b.forces.force[:, :3] = point_forces
        b.forces.wind[:] = wind
        b.forces.drag_rate[0] = drag_rate
        scheme = BACKWARD_EULER if calm else self._scheme
        self._stage = h * STAGE[scheme]
        self._run(h, count, scheme, air_density, self._none if skip is None else skip)

    def _run(self, h: float, count: int, scheme: int, air_density: float, skip: Flags) -> None:
        b = self.arrays
        step = Step(h, count, scheme, air_density, self._tolerance, MOST_ITERATIONS, MOST_HALVINGS)
        self._workers.run(
            lambda first, last, piece: step_rods(b, self._benches[piece], step, self._lanes[piece], skip, first, last),
            self._rods,
            len(b.state.q) * max(count, 1),
        )
        self._measured = True

    def solve(self, generalized: Array) -> None:
        b, x = self.arrays, generalized.reshape(-1, 4)
        self._workers.run(
            lambda first, last, piece: solve_rods(
                b, self._benches[piece], self._stage, self._lanes[piece], x, first, last
            ),
            self._rods,
            len(x),
        )

    # A coupled step -----------------------------------------------------------------------------------------------

    def edges(self) -> Edges:
        rods = self.arrays.rods
        n = len(rods.rest_length)
        after = np.arange(1, n + 1)
        along = np.zeros(n)
        length = np.full(n, np.inf)
        for first, end, closed in zip(rods.start[:-1], rods.start[1:], rods.closed, strict=True):
            after[end - 1] = first if closed else -1
            along[first + 1 : end] = np.cumsum(rods.rest_length[first : end - 1])
            if closed:
                length[first:end] = rods.rest_length[first:end].sum()
        return Edges(after, rods.radii.max(axis=1), along, length)

    def turns(self) -> Array:
        return self.arrays.state.q[:, 3]

    def save(self, chosen: Ints) -> None:
        if self._coupled is None:
            self._coupled = for_coupling(self.arrays)
            self._moved = np.zeros(self.arrays.state.q.size)
        copy_states(self.arrays.rods, chosen, self.arrays.state, self._coupled.saved)

    def rollback(self, chosen: Ints) -> None:
        copy_states(self.arrays.rods, chosen, self._room().saved, self.arrays.state)
        self._measured = False

    def copy(self, chosen: Ints) -> Sequence[Array]:
        return copy_rods(self.arrays.state, [self.sample_start] * len(self.arrays.state), chosen)

    def restore(self, chosen: Ints, state: Sequence[Array]) -> None:
        put_rods(self.arrays.state, [self.sample_start] * len(self.arrays.state), chosen, state)
        self._measured = False

    def begin(self, chosen: Ints, h: float, air_density: float, still: bool = False) -> None:
        self.begin_stage(chosen, h, air_density, 1.0, still)

    def begin_stage(self, chosen: Ints, h: float, air_density: float, at: float, still: bool = False) -> None:
        c = self._room()
        self._stage = h
        self._share(lambda first, last, piece: begin_rods(c, chosen, h, air_density, still, at, first, last), chosen)

    def begin_second_stage(self, chosen: Ints, ratio: float) -> None:
        c, h = self._room(), self._stage
        self._share(lambda first, last, piece: go_on_rods(c, chosen, h, ratio, first, last), chosen)

    def responses(self, owner: Ints, row: Ints, after: Ints, pair: Ints, out: Array) -> None:
        system = self._room().system
        respond_rods(self.arrays.rods, system, owner, row, after, pair, self._moved, out)

    def directors_now(self, row: Ints) -> Array:
        return np.asarray(self._room().geometry.d1[row])

    def estimate_mobility(self, chosen: Ints, mobility: Array) -> None:
        c, h, lanes, benches = self._room(), self._stage, self._lanes, self._benches
        self._share(
            lambda first, last, piece: probe_rods(
                c, benches[piece].system, chosen, h, lanes[piece], mobility, first, last
            ),
            chosen,
        )

    def linearise(self, chosen: Ints, pushes: Pushes, potential: Array) -> None:
        c, h, lanes = self._room(), self._stage, self._lanes
        self._share(
            lambda first, last, piece: linearise_rods(c, pushes, chosen, h, lanes[piece], potential, first, last),
            chosen,
        )
        self.arrays.log.report[chosen, ITERATIONS] += 1.0

    def step_vector(self) -> Array:
        return self._room().system.trial

    def solve_linearised(self, chosen: Ints, generalized: Array) -> None:
        rods, system = self.arrays.rods, self._room().system
        self._share(lambda first, last, piece: solve_coupled(rods, system, chosen, generalized, first, last), chosen)

    def sample_steps(self, chosen: Ints, generalized: Array, out: Array) -> None:
        self._copy_unknowns(chosen, generalized.reshape(-1, 4), out)

    def generalized_pushes(self, chosen: Ints, forces: Array, out: Array) -> None:
        self._copy_unknowns(chosen, forces, out.reshape(-1, 4))

    def _copy_unknowns(self, chosen: Ints, source: Array, target: Array) -> None:
        if len(chosen) == self._rods:
            target[:] = source
        else:
            copy_unknowns(self.sample_start, chosen, source, target)

    def measure_steps(self, chosen: Ints, longest: Array, slope: Array) -> None:
        c = self._room()
        self._share(lambda first, last, piece: weigh_steps(c, chosen, longest, slope, first, last), chosen)

    def move(self, chosen: Ints) -> None:
        c, h = self._room(), self._stage
        self._share(lambda first, last, piece: move_rods(c, chosen, h, first, last), chosen)

    def backtrack(self, chosen: Ints, sizes: Array) -> None:
        c = self._room()
        self._share(lambda first, last, piece: retreat_rods(c, chosen, sizes, first, last), chosen)

    def finish(self, chosen: Ints, creep: bool = False, smooth: bool = False) -> None:
        c, h = self._room(), self._stage
        self._share(lambda first, last, piece: finish_rods(c, chosen, h, creep, smooth, first, last), chosen)
        self._measured = False  # energies are those of the state, not of the iterate: a restored run has the same bits
        if creep:
            self.arrays.log.report[chosen, FAILURES] += 1.0

    def _room(self) -> Arrays:
        assert self._coupled is not None, "save() comes first"
        return self._coupled

    def _share(self, work: Callable[[int, int, int], None], chosen: Ints) -> None:
        self._workers.run(work, len(chosen), len(chosen) * len(self.arrays.state.q) // max(self._rods, 1))

    # --------------------------------------------------------------------------------------------------------------

    def workbench(self, rod: int) -> Arrays:
        """The block's rod by itself, with its geometry as it is now: for whoever wants to look closely."""
        lay_out(self.arrays, self._benches[0], rod)
        return self._benches[0]

    def stiffness_matrix(self, rod: int) -> Array:
        """Second derivatives (4 n, 4 n) of the elastic energy of the block's rod, in x y z theta of each vertex."""
        return stiffness_matrix(self.arrays, self._benches[0], rod, self._lanes[0])

    def energies(self, gravity: Array) -> Energies:
        b = self.arrays
        if not self._measured:
            self._run(0.0, 0, self._scheme, 0.0, self._none)
        stretch, bend, twist = (float(value) for value in b.log.energy.sum(axis=0))
        kinetic = 0.5 * float(np.einsum("ij,ij,ij->", b.rods.mass, b.state.v, b.state.v))
        height = -float((b.rods.mass[:, 0] * (b.state.q[:, :3] @ gravity)).sum())
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
        noise = np.random.default_rng(0).uniform(-size, size, (len(b.state.q), 3)) * b.rods.rest_length[:, None]
        b.state.q[:, :3] += np.where(b.rods.held[:, :3], 0.0, noise)
        self._measured = False
