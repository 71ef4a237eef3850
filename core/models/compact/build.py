"""Builds the arrays of a block from described rods, and refuses what the model can't represent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...describe.net import Net
from ...describe.rod import Rod
from ...describe.scene import Entry, Hold, held_vertices
from ...errors import Array, Ints
from ...maths.geometry.frames import turn
from ...maths.geometry.quaternions import from_frame
from ..elastic.build_rods import Shape, half_lengths, middles_of, shapes_of_rod, vertex_frame
from ..held_frames import FRAMED, FREE_END, INNER
from ..protocol import Edges
from .arrays import Arrays, make_arrays
from .branches import Tree, arc_lengths_and_joint_pairs, grow_tree, place_net
from .shapes import TAUT, put_strains, quaternions, raise_distance


class Layout(NamedTuple):
    """Maps described vertices and edges to rows of the block."""

    vertex: list[Ints]  # per rod, row of each vertex
    edge: list[Ints]  # per rod, row of each edge
    sense: Array  # (N,) -1 where the edge is traversed against its description, else 1
    edges: Edges


def build(entries: Sequence[Entry], holds: Sequence[tuple[int, Hold]]) -> tuple[Arrays, Layout]:
    """`holds` are pairs of the rod's index within the block and the hold."""
    of_rod: list[list[Hold]] = [[] for _ in entries]
    for number, hold in holds:
        of_rod[number].append(hold)
    trees = [
        grow_tree(entry.rod, of) if isinstance(entry.rod, Net) else None
        for entry, of in zip(entries, of_rod, strict=True)
    ]
    counts = [
        entry.rod.vertex_count if tree is None else len(tree.vertex) for entry, tree in zip(entries, trees, strict=True)
    ]
    forks = [0 if tree is None else int(tree.fork.sum()) for tree in trees]
    any_closed = any(isinstance(entry.rod, Rod) and entry.rod.closed for entry in entries)
    b = make_arrays(sum(counts), len(entries), any_closed, sum(forks))
    b.rods.start[1:] = np.cumsum(counts)
    b.rods.forks[1:] = np.cumsum(forks)
    for r, (entry, tree, of) in enumerate(zip(entries, trees, of_rod, strict=True)):
        if tree is None:
            _place_rod(b, r, entry, of)
        else:
            place_net(b, r, entry, of, tree)
    return b, _update_geometry(b, entries, trees)


def _update_geometry(b: Arrays, entries: Sequence[Entry], trees: list[Tree | None]) -> Layout:
    rods, n = b.rods, len(b.rods.arm)
    after = np.where(rods.edge & (rods.fork < 0), np.arange(1, n + 1), -1)
    along, length, sense = np.zeros(n), np.full(n, np.inf), np.ones(n)
    vertices, edges, joined = [], [], [np.zeros((0, 2), np.int64)]
    for r, (entry, tree) in enumerate(zip(entries, trees, strict=True)):
        first, end = int(rods.start[r]), int(rods.start[r + 1])
        if tree is not None:
            along[first:end], pairs = arc_lengths_and_joint_pairs(entry.rod, tree)
            joined.append(first + pairs)
            sense[first:end] = np.where(tree.backwards | tree.backwards[tree.before], -1.0, 1.0)
            vertices.append(first + tree.own)
            edges.append(first + tree.row_of_edge)
            continue
        vertices.append(np.arange(first, end))
        edges.append(np.arange(first, first + entry.rod.edge_count))
        along[first + 1 : end] = np.cumsum(rods.rest_length[first : end - 1])
        if rods.closed[r]:
            after[end - 1] = first
            length[first:end] = rods.rest_length[first:end].sum()
    return Layout(vertices, edges, sense, Edges(after, rods.radii.max(axis=1), along, length, np.concatenate(joined)))


