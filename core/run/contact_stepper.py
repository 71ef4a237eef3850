"""The stepper of scenes with contact: substeps of all rods, halved for those for which the contact solver fails.

While some rods take smaller steps, the others have already taken the larger one, or wait to take smaller ones later. Their
positions in the meantime are interpolated linearly. If a rod that takes smaller steps hits one that does not, both are reset to the
beginning of the larger step and take smaller ones together. Few rods among many (`Outcome.alone`) first try to find their way
between the others, which are obstacles then.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy import bool_

from ..contact.arrays import Flags
from ..contact.blocks import chosen_of
from ..contact.interpolation import interpolate_others
from ..contact.islands import spread
from ..contact.known_forces import MOST_HALVINGS, Known
from ..contact.overlaps import OverlapWatch
from ..contact.solver import ContactSolver, Outcome
from ..errors import Array
from ..models.protocol import Work
from .stepper import Stepper
from .world import FrameTimes, World

CAREFUL = 3  # halvings from which on the solver trades speed for robustness
MOST_ALONE = 2  # halvings for rods that step alone between the others
MOST_RETURNS = 3  # resets because of hits, after which all rods take smaller steps
# What an attempt counts for among the iterations of a frame. After so many no step is halved any more: what fails is given up. Rods
# that can't be satisfied would otherwise be halved and reset thousands of times.
ITERATIONS_OF_ATTEMPT = 10


class Copied(NamedTuple):
    """A state to which rods may have to be reset."""

    which: Flags
    states: list[Sequence[Array]]  # of the blocks that have such rods


class ContactStepper(Stepper):
    def __init__(self, world: World, solver: ContactSolver, substeps: int, effort: int) -> None:
        """`effort`: iterations of the solver in a frame."""
        super().__init__(world, substeps)
        self._effort = effort
        self._solver, self._blocks = solver, solver.blocks
        samples = solver.detection.samples
        self._rod = samples.rod
        self._rods = solver.rods
        count = self._rods[-1].stop
        self._watch = OverlapWatch(solver) if solver.watched else None
        self._level = solver.known.halvings[:count]
        self._paths = np.zeros((2, len(samples.rod), 3))  # of each sample point: beginning and end of its last step
        self._times = np.zeros((2, count))  # of each rod, in frames, likewise
        self._others, self._deepest_alone = np.zeros(count, bool_), 0  # of rods that step alone
        self._end_of_effort = 0  # number of iterations of the solver

    def step_frame(self, times: FrameTimes) -> None:
        if not self._solver.remembers_halvings:
            self._level[:] = 0
        self._end_of_effort = self._solver.iterations + self._effort
        super().step_frame(times)
        if self._watch is not None:
            self._report_overlaps(self._watch)

    def _report_overlaps(self, watch: OverlapWatch) -> None:
        """Rods that overlap too much are failures, whatever the solver thought of its steps."""
        overlap, rods = watch.new_overlaps()
        ids = frozenset(
            rod for rod, (block, k) in enumerate(self._world.rods.rods) if self._rods[block].start + k in rods
        )
        unreported = len(ids - self._world.work.affected)
        self._world.work = self._world.work + Work(failures=unreported, overlap=overlap, affected=ids)

    def advance(self, times: FrameTimes, begin: float, end: float, count: int) -> None:
        self._frame_times = times
        self._advance(np.ones(len(self._level), bool_), begin, end, 0)

    def relax(self, h: float, time: float) -> None:
        world, solver = self._world, self._solver
        world.send_holds()
        world.around.act(time, h)
        known, everything = solver.known.copy(), np.ones(len(self._level), bool_)
        free = partial(world.free_steps, h, 1, True)
        if solver.step(everything, h, free, 0.0, careful=True, last=True).failed.any():
            for block in self._blocks:
                block.rollback(np.arange(len(block.sample_start) - 1))
            solver.known.restore(known, everything)
            world.work = world.work + Work(halvings=1)
        world.collect_work()

    def _advance(self, rods: Flags, begin: float, end: float, halvings: int) -> Flags:
        """Advances rods from one fraction of the frame to another; prescribed things are then at the end.

        On failure returns the other rods that were hit; the state of `rods` is then undefined and must be restored."""
        last = halvings == MOST_HALVINGS or self._solver.iterations > self._end_of_effort
        waiting = rods & (self._level > halvings) & (not last)
        if waiting.any():
            spread(waiting, self._solver.linked())
            waiting &= rods
        failed, strangers, alone = waiting, np.zeros_like(rods), False
        forces = self._solver.known.copy()
        if np.any(rods & ~waiting):
            outcome = self._try(rods & ~waiting, waiting, begin, end, halvings, last)
            failed, strangers = waiting | outcome.failed, outcome.hit & ~rods
            alone = not (waiting.any() or self._solver.one_way) and np.array_equal(failed, outcome.alone)
            if self._solver.together and failed.any() and not alone:
                # Rods whose swept boxes overlap take smaller steps together: alone they would run into the others.
                spread(failed, self._solver.linked())
                failed &= rods
                self._rollback(failed & ~waiting & ~outcome.failed)
                self._solver.known.restore(forces, failed)
            eager = rods & ~failed & outcome.easy & (self._level == halvings) & (halvings > 0)
            self._level[eager] = halvings - 1
        if strangers.any() or not failed.any():
            return strangers
        if self._solver.one_way and halvings >= self._deepest_alone:
            return self._others & ~failed
        if last:
            self._solver.give_up(failed)
            self._note_path(failed, begin, end)
            return strangers
        needed = int(self._solver.more_halvings.max(where=failed & ~waiting, initial=1))
        self._level[failed & ~waiting] = np.maximum(
            self._level[failed & ~waiting], min(halvings + needed, MOST_HALVINGS)
        )
        self._level[failed] = np.maximum(self._level[failed], halvings + 1)
        self._world.work = self._world.work + Work(halvings=int(np.any(failed & ~waiting)))
        return self._in_halves(rods, failed, forces, begin, end, halvings, alone)

    def _try(self, which: Flags, waiting: Flags, begin: float, end: float, halvings: int, last: bool) -> Outcome:
        samples, paths = self._solver.detection.samples, self._paths
        self._note_waiting(waiting)
        if not which.all():
            interpolate_others(
                paths[0], paths[1], self._times, self._rod, which, begin, end, samples.start, samples.now
            )
        self._world.place(self._frame_times, end)
        outcome = self._solve(which, begin, end, halvings >= CAREFUL, last)
        self._end_of_effort -= ITERATIONS_OF_ATTEMPT
        if not which.all() or outcome.failed.any():
            self._note_path(which & ~outcome.failed, begin, end)
        return outcome

    def _solve(self, which: Flags, begin: float, end: float, careful: bool, last: bool) -> Outcome:
        """One attempt of the contact solver; `last`: no smaller step will follow."""
        world, times = self._world, self._frame_times
        h = (end - begin) / times.rate
        world.around.act(times.at(end) - 0.5 * h, h, times.rate)
        free = partial(world.free_steps, h, 1, False)
        return self._solver.step(which, h, free, world.around.air_density, careful, last)

    def _in_halves(
        self, rods: Flags, failed: Flags, forces: Known, begin: float, end: float, halvings: int, alone: bool
    ) -> Flags:
        """Advances the rods that failed in two smaller steps. `alone`: the others of `rods` have got to the end, and these find
        their way between them; only if they can't, all go back."""
        middle = 0.5 * (begin + end)
        for returns in range(MOST_RETURNS + 2):
            copied = self._copy(failed)
            strangers = np.zeros_like(rods)
            if alone:
                self._solver.one_way, self._others, self._deepest_alone = True, rods, halvings + MOST_ALONE
            for first, last in ((begin, middle), (middle, end)):
                self._world.place(self._frame_times, first)
                strangers = self._advance(failed, first, last, halvings + 1)
                if strangers.any():
                    break
            if alone:
                self._solver.one_way, alone = False, False
                self._level[failed] = halvings  # not to hold up the others
            if not strangers.any() or np.any(strangers & ~rods):
                return strangers
            self._restore(copied)
            spread(strangers, self._solver.linked())
            joining = (strangers if returns < MOST_RETURNS else rods) & rods & ~failed
            self._rollback(joining)
            self._solver.known.restore(forces, failed | joining)
            self._level[joining] = np.maximum(self._level[joining], halvings + 1)
            failed = failed | joining
        return strangers

    def _copy(self, which: Flags) -> Copied:
        self._note_waiting(which)
        return Copied(which, [self._blocks[k].copy(chosen) for k, chosen in chosen_of(which, self._rods)])

    def _restore(self, copied: Copied) -> None:
        for (number, chosen), state in zip(chosen_of(copied.which, self._rods), copied.states, strict=True):
            self._blocks[number].restore(chosen, state)

    def _rollback(self, which: Flags) -> None:
        for number, chosen in chosen_of(which, self._rods):
            self._blocks[number].rollback(chosen)

    def _positions(self) -> Array:
        return np.concatenate([block.positions() for block in self._blocks])

    def _note_waiting(self, which: Flags) -> None:
        """These rods stay where they are for now."""
        if which.any():
            rows = which[self._rod]
            self._paths[:, rows] = self._positions()[rows]

    def _note_path(self, which: Flags, begin: float, end: float) -> None:
        """These rods have moved from the beginning of their step to where they are now."""
        rows = which[self._rod]
        self._paths[0, rows] = self._solver.detection.samples.start[rows]
        self._paths[1, rows] = self._positions()[rows]
        self._times[0, which], self._times[1, which] = begin, end
