"""Motion of a rod's root: by its unknowns, and prescribed."""

from __future__ import annotations

import math

from ...compile.jit import part
from ...errors import Array
from .arrays import Arrays


@part
def shift_root(root: Array, frame: Array, r: int, step: Array, at: int, size: float) -> None:
    """Displaces root r by step[at:at + 3] and rotates it by the rotation vector step[at + 3:at + 6], both times `size`."""
    for c in range(3):
        root[r, c] += size * step[at + c]
    turn_frame(frame, r, size * step[at + 3], size * step[at + 4], size * step[at + 5])


@part
def turn_frame(frame: Array, r: int, x: float, y: float, z: float) -> None:
    """frame[r] becomes exp([x y z]) frame[r], column by column, and stays a rotation."""
    angle = math.sqrt(x * x + y * y + z * z)
    if angle == 0.0:
        return
    s = math.sin(angle) / angle
    half = math.sin(0.5 * angle) / angle
    c = 2.0 * half * half  # (1 - cos) / angle^2
    for j in range(3):
        a, b, d = frame[r, 0, j], frame[r, 1, j], frame[r, 2, j]
        u, v, w = y * d - z * b, z * a - x * d, x * b - y * a
        p, q, t = y * w - z * v, z * u - x * w, x * v - y * u
        frame[r, 0, j], frame[r, 1, j], frame[r, 2, j] = a + s * u + c * p, b + s * v + c * q, d + s * w + c * t
    _orthonormalise(frame, r)


@part
def _orthonormalise(frame: Array, r: int) -> None:
    """One Newton step towards the nearest rotation, against the accumulation of round-off."""
    g00 = g01 = g02 = g11 = g12 = g22 = 0.0
    for i in range(3):
        a, b, c = frame[r, i, 0], frame[r, i, 1], frame[r, i, 2]
        g00 += a * a
        g01 += a * b
        g02 += a * c
        g11 += b * b
        g12 += b * c
        g22 += c * c
    for i in range(3):
        a, b, c = frame[r, i, 0], frame[r, i, 1], frame[r, i, 2]
        frame[r, i, 0] = 1.5 * a - 0.5 * (a * g00 + b * g01 + c * g02)
        frame[r, i, 1] = 1.5 * b - 0.5 * (a * g01 + b * g11 + c * g12)
        frame[r, i, 2] = 1.5 * c - 0.5 * (a * g02 + b * g12 + c * g22)


@part
def rotation_between(a: Array, b: Array, r: int) -> tuple[float, float, float]:
    """Shortest rotation vector from frame a[r] to frame b[r]."""
    m00 = m01 = m02 = m10 = m11 = m12 = m20 = m21 = m22 = 0.0
    for j in range(3):
        x, y, z = b[r, 0, j], b[r, 1, j], b[r, 2, j]
        p, q, s = a[r, 0, j], a[r, 1, j], a[r, 2, j]
        m00, m01, m02 = m00 + x * p, m01 + x * q, m02 + x * s
        m10, m11, m12 = m10 + y * p, m11 + y * q, m12 + y * s
        m20, m21, m22 = m20 + z * p, m21 + z * q, m22 + z * s
    x, y, z = 0.5 * (m21 - m12), 0.5 * (m02 - m20), 0.5 * (m10 - m01)
    sine = math.sqrt(x * x + y * y + z * z)
    cosine = 0.5 * (m00 + m11 + m22 - 1.0)
    if sine < 1e-9:
        if cosine > 0.0:
            return x, y, z
        # Half a turn: the axis is a column of the matrix plus one.
        if m00 >= m11 and m00 >= m22:
            x, y, z = m00 + 1.0, m10, m20
        elif m11 >= m22:
            x, y, z = m01, m11 + 1.0, m21
        else:
            x, y, z = m02, m12, m22 + 1.0
        f = math.pi / math.sqrt(x * x + y * y + z * z)
        return x * f, y * f, z * f
    f = math.atan2(sine, cosine) / sine
    return x * f, y * f, z * f


@part
def place_root(b: Arrays, r: int, at: float) -> None:
    """Moves the prescribed parts of the root to the fraction `at` of the step."""
    holds, root, frame = b.holds, b.state.root, b.state.frame
    if b.rods.held_position[r]:
        for c in range(3):
            p, q = holds.position[0, r, c], holds.position[1, r, c]
            root[r, c] = q if at == 1.0 else p + at * (q - p)
    if b.rods.held_frame[r]:
        for i in range(3):
            for j in range(3):
                frame[r, i, j] = holds.frame[1 if at == 1.0 else 0, r, i, j]
        if at != 1.0:
            x, y, z = rotation_between(holds.frame[0], holds.frame[1], r)
            turn_frame(frame, r, at * x, at * y, at * z)


@part
def all_finite(values: Array, first: int, end: int) -> bool:
    size = 0.0
    for i in range(first, end):
        size += abs(values[i])
    return math.isfinite(size)
