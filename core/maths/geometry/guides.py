"""Strands that follow guides: each point moves with the material frames of a few guide vertices (linear blend skinning).

In the shape in which they are bound, strands are reproduced exactly. Arrays are in single precision: there may be millions of
influences, and reading them takes the time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...compile.jit import kernel
from ...compile.workers import Workers
from ...errors import Array, Ints

Singles = NDArray[np.float32]

MOST_STRETCH = 1.1  # of the segments of strands: where guides go different ways, blending would draw strands out


def spread_guides(roots: Array, count: int) -> Ints:
    """Numbers of `count` roots (n, 3) that are spread evenly: each is the farthest from those chosen before."""
    n = len(roots)
    if count >= n:
        return np.arange(n)
    chosen = np.empty(count, dtype=np.int64)
    distance = np.linalg.norm(roots - roots.mean(axis=0), axis=1)
    nearest = np.full(n, np.inf)
    for k in range(count):
        chosen[k] = int(np.argmax(nearest if k else distance))
        nearest = np.minimum(nearest, ((roots - roots[chosen[k]]) ** 2).sum(axis=1))
    return np.sort(chosen)


def nearest_guides(roots: Array, guides: Array, count: int, reach: float) -> tuple[Ints, Array]:
    """(n, k) the guides nearest to each root and their weights, which fall with the square of the distance and add up to one.
    Guides beyond `reach` (m) have no influence; weights are all zero where no guide is within reach."""
    from scipy.spatial import cKDTree

    count = min(count, len(guides))
    distance, index = cKDTree(guides).query(roots, k=count)
    distance, index = distance.reshape(len(roots), count), index.reshape(len(roots), count)
    size = float(np.ptp(guides, axis=0).max(initial=0.0)) or 1.0
    weight = np.where(distance <= reach, 1.0 / (distance**2 + (1e-6 * size) ** 2), 0.0)
    total = weight.sum(axis=1, keepdims=True)
    return index, np.asarray(weight / np.where(total > 0.0, total, 1.0))


class Bound(NamedTuple):
    """Influences of guide vertices on the points of strands."""

    start: Ints  # (S + 1,) points of each strand
    vertex: NDArray[np.int32]  # (P, K) guide vertices
    weight: Singles  # (P, K)
    offset: Singles  # (P, K, 3) weight times the position in the frame of the vertex
    length: Singles  # (P,) m, largest distance from the point before


def bind(points: Array, start: Ints, index: Ints, weight: Array, x: Array, frames: Array, guide_start: Ints) -> Bound:
    """Binds strands with `points` (P, 3) to guides with vertices x (V, 3) and frames (V, 3, 3), whose columns are axes. `index` and
    `weight` (S, K) are the guides of each strand. A point follows the vertex at the same arc length from the root."""
    way = _arc_lengths(points, start)
    along = _arc_lengths(x, guide_start)
    sizes = np.diff(start)
    of_point = np.repeat(np.arange(len(sizes)), sizes)
    vertex = np.empty((len(points), index.shape[1]), dtype=np.int32)
    offset = np.empty((len(points), index.shape[1], 3), dtype=np.float32)
    weights = weight[of_point].astype(np.float32)
    # Arc lengths of all guides in one increasing sequence, to find neighbours by one search.
    step = 2.0 * (max(float(way.max(initial=0.0)), float(along.max(initial=0.0))) + 1.0)
    keys = along + step * np.repeat(np.arange(len(guide_start) - 1), np.diff(guide_start))
    for k in range(index.shape[1]):
        guide = index[of_point, k]
        first, last = guide_start[guide], guide_start[guide + 1] - 1
        after = np.clip(np.searchsorted(keys, way + step * guide), first + 1, last)
        nearer = way - along[after - 1] < along[after] - way
        at = np.where(nearer, after - 1, after)
        vertex[:, k] = at
        local = np.einsum("pji,pj->pi", frames[at], points - x[at])
        offset[:, k] = weights[:, k, None] * local
    length = np.zeros(len(points), dtype=np.float32)
    length[1:] = MOST_STRETCH * np.linalg.norm(np.diff(points, axis=0), axis=1)
    return Bound(start, vertex, weights, offset, length)


def _arc_lengths(x: Array, start: Ints) -> Array:
    steps = np.zeros(len(x))
    steps[1:] = np.linalg.norm(np.diff(x, axis=0), axis=1)
    way = np.cumsum(steps)
    return np.asarray(way - np.repeat(way[start[:-1]], np.diff(start)))


def vertex_frames(x: Array, directors: Array, start: Ints) -> Array:
    """(V, 3, 3) material frames at the vertices of rods, from the directors (E, 3) of their edges: columns tangent, first and
    second director. Tangents and directors are means over the two edges that meet there."""
    inner = np.ones(len(x), dtype=np.bool_)
    inner[start[1:] - 1] = False
    tails = np.flatnonzero(inner)
    edges = x[tails + 1] - x[tails]
    t = edges / np.maximum(np.linalg.norm(edges, axis=1, keepdims=True), 1e-300)
    tangent, director = np.zeros_like(x), np.zeros_like(x)
    for sum_of, of_edges in ((tangent, t), (director, directors)):
        sum_of[tails] += of_edges
        sum_of[tails + 1] += of_edges
    tangent /= np.maximum(np.linalg.norm(tangent, axis=1, keepdims=True), 1e-300)
    director -= np.einsum("ij,ij->i", director, tangent)[:, None] * tangent
    director /= np.maximum(np.linalg.norm(director, axis=1, keepdims=True), 1e-300)
    return np.stack([tangent, director, np.cross(tangent, director)], axis=2)


def deform(bound: Bound, x: Array, frames: Array, roots: Array, workers: Workers) -> Singles:
    """(P, 3) the points, for guides at x (V, 3) with frames (V, 3, 3). Each strand is then moved so that it begins at its root
    (S, 3): where the surface deforms, roots of guides tell little about other roots."""
    out = np.empty((len(bound.vertex), 3), dtype=np.float32)
    places, turned, ends = x.astype(np.float32), frames.reshape(-1, 9).astype(np.float32), roots.astype(np.float32)
    workers.run(
        lambda first, last, _: _deform(*bound, places, turned, ends, out, first, last),
        len(bound.start) - 1,
        len(out),
    )
    return out


@kernel
def _deform(
    start: Ints, vertex: NDArray[np.int32], weight: Singles, offset: Singles, length: Singles, x: Singles, frames: Singles,
    roots: Singles, out: Singles, first: int, last: int,
) -> None:  # fmt: skip
    count = vertex.shape[1]
    for s in range(first, last):
        begin = start[s]
        dx = dy = dz = np.float32(0.0)
        for p in range(begin, start[s + 1]):
            px = py = pz = np.float32(0.0)
            for k in range(count):
                v, w = vertex[p, k], weight[p, k]
                a, b, c = offset[p, k, 0], offset[p, k, 1], offset[p, k, 2]
                px += w * x[v, 0] + frames[v, 0] * a + frames[v, 1] * b + frames[v, 2] * c
                py += w * x[v, 1] + frames[v, 3] * a + frames[v, 4] * b + frames[v, 5] * c
                pz += w * x[v, 2] + frames[v, 6] * a + frames[v, 7] * b + frames[v, 8] * c
            if p == begin:
                dx, dy, dz = roots[s, 0] - px, roots[s, 1] - py, roots[s, 2] - pz
            px, py, pz = px + dx, py + dy, pz + dz
            if p > begin:
                ex, ey, ez = px - out[p - 1, 0], py - out[p - 1, 1], pz - out[p - 1, 2]
                size = np.sqrt(ex * ex + ey * ey + ez * ez)
                if size > length[p]:  # the rest of the strand comes along
                    cut = length[p] / size - np.float32(1.0)
                    dx, dy, dz = dx + cut * ex, dy + cut * ey, dz + cut * ez
                    px, py, pz = px + cut * ex, py + cut * ey, pz + cut * ez
            out[p, 0], out[p, 1], out[p, 2] = px, py, pz
