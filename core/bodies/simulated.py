"""The bodies of a simulation: their motion through a frame, what frames tell of them, their state."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..body import Body
from ..contact.shapes import place, turn
from ..errors import Array, TendrilError, whole
from ..geometry.rotations import are_rotations
from ..holds import are_places, usable
from ..motion import POSITION, ROTATION, Motion
from ..scene import Scene
from .block import BodyBlock
from .outside import BodyEngine, Outside
from .stepping import BodySteps


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
        checked_place = None if position is None else place("position", position)
        checked_turn = None if rotation is None else turn(rotation)
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
                position, rotation = usable(given[0], (3,)), usable(given[1], (3, 3))
                if position is not None and are_places(position):
                    self._put(POSITION, k, position)
                if rotation is not None and are_rotations(rotation):
                    self._put(ROTATION, k, rotation)


class SimulatedBodies:
    def __init__(self, scene: Scene, integrator: str, engine: BodyEngine | None) -> None:
        self.block = BodyBlock(scene.bodies)
        self.steps = BodySteps(self.block, integrator != "backward euler")
        self.motion = BodyMotion(scene.bodies)
        self.impulse = np.zeros((len(scene.bodies), 6))  # of the attachments since the last frame, N s and N m s
        self.state_size = self.block.state_size
        self.outside = None if engine is None else Outside(engine, self.block)

    def free_step(self, h: float, gravity: Array) -> None:
        self.block.aim(*self.motion.poses)
        self.steps.free_step(h, gravity)

    def sample(self, seconds: float) -> BodySample:
        state = self.block.state
        mean = self.impulse / seconds
        return BodySample(
            self.block.positions(), state.rotation.copy(), state.v.copy(), state.w.copy(), mean[:, :3], mean[:, 3:]
        )

    def restore(self, flat: Array) -> None:
        self.block.unpack_state(flat)
        self.impulse[:] = 0.0
        self.motion.put(self.block.positions(), self.block.state.rotation)
