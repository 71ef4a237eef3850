"""From described rods to the arrays of a block: natural strains, masses, frames at the start."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...describe.rod import Rod
from ...describe.scene import Entry, Hold
from ...errors import Array, Ints
from ...maths.geometry.frames import any_normal, bishop_directors, cross, dot, transport, turn, twist_angles
from ..held_frames import FRAMED, FREE_END, INNER
from .arrays import Arrays, Geometry, for_coupling
from .dense import lay_at
from .rods import RodArrays, lay_elements, make_rods, set_units


class Shape(NamedTuple):
    """A framed polyline, in its rest state or at the start."""

    points: Array  # (n, 3)
    tangents: Array  # (m, 3)
    directors: Array  # (m, 3)
    lengths: Array  # (m,)
    twist: Array  # (m,) from edge i - 1 to edge i; of an open rod twist[0] is idle


class Alike(NamedTuple):
    """Rods of as many vertices, all open or all closed: what is to be found for them is found for all at once."""

    rods: Sequence[Rod]
    rows: Ints  # (R, n) of their vertices in the block
    edges: Ints  # (R, m) of their edges

    def stack(self, name: str) -> Array:
        """(R, m, ...) what they say of their edges."""
        return np.array([getattr(rod, name) for rod in self.rods])

    def those(self, chosen: Sequence[int]) -> Alike:
        return Alike([self.rods[k] for k in chosen], self.rows[chosen], self.edges[chosen])


def build(entries: Sequence[Entry], holds: Sequence[tuple[int, Hold]]) -> tuple[Arrays, RodArrays]:
    """The arrays of a block of rods, flat and by rows. `holds` come with the number of their rod within the block."""
    counts = np.array([entry.rod.vertex_count for entry in entries])
    flat, b = make_rods(counts, np.array([entry.rod.closed for entry in entries], dtype=np.bool_))
    b.rods.damping_time[:] = [entry.rod.damping_time for entry in entries]
    together = _alike(b, [entry.rod for entry in entries])
    for group in together:
        _describe(b, group)
    for number, hold in holds:
        _hold(b, number, hold)
    lay_elements(flat, b.rods.joint)
    set_units(flat)
    work = for_coupling(flat)
    geometry = work.geometry
    shapes, curved = [], []
    for group in together:
        _stiffnesses(b, group)
        shape, rest, with_rest = _shapes_of(group.rods)
        shapes.append(shape)
        if rest is not None:
            _configure(b, geometry, group.those(with_rest), rest, np.zeros(len(with_rest)))
            curved.append(group.rows[with_rest])
    if curved:
        lay_at(work, flat.state.q)
    for rows in curved:
        b.rods.rest[rows] = geometry.strain.reshape(-1, 2, 5)[rows]
    for group, shape in zip(together, shapes, strict=True):
        _natural_twist(b, group)
        _configure(b, geometry, group, shape, np.array([rod.twist for rod in group.rods]))
        _twist_rings(b, group, shape)
    for first, entry in zip(b.rods.start, entries, strict=False):
        b.state.v[first : first + entry.rod.vertex_count, :3] = entry.velocity
    # Held places are where they are until told otherwise.
    b.holds.position[:] = b.state.q[:, :3]
    b.holds.tangent[:] = geometry.frame[:, 2::3]
    b.holds.director[:] = geometry.frame[:, 0::3]
    b.holds.director[:, b.rods.edge_framed] = b.state.m1[b.rods.edge_framed]
    return flat, b


def _alike(b: RodArrays, rods: Sequence[Rod]) -> list[Alike]:
    numbers: dict[tuple[int, bool], list[int]] = {}
    for r, rod in enumerate(rods):
        numbers.setdefault((rod.vertex_count, rod.closed), []).append(r)
    found = []
    for (n, closed), members in numbers.items():
        rows = b.rods.start[members][:, None] + np.arange(n)
        found.append(Alike([rods[r] for r in members], rows, rows if closed else rows[:, :-1]))
    return found


def _describe(b: RodArrays, group: Alike) -> None:
    """Lengths, sections and masses, and what is at the vertices as long as nothing holds them."""
    rows, edges = group.rows, group.edges
    n, m = rows.shape[1], edges.shape[1]
    lengths, radii = group.stack("rest_lengths"), group.stack("radii")
    b.rods.rest_length[rows] = lengths[:, -1:]  # the idle entry must be a length, too
    b.rods.rest_length[edges] = lengths
    b.rods.radii[rows] = radii[:, -1:]
    b.rods.radii[edges] = radii
    b.rods.stretch[edges] = group.stack("stretch")
    edge_mass = group.stack("mass_per_length") * lengths
    vertex_mass = np.zeros(rows.shape)
    vertex_mass[:, :m] += 0.5 * edge_mass
    vertex_mass[:, (np.arange(m) + 1) % n] += 0.5 * edge_mass
    b.rods.mass[rows, :3] = vertex_mass[:, :, None]
    b.rods.mass[rows, 3] = 1.0
    b.rods.mass[edges, 3] = group.stack("inertia_per_length") * lengths
    b.rods.joint[rows] = INNER
    if m < n:
        b.rods.joint[rows[:, [0, -1]]] = FREE_END
        b.rods.held[rows[:, -1], 3] = True  # no edge there, so no angle


def _hold(b: RodArrays, number: int, hold: Hold) -> None:
    first, end = int(b.rods.start[number]), int(b.rods.start[number + 1])
    row = first + hold.index
    if hold.kind == "edge":
        b.rods.held[row, :] = True
        b.rods.held[row + 1 if row + 1 < end else first, :3] = True
        b.rods.edge_framed[row] = True
        return
    if hold.holds_position:
        b.rods.held[row, :3] = True
    if hold.holds_frame:
        b.rods.joint[row] = FRAMED


def _twist_rings(b: RodArrays, group: Alike, shape: Shape) -> None:
    """A ring is twisted by cutting it, turning one face by the twist and gluing it again: the seam's twist equals its neighbours',
    and its natural twist takes up what the frames do not show."""
    for k, rod in enumerate(group.rods):
        if rod.closed and rod.twist != 0.0:
            first, (last_length, length) = group.rows[k, 0], shape.lengths[k, [-1, 0]]
            before = last_length / (last_length + length) if b.rods.joint[first] == FRAMED else 1.0
            b.rods.rest[first, 0, 4] -= before * rod.twist
            b.rods.rest[first, 1, 4] -= (1.0 - before) * rod.twist


def shapes_of_rod(rod: Rod) -> tuple[Shape, Shape | None]:
    """The shape at the start and the natural one; None for a straight one."""
    shape, rest, _ = _shapes_of([rod])
    return _of_one(shape, 0), None if rest is None else _of_one(rest, 0)


def _of_one(shapes: Shape, number: int) -> Shape:
    return Shape(*(array[number] for array in shapes))


def _shapes_of(rods: Sequence[Rod]) -> tuple[Shape, Shape | None, list[int]]:
    """Of rods of as many vertices: the shapes at the start, and the natural ones, if some are not straight, with the rods' numbers.
    All have an axis more in front."""
    closed, points = rods[0].closed, np.array([rod.points for rod in rods])
    tangents = _tangents(points[:, :2], False)[:, 0]
    first = [
        np.array(any_normal(tuple(t))) if rod.director is None else rod.director
        for rod, t in zip(rods, tangents, strict=True)
    ]
    shape = _framed(points, closed, first)
    with_rest = [k for k, rod in enumerate(rods) if rod.rest_points is not None]
    if not with_rest:
        return shape, None, []
    rest_points = np.array([rods[k].rest_points for k in with_rest])
    rest_tangents = _tangents(rest_points[:, :2], False)[:, 0]
    rest_first = [
        _rest_director(rods[k], shape.directors[k, 0], shape.tangents[k, 0], t)
        for k, t in zip(with_rest, rest_tangents, strict=True)
    ]
    return shape, _framed(rest_points, closed, rest_first), with_rest


def _rest_director(rod: Rod, director: Array, tangent: Array, rest_tangent: Array) -> Array:
    """What is known of the directors of the natural shape: given, as at the start, or carried from there."""
    if rod.rest_director is not None:
        return rod.rest_director
    if rod.director is not None and rod.director.ndim == 2 and np.array_equal(rod.points, np.asarray(rod.rest_points)):
        return rod.director
    return np.array(transport(tuple(director), tuple(tangent), tuple(rest_tangent)))


def _edges(points: Array, closed: bool) -> Array:
    return np.roll(points, -1, axis=-2) - points if closed else np.diff(points, axis=-2)


def _tangents(points: Array, closed: bool) -> Array:
    edges = _edges(points, closed)
    return np.asarray(edges / np.linalg.norm(edges, axis=-1)[..., None])


def _framed(points: Array, closed: bool, known: Sequence[Array]) -> Shape:
    """With the first director of each rod, which is carried along it, or all of them."""
    edges = _edges(points, closed)
    lengths = np.asarray(np.linalg.norm(edges, axis=-1))
    tangents = edges / lengths[..., None]
    directors, twist = np.empty_like(tangents), np.empty(lengths.shape)
    for k, director in enumerate(known):
        if director.ndim == 1:
            bishop_directors(tangents[k], director, directors[k])
        else:
            directors[k] = director
        twist_angles(tangents[k], directors[k], twist[k])
    return Shape(points, tangents, directors, lengths, twist)


def _natural_twist(b: RodArrays, group: Alike) -> None:
    """Adds rest_twist over the length of each element."""
    for k, rod in enumerate(group.rods):
        if rod.rest_twist == 0.0:
            continue
        for i, row in enumerate(group.rows[k]):
            before, after = half_lengths(rod, i)
            if b.rods.joint[row] == INNER:
                b.rods.rest[row, 0, 4] += rod.rest_twist * (before + after)
            elif b.rods.joint[row] == FRAMED:
                b.rods.rest[row, 0, 4] += rod.rest_twist * before
                b.rods.rest[row, 1, 4] += rod.rest_twist * after


def half_lengths(rod: Rod, i: int) -> tuple[float, float]:
    """Half the natural length of the edges before and after vertex i; zero where there is none."""
    lengths, n = rod.rest_lengths, rod.vertex_count
    before = 0.5 * lengths[i - 1] if rod.closed or i > 0 else 0.0
    after = 0.5 * lengths[i] if rod.closed or i < n - 1 else 0.0
    return float(before), float(after)


def _stiffnesses(b: RodArrays, group: Alike) -> None:
    """Stiffness of the elements' strains: two half edges in series, shared between the two edges' frames by length."""
    rows, m = group.rows, group.edges.shape[1]
    half = np.zeros(rows.shape)
    half[:, :m] = 0.5 * group.stack("rest_lengths")
    ei = np.ones((*rows.shape, 2))
    ei[:, :m] = group.stack("bend")
    gj = np.ones(rows.shape)
    gj[:, :m] = group.stack("twist_stiffness")
    prev_half, prev_ei, prev_gj = (np.roll(of, 1, axis=1) for of in (half, ei, gj))
    joint = b.rods.joint[rows]
    inner, framed = joint == INNER, joint == FRAMED
    k = np.zeros((*rows.shape, 2, 5))
    with np.errstate(divide="ignore", invalid="ignore"):
        bend = 1.0 / (half[..., None] / ei + prev_half[..., None] / prev_ei)
        twist = 1.0 / (half / gj + prev_half / prev_gj)
        share = (prev_half / (half + prev_half))[..., None]
        k[inner, 0, 0:2] = (share * bend)[inner]
        k[inner, 0, 2:4] = ((1.0 - share) * bend)[inner]
        k[inner, 0, 4] = twist[inner]
        before, after = framed & (prev_half > 0.0), framed & (half > 0.0)
        k[before, 0, 0:2] = (prev_ei / prev_half[..., None])[before]
        k[before, 0, 4] = (prev_gj / prev_half)[before]
        k[after, 1, 2:4] = (ei / half[..., None])[after]
        k[after, 1, 4] = (gj / half)[after]
    b.rods.stiffness[rows] = k


def _configure(b: RodArrays, geometry: Geometry, group: Alike, shape: Shape, angles: Array) -> None:
    """Puts rods into shapes, twisted by angles that grow evenly with arc length, and makes them the base of frames."""
    rows, edges = group.rows, group.edges
    directors, twist = shape.directors, shape.twist
    if angles.any():
        theta = angles[:, None] * middles_of(shape)
        side = np.cross(shape.tangents, directors)
        directors = np.cos(theta)[..., None] * directors + np.sin(theta)[..., None] * side
        twist = twist + theta - np.roll(theta, 1, axis=1)
    b.state.q[rows, :3] = shape.points
    b.state.q[rows, 3] = 0.0
    geometry.base_t[edges] = shape.tangents
    geometry.base_reference[edges] = directors
    b.state.m1[edges] = directors
    b.state.twist[rows] = 0.0
    b.state.twist[edges, 0] = twist
    for k, i in np.argwhere(b.rods.joint[rows] == FRAMED).tolist():
        of_rod = _of_one(shape, k)
        t, d, before, after = vertex_frame(of_rod, directors[k], twist[k], i, rows.shape[1], edges.shape[1])
        row = rows[k, i]
        geometry.frame[row] = np.stack([d, np.cross(t, d), t], axis=1).ravel()
        b.state.twist[row] = before, after
    geometry.spin[rows] = 0.0
    geometry.base_twist.reshape(-1, 2)[rows] = b.state.twist[rows]


def middles_of(shape: Shape) -> Array:
    """Where the middles of the edges lie, from that of edge 0, as parts of the whole length."""
    middles = np.cumsum(shape.lengths, axis=-1) - 0.5 * shape.lengths
    return np.asarray((middles - middles[..., :1]) / shape.lengths.sum(axis=-1, keepdims=True))


def vertex_frame(
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
    ta, tc = tuple(shape.tangents[a].tolist()), tuple(shape.tangents[c].tolist())
    axis = cross(ta, tc)
    sine = math.sqrt(dot(axis, axis))
    angle = part * math.atan2(sine, dot(ta, tc))
    t = ta
    if sine > 0.0:
        across = cross((axis[0] / sine, axis[1] / sine, axis[2] / sine), ta)
        x, y, z = (math.cos(angle) * along + math.sin(angle) * aside for along, aside in zip(ta, across, strict=True))
        size = math.sqrt(x * x + y * y + z * z)
        t = (x / size, y / size, z / size)
    d = turn(transport(tuple(directors[a].tolist()), ta, t), t, part * float(twist[c]))
    return np.array(t), np.array(d), float(before), float(after)
