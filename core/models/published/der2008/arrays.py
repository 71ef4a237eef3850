"""RodArrays that `der2008` adds to those of `der`, whose rods, states and holds it shares: a rod as a chain of frames.

A node of the chain is an edge with its frame, or the prescribed frame of a vertex, which is represented by a fixed edge of zero
length. Element k lies between nodes k - 1 and k; on a closed rod the first one lies between the last node and the first. The
energy couples only neighbours in the chain, so that all matrices are tridiagonal, cyclic for closed rods.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....errors import Array
from ...elastic.rods import RodArrays
from ...held_frames import FRAMED, HeldFrames
from ...state_of_rods import zeros_of


class Chain(NamedTuple):
    """Topology and material: constant during a step. Nodes are numbered consecutively over all rods."""

    start: NDArray[np.int64]  # (R + 1,)
    edge: NDArray[np.int64]  # (K,) edge of the node; -1: a prescribed frame
    vertex: NDArray[np.int64]  # (K,) vertex of element k; for a prescribed frame without element its own vertex
    # (K,) slot of element k as in `der`; -1: no element before the first node of an open rod
    slot: NDArray[np.int64]
    stiffness: Array  # (K, 5) of the elements' strains
    rest: Array  # (K, 5) natural strains of the elements
    fixed: NDArray[np.bool_]  # (K,) whether theta is prescribed
    simple: NDArray[np.bool_]  # (R,) naturally straight and isotropic: the paper's special case


class Nodes(NamedTuple):
    """Frames along the chain: u is the Bishop frame, theta the angle from it to the material frame."""

    t: Array  # (K, 3)
    u: Array  # (K, 3)
    inverse_length: Array  # (K,) 1/|e|; zero for a prescribed frame
    theta: Array  # (K,) rad; counts whole turns
    sine: Array  # (K,) of theta, updated incrementally because that is cheaper than evaluating it
    cosine: Array  # (K,)
    lag: Array  # (K,) of prescribed edges: theta without the spin
    kb: Array  # (K, 3) curvature binormal (1) of the elements
    chi: Array  # (K,) 1 + t.t'
    bishop: Array  # (K, 4) curvatures (2) of the elements in the Bishop frames of both sides, for theta = 0
    reference: Array  # (K,) twist of the frames u; nonzero only across prescribed frames and the seam of a closed rod
    twist: Array  # (K,) m
    diagonal: Array  # (K,) of the tridiagonal matrix
    beside: Array  # (K,)
    fill: Array  # (K,)
    step: Array  # (K,) Newton step


class Motion(NamedTuple):
    """The centerline during a step."""

    x: Array  # (N, 3)
    v: Array  # (N, 3)
    before: Array  # (N, 3) x at the start of the step
    force: Array  # (N, 3)
    metric: Array  # (N, 6) inverse of the generalized mass, xx yx yy zx zy zz
    drag: Array  # (N, 6)
    gradient: Array  # (N, 3) gradient of the edge's constraint with respect to its end; the opposite for its start
    multiplier: Array  # (N,) Lagrange multiplier of the edge's constraint
    diagonal: Array  # (N,) of the tridiagonal matrix
    beside: Array  # (N,)
    fill: Array  # (N,)
    frames: HeldFrames
    inner: NDArray[np.int64]  # (R,) number of inner steps in the last free step
    most_iterations: NDArray[np.int64]  # (R,) largest number of projection iterations in an inner step
    symplectic: NDArray[np.bool_]  # (1,) whether projections are energy-preserving, see `projection.py`


def make_chain(b: RodArrays) -> Chain:
    start, edge, vertex, slot, fixed, simple = [0], [], [], [], [], []
    joint, frame_held = b.rods.joint, b.rods.edge_framed
    for r, closed in enumerate(b.rods.closed):
        first, end = int(b.rods.start[r]), int(b.rods.start[r + 1])
        nodes: list[tuple[int, int, int, bool]] = []  # edge, vertex and slot of the element before it, fixed
        for i in range(first, end):
            framed, has_edge = joint[i] == FRAMED, closed or i + 1 < end
            begins = not closed and i == first
            if framed and not (closed and i == first):
                nodes.append((-1, i, -1 if begins else 0, True))
            if has_edge:
                slot_before = 1 if framed else -1 if begins else 0
                nodes.append((i, i, slot_before, bool(frame_held[i])))
        if closed and joint[first] == FRAMED:
            nodes.append((-1, first, 0, True))
        start.append(start[-1] + len(nodes))
        edge += [node[0] for node in nodes]
        vertex += [node[1] for node in nodes]
        slot += [node[2] for node in nodes]
        fixed += [node[3] for node in nodes]
    at, which = np.array(vertex, dtype=np.int64), np.array(slot, dtype=np.int64)
    there = (which >= 0)[:, None]
    stiffness = np.where(there, b.rods.stiffness[at, which], 0.0)
    rest = np.where(there, b.rods.rest[at, which], 0.0)
    for begin, stop in pairwise(start):
        k, natural = stiffness[begin:stop], rest[begin:stop, :4]
        simple.append(bool(np.all(k[:, 0] == k[:, 1]) and np.all(k[:, 2] == k[:, 3]) and not natural.any()))
    return Chain(
        np.array(start, dtype=np.int64),
        np.array(edge, dtype=np.int64),
        at,
        which,
        stiffness,
        rest,
        np.array(fixed, dtype=np.bool_),
        np.array(simple, dtype=np.bool_),
    )


def make_nodes(count: int) -> Nodes:
    return zeros_of(Nodes, (count,), t=(count, 3), u=(count, 3), kb=(count, 3), bishop=(count, 4))


def make_motion(n: int, rods: int) -> Motion:
    vector, number = (n, 3), (n,)
    zeros = zeros_of(
        Motion, number, x=vector, v=vector, before=vector, force=vector, metric=(n, 6), drag=(n, 6), gradient=vector
    )
    return zeros._replace(
        frames=HeldFrames(np.zeros(vector), np.zeros(vector), np.zeros(number)),
        inner=np.zeros(rods, dtype=np.int64),
        most_iterations=np.zeros(rods, dtype=np.int64),
        symplectic=np.zeros(1, dtype=np.bool_),
    )
