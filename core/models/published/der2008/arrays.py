"""What `der2008` adds to the arrays of `der`, whose rods, states and holds it shares: a rod as a chain of frames.

A node of the chain is an edge with its frame, or a held frame of a vertex, which is an edge of no length that nothing moves.
Element k lies between nodes k - 1 and k; on a closed rod the first one lies between the last node and the first. So the energy
couples only neighbours in the chain, and all matrices are tridiagonal, cyclic for closed rods.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....errors import Array
from ...elastic.rods import RodArrays
from ...held_frames import FRAMED, HeldFrames


class Chain(NamedTuple):
    """What does not change. Nodes of all rods are numbered through."""

    start: NDArray[np.int64]  # (R + 1,)
    edge: NDArray[np.int64]  # (K,) the node's edge; -1: a held frame
    vertex: NDArray[np.int64]  # (K,) where element k sits; of a held frame without element its own vertex
    slot: NDArray[
        np.int64
    ]  # (K,) of element k, as `der` counts them; -1: there is no element before the first node of an open rod
    stiffness: Array  # (K, 5) of the elements' strains
    rest: Array  # (K, 5) the elements' strains in the natural shape
    fixed: NDArray[np.bool_]  # (K,) theta is prescribed
    simple: NDArray[np.bool_]  # (R,) naturally straight and isotropic: the special case of the paper


class Nodes(NamedTuple):
    """Frames along the chain: u is Bishop's, theta the angle from it to the material frame."""

    t: Array  # (K, 3)
    u: Array  # (K, 3)
    inverse_length: Array  # (K,) 1/|e|, zero of a held frame
    theta: Array  # (K,) rad; it counts whole turns
    sine: Array  # (K,) of theta, kept along: angles change by little, and turning is cheaper than asking anew
    cosine: Array  # (K,)
    lag: Array  # (K,) of prescribed edges: theta without the spin
    kb: Array  # (K, 3) curvature binormal (1) of the elements
    chi: Array  # (K,) 1 + t.t'
    bishop: Array  # (K, 4) their curvatures (2) in the Bishop frames of both sides, as if theta was zero
    reference: Array  # (K,) twist of the frames u themselves: zero but across held frames and the seam of a closed rod
    twist: Array  # (K,) m
    diagonal: Array  # (K,) of the tridiagonal matrix
    beside: Array  # (K,)
    fill: Array  # (K,)
    step: Array  # (K,) Newton's


class Motion(NamedTuple):
    """The centerline while it is stepped."""

    x: Array  # (N, 3)
    v: Array  # (N, 3)
    before: Array  # (N, 3) x where the step began
    force: Array  # (N, 3)
    metric: Array  # (N, 6) inverse of the generalized mass, xx yx yy zx zy zz: what a vertex gives way per impulse
    drag: Array  # (N, 6)
    gradient: Array  # (N, 3) of the edge's constraint in its end; in its beginning the opposite
    multiplier: Array  # (N,) of the edge's constraint
    diagonal: Array  # (N,) of the tridiagonal matrix
    beside: Array  # (N,)
    fill: Array  # (N,)
    frames: HeldFrames
    inner: NDArray[np.int64]  # (R,) how many steps the last free step of a rod was made of
    most_iterations: NDArray[np.int64]  # (R,) of the projection, in any of them


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
    widths = {"t": 3, "u": 3, "kb": 3, "bishop": 4}
    return Nodes(**{f: np.zeros((count, widths[f]) if f in widths else count) for f in Nodes._fields})


def make_motion(n: int, rods: int) -> Motion:
    def zeros(*shape: int) -> Array:
        return np.zeros(shape)

    return Motion(
        x=zeros(n, 3),
        v=zeros(n, 3),
        before=zeros(n, 3),
        force=zeros(n, 3),
        metric=zeros(n, 6),
        drag=zeros(n, 6),
        gradient=zeros(n, 3),
        multiplier=zeros(n),
        diagonal=zeros(n),
        beside=zeros(n),
        fill=zeros(n),
        frames=HeldFrames(zeros(n, 3), zeros(n, 3), zeros(n)),
        inner=np.zeros(rods, dtype=np.int64),
        most_iterations=np.zeros(rods, dtype=np.int64),
    )
