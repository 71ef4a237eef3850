"""Air drag: every edge is a piece of cylinder in a stream."""

from __future__ import annotations

import math

from ..compile.jit import part
from ..compile.lanes import any_of, select
from ..errors import Array
from ..maths.geometry.frames import Vector, dot

VISCOSITY = 1.8e-5  # of air at 15 degrees C, Pa s
SKIN_FRICTION = 0.02  # of a cylinder along its axis


@part
def cylinder_coefficients(
    radius: float, length: float, across: float, along: float, air_density: float
) -> tuple[float, float]:
    """Drag per velocity (kg/s) of a piece of cylinder, across and along its axis, at speeds `across` and `along` (m/s).

    Across the axis a cylinder in a stream of Reynolds number Re has the drag coefficient 1 + 10 Re^(-2/3) (White), so that
    a hair and a hawser both feel what they should; along it there is skin friction.
    """
    reynolds = air_density * across * 2.0 * radius / VISCOSITY
    moving = reynolds > 0.0
    coefficient = select(moving, 1.0 + 10.0 / math.pow(select(moving, reynolds, 1.0), 2.0 / 3.0), 0.0)
    normal = 0.5 * air_density * coefficient * 2.0 * radius * length * across
    axial = 0.5 * air_density * SKIN_FRICTION * 2.0 * math.pi * radius * length * abs(along)
    return normal, axial


@part
def add_edge_drag(
    drag: Array, i: int, j: int, radius: float, length: float, t: Vector, w: Vector, air_density: float
) -> None:
    """Adds half the drag matrix of an edge with tangent t, which moves through the air at w (m/s), to rows i and j of `drag`."""
    along = dot(w, t)
    across = math.sqrt(max(dot(w, w) - along * along, 0.0))
    normal, axial = cylinder_coefficients(radius, length, across, along, air_density)
    f, g = 0.5 * normal, 0.5 * (axial - normal)
    for k in (i, j):
        drag[k, 0] += f + g * t[0] * t[0]
        drag[k, 1] += g * t[1] * t[0]
        drag[k, 2] += f + g * t[1] * t[1]
        drag[k, 3] += g * t[2] * t[0]
        drag[k, 4] += g * t[2] * t[1]
        drag[k, 5] += f + g * t[2] * t[2]


@part
def has_drag(drag: Array, i: int) -> bool:
    """False if the matrix in row i is zero, in all lanes."""
    return any_of(abs(drag[i, 0]) + abs(drag[i, 2]) + abs(drag[i, 5]) > 0.0)


@part
def isotropic_drag(drag: Array, i: int, value: float) -> None:
    """Row i becomes a drag that is the same in all directions."""
    for c in range(6):
        drag[i, c] = 0.0
    drag[i, 0] = drag[i, 2] = drag[i, 5] = value


@part
def add_brakes(drag: Array, brakes: Array, first: int, end: int) -> None:
    """Adds a drag (kg/s) that is the same in all directions to each row."""
    for i in range(first, end):
        for c in (0, 2, 5):
            drag[i, c] += brakes[i]


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

    `rate` (1/s) adds drag in proportion to mass.
    """
    for i in range(first, end):
        isotropic_drag(drag, i, rate * mass[i, 0])
    if air_density == 0.0:
        return
    for i in range(first, end if closed else end - 1):
        j = i + 1 if i + 1 < end else first
        x, y, z = q[j, 0] - q[i, 0], q[j, 1] - q[i, 1], q[j, 2] - q[i, 2]
        length = math.sqrt(x * x + y * y + z * z)
        t = (x / length, y / length, z / length)
        w = (
            0.5 * (v[i, 0] + v[j, 0]) - wind[0],
            0.5 * (v[i, 1] + v[j, 1]) - wind[1],
            0.5 * (v[i, 2] + v[j, 2]) - wind[2],
        )
        add_edge_drag(drag, i, j, 0.5 * (radii[i, 0] + radii[i, 1]), length, t, w, air_density)
