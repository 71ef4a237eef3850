"""An outside engine integrates the bodies: rods pull and push on bodies that PyBullet, MuJoCo or Blender moves, as it is.

Each step is an exchange. The rods and the bodies that hang on them or touch them take the step together, as always, with the
bodies' mass and inertia; so a heavy body on a stiff rope is as stable as without the engine. The mean force of the rods on each
body in that step is what the engine gets. What the engine then makes otherwise than by this force and by weight, by its contacts
and joints for instance, is a change of speed that the body here takes over, together with half a step's way of it.

A box that stands on a floor of the engine is for a rope on top of it heavier than it is by itself: as heavy as the floor is
firm. How heavy is learnt from what the engine did to what was applied: if it held a part s of it back, the body is 1 / (1 - s) as
heavy along there. Without this a heavy rope would sink into a light box by a bit in every exchange.

Engines move bodies by x' = x + h v' with the new speed v', so that their positions run half a step ahead of the mean way.
Positions here follow the rods' integrator, of second order; those of the engine, taken back by half a step, follow to the same
order but drift with round-off, with fast changes of force, and with contact. A weak spring with a damper in the engine keeps the
two together. Where rods pull a body hard against something it is the engine's position that wins; where they do not act at all the
body is where the engine has it, and the engine gets no force, so that it may let the body sleep.
"""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ...describe.rotations import are_rotations
from ...errors import Array, TendrilError
from ...maths.motion import finite_array, in_bounds
from ...models.state_of_rods import pack, unpack
from .block import BodyBlock
from .rotation import exponential, logarithm, orthonormal

if TYPE_CHECKING:  # the add-on reads this file before kernels are loaded
    from .stepping import BodySteps

Flags = NDArray[np.bool_]

NOTICEABLE = 0.05  # of the acceleration, or of 1 rad/s2
# The spring and the damper, in units of mass and step: what a difference between the two positions, and its change, asks for.
SPRING, DAMPER = 0.15, 0.5
MEMORY = 0.95  # of what is known of directions that nothing acted along in this step
MOST_BACKING = 30.0  # of a body, in masses of all rods and itself
NOTHING = np.array([1e-6] * 3 + [1e-4] * 3)  # m/s2 and rad/s2: below it is round-off, and no rod acts
ROUND_OFF = 1e-5  # of the engine's positions, times the distance from the origin or a metre


class BodyPoses(NamedTuple):
    """All bodies at a moment, as an engine tells them."""

    position: Array  # (B, 3) m, of their origins
    rotation: Array  # (B, 3, 3)
    velocity: Array  # (B, 3) m/s, of the centres of mass
    angular_velocity: Array  # (B, 3) rad/s, in the world


@runtime_checkable
class BodyEngine(Protocol):
    """What moves the bodies of a scene. It begins where the scene's bodies are described."""

    def step(self, h: float, forces: Array, torques: Array) -> BodyPoses:
        """Moves all bodies by h seconds under forces (B, 3) N on their centres of mass and torques (B, 3) N m in the world, on top
        of all that acts in the engine: gravity, damping, contacts, joints. Rows of kinematic bodies are not used."""


@runtime_checkable
class RewindableEngine(Protocol):
    """An engine that can go back: without this a simulation can't be restored."""

    def rewind(self, exchanges: int) -> None:
        """Returns to the state after so many steps, or raises TendrilError."""


