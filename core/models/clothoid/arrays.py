"""Arrays of all `clothoid` rods of a scene, in groups that kernels take as they need them.

A rod has nodes with curvature vectors, elements between them, and two sets of points at fixed fractions of the elements. Gauss
points carry the mass. Sample points are visible to other parts of the simulation: all vertices of the described rod, and
further points between them where contact needs a finer spacing. Each sample point and the next form an edge; the last one of a
rod has no edge, and its edge entries are unused. A point has four coordinates: its position, and the rotation of the material
about the tangent (for an edge: about the edge) since the start of the step.
"""

from __future__ import annotations

from typing import NamedTuple

from ...errors import Array, Flags, Ints
from ..state_of_rods import zeros_of
from .moving import COLUMN, LANES, make_lanes
from .series import COLUMNS, make_terms


class Rods(NamedTuple):
    degree: Ints  # (R,) 1: curvature is affine on each element; 0: constant (helices)
    damping_time: Array  # (R,) s
    held_position: Flags  # (R,) of the root
    held_frame: Flags  # (R,) of the root
    spacing: Array  # (R,) m, between vertices of the described rod: the unit of tolerances
    vector_start: Ints  # (R + 1,) where the unknowns of rod r start in generalized vectors
    matrix_start: Ints  # (R + 1,) start of its square matrix
    rows_start: Ints  # (R + 1,) start of its sample Jacobian, of four rows per sample point


class Nodes(NamedTuple):
    start: Ints  # (R + 1,)
    element_start: Ints  # (R + 1,)
    # (E, 3, 3) of twist and the two curvatures, per element length: first node, both nodes, second node
    stiffness: Array
    mass: Array  # (E,) kg/m


class Points(NamedTuple):
    start: Ints  # (R + 1,)
    element: Ints  # (P,) index of the element within the block
    fraction: Array  # (P,) position within the element, from 0 to 1
    mass: Array  # (P, 4) per element length: kg/m three times, and kg m about the tangent
    radii: Array  # (P, 2) m
    weight: Array  # (P,) of Gauss points: quadrature weight, as a fraction of the element's length


class State(NamedTuple):
    """State of the rods, as stored in a cache."""

    length: Array  # (E,) m, of the elements
    natural: Array  # (K, 3) 1/m, natural curvature at the nodes
    kappa: Array  # (K, 3) 1/m, twist and curvatures at the nodes
    root: Array  # (R, 3) m
    frame: Array  # (R, 3, 3) of the root
    rate: Array  # (V,) generalized velocities
    acceleration: Array  # (V,) generalized accelerations at the end of the last step
    consistent: Array  # (R,) 1: these accelerations belong to the state; 0: they are not known
    x: Array  # (S, 4) m and rad, of the sample points
    v: Array  # (S, 3) m/s
    director: Array  # (S, 3) of the edges
    tension: Array  # (S,) N, of the edges at the end of the last step


class Holds(NamedTuple):
    """Prescribed motion of the roots, at the start [0] and the end [1] of the step."""

    position: Array  # (2, R, 3)
    frame: Array  # (2, R, 3, 3)


class Forces(NamedTuple):
    gravity: Array  # (R, 3) m/s2
    load: Array  # (S, 3) N, besides gravity
    loaded: Flags  # (R,) whether any force acts on sample points
    drag: Array  # (S, 6) kg/s
    wind: Array  # (3,) m/s
    drag_rate: Array  # (R,) 1/s


class Stage(NamedTuple):
    """Start of a stage; strain rates are (kappa - kappa*) / h."""

    x: Array  # (G, 4)
    v: Array  # (G, 4)
    kappa: Array  # (K, 3)
    root: Array  # (R, 3)
    turn: Array  # (R, 3) rotation vector of the root since the start of the step
    sample_x: Array  # (S, 4)


class Geometry(NamedTuple):
    """Geometry of the current Newton iterate. Angles are relative to frames transported from the start of the step."""

    x: Array  # (G, 4)
    v: Array  # (G, 4) only valid where it was computed; likewise a
    a: Array  # (G, 4)
    frame: Array  # (G, 3, 3)
    sample_frame: Array  # (S, 3, 3)
    tangent0: Array  # (G, 3)
    director0: Array  # (G, 3)
    edge0: Array  # (S, 3) directions of the edges at the start of the step
    edge_director0: Array  # (S, 3)
    x0: Array  # (G, 4) points at the start of the step


