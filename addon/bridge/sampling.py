"""A spline resampled to a rod with evenly spaced vertices. Plain NumPy.

Vertices lie on the drawn curve. Drawn points keep their offset from the rod in the material frame of the nearest cross-section, so
the drawn shape is recovered exactly for any segment length.
"""

from __future__ import annotations

import math

import numpy as np

from ...core import TendrilError
from .strands import Array, Strand, vertex_frames

MIN_EDGES = 4
MAX_EDGES = 1_000_000  # of an object: more is probably a typing error, and would need too much memory


def edges_in(length: float, longest: float) -> int:
    """The number of segments not longer than `longest` (m) that a length (m) is divided into. Raises TendrilError if there are too
    many."""
    count = length / longest - 1e-6
    if count > MAX_EDGES:
        raise TendrilError("the segment length", longest, f"it makes {count:.0e} segments: choose a longer one")
    return max(math.ceil(count), MIN_EDGES)


class SampledStrand:
    def __init__(self, inner: Strand, longest: float) -> None:
        """Segments are at most `longest` (m), measured along the drawn curve."""
        self._inner = inner
        self.closed, self.control_count = inner.closed, inner.control_count
        x = np.vstack([inner.vertices, inner.vertices[:1]]) if self.closed else inner.vertices
        way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1))])
        count = edges_in(way[-1], longest)
        self._step = way[-1] / count
        self._way, self._stops = way, self._step * np.arange(count if self.closed else count + 1)
        self.vertices = np.stack([np.interp(self._stops, way, column) for column in x.T], axis=1)
        self._points = way[: len(inner.vertices)]
        self._middles = 0.5 * (way[:-1] + way[1:])

    def vertex_of(self, control: int) -> int:
        return round(self._way[self._inner.vertex_of(control)] / self._step) % len(self.vertices)

    def along(self, values: Array) -> Array:
        drawn = self._inner.along(values)
        return np.interp(self._stops, self._way, np.append(drawn, drawn[0]) if self.closed else drawn)

    def bind(self, directors: Array) -> None:
        places, frames = self._at(self.vertices, directors, self._points)
        self._beside = np.einsum("kji,kj->ki", frames, self._inner.vertices - places)
        self._inner.bind(self._inner_directors(self._inner.vertices, self.vertices, directors))

    def controls(self, x: Array, directors: Array) -> Array:
        places, frames = self._at(x, directors, self._points)
        points = places + np.einsum("kij,kj->ki", frames, self._beside)
        return self._inner.controls(points, self._inner_directors(points, x, directors))

    def _at(self, x: Array, directors: Array, way: Array) -> tuple[Array, Array]:
        """Positions on the rod at arc lengths `way`, and material frames there."""
        every = vertex_frames(x, directors, self.closed, np.arange(len(x)))
        last = len(x) if self.closed else len(x) - 1
        edge = np.minimum((way / self._step).astype(np.int64), last - 1)
        part = (way / self._step - edge)[:, None]
        after = (edge + 1) % len(x)
        places = (1.0 - part) * x[edge] + part * x[after]
        frames = (1.0 - part[..., None]) * every[edge] + part[..., None] * every[after]
        return places, orthonormal(frames[:, :, 0], frames[:, :, 1])

    def _inner_directors(self, points: Array, x: Array, directors: Array) -> Array:
        """Directors of the edges between drawn points."""
        ends = np.roll(points, -1, axis=0) if self.closed else points[1:]
        _, frames = self._at(x, directors, self._middles)
        return orthonormal(ends - points[: len(ends)], frames[:, :, 1])[:, :, 1]


def orthonormal(tangents: Array, directors: Array) -> Array:
    t = tangents / np.maximum(np.linalg.norm(tangents, axis=1, keepdims=True), 1e-300)
    d = directors - np.einsum("ij,ij->i", directors, t)[:, None] * t
    d /= np.maximum(np.linalg.norm(d, axis=1, keepdims=True), 1e-300)
    return np.stack([t, d, np.cross(t, d)], axis=2)
