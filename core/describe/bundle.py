"""Many round rods at once: the same as `Rod.from_points` for each strand, vectorised over thousands of strands."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import LARGEST_SIZE, SMALLEST_SIZE, Array, array, per_vertex
from .material import Material
from .rod import COINCIDENT, LEAST_CHI, SLACK, Rod, section_stiffness


def rods_of_strands(
    points: ArrayLike,
    counts: ArrayLike,
    radius: ArrayLike,
    material: Material,
    *,
    rest: str | ArrayLike = "as drawn",
    density_scale: ArrayLike = 1.0,
    stiffness_scale: ArrayLike = 1.0,
) -> list[Rod]:
    """Open rods along strands whose `points` (N, 3) are concatenated, with `counts` points each. Properties that vary along the
    rods are given for all points, as in `Rod.from_points`. An invalid strand is passed to `Rod.from_points`, which raises
    TendrilError."""
    x = array("points", points, (None, 3), "give an array of shape (n, 3), one row per vertex")
    n = len(x)
    sizes = np.asarray(counts, dtype=np.int64)
    radii = per_vertex("radius", radius, n)
    scales = [
        per_vertex(*named, n) for named in (("stiffness_scale", stiffness_scale), ("density_scale", density_scale))
    ]
    natural = rest if isinstance(rest, str) else array("rest", rest, (n, 3), f"give as many points as there are: {n}")
    stops = np.cumsum(sizes)
    starts = stops - sizes

    def alone(k: int) -> Rod:
        own = slice(int(starts[k]), int(stops[k]))
        return Rod.from_points(
            x[own],
            radii[own],
            material,
            rest=natural if isinstance(natural, str) else natural[own],
            stiffness_scale=scales[0][own],
            density_scale=scales[1][own],
        )

    if len(sizes) == 0 or sizes.min() < 2 or (isinstance(natural, str) and natural not in ("as drawn", "straight")):
        return [alone(k) for k in range(len(sizes))]
    tails = np.delete(np.arange(n), stops - 1)  # start of each edge
    first = starts - np.arange(len(starts))  # first edge of each rod
    lengths = _edge_lengths(x, tails)
    shapes = [(x, lengths)]
    if not isinstance(natural, str):
        shapes.append((natural, _edge_lengths(natural, tails)))
    bad = np.zeros(len(sizes), dtype=np.bool_)
    for places, of_edges in shapes:
        bad |= ~_are_usable(places, of_edges, tails, first, sizes)
    if bad.any():
        alone(int(np.argmax(bad)))  # raises
    of_rest = natural if not isinstance(natural, str) else x if natural == "as drawn" else None
    edges = _to_edges(radii, tails)
    half_axes = np.stack([edges, edges], axis=1)
    stretch, bend_1, bend_2, twist, mass, inertia = section_stiffness(material, half_axes).T
    bend_scale, mass_scale = (_to_edges(scale, tails) for scale in scales)
    columns = (
        shapes[-1][1],
        half_axes,
        stretch.copy(),
        np.stack([bend_1 * bend_scale, bend_2 * bend_scale], axis=1),
        twist * bend_scale,
        mass * mass_scale,
        inertia * mass_scale,
    )
    if not all(np.all((column > 0.0) & np.isfinite(column)) for column in columns[2:]):
        return [alone(k) for k in range(len(sizes))]  # one of them raises
    for values in (x, of_rest, *columns):
        if values is not None:
            values.flags.writeable = False
    rods = []
    for start, stop, edge, count in zip(*(a.tolist() for a in (starts, stops, first, sizes - 1)), strict=True):
        own = slice(edge, edge + count)
        rest_lengths, axes, ea, ei, gj, line_mass, line_inertia = (column[own] for column in columns)
        rods.append(
            Rod(
                points=x[start:stop],
                rest_points=None if of_rest is None else of_rest[start:stop],
                rest_lengths=rest_lengths,
                closed=False,
                radii=axes,
                stretch=ea,
                bend=ei,
                twist_stiffness=gj,
                mass_per_length=line_mass,
                inertia_per_length=line_inertia,
                damping_time=material.damping_time,
                swing_time=material.swing_time,
                director=None,
                rest_director=None,
                twist=0.0,
                rest_twist=0.0,
            )
        )
    return rods


def usable_strands(points: ArrayLike, counts: ArrayLike) -> NDArray[np.bool_]:
    """Whether each strand can be a rod: not those of a single point, of no length, or with points that coincide."""
    x, sizes = np.asarray(points, dtype=np.float64), np.asarray(counts, dtype=np.int64)
    good = sizes >= 2
    if not good.any():
        return good
    own = np.repeat(good, sizes)
    x, kept = x[own], sizes[good]
    stops = np.cumsum(kept)
    tails = np.delete(np.arange(len(x)), stops - 1)
    first = stops - kept - np.arange(len(kept))
    good[good] = _are_usable(x, _edge_lengths(x, tails), tails, first, kept)
    return good


def _edge_lengths(x: Array, tails: NDArray[np.int64]) -> Array:
    return np.asarray(np.linalg.norm(x[tails + 1] - x[tails], axis=1))


def _to_edges(values: Array, tails: NDArray[np.int64]) -> Array:
    return np.asarray(0.5 * values[tails] + 0.5 * values[tails + 1])


def _are_usable(
    x: Array, lengths: Array, tails: NDArray[np.int64], first: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether each strand is a valid polyline for a rod."""
    total = np.add.reduceat(lengths, first)
    small, large = SMALLEST_SIZE * (1.0 - SLACK), LARGEST_SIZE * (1.0 + SLACK)
    good = (total >= small) & (total <= large)
    good &= np.minimum.reduceat(lengths, first) >= COINCIDENT * total / (sizes - 1)
    good &= np.maximum.reduceat(np.abs(x).max(axis=1), np.cumsum(sizes) - sizes) <= 10.0 * LARGEST_SIZE
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (x[tails + 1] - x[tails]) / lengths[:, None]
    chi = np.ones(len(t))
    chi[1:] += np.einsum("ij,ij->i", t[:-1], t[1:])
    chi[first] = 2.0  # no corner with the previous strand
    good &= np.minimum.reduceat(np.where(np.isfinite(chi), chi, 0.0), first) >= LEAST_CHI
    return np.asarray(good)
