"""How the force of a contact between two rods changes as its normal and its points do: second derivatives of their distance."""

from __future__ import annotations

from ..compile.jit import part
from ..errors import Array
from ..maths.geometry.frames import Vector, dot

PARALLEL = 1e-4  # squared sine of the angle below which edges are taken for parallel


@part
def curve(
    now: Array,
    e: int,
    f: int,
    s: float,
    o: int,
    p: int,
    t: float,
    n: Vector,
    distance: float,
    f_n: float,
    tame: bool,
    q: Array,
    k: int,
) -> None:
    """Second derivatives of the energy of the normal force that come from those of the distance d of two edges a and b.

    As they move, so do their closest points. With the motion u of the points as they are, of A relative to B, and the tilts
    n . (motion of an edge's end - of its beginning), i and j, the second derivative of d is
        (u (1 - n n) u - r M^-1 r) / d,   r = (a . u + d i, -b . u - d j),   M = ((a a, -a b), (-a b, b b)),
    without the row of a point that sits at the end of its edge. q is the lower triangle of -f_n times that, in (u, i, j). Its
    first term drives round surfaces off each other; without it (`tame`) q is positive semidefinite.
    """
    for c in range(15):
        q[k, c] = 0.0
    if not distance > 0.0:
        return
    a = (now[f, 0] - now[e, 0], now[f, 1] - now[e, 1], now[f, 2] - now[e, 2])
    b = (now[p, 0] - now[o, 0], now[p, 1] - now[o, 1], now[p, 2] - now[o, 2])
    aa, bb, ab = dot(a, a), dot(b, b), dot(a, b)
    inner_a, inner_b = 0.0 < s < 1.0, 0.0 < t < 1.0
    m0, m1, m2 = 0.0, 0.0, 0.0  # of the inverse
    determinant = aa * bb - ab * ab
    if inner_a and inner_b:
        if determinant > PARALLEL * aa * bb:
            m0, m1, m2 = bb / determinant, ab / determinant, aa / determinant
        else:  # along each other they slide without effect
            m0, m2 = 0.5 / aa, 0.5 / bb
            m1 = 0.5 * ab / (aa * bb)
    elif inner_a:
        m0 = 1.0 / aa
    elif inner_b:
        m2 = 1.0 / bb
    scale = -f_n / distance
    r = 0
    for c in range(5):
        rc0, rc1 = _row(a, b, distance, c)
        for d in range(c + 1):
            rd0, rd1 = _row(a, b, distance, d)
            value = -(rc0 * (m0 * rd0 + m1 * rd1) + rc1 * (m1 * rd0 + m2 * rd1))
            if c < 3 and not tame:
                value += (1.0 if c == d else 0.0) - _entry(n, c) * _entry(n, d)
            q[k, r] = scale * value
            r += 1


@part
def _entry(v: Vector, c: int) -> float:
    return v[0] if c == 0 else v[1] if c == 1 else v[2]


@part
def _row(a: Vector, b: Vector, distance: float, c: int) -> tuple[float, float]:
    """Column c of the two rows r."""
    if c < 3:
        return _entry(a, c), -_entry(b, c)
    return (distance, 0.0) if c == 3 else (0.0, -distance)


@part
def add_curvature(g: Array, q: Array, s: float, n: Vector, side: int) -> None:
    """The curvature's part within one edge, whose motion is u = +-((1 - s) x + s y), tilt n . (y - x)."""
    tilt = 3 + side
    sign = 1.0 if side == 0 else -1.0
    w = 1.0 - s
    tt = q[tilt * (tilt + 1) // 2 + tilt]
    for c in range(3):
        for d in range(c + 1):
            uu = q[c * (c + 1) // 2 + d]
            nc, nd = _entry(n, c), _entry(n, d)
            ct, dt = sign * q[tilt * (tilt + 1) // 2 + c], sign * q[tilt * (tilt + 1) // 2 + d]
            tilting = tt * nc * nd
            # beginning with beginning, end with end, end with beginning
            g[c * (c + 1) // 2 + d] += w * w * uu - w * (ct * nd + dt * nc) + tilting
            g[(c + 4) * (c + 5) // 2 + d + 4] += s * s * uu + s * (ct * nd + dt * nc) + tilting
    for c in range(3):
        for d in range(3):
            uu = q[c * (c + 1) // 2 + d] if c >= d else q[d * (d + 1) // 2 + c]
            nc, nd = _entry(n, c), _entry(n, d)
            ct, dt = sign * q[tilt * (tilt + 1) // 2 + c], sign * q[tilt * (tilt + 1) // 2 + d]
            # row: the end's c, column: the beginning's d
            g[(c + 4) * (c + 5) // 2 + d] += w * s * uu - s * ct * nd + w * nc * dt - tt * nc * nd


@part
def _plain_motion(steps: Array, e: int, f: int, s: float, n: Vector) -> tuple[float, float, float, float]:
    """Motion of a point of an edge, and the edge's tilt."""
    x, y, z = steps[f, 0] - steps[e, 0], steps[f, 1] - steps[e, 1], steps[f, 2] - steps[e, 2]
    tilt = n[0] * x + n[1] * y + n[2] * z
    return steps[e, 0] + s * x, steps[e, 1] + s * y, steps[e, 2] + s * z, tilt


@part
def give_curvature(
    out: Array, q: Array, k: int, n: Vector, e: int, f: int, s: float, o: int, p: int, t: float, steps: Array
) -> None:
    """out += the part of the curvature that couples the sides."""
    ax, ay, az, ai = _plain_motion(steps, e, f, s, n)
    bx, by, bz, bj = _plain_motion(steps, o, p, t, n)
    # On side A what B's motion (-u, j) does, and the other way round.
    x = -q[k, 0] * bx - q[k, 1] * by - q[k, 3] * bz + q[k, 10] * bj
    y = -q[k, 1] * bx - q[k, 2] * by - q[k, 4] * bz + q[k, 11] * bj
    z = -q[k, 3] * bx - q[k, 4] * by - q[k, 5] * bz + q[k, 12] * bj
    i = -q[k, 6] * bx - q[k, 7] * by - q[k, 8] * bz + q[k, 13] * bj
    _spread(out, e, f, s, x, y, z, i, n)
    x = q[k, 0] * ax + q[k, 1] * ay + q[k, 3] * az + q[k, 6] * ai
    y = q[k, 1] * ax + q[k, 2] * ay + q[k, 4] * az + q[k, 7] * ai
    z = q[k, 3] * ax + q[k, 4] * ay + q[k, 5] * az + q[k, 8] * ai
    j = q[k, 10] * ax + q[k, 11] * ay + q[k, 12] * az + q[k, 13] * ai
    _spread(out, o, p, t, -x, -y, -z, j, n)


@part
def _spread(out: Array, e: int, f: int, s: float, x: float, y: float, z: float, tilt: float, n: Vector) -> None:
    w = 1.0 - s
    out[e, 0] += w * x - tilt * n[0]
    out[e, 1] += w * y - tilt * n[1]
    out[e, 2] += w * z - tilt * n[2]
    out[f, 0] += s * x + tilt * n[0]
    out[f, 1] += s * y + tilt * n[1]
    out[f, 2] += s * z + tilt * n[2]
