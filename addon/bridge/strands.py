"""Converts a spline to the polyline of a rod, and the simulated polyline back to the spline. Plain NumPy.

Control points are rows (r, 3): one per point of a POLY or NURBS spline, three per Bezier point (left handle, point,
right handle). All in world space, in metres.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .nurbs import Knots, basis

Array = NDArray[np.float64]

# A polyline with fewer edges is too coarse to bend; its edges are divided evenly.
MIN_POLY_EDGES = 4
MIN_EDGES = 8
# Least-squares weight of the ends of a NURBS curve, where it is held, relative to the points between.
END_WEIGHT = 1e3


@dataclass(frozen=True)
class SplineKind:
    """What defines the shape of a spline besides coordinates."""

    type: str  # POLY, BEZIER or NURBS
    count: int
    cyclic: bool
    resolution: int = 1
    knots: Knots | None = None  # NURBS only
    weights: tuple[float, ...] = ()  # NURBS only

    @property
    def rows(self) -> int:
        return 3 * self.count if self.type == "BEZIER" else self.count


class Polyline(Protocol):
    """The vertices of a rod as drawn, and how they belong to the control points of a spline."""

    @property
    def vertices(self) -> Array:
        """(n, 3) of the rod as drawn."""

    @property
    def closed(self) -> bool: ...

    @property
    def control_count(self) -> int: ...

    def vertex_of(self, control: int) -> int:
        """The vertex of the rod at a control point, or where its influence is largest."""

    def along(self, values: Array) -> Array:
        """Interpolates values at the control points to the vertices, linearly."""


class Strand(Polyline, Protocol):
    """A spline and its rod, with the mapping from the simulated rod back to the control points."""

    def bind(self, directors: Array) -> None:
        """Call once, before `controls`, with the directors of the edges as drawn."""

    def controls(self, x: Array, directors: Array) -> Array:
        """The rows of control points for a rod with vertices x and edge directors."""


def make_strand(kind: SplineKind, rows: Array) -> Strand:
    if kind.type == "BEZIER":
        return BezierStrand(kind, rows)
    if kind.knots is not None and kind.knots.fits(kind.count):
        return NurbsStrand(kind, rows)
    return PolyStrand(kind, rows)


def polylines(kinds: Sequence[SplineKind], rows: Array) -> Iterator[Strand]:
    """All splines of a curve; `rows` has the control points of one after the other."""
    start = 0
    for kind in kinds:
        yield make_strand(kind, rows[start : start + kind.rows])
        start += kind.rows


def pieces_of(edges: int) -> int:
    """The number of segments that each edge of a polyline is divided into."""
    return 1 if edges >= MIN_POLY_EDGES or edges < 1 else -(-MIN_EDGES // edges)


class PolyStrand:
    """Control points are vertices of the rod; a polyline with few edges has further vertices between them."""

    def __init__(self, kind: SplineKind, rows: Array) -> None:
        self.closed = kind.cyclic
        edges = kind.count if kind.cyclic else kind.count - 1
        self._pieces = pieces_of(edges)
        self.vertices = _divide(rows, self._pieces, kind.cyclic)
        self.control_count = kind.count

    def vertex_of(self, control: int) -> int:
        return control * self._pieces

    def along(self, values: Array) -> Array:
        return _divide(values[:, None], self._pieces, self.closed)[:, 0]

    def bind(self, directors: Array) -> None:
        pass  # control points depend on vertices only

    def controls(self, x: Array, directors: Array) -> Array:
        return x[:: self._pieces]


class BezierStrand:
    """Control points are vertices of the rod; handles move rigidly with the material frame at their control point.

    The curve so keeps the tangent of the rod at control points, and smooth points stay smooth.
    """

    def __init__(self, kind: SplineKind, rows: Array) -> None:
        self.closed = kind.cyclic
        points = rows.reshape(-1, 3, 3)
        segments = kind.count if kind.cyclic else kind.count - 1
        resolution = max(kind.resolution, -(-MIN_EDGES // max(segments, 1)))
        following = np.roll(points, -1, axis=0)
        cubics = np.stack([points[:, 1], points[:, 2], following[:, 0], following[:, 1]], axis=1)[:segments]
        u = np.arange(resolution)[:, None] / resolution
        bernstein = np.hstack([(1 - u) ** 3, 3 * u * (1 - u) ** 2, 3 * u**2 * (1 - u), u**3])
        vertices = np.einsum("uj,sjk->suk", bernstein, cubics).reshape(-1, 3)
        self.vertices = vertices if kind.cyclic else np.vstack([vertices, points[-1:, 1]])
        self._at = np.arange(kind.count) * resolution
        self._resolution = resolution
        self._arms = points[:, 0::2] - points[:, 1:2]  # (k, 2, 3) from the point to its handles
        self.control_count = kind.count

    def vertex_of(self, control: int) -> int:
        return int(self._at[control])

    def along(self, values: Array) -> Array:
        return _divide(values[:, None], self._resolution, self.closed)[:, 0]

    def bind(self, directors: Array) -> None:
        frames = vertex_frames(self.vertices, directors, self.closed, self._at)
        self._arms_in_frame = np.einsum("kji,kmj->kmi", frames, self._arms)

    def controls(self, x: Array, directors: Array) -> Array:
        frames = vertex_frames(x, directors, self.closed, self._at)
        turned = np.einsum("kij,kmj->kmi", frames, self._arms_in_frame)
        points = x[self._at]
        return np.stack([points + turned[:, 0], points, points + turned[:, 1]], axis=1).reshape(-1, 3)


class NurbsStrand:
    """Control points are fitted to the vertices of the rod by least squares.

    Control points are not on the curve, and moving each with the nearest vertex would flatten bends. Displacements are fitted and
    not positions, so that the drawn control points are recovered exactly.
    """

    def __init__(self, kind: SplineKind, rows: Array) -> None:
        assert kind.knots is not None
        self.closed = kind.cyclic
        one_each = len(basis(kind.count, kind.knots, 1)[0]) - (0 if kind.cyclic else 1)
        resolution = max(kind.resolution, -(-MIN_EDGES // one_each))
        index, share = basis(kind.count, kind.knots, resolution)
        share = share * np.asarray(kind.weights)[index]
        share /= share.sum(axis=1, keepdims=True)
        self._rows, self._index, self._share = rows, index, share
        self.vertices = np.einsum("nj,njk->nk", share, rows[index])
        self.control_count = kind.count

    def vertex_of(self, control: int) -> int:
        return int(np.argmax(np.where(self._index == control, self._share, 0.0).sum(axis=1)))

    def along(self, values: Array) -> Array:
        return np.einsum("nj,nj->n", self._share, values[self._index])

    def bind(self, directors: Array) -> None:
        self._solve = self._least_squares()

    def controls(self, x: Array, directors: Array) -> Array:
        return self._rows + self._solve(x - self.vertices)

    def _least_squares(self) -> Callable[[Array], Array]:
        from scipy.sparse import csc_matrix, diags, identity  # late: importing SciPy is slow
        from scipy.sparse.linalg import splu

        n, order = self._index.shape
        count = len(self._rows)
        places = (np.repeat(np.arange(n), order), self._index.ravel())
        matrix = csc_matrix((self._share.ravel(), places), shape=(n, count))
        weights = np.ones(n)
        if not self.closed:
            weights[[0, -1]] = END_WEIGHT
        weighted = (diags(weights) @ matrix).T.tocsc()
        normal = weighted @ matrix
        # Regularization: a control point without influence on the curve stays where it was drawn.
        ridge = 1e-10 * normal.diagonal().mean()
        factor = splu((normal + ridge * identity(count)).tocsc())
        return lambda moved: np.asarray(factor.solve(weighted @ moved))


def vertex_frames(x: Array, directors: Array, closed: bool, at: NDArray[np.int64]) -> Array:
    """(k, 3, 3): columns tangent, first material director, and the third axis, at the given vertices."""
    edges = np.roll(x, -1, axis=0) - x if closed else np.diff(x, axis=0)
    t = edges / np.linalg.norm(edges, axis=1, keepdims=True)
    after = at if closed else np.minimum(at, len(t) - 1)
    before = at - 1 if closed else np.maximum(at - 1, 0)
    mean = t[before] + t[after]
    # Where the rod folds back on itself the mean tangent is undefined; the next edge is used instead.
    folded = np.einsum("ij,ij->i", t[before], t[after]) < -0.999
    mean[folded] = t[after[folded]]
    tangent = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    d = directors[after]
    d = d - np.einsum("ij,ij->i", d, tangent)[:, None] * tangent
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    return np.stack([tangent, d, np.cross(tangent, d)], axis=2)


def _divide(points: Array, pieces: int, closed: bool) -> Array:
    if pieces == 1:
        return points
    following = np.roll(points, -1, axis=0)
    starts = points if closed else points[:-1]
    along = np.arange(pieces)[None, :, None] / pieces
    inner = starts[:, None] + along * (following[: len(starts)] - starts)[:, None]
    vertices = inner.reshape(-1, points.shape[1])
    return vertices if closed else np.vstack([vertices, points[-1:]])
