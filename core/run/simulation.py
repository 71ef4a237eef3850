"""The simulation of a scene: validates its settings, advances frame by frame, and is steered between frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..compile import jit
from ..contact.choice import chosen_contact
from ..describe.fields import Field
from ..describe.model import known_integrators, model_names, model_record
from ..describe.scene import AttachmentId, BodyId, ColliderId, GoalId, HoldId, RodId, Scene
from ..errors import Array, TendrilError, array, dimensions, flag, fraction, positive, whole
from ..models.alteration import Factors, check_factors
from ..models.protocol import Alters, Breaks, Energies, Grows, Work
from ..models.registry import kernel_source
from .callbacks import describe_error
from .frame import Frame, Report
from .last_good import LastGood
from .stepper import FreeStepper, Stepper
from .strains import StrainGauge, Strains
from .world import FrameTimes, Settings, World

if TYPE_CHECKING:
    from ..contact.bodies.outside import BodyEngine
    from .carrying import Carried

DEFAULT_SUBSTEPS = 4
DEFAULT_EFFORT = 5000  # iterations of the contact solver in a frame
DEFAULT_TOLERANCE = 1e-3


class Simulation:
    """Runs a scene. The same scene gives bit-identical results, for any number of threads."""

    def __init__(
        self,
        scene: Scene,
        frame_rate: float = 24.0,
        *,
        substeps: int = DEFAULT_SUBSTEPS,
        integrator: str = "tr-bdf2",
        tolerance: float = DEFAULT_TOLERANCE,
        threads: int | None = None,
        first_frame: int = 1,
        engine: BodyEngine | None = None,
        contact: str = "coulomb",
        effort: int = DEFAULT_EFFORT,
    ) -> None:
        """`integrator`: "tr-bdf2" (second order, L-stable, keeps spin and swing of stiff rods), "sdirk2" (the same, but first order
        on stiff rods), "backward euler" (first order, dissipative), "midpoint" (conserves energy, needs many substeps; not for all
        models) or "semi-implicit euler" (cheap; for "clothoid").
        `tolerance`: of Newton's method, in segment lengths.
        `engine`: an external engine that moves the bodies, see contact/bodies/outside.py. It is called once per substep; 240
        substeps a second are enough.
        `contact`: "coulomb", for all models; or "active set" (Zhao et al. 2022, appendix B), for "compact" rods without friction
        or bodies.
        `effort`: iterations of the contact solver in a frame. When they are used up, steps that fail are not halved any more: what
        is unresolved stays where it was, and is reported. A limit in seconds would make results depend on the machine."""
        _check_scene(scene)
        if not isinstance(integrator, str) or integrator not in known_integrators():
            raise TendrilError("integrator", integrator, f"choose one of {', '.join(known_integrators())}")
        self.frame_rate = positive("frame_rate", frame_rate, "frames per second")
        self.substeps = whole("substeps", substeps, 1, 10_000)
        self.effort = whole("effort", effort, 1, 10**9)
        self.integrator = integrator
        tolerance = positive("tolerance", tolerance)
        _check_engine(engine, scene)
        if threads is not None:
            threads = whole("threads", threads, 1, 1024)
        self.first_frame = whole("first_frame", first_frame, -(2**31), 2**31)
        self.scene = scene
        self.contact = chosen_contact(contact, scene)
        self.frame = self.first_frame
        self._time_scale = 1.0
        if _is_cold(scene):
            jit.announce_compilation()
        self._world = World(scene, Settings(integrator, tolerance, threads, engine, self.contact))
        if self._world.callbacks.first_error is not None:
            name, error = self._world.callbacks.first_error
            raise TendrilError(name, "a function", f"at time 0 it raises {describe_error(error)}") from error
        self.blocks, self.state_size = self._world.blocks, self._world.state_size
        self._contact, self._bodies = self._world.contact, self._world.bodies
        self._holds, self._around = self._world.holds, self._world.around
        self._rods, self._places = self._world.rods.rods, self._world.rods.places
        self._stepper = self._make_stepper()
        self._last_good = LastGood(self._world)
        self._gauge: StrainGauge | None = None  # made when first needed
        self._factors: dict[RodId, Factors] = {}
        self._to_carry: list[Carried] = []  # by which motion rods are carried in the next frame
        self._carried: list[Carried] = []  # and were in the current one

    def _make_stepper(self) -> Stepper:
        if self._contact is None:
            return FreeStepper(self._world, self.substeps)
        from .contact_stepper import ContactStepper  # late: it compiles kernels of contact

        return ContactStepper(self._world, self._contact, self.substeps, self.effort)

    # Frames ---------------------------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Seconds since the first frame."""
        return self._frame_times().at(0.0)

    @property
    def time_scale(self) -> float:
        """Simulated time per time of the clock."""
        return self._time_scale

    def _frame_times(self) -> FrameTimes:
        return FrameTimes(self.frame - self.first_frame, self.frame_rate / self._time_scale, self.frame_rate)

    def step_frame(self) -> Frame:
        """Advances by one frame. Never raises and never returns a NaN; the frame's report tells whether the solver converged. If a
        function of the scene raises, its object stays where it is, and the report of that frame says so once."""
        try:
            self._stepper.step_frame(self._frame_times())
        except Exception as error:  # an error of Tendril's must not end a bake of hours
            self._world.callbacks.tell("the solver", f"failed with {describe_error(error)}: please report this")
            self._last_good.reset()
        self._last_good.keep()
        self._carried, self._to_carry = self._to_carry, []
        self.frame += 1
        return self.current()

    def frames(self, first: int, last: int) -> Iterator[Frame]:
        """Frames first ... last, simulating up to them. Frames before the current one are refused."""
        if first < self.frame:
            raise TendrilError("first", first, f"the simulation is at frame {self.frame}: begin there or later")
        while self.frame < first:
            self.step_frame()
        if self.frame <= last:
            yield self.current()
        while self.frame < last:
            yield self.step_frame()

    def current(self) -> Frame:
        """The current frame."""
        work, self._world.work = self._world.work, Work()
        bodies = None if self._bodies is None else self._bodies.sample(1.0 / self.frame_rate)
        report = Report(
            work.iterations,
            work.residual,
            work.halvings,
            work.fallbacks,
            work.failures,
            self.energies(),
            work.overlap,
            work.affected,
            work.implicit,
            self._world.callbacks.take(),
        )
        samples = self._world.rods.samples()
        if self._carried:
            from .carrying import add_velocities

            add_velocities(samples, self._carried, self._frame_times().rate)
        return Frame(self.frame, self.time, report, samples, self._places, bodies)

    def settle(self, *, stable: bool = True, still: float = 1e-9, most_steps: int = 400) -> bool:
        """Moves all rods to static equilibrium under the current forces, without advancing time. Returns whether it was found.

        Takes ever longer steps from rest until a long one moves nothing by more than `still` times the length of the longest rod.
        With `stable` the equilibrium is then disturbed slightly and must not lose energy: a pencil on its tip is not at rest."""
        from .resting import settle

        self._world.finish_growth()
        self._holds.advance(0.0, self.time)
        found = settle(self._world, self._stepper, self.frame_rate, self.time, stable, still, most_steps)
        return self._last_good.keep() and found

    # Motion that is prescribed from frame to frame ------------------------------------------------------------------

    def move(
        self,
        hold: HoldId | Sequence[HoldId] | Array,
        position: ArrayLike | None = None,
        rotation: ArrayLike | None = None,
        spin: ArrayLike | None = None,
    ) -> None:
        """Sets the pose of a hold (or of several, with as many rows) at the end of the next frame; it moves there linearly.

        `rotation` (3x3) is relative to its initial frame; `spin` (rad) is an additional rotation about the tangent."""
        self._holds.aim(hold, position, rotation, spin)

    def spins(self, hold: Sequence[HoldId] | Array) -> Array:
        """(k,) rad, current rotations of holds about the tangent in addition to their rotation, as given to `move`."""
        return self._holds.spins(hold)

    def aim_goal(
        self,
        goal: GoalId | Sequence[GoalId] | Array,
        positions: ArrayLike | None = None,
        factor: ArrayLike | None = None,
    ) -> None:
        """Sets the target shape (n, 3) of a goal at the end of the next frame, to which it moves linearly; for several goals their
        points follow each other. `factor` multiplies the strength from now on; zero lets go."""
        self._holds.goals.aim(goal, positions, factor)

    def move_collider(
        self,
        collider: ColliderId,
        position: ArrayLike | None = None,
        rotation: ArrayLike | None = None,
        vertices: ArrayLike | None = None,
        *,
        at_once: bool = False,
    ) -> None:
        """Sets the pose of a collider at the end of the next frame, to which it moves linearly; with `at_once` its pose now.

        `rotation` (3x3) is relative to the shape as described; `vertices` are all vertices of a mesh."""
        if self._contact is None:
            raise TendrilError("collider", collider, "give the id that scene.collide returned")
        self._contact.colliders.aim(collider, position, rotation, vertices, at_once)

    def move_body(self, body: BodyId, position: ArrayLike | None = None, rotation: ArrayLike | None = None) -> None:
        """Sets the pose of a kinematic body at the end of the next frame; it moves there linearly."""
        if self._bodies is None:
            raise TendrilError("body", body, "give the id that scene.add_body returned")
        self._bodies.motion.aim(body, position, rotation)

    def carry(
        self,
        translation: ArrayLike,
        rotation: ArrayLike = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
        about: ArrayLike = (0.0, 0.0, 0.0),
        *,
        linear: float = 0.0,
        angular: float = 0.0,
        rods: Sequence[RodId] | None = None,
        colliders: Sequence[ColliderId] | None = None,
        jump: bool = False,
    ) -> None:
        """Carries rods along with an object that turns by `rotation` (3x3) about a point and moves by `translation` (m) in the next
        frame: they move rigidly now, with their holds and goals, and keep their velocities relative to it. `linear` and `angular`
        are the parts of the motion that rods still feel through their holds, from 0 (carried rigidly) to 1 (nothing happens).

        Without `rods` and `colliders` all are carried: the next frame is one in the frame of reference of the object, in which
        other things move. Velocities of the next frame contain the motion by which rods were carried, unless it is a `jump`.
        Targets of `move` and the like stay, whether set before or afterwards. Call it before each frame in which the object
        moves. What it changes is part of the state. Not in scenes with rigid bodies."""
        from .carrying import carry, part_of_motion

        motion = part_of_motion(translation, rotation, about, linear, angular)
        jumps = flag("jump", jump)
        carried = carry(self._world, motion, rods, colliders)
        if carried is not None:
            self._last_good.keep()
            self._to_carry += [] if jumps else [carried]

    # Changes to the scene. Those that are not part of the state have to be repeated in a new simulation: `release`, `set_influence`
    # and `detach` before `restore`, because they discard accelerations, the others after it.

    def release(self, hold: HoldId) -> None:
        """Lets go of a hold: its influence becomes 0. Not part of the state."""
        self.set_influence(hold, 0.0)

    def set_influence(self, hold: HoldId | Sequence[HoldId] | Array, influence: float) -> None:
        """How firmly holds hold from now on. 1 is rigid, 0 lets go, and anything between is a spring to where the hold would be: a
        rod sags on it by 0.1 m ((1 - influence) / influence)^2. A hold that becomes rigid brings the rod to its target within
        the next frame. Clamps that are not rigid leave the twist free. Not part of the state."""
        w = fraction("influence", influence)
        numbers = np.atleast_1d(np.asarray(hold)).tolist() if dimensions(hold) >= 0 else [hold]
        for one in numbers:
            self._world.set_influence(whole("hold", one, 0, len(self.scene.holds) - 1), w)

    def detach(self, attachment: AttachmentId) -> None:
        """Removes an attachment to a body for good. Not part of the state."""
        number = whole("attachment", attachment, 0, len(self.scene.attachments) - 1)
        assert self._bodies is not None
        self._bodies.steps.release(number)
        self._around.let_go(self.scene.attachments[number].rod)

    def grow(self, rod: RodId, length: float | None = None, curvature: ArrayLike | None = None) -> None:
        """Gives a "clothoid" rod a new natural length (m), or new natural twist and curvatures (1/m): three numbers, or a row of
        them for each node. Called before every frame with small changes it is growth; in the first frame it applies
        immediately. The number of sample points does not change: describe the rod as long as it will become."""
        number = whole("rod", rod, 0, len(self.scene.entries) - 1)
        block_number, k = self._rods[number]
        block = self.blocks[block_number]
        if not isinstance(block, Grows):
            raise TendrilError("rod", rod, f"only rods of the model {model_names(lambda one: one.growth)} grow")
        block.grow(k, length, curvature)
        self._world.growing[block_number] = block
        if self.frame == self.first_frame:
            self._world.finish_growth()

    def alter(
        self, rod: RodId, *, stiffness: float = 1.0, damping: float = 1.0, length: float = 1.0, curl: float = 1.0
    ) -> None:
        """Changes a rod from now on, by factors on its described properties: stiffness of bending and twist, damping, rest length
        of all segments, natural curvature. Rods that can grow change length through the next frame. Not part of the state."""
        number = whole("rod", rod, 0, len(self.scene.entries) - 1)
        factors = check_factors(stiffness, damping, length, curl)
        block_number, k = self._rods[number]
        block, model = self.blocks[block_number], self.scene.entries[number].model
        if not model_record(model).alteration or not isinstance(block, Alters):
            others = model_names(lambda one: one.alteration)
            raise TendrilError("rod", model, f"rods of this model stay as they were made: choose one of {others}")
        block.alter(k, factors)
        self._around.damp(number, factors.damping)
        if isinstance(block, Grows):
            self._world.growing[block_number] = block
        self._factors[number] = factors
        if self._gauge is not None:
            self._gauge.alter(number, factors)

    def cut(self, rod: RodId, edge: int) -> None:
        """Breaks an edge of a rod or net now, as if it had been overloaded. The rod must be one that can break: its `break_force`
        may be as large as one likes. Part of the state."""
        number = whole("rod", rod, 0, len(self.scene.entries) - 1)
        block_number, k = self._rods[number]
        block = self.blocks[block_number]
        if not isinstance(block, Breaks):
            raise TendrilError("rod", rod, f"only rods of the model {model_names(lambda one: one.breaks)} break")
        block.cut(k, whole("edge", edge, 0, self.scene.entries[number].rod.edge_count - 1))

    def surround(
        self,
        *,
        gravity: ArrayLike | None = None,
        wind: ArrayLike | None = None,
        air_density: float | None = None,
        drag: float | None = None,
        fields: Sequence[Field] | None = None,
        gravity_weights: Mapping[RodId, float] | None = None,
        time_scale: float | None = None,
    ) -> None:
        """Changes gravity, air and force fields from now on; what is not given stays. `gravity_weights` are factors on gravity for
        some rods, 1 for all others. `time_scale` is the simulated time per time of the clock, by which prescribed motion goes on:
        0.5 is slow motion. Not part of the state."""
        scale = self._time_scale if time_scale is None else positive("time_scale", time_scale)
        self._around.change(gravity, wind, air_density, drag, fields, gravity_weights)
        self._time_scale = scale

    @property
    def sags(self) -> dict[RodId, float]:
        """Sag-free rods whose material can't support their shape, and how far they sag at most, as a fraction of their length."""
        return dict(self._world.sags)

    # Measurements ---------------------------------------------------------------------------------------------------

    def energies(self) -> Energies:
        """Of all rods and bodies, now."""
        return self._world.energies()

    def strains(self) -> Strains:
        """Stretch, tension, bending and twist of all rods, now."""
        rods = self._world.rods
        if self._gauge is None:
            entries = [rods.entries_of(k) for k in range(len(self.blocks))]
            self._gauge = StrainGauge(entries, self._places, self.blocks)
            for rod, factors in self._factors.items():
                self._gauge.alter(rod, factors)
        return self._gauge.read(self.blocks, [(x, directors) for x, _, directors in rods.samples()])

    # State ----------------------------------------------------------------------------------------------------------

    def state(self) -> Array:
        """Everything needed to continue from here, as a flat array."""
        return self._world.pack_state()

    def restore(self, state: ArrayLike, frame: int) -> None:
        """Continues from a state of `state()`, as frame `frame`. With an engine only if it can rewind."""
        cure = f"give an array of {self.state_size} numbers, made by state() of a simulation of the same scene"
        flat = array("state", state, (self.state_size,), cure)
        number = whole("frame", frame, -(2**31), 2**31)
        self._last_good.restore(flat, cure)
        self._carried, self._to_carry = [], []
        self.frame = number
        self._world.restore_prescribed(flat, self.time)
        self._world.work = Work()


def _check_scene(scene: Scene) -> None:
    if not isinstance(scene, Scene):
        raise TendrilError("scene", scene, "give a Scene")
    if not scene.entries and not scene.bodies:
        raise TendrilError("scene", scene, "add at least one rod or body to it")


def _check_engine(engine: BodyEngine | None, scene: Scene) -> None:
    if engine is None:
        return
    from ..contact.bodies.outside import BodyEngine

    if not isinstance(engine, BodyEngine) or not callable(engine.step) or not scene.bodies:
        raise TendrilError("engine", engine, "give an object with a method step, and add bodies to the scene")


def _is_cold(scene: Scene) -> bool:
    """Whether kernels of a model in the scene have not been compiled on this machine yet."""
    sources = [kernel_source(model_record(model)) for model in {entry.model for entry in scene.entries}]
    return any(jit.is_cold(source) for source in sources if source is not None)
