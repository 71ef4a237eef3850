"""The `der` block: rods, with a banded matrix each, stepped on the workbenches of workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...compile.lanes import LANES as SIDE_BY_SIDE
from ...compile.lanes import with_lanes
from ...compile.workers import Workers
from ...describe.scene import Entry, Hold
from ...errors import Array, Flags, Ints
from ..alteration import Factors
from ..end_frames import EndFrames
from ..held_frames import FRAMED, FREE_END
from ..held_rows import HeldRows
from ..protocol import WHOLE, Edges, Pushes
from .arrays import Arrays, Scratch, Step
from .band import probe_rods
from .block import ElasticBlock
from .build_rods import build
from .coupled import copy_rows, factor_nets, respond_nets
from .element import make_lanes
from .responses import LANES, respond_to_loads
from .rods import RodArrays, lay_elements, set_units
from .stepping import step_rods
from .workbench import make_workbench


class RodBlock(ElasticBlock):
    """Sample points are the vertices, and the unknowns of each and of the edge after it are x y z theta."""

    def __init__(
        self,
        entries: Sequence[Entry],
        holds: Sequence[tuple[int, Hold]],
        *,
        integrator: str,
        tolerance: float,
        workers: Workers,
    ) -> None:
        flat, self.arrays = self._build(entries, holds)
        pieces = min(workers.most_pieces, len(entries))
        largest = max(entry.rod.vertex_count for entry in entries)
        any_closed = any(entry.rod.closed for entry in entries)
        super().__init__(
            flat,
            integrator=integrator,
            tolerance=tolerance,
            workers=workers,
            scratch=[Scratch(make_lanes(), np.zeros(0), np.zeros((0, 0)), np.zeros((0, 0))) for _ in range(pieces)],
            benches=[make_workbench(largest, any_closed) for _ in range(pieces)],
        )
        b = self.arrays
        self.sample_start = b.rods.start
        self._lane_benches = [with_lanes(bench) for bench in self._benches]
        self._left = np.zeros((pieces, SIDE_BY_SIDE), dtype=np.int64)
        self._teams: tuple[Ints, Ints] | None = None  # made when first needed
        self._moved = np.zeros(0)  # for `responses`
        self._lanes: list[Array] = []  # for `contact_responses`
        rows = [int(b.rods.start[number]) + hold.index for number, hold in holds]
        after = [
            int(b.rods.start[number]) + (hold.index + 1) % entries[number].rod.vertex_count for number, hold in holds
        ]
        self._held_rows = HeldRows(
            b.holds, [hold.kind for _, hold in holds], rows, np.array(after, dtype=np.int64), b.state.q[:, :3]
        )
        self._held_rods = np.array([number for number, _ in holds], dtype=np.int64)
        self._frames = EndFrames(self._held_rods, self._held_rows.row, b.rods.stiffness, b.state.twist)

    def _build(self, entries: Sequence[Entry], holds: Sequence[tuple[int, Hold]]) -> tuple[Arrays, RodArrays]:
        return build(entries, holds)

    def _take(self, step: Step, skip: Flags) -> None:
        if self._teams is None:
            self._teams = self._find_teams()
        teams, alone = self._teams
        if len(alone):
            self._take_alone(step, skip, alone)
        if len(teams) == 0:
            return
        b, benches, scratch, left = self.flat, self._lane_benches, self._scratch, self._left
        self._workers.run(
            lambda first, last, piece: step_rods(
                b, benches[piece], scratch[piece], step, skip, teams, left[piece], first, last
            ),
            len(teams),
            len(b.graph.x) * max(step.steps, 1),
        )

    def _find_teams(self) -> tuple[Ints, Ints]:
        """(T, LANES) rods that are stepped side by side: as many vertices, held in the same way; empty places have -1. And the rods
        of which there is only one."""
        rods, alike = self.arrays.rods, dict[Any, list[int]]()
        for rod, (first, end) in enumerate(zip(rods.start[:-1], rods.start[1:], strict=True)):
            parts = (rods.joint[first:end], rods.held[first:end], rods.edge_framed[first:end])
            key = (bool(rods.closed[rod]), *(part.tobytes() for part in parts))
            alike.setdefault(key, []).append(rod)
        lanes = SIDE_BY_SIDE
        teams = [members[k : k + lanes] for members in alike.values() for k in range(0, len(members), lanes)]
        rows = [team + [-1] * (lanes - len(team)) for team in teams if len(team) > 1]
        alone = [team[0] for team in teams if len(team) == 1]
        return np.array(rows, dtype=np.int64).reshape(-1, lanes), np.array(alone, dtype=np.int64)

    def hold_positions(self) -> Array:
        return self._held_rows.positions(self.arrays.state.q[:, :3])

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
        self._held_rows.move(positions, rotations, spins)
        self._measured = False

    def _set_brakes(self, brakes: Array | float) -> None:
        self.flat.forces.brakes[:] = brakes

    def release(self, hold: int) -> bool:
        """Lets go of one of the block's holds. Not of an edge, nor of a frame inside of a rod: the two elements beside it can't
        become one while it moves."""
        if not self._can_release(hold):
            return False
        self._set_hold(hold, False, 0.0)
        return True

    def engage(self, hold: int) -> None:
        self._set_hold(hold, True, 1.0)

    def soften(self, hold: int, share: float) -> bool:
        if not self._held_rows.holds_frame[hold] or not self._can_release(hold):
            return False
        self._set_hold(hold, False, share)
        return True

    def _can_release(self, hold: int) -> bool:
        rods, row = self.arrays.rods, int(self._held_rows.row[hold])
        rod = int(self._held_rods[hold])
        at_end = not rods.closed[rod] and row in (rods.start[rod], rods.start[rod + 1] - 1)
        return not self._held_rows.is_edge[hold] and (at_end or not self._held_rows.holds_frame[hold])

    def _set_hold(self, hold: int, position: bool, share: float) -> None:
        """Whether the position is held, and by which share of its stiffness the frame is."""
        rods, row, of = self.arrays.rods, int(self._held_rows.row[hold]), self._held_rows
        held, joint = position and of.holds_position[hold], FRAMED if share > 0.0 else FREE_END
        if of.holds_frame[hold]:
            self._frames.set_share(hold, share)
        if (of.holds_frame[hold] and joint != rods.joint[row]) or held != rods.held[row, 0]:
            self.forget_acceleration(int(self._held_rods[hold]))
        if of.holds_frame[hold]:
            rods.joint[row] = joint
            lay_elements(self.flat, rods.joint)
        rods.held[row, :3] = held
        self._teams = None
        self._measured = False

    def alter(self, rod: int, factors: Factors) -> None:
        """Makes a rod other than it was described."""
        with self._frames.altering(rod, factors):
            super().alter(rod, factors)
        set_units(self.flat)

    def _pushes(self, chosen: Ints, pushes: Pushes) -> Pushes:
        return Pushes(pushes.force.reshape(-1), pushes.stiffness, pushes.touched)

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

    def responses(self, owner: Ints, row: Ints, after: Ints, pair: Ints, out: Array) -> None:
        """How edges move when edges are pushed, by the matrices of `linearise`; see `respond_nets`."""
        if len(self._moved) == 0:
            self._moved = np.zeros(self.generalized_size)
        respond_nets(self._at_once(), owner, 4 * row, 4 * after, 4 * row + 3, pair, self._moved, out)

    def contact_responses(
        self, rod: Ints, edge: Ints, load: Array, start: Ints, out: NDArray[np.floating[Any]]
    ) -> None:
        c, most = self._at_once(), int(np.diff(self.flat.graph.unknowns).max())
        if len(self._lanes) == 0:
            self._lanes = [np.zeros((most, LANES)) for _ in self._scratch]
            self._moved = np.zeros(self.generalized_size) if len(self._moved) == 0 else self._moved
        after = np.where(edge + 1 < self.sample_start[rod + 1], edge + 1, self.sample_start[rod])
        lanes, x = self._lanes, self._moved
        bounds = np.append(np.flatnonzero(np.concatenate([[True], rod[1:] != rod[:-1]])), len(rod))
        self._workers.run(
            lambda first, last, piece: respond_to_loads(
                c, rod, edge, after, load, start, x, lanes[piece], out, bounds[first], bounds[last]
            ),
            len(bounds) - 1,
            4 * len(rod),
        )

    def directors_now(self, row: Ints) -> Array:
        return np.asarray(self._at_once().geometry.d1[row])

    def estimate_mobility(self, chosen: Ints, mobility: Array) -> None:
        c, h, scratch, benches = self._at_once(), self._stage, self._scratch, self._benches

        def work(first: int, last: int, piece: int) -> None:
            factor_nets(c, scratch[piece], chosen, h, first, last)
            probe_rods(c, benches[piece].system, chosen, mobility, first, last)

        self._share(work, chosen)

    def sample_steps(self, chosen: Ints, generalized: Array, out: Array) -> None:
        self._copy_unknowns(chosen, generalized.reshape(-1, 4), out)

    def generalized_pushes(self, chosen: Ints, forces: Array, out: Array) -> None:
        self._copy_unknowns(chosen, forces, out.reshape(-1, 4))

    def _copy_unknowns(self, chosen: Ints, source: Array, target: Array) -> None:
        if len(chosen) == self._rods:
            target[:] = source
        else:
            copy_rows(self.sample_start, chosen, source, target)

    def workbench(self, rod: int) -> Arrays:
        """A single rod of the block with its current geometry, for inspection."""
        return self.laid_out(rod)[0]
