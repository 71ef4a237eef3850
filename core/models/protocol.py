"""The interface of rod models, so that holds, contact, bodies, forces, cache and Blender are written once for all of them.

`ModelBlock` is what every model implements. The classes after it are optional capabilities: code that needs one tests for it with
`isinstance` and handles blocks without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..errors import Array
from .schemes import WHOLE_STEP, Stage

if TYPE_CHECKING:
    from ..describe.attachment import Attachment
    from ..describe.scene import Entry
    from .alteration import Factors
    from .carrying import RigidMotion

WHOLE = np.ones((1, 1))  # share of gravity: all of it, for all sample points


@dataclass(frozen=True)
class Energies:
    """Energies in J. The potential energy of gravity is zero at the origin."""

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
    """Solver statistics of a block since they were last read."""

    iterations: int = 0  # Newton iterations, summed over rods
    residual: float = 0.0  # largest estimated error of a Newton solve, in segment lengths
    halvings: int = 0  # of the step size
    fallbacks: int = 0  # steps repeated with backward Euler
    failures: int = 0  # parts of a step that were given up: the rod was placed without velocity
    overlap: float = 0.0  # deepest overlap at the end of the frame beyond what was drawn, in radii of the thinner rod
    affected: frozenset[int] = frozenset()  # rods with failures: their numbers in the block
    implicit: frozenset[int] = frozenset()  # rods of an explicit model that took implicit steps instead, likewise

    def __add__(self, other: Work) -> Work:
        return Work(
            self.iterations + other.iterations,
            max(self.residual, other.residual),
            self.halvings + other.halvings,
            self.fallbacks + other.fallbacks,
            self.failures + other.failures,
            max(self.overlap, other.overlap),
            self.affected | other.affected,
            self.implicit | other.implicit,
        )


class Pushes(NamedTuple):
    """External forces on the sample points during a coupled step, and their stiffness."""

    force: Array  # (N, 4) N on the point; N m about the tangent of the edge after it
    # (N, 28) derivative of the force on an edge in x y z of its start, its rotation, x y z of its end: lower triangle by rows
    stiffness: Array
    touched: NDArray[np.bool_]  # (N,) the edge has stiffness


class Edges(NamedTuple):
    """The edges after the sample points, as contact and bodies need them."""

    after: NDArray[np.int64]  # (N,) the sample point at its end; -1: no edge
    radius: Array  # (N,) m
    along: Array  # (N,) m, rest arc length from the start of the rod
    length: Array  # (N,) m, of a closed rod; infinite if open
    # (K, 2) pairs of edges i < j of one rod that never collide, besides those close to each other along the rod
    joined: NDArray[np.int64] = np.zeros((0, 2), np.int64)


class FreeSteps(NamedTuple):
    """Steps of all rods of a block that touch nothing, and what acts on them."""

    h: float  # s, length of a step
    number: int  # of steps
    forces: Array  # (N, 3) N, on the sample points
    wind: Array  # (3,) m/s
    air_density: float  # kg/m3
    drag_rate: Array  # (R,) 1/s: drag in proportion to mass, relative to the wind
    calm: bool = False  # use the most dissipative integrator, to find a state of rest
    skip: NDArray[np.bool_] | None = None  # (R,) rods that take no step


class ModelBlock(Protocol):
    """All rods of one model in a scene. The sample points of rod r are the rows sample_start[r] ... of all arrays.

    Sample points are the vertices of the described rods; blocks with additional ones have the capability `ExtraSamples`.

    The constructor takes (entries, holds, *, integrator, tolerance, workers), see `registry.make_block`."""

    sample_start: NDArray[np.int64]  # (R + 1,)
    generalized_size: int  # length of vectors of generalized coordinates
    generalized_ranges: NDArray[
        np.int64
    ]  # (R, K, 2) the entries of each rod in them: K ranges from first to before last
    state_size: int

    # 1. Where the material is.
    def positions(self) -> Array:
        """(N, 3) m. A view: copy it to keep it."""

    def velocities(self) -> Array:
        """(N, 3) m/s. A view."""

    def directors(self) -> Array:
        """(N, 3) first material director of the edge after each sample point; unused after the last of an open rod."""

    # 2. Generalized velocities to point velocities, and point forces to generalized forces.
    def point_velocities(self, generalized: Array, out: Array) -> None:
        """out = J v."""

    def generalized_forces(self, forces: Array, out: Array) -> None:
        """out = J^T f."""

    # 3. A free step.
    def hold_positions(self) -> Array:
        """(H, 3) initial positions of the block's holds."""

    def move_holds(self, positions: Array, rotations: Array, spins: Array) -> None:
        """Sets the pose of the block's holds at the end of the next steps; the previous one becomes that at their start."""

    def weight(self, gravity: Array, out: Array, share: Array = WHOLE) -> None:
        """Writes the force of gravity on each sample point, times `share`: (N, 1), or (1, 1) for all points."""

    def free_steps(self, steps: FreeSteps) -> None:
        """Takes steps under forces and air, without contact and bodies. Never raises. The motion of holds spans all steps."""

    def solve(self, generalized: Array) -> None:
        """Applies the inverse of the matrix of the last step, in place."""

    # 4. A coupled step: one under external forces that depend on the motion (contact, bodies), solved by Newton's method together
    # with their source. `chosen` are the numbers of the rods that take part.
    def edges(self) -> Edges:
        """The edges between sample points."""

    def turns(self) -> Array:
        """(N,) rad, a view: rotation of each edge's material about its tangent since the coupled step began."""

    def save(self, chosen: NDArray[np.int64]) -> None:
        """Saves the state of rods at the start of a step, for `begin` and `rollback`."""

    def rollback(self, chosen: NDArray[np.int64]) -> None:
        """Resets rods to their saved state."""

    def copy(self, chosen: NDArray[np.int64]) -> Sequence[Array]:
        """A copy of the state of rods, for `restore`. Unlike `save` it can be taken any number of times."""

    def restore(self, chosen: NDArray[np.int64], state: Sequence[Array]) -> None:
        """Resets rods to a state of `copy`."""

    def begin(self, chosen: NDArray[np.int64], h: float, air_density: float, still: bool = False) -> None:
        """Starts a coupled step of h seconds from the saved state, at a predicted end state under the forces of the last
        `free_steps`. `still`: only held vertices move."""

    def estimate_mobility(self, chosen: NDArray[np.int64], mobility: Array) -> None:
        """Writes an estimate of the displacement of each sample point within the step per force on it, m/N: (N, 6) rows
        xx yx yy zx zy zz."""

    def linearise(self, chosen: NDArray[np.int64], pushes: Pushes, potential: Array) -> None:
        """Computes the Newton step of each rod under external forces (rows of the block), as if they acted on one rod each. Writes
        the incremental potential (R,) that a step minimises, without the external forces."""

    def step_vector(self) -> Array:
        """The generalized Newton step: a view that may be changed."""

    def solve_linearised(self, chosen: NDArray[np.int64], generalized: Array) -> None:
        """Applies the inverse of the matrix of `linearise` to the chosen rods, in place."""

    def sample_steps(self, chosen: NDArray[np.int64], generalized: Array, out: Array) -> None:
        """out (N, 4) = J v: displacement of the sample points of the chosen rods, and rotation of the edges after them."""

    def generalized_pushes(self, chosen: NDArray[np.int64], forces: Array, out: Array) -> None:
        """out = J^T f of forces (N, 4) on the chosen rods."""

    def measure_steps(self, chosen: NDArray[np.int64], longest: Array, slope: Array) -> None:
        """Writes the largest displacement of the step vector in segment lengths (R,), and the derivative of the potential along
        it (R,)."""

    def move(self, chosen: NDArray[np.int64]) -> None:
        """Applies the step vector, shortened where it is too long."""

    def backtrack(self, chosen: NDArray[np.int64], sizes: Array) -> None:
        """Line search: shortens what the last `move` or `backtrack` applied to a fraction `sizes` (R,) of it."""

    def finish(self, chosen: NDArray[np.int64], creep: bool = False) -> None:
        """Accepts the step. `creep`: the step was given up; velocities become zero."""

    # 5. Bookkeeping.
    def energies(self, gravity: Array) -> Energies:
        """The energies of all rods together."""

    def elastic_energies(self) -> Array:
        """(R,) J, of stretch, bending and twist. Call `energies` first."""

    def take_work(self) -> Work:
        """Solver statistics since the last call."""

    def pack_state(self, out: Array) -> None:
        """Writes the whole state into a flat array of state_size."""

    def unpack_state(self, state: Array) -> None:
        """Sets the whole state from what `pack_state` wrote."""

    def stop(self) -> None:
        """Sets all velocities to zero."""

    def disturb(self, size: float) -> None:
        """Displaces all free points randomly by up to `size` segment lengths, with a fixed seed."""


