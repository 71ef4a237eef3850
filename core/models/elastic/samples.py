"""Where the material of a net is, as others see it.

Rows of sample points of a net: first its points, in the user's order; then every chain once more, vertex by vertex, so that each
edge has the row at which it begins. Forces and motion of all rows of a vertex are those of the vertex.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import Array, Ints
from ..protocol import Edges
from .arrays import Graph
from .plan import Plan
from .topology import edges_beside_joints


class Samples(NamedTuple):
    start: Ints  # (R + 1,) first row of each net
    point: Ints  # (V,) the row of each vertex itself
    vertex: Ints  # (N,) the vertex of each row
    edge: Ints  # (N,) the edge that begins at a row; -1: none
    row_of_edge: Ints  # (E,)
    director_row: (
        Ints  # (E,) where the director of an edge is shown: from the first row of its net on, in the user's order
    )
    edges: Edges


def lay_samples(plans: list[Plan], graph: Graph) -> Samples:
    start = [0]
    edge: list[int] = []
    after: list[int] = []
    point: list[int] = []
    vertex: list[int] = []
    shown: list[int] = []
    along: list[float] = []
    joined: list[tuple[int, int]] = []
    row_of_edge = np.zeros(len(graph.tail), np.int64)
    for r, plan in enumerate(plans):
        v0, e0, row = int(graph.vertices[r]), int(graph.edges[r]), start[-1]
        count = len(plan.points)
        point += range(row, row + count)
        shown += range(row, row + len(plan.edges))
        vertex += range(v0, v0 + count)
        edge += [-1] * count
        after += [-1] * count
        along += [0.0] * count
        row += count
        lengths = plan.rest_length
        far = float(lengths.sum())  # chains lie so far apart along the net that they are no kin
        beginning = far
        for chain in plan.chains:
            vertex += [v0 + v for v in chain.vertices]
            edge += [e0 + e for e in chain.edges] + [-1]
            row_of_edge[[e0 + e for e in chain.edges]] = range(row, row + len(chain.edges))
            after += [*range(row + 1, row + len(chain.vertices)), -1]
            ends = beginning + np.concatenate([[0.0], np.cumsum(lengths[chain.edges])])
            along += ends.tolist()
            beginning = float(ends[-1]) + far
            row += len(chain.vertices)
        start.append(row)
        pairs = edges_beside_joints(plan.chains, plan.rest_points, plan.radii.max(axis=1), lengths)
        joined += [(int(row_of_edge[e0 + a]), int(row_of_edge[e0 + b])) for a, b in pairs]
    rows = np.array(edge, np.int64)
    radii = np.concatenate([plan.radii for plan in plans]).max(axis=1)
    radius = np.where(rows >= 0, radii[rows], 0.0)
    return Samples(
        start=np.array(start, np.int64),
        point=np.array(point, np.int64),
        vertex=np.array(vertex, np.int64),
        edge=rows,
        row_of_edge=row_of_edge,
        director_row=np.array(shown, np.int64),
        edges=Edges(
            np.array(after, np.int64),
            radius,
            np.array(along),
            np.full(len(rows), np.inf),
            np.sort(np.array(joined, np.int64).reshape(-1, 2), axis=1),
        ),
    )


def gather(values: Array, samples: Samples, graph: Graph) -> Array:
    """(N, 3) of flat values (n,), for the rows' vertices."""
    return np.asarray(values[graph.x[samples.vertex][:, None] + np.arange(3)])
