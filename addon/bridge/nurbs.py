"""NURBS evaluated as in Blender: a matrix from control points to points of the curve. Plain NumPy.

Versions of Blender differ in the number of points they evaluate. The rod must not depend on the version, so the curve is evaluated
here. A test compares the shape with Blender's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Knots:
    """Options of a NURBS spline that define its knot vector, with Blender's names."""

    order: int
    cyclic: bool
    endpoint: bool
    bezier: bool

    def fits(self, count: int) -> bool:
        """Whether the options are valid for this number of control points; if not, Blender draws the control polygon."""
        if count < self.order or (self.bezier and not self.endpoint and count <= self.order):
            return False
        return not (self.bezier and self.cyclic) or count % (self.order - 1) == 0


def basis(count: int, kind: Knots, resolution: int) -> tuple[Indices, Array]:
    """For each point of the curve, indices of its control points (n, order) and the basis functions (n, order)."""
    knots = _knot_vector(count, kind)
    degree = kind.order - 1
    wrapped = count + degree if kind.cyclic else count
    inner = np.arange(degree, wrapped)
    spans = inner[knots[inner + 1] > knots[inner]]
    along = np.arange(resolution) / resolution
    u = (knots[spans, None] + along * (knots[spans + 1] - knots[spans])[:, None]).ravel()
    span = np.repeat(spans, resolution)
    if not kind.cyclic:
        u = np.append(u, knots[wrapped])
        span = np.append(span, spans[-1])
    first = span - degree
    return (first[:, None] + np.arange(kind.order)) % count, _basis_functions(u, span, knots, kind.order)


def _basis_functions(u: Array, span: Indices, knots: Array, order: int) -> Array:
    """Cox-de Boor recursion for all u at once: the `order` functions that do not vanish in the span."""
    values = np.zeros((len(u), order))
    values[:, 0] = 1.0
    for degree in range(1, order):
        carried = np.zeros(len(u))
        for j in range(degree):
            right = knots[span + j + 1]
            left = knots[span + j + 1 - degree]
            share = values[:, j] / (right - left)
            values[:, j] = carried + (right - u) * share
            carried = (u - left) * share
        values[:, degree] = carried
    return values


def _knot_vector(count: int, kind: Knots) -> Array:
    """Blender's knot vector: inner knots are simple, or repeated degree times (Bezier); endpoint knots repeat 0 at the start."""
    order, cyclic = kind.order, kind.cyclic
    size = count + order + (order - 1 if cyclic else 0)
    repeat = order - 1 if kind.bezier else 1
    if kind.endpoint:
        head = order - 1 if cyclic else order
    else:
        head = min(2, repeat)
    # The tail repeats the spacing of the head, so that a cyclic curve closes and an endpoint curve ends as it begins.
    tail = 2 * order - 1 if cyclic else (order if kind.endpoint else 0)
    lone_first = kind.endpoint and cyclic
    run = np.arange(size - tail - lone_first)
    values = np.where(run < head, 0, 1 + (run - head) // repeat).astype(np.float64)
    if lone_first:
        values = np.append(0.0, values + 1.0)
    following = len(run) >= head and (len(run) - head) % repeat == 0
    last = values[-1] + (1.0 if following else 0.0)
    # A short cyclic vector copies knots of the tail itself, so the copy grows one knot at a time.
    knots = np.concatenate([values, np.empty(tail)])
    for i in range(tail):
        knots[len(values) + i] = last + knots[i] - knots[0]
    return knots
