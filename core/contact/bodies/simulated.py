"""The bodies of a simulation: their motion through a frame, what frames tell of them, their state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...compile.workers import Workers
from ...describe.body import Body
from ...describe.rotations import are_rotations
from ...describe.scene import Scene
from ...describe.shapes import Collider, position_vector, rotation_matrix
from ...errors import Array, TendrilError, whole
from ...maths.motion import POSITION, ROTATION, Motion, finite_array, in_bounds
from ...models.protocol import ModelBlock
from ..arrays import Samples
from .block import Around, BodyBlock
from .encounters import Encounters
from .outside import BodyEngine, Outside
from .stepping import BodySteps
from .surfaces import BodySurfaces, surface_of
from .touching import TouchingBodies

if TYPE_CHECKING:
    from ..colliders import ColliderMotion


class BodySample(NamedTuple):
    """All bodies at a moment."""

    position: Array  # (B, 3) of their origins
    rotation: Array  # (B, 3, 3)
    velocity: Array  # (B, 3) of the centres of mass
    angular_velocity: Array  # (B, 3)
    force: Array  # (B, 3) N, of all attachments on the body, on average since the frame before
    torque: Array  # (B, 3) N m, likewise, about the centre of mass


class BodyMotion(Motion):
    """Where kinematic bodies are: along their paths, or on the way to where they were sent."""

    def __init__(self, bodies: list[Body]) -> None:
        self._bodies = bodies
        position = np.array([body.position for body in bodies], dtype=np.float64).reshape(-1, 3)
        rotation = np.array([body.rotation for body in bodies], dtype=np.float64).reshape(-1, 3, 3)
        super().__init__(position, rotation, np.zeros(len(bodies)))

    @property
    def poses(self) -> tuple[Array, Array]:
        return self._now[POSITION], self._now[ROTATION]

    def put(self, positions: Array, rotations: Array) -> None:
        """All are there now."""
        self._put(POSITION, slice(None), positions)
        self._put(ROTATION, slice(None), rotations)
        self._stop()

    def aim(self, body: Any, position: Any, rotation: Any) -> None:
        try:
            k = whole("body", body, 0, len(self._bodies) - 1)
        except TendrilError:
            raise TendrilError("body", body, "give the id that scene.add_body returned") from None
        if not self._bodies[k].kinematic:
            raise TendrilError("body", body, "only a kinematic body goes where it is told")
        checked_place = None if position is None else position_vector("position", position)
        checked_turn = None if rotation is None else rotation_matrix(rotation)
        if checked_place is not None:
            self._to[POSITION][k] = checked_place
        if checked_turn is not None:
            self._to[ROTATION][k] = checked_turn
        self._moving = True

    def follow_paths(self, time: float) -> None:
        for k, body in enumerate(self._bodies):
            if body.path is None:
                continue
            given = body.path(time)
            if isinstance(given, (tuple, list)) and len(given) == 2:
                position, rotation = finite_array(given[0], (3,)), finite_array(given[1], (3, 3))
                if position is not None and in_bounds(position):
                    self._put(POSITION, k, position)
                if rotation is not None and are_rotations(rotation):
                    self._put(ROTATION, k, rotation)


class SimulatedBodies:
    """The attached rods are stepped here, too."""

    def __init__(
        self,
        scene: Scene,
        blocks: Sequence[ModelBlock],
        rods: Sequence[tuple[int, int]],
        integrator: str,
        tolerance: float,
        engine: BodyEngine | None,
    ) -> None:
        """`rods` are block and number there of each rod of the scene."""
        self._described, self._blocks = scene.bodies, blocks
        self.block = BodyBlock(scene.bodies)
        scheme = integrator if integrator in ("backward euler", "sdirk2") else "tr-bdf2"
        self.steps = BodySteps(scene, self.block, blocks, rods, scheme, tolerance)
        self.motion = BodyMotion(scene.bodies)
        rods_mass = sum(float((entry.rod.mass_per_length * entry.rod.rest_lengths).sum()) for entry in scene.entries)
        self.outside = None if engine is None else Outside(engine, self.block, self.steps, rods_mass)
        self._own_size = self.block.state_size + self.steps.forces.size
        self.state_size = self._own_size + (self.outside.state_size if self.outside else 0)

    def colliders(self) -> list[Collider]:
        """The surfaces of those that have one that rods can't pass."""
        return [Collider(surface_of(body), body.friction, body.thickness) for body in self._described if body.collides]

    def surfaces(
        self,
        touching: TouchingBodies,
        fixed: Sequence[Collider],
        colliders: ColliderMotion,
        workers: Workers,
        samples: Samples,
    ) -> BodySurfaces:
        """As `colliders` of contact, after the fixed ones; `samples` are those of all blocks."""
        places = self.steps.places
        starts = [0, *np.cumsum([int(block.sample_start[-1]) for block in self._blocks]).tolist()]
        tied = [
            (starts[number] + row, body)
            for number, row, body in zip(places.block, places.row, self.steps.ties.body, strict=True)
        ]
        made = BodySurfaces(self._described, self.block, colliders, len(fixed), samples, tied)
        if self.outside is None:
            made.encounters = Encounters(
                self._described, touching, fixed, colliders, samples.after, made.features, workers
            )
        return made

    def touching(self, around: Callable[[], Around]) -> TouchingBodies:
        """The bodies as contact sees them."""
        return TouchingBodies(self.block, around)

    def aim(self) -> None:
        """Kinematic bodies are where they should be at the end of the next step."""
        self.block.aim(*self.motion.poses)

    def sample(self, seconds: float) -> BodySample:
        state = self.block.state
        mean = self.steps.impulse / seconds
        self.steps.impulse[:] = 0.0
        return BodySample(
            self.block.positions(), state.rotation.copy(), state.v.copy(), state.w.copy(), mean[:, :3], mean[:, 3:]
        )

    def pack_state(self, out: Array) -> None:
        self.block.pack_state(out[: self.block.state_size])
        out[self.block.state_size : self._own_size] = self.steps.forces.ravel()
        if self.outside is not None:
            self.outside.pack_state(out[self._own_size :])

    def restore(self, flat: Array) -> None:
        self.block.unpack_state(flat[: self.block.state_size])
        self.steps.forces[:] = flat[self.block.state_size : self._own_size].reshape(-1, 6)
        self.steps.impulse[:] = 0.0
        self.motion.put(self.block.positions(), self.block.state.rotation)
        if self.outside is not None:
            self.outside.restore(flat[self._own_size :])
