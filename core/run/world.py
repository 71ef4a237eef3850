"""The moving parts of a simulation, the forces on them, and their state. Steppers advance it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compile.workers import Workers
from ..contact.bodies.attached import softened
from ..contact.bodies.block import Around
from ..describe.rotations import are_rotations
from ..describe.scene import Scene
from ..errors import Array
from ..models.protocol import Energies, Grows, Work
from .callbacks import Callbacks
from .goals import Goals
from .holds import HoldMotion
from .rod_blocks import RodBlocks
from .soft_holds import SoftHolds
from .surroundings import Surroundings

if TYPE_CHECKING:
    from ..contact.bodies.outside import BodyEngine
    from ..contact.bodies.simulated import SimulatedBodies
    from ..contact.solver import ContactSolver

Flags = NDArray[np.bool_]


class FrameTimes(NamedTuple):
    """The times within one frame."""

    number: int  # of frames since the first one
    rate: float  # frames per second of simulated time
    clock: float  # frames per second of prescribed motion; the same unless time is scaled

    def at(self, fraction: float) -> float:
        """Seconds since the first frame. At the end of a frame this equals the start of the next one to the last bit."""
        return (self.number + fraction) / self.clock


class Settings(NamedTuple):
    """Of a simulation, as its constructor takes them."""

    integrator: str
    tolerance: float
    threads: int | None
    engine: BodyEngine | None
    contact: str


def can_touch(scene: Scene) -> bool:
    """Whether anything in a scene can collide."""
    return scene.rod_contact or bool(scene.colliders) or any(body.collides for body in scene.bodies)


def _is_bounded(values: Array) -> bool:
    return bool(np.all(np.abs(values) < 1e12))  # False for NaN


class World:
    def __init__(self, scene: Scene, settings: Settings) -> None:
        self.callbacks = Callbacks()
        scene = self.scene = self.callbacks.guard_scene(scene)
        touching = can_touch(scene)
        workers = Workers(settings.threads)
        entries = softened(scene) if scene.attachments else scene.entries
        self.rods = RodBlocks(
            scene,
            entries,
            integrator=settings.integrator,
            tolerance=settings.tolerance,
            workers=workers,
            touching=touching,
        )
        self.blocks = self.rods.blocks
        goals = Goals(scene, self.rods.vertices, self.rods.places)
        self.holds = HoldMotion(scene, self.blocks, self.rods.hold_ids, goals, self.callbacks)
        self.soft = SoftHolds(scene, self.rods, self.holds)
        self.around = Surroundings(scene, self.blocks, self.rods.vertices, self.rods.places, goals, self.soft)
        self.growing: dict[int, Grows] = {}  # blocks with rods whose length changes through the next frame
        self.work = Work()  # since the last frame was returned
        self.bodies = self._make_bodies(settings) if scene.bodies else None
        # Without contact its kernels are neither imported nor compiled.
        self.contact = self._make_contact(settings, workers) if touching else None
        if self.bodies is not None:
            self.bodies.steps.hand_over(scene.attachments)
        self._sizes = [block.state_size for block in self.blocks]
        self._sizes += [self.holds.state_size, self.contact.known.state_size if self.contact else 0]
        self._sizes.append(self.bodies.state_size if self.bodies else 0)
        self.state_size = sum(self._sizes)
        self.holds.follow_paths(0.0)
        self.send_holds()
        self.send_holds()  # twice: the first step also begins there
        self.sags = self._balance_rods() if any(entry.sag_free for entry in scene.entries) else {}

    def _balance_rods(self) -> dict[int, float]:
        from .sag_free import balance_rods  # late: it compiles kernels

        return balance_rods(self)

    def _make_bodies(self, settings: Settings) -> SimulatedBodies:
        from ..contact.bodies.simulated import SimulatedBodies

        return SimulatedBodies(
            self.scene, self.blocks, self.rods.rods, settings.integrator, settings.tolerance, settings.engine
        )

    def _make_contact(self, settings: Settings, workers: Workers) -> ContactSolver:
        from ..contact.making import make_contact

        def around() -> Around:
            return self._around_bodies(self.around.drag, self.around.air_density)

        return make_contact(
            self.scene, self.blocks, self.rods.rods, self.bodies, around, settings.tolerance, workers, settings.contact
        )

    def _around_bodies(self, drag: float, air_density: float) -> Around:
        return Around(self.around.gravity, self.around.wind, drag, air_density)

    # Motion that is prescribed --------------------------------------------------------------------------------------

    def place(self, times: FrameTimes, fraction: float) -> None:
        """Moves everything prescribed (holds, growing rods, colliders, kinematic bodies) to a fraction of the frame. That is where
        the next step ends; it begins where they were before."""
        time = times.at(fraction)
        self.holds.advance(fraction, time)
        for block in self.growing.values():
            block.grow_to(fraction)
        if self.contact is not None:
            self.contact.colliders.advance(fraction, time)
            self.contact.colliders.put()
        self.send_holds()
        if self.bodies is not None:
            self.bodies.motion.advance(fraction, time)
            self.bodies.aim()

    def send_holds(self) -> None:
        self.rods.move_holds(self.holds.poses())

    def set_influence(self, hold: int, influence: float) -> None:
        """See `Simulation.set_influence`."""
        lost = self.soft.set(hold, influence)
        if lost == 0.0:
            return
        self.around.let_go(self.scene.holds[hold].rod, lost)
        if influence == 1.0 or lost == -influence:
            self.send_holds()
            self.send_holds()  # twice: the next step also begins there

    @property
    def is_uniform(self) -> bool:
        """Whether prescribed motion is linear and forces are constant through the frame, so that blocks can take all substeps in
        one call."""
        return not (self.holds.uneven or self.around.uneven or self.growing or self.bodies)

    def finish_growth(self) -> None:
        """Growing rods reach their new length."""
        for block in self.growing.values():
            block.arrive()
        self.growing.clear()

    def end_frame(self) -> None:
        """Everything prescribed has reached its target of this frame."""
        if self.contact is not None:
            self.contact.known.trim()
            self.contact.colliders.arrive()
        self.holds.arrive()
        self.finish_growth()
        if self.bodies is not None:
            self.bodies.motion.arrive()

    # Steps ----------------------------------------------------------------------------------------------------------

    def free_steps(
        self,
        h: float,
        count: int,
        settling: bool,
        skip: Sequence[Flags | None] | None = None,
        place: Callable[[float], None] | None = None,
    ) -> None:
        """Free steps of all rods except those to skip (per block); without `skip` also of bodies and the rods attached to them.
        `place` moves prescribed things to a fraction of the step, for bodies that take smaller ones. `settling`: no air."""
        of = self.around
        air, drag = (0.0, 0.0) if settling else (of.air_density, of.drag)
        skipped = [None] * len(self.blocks) if skip is None else skip[: len(self.blocks)]
        if self.bodies is not None:
            attached = self.bodies.steps.attached()
            skipped = [one if also is None else one | also for one, also in zip(attached, skipped, strict=True)]
        for number, (block, of_block) in enumerate(zip(self.blocks, skipped, strict=True)):
            block.free_steps(of.free_steps(number, h, count, settling, of_block))
        if self.bodies is not None and skip is None:  # otherwise the contact solver steps them
            self.bodies.aim()
            self.bodies.steps.free_step(h, self._around_bodies(drag, air), place or (lambda _: None), settling)

    def exchange(self, h: float) -> None:
        """After each substep: an external engine moves the bodies."""
        outside = None if self.bodies is None else self.bodies.outside
        if outside is not None and not outside.exchange(h, self.around.gravity):
            self.work = self.work + Work(failures=1)

    def collect_work(self) -> None:
        for number, block in enumerate(self.blocks):
            self.work = self.work + self._of_rods(number, block.take_work())
        if self.bodies is not None:
            self.work = self.work + self.bodies.steps.take_work()

    def _of_rods(self, block: int, work: Work) -> Work:
        """The work of a block, with the ids of its rods in the scene."""
        if not work.affected and not work.implicit:
            return work

        def ids(numbers: frozenset[int]) -> frozenset[int]:
            return frozenset(rod for rod, (of, k) in enumerate(self.rods.rods) if of == block and k in numbers)

        return replace(work, affected=ids(work.affected), implicit=ids(work.implicit))

    def stop(self) -> None:
        """Sets all velocities to zero."""
        for block in self.blocks:
            block.stop()
        if self.bodies is not None:
            self.bodies.block.stop(np.arange(len(self.scene.bodies)))

    # State ----------------------------------------------------------------------------------------------------------

    def positions(self) -> list[Array]:
        """Copies of the positions of all sample points, per block, and of all bodies."""
        bodies = [] if self.bodies is None else [self.bodies.block.positions()]
        return [*(block.positions().copy() for block in self.blocks), *bodies]

    def energies(self) -> Energies:
        gravity = self.around.gravity
        own = Energies() if self.bodies is None else self.bodies.block.energies(gravity)
        return sum((block.energies(gravity) for block in self.blocks), own)

    def pack_state(self, out: Array | None = None) -> Array:
        """The state as a flat array of state_size: a new one, or the given one."""
        out = np.empty(self.state_size) if out is None else out
        *blocks, holds, contact, bodies = self.parts(out)
        for block, part in zip(self.blocks, blocks, strict=True):
            block.pack_state(part)
        holds[:] = self.holds.state()
        if self.contact is not None:
            self.contact.known.pack(contact)
        if self.bodies is not None:
            self.bodies.pack_state(bodies)
        return out

    def restore(self, flat: Array) -> None:
        """Sets the state, except for the holds."""
        *blocks, _, contact, bodies = self.parts(flat)
        if self.contact is not None:
            self.contact.known.unpack(contact)  # first: it raises for an invalid state, before anything has changed
        for block, part in zip(self.blocks, blocks, strict=True):
            block.unpack_state(part)
        if self.bodies is not None:
            self.bodies.restore(bodies)

    def is_plausible(self, flat: Array) -> bool:
        """After `restore`, whether all rods and bodies are somewhere, with orthonormal frames: not so in forged states."""
        for positions, velocities, directors in self.rods.samples():
            lengths = np.linalg.norm(directors, axis=1)
            if not (_is_bounded(positions) and _is_bounded(velocities) and np.all(np.abs(lengths - 1.0) < 0.01)):
                return False
        if not self.holds.can_restore(self.parts(flat)[-3]):
            return False
        if self.bodies is None:
            return True
        state = self.bodies.block.state
        return all(map(_is_bounded, state)) and bool(np.all(are_rotations(state.rotation)))

    def reset(self, flat: Array, which: Sequence[bool]) -> None:
        """Returns parts of the world to those of a state, at rest, and counts the rods and bodies concerned as failures."""
        parts, count, rods = self.parts(flat), 0, set[int]()
        for number, (block, part, chosen) in enumerate(zip(self.blocks, parts, which, strict=False)):
            if chosen:
                block.unpack_state(part)
                block.stop()
                rods |= {rod for rod, (of, _) in enumerate(self.rods.rods) if of == number}
        holds, contact, bodies = which[len(self.blocks) :]
        if holds:
            self.holds.restore(parts[-3])
            self.send_holds()
        if contact and self.contact is not None:
            self.contact.known.unpack(parts[-2])
        if bodies and self.bodies is not None:
            of_bodies = self.bodies.block
            of_bodies.unpack_state(parts[-1][: of_bodies.state_size])
            of_bodies.stop(np.arange(len(self.scene.bodies)))
            count += len(self.scene.bodies)
        self.work = self.work + Work(failures=max(count + len(rods), 1), affected=frozenset(rods))

    def restore_prescribed(self, flat: Array, time: float) -> None:
        """Sets holds to those of a state, and colliders to where they are at a time in s."""
        self.holds.restore(self.parts(flat)[-3])
        self.send_holds()
        if self.contact is not None:
            self.contact.colliders.advance(0.0, time)
            self.contact.colliders.put()

    def parts(self, flat: Array) -> list[Array]:
        """Views of a state: of the blocks, the holds, contact, bodies."""
        ends = itertools.accumulate(self._sizes)
        return [flat[end - size : end] for size, end in zip(self._sizes, ends, strict=True)]