class Log(NamedTuple):
    energy: Array  # (R, 4) J, kinetic, bend, twist, gravity when last measured
    report: Array  # (R, 5) iterations, residual, halvings, fall-backs, failures


class Arrays(NamedTuple):
    """All arrays of a block."""

    rods: Rods
    nodes: Nodes
    gauss: Points
    samples: Points
    state: State
    saved: State  # at the start of an attempt, for rollback
    holds: Holds
    forces: Forces
    stage: Stage
    geometry: Geometry
    log: Log


class Coupled(NamedTuple):
    """Data of coupled steps kept between Newton iterations."""

    matrix: Array  # (M,) factored matrices of all rods, one after the other
    gradient: Array  # (V,)
    step: Array  # (V,)
    moved: Array  # (V,) displacement of the last move
    rows: Array  # (J,) Jacobian of each sample point: position and edge turn with respect to the unknowns
    kappa: Array  # (K, 3) at the start of the move; root and frame likewise
    root: Array  # (R, 3)
    frame: Array  # (R, 3, 3)


class Scratch(NamedTuple):
    """Scratch buffers of a worker, for one rod."""

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
    momentum: Array  # (3, 6) at the start of a step, as its stages change it, and of the points
    tail: Array  # (G + 1, 12) sums of forces, and of forces times positions, beyond each point


class MotionScratch(NamedTuple):
    """Scratch buffers of a worker for the equation of motion; see `dynamics.py`."""

    lanes: Array  # (T, TERM) series terms of all lanes, see `moving.py`
    flat: Array  # (T TERM,) the same, flat
    at_nodes: Array  # (12, 48) fields at the Gauss points
    dots: Array  # (6, 16)
    outer: Array  # (7, 48)
    ends: Array  # (3, 144)
    mass: Array  # (12, 12)
    rate: Array  # (12, 12)
    bias: Array  # (12,)
    weight: Array  # (12,)
    start_acceleration: Array  # (3,) acceleration of the start of the piece
    hats: Array  # (2, 2) hat functions of the element's nodes on the piece
    sums: Array  # (9,)
    local: Array  # (6, n) displacement and rotation of the start of the piece per unknown
    turning: Array  # (6, n) its rate of change
    one: Array  # (12, n)
    two: Array  # (12, n)
    force: Array  # (2, n) A, and the force of gravity
    inertia: Array  # (n, n) M
    slope: Array  # (n, n) derivative of A with respect to the velocities


class Step(NamedTuple):
    """Parameters of a call of `step_rods`."""

    h: float
    steps: int  # number of consecutive steps; prescribed motion spans all of them
    scheme: int
    air_density: float
    tolerance: float  # Newton stops when the estimated error of every point is below this many segment lengths


def make_scratch(points: int, unknowns: int) -> Scratch:
    n = unknowns
    terms, derivatives = make_terms()
    zeros = zeros_of(
        Scratch, (n,), sums=(COLUMNS,), phi=(3, n), psi=(3, n), jacobian=(points, 6, n), rows=(4 * points * n,), matrix=(n, n),
        second=(n, n), kappa=(n // 3 - 2, 3), root=(1, 3), frame=(1, 3, 3), force=(points, 4), acting=(points, 3),
        momentum=(3, 6),         tail=(points + 1, 12),
    )  # fmt: skip
    return zeros._replace(terms=terms, derivatives=derivatives)


def make_motion_scratch(unknowns: int) -> MotionScratch:
    n = LANES * (-(-unknowns // LANES))  # whole vector registers
    zeros = zeros_of(
        MotionScratch, (12,), at_nodes=(12, COLUMN), dots=(6, 2 * LANES), outer=(7, COLUMN), ends=(3, 3 * COLUMN),
        mass=(12, 12), rate=(12, 12), start_acceleration=(3,), hats=(2, 2), sums=(9,), local=(6, n), turning=(6, n),
        one=(12, n), two=(12, n), force=(2, n), inertia=(n, n), slope=(n, n),
    )  # fmt: skip
    lanes = make_lanes()
    return zeros._replace(lanes=lanes, flat=lanes.reshape(-1))
