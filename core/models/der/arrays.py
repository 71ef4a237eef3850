"""The data of all `der` rods of a scene, as plain arrays side by side, in groups that kernels take as they need them.

Vertices of all rods are numbered through; rod r owns start[r] ... start[r + 1] - 1. Edge j runs from vertex j to the next
and shares its number; the last vertex of an open rod has no edge, and its edge entries are idle. The four unknowns of a
number are x, y, z of the vertex and the angle theta by which the edge's material frame has turned since the step began.

At a vertex meet up to two bending-and-twisting elements, in slots 0 and 1: one between its two edges (slot 0), or, where
the frame of the cross-section is held, one from the edge before to the held frame (slot 0) and one from the held frame to
the edge after (slot 1), each half a segment long. So a clamp sits at the vertex itself and not half a segment away.
An element has five strains: the material curvatures (2) of the 2008 paper in the frame of the edge before (0, 1) and of
the edge after (2, 3), and the twist (4), all integrated over the element.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import Array
from ...maths.linalg.bordered_band import BORDER, COLUMN

# What is at a vertex.
FREE_END = 0  # an end of an open rod: no element
INNER = 1  # one element between the two edges
FRAMED = 2  # the frame is held: an element on either side where there is an edge


class Rods(NamedTuple):
    """What does not change."""

    start: NDArray[np.int64]  # (R + 1,)
    closed: NDArray[np.bool_]  # (R,) bool
    damping_time: Array  # (R,) s
    rest_length: Array  # (N,) of the edge
    radii: Array  # (N, 2) half axes of the edge's section
    stretch: Array  # (N,) EA
    stiffness: Array  # (N, 2, 5) of the elements' strains
    rest: Array  # (N, 2, 5) the elements' strains in the natural shape
    mass: Array  # (N, 4) of the vertex (three times), of the edge about its tangent
    joint: NDArray[np.int8]  # (N,) FREE_END, INNER or FRAMED
    held: NDArray[np.bool_]  # (N, 4) prescribed unknowns
    edge_framed: NDArray[np.bool_]  # (N,) the material frame of the edge is prescribed


class State(NamedTuple):
    """What a cache stores."""

    q: Array  # (N, 4) position; theta since the beginning of the step
    v: Array  # (N, 4) velocity and spin
    a: Array  # (N, 4) acceleration at the end of the last stage, to start Newton from
    m1: Array  # (N, 3) first material director of the edge
    twist: Array  # (N, 2) twist of the elements; it remembers whole turns


class Holds(NamedTuple):
    """Prescribed motion, at the beginning [0] and the end [1] of the step."""

    position: Array  # (2, N, 3) of held vertices
    tangent: Array  # (2, N, 3) of held frames
    director: Array  # (2, N, 3) first director of held frames, of vertices and of edges
    spin: Array  # (2, N) rad about the tangent, on top; counts whole turns


class HeldFrames(NamedTuple):
    """Held frames of vertices at the stage's time."""

    tangent: Array  # (N, 3)
    director: Array  # (N, 3) without the spin
    spin: Array  # (N,); of a held edge that at the beginning of the attempt


class Forces(NamedTuple):
    """Forces during the step."""

    force: Array  # (N, 4) N; N m about the tangent
    gyroscopic: Array  # (N, 4) N, of spinning edges that turn; during a stage
    drag: Array  # (N, 6) symmetric matrix xx yx yy zx zy zz of the force per velocity, kg/s
    wind: Array  # (3,) m/s
    drag_rate: Array  # (1,) 1/s: the same for the spin, in proportion to inertia


class Stage(NamedTuple):
    """Where a stage starts: M (q - q* - h v*) / h^2 = forces, and strain rates are (strain - strain*) / h."""

    q: Array  # (N, 4)
    v: Array  # (N, 4)
    strain: Array  # (N, 2, 5)
    stretch: Array  # (N,)
    strain0: Array  # (N, 2, 5) strains at the beginning of the attempt
    stretch0: Array  # (N,)


class Geometry(NamedTuple):
    """The iterate's frames. Reference frames are those with theta and spin zero; they are carried from a base in time."""

    t: Array  # (N, 3) tangents
    length: Array  # (N,)
    d1: Array  # (N, 3) material directors
    d2: Array  # (N, 3)
    reference: Array  # (N, 3) reference directors
    reference_twist: Array  # (N, 2) twist of the reference frames
    base_t: Array  # (N, 3)
    base_reference: Array  # (N, 3)
    base_twist: Array  # (N, 2)
    strain: Array  # (N, 2, 5)
    stretch: Array  # (N,) strain of the edges
    tension: Array  # (N,) N, as the linear system foresaw it; see Newton


