"""The `der2008` block: Discrete Elastic Rods as published, behind the protocol of all models.

Free steps are the paper's. Coupled steps, steps towards a state of rest, and steps that would need too many explicit ones use
the implicit steps of `der` on the same energy, with an almost inextensible rod.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ....compile.workers import Workers
from ....contact.bodies.block import Around, BodyBlock
from ....contact.bodies.explicit import begin_bodies, end_bodies, groups_of
from ....describe.attachment import Attachment
from ....describe.scene import Entry, Hold
from ....errors import Array, Flags, Ints, TendrilError
from ...elastic.arrays import Arrays, Step
from ...elastic.rod_block import RodBlock
from ...elastic.rods import RodArrays, RodState
from ...protocol import Energies, FreeSteps, Work
from ...report import FALLBACKS
from ...schemes import BACKWARD_EULER
from .arrays import make_chain, make_motion, make_nodes
from .build import build
from .carried import Carried, can_carry, carry, with_carried_held
from .carried_steps import measure_assemblies, step_assemblies
from .damping import step_and_damp_rods
from .projection import TOLERANCE
from .stepping import respond, step_rods_explicitly


class Der2008Block(RodBlock):
    """Always uses its own integrator, whatever the simulation's setting."""

    coupled_schemes = ()

    def __init__(
        self,
        entries: Sequence[Entry],
        holds: Sequence[tuple[int, Hold]],
        *,
        integrator: str,
        tolerance: float,
        workers: Workers,
    ) -> None:
        super().__init__(entries, holds, integrator="backward euler", tolerance=tolerance, workers=workers)
        b = self.arrays
        self._chain = make_chain(b)
        self._nodes = make_nodes(len(self._chain.edge))
        self._motion = make_motion(len(b.state.q), self._rods)
        self._failed = np.zeros(self._rods, dtype=np.bool_)
        self._projection = min(TOLERANCE, tolerance)
        damped = bool(b.rods.damping_time.any())
        self._start = RodState(*(array.copy() for array in b.state)) if damped else None
        self._h = 0.0  # s, length of the last step
        self._entries = entries
        self._carried: Carried | None = None  # rods coupled to bodies, with these bodies
        self._carrying = np.zeros(self._rods, dtype=np.bool_)
        self._implicit = np.zeros(self._rods, dtype=np.bool_)  # rods that took implicit steps since `take_work`

    def _build(self, entries: Sequence[Entry], holds: Sequence[tuple[int, Hold]]) -> tuple[Arrays, RodArrays]:
        return build(entries, holds)

    def free_steps(self, steps: FreeSteps) -> None:
        b = self.arrays
        skip = self._none if steps.skip is None else steps.skip
        if steps.calm:
            super().free_steps(steps)
            self._measured = False
            return
        self._set_forces(b, steps)
        self._h = steps.h * steps.number
        self._step_explicitly(steps.h, steps.number, steps.air_density, skip)
        stuck = self._failed & ~skip
        if stuck.any():
            super().free_steps(steps._replace(calm=True, skip=~stuck))
            b.log.report[stuck, FALLBACKS] += steps.number
            self._motion.inner[stuck] = steps.number
            self._implicit |= stuck
            self._measured = False

    def carry(self, attachments: Sequence[tuple[int, Attachment]], bodies: BodyBlock, _impulse: Array) -> Flags:
        """Registers rods attached to bodies for `step_carried`, which steps them with their bodies as published. Returns (R,)
        the rods for which this is possible. `attachments` come with the index of their rod, and include all attachments of
        their bodies."""
        b, entries = self.arrays, self._entries
        self._carrying[:], self._carried, meant = False, None, []
        for rods, _ in groups_of(len(entries), bodies, attachments):
            own = [(rod, one) for rod, one in attachments if rod in rods]
            if can_carry(entries, own, b.rods.held[:, 0], b.rods.start):
                meant += own
        if meant:
            self._carrying[[rod for rod, _ in meant]] = True
            self._held = with_carried_held(b, entries, meant)
            self._held_chain = make_chain(self._held)
            self._carried = carry(self._held, self._held_chain, entries, meant, bodies)
            self._body_block = bodies
        return self._carrying

    @staticmethod
    def _set_forces(b: RodArrays, steps: FreeSteps) -> None:
        b.forces.force[:, :3] = steps.forces
        b.forces.wind[:] = steps.wind
        b.forces.drag_rate[:] = steps.drag_rate

    def step_carried(self, h: float, around: Around, chosen: Ints) -> Flags:
        """Advances chosen rods and their bodies, all registered by `carry`, by one step. Kinematic bodies are restored, because the
        simulation moves them. Returns (R,) rods for which that did not work out; these and their bodies are where they were."""
        failed, carried = np.zeros(self._rods, dtype=np.bool_), self._carried
        if carried is None or not len(chosen):
            return failed
        bodies, block = carried.bodies, self._body_block
        self._h = h
        step = Step(h, 1, BACKWARD_EULER, around.air_density, self._projection, 0, 0)
        before = begin_bodies(bodies, block, around.gravity, around.wind, around.drag)
        skip = ~failed
        skip[chosen] = False
        step_assemblies(self._held, self._held_chain, self._nodes, self._motion, carried, step, before, skip, failed)
        end_bodies(bodies, before)
        return failed

    def _step_explicitly(self, h: float, count: int, air_density: float, skip: Flags) -> None:
        """With zero steps it only measures."""
        b, chain, nodes, motion, failed = self.arrays, self._chain, self._nodes, self._motion, self._failed
        step = Step(h, max(count, 1), BACKWARD_EULER, air_density, self._projection, 0, 0)
        flat, start, benches, scratch = self.flat, self._start, self._benches, self._scratch

        def work(first: int, last: int, piece: int) -> None:
            if start is not None and count > 0:
                step_and_damp_rods(
                    b, start, flat, benches[piece], scratch[piece], chain, nodes, motion, step, skip, failed, first, last
                )  # fmt: skip
            else:
                step_rods_explicitly(
                    b, chain, nodes, motion, step, skip, failed, max(1 - count, 0), step.steps, first, last
                )

        self._workers.run(work, self._rods, len(b.state.q) * max(count, 1) * max(int(motion.inner.max()), 1))
        self._measured = True

    def solve(self, generalized: Array) -> None:
        b, chain, nodes, motion = self.arrays, self._chain, self._nodes, self._motion
        x, h = generalized.reshape(-1, 4), self._h
        self._workers.run(
            lambda first, last, piece: respond(b, chain, nodes, motion, h, x, first, last), self._rods, len(x)
        )

    def finish(self, chosen: Ints, creep: bool = False, smooth: bool = False) -> None:
        super().finish(chosen, creep, smooth)
        self._implicit[chosen] = True

    def take_work(self) -> Work:
        found = frozenset(np.flatnonzero(self._implicit).tolist())
        self._implicit[:] = False
        return replace(super().take_work(), implicit=found)

    def energies(self, gravity: Array) -> Energies:
        if not self._measured:
            self._step_explicitly(0.0, 0, 0.0, self._carrying)
            if self._carried is not None:
                count = len(self._carried.assemblies.rods) - 1
                measure_assemblies(self._held, self._held_chain, self._nodes, self._motion, self._carried, 0, count)
        return super().energies(gravity)

    @property
    def projection(self) -> str:
        """ "fast" as published, which dissipates, or "symplectic", which keeps energy (see `projection.py`)."""
        return "symplectic" if self._motion.symplectic[0] else "fast"

    @projection.setter
    def projection(self, name: str) -> None:
        if name not in ("fast", "symplectic"):
            raise TendrilError("projection", name, 'choose "fast" or "symplectic"')
        self._motion.symplectic[0] = name == "symplectic"

    @property
    def inner_steps(self) -> Ints:
        """(R,) inner steps of each rod in the last free steps."""
        return self._motion.inner

    @property
    def most_projections(self) -> Ints:
        """(R,) largest number of projection iterations in the last steps."""
        return self._motion.most_iterations
