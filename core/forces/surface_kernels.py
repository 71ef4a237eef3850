"""Force fields that act from the nearest point of a surface."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..compile.jit import kernel
from ..errors import Array
from ..maths.geometry.closest import closest_on_triangle, minus
from ..maths.geometry.frames import cross, dot, unit
from ..maths.linalg.small import get3
from .field_kernels import AXIS, PLACE, acceleration


def balls_around(vertices: Array, triangles: NDArray[np.int64]) -> Array:
    """(m, 4) bounding sphere of each triangle: centre and radius."""
    corners = vertices[triangles]
    centres = corners.mean(axis=1)
    radii = np.linalg.norm(corners - centres[:, None], axis=2).max(axis=1)
    return np.concatenate([centres, radii[:, None]], axis=1)


@kernel
def apply_surface(
    f: Array,
    vertices: Array,
    triangles: NDArray[np.int64],
    balls: Array,
    x: Array,
    v: Array,
    mass: Array,
    h: float,
    forces: Array,
) -> None:
    """Adds the force of a field on points with mass. Place and axis are written to its row `f`."""
    nearest = 0  # tried first, because neighbours on a rod are near the same triangle
    for i in range(len(x)):
        if mass[i] == 0.0:
            continue
        p = (x[i, 0], x[i, 1], x[i, 2])
        best = math.inf
        for turn in range(len(triangles) + 1):
            k = nearest if turn == 0 else turn - 1
            far = math.sqrt((p[0] - balls[k, 0]) ** 2 + (p[1] - balls[k, 1]) ** 2 + (p[2] - balls[k, 2]) ** 2)
            if far - balls[k, 3] >= best:
                continue
            a = get3(vertices, triangles[k, 0])
            b = get3(vertices, triangles[k, 1])
            c = get3(vertices, triangles[k, 2])
            share = closest_on_triangle(p, a, b, c)
            q = (
                share[0] * a[0] + share[1] * b[0] + share[2] * c[0],
                share[0] * a[1] + share[1] * b[1] + share[2] * c[1],
                share[0] * a[2] + share[1] * b[2] + share[2] * c[2],
            )
            away = minus(p, q)
            distance = math.sqrt(dot(away, away))
            if distance < best:
                best, nearest = distance, k
                normal = unit(cross(minus(b, a), minus(c, a)))
                for j in range(3):
                    f[PLACE + j], f[AXIS + j] = q[j], normal[j]
        force = acceleration(f, p, (v[i, 0], v[i, 1], v[i, 2]), h)
        for j in range(3):
            forces[i, j] += mass[i] * force[j]
