"""Arrays of all `compact` rods of a scene.

Vertices are numbered consecutively over all rods; rod r owns start[r] ... start[r + 1] - 1. Edge j runs from vertex j to the
next vertex. The last vertex of an open rod has no edge, and its edge entries are unused. The unknowns are the position of each
rod's first vertex (the root) and one rotation per edge. All other vertices follow from these, so that edge lengths, unit
quaternions and tangents need no constraints (Zhao et al. 2022, section 2.1). A branching rod stores its arms one after the
other, parents first; each arm begins at a fork (see `branches.py`). Increments of the unknowns are arrays (N + R, 3): a
rotation vector in world space for each edge, then the displacement of each root. They are always relative to the current state,
so that rotation vectors stay small.

A vertex carries up to two elastic elements, as in `der`: one between its two edges (slot 0), or one on either side of it where
the frame of the cross-section is prescribed. The strain of an element is its bending about d1 and d2 and its twist, as in a
rotation vector (`geometry/swing_twist.py`); whole turns of twist are counted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import Array
from ..held_frames import HeldFrames, Holds
from ..state_of_rods import zeros_of

LOOP = 9  # constraints that close a rod: three for the gap, six for the two edges that bend at the seam

# Solvers of Newton's linear system. Elimination is direct; the others are conjugate gradients with these preconditioners.
ELIMINATION, HYBRID, BLOCK_DIAGONAL, DIAGONAL = range(4)


class Rods(NamedTuple):
    """Topology, material and boundary conditions: constant during a step."""

    start: NDArray[np.int64]  # (R + 1,)
    closed: NDArray[np.bool_]  # (R,)
    before: NDArray[np.int64]  # (N,) previous vertex; -1 at the root of an open rod
    edge: NDArray[np.bool_]  # (N,) whether an edge follows the vertex
    # (N,) index of the fork at this row: an edge of zero length that carries a joint's frame; -1: none
    fork: NDArray[np.int64]
    # (N,) index of the fork from which an arm starts here; -1: continues from the previous row
    of_fork: NDArray[np.int64]
    forks: NDArray[np.int64]  # (R + 1,) rod r has the forks forks[r] ... forks[r + 1] - 1
    splay: Array  # (N, 4) rotation from the joint's frame to the frame of an arm's first edge in the natural shape
    damping_time: Array  # (R,) s
    stiffest: Array  # (R,) N/m, approximate stiffness of the stiffest segment
    seam: Array  # (R, 4) rotation of a closed rod's first frame at the seam; it hides whole turns of twist
    rest_length: Array  # (N,) m, of the edge
    arm: Array  # (N,) m, rest length; zero where the frame of the edge is prescribed or there is no edge
    radii: Array  # (N, 2) m, semi-axes of the edge's cross-section
    mass: Array  # (N, 3) mass of the vertex (kg); second moments of the edge's mass along d1 and d2 (kg m2)
    stiffness: Array  # (N, 2, 3) N m, of the elements' strains
    rest: Array  # (N, 2, 3) natural strains of the elements
    joint: NDArray[np.int8]  # (N,) FREE_END, INNER or FRAMED
    held: NDArray[np.bool_]  # (N,) the position of the vertex is prescribed
    rail: Array  # (N, 3) unit vector along which a held vertex may slide; zero: it can't slide
    edge_framed: NDArray[np.bool_]  # (N,) the frame of the edge is prescribed


class State(NamedTuple):
    """State of the rods, as stored in a cache."""

    x: Array  # (N, 3) m
    q: Array  # (N, 4) quaternions of the edges' material frames
    v: Array  # (N, 6) velocities of vertices (m/s) and angular velocities of edges (rad/s), in world space
    a: Array  # (N, 6) accelerations at the end of the last stage
    hold_force: Array  # (N, 3) N, Lagrange multipliers of the holds
    loop_force: Array  # (R, 3) N, Lagrange multipliers of the loop closure
    strain_rate: Array  # (N, 2, 3) 1/s, at the end of the last stage
    consistent: Array  # (R,) 1: accelerations and strain rates belong to the state; 0: they must be estimated
    load: Array  # (N, 3) N, external force minus inertia on the vertices at the end of the last step
    twist: Array  # (N, 2) rad, twist of the elements without the spin of holds; it tells how many whole turns they hold


class Forces(NamedTuple):
    """External forces during a step."""

    force: Array  # (N, 3) N
    drag: Array  # (N, 6) kg/s, symmetric matrix xx yx yy zx zy zz of drag force per velocity
    wind: Array  # (3,) m/s
    drag_rate: Array  # (R,) 1/s
    brakes: Array  # (N,) kg/s, what is added to the drag of vertices
    push: Array  # (N, 3) N, contact and coupling forces of the last linearisation of a coupled step


class Stage(NamedTuple):
    """Start x*, q*, v* of a stage: without forces the vertices move to x* + h v*, and the edges rotate from q* by h v*. Strain
    rates are (strain - strain*) / h."""

    x: Array  # (N, 3)
    q: Array  # (N, 4)
    v: Array  # (N, 6)
    aim: Array  # (N, 6) targets of d1 and d2, weighted with their inertia and damping
    weight: Array  # (N, 2) those weights
    strain: Array  # (N, 2, 3)


class Geometry(NamedTuple):
    """Geometry of the current Newton iterate."""

    d1: Array  # (N, 3)
    d2: Array  # (N, 3)
    d3: Array  # (N, 3)
    strain: Array  # (N, 2, 3)
    frame: Array  # (N, 4) prescribed frames of vertices and edges
    spin: Array  # (N, 2) rad, prescribed spin of vertices and of edges, with whole turns
    target: Array  # (N, 3) m, prescribed positions of held vertices
    violation: Array  # (N, 3) m, deviation of held vertices from their prescribed positions
    gap: Array  # (R, 3) m, from the root of a closed rod to the end of its last edge
    t0: Array  # (N, 3) tangents at the start of the coupled step, the reference of `turn`
    d0: Array  # (N, 3) first directors at that time
    turn: Array  # (N,) rad, rotation of the edge's material about its tangent since then
    axis: Array  # (N, 3) derivative of `turn` with respect to a small rotation
    ahead: Array  # (N,) rad, estimated rotation of the edges about their tangents since the base
    carry: Array  # (F, 27) partial sums along the rod, stored at each fork


class System(NamedTuple):
    """Newton's linear system; the blocks are explained in `linalg/chain.py`."""

    g: Array  # (N, 3) N, gradient at the vertices
    c: Array  # (N, 3) N m, gradient of the rotations without the contribution of the vertices
    h: Array  # (N, 6)
    d: Array  # (N, 6)
    o: Array  # (N, 9)
    e: Array  # (N, 9)
    w: Array  # (N, 6)
    wg: Array  # (N, 9)
    wo: Array  # (N, 9)
    d3: Array  # (N, 3) tangents at the time of the factorisation
    root: Array  # (R, 6)
    seam: Array  # (R, 9) coupling block of the first and the last edge of a closed rod
    loops: Array  # (LOOP, N + R, 3) columns of A^-1 U; empty if no rod is closed
    closing: Array  # (R, LOOP, 2 LOOP) Schur complement of the closure constraints, and its inverse
    closed_by: Array  # (R, LOOP) closure multipliers of the last solution
    gradient: Array  # (N + R, 3)
    trial: Array  # (N + R, 3) Newton step from the iterate
    direction: Array  # (N + R, 3) step under line search, from the base
    base_q: Array  # (N, 4)
    base_root: Array  # (R, 3)
    base_twist: Array  # (N, 2)
    taken: Array  # (R,) fraction of the step that has been taken
    krylov: Array  # (5, N + R, 3) vectors of the conjugate gradient method
    thomas: Array  # (N, 15) factored preconditioner: Cholesky factors of the diagonal blocks, and off-diagonal blocks


