"""An outside engine integrates the bodies: rods pull on bodies that PyBullet, MuJoCo or Blender moves, as it is.

Each step is an exchange. The rods and the bodies that hang on them take the step together, as always, with the bodies' mass and
inertia; so a heavy body on a stiff rope is as stable as without the engine. The mean force of the rods on each body in that step
is what the engine gets. What the engine then makes otherwise than by this force and by weight, by its contacts and joints for
instance, is a change of speed that the body here takes over, together with half a step's way of it.

Engines move bodies by x' = x + h v' with the new speed v', so that their positions run half a step ahead of the mean way.
Positions here follow the rods' integrator, of second order; those of the engine, taken back by half a step, follow to the same
order but drift with round-off, with fast changes of force, and with contact. A weak spring with a damper in the engine keeps the
two together. Where rods pull a body hard against something it is the engine's position that wins.
"""

from __future__ import annotations

import traceback
from typing import NamedTuple, Protocol

import numpy as np

from ..errors import Array, TendrilError
from ..geometry.rotations import are_rotations
from ..holds import are_places, usable
from ..models.state_of_rods import pack, unpack
from .block import BodyBlock
from .rotation import exponential, logarithm, orthonormal

# The spring and the damper, in units of mass and step: what a difference between the two positions, and its change, asks for.
SPRING, DAMPER = 0.15, 0.5


class BodyPoses(NamedTuple):
    """All bodies at a moment, as an engine tells them."""

    position: Array  # (B, 3) m, of their origins
    rotation: Array  # (B, 3, 3)
    velocity: Array  # (B, 3) m/s, of the centres of mass
    angular_velocity: Array  # (B, 3) rad/s, in the world


class BodyEngine(Protocol):
    """What moves the bodies of a scene. It begins where the scene's bodies are described."""

    def step(self, h: float, forces: Array, torques: Array) -> BodyPoses:
        """Moves all bodies by h seconds under forces (B, 3) N on their centres of mass and torques (B, 3) N m in the world, on top
        of all that acts in the engine: gravity, damping, contacts, joints. Rows of kinematic bodies are not used."""

    # It may also have `rewind(exchanges: int)`, which takes it back to where it stood after so many steps, or raises TendrilError.
    # Without it a simulation can't be restored.


class Outside:
    """Exchanges with an engine."""

    def __init__(self, engine: BodyEngine, block: BodyBlock) -> None:
        self._engine, self._block = engine, block
        block.damping[:] = 0.0  # the engine has it
        state = block.state
        self._there = BodyPoses(
            *(array.copy() for array in (state.x, state.rotation, state.v, state.w))
        )  # centres of mass
        self._gap = np.zeros((2, len(block), 3))  # between the two when the step begins: places, turns
        self._widening = np.zeros_like(self._gap)  # of it, in the step before
        self._exchanges = 0
        self.state_size = 1 + sum(array.size for array in self._state())
        self._start()

    def _state(self) -> tuple[Array, ...]:
        return (*self._there, self._gap, self._widening)

    def pack_state(self, out: Array) -> None:
        out[0] = self._exchanges
        pack(self._state(), out[1:])

    def restore(self, flat: Array) -> None:
        """Takes the engine along. Raises TendrilError if it can't go back."""
        rewind = getattr(self._engine, "rewind", None)
        if rewind is None:
            raise TendrilError("state", "of bodies in an engine", "begin anew: only the engine knows its state")
        rewind(int(flat[0]))
        self._exchanges = int(flat[0])
        unpack(flat[1:], self._state())
        self._start()

    def _start(self) -> None:
        self._v, self._momentum = self._block.state.v.copy(), self._block.momentum()

    def exchange(self, h: float, gravity: Array) -> bool:
        """The step that bodies here have just taken, for the engine, and what it makes otherwise. False if the engine fails: then
        bodies go on as if they had none."""
        block = self._block
        mass, inertia = block.mass[:, None], _turned(block.inertia, self._there.rotation)
        pull = (SPRING * self._gap + DAMPER * self._widening) / h**2
        force = mass * ((block.state.v - self._v) / h - gravity + pull[0])
        torque = (block.momentum() - self._momentum) / h + _times(inertia, pull[1])
        force[block.kinematic], torque[block.kinematic] = 0.0, 0.0
        told = self._ask(h, force, torque)
        self._exchanges += 1
        if told is not None:
            expected = self._there.velocity + h * (force / mass + gravity)
            momentum = _times(inertia, self._there.angular_velocity) + h * torque
            spin = np.linalg.solve(_turned(block.inertia, told.rotation), momentum[..., None])[..., 0]
            self._take(h, told.velocity - expected, told.angular_velocity - spin)
            self._there = told
            self._compare(h)
        self._start()
        return told is not None

    def _take(self, h: float, more_v: Array, more_w: Array) -> None:
        """Speed and spin that the engine gave the bodies."""
        x, rotation, v, w, _ = self._block.state
        free = ~self._block.kinematic
        v[free] += more_v[free]
        w[free] += more_w[free]
        x[free] += 0.5 * h * more_v[free]
        rotation[free] = orthonormal(exponential(0.5 * h * more_w[free]) @ rotation[free])

    def _compare(self, h: float) -> None:
        """The gap between bodies here and in the engine, whose positions run half a step ahead."""
        there, state = self._there, self._block.state
        turned = exponential(-0.5 * h * there.angular_velocity) @ there.rotation
        gap = np.stack(
            [
                state.x - (there.position - 0.5 * h * there.velocity),
                logarithm(state.rotation @ np.swapaxes(turned, 1, 2)),
            ]
        )
        self._widening, self._gap = gap - self._gap, gap

    def _ask(self, h: float, forces: Array, torques: Array) -> BodyPoses | None:
        """What the engine tells, with the centres of mass as positions; None if that can't be used."""
        count = len(self._block)
        try:
            given = tuple(self._engine.step(h, forces, torques))
        except Exception as error:  # an engine is the caller's code, and the loop goes on
            traceback.print_exception(error)
            return None
        if len(given) != 4:
            return None
        position, rotation, velocity, spin = (
            usable(value, (count, 3, 3) if k == 1 else (count, 3)) for k, value in enumerate(given)
        )
        if position is None or rotation is None or velocity is None or spin is None:
            return None
        if not (np.all(are_places(position)) and np.all(are_rotations(rotation))):
            return None
        return BodyPoses(position + _times(rotation, self._block.center), rotation, velocity, spin)


def _times(matrices: Array, vectors: Array) -> Array:
    return np.asarray(np.einsum("bij,bj->bi", matrices, vectors))


def _turned(inertia: Array, rotation: Array) -> Array:
    return np.asarray(rotation @ inertia @ np.swapaxes(rotation, 1, 2))
