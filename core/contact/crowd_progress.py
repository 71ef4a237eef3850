"""How far each group of rods that touch each other has come, where there are many of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import bool_, int64

from ..compile.jit import kernel
from ..errors import Array
from .arrays import Contacts, Flags, Ints, thickness_of
from .islands import label_islands

ENOUGH = 0.02  # thicknesses: errors of gap and slip, and what the step at hand changes of them, of a step that is done
ENOUGH_OF_FEW = 0.005  # the same of few rods
PATIENCE, PATIENCE_OF_FEW = 4, 10  # iterations after which
DEEPEST = 0.045  # thicknesses will do: by more no step may leave an overlap
ENOUGH_STEP = 0.03  # segment lengths or rad: Newton's step of rods that are done,
ENOUGH_STEP_OF_FEW = (
    0.002  # of few rods: a step across a segment stretches it by half its square, which is much for chains; and
)
TOLERABLE_STEP = 0.1  # of those that must end here
STALLED = 1.0  # thicknesses: errors larger than this have to shrink at once; and smaller ones
SHRINKS = 0.9  # to this part of what they were, within
WAIT = (
    4  # iterations. Thin rods meet as lines, and errors of many thicknesses are small: they may grow for a while, for
)
WAIT_OF_LINES = 8  # iterations
FIRST_ITERATIONS = 2  # Their errors are no measure of progress: not all contacts are known yet.


class Progress(NamedTuple):
    """Per rod; all rods of an island have the same."""

    length: Array  # longest Newton step, in segment lengths or rad
    error: Array  # thicknesses: gap and slip
    motion: Array  # thicknesses: how far Newton's step changes them
    crossed: Flags  # rods that have passed through each other
    least: Array  # smallest error so far
    waited: Array  # iterations since it became much smaller
    done: Flags
    tolerable: Flags  # if it has to end here
    stalled: Flags  # errors are large and have not become smaller


def make_progress(rods: int) -> Progress:
    a, b, c, d, e = (np.zeros(rods) for _ in range(5))
    crossed, done, tolerable, stalled = (np.zeros(rods, bool_) for _ in range(4))
    return Progress(a, b, c, crossed, d, e, done, tolerable, stalled)


class CrowdProgress:
    def __init__(self, rods: int, lines: bool, many: bool) -> None:
        """`lines`: rods are thin. `many`: not all can be resolved as well as few."""
        self.patience = PATIENCE if many else PATIENCE_OF_FEW
        self._enough, self._enough_step = (ENOUGH, ENOUGH_STEP) if many else (ENOUGH_OF_FEW, ENOUGH_STEP_OF_FEW)
        self._each = lines
        self._growth, self._wait = (np.inf, WAIT_OF_LINES) if lines else (STALLED, WAIT)
        self._island = np.zeros(rods, int64)
        self.now, self._of_island = make_progress(rods), make_progress(rods)

    def start(self) -> None:
        self.now.least[:], self.now.waited[:] = np.inf, 0.0

    def judge(
        self, linked: Ints, active: Flags, longest: Array, contacts: Contacts, count: int, rod: Ints, error: Array,
        motion: Array, iteration: int,
    ) -> Progress:  # fmt: skip
        """`linked` (L, 2) are rods near each other; `longest` (R,) the steps of rods; error and motion (C,) m those of contacts."""
        if self._each:
            self._island[:] = np.arange(len(self._island))
        else:
            label_islands(linked, self._island)
        add_up(self._island, active, longest, contacts, count, rod, error, motion, self._of_island)
        enough = self._enough if iteration < self.patience else DEEPEST
        decide(
            self._island, active, enough, self._enough_step, iteration, self._growth, self._wait, self._of_island, self.now
        )  # fmt: skip
        return self.now


@kernel
def add_up(
    island: Ints, active: Flags, longest: Array, contacts: Contacts, count: int, rod: Ints, error: Array, motion: Array,
    total: Progress,
) -> None:  # fmt: skip
    """Largest values of each island, at the number of its first rod."""
    for r in range(len(island)):
        total.length[r], total.error[r], total.motion[r], total.crossed[r] = 0.0, 0.0, 0.0, False
    for r in range(len(island)):
        i = island[r]
        if active[r] and not longest[r] <= total.length[i]:  # a NaN comes through
            total.length[i] = longest[r]
    for k in range(count):
        thickness = thickness_of(contacts, k)
        for side in range(2):
            if contacts.edge[k, side] >= 0:
                i = island[rod[contacts.edge[k, side]]]
                total.error[i] = max(total.error[i], error[k] / thickness)
                total.motion[i] = max(total.motion[i], motion[k] / thickness)
                total.crossed[i] |= contacts.crossed[k]


@kernel
def decide(
    island: Ints,
    active: Flags,
    enough: float,
    enough_step: float,
    iteration: int,
    growth: float,
    wait: int,
    total: Progress,
    now: Progress,
) -> None:
    for r in range(len(island)):
        i = island[r]
        length, error, motion, clear = total.length[i], total.error[i], total.motion[i], not total.crossed[i]
        now.length[r], now.error[r], now.motion[r], now.crossed[r] = length, error, motion, not clear
        worst = max(error, motion)
        now.done[r] = active[r] and length <= enough_step and worst <= enough and clear
        now.tolerable[r] = length <= TOLERABLE_STEP and worst <= DEEPEST and clear
        growing = iteration > 1 and error > growth and error > now.least[r]
        if worst < SHRINKS * now.least[r] or iteration <= FIRST_ITERATIONS:
            now.least[r], now.waited[r] = worst, 0.0
        else:
            now.waited[r] += 1.0
        now.stalled[r] = active[r] and not now.done[r] and (growing or now.waited[r] > wait)
