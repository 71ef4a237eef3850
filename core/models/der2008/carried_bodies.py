"""How bodies move by themselves and with what they carry, while rods are stepped explicitly."""

from __future__ import annotations

import math

from ...errors import Array
from ...geometry.frames import Vector, cross, dot
from ...jit import part
from ..der.evaluate import get, put
from .arrays import Chain, Nodes
from .carried import Bodies, Ties

SPIN_ITERATIONS = 4


@part
def turn_body(rotation: Array, k: int, w: Vector) -> None:
    """Turns a body by the rotation vector w, in the world."""
    angle = math.sqrt(dot(w, w))
    s = math.sin(angle) / angle if angle > 1e-8 else 1.0
    half = math.sin(0.5 * angle) / angle if angle > 1e-8 else 0.5
    f = 2.0 * half * half
    for c in range(3):
        u = (rotation[k, 0, c], rotation[k, 1, c], rotation[k, 2, c])
        wu = cross(w, u)
        wwu = cross(w, wu)
        for i in range(3):
            rotation[k, i, c] += s * wu[i] + f * wwu[i]


@part
def turn_since(rotation: Array, before: Array, k: int) -> Vector:
    """The rotation vector that leads from one rotation to a near one."""
    w = (0.0, 0.0, 0.0)
    cosine = -1.0
    for c in range(3):
        a = (before[k, 0, c], before[k, 1, c], before[k, 2, c])
        b = (rotation[k, 0, c], rotation[k, 1, c], rotation[k, 2, c])
        x = cross(a, b)
        w = (w[0] + 0.5 * x[0], w[1] + 0.5 * x[1], w[2] + 0.5 * x[2])
        cosine += dot(a, b)
    sine = math.sqrt(dot(w, w))
    f = math.atan2(sine, 0.5 * cosine) / sine if sine > 1e-8 else 1.0
    return (f * w[0], f * w[1], f * w[2])


@part
def straighten(rotation: Array, k: int) -> None:
    """The nearest rotation, where round-off has made it not quite one."""
    product = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    columns = (_column(rotation, k, 0), _column(rotation, k, 1), _column(rotation, k, 2))
    product = (
        (dot(columns[0], columns[0]), dot(columns[0], columns[1]), dot(columns[0], columns[2])),
        (dot(columns[1], columns[0]), dot(columns[1], columns[1]), dot(columns[1], columns[2])),
        (dot(columns[2], columns[0]), dot(columns[2], columns[1]), dot(columns[2], columns[2])),
    )
    for i in range(3):
        row = (rotation[k, i, 0], rotation[k, i, 1], rotation[k, i, 2])
        for c in range(3):
            rotation[k, i, c] = 1.5 * row[c] - 0.5 * dot(row, product[c])


@part
def _column(rotation: Array, k: int, c: int) -> Vector:
    return (rotation[k, 0, c], rotation[k, 1, c], rotation[k, 2, c])


@part
def to_world(rotation: Array, k: int, u: Vector) -> Vector:
    return (
        rotation[k, 0, 0] * u[0] + rotation[k, 0, 1] * u[1] + rotation[k, 0, 2] * u[2],
        rotation[k, 1, 0] * u[0] + rotation[k, 1, 1] * u[1] + rotation[k, 1, 2] * u[2],
        rotation[k, 2, 0] * u[0] + rotation[k, 2, 1] * u[1] + rotation[k, 2, 2] * u[2],
    )


@part
def _in_axes(tensor: Array, rotation: Array, k: int, w: Vector) -> Vector:
    """R J R^T w of a tensor J in the body's axes."""
    u = (
        dot(_column(rotation, k, 0), w),
        dot(_column(rotation, k, 1), w),
        dot(_column(rotation, k, 2), w),
    )
    return to_world(rotation, k, to_world(tensor, k, u))


