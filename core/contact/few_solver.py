"""Contact of few rods: steps in which what touches goes on touching are of second order.

TR-BDF2 takes forces of contact for smooth, as they are where rods lean on, slide along, or come apart from each other. Where they
meet, their speeds jump: such steps are backward Euler, as are those that end with more energy than they began with, and those of
rods at rest, which have no motion to keep.

A stage is a step of backward Euler from a shifted start, and what keeps still in it moves as far from the start of the step as
that start has been shifted. Friction opposes motion beyond that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import Array
from ..models.protocol import ContactStages, ModelBlock
from ..models.schemes import SDIRK2, TABLE, TR_BDF2, Scheme, stages_of
from .arrays import Flags, thicknesses
from .coulomb import APART
from .islands import Verdict, label_islands, spread
from .solver import ContactSolver

SECOND_ORDER = TABLE[TR_BDF2]
WITHOUT_HISTORY = TABLE[SDIRK2]  # for rods that do not know the acceleration with which they begin
CLOSED = 0.05  # thicknesses: what was farther apart when the step began, and presses now, has met
FINE = 1e-3  # segment lengths: steps that are shorter than that take contacts that slip for what they are
AT_REST = 1e-3  # radii: rods that would go no farther in a stage are at rest
DEBUG = None


class FewSolver(ContactSolver):
    def __init__(self, blocks: Sequence[ModelBlock], *args: Any) -> None:
        super().__init__(blocks, *args)
        self._takes_stages, self._of_ties, self._abrupt, self._calm = np.zeros((4, len(self._coupled)), np.bool_)
        for block, rods in zip(self.blocks, self.rods, strict=True):
            self._takes_stages[rods] = isinstance(block, ContactStages) and block.integrator == SECOND_ORDER.name
        self._in_stages = False
        self._of_ties[self.tied.ravel()] = True

    def _finish(self, which: Flags, creep: bool) -> None:
        """Rods that stay at rest know their acceleration: the next step sees when something moves them."""
        super()._finish(which & ~self._calm, creep)
        for number, chosen in self._chosen(which & self._calm):
            self._block(number).finish(chosen, creep, smooth=not creep)

    def _step_in_stages(self, h: float) -> None:
        self._calm[:] = False
        staged = self._coupled & self._takes_stages
        staged &= ~self._of_ties
        if self.colliders.moved or not staged.any():
            return
        which, coupled, failed, before = self._which.copy(), self._coupled.copy(), self._failed.copy(), self.known.copy()
        self._abrupt[:], self._hit[:] = False, False
        new = staged.copy()
        for number, chosen in self._chosen(staged):
            new[self.rods[number].start + chosen] = ~self._block(number).knows_acceleration(chosen)
        spread(new, self.known.linked())
        for rods, scheme in ((staged & ~new, SECOND_ORDER), (staged & new, WITHOUT_HISTORY)):
            if rods.any():
                self._which[:] = self._coupled[:] = rods
                self._take_stages(h, scheme)
                self._settled |= self._coupled
        missed = staged & ~self._settled
        self._which[:], self._coupled[:], self._failed[:] = which, coupled & ~self._settled, failed
        self._hit[:], self._aim[:] = False, 0.0
        if missed.any():
            self.known.restore(before, missed)
            unsolved = missed & ~self._abrupt
            spread(unsolved, self.known.linked())
            self._fail(unsolved & self._which)

    def _take_stages(self, h: float, scheme: Scheme) -> None:
        """Steps of `_coupled` rods. Those for which it works out remain coupled, the others are back where they were."""
        full, self._h = self._h, scheme.length * h
        self._in_stages = True
        for stage in stages_of(scheme):
            for number, chosen in self._chosen(self._coupled):
                block, rows = self._block(number), self._rows[number]
                block.begin(chosen, self._h, self._air_density, stage=stage)
                block.estimate_mobility(chosen, self._mobility[rows])
                block.sample_steps(chosen, block.stage_start()[0], self._aim[rows])
            if stage.explicit > 0.0 and stage.carried == 0.0:
                self._calm |= self._resting()
                self._leave(self._calm.copy(), "rest")
            n0=self._coupled.any()
            self._fine[:] = False
            self._solve(self.most_iterations, False)
            if DEBUG is not None and n0 and not self._coupled.any(): DEBUG.append(("newton",stage.carried>0))
            self._leave(self._met(), "met")
        self._h, self._in_stages = full, False
        self._fine[:] = False
        if not self._coupled.any():
            return
        g = self._gains()
        if DEBUG is not None: DEBUG.append((scheme.name, g[self._coupled].max(), False))
        self._leave(g > 0.0, "gain")
        for number, chosen in self._chosen(self._coupled):
            self._block(number).finish(chosen, smooth=True)

    def _judge(self) -> Verdict:
        verdict = super()._judge()
        if self._in_stages:
            self._fine[self._active] = self._longest[self._active] < FINE
        return verdict

    def _leave(self, rods: Flags, why='') -> None:
        """To backward Euler: these rods, and all that press on them."""
        rods &= self._coupled
        spread(rods, self._linked)
        rods &= self._coupled
        if rods.any():
            self._abrupt |= rods
            if DEBUG is not None: DEBUG.append((why,))
            self._fail(rods)

    def _met(self) -> Flags:
        """Rods that press on what they were apart from when the step began."""
        count, contacts = self.detection.count, self.detection.contacts
        apart = contacts.before[:count] > CLOSED * thicknesses(contacts.arm[:count])
        pressing = self._forces.mode[:count] != APART
        return self._of(self._sides(), (apart & pressing) | contacts.crossed[:count])
    
    def _resting(self) -> Flags:
        """Rods on which nothing moves, and that press on none that do."""
        samples = self.detection.samples
        moving = np.zeros_like(self._coupled)
        for number, chosen in self._chosen(self._coupled):
            rows, out = self._rows[number], np.zeros((len(samples.after[self._rows[number]]), 4))
            least = AT_REST * samples.radius[rows]
            for vector, scale in zip(self._block(number).stage_start(), (1.0, self._h), strict=True):
                self.blocks[number].sample_steps(chosen, vector, out)
                far = scale * np.abs(out[:, :3]).max(axis=1) > least
                far |= scale * np.abs(out[:, 3]) > AT_REST
                moving[samples.rod[rows][far]] = True
        moving &= self._coupled
        spread(moving, self.known.linked())
        return self._coupled & ~moving

    def _gains(self) -> Array:
        """(R,) J gained by the island of each coupled rod."""
        gain = np.zeros(len(self._coupled))
        for number, chosen in self._chosen(self._coupled):
            self._block(number).gains(chosen, gain[self.rods[number]])
        island = np.zeros(len(gain), np.int64)
        label_islands(self._linked, island)
        total = np.bincount(island, gain, len(gain))
        return np.asarray(total[island])

    def _block(self, number: int) -> Any:
        """A block whose steps in contact have stages."""
        return self.blocks[number]
