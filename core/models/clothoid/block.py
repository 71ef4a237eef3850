"""The `clothoid` block: super space clothoids behind the protocol of all models."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...compile.workers import Workers
from ...describe.scene import Entry, Hold
from ...errors import Array, TendrilError, array, positive
from ..alteration import Factors
from ..protocol import WHOLE, Edges, Energies, Pushes, Work, in_one_piece
from ..report import FAILURES, ITERATIONS, take_work
from ..schemes import BACKWARD_EULER, NUMBER
from ..state_of_rods import copy_rods, pack, put_rods, rows_of, unpack
from .arrays import (
    Coupled,
    Flags,
    Ints,
    Room,
    State,
    Step,
    make_room,
    make_workings,
)
from .build import build, hold_root
from .contacts import add_halves, halves_of_contacts
from .coupled import (
    begin_rods,
    finish_rods,
    forces_of_samples,
    linearise_rods,
    move_rods,
    probe_rods,
    retreat_rods,
    rows_of_rods,
    solve_coupled,
    steps_of_samples,
    weigh_steps,
)
from .fit import Fit
from .growth import Growth
from .layout import for_coupling
from .measures import edge_strains
from .samples import drawn_directors
from .start import place_rods, start_moving
from .stepping import step_rods


class ClothoidBlock:
    def __init__(
        self,
        entries: Sequence[Entry],
        holds: Sequence[tuple[int, Hold]],
        *,
        integrator: str,
        tolerance: float,
        workers: Workers,
        touching: bool,
    ) -> None:
        """Where nothing can touch (`touching`), vertices are sample points enough."""
        made = build(entries, holds, touching)
        self.arrays = made.block
        b = self.arrays
        self.vertices: Ints = made.vertices
        start = b.rods.vector_start
        self.generalized_size, self.generalized_ranges = int(start[-1]), in_one_piece(start)
        self.fits: list[Fit] = made.fits  # how well the elements of each rod follow what was drawn
        self.sample_start = b.samples.start
        self._rods = len(entries)
        self._workers = workers
        self._scheme = NUMBER[integrator]
        self._tolerance = tolerance
        self._along, self._offsets = made.along, made.offsets
        self._edges_drawn = self._drawn_edges()
        self._none = np.zeros(self._rods, dtype=np.bool_)
        self._h = 0.0  # s, length of the last step or stage
        self._air_density = 0.0
        self._measured = False
        self._coupled: Coupled | None = None  # made when first needed
        self._kept: State | None = None
        self._rows_known = False  # those of the coupled step are those of the state
        self.state_size = sum(array.size for array in b.state)
        self._growth = Growth(b)
        self._grown: set[int] = set()  # rods whose sample points do not know it yet
        self._stale = False  # masses and Gauss points don't
        self._rooms = self._make_rooms()
        self._workings = [make_workings(max(self.most_unknowns, 12)) for _ in self._rooms]
        self._holds: list[tuple[int, Hold] | None] = list(holds)  # None: let go of
        self._hold_rods = np.array([number for number, _ in holds], dtype=np.int64)
        self._hold_frames = b.state.frame[self._hold_rods].copy()  # what a hold's rotation turns
        self._hold_tangents = self._hold_frames[:, :, 0].copy()
        self._sample_mass = np.zeros_like(b.samples.mass)
        self._pushed = np.zeros((int(self.sample_start[-1]), 4))  # by others, when last linearised
        self._weights = np.zeros((int(self.sample_start[-1]), 3))  # that others know of
        self._weigh()
        place_rods(b, self._rooms[0], 0, self._rods)
        velocities = [entry.velocity for entry in entries]
        if any(v.any() for v in velocities):
            start_moving(b, self._rooms[0], self._velocities_of_gauss(velocities))
            place_rods(b, self._rooms[0], 0, self._rods)

    def _make_rooms(self) -> list[Room]:
        b = self.arrays
        points = max(int(np.diff(b.gauss.start).max()), int(np.diff(b.samples.start).max())) + 8
        return [
            make_room(points, max(self.most_unknowns, 12)) for _ in range(min(self._workers.most_pieces, self._rods))
        ]

    def _drawn_edges(self) -> tuple[Ints, Ints, Ints]:
        """The samples where each drawn edge begins and ends, and that before the middle of it."""
        rod = np.searchsorted(self.sample_start, self.vertices, side="right")
        inner = np.diff(rod) == 0
        one, two = self.vertices[:-1][inner], self.vertices[1:][inner]
        far = 2.0 * float(self._along.max())  # one rod after the other
        place = self._along + far * np.repeat(np.arange(self._rods), np.diff(self.sample_start))
        return one, two, np.searchsorted(place, (0.5 + 1e-6) * place[one] + (0.5 - 1e-6) * place[two]) - 1

    def _weigh(self) -> None:
        b = self.arrays
        totals = np.add.reduceat(b.state.length, b.nodes.element_start[:-1])
        self._sample_mass[:] = b.samples.mass * np.repeat(totals, np.diff(self.sample_start))[:, None]

    def _velocities_of_gauss(self, velocities: list[Array]) -> Array:
        """What is given at vertices, at the Gauss points."""
        b = self.arrays
        out = np.zeros((int(b.gauss.start[-1]), 3))
        done = 0
        for r, v in enumerate(velocities):
            rows = self.vertices[done : done + len(v)]
            done += len(v)
            points = slice(int(b.gauss.start[r]), int(b.gauss.start[r + 1]))
            first, count = b.nodes.element_start[r], b.nodes.element_start[r + 1] - b.nodes.element_start[r]
            total = float(self._along[rows[-1]])
            at = (b.gauss.element[points] - first + b.gauss.fraction[points]) * total / count
            for c in range(3):
                out[points, c] = np.interp(at, self._along[rows], v[:, c])
        return out

    # Where the material is -----------------------------------------------------------------------------------------

    def positions(self) -> Array:
        return self.arrays.state.x[:, :3]

    def velocities(self) -> Array:
        return self.arrays.state.v

    def directors(self) -> Array:
        """At vertices across the edge to the next vertex, as the material lies in its middle; as it was drawn, not as the frame of
        the curve lies."""
        state = self.arrays.state
        out = state.director.copy()
        drawn_directors(state.x, state.director, *self._edges_drawn, self._offsets, out)
        return out

    def edge_directors(self, row: Ints) -> Array:
        """(K, 3) of the edges after samples, as the frame of the curve lies, in the state or at the iterate."""
        return self.arrays.state.director[row]

    def frames(self) -> Array:
        """(S, 3, 3) tangent and directors of the cross-sections at the sample points, as columns: what a ribbon follows."""
        turns = self.turns().copy()
        place_rods(self.arrays, self._rooms[0], 0, self._rods)
        self.turns()[:] = turns
        return self.arrays.geometry.sample_frame.copy()

    def strains(self) -> Array:
        """(E, 3) stretch, bending and twist of the drawn edges."""
        one, two, _ = self._edges_drawn
        return edge_strains(self.arrays, one, two)

    def tension(self) -> Array:
        """(E,) N: what the drawn edges carried at the end of the last step."""
        return self.arrays.state.tension[self._edges_drawn[2]]

    def point_velocities(self, generalized: Array, out: Array) -> None:
        moved = np.empty((len(out), 4))
        steps_of_samples(self.arrays, self._refresh_rows().rows, np.arange(self._rods), generalized, moved)
        out[:] = moved[:, :3]

    def generalized_forces(self, forces: Array, out: Array) -> None:
        forces_of_samples(self.arrays, self._refresh_rows().rows, np.arange(self._rods), forces, out)

    def _refresh_rows(self) -> Coupled:
        self._follow_growth()
        if self._coupled is None:
            self._coupled = for_coupling(self.arrays)
        if not self._rows_known:
            rows_of_rods(self.arrays, self._coupled, self._rooms[0], 0, self._rods)
            self._rows_known = True
        return self._coupled

    # A step --------------------------------------------------------------------------------------------------------

    def hold_positions(self) -> Array:
        return self.arrays.state.root[self._hold_rods]

    def move_holds(self, positions: Array, rotations: Array, spins: Array) -> None:
        holds, rods = self.arrays.holds, self._hold_rods
        holds.position[0], holds.frame[0] = holds.position[1], holds.frame[1]
        holds.position[1, rods] = positions
        frames = rotations @ self._hold_frames
        if spins.any():
            c, s = np.cos(spins)[:, None], np.sin(spins)[:, None]
            one, two = frames[:, :, 1].copy(), frames[:, :, 2].copy()
            frames[:, :, 1], frames[:, :, 2] = c * one + s * two, c * two - s * one
        holds.frame[1, rods] = frames
        self._measured = False

    def release(self, hold: int) -> bool:
        """Lets go of one of the block's holds for good: the root goes on at the velocity it was led with."""
        rods, r = self.arrays.rods, int(self._hold_rods[hold])
        self._holds[hold] = None
        rods.held_position[r], rods.held_frame[r] = False, False
        for other in self._holds:
            if other is not None and other[0] == r:
                hold_root(self.arrays, *other)
        return True

    def weight(self, gravity: Array, out: Array, share: Array = WHOLE) -> None:
        self._follow_growth()
        np.multiply(self._sample_mass[:, :1] * share, gravity, out=out)
        self.arrays.forces.gravity[:] = gravity * (share if len(share) == 1 else share[self.sample_start[:-1]])
        self._weights[:] = out

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
        self._place_grown()  # contact has looked where they were; air does not hinder growth
        b = self.arrays
        # Weight acts along the whole curve, as the series or the Gauss points have it, and not at the sample points.
        b.forces.load[:] = point_forces - self._weights
        b.forces.wind[:] = wind
        b.forces.drag_rate[0] = drag_rate
        self._air_density = air_density
        self._h = h
        scheme = BACKWARD_EULER if calm else self._scheme
        self._run(Step(h, count, scheme, air_density, self._tolerance), self._none if skip is None else skip)

    def _run(self, step: Step, skip: Flags) -> None:
        self._follow_growth()
        b = self.arrays
        self._workers.run(
            lambda first, last, piece: step_rods(
                b, self._rooms[piece], self._workings[piece], step, skip, self._sample_mass, first, last
            ),
            self._rods,
            10 * len(b.gauss.element) * max(step.steps, 1),
        )
        self._measured = True
        self._rows_known = False

    def solve(self, generalized: Array) -> None:
        """With the matrix of a stage of backward Euler that ends at the state."""
        everyone = np.arange(self._rods)
        c = self._refresh_rows()
        nothing = Pushes(
            np.zeros((len(self._along), 4)),
            np.zeros((len(self._along), 28)),
            np.zeros(len(self._along), dtype=np.bool_),
        )
        linearise_rods(self.arrays, c, self._rooms[0], nothing, everyone, self._h, np.zeros(self._rods), 0, self._rods)
        solve_coupled(self.arrays, c, self._rooms[0], everyone, generalized, 0, self._rods)

    def grow(self, rod: int, length: float | None = None, curvature: object = None) -> None:
        """Gives the block's rod another natural length (m), or natural twist and curvatures: one vector or one per node."""
        if length is None and curvature is None:
            raise TendrilError("length", None, "give a length, a curvature, or both")
        given = None
        if length is not None:
            length = positive("length", length, "m")
        if curvature is not None:
            count = int(np.diff(self.arrays.nodes.start)[rod])
            cure = f"give twist and two curvatures in 1/m: three numbers, or {count} rows of them, one per node"
            given = array("curvature", curvature, (3,) if np.asarray(curvature).ndim == 1 else (count, 3), cure)
        self._growth.describe(self.arrays, rod, length, given)
        self._follow_later()

    def alter(self, rod: int, factors: Factors) -> None:
        """Makes a rod other than it was described, or than `grow` made it."""
        self._growth.alter(self.arrays, rod, factors)
        self._follow_later()

    def grow_to(self, fraction: float) -> None:
        """Rods that were altered are as long as at this fraction of the way to their new lengths."""
        self._grown |= self._growth.lengthen(self.arrays, fraction)
        self._follow_later()

    def arrive(self) -> None:
        """They are as long as they are to be."""
        self.grow_to(1.0)
        self._growth.stay(self.arrays)
        self._place_grown()

    def _place_grown(self) -> None:
        for rod in self._grown:
            place_rods(self.arrays, self._rooms[0], rod, rod + 1)
        self._grown.clear()

    def _follow_later(self) -> None:
        self._stale = True
        self._measured = False
        self._rows_known = False

    def _follow_growth(self) -> None:
        if not self._stale:
            return
        self._stale = False
        self._weigh()
        before, self.arrays = self.arrays, self._growth.follow(self.arrays)
        if self.arrays is not before:
            self._rooms = self._make_rooms()

    # A coupled step ------------------------------------------------------------------------------------------------

    def edges(self) -> Edges:
        n = int(self.sample_start[-1])
        after = np.arange(1, n + 1)
        after[self.sample_start[1:] - 1] = -1
        return Edges(after, self.arrays.samples.radii.max(axis=1), self._along.copy(), np.full(n, np.inf))

    def turns(self) -> Array:
        return self.arrays.state.x[:, 3]

    def save(self, chosen: Ints) -> None:
        if self._kept is None:
            self._kept = State(*(array.copy() for array in self.arrays.state))
            self._refresh_rows()
        put_rods(self._kept, self._starts(), chosen, self.copy(chosen))

    def recall(self, chosen: Ints) -> None:
        assert self._kept is not None, "save() comes first"
        self.put_back(chosen, copy_rods(self._kept, self._starts(), chosen))

    def copy(self, chosen: Ints) -> Sequence[Array]:
        return copy_rods(self.arrays.state, self._starts(), chosen)

    def put_back(self, chosen: Ints, state: Sequence[Array]) -> None:
        put_rods(self.arrays.state, self._starts(), chosen, state)
        self._measured = False
        self._rows_known = False

    def _starts(self) -> list[Ints]:
        """Of the arrays of the state."""
        b, each = self.arrays, np.arange(self._rods + 1)
        return [
            b.nodes.element_start, b.nodes.start, b.nodes.start, each, each, b.rods.vector_start,
            b.samples.start, b.samples.start, b.samples.start, b.samples.start,
        ]  # fmt: skip

    def begin(self, chosen: Ints, h: float, air_density: float, still: bool = False) -> None:
        b, c, kept, mass = self.arrays, self._room(), self._kept, self._sample_mass
        assert kept is not None, "save() comes first"
        self._h = h
        self._share(
            lambda first, last, room: begin_rods(b, c, kept, room, chosen, h, air_density, still, mass, first, last),
            chosen,
        )

    def probe(self, chosen: Ints, mobility: Array) -> None:
        b, h = self.arrays, self._h
        self._share(lambda first, last, room: probe_rods(b, room, chosen, h, mobility, first, last), chosen)

    def linearise(self, chosen: Ints, pushes: Pushes, potential: Array) -> None:
        b, c, h = self.arrays, self._room(), self._h
        rows = rows_of(self.sample_start, chosen)
        self._pushed[rows] = pushes.force[rows]
        self._share(
            lambda first, last, room: linearise_rods(b, c, room, pushes, chosen, h, potential, first, last), chosen
        )
        b.log.report[chosen, ITERATIONS] += 1.0

    def step_vector(self) -> Array:
        return self._room().step

    def solve_linearised(self, chosen: Ints, generalized: Array) -> None:
        b, c = self.arrays, self._room()
        self._share(lambda first, last, room: solve_coupled(b, c, room, chosen, generalized, first, last), chosen)

    def sample_steps(self, chosen: Ints, generalized: Array, out: Array) -> None:
        steps_of_samples(self.arrays, self._room().rows, chosen, generalized, out)

    def generalized_pushes(self, chosen: Ints, forces: Array, out: Array) -> None:
        forces_of_samples(self.arrays, self._room().rows, chosen, forces, out)

    def weigh_steps(self, chosen: Ints, longest: Array, slope: Array) -> None:
        b, c = self.arrays, self._room()
        self._share(lambda first, last, _: weigh_steps(b, c, chosen, longest, slope, first, last), chosen)

    def move(self, chosen: Ints) -> None:
        b, c = self.arrays, self._room()
        self._share(lambda first, last, room: move_rods(b, c, room, chosen, first, last), chosen)

    def retreat(self, chosen: Ints, sizes: Array) -> None:
        b, c = self.arrays, self._room()
        self._share(lambda first, last, room: retreat_rods(b, c, room, chosen, sizes, first, last), chosen)

    def finish(self, chosen: Ints, creep: bool = False) -> None:
        b, h, pushed = self.arrays, self._h, self._pushed
        self._share(lambda first, last, room: finish_rods(b, room, chosen, h, creep, pushed, first, last), chosen)
        self._measured = False
        self._rows_known = False
        if creep:
            b.log.report[chosen, FAILURES] += 1.0

    def _room(self) -> Coupled:
        assert self._coupled is not None, "save() comes first"
        self._rows_known = False
        return self._coupled

    def _share(self, work: Callable[[int, int, Room], None], chosen: Ints) -> None:
        rooms = self._rooms
        effort = 10 * len(chosen) * len(self.arrays.gauss.element) // max(self._rods, 1)
        self._workers.run(lambda first, last, piece: work(first, last, rooms[piece]), len(chosen), effort)

    # Where contacts are solved one after the other (`contact/sweeps.py`).

    @property
    def most_unknowns(self) -> int:
        return int(np.diff(self.arrays.rods.vector_start).max())

    def answer(
        self, rod: Ints, edge: Ints, at: Array, rubbing_at: Array, direction: Array, lever: Array, half: Array, moved: Array
    ) -> None:  # fmt: skip
        """How rods answer to forces at contacts, see `halves_of_contacts`; and how the step vector moves these."""
        b, c = self.arrays, self._room()
        self._workers.run(
            lambda first, last, _: halves_of_contacts(
                b, c, rod, edge, at, rubbing_at, direction, lever, half, moved, first, last
            ),
            len(rod),
            10 * len(rod),
        )

    def add_answers(self, chosen: Ints, w: Array) -> None:
        """Adds L^-T w (R, n), which is lost, to the step vector."""
        add_halves(self.arrays, self._room(), chosen, w, 0, len(chosen))

    # Bookkeeping ---------------------------------------------------------------------------------------------------

    def energies(self, gravity: Array) -> Energies:
        b = self.arrays
        if not (self._measured and np.all(b.forces.gravity == gravity)):
            b.forces.gravity[:] = gravity
            self._run(Step(0.0, 0, BACKWARD_EULER, 0.0, self._tolerance), self._none)
        kinetic, bend, twist, height = (float(value) for value in b.log.energy.sum(axis=0))
        return Energies(kinetic, 0.0, bend, twist, height)

    def take_work(self) -> Work:
        return take_work(self.arrays.log.report)

    def pack_state(self, out: Array) -> None:
        pack(self.arrays.state, out)

    def unpack_state(self, state: Array) -> None:
        unpack(state, self.arrays.state)
        self._grown.clear()
        self._growth.stay(self.arrays)
        self._stale = True
        self._measured = False
        self._rows_known = False

    def stop(self) -> None:
        state = self.arrays.state
        for speeds in (state.rate, state.v):
            speeds[:] = 0.0
        self._measured = False

    def disturb(self, size: float) -> None:
        """By curvatures that move the free end by about as much."""
        b = self.arrays
        lengths = np.add.reduceat(b.state.length, b.nodes.element_start[:-1])
        scale = np.repeat(size * b.rods.spacing / lengths**2, np.diff(b.nodes.start))
        b.state.kappa[:] += np.random.default_rng(0).uniform(-1.0, 1.0, b.state.kappa.shape) * scale[:, None]
        place_rods(b, self._rooms[0], 0, self._rods)
        self._measured = False
        self._rows_known = False