@part
def fly(bodies: Bodies, k: int, h: float) -> None:
    """Symplectic Euler of a body without constraints. The spin is implicit, so that the angular momentum changes by torques alone:
    R' = exp(h w') R, R' J R'^T w' = L + h torque."""
    x, rotation, v, w = bodies.x, bodies.rotation, bodies.v, bodies.w
    slow, calm = 1.0 / (1.0 + h * bodies.damping[k, 0]), 1.0 / (1.0 + h * bodies.damping[k, 1])
    spin = _in_axes(bodies.inertia, rotation, k, get(w, k))
    momentum = (
        calm * (spin[0] + h * bodies.torque[k, 0]),
        calm * (spin[1] + h * bodies.torque[k, 1]),
        calm * (spin[2] + h * bodies.torque[k, 2]),
    )
    for c in range(3):
        v[k, c] = slow * (v[k, c] + h * bodies.force[k, c] / bodies.mass[k])
        x[k, c] += h * v[k, c]
    for _ in range(SPIN_ITERATIONS):
        rate = _in_axes(bodies.inverse_inertia, rotation, k, momentum)
        for i in range(3):
            for c in range(3):
                rotation[k, i, c] = bodies.before_rotation[k, i, c]
        turn_body(rotation, k, (h * rate[0], h * rate[1], h * rate[2]))
        put(w, k, rate)


@part
def lead(bodies: Bodies, k: int, at: float) -> None:
    """Puts a kinematic body where it is at a fraction of the step."""
    for i in range(3):
        bodies.x[k, i] = bodies.start_x[k, i] + at * bodies.way[k, i]
        for c in range(3):
            bodies.rotation[k, i, c] = bodies.start_rotation[k, i, c]
    turn_body(bodies.rotation, k, (at * bodies.turn[k, 0], at * bodies.turn[k, 1], at * bodies.turn[k, 2]))


@part
def weigh(bodies: Bodies, k: int) -> None:
    """The generalized mass of a body by itself, in a rotation vector: the thesis says why not in a quaternion."""
    metric = bodies.metric
    for i in range(6):
        for j in range(6):
            metric[k, i, j] = 0.0
    for c in range(3):
        metric[k, c, c] = bodies.mass[k]
        axis = (1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0)
        column = _in_axes(bodies.inertia, bodies.rotation, k, axis)
        for i in range(3):
            metric[k, 3 + i, 3 + c] = column[i]


@part
def add_vertex(bodies: Bodies, ties: Ties, t: int, mass: float, arm: Vector) -> None:
    """Adds m J^T J of a vertex that a body carries; J y = y_x + y_w x arm."""
    k, metric = ties.body[t], bodies.metric
    square = dot(arm, arm)
    for c in range(3):
        metric[k, c, c] += mass
        metric[k, 3 + c, 3 + c] += mass * square
        for i in range(3):
            metric[k, 3 + c, 3 + i] -= mass * arm[c] * arm[i]
    couple = ((0.0, -arm[2], arm[1]), (arm[2], 0.0, -arm[0]), (-arm[1], arm[0], 0.0))  # arm x
    for c in range(3):
        for i in range(3):
            metric[k, 3 + c, i] += mass * couple[c][i]
            metric[k, i, 3 + c] += mass * couple[c][i]


@part
def frame_torque(chain: Chain, nodes: Nodes, r: int, k: int, closed: bool) -> float:
    """-dE/dtheta of a node: what the elements on its two sides do to its frame (section 8.2, with (7))."""
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
    """How much the frame of a node resists being turned, at most: by what lies between it and the next prescribed frames."""
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
    """How much an element's natural curvature resists turning a frame beside it, about."""
    if chain.slot[k] < 0:
        return 0.0
    s, rest = chain.stiffness, chain.rest
    before = max(s[k, 0], s[k, 1]) * (rest[k, 0] ** 2 + rest[k, 1] ** 2)
    after = max(s[k, 2], s[k, 3]) * (rest[k, 2] ** 2 + rest[k, 3] ** 2)
    return float(max(before, after))
