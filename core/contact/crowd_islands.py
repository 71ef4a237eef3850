"""How Newton's method fares with each group of rods that press on each other, where there are many of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import bool_

from ..compile.jit import kernel
from ..errors import Array
from .arrays import Contacts, Flags, Ints, Samples
from .coulomb import Forces
from .islands import (
    LONGEST,
    SETTLED,
    TOLERABLE,
    TOLERANCE,
    Islands,
    Progress,
    Totals,
    Verdict,
    good,
)

FOLLOW = 0.3  # of the largest error: when Newton's step changes it by less, the known forces follow
PATIENCE = 3  # iterations after which less than the tolerances will do:
ENOUGH = 0.02  # of gap and slip at contacts and of what the next step changes there, in thicknesses; and
ENOUGH_STEP = 0.03  # of the next step, in segment lengths or rad
LOST_AFTER = 10  # iterations after which a step is given up that is still longer than
LOST_STEP = 1.0  # segment lengths or rad, with overlaps of more than
LOST = 0.5  # thicknesses


class CrowdVerdict(NamedTuple):
    """Per rod: a `Verdict`, and more."""

    common: Verdict
    check: Flags  # near enough, with the contacts as they were found last


class CrowdIslands(Islands):
    def __init__(self, rods: int, tolerance: float) -> None:
        super().__init__(rods, tolerance)
        self._check = np.zeros(rods, bool_)

    def restart(self, which: Flags) -> None:
        """Contacts of these rods have been found anew, so that energies before and after do not compare."""
        for array in (self._progress.energy, self._progress.best, self._progress.length):
            array[which] = np.inf

    def judge_round(
        self,
        active: Flags,
        linked: Ints,
        potential: Array,
        longest: Array,
        slope: Array,
        contacts: Contacts,
        count: int,
        forces: Forces,
        samples: Samples,
        fresh: bool,
        iteration: int,
    ) -> CrowdVerdict:
        """As `judge`. `fresh`: the contacts were found at this iterate; only then rods can be done."""
        self._add_up(active, linked, potential, longest, slope, contacts, count, forces, samples)
        decide_round(
            active, self._island, longest, slope, self._own, self._totals, self._tolerance, fresh, iteration,
            self._progress, self._verdict, self._check,
        )  # fmt: skip
        return CrowdVerdict(self._verdict, self._check)


@kernel
def decide_round(
    active: Flags,
    island: Ints,
    longest: Array,
    slope: Array,
    own: Array,
    totals: Totals,
    tolerance: float,
    fresh: bool,
    iteration: int,
    progress: Progress,
    verdict: Verdict,
    check: Flags,
) -> None:
    """Writes the verdict, and where the good steps began."""
    for r in range(len(island)):
        verdict.reject[r], verdict.done[r], verdict.settled[r], verdict.stubborn[r] = False, False, False, False
        verdict.tolerable[r], verdict.passable[r], verdict.hopeless[r], check[r] = False, False, False, False
        if not active[r]:
            continue
        i = island[r]
        length, error, clear = totals.length[i], totals.error[i], totals.crossed[i] == 0.0
        lost = iteration >= LOST_AFTER and length > LOST_STEP and error > LOST
        verdict.hopeless[r] = not length < LONGEST or lost
        verdict.passable[r] = fresh and clear and error < TOLERABLE and length < SETTLED
        verdict.tolerable[r] = verdict.passable[r]
        if not good(totals, i, tolerance):
            verdict.reject[r] = True
            progress.size[r] *= 0.5
            continue
        progress.size[r] = 1.0
        progress.energy[r], progress.slope[r], progress.length[r] = own[r], slope[r], longest[r]
        if totals.energy[i] <= totals.best[i]:
            progress.best[r] = own[r]
        exact = length <= tolerance and error <= TOLERANCE
        near = length <= ENOUGH_STEP and error <= ENOUGH and totals.motion[i] <= ENOUGH * totals.thickness[i]
        near = near and iteration >= PATIENCE
        if fresh and clear and (exact or near):
            verdict.done[r] = True
        elif near and not fresh:
            check[r] = True
        elif length <= SETTLED and totals.deviation[i] > 0.0 and totals.motion[i] <= FOLLOW * totals.deviation[i]:
            verdict.settled[r] = True
            verdict.stubborn[r] = error > max(0.25 * progress.error[r], TOLERANCE)
            # When forces follow, the energy changes.
            progress.energy[r], progress.best[r], progress.length[r] = np.inf, np.inf, np.inf
            progress.error[r] = error
