"""The data of all rods or nets of a scene, as plain arrays side by side, in groups that kernels take as they need them.

Vertices, edges, joints and elements of all nets are numbered through; net r owns `vertices[r]` ... `vertices[r + 1] - 1` and so on.
The unknowns are flat: x y z of vertices, the angle theta of each edge by which its material frame has turned since the step began,
and the rotation (three numbers) of each joint since then. Where they stand is said by `Graph.x`, `theta` and `omega`.

Bending and twisting elements: at a vertex with two edges one element between them. A joint is a vertex with a frame of its own: one
where three or more edges meet, or whose frame is held. From its frame one element, an arm, goes to each edge, half a segment
long. In the joint's frame every arm has its own direction and director, so that a joint of any shape is at rest in its natural
shape, and forces and moments of all arms balance exactly. A clamp is a held joint: it sits at the vertex itself and not half a
segment away. An element has five strains: the material curvatures (2) of the 2008 paper in the frame of the edge before (0, 1)
and of the edge after (2, 3), and the twist (4), all integrated over the element.

A rod is a net of one chain, with a layout of its own that makes its matrix a band: the unknowns of vertex i and of the edge after
it are x y z theta, at 4 i ... 4 i + 3. Its vertices, edges and joints share their numbers (the last vertex of an open rod has no
edge, and its edge entries are idle), and vertex i has the elements 2 i (between its edges, or from the edge before to a held
frame) and 2 i + 1 (from a held frame to the edge after); those that are not there are idle, without an edge. Frames of a rod's
joints are held, so they are no unknowns: omega is -1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...errors import Array, Flags, Ints
from ...maths.linalg.bordered_band import BORDER, COLUMN
from ..report import COLUMNS


class Graph(NamedTuple):
    """What belongs to what."""

    chain: Flags  # (R,) a rod, in the layout of rods
    closed: Flags  # (R,) a closed rod
    vertices: Ints  # (R + 1,)
    edges: Ints  # (R + 1,)
    edge_end: Ints  # (R,) after the last edge that is not idle
    joints: Ints  # (R + 1,)
    elements: Ints  # (R + 1,)
    unknowns: Ints  # (R + 1,)
    x: Ints  # (V,) the first of the three unknowns of a vertex
    tail: Ints  # (E,) vertices at the ends of an edge
    head: Ints  # (E,)
    theta: Ints  # (E,) the unknown
    omega: Ints  # (J,) the first of the three unknowns of a joint; -1: none
    vertex: Ints  # (J,) where it is
    middle: Ints  # (L,) the vertex of an element
    edge_a: Ints  # (L,) its edge that ends there; -1: none
    edge_b: Ints  # (L,) its edge that begins there; -1: none
    joint: Ints  # (L,) of an arm; -1: none


class Material(NamedTuple):
    """What does not change."""

    damping_time: Array  # (R,) s
    rest_length: Array  # (E,)
    radii: Array  # (E, 2) half axes of the section
    stretch: Array  # (E,) EA
    stiffness: Array  # (L, 5) of the elements' strains
    rest: Array  # (L, 5) their natural strains
    arm_t: Array  # (L, 3) tangent of an arm in the frame of its joint
    arm_d: Array  # (L, 3) first director there
    mass: Array  # (n,) of each unknown
    unit: Array  # (n,) what its size is compared with: 1 / segment length, 1 for angles
    held: Flags  # (n,) prescribed unknowns
    framed: Flags  # (J,) the frame of the joint is held
    edge_framed: Flags  # (E,) that of the edge is
    break_force: Array  # (E,) N; of no rows where no net breaks
    break_moment: Array  # (L,) N m; likewise
    breakable: Flags  # (R,)


class State(NamedTuple):
    """What a cache stores."""

    q: Array  # (n,)
    v: Array  # (n,)
    a: Array  # (n,) acceleration at the end of the last stage, to start Newton from
    m1: Array  # (E, 3) first material director
    twist: Array  # (L,) of the elements; it remembers whole turns
    frame: Array  # (J, 9) of the joints, row by row; of no rows in a block of rods
    whole_edge: Array  # (E,) 1; 0 once broken; of no rows in a block of rods
    whole_element: Array  # (L,) 1; 0 once loose; likewise


class Holds(NamedTuple):
    """Prescribed motion, at the beginning [0] and the end [1] of the step. Those of edges are the same arrays in a block of
    rods."""

    position: Array  # (2, V, 3)
    tangent: Array  # (2, J, 3) third axis of held frames
    director: Array  # (2, J, 3) their first axis, without the spin
    spin: Array  # (2, J) rad about the third axis, on top; counts whole turns
    edge_director: Array  # (2, E, 3) of held edges
    edge_spin: Array  # (2, E)


class Forces(NamedTuple):
    force: Array  # (n,) N, N m
    gyroscopic: Array  # (n,) N, of spinning edges that turn; during a stage
    drag: Array  # (V, 6) symmetric matrix xx yx yy zx zy zz of the force per velocity, kg/s
    wind: Array  # (3,) m/s
    drag_rate: Array  # (R,) 1/s: the same for the spin, in proportion to inertia
    brakes: Array  # (V,) kg/s: what is added to the drag of vertices


class Stage(NamedTuple):
    """Where a stage starts: M (q - q* - h v*) / h^2 = forces, and strain rates are (strain - strain*) / h."""

    q: Array  # (n,)
    v: Array  # (n,)
    strain: Array  # (L, 5)
    stretch: Array  # (E,)
    strain0: Array  # (L, 5) at the beginning of the attempt
    stretch0: Array  # (E,)


class Geometry(NamedTuple):
    """The iterate's frames. Reference frames are those with theta and spin zero; they are carried from a base in time."""

    t: Array  # (E, 3)
    length: Array  # (E,)
    d1: Array  # (E, 3)
    d2: Array  # (E, 3)
    reference: Array  # (E, 3)
    base_t: Array  # (E, 3)
    base_reference: Array  # (E, 3)
    stretch: Array  # (E,)
    tension: Array  # (E,) N, as predicted by the linear system, see `newton.py`
    edge_spin: Array  # (E,) of a held edge at the beginning of the attempt
    strain: Array  # (L, 5)
    reference_twist: Array  # (L,)
    base_twist: Array  # (L,)
    arm: Array  # (L, 9) tangent and directors of an arm
    frame: Array  # (J, 9)
    base_frame: Array  # (J, 9); of no rows in a block of rods
    base_omega: Array  # (n,) the unknowns at the base; only those of joints are used; likewise
    spin: Array  # (J,)


