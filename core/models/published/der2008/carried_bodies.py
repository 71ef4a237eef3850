"""Generalized masses of bodies with their tied vertices, and torques of rods on welded frames."""

from __future__ import annotations

from ....compile.jit import part
from ....contact.bodies.explicit import Bodies, in_axes
from ....maths.geometry.frames import Vector, dot
from .arrays import Chain, Nodes
from .carried import Ties


@part
def body_metric(bodies: Bodies, k: int) -> None:
    """Generalized mass of a body alone, parametrised by a rotation vector rather than a quaternion (Kirsch 2012)."""
    metric = bodies.metric
    for i in range(6):
        for j in range(6):
            metric[k, i, j] = 0.0
    for c in range(3):
        metric[k, c, c] = bodies.mass[k]
        axis = (1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0)
        column = in_axes(bodies.inertia, bodies.rotation, k, axis)
        for i in range(3):
            metric[k, 3 + i, 3 + c] = column[i]


@part
def add_vertex(bodies: Bodies, ties: Ties, t: int, mass: float, arm: Vector) -> None:
    """Adds m J^T J of a tied vertex; J y = y_x + y_w x arm."""
    k, metric = ties.body[t], bodies.metric
    square = dot(arm, arm)
    for c in range(3):
        metric[k, c, c] += mass
        metric[k, 3 + c, 3 + c] += mass * square
        for i in range(3):
            metric[k, 3 + c, 3 + i] -= mass * arm[c] * arm[i]
    couple = ((0.0, -arm[2], arm[1]), (arm[2], 0.0, -arm[0]), (-arm[1], arm[0], 0.0))  # [arm]x
    for c in range(3):
        for i in range(3):
            metric[k, 3 + c, i] += mass * couple[c][i]
            metric[k, i, 3 + c] += mass * couple[c][i]


@part
def frame_torque(chain: Chain, nodes: Nodes, r: int, k: int, closed: bool) -> float:
    """N m, -dE/dtheta of a node: torque of the elements on its two sides (section 8.2 with (7))."""
    begin, stop = chain.start[r], chain.start[r + 1]
    stiffness, rest, bishop = chain.stiffness, chain.rest, nodes.bishop
    s, c = nodes.sine[k], nodes.cosine[k]
    torque = 0.0
    if chain.slot[k] >= 0:
        torque -= stiffness[k, 4] * (nodes.twist[k] - rest[k, 4])
        if not chain.simple[r]:
            x, y = bishop[k, 2], bishop[k, 3]
            o2, o3 = c * x + s * y, c * y - s * x
            torque -= stiffness[k, 2] * (o2 - rest[k, 2]) * o3 - stiffness[k, 3] * (o3 - rest[k, 3]) * o2
    n = k + 1
    if n == stop:
        n = begin
        if not closed:
            return torque
    if chain.slot[n] >= 0:
        torque += stiffness[n, 4] * (nodes.twist[n] - rest[n, 4])
        if not chain.simple[r]:
            x, y = bishop[n, 0], bishop[n, 1]
            o0, o1 = c * x + s * y, c * y - s * x
            torque -= stiffness[n, 0] * (o0 - rest[n, 0]) * o1 - stiffness[n, 1] * (o1 - rest[n, 1]) * o0
    return torque


@part
def frame_stiffness(chain: Chain, r: int, k: int, closed: bool) -> float:
    """N m, upper bound of the torsional stiffness of a node's frame: the rod up to the next prescribed frames on both sides."""
    begin, stop = chain.start[r], chain.start[r + 1]
    if closed:
        n = k + 1 if k + 1 < stop else begin
        return float(chain.stiffness[k, 4] + chain.stiffness[n, 4] + _curl(chain, k) + _curl(chain, n))
    total = _curl(chain, k) + (_curl(chain, k + 1) if k + 1 < stop else 0.0)
    n = k + 1
    while n < stop and not chain.fixed[n]:
        n += 1
    series = 0.0
    if n < stop:
        series = chain.stiffness[n, 4]
    for e in range(n - 1, k, -1):  # node e, then the element before it
        series += _curl(chain, e) + (_curl(chain, e + 1) if e + 1 < stop else 0.0)
        series = series * chain.stiffness[e, 4] / (series + chain.stiffness[e, 4])
    total += series
    n = k - 1
    while n >= begin and not chain.fixed[n]:
        n -= 1
    series = 0.0
    if n >= begin:
        series = chain.stiffness[n + 1, 4]
    for e in range(max(n, begin - 1) + 1, k):
        series += _curl(chain, e) + _curl(chain, e + 1)
        series = series * chain.stiffness[e + 1, 4] / (series + chain.stiffness[e + 1, 4])
    return float(total + series)


@part
def _curl(chain: Chain, k: int) -> float:
    """N m, approximate resistance of an element's natural curvature against rotating an adjacent frame."""
    if chain.slot[k] < 0:
        return 0.0
    s, rest = chain.stiffness, chain.rest
    before = max(s[k, 0], s[k, 1]) * (rest[k, 0] ** 2 + rest[k, 1] ** 2)
    after = max(s[k, 2], s[k, 3]) * (rest[k, 2] ** 2 + rest[k, 3] ** 2)
    return float(max(before, after))
