"""From described rods to the arrays of a block: frames, natural strains, masses, and what a compact rod can't do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ...errors import Array, TendrilError
from ...geometry.quaternions import from_frame, product, relative
from ...rod import Rod
from ...scene import Entry, Hold, held_vertices
from ..der.arrays import FRAMED, FREE_END, INNER
from ..der.build import Shape, _half_lengths, _middles, _shapes, _vertex_frame
from .arrays import Arrays, make_arrays

TAUT = 1e-6  # relative: by so much holds may be farther apart than the rod between them is long
Frame = tuple[float, float, float, float]


def build(entries: Sequence[Entry], holds: Sequence[tuple[int, Hold]]) -> Arrays:
    """`holds` come with the number of their rod within the block."""
    counts = [entry.rod.vertex_count for entry in entries]
    b = make_arrays(sum(counts), len(entries), any(entry.rod.closed for entry in entries))
    b.rods.start[1:] = np.cumsum(counts)
    for r, entry in enumerate(entries):
        _place_rod(b, r, entry, [hold for number, hold in holds if number == r])
    return b


def _place_rod(b: Arrays, r: int, entry: Entry, holds: list[Hold]) -> None:
    rod, rods = entry.rod, b.rods
    n, m, first = rod.vertex_count, rod.edge_count, int(b.rods.start[r])
    rows, edges = slice(first, first + n), slice(first, first + m)
    rods.closed[r] = rod.closed
    rods.damping_time[r] = rod.damping_time
    rods.rest_length[rows] = rod.rest_lengths[-1]  # the idle entry must be a length, too
    rods.rest_length[edges] = rod.rest_lengths
    rods.arm[edges] = rod.rest_lengths
    rods.radii[rows] = rod.radii[-1]
    rods.radii[edges] = rod.radii
    edge_mass = rod.mass_per_length * rod.rest_lengths
    vertex_mass = rods.mass[rows, 0]
    vertex_mass[:m] += 0.5 * edge_mass
    vertex_mass[(np.arange(m) + 1) % n] += 0.5 * edge_mass
    # The section's mass is spread along the directors as its stiffness is.
    share = rod.bend / rod.bend.sum(axis=1)[:, None]
    rods.mass[edges, 1:] = share * (rod.inertia_per_length * rod.rest_lengths)[:, None]
    rods.firmness[r] = float((12.0 * rod.bend.max(axis=1) / rod.rest_lengths**3).max())
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
    _check(rod, holds)
    _stiffnesses(b, rod, first)

    shape, rest = _shapes(rod)
    if rest is not None:
        _natural_strains(b, r, rod, rest)
    _natural_twist(b, r, rod)
    theta = rod.twist * _middles(shape)
    directors = _turned(shape, theta)
    b.state.q[rows] = (1.0, 0.0, 0.0, 0.0)
    b.state.q[edges] = _quaternions(shape.tangents, directors)
    b.rods.seam[r] = (math.cos(0.5 * rod.twist), 0.0, 0.0, math.sin(0.5 * rod.twist)) if rod.closed else (1, 0, 0, 0)
    b.state.x[rows] = _laid(rod, shape)
    b.state.v[rows, :3] = entry.velocity
    twist = shape.twist + theta - np.roll(theta, 1)
    for end in range(2):
        b.holds.position[end, rows] = rod.points
        for hold in holds:
            i = hold.index
            if hold.kind == "edge":
                b.holds.director[end, first + i] = directors[i]
            elif hold.holds_frame:
                t, d, _, _ = _vertex_frame(shape, directors, twist, i, n, m)
                b.holds.tangent[end, first + i] = t
                b.holds.director[end, first + i] = d


def _laid(rod: Rod, shape: Shape) -> Array:
    """Where the vertices are: as drawn, or where edges drawn with other lengths lead if they have their natural ones."""
    if np.allclose(shape.lengths, rod.rest_lengths, rtol=1e-12, atol=0.0):
        return rod.points
    ways = shape.tangents * rod.rest_lengths[:, None]
    return np.asarray(
        rod.points[0] + np.concatenate([np.zeros((1, 3)), np.cumsum(ways, axis=0)[: len(rod.points) - 1]])
    )


def _turned(shape: Shape, theta: Array) -> Array:
    side = np.cross(shape.tangents, shape.directors)
    return np.asarray(np.cos(theta)[:, None] * shape.directors + np.sin(theta)[:, None] * side)


def _quaternions(tangents: Array, directors: Array) -> Array:
    return np.array([from_frame(tuple(t), tuple(d)) for t, d in zip(tangents, directors, strict=True)])


def _natural_strains(b: Arrays, r: int, rod: Rod, rest: Shape) -> None:
    n, m, first = rod.vertex_count, rod.edge_count, int(b.rods.start[r])
    q: list[Frame] = [tuple(row) for row in _quaternions(rest.tangents, rest.directors).tolist()]
    for i in range(n):
        joint = b.rods.joint[first + i]
        if joint == FREE_END:
            continue
        if joint == INNER:
            b.rods.rest[first + i, 0] = _strain(q[(i - 1) % m], q[i])
            continue
        t, d, _, _ = _vertex_frame(rest, rest.directors, rest.twist, i, n, m)
        middle = from_frame(tuple(t), tuple(d))
        if rod.closed or i > 0:
            b.rods.rest[first + i, 0] = _strain(q[(i - 1) % m], middle)
        if rod.closed or i < n - 1:
            b.rods.rest[first + i, 1] = _strain(middle, q[i])


def _strain(a: Frame, b: Frame) -> Array:
    return 2.0 * np.array(relative(a, b)[1:])


def _natural_twist(b: Arrays, r: int, rod: Rod) -> None:
    """Turns the frame after each element by rest_twist over its length."""
    if rod.rest_twist == 0.0:
        return
    first = int(b.rods.start[r])
    for i in range(rod.vertex_count):
        before, after = _half_lengths(rod, i)
        joint = b.rods.joint[first + i]
        if joint == FREE_END:
            continue
        for slot, length in ((0, before + after),) if joint == INNER else ((0, before), (1, after)):
            v = 0.5 * b.rods.rest[first + i, slot]
            half = 0.5 * rod.rest_twist * length
            natural = (math.sqrt(max(0.0, 1.0 - float(v @ v))), float(v[0]), float(v[1]), float(v[2]))
            turned = product(natural, (math.cos(half), 0.0, 0.0, math.sin(half)))
            b.rods.rest[first + i, slot] = _strain((1.0, 0.0, 0.0, 0.0), turned)


def _stiffnesses(b: Arrays, rod: Rod, first: int) -> None:
    """Of the elements' strains about d1, d2, d3: two half edges in series. About d1 a rod bends towards its second director."""
    n, m = rod.vertex_count, rod.edge_count
    give = np.zeros((n, 3))  # rad per N m of the half edge after each vertex
    modulus = np.stack([rod.bend[:, 1], rod.bend[:, 0], rod.twist_stiffness], axis=1)
    give[:m] = 0.5 * rod.rest_lengths[:, None] / modulus
    before = np.roll(give, 1, axis=0)
    for i in range(n):
        joint = b.rods.joint[first + i]
        if joint == INNER:
            b.rods.stiffness[first + i, 0] = 1.0 / (give[i] + before[i])
        elif joint == FRAMED:
            if rod.closed or i > 0:
                b.rods.stiffness[first + i, 0] = 1.0 / before[i]
            if rod.closed or i < n - 1:
                b.rods.stiffness[first + i, 1] = 1.0 / give[i]


def _check(rod: Rod, holds: list[Hold]) -> None:
    """What a rod that never stretches and counts no whole turns between two segments can't be asked to do."""
    most = math.pi * rod.edge_count
    if not abs(rod.twist) < most:
        cure = f"a compact rod of {rod.edge_count} segments holds less than {most:.4g} rad: give it more segments"
        raise TendrilError("twist", rod.twist, f"{cure}, or choose the model der")
    longest = float(rod.rest_lengths.max())
    if not abs(rod.rest_twist) * longest < math.pi:
        cure = f"a compact rod with segments of {longest:.4g} m holds less than {math.pi / longest:.4g} rad/m"
        raise TendrilError("rest_twist", rod.rest_twist, f"{cure}: give it more segments, or choose the model der")
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
            cure = f"the compact rod between them is {length:.6g} m long and does not stretch: hold them at another distance"
            raise TendrilError(f"the distance of the held vertices {i} and {j % rod.vertex_count}", apart, cure)