def _place_rod(b: Arrays, r: int, entry: Entry, holds: list[Hold]) -> None:
    rod, rods = entry.rod, b.rods
    n, m, first = rod.vertex_count, rod.edge_count, int(b.rods.start[r])
    rows, edges = slice(first, first + n), slice(first, first + m)
    rods.closed[r] = rod.closed
    rods.before[first] = first + n - 1 if rod.closed else -1
    rods.edge[first + n - 1] = rod.closed
    rods.damping_time[r] = rod.damping_time
    rods.rest_length[rows] = rod.rest_lengths[-1]  # the unused last entry must be a valid length, too
    rods.rest_length[edges] = rod.rest_lengths
    rods.arm[edges] = rod.rest_lengths
    rods.radii[rows] = rod.radii[-1]
    rods.radii[edges] = rod.radii
    edge_mass = rod.mass_per_length * rod.rest_lengths
    vertex_mass = rods.mass[rows, 0]
    vertex_mass[:m] += 0.5 * edge_mass
    vertex_mass[(np.arange(m) + 1) % n] += 0.5 * edge_mass
    # The second moments of mass along the directors are in proportion to the bending stiffnesses.
    share = rod.bend / rod.bend.sum(axis=1)[:, None]
    rods.mass[edges, 1:] = share * (rod.inertia_per_length * rod.rest_lengths)[:, None]
    rods.stiffest[r] = float((12.0 * rod.bend.max(axis=1) / rod.rest_lengths**3).max())
    rods.joint[rows] = INNER
    if not rod.closed:
        rods.joint[first] = rods.joint[first + n - 1] = FREE_END
    for hold in holds:
        if hold.kind == "edge":
            rods.held[first + hold.index] = rods.held[first + (hold.index + 1) % n] = True
            rods.edge_framed[first + hold.index] = True
            rods.arm[first + hold.index] = 0.0
            continue
        rods.held[first + hold.index] = hold.holds_position
        if hold.along is not None:
            rods.rail[first + hold.index] = hold.along
        if hold.holds_frame:
            rods.joint[first + hold.index] = FRAMED
    _check_rod(rod, holds)
    _stiffnesses(b, rod, first)

    shape, rest = shapes_of_rod(rod)
    if rest is not None:
        _natural_strains(b, r, rod, rest)
    _natural_twist(b, r, rod)
    theta = rod.twist * middles_of(shape)
    directors = _turned(shape, theta)
    b.state.q[rows] = (1.0, 0.0, 0.0, 0.0)
    b.state.q[edges] = quaternions(shape.tangents, directors)
    b.rods.seam[r] = (math.cos(0.5 * rod.twist), 0.0, 0.0, math.sin(0.5 * rod.twist)) if rod.closed else (1, 0, 0, 0)
    b.state.x[rows] = _rest_length_points(rod, shape)
    b.state.v[rows, :3] = entry.velocity
    twist = shape.twist + theta - np.roll(theta, 1)
    b.state.twist[edges, 0] = twist
    b.state.twist[first, 0] += rod.twist if rod.closed else 0.0
    b.holds.position[:, rows] = rod.points
    for hold in holds:
        row = first + hold.index
        if hold.kind == "edge":
            b.holds.director[:, row] = directors[hold.index]
        elif hold.holds_frame:
            t, d, before, after = vertex_frame(shape, directors, twist, hold.index, n, m)
            if rod.closed and hold.index == 0:  # The seam hides the rod's twist; the frame lies on its far side.
                hidden = rod.twist * shape.lengths[0] / (shape.lengths[0] + shape.lengths[-1])
                d = np.array(turn(tuple(d), tuple(t), -hidden))
                before, after = before + rod.twist - hidden, after + hidden
            b.state.twist[row] = before, after
            b.holds.tangent[:, row] = t
            b.holds.director[:, row] = d


def _rest_length_points(rod: Rod, shape: Shape) -> Array:
    """(n, 3) vertices as drawn; if edges are drawn with other lengths, they are laid out again with their rest lengths."""
    if np.allclose(shape.lengths, rod.rest_lengths, rtol=1e-12, atol=0.0):
        return rod.points
    ways = shape.tangents * rod.rest_lengths[:, None]
    return np.asarray(
        rod.points[0] + np.concatenate([np.zeros((1, 3)), np.cumsum(ways, axis=0)[: len(rod.points) - 1]])
    )


