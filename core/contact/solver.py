"""A substep in which rods touch: Newton's method on all rods that push each other, with Coulomb's law at every contact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy import bool_, int64

from ..compile.workers import Workers
from ..errors import Array
from ..models.protocol import ModelBlock, Pushes
from .arrays import Flags, Ints, Samples
from .blocks import Chosen, chosen_of, slices
from .bodies.stepping import BodySteps
from .bodies.surfaces import BodySurfaces
from .bodies.tied_contact import TiedContact
from .bodies.touching import TouchingBodies
from .colliders import ColliderMotion
from .coulomb import APART, clear, learn, push, relative_motion
from .detection import Detection, joined_edges, pack_samples
from .interpolation import copy_rows
from .islands import Islands, Verdict, spread
from .known_forces import KnownForces, make_forces, prepare
from .linear import LinearSystem

MOST_ITERATIONS = 16
MOST_CAREFUL_ITERATIONS = 40
FEW_ITERATIONS = 8
MOST_SHORTENINGS = 12
STIFFNESS = 30.0  # of contacts, times that of what they push; any number works, this one fast where contacts are few
MORE_STIFFNESS = 4.0  # where errors don't shrink by as much
MOST_STIFFNESS = 1e4
MOST_FORESEEN = 20  # bodies in a row, of which each runs into the next
NO_KEYS: Ints = np.zeros(0, int64)
KEPT_PER_BODY = 32  # contacts of which a state has the forces


class Outcome(NamedTuple):
    """Of a step, per rod."""

    failed: Flags  # it did not work out
    alone: Flags  # of those: few among many, for which the others need not take smaller steps
    hit: Flags  # took no part, but one that failed ran into it
    easy: Flags


class ContactSolver:
    # Whether rods near each other take smaller steps together when one of them has to, and no step may leave overlaps behind.
    remembers_halvings = False  # from frame to frame
    together = False
    one_way = False  # rods that take no part in a step are obstacles
    most_iterations, most_careful_iterations = MOST_ITERATIONS, MOST_CAREFUL_ITERATIONS

    def __init__(
        self,
        blocks: Sequence[ModelBlock],
        friction: Sequence[Array],
        colliders: ColliderMotion,
        between_rods: bool,
        tolerance: float,
        workers: Workers,
        bodies: tuple[BodySteps, TouchingBodies] | None = None,
        surfaces: Callable[[Samples], BodySurfaces] | None = None,
    ) -> None:
        """If there are bodies, their block is the last one; `surfaces` makes theirs, if they have any."""
        self.colliders = colliders
        self.blocks = blocks
        samples = pack_samples(blocks, friction)
        self.detection = self._make_detection(samples, joined_edges(blocks), colliders, between_rods, workers)
        n = len(samples.after)
        self._rows = slices([int(block.sample_start[-1]) for block in blocks])
        self.rods = slices([len(block.sample_start) - 1 for block in blocks])  # where those of each block are
        rods = self.rods[-1].stop
        self._coupled = np.zeros(rods, bool_)
        self._unforeseen = np.zeros(rods, bool_)  # of the coupled bodies: see `_foresee`
        self._active = np.zeros(rods, bool_)  # of the coupled: not yet where they belong
        self._stiffness = np.zeros(rods)
        self._tame = np.zeros(rods, bool_)  # near where the matrix was indefinite
        self._fine = np.zeros(rods, bool_)  # so near to a solution that Newton's steps do not go too far
        self._potential, self._longest, self._slope = np.zeros(rods), np.zeros(rods), np.zeros(rods)
        self._which, self._failed = np.zeros((2, rods), bool_)  # rods that take part in this step; rods that did
        self._hit, self._alone = np.zeros((2, rods), bool_)
        self._easy = np.zeros(rods, bool_)
        self.more_halvings: Ints = np.zeros(rods, int64)  # of those that failed: how many are known to be needed
        self._looked_at = np.zeros(rods, bool_)  # rods of which all contacts are found
        self._islands = Islands(rods, tolerance)
        self._base = np.zeros((n, 3))
        self._turns = np.zeros(n)
        self._aim = np.zeros((n, 4))  # from the start of the step to where what keeps still in a stage is
        self._settled = np.zeros(rods, bool_)  # rods that have taken a step in stages
        self._mobility = np.zeros((n, 6))
        self._pushes = Pushes(np.zeros((n, 4)), np.zeros((n, 28)), np.zeros(n, bool_))
        self._forces = make_forces(256)
        self._pressing: Ints = np.zeros(0, int64)  # contacts between rods that push, and
        self._linked: Ints = np.zeros((0, 2), int64)  # the rods on either side
        self._ties = None if bodies is None else TiedContact(*bodies, self.rods, self._rows)
        self._surfaces = surfaces(samples) if surfaces is not None else None
        self._bodies = None if bodies is None else bodies[1]
        self._on_bodies: Ints = np.zeros((0, 2), int64)  # rods or bodies, and bodies they press on
        self.tied: Ints = (
            np.zeros((0, 2), int64) if self._ties is None else self._ties.links
        )  # pairs of rods and bodies
        self._linear = LinearSystem(blocks, self._rows, samples.after, self._ties, self._surfaces)
        of_bodies = self._surfaces is not None and self._surfaces.encounters is not None
        partners = self._partners if self._surfaces is not None else None
        self.known = KnownForces(
            samples.rod, partners, KEPT_PER_BODY * len(bodies[1].block) if bodies and of_bodies else 0
        )
        self._walls = True  # deep overlaps of rods get stiffer
        self._limit_keys, self._limits = NO_KEYS, np.zeros(0)  # see `prepare`
        self._most_lets_go, self._recovered = np.inf, 0.0
        self.iterations = 0

    def _make_detection(
        self, samples: Samples, joined: Ints, colliders: ColliderMotion, between_rods: bool, workers: Workers
    ) -> Detection:
        return Detection(samples, joined, colliders, between_rods, workers)

    # The substep --------------------------------------------------------------------------------------------------

    def step(
        self, which: Flags, h: float, free: Callable[[list[Flags]], None], air_density: float, careful: bool, last: bool
    ) -> Outcome:
        """Moves these rods by h, while the others do what `samples` says. `free` takes the free step of all rods but those to skip.

        Rods for which that did not work out are back where they were. Unless it is the last chance, rods may not even seem to pass
        through each other, as they do if they went round each other's ends."""
        samples = self.detection.samples
        self._which[:] = which
        self._failed[:], self._hit[:], self._alone[:] = False, False, False
        self.fetch(which, samples.start)
        for number, chosen in self._chosen(which):
            self.blocks[number].save(chosen)
        self._h, self._air_density = h, air_density
        self._coupled[:] = False
        self._coupled[self.known.rods()] = True
        if self._surfaces is not None and self._bodies is not None:
            self._bodies.h = h
            self._surfaces.start()
        self._coupled &= which
        spread(self._coupled, self.tied)
        free([(self._coupled | ~which)[rods] for rods in self.rods])
        if self._ties is not None:
            self._ties.begin(which)
            gone_wrong = self._ties.try_step(which & ~self._coupled, h)
            if gone_wrong.any():
                self._fail(gone_wrong)
        if self.colliders.moved:
            self.detection.forget(which)
        self._easy[:] = True
        before = self.known.copy()
        self._settled[:] = False
        if not careful:
            self._step_in_stages(h)
        self._begin(self._coupled)
        self._solve(self.most_careful_iterations if careful else self.most_iterations, last)
        if (self.together or not last) and self._coupled.any():
            self._base[:] = samples.start
            self._fail_with(self._violated())
        self._finish(self._coupled, creep=False)
        if self._ties is not None:
            self._ties.finish(self._coupled, h)
        if self._failed.any():
            self.known.restore(before, self._failed)
        return Outcome(self._failed, self._alone, self._hit, self._easy)

    def _step_in_stages(self, h: float) -> None:
        """Lets coupled rods take a step of second order where it works out: these are `_settled` then, and not coupled any more."""

    @property
    def watched(self) -> bool:
        """Whether overlaps can be measured at the end of a frame: surfaces of bodies are not where they are then."""
        return self._surfaces is None

    def _violated(self) -> Flags:
        """(C,) contacts that a step must not leave behind, of those that coupled rods have where they are now."""
        self._look(self._coupled)
        return self.detection.contacts.crossed[: self.detection.count]

    def linked(self) -> Ints:
        """(L, 2) rods between which there is a known force, or that are tied."""
        return np.concatenate([self.known.linked(), self.tied])

    def _partners(self, keys: Ints) -> Ints:
        """The bodies on side B of contacts with these keys, by the numbers they have here; -1: none."""
        assert self._surfaces is not None
        body = self._surfaces.bodies_of(keys)
        return np.where(body >= 0, self.rods[-1].start + body, -1)

    def _sides(self) -> Ints:
        """(C, 2) rods and bodies on both sides of all contacts; -1: a collider."""
        edges = self.detection.contacts.edge[: self.detection.count]
        sides = np.where(edges >= 0, self.detection.samples.rod[edges], -1)
        if self._surfaces is not None:
            body = self._surfaces.body
            sides[:, 1] = np.where(body >= 0, self.rods[-1].start + body, sides[:, 1])
        return sides

    def _of(self, sides: Ints, contacts: Flags) -> Flags:
        """The rods and bodies on the sides (C, 2) of these contacts."""
        meant = sides[contacts].ravel()
        out: Flags = np.zeros_like(self._failed)
        out[meant[meant >= 0]] = True
        return out

    def give_up(self, which: Flags) -> None:
        """After a step that failed: these rods stay where they were (but for what is held), without speed."""
        self._begin(which, still=True)
        self._finish(which, creep=True)

    def _begin(self, which: Flags, still: bool = False) -> None:
        for number, chosen in self._chosen(which):
            block = self.blocks[number]
            block.begin(chosen, self._h, self._air_density, still)
            block.estimate_mobility(chosen, self._mobility[self._rows[number]])

    def _finish(self, which: Flags, creep: bool) -> None:
        for number, chosen in self._chosen(which):
            self.blocks[number].finish(chosen, creep)

    def _chosen(self, which: Flags) -> Chosen:
        return chosen_of(which, self.rods)

    def _fail(self, which: Flags) -> None:
        """Takes rods back to where they were, and out of this step."""
        self._failed |= which
        self._which &= ~which
        self._coupled &= ~which
        self._active &= ~which
        for number, chosen in self._chosen(which):
            self.blocks[number].rollback(chosen)
        if self._ties is not None:
            self._ties.rollback(which)
        samples = self.detection.samples
        rows = which[samples.rod]
        samples.now[rows] = samples.start[rows]
        self._base[rows] = samples.start[rows]

    def _fail_with(self, contacts: Flags) -> bool:
        """Rods with these contacts fail, and with them all that press on them."""
        sides = self._sides()
        failing = self._of(sides, contacts) & self._which
        if not failing.any():
            return False
        near = (sides[:, 1] >= 0) & (self.detection.contacts.gap[: self.detection.count] < 0.0)
        spread(failing, np.concatenate([sides[near], self.tied]))
        self._fail(failing & self._which)
        return True

    # Newton's method -----------------------------------------------------------------------------------------------

    def _solve(self, most_iterations: int, last: bool) -> None:
        """Rods that have not converged after so many iterations, or nearly so if there is no other chance, fail.

        Rods that press on each other make an island, and each island goes its own way. No iterate passes through another rod on
        the way from the one before: steps are shortened so that rods overlap at most, and contact does the rest. What passed
        through a collider is brought back by its contact there. A step is good if the energy falls or if the next one is shorter
        (see Newton's method of `der`); whenever steps have become short, the contact forces follow."""
        self._active[:] = self._coupled
        self._unforeseen[:] = self._coupled
        self._stiffness[:] = STIFFNESS
        self._tame[:] = False
        self._islands.reset()
        self._base[:] = self.detection.samples.start
        self._look(self._which)
        iteration = 0
        while True:
            self._meet()
            if not self._active.any():
                return
            self._foresee()
            self._linearise()
            verdict = self._judge()
            if iteration == most_iterations:
                self._fail(self._active & ~verdict.tolerable)
                return
            if last and 2 * iteration >= most_iterations:
                self._active &= ~verdict.passable
            if verdict.hopeless.any():
                self._fail(self._active & verdict.hopeless)
            iteration += 1
            self.iterations += 1
            self._easy[self._active] = iteration <= FEW_ITERATIONS
            self._learn(verdict.done | verdict.settled)
            self._stiffness[verdict.stubborn] = np.minimum(
                self._stiffness[verdict.stubborn] * MORE_STIFFNESS, MOST_STIFFNESS
            )
            self._retreat(np.where(verdict.reject, 0.5, 1.0), self._active)
            self._move(self._active & ~verdict.reject)
            if not self._active.all():
                samples = self.detection.samples
                copy_rows(~self._active, samples.rod, samples.now, self._base)
            self._look(self._active)
            self._active &= ~verdict.done

    def _foresee(self) -> None:
        """Bodies that have just begun to take part, and those that touch them, go to where contact will take them, about."""
        if self._surfaces is None or self._surfaces.encounters is None:
            return
        for _ in range(MOST_FORESEEN):
            unforeseen, self._unforeseen[:] = self._unforeseen & self._active, False
            if not unforeseen.any() or not self._surfaces.encounters.foresee(
                self.detection.contacts, self.detection.count, self._surfaces.body, self._forces, self._sides(), unforeseen,
                self._coupled & self._active, self.detection.samples.now,
            ):  # fmt: skip
                return
            self._remember()
            self._base[self._rows[-1]] = self.blocks[-1].positions()
            self._look(self._active | self._looked_at)
            self._meet()

    def _look(self, which: Flags) -> None:
        """Contacts of these rods at the iterate."""
        samples = self.detection.samples
        self._looked_at[:] = which
        self.fetch(which, samples.now)
        for block, rows in zip(self.blocks, self._rows, strict=True):
            self._turns[rows] = block.turns()
        if self._surfaces is not None and self._surfaces.follow():
            self.detection.forget(which)
        self.detection.look(self._base, which)
        if self._surfaces is not None:
            self._add_encounters(which)
            self._surfaces.find(self.detection.contacts, self.detection.count)
        self._make_room()

    def _make_room(self) -> None:
        """For the forces of all contacts."""
        if len(self._forces.error) < len(self.detection.contacts.gap):
            self._forces = make_forces(len(self.detection.contacts.gap))

    def _add_encounters(self, which: Flags) -> None:
        """Contacts of bodies with colliders and each other."""
        assert self._surfaces is not None
        encounters, detection = self._surfaces.encounters, self.detection
        if encounters is None:
            return
        count = encounters.add(detection.contacts, detection.count, which[self.rods[-1]])
        if count > len(detection.contacts.gap):
            detection.make_room(count + count // 2)
            count = encounters.add(detection.contacts, detection.count, which[self.rods[-1]])
        detection.count = count

    def fetch(self, which: Flags, out: Array) -> None:
        """Where the sample points of these rods are."""
        if which.all():
            for block, rows in zip(self.blocks, self._rows, strict=True):
                out[rows] = block.positions()
            return
        rod = self.detection.samples.rod
        for block, rows in zip(self.blocks, self._rows, strict=True):
            copy_rows(which, rod[rows], block.positions(), out[rows])

    def _meet(self) -> None:
        """All contacts at the iterate, with their forces, of all who take part."""
        while True:
            while self._couple_more():
                pass
            self._shorten()
            self._push()
            if not self._wake():
                return
            self._look(self._active | self._looked_at)

    def _couple_more(self) -> bool:
        """Rods that took a free step and ran into something take part from now on. Those that ran into one that takes no part fail.

        Returns whether there were any."""
        count, contacts, sides = self.detection.count, self.detection.contacts, self._sides()
        meets = (contacts.gap[:count] < 0.0) | contacts.crossed[:count]
        if self._settled.any():
            meets &= ~np.all(self._settled[sides] | (sides < 0), axis=1)
        if not self._which.all() and not self.one_way:
            outside = ~self._which[sides] & (sides >= 0)
            strangers = meets & np.any(outside, axis=1)
            self._hit[sides[strangers][outside[strangers]]] = True
            if self._fail_with(strangers):
                self._look(self._looked_at & self._which)
                return True
        new = self._of(sides, meets)
        spread(new, self.tied)
        new &= self._which & ~self._coupled
        if not new.any():
            return False
        self._coupled |= new
        self._active |= new
        self._unforeseen |= new
        self._begin(new)
        self._look(self._active | self._looked_at)
        return True

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
            self._retreat(part, self._looked_at)
            self._look(self._looked_at)

    def _retreat(self, part: Array, which: Flags) -> None:
        """Takes coupled rods back to a part of the way they went last."""
        meant = (part < 1.0) & self._coupled & which
        for number, chosen in self._chosen(meant):
            self.blocks[number].backtrack(chosen, part[self.rods[number]])
        if self._ties is not None:
            self._ties.backtrack(meant, part)

    def _push(self) -> None:
        """Forces of all contacts at the iterate."""
        count, contacts, samples, pushes = (
            self.detection.count,
            self.detection.contacts,
            self.detection.samples,
            self._pushes,
        )
        prepare(
            contacts, count, samples.after, samples.rod, self._mobility, self._stiffness, self._h, self.known.keys,
            self.known.forces, self._limit_keys, self._limits, self._most_lets_go,
            self._recovered, self._forces,
        )  # fmt: skip
        clear(self._looked_at, samples.rod, pushes)
        push(
            contacts, count, samples, self._turns, self._aim, self._tame, self._fine, self._walls, self._forces, pushes
        )
        self._pressing = np.flatnonzero((contacts.edge[:count, 1] >= 0) & (self._forces.mode[:count] != APART))
        self._linked = samples.rod[contacts.edge[self._pressing]]
        if self._ties is not None:
            self._ties.pull(self._looked_at & self._coupled, pushes.force)
        if self._surfaces is not None and self._bodies is not None:
            self._bodies.push_gradient[:], self._bodies.push_matrix[:] = 0.0, 0.0
            self._surfaces.push(
                contacts, count, samples, self._forces, self._bodies.push_gradient, self._bodies.push_matrix
            )
            acting = (self._forces.mode[:count] != APART) & (self._surfaces.body >= 0)
            self._on_bodies = self._sides()[acting]

    def _wake(self) -> bool:
        """Rods that are where they belong go on if one that is not presses on them. Returns whether there were any."""
        if self._active.all():
            return False
        awake = self._active.copy()
        spread(awake, self._linked_or_tied())
        woken = awake & ~self._active & self._coupled  # others that press take no part in this step
        self._active |= woken
        return bool(np.any(woken & ~self._looked_at))

    def _linearise(self) -> None:
        """Newton's step of all active rods: each by itself, then together."""
        if not self._linear_step():
            # Far from a solution contacts may drive rods apart faster than these resist.
            self._tame[:] = self._active
            self._push()
            self._linear_step()
        for number, chosen in self._chosen(self._active):
            rods = self.rods[number]
            self.blocks[number].measure_steps(chosen, self._longest[rods], self._slope[rods])

    def _linear_step(self) -> bool:
        """False if the matrix is not positive definite."""
        force, stiffness, touched = self._pushes
        for number, chosen in self._chosen(self._active):
            rows = self._rows[number]
            pushes = Pushes(force[rows], stiffness[rows], touched[rows])
            self.blocks[number].linearise(chosen, pushes, self._potential[self.rods[number]])
        if self._ties is not None and not self._ties.correct(self._active, self._potential):
            return False
        linked = np.zeros_like(self._coupled)
        linked[self._linked.ravel()] = True
        linked[self._on_bodies.ravel()] = True
        if self._ties is not None and linked.any():
            linked[self.tied.ravel()] = True  # all that are tied: their system is solved as a whole
        together = self._chosen(linked & self._active)
        if not together:
            return True
        return self._linear.solve(self.detection.contacts, self.detection.count, self._forces, together)

    def _linked_or_tied(self) -> Ints:
        """(L, 2) rods that press on each other, or are tied to bodies."""
        return np.concatenate([self._linked, self.tied, self._on_bodies])

    def _judge(self) -> Verdict:
        count, contacts, samples = self.detection.count, self.detection.contacts, self.detection.samples
        self._linear.update_steps(self._chosen(self._active))
        relative_motion(contacts, count, samples.after, self._forces, self._linear.steps)
        if self._surfaces is not None and self._surfaces.encounters is not None:
            self._surfaces.encounters.relative_motion(contacts, count, self._surfaces.body, self._forces)
        return self._islands.judge(
            self._active,
            self._linked_or_tied(),
            self._potential,
            self._longest,
            self._slope,
            contacts,
            count,
            self._forces,
            samples,
        )

    def _learn(self, which: Flags) -> None:
        """The forces of these rods' contacts at the iterate become the known ones."""
        count, contacts = self.detection.count, self.detection.contacts
        meant = which[self.detection.samples.rod[contacts.edge[:count, 0]]]
        learn(contacts, count, self._forces, meant, self._walls)
        self._remember()

    def _remember(self) -> None:
        """The known forces, for when contacts are found anew."""
        count, contacts = self.detection.count, self.detection.contacts
        known, keys = self._forces.known[:count], contacts.key[:count]
        acting = np.flatnonzero(np.any(known != 0.0, axis=1))
        self.known.put(self._looked_at, keys[acting], known[acting])

    def _move(self, which: Flags) -> None:
        """Moves rods by their steps. Those that press on others go no farther than they are thick: what the linear system knows of
        the others' surfaces does not reach farther."""
        contacts, samples = self.detection.contacts, self.detection.samples
        copy_rows(which, samples.rod, samples.now, self._base)
        most = np.full(len(which), np.inf)
        thickness = contacts.arm[self._pressing].sum(axis=1)
        np.minimum.at(most, self._linked[:, 0], thickness)
        np.minimum.at(most, self._linked[:, 1], thickness)
        if self._ties is not None:
            self._ties.move(which)
        for number, chosen in self._chosen(which):
            block, of_block = self.blocks[number], self.rods[number]
            block.move(chosen)
            limited = chosen[most[of_block][chosen] < np.inf]
            if len(limited):
                way = np.abs(block.positions() - self._base[self._rows[number]]).max(axis=1)
                ways = np.maximum.reduceat(way, block.sample_start[:-1])
                sizes = np.minimum(most[of_block] / np.maximum(ways, 1e-300), 1.0)
                block.backtrack(limited[sizes[limited] < 1.0], sizes)
