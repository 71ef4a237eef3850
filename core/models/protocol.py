"""What every rod model can do, so that holds, contact, bodies, forces, cache and Blender are written once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..describe.scene import Entry
from ..errors import Array

WHOLE = np.ones((1, 1))  # all of gravity, for all sample points


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


class Pushes(NamedTuple):
    """How others push the sample points while a coupled step is solved."""

    force: Array  # (N, 4) N on the point; N m about the tangent of the edge after it
    stiffness: Array  # (N, 28) how the force on an edge resists motion of x y z, turn and x y z of its end: lower triangle by rows
    touched: NDArray[np.bool_]  # (N,) the edge has stiffness


class Edges(NamedTuple):
    """The edges after the sample points, as others see them."""

    after: NDArray[np.int64]  # (N,) the sample point where it ends; -1: no edge
    radius: Array  # (N,) m
    along: Array  # (N,) m, natural arc length from the start of the rod
    length: Array  # (N,) m, of a closed rod; infinite if open
    joined: NDArray[np.int64] = np.zeros(
        (0, 2), np.int64
    )  # (K, 2) edges i < j of one rod that never touch, beside those near along it


class ModelBlock(Protocol):
    """All rods of one model in a scene. Sample points of rod r of the block are rows sample_start[r] ... of the arrays.

    They are the vertices of the described rods; a model that has more of them says which are vertices, see `vertex_rows`."""

    sample_start: NDArray[np.int64]  # (R + 1,)
    generalized_size: int  # of vectors of generalized coordinates
    generalized_ranges: NDArray[
        np.int64
    ]  # (R, K, 2) where those of each rod are in them: K times from an entry to before another
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

    # A model may also have `release(hold: int) -> bool`, which lets go of one of the block's holds for good; False if it can't.

    def weight(self, gravity: Array, out: Array, share: Array = WHOLE) -> None:
        """Writes the force of gravity on each sample point; share (samples, 1), or (1, 1) for all, is how much of it
        they feel."""

    def free_steps(
        self,
        h: float,
        count: int,
        point_forces: Array,
        wind: Array,
        air_density: float,
        drag_rate: float,
        calm: bool,
        skip: NDArray[np.bool_] | None = None,
    ) -> None:
        """Moves all rods but those to skip by `count` steps of h seconds under forces (N, 3) and air, as if nothing was in the way.

        Never raises. The motion of holds spans all the steps. With `calm` the integrator is the one that takes most
        energy out, to look for a state of rest."""

    def solve(self, generalized: Array) -> None:
        """Applies the inverse of the matrix the last step was taken with, in place."""

    # A coupled step: that of rods which others push on, solved by Newton's method together with the others. `chosen` are the
    # numbers of the rods that take part.
    def edges(self) -> Edges:
        """What others need to know of the material."""

    def turns(self) -> Array:
        """(N,) a view: the angle about the tangent by which each edge's material has turned since the coupled step began."""

    def save(self, chosen: NDArray[np.int64]) -> None:
        """Keeps the state of rods, for `begin` to go back to."""

    def recall(self, chosen: NDArray[np.int64]) -> None:
        """Takes rods back to their saved state."""

    def copy(self, chosen: NDArray[np.int64]) -> Sequence[Array]:
        """The state of rods, for `put_back`: some moments have to be gone back to more than once."""

    def put_back(self, chosen: NDArray[np.int64], state: Sequence[Array]) -> None: ...

    def begin(self, chosen: NDArray[np.int64], h: float, air_density: float, still: bool = False) -> None:
        """Takes rods back to the saved state and then to a guess of where they are after h, under the forces of `free_steps`;
        with `still` only what is held moves."""

    def probe(self, chosen: NDArray[np.int64], mobility: Array) -> None:
        """Writes how far (m/N) a force on each sample point of the chosen rods moves it within the step, about: (N, 6) rows
        xx yx yy zx zy zz."""

    def linearise(self, chosen: NDArray[np.int64], pushes: Pushes, potential: Array) -> None:
        """Computes Newton's step of each rod under pushes (rows of the block), as if these concerned one rod each. Writes the rods'
        potential (R,): what a step makes least, but for the pushes."""

    def step_vector(self) -> Array:
        """The generalized step, a view to be changed."""

    def solve_linearised(self, chosen: NDArray[np.int64], generalized: Array) -> None:
        """Applies the inverse of the matrix of `linearise`, in place, for the chosen rods."""

    def sample_steps(self, chosen: NDArray[np.int64], generalized: Array, out: Array) -> None:
        """out (N, 4) = the motion of the sample points of the chosen rods and the turn of the edges after them."""

    def generalized_pushes(self, chosen: NDArray[np.int64], forces: Array, out: Array) -> None:
        """The transpose: out = J^T of forces (N, 4), of the chosen rods."""

    def weigh_steps(self, chosen: NDArray[np.int64], longest: Array, slope: Array) -> None:
        """Writes how far the step vector goes, in segment lengths, at most (R,), and how the potential changes along it (R,)."""

    def move(self, chosen: NDArray[np.int64]) -> None:
        """Moves by the step vector, or less where that would go too far."""

    def retreat(self, chosen: NDArray[np.int64], sizes: Array) -> None:
        """Goes back to a part of the way that `move` (or the last `retreat`) went: sizes (R,), from 0 to 1, per rod."""

    def finish(self, chosen: NDArray[np.int64], creep: bool = False) -> None:
        """Accepts the step. With `creep` speed is lost: the step was given up."""

    # A model may have more, for rods with bodies on them. `second_order`: its coupled steps can be those of SDIRK2, by
    # `begin_stage(chosen, h, air_density, at)` (a first stage of length h, after which a part `at` of the step is over),
    # `go_on(chosen, ratio)` (to the second) and `finish(chosen, creep, smooth=True)`. `directors_now(row)`: of edges after sample
    # points, at the iterate; or `edge_directors(row)`: in the state, too, and not as drawn. `responses(owner, row, after, pair,
    # out)`: how edges move when edges are pushed, see `der`.

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


def vertex_rows(block: ModelBlock) -> NDArray[np.int64]:
    """The rows of a block's sample points that are vertices of the described rods, one rod after the other: its `vertices` if
    it has other sample points, too, else all."""
    rows: NDArray[np.int64] | None = getattr(block, "vertices", None)
    return np.arange(int(block.sample_start[-1])) if rows is None else rows


def edge_rows(block: ModelBlock, entries: Sequence[Entry]) -> NDArray[np.int64]:
    """The rows of a block's `directors()` that are those of the edges of the described rods, one rod after the other: its
    `director_rows` if it has more edges than vertices, else those of the vertices at which edges begin."""
    rows: NDArray[np.int64] | None = getattr(block, "director_rows", None)
    if rows is not None:
        return rows
    keep = [np.arange(entry.rod.vertex_count) < entry.rod.edge_count for entry in entries]
    return np.asarray(vertex_rows(block)[np.concatenate(keep)])


def in_one_piece(start: NDArray[np.int64]) -> NDArray[np.int64]:
    """Ranges of rods whose entries lie one after the other: those of rod r from start[r] to before start[r + 1]."""
    return np.asarray(np.stack([start[:-1], start[1:]], axis=1)[:, None])