def _turned(shape: Shape, theta: Array) -> Array:
    side = np.cross(shape.tangents, shape.directors)
    return np.asarray(np.cos(theta)[:, None] * shape.directors + np.sin(theta)[:, None] * side)


def _natural_strains(b: Arrays, r: int, rod: Rod, rest: Shape) -> None:
    n, m, first = rod.vertex_count, rod.edge_count, int(b.rods.start[r])
    q = quaternions(rest.tangents, rest.directors)
    for i in range(n):
        joint = b.rods.joint[first + i]
        if joint == FREE_END:
            continue
        middle = None
        if joint != INNER:
            t, d, _, _ = vertex_frame(rest, rest.directors, rest.twist, i, n, m)
            middle = from_frame(tuple(t), tuple(d))
        before = q[(i - 1) % m] if rod.closed or i > 0 else None
        put_strains(b, first + i, before, middle, q[i] if rod.closed or i < n - 1 else None)


def _natural_twist(b: Arrays, r: int, rod: Rod) -> None:
    """Rotates the natural frame after each element by rest_twist times its length."""
    if rod.rest_twist == 0.0:
        return
    first = int(b.rods.start[r])
    for i in range(rod.vertex_count):
        before, after = half_lengths(rod, i)
        joint = b.rods.joint[first + i]
        if joint == FREE_END:
            continue
        for slot, length in ((0, before + after),) if joint == INNER else ((0, before), (1, after)):
            half = 0.5 * rod.rest_twist * length
            b1, b2, twist = b.rods.rest[first + i, slot]
            c, s = math.cos(half), math.sin(half)  # bending is relative to the frame half-way through the element
            b.rods.rest[first + i, slot] = (c * b1 + s * b2, c * b2 - s * b1, twist + 2.0 * half)


def _stiffnesses(b: Arrays, rod: Rod, first: int) -> None:
    """Stiffnesses of the elements about d1, d2, d3: two half edges in series. Bending about d1 moves towards the second
    director."""
    n, m = rod.vertex_count, rod.edge_count
    compliance = np.zeros((n, 3))  # rad/(N m), compliance of the half edge after each vertex
    modulus = np.stack([rod.bend[:, 1], rod.bend[:, 0], rod.twist_stiffness], axis=1)
    compliance[:m] = 0.5 * rod.rest_lengths[:, None] / modulus
    before = np.roll(compliance, 1, axis=0)
    for i in range(n):
        joint = b.rods.joint[first + i]
        if joint == INNER:
            b.rods.stiffness[first + i, 0] = 1.0 / (compliance[i] + before[i])
        elif joint == FRAMED:
            if rod.closed or i > 0:
                b.rods.stiffness[first + i, 0] = 1.0 / before[i]
            if rod.closed or i < n - 1:
                b.rods.stiffness[first + i, 1] = 1.0 / compliance[i]


def _check_rod(rod: Rod, holds: list[Hold]) -> None:
    """Refuses what an inextensible rod can't do."""
    fixed = [hold for hold in holds if hold.holds_position and hold.along is None]
    places = sorted({vertex for hold in fixed for vertex in held_vertices(hold, rod)})
    ways = list(pairwise(places))
    if rod.closed and len(places) > 1:
        ways.append((places[-1], places[0] + rod.vertex_count))
    along = np.concatenate([[0.0], np.cumsum(np.tile(rod.rest_lengths, 2))])
    for i, j in ways:
        apart = float(np.linalg.norm(rod.points[j % rod.vertex_count] - rod.points[i]))
        length = float(along[j] - along[i])
        if apart > length * (1.0 + TAUT) or (j == i + 1 and apart < length * (1.0 - TAUT)):
            raise_distance(i, j % rod.vertex_count, apart, length)
