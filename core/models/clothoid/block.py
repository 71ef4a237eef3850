"""The `clothoid` block: super space clothoids behind the protocol of all models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...compile.workers import Workers
from ...describe.scene import Entry, Hold
from ...errors import Array, Flags, Ints
from ..alteration import Factors
from ..carrying import RigidMotion
from ..protocol import WHOLE, Energies, FreeSteps, Pushes, Work, in_one_piece
from ..report import take_work
from ..schemes import BACKWARD_EULER, NUMBER
from ..state_of_rods import pack, rows_of, unpack
from .arrays import Coupled, Scratch, State, Step, make_motion_scratch, make_scratch
from .build import build, hold_root
from .coupled import linearise_rods, solve_coupled
from .coupled_block import CoupledSteps
from .fit import Fit
from .growth import Growth
from .kinematics import SHIFT, TURN
from .measures import edge_strains
from .samples import drawn_directors
from .start import place_rods, set_velocities
from .stepping import step_rods


class ClothoidBlock(CoupledSteps):
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
        """`touching`: whether contact is possible and needs sample points between the vertices."""
        built = build(entries, holds, touching)
        self.arrays = built.arrays
        b = self.arrays
        self.vertices: Ints = built.vertices
        start = b.rods.vector_start
        self.generalized_size, self.generalized_ranges = int(start[-1]), in_one_piece(start)
        self.fits: list[Fit] = built.fits  # error of each rod's elements relative to the drawn shape
        self.sample_start = b.samples.start
        self._rods = len(entries)
        self._workers = workers
        self._scheme = NUMBER[integrator]
        self._tolerance = tolerance
        self._along, self._offsets = built.along, built.offsets
        self._edges_drawn = built.drawn_edges()
        self._none = np.zeros(self._rods, dtype=np.bool_)
        self._h = 0.0  # s, length of the last step or stage
        self._measured = False
        self._coupled: Coupled | None = None  # allocated when first needed
        self._kept: State | None = None
        self._jacobian_current = False  # the sample Jacobian belongs to the current state
        self.state_size = sum(array.size for array in b.state)
        self._growth = Growth(b)
        self._grown: set[int] = set()  # rods with a new length whose sample points have not been updated
        self._stale = False  # masses and Gauss points have not been updated for new lengths
        self._scratch = self._make_scratch()
        self._motion_scratch = [make_motion_scratch(max(self.most_unknowns, 12)) for _ in self._scratch]
        self._holds: list[tuple[int, Hold] | None] = list(holds)  # None: released
        self._hold_rods = np.array([number for number, _ in holds], dtype=np.int64)
        self._hold_frames = b.state.frame[self._hold_rods].copy()  # rotated by the prescribed rotation
        self._sample_mass = np.zeros_like(b.samples.mass)
        # contact and coupling forces of the last linearisation
        self._pushed = np.zeros((int(self.sample_start[-1]), 4))
        # weight per sample point as reported to the simulation
        self._sample_weight = np.zeros((int(self.sample_start[-1]), 3))
        self._update_sample_mass()
        place_rods(b, self._scratch[0], 0, self._rods)
        velocities = [entry.velocity for entry in entries]
        if any(v.any() for v in velocities):
            set_velocities(b, self._scratch[0], built.gauss_velocities(velocities))
            place_rods(b, self._scratch[0], 0, self._rods)

    def _make_scratch(self) -> list[Scratch]:
        b = self.arrays
        points = max(int(np.diff(b.gauss.start).max()), int(np.diff(b.samples.start).max())) + 8
        return [
            make_scratch(points, max(self.most_unknowns, 12)) for _ in range(min(self._workers.most_pieces, self._rods))
        ]

    def _update_sample_mass(self) -> None:
        b = self.arrays
        totals = np.add.reduceat(b.state.length, b.nodes.element_start[:-1])
        self._sample_mass[:] = b.samples.mass * np.repeat(totals, np.diff(self.sample_start))[:, None]

    # -- Positions, velocities and frames

    def positions(self) -> Array:
        return self.arrays.state.x[:, :3]

    def velocities(self) -> Array:
        return self.arrays.state.v

    def directors(self) -> Array:
        """(S, 3). At vertices: across the edge to the next vertex, the drawn director moved with the material in the middle of
        that edge, which differs from the curve's frame by a constant angle."""
        state = self.arrays.state
        out = state.director.copy()
        drawn_directors(state.x, state.director, *self._edges_drawn, self._offsets, out)
        return out

    def edge_directors(self, row: Ints) -> Array:
        """(K, 3) directors of the curve's frame on the edges after the given sample points, in the state or at the iterate."""
        return self.arrays.state.director[row]

    def frames(self) -> Array:
        """(S, 3, 3) tangent and directors of the cross-sections at the sample points, as columns."""
        turns = self.turns().copy()
        place_rods(self.arrays, self._scratch[0], 0, self._rods)
        self.turns()[:] = turns
        return self.arrays.geometry.sample_frame.copy()

    def strains(self) -> Array:
        """(E, 3) stretch, bending and twist of the drawn edges."""
        one, two, _ = self._edges_drawn
        return edge_strains(self.arrays, one, two)

    def tension(self) -> Array:
        """(E,) N, axial force of the drawn edges at the end of the last step."""
        return self.arrays.state.tension[self._edges_drawn[2]]

    # -- Free steps

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
        """Releases a hold permanently: the root continues with the velocity of its prescribed motion."""
        rods, state, r = self.arrays.rods, self.arrays.state, int(self._hold_rods[hold])
        self._holds[hold] = None
        if np.linalg.norm(state.root[r] - self.arrays.holds.position[1, r]) < 1e-6 * rods.spacing[r]:
            # The reaction force ends abruptly. A state from after the release keeps its accelerations.
            state.consistent[r] = 0.0
        rods.held_position[r], rods.held_frame[r] = False, False
        for other in self._holds:
            if other is not None and other[0] == r:
                hold_root(self.arrays, *other)
        return True

    def weight(self, gravity: Array, out: Array, share: Array = WHOLE) -> None:
        self._apply_growth()
        np.multiply(self._sample_mass[:, :1] * share, gravity, out=out)
        self.arrays.forces.gravity[:] = gravity * (share if len(share) == 1 else share[self.sample_start[:-1]])
        self._sample_weight[:] = out

    def free_steps(self, steps: FreeSteps) -> None:
        self._place_grown()  # only now, because contact needs the previous positions; growth causes no drag
        b = self.arrays
        # Gravity acts along the whole curve (by series or Gauss points), not at the sample points.
        b.forces.load[:] = steps.forces - self._sample_weight
        b.forces.wind[:] = steps.wind
        b.forces.drag_rate[:] = steps.drag_rate
        self._h = steps.h
        scheme = BACKWARD_EULER if steps.calm else self._scheme
        step = Step(steps.h, steps.number, scheme, steps.air_density, self._tolerance)
        self._run(step, self._none if steps.skip is None else steps.skip)

    def _run(self, step: Step, skip: Flags) -> None:
        self._apply_growth()
        b = self.arrays
        self._workers.run(
            lambda first, last, piece: step_rods(
                b, self._scratch[piece], self._motion_scratch[piece], step, skip, self._sample_mass, first, last
            ),
            self._rods,
            10 * len(b.gauss.element) * max(step.steps, 1),
        )
        self._measured = True
        self._jacobian_current = False

    def solve(self, generalized: Array) -> None:
        """Applies the inverse of the matrix of a backward Euler stage that ends at the state."""
        everyone = np.arange(self._rods)
        c = self._update_jacobian()
        nothing = Pushes(
            np.zeros((len(self._along), 4)),
            np.zeros((len(self._along), 28)),
            np.zeros(len(self._along), dtype=np.bool_),
        )
        linearise_rods(
            self.arrays, c, self._scratch[0], nothing, everyone, self._h, np.zeros(self._rods), 0, self._rods
        )
        solve_coupled(self.arrays, c, self._scratch[0], everyone, generalized, 0, self._rods)

    def grow(self, rod: int, length: float | None = None, curvature: object = None) -> None:
        """Sets a new natural length (m), or natural twist and curvatures (1/m): one vector, or one per node."""
        self._growth.describe(self.arrays, rod, length, curvature)
        self._mark_stale()

    def alter(self, rod: int, factors: Factors) -> None:
        """Scales the properties of a rod relative to its description or the last `grow`."""
        self._growth.alter(self.arrays, rod, factors)
        self._mark_stale()

    def grow_to(self, fraction: float) -> None:
        """Sets altered rods to this fraction of the way to their new lengths."""
        self._grown |= self._growth.lengthen(self.arrays, fraction)
        self._mark_stale()

    def arrive(self) -> None:
        """Completes the change of lengths."""
        self.grow_to(1.0)
        self._growth.stay(self.arrays)
        self._place_grown()

    def _place_grown(self) -> None:
        for rod in self._grown:
            place_rods(self.arrays, self._scratch[0], rod, rod + 1)
        self._grown.clear()

    def _mark_stale(self) -> None:
        self._stale = True
        self._measured = False
        self._jacobian_current = False

    def _apply_growth(self) -> None:
        if not self._stale:
            return
        self._stale = False
        self._update_sample_mass()
        before, self.arrays = self.arrays, self._growth.follow(self.arrays)
        if self.arrays is not before:
            self._scratch = self._make_scratch()

    # -- Bookkeeping

    def energies(self, gravity: Array) -> Energies:
        b = self.arrays
        if not (self._measured and np.all(b.forces.gravity == gravity)):
            b.forces.gravity[:] = gravity
            self._run(Step(0.0, 0, BACKWARD_EULER, 0.0, self._tolerance), self._none)
        kinetic, bend, twist, height = (float(value) for value in b.log.energy.sum(axis=0))
        return Energies(kinetic, 0.0, bend, twist, height)

    def elastic_energies(self) -> Array:
        return np.asarray(self.arrays.log.energy[:, 1:3].sum(axis=1))

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
        self._jacobian_current = False

    def move_rigidly(self, chosen: Ints, motion: RigidMotion) -> None:
        state, samples = self.arrays.state, rows_of(self.sample_start, chosen)
        state.root[chosen] = motion.points(state.root[chosen])
        state.frame[chosen] = motion.frames(state.frame[chosen])
        at = self.arrays.rods.vector_start[chosen]
        for first in (SHIFT, TURN):
            own = at[:, None] + first + np.arange(3)
            for rates in (state.rate, state.acceleration):
                rates[own] = motion.vectors(rates[own])
        state.x[samples, :3] = motion.points(state.x[samples, :3])
        for vectors in (state.v, state.director):
            vectors[samples] = motion.vectors(vectors[samples])
        self._measured = False
        self._jacobian_current = False

    def stop(self) -> None:
        state = self.arrays.state
        for motion in (state.rate, state.v, state.acceleration, state.consistent):
            motion[:] = 0.0
        self._measured = False

    def disturb(self, size: float) -> None:
        """Random curvatures that move the free end by about `size` segment lengths."""
        b = self.arrays
        lengths = np.add.reduceat(b.state.length, b.nodes.element_start[:-1])
        scale = np.repeat(size * b.rods.spacing / lengths**2, np.diff(b.nodes.start))
        b.state.kappa[:] += np.random.default_rng(0).uniform(-1.0, 1.0, b.state.kappa.shape) * scale[:, None]
        b.state.consistent[:] = 0.0
        place_rods(b, self._scratch[0], 0, self._rods)
        self._measured = False
        self._jacobian_current = False
