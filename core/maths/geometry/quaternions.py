"""Unit quaternions (w, x, y, z) of material frames: the columns of their rotation are the directors d1, d2 and the tangent d3."""

from __future__ import annotations

import math

from ...compile.jit import kernel
from .frames import Vector, cross

Quaternion = tuple[float, float, float, float]


@kernel
def product(p: Quaternion, q: Quaternion) -> Quaternion:
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


@kernel
def relative(p: Quaternion, q: Quaternion) -> Quaternion:
    """Rotation from p to q, in the frame of p; the shorter of the two."""
    r = product((p[0], -p[1], -p[2], -p[3]), q)
    return r if r[0] >= 0.0 else (-r[0], -r[1], -r[2], -r[3])


@kernel
def from_rotation_vector(w: Vector) -> Quaternion:
    """exp(w): rotation about w by its length (Zhao et al. 2022, (4) and (5))."""
    square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
    if square < 1e-4:  # series to round-off
        f = 0.5 - square * (1 / 48 - square * (1 / 3840 - square / 645120))
        c = 1.0 - square * (1 / 8 - square * (1 / 384 - square / 46080))
    else:
        angle = math.sqrt(square)
        f = math.sin(0.5 * angle) / angle
        c = math.cos(0.5 * angle)
    return (c, f * w[0], f * w[1], f * w[2])


@kernel
def rotation_vector(q: Quaternion) -> Vector:
    """Inverse of `from_rotation_vector`, with a length up to pi."""
    w, x, y, z = q if q[0] >= 0.0 else (-q[0], -q[1], -q[2], -q[3])
    sine = math.sqrt(x * x + y * y + z * z)
    if sine < 1e-3:
        square = sine * sine
        f = 2.0 + square * (1 / 3 + square * (3 / 20 + square * (5 / 56)))  # 2 asin(s) / s
    else:
        f = 2.0 * math.atan2(sine, w) / sine
    return (f * x, f * y, f * z)


@kernel
def turned(w: Vector, q: Quaternion) -> Quaternion:
    """exp(w) q, normalised."""
    r = product(from_rotation_vector(w), q)
    f = 1.0 / math.sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3])
    return (f * r[0], f * r[1], f * r[2], f * r[3])


@kernel
def directors_of(q: Quaternion) -> tuple[Vector, Vector, Vector]:
    """d1, d2, d3."""
    w, x, y, z = q
    d1 = (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y))
    d2 = (2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x))
    d3 = (2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y))
    return d1, d2, d3


@kernel
def from_frame(t: Vector, d: Vector) -> Quaternion:
    """Quaternion of the frame with tangent d3 = t and first director d1 = d, orthogonal unit vectors."""
    e = cross(t, d)
    # The rotation matrix has columns d, e, t. Starting with the largest of the four entries avoids small divisors.
    trace = d[0] + e[1] + t[2]
    if trace > 0.0:
        s = 2.0 * math.sqrt(1.0 + trace)
        q = (0.25 * s, (e[2] - t[1]) / s, (t[0] - d[2]) / s, (d[1] - e[0]) / s)
    elif d[0] >= e[1] and d[0] >= t[2]:
        s = 2.0 * math.sqrt(max(1.0 + d[0] - e[1] - t[2], 1e-300))
        q = ((e[2] - t[1]) / s, 0.25 * s, (e[0] + d[1]) / s, (t[0] + d[2]) / s)
    elif e[1] >= t[2]:
        s = 2.0 * math.sqrt(max(1.0 + e[1] - d[0] - t[2], 1e-300))
        q = ((t[0] - d[2]) / s, (e[0] + d[1]) / s, 0.25 * s, (t[1] + e[2]) / s)
    else:
        s = 2.0 * math.sqrt(max(1.0 + t[2] - d[0] - e[1], 1e-300))
        q = ((d[1] - e[0]) / s, (t[0] + d[2]) / s, (t[1] + e[2]) / s, 0.25 * s)
    f = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return (f * q[0], f * q[1], f * q[2], f * q[3])
