"""Bending and twist of the rotation between two frames, and their derivatives.

Any rotation is a turn by half the twist about the third axis, a bend by an angle b about an axis across it, and the other half of
the twist. Of its quaternion (w, x, y, z) the part (w, z) is cos(b / 2) times the cosine and sine of half the twist, and (x, y) is
sin(b / 2) times the axis of the bend. The strains are the components b1, b2 of the bend, and the twist: the rotation vector
where a rotation only bends or only twists, and third-order terms from it elsewhere. A rotation vector is singular at a whole
turn; the twist is not, so that turns can be counted. Where the frames' third axes oppose each other, the strains are undefined.
"""

from __future__ import annotations

import math

from ...compile.jit import kernel, part
from ..linalg.small import Matrix
from .frames import Vector
from .quaternions import Quaternion

SERIES = 0.01  # sin^2(b / 2) below which power series replace quotients of small differences
LEAST_COSINE = 1e-8  # lower bound of cos^2(b / 2) in derivatives


@kernel
def bending_and_twist(q: Quaternion, near: float) -> Vector:
    """b1, b2 and the twist of a rotation; of the twists that differ by whole turns, the one nearest to `near`."""
    twist = 2.0 * math.atan2(q[3], q[0])
    turns = math.floor((near - twist) / (2.0 * math.pi) + 0.5)
    f = _angle_by_sine(q[1] * q[1] + q[2] * q[2])
    if turns != 2.0 * math.floor(0.5 * turns):
        f = -f
    return (f * q[1], f * q[2], twist + 2.0 * math.pi * turns)


@part
def facing(q: Quaternion, twist: float) -> Quaternion:
    """q or -q, whichever belongs to the twist."""
    if q[0] * math.cos(0.5 * twist) + q[3] * math.sin(0.5 * twist) < 0.0:
        return (-q[0], -q[1], -q[2], -q[3])
    return q


@part
def _angle_by_sine(n: float) -> float:
    """b / sin(b / 2), given n = sin^2(b / 2)."""
    if n < SERIES:
        return 2.0 + n * (
            1 / 3 + n * (3 / 20 + n * (5 / 56 + n * (35 / 576 + n * (63 / 1408 + n * (231 / 6656 + n * (143 / 5120))))))
        )
    sine = math.sqrt(n)
    return 2.0 * math.atan2(sine, math.sqrt(max(1.0 - n, 0.0))) / sine


@part
def _slopes(n: float) -> tuple[float, float, float]:
    """f = b / s as a function of s = sin(b / 2), given n = s^2; then g = f' / s and g' / s."""
    if n < SERIES:
        g = 2 / 3 + n * (
            3 / 5
            + n
            * (15 / 28 + n * (35 / 72 + n * (315 / 704 + n * (693 / 1664 + n * (1001 / 2560 + n * (6435 / 17408))))))
        )
        more = 6 / 5 + n * (
            15 / 7 + n * (35 / 12 + n * (315 / 88 + n * (3465 / 832 + n * (3003 / 640 + n * (45045 / 8704)))))
        )
        return _angle_by_sine(n), g, more
    c2 = max(1.0 - n, LEAST_COSINE)
    c = math.sqrt(c2)
    f = _angle_by_sine(n)
    g = (2.0 / c - f) / n
    return f, g, (2.0 / (c * c2) - 3.0 * g) / n


@part
def strain_gradients(q: Quaternion) -> Matrix:
    """Rows: change of b1, b2 and the twist of q with a small rotation psi, where q becomes exp(psi) q."""
    w, x, y, z = q
    f, g, _ = _slopes(x * x + y * y)
    c2 = max(w * w + z * z, LEAST_COSINE)
    e0, e1 = 0.5 * (w * x - z * y), 0.5 * (z * x + w * y)  # x dx + y dy
    half = 0.5 * f
    return (
        half * w + g * x * e0, half * z + g * x * e1, -half * y,
        -half * z + g * y * e0, half * w + g * y * e1, half * x,
        2.0 * e1 / c2, -2.0 * e0 / c2, 1.0,
    )  # fmt: skip


@part
def strain_curvature(q: Quaternion, stress: Vector, gradients: Matrix) -> Matrix:
    """Second derivatives of the strains, summed with the stresses on them; with respect to psi as in `strain_gradients`."""
    w, x, y, z = q
    _, g, more = _slopes(x * x + y * y)
    c2 = max(w * w + z * z, LEAST_COSINE)
    along = stress[0] * x + stress[1] * y
    xx = g * (2.0 * stress[0] * x + along) + more * along * x * x
    xy = g * (stress[0] * y + stress[1] * x) + more * along * x * y
    yy = g * (2.0 * stress[1] * y + along) + more * along * y * y
    a = (0.5 * w, 0.5 * z, -0.5 * y)  # dx
    b = (-0.5 * z, 0.5 * w, 0.5 * x)  # dy
    e = (x * a[0] + y * b[0], x * a[1] + y * b[1], 0.0)
    t = (gradients[6], gradients[7], gradients[8])
    u, shift = stress[2] / c2, -0.5 * along / math.sqrt(c2)
    k00 = xx * a[0] * a[0] + 2.0 * xy * a[0] * b[0] + yy * b[0] * b[0] + 2.0 * u * e[0] * t[0] + shift
    k11 = xx * a[1] * a[1] + 2.0 * xy * a[1] * b[1] + yy * b[1] * b[1] + 2.0 * u * e[1] * t[1] + shift
    k22 = xx * a[2] * a[2] + 2.0 * xy * a[2] * b[2] + yy * b[2] * b[2] + shift
    k01 = xx * a[0] * a[1] + xy * (a[0] * b[1] + a[1] * b[0]) + yy * b[0] * b[1] + u * (e[0] * t[1] + e[1] * t[0])
    k02 = xx * a[0] * a[2] + xy * (a[0] * b[2] + a[2] * b[0]) + yy * b[0] * b[2] + u * e[0]
    k12 = xx * a[1] * a[2] + xy * (a[1] * b[2] + a[2] * b[1]) + yy * b[1] * b[2] + u * e[1]
    return (k00, k01, k02, k01, k11, k12, k02, k12, k22)
