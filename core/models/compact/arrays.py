"""The data of all `compact` rods of a scene, as plain arrays side by side.

Vertices of all rods are numbered through; rod r owns start[r] ... start[r + 1] - 1. Edge j runs from vertex j to the next and
shares its number; the last vertex of an open rod has no edge, and its edge entries are idle. The unknowns are the position of
each rod's first vertex, its root, and one rotation per edge; all other vertices follow from them, so that lengths, unit
quaternions and tangents along the edges need no constraint (2022 paper, section 2.1). A rod may branch: then its arms lie one
after the other, parents first, and each begins at a fork (see `branches.py`). Changes of the unknowns are arrays (N +
R, 3): a rotation vector for each edge, in space, then the motion of each root. They are always taken from where the rod is:
no axis-angle ever becomes large.

At a vertex meet up to two elements, as in `der`: one between its two edges (slot 0), or where the frame of the cross-section
is held one on either side of it. An element's strain is its rotation, as twice the vector part of a quaternion, about d1, d2
and d3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import Array
from ..held_frames import HeldFrames, Holds

LOOP = 9  # what closes a rod: three for the place where it meets itself, six for the two edges that bend there

# Solvers of Newton's linear system. Elimination is direct; the others are conjugate gradients with these preconditioners.
ELIMINATION, HYBRID, BLOCK_DIAGONAL, DIAGONAL = range(4)


class Rods(NamedTuple):
    """What does not change."""

    start: NDArray[np.int64]  # (R + 1,)
    closed: NDArray[np.bool_]  # (R,)
    before: NDArray[np.int64]  # (N,) the vertex before; -1 at the root of an open rod
    edge: NDArray[np.bool_]  # (N,) there is an edge after the vertex
    fork: NDArray[
        np.int64
    ]  # (N,) the number of the fork here: its edge has no length, but the frame of a joint; -1: none
    of_fork: NDArray[
        np.int64
    ]  # (N,) the number of the fork at which an arm begins here; -1: it goes on from the last row
    forks: NDArray[np.int64]  # (R + 1,) rod r has forks forks[r] ... forks[r + 1] - 1
    splay: Array  # (N, 4) quaternion from the joint's frame to that of the first edge of an arm, in the natural shape
    damping_time: Array  # (R,) s
    firmness: Array  # (R,) N/m: how stiff its stiffest bit is, about
    seam: Array  # (R, 4) quaternion by which a closed rod's first frame is turned where it meets the last: hides whole turns
    rest_length: Array  # (N,) of the edge
    arm: Array  # (N,) the same, but zero where the frame of the edge is prescribed and where there is none
    radii: Array  # (N, 2) half axes of the edge's section
    mass: Array  # (N, 3) of the vertex; second moments of the edge's mass along d1 and d2
    stiffness: Array  # (N, 2, 3) of the elements' strains
    rest: Array  # (N, 2, 3) the elements' strains in the natural shape
    joint: NDArray[np.int8]  # (N,) FREE_END, INNER or FRAMED
    held: NDArray[np.bool_]  # (N,) the position of the vertex is prescribed
    rail: Array  # (N, 3) but for its motion along this direction; zero: it can't slide
    edge_framed: NDArray[np.bool_]  # (N,) the frame of the edge is prescribed


class State(NamedTuple):
    """What a cache stores."""

    x: Array  # (N, 3)
    q: Array  # (N, 4) quaternions of the edges' material frames
    v: Array  # (N, 6) velocities of vertices and angular velocities of edges, in space
    a: Array  # (N, 6) their rates of change at the end of the last stage, to start Newton from
    pull: Array  # (N, 3) N: what holds give; Lagrange multipliers
    loop: Array  # (R, 3) N: what keeps closed rods closed
    x1: Array  # (N, 3) one step before
    q1: Array  # (N, 4)
    v1: Array  # (N, 6)
    strain1: Array  # (N, 2, 3)
    past: Array  # (R,) s since then; zero: something came in between, and the past tells nothing
    load: Array  # (N, 3) N: what pulled at the vertices at the end of the last step, less inertia; edges carry it to the root


class Forces(NamedTuple):
    """Forces during the step."""

    force: Array  # (N, 3) N
    drag: Array  # (N, 6) symmetric matrix xx yx yy zx zy zz of the force per velocity, kg/s
    wind: Array  # (3,) m/s
    drag_rate: Array  # (1,) 1/s
    push: Array  # (N, 3) N: of others, when a coupled step was last linearised


class Stage(NamedTuple):
    """Where a stage starts, x* and q* with v*: vertices aim at x* + h v*, and edges at q* turned by h v*. Strain rates are
    (strain - strain*) / h."""

    x: Array  # (N, 3)
    q: Array  # (N, 4)
    v: Array  # (N, 6)
    aim: Array  # (N, 6) where d1 and d2 aim, times their inertia by h^2; and what brakes them
    weight: Array  # (N, 2) the factors in there
    strain: Array  # (N, 2, 3)


class Geometry(NamedTuple):
    """The iterate."""

    d1: Array  # (N, 3)
    d2: Array  # (N, 3)
    d3: Array  # (N, 3)
    strain: Array  # (N, 2, 3)
    frame: Array  # (N, 4) held frames, of vertices and of edges
    target: Array  # (N, 3) where held vertices belong
    miss: Array  # (N, 3) how far they are from there
    gap: Array  # (R, 3) from the root of a closed rod to the end of its last edge
    t0: Array  # (N, 3) tangents when the coupled step began, from which turns are told
    d0: Array  # (N, 3) and first directors
    turn: Array  # (N,) rad since then
    axis: Array  # (N, 3) how a small rotation changes the turn
    carry: Array  # (F, 27) what sums along the rod have come to at each fork


class System(NamedTuple):
    """Newton's linear system; see `linalg/chain.py`."""

    g: Array  # (N, 3) N: gradient at the vertices
    c: Array  # (N, 3) N m: and of the rotations, without what the vertices add
    h: Array  # (N, 6)
    d: Array  # (N, 6)
    o: Array  # (N, 9)
    e: Array  # (N, 9)
    w: Array  # (N, 6)
    wg: Array  # (N, 9)
    wo: Array  # (N, 9)
    d3: Array  # (N, 3) tangents when it was factored
    root: Array  # (R, 6)
    seam: Array  # (R, 9) what couples the first and the last edge of a closed rod
    loops: Array  # (LOOP, N + R, 3) columns of A^-1 U, of no rows where no rod is closed
    closing: Array  # (R, LOOP, 2 LOOP) their own matrix, and its inverse
    closed_by: Array  # (R, LOOP) what closes the rod in the last solution
    gradient: Array  # (N + R, 3)
    trial: Array  # (N + R, 3) Newton's step from the iterate
    direction: Array  # (N + R, 3) and the one that is being taken, from the base
    base_q: Array  # (N, 4)
    base_root: Array  # (R, 3)
    taken: Array  # (R,) how much of it has been
    krylov: Array  # (5, N + R, 3) for conjugate gradients
    thomas: Array  # (N, 15) the factored preconditioner: diagonal blocks decomposed, and those beside them