class Log(NamedTuple):
    energy: Array  # (R, 2) J, bending and twisting energy when last measured
    report: Array  # (R, 6) iterations, residual, halvings, fall-backs, failures, conjugate gradient iterations


class Arrays(NamedTuple):
    """All arrays of a block."""

    rods: Rods
    state: State
    saved: State  # at the start of an attempt, for rollback
    kept: State  # at the start of a coupled step
    holds: Holds
    frames: HeldFrames
    forces: Forces
    stage: Stage
    start_strain: Array  # (N, 2, 3) strains at the start of an attempt
    first_load: Array  # (N, 3) N, the loads at the end of the first stage
    geometry: Geometry
    system: System
    log: Log


class Linear(NamedTuple):
    """The arrays needed to apply J, J^T and A^-1. Contact does this many times per iteration, and passing all arrays to a
    kernel would take longer than the work itself. The fields have the same names as in the groups above, so that a kernel
    accepts this record in place of each of them."""

    start: NDArray[np.int64]
    closed: NDArray[np.bool_]
    edge: NDArray[np.bool_]
    fork: NDArray[np.int64]
    of_fork: NDArray[np.int64]
    forks: NDArray[np.int64]
    arm: Array
    held: NDArray[np.bool_]
    rail: Array
    edge_framed: NDArray[np.bool_]
    d3: Array
    axis: Array
    gap: Array
    carry: Array
    w: Array
    wg: Array
    wo: Array
    root: Array
    seam: Array  # of the system
    loops: Array
    closing: Array
    closed_by: Array


