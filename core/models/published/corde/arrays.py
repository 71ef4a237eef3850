"""The data of all `corde` nets of a scene, as plain arrays side by side.

Points, segments and orientation elements of all nets are numbered through; the symbols are those of the paper. After the
quaternions of the segments come those that are held: one for each segment that a held frame holds.
"""

from __future__ import annotations

from typing import NamedTuple

from ....errors import Array, Flags, Ints


class Nets(NamedTuple):
    """What does not change."""

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
    inertia: Array  # (E, 3) of the frames; the first two are scaled by alpha
    a: Ints  # (L,) quaternions of an orientation element
    b: Ints  # (L,)
    turned_a: Flags  # (L,) the segment runs against the way through the element
    turned_b: Flags  # (L,)
    sign: Array  # (L,) +-1: which of the two quaternions of b is the one near that of a
    roll: Array  # (L, 2) cosine and sine of half the angle about d3 that takes the director of b to that of a carried over, at rest
    reach: Array  # (L,) l_j
    stiffness: Array  # (L, 3) K_k
    rest: Array  # (L, 3) the natural strains
    held: Flags  # (V,)
    framed: Flags  # (E,) the segment's frame is held
    gamma: Array  # (R, 2) of the friction of stretching, of turning
    step: Array  # (R,) s, the longest step of the points
    substeps: Ints  # (R,) of the quaternions in it
    heavy: Array  # (V,) the stiffness that holds a point, at most: what it weighs while a state of rest is sought
    heavy_frame: Array  # (E, 3) the same of frames


class State(NamedTuple):
    r: Array  # (V, 3)
    v: Array  # (V, 3)
    q: Array  # (E + H, 4) the quaternions: vector part, then scalar
    w: Array  # (E, 3) angular velocity in the frame


class Holds(NamedTuple):
    """At the beginning [0] and the end [1] of the steps."""

    position: Array  # (2, V, 3)
    q: Array  # (2, E + H, 4)


class Work(NamedTuple):
    force: Array  # (V, 3)
    torque: Array  # (E, 3) in the frame
    external: Array  # (V, 3)
    wind: Array  # (3,)
    air: Array  # (2,) density, drag rate
    span: Array  # (R,) s, what is stepped through
    energy: Array  # (R, 4) stretch, bend, twist, constraint
    report: Array  # (R, COLUMNS); iterations are explicit steps


class Block(NamedTuple):
    nets: Nets
    state: State
    saved: State
    holds: Holds
    work: Work
