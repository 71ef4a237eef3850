"""Smooth noise in space: interpolated gradients on a lattice (Perlin 2002)."""

from __future__ import annotations

import math

from ..compile.jit import part
from ..maths.geometry.frames import Vector

OCTAVES = 3  # each with half the amplitude and twice the frequency


@part
def lattice_hash(x: int, y: int, z: int, seed: int) -> int:
    """Pseudo-random hash of a lattice corner."""
    n = (x * 73856093) ^ (y * 19349663) ^ (z * 83492791) ^ (seed * 50331653)
    n = (n ^ (n >> 13)) * 1274126177 & 0x7FFFFFFF
    return (n ^ (n >> 16)) * 668265263 & 0x7FFFFFFF


@part
def gradient_at(corner: int, x: float, y: float, z: float) -> float:
    """One of twelve gradients, times the offset from the corner."""
    h = (corner >> 8) % 12
    a = x if h < 8 else y
    b = y if h < 4 else z
    return (a if h & 1 == 0 else -a) + (b if h & 2 == 0 else -b)


@part
def noise(x: float, y: float, z: float, seed: int) -> float:
    """About -1 to 1, zero at the corners of a unit lattice."""
    i, j, k = math.floor(x), math.floor(y), math.floor(z)
    x, y, z = x - i, y - j, z - k
    u = x * x * x * (x * (x * 6.0 - 15.0) + 10.0)
    v = y * y * y * (y * (y * 6.0 - 15.0) + 10.0)
    w = z * z * z * (z * (z * 6.0 - 15.0) + 10.0)
    total = 0.0
    for c in range(8):
        a, b, d = c & 1, (c >> 1) & 1, c >> 2
        share = (u if a else 1.0 - u) * (v if b else 1.0 - v) * (w if d else 1.0 - w)
        corner = lattice_hash(int(i) + a, int(j) + b, int(k) + d, seed)
        total += share * gradient_at(corner, x - a, y - b, z - d)
    return total


@part
def octaves(x: float, y: float, z: float, seed: int) -> float:
    total, size, scale = 0.0, 1.0, 1.0
    for _ in range(OCTAVES):
        total += size * noise(x * scale, y * scale, z * scale, seed)
        size *= 0.5
        scale *= 2.0
    return total / 1.75


@part
def turbulence(x: Vector, size: float, seed: int) -> Vector:
    """Noise vector with eddies of the given size (m)."""
    a, b, c = x[0] / size, x[1] / size, x[2] / size
    return (octaves(a, b, c, seed), octaves(b, c, a, seed + 1), octaves(c, a, b, seed + 2))