def linear_of(b: Arrays) -> Linear:
    rods, geometry, system = b.rods, b.geometry, b.system
    return Linear(
        rods.start, rods.closed, rods.edge, rods.fork, rods.of_fork, rods.forks, rods.arm, rods.held, rods.rail,
        rods.edge_framed, geometry.d3, geometry.axis, geometry.gap, geometry.carry, system.w, system.wg,
        system.wo, system.root, system.seam, system.loops, system.closing, system.closed_by,
    )  # fmt: skip


class Step(NamedTuple):
    """Parameters of a call of `step_rods`."""

    h: float  # s
    steps: int  # number of consecutive steps; prescribed motion spans all of them
    scheme: int
    air_density: float  # kg/m3
    tolerance: float  # Newton stops when the estimated error of every vertex is below this many segment lengths
    most_iterations: int
    most_halvings: int
    solver: int
    exact: bool  # use the exact Hessian where it is positive definite; else never, as in the paper


def make_arrays(n: int, rods: int, any_closed: bool, forks: int = 0) -> Arrays:
    """Zero arrays for rods of n vertices in total."""
    loops = LOOP if any_closed else 0

    def zeros(*shape: int) -> Array:
        return np.zeros(shape)

    def state() -> State:
        return zeros_of(
            State, (n, 3), q=(n, 4), v=(n, 6), a=(n, 6), loop_force=(rods, 3), strain_rate=(n, 2, 3),
            consistent=(rods,), twist=(n, 2),
        )  # fmt: skip

    return Arrays(
        rods=Rods(
            start=np.zeros(rods + 1, dtype=np.int64),
            closed=np.zeros(rods, dtype=np.bool_),
            before=np.arange(-1, n - 1),
            edge=np.ones(n, dtype=np.bool_),
            fork=np.full(n, -1, dtype=np.int64),
            of_fork=np.full(n, -1, dtype=np.int64),
            forks=np.zeros(rods + 1, dtype=np.int64),
            splay=np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)),
            damping_time=zeros(rods),
            stiffest=zeros(rods),
            seam=zeros(rods, 4),
            rest_length=zeros(n),
            arm=zeros(n),
            radii=zeros(n, 2),
            mass=zeros(n, 3),
            stiffness=zeros(n, 2, 3),
            rest=zeros(n, 2, 3),
            joint=np.zeros(n, dtype=np.int8),
            held=np.zeros(n, dtype=np.bool_),
            rail=zeros(n, 3),
            edge_framed=np.zeros(n, dtype=np.bool_),
        ),
        state=state(),
        saved=state(),
        kept=state(),
        holds=Holds(zeros(2, n, 3), zeros(2, n, 3), zeros(2, n, 3), zeros(2, n)),
        frames=HeldFrames(zeros(n, 3), zeros(n, 3), zeros(n)),
        forces=Forces(zeros(n, 3), zeros(n, 6), zeros(3), zeros(rods), zeros(n), zeros(n, 3)),
        stage=zeros_of(Stage, (n, 3), q=(n, 4), v=(n, 6), aim=(n, 6), weight=(n, 2), strain=(n, 2, 3)),
        start_strain=zeros(n, 2, 3),
        first_load=zeros(n, 3),
        geometry=zeros_of(
            Geometry, (n, 3), strain=(n, 2, 3), frame=(n, 4), spin=(n, 2), gap=(rods, 3), turn=(n,), ahead=(n,),
            carry=(forks, 27),
        ),
        system=zeros_of(
            System, (n, 3), h=(n, 6), d=(n, 6), o=(n, 9), e=(n, 9), w=(n, 6), wg=(n, 9), wo=(n, 9), root=(rods, 6),
            seam=(rods, 9), loops=(loops, n + rods, 3), closing=(rods if any_closed else 1, LOOP, 2 * LOOP),
            closed_by=(rods, LOOP), gradient=(n + rods, 3), trial=(n + rods, 3), direction=(n + rods, 3), base_q=(n, 4),
            base_root=(rods, 3), base_twist=(n, 2), taken=(rods,), krylov=(5, n + rods, 3), thomas=(n, 15),
        ),
        log=Log(zeros(rods, 2), zeros(rods, 6)),
    )  # fmt: skip
