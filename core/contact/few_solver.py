"""Contact of few rods: steps in which what touches goes on touching are of second order.

TR-BDF2 takes forces of contact for smooth, as they are where rods lean on, slide along, or come apart from each other. Where they
meet, their speeds jump: such steps are backward Euler and leave no acceleration behind, so that the next one is, too. So are steps
that would end with more energy than they began with, and those of rods at rest, which have no motion to keep.

A stage is a step of backward Euler from a shifted start, and what keeps still in it moves as far from the start of the step as
that start has been shifted. Friction opposes motion beyond that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import Array
from ..models.protocol import ContactStages, ModelBlock
from ..models.schemes import TABLE, TR_BDF2, stages_of
from .arrays import Flags, thicknesses
from .coulomb import APART
from .islands import Verdict, label_islands, spread
from .solver import ContactSolver

SCHEME = TABLE[TR_BDF2]
CLOSED = 0.05  # thicknesses: what was farther apart when the step began, and presses now, has met
FINE = 1e-3  # segment lengths: Newton's steps that are shorter take the stiffness of contacts that slip for what it is
AT_REST = 1e-2  # radii and radians: rods that would go no farther in a stage are at rest


class FewSolver(ContactSolver):
    def __init__(self, blocks: Sequence[ModelBlock], *args: Any) -> None:
        super().__init__(blocks, *args)
        self._takes_stages, self._abrupt = np.zeros((2, len(self._coupled)), np.bool_)
        for block, rods in zip(self.blocks, self.rods, strict=True):
            self._takes_stages[rods] = isinstance(block, ContactStages) and block.integrator == SCHEME.name
        self._takes_stages[self.tied.ravel()] = False
        self._in_stages = False

    def _step_in_stages(self, h: float) -> None:
        staged = self._coupled & self._takes_stages
        for number, chosen in self._chosen(staged):
            staged[self.rods[number].start + chosen] = self._block(number).knows_acceleration(chosen)
        foreign = self._coupled & ~staged
        spread(foreign, self.known.linked())
        staged &= ~foreign
        if self.colliders.moved or not staged.any():
            return
        which, coupled, failed, before = (
            self._which.copy(),
            self._coupled.copy(),
            self._failed.copy(),
            self.known.copy(),
        )
        self._abrupt[:] = False
        self._which[:] = self._coupled[:] = staged
        full, self._h, self._in_stages = self._h, SCHEME.length * h, True
        self._take_stages()
        self._h, self._in_stages = full, False
        self._settled[:] = self._coupled
        missed = staged & ~self._settled
        self._which[:], self._coupled[:], self._failed[:] = which, coupled & ~self._settled, failed
        self._hit[:], self._fine[:], self._aim[:] = False, False, 0.0
        if missed.any():
            self.known.restore(before, missed)
            unsolved = missed & ~self._abrupt
            spread(unsolved, self.known.linked())
            self._fail(unsolved & self._which)

    def _take_stages(self) -> None:
        """A step of `_coupled` rods. Those for which it works out remain coupled, the others are back where they were."""
        for stage in stages_of(SCHEME):
            for number, chosen in self._chosen(self._coupled):
                block, rows = self._block(number), self._rows[number]
                block.begin(chosen, self._h, self._air_density, stage=stage)
                block.estimate_mobility(chosen, self._mobility[rows])
                block.sample_steps(chosen, block.stage_start()[0], self._aim[rows])
            if stage.carried == 0.0:
                self._leave(self._resting())
            self._fine[:] = False
            self._solve(self.most_iterations, False)
            self._leave(self._met(self._coupled))
        self._leave(self._gains() > 0.0)
        for number, chosen in self._chosen(self._coupled):
            self._block(number).finish(chosen, smooth=True)

    def _finish(self, which: Flags, creep: bool) -> None:
        """The acceleration at the end is known for the next step, unless there was an impact."""
        smooth = which & self._takes_stages & (not (creep or self.colliders.moved))
        if smooth.any():
            smooth &= ~self._met(smooth)
        super()._finish(which & ~smooth, creep)
        for number, chosen in self._chosen(smooth):
            self._block(number).finish(chosen, smooth=True)

    def _judge(self) -> Verdict:
        verdict = super()._judge()
        if self._in_stages:
            self._fine[self._active] = self._longest[self._active] < FINE
        return verdict

    def _leave(self, rods: Flags) -> None:
        """To backward Euler: these rods, and all that press on them."""
        rods &= self._coupled
        spread(rods, self._linked)
        rods &= self._coupled
        if rods.any():
            self._abrupt |= rods
            self._fail(rods)

    def _met(self, which: Flags) -> Flags:
        """Those of these rods that press on what they were apart from when the step began."""
        if not which.any():
            return which.copy()
        self._look(which)
        self._push()
        count, contacts = self.detection.count, self.detection.contacts
        apart = contacts.before[:count] > CLOSED * thicknesses(contacts.arm[:count])
        pressing = self._forces.mode[:count] != APART
        return self._of(self._sides(), (apart & pressing) | contacts.crossed[:count]) & which

    def _resting(self) -> Flags:
        """Rods on which nothing moves, and that press on none that do."""
        samples = self.detection.samples
        moving = np.zeros_like(self._coupled)
        for number, chosen in self._chosen(self._coupled):
            rows, block = self._rows[number], self._block(number)
            rod, least = samples.rod[rows], AT_REST * samples.radius[rows]
            out = np.zeros((len(rod), 4))
            for vector, scale in zip(block.stage_start(), (1.0, self._h), strict=True):
                block.sample_steps(chosen, scale * vector, out)
                far = (np.abs(out[:, :3]).max(axis=1) > least) | (np.abs(out[:, 3]) > AT_REST)
                moving[rod[far]] = True
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
