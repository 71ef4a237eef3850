"""Bodies in a step in which rods touch something: a block behind the protocol, so that contact is solved with them.

There every step is backward Euler, as that of rods is. A body alone would go where its speed and weight take it; what pushes or
pulls on it takes it elsewhere, against the potential
    m |x - x'|^2 / (2 h^2) + turn I turn / (2 h^2),
where x' is where it would be and `turn` the rotation vector from how it would be turned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ...errors import Array
from ...maths.linalg.inverse import invert_each
from ...models.protocol import Edges, Energies, Pushes, Work, in_one_piece
from ...models.state_of_rods import copy_rods, put_rods
from .block import Around, BodyBlock
from .rotation import exponential, logarithm, orthonormal

Ints = NDArray[np.int64]

MOST_ITERATIONS = 8  # of Newton's method for a free turn
SMALL = (
    0.01  # of a body and of a radian, what a segment is of a rod: momentum is lost in what is left of Newton's steps
)


class TouchingBodies:
    """Each body is a rod of one sample point, its centre, without edges: its surface is a collider, see `surfaces.py`."""

    def __init__(self, block: BodyBlock, around: Callable[[], Around]) -> None:
        self.block, self.around = block, around
        count = len(block)
        self.sample_start = np.arange(count + 1)
        self.generalized_size, self.generalized_ranges = 6 * count, in_one_piece(6 * np.arange(count + 1))
        self.state_size = 0
        self.tie_gradient = np.zeros((count, 6))  # how the ties' forces pull: added to the gradient
        self.tie_stiffness = np.zeros((count, 3, 3))  # and how that grows with turning
        self.push_gradient = np.zeros((count, 6))  # the same of what touches their surfaces
        self.push_matrix = np.zeros((count, 6, 6))
        self._goal = block.state.x.copy(), block.state.rotation.copy()
        self._speed = block.state.v.copy(), block.state.w.copy()  # there
        self._base = block.state.x.copy(), block.state.rotation.copy()
        self._inverse = np.zeros((count, 6, 6))
        self.gradient = np.zeros((count, 6))
        self.matrix = np.zeros((count, 6, 6))
        self._step = np.zeros(6 * count)
        self.h = 1.0

    # Where they are ------------------------------------------------------------------------------------------------

    def positions(self) -> Array:
        return self.block.state.x

    def velocities(self) -> Array:
        return self.block.state.v

    def directors(self) -> Array:
        return np.asarray(self.block.state.rotation[:, :, 0])

    def edges(self) -> Edges:
        count = len(self.block)
        return Edges(np.full(count, -1), np.zeros(count), np.zeros(count), np.full(count, np.inf))

    def turns(self) -> Array:
        return np.zeros(len(self.block))

    def forget_speeds(self) -> None:
        """A step begins: of those that do not take part in it nothing is known but the speed they have."""
        self._speed[0][:], self._speed[1][:] = self.block.state.v, self.block.state.w

    def free_speeds(self) -> Array:
        """(B, 6) at the end of the step, if nothing touched."""
        return np.concatenate(self._speed, axis=1)

    # A coupled step ------------------------------------------------------------------------------------------------

    def save(self, chosen: Ints) -> None:
        self.block.save(chosen)

    def rollback(self, chosen: Ints) -> None:
        self.block.rollback(chosen)

    def copy(self, chosen: Ints) -> Sequence[Array]:
        return copy_rods(self.block.state, [self.sample_start] * len(self.block.state), chosen)

    def restore(self, chosen: Ints, state: Sequence[Array]) -> None:
        put_rods(self.block.state, [self.sample_start] * len(self.block.state), chosen, state)

    def begin(self, chosen: Ints, h: float, air_density: float, still: bool = False) -> None:
        block, around = self.block, self.around()
        self.h = h
        block.rollback(chosen)
        block.state.a[chosen] = 0.0
        start = block.state.x[chosen].copy(), block.state.rotation[chosen].copy()
        block.begin(chosen, h)
        free = chosen[~block.kinematic[chosen]]
        for _ in range(MOST_ITERATIONS):
            residual, matrix = block.linearise(free, h, around)
            step = -np.linalg.solve(matrix, residual[..., None])[..., 0] if len(free) else residual
            block.move(free, step)
            if np.abs(step).max(initial=0.0) < 1e-9:
                break
        block.finish(chosen, h)
        block.state.a[chosen] = 0.0
        state = block.state
        for kept, now in zip((*self._goal, *self._speed), state, strict=False):
            kept[chosen] = now[chosen]
        if still:
            led = block.kinematic[chosen]
            state.x[chosen[~led]], state.rotation[chosen[~led]] = start[0][~led], start[1][~led]

    def estimate_mobility(self, chosen: Ints, mobility: Array) -> None:
        mobility[chosen] = 0.0
        free = chosen[~self.block.kinematic[chosen]]
        for entry in (0, 2, 5):
            mobility[free, entry] = self.h**2 / self.block.mass[free]

    def linearise(self, chosen: Ints, pushes: Pushes, potential: Array) -> None:
        block, h = self.block, self.h
        way = block.state.x[chosen] - self._goal[0][chosen]
        turn = logarithm(block.state.rotation[chosen] @ np.swapaxes(self._goal[1][chosen], 1, 2))
        inertia = block.world_inertia()[chosen] / h**2
        mass = block.mass[chosen, None] / h**2
        matrix = np.zeros((len(chosen), 6, 6))
        matrix[:, range(3), range(3)] = mass
        extra = self.tie_stiffness[chosen]
        matrix[:, 3:, 3:] = inertia + _positive(0.5 * (extra + np.swapaxes(extra, 1, 2)))
        gradient = np.concatenate([mass * way, np.einsum("bij,bj->bi", inertia, turn)], axis=1)
        apart, backing = np.concatenate([way, turn], axis=1), block.backing[chosen] / h**2
        gradient += np.einsum("bij,bj->bi", backing, apart)
        matrix += backing
        potential[chosen] = 0.5 * np.einsum("bi,bi->b", gradient, apart)
        gradient += self.tie_gradient[chosen] + self.push_gradient[chosen]
        matrix += self.push_matrix[chosen]
        led = block.kinematic[chosen]
        gradient[led] = 0.0
        inverse = matrix.copy()
        invert_each(inverse)
        inverse[led] = 0.0
        self._inverse[chosen], self.gradient[chosen], self.matrix[chosen] = inverse, gradient, matrix
        self._step.reshape(-1, 6)[chosen] = -np.einsum("bij,bj->bi", inverse, gradient)

    def step_vector(self) -> Array:
        return self._step

    def solve_linearised(self, chosen: Ints, generalized: Array) -> None:
        rows = generalized.reshape(-1, 6)
        rows[chosen] = np.einsum("bij,bj->bi", self._inverse[chosen], rows[chosen])

    def sample_steps(self, chosen: Ints, generalized: Array, out: Array) -> None:
        out[chosen, :3] = generalized.reshape(-1, 6)[chosen, :3]
        out[chosen, 3] = 0.0

    def generalized_pushes(self, chosen: Ints, forces: Array, out: Array) -> None:
        out.reshape(-1, 6)[chosen, :3] = forces[chosen, :3]
        out.reshape(-1, 6)[chosen, 3:] = 0.0

    def measure_steps(self, chosen: Ints, longest: Array, slope: Array) -> None:
        step = self._step.reshape(-1, 6)[chosen]
        size = SMALL * self.block.size[chosen, None]
        with np.errstate(invalid="ignore"):
            longest[chosen] = np.maximum(np.abs(step[:, :3]) / size, np.abs(step[:, 3:]) / SMALL).max(axis=1)
        slope[chosen] = np.einsum("bi,bi->b", self.gradient[chosen], step)

    def move(self, chosen: Ints) -> None:
        state, step = self.block.state, self._step.reshape(-1, 6)[chosen]
        self._base[0][chosen], self._base[1][chosen] = state.x[chosen], state.rotation[chosen]
        turned = np.linalg.norm(step[:, 3:], axis=1, keepdims=True)
        step = step * np.minimum(1.0, 0.7 / np.maximum(turned, 1e-300))
        state.x[chosen] += step[:, :3]
        state.rotation[chosen] = orthonormal(exponential(step[:, 3:]) @ state.rotation[chosen])

    def to_goal(self, chosen: Ints) -> Array:
        """(K, 6) the steps that take free bodies to where they would be if nothing touched them."""
        state, (x, rotation) = self.block.state, self._goal
        turn = logarithm(rotation[chosen] @ np.swapaxes(state.rotation[chosen], 1, 2))
        steps = np.concatenate([x[chosen] - state.x[chosen], turn], axis=1)
        steps[self.block.kinematic[chosen]] = 0.0
        return np.asarray(steps)

    def yielding(self, chosen: Ints, loads: Array) -> Array:
        """(K, 6) how far forces and torques (K, 6) move free bodies in the step."""
        inverse = self.block.world_inertia()[chosen]
        invert_each(inverse)
        turns = np.einsum("bij,bj->bi", inverse, loads[:, 3:])
        steps = self.h**2 * np.concatenate([loads[:, :3] / self.block.mass[chosen, None], turns], axis=1)
        steps[self.block.kinematic[chosen]] = 0.0
        return np.asarray(steps)

    def shift(self, chosen: Ints, steps: Array) -> None:
        """Moves bodies by steps (K, 6)."""
        self._step.reshape(-1, 6)[chosen] = steps
        self.move(chosen)

    def backtrack(self, chosen: Ints, sizes: Array) -> None:
        state, (x, rotation), part = self.block.state, self._base, sizes[chosen, None]
        state.x[chosen] = x[chosen] + part * (state.x[chosen] - x[chosen])
        turn = logarithm(state.rotation[chosen] @ np.swapaxes(rotation[chosen], 1, 2))
        state.rotation[chosen] = exponential(part * turn) @ rotation[chosen]

    def finish(self, chosen: Ints, creep: bool = False) -> None:
        state, h = self.block.state, self.h
        free = chosen[~self.block.kinematic[chosen]]
        turn = logarithm(state.rotation[free] @ np.swapaxes(self._goal[1][free], 1, 2))
        state.v[free] = 0.0 if creep else self._speed[0][free] + (state.x[free] - self._goal[0][free]) / h
        state.w[free] = 0.0 if creep else self._speed[1][free] + turn / h
        state.a[chosen] = 0.0

    # Of no use here ------------------------------------------------------------------------------------------------

    def energies(self, gravity: Array) -> Energies:
        return Energies()

    def take_work(self) -> Work:
        return Work()


def _positive(matrices: Array) -> Array:
    """Symmetric matrices without their negative part."""
    values, vectors = np.linalg.eigh(matrices)
    return np.asarray((vectors * np.maximum(values, 0.0)[:, None, :]) @ np.swapaxes(vectors, 1, 2))
