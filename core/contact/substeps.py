"""A frame in which rods touch: substeps of all rods, halved for those that need it.

While some rods take smaller steps, the others have done the larger one already, or wait to do smaller ones later. Where they are in
the meantime is taken to lie on a straight way. If one that takes smaller steps runs into one that does not, they go back
together to where the larger step began, and both take smaller ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy import bool_, int64

from ..compile.jit import kernel, part
from ..errors import Array
from ..models.protocol import ModelBlock
from .arrays import Flags, Ints
from .blocks import chosen_of
from .islands import spread
from .known_forces import Known
from .solver import ContactSolver, Outcome

MOST_HALVINGS = 6
CAREFUL = 3  # halvings from where on a substep is solved slowly but surely
MOST_RETURNS = 3  # of rods that ran into others: then all take smaller steps

Attempt = Callable[
    [Flags, float, float, bool, bool], Outcome
]  # of rods, from a moment to another, careful, last chance


class Kept(NamedTuple):
    """A moment to which rods may have to go back."""

    which: Flags
    states: list[Sequence[Array]]  # of the blocks that have such rods


class Substeps:
    def __init__(self, solver: ContactSolver, blocks: Sequence[ModelBlock], substeps: int) -> None:
        self._halvings = 0
        self._solver, self._blocks, self._substeps = solver, blocks, substeps
        samples = solver.detection.samples
        self._rod = samples.rod
        self._rods = solver.rods
        count = self._rods[-1].stop
        self._level = np.zeros(count, int64)  # halvings from which on a rod is tried
        self._ways = np.zeros((2, len(samples.rod), 3))  # of each sample point, beginning and end
        self._times = np.zeros((2, count))  # of each rod, in frames, likewise

    def run(self, attempt: Attempt, place: Callable[[float], None], after: Callable[[], None]) -> int:
        """A frame. `place` sends what is prescribed to where it is at a fraction of the frame; `after` follows each substep.
        Returns the number of halvings."""
        self._attempt, self._place, self._halvings = attempt, place, 0
        self._level[:] = 0
        everything = np.ones(len(self._level), bool_)
        for k in range(self._substeps):
            self._advance(everything, k / self._substeps, (k + 1) / self._substeps, 0)
            after()
        return self._halvings

    def _advance(self, rods: Flags, begin: float, end: float, halvings: int) -> Flags:
        """Takes rods from one moment to another. Returns those others they ran into; then it did not work out, and the rods are
        anywhere. What is prescribed is at the end."""
        waiting = rods & (self._level > halvings)
        if waiting.any():
            spread(waiting, self._solver.linked())
            waiting &= rods
        failed, strangers = waiting, np.zeros_like(rods)
        forces = self._solver.known.copy()
        if np.any(rods & ~waiting):
            outcome = self._try(rods & ~waiting, waiting, begin, end, halvings)
            failed, strangers = waiting | outcome.failed, outcome.hit & ~rods
            eager = rods & ~failed & outcome.easy & (self._level == halvings) & (halvings > 0)
            self._level[eager] = halvings - 1
        if strangers.any() or not failed.any():
            return strangers
        if halvings == MOST_HALVINGS:
            self._solver.give_up(failed)
            self._went(failed, begin, end)
            return strangers
        self._level[failed] = np.maximum(self._level[failed], halvings + 1)
        self._halvings += int(np.any(failed & ~waiting))
        return self._in_halves(rods, failed, forces, begin, end, halvings)

    def _try(self, which: Flags, waiting: Flags, begin: float, end: float, halvings: int) -> Outcome:
        samples = self._solver.detection.samples
        self._stay(waiting)
        if not which.all():
            follow(self._ways[0], self._ways[1], self._times, self._rod, which, begin, end, samples.start, samples.now)
        self._place(end)
        outcome = self._attempt(which, begin, end, halvings >= CAREFUL, halvings == MOST_HALVINGS)
        if not which.all() or outcome.failed.any():
            self._went(which & ~outcome.failed, begin, end)
        return outcome

    def _in_halves(self, rods: Flags, failed: Flags, forces: Known, begin: float, end: float, halvings: int) -> Flags:
        middle = 0.5 * (begin + end)
        for returns in range(MOST_RETURNS + 2):
            kept = self._keep(failed)
            strangers = np.zeros_like(rods)
            for first, last in ((begin, middle), (middle, end)):
                self._place(first)
                strangers = self._advance(failed, first, last, halvings + 1)
                if strangers.any():
                    break
            if not strangers.any() or np.any(strangers & ~rods):
                return strangers
            self._put_back(kept)
            spread(strangers, self._solver.linked())
            joining = (strangers if returns < MOST_RETURNS else rods) & rods & ~failed
            self._recall(joining)
            self._solver.known.recall(forces, failed | joining)
            self._level[joining] = np.maximum(self._level[joining], halvings + 1)
            failed = failed | joining
        return strangers

    def _keep(self, which: Flags) -> Kept:
        self._stay(which)
        return Kept(which, [self._blocks[k].copy(chosen) for k, chosen in chosen_of(which, self._rods)])

    def _put_back(self, kept: Kept) -> None:
        for (number, chosen), state in zip(chosen_of(kept.which, self._rods), kept.states, strict=True):
            self._blocks[number].put_back(chosen, state)

    def _recall(self, which: Flags) -> None:
        for number, chosen in chosen_of(which, self._rods):
            self._blocks[number].recall(chosen)

    def _positions(self) -> Array:
        return np.concatenate([block.positions() for block in self._blocks])

    def _stay(self, which: Flags) -> None:
        """These rods wait where they are."""
        if which.any():
            rows = which[self._rod]
            self._ways[:, rows] = self._positions()[rows]

    def _went(self, which: Flags, begin: float, end: float) -> None:
        """These rods have gone from where they began their step to where they are."""
        rows = which[self._rod]
        self._ways[0, rows] = self._solver.detection.samples.start[rows]
        self._ways[1, rows] = self._positions()[rows]
        self._times[0, which], self._times[1, which] = begin, end


@kernel
def follow(
    origin: Array,
    goal: Array,
    times: Array,
    rod: Ints,
    which: Flags,
    begin: float,
    end: float,
    start: Array,
    now: Array,
) -> None:
    """Where all but these rods are at the beginning and at the end of a step."""
    for i in range(len(rod)):
        r = rod[i]
        if which[r]:
            continue
        first, last = times[0, r], times[1, r]
        for c in range(3):
            start[i, c] = _on_the_way(origin[i, c], goal[i, c], first, last, begin)
            now[i, c] = _on_the_way(origin[i, c], goal[i, c], first, last, end)


@part
def _on_the_way(a: float, b: float, first: float, last: float, time: float) -> float:
    if time <= first:
        return a
    if time >= last:
        return b
    return a + (b - a) * ((time - first) / (last - first))
