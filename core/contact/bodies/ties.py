"""Attachments at an iterate: what is amiss at each of them, and how that changes as rod and body move.

An edge of a rod has seven coordinates: x y z of its start and of its end, and the turn about it. Six conditions tie it to a body:
0-2  the point of the edge is at the point of the body,
3, 4 the edge has the direction it had at the start, seen from the body (its sines towards two directions across),
5    its first director is not turned about it, seen from the body.
A ball has the first three, a swivel the first five. Conditions that a tie does not have are 1 * force = 0.
"""

from __future__ import annotations

from typing import NamedTuple

from numpy import int64
from numpy.typing import NDArray

from ...compile.jit import kernel
from ...errors import Array
from ...maths.geometry.frames import cross, dot, signed_angle, transport

Ints = NDArray[int64]


class Ties(NamedTuple):
    """What does not change. In the body's axes, seen from its centre of mass."""

    body: Ints  # (A,)
    conditions: Ints  # (A,) 3, 5 or 6; 0 once it is let go of
    at: Array  # (A,) the part of the edge at which its point is
    point: Array  # (A, 3) m
    frame: Array  # (A, 3, 3) rows: first director, second director, tangent
    length: Array  # (A,) m, of the edge


class Conditions(NamedTuple):
    """At an iterate."""

    amiss: Array  # (A, 6) m; rad
    by_edge: Array  # (A, 6, 7) how that changes with the edge
    by_body: Array  # (A, 6, 6) with motion and turning of the body
    stiffness: Array  # (A, 3, 3) how the torque on the body changes as the body turns, under the forces as they are
    lever: Array  # (A, 3) m, from the centre of mass to the point


@kernel
def measure(
    ties: Ties, which: Ints, start: Array, end: Array, director: Array, x: Array, rotation: Array, force: Array,
    out: Conditions,
) -> None:  # fmt: skip
    """Of ties `which` (K,), into the first rows of `out`. `start`, `end` and `director` (A, 3) are those of the edges, `force`
    (A, 6) what the conditions exert."""
    for row in range(len(which)):
        k = which[row]
        b = ties.body[k]
        at = ties.at[k]
        for i in range(6):
            out.amiss[row, i] = 0.0
            for j in range(7):
                out.by_edge[row, i, j] = 0.0
            for j in range(6):
                out.by_body[row, i, j] = 0.0
        if ties.conditions[k] == 0:
            for i in range(3):
                out.lever[row, i] = 0.0
                for j in range(3):
                    out.stiffness[row, i, j] = 0.0
            continue
        lever = _turned(rotation, b, (ties.point[k, 0], ties.point[k, 1], ties.point[k, 2]))
        for c in range(3):
            out.lever[row, c] = lever[c]
            out.amiss[row, c] = (1.0 - at) * start[k, c] + at * end[k, c] - x[b, c] - lever[c]
            out.by_edge[row, c, c] = 1.0 - at
            out.by_edge[row, c, 3 + c] = at
            out.by_body[row, c, c] = -1.0
        out.by_body[row, 0, 4], out.by_body[row, 0, 5] = -lever[2], lever[1]
        out.by_body[row, 1, 3], out.by_body[row, 1, 5] = lever[2], -lever[0]
        out.by_body[row, 2, 3], out.by_body[row, 2, 4] = -lever[1], lever[0]
        pull = (force[k, 0], force[k, 1], force[k, 2])
        product = dot(pull, lever)
        for i in range(3):
            for j in range(3):
                out.stiffness[row, i, j] = (product if i == j else 0.0) - lever[i] * pull[j]
        if ties.conditions[k] == 3:
            continue
        edge = (end[k, 0] - start[k, 0], end[k, 1] - start[k, 1], end[k, 2] - start[k, 2])
        unit = 1.0 / ties.length[k]
        for s in range(2):
            n = _turned(rotation, b, (ties.frame[k, s, 0], ties.frame[k, s, 1], ties.frame[k, s, 2]))
            moment = cross(n, edge)
            out.amiss[row, 3 + s] = unit * dot(n, edge)
            along = unit * force[k, 3 + s]
            for c in range(3):
                out.by_edge[row, 3 + s, c] = -unit * n[c]
                out.by_edge[row, 3 + s, 3 + c] = unit * n[c]
                out.by_body[row, 3 + s, 3 + c] = unit * moment[c]
                for j in range(3):
                    out.stiffness[row, c, j] += along * n[c] * edge[j]
                out.stiffness[row, c, c] -= along * dot(n, edge)
        if ties.conditions[k] == 5:
            continue
        f = 1.0 / max(dot(edge, edge) ** 0.5, 1e-300)
        t = (f * edge[0], f * edge[1], f * edge[2])
        own = _turned(rotation, b, (ties.frame[k, 2, 0], ties.frame[k, 2, 1], ties.frame[k, 2, 2]))
        d = _turned(rotation, b, (ties.frame[k, 0, 0], ties.frame[k, 0, 1], ties.frame[k, 0, 2]))
        out.amiss[row, 5] = signed_angle(transport(d, own, t), (director[k, 0], director[k, 1], director[k, 2]), t)
        out.by_edge[row, 5, 6] = 1.0
        for c in range(3):
            out.by_body[row, 5, 3 + c] = -t[c]


@kernel
def _turned(rotation: Array, b: int, v: tuple[float, float, float]) -> tuple[float, float, float]:
    m = rotation[b]
    return (
        m[0, 0] * v[0] + m[0, 1] * v[1] + m[0, 2] * v[2],
        m[1, 0] * v[0] + m[1, 1] * v[1] + m[1, 2] * v[2],
        m[2, 0] * v[0] + m[2, 1] * v[1] + m[2, 2] * v[2],
    )
