"""The `corde` block: explicit nets behind the protocol of all models.

A free step of the simulation consists of as many of the model's own steps as stability requires. Coupled steps, those of nets that
touch something, are implicit: see `coupled.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ....compile.workers import Workers
from ....contact.bodies.block import Around, BodyBlock
from ....contact.bodies.explicit import begin_bodies, end_bodies
from ....describe.attachment import Attachment
from ....describe.scene import Entry, Hold
from ....errors import Array, Flags, Ints
from ...carrying import RigidMotion
from ...elastic.samples import gather, lay_samples
from ...protocol import WHOLE, Edges, Energies, FreeSteps, Pushes, Work, in_one_piece
from ...report import take_work
from ...state_of_rods import copy_rods, pack, put_rods, rows_of, unpack
from .arrays import State
from .build import build, choose_steps, product, quaternions, settings_of
from .carried import Carried, carry, step_carried_cordes
from .measure import strains_of_segments
from .stepping import copy_nets, measure_cordes, relax_cordes, step_cordes

if TYPE_CHECKING:
    from .coupled import ImplicitSteps

LONGEST_STEP = 10.0  # s, steps longer than this search for a state of rest
RELAXATION_STEPS = 20_000  # steps towards a state of rest


class CordeBlock:
    def __init__(
        self,
        entries: Sequence[Entry],
        holds: Sequence[tuple[int, Hold]],
        *,
        integrator: str,
        tolerance: float,
        workers: Workers,
    ) -> None:
        """Free steps are explicit: `integrator` has no effect, and `tolerance` one on coupled steps alone."""
        self.arrays, self._graph, self._plans, held_vertices = build(entries, holds)
        self._hold_list, self._tolerance = holds, tolerance
        self._settings, self._entries = settings_of(entries), entries
        self._carried: Carried | None = None  # nets coupled to bodies, with these bodies
        b, graph = self.arrays, self._graph
        self._samples = lay_samples(self._plans, graph)
        self.sample_start = self._samples.start
        self.vertices = self._samples.point
        self.director_rows = self._samples.director_row
        self._nets = len(entries)
        self._workers = workers
        self._none = np.zeros(self._nets, dtype=np.bool_)
        start = graph.unknowns
        self.generalized_size, self.generalized_ranges = int(start[-1]), in_one_piece(start)
        self._attempt = b._replace(saved=State(*(array.copy() for array in b.state)))
        self._steps: ImplicitSteps | None = None  # made when first needed
        self._poses: list[tuple[Array, Array, Array]] = []  # of the holds: the last two
        self._released: list[int] = []  # holds, in this order
        self._implicit = np.zeros(self._nets, dtype=np.bool_)  # nets that took implicit steps since `take_work`
        self._h = 0.0
        self.state_size = sum(array.size for array in b.state)
        self._index_holds(holds, held_vertices)

    def _index_holds(self, holds: Sequence[tuple[int, Hold]], held_vertices: list[int]) -> None:
        graph, state = self._graph, self.arrays.state
        self._of_edge = np.array([hold.kind == "edge" for _, hold in holds], dtype=np.bool_)
        self._where = np.array(
            [int((graph.edges if hold.kind == "edge" else graph.vertices)[r]) + hold.index for r, hold in holds],
            np.int64,
        )
        # Prescribed quaternions follow holds: those after the segments' own, and those of held segments.
        of_vertex = {int(self._where[k]): k for k in range(len(holds)) if not self._of_edge[k]}
        edges = len(graph.tail)
        places = [(edges + k, of_vertex[vertex]) for k, vertex in enumerate(held_vertices)]
        places += [(int(self._where[k]), k) for k in range(len(holds)) if self._of_edge[k]]
        self._quaternion = np.array([place for place, _ in places], np.int64)
        self._hold_of = np.array([hold for _, hold in places], np.int64)
        self._net_of_quaternion = np.array([holds[k][0] for _, k in places], np.int64)
        self._start = state.q[self._quaternion].copy()
        own = self._where[self._of_edge]
        self._half_edge = 0.5 * (state.r[graph.head[own]] - state.r[graph.tail[own]])
        self._hold_positions = np.zeros((len(holds), 3))
        self._hold_positions[self._of_edge] = state.r[graph.tail[own]] + self._half_edge
        self._hold_positions[~self._of_edge] = state.r[self._where[~self._of_edge]]

    def hold_positions(self) -> Array:
        return self._hold_positions

    def positions(self) -> Array:
        return np.asarray(self.arrays.state.r[self._samples.vertex])

    def velocities(self) -> Array:
        return np.asarray(self.arrays.state.v[self._samples.vertex])

    def directors(self) -> Array:
        out = np.zeros((int(self.sample_start[-1]), 3))
        x, y, z, w = self.arrays.state.q[: len(self._graph.tail)].T
        first = np.stack([x * x - y * y - z * z + w * w, 2 * (x * y + z * w), 2 * (x * z - y * w)], axis=1)
        out[self._samples.director_row] = first
        return out

    def point_velocities(self, generalized: Array, out: Array) -> None:
        out[:] = gather(generalized, self._samples, self._graph)

    def generalized_forces(self, forces: Array, out: Array) -> None:
        out[:] = 0.0
        for c in range(3):
            out[self._graph.x + c] = np.bincount(self._samples.vertex, forces[:, c], len(self._graph.x))

    def weight(self, gravity: Array, out: Array, share: Array = WHOLE) -> None:
        out[:] = 0.0
        out[self._samples.point] = self.arrays.nets.mass[:, None] * gravity
        out *= share

    def move_holds(self, positions: Array, rotations: Array, spins: Array) -> None:
        b, graph = self.arrays, self._graph
        self._poses = [*self._poses[-1:], (positions.copy(), rotations.copy(), spins.copy())]
        if self._steps is not None:
            self._steps.block.move_holds(positions, rotations, spins)
        for array in b.holds:
            array[0] = array[1]
        edge = self._of_edge
        b.holds.position[1, self._where[~edge]] = positions[~edge]
        half = np.einsum("hij,hj->hi", rotations[edge], self._half_edge)
        b.holds.position[1, graph.tail[self._where[edge]]] = positions[edge] - half
        b.holds.position[1, graph.head[self._where[edge]]] = positions[edge] + half
        turned = product(quaternions(rotations[self._hold_of]), self._start)
        half_spin = 0.5 * spins[self._hold_of]
        zero = np.zeros_like(half_spin)
        about = np.stack([zero, zero, np.sin(half_spin), np.cos(half_spin)], axis=1)
        aim = product(turned, about)
        before = b.holds.q[0, self._quaternion]
        aim[np.einsum("ij,ij->i", aim, before) < 0.0] *= -1.0
        b.holds.q[1, self._quaternion] = aim

    def release(self, hold: int) -> bool:
        """Releases a hold permanently. Returns False for a frame inside a net, where segments would separate."""
        nets, graph, place = self.arrays.nets, self._graph, int(self._where[hold])
        frames = self._quaternion[self._hold_of == hold]
        if self._of_edge[hold]:
            nets.framed[place] = False
            nets.held[[graph.tail[place], graph.head[place]]] = False
        else:
            if len(frames) > 1:
                return False
            nets.stiffness[np.isin(nets.a, frames) | np.isin(nets.b, frames)] = 0.0
            nets.held[place] = False
        choose_steps(nets, self._settings)
        self._released.append(hold)
        if self._steps is not None:
            self._steps.block.release(hold)
        return True

    def free_steps(self, steps: FreeSteps) -> None:
        self._set_forces(steps)
        self._h = steps.h
        self._run(steps.h * steps.number, self._none if steps.skip is None else steps.skip, steps.calm)

    def _set_forces(self, steps: FreeSteps) -> None:
        b = self.arrays
        for c in range(3):
            b.work.external[:, c] = np.bincount(self._samples.vertex, steps.forces[:, c], len(b.state.r))
        b.work.wind[:] = steps.wind
        b.work.air[0] = steps.air_density
        b.work.drag_rate[:] = steps.drag_rate
        if self._steps is not None:
            self._steps.set_forces(steps.forces, steps.wind, steps.drag_rate)

    def _run(self, time: float, skip: Flags, calm: bool = False) -> None:
        b, attempt = self.arrays, self._attempt
        if calm or time > LONGEST_STEP:  # too many steps to be practical; a state of rest is what is wanted
            steps = RELAXATION_STEPS if time > LONGEST_STEP else RELAXATION_STEPS // 100
            self._workers.run(
                lambda first, last, piece: relax_cordes(attempt, steps, skip, first, last), self._nets, steps
            )
            return
        self._workers.run(
            lambda first, last, piece: step_cordes(b, attempt, time, skip, first, last), self._nets, len(b.state.r)
        )

    def carry(self, attachments: Sequence[tuple[int, Attachment]], bodies: BodyBlock, impulse: Array) -> Flags:
        """Registers nets attached to bodies for `step_carried`, and returns them (R,). `attachments` come with the index of
        their net, and include all attachments of their bodies; their impulses on the bodies are added to `impulse` (B, 6)."""
        carrying, self._carried = np.zeros(self._nets, dtype=np.bool_), None
        if attachments:
            self._carried = carry(self.arrays, self._graph, self._entries, attachments, bodies, impulse)
            self._bodies = bodies
            carrying[self._carried.net] = True
        return carrying

    def step_carried(self, h: float, around: Around, chosen: Ints) -> Flags:
        """Advances chosen nets and their bodies, all registered by `carry`, by one step. Kinematic bodies are restored, because
        the simulation moves them."""
        if self._carried is not None and len(chosen):
            bodies, c = self._carried.bodies, self._carried
            before = begin_bodies(bodies, self._bodies, around.gravity, around.wind, around.drag)
            for a in np.flatnonzero(np.isin(c.net[c.net_of[:-1]], chosen)):
                step_carried_cordes(self.arrays, self._attempt, c, before, h, a, a + 1)
            end_bodies(bodies, before)
        return self._none

    def solve(self, generalized: Array) -> None:
        """The matrix of an explicit step is the mass matrix."""
        nets, graph = self.arrays.nets, self._graph
        compliance = np.zeros(self.generalized_size)
        for c in range(3):
            compliance[graph.x + c] = np.where(nets.held, 0.0, self._h**2 / nets.mass)
        compliance[graph.theta] = np.where(nets.framed, 0.0, self._h**2 / nets.inertia[:, 2])
        generalized *= compliance

    # -- Coupled steps

    def edges(self) -> Edges:
        return self._samples.edges

    def turns(self) -> Array:
        return np.zeros(len(self._samples.edge)) if self._steps is None else self._steps.block.turns()

    def save(self, chosen: Ints) -> None:
        self._implicit_steps().forget_angles(chosen)
        copy_nets(self.arrays, chosen, False)

    def rollback(self, chosen: Ints) -> None:
        self._implicit_steps().forget_angles(chosen)
        copy_nets(self.arrays, chosen, True)

    def copy(self, chosen: Ints) -> Sequence[Array]:
        return copy_rods(self.arrays.state, self._starts(), chosen)

    def restore(self, chosen: Ints, state: Sequence[Array]) -> None:
        put_rods(self.arrays.state, self._starts(), chosen, state)

    def _starts(self) -> list[Ints]:
        """Start of each net in the arrays of the state. Prescribed quaternions, which come last, are not part of it."""
        nets = self.arrays.nets
        return [nets.vertices, nets.vertices, nets.edges, nets.edges, nets.elements]

    def begin(self, chosen: Ints, h: float, air_density: float, still: bool = False) -> None:
        copy_nets(self.arrays, chosen, True)
        self._h = h
        steps = self._implicit_steps()
        steps.load(chosen)
        steps.block.begin(chosen, h, air_density, still)
        steps.show(chosen)

    def estimate_mobility(self, chosen: Ints, mobility: Array) -> None:
        self._implicit_steps().block.estimate_mobility(chosen, mobility)

    def linearise(self, chosen: Ints, pushes: Pushes, potential: Array) -> None:
        self._implicit_steps().block.linearise(chosen, pushes, potential)

    def step_vector(self) -> Array:
        return self._implicit_steps().block.step_vector()

    def solve_linearised(self, chosen: Ints, generalized: Array) -> None:
        self._implicit_steps().block.solve_linearised(chosen, generalized)

    def sample_steps(self, chosen: Ints, generalized: Array, out: Array) -> None:
        self._implicit_steps().block.sample_steps(chosen, generalized, out)

    def generalized_pushes(self, chosen: Ints, forces: Array, out: Array) -> None:
        self._implicit_steps().block.generalized_pushes(chosen, forces, out)

    def measure_steps(self, chosen: Ints, longest: Array, slope: Array) -> None:
        self._implicit_steps().block.measure_steps(chosen, longest, slope)

    def move(self, chosen: Ints) -> None:
        steps = self._implicit_steps()
        steps.block.move(chosen)
        steps.show(chosen)

    def backtrack(self, chosen: Ints, sizes: Array) -> None:
        steps = self._implicit_steps()
        steps.block.backtrack(chosen, sizes)
        steps.show(chosen)

    def finish(self, chosen: Ints, creep: bool = False) -> None:
        steps, b = self._implicit_steps(), self.arrays
        steps.block.finish(chosen, creep)
        steps.store(chosen)
        held = self._quaternion[np.isin(self._net_of_quaternion, chosen)]
        b.state.q[held] = b.holds.q[1, held]
        steps.count_turns(chosen)
        self._implicit[chosen] = True

    def _implicit_steps(self) -> ImplicitSteps:
        if self._steps is None:
            from .coupled import ImplicitSteps  # late: many scenes do without its kernels

            self._steps = ImplicitSteps(
                self.arrays,
                self._entries,
                self._hold_list,
                self._plans,
                tolerance=self._tolerance,
                workers=self._workers,
            )
            for pose in self._poses:
                self._steps.block.move_holds(*pose)
            for hold in self._released:
                self._steps.block.release(hold)
        return self._steps

    # -- Bookkeeping

    def constraint_energy(self) -> float:
        """J, energy of the constraint (16) that aligns frames with their segments."""
        measure_cordes(self.arrays)
        return float(self.arrays.work.energy[:, 3].sum())

    def energies(self, gravity: Array) -> Energies:
        """The energy of the constraint counts as bending."""
        b = self.arrays
        measure_cordes(b)
        stretch, bend, twist, constraint = (float(value) for value in b.work.energy.sum(axis=0))
        kinetic = 0.5 * float((b.nets.mass[:, None] * b.state.v**2).sum() + (b.nets.inertia * b.state.w**2).sum())
        height = -float((b.nets.mass * (b.state.r @ gravity)).sum())
        return Energies(kinetic, stretch, bend + constraint, twist, height)

    def strains(self) -> Array:
        """(E, 3) stretch, bending and twist of the segments."""
        return strains_of_segments(self.arrays)

    def tension(self) -> Array:
        """(E,) N, axial force of the segments."""
        return np.asarray(self.arrays.nets.stretch * self.strains()[:, 0])

    def elastic_energies(self) -> Array:
        return np.asarray(self.arrays.work.energy.sum(axis=1))

    def take_work(self) -> Work:
        """Iterations are explicit steps, and those of Newton's method in implicit ones."""
        work = take_work(self.arrays.work.report)
        if self._steps is not None:
            work = work + self._steps.block.take_work()
        found = frozenset(np.flatnonzero(self._implicit).tolist())
        self._implicit[:] = False
        return replace(work, implicit=found)

    def pack_state(self, out: Array) -> None:
        pack(self.arrays.state, out)

    def unpack_state(self, state: Array) -> None:
        unpack(state, self.arrays.state)
        # A rotation has two quaternions. `move_holds` takes the one nearer to the previous, whose sign only the state knows.
        self.arrays.holds.q[:, self._quaternion] = self.arrays.state.q[self._quaternion]

    def move_rigidly(self, chosen: Ints, motion: RigidMotion) -> None:
        state, nets = self.arrays.state, self.arrays.nets
        vertices, elements = rows_of(nets.vertices, chosen), rows_of(nets.elements, chosen)
        state.r[vertices], state.v[vertices] = motion.points(state.r[vertices]), motion.vectors(state.v[vertices])
        # Prescribed quaternions come after those of all segments; elements tell whose they are.
        held = np.concatenate([nets.a[elements], nets.b[elements]])
        rows = np.union1d(rows_of(nets.edges, chosen), held)
        w_first = motion.quaternions(np.roll(state.q[rows], 1, axis=1))
        state.q[rows] = np.roll(w_first, -1, axis=1)
        self.arrays.holds.q[:, self._quaternion] = state.q[self._quaternion]  # as after `unpack_state`

    def stop(self) -> None:
        self.arrays.state.v[:] = 0.0
        self.arrays.state.w[:] = 0.0

    def disturb(self, size: float) -> None:
        b = self.arrays
        noise = np.random.default_rng(0).uniform(-size, size, b.state.r.shape) * float(b.nets.length.min())
        b.state.r[:] += np.where(b.nets.held[:, None], 0.0, noise)