# Optional capabilities ----------------------------------------------------------------------------------------------


@runtime_checkable
class ExtraSamples(Protocol):
    """Sample points that are not vertices of the described rods."""

    vertices: NDArray[np.int64]  # rows of the sample points that are vertices, one rod after the other


@runtime_checkable
class ExtraEdges(Protocol):
    """Edges that do not begin at vertices of the described rods."""

    director_rows: NDArray[np.int64]  # rows of `directors()` of the described edges, one rod after the other


@runtime_checkable
class Releases(Protocol):
    """Holds can be removed while the simulation runs."""

    def release(self, hold: int) -> bool:
        """Removes one of the block's holds for good. False if that hold can't be removed."""


@runtime_checkable
class Alters(Protocol):
    """Material and natural shape can change while the simulation runs."""

    def alter(self, rod: int, factors: Factors) -> None:
        """Multiplies properties of a rod, as described, by factors."""


@runtime_checkable
class MovesRigidly(Protocol):
    """Rods can be moved rigidly between two steps."""

    def move_rigidly(self, chosen: NDArray[np.int64], motion: RigidMotion) -> None:
        """Moves the state of rods rigidly; velocities and forces turn along. Holds are sent afterwards, by `move_holds`."""


@runtime_checkable
class Balances(Protocol):
    """Rods can be given a natural shape with which they are in equilibrium."""

    def balance(self, chosen: NDArray[np.int64], forces: Array, squares: Array) -> NDArray[np.bool_]:
        """Changes the natural shape of rods so that they are in equilibrium at their state under forces (N, 3) on sample points.
        Returns for each chosen rod whether that was possible: the equilibrium is stable, with no frequency below the root of
        squares (R,), 1/s2, and natural curvature is bounded. The natural shape of the others is undefined. Without forces
        the shape that a rod has becomes its natural one."""

    def rest_lengths(self) -> Array:
        """(E,) m, natural lengths of the described edges."""


