"""Time: packs a scene into blocks, steps it, gives frames."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..compile import jit
from ..compile.workers import Workers
from ..contact.bodies.attached import softened
from ..contact.bodies.block import Around
from ..contact.choice import chosen_contact
from ..describe.fields import Field
from ..describe.scene import AttachmentId, BodyId, ColliderId, Entry, HoldId, RodId, Scene
from ..errors import Array, TendrilError, array, positive, whole
from ..models import make_block
from ..models.alteration import Factors, check_factors, refuse_others
from ..models.protocol import Energies, ModelBlock, Work, edge_rows, vertex_rows
from .frame import Frame, Report, lay_out
from .holds import HoldMotion
from .strains import StrainGauge, Strains
from .surroundings import Surroundings

if TYPE_CHECKING:
    from ..contact.bodies.outside import BodyEngine
    from ..contact.bodies.simulated import SimulatedBodies
    from ..contact.solver import ContactSolver, Outcome
    from ..contact.substeps import Substeps

INTEGRATORS = ("tr-bdf2", "sdirk2", "backward euler", "midpoint", "semi-implicit euler")
DEFAULT_SUBSTEPS = 4
DEFAULT_TOLERANCE = 1e-3


class Simulation:
    """Runs a scene. The same scene gives the same bits, for any number of threads."""

    def __init__(
        self,
        scene: Scene,
        frame_rate: float = 24.0,
        *,
        substeps: int = DEFAULT_SUBSTEPS,
        integrator: str = "sdirk2",
        tolerance: float = DEFAULT_TOLERANCE,
        threads: int | None = None,
        first_frame: int = 1,
        engine: BodyEngine | None = None,
        contact: str = "coulomb",
    ) -> None:
        """`integrator` is "sdirk2", of second order and stable at any step; "backward euler", which calms motion down; or
        "midpoint", which keeps energy and wants many substeps, for "der" rods alone; or "semi-implicit euler", the cheap one of
        the paper on clothoids, for these alone.
        `tolerance` is that of Newton's method, in lengths of a segment. With an `engine`, that is what moves the bodies; see
        contact/bodies/outside.py. Each substep is then an exchange with it: 240 a second suffice. `contact` is "coulomb", for all
        models; "active set", that of the paper on compact rods, for these alone and without friction or bodies; or "gauss-seidel",
        for hair: many "clothoid" rods that press on each other, fast rather than exact, without bodies."""
        if not isinstance(scene, Scene):
            raise TendrilError("scene", scene, "give a Scene")
        if not scene.entries and not scene.bodies:
            raise TendrilError("scene", scene, "add at least one rod or body to it")
        if not isinstance(integrator, str) or integrator not in INTEGRATORS:
            raise TendrilError("integrator", integrator, f"choose one of {', '.join(INTEGRATORS)}")
        self.frame_rate = positive("frame_rate", frame_rate, "frames per second")
        self.substeps = whole("substeps", substeps, 1, 10_000)
        self.integrator = integrator
        tolerance = positive("tolerance", tolerance)
        if engine is not None and not (callable(getattr(engine, "step", None)) and scene.bodies):
            raise TendrilError("engine", engine, "give an object with a method step, and add bodies to the scene")
        if threads is not None:
            threads = whole("threads", threads, 1, 1024)
        self.first_frame = whole("first_frame", first_frame, -(2**31), 2**31)
        self.scene = scene
        self.contact = chosen_contact(contact, scene)
        self.frame = self.first_frame
        if any(jit.is_cold(model) for model in {entry.model for entry in scene.entries}):
            jit.announce_compilation()

        self.blocks: list[ModelBlock] = []  # one per model, in the order of first use
        self._rods: list[tuple[int, int]] = [(0, 0)] * len(scene.entries)  # per rod id: its block, its number there
        self._block_holds: list[Array] = []  # per block: the ids of its holds
        workers = Workers(threads)
        entries = softened(scene) if scene.attachments else scene.entries
        for model in dict.fromkeys(entry.model for entry in scene.entries):
            ids = [k for k, entry in enumerate(scene.entries) if entry.model == model]
            numbers = {rod: k for k, rod in enumerate(ids)}
            holds = [k for k, hold in enumerate(scene.holds) if hold.rod in numbers]
            for rod, k in numbers.items():
                self._rods[rod] = (len(self.blocks), k)
            self._block_holds.append(np.array(holds, dtype=np.int64))
            self.blocks.append(
                make_block(
                    model,
                    [entries[k] for k in ids],
                    [(numbers[scene.holds[k].rod], scene.holds[k]) for k in holds],
                    integrator=integrator,
                    tolerance=tolerance,
                    workers=workers,
                    touching=self._can_touch,
                )
            )
        self._vertices = [vertex_rows(block) for block in self.blocks]
        self._places = lay_out([block for block, _ in self._rods], scene.entries)
        self._directors = [edge_rows(block, self._of_block(k)) for k, block in enumerate(self.blocks)]
        self._holds = HoldMotion(scene, self.blocks, self._block_holds)
        self._bodies: SimulatedBodies | None = None
        if scene.bodies:
            from ..contact.bodies.attached import check_explicit
            from ..contact.bodies.simulated import SimulatedBodies

            check_explicit(scene, self._can_touch)
            self._bodies = SimulatedBodies(scene, self.blocks, self._rods, integrator, tolerance, engine)
        self._contact: ContactSolver | None
        self._contact_steps: Substeps | None
        self._contact, self._contact_steps = None, None
        if self._can_touch:  # where nothing can touch nothing of contact needs to be compiled
            from ..contact.making import make_contact

            self._contact, self._contact_steps = make_contact(
                scene, self.blocks, self._rods, self._bodies, self._around_bodies, self.substeps, tolerance, workers,
                self.contact,
            )  # fmt: skip
        if self._bodies is not None and self._contact is None:
            self._bodies.steps.hand_over(scene.attachments)
        self._sizes = [block.state_size for block in self.blocks]
        self._sizes += [self._holds.state_size, self._contact.known.state_size if self._contact else 0]
        self._sizes.append(self._bodies.state_size if self._bodies else 0)
        self.state_size = sum(self._sizes)
        self._around = Surroundings(scene, self.blocks, self._vertices, self._places)
        self._gauge: StrainGauge | None = None  # made when first needed
        self._factors: dict[RodId, Factors] = {}
        self._growing: dict[int, Any] = {}  # blocks with rods that get longer evenly through the next frame
        self._work = Work()
        self._holds.follow_paths(self.time)
        self._send_holds(self._holds.poses())
        self._send_holds(self._holds.poses())  # twice: the beginning of the first step is where they are now

    def _of_block(self, number: int) -> list[Entry]:
        return [entry for (block, _), entry in zip(self._rods, self.scene.entries, strict=True) if block == number]

    @property
    def _can_touch(self) -> bool:
        solid = any(body.collides for body in self.scene.bodies)
        return self.scene.rod_contact or bool(self.scene.colliders) or solid

    def _around_bodies(self) -> Around:
        of = self._around
        return Around(of.gravity, of.wind, of.drag, of.air_density)

    @property
    def time(self) -> float:
        """Seconds since the first frame."""
        return (self.frame - self.first_frame) / self.frame_rate

    def move(
        self,
        hold: HoldId | Sequence[HoldId] | Array,
        position: ArrayLike | None = None,
        rotation: ArrayLike | None = None,
        spin: ArrayLike | None = None,
    ) -> None:
        """Says where a hold (or several, with as many rows) is at the end of the next frame; it goes there evenly.

        `rotation` (3x3) turns the frame it had at the start; `spin` (rad) turns it about the tangent on top."""
        self._holds.aim(hold, position, rotation, spin)

    def release(self, hold: HoldId) -> None:
        """Lets go of a hold for good. Who restores an earlier state into a new simulation has to do it again."""
        number = whole("hold", hold, 0, len(self.scene.holds) - 1)
        for block, ids in zip(self.blocks, self._block_holds, strict=True):
            for k in np.flatnonzero(ids == number).tolist():
                if not getattr(block, "release", lambda _: False)(k):
                    raise TendrilError("hold", hold, "only pins, and clamps at the end of a rod, can be let go of")

    def detach(self, attachment: AttachmentId) -> None:
        """Lets go of an attachment to a body for good. Who restores an earlier state into a new simulation has to do it again."""
        number = whole("attachment", attachment, 0, len(self.scene.attachments) - 1)
        assert self._bodies is not None
        if not self._bodies.steps.release(number):
            raise TendrilError("attachment", attachment, 'rods of the model "der2008" do not let go of bodies')

    def move_collider(
        self,
        collider: ColliderId,
        position: ArrayLike | None = None,
        rotation: ArrayLike | None = None,
        vertices: ArrayLike | None = None,
        *,
        at_once: bool = False,
    ) -> None:
        """Says where a collider is at the end of the next frame; it goes there evenly, or with `at_once` is there now.

        `rotation` (3x3) turns the shape as it was given; `vertices` are those of a mesh, all of them."""
        if self._contact is None:
            raise TendrilError("collider", collider, "give the id that scene.collide returned")
        self._contact.colliders.aim(collider, position, rotation, vertices, at_once)

    def move_body(self, body: BodyId, position: ArrayLike | None = None, rotation: ArrayLike | None = None) -> None:
        """Says where a kinematic body is at the end of the next frame; it goes there evenly."""
        if self._bodies is None:
            raise TendrilError("body", body, "give the id that scene.add_body returned")
        self._bodies.motion.aim(body, position, rotation)

    def grow(self, rod: int, length: float | None = None, curvature: ArrayLike | None = None) -> None:
        """Gives a "clothoid" rod another natural length (m), or another natural twist and curvatures (1/m): three numbers, or a row
        of them for each node. Called before every frame, a little at a time, it is growth. Sample points stay as many as the rod
        was described with: describe it as long as it will be, and let it begin shorter: in the first frame it is so at once."""
        whole("rod", rod, 0, len(self.scene.entries) - 1)
        block_number, number = self._rods[rod]
        block = self.blocks[block_number]
        if not hasattr(block, "grow"):
            raise TendrilError("rod", rod, 'only rods of the model "clothoid" grow')
        block.grow(number, length, curvature)
        self._growing[block_number] = block
        if self.frame == self.first_frame:  # so it begins
            self._arrive_at_lengths()

    def step_frame(self) -> Frame:
        """Goes one frame further. Never raises and never gives a NaN; the frame's report says how it went."""
        if self._contact is not None and self._contact_steps is not None:
            halvings = self._contact_steps.run(self._attempt, self._place, self._exchange)
            self._work = self._work + Work(halvings=halvings)
            self._count_work()
            self._contact.known.trim()
            self._contact.colliders.arrive()
        else:
            self._free_substeps()
        self._holds.arrive()
        self._arrive_at_lengths()
        if self._bodies is not None:
            self._bodies.motion.arrive()
        self.frame += 1
        return self.current()

    def _free_substeps(self) -> None:
        h = 1.0 / (self.frame_rate * self.substeps)
        # What runs evenly through the frame needs no Python between substeps.
        even = not (self._holds.uneven or self._around.uneven or self._growing or self._bodies)
        count = self.substeps if even else 1
        for k in range(count, self.substeps + 1, count):
            at = k / self.substeps
            time = self._time_at(at)
            self._advance(at, time)
            if self._bodies is not None:
                self._bodies.motion.advance(at, time)
            # Loads act all through a step as they do in its middle: of second order, as the integrator is.
            place = partial(self._place_between, (k - count) / self.substeps, at)
            self._step(h, count, time - 0.5 * h * count, place=place)
            self._exchange()

    def _exchange(self) -> None:
        """After each substep: an outside engine moves the bodies."""
        if self._bodies is not None and self._bodies.outside is not None:
            h = 1.0 / (self.frame_rate * self.substeps)
            if not self._bodies.outside.exchange(h, self._around.gravity):
                self._work = self._work + Work(failures=1)

    def _attempt(self, which: NDArray[np.bool_], begin: float, end: float, careful: bool, last: bool) -> Outcome:
        """A step of rods from one moment of the frame to another, where contact finds out how far that works."""
        assert self._contact is not None
        h = (end - begin) / self.frame_rate
        self._around.act(self._time_at(end) - 0.5 * h, h)
        free = partial(self._free_steps, h, 1, False)
        return self._contact.step(which, h, free, self._around.air_density, careful, last)

    def _place(self, fraction: float) -> None:
        """Sends holds and colliders to where they are at a fraction of the frame; where they were before is the beginning."""
        assert self._contact is not None
        time = self._time_at(fraction)
        self._advance(fraction, time)
        self._contact.colliders.advance(fraction, time)
        self._contact.colliders.put()
        self._send_holds(self._holds.poses())
        if self._bodies is not None:
            self._bodies.motion.advance(fraction, time)
            self._bodies.aim()

    def _advance(self, fraction: float, time: float) -> None:
        self._holds.advance(fraction, time)
        for block in self._growing.values():
            block.grow_to(fraction)

    def _arrive_at_lengths(self) -> None:
        for block in self._growing.values():
            block.arrive()
        self._growing.clear()

    def _time_at(self, fraction: float) -> float:
        """At the frame's end this is the next frame's `time` to the last bit, from where a restored run goes on."""
        return (self.frame - self.first_frame + fraction) / self.frame_rate

    def _free_steps(
        self,
        h: float,
        count: int,
        settling: bool,
        skip: Sequence[NDArray[np.bool_] | None] | None = None,
        place: Callable[[float], None] | None = None,
    ) -> None:
        """The free steps of all rods but those to skip, per block. To settle there is no air."""
        of = self._around
        air, drag = (0.0, 0.0) if settling else (of.air_density, of.drag)
        skipped = [None] * len(self.blocks) if skip is None else skip[: len(self.blocks)]
        if self._bodies is not None:
            attached = self._bodies.steps.attached()
            skipped = [one if also is None else one | also for one, also in zip(attached, skipped, strict=True)]
        for block, forces, of_block in zip(self.blocks, of.forces, skipped, strict=True):
            block.free_steps(h, count, forces, of.wind, air, drag, settling, of_block)
        if self._bodies is not None and skip is None:  # or else contact does it
            self._bodies.aim()
            for block, forces in zip(self.blocks, of.forces, strict=True):
                if not settling and hasattr(block, "step_carried"):
                    block.step_carried(h, forces, of.gravity, of.wind, air, drag)
            around = Around(of.gravity, of.wind, drag, air)
            self._bodies.steps.free_step(h, around, place or (lambda _: None), settling)

    def _count_work(self) -> None:
        for block in self.blocks:
            self._work = self._work + block.take_work()
        if self._bodies is not None:
            self._work = self._work + self._bodies.steps.take_work()

    def frames(self, first: int, last: int) -> Iterator[Frame]:
        """Frames first ... last, simulating up to them. A frame that lies behind can't be had again."""
        if first < self.frame:
            raise TendrilError("first", first, f"the simulation stands at frame {self.frame}: begin there or later")
        while self.frame < first:
            self.step_frame()
        if self.frame <= last:
            yield self.current()
        while self.frame < last:
            yield self.step_frame()

    def current(self) -> Frame:
        work, self._work = self._work, Work()
        samples = tuple(
            (block.positions()[rows], block.velocities()[rows], block.directors()[edges])
            for block, rows, edges in zip(self.blocks, self._vertices, self._directors, strict=True)
        )
        bodies = None if self._bodies is None else self._bodies.sample(1.0 / self.frame_rate)
        report = Report(work.iterations, work.residual, work.halvings, work.fallbacks, work.failures, self.energies())
        return Frame(self.frame, self.time, report, samples, self._places, bodies)

    def surround(
        self,
        *,
        gravity: ArrayLike | None = None,
        wind: ArrayLike | None = None,
        air_density: float | None = None,
        drag: float | None = None,
        fields: Sequence[Field] | None = None,
        gravity_weights: Mapping[RodId, float] | None = None,
    ) -> None:
        """Changes what the scene said of these, from now on; what is not given stays. `gravity_weights` say how much gravity counts
        for rods, 1 for those that are not among them. It is no part of the state: who restores one says it again."""
        self._around.change(gravity, wind, air_density, drag, fields, gravity_weights)

    def alter(
        self, rod: RodId, *, stiffness: float = 1.0, damping: float = 1.0, length: float = 1.0, curl: float = 1.0
    ) -> None:
        """Makes a rod other than it was described, from now on: factors on its stiffness against bending and twisting, its damping,
        the natural length of all its segments, and its natural curvature. It is no part of the state: who restores one says it
        again. Rods of the models der, net, compact and clothoid can change; clothoids grow evenly through the next frame."""
        number = whole("rod", rod, 0, len(self.scene.entries) - 1)
        factors = check_factors(stiffness, damping, length, curl)
        block, k = self._rods[number]
        refuse_others(self.scene.entries[number].model)
        self.blocks[block].alter(k, factors)  # type: ignore[attr-defined]
        if hasattr(self.blocks[block], "grow_to"):
            self._growing[block] = self.blocks[block]
        self._factors[number] = factors
        if self._gauge is not None:
            self._gauge.alter(number, factors)

    def strains(self) -> Strains:
        """Stretch, tension, bending and twist of all rods as they are now."""
        if self._gauge is None:
            self._gauge = StrainGauge([self._of_block(k) for k in range(len(self.blocks))], self._places)
            for rod, factors in self._factors.items():
                self._gauge.alter(rod, factors)
        samples = zip(self.blocks, self._vertices, self._directors, strict=True)
        return self._gauge.read(
            self.blocks, [(block.positions()[rows], block.directors()[edges]) for block, rows, edges in samples]
        )

    def energies(self) -> Energies:
        own = Energies() if self._bodies is None else self._bodies.block.energies(self._around.gravity)
        return sum((block.energies(self._around.gravity) for block in self.blocks), own)

    def settle(self, *, stable: bool = True, still: float = 1e-9, most_steps: int = 400) -> bool:
        """Lets all rods come to rest where the forces of this moment balance, without passing time.

        Ever longer steps, each begun from rest, until a long one moves nothing by more than `still` times the longest rod.
        True if that was found. Unless any balance will do (`stable` False), it is disturbed a little and must not go
        farther down from there: a pencil on its tip is not at rest."""
        from .resting import settle

        self._arrive_at_lengths()
        self._holds.advance(0.0, self.time)
        return settle(self, stable, still, most_steps)

    def state(self) -> Array:
        """All that is needed to go on from here, as a flat array."""
        out = np.empty(self.state_size)
        *blocks, holds, contact, bodies = self._parts(out)
        for block, part in zip(self.blocks, blocks, strict=True):
            block.pack_state(part)
        holds[:] = self._holds.state()
        if self._contact is not None:
            self._contact.known.pack(contact)
        if self._bodies is not None:
            self._bodies.pack_state(bodies)
        return out

    def _parts(self, flat: Array) -> list[Array]:
        """A state's parts: of the blocks, of the holds, of contact, of bodies."""
        ends = itertools.accumulate(self._sizes)
        return [flat[end - size : end] for size, end in zip(self._sizes, ends, strict=True)]

    def restore(self, state: ArrayLike, frame: int) -> None:
        """Goes on from a state of `state()`, as frame `frame`. With an engine only if that can go back, too."""
        cure = f"give an array of {self.state_size} numbers, made by state() of a simulation of the same scene"
        flat = array("state", state, (self.state_size,), cure)
        self.frame = whole("frame", frame, -(2**31), 2**31)
        self._put_state(flat)
        self._holds.restore(self._parts(flat)[-3])
        self._send_holds(self._holds.poses())
        if self._contact is not None:
            self._contact.colliders.advance(0.0, self.time)
            self._contact.colliders.put()
        self._work = Work()

    def _put_state(self, flat: Array) -> None:
        """A state but for the holds."""
        *blocks, _, contact, bodies = self._parts(flat)
        if self._contact is not None:
            self._contact.known.unpack(contact)  # first: it refuses what makes no sense
        for block, part in zip(self.blocks, blocks, strict=True):
            block.unpack_state(part)
        if self._bodies is not None:
            self._bodies.restore(bodies)

    def _place_between(self, begin: float, end: float, part: float) -> None:
        """Sends what is prescribed to a part of the way between two moments of the frame."""
        at = end if part == 1.0 else begin + part * (end - begin)
        time = self._time_at(at)
        self._advance(at, time)
        self._send_holds(self._holds.poses())
        if self._bodies is not None:
            self._bodies.motion.advance(at, time)
            self._bodies.aim()

    def _step(
        self,
        h: float,
        count: int,
        time: float,
        settling: bool = False,
        place: Callable[[float], None] | None = None,
    ) -> None:
        self._send_holds(self._holds.poses())
        self._around.act(time, h)
        if self._contact is not None:  # only to look for rest
            self._step_to_rest(h)
            return
        self._free_steps(h, count, settling, place=place)
        self._count_work()

    def _step_to_rest(self, h: float) -> None:
        assert self._contact is not None
        known, everything = self._contact.known.copy(), np.ones(self._contact.rods[-1].stop, np.bool_)
        free = partial(self._free_steps, h, 1, True)
        if self._contact.step(everything, h, free, 0.0, careful=True, last=True).failed.any():
            for block in self._contact.blocks:
                block.recall(np.arange(len(block.sample_start) - 1))
            self._contact.known.recall(known, everything)
            self._work = self._work + Work(halvings=1)
        self._count_work()

    def _send_holds(self, poses: tuple[Array, Array, Array]) -> None:
        for block, ids in zip(self.blocks, self._block_holds, strict=True):
            if len(ids):
                block.move_holds(poses[0][ids], poses[1][ids], poses[2][ids])
