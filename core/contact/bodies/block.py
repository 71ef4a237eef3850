"""All bodies of a scene, and how they move in a stage of a step.

A stage is that of the rods: with its start x*, v*, R*, L* and length h,
    m (x - x* - h v*) / h^2 = f,    (L - L*) / h = torque,    L = R J R^T w,  R = exp(h w) R*,
so that the angular momentum L (about the centre of mass, in the world) changes by torques alone, and what the spin does to its own
axis is in the unknown rotation: implicit, and stable however fast it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...describe.body import Body
from ...errors import Array
from ...models.protocol import Energies
from ...models.schemes import WHOLE_STEP, Stage
from ...models.state_of_rods import pack, unpack
from .rotation import cross_matrix, exponential, logarithm, logarithm_rate, orthonormal

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


class State(NamedTuple):
    """What a cache stores."""

    x: Array  # (B, 3) centre of mass
    rotation: Array  # (B, 3, 3)
    v: Array  # (B, 3)
    w: Array  # (B, 3) angular velocity, in the world
    a: Array  # (B, 6) acceleration, and rate of the angular momentum, at the end of the last stage; zero where not known


class Around(NamedTuple):
    """What acts everywhere."""

    gravity: Array  # (3,) m/s2
    wind: Array  # (3,) m/s
    drag: float  # 1/s, towards the wind
    air_density: float  # kg/m3, felt by rods


class BodyBlock:
    def __init__(self, bodies: Sequence[Body]) -> None:
        def column(values: list[object], *shape: int) -> Array:
            return np.array(values, dtype=np.float64).reshape(len(bodies), *shape)

        self.mass = column([body.mass for body in bodies])
        self.inertia = column([body.inertia for body in bodies], 3, 3)  # in the body's axes
        self.center = column([body.center for body in bodies], 3)
        self.damping = column([(body.linear_damping, body.angular_damping) for body in bodies], 2)
        self.kinematic = np.array([body.kinematic for body in bodies], dtype=np.bool_)
        # In the world, as forces and torques by accelerations: how much heavier bodies are where something else backs them.
        self.backing = np.zeros((len(bodies), 6, 6))
        rotation = column([body.rotation for body in bodies], 3, 3)
        x = column([body.to_world(np.asarray(body.center)) for body in bodies], 3)
        v = column([body.velocity for body in bodies], 3)
        w = column([body.angular_velocity for body in bodies], 3)
        v[self.kinematic], w[self.kinematic] = 0.0, 0.0
        self.state = State(x, rotation, v, w, np.zeros((len(bodies), 6)))
        self.state_size = sum(array.size for array in self.state)
        # How long it is, about, to tell large turns from small ones.
        self.size = np.sqrt(np.trace(self.inertia, axis1=1, axis2=2) / self.mass)
        # Of an outside engine: where it found the bodies, turned how, and where it put them before the step that is taken now.
        self.came_from = (x.copy(), rotation.copy(), x.copy())
        self._saved = State(*(array.copy() for array in self.state))
        self._x, self._v, self._l = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)  # where the stage starts
        self._rotation = rotation.copy()
        self._l0 = np.zeros_like(x)  # angular momentum at the start of the step
        self._turn = np.zeros_like(x)  # h w
        self.goal = (x.copy(), rotation.copy())  # of the kinematic ones, at the end of the step

    def __len__(self) -> int:
        return len(self.mass)

    # Where they are ------------------------------------------------------------------------------------------------

    def positions(self) -> Array:
        """(B, 3) of the bodies' origins."""
        return np.asarray(self.state.x - np.einsum("bij,bj->bi", self.state.rotation, self.center))

    def before(self, far: float) -> tuple[Array, Array]:
        """(B, 3) and (B, 3, 3) origins and rotations where the way of the step begins: where an outside engine found the bodies, if
        it put them farther away than this (m) and they have not moved since."""
        found, turned, put = self.came_from
        way = np.linalg.norm(put - found, axis=1)
        way += self.size * np.linalg.norm(self.state.rotation - turned, axis=(1, 2))
        jumped = np.all(self.state.x == put, axis=1) & (way > far)
        rotation = np.where(jumped[:, None, None], turned, self.state.rotation)
        center = np.where(jumped[:, None], found, self.state.x)
        return center - np.einsum("bij,bj->bi", rotation, self.center), rotation

    def world_inertia(self) -> Array:
        r = self.state.rotation
        return np.asarray(r @ self.inertia @ np.swapaxes(r, 1, 2))

    def momentum(self) -> Array:
        """(B, 3) angular, about the centre of mass."""
        return np.asarray(np.einsum("bij,bj->bi", self.world_inertia(), self.state.w))

    def energies(self, gravity: Array) -> Energies:
        free = ~self.kinematic
        x, v, w = self.state.x[free], self.state.v[free], self.state.w[free]
        kinetic = 0.5 * np.einsum("b,bi,bi->", self.mass[free], v, v)
        kinetic += 0.5 * np.einsum("bi,bi->", w, self.momentum()[free])
        return Energies(kinetic=float(kinetic), gravity=-float(self.mass[free] @ (x @ gravity)))

    # A step --------------------------------------------------------------------------------------------------------

    def aim(self, positions: Array, rotations: Array) -> None:
        """Where the origins of kinematic bodies are at the end of the next step."""
        centers = positions + np.einsum("bij,bj->bi", rotations, self.center)
        self.goal[0][:], self.goal[1][:] = centers, rotations

    def save(self, chosen: Ints) -> None:
        for kept, now in zip(self._saved, self.state, strict=True):
            kept[chosen] = now[chosen]

    def rollback(self, chosen: Ints) -> None:
        for kept, now in zip(self._saved, self.state, strict=True):
            now[chosen] = kept[chosen]

    def begin(self, chosen: Ints, h: float, stage: Stage = WHOLE_STEP) -> None:
        """A stage of length h, to a guess of where it ends: from the state, or in a second stage from the end of the first.
        Kinematic bodies have gone their part of the way."""
        if stage.carried > 0.0:
            self._start_second_stage(chosen, h, stage.carried, stage.explicit)
        else:
            self._start_step(chosen, stage.explicit * h)
        self._guess(chosen, h, stage.end)

    def _start_step(self, chosen: Ints, ahead: float) -> None:
        """From the state, carried `ahead` by its derivatives."""
        x, rotation, v, w, a = self.state
        self._l0[chosen] = self.momentum()[chosen]
        self._x[chosen] = x[chosen] + ahead * v[chosen]
        self._v[chosen] = v[chosen] + ahead * a[chosen, :3]
        self._rotation[chosen] = exponential(ahead * w[chosen]) @ rotation[chosen]
        self._l[chosen] = self._l0[chosen] + ahead * a[chosen, 3:]

    def _start_second_stage(self, chosen: Ints, h: float, carried: float, explicit: float) -> None:
        """From the end of a stage of the same length."""
        self._end_stage(chosen, h)
        x, rotation, v, w, _a = self.state
        x0, r0, v0, before = self._saved.x[chosen], self._saved.rotation[chosen], self._saved.v[chosen], self._x[chosen]
        if explicit > 0.0:  # BDF2: beyond where the first stage ended, along the way that it went from the start
            turned = logarithm(rotation[chosen] @ np.swapaxes(r0, 1, 2))
            self._rotation[chosen] = exponential(explicit * turned) @ rotation[chosen]
        else:
            self._rotation[chosen] = exponential(carried * h * w[chosen]) @ self._rotation[chosen]
        momentum, start, speed = self.momentum()[chosen], self._l[chosen], self._v[chosen]
        self._x[chosen] = before + carried * (x[chosen] - before) + explicit * (before - x0)
        self._v[chosen] = speed + carried * (v[chosen] - speed) + explicit * (speed - v0)
        self._l[chosen] = start + carried * (momentum - start) + explicit * (start - self._l0[chosen])

    def _guess(self, chosen: Ints, h: float, at: float) -> None:
        x, rotation, _v, _w, a = self.state
        x[chosen] = self._x[chosen] + h * (self._v[chosen] + h * a[chosen, :3])
        momentum, gain = self._l[chosen], h * a[chosen, 3:]
        small = np.linalg.norm(gain, axis=1) < 0.5 * np.linalg.norm(momentum, axis=1)  # else it comes from an impact
        spun = np.linalg.solve(self.world_inertia()[chosen], (momentum + gain * small[:, None])[..., None])[..., 0]
        self._turn[chosen] = h * spun
        rotation[chosen] = exponential(self._turn[chosen]) @ self._rotation[chosen]
        led = chosen[self.kinematic[chosen]]
        if len(led):
            x0, r0 = self._saved.x[led], self._saved.rotation[led]
            turn = logarithm(self.goal[1][led] @ np.swapaxes(r0, 1, 2))
            x[led] = x0 + at * (self.goal[0][led] - x0)
            rotation[led] = exponential(at * turn) @ r0 if at < 1.0 else self.goal[1][led]
            self._turn[led] = logarithm(rotation[led] @ np.swapaxes(self._rotation[led], 1, 2))

    def linearise(self, chosen: Ints, h: float, around: Around) -> tuple[Array, Array]:
        """The forces and torques (K, 6) that are missing for the stage's equations to hold at the iterate, and how they grow
        with motion and turning (K, 6, 6)."""
        k = len(chosen)
        x, damping, mass = self.state.x[chosen], self.damping[chosen] + around.drag, self.mass[chosen]
        residual, matrix = np.zeros((k, 6)), np.zeros((k, 6, 6))
        way = x - self._x[chosen]
        residual[:, :3] = (
            (way - h * self._v[chosen]) / h**2 + damping[:, :1] * way / h - around.gravity - around.drag * around.wind
        )
        residual[:, :3] *= mass[:, None]
        matrix[:, range(3), range(3)] = (mass * (1.0 / h**2 + damping[:, 0] / h))[:, None]
        inertia = self.world_inertia()[chosen]
        w = self._turn[chosen] / h
        momentum = np.einsum("bij,bj->bi", inertia, w)
        slow = 1.0 + h * damping[:, 1]
        residual[:, 3:] = (slow[:, None] * momentum - self._l[chosen]) / h
        change = inertia @ (cross_matrix(w) + logarithm_rate(self._turn[chosen]) / h) - cross_matrix(momentum)
        matrix[:, 3:, 3:] = slow[:, None, None] * change / h
        if self.backing.any():
            spin = np.linalg.solve(inertia, self._l[chosen][..., None])[..., 0]
            gained = np.concatenate([(way - h * self._v[chosen]) / h**2, (w - spin) / h], axis=1)
            backing = self.backing[chosen]
            residual += np.einsum("bij,bj->bi", backing, gained)
            matrix[:, :, :3] += backing[:, :, :3] / h**2
            matrix[:, :, 3:] += backing[:, :, 3:] @ logarithm_rate(self._turn[chosen]) / h**2
        return residual, matrix

    def move(self, chosen: Ints, step: Array) -> None:
        """Moves the iterate by (K, 6): the centre, and turns about it."""
        self.state.x[chosen] += step[:, :3]
        rotation = orthonormal(exponential(step[:, 3:]) @ self.state.rotation[chosen])
        self.state.rotation[chosen] = rotation
        self._turn[chosen] = logarithm(rotation @ np.swapaxes(self._rotation[chosen], 1, 2))

    def _end_stage(self, chosen: Ints, h: float) -> None:
        x, _, v, w, a = self.state
        v[chosen] = (x[chosen] - self._x[chosen]) / h
        w[chosen] = self._turn[chosen] / h
        a[chosen, :3] = (v[chosen] - self._v[chosen]) / h
        a[chosen, 3:] = (self.momentum()[chosen] - self._l[chosen]) / h

    def accelerate_freely(self, chosen: Ints, around: Around) -> None:
        """Sets the accelerations of bodies on which nothing but gravity, damping and air acts."""
        slow = self.damping[chosen] + around.drag
        falling = around.gravity + around.drag * around.wind - slow[:, :1] * self.state.v[chosen]
        self.state.a[chosen] = np.concatenate([falling, -slow[:, 1:] * self.momentum()[chosen]], axis=1)

    def restore_with_acceleration(self, chosen: Ints, state: State) -> None:
        """Puts bodies back to a copy of the state, but for the accelerations."""
        for name in ("x", "rotation", "v", "w"):
            getattr(self.state, name)[chosen] = getattr(state, name)[chosen]

    def finish(self, chosen: Ints, h: float) -> None:
        """Accepts the iterate."""
        self._end_stage(chosen, h)

    def stop(self, chosen: Ints) -> None:
        for array in (self.state.v, self.state.w, self.state.a):
            array[chosen] = 0.0

    def pack_state(self, out: Array) -> None:
        pack(self.state, out)

    def unpack_state(self, flat: Array) -> None:
        unpack(flat, self.state)
