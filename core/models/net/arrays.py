"""The data of all nets of a scene, as plain arrays side by side, in groups that kernels take as they need them.

Vertices, edges, joints and elements of all nets are numbered through; net r owns `vertices[r]` ... `vertices[r + 1] - 1` and so on.
The unknowns of a net lie one after the other in flat arrays: x y z of its vertices, the angle theta of each edge by which its
material frame has turned since the step began, and the rotation (three numbers) of each joint since then.

A joint is a vertex with a frame of its own: one where three or more edges meet, or whose frame is held. Elements are those of `der`
(see its `element.py`): at a vertex with two edges one element between them; at a joint one from its frame to each edge, half a
segment long. In the joint's frame every such arm has its own direction and director, so that a joint of any shape is at rest in its
natural shape, and forces and moments of all arms balance exactly: nothing is counted twice, whatever the number of arms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import Array
from ...maths.linalg.sparse_factor import Pattern

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Graph(NamedTuple):
    """What belongs to what."""

    vertices: Ints  # (R + 1,)
    edges: Ints  # (R + 1,)
    joints: Ints  # (R + 1,)
    elements: Ints  # (R + 1,)
    unknowns: Ints  # (R + 1,)
    x: Ints  # (V,) the first of the three unknowns of a vertex
    tail: Ints  # (E,) vertices at the ends of an edge
    head: Ints  # (E,)
    theta: Ints  # (E,) the unknown
    omega: Ints  # (J,) the first of the three unknowns of a joint
    vertex: Ints  # (J,) where it is
    middle: Ints  # (L,) the vertex of an element
    edge_a: Ints  # (L,) its edge that ends there; -1: none
    edge_b: Ints  # (L,) its edge that begins there; -1: none
    joint: Ints  # (L,) of an arm; -1: none


class Material(NamedTuple):
    """What does not change."""

    damping_time: Array  # (R,) s
    rest_length: Array  # (E,)
    radii: Array  # (E, 2)
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
    break_force: Array  # (E,) N
    break_moment: Array  # (L,) N m
    breakable: Flags  # (R,)


class State(NamedTuple):
    """What a cache stores."""

    q: Array  # (n,)
    v: Array  # (n,)
    a: Array  # (n,) acceleration at the end of the last stage, to start Newton from
    m1: Array  # (E, 3) first material director
    twist: Array  # (L,) of the elements; it remembers whole turns
    frame: Array  # (J, 9) of the joints, row by row
    whole_edge: Array  # (E,) 1; 0 once broken
    whole_element: Array  # (L,) 1; 0 once loose


class Holds(NamedTuple):
    """Prescribed motion, at the beginning [0] and the end [1] of the step."""

    position: Array  # (2, V, 3)
    frame: Array  # (2, J, 9) without the spin
    spin: Array  # (2, J) rad about the frame's third axis, on top; counts whole turns
    director: Array  # (2, E, 3) of held edges
    edge_spin: Array  # (2, E)


class Forces(NamedTuple):
    force: Array  # (n,) N, N m
    gyroscopic: Array  # (n,)
    drag: Array  # (V, 6) symmetric matrix xx yx yy zx zy zz of the force per velocity, kg/s
    wind: Array  # (3,)
    drag_rate: Array  # (1,) 1/s


class Stage(NamedTuple):
    """Where a stage starts: M (q - q* - h v*) / h^2 = forces, and strain rates are (strain - strain*) / h."""

    q: Array  # (n,)
    v: Array  # (n,)
    strain: Array  # (L, 5)
    stretch: Array  # (E,)
    strain0: Array  # (L, 5) at the beginning of the attempt
    stretch0: Array  # (E,)


class Geometry(NamedTuple):
    """The iterate's frames, carried from a base in time."""

    t: Array  # (E, 3)
    length: Array  # (E,)
    d1: Array  # (E, 3)
    d2: Array  # (E, 3)
    reference: Array  # (E, 3)
    base_t: Array  # (E, 3)
    base_reference: Array  # (E, 3)
    stretch: Array  # (E,)
    tension: Array  # (E,) N, as the linear system foresaw it
    edge_spin: Array  # (E,) of a held edge at the beginning of the attempt
    strain: Array  # (L, 5)
    reference_twist: Array  # (L,)
    base_twist: Array  # (L,)
    arm: Array  # (L, 9) tangent and directors of an arm
    frame: Array  # (J, 9)
    base_frame: Array  # (J, 9)
    base_omega: Array  # (n,) the unknowns at the base; only those of joints are used
    spin: Array  # (J,)


class System(NamedTuple):
    """Newton's linear system."""

    base: Array  # (n,) from where a line search begins
    gradient: Array  # (n,)
    step: Array  # (n,)
    trial: Array  # (n,)
    values: Array  # of the matrix and its factor
    ordered: Array  # (n,) right-hand side in the order of elimination
    diagonal: Ints  # (n,) where entries of the matrix are among the values
    of_vertex: Ints  # (V, 6)
    of_edge: Ints  # (E, 28) of x theta x
    of_element: Ints  # (L, 66) of the element's unknowns


class Log(NamedTuple):
    energy: Array  # (R, 3) stretch, bend, twist when last measured
    report: Array  # (R, 5)


class Nets(NamedTuple):
    graph: Graph
    material: Material
    state: State
    saved: State
    holds: Holds
    forces: Forces
    stage: Stage
    geometry: Geometry
    system: System
    pattern: Pattern
    log: Log


class Room(NamedTuple):
    """Of one worker."""

    lanes: Array
    stack: Array
    small: Array  # (7, 7) an arm's matrix in the rotation of its joint, the edge's vector and theta
    local: Array  # (10, 10) and in its unknowns
