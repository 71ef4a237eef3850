"""All strands of hair in one set of arrays, so that thousands are sampled, described and shown by vectorized code. Plain NumPy.

Drawn points and vertices of the rods are related as in `sampling.py`. The edges of a strand with few points are divided, like
those of a polyline.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .sampling import edges_in, orthonormal
from .strands import MIN_POLY_EDGES, Array, pieces_of

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class BundledStrand:
    """One strand of a bundle, as a Polyline."""

    vertices: Array
    vertices_of: Ints  # (k,) of its control points
    tail: Ints  # (n,) the control point before each vertex
    part: Array  # (n,) position between it and the next one, 0 to 1
    closed = False

    @property
    def control_count(self) -> int:
        return len(self.vertices_of)

    def vertex_of(self, control: int) -> int:
        return int(self.vertices_of[control])

    def along(self, values: Array) -> Array:
        """Interpolates values at the control points to the vertices, linearly."""
        head = np.minimum(self.tail + 1, len(values) - 1)
        return np.asarray((1.0 - self.part) * values[self.tail] + self.part * values[head])


class Bundle:
    closed = False

    def __init__(
        self, points: Array, sizes: NDArray[np.integer[Any]], longest: float, numbers: Ints | None = None
    ) -> None:
        """`points` (N, 3) as drawn, with `sizes` of them in each strand. Segments are at most `longest` (m); with zero the drawn
        edges are used. `numbers` are the strands of the bundle; by default all."""
        self.numbers: Ints = np.arange(len(sizes)) if numbers is None else numbers
        self.rows: Ints | None = None  # of its points among those of all strands
        if len(self.numbers) < len(sizes):
            starts = np.cumsum(sizes) - sizes
            self.rows = np.concatenate([np.arange(starts[k], starts[k] + sizes[k]) for k in self.numbers])
            points, sizes = points[self.rows], sizes[self.numbers]
        self.points, self.sizes = points, sizes
        self._stops = np.cumsum(sizes)
        starts = self._stops - sizes
        self.is_drawn = longest == 0.0 and bool(np.all(sizes - 1 >= MIN_POLY_EDGES))
        if self.is_drawn:
            self.vertices, self.counts = points, sizes
            self._vertex_of = self._tail = np.arange(len(points))
            self._part = np.zeros(len(points))
        else:
            self._sample(starts, longest)
        self._rods = np.cumsum(self.counts) - self.counts  # first vertex of each rod

    def _sample(self, starts: Ints, longest: float) -> None:
        """Locates vertices between drawn points and drawn points between vertices: the index before, and the fraction."""
        tails, parts, befores, shares, counts = [], [], [], [], []
        vertices = 0
        if longest > 0.0:
            gaps = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
            edges_in(np.delete(gaps, starts[1:] - 1).sum(), longest)  # raises if there are too many in total
        for start, size in zip(starts.tolist(), self.sizes.tolist(), strict=True):
            x = self.points[start : start + size]
            if longest > 0.0 and size > 1:
                way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1))])
                edges = edges_in(way[-1], longest)
                # Vertices in units of drawn edges, and drawn points in units of segments. The last one belongs to the last edge.
                at = np.interp(np.linspace(0.0, way[-1], edges + 1), way, np.arange(size))
                back = way / way[-1] * edges if way[-1] > 0.0 else np.linspace(0.0, edges, size)
            else:
                pieces = pieces_of(size - 1)
                edges = pieces * (size - 1)
                at, back = np.arange(edges + 1) / pieces, pieces * np.arange(size, dtype=np.float64)
            tail = np.minimum(at.astype(np.int64), max(size - 2, 0))
            before = np.minimum(back.astype(np.int64), max(edges - 1, 0))
            tails.append(start + tail)
            parts.append(at - tail)
            befores.append(vertices + before)
            shares.append(back - before)
            counts.append(edges + 1)
            vertices += edges + 1
        self._tail, self._part = np.concatenate(tails), np.concatenate(parts)
        self._before, self._share = np.concatenate(befores), np.concatenate(shares)
        self.counts = np.array(counts, dtype=np.int64)
        self._head = np.minimum(self._tail + 1, len(self.points) - 1)
        self.vertices = np.stack([self.along(column) for column in self.points.T], axis=1)
        self._vertex_of = self._before + np.round(self._share).astype(np.int64)

    @property
    def strands(self) -> list[BundledStrand]:
        ends, starts = np.cumsum(self.counts)[:-1], self._stops - self.sizes
        places = np.split(self.vertices, ends)
        own = np.split(self._vertex_of - np.repeat(self._rods, self.sizes), self._stops[:-1])
        tails = np.split(self._tail - np.repeat(starts, self.counts), ends)
        parts = np.split(self._part, ends)
        return [BundledStrand(*of_strand) for of_strand in zip(places, own, tails, parts, strict=True)]

    @property
    def edges(self) -> Ints:
        """(m, 2) vertices of all edges."""
        tails = np.delete(np.arange(len(self.vertices)), np.cumsum(self.counts) - 1)
        return np.stack([tails, tails + 1], axis=1)

    @property
    def way(self) -> Array:
        """Relative arc length along each strand at the vertices, 0 to 1."""
        steps = np.zeros(len(self.vertices))
        tails = self.edges[:, 0]
        steps[tails + 1] = np.linalg.norm(self.vertices[tails + 1] - self.vertices[tails], axis=1)
        way = np.cumsum(steps)
        way -= np.repeat(way[self._rods], self.counts)
        ends = np.repeat(way[self._rods + self.counts - 1], self.counts)
        return np.asarray(way / np.maximum(ends, 1e-30))

    def along(self, values: Array) -> Array:
        """Interpolates values at the control points (of all strands, or of the bundle's own) to the vertices, linearly."""
        if self.rows is not None and len(values) != len(self.points):
            values = values[self.rows]
        if self.is_drawn:
            return values
        return np.asarray((1.0 - self._part) * values[self._tail] + self._part * values[self._head])

    def at_points(self, values: Array) -> Array:
        """Interpolates values at the vertices to the control points, linearly."""
        if self.is_drawn:
            return values
        after = np.minimum(self._before + 1, len(values) - 1)
        return np.asarray((1.0 - self._share) * values[self._before] + self._share * values[after])

    def bind(self, directors: Array) -> None:
        """Call once, before `controls`, with the directors of the edges as drawn."""
        if not self.is_drawn:
            places, frames = self._at(self.vertices, directors)
            self._beside = np.einsum("kji,kj->ki", frames, self.points - places)

    def controls(self, x: Array, directors: Array) -> Array:
        """The control points (N, 3) for rods with vertices x and edge directors."""
        if self.is_drawn:
            return x
        places, frames = self._at(x, directors)
        return np.asarray(places + np.einsum("kij,kj->ki", frames, self._beside))

    def _at(self, x: Array, directors: Array) -> tuple[Array, Array]:
        """Positions on the rods of the drawn points and material frames there, interpolated between vertices."""
        n = len(x)
        tails = self.edges[:, 0]
        tangents = np.zeros((n, 3))
        edges = x[tails + 1] - x[tails]
        t = edges / np.maximum(np.linalg.norm(edges, axis=1, keepdims=True), 1e-300)
        tangents[tails] += t
        tangents[tails + 1] += t
        tangents /= np.maximum(np.linalg.norm(tangents, axis=1, keepdims=True), 1e-300)
        across = np.empty((n, 3))
        across[tails] = directors
        last = np.cumsum(self.counts) - 1
        across[last] = across[last - 1]
        places = np.stack([self.at_points(column) for column in x.T], axis=1)
        t, d = (np.stack([self.at_points(column) for column in of.T], axis=1) for of in (tangents, across))
        return places, orthonormal(t, d)
