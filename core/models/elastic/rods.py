"""The arrays of a block of rods: the graph of chains, and the same memory with a row per vertex.

The published models, the description of rods and whoever wants to look closely use the rows: (N, 4) for x y z theta instead of flat
unknowns, (N, 2, ...) for the two elements that a vertex may have.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import Array, Flags, Ints
from ..held_frames import FRAMED, FREE_END, Holds
from .arrays import (
    NOTHING,
    Arrays,
    Graph,
    Log,
    Material,
    Sizes,
    make_banded,
    make_forces,
    make_geometry,
    make_holds,
    make_log,
    make_stage,
    make_state,
)


class Rods(NamedTuple):
    """What does not change."""

    start: Ints  # (R + 1,)
    closed: Flags  # (R,)
    damping_time: Array  # (R,) s
    rest_length: Array  # (N,) of the edge
    radii: Array  # (N, 2) half axes of the edge's section
    stretch: Array  # (N,) EA
    stiffness: Array  # (N, 2, 5) of the elements' strains
    rest: Array  # (N, 2, 5) the elements' strains in the natural shape
    mass: Array  # (N, 4) of the vertex (three times), of the edge about its tangent
    joint: NDArray[np.int8]  # (N,) FREE_END, INNER or FRAMED
    held: Flags  # (N, 4) prescribed unknowns
    edge_framed: Flags  # (N,) the material frame of the edge is prescribed


class RodState(NamedTuple):
    q: Array  # (N, 4) position; theta since the beginning of the step
    v: Array  # (N, 4) velocity and spin
    a: Array  # (N, 4)
    m1: Array  # (N, 3) first material director of the edge
    twist: Array  # (N, 2) of the elements


class RodForces(NamedTuple):
    force: Array  # (N, 4) N; N m about the tangent
    wind: Array  # (3,) m/s
    drag_rate: Array  # (R,) 1/s


class RodArrays(NamedTuple):
    rods: Rods
    state: RodState
    holds: Holds
    forces: RodForces
    log: Log


def make_rods(counts: Ints, closed: Flags) -> tuple[Arrays, RodArrays]:
    """The block of rods with so many vertices, and its rows."""
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    size = Sizes.of_rods(len(counts), int(start[-1]))
    b = Arrays(
        graph=chain_graph(start, closed),
        material=chain_material(size),
        state=make_state(size, True),
        saved=make_state(NOTHING, True),
        holds=make_holds(size, True),
        forces=make_forces(size, NOTHING),
        stage=make_stage(NOTHING),
        geometry=make_geometry(NOTHING, True),
        system=make_banded(NOTHING, False),
        pattern=None,
        log=make_log(size),
    )
    return b, rows_of_rods(b, np.zeros(size.vertices, dtype=np.int8))


def chain_graph(start: Ints, closed: Flags) -> Graph:
    """Rods whose vertices begin at `start`; none of their elements is there yet."""
    n = int(start[-1])
    row, last = np.arange(n), start[1:] - 1
    head = row + 1
    head[last] = start[:-1]
    none = np.full(2 * n, -1, np.int64)
    return Graph(
        chain=np.ones(len(closed), np.bool_),
        closed=closed.copy(),
        vertices=start.copy(),
        edges=start.copy(),
        edge_end=np.where(closed, start[1:], last),
        joints=start.copy(),
        elements=2 * start,
        unknowns=4 * start,
        x=4 * row,
        tail=row,
        head=head,
        theta=4 * row + 3,
        omega=np.full(n, -1, np.int64),
        vertex=row.copy(),
        middle=np.repeat(row, 2),
        edge_a=none,
        edge_b=none.copy(),
        joint=none.copy(),
    )


def chain_material(size: Sizes) -> Material:
    n, m = size.vertices, size.elements
    return Material(
        damping_time=np.zeros(size.nets),
        rest_length=np.zeros(n),
        radii=np.zeros((n, 2)),
        stretch=np.zeros(n),
        stiffness=np.zeros((m, 5)),
        rest=np.zeros((m, 5)),
        arm_t=np.tile([0.0, 0.0, 1.0], (m, 1)),
        arm_d=np.tile([1.0, 0.0, 0.0], (m, 1)),
        mass=np.zeros(4 * n),
        unit=np.ones(4 * n),
        held=np.zeros(4 * n, dtype=np.bool_),
        framed=np.zeros(n, dtype=np.bool_),
        edge_framed=np.zeros(n, dtype=np.bool_),
        break_force=np.zeros(0),
        break_moment=np.zeros(0),
        breakable=np.zeros(size.nets, dtype=np.bool_),
    )


def rows_of_rods(b: Arrays, joint: NDArray[np.int8]) -> RodArrays:
    m, s = b.material, b.state
    return RodArrays(
        rods=Rods(
            start=b.graph.vertices,
            closed=b.graph.closed,
            damping_time=m.damping_time,
            rest_length=m.rest_length,
            radii=m.radii,
            stretch=m.stretch,
            stiffness=m.stiffness.reshape(-1, 2, 5),
            rest=m.rest.reshape(-1, 2, 5),
            mass=m.mass.reshape(-1, 4),
            joint=joint,
            held=m.held.reshape(-1, 4),
            edge_framed=m.edge_framed,
        ),
        state=RodState(s.q.reshape(-1, 4), s.v.reshape(-1, 4), s.a.reshape(-1, 4), s.m1, s.twist.reshape(-1, 2)),
        holds=Holds(*b.holds[:4]),
        forces=RodForces(b.forces.force.reshape(-1, 4), b.forces.wind, b.forces.drag_rate),
        log=b.log,
    )


def lay_elements(b: Arrays, joint: NDArray[np.int8]) -> None:
    """Which elements there are, from what is at the vertices."""
    graph, start = b.graph, b.graph.vertices
    row = np.arange(len(joint))
    before, after = row - 1, row.copy()
    before[start[:-1]] = np.where(graph.closed, start[1:] - 1, -1)
    after[start[1:] - 1] = np.where(graph.closed, start[1:] - 1, -1)
    free, framed = joint == FREE_END, joint == FRAMED
    a, c, arm = (of.reshape(-1, 2) for of in (graph.edge_a, graph.edge_b, graph.joint))
    a[:, 0], a[:, 1] = np.where(free, -1, before), -1
    c[:, 0], c[:, 1] = np.where(framed, -1, after), np.where(framed, after, -1)
    arm[:] = np.where(framed[:, None] & ((a >= 0) | (c >= 0)), row[:, None], -1)
    b.material.framed[:] = framed


def set_units(b: Arrays) -> None:
    """Motion is measured in segment lengths."""
    b.material.unit.reshape(-1, 4)[:, :3] = 1.0 / b.material.rest_length[:, None]