class System(NamedTuple):
    """Newton's linear system. Of rods the matrix is in band, border and corner (see `band.py`), of nets among the values."""

    base: Array  # (n,) from where a line search begins
    gradient: Array  # (n,)
    step: Array  # (n,) Newton's step from the base
    trial: Array  # (n,) and the one from the trial point
    band: Array  # (n, COLUMN)
    border: Array  # (n, BORDER), of no rows where no rod is closed
    corner: Array  # (R, BORDER, BORDER), likewise
    ordered: Array  # (n,) right-hand side in the order of elimination
    values: Array  # of the matrix and its factor
    diagonal: Ints  # (n,) where entries of the matrix are among the values
    of_vertex: Ints  # (V, 6)
    of_edge: Ints  # (E, 28) of x theta x
    of_element: Ints  # (L, 66) of the element's unknowns


class Log(NamedTuple):
    energy: Array  # (R, 3) stretch, bend, twist when last measured
    report: Array  # (R, COLUMNS)


class Arrays(NamedTuple):
    """Everything. Of a block of rods only graph, material, state, holds, forces and log have rows: to be stepped, a rod is taken to
    the workbench of a worker, which is one such set of arrays for a single rod and stays in the processor's cache. Rods that touch
    each other are solved together, and for them a block has all rows: see `for_coupling`."""

    graph: Graph
    material: Material
    state: State
    saved: State  # at the beginning of an attempt, to go back to
    holds: Holds
    forces: Forces
    stage: Stage
    geometry: Geometry
    system: System
    pattern: Any  # Pattern of the matrix of nets; None in a block of rods, whose matrix is a band
    log: Log


class Scratch(NamedTuple):
    """Working memory of one worker."""

    lanes: Array
    stack: Array  # of update matrices
    small: Array  # (7, 7) an arm's matrix in the rotation of its joint, the edge's vector and theta
    local: Array  # (10, 10) and in its unknowns


class Step(NamedTuple):
    """How steps are to be taken."""

    h: float  # s
    steps: int  # how many, one after the other; prescribed motion spans all of them
    scheme: int  # number in the table of schemes
    air_density: float  # kg/m3
    tolerance: float  # Newton stops when no vertex is farther from its place than this many segment lengths
    most_iterations: int
    most_halvings: int


