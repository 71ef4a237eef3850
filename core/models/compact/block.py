"""The `compact` block: inextensible rods parametrised by rotations, behind the protocol of all models."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...compile.workers import Workers
from ...describe.scene import Entry, Hold
from ...errors import Array, Flags, Ints
from ..alteration import Factors, Originals, strain_factors
from ..carrying import RigidMotion
from ..end_frames import EndFrames
from ..held_frames import FRAMED, FREE_END
from ..held_rows import HeldRows
from ..ladder import MOST_HALVINGS, MOST_ITERATIONS
from ..protocol import WHOLE, Edges, Energies, FreeSteps, Pushes, Work
from ..report import FAILURES, ITERATIONS, take_work
from ..schemes import BACKWARD_EULER, LENGTH, NUMBER, WHOLE_STEP, Stage
from ..state_of_rods import copy_rods, pack, put_rods, rows_of, unpack
from .arrays import BLOCK_DIAGONAL, DIAGONAL, ELIMINATION, HYBRID, State, Step, linear_of
from .build import build
from .contacts import respond
from .coupled import (
    begin_rods,
    finish_rods,
    linearise_rods,
    move_rods,
    probe_rods,
    retreat_rods,
    solve_coupled,
    weigh_steps,
)
from .measures import edge_strains, rebuild_vertices, tensions
from .newton import GRADIENTS
from .stepping import disturb_rods, map_forces, map_motion, solve_rods, step_rods

SOLVERS = {
    "elimination": ELIMINATION,
    "hybrid": HYBRID,
    "block diagonal": BLOCK_DIAGONAL,
    "diagonal": DIAGONAL,
}


class CompactBlock:
    solver = "elimination"  # of Newton's linear systems in free steps; the iterative ones are the paper's
    coupled_schemes = ("tr-bdf2",)
    exact = True  # use the Hessian term dropped by the paper where the matrix is positive definite with it

    def __init__(
        self,
        entries: Sequence[Entry],
        holds: Sequence[tuple[int, Hold]],
        *,
        integrator: str,
        tolerance: float,
        workers: Workers,
    ) -> None:
        self.arrays, layout = build(entries, holds)
        b = self.arrays
        self.vertices = np.concatenate(layout.vertex)
        self.director_rows = np.concatenate(layout.edge)
        self._edges = layout.edges
        self._linear = linear_of(b)
        self.sample_start = b.rods.start
        self.most_iterations = MOST_ITERATIONS
        self.gradients = 0  # conjugate gradient iterations up to the last `take_work`
        self._rods = len(entries)
        self._all = np.arange(self._rods)
        # Each array of the state has one row per vertex or one row per rod.
        each = np.arange(self._rods + 1)
        self._starts = [each if len(array) == self._rods else b.rods.start for array in b.state]
        # Generalized coordinates: the rotations of all edges, then all roots.
        n = len(b.rods.arm)
        self.generalized_size = 3 * (n + self._rods)
        rotations = np.stack([b.rods.start[:-1], b.rods.start[1:]], axis=1)
        roots = n + np.stack([np.arange(self._rods), np.arange(self._rods) + 1], axis=1)
        self.generalized_ranges = 3 * np.stack([rotations, roots], axis=1)
        self._workers = workers
        self._scheme = NUMBER[integrator]
        self._tolerance = tolerance
        self._none = np.zeros(self._rods, dtype=np.bool_)
        self._stage = 0.0  # s, length of the last stage
        self._implicit = False  # how that stage predicts spin
        self._measured = False  # the log's energies and the directors belong to the current state
        self._sample_scratch = np.zeros((len(b.state.x), 4))
        self._originals: Originals | None = None  # allocated when first needed
        self._natural = np.zeros(0)  # natural strains as described, allocated with it
        self.state_size = sum(array.size for array in b.state)
        rows = [
            int((layout.edge if hold.kind == "edge" else layout.vertex)[number][hold.index]) for number, hold in holds
        ]
        kinds, held = [hold.kind for _, hold in holds], np.array(rows, dtype=np.int64)
        after = np.where(np.array(kinds) == "edge", layout.edges.after[held], held)
        self._held_rows = HeldRows(b.holds, kinds, rows, after, b.holds.position[1], layout.sense[held])
        self._held_rods = np.array([number for number, _ in holds], dtype=np.int64)
        self._frames = EndFrames(self._held_rods, held, b.rods.stiffness, b.state.twist)
        self._rails = b.rods.rail[held]
        self._update_geometry()

    # -- Positions, velocities and frames

    def hold_positions(self) -> Array:
        return self._held_rows.positions(self.arrays.holds.position[1])

    def positions(self) -> Array:
        return self.arrays.state.x

    def velocities(self) -> Array:
        return self.arrays.state.v[:, :3]

    def directors(self) -> Array:
        self._update_geometry()
        return self.arrays.geometry.d1

    def point_velocities(self, generalized: Array, out: Array) -> None:
        self._update_geometry()
        map_motion(self._linear, self._all, generalized.reshape(-1, 3), self._sample_scratch)
        out[:] = self._sample_scratch[:, :3]

    def generalized_forces(self, forces: Array, out: Array) -> None:
        self._update_geometry()
        self._sample_scratch[:, :3] = forces
        self._sample_scratch[:, 3] = 0.0
        map_forces(self._linear, self._all, self._sample_scratch, out.reshape(-1, 3))

    def weight(self, gravity: Array, out: Array, share: Array = WHOLE) -> None:
        np.multiply(self.arrays.rods.mass[:, :1] * share, gravity, out=out)

    def move_holds(self, positions: Array, rotations: Array, spins: Array) -> None:
        self._held_rows.move(positions, rotations, spins)
        self._measured = False

    def release(self, hold: int) -> bool:
        """Releases a hold. Returns False for holds of edges and of frames inside a rod, as in `der`."""
        if not self._can_release(hold):
            return False
        self._let_go(hold, 0.0)
        return True

    def soften(self, hold: int, share: float) -> bool:
        if not self._held_rows.holds_frame[hold] or not self._can_release(hold):
            return False
        self._let_go(hold, share)
        return True

    def engage(self, hold: int) -> None:
        b, row = self.arrays, int(self._held_rows.row[hold])
        b.rods.held[row], b.rods.rail[row] = self._held_rows.holds_position[hold], self._rails[hold]
        b.state.consistent[self._held_rods[hold]] = 0.0
        self._hold_frame(hold, 1.0)

    def _can_release(self, hold: int) -> bool:
        rods, row = self.arrays.rods, int(self._held_rows.row[hold])
        inside = rods.before[row] >= 0 and rods.edge[row]
        return not rods.edge_framed[row] and not (self._held_rows.holds_frame[hold] and inside)

    def _let_go(self, hold: int, share: float) -> None:
        """Of the position; the frame is held by a share of its stiffness."""
        rods, state, row = self.arrays.rods, self.arrays.state, int(self._held_rows.row[hold])
        deviation = float(np.linalg.norm(state.x[row] - self.arrays.holds.position[1, row]))
        if rods.held[row] and deviation < 1e-6 * rods.rest_length[row]:
            # The reaction force ends abruptly. A state from after the release keeps its accelerations.
            state.consistent[self._held_rods[hold]] = 0.0
        rods.held[row] = False
        rods.rail[row] = 0.0
        state.hold_force[row] = 0.0
        self._hold_frame(hold, share)

    def _hold_frame(self, hold: int, share: float) -> None:
        if self._held_rows.holds_frame[hold]:
            self._frames.set_share(hold, share)
            self.arrays.rods.joint[self._held_rows.row[hold]] = FRAMED if share > 0.0 else FREE_END
        self._measured = False

    def alter(self, rod: int, factors: Factors) -> None:
        """Scales the properties of a rod relative to its description."""
        with self._frames.altering(rod, factors):
            self._scale(rod, factors)
        self._measured = False

    def _scale(self, rod: int, factors: Factors) -> None:
        b, rods = self.arrays, self.arrays.rods
        if self._originals is None:
            self._originals = Originals(
                [rods.stiffness, rods.rest_length, rods.arm, rods.mass, rods.damping_time, rods.stiffest]
            )
            self._natural = rods.rest.copy()
        rows, own = slice(int(rods.start[rod]), int(rods.start[rod + 1])), slice(rod, rod + 1)
        self._originals.scale(
            [rows, rows, rows, rows, own, own],
            [
                factors.stiffness / factors.length, factors.length, factors.length, factors.length, factors.damping,
                factors.stiffness / factors.length**3,
            ],
        )  # fmt: skip
        rods.rest[rows] = self._natural[rows] * strain_factors(factors)[[0, 0, 4]]
        first = int(rods.start[rod])
        edge = np.flatnonzero(self._edges.after[rows] >= 0)[0] + first
        drawn = float(np.linalg.norm(b.state.x[self._edges.after[edge]] - b.state.x[edge]))
        if abs(drawn - rods.rest_length[edge]) > 1e-9 * drawn:
            rebuild_vertices(b, rod)

    def strains(self) -> Array:
        """(E, 3) stretch, bending and twist of the described edges."""
        self._update_geometry()
        return np.asarray(edge_strains(self.arrays)[self.director_rows])

    def tension(self) -> Array:
        """(E,) N, axial force of the edges at the end of the last step."""
        self._update_geometry()
        out = np.zeros(len(self.arrays.rods.arm))
        tensions(self.arrays, out)
        return out[self.director_rows]

    # -- Free steps

    def free_steps(self, steps: FreeSteps) -> None:
        b = self.arrays
        b.forces.force[:] = steps.forces
        b.forces.wind[:] = steps.wind
        b.forces.drag_rate[:] = steps.drag_rate
        b.forces.brakes[:] = steps.brakes
        scheme = BACKWARD_EULER if steps.calm else self._scheme
        self._stage = steps.h * LENGTH[scheme]
        self._run(steps.h, steps.number, scheme, steps.air_density, self._none if steps.skip is None else steps.skip)

    def _run(self, h: float, count: int, scheme: int, air_density: float, skip: Flags) -> None:
        b = self.arrays
        step = Step(
            h, count, scheme, air_density, self._tolerance, self.most_iterations, MOST_HALVINGS, SOLVERS[self.solver],
            self.exact,
        )  # fmt: skip
        self._workers.run(
            lambda first, last, piece: step_rods(b, step, skip, first, last),
            self._rods,
            len(b.state.x) * max(count, 1),
        )
        self._measured = not skip.any()

    def _update_geometry(self) -> None:
        """Updates the directors, strains and energies of the state."""
        if not self._measured:
            self._run(0.0, 0, self._scheme, 0.0, self._none)

    def solve(self, generalized: Array) -> None:
        b, x = self.arrays, generalized.reshape(-1, 3)
        self._measured = False
        self._workers.run(lambda first, last, piece: solve_rods(b, self._stage, x, first, last), self._rods, len(x))

    # -- Coupled steps

    def edges(self) -> Edges:
        return self._edges

    def turns(self) -> Array:
        return self.arrays.geometry.turn

    def save(self, chosen: Ints) -> None:
        put_rods(self.arrays.kept, self._starts, chosen, self.copy(chosen))

    def rollback(self, chosen: Ints) -> None:
        self.restore(chosen, copy_rods(self.arrays.kept, self._starts, chosen))

    def copy(self, chosen: Ints) -> Sequence[Array]:
        return copy_rods(self.arrays.state, self._starts, chosen)

    def restore(self, chosen: Ints, state: Sequence[Array]) -> None:
        put_rods(self.arrays.state, self._starts, chosen, state)
        self._measured = False

    def begin(self, chosen: Ints, h: float, air_density: float, still: bool = False, stage: Stage = WHOLE_STEP) -> None:
        b = self.arrays
        self._stage, self._implicit = h, stage.explicit > 0.0
        self._measured = False
        self._share(lambda first, last, piece: begin_rods(b, chosen, h, air_density, still, stage, first, last), chosen)

    def knows_acceleration(self, chosen: Ints) -> Flags:
        return np.asarray(self.arrays.state.consistent[chosen] > 0.0)

    def forget_acceleration(self, rod: int) -> None:
        self.arrays.state.consistent[rod] = 0.0

    def restore_with_acceleration(self, chosen: Ints, state: Sequence[Array]) -> None:
        found = State(*self.copy(chosen))
        was = State(*state)
        self.restore(chosen, was._replace(a=found.a, strain_rate=found.strain_rate, consistent=found.consistent))

    def estimate_mobility(self, chosen: Ints, mobility: Array) -> None:
        b, h = self.arrays, self._stage
        self._share(lambda first, last, piece: probe_rods(b, chosen, h, mobility, first, last), chosen)

    def linearise(self, chosen: Ints, pushes: Pushes, potential: Array) -> None:
        b, h = self.arrays, self._stage
        self._share(lambda first, last, piece: linearise_rods(b, pushes, chosen, h, potential, first, last), chosen)
        b.log.report[chosen, ITERATIONS] += 1.0

    def step_vector(self) -> Array:
        return self.arrays.system.trial.reshape(-1)

    def solve_linearised(self, chosen: Ints, generalized: Array) -> None:
        b, x = self._linear, generalized.reshape(-1, 3)
        self._share(lambda first, last, piece: solve_coupled(b, chosen, x, first, last), chosen)

    def sample_steps(self, chosen: Ints, generalized: Array, out: Array) -> None:
        map_motion(self._linear, chosen, generalized.reshape(-1, 3), out)

    def generalized_pushes(self, chosen: Ints, forces: Array, out: Array) -> None:
        map_forces(self._linear, chosen, forces, out.reshape(-1, 3))

    def respond(self, rod: Ints, rows: Ints, weights: Array, known: int, out: Array) -> None:
        """Contact displacements due to contact forces, with the matrix of the last linearisation; see `contacts.py`."""
        n = len(self.arrays.state.x)
        x = np.zeros((n + self._rods, 3))
        respond(self._linear, rod, rows, weights, known, np.zeros((n, 4)), x, self._sample_scratch, out)

    def measure_steps(self, chosen: Ints, longest: Array, slope: Array) -> None:
        b = self.arrays
        self._share(lambda first, last, piece: weigh_steps(b, chosen, longest, slope, first, last), chosen)

    def move(self, chosen: Ints) -> None:
        b, h = self.arrays, self._stage
        self._share(lambda first, last, piece: move_rods(b, chosen, h, first, last), chosen)

    def backtrack(self, chosen: Ints, sizes: Array) -> None:
        b = self.arrays
        self._share(lambda first, last, piece: retreat_rods(b, chosen, sizes, first, last), chosen)

    def finish(self, chosen: Ints, creep: bool = False, smooth: bool = False) -> None:
        b, h, implicit = self.arrays, self._stage, self._implicit
        self._share(lambda first, last, piece: finish_rods(b, chosen, h, creep, smooth, implicit, first, last), chosen)
        self._measured = False
        if creep:
            b.log.report[chosen, FAILURES] += 1.0

    def _share(self, work: Callable[[int, int, int], None], chosen: Ints) -> None:
        self._workers.run(work, len(chosen), len(chosen) * len(self.arrays.state.x) // max(self._rods, 1))

    # -- Bookkeeping

    def energies(self, gravity: Array) -> Energies:
        b = self.arrays
        self._update_geometry()
        bend, twist = (float(value) for value in b.log.energy.sum(axis=0))
        kinetic = 0.5 * float(np.einsum("i,ij,ij->", b.rods.mass[:, 0], self.velocities(), self.velocities()))
        for k, director in ((1, b.geometry.d1), (2, b.geometry.d2)):
            moves = np.cross(b.state.v[:, 3:], director)
            kinetic += 0.5 * float(np.einsum("i,ij,ij->", b.rods.mass[:, k], moves, moves))
        height = -float((b.rods.mass[:, 0] * (b.state.x @ gravity)).sum())
        return Energies(kinetic, 0.0, bend, twist, height)

    def elastic_energies(self) -> Array:
        return np.asarray(self.arrays.log.energy.sum(axis=1))

    def take_work(self) -> Work:
        report = self.arrays.log.report
        self.gradients = int(report[:, GRADIENTS].sum())
        return take_work(report)

    def pack_state(self, out: Array) -> None:
        pack(self.arrays.state, out)

    def unpack_state(self, state: Array) -> None:
        unpack(state, self.arrays.state)
        self._measured = False

    def move_rigidly(self, chosen: Ints, motion: RigidMotion) -> None:
        state, rows = self.arrays.state, rows_of(self.arrays.rods.start, chosen)
        state.x[rows] = motion.points(state.x[rows])
        state.q[rows] = motion.quaternions(state.q[rows])
        for vectors in (state.v, state.a, state.hold_force, state.load):
            vectors[rows] = motion.vectors(vectors[rows].reshape(-1, 3)).reshape(len(rows), -1)
        state.loop_force[chosen] = motion.vectors(state.loop_force[chosen])
        self._measured = False

    def stop(self) -> None:
        for array in (self.arrays.state.v, self.arrays.state.a, self.arrays.state.consistent):
            array[:] = 0.0

    def disturb(self, size: float) -> None:
        b = self.arrays
        noise = np.random.default_rng(0).uniform(-size, size, (len(b.rods.arm) + self._rods, 3))
        noise[: len(b.rods.arm)][b.rods.edge_framed] = 0.0
        noise[len(b.rods.arm) :] *= b.rods.rest_length[b.rods.start[:-1], None]
        noise[len(b.rods.arm) :][b.rods.held[b.rods.start[:-1]]] = 0.0
        self._update_geometry()
        disturb_rods(b, noise)
        b.state.consistent[:] = 0.0
        self._measured = False
