"""A substep in which rods touch: Newton's method on all rods that push each other, with Coulomb's law at every contact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy import bool_, int64

from ..errors import Array
from ..models.protocol import ModelBlock, Pushes
from ..workers import Workers
from .arrays import Flags, Ints
from .colliders import ColliderMotion
from .coulomb import APART, learn, push, relative_motion
from .detection import Detection, joined_edges, pack_samples
from .islands import Islands, Verdict
from .known_forces import make_forces, prepare, samples_of
from .linear import LinearSystem

MOST_ITERATIONS = 16
MOST_CAREFUL_ITERATIONS = 40
FEW_ITERATIONS = 8
MOST_SHORTENINGS = 12
STIFFNESS = 30.0  # of contacts, times that of what they push; any number works, this one fast where contacts are few
MORE_STIFFNESS = 4.0  # where errors don't shrink by as much
MOST_STIFFNESS = 1e4


class ContactSolver:
    def __init__(
        self,
        blocks: Sequence[ModelBlock],
        friction: Sequence[Array],
        colliders: ColliderMotion,
        between_rods: bool,
        tolerance: float,
        workers: Workers,
    ) -> None:
        self.colliders = colliders
        self._blocks = blocks
        samples = pack_samples(blocks, friction)
        self.detection = Detection(samples, joined_edges(blocks), colliders, between_rods, workers)
        n = len(samples.after)
        self._rows = _slices([int(block.sample_start[-1]) for block in blocks])
        self._rods = _slices([len(block.sample_start) - 1 for block in blocks])
        rods = self._rods[-1].stop
        self._coupled = np.zeros(rods, bool_)
        self._active = np.zeros(rods, bool_)  # of the coupled: not yet where they belong
        self._stiffness = np.zeros(rods)
        self._tame = np.zeros(rods, bool_)  # near where the matrix was indefinite
        self._potential, self._longest, self._slope = np.zeros(rods), np.zeros(rods), np.zeros(rods)
        self._islands = Islands(rods, tolerance)
        self._base = np.zeros((n, 3))
        self._turns = np.zeros(n)
        self._mobility = np.zeros((n, 6))
        self._pushes = Pushes(np.zeros((n, 4)), np.zeros((n, 28)), np.zeros(n, bool_))
        self._forces = make_forces(256)
        self._linear = LinearSystem(blocks, self._rows, samples.after)
        # What was known at the end of the last iteration or substep, sorted by key.
        self.keys: Ints = np.zeros(0, int64)
        self.known: Array = np.zeros((0, 3))
        self.iterations = 0
        self.easy = True  # the last substep was

    # The substep --------------------------------------------------------------------------------------------------

    def step(
        self, h: float, free: Callable[[list[Flags]], None], air_density: float, careful: bool, last: bool
    ) -> bool:
        """Moves everything by h. `free` takes the free step of all rods but those to skip. False if that did not work out;
        the blocks are then where the attempt left them, and their saved states where it began. With `careful` it is tried once
        more from where the rods were, if it fails from where they seem to go. Unless it is the last chance, rods may not even seem
        to pass through each other, as they do if they went round each other's ends."""
        samples = self.detection.samples
        for block, rows in zip(self._blocks, self._rows, strict=True):
            samples.start[rows] = block.positions()
            block.save()
        self._h, self._air_density = h, air_density
        self._coupled[:] = False
        self._coupled[samples.rod[samples_of(self.keys, len(samples.after))]] = True
        free([self._coupled[rods] for rods in self._rods])
        if self.colliders.moved:
            self.detection.forget()
        self._begin(self._coupled)
        before = self.iterations
        good = self._solve(MOST_CAREFUL_ITERATIONS if careful else MOST_ITERATIONS, last)
        self.easy = self.iterations - before <= FEW_ITERATIONS
        if good and not last and self._coupled.any():
            self._base[:] = samples.start
            self._look()
            good = not self.detection.contacts.crossed[: self.detection.count].any()
        if good:
            self._finish(creep=False)
        return good

    def give_up(self) -> None:
        """After a step that failed: rods that touch stay where they were (but for what is held), without speed."""
        self._begin(self._coupled, still=True)
        self._finish(creep=True)

    def _begin(self, which: Flags, still: bool = False) -> None:
        for number, chosen in self._chosen(which):
            block = self._blocks[number]
            block.begin(chosen, self._h, self._air_density, still)
            block.probe(chosen, self._mobility[self._rows[number]])

    def _finish(self, creep: bool) -> None:
        for number, chosen in self._chosen(self._coupled):
            self._blocks[number].finish(chosen, creep)

    def _chosen(self, which: Flags) -> Iterator[tuple[int, Ints]]:
        """Numbers of blocks, and of those of their rods that are meant."""
        for number, rods in enumerate(self._rods):
            chosen = np.flatnonzero(which[rods])
            if len(chosen):
                yield number, chosen

    # Newton's method -----------------------------------------------------------------------------------------------

    def _solve(self, most_iterations: int, last: bool) -> bool:
        """True if it converged, or nearly so and there is no other chance.

        Rods that press on each other make an island, and each island goes its own way. No iterate passes through another rod on
        the way from the one before: steps are shortened so that rods overlap at most, and contact does the rest. What passed
        through a collider is brought back by its contact there. A step is good if the energy falls or if the next one is shorter
        (see Newton's method of `der`); whenever steps have become short, the contact forces follow."""
        samples = self.detection.samples
        self._active[:] = self._coupled
        self._stiffness[:] = STIFFNESS
        self._tame[:] = False
        self._islands.reset()
        self._base[:] = samples.start
        self._look()
        iteration = 0
        while True:
            self._couple_more()
            self._shorten()
            self._push()
            self._wake()
            if not self._active.any():
                return True
            self._linearise()
            verdict = self._judge()
            if self._islands.hopeless or iteration == most_iterations:
                return self._islands.tolerable
            if last and 2 * iteration >= most_iterations and self._islands.passable:
                return True
            iteration += 1
            self.iterations += 1
            self._learn(verdict.done | verdict.settled)
            self._stiffness[verdict.stubborn] = np.minimum(
                self._stiffness[verdict.stubborn] * MORE_STIFFNESS, MOST_STIFFNESS
            )
            self._retreat(np.where(verdict.reject, 0.5, 1.0))
            self._move(self._active & ~verdict.reject)
            self._active &= ~verdict.done
            self._look()

    def _look(self) -> None:
        """Contacts at the iterate."""
        samples = self.detection.samples
        for block, rows in zip(self._blocks, self._rows, strict=True):
            samples.now[rows] = block.positions()
            self._turns[rows] = block.turns()
        self.detection.look(self._base)
        if len(self._forces.error) < len(self.detection.contacts.gap):
            self._forces = make_forces(len(self.detection.contacts.gap))

    def _couple_more(self) -> None:
        """Rods that took a free step and ran into something take part from now on."""
        samples = self.detection.samples
        while True:
            count, contacts = self.detection.count, self.detection.contacts
            meets = (contacts.gap[:count] < 0.0) | contacts.crossed[:count]
            edges = contacts.edge[:count][meets].ravel()
            new = np.zeros_like(self._coupled)
            new[samples.rod[edges[edges >= 0]]] = True
            new &= ~self._coupled
            if not new.any():
                return
            self._coupled |= new
            self._active |= new
            self._begin(new)
            self._look()

    def _shorten(self) -> None:
        """Takes rods that passed through each other back along their way to where they just overlap."""
        samples = self.detection.samples
        for attempt in range(MOST_SHORTENINGS):
            count, contacts = self.detection.count, self.detection.contacts
            through = contacts.crossed[:count] & (contacts.edge[:count, 1] >= 0)
            if not through.any():
                return
            part = np.ones(len(self._coupled))
            reached = contacts.reached[:count][through] if attempt < MOST_SHORTENINGS - 1 else 0.0
            rods = samples.rod[contacts.edge[:count][through]]
            np.minimum.at(part, rods[:, 0], reached)
            np.minimum.at(part, rods[:, 1], reached)
            self._retreat(part)
            self._look()

    def _retreat(self, part: Array) -> None:
        """Takes coupled rods back to a part of the way they went last."""
        for number, chosen in self._chosen((part < 1.0) & self._coupled):
            self._blocks[number].retreat(chosen, part[self._rods[number]])

    def _push(self) -> None:
        """Forces of all contacts at the iterate."""
        count, contacts, samples, pushes = (
            self.detection.count,
            self.detection.contacts,
            self.detection.samples,
            self._pushes,
        )
        prepare(
            contacts, count, samples.after, samples.rod, self._mobility, self._stiffness, self._h, self.keys, self.known,
            self._forces,
        )  # fmt: skip
        pushes.force[:] = 0.0
        pushes.stiffness[:] = 0.0
        pushes.touched[:] = False
        push(contacts, count, samples, self._turns, self._tame, self._forces, pushes)

    def _linked(self) -> Ints:
        """(L, 2) rods that press on each other."""
        count, contacts = self.detection.count, self.detection.contacts
        linking = (contacts.edge[:count, 1] >= 0) & (self._forces.mode[:count] != APART)
        return np.ascontiguousarray(self.detection.samples.rod[contacts.edge[:count][linking]])

    def _wake(self) -> None:
        """Rods that are where they belong go on if one that is not presses on them."""
        linked = self._linked()
        while len(linked):
            both = self._active[linked]
            asleep = both[:, 0] != both[:, 1]
            if not asleep.any():
                return
            self._active[linked[asleep].ravel()] = True

    def _linearise(self) -> None:
        """Newton's step of all active rods: each by itself, then together."""
        if not self._linear_step():
            # Far from a solution contacts may drive rods apart faster than these resist.
            self._tame[:] = self._active
            self._push()
            self._linear_step()
        for number, chosen in self._chosen(self._active):
            rods = self._rods[number]
            self._blocks[number].weigh_steps(chosen, self._longest[rods], self._slope[rods])

    def _linear_step(self) -> bool:
        """False if the matrix is not positive definite."""
        for block in self._blocks:
            block.step_vector()[:] = 0.0
        force, stiffness, touched = self._pushes
        for number, chosen in self._chosen(self._active):
            rows = self._rows[number]
            pushes = Pushes(force[rows], stiffness[rows], touched[rows])
            self._blocks[number].linearise(chosen, pushes, self._potential[self._rods[number]])
        linked = np.zeros_like(self._coupled)
        linked[self._linked().ravel()] = True
        if not linked.any():
            return True
        chosen_rods = list(self._chosen(linked & self._active))
        return self._linear.solve(self.detection.contacts, self.detection.count, self._forces, chosen_rods)

    def _judge(self) -> Verdict:
        count, contacts, samples = self.detection.count, self.detection.contacts, self.detection.samples
        self._linear.update_steps()
        relative_motion(contacts, count, samples.after, self._forces, self._linear.steps)
        return self._islands.judge(
            self._active,
            self._linked(),
            self._potential,
            self._longest,
            self._slope,
            contacts,
            count,
            self._forces,
            samples.rod,
        )

    def _learn(self, which: Flags) -> None:
        """The forces of these rods' contacts at the iterate become the known ones."""
        count, contacts = self.detection.count, self.detection.contacts
        learn(contacts, count, self._forces, which[self.detection.samples.rod[contacts.edge[:count, 0]]])
        known, keys = self._forces.known[:count], contacts.key[:count]
        acting = np.flatnonzero(np.any(known != 0.0, axis=1))
        order = acting[np.argsort(keys[acting], kind="stable")]
        self.keys, self.known = keys[order], known[order]

    def _move(self, which: Flags) -> None:
        """Moves rods by their steps. Those that press on others go no farther than they are thick: what the linear system knows of
        the others' surfaces does not reach farther."""
        count, contacts, samples = self.detection.count, self.detection.contacts, self.detection.samples
        rows = which[samples.rod]
        self._base[rows] = samples.now[rows]
        pressing = (contacts.edge[:count, 1] >= 0) & (self._forces.mode[:count] != APART)
        most = np.full(len(which), np.inf)
        rods = samples.rod[contacts.edge[:count][pressing]]
        thickness = contacts.arm[:count][pressing].sum(axis=1)
        np.minimum.at(most, rods[:, 0], thickness)
        np.minimum.at(most, rods[:, 1], thickness)
        for number, chosen in self._chosen(which):
            block, of_block = self._blocks[number], self._rods[number]
            block.move(chosen)
            limited = chosen[most[of_block][chosen] < np.inf]
            if len(limited):
                way = np.abs(block.positions() - self._base[self._rows[number]]).max(axis=1)
                ways = np.maximum.reduceat(way, block.sample_start[:-1])
                sizes = np.minimum(most[of_block] / np.maximum(ways, 1e-300), 1.0)
                block.retreat(limited[sizes[limited] < 1.0], sizes)

    # What lasts ---------------------------------------------------------------------------------------------------

    @property
    def state_size(self) -> int:
        return 1 + 4 * self._capacity

    @property
    def _capacity(self) -> int:
        """How many contact forces are kept beyond a frame: they only save iterations, so that the strongest will do."""
        return 2 * len(self.detection.samples.after)

    def trim(self) -> None:
        if len(self.keys) > self._capacity:
            strength = np.abs(self.known).max(axis=1)
            kept = np.sort(np.argsort(-strength, kind="stable")[: self._capacity])
            self.keys, self.known = self.keys[kept], self.known[kept]

    def pack_state(self, out: Array) -> None:
        out[:] = 0.0
        count = len(self.keys)
        out[0] = count
        rows = out[1:].reshape(-1, 4)[:count]
        rows[:, 0] = self.keys
        rows[:, 1:] = self.known

    def unpack_state(self, state: Array) -> None:
        rows = state[1:].reshape(-1, 4)[: int(state[0])]
        self.keys = rows[:, 0].astype(int64)
        self.known = rows[:, 1:].copy()

    def memory(self) -> tuple[Ints, Array]:
        return self.keys, self.known

    def recall(self, memory: tuple[Ints, Array]) -> None:
        """Takes all rods back to where the last step began, and contact to what it knew then."""
        self.keys, self.known = memory
        for block in self._blocks:
            block.recall()


def _slices(sizes: list[int]) -> list[slice]:
    """Where parts of these sizes lie one after the other."""
    ends = np.cumsum(sizes).tolist()
    return [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]
