"""Contact of many rods: heaps, plies, bundles.

As in `solver.py` Newton's method minimises the energy of rods and contacts, and the known forces follow. But contacts are not found
anew at every iterate. Where hundreds of them share the load, some change from one feature to the next with every move, and the
method goes round in circles. So a step is made of rounds: contacts are found, and then points and normals stay, so that gaps are
linear in the motion and the problem is a smooth one, which is solved until it is near enough. Contacts that act stay for the rest
of the step, also where a round no longer finds them, and those of a passage keep the side they were passed on. A rod is done when
freshly found contacts agree. What is accepted overlaps by less than a tenth of a radius and crosses nothing on straight ways from
the start of the step to its end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy import bool_

from ..compile.jit import kernel
from ..compile.workers import Workers
from ..errors import Array
from ..models.protocol import ModelBlock
from .arrays import Contacts, Flags, Ints, Samples
from .colliders import ColliderMotion
from .coulomb import APART, Forces, relative_motion
from .crowd_contacts import CrowdDetection, follow_motion
from .crowd_islands import CrowdIslands, CrowdVerdict
from .detection import Detection
from .solver import MORE_STIFFNESS, MOST_STIFFNESS, NO_KEYS, STIFFNESS, ContactSolver

CROWD = 10  # rods from which on there are many
MOST_ITERATIONS = 40
MOST_CAREFUL_ITERATIONS = 60
FEW_ITERATIONS = 12
MOST_LETS_GO = 30.0  # times the usual stiffness, to let go of a known force
RECOVERED = 0.05  # thicknesses: overlaps up to this are gone after the next step, so that they never add up
REOPEN = 0.03  # thicknesses: rods that overlap by more than this when all are done go on
DEEPEST = 0.045  # thicknesses: a step that leaves a deeper overlap than it began with has failed
ROUND = 10  # iterations of a round, at most


class CrowdSolver(ContactSolver):
    detection: CrowdDetection
    together = True
    most_iterations, most_careful_iterations = MOST_ITERATIONS, MOST_CAREFUL_ITERATIONS

    def __init__(
        self,
        blocks: Sequence[ModelBlock],
        friction: Sequence[Array],
        colliders: ColliderMotion,
        between_rods: bool,
        tolerance: float,
        workers: Workers,
    ) -> None:
        super().__init__(blocks, friction, colliders, between_rods, tolerance, workers)
        rods, n = len(self._coupled), len(self.detection.samples.after)
        self._rounds = CrowdIslands(rods, tolerance)
        self._waiting = np.zeros(rods, bool_)  # of the coupled: near enough, with the contacts as they were found
        self._looked = np.zeros((n, 3))  # where the samples were when gaps were computed
        self._since = 0  # iterations since contacts were found
        self._pushed = False  # whether the forces of the contacts at hand have been computed
        self._walls = False
        self._most_lets_go, self._recovered = MOST_LETS_GO, RECOVERED

    def _make_detection(
        self, samples: Samples, joined: Ints, colliders: ColliderMotion, between_rods: bool, workers: Workers
    ) -> Detection:
        return CrowdDetection(samples, joined, colliders, between_rods, workers)

    def linked(self) -> Ints:
        """(L, 2) rods that came near each other in the last step, or between which there is a known force."""
        return np.concatenate([self.detection.near(), self.known.linked()])

    def _violated(self) -> Flags:
        self._push()
        return self._deeper_than(DEEPEST)

    def _deeper_than(self, part: float) -> Flags:
        """(C,) contacts that crossed, or with an error of more than a part of their thickness."""
        count, contacts = self.detection.count, self.detection.contacts
        error = self._forces.error[:count] > part * contacts.arm[:count].sum(axis=1)
        return np.asarray(contacts.crossed[:count] | error)

    def _solve(self, most_iterations: int, last: bool) -> None:
        """Rods that have not converged after so many iterations, or nearly so if there is no other chance, fail."""
        self._active[:] = self._coupled
        self._waiting[:] = False
        self._stiffness[:] = STIFFNESS
        self._tame[:] = False
        self._rounds.reset()
        self.detection.start_step()
        self._limit_keys, self._limits = NO_KEYS, np.zeros(0)
        self._pushed = False
        self._look(self._which)
        iteration = 0
        while True:
            self._meet()
            if not self._active.any():
                if not self._waiting.any() and not self._reopen():
                    return
                if self._waiting.any():
                    self._begin_round()
                    continue
            self._linearise()
            verdict, check = self._judge_round(iteration)
            if iteration == most_iterations:
                self._fail(self._active & ~verdict.tolerable | self._waiting)
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
            self._since += 1
            self._waiting |= check & self._active
            self._active &= ~(verdict.done | check)
            if self._since >= ROUND or iteration == 1:
                self._begin_round()
            else:
                self._follow()

    def _fail(self, which: Flags) -> None:
        super()._fail(which)
        self._waiting &= ~which

    def _begin_round(self) -> None:
        """Finds the contacts of all rods that are not done, where they are now. Islands that are near enough wait for this until
        all are: found anew in the middle of their way, contacts would lead the others astray."""
        self._active |= self._waiting
        self._waiting[:] = False
        self._look(self._active)
        self._rounds.restart(self._active)

    def _reopen(self) -> bool:
        """Looks at all coupled rods once more, where they are now: those that still overlap go on. Returns whether any do."""
        if not self._coupled.any():
            return False
        self._look(self._coupled)
        while self._couple_more():
            pass
        self._push()
        sides = self._sides()[self._deeper_than(REOPEN)].ravel()
        self._active[sides[sides >= 0]] = True
        self._active &= self._coupled
        self._wake()
        return bool(self._active.any())

    def _look(self, which: Flags) -> None:
        """Contacts of these rods at the iterate. Those that act stay, also where the iterate is too far from them to find them
        again: without them it would come back, and the method go round in circles."""
        kept = None
        if self._pushed:
            self._follow()
            self._note_limits()
            kept = self.detection.keep(self._forces.mode[: self.detection.count] != APART, which)
        self._since, self._pushed = 0, False
        super()._look(which)
        if kept is not None:
            self.detection.add_kept(kept)
            self._make_room()
        self._looked[:] = self.detection.samples.now

    def _follow(self) -> None:
        """Gaps of the contacts found last, where the samples are now."""
        samples = self.detection.samples
        self.fetch(self._looked_at, samples.now)
        for block, rows in zip(self.blocks, self._rows, strict=True):
            self._turns[rows] = block.turns()
        follow_motion(self.detection.contacts, self.detection.count, samples.after, samples.now - self._looked)
        self._looked[:] = samples.now

    def _note_limits(self) -> None:
        """Friction is limited by the normal forces at this iterate, until contacts are found again."""
        count = self.detection.count
        order = np.argsort(self.detection.contacts.key[:count], kind="stable")
        self._limit_keys = self.detection.contacts.key[:count][order]
        self._limits = self._forces.pressure[:count][order]

    def _shorten(self) -> None:
        """Iterates may pass through each other: contacts of passages bring them back."""

    def _push(self) -> None:
        super()._push()
        self._pushed = True

    def _judge_round(self, iteration: int) -> CrowdVerdict:
        count, contacts, samples = self.detection.count, self.detection.contacts, self.detection.samples
        self._linear.update_steps(self._chosen(self._active))
        if not self._active.all():
            self._linear.steps[~self._active[samples.rod]] = 0.0
        relative_motion(contacts, count, samples.after, self._forces, self._linear.steps)
        foresee_overlaps(contacts, count, samples.after, self._forces, self._linear.steps)
        return self._rounds.judge_round(
            self._active, self._linked_or_tied(), self._potential, self._longest, self._slope, contacts, count,
            self._forces, samples, self._since == 0, iteration,
        )  # fmt: skip

    def _move(self, which: Flags) -> None:
        for number, chosen in self._chosen(which):
            self.blocks[number].move(chosen)


@kernel
def foresee_overlaps(contacts: Contacts, count: int, after: Ints, forces: Forces, steps: Array) -> None:
    """forces.motion of contacts where nothing acts becomes the overlap that Newton's step would make."""
    for k in range(count):
        if forces.mode[k] != APART or forces.soft[k]:
            continue
        gap = contacts.gap[k]
        for side in range(2):
            e = contacts.edge[k, side]
            if e < 0:
                continue
            s, f, sign = contacts.at[k, side], after[e], 1.0 - 2.0 * side
            for c in range(3):
                gap += sign * contacts.normal[k, c] * ((1.0 - s) * steps[e, c] + s * steps[f, c])
        forces.motion[k] = max(forces.target[k] - gap, 0.0)


def is_crowd(rods: int, between_rods: bool) -> bool:
    """Whether a scene has so many rods that touch each other."""
    return between_rods and rods >= CROWD
