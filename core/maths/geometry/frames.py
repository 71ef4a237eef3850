"""Frames along a curve and in time: parallel transport, signed angles."""

from __future__ import annotations

import math

from ...compile.jit import kernel, part
from ...compile.lanes import all_of, both, either, select
from ...errors import Array

Vector = tuple[float, float, float]


@kernel
def dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a: Vector, b: Vector) -> Vector:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@part
def unit(a: Vector) -> Vector:
    """a normalised; zero if it is zero."""
    size = math.sqrt(dot(a, a))
    f = 1.0 / size if size > 0.0 else 0.0
    return (f * a[0], f * a[1], f * a[2])


@kernel
def transport(u: Vector, t: Vector, s: Vector) -> Vector:
    """Parallel transport of u, a unit vector across t, to the unit tangent s, by the smallest rotation from t to s. For an
    antiparallel pair, where it is undefined, the result is still a unit vector across s."""
    b = cross(t, s)
    c = dot(t, s)
    k = dot(b, u) / max(1.0 + c, 1e-12)
    w = cross(b, u)
    x = c * u[0] + w[0] + k * b[0]
    y = c * u[1] + w[1] + k * b[1]
    z = c * u[2] + w[2] + k * b[2]
    # Remove round-off, which would tilt the frame over millions of steps.
    along = x * s[0] + y * s[1] + z * s[2]
    x -= along * s[0]
    y -= along * s[1]
    z -= along * s[2]
    square = x * x + y * y + z * z
    f = 1.5 - 0.5 * square  # 1 / sqrt(square) to round-off, cheaper than a root and a division
    close = abs(square - 1.0) < 1e-8
    if all_of(close):
        return (x * f, y * f, z * f)
    usable = square > 1e-18
    f = select(close, f, 1.0 / math.sqrt(select(usable, square, 1.0)))
    if all_of(usable):
        return (x * f, y * f, z * f)
    n = any_normal(s)
    return (select(usable, x * f, n[0]), select(usable, y * f, n[1]), select(usable, z * f, n[2]))


@kernel
def any_normal(t: Vector) -> Vector:
    """A unit vector across t, deterministic."""
    x, y, z = abs(t[0]), abs(t[1]), abs(t[2])
    first = both(x <= y, x <= z)
    second = y <= z
    axis = (
        select(first, 1.0, 0.0),
        select(first, 0.0, select(second, 1.0, 0.0)),
        select(either(first, second), 0.0, 1.0),
    )
    n = cross(t, axis)
    f = 1.0 / math.sqrt(dot(n, n))
    return (n[0] * f, n[1] * f, n[2] * f)


@kernel
def signed_angle(u: Vector, w: Vector, t: Vector) -> float:
    """rad, angle from u to w about t, in (-pi, pi]."""
    s = dot(cross(u, w), t)
    c = dot(u, w)
    q = s * s
    small = both(c > 0.5, abs(s) < 0.05)  # the usual case: series of asin to round-off, at a tenth of the cost
    series = s * (1.0 + q * (1 / 6 + q * (3 / 40 + q * (15 / 336 + q * (105 / 3456)))))
    if all_of(small):
        return series
    angle: float = select(small, series, math.atan2(s, c))
    return angle


@kernel
def sine_cosine(angle: float) -> tuple[float, float]:
    q = angle * angle
    small = abs(angle) < 0.1  # the usual case within a step: Taylor series to round-off
    sine = angle * (1.0 - q * (1 / 6 - q * (1 / 120 - q * (1 / 5040 - q / 362880))))
    cosine = 1.0 - q * (0.5 - q * (1 / 24 - q * (1 / 720 - q * (1 / 40320 - q / 3628800))))
    if all_of(small):
        return sine, cosine
    return select(small, sine, math.sin(angle)), select(small, cosine, math.cos(angle))


@kernel
def turn(u: Vector, t: Vector, angle: float) -> Vector:
    """u, a vector across t, rotated about t."""
    s, c = sine_cosine(angle)
    w = cross(t, u)
    return (c * u[0] + s * w[0], c * u[1] + s * w[1], c * u[2] + s * w[2])


@kernel
def bishop_directors(tangents: Array, first: Array, directors: Array) -> None:
    """Parallel transports `first`, a director of edge 0, along the curve (Bergou et al. 2008, section 4.2.2)."""
    u = (first[0], first[1], first[2])
    directors[0, 0], directors[0, 1], directors[0, 2] = u  # copying rows takes numba two seconds to compile
    for j in range(1, len(tangents)):
        t = (tangents[j - 1, 0], tangents[j - 1, 1], tangents[j - 1, 2])
        s = (tangents[j, 0], tangents[j, 1], tangents[j, 2])
        u = transport(u, t, s)
        directors[j, 0], directors[j, 1], directors[j, 2] = u


@kernel
def twist_angles(tangents: Array, directors: Array, angles: Array) -> None:
    """angles[i] is the twist from edge i - 1 to edge i, in (-pi, pi]; angles[0] is that from the last edge to the first."""
    m = len(tangents)
    for i in range(m):
        p = (i - 1) % m
        t = (tangents[p, 0], tangents[p, 1], tangents[p, 2])
        s = (tangents[i, 0], tangents[i, 1], tangents[i, 2])
        u = transport((directors[p, 0], directors[p, 1], directors[p, 2]), t, s)
        angles[i] = signed_angle(u, (directors[i, 0], directors[i, 1], directors[i, 2]), s)
