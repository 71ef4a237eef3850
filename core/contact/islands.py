"""Which rods press on each other, and how Newton's method fares with each such group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import Array
from ..jit import kernel
from .arrays import Contacts, Flags, Ints
from .coulomb import Forces

SMALLEST_SIZE = 0.01  # of a step along Newton's direction
SETTLED = 0.1  # segment lengths, and relative to the largest error: when a step is shorter, the known forces follow
TOLERANCE = 2e-3  # of gap and slip at contacts, in radii
DOUBT = 0.1  # of forces, relative
TOLERABLE = 0.05  # errors, in radii, of a step that is not worth being halved
TOLERABLE_STEP = 3.0  # times the tolerance: the same for Newton's next step
LONGEST = 1e9  # segment lengths: beyond that nothing makes sense any more


@dataclass(frozen=True)
class Verdict:
    """Per rod."""

    reject: Flags  # the last step went too far: half of it
    done: Flags  # converged, once the step at hand is taken
    settled: Flags  # so near that the known forces may follow
    stubborn: Flags  # since they did last, errors have not become much smaller
    tolerable: bool  # if it has to end here
    hopeless: bool


class Islands:
    def __init__(self, rods: int, tolerance: float) -> None:
        self._tolerance = tolerance
        self._energy, self._length = np.zeros(rods), np.zeros(rods)  # where the last good step began
        self._size, self._error = np.zeros(rods), np.zeros(rods)
        self._island = np.zeros(rods, np.int64)

    def reset(self) -> None:
        for array in (self._energy, self._length, self._error):
            array[:] = np.inf
        self._size[:] = 1.0

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
        rod: Ints,
    ) -> Verdict:
        """`linked` (L, 2) are rods that press on each other; `potential` and `longest` (R,) those of rods and of their steps."""
        rods = len(active)
        number, island = rods, self._island
        label_islands(linked, island)

        def most(values: Array, where: Ints) -> Array:
            """The largest value of each island, told to each of its rods."""
            largest = np.zeros(number)
            np.maximum.at(largest, island[where], values)
            return np.asarray(largest[island])

        def total(values: Array) -> Array:
            return np.asarray(np.bincount(island, weights=values, minlength=number)[island])

        side = rod[contacts.edge[:count, 0]]
        everyone = np.arange(rods)
        own = np.where(active, potential, 0.0)
        np.add.at(own, side, forces.energy[:count])
        energy = total(own)
        length = most(np.where(active, longest, 0.0), everyone)
        error = forces.error[:count]
        relative = error / (contacts.arm[:count, 0] + contacts.arm[:count, 1])
        errors = most(relative, side)
        motion = most(forces.motion[:count], side) / np.maximum(most(error, side), 1e-300)
        # How far forces may be from where they will be, relative to the own or a tenth of the strongest on the island.
        pressure = forces.pressure[:count]
        scale = np.maximum(np.maximum(pressure, 0.1 * most(pressure, side)[side]), 1e-300)
        change = forces.stiffness[:count] * np.maximum(error, forces.motion[:count])
        doubt = most(change / scale, side)
        crossed = most(contacts.crossed[:count].astype(np.float64), side) > 0.0

        energy_before, length_before = total(np.where(active, self._energy, 0.0)), most(self._length, everyone)
        small = -most(-self._size + 1.0, everyone) + 1.0  # the smallest size
        foreseen = energy + 0.5 * total(np.where(active, slope, 0.0))
        good = (
            ((length <= 0.9 * length_before) & (length <= SETTLED))
            | (np.minimum(energy, foreseen) <= energy_before)
            | (small <= SMALLEST_SIZE)
        )
        reject = active & ~good
        done = active & good & (length <= self._tolerance) & (errors <= TOLERANCE) & (doubt <= DOUBT) & ~crossed
        settled = active & good & ~done & (length <= SETTLED) & (motion <= SETTLED)
        stubborn = settled & (errors > np.maximum(0.25 * self._error, TOLERANCE))

        self._size[reject] *= 0.5
        accepted = active & good
        self._size[accepted] = 1.0
        self._energy[accepted], self._length[accepted] = own[accepted], longest[accepted]
        # When forces follow, the energy changes.
        self._energy[settled] = self._length[settled] = np.inf
        self._error[settled] = errors[settled]
        fine = ~crossed & (errors < TOLERABLE) & (length < TOLERABLE_STEP * self._tolerance)
        return Verdict(
            reject, done, settled, stubborn,
            tolerable=bool(np.all(fine | ~active)),
            hopeless=not bool(np.all(longest[active] < LONGEST)),
        )  # fmt: skip


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
