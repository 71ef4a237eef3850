"""The data of all `clothoid` rods of a scene, as plain arrays side by side, in groups that kernels take as they need them.

A rod has nodes with curvature vectors, elements between them, and two sets of points at fixed fractions of the elements: Gauss
points, which carry mass, and sample points, which others see: all vertices of the described rod, and more between them where
contact needs them nearer to each other. Sample i and the next make an edge; the last of a rod has none, and its entries are idle.
A point has four coordinates: its place, and the angle by which the material has turned about the tangent (of an edge: about the
edge) since the step began.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import Array, Flags, Ints
from .moving import COLUMN, LANES, make_lanes
from .series import COLUMNS, make_terms


class Rods(NamedTuple):
    degree: Ints  # (R,) 1: curvature is affine on elements; 0: constant, helices
    damping_time: Array  # (R,) s
    held_position: Flags  # (R,) of the root
    held_frame: Flags  # (R,) of the root
    spacing: Array  # (R,) m, between vertices of the described rod: the unit of tolerances
    vector_start: Ints  # (R + 1,) where the unknowns of rod r lie in generalized vectors
    matrix_start: Ints  # (R + 1,) and the square of their number
    rows_start: Ints  # (R + 1,) and four times it for each sample point


class Nodes(NamedTuple):
    start: Ints  # (R + 1,)
    element_start: Ints  # (R + 1,)
    stiffness: Array  # (E, 3, 3) of the element over its length: of its first node, between the two, of its second; twist, 1, 2
    mass: Array  # (E,) kg/m


class Points(NamedTuple):
    start: Ints  # (R + 1,)
    element: Ints  # (P,) of all elements of the block
    fraction: Array  # (P,) where in the element, from 0 to 1
    mass: Array  # (P, 4) over the element's length: kg/m three times, kg m about the tangent
    radii: Array  # (P, 2) m
    weight: Array  # (P,) of Gauss points: the part of the element's length that they stand for


class State(NamedTuple):
    """What a cache stores."""

    length: Array  # (E,) m, of the elements
    natural: Array  # (K, 3) natural curvature at the nodes
    kappa: Array  # (K, 3) twist and curvatures at the nodes
    root: Array  # (R, 3)
    frame: Array  # (R, 3, 3) of the root
    rate: Array  # (V,) generalized velocities
    x: Array  # (S, 4) sample points
    v: Array  # (S, 3)
    director: Array  # (S, 3) of the edges
    tension: Array  # (S,) N, of the edges at the end of the last step


class Holds(NamedTuple):
    """The prescribed motion of roots, at the beginning [0] and the end [1] of the step."""

    position: Array  # (2, R, 3)
    frame: Array  # (2, R, 3, 3)


class Forces(NamedTuple):
    gravity: Array  # (R, 3) m/s2
    load: Array  # (S, 3) N, besides weight
    loaded: Flags  # (R,) whether there is any
    drag: Array  # (S, 6) kg/s
    wind: Array  # (3,) m/s
    drag_rate: Array  # (1,) 1/s


class Stage(NamedTuple):
    """Where a stage starts, and strain rates are (kappa - kappa*) / h."""

    x: Array  # (G, 4)
    v: Array  # (G, 4)
    kappa: Array  # (K, 3)
    root: Array  # (R, 3)
    turn: Array  # (R, 3) of the root since the step began, as a rotation vector
    sample_x: Array  # (S, 4)


class Geometry(NamedTuple):
    """The iterate. Angles are measured against frames carried from those at the beginning of the step."""

    x: Array  # (G, 4)
    v: Array  # (G, 4) where it was asked for
    frame: Array  # (G, 3, 3)
    sample_frame: Array  # (S, 3, 3)
    tangent0: Array  # (G, 3)
    director0: Array  # (G, 3)
    edge0: Array  # (S, 3) directions of the edges at the beginning
    edge_director0: Array  # (S, 3)
    x0: Array  # (G, 4) where the points were at the beginning


class Log(NamedTuple):
    energy: Array  # (R, 4) kinetic, bend, twist, gravity when last measured
    report: Array  # (R, 5) iterations, residual, halvings, fall-backs, failures


class Block(NamedTuple):
    """Everything that is kept for all rods."""

    rods: Rods
    nodes: Nodes
    gauss: Points
    samples: Points
    state: State
    saved: State  # at the beginning of an attempt, to go back to
    holds: Holds
    forces: Forces
    stage: Stage
    geometry: Geometry
    log: Log


class Coupled(NamedTuple):
    """What rods that are solved together with others keep from one iteration to the next."""

    matrix: Array  # (M,) of all rods one after the other, factored
    gradient: Array  # (V,)
    step: Array  # (V,)
    moved: Array  # (V,) how far the last move went
    rows: Array  # (J,) of each sample point: its place and its edge's turn by the unknowns
    kappa: Array  # (K, 3) where that began
    root: Array  # (R, 3)
    frame: Array  # (R, 3, 3)


class Room(NamedTuple):
    """What a worker needs for one rod."""

    terms: Array
    derivatives: Array
    sums: Array
    phi: Array  # (3, n)
    psi: Array  # (3, n)
    jacobian: Array  # (P, 6, n)
    rows: Array  # (4 P n,)
    matrix: Array  # (n, n)
    second: Array  # (n, n)
    gradient: Array  # (n,)
    step: Array  # (n,)
    trial: Array  # (n,)
    velocity: Array  # (n,)
    kappa: Array  # (n / 3 - 2, 3)
    root: Array  # (1, 3)
    frame: Array  # (1, 3, 3)
    force: Array  # (P, 4)
    acting: Array  # (P, 3)
    tail: Array  # (G + 1, 12) sums of forces, and of forces times places, beyond a point


class Workings(NamedTuple):
    """What a worker needs for the equation of motion; see `dynamics.py`."""

    lanes: Array  # (T, TERM) terms of all lanes, see `moving.py`
    flat: Array  # (T TERM,) the same
    at_nodes: Array  # (12, 48) the fields at Gauss points
    dots: Array  # (6, 16)
    outer: Array  # (7, 48)
    ends: Array  # (3, 144)
    mass: Array  # (12, 12)
    rate: Array  # (12, 12)
    pull: Array  # (12,)
    weight: Array  # (12,)
    pulled: Array  # (3,) acceleration of the beginning of the piece
    hats: Array  # (2, 2) by how much the nodes of the element bend the piece
    sums: Array  # (9,)
    local: Array  # (6, n) how an unknown moves the beginning of the piece: shift and turn
    turning: Array  # (6, n) the rate of that
    one: Array  # (12, n)
    two: Array  # (12, n)
    force: Array  # (2, n) A, and the force of weight
    inertia: Array  # (n, n) M
    slope: Array  # (n, n) the derivative of A by the velocities


class Step(NamedTuple):
    """How steps are to be taken."""

    h: float
    steps: int  # prescribed motion spans all of them
    scheme: int
    air_density: float
    tolerance: float  # Newton stops when no point is farther from its place than this many segment lengths


def make_room(points: int, unknowns: int) -> Room:
    terms, derivatives = make_terms()

    def zeros(*shape: int) -> Array:
        return np.zeros(shape)

    n = unknowns
    return Room(
        terms=terms,
        derivatives=derivatives,
        sums=zeros(COLUMNS),
        phi=zeros(3, n),
        psi=zeros(3, n),
        jacobian=zeros(points, 6, n),
        rows=zeros(4 * points * n),
        matrix=zeros(n, n),
        second=zeros(n, n),
        gradient=zeros(n),
        step=zeros(n),
        trial=zeros(n),
        velocity=zeros(n),
        kappa=zeros(n // 3 - 2, 3),
        root=zeros(1, 3),
        frame=zeros(1, 3, 3),
        force=zeros(points, 4),
        acting=zeros(points, 3),
        tail=zeros(points + 1, 12),
    )


def make_workings(unknowns: int) -> Workings:
    n = LANES * (-(-unknowns // LANES))  # whole vector registers
    shapes = (
        (12, COLUMN), (6, 2 * LANES), (7, COLUMN), (3, 3 * COLUMN), (12, 12), (12, 12), (12,), (12,), (3,), (2, 2), (9,),
        (6, n), (6, n), (12, n), (12, n), (2, n), (n, n), (n, n),
    )  # fmt: skip
    lanes = make_lanes()
    return Workings(lanes, lanes.reshape(-1), *(np.zeros(shape) for shape in shapes))
