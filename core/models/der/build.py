"""From described rods to the arrays of a block: natural strains, masses, frames at the start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import Array
from ...geometry.frames import any_normal, bishop_directors, transport, turn, twist_angles
from ...rod import Rod, edges_of
from ...scene import Entry, Hold
from .arrays import FRAMED, FREE_END, INNER, Arrays, make_block, make_workbench
from .dense import lay_at


class Shape(NamedTuple):
    """A framed polyline, in its rest state or at the start."""

    points: Array  # (n, 3)
    tangents: Array  # (m, 3)
    directors: Array  # (m, 3)
    lengths: Array  # (m,)
    twist: Array  # (m,) from edge i - 1 to edge i; of an open rod twist[0] is idle


def build(entries: Sequence[Entry], holds: Sequence[tuple[int, Hold]]) -> Arrays:
    """`holds` come with the number of their rod within the block."""
    counts = [entry.rod.vertex_count for entry in entries]
    b = make_block(sum(counts), len(entries))
    b.rods.start[1:] = np.cumsum(counts)
    per_rod: list[list[Hold]] = [[] for _ in entries]
    for number, hold in holds:
        per_rod[number].append(hold)
    for r, entry in enumerate(entries):
        bench = make_workbench(counts[r], entry.rod.closed)
        bench.rods.start[1] = counts[r]
        _place_rod(bench, entry, per_rod[r])
        b.rods.closed[r] = bench.rods.closed[0]
        b.rods.damping_time[r] = bench.rods.damping_time[0]
        rows = slice(int(b.rods.start[r]), int(b.rods.start[r + 1]))
        wholes: list[NDArray[Any]] = [*b.rods[3:], *b.state]
        parts: list[NDArray[Any]] = [*bench.rods[3:], *bench.state]
        for target, source in zip(wholes, parts, strict=True):
            target[rows] = source
        for target, source in zip(b.holds, bench.holds, strict=True):
            target[:, rows] = source
    return b


def _place_rod(b: Arrays, entry: Entry, holds: list[Hold]) -> None:
    rod = entry.rod
    n, m = rod.vertex_count, rod.edge_count
    rows, edges = slice(0, n), slice(0, m)
    b.rods.closed[0] = rod.closed
    b.rods.damping_time[0] = rod.damping_time
    b.rods.rest_length[rows] = rod.rest_lengths[-1]  # the idle entry must be a length, too
    b.rods.rest_length[edges] = rod.rest_lengths
    b.rods.radii[rows] = rod.radii[-1]
    b.rods.radii[edges] = rod.radii
    b.rods.stretch[edges] = rod.stretch
    edge_mass = rod.mass_per_length * rod.rest_lengths
    vertex_mass = np.zeros(n)
    vertex_mass[:m] += 0.5 * edge_mass
    vertex_mass[(np.arange(m) + 1) % n] += 0.5 * edge_mass
    b.rods.mass[rows, :3] = vertex_mass[:, None]
    b.rods.mass[rows, 3] = 1.0
    b.rods.mass[edges, 3] = rod.inertia_per_length * rod.rest_lengths
    b.rods.joint[rows] = INNER
    if not rod.closed:
        b.rods.joint[0] = b.rods.joint[n - 1] = FREE_END
        b.rods.held[n - 1, 3] = True  # no edge there, so no angle
    for hold in holds:
        if hold.kind == "edge":
            b.rods.held[hold.index, :] = True
            b.rods.held[(hold.index + 1) % n, :3] = True
            b.rods.edge_framed[hold.index] = True
            continue
        if hold.holds_position:
            b.rods.held[hold.index, :3] = True
        if hold.holds_frame:
            b.rods.joint[hold.index] = FRAMED
    _stiffnesses(b, rod)

    shape, rest = _shapes(rod)
    if rest is not None:
        _configure(b, rod, rest, 0.0)
        lay_at(b, b.state.q)
        b.rods.rest[rows] = b.geometry.strain[rows]
    _natural_twist(b, rod)
    _configure(b, rod, shape, rod.twist)
    if rod.closed and rod.twist != 0.0:
        # A ring is twisted by cutting it, turning one face by the twist and gluing it again: the seam's twist equals its
        # neighbours', and its natural twist takes up what the frames do not show.
        hidden = -rod.twist
        before = shape.lengths[-1] / (shape.lengths[-1] + shape.lengths[0]) if b.rods.joint[0] == FRAMED else 1.0
        b.rods.rest[0, 0, 4] += before * hidden
        b.rods.rest[0, 1, 4] += (1.0 - before) * hidden
    b.state.v[rows, :3] = entry.velocity
    # Held places are where they are until told otherwise.
    for end in range(2):
        b.holds.position[end, rows] = b.state.q[rows, :3]
        b.holds.tangent[end, rows] = b.frames.tangent[rows]
        b.holds.director[end, rows] = b.frames.director[rows]
        framed_edges = np.flatnonzero(b.rods.edge_framed[rows])
        b.holds.director[end, framed_edges] = b.state.m1[framed_edges]


def _shapes(rod: Rod) -> tuple[Shape, Shape | None]:
    """The shape at the start and the natural one; None for a straight one."""
    first = np.array(any_normal(tuple(_tangents(rod.points, rod.closed)[0]))) if rod.director is None else rod.director
    shape = _framed(rod.points, rod.closed, first)
    if rod.rest_points is None:
        return shape, None
    rest_first = rod.rest_director
    if rest_first is None:
        if rod.director is not None and rod.director.ndim == 2 and np.array_equal(rod.points, rod.rest_points):
            rest_first = rod.director
        else:
            rest_tangent = _tangents(rod.rest_points, rod.closed)[0]
            rest_first = np.array(transport(tuple(shape.directors[0]), tuple(shape.tangents[0]), tuple(rest_tangent)))
    return shape, _framed(rod.rest_points, rod.closed, rest_first)


def _tangents(points: Array, closed: bool) -> Array:
    edges = edges_of(points, closed)
    return np.asarray(edges / np.linalg.norm(edges, axis=1)[:, None])


def _framed(points: Array, closed: bool, director: Array) -> Shape:
    edges = edges_of(points, closed)
    lengths = np.asarray(np.linalg.norm(edges, axis=1))
    tangents = edges / lengths[:, None]
    if director.ndim == 1:
        directors = np.empty_like(tangents)
        bishop_directors(tangents, director, directors)
    else:
        directors = director.copy()
    twist = np.empty(len(tangents))
    twist_angles(tangents, directors, twist)
    return Shape(points, tangents, directors, lengths, twist)


def _natural_twist(b: Arrays, rod: Rod) -> None:
    """Adds rest_twist over the length of each element."""
    if rod.rest_twist == 0.0:
        return
    n = rod.vertex_count
    for i in range(n):
        row = i
        before, after = _half_lengths(rod, i)
        if b.rods.joint[row] == INNER:
            b.rods.rest[row, 0, 4] += rod.rest_twist * (before + after)
        elif b.rods.joint[row] == FRAMED:
            b.rods.rest[row, 0, 4] += rod.rest_twist * before
            b.rods.rest[row, 1, 4] += rod.rest_twist * after


def _half_lengths(rod: Rod, i: int) -> tuple[float, float]:
    """Half the natural length of the edges before and after vertex i; zero where there is none."""
    lengths, n = rod.rest_lengths, rod.vertex_count
    before = 0.5 * lengths[i - 1] if rod.closed or i > 0 else 0.0
    after = 0.5 * lengths[i] if rod.closed or i < n - 1 else 0.0
    return float(before), float(after)


def _stiffnesses(b: Arrays, rod: Rod) -> None:
    """Stiffness of the elements' strains: two half edges in series, shared between the two edges' frames by length."""
    n, m = rod.vertex_count, rod.edge_count
    rows = slice(0, n)
    half = np.zeros(n)
    half[:m] = 0.5 * rod.rest_lengths
    ei = np.ones((n, 2))
    ei[:m] = rod.bend
    gj = np.ones(n)
    gj[:m] = rod.twist_stiffness
    prev_half, prev_ei, prev_gj = np.roll(half, 1), np.roll(ei, 1, axis=0), np.roll(gj, 1)
    joint = b.rods.joint[rows]
    inner, framed = joint == INNER, joint == FRAMED
    with np.errstate(divide="ignore", invalid="ignore"):
        bend = 1.0 / (half[:, None] / ei + prev_half[:, None] / prev_ei)
        twist = 1.0 / (half / gj + prev_half / prev_gj)
        share = (prev_half / (half + prev_half))[:, None]
        k = b.rods.stiffness[rows]
        k[inner, 0, 0:2] = (share * bend)[inner]
        k[inner, 0, 2:4] = ((1.0 - share) * bend)[inner]
        k[inner, 0, 4] = twist[inner]
        before, after = framed & (prev_half > 0.0), framed & (half > 0.0)
        k[before, 0, 0:2] = (prev_ei / prev_half[:, None])[before]
        k[before, 0, 4] = (prev_gj / prev_half)[before]
        k[after, 1, 2:4] = (ei / half[:, None])[after]
        k[after, 1, 4] = (gj / half)[after]


def _configure(b: Arrays, rod: Rod, shape: Shape, angle: float) -> None:
    """Puts the rod into a shape, twisted by an angle that grows evenly with arc length, and makes it the base of frames."""
    n, m = rod.vertex_count, rod.edge_count
    theta = angle * _middles(shape)
    side = np.cross(shape.tangents, shape.directors)
    directors = np.cos(theta)[:, None] * shape.directors + np.sin(theta)[:, None] * side
    twist = shape.twist + theta - np.roll(theta, 1)
    b.state.q[:n, :3] = shape.points
    b.state.q[:n, 3] = 0.0
    b.geometry.base_t[:m] = shape.tangents
    b.geometry.base_reference[:m] = directors
    b.state.m1[:m] = directors
    b.state.twist[:n] = 0.0
    b.state.twist[:m, 0] = twist
    for i in np.flatnonzero(b.rods.joint[:n] == FRAMED):
        t, d, before, after = _vertex_frame(shape, directors, twist, int(i), n, m)
        b.frames.tangent[i] = t
        b.frames.director[i] = d
        b.state.twist[i] = before, after
    b.frames.spin[:n] = 0.0
    b.geometry.base_twist[:n] = b.state.twist[:n]


def _middles(shape: Shape) -> Array:
    """Where the middles of the edges lie, from that of edge 0, as parts of the whole length."""
    middles = np.cumsum(shape.lengths) - 0.5 * shape.lengths
    return np.asarray((middles - middles[0]) / shape.lengths.sum())


def _vertex_frame(
    shape: Shape, directors: Array, twist: Array, i: int, n: int, m: int
) -> tuple[Array, Array, float, float]:
    """Tangent and director of the cross-section at a vertex, and the twist to it from either side.

    Between the middles of two edges the frame turns evenly with arc length; at an end it goes on as it did before.
    """
    closed = n == m
    if closed or 0 < i < n - 1:
        a, c = (i - 1) % m, i
        part = shape.lengths[a] / (shape.lengths[a] + shape.lengths[c])
        before, after = part * twist[c], (1.0 - part) * twist[c]
    elif m == 1:
        return shape.tangents[0], directors[0], 0.0, 0.0
    elif i == 0:
        a, c = 0, 1
        part = -shape.lengths[0] / (shape.lengths[0] + shape.lengths[1])
        before, after = 0.0, -part * twist[1]
    else:
        a, c = m - 2, m - 1
        part = 1.0 + shape.lengths[c] / (shape.lengths[a] + shape.lengths[c])
        before, after = (part - 1.0) * twist[c], 0.0
    ta, tc = shape.tangents[a], shape.tangents[c]
    axis = np.cross(ta, tc)
    sine = float(np.linalg.norm(axis))
    angle = part * float(np.arctan2(sine, ta @ tc))
    t = ta if sine == 0.0 else np.cos(angle) * ta + np.sin(angle) * np.cross(axis / sine, ta)
    t = t / np.linalg.norm(t)
    d = transport(tuple(directors[a]), tuple(ta), tuple(t))
    d = turn(d, tuple(t), part * float(twist[c]))
    return t, np.array(d), float(before), float(after)