class System(NamedTuple):
    """Newton's linear system."""

    base: Array  # (N, 4) q from which a line search begins
    gradient: Array  # (N, 4)
    step: Array  # (N, 4) Newton's step from the base
    trial: Array  # (4 N,) and the one from the trial point
    band: Array  # (4 N, COLUMN)
    border: Array  # (4 N, BORDER), of no rows where no rod is closed
    corner: Array  # (R, BORDER, BORDER), likewise
    packed: Array  # (4 N,) right-hand side in the order of the matrix


class Log(NamedTuple):
    energy: Array  # (R, 3) stretch, bend, twist when last measured
    report: Array  # (R, 5) iterations, residual, halvings, fall-backs, failures


class Arrays(NamedTuple):
    """Everything. Of a whole block only rods, state, holds, forces and log have rows: to be stepped, a rod is taken to the
    workbench of a worker, which is one such set of arrays for a single rod and stays in the processor's cache. Rods that touch
    each other are solved together, and for them a whole block has all rows: see `for_coupling`."""

    rods: Rods
    state: State
    saved: State  # at the beginning of an attempt, to go back to
    holds: Holds
    frames: HeldFrames
    forces: Forces
    stage: Stage
    geometry: Geometry
    system: System
    log: Log


# Integrators, each the fall-back of the next.
BACKWARD_EULER = 0
SDIRK2 = 1
MIDPOINT = 2


class Step(NamedTuple):
    """How steps are to be taken."""

    h: float  # s
    steps: int  # how many, one after the other; prescribed motion spans all of them
    scheme: int
    air_density: float  # kg/m3
    tolerance: float  # Newton stops when no vertex is farther from its place than this many segment lengths
    most_iterations: int
    most_halvings: int


def make_workbench(n: int, any_closed: bool) -> Arrays:
    """For one rod of up to n vertices."""
    return _zeros(n, 1, n, n if any_closed else 0, 1)


def make_block(n: int, rods: int) -> Arrays:
    """For rods of n vertices in all."""
    return _zeros(n, rods, 0, 0, 0)


def for_coupling(b: Arrays) -> Arrays:
    """The same rods, states, holds and forces as the block's, with room to work on all rods at once."""
    n, rods = len(b.state.q), len(b.rods.closed)
    room = _zeros(0, 0, n, n if b.rods.closed.any() else 0, rods)
    return room._replace(
        rods=b.rods,
        state=b.state,
        holds=b.holds,
        forces=b.forces._replace(gyroscopic=room.forces.gyroscopic, drag=room.forces.drag),
        log=b.log,
    )


def _zeros(n: int, rods: int, work: int, border: int, corners: int) -> Arrays:

    def zeros(*shape: int) -> Array:
        return np.zeros(shape)

    def state(n: int) -> State:
        return State(zeros(n, 4), zeros(n, 4), zeros(n, 4), zeros(n, 3), zeros(n, 2))

    return Arrays(
        rods=Rods(
            start=np.zeros(rods + 1, dtype=np.int64),
            closed=np.zeros(rods, dtype=np.bool_),
            damping_time=zeros(rods),
            rest_length=zeros(n),
            radii=zeros(n, 2),
            stretch=zeros(n),
            stiffness=zeros(n, 2, 5),
            rest=zeros(n, 2, 5),
            mass=zeros(n, 4),
            joint=np.zeros(n, dtype=np.int8),
            held=np.zeros((n, 4), dtype=np.bool_),
            edge_framed=np.zeros(n, dtype=np.bool_),
        ),
        state=state(n),
        saved=state(work),
        holds=Holds(zeros(2, n, 3), zeros(2, n, 3), zeros(2, n, 3), zeros(2, n)),
        frames=HeldFrames(zeros(work, 3), zeros(work, 3), zeros(work)),
        forces=Forces(zeros(n, 4), zeros(work, 4), zeros(work, 6), zeros(3), zeros(1)),
        stage=Stage(zeros(work, 4), zeros(work, 4), zeros(work, 2, 5), zeros(work), zeros(work, 2, 5), zeros(work)),
        geometry=Geometry(
            t=zeros(work, 3),
            length=zeros(work),
            d1=zeros(work, 3),
            d2=zeros(work, 3),
            reference=zeros(work, 3),
            reference_twist=zeros(work, 2),
            base_t=zeros(work, 3),
            base_reference=zeros(work, 3),
            base_twist=zeros(work, 2),
            strain=zeros(work, 2, 5),
            stretch=zeros(work),
            tension=zeros(work),
        ),
        system=System(
            base=zeros(work, 4),
            gradient=zeros(work, 4),
            step=zeros(work, 4),
            trial=zeros(4 * work),
            band=zeros(4 * work, COLUMN),
            border=zeros(4 * border, BORDER),
            corner=zeros(corners if border else 1, BORDER, BORDER),  # open rods hand the first one on, unused
            packed=zeros(4 * work),
        ),
        log=Log(zeros(rods, 3), zeros(rods, 5)),
    )
