"""Contact of few rods: steps in which what touches goes on touching are of second order.

TR-BDF2 takes forces of contact for smooth, as they are where rods lean on, slide along, or come apart from each other. Where they
meet, their speeds jump: such steps are backward Euler, as are those that end with more energy than they began with.
"""

from __future__ import annotations

import numpy as np

from ..errors import Array
from ..models.protocol import ContactStages
from ..models.schemes import NUMBER, SDIRK2, TABLE, TR_BDF2, Scheme, stages_of
from .arrays import Flags, thicknesses
from .coulomb import APART
from .islands import label_islands, spread
from .solver import MOST_ITERATIONS, ContactSolver

CLOSED = 0.05  # thicknesses: what was farther apart when the step began, and presses now, has met
DEBUG = None
HALVE = True

class FewSolver(ContactSolver):
    def _step_in_stages(self, h: float) -> None:
        scheme = TABLE[TR_BDF2]
        staged = np.zeros_like(self._coupled)
        for block, rods in zip(self.blocks, self.rods, strict=True):
            staged[rods] = isinstance(block, ContactStages) and block.integrator == scheme.name
        tied = np.zeros_like(staged)
        tied[self.tied.ravel()] = True
        staged &= self._coupled & ~tied
        if self.colliders.moved or not staged.any():
            return
        known = staged.copy()
        for number, chosen in self._chosen(staged):
            known[self.rods[number].start + chosen] = self.blocks[number].knows_acceleration(chosen)
        self._impact = np.zeros_like(staged)
        before, which, coupled, failed = self.known.copy(), self._which.copy(), self._coupled.copy(), self._failed.copy()
        self._which[:] = self._coupled[:] = staged
        new = staged & ~known
        spread(new, self.known.linked())
        new &= staged
        for rods, method in ((staged & ~new, scheme), (new, TABLE[SDIRK2])):
            if rods.any():
                self._which[:] = self._coupled[:] = rods
                self._take(rods, h, method)
                self._settled |= self._coupled
        missed = staged & ~self._settled
        self._which[:], self._failed[:] = which, failed
        self._hit[:] = False
        self._coupled[:] = coupled & ~self._settled
        self._aim[:] = 0.0
        halved = missed & ~self._impact
        if halved.any() and HALVE:
            spread(halved, self.known.linked())
            self._fail(halved & self._which)
        if missed.any():
            self.known.restore(before, missed)

    def _take(self, rods: Flags, h: float, scheme: Scheme) -> None:
        full, self._h = self._h, scheme.length * h
        for stage in stages_of(scheme):
            for number, chosen in self._chosen(self._coupled):
                block, rows = self.blocks[number], self._rows[number]
                block.begin(chosen, self._h, self._air_density, stage=stage)
                block.estimate_mobility(chosen, self._mobility[rows])
                block.sample_steps(chosen, block.stage_start(), self._aim[rows])
            self._solve(MOST_ITERATIONS, False)
            if not self._coupled.any():
                break
            if self._met().any():
                pass
        self._h = full
        if not self._coupled.any():
            if DEBUG is not None: DEBUG.append(("unsolved",))
            return
        self._look(self._coupled)
        gain = self._gains()
        bad = gain > 0.0
        if DEBUG is not None:
            DEBUG.append((scheme.name, gain[self._coupled].max(), self._met().any()))
        met = self._met()
        bad |= met
        bad &= self._coupled
        self._impact |= met
        spread(self._impact, self._linked)
        spread(bad, self._linked)
        self._fail(bad & self._coupled)
        for number, chosen in self._chosen(self._coupled):
            self.blocks[number].finish(chosen, False, True)

    def _met(self) -> Flags:
        """Rods that press on what they were apart from when the step began."""
        count, contacts = self.detection.count, self.detection.contacts
        apart = contacts.before[:count] > CLOSED * thicknesses(contacts.arm[:count])
        pressing = (self._forces.mode[:count] != APART) | (contacts.gap[:count] < 0.0)
        return self._of(self._sides(), (apart & pressing) | contacts.crossed[:count])

    def _gains(self) -> Array:
        """(R,) J gained by the island of each coupled rod."""
        gain = np.zeros(len(self._coupled))
        for number, chosen in self._chosen(self._coupled):
            self.blocks[number].gains(chosen, gain[self.rods[number]])
        island = np.zeros(len(gain), np.int64)
        label_islands(self._linked, island)
        total = np.bincount(island, np.where(self._coupled, gain, 0.0), len(gain))
        return total[island]