class Log(NamedTuple):
    energy: Array  # (R, 2) bend, twist when last measured
    report: Array  # (R, 6) iterations, residual, halvings, fall-backs, failures, of conjugate gradients


class Arrays(NamedTuple):
    """Everything."""

    rods: Rods
    state: State
    saved: State  # at the beginning of an attempt, to go back to
    kept: State  # at the beginning of a coupled step
    holds: Holds
    frames: HeldFrames
    forces: Forces
    stage: Stage
    before: Array  # (N, 2, 3) strains at the beginning of an attempt
    geometry: Geometry
    system: System
    log: Log


class Linear(NamedTuple):
    """What of the arrays it takes to apply J, its transpose and A^-1. Contact does so many times an iteration, and to hand over all
    arrays would take longer than that. Fields are called as in the groups above, so that it passes for each of them."""

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
    seam: Array  # that of the system
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
    """How steps are to be taken."""

    h: float  # s
    steps: int  # how many, one after the other; prescribed motion spans all of them
    scheme: int
    air_density: float  # kg/m3
    tolerance: float  # Newton stops when no vertex is farther from its place than this many segment lengths
    most_iterations: int
    most_halvings: int
    solver: int
    exact: bool  # the Hessian is the exact one where that is positive definite; or never, as in the paper


def make_arrays(n: int, rods: int, any_closed: bool, forks: int = 0) -> Arrays:
    """For rods of n vertices in all."""
    loops = LOOP if any_closed else 0

    def zeros(*shape: int) -> Array:
        return np.zeros(shape)

    def state() -> State:
        return State(
            zeros(n, 3), zeros(n, 4), zeros(n, 6), zeros(n, 6), zeros(n, 3), zeros(rods, 3),
            zeros(n, 3), zeros(n, 4), zeros(n, 6), zeros(n, 2, 3), zeros(rods), zeros(n, 3),
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
            firmness=zeros(rods),
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
        forces=Forces(zeros(n, 3), zeros(n, 6), zeros(3), zeros(1), zeros(n, 3)),
        stage=Stage(zeros(n, 3), zeros(n, 4), zeros(n, 6), zeros(n, 6), zeros(n, 2), zeros(n, 2, 3)),
        before=zeros(n, 2, 3),
        geometry=Geometry(
            d1=zeros(n, 3),
            d2=zeros(n, 3),
            d3=zeros(n, 3),
            strain=zeros(n, 2, 3),
            frame=zeros(n, 4),
            target=zeros(n, 3),
            miss=zeros(n, 3),
            gap=zeros(rods, 3),
            t0=zeros(n, 3),
            d0=zeros(n, 3),
            turn=zeros(n),
            axis=zeros(n, 3),
            carry=zeros(forks, 27),
        ),
        system=System(
            g=zeros(n, 3),
            c=zeros(n, 3),
            h=zeros(n, 6),
            d=zeros(n, 6),
            o=zeros(n, 9),
            e=zeros(n, 9),
            w=zeros(n, 6),
            wg=zeros(n, 9),
            wo=zeros(n, 9),
            d3=zeros(n, 3),
            root=zeros(rods, 6),
            seam=zeros(rods, 9),
            loops=zeros(loops, n + rods, 3),
            closing=zeros(rods if any_closed else 1, LOOP, 2 * LOOP),
            closed_by=zeros(rods, LOOP),
            gradient=zeros(n + rods, 3),
            trial=zeros(n + rods, 3),
            direction=zeros(n + rods, 3),
            base_q=zeros(n, 4),
            base_root=zeros(rods, 3),
            taken=zeros(rods),
            krylov=zeros(5, n + rods, 3),
            thomas=zeros(n, 15),
        ),
        log=Log(zeros(rods, 2), zeros(rods, 6)),
    )
