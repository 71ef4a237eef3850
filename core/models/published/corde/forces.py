"""Forces on points and torques on frames of CoRdE; numbers in parentheses are equations of Spillmann and Teschner 2009.

A quaternion q = (q1, q2, q3, q4) has the scalar last. The vectors B_k q are an orthonormal basis of the complement of q: q
rotating at the rate omega (in its own frame) changes by the sum of omega_k B_k q / 2, and a force f on q is the torque B_k q .
f / 2 about the k-th axis.
"""

from __future__ import annotations

import math

from ....compile.jit import part
from ....maths.geometry.frames import Vector, cross, dot
from ....maths.geometry.swing_twist import strain_gradients
from ....maths.linalg.small import matvec_t

Quaternion = tuple[float, float, float, float]


@part
def times_b(k: int, q: Quaternion) -> Quaternion:
    """B_k q (appendix I), k from 0."""
    if k == 0:
        return (q[3], q[2], -q[1], -q[0])
    if k == 1:
        return (-q[2], q[3], q[0], -q[1])
    return (q[1], -q[0], q[3], -q[2])


@part
def dot4(a: Quaternion, b: Quaternion) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]


@part
def first_director(q: Quaternion) -> Vector:
    x, y, z, w = q
    return (x * x - y * y - z * z + w * w, 2.0 * (x * y + z * w), 2.0 * (x * z - y * w))


@part
def third_director(q: Quaternion) -> Vector:
    x, y, z, w = q
    return (2.0 * (x * z + y * w), 2.0 * (y * z - x * w), w * w + z * z - x * x - y * y)


@part
def to_frame(q: Quaternion, a: Vector) -> Vector:
    """A vector in world space, expressed in the frame of a unit quaternion."""
    x, y, z, w = q
    v = (-x, -y, -z)
    b = cross(v, a)
    c = cross(v, b)
    return (a[0] + 2.0 * (w * b[0] + c[0]), a[1] + 2.0 * (w * b[1] + c[1]), a[2] + 2.0 * (w * b[2] + c[2]))


@part
def to_space(q: Quaternion, a: Vector) -> Vector:
    x, y, z, w = q
    return to_frame((-x, -y, -z, w), a)


@part
def turned(q: Quaternion, w: Vector) -> Quaternion:
    """q after a small rotation w in its own frame, (22), normalised."""
    a, b, c = times_b(0, q), times_b(1, q), times_b(2, q)
    x, y, z = 0.5 * w[0], 0.5 * w[1], 0.5 * w[2]
    p = (
        q[0] + x * a[0] + y * b[0] + z * c[0],
        q[1] + x * a[1] + y * b[1] + z * c[1],
        q[2] + x * a[2] + y * b[2] + z * c[2],
        q[3] + x * a[3] + y * b[3] + z * c[3],
    )
    f = 1.0 / math.sqrt(dot4(p, p))
    return (p[0] * f, p[1] * f, p[2] * f, p[3] * f)


@part
def segment_force(e: Vector, dv: Vector, length: float, stretch: float, gamma_t: float) -> Vector:
    """N, force on the head of a segment e with relative velocity dv (minus that on its tail): stretching (18) and friction (23,
    24)."""
    long = math.sqrt(dot(e, e))
    square = length * length
    # -dD/dv of D = l / 2 gamma_t |v_rel|^2, v_rel = e (dv.e) / l^3.
    rub = gamma_t * length * dot(e, e) * dot(dv, e) / (square * square * square)
    f = -stretch * (long / length - 1.0) / long - rub
    return (f * e[0], f * e[1], f * e[2])


@part
def constraint(e: Vector, q: Quaternion, length: float, kappa: float) -> tuple[Vector, Vector]:
    """Constraint that aligns the third director with the segment, with the energy l kappa (1 - t.d3) by (16): the force on its
    head (minus that on its tail), l kappa (d3 - (t.d3) t) / |e|, and the torque on its frame (in that frame), l kappa d3 x t."""
    f = 1.0 / math.sqrt(dot(e, e))
    t = (f * e[0], f * e[1], f * e[2])
    d3 = third_director(q)
    along, k = dot(t, d3), length * kappa
    g = k * f
    force = (g * (d3[0] - along * t[0]), g * (d3[1] - along * t[1]), g * (d3[2] - along * t[2]))
    s = to_frame(q, t)
    return force, (-k * s[1], k * s[0], 0.0)


@part
def between(a: Quaternion, b: Quaternion) -> Quaternion:
    """conj(a) b, the rotation from frame a to frame b, in the frame of a. Unlike others its scalar comes first, as in
    `geometry/swing_twist.py`; the vector part is that of (19), B_k (a + b) . (b - a) / 2."""
    return (dot4(a, b), dot4(times_b(0, a), b), dot4(times_b(1, a), b), dot4(times_b(2, a), b))


@part
def bending_torques(rotation: Quaternion, stress: Vector) -> tuple[Vector, Vector]:
    """Torques of an orientation element on its two frames, each in its own frame: M^T s with the strains' gradients M."""
    m = strain_gradients(rotation)
    on_a = matvec_t(m, stress)
    on_b = to_frame((rotation[1], rotation[2], rotation[3], rotation[0]), on_a)
    return on_a, (-on_b[0], -on_b[1], -on_b[2])
