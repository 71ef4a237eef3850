"""What contact knows of a moment, as plain arrays: sample points of all rods, colliders, and the contacts between them.

Sample points of all blocks are numbered through. Edge e runs from sample e to sample after[e] and shares its number; after[e] is -1
at the end of an open rod. A substep goes from `start` to `now`, the latter being the iterate of its solver; in between all
points are taken to move straight and evenly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import bool_, int64
from numpy.typing import NDArray

from ..compile.jit import part
from ..errors import Array

Ints = NDArray[int64]
Flags = NDArray[bool_]

DEEP = 0.6  # radii: what overlaps more is taken out by springs


class Samples(NamedTuple):
    """The sample points of all rods, and the edges that begin at them."""

    start: Array  # (N, 3) at the beginning of the substep
    now: Array  # (N, 3) at its end, as far as is known
    after: Ints  # (N,) where the edge ends; -1: no edge
    last: Flags  # (N,) the edge is the last of an open rod: its end belongs to no other edge
    rod: Ints  # (N,) numbered through all blocks
    along: Array  # (N,) m, natural arc length from the rod's start
    length: (
        Array  # (N,) m, of the whole rod if it is closed, else infinite: arc length is measured the shorter way round
    )
    radius: Array  # (N,) m, of the edge
    friction: Array  # (N,)


class Shapes(NamedTuple):
    """Convex colliders; [0] is the beginning of the substep, [1] its end."""

    kind: Ints  # (S,)
    size: Array  # (S, 3) sphere: radius; capsule, cylinder: radius, half length along z; box: half edges; plane: z <= 0
    position: Array  # (2, S, 3)
    rotation: Array  # (2, S, 3, 3) from the shape's frame to the world
    thickness: Array  # (S,) m, on top of the surface
    friction: Array  # (S,)
    feature: Ints  # (S,) number of its first feature: vertices of rods against it, and the next: edges of rods


class Meshes(NamedTuple):
    """Triangle meshes, all in one; [0] is the beginning of the substep, [1] its end."""

    vertices: Array  # (2, V, 3)
    triangles: Ints  # (F, 3)
    edges: Ints  # (E, 2) each once
    opposite: Ints  # (E, 2) the third vertex of the triangles on either side, -1: none; -2 where more than two meet
    ring_start: Ints  # (V + 1,) neighbours of vertex v are ring[ring_start[v]:ring_start[v + 1]]
    ring: Ints
    mesh_of_triangle: Ints  # (F,)
    mesh_of_edge: Ints  # (E,)
    mesh_of_vertex: Ints  # (V,)
    solid: Flags  # (M,) closed: its inside is where no rod may be. An open one is a sheet with two sides
    thickness: Array  # (M,)
    friction: Array  # (M,)
    first_feature: Ints  # (3,) numbers of the first triangle, edge and vertex as features


class Contacts(NamedTuple):
    """Points where surfaces are near each other, one per row. Side A is a rod, side B another (or the same) or a collider.

    The gap changes by normal . (displacement of A - displacement of B), to first order.
    """

    edge: Ints  # (C, 2) of side A and of side B; -1: a collider
    at: Array  # (C, 2) where on the edge, from 0 to 1
    normal: Array  # (C, 3) unit vector from B to A
    rubbing_at: (
        Array  # (C, 2) where friction acts: as `at`, but as it was at `start` if the two were near each other there
    )
    upright: Array  # (C, 3) the normal of the plane in which it acts, likewise
    rolling: Array  # (C,) m: with a tilt (m) of edge A towards the collider the point moves along it by tilt / rolling; 0: it stays
    gap: Array  # (C,) m from surface to surface, at `now`; negative: overlap
    before: Array  # (C,) m, the gap of the same two features at `start`
    deep: Flags  # (C,) a vertex of A, or A and B where both are rods, overlaps by more than DEEP at `start`
    slide: Array  # (C, 3) m, how far the collider's surface moves in the substep at this point; zero between rods
    arm: Array  # (C, 2) m, radius of each side's edge
    friction: Array  # (C,)
    key: Ints  # (C,) the same two features have the same key from substep to substep
    crossed: (
        Flags  # (C,) from `start` to `now` the two pass through each other; normal and points are those of the passage
    )
    point: Array  # (C, 3) where two bodies, or a body and a collider, touch; these have the body's centre for side A
    give: Array  # (C,) m/N, of those: how far a force moves their surfaces apart; and
    rebound: Array  # (C,) m: the gap at the end of the substep with which they leave each other; 0: they don't
    drift: Array  # (C, 3) m, how far side A has moved relative to side B since the contact was found
    reached: Array  # (C,) of those that crossed, between rods: the part of the way after which they overlap but have not crossed


def thicknesses(arm: Array) -> Array:
    """(C,) m: what errors of contacts with radii (C, 2) on their two sides are measured by: twice that of the thinner rod, or the
    radius of a rod on a collider."""
    least, most = arm.min(axis=1), arm.max(axis=1)
    return np.where(least > 0.0, 2.0 * least, most)


@part
def thickness_of(contacts: Contacts, k: int) -> float:
    """See `thicknesses`; of one contact."""
    a, b = contacts.arm[k, 0], contacts.arm[k, 1]
    return float(2.0 * min(a, b) if min(a, b) > 0.0 else max(a, b))
