"""Steps of bodies, and of the rods that are attached to them.

Rods and bodies that hang together make an assembly, and are solved for together: Newton's method on all of their unknowns and the
forces of their ties. The integrator is that of the rods; where a step does not converge it is taken in halves, short ones by
backward Euler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...describe.attachment import Attachment
from ...describe.scene import Scene
from ...errors import Array
from ...models.protocol import CarriesBodies, ModelBlock, Pushes, Work, takes_stages
from ...models.schemes import BACKWARD_EULER, NUMBER, SDIRK2, START, TABLE, WHOLE_STEP, Scheme, Stage, stages_of
from .attached import Edges, find_assemblies, find_places, make_ties, supports
from .block import Around, BodyBlock
from .system import Selection, TiedSystem, select
from .ties import Conditions, measure

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Place = Callable[[float], None]  # sends what is prescribed to where it is at a part of the step

FIRST_ORDER = TABLE[BACKWARD_EULER]
WITHOUT_HISTORY = TABLE[
    SDIRK2
]  # for bodies whose speed an engine changes: the last acceleration tells nothing of the next step
FALL_BACK_LEVEL = 2  # halvings from which on a step that fails is tried by backward Euler
MOST_ITERATIONS = 25
MOST_HALVINGS = 8
MOST_TURN = 0.5  # rad in a step of a body: faster ones take several
FARTHEST = 0.7  # rad in one iteration
LEAST_SIZE = 1e-3  # of a step along Newton's direction
# Tolerances of bodies, times that of rods: theirs is cheap.
OF_TIED_BODIES = 1e-2
OF_OTHER_BODIES = 1e-6


class BodySteps:
    def __init__(
        self,
        scene: Scene,
        bodies: BodyBlock,
        blocks: Sequence[ModelBlock],
        rods: Sequence[tuple[int, int]],
        scheme: str,
        tolerance: float,
    ) -> None:
        """`rods` are block and number there of each rod of the scene. `scheme`: "tr-bdf2", "sdirk2" or "backward euler"."""
        self._bodies, self._blocks, self._tolerance = bodies, blocks, tolerance
        self.places, at = find_places(scene, blocks, rods)
        self.edges = Edges(self.places, blocks)
        self.edges.begin()
        self.edges.fetch()
        edges = (self.edges.start, self.edges.end, self.edges.director)
        self.ties = make_ties(scene.attachments, bodies, edges, at)
        self._scheme = TABLE[NUMBER[scheme]]
        self.assemblies = find_assemblies(self.places, self.ties, blocks, bodies)
        self._second_order = supports(self.assemblies, blocks, scheme)
        self._without_history = supports(self.assemblies, blocks, WITHOUT_HISTORY.name)
        self.disturbed = np.zeros(len(bodies))  # 1: something else has changed the body's speed since the last step
        self.system = TiedSystem(blocks, self.places)
        count = len(scene.attachments)
        self.forces = np.zeros((count, 6))  # of the ties' conditions, on bodies
        self._kept = self.forces.copy()
        self._impulse = np.zeros((count, 6))
        self.conditions = Conditions(
            np.zeros((count, 6)), np.zeros((count, 6, 7)), np.zeros((count, 6, 6)), np.zeros((count, 3, 3)),
            np.zeros((count, 3)),
        )  # fmt: skip
        self.unused = (np.arange(6) >= self.ties.conditions[:, None]).astype(np.float64)
        rows = [int(block.sample_start[-1]) for block in blocks]
        self._pushes = [Pushes(np.zeros((n, 4)), np.zeros((n, 28)), np.zeros(n, np.bool_)) for n in rows]
        # What a length is compared with: a part of the body, and of the edges tied to it.
        self._unit = bodies.size.copy()
        drawn = [float(scene.entries[one.rod].rod.rest_lengths[one.edge]) for one in scene.attachments]
        np.minimum.at(self._unit, self.ties.body, np.array(drawn))
        self._tied = np.zeros(len(bodies), dtype=np.bool_)
        self._tied[self.ties.body] = True
        self._small = np.where(self._tied, OF_TIED_BODIES, OF_OTHER_BODIES)  # rad
        self._unit *= self._small
        self._selections: dict[bytes, Selection] = {}
        self.impulse = np.zeros((len(bodies), 6))  # of the ties since it was last set to zero, N s and N m s
        self._work = Work()
        self._elsewhere = np.zeros(self.assemblies.number, dtype=np.bool_)

    def hand_over(self, attachments: Sequence[Attachment]) -> None:
        """Assemblies whose rods are all of one block which knows how to step bodies by itself, as published, are left to it where
        they touch nothing and are not taken to rest."""
        self._attachments = attachments
        self._elsewhere[:] = False
        for number, block in enumerate(self._blocks):
            if not isinstance(block, CarriesBodies):
                continue
            foreign = np.zeros_like(self._elsewhere)
            for other, assemblies in enumerate(self.assemblies.of_rod):
                foreign[assemblies[(assemblies >= 0) & (other != number)]] = True
            theirs = [
                (int(self.places.rod[k]), one)
                for k, one in enumerate(attachments)
                if self.places.block[k] == number and self.ties.conditions[k] and not foreign[self.assemblies.of_tie[k]]
            ]
            carried = block.carry(theirs, self._bodies, self.impulse)
            self._elsewhere[self.assemblies.of_rod[number][carried]] = True

    def release(self, tie: int) -> None:
        """Lets go of an attachment."""
        self.ties.conditions[tie], self.unused[tie], self.forces[tie] = 0, 1.0, 0.0
        self._bodies.state.a[self.ties.body[tie]] = 0.0
        block = self._blocks[self.places.block[tie]]
        if takes_stages(block, self._scheme.name):
            self._more(self.places.block[tie]).forget_acceleration(int(self.places.rod[tie]))
        if self._elsewhere.any():
            self.hand_over(self._attachments)

    def elsewhere(self) -> Flags:
        """Which bodies are stepped by the block of their rods."""
        return np.asarray(self._elsewhere[self.assemblies.of_body])

    def attached(self) -> list[Flags]:
        """Per block, which rods are stepped here."""
        return [numbers >= 0 for numbers in self.assemblies.of_rod]

    def take_work(self) -> Work:
        work, self._work = self._work, Work()
        return work

    def try_step(self, which: Flags, h: float, around: Around) -> Flags:
        """Moves assemblies by h, as `free_step` does. Returns those for which that did not work out; they are where they were."""
        self._around, self._calm = around, False
        rest = which & ~self._step_elsewhere(which, h)
        return self._try(rest, h) if rest.any() else rest

    def _step_elsewhere(self, which: Flags, h: float) -> Flags:
        """Steps of the assemblies among these that blocks step by themselves. Returns those for which that worked out."""
        done = which & self._elsewhere
        if not done.any():
            return done
        for numbers, block in zip(self.assemblies.of_rod, self._blocks, strict=False):
            if isinstance(block, CarriesBodies):
                failed = block.step_carried(h, self._around, np.flatnonzero((numbers >= 0) & done[numbers]))
                done[numbers[failed]] = False
        return done

    def free_step(self, h: float, around: Around, place: Place, calm: bool) -> None:
        """Moves all bodies by h, and the rods attached to them, whose forces and holds are known. With `calm` by backward Euler."""
        self._around, self._place, self._calm = around, place, calm
        everything = np.ones_like(self._elsewhere)
        if not calm:
            everything &= ~self._step_elsewhere(everything, h)
        spin = np.zeros(self.assemblies.number)
        turning = np.where(self._bodies.kinematic, 0.0, np.linalg.norm(self._bodies.state.w, axis=1))
        np.maximum.at(spin, self.assemblies.of_body, turning)
        with np.errstate(divide="ignore"):
            halvings = np.clip(np.ceil(np.log2(spin * h / MOST_TURN)), 0, MOST_HALVINGS).astype(np.int64)
        self._advance(everything, h, 0.0, 1.0, 0, halvings)

    def _advance(self, which: Flags, h: float, begin: float, end: float, level: int, wanted: Ints) -> None:
        """Moves assemblies from a part of the step to another, which takes h; what is prescribed is at both. In halves where they
        want that or nothing else works."""
        failed = which & (wanted > level)
        trying = which & ~failed
        if trying.any():
            failed |= self._try(trying, h, level)
        if not failed.any():
            return
        if level == MOST_HALVINGS:
            self._give_up(self.selection(failed), h)
            return
        middle = 0.5 * (begin + end)
        self._place(begin)
        self._place(middle)
        self._advance(failed, 0.5 * h, begin, middle, level + 1, wanted)
        self._place(middle)
        self._place(end)
        self._advance(failed, 0.5 * h, middle, end, level + 1, wanted)

    def _try(self, which: Flags, h: float, level: int = FALL_BACK_LEVEL) -> Flags:
        """Returns those for which it did not work out; these are back where they were."""
        disturbed = np.zeros_like(which)
        disturbed[self.assemblies.of_body[self.disturbed > 0.0]] = True
        second = which & self._second_order & ~disturbed & (not self._calm)
        if second.any() and self._scheme.explicit:
            second &= ~self._estimate_accelerations(second, h)
        failed = self._attempt(second, h, self._scheme) if second.any() else np.zeros_like(which)
        halved = failed & (level < FALL_BACK_LEVEL)
        other = which & self._without_history & disturbed & (not self._calm)
        if other.any() and self._scheme is not FIRST_ORDER:
            failed |= self._attempt(other, h, WITHOUT_HISTORY)
            second |= other
        first = which & (failed | ~second) & ~halved
        self._work = self._work + Work(fallbacks=int((failed & ~halved).sum()))
        failed = self._attempt(first, h, FIRST_ORDER) if first.any() else np.zeros_like(which)
        failed |= halved
        self._work = self._work + Work(halvings=int(failed.sum()))
        return failed

    def _estimate_accelerations(self, which: Flags, h: float) -> Flags:
        """Where the accelerations at the start of the step are not known, estimates them by two short backward Euler steps. Returns
        the assemblies for which these did not converge."""
        bodies, tolerance = self._bodies, self._tolerance
        unknown = ~bodies.state.a.any(axis=1) & ~bodies.kinematic
        bodies.accelerate_freely(np.flatnonzero(unknown & ~self._tied), self._around)
        missing = np.zeros_like(which)
        missing[self.assemblies.of_body[unknown & self._tied]] = True
        for number, rods in self.selection(which).rods:
            missing[self.assemblies.of_rod[number][rods[~self._more(number).knows_acceleration(rods)]]] = True
        missing &= which
        if not missing.any():
            return missing
        chosen, failed = self.selection(missing), np.zeros_like(which)
        before = [self._blocks[number].copy(rods) for number, rods in chosen.rods]
        kept, forces = type(bodies.state)(*(array.copy() for array in bodies.state)), self.forces.copy()
        self._tolerance = START * START * tolerance
        for k in (1, 2):
            self._save(chosen)
            self._begin(chosen, START * h, Stage(k * START))
            failed |= self._minimise(chosen, START * h) & missing
            for number, rods in chosen.rods:
                self._more(number).finish(rods, False, True)
            bodies.finish(chosen.bodies, START * h)
        self._tolerance = tolerance
        for (number, rods), state in zip(chosen.rods, before, strict=True):
            self._more(number).restore_with_acceleration(rods, state)
        bodies.restore_with_acceleration(chosen.bodies, kept)
        self.forces[:] = forces
        if failed.any():
            bodies.state.a[self.selection(failed).bodies] = 0.0
        return failed

    def _save(self, chosen: Selection) -> None:
        for number, rods in chosen.rods:
            self._blocks[number].save(rods)
        self._bodies.save(chosen.bodies)
        self._kept[chosen.ties] = self.forces[chosen.ties]
        self.edges.begin()

    def _begin(self, chosen: Selection, h: float, stage: Stage) -> None:
        for number, rods in chosen.rods:
            if stage == WHOLE_STEP:
                self._blocks[number].begin(rods, h, self._around.air_density)
            else:
                self._more(number).begin(rods, h, self._around.air_density, stage=stage)
        self._bodies.begin(chosen.bodies, h, stage)

    def _attempt(self, which: Flags, h: float, scheme: Scheme) -> Flags:
        chosen, bodies = self.selection(which), self._bodies
        length, failed = scheme.length * h, np.zeros_like(which)
        self._save(chosen)
        self._impulse[chosen.ties] = 0.0
        for stage in stages_of(scheme):
            self._begin(chosen, length, stage)
            failed |= self._minimise(chosen, length) & which
            self._impulse[chosen.ties] += (length if stage.end == 1.0 else h - length) * self._wrenches(chosen)
        good = self.selection(which & ~failed)
        for number, rods in good.rods:
            if takes_stages(self._blocks[number], self._scheme.name):
                self._more(number).finish(rods, False, True)
            else:
                self._blocks[number].finish(rods)
        bodies.finish(good.bodies, length)
        np.add.at(self.impulse, self.ties.body[good.ties], self._impulse[good.ties])
        if failed.any():
            self._recall(self.selection(failed))
        return failed

    def _more(self, number: int) -> Any:
        """A block whose coupled steps can be of second order."""
        return self._blocks[number]

    def _recall(self, chosen: Selection) -> None:
        for number, rods in chosen.rods:
            self._blocks[number].rollback(rods)
        self._bodies.rollback(chosen.bodies)
        self.forces[chosen.ties] = self._kept[chosen.ties]

    def _give_up(self, chosen: Selection, h: float) -> None:
        """After a step that failed: all stay where they were, but for what is held and led, without speed."""
        for number, rods in chosen.rods:
            self._blocks[number].begin(rods, h, self._around.air_density, True)
            self._blocks[number].finish(rods, True)
        self._bodies.begin(chosen.bodies, h)
        led = chosen.bodies[self._bodies.kinematic[chosen.bodies]]
        self._bodies.finish(led, h)
        self._bodies.rollback(chosen.free)
        self._bodies.stop(chosen.free)
        self.forces[chosen.ties] = 0.0
        self._work = self._work + Work(failures=len(np.unique(chosen.of_body)))

    # Newton's method -----------------------------------------------------------------------------------------------

    def _minimise(self, chosen: Selection, h: float) -> Flags:
        """Newton's method on a stage of length h, from the guess. Returns which assemblies did not converge.

        A step is good if Newton's next one is shorter; else half of it is taken."""
        count = self.assemblies.number
        before, size = np.full(count, np.inf), np.ones(count)
        failed = np.zeros(count, dtype=np.bool_)
        done = np.ones(count, dtype=np.bool_)
        for of in (*chosen.of_rod, chosen.of_body):
            done[of] = False
        base = self._bodies.state.x[chosen.free].copy(), self._bodies.state.rotation[chosen.free].copy()
        step, change = np.zeros((len(chosen.free), 6)), np.zeros((len(chosen.ties), 6))
        for _ in range(MOST_ITERATIONS):
            found = self._linear_step(chosen, h)
            if found is None:
                return ~done
            length = self._lengths(chosen, found[0])
            good = (length <= 0.9 * before) | done
            # What is left after this step: the next ones would shrink at least as fast as the last two did.
            with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
                rate = np.where((size == 1.0) & np.isfinite(before), np.minimum(length / before, 0.5), 0.5)
            done |= good & (length * rate / (1.0 - rate) <= self._tolerance)
            self._work = self._work + Work(iterations=len(chosen.free))
            failed |= ~(length < 1e9) | (~good & (size < LEAST_SIZE))
            size = np.where(good, 1.0, 0.5 * size)
            before = np.where(good, length, before)
            self._go(chosen, good, found, step, change, base)
            if not good.all():
                self._return(chosen, good, step, change, base, size)
            if done.all():
                return failed
            if failed[~done].all():
                break
        return failed | ~done

    def _linear_step(self, chosen: Selection, h: float) -> tuple[Array, Array] | None:
        bodies, ties, out = self._bodies, self.ties, self.conditions
        k = len(chosen.ties)
        self.edges.fetch(chosen.ties)
        measure(
            ties, chosen.ties, self.edges.start, self.edges.end, self.edges.director, bodies.state.x,
            bodies.state.rotation, self.forces, out,
        )  # fmt: skip
        forces = self.forces[chosen.ties]
        on_edges = -np.einsum("kij,ki->kj", out.by_edge[:k], forces)
        for number, rods in chosen.rods:
            pushes = self._pushes[number]
            pushes.force[:] = 0.0
            own = np.flatnonzero(self.places.block[chosen.ties] == number)
            self.system.spread(pushes.force, chosen.ties[own], on_edges[own])
            self._blocks[number].linearise(rods, pushes, np.zeros(len(self._blocks[number].sample_start) - 1))
        residual, matrix = bodies.linearise(chosen.free, h, self._around)
        number_of = np.full(len(bodies), -1, dtype=np.int64)
        number_of[chosen.free] = np.arange(len(chosen.free))
        body = number_of[ties.body[chosen.ties]]
        tied = body >= 0
        np.add.at(residual, body[tied], np.einsum("kij,ki->kj", out.by_body[:k], forces)[tied])
        np.add.at(matrix[:, 3:, 3:], body[tied], out.stiffness[:k][tied])
        return self.system.solve(
            chosen, (out.amiss[:k], out.by_edge[:k], out.by_body[:k]), self.unused[chosen.ties], residual, matrix
        )

    def _lengths(self, chosen: Selection, step: Array) -> Array:
        """Of Newton's step, per assembly: in segment lengths, parts of bodies, radians."""
        out = np.zeros(self.assemblies.number)
        for (number, rods), of in zip(chosen.rods, chosen.of_rod, strict=True):
            count = len(self._blocks[number].sample_start) - 1
            longest, slope = np.zeros(count), np.zeros(count)
            self._blocks[number].measure_steps(rods, longest, slope)
            np.maximum.at(out, of, longest[rods])
        unit, small = self._unit[chosen.free], self._small[chosen.free]
        np.maximum.at(out, chosen.of_body, np.abs(step[:, :3]).max(axis=1, initial=0.0) / unit)
        np.maximum.at(out, chosen.of_body, np.abs(step[:, 3:]).max(axis=1, initial=0.0) / small)
        return np.where(np.isfinite(out), out, np.inf)

    def _go(
        self, chosen: Selection, good: Flags, found: tuple[Array, Array], step: Array, change: Array, base: Any
    ) -> None:
        """Assemblies whose last step was good take the next one."""
        for (number, rods), of in zip(chosen.rods, chosen.of_rod, strict=True):
            if good[of].any():
                self._blocks[number].move(rods[good[of]])
        state, moving = self._bodies.state, good[chosen.of_body]
        free = chosen.free[moving]
        turned = np.linalg.norm(found[0][moving, 3:], axis=1, keepdims=True)
        step[moving] = found[0][moving] * np.minimum(1.0, FARTHEST / np.maximum(turned, 1e-300))
        base[0][moving], base[1][moving] = state.x[free], state.rotation[free]
        self._bodies.move(free, step[moving])
        pulled = good[chosen.of_tie]
        change[pulled] = found[1][pulled]
        self.forces[chosen.ties[pulled]] += change[pulled]

    def _return(self, chosen: Selection, good: Flags, step: Array, change: Array, base: Any, size: Array) -> None:
        """The others go back to half the way they went."""
        for (number, rods), of in zip(chosen.rods, chosen.of_rod, strict=True):
            back = rods[~good[of]]
            if len(back):
                self._blocks[number].backtrack(back, np.full(len(self._blocks[number].sample_start) - 1, 0.5))
        moving = ~good[chosen.of_body]
        free, part = chosen.free[moving], size[chosen.of_body[moving]][:, None]
        self._bodies.state.x[free], self._bodies.state.rotation[free] = base[0][moving], base[1][moving]
        self._bodies.move(free, part * step[moving])
        pulled = ~good[chosen.of_tie]
        part = size[chosen.of_tie[pulled]][:, None]
        self.forces[chosen.ties[pulled]] -= part * change[pulled]  # it was twice that

    def count_impulse(self, chosen: Selection, h: float) -> None:
        """The ties have pulled as they do now for h seconds."""
        np.add.at(self.impulse, self.ties.body[chosen.ties], h * self._wrenches(chosen))

    def _wrenches(self, chosen: Selection) -> Array:
        """(K, 6) force and torque of each tie on its body, about the centre of mass."""
        by_body = self.conditions.by_body[: len(chosen.ties)]
        return np.asarray(-np.einsum("kij,ki->kj", by_body, self.forces[chosen.ties]))

    def selection(self, which: Flags) -> Selection:
        """Rods, bodies and ties of these assemblies."""
        key = which.tobytes()
        if key not in self._selections:
            assemblies, body_of_tie = self.assemblies, self.ties.body
            ties = np.flatnonzero(which[assemblies.of_tie])
            meant = which[assemblies.of_body]
            meant[body_of_tie[ties]] = True  # also those that lead
            rods = [(k, np.flatnonzero((of >= 0) & which[of])) for k, of in enumerate(assemblies.of_rod)]
            rods = [(k, chosen) for k, chosen in rods if len(chosen)]
            of_rod = [assemblies.of_rod[k][chosen] for k, chosen in rods]
            self._selections[key] = select(
                rods, of_rod, np.flatnonzero(meant), self._bodies.kinematic, assemblies.of_body, ties,
                assemblies.of_tie, body_of_tie, self.places,
            )  # fmt: skip
        return self._selections[key]