class Sizes(NamedTuple):
    """How many rows arrays have."""

    nets: int
    vertices: int
    edges: int
    joints: int
    elements: int
    unknowns: int

    @staticmethod
    def of(graph: Graph) -> Sizes:
        return Sizes(
            len(graph.chain), len(graph.x), len(graph.tail), len(graph.vertex), len(graph.middle),
            int(graph.unknowns[-1]),
        )  # fmt: skip

    @staticmethod
    def of_rods(rods: int, vertices: int) -> Sizes:
        return Sizes(rods, vertices, vertices, vertices, 2 * vertices, 4 * vertices)


NOTHING = Sizes(0, 0, 0, 0, 0, 0)


def make_state(size: Sizes, of_rods: bool) -> State:
    n, e, m = size.unknowns, size.edges, size.elements
    whole = (0, 0) if of_rods else (e, m)
    frames = 0 if of_rods else size.joints
    return State(
        np.zeros(n), np.zeros(n), np.zeros(n), np.zeros((e, 3)), np.zeros(m), np.zeros((frames, 9)),
        np.ones(whole[0]), np.ones(whole[1]),
    )  # fmt: skip


def make_holds(size: Sizes, of_rods: bool) -> Holds:
    position, director = np.zeros((2, size.vertices, 3)), np.zeros((2, size.joints, 3))
    tangent, spin = np.zeros((2, size.joints, 3)), np.zeros((2, size.joints))
    if of_rods:
        return Holds(position, tangent, director, spin, director, spin)
    return Holds(position, tangent, director, spin, np.zeros((2, size.edges, 3)), np.zeros((2, size.edges)))


def make_forces(size: Sizes, work: Sizes) -> Forces:
    return Forces(
        np.zeros(size.unknowns),
        np.zeros(work.unknowns),
        np.zeros((work.vertices, 6)),
        np.zeros(3),
        np.zeros(size.nets),
        np.zeros(size.vertices),
    )


def make_stage(size: Sizes) -> Stage:
    n, m, e = size.unknowns, size.elements, size.edges
    return Stage(np.zeros(n), np.zeros(n), np.zeros((m, 5)), np.zeros(e), np.zeros((m, 5)), np.zeros(e))


def make_geometry(size: Sizes, of_rods: bool) -> Geometry:
    e, m, j = size.edges, size.elements, size.joints

    def zeros(*shape: int) -> Array:
        return np.zeros(shape)

    return Geometry(
        t=zeros(e, 3),
        length=zeros(e),
        d1=zeros(e, 3),
        d2=zeros(e, 3),
        reference=zeros(e, 3),
        base_t=zeros(e, 3),
        base_reference=zeros(e, 3),
        stretch=zeros(e),
        tension=zeros(e),
        edge_spin=zeros(e),
        strain=zeros(m, 5),
        reference_twist=zeros(m),
        base_twist=zeros(m),
        arm=zeros(m, 9),
        frame=zeros(j, 9),
        base_frame=zeros(0 if of_rods else j, 9),
        base_omega=zeros(0 if of_rods else size.unknowns),
        spin=zeros(j),
    )


def make_banded(size: Sizes, any_closed: bool) -> System:
    """The system of rods."""
    n = size.unknowns
    none = np.zeros(0, np.int64)
    return System(
        base=np.zeros(n),
        gradient=np.zeros(n),
        step=np.zeros(n),
        trial=np.zeros(n),
        band=np.zeros((n, COLUMN)),
        border=np.zeros((n if any_closed else 0, BORDER)),
        corner=np.zeros((max(size.nets, 1) if any_closed else 1, BORDER, BORDER)),  # open rods hand the first one on
        ordered=np.zeros(n),
        values=np.zeros(0),
        diagonal=none,
        of_vertex=np.zeros((0, 6), np.int64),
        of_edge=np.zeros((0, 28), np.int64),
        of_element=np.zeros((0, 66), np.int64),
    )


def make_log(size: Sizes) -> Log:
    return Log(np.zeros((size.nets, 3)), np.zeros((size.nets, COLUMNS)))


def for_coupling(b: Arrays) -> Arrays:
    """The same rods or nets, states, holds and forces as the block's, with a saved state and working memory for all at once."""
    of_rods = len(b.state.frame) == 0 and bool(b.graph.chain.all())
    size = Sizes.of(b.graph)
    saved = make_state(size, of_rods)
    if not of_rods:  # the block has working memory for all
        return b._replace(saved=saved)
    forces = make_forces(NOTHING, size)
    return b._replace(
        saved=saved,
        forces=b.forces._replace(gyroscopic=forces.gyroscopic, drag=forces.drag),
        stage=make_stage(size),
        geometry=make_geometry(size, True),
        system=make_banded(size, bool(b.graph.closed.any())),
    )