class Outside:
    """Exchanges with an engine."""

    def __init__(self, engine: BodyEngine, block: BodyBlock, steps: BodySteps, mass_of_rods: float) -> None:
        self._engine, self._block, self._steps = engine, block, steps
        self._tied = np.isin(np.arange(len(block)), steps.ties.body)
        self._most_backing = MOST_BACKING * (1.0 + mass_of_rods / block.mass)
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
        return (
            *self._there,
            self._gap,
            self._widening,
            self._block.backing,
            *self._block.came_from,
            self._steps.disturbed,
        )

    def pack_state(self, out: Array) -> None:
        out[0] = self._exchanges
        pack(self._state(), out[1:])

    def restore(self, flat: Array) -> None:
        """Takes the engine along. Raises TendrilError if it can't go back."""
        if not isinstance(self._engine, RewindableEngine):
            raise TendrilError("state", "of bodies in an engine", "begin anew: only the engine knows its state")
        self._engine.rewind(int(flat[0]))
        self._exchanges = int(flat[0])
        unpack(flat[1:], self._state())
        self._start()

    def _start(self) -> None:
        state = self._block.state
        self._v, self._w, self._momentum = state.v.copy(), state.w.copy(), self._block.momentum()

    def exchange(self, h: float, gravity: Array) -> bool:
        """The step that bodies here have just taken, for the engine, and what it makes otherwise. False if the engine fails: then
        bodies go on as if they had none."""
        block, there = self._block, self._there
        mass, inertia = block.mass[:, None], _turned(block.inertia, there.rotation)
        gained = np.concatenate([block.state.v - self._v, block.state.w - self._w], axis=1) / h
        backed = np.einsum("bij,bj->bi", block.backing, gained)
        force = mass * (gained[:, :3] - gravity) + backed[:, :3]
        torque = (block.momentum() - self._momentum) / h + backed[:, 3:]
        acted = self._acted_on(mass, inertia, force, torque)
        blurred = ROUND_OFF * np.maximum(np.linalg.norm(there.position, axis=1), 1.0)
        apart = np.any(np.maximum(np.abs(self._gap), np.abs(self._widening)) > blurred[:, None], axis=(0, 2))
        led = (acted | apart) & ~block.kinematic  # by what happens here; others go as the engine says
        pull = (SPRING * self._gap + DAMPER * self._widening) / h**2
        force += mass * pull[0]
        torque += _times(inertia, pull[1])
        force[~led], torque[~led] = 0.0, 0.0
        told = self._ask(h, force, torque)
        self._exchanges += 1
        if told is not None:
            applied = np.concatenate([force + mass * gravity, torque], axis=1)
            momentum = _times(inertia, there.angular_velocity) + h * torque
            spin = np.linalg.solve(_turned(block.inertia, told.rotation), momentum[..., None])[..., 0]
            expected = there.velocity + h * applied[:, :3] / mass
            given = np.concatenate([told.velocity - expected, told.angular_velocity - spin], axis=1) / h
            block.came_from[0][:], block.came_from[1][:] = block.state.x, block.state.rotation
            self._take(h, led, given + _answers(mass, inertia, backed))
            self._note_disturbances(given, gained, gravity)
            self._lean(given, applied, _answers(mass, inertia, applied), block.mass * (blurred / h**2) ** 2)
            # Nor with accelerations of bodies that were as heavy as something behind them, or are so from now on.
            for leaning in (backed, np.einsum("bij,bj->bi", block.backing, gained)):
                slowed = np.abs(_answers(mass, inertia, leaning)) > NOTHING
                self._steps.disturbed[np.any(slowed, axis=1)] = 1.0
            self._there = told
            self._compare(h, ~led & ~block.kinematic)
            block.came_from[2][:] = block.state.x
        self._start()
        return told is not None

    def _acted_on(self, mass: Array, inertia: Array, force: Array, torque: Array) -> Flags:
        """Which bodies rods act on."""
        sizes = np.abs(_answers(mass, inertia, np.concatenate([force, torque], axis=1)))
        return np.asarray(self._tied | np.any(sizes > NOTHING, axis=1))

    def _take(self, h: float, which: Flags, more: Array) -> None:
        """Accelerations of these bodies, on top of those they had here."""
        x, rotation, v, w, _ = self._block.state
        more_v, more_w = h * more[which, :3], h * more[which, 3:]
        v[which] += more_v
        w[which] += more_w
        x[which] += 0.5 * h * more_v
        rotation[which] = orthonormal(exponential(0.5 * h * more_w) @ rotation[which])

    def _note_disturbances(self, given: Array, gained: Array, gravity: Array) -> None:
        """Which bodies the engine has accelerated noticeably: the step after must not go on with the old accelerations."""
        norm = np.linalg.norm
        pushed = norm(given[:, :3], axis=1) > NOTICEABLE * (norm(gained[:, :3], axis=1) + norm(gravity))
        turned = norm(given[:, 3:], axis=1) > NOTICEABLE * (norm(gained[:, 3:], axis=1) + 1.0)
        self._steps.disturbed[:] = pushed | turned

    def _lean(self, given: Array, applied: Array, moved: Array, least: Array) -> None:
        """Learns how heavy bodies are for rods that push them against something: `applied` would have accelerated them by `moved`,
        but for what the engine gave. Of less than `least`, in units of the two, nothing is learnt."""
        power = np.maximum(np.einsum("bi,bi->b", applied, moved), 1e-300)
        held = np.clip(-np.einsum("bi,bi->b", given, applied) / (power + least), 0.0, 1.0)
        held[self._steps.elsewhere()] = 0.0
        factor = np.minimum(held / np.maximum(1.0 - held, 1e-12), self._most_backing)
        others = np.eye(6) - np.einsum("bi,bj->bij", moved, applied) / power[:, None, None]
        known = MEMORY * np.swapaxes(others, 1, 2) @ self._block.backing @ others
        self._block.backing[:] = known + np.einsum("b,bi,bj->bij", factor / power, applied, applied)

    def _compare(self, h: float, follow: Flags) -> None:
        """The gap between bodies here and in the engine, whose positions run half a step ahead. Those that follow have none."""
        there, state = self._there, self._block.state
        place = there.position - 0.5 * h * there.velocity
        turned = exponential(-0.5 * h * there.angular_velocity) @ there.rotation
        for kept, now in zip(state, (place, turned, there.velocity, there.angular_velocity), strict=False):
            kept[follow] = now[follow]
        gap = np.stack([state.x - place, logarithm(state.rotation @ np.swapaxes(turned, 1, 2))])
        self._widening, self._gap = gap - self._gap, gap
        self._widening[:, follow], self._gap[:, follow] = 0.0, 0.0

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
            finite_array(value, (count, 3, 3) if k == 1 else (count, 3)) for k, value in enumerate(given)
        )
        if position is None or rotation is None or velocity is None or spin is None:
            return None
        if not (np.all(in_bounds(position)) and np.all(are_rotations(rotation))):
            return None
        return BodyPoses(position + _times(rotation, self._block.center), rotation, velocity, spin)


def _answers(mass: Array, inertia: Array, wrench: Array) -> Array:
    """Accelerations (B, 6) that forces and torques give."""
    turning = np.linalg.solve(inertia, wrench[:, 3:, None])[..., 0]
    return np.concatenate([wrench[:, :3] / mass, turning], axis=1)


def _times(matrices: Array, vectors: Array) -> Array:
    return np.asarray(np.einsum("bij,bj->bi", matrices, vectors))


def _turned(inertia: Array, rotation: Array) -> Array:
    return np.asarray(rotation @ inertia @ np.swapaxes(rotation, 1, 2))
