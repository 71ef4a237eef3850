"""Contact of many rods: heaps, plies, bundles, hair.

Sequential quadratic programming. In each iteration rods are linearised under the contact forces known so far, and gaps and slips
are linear in the motion; Gauss-Seidel sweeps (`sweeps.py`) satisfy Coulomb's law at all contacts through the rods' responses
(`responses.py`), and all rods move. Contacts are then found anew, but those that act stay, also where the iterate is too far away
to find them again, and those of a passage keep the side they were passed on (`crowd_contacts.py`). Rods that meet others faster
than linear gaps can follow, or whose errors do not shrink, take smaller steps, together with all rods whose swept boxes overlap
theirs. What is accepted overlaps by less than a tenth of a radius and crosses nothing on straight ways from the start of the step
to its end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..compile.workers import Workers
from ..errors import Array
from ..models.protocol import ContactResponses, ModelBlock, Pushes
from .arrays import Flags, Ints, Samples, thicknesses
from .colliders import ColliderMotion
from .coulomb import clear
from .crowd_contacts import CrowdDetection, follow_motion, needed_halvings
from .crowd_progress import DEEPEST, ENOUGH_STEP, TOLERABLE_STEP, CrowdProgress, Progress
from .detection import Detection
from .islands import LONGEST
from .known_forces import recall_forces
from .responses import Responses, make_loads
from .solver import ContactSolver
from .sweep_islands import make_islands
from .sweeps import act, describe, make_momentum, make_rows, measure, sweep

CROWD = 10  # rods from which on there are many; or, if their models know their responses and they have no more than
SHORT = 100  # sample points,
FEW = 2  # rods are enough
MOST_ITERATIONS = 12
MOST_CAREFUL_ITERATIONS = 20
LINE_ITERATIONS = 12  # the same for thin rods, which meet as lines
FEW_ITERATIONS = 6
MOST_SWEEPS = 60
SWEEP_EFFORT = 20  # of the sweeps for a contact, in steps of a vertex
TOLERANCE = 0.005  # thicknesses: sweeps end when they move no contact by more than this; or, if larger,
OF_ERROR = 0.1  # of the last iteration's largest error, up to
LOOSEST = 0.1  # thicknesses
RECOVERED = 0.05  # thicknesses: overlaps up to this are gone after the next step, so that they never add up
REOPEN = 0.03  # thicknesses: rods that overlap by more than this when all are done go on
FREEZE = 2  # iterations after which contacts that act keep their points and normals
# Parts of the thin rods that may be left after so many iterations: if there are more, smaller steps are faster.
MANY_LEFT = {3: 0.35, 6: 0.15, 10: 0.07}
STUCK = 3  # iterations without progress after which a thin rod takes half of Newton's steps
# Thin rods that make no progress at all are left out, if they are no more than
FEW_BAD = 0.1  # of those that take part
SOFT = 1e-6  # times the median compliance: by so much contacts give way, those next to roots, too
SHORTER = 0.5  # of the last step: when Newton's next one is shorter, the potential may rise
NOISE = 1e-9  # of potentials, relative


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
        self._workers = workers
        rods, n = len(self._coupled), len(self.detection.samples.after)
        self._between_rods = between_rods
        self._lines_meet = bool(np.mean(self.detection.thin[self.detection.samples.after >= 0]) > 0.5)
        self.remembers_halvings = self._lines_meet
        if self._lines_meet:
            self.most_iterations, self.most_careful_iterations = LINE_ITERATIONS, LINE_ITERATIONS
        self._progress = CrowdProgress(rods, self._lines_meet, rods >= CROWD)
        self._responses = Responses(blocks, self._rows, self.rods, self.detection.samples.after)
        self._resize(256)
        self._generalized = [np.zeros(block.generalized_size) for block in blocks]
        self._steps = np.zeros((n, 4))  # of the sample points
        self._stir = np.zeros(rods)
        self._given = np.zeros((n, 4))  # forces of contacts on the sample points, and
        self._pushed = np.zeros((n, 4))  # the same during the last move
        self._before, self._longest_before = np.zeros(rods), np.zeros(rods)  # potential and step where it began
        self._from = np.zeros((n, 3))  # and where that was
        self._looked = np.zeros((n, 3))  # where the samples were when gaps were computed
        self._freeze, self._frozen = False, np.zeros(0, np.int64)  # whether contacts stay as they are, and which
        self._swept = False  # whether the forces of the contacts at hand are known
        self._immovable: Ints = np.zeros(0, np.int64)  # keys of contacts of this step that nothing moves

    def _resize(self, capacity: int) -> None:
        self._lines, self._loads = make_rows(capacity), make_loads(capacity)
        self._momentum = make_momentum(capacity, len(self.detection.samples.after))
        self._error, self._motion = np.zeros(capacity), np.zeros(capacity)

    def _make_detection(
        self, samples: Samples, joined: Ints, colliders: ColliderMotion, between_rods: bool, workers: Workers
    ) -> Detection:
        return CrowdDetection(samples, joined, colliders, between_rods, workers)

    def linked(self) -> Ints:
        """(L, 2) rods that came near each other in the last step, or between which there is a known force."""
        return np.concatenate([self.detection.near(), self.known.linked()])

    def _begin(self, which: Flags, still: bool = False) -> None:
        for number, chosen in self._chosen(which):
            self.blocks[number].begin(chosen, self._h, self._air_density, still)

    def _violated(self) -> Flags:
        if self._lines_meet:
            # Sides that were learnt on the way may be wrong, and hide a passage: count passages afresh.
            self._swept = False
            self.detection.start_step()
        self._look(self._coupled)
        return self._deeper_than(DEEPEST)

    def _deeper_than(self, part: float) -> Flags:
        """(C,) contacts that crossed, or that overlap by more than a part of their thickness beyond what they may."""
        count, contacts = self.detection.count, self.detection.contacts
        self._recall()
        deeper = self._forces.target[:count] - contacts.gap[:count] > part * thicknesses(contacts.arm[:count])
        deeper &= np.isin(contacts.key[:count], self._immovable, invert=True)
        return np.asarray(contacts.crossed[:count] | deeper)

    def _recall(self) -> None:
        contacts, count = self.detection.contacts, self.detection.count
        recall_forces(contacts, count, self._h, RECOVERED, self.known.keys, self.known.forces, self._forces)

    # Newton's method -----------------------------------------------------------------------------------------------

    def _solve(self, most_iterations: int, last: bool) -> None:
        """See `_iterate`."""
        self._freeze, self._frozen = False, np.zeros(0, np.int64)
        self._iterate(most_iterations, last)
        self._freeze = False
        self.known.add_up()

    def _iterate(self, most_iterations: int, last: bool) -> None:
        """Rods that have not converged after so many iterations, or nearly so, fail; so do rods that had better take smaller steps,
        unless this is the last chance."""
        self._active[:] = self._coupled
        self._before[:], self._longest_before[:] = np.inf, np.inf
        self.more_halvings[:] = 0
        self._immovable = np.zeros(0, np.int64)
        self._swept = False
        self._progress.start()
        self.detection.start_step()
        self.detection.reach(np.zeros_like(self._looked))
        self._look(self._which)
        iteration, error = 0, np.full(len(self._active), np.inf)
        while True:
            self._freeze = iteration >= FREEZE
            self._couple_all()
            left = last or iteration >= most_iterations  # no more are left out
            if not self._active.any() and not self._reopen(iteration) and (left or not self._leave_passed()):
                return
            if iteration == 1 and not last:  # the initial guess says little about the way
                self._fail(self._too_fast())
                if not self._active.any():
                    continue
            self._step_all(np.minimum(np.maximum(TOLERANCE, OF_ERROR * error), LOOSEST))
            lost = self._active & ~(self._longest < LONGEST)
            if lost.any():
                self._fail(lost)
            now = self._judge_islands(iteration)
            error[:] = np.where(self._active, now.error, 0.0)
            if iteration == most_iterations:
                self._fail_or_leave(self._active & ~now.tolerable & ~now.done, last)
                return
            stalled = now.stalled & self._active & ~(now.tolerable if last else now.done)
            if not last and self._many_left(self._active & ~now.done, iteration):
                self._fail(self._active.copy())
                continue
            if stalled.any():
                self._fail_or_leave(stalled, last)
            iteration += 1
            self.iterations += 1
            self._easy[self._active] = iteration <= FEW_ITERATIONS
            rising = self._rising()
            self._advance(rising, self._lines_meet & (now.waited >= STUCK))
            self._active &= ~now.done | rising

    def _many_left(self, bad: Flags, iteration: int) -> bool:
        """Whether so many thin rods have not converged that smaller steps are faster."""
        most = MANY_LEFT.get(iteration, 1.0) * np.count_nonzero(self._coupled)
        return self._between_rods and self._lines_meet and bool(np.count_nonzero(bad) > most)

    def _fail_or_leave(self, stalled: Flags, last: bool) -> None:
        """Rods that have stalled fail, unless these are few thin ones, which are left out."""
        if last or not self._leave_bad(stalled):
            everyone = self._lines_meet and self._between_rods and not last
            self._fail(self._active.copy() if everyone else stalled)

    def _leave_bad(self, which: Flags) -> bool:
        """Leaves out those of these rods whose contacts have not converged, if they are thin and few. Returns whether that was
        so."""
        count, contacts = self.detection.count, self.detection.contacts
        worst = np.maximum(self._error[:count], self._motion[:count]) > DEEPEST * thicknesses(contacts.arm[:count])
        bad = self._of(self._sides(), worst | contacts.crossed[:count]) | (self._longest > TOLERABLE_STEP)
        bad &= which & self._active
        few = self._are_few(bad)
        if few and bad.any():
            self._leave(bad)
        return few

    def _leave_passed(self) -> bool:
        """All are done. Leaves out thin rods that have passed through others on their straight ways, if there are few. Returns
        whether others must go on without them."""
        if not self._lines_meet or self.one_way or not self._coupled.any():
            return False
        violated = self._violated()  # finds contacts anew
        bad = self._of(self._sides(), violated) & self._which
        if not bad.any() or not self._are_few(bad):
            return False
        pairs = self._pairs()
        self._leave(bad)
        for one, other in ((0, 1), (1, 0)):
            self._active[pairs[bad[pairs[:, one]], other]] = True
        self._active &= self._coupled
        self._look(self._coupled)
        return bool(self._active.any())

    def _are_few(self, bad: Flags) -> bool:
        most = FEW_BAD * np.count_nonzero(self._coupled | self._alone)
        return self._lines_meet and not self.one_way and bool(np.count_nonzero(bad | self._alone) <= most)

    def _leave(self, bad: Flags) -> None:
        """These rods later step alone, and find their way between the others."""
        self._alone |= bad
        self._fail(bad)
        self._progress.start()

    def _couple_all(self) -> None:
        """Rods that ran into something take part; those next to active ones are active, for they will be pushed."""
        while self._couple_more():
            pass
        pairs, active = self._pairs(), self._active
        if not len(pairs) or active.all():
            return
        touched = np.zeros_like(active)
        touched[pairs[active[pairs[:, 0]], 1]] = True
        touched[pairs[active[pairs[:, 1]], 0]] = True
        woken = touched & ~active & self._coupled
        self._active |= woken
        if np.any(woken & ~self._looked_at):
            self._look(self._active | self._looked_at)

    def _pairs(self) -> Ints:
        """(L, 2) rods with a contact between them."""
        edges = self.detection.contacts.edge[: self.detection.count]
        return np.asarray(self.detection.samples.rod[edges[edges[:, 1] >= 0]])

    def _too_fast(self) -> Flags:
        """Active rods that meet others faster than a linear gap can follow. How many halvings they need is noted."""
        halvings, detection = self.more_halvings, self.detection
        halvings[:] = 0
        needed_halvings(detection.contacts, detection.count, detection.samples, detection.thin, halvings)
        halvings[~self._active] = 0
        return halvings > 0

    def _reopen(self, iteration: int) -> bool:
        """Looks at all coupled rods once more, where they are now: those that still overlap go on. Returns whether any do."""
        if not self._coupled.any():
            return False
        self._look(self._coupled)
        while self._couple_more():
            pass
        deep = self._deeper_than(REOPEN if iteration < self._progress.patience else DEEPEST)
        self._active |= self._of(self._sides(), deep)
        self._active &= self._coupled
        self._couple_all()
        return bool(self._active.any())

    def _judge_islands(self, iteration: int) -> Progress:
        return self._progress.judge(
            self._pairs(), self._active, self._longest, self.detection.contacts, self.detection.count,
            self.detection.samples.rod, self._error, self._motion, iteration,
        )  # fmt: skip

    def _rising(self) -> Flags:
        """Rods whose last move was too long: their potential has risen, with the forces of their contacts as they were then, and
        Newton's next step is not much shorter."""
        samples = self.detection.samples
        work = np.einsum("ij,ij->i", self._pushed[:, :3], samples.now - self._from)
        done = np.bincount(samples.rod, work, len(self._active))
        rise = self._potential - self._before - done
        noise = NOISE * (np.abs(self._potential) + np.abs(done))
        long = (self._longest > ENOUGH_STEP) & (self._longest > SHORTER * self._longest_before)
        return np.asarray(self._active & long & (rise > noise))

    def _advance(self, rising: Flags, stuck: Flags) -> None:
        """Moves active rods by their steps, those that are stuck by half of them, those that went too far half the way back, and
        finds the contacts there."""
        samples, moving = self.detection.samples, self._active & ~rising
        self._retreat(np.where(rising, 0.5, 1.0), self._active)
        self._before[moving], self._longest_before[moving] = self._potential[moving], self._longest[moving]
        rows = moving[samples.rod]
        self._pushed[rows], self._from[rows] = self._given[rows], samples.now[rows]
        for number, chosen in self._chosen(moving):
            self.blocks[number].move(chosen)
        self._retreat(np.where(stuck, 0.5, 1.0), moving)
        self._look(self._active)

    def _look(self, which: Flags) -> None:
        """Contacts of these rods at the iterate. Those that act stay, also where the iterate is too far from them to find them
        again: without them it would come back, and the method go round in circles."""
        kept, samples, detection = None, self.detection.samples, self.detection
        if self._swept:
            self.fetch(self._looked_at, samples.now)
            moved = samples.now - self._looked
            follow_motion(detection.contacts, detection.count, samples.after, moved)
            detection.reach(moved)
            acting = self._lines.force[: detection.count, 0] > 0.0
            if self._freeze:
                acting |= np.isin(detection.contacts.key[: detection.count], self._frozen)
            kept = detection.keep(acting, which)
            self._frozen = kept.key
        self._swept = False
        super()._look(which)
        if kept is not None:
            detection.add_kept(kept, self._freeze)
            self._make_room()
        if self._alone.any():
            detection.leave_out(self._alone)
        self._looked[:] = samples.now

    # One iteration -------------------------------------------------------------------------------------------------

    def _step_all(self, tolerance: Array) -> None:
        """Newton's step of all active rods, and the forces of their contacts, to a tolerance (R,) of each rod."""
        detection = self.detection
        count, contacts, samples = detection.count, detection.contacts, detection.samples
        if len(self._error) < count:
            self._resize(count + count // 2)
        lines, loads = self._lines, self._loads
        self._recall()
        describe(contacts, count, samples, self._turns, self._forces.target, self._forces.known, lines, loads)
        self._linearise()
        edge = contacts.edge[:count]
        rod = np.where(edge >= 0, samples.rod[edge], -1)
        loads.rod[:count] = np.where((rod >= 0) & self._active[rod], rod, -1)
        self._responses.compute(contacts, count, loads)
        self._steps[:] = 0.0
        for number, chosen in self._chosen(self._active):
            block = self.blocks[number]
            block.sample_steps(chosen, block.step_vector(), self._steps[self._rows[number]])
        before = lines.force[:count].copy()
        mobile = loads.matrix[:count, 0]
        soft = SOFT * float(np.median(mobile[mobile > 0.0])) if np.any(mobile > 0.0) else 0.0
        islands = make_islands(loads.rod[:count], mobile > 0.0, tolerance)

        def work(first: int, last: int, _piece: int) -> None:
            sweep(
                first, last, islands, contacts, samples.after, lines, loads, self._responses.columns, soft, MOST_SWEEPS,
                self._stir, self._steps, self._momentum,
            )  # fmt: skip

        self._workers.run(work, len(islands.tolerance), len(islands.contact) * SWEEP_EFFORT)
        self._given[:] = 0.0
        act(contacts, count, samples.after, loads, lines.force[:count] - before, self._given)
        self._add_responses()
        self._given += self._pushes.force
        measure(contacts, count, samples.after, lines, loads, self._steps, self._error, self._motion)
        # What is held where it is, like the root of a hair on its head, can't leave what it is in, in smaller steps either.
        fixed = ~(mobile > 0.0)
        self._error[:count][fixed], self._motion[:count][fixed] = 0.0, 0.0
        own = np.any(loads.rod[:count] >= 0, axis=1)
        self._immovable = np.union1d(self._immovable, contacts.key[:count][fixed & own])
        acting = np.flatnonzero(lines.force[:count, 0] > 0.0)
        forces = np.einsum("ki,kij->kj", lines.force[acting], lines.direction[acting])
        self.known.put(self._looked_at, contacts.key[acting].copy(), forces)
        self._swept = True

    def _linearise(self) -> None:
        """Newton's step of each active rod under the forces known so far."""
        samples, pushes = self.detection.samples, self._pushes
        clear(self._looked_at, samples.rod, pushes)
        act(
            self.detection.contacts, self.detection.count, samples.after, self._loads, self._lines.force, pushes.force
        )  # fmt: skip
        for number, chosen in self._chosen(self._active):
            rows = self._rows[number]
            of_block = Pushes(pushes.force[rows], pushes.stiffness[rows], pushes.touched[rows])
            self.blocks[number].linearise(chosen, of_block, self._potential[self.rods[number]])

    def _add_responses(self) -> None:
        """Adds to the steps what the change of the forces does, by the rods' own matrices."""
        for number, chosen in self._chosen(self._active):
            block, more, rods = self.blocks[number], self._generalized[number], self.rods[number]
            more[:] = 0.0
            block.generalized_pushes(chosen, self._given[self._rows[number]], more)
            if len(chosen) < len(block.generalized_ranges):
                keep_ranges(block.generalized_ranges, chosen, more)
            block.solve_linearised(chosen, more)
            block.step_vector()[:] += more
            block.measure_steps(chosen, self._longest[rods], self._slope[rods])


def keep_ranges(ranges: Ints, chosen: Ints, x: Array) -> None:
    """Clears entries of rods that are not chosen: these may hold anything."""
    kept = np.zeros(len(x) + 1, np.int64)
    np.add.at(kept, ranges[chosen].reshape(-1, 2)[:, 0], 1)
    np.add.at(kept, ranges[chosen].reshape(-1, 2)[:, 1], -1)
    x[np.cumsum(kept[:-1]) == 0] = 0.0


def is_crowd(blocks: Sequence[ModelBlock], also_few: bool) -> bool:
    """Whether this is the solver for these rods: many of them, or (`also_few`) few short ones whose responses are cheap."""
    sizes = np.concatenate([np.diff(block.sample_start) for block in blocks])
    cheap = also_few and all(isinstance(block, ContactResponses) for block in blocks) and sizes.max() <= SHORT
    return len(sizes) >= (FEW if cheap else CROWD)
