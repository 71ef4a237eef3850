"""Air: every edge is a piece of cylinder in a stream."""

from __future__ import annotations

import math

from ..compile.jit import part
from ..errors import Array

VISCOSITY = 1.8e-5  # of air at 15 degrees C, Pa s
SKIN_FRICTION = 0.02  # of a cylinder along its axis


@part
def cylinder_drag(
    radii: Array,
    mass: Array,
    q: Array,
    v: Array,
    wind: Array,
    air_density: float,
    rate: float,
    drag: Array,
    first: int,
    end: int,
    closed: bool,
) -> None:
    """Writes the drag's matrix (xx yx yy zx zy zz, kg/s) of a rod's vertices, for the speed that they have now.

    Across the axis a cylinder in a stream of Reynolds number Re has the drag coefficient 1 + 10 Re^(-2/3) (White), so that
    a hair and a hawser both feel what they should; along it there is skin friction. `rate` (1/s) adds drag in proportion
    to mass.
    """
    for i in range(first, end):
        isotropic = rate * mass[i, 0]
        for c in range(6):
            drag[i, c] = 0.0
        drag[i, 0] = isotropic
        drag[i, 2] = isotropic
        drag[i, 5] = isotropic
    if air_density == 0.0:
        return
    for i in range(first, end if closed else end - 1):
        j = i + 1 if i + 1 < end else first
        x, y, z = q[j, 0] - q[i, 0], q[j, 1] - q[i, 1], q[j, 2] - q[i, 2]
        length = math.sqrt(x * x + y * y + z * z)
        x, y, z = x / length, y / length, z / length
        wx = 0.5 * (v[i, 0] + v[j, 0]) - wind[0]
        wy = 0.5 * (v[i, 1] + v[j, 1]) - wind[1]
        wz = 0.5 * (v[i, 2] + v[j, 2]) - wind[2]
        along = wx * x + wy * y + wz * z
        across = math.sqrt(max(wx * wx + wy * wy + wz * wz - along * along, 0.0))
        radius = 0.5 * (radii[i, 0] + radii[i, 1])
        reynolds = air_density * across * 2.0 * radius / VISCOSITY
        coefficient = 1.0 + 10.0 / math.pow(reynolds, 2.0 / 3.0) if reynolds > 0.0 else 0.0
        normal = 0.5 * air_density * coefficient * 2.0 * radius * length * across
        axial = 0.5 * air_density * SKIN_FRICTION * 2.0 * math.pi * radius * length * abs(along)
        for k in (i, j):
            f, g = 0.5 * normal, 0.5 * (axial - normal)
            drag[k, 0] += f + g * x * x
            drag[k, 1] += g * y * x
            drag[k, 2] += f + g * y * y
            drag[k, 3] += g * z * x
            drag[k, 4] += g * z * y
            drag[k, 5] += f + g * z * z
