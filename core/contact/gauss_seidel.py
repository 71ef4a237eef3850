"""Contact of hair: each rod keeps its own small matrix, and Coulomb's law is satisfied contact after contact.

The solver that the paper on clothoids was coupled with (Daviet et al. 2011) sees rods in the same way: linear within a step, so
that their answers to forces at contacts are short dense vectors, and the law exact at each contact in turn. Here Newton's method
is made of it: rods are linearised under the forces known so far, sweeps over all contacts find better ones (`sweeps.py`), all move.
Hundreds of rods in one bundle cost as much as so many pairs. What is left after a few iterations is left to the next step, and rods
that meet too fast may pass through each other: it is for what looks right, where "coulomb" is for what is right to a thousandth of
a radius. For rods of the model `clothoid`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy import int64

from ..compile.workers import Workers
from ..errors import Array
from ..models.clothoid.block import ClothoidBlock
from ..models.protocol import ModelBlock
from .arrays import Flags
from .colliders import ColliderMotion
from .coulomb import clear
from .islands import LONGEST
from .known_forces import recall_forces
from .solver import ContactSolver, Outcome
from .sweeps import Answer, Rows, act, add_up, describe, soften, sweep

MOST_ITERATIONS = 8
MOST_FOR_COLLIDERS = 8  # more, of rods that are in colliders: what passes through these is seen
SWEEPS, MOST_SWEEPS = 60, 240  # in the first iteration; in any, each having more than the one before
TOLERANCE = 0.01  # of the thickness: sweeps end when they move contacts by less
ENOUGH = 0.05  # of the thickness: so far gaps may be from where they belong when a rod is done; and
ENOUGH_STEP = 0.05  # edges: Newton's next step
GONE_THROUGH = 1.5  # of the thickness: rods that have passed by so much are let go
DEEPEST = 0.5  # of the thickness: where rods overlap by more, one iteration takes out no more
FARTHEST, FARTHEST_ROD = 40.0, 1.0  # radii: how far away contacts with colliders, with other rods are taken in at most
SOFT = 0.002  # times the median of how contacts give way to forces: all do by so much, those next to roots, too
NOISE = 1e-9  # of potentials, relative


class GaussSeidelSolver(ContactSolver):
    def __init__(
        self,
        blocks: Sequence[ModelBlock],
        friction: Sequence[Array],
        colliders: ColliderMotion,
        between_rods: bool,
        tolerance: float,
        workers: Workers,
    ) -> None:
        super().__init__(blocks, friction, colliders, between_rods, tolerance, workers)
        assert len(blocks) == 1
        assert isinstance(blocks[0], ClothoidBlock)
        self._block = blocks[0]
        self._w = np.zeros((len(self._coupled), self._block.most_unknowns))
        self._lines, self._answer = self._make(256)
        rods, n = len(self._coupled), len(self.detection.samples.after)
        self._before = np.zeros(rods)  # J, potentials where the last moves began, and
        self._pushed = np.zeros((n, 4))  # forces of contacts on the sample points during them
        self._given = np.zeros((n, 4))
        self._way = np.zeros(rods)  # m, of the last moves
        self._from = np.zeros((n, 3))  # where they began
        self._soft = 0.0  # m/N
        self.sweeps = 0

    def _make(self, capacity: int) -> tuple[Rows, Answer]:
        zeros, n = np.zeros, self._block.most_unknowns
        rows = Rows(
            zeros((capacity, 3, 3)),
            zeros((capacity, 2, 2)),
            zeros((capacity, 3)),
            zeros((capacity, 3)),
            zeros(capacity),
        )
        half = zeros((capacity, 2, 3, n))
        return rows, Answer(half, zeros((capacity, 3)), zeros((capacity, 6)), zeros((capacity, 2), int64))

    def step(
        self, which: Flags, h: float, free: Callable[[list[Flags]], None], air_density: float, careful: bool, last: bool
    ) -> Outcome:
        """Always the last chance: what is not quite as it should be is left to the next step, and no rod takes smaller ones because
        it seems to pass through another."""
        return super().step(which, h, free, air_density, careful, True)

    def _begin(self, which: Flags, still: bool = False) -> None:
        for _, chosen in self._chosen(which):
            self._block.begin(chosen, self._h, self._air_density, still)

    def _solve(self, most_iterations: int, last: bool) -> None:
        """Newton's method. A rod goes half the way back if its potential has risen, with the forces of its contacts as they were
        known when it went. It is done when its steps are short and its contacts as they should be, and rests if all rods it
        presses on are done, too."""
        samples = self.detection.samples
        self._active[:] = self._coupled
        self._base[:] = samples.start
        self._before[:] = np.inf
        self._way[:] = 0.0
        self._reach()
        self._look(self._which)
        for iteration in range(MOST_ITERATIONS + MOST_FOR_COLLIDERS):
            while self._couple_more():
                pass
            if not self._active.any():
                return
            self.iterations += 1
            in_colliders = iteration >= MOST_ITERATIONS
            self._step_all(min(SWEEPS * (iteration + 1), MOST_SWEEPS), in_colliders)
            lost = self._active & ~(self._longest < LONGEST)
            if lost.any():
                self._fail(lost)
            rising = self._rising()
            moving = self._active & ~rising
            busy = self._busy(in_colliders or iteration + 1 == MOST_ITERATIONS) | rising
            self._retreat(np.where(rising, 0.5, 1.0), self._active)
            self._before[moving] = self._potential[moving]
            rows = moving[samples.rod]
            self._pushed[rows] = self._given[rows]
            self._move(moving)
            self._look(self._active)
            self._active &= busy
        while self._couple_more():
            pass
        self._active[:] = False

    def _rising(self) -> Flags:
        """Rods whose last move was too long."""
        samples = self.detection.samples
        work = np.einsum("ij,ij->i", self._pushed[:, :3], samples.now - self._from)
        done = np.bincount(samples.rod, work, len(self._active))
        rise = self._potential - self._before - done
        scale = NOISE * (np.abs(self._potential) + np.abs(done))
        return np.asarray(self._active & (rise > scale) & (self._longest > ENOUGH_STEP))

    def _busy(self, in_colliders: bool) -> Flags:
        """Active rods that are not done, and those that press on them; or only rods that are in colliders."""
        count, contacts, samples = self.detection.count, self.detection.contacts, self.detection.samples
        force, apart = self._lines.force[:count, 0], self._lines.apart[:count, 0]
        off = np.where(force > 0.0, np.abs(apart + self._soft * force), np.maximum(-apart, 0.0))
        far = off > ENOUGH * contacts.arm[:count].sum(axis=1)
        edges = contacts.edge[:count]
        if in_colliders:
            busy = np.zeros_like(self._active)
            busy[samples.rod[edges[far & (edges[:, 1] < 0), 0]]] = True
            return busy & self._coupled
        busy = self._active & (self._longest > ENOUGH_STEP)
        meant = edges[far].ravel()
        busy[samples.rod[meant[meant >= 0]]] = True
        pairs = samples.rod[edges[(edges[:, 1] >= 0) & (force > 0.0)]]
        touched = busy.copy()
        for one, two in ((0, 1), (1, 0)):
            touched[pairs[busy[pairs[:, one]], two]] = True
        return np.asarray(touched & self._coupled)

    def _step_all(self, most_sweeps: int, in_colliders: bool) -> None:
        """Newton's step of all active rods and the forces of their contacts; or of those with colliders alone."""
        count, contacts, samples = self.detection.count, self.detection.contacts, self.detection.samples
        if len(self._lines.force) < count:
            self._lines, self._answer = self._make(count + count // 2)
        rows, answer, block = self._lines, self._answer, self._block
        chosen = np.flatnonzero(self._active)
        recall_forces(contacts, count, self._h, self.known.keys, self.known.forces, self._forces)
        soften(contacts, count, DEEPEST, GONE_THROUGH, self._forces.target)
        describe(contacts, count, samples, self._turns, self._forces.target, self._forces.known, rows)
        clear(self._looked_at, samples.rod, self._pushes)
        act(contacts, count, samples.after, rows, self._pushes.force)
        block.linearise(chosen, self._pushes, self._potential)
        edge = contacts.edge[:count]
        rod = np.where(edge >= 0, samples.rod[edge], -1)
        answer.rod[:count] = np.where((rod >= 0) & self._active[rod], rod, -1)
        if in_colliders:  # what other rods do stays
            answer.rod[:count][edge[:, 1] >= 0] = -1
        block.answer(
            answer.rod[:count], edge, contacts.at, contacts.rubbing_at, rows.direction, rows.lever, answer.half, answer.moved
        )  # fmt: skip
        add_up(count, answer)
        self._w[:] = 0.0
        thickness = contacts.arm[:count].sum(axis=1)
        mobile = answer.matrix[:count, 0]
        self._soft = SOFT * float(np.median(mobile[mobile > 0.0])) if np.any(mobile > 0.0) else 0.0
        self.sweeps += sweep(
            count, contacts.friction, thickness, rows, answer, self._soft, most_sweeps, TOLERANCE, self._w
        )  # fmt: skip
        block.add_answers(chosen, self._w)
        block.measure_steps(chosen, self._longest, self._slope)
        self._given[:] = 0.0
        act(contacts, count, samples.after, rows, self._given)
        self._know(count)

    def _know(self, count: int) -> None:
        contacts, rows = self.detection.contacts, self._lines
        acting = np.flatnonzero(rows.force[:count, 0] > 0.0)
        forces = np.einsum("ki,kij->kj", rows.force[acting], rows.direction[acting])
        self.known.put(self._looked_at, contacts.key[acting].copy(), forces)

    def _move(self, which: Flags) -> None:
        samples = self.detection.samples
        rows = which[samples.rod]
        self._from[rows] = samples.now[rows]
        self._block.move(np.flatnonzero(which))
        self._way[which] = 0.0
        moved = np.abs(self._block.positions() - self._from).max(axis=1)
        np.maximum.at(self._way, samples.rod[rows], moved[rows])
        self._reach()

    def _reach(self) -> None:
        """What a rod may run into when it goes back as far as it went last is near it: or else a contact would be forgotten when it
        has pushed too far, and the next step would go in again."""
        samples = self.detection.samples
        ways = self._way[samples.rod] / samples.radius
        self.detection.widen(np.minimum(ways, FARTHEST), np.minimum(ways, FARTHEST_ROD))
