"""Builds the arrays of a block from described rods: elements fitted to the drawn shape, stiffness, mass, points along the rod."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ...describe.rod import Rod
from ...describe.scene import MOST_ELEMENTS, Elements, Entry, Hold, as_elements
from ...errors import Array, Ints, TendrilError
from ...maths.geometry.frames import any_normal, transport
from .arrays import Arrays
from .fit import Fit, Polyline, fit, make_polyline
from .layout import RodLayout, make_arrays, panels_of

LEAST_ELEMENTS = 4  # by default: even a straight rod needs several vibration modes
SAG = 0.25  # largest deviation of an edge between sample points from the curve, in radii
TURNING = 0.5  # rad, largest rotation between neighbouring sample points
MOST_SAMPLES = 600  # per rod, unless it has more drawn points
SEAT = 2e-3  # length of the edge to which a body is attached, relative to the drawn edge


class Built(NamedTuple):
    """Arrays of a block, and the mapping from the described rods."""

    arrays: Arrays
    vertices: Ints  # rows of the sample points that are vertices of the described rods
    along: Array  # (S,) m, arc length of the samples
    offsets: Array  # (S,) rad, from the drawn directors to those of the curve
    fits: list[Fit]  # of the initial shapes

    def drawn_edges(self) -> tuple[Ints, Ints, Ints]:
        """Sample points at which each drawn edge starts and ends, and the one before its middle."""
        start = self.arrays.samples.start
        rod = np.searchsorted(start, self.vertices, side="right")
        inner = np.diff(rod) == 0
        one, two = self.vertices[:-1][inner], self.vertices[1:][inner]
        far = 2.0 * float(self.along.max())  # keeps the rods apart in one sorted array
        place = self.along + far * np.repeat(np.arange(len(start) - 1), np.diff(start))
        return one, two, np.searchsorted(place, (0.5 + 1e-6) * place[one] + (0.5 - 1e-6) * place[two]) - 1

    def gauss_velocities(self, velocities: list[Array]) -> Array:
        """(G, 3) velocities given at the vertices of each rod, interpolated to the Gauss points."""
        gauss, element_start = self.arrays.gauss, self.arrays.nodes.element_start
        out = np.zeros((int(gauss.start[-1]), 3))
        done = 0
        for r, v in enumerate(velocities):
            rows = self.vertices[done : done + len(v)]
            done += len(v)
            points = slice(int(gauss.start[r]), int(gauss.start[r + 1]))
            first, count = element_start[r], element_start[r + 1] - element_start[r]
            length = float(self.along[rows[-1]])
            at = (gauss.element[points] - first + gauss.fraction[points]) * length / count
            for c in range(3):
                out[points, c] = np.interp(at, self.along[rows], v[:, c])
        return out


Fitted = tuple[Fit, Array, Array]  # initial shape, natural curvatures at the nodes, angles of the frame


class Shapes(NamedTuple):
    start: Fit
    natural: Array  # (K, 3)
    offsets: Array  # (m,)
    arcs: Array  # (m,)


def fit_elements(rod: Rod, elements: Elements | int | None = None) -> Fit:
    """The elements that `scene.add(rod, "clothoid", elements=...)` fits to a rod as drawn, with the largest error at its
    vertices and the error at its end."""
    return _shapes(rod, as_elements(elements)).start


def build(entries: Sequence[Entry], holds: Sequence[tuple[int, Hold]], touching: bool) -> Built:
    """`holds` are pairs of the rod's index within the block and the hold. With `touching` there are sample points between
    vertices, too."""
    _check_holds(holds)
    shapes = [_shapes(entry.rod, entry.elements) for entry in entries]
    layouts, vertices, along, offsets, first = [], [], [], [], 0
    for entry, shape in zip(entries, shapes, strict=True):
        degree = entry.elements.degree if entry.elements else 1
        layout, rows, s, turned = _rod_layout(entry, shape, degree, touching)
        layouts.append(layout)
        vertices.append(first + rows)
        along.append(s)
        offsets.append(turned)
        first += len(layout.samples)
    arrays = make_arrays(layouts)
    for r, (entry, shape) in enumerate(zip(entries, shapes, strict=True)):
        nodes = slice(int(arrays.nodes.start[r]), int(arrays.nodes.start[r + 1]))
        arrays.state.kappa[nodes] = shape.start.kappa
        arrays.state.natural[nodes] = shape.natural
        arrays.state.root[r] = shape.start.root
        arrays.state.frame[r] = shape.start.frame
        arrays.rods.damping_time[r] = entry.rod.damping_time
        arrays.rods.spacing[r] = entry.rod.length / entry.rod.edge_count
    for number, hold in holds:
        hold_root(arrays, number, hold)
    for end in range(2):
        arrays.holds.position[end] = arrays.state.root
        arrays.holds.frame[end] = arrays.state.frame
    return Built(
        arrays, np.concatenate(vertices), np.concatenate(along), np.concatenate(offsets), [s.start for s in shapes]
    )


def hold_root(arrays: Arrays, number: int, hold: Hold) -> None:
    arrays.rods.held_position[number] |= hold.holds_position
    arrays.rods.held_frame[number] |= hold.holds_frame


def _check_holds(holds: Sequence[tuple[int, Hold]]) -> None:
    for _, hold in holds:
        if hold.kind == "edge" or hold.index != 0:
            where = f"{hold.kind} at {hold.index}"
            cure = 'a clothoid rod is held at its start alone: turn its points round, or choose the model "der"'
            raise TendrilError("where", where, cure)


def _shapes(rod: Rod, wanted: Elements | None) -> Shapes:
    """Elements of the initial and of the natural shape."""
    if rod.closed:
        raise TendrilError("closed", True, 'clothoid rods are open: choose the model "der" for closed ones')
    start = make_polyline(rod.points, _first_director(rod))
    rest = None
    if rod.rest_points is not None:
        rest = make_polyline(rod.rest_points, _rest_director(rod, start))
    same = rest is not None and rod.twist == 0.0 and np.array_equal(rod.points, rest.points)
    arcs = (rest or start).arcs
    if rest is None:
        arcs = rod.rest_lengths * (start.arcs / np.linalg.norm(np.diff(rod.points, axis=0), axis=1))
    # With isotropic bending stiffness the frame may follow the curve.
    free = bool(np.array_equal(rod.bend[:, 0], rod.bend[:, 1]))
    degree = wanted.degree if wanted else 1
    most = max(1, min(MOST_ELEMENTS, rod.edge_count))

    def fitted(count: int) -> Fitted:
        leading = fit(rest or start, arcs, count, degree, free_frame=free)
        if same:
            return leading, leading.kappa, leading.turns
        other = _rotated(start, leading.turns + rod.twist * _middles(arcs) if rest else leading.turns)
        if rest is not None:
            found = fit(other, arcs, count, degree, free_frame=False)
            return found, leading.kappa, leading.turns + found.turns
        untwisted = leading.turns - rod.twist * _middles(arcs)  # from the directors with the rod's twist to the curve's
        straight = _rotated(make_polyline(_straight(start, arcs), start.directors[0]), untwisted)
        natural = fit(straight, arcs, count, degree, free_frame=False).kappa
        natural[:, 1:] = 0.0
        return leading, natural, untwisted

    if wanted is not None and wanted.count is not None:
        found = fitted(min(wanted.count, MOST_ELEMENTS))
    else:
        tolerance = (wanted or Elements()).tolerance * arcs.sum()
        found = _fewest_elements(fitted, 1 if wanted is not None else min(LEAST_ELEMENTS, most), most, float(tolerance))
    natural = found[1].copy()
    natural[:, 0] += rod.rest_twist
    return Shapes(found[0], natural, found[2], arcs)


def _fewest_elements(fitted: Callable[[int], Fitted], least: int, most: int, tolerance: float) -> Fitted:
    """The fit with the fewest elements within the tolerance (m), or else the best one found. Above eight elements the count
    grows in larger increments, and the skipped counts are tried last."""
    count, leap = least, 1
    best = found = fitted(count)
    while found[0].largest_error > tolerance and count < most:
        leap = min(1 if count < 8 else 2 if count < 16 else 4, most - count)
        count += leap
        found = fitted(count)
        if found[0].largest_error < best[0].largest_error:
            best = found
    if found[0].largest_error > tolerance:
        return best
    for fewer in range(count - leap + 1, count):
        other = fitted(fewer)
        if other[0].largest_error <= tolerance:
            return other
    return found


def _straight(shape: Polyline, arcs: Array) -> Array:
    s = np.concatenate([[0.0], np.cumsum(arcs)])
    return np.asarray(s[:, None] * shape.tangents[0])


def _rotated(shape: Polyline, angles: Array) -> Polyline:
    side = np.cross(shape.tangents, shape.directors)
    directors = np.cos(angles)[:, None] * shape.directors + np.sin(angles)[:, None] * side
    return shape._replace(directors=directors)


def _middles(arcs: Array) -> Array:
    """(m,) middles of the edges relative to that of edge 0, as fractions of the whole length."""
    middles = np.cumsum(arcs) - 0.5 * arcs
    return np.asarray((middles - middles[0]) / arcs.sum())


def _first_director(rod: Rod) -> Array:
    if rod.director is not None:
        return rod.director
    edge = rod.points[1] - rod.points[0]
    return np.array(any_normal(tuple(edge / np.linalg.norm(edge))))


def _rest_director(rod: Rod, start: Polyline) -> Array:
    if rod.rest_director is not None:
        return rod.rest_director
    assert rod.rest_points is not None
    if rod.director is not None and rod.director.ndim == 2 and np.array_equal(rod.points, rod.rest_points):
        return rod.director
    edge = rod.rest_points[1] - rod.rest_points[0]
    tangent = edge / np.linalg.norm(edge)
    return np.array(transport(tuple(start.directors[0]), tuple(start.tangents[0]), tuple(tangent)))


def _rod_layout(entry: Entry, shape: Shapes, degree: int, touching: bool) -> tuple[RodLayout, Ints, Array, Array]:
    """The rod without its shape; rows of its vertices among its sample points; arc length and frame angle of the sample points."""
    rod: Rod = entry.rod
    elements = shape.start.elements
    s = np.concatenate([[0.0], np.cumsum(shape.arcs)])
    length = float(s[-1])
    kappa = [shape.start.kappa, shape.natural]
    bent = max(float(np.hypot(k[:, 1], k[:, 2]).max()) for k in kappa)
    turning = max(float(np.linalg.norm(k, axis=1).max()) for k in kappa)
    samples, rows, edge_of = _sample_places(rod, s, bent, turning) if touching else _vertices(s)
    if entry.tied:
        samples, rows, edge_of = _with_seats(samples, s, entry.tied)
    stiffness, mass, inertia = _elements(rod, s / length, elements, degree)
    curved = np.max([np.linalg.norm(k, axis=1) for k in kappa], axis=0)
    panels = panels_of(curved[:elements], curved[degree:], np.full(elements, length / elements))
    half = 0.5 * np.diff(samples)
    edge_mass = np.stack([rod.mass_per_length] * 3 + [rod.inertia_per_length], axis=1)
    sample_mass = np.zeros((len(samples), 4))
    sample_mass[:-1] += half[:, None] / length * edge_mass[edge_of]
    sample_mass[1:] += half[:, None] / length * edge_mass[edge_of]
    layout = RodLayout(
        elements, degree, length, stiffness, mass, inertia, panels, samples / length, sample_mass,
        rod.radii[np.append(edge_of, edge_of[-1])],
    )  # fmt: skip
    middles = 0.5 * (s[:-1] + s[1:])
    between = np.append(0.5 * (samples[:-1] + samples[1:]), length)
    return layout, rows, samples, np.interp(between, middles, shape.offsets)


def _sample_places(rod: Rod, s: Array, bent: float, turning: float) -> tuple[Array, Ints, Ints]:
    """Arc lengths of sample points, subdivided so that the edges follow the curve within a fraction of the radius; rows of the
    vertices; and the drawn edge of each edge."""
    longest = math.sqrt(8.0 * SAG * float(rod.radii.max(axis=1).min()) / max(bent, 2.0 / float(s[-1])))
    longest = min(longest, TURNING / max(turning, 1e-300))
    longest = max(longest, float(s[-1]) / max(MOST_SAMPLES, 1), 2.0 * float(rod.radii.max(axis=1).min()))
    parts = np.maximum(np.ceil(np.diff(s) / longest - 1e-9), 1).astype(np.int64)
    edge_of = np.repeat(np.arange(len(parts)), parts)
    rows = np.concatenate([[0], np.cumsum(parts)])
    within = np.arange(len(edge_of)) - rows[edge_of]
    places = s[edge_of] + within / parts[edge_of] * np.diff(s)[edge_of]
    return np.append(places, s[-1]), rows, edge_of


def _vertices(s: Array) -> tuple[Array, Ints, Ints]:
    """Like `_sample_places`, for the vertices only."""
    return s, np.arange(len(s)), np.arange(len(s) - 1)


def _with_seats(samples: Array, s: Array, tied: Sequence[tuple[int, float]]) -> tuple[Array, Ints, Ints]:
    """Like `_sample_places`, with a very short edge (seat) at each attached body, which has the position and frame of the curve
    there."""
    found = [samples]
    for edge, at in tied:
        width = SEAT * (s[edge + 1] - s[edge])
        begin = min(max(s[edge] + at * (s[edge + 1] - s[edge]) - 0.5 * width, 0.0), s[-1] - width)
        seat = np.array([begin, begin + width])
        found.append(seat[np.abs(samples[:, None] - seat).min(axis=0) > 0.1 * width])
    places = np.unique(np.concatenate(found))
    middles = 0.5 * (places[:-1] + places[1:])
    edge_of = np.clip(np.searchsorted(s, middles, side="right") - 1, 0, len(s) - 2)
    return places, np.searchsorted(places, s), edge_of


def _elements(rod: Rod, s: Array, elements: int, degree: int) -> tuple[Array, Array, Array]:
    """Stiffness (N, 3, 3), mass and inertia per length (N,): integrals of the drawn edges' properties over each element."""
    cuts = np.unique(np.concatenate([s, np.arange(elements + 1) / elements]))
    cuts = cuts[np.concatenate([[True], np.diff(cuts) > 1e-14])]
    cuts[-1] = 1.0
    middle = 0.5 * (cuts[:-1] + cuts[1:])
    edge = np.clip(np.searchsorted(s, middle) - 1, 0, rod.edge_count - 1)
    which = np.minimum((middle * elements).astype(np.int64), elements - 1)
    a, b = cuts[:-1] * elements - which, cuts[1:] * elements - which  # from 0 to 1 in the element
    stiff = np.stack([rod.twist_stiffness, rod.bend[:, 1], rod.bend[:, 0]], axis=1)[edge]  # twist, 1, 2
    if degree == 1:
        one, two, three = b - a, (b**2 - a**2) / 2.0, (b**3 - a**3) / 3.0
        products = np.stack([one - 2.0 * two + three, two - three, three], axis=1)
    else:
        products = np.stack([b - a, 0.0 * a, 0.0 * a], axis=1)
    stiffness = np.zeros((elements, 3, 3))
    np.add.at(stiffness, which, stiff[:, :, None] * products[:, None, :])
    mass, inertia = np.zeros(elements), np.zeros(elements)
    np.add.at(mass, which, (b - a) * rod.mass_per_length[edge])
    np.add.at(inertia, which, (b - a) * rod.inertia_per_length[edge])
    return stiffness, mass, inertia
