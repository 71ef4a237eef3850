"""Which rods press on each other, and how Newton's method fares with each such group."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import bool_

from ..compile.jit import kernel, part
from ..errors import Array
from .arrays import Contacts, Flags, Ints, Samples
from .coulomb import Forces

SMALLEST_SIZE = 0.01  # of a step along Newton's direction
NOISE = 1e-12  # of energies, relative
RISE = 3.0  # times what was to be gained: how far the energy may rise for one step
SETTLED = 0.1  # segment lengths, and relative to the largest error: when a step is shorter, the known forces follow
TOLERANCE = 2e-3  # of gap and slip at contacts, in radii
DOUBT = 0.1  # of forces, relative; and
OF_BODIES = 30.0  # times as little of those on bodies: what these do then lasts, where rods come to rest
TOLERABLE = 0.05  # errors, in radii, of a step that is not worth being halved
TOLERABLE_STEP = 3.0  # times the tolerance: the same for Newton's next step
LONGEST = 1e9  # segment lengths: beyond that nothing makes sense any more


class Verdict(NamedTuple):
    """Per rod."""

    reject: Flags  # the last step went too far: half of it
    done: Flags  # converged, once the step at hand is taken
    settled: Flags  # so near that the known forces may follow
    stubborn: Flags  # since they did last, errors have not become much smaller
    tolerable: Flags  # if it has to end here
    passable: Flags  # if the only other choice is to give up
    hopeless: Flags


class Progress(NamedTuple):
    """Of each rod, as of where its last good step began."""

    energy: Array  # of the rod and its contacts
    best: Array  # the same where that of its island was lowest, since the known forces followed
    slope: Array  # of the energy along the step
    length: Array  # of the step
    size: Array  # what is taken of it
    error: Array  # of the island's contacts when the known forces followed


class Totals(NamedTuple):
    """Of each island, at the number of its first rod: sums of the first five, the largest of the others (of sizes, the least)."""

    energy: Array
    energy_before: Array
    best: Array
    slope: Array
    slope_before: Array
    length: Array
    length_before: Array
    size: Array
    error: Array  # radii
    deviation: Array  # m
    motion: Array  # m
    pressure: Array  # N
    doubt: Array
    crossed: Array
    thickness: Array  # m, of the thinnest contact


class Islands:
    def __init__(self, rods: int, tolerance: float) -> None:
        self._tolerance = tolerance
        self._progress = Progress(*(np.zeros(rods) for _ in Progress._fields))
        self._totals = Totals(*(np.zeros(rods) for _ in Totals._fields))
        self._verdict = Verdict(*(np.zeros(rods, bool_) for _ in Verdict._fields))
        self._own = np.zeros(rods)
        self._island = np.zeros(rods, np.int64)

    def reset(self) -> None:
        for array in self._progress:
            array[:] = np.inf
        self._progress.slope[:] = 0.0
        self._progress.size[:] = 1.0

    def judge(
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
    ) -> Verdict:
        """`linked` (L, 2) are rods that press on each other; `potential`, `longest` and `slope` (R,) those of rods and of their
        steps."""
        self._add_up(active, linked, potential, longest, slope, contacts, count, forces, samples)
        decide(
            active,
            self._island,
            longest,
            slope,
            self._own,
            self._totals,
            self._tolerance,
            self._progress,
            self._verdict,
        )
        return self._verdict

    def _add_up(
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
    ) -> None:
        """Finds the islands and sums over each of them."""
        label_islands(linked, self._island)
        add_up(
            active, self._island, potential, longest, slope, contacts, count, forces, samples.rod, samples.after,
            self._progress, self._own, self._totals,
        )  # fmt: skip


def spread(flags: Flags, linked: Ints) -> None:
    """Sets the flags of all rods that are linked, directly or through others, with one whose flag is set."""
    while len(linked):
        both = flags[linked]
        half = both[:, 0] != both[:, 1]
        if not half.any():
            return
        flags[linked[half].ravel()] = True


@kernel
def label_islands(linked: Ints, island: Ints) -> None:
    """island[r] is the lowest number of the rods that r is linked with, directly or through others."""
    for r in range(len(island)):
        island[r] = r
    for k in range(len(linked)):
        a, b = linked[k, 0], linked[k, 1]
        while island[a] != a:
            island[a] = island[island[a]]  # the next time the way is half as long
            a = island[a]
        while island[b] != b:
            island[b] = island[island[b]]
            b = island[b]
        island[max(a, b)] = min(a, b)
    for r in range(len(island)):
        island[r] = island[island[r]]  # lower numbers come first and are final


@kernel
def add_up(
    active: Flags,
    island: Ints,
    potential: Array,
    longest: Array,
    slope: Array,
    contacts: Contacts,
    count: int,
    forces: Forces,
    rod: Ints,
    after: Ints,
    before: Progress,
    own: Array,
    totals: Totals,
) -> None:
    """Writes `totals`, and the energies `own` of rods with the contacts that are counted as theirs."""
    for r in range(len(island)):
        own[r] = potential[r] if active[r] else 0.0
        totals.energy[r], totals.energy_before[r], totals.best[r] = 0.0, 0.0, 0.0
        totals.slope[r], totals.slope_before[r] = 0.0, 0.0
        totals.length[r], totals.length_before[r], totals.size[r] = 0.0, 0.0, 1.0
        totals.error[r], totals.deviation[r], totals.motion[r] = 0.0, 0.0, 0.0
        totals.pressure[r], totals.doubt[r], totals.crossed[r] = 0.0, 0.0, 0.0
        totals.thickness[r] = np.inf
    for k in range(count):
        r = rod[contacts.edge[k, 0]]
        i = island[r]
        own[r] += forces.energy[k]
        thickness = contacts.arm[k, 0] + contacts.arm[k, 1]
        totals.error[i] = max(totals.error[i], forces.error[k] / thickness)
        totals.thickness[i] = min(totals.thickness[i], thickness)
        totals.deviation[i] = max(totals.deviation[i], forces.error[k])
        totals.motion[i] = max(totals.motion[i], forces.motion[k])
        totals.pressure[i] = max(totals.pressure[i], forces.pressure[k])
        if contacts.crossed[k]:
            totals.crossed[i] = 1.0
    for k in range(count):
        # How far forces may be from where they will be, relative to the own or a tenth of the strongest on the island.
        i = island[rod[contacts.edge[k, 0]]]
        scale = max(forces.pressure[k], 0.1 * totals.pressure[i], 1e-300)
        change = forces.stiffness[k] * max(forces.error[k], forces.motion[k])
        if after[contacts.edge[k, 0]] < 0:
            change *= OF_BODIES
        totals.doubt[i] = max(totals.doubt[i], change / scale)
    for r in range(len(island)):
        if not active[r]:
            continue
        i = island[r]
        totals.energy[i] += own[r]
        totals.energy_before[i] += before.energy[r]
        totals.best[i] += before.best[r]
        totals.slope[i] += slope[r]
        totals.slope_before[i] += before.slope[r]
        totals.length[i] = max(totals.length[i], longest[r] if longest[r] < LONGEST else LONGEST)  # so is a NaN
        totals.length_before[i] = max(totals.length_before[i], before.length[r])
        totals.size[i] = min(totals.size[i], before.size[r])


@part
def good(t: Totals, i: int, tolerance: float) -> bool:
    """Whether the last step was: the energy falls; or it rises a little, just once, and the next step will make up for it, as that
    of a rod does which hardly stretches (its steps are straight, its ways are not); or what is left is next to nothing."""
    rise = t.energy[i] - t.energy_before[i]
    if rise <= NOISE * abs(t.energy[i]) or t.length[i] <= tolerance or t.size[i] <= SMALLEST_SIZE:
        return True
    if t.length[i] <= SETTLED and t.length[i] <= 0.5 * t.length_before[i]:
        return True
    at_best = t.energy_before[i] <= t.best[i]
    return bool(at_best and rise <= -RISE * t.slope_before[i] and rise <= -0.5 * t.slope[i])


@kernel
def decide(
    active: Flags,
    island: Ints,
    longest: Array,
    slope: Array,
    own: Array,
    totals: Totals,
    tolerance: float,
    progress: Progress,
    verdict: Verdict,
) -> None:
    """Writes the verdict, and where the good steps began."""
    for r in range(len(island)):
        verdict.reject[r], verdict.done[r], verdict.settled[r], verdict.stubborn[r] = False, False, False, False
        verdict.tolerable[r], verdict.passable[r], verdict.hopeless[r] = False, False, False
        if not active[r]:
            continue
        i = island[r]
        length, error, clear = totals.length[i], totals.error[i], totals.crossed[i] == 0.0
        verdict.hopeless[r] = not totals.length[i] < LONGEST
        verdict.passable[r] = clear and error < TOLERABLE and length < SETTLED
        verdict.tolerable[r] = verdict.passable[r] and length < TOLERABLE_STEP * tolerance
        if not good(totals, i, tolerance):
            verdict.reject[r] = True
            progress.size[r] *= 0.5
            continue
        progress.size[r] = 1.0
        progress.energy[r], progress.slope[r], progress.length[r] = own[r], slope[r], longest[r]
        if totals.energy[i] <= totals.best[i]:
            progress.best[r] = own[r]
        if clear and length <= tolerance and error <= TOLERANCE and totals.doubt[i] <= DOUBT:
            verdict.done[r] = True
        elif length <= SETTLED and totals.deviation[i] > 0.0 and totals.motion[i] <= SETTLED * totals.deviation[i]:
            verdict.settled[r] = True
            verdict.stubborn[r] = error > max(0.25 * progress.error[r], TOLERANCE)
            # When forces follow, the energy changes.
            progress.energy[r], progress.best[r], progress.length[r] = np.inf, np.inf, np.inf
            progress.error[r] = error