@runtime_checkable
class Grows(Protocol):
    """The natural length changes linearly through a frame."""

    def grow(self, rod: int, length: float | None = None, curvature: object = None) -> None:
        """Sets the natural length (m), or the natural twist and curvatures (1/m), at the end of the next frame."""

    def grow_to(self, fraction: float) -> None:
        """Sets all growing rods to a fraction of the way to their new natural length."""

    def arrive(self) -> None:
        """Ends the frame: all growing rods have their new natural length."""


@runtime_checkable
class MeasuresStrains(Protocol):
    """The block knows better than edges between vertices how its rods are strained."""

    def strains(self) -> Array:
        """(E, 3) stretch, bending (1/m) and twist (rad/m) of the described edges."""

    def tension(self) -> Array:
        """(E,) N"""


@runtime_checkable
class Breaks(Protocol):
    """Segments of its rods can break, and then carry nothing."""

    def broken_edges(self) -> NDArray[np.bool_]:
        """(E,) which of the described edges are broken"""

    def cut(self, rod: int, edge: int) -> None:
        """Breaks an edge now. Raises TendrilError for a rod that was not described as one that can break."""


@runtime_checkable
class SecondOrderStages(Protocol):
    """A coupled step can be one of any scheme of `schemes.py` with one or two stages, each of which is a backward Euler step from a
    shifted start:

        scheme = TABLE[TR_BDF2]
        block.save(chosen)
        for stage in stages_of(scheme):
            block.begin(chosen, scheme.length * h, air_density, stage=stage)
            ...                               # Newton's method: linearise, move, backtrack, as in a step of one stage
        block.finish(chosen, smooth=True)     # or block.rollback(chosen)

    A scheme with an explicit first stage needs the acceleration at the start of the step: where `knows_acceleration` is False, two
    short backward Euler steps that are undone find one, see `BodySteps` in contact/bodies/stepping.py. A second stage begins where
    Newton's method left the first one, and only once: to try it again, begin the step anew."""

    coupled_schemes: tuple[str, ...]  # those that it supports; none where a subclass does not support what it inherits

    def begin(
        self,
        chosen: NDArray[np.int64],
        h: float,
        air_density: float,
        still: bool = False,
        stage: Stage = WHOLE_STEP,
    ) -> None:
        """As `ModelBlock.begin`, for a stage of length h. In a first stage rods start from the saved state; in a second one they
        accept the iterate as the end of the first."""

    def finish(self, chosen: NDArray[np.int64], creep: bool = False, smooth: bool = False) -> None:
        """As `ModelBlock.finish`, after the last stage. `smooth`: its acceleration is that at the start of the next step. Not after
        an impact, whose force does not go on."""

    def knows_acceleration(self, chosen: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the chosen rods know the acceleration at their state."""

    def forget_acceleration(self, rod: int) -> None:
        """The acceleration of a rod is not known any more, after a discontinuity: the next step estimates it anew."""

    def restore_with_acceleration(self, chosen: NDArray[np.int64], state: Sequence[Array]) -> None:
        """As `restore`, but the acceleration stays what it is."""


@runtime_checkable
class ContactStages(SecondOrderStages, Protocol):
    """The same in contact: the block tells where its stages start and what its steps gain."""

    integrator: str  # that of its free steps

    def stage_start(self) -> tuple[Array, Array]:
        """Generalized displacement and change of speed from the saved state to where the stage of the last `begin` starts: what
        keeps still in the stage is displaced as far from there."""

    def gains(self, chosen: NDArray[np.int64], out: Array) -> None:
        """out (R,) J: energy that the chosen rods have gained since the saved state, beyond the work of loads, at the end of the
        last stage; less what prescribed motion may have given."""


@runtime_checkable
class ContactResponses(Protocol):
    """A fast path to the responses of rods to forces at contacts."""

    def contact_responses(
        self,
        rod: NDArray[np.int64],
        edge: NDArray[np.int64],
        load: Array,
        start: NDArray[np.int64],
        out: NDArray[np.floating[Any]],
    ) -> None:
        """out[start[k]:] = displacements (L, n, 4) of the n sample points of a rod under L loads (K, L, 7) on one of its edges, by
        the matrix of `linearise`. `rod` (K,) is sorted; `edge` (K,) are rows of sample points."""


@runtime_checkable
class IterateDirectors(Protocol):
    """Directors are known during a coupled step, at the current iterate."""

    def directors_now(self, row: NDArray[np.int64]) -> Array:
        """(K, 3) first directors of the edges after sample points `row`."""


@runtime_checkable
class EdgeDirectors(Protocol):
    """Directors of sampled edges differ from those shown by `directors()`; known in the state and at the iterate."""

    def edge_directors(self, row: NDArray[np.int64]) -> Array:
        """(K, 3) first directors of the edges after sample points `row`."""


@runtime_checkable
class EdgeResponses(Protocol):
    """A fast path to the compliance between edges of a rod, for attached bodies."""

    def responses(
        self, owner: NDArray[np.int64], row: NDArray[np.int64], after: NDArray[np.int64], pair: NDArray[np.int64], out: Array
    ) -> None:  # fmt: skip
        """Writes (P, 7, 7) motion of edge pair[k, 0] per force on edge pair[k, 1], by the matrix of `linearise`. `owner`, `row` and
        `after` are the rod, start and end of each edge."""


@runtime_checkable
class CarriesBodies(Protocol):
    """The block steps attached bodies together with its rods, by a scheme of its own."""

    def carry(self, attachments: Sequence[tuple[int, Attachment]], bodies: Any, impulse: Array) -> NDArray[np.bool_]:
        """Takes over attachments (each with the number of its rod) that are all of their bodies' attachments, where it can: returns
        which rods (R,) `step_carried` steps from now on. `bodies` is the BodyBlock of contact/bodies; the impulses of the
        attachments are added to `impulse` (B, 6)."""

    def step_carried(self, steps: FreeSteps, gravity: Array, body_drag: float) -> None:
        """Takes one step with these rods and their bodies, which the air brakes at `body_drag` (1/s). Kinematic bodies are moved
        later, with all others."""


def takes_stages(block: object, scheme: str) -> bool:
    """Whether coupled steps of a block can have the stages of a scheme of second order."""
    return isinstance(block, SecondOrderStages) and scheme in block.coupled_schemes


def vertex_rows(block: ModelBlock) -> NDArray[np.int64]:
    """The rows of a block's sample points that are vertices of the described rods, one rod after the other."""
    return block.vertices if isinstance(block, ExtraSamples) else np.arange(int(block.sample_start[-1]))


def edge_rows(block: ModelBlock, entries: Sequence[Entry]) -> NDArray[np.int64]:
    """The rows of a block's `directors()` that are edges of the described rods, one rod after the other."""
    if isinstance(block, ExtraEdges):
        return block.director_rows
    keep = [np.arange(entry.rod.vertex_count) < entry.rod.edge_count for entry in entries]
    return np.asarray(vertex_rows(block)[np.concatenate(keep)])


def in_one_piece(start: NDArray[np.int64]) -> NDArray[np.int64]:
    """`generalized_ranges` of rods whose entries are contiguous: those of rod r from start[r] to before start[r + 1]."""
    return np.asarray(np.stack([start[:-1], start[1:]], axis=1)[:, None])
