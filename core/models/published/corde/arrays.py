"""Arrays of all `corde` nets of a scene.

Points, segments and orientation elements are numbered consecutively over all nets; the symbols are those of Spillmann and
Teschner 2009. The quaternions of the segments are followed by prescribed ones: one for each segment that ends at a prescribed
frame.
"""

from __future__ import annotations

from typing import NamedTuple

from ....errors import Array, Flags, Ints


class Nets(NamedTuple):
    """Topology, material and boundary conditions: constant during a step."""

    vertices: Ints  # (R + 1,)
    edges: Ints  # (R + 1,)
    elements: Ints  # (R + 1,)
    tail: Ints  # (E,)
    head: Ints  # (E,)
    length: Array  # (E,) l_i
    stretch: Array  # (E,) K_s
    kappa: Array  # (E,)
    radii: Array  # (E, 2)
    mass: Array  # (V,)
    inertia: Array  # (E, 3) kg m2, of the frames; the first two are scaled by alpha
    a: Ints  # (L,) quaternions of an orientation element: rows a and b
    b: Ints  # (L,)
    turned_a: Flags  # (L,) the segment is traversed backwards in the element
    turned_b: Flags  # (L,)
    # (L, 2) cosine and sine of half the rest angle about d3 from the director of b to the transported director of a
    roll: Array
    reach: Array  # (L,) l_j
    stiffness: Array  # (L, 3) K_k
    rest: Array  # (L, 3) 1/m, natural strains
    held: Flags  # (V,)
    framed: Flags  # (E,) the segment's frame is prescribed
    gamma: Array  # (R, 2) friction of stretching, and of rotation
    step: Array  # (R,) s, longest step of the points
    substeps: Ints  # (R,) steps of the quaternions per step of the points
    fictitious_mass: (
        Array  # (V,) N/m, upper bound of a point's stiffness: its fictitious mass in the search for a state of rest
    )
    fictitious_inertia: Array  # (E, 3) the same for frames


class State(NamedTuple):
    r: Array  # (V, 3)
    v: Array  # (V, 3)
    q: Array  # (E + H, 4) quaternions: vector part, then scalar
    w: Array  # (E, 3) rad/s, angular velocity in the frame
    twist: Array  # (L,) rad, of the orientation elements, with whole turns


class Holds(NamedTuple):
    """Prescribed motion, at the start [0] and the end [1] of the steps."""

    position: Array  # (2, V, 3)
    q: Array  # (2, E + H, 4)


class Work(NamedTuple):
    force: Array  # (V, 3)
    torque: Array  # (E, 3) N m, in the frame
    external: Array  # (V, 3)
    wind: Array  # (3,)
    air: Array  # (1,) kg/m3, density
    drag_rate: Array  # (R,) 1/s
    span: Array  # (R,) s, total time of the current steps
    energy: Array  # (R, 4) J, stretch, bend, twist, constraint
    report: Array  # (R, COLUMNS); iterations are explicit steps


class Arrays(NamedTuple):
    nets: Nets
    state: State
    saved: State
    holds: Holds
    work: Work
