"""What every rod model can do, so that holds, contact, bodies, forces, cache and Blender are written once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import Array


@dataclass(frozen=True)
class Energies:
    """In joules. Gravity is zero at the origin."""

    kinetic: float = 0.0
    stretch: float = 0.0
    bend: float = 0.0
    twist: float = 0.0
    gravity: float = 0.0

    @property
    def elastic(self) -> float:
        return self.stretch + self.bend + self.twist

    @property
    def total(self) -> float:
        return self.kinetic + self.elastic + self.gravity

    def __add__(self, other: Energies) -> Energies:
        return Energies(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))


@dataclass(frozen=True)
class Work:
    """What a block did since it was last asked."""

    iterations: int = 0  # of Newton, summed over rods
    residual: float = 0.0  # how far Newton's method may be from its goal, in segment lengths: the largest of all solves
    halvings: int = 0
    fallbacks: int = 0  # to backward Euler
    failures: int = 0  # parts of a step that were given up: the rod crept on without speed

    def __add__(self, other: Work) -> Work:
        return Work(
            self.iterations + other.iterations,
            max(self.residual, other.residual),
            self.halvings + other.halvings,
            self.fallbacks + other.fallbacks,
            self.failures + other.failures,
        )


class ModelBlock(Protocol):
    """All rods of one model in a scene. Sample points of rod r of the block are rows sample_start[r] ... of the arrays."""

    sample_start: NDArray[np.int64]  # (R + 1,)
    state_size: int

    # 1. Where the material is.
    def positions(self) -> Array:
        """(N, 3), a view: copy it to keep it."""

    def velocities(self) -> Array:
        """(N, 3), a view."""

    def directors(self) -> Array:
        """(N, 3) first material director of the edge after each sample point; idle after the last of an open rod."""

    # 2. Generalized velocities to point velocities, and point forces to generalized forces.
    def point_velocities(self, generalized: Array, out: Array) -> None:
        """out = J v."""

    def generalized_forces(self, forces: Array, out: Array) -> None:
        """out = J^T f."""

    # 3. A step.
    def hold_positions(self) -> Array:
        """(H, 3) where the block's holds are at the start."""

    def move_holds(self, positions: Array, rotations: Array, spins: Array) -> None:
        """Where the block's holds are at the end of the next steps; where they were before is the beginning."""

    def weight(self, gravity: Array, out: Array) -> None:
        """Writes the force of gravity on each sample point."""

    def free_steps(
        self, h: float, count: int, point_forces: Array, wind: Array, air_density: float, drag_rate: float, calm: bool
    ) -> None:
        """Moves all rods by `count` steps of h seconds under forces (N, 3) and air, as if nothing were in the way.

        Never raises. The motion of holds spans all the steps. With `calm` the integrator is the one that takes most
        energy out, to look for a state of rest."""

    def solve(self, generalized: Array) -> None:
        """Applies the inverse of the matrix the last step was taken with, in place."""

    # 4. Bookkeeping.
    def energies(self, gravity: Array) -> Energies: ...

    def take_work(self) -> Work:
        """What was done since the last call."""

    def pack_state(self, out: Array) -> None:
        """The whole state into a flat array of state_size."""

    def unpack_state(self, state: Array) -> None: ...

    def stop(self) -> None:
        """Takes all velocity out, to look for a state of rest."""

    def disturb(self, size: float) -> None:
        """Moves all points a little, by up to `size` segment lengths, always in the same way."""
