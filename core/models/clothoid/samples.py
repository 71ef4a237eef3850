"""Sample points of a rod and the edges between them: positions, velocities, Jacobian."""

from __future__ import annotations

import math

from ...compile.jit import kernel, part
from ...errors import Array, Ints
from ...maths.geometry.frames import Vector, cross, dot, signed_angle, transport
from ...maths.linalg.small import get3
from .arrays import Arrays, Scratch
from .kinematics import lay_out, lay_out_moving, unknowns_of


@part
def column(frame: Array, p: int, c: int) -> Vector:
    return (frame[p, 0, c], frame[p, 1, c], frame[p, 2, c])


@part
def measure_edges(b: Arrays, r: int) -> None:
    """Directors of the edges and their turns, from the sample points at the iterate."""
    geometry, x, director = b.geometry, b.state.x, b.state.director
    frame = geometry.sample_frame
    for i in range(b.samples.start[r], b.samples.start[r + 1] - 1):
        e, d, _ = _edge(x, frame, i)
        director[i, 0], director[i, 1], director[i, 2] = d
        u = transport(get3(geometry.edge_director0, i), get3(geometry.edge0, i), e)
        x[i, 3] = signed_angle(u, d, e)


@part
def _edge(x: Array, frame: Array, i: int) -> tuple[Vector, Vector, float]:
    """Direction of the edge after sample i, its director (the mean of those at its ends, projected across it), and the norm of
    that mean."""
    ex, ey, ez = x[i + 1, 0] - x[i, 0], x[i + 1, 1] - x[i, 1], x[i + 1, 2] - x[i, 2]
    f = 1.0 / max(math.sqrt(ex * ex + ey * ey + ez * ez), 1e-300)
    e = (ex * f, ey * f, ez * f)
    sx, sy, sz = (
        frame[i, 0, 1] + frame[i + 1, 0, 1],
        frame[i, 1, 1] + frame[i + 1, 1, 1],
        frame[i, 2, 1] + frame[i + 1, 2, 1],
    )
    along = sx * e[0] + sy * e[1] + sz * e[2]
    px, py, pz = sx - along * e[0], sy - along * e[1], sz - along * e[2]
    size = math.sqrt(px * px + py * py + pz * pz)
    if not size > 1e-6:  # half a turn between two samples has no mean director
        return e, transport(column(frame, i, 1), column(frame, i, 0), e), 1.0
    g = 1.0 / size
    return e, (px * g, py * g, pz * g), size


@part
def sample_jacobian(b: Arrays, scratch: Scratch, r: int, rows: Array, at: int) -> None:
    """Places the sample points and writes their Jacobian to rows[at ...] (samples, 4, n): position and edge turn."""
    geometry, x, frame = b.geometry, b.state.x, b.geometry.sample_frame
    n = unknowns_of(b.nodes, r)
    first, end = b.samples.start[r], b.samples.start[r + 1]
    lay_out(b.rods, b.nodes, b.state, b.samples, scratch, r, x, frame, True)
    measure_edges(b, r)
    jacobian = scratch.jacobian
    for i in range(first, end):
        one = jacobian[i - first]
        k = at + 4 * n * (i - first)
        for c in range(3):
            for j in range(n):
                rows[k + c * n + j] = one[c, j]
        if i + 1 == end:
            for j in range(n):
                rows[k + 3 * n + j] = 0.0
            continue
        two = jacobian[i + 1 - first]
        e, d, size = _edge(x, frame, i)
        q = cross(e, d)
        dx = (x[i + 1, 0] - x[i, 0], x[i + 1, 1] - x[i, 1], x[i + 1, 2] - x[i, 2])
        length = math.sqrt(dot(dx, dx))
        d0, d1 = column(frame, i, 1), column(frame, i + 1, 1)
        along = dot(d0, e) + dot(d1, e)
        # q . (phi x d) = phi . (d x q): rotation of the mean director about the edge as its ends rotate and as the edge tilts.
        a0, a1 = cross(d0, q), cross(d1, q)
        e0 = get3(geometry.edge0, i)
        tilt = cross(e0, e)  # contribution of parallel transport
        f = 1.0 / (1.0 + dot(e0, e))
        w = (tilt[0] * f - along * q[0] / size, tilt[1] * f - along * q[1] / size, tilt[2] * f - along * q[2] / size)
        along = dot(w, e)
        w = ((w[0] - along * e[0]) / length, (w[1] - along * e[1]) / length, (w[2] - along * e[2]) / length)
        for j in range(n):
            value = 0.0
            for c in range(3):
                value += (a0[c] * one[3 + c, j] + a1[c] * two[3 + c, j]) / size + w[c] * (two[c, j] - one[c, j])
            rows[k + 3 * n + j] = value


@part
def place_samples(b: Arrays, scratch: Scratch, r: int) -> None:
    """Sample points, directors and turns of their edges at the iterate."""
    lay_out(b.rods, b.nodes, b.state, b.samples, scratch, r, b.state.x, b.geometry.sample_frame, False)
    measure_edges(b, r)


@part
def update_samples(b: Arrays, scratch: Scratch, r: int) -> None:
    """Like `place_samples`, plus velocities from the generalized ones."""
    x, v, frame = b.state.x, b.state.v, b.geometry.sample_frame
    lay_out_moving(b.rods, b.nodes, b.state, b.samples, scratch, r, x, frame, v, v, False)
    measure_edges(b, r)


@kernel
def drawn_directors(x: Array, director: Array, one: Ints, two: Ints, middle: Ints, offsets: Array, out: Array) -> None:
    """out[one] becomes the director across the edge from vertex `one` to `two`: that of the sample edge `middle`, rotated back
    by the angle from the drawn director to the curve's frame."""
    for k in range(len(one)):
        i, m, j = one[k], middle[k], two[k]
        along = _unit((x[m + 1, 0] - x[m, 0], x[m + 1, 1] - x[m, 1], x[m + 1, 2] - x[m, 2]))
        edge = _unit((x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]))
        d, s, c = get3(director, m), math.sin(offsets[m]), math.cos(offsets[m])
        q = cross(along, d)
        d = (c * d[0] - s * q[0], c * d[1] - s * q[1], c * d[2] - s * q[2])
        for _ in range(2):  # twice, against round-off
            f = dot(d, edge)
            d = _unit((d[0] - f * edge[0], d[1] - f * edge[1], d[2] - f * edge[2]))
        out[i, 0], out[i, 1], out[i, 2] = d


@part
def _unit(a: Vector) -> Vector:
    f = 1.0 / max(math.sqrt(dot(a, a)), 1e-300)
    return (a[0] * f, a[1] * f, a[2] * f)
