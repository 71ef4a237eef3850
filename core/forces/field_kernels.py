"""Accelerations of points by force fields. `f` is a row of `Field.numbers()`."""

from __future__ import annotations

import math

from ..compile.jit import kernel, part
from ..describe.fields import FALLOFFS, KINDS, SHAPES
from ..errors import Array, Ints
from ..maths.geometry.frames import Vector, cross, dot, unit
from .noise import turbulence

(KIND, SHAPE, FALLOFF, SIDE, STRENGTH, FLOW, DAMPING, REST, SIZE, SEED, GRAVITATION, POWER, LEAST, MOST,
 RADIAL_POWER, RADIAL_LEAST, RADIAL_MOST, PLACE) = range(18)  # fmt: skip
AXIS = PLACE + 3
# Of the field as a whole, where each of its points has its own place and axis.
CENTRE = AXIS + 3
CENTRE_AXIS = CENTRE + 3
# index of this point among COUNT points that act on every COUNT-th vertex; COUNT zero: acts on all
NUMBER, COUNT = CENTRE_AXIS + 3, CENTRE_AXIS + 4
# `Field.numbers()` numbers these by their index in the lists of `describe/fields.py`; a list of another length fails at import.
WIND, FORCE, VORTEX, MAGNETIC, HARMONIC, TURBULENCE, DRAG = range(len(KINDS))
POINT, LINE, PLANE, POINTS, SURFACE = range(len(SHAPES))
SPHERE, TUBE, CONE = range(len(FALLOFFS))


@part
def attenuation(distance: float, power: float, least: float, most: float) -> float:
    if distance > most:
        return 0.0
    if distance < least:
        return 1.0
    return math.pow(1.0 + distance - least, -power)


@part
def mean_damping(rate: float, h: float) -> float:
    """1/s, damping rate averaged over a step of exponential decay, which never reverses the velocity; `rate` for short steps."""
    return rate if abs(rate) * h < 1e-6 else (1.0 - math.exp(-rate * h)) / h


@part
def falloff_at(f: Array, z: Vector, from_centre: Vector, distance: float) -> float:
    along = dot(z, from_centre)
    if (f[SIDE] == 1.0 and along < 0.0) or (f[SIDE] == 2.0 and along > 0.0):
        return 0.0
    if f[FALLOFF] == SPHERE:
        return attenuation(distance, f[POWER], f[LEAST], f[MOST])
    size = math.sqrt(dot(from_centre, from_centre))
    if f[FALLOFF] == TUBE:
        radial = math.sqrt(max(size * size - along * along, 0.0))
    else:
        radial = math.degrees(math.acos(min(max(along / size, -1.0), 1.0))) if size > 0.0 else 0.0
    return attenuation(abs(along), f[POWER], f[LEAST], f[MOST]) * attenuation(
        radial, f[RADIAL_POWER], f[RADIAL_LEAST], f[RADIAL_MOST]
    )


@part
def acceleration(f: Array, x: Vector, v: Vector, h: float) -> Vector:
    """m/s2, at a position and velocity."""
    kind, shape, strength = int(f[KIND]), int(f[SHAPE]), f[STRENGTH]
    z = (f[AXIS], f[AXIS + 1], f[AXIS + 2])
    from_place = (x[0] - f[PLACE], x[1] - f[PLACE + 1], x[2] - f[PLACE + 2])
    from_centre = (x[0] - f[CENTRE], x[1] - f[CENTRE + 1], x[2] - f[CENTRE + 2])
    along = dot(z, from_place)
    # Offset from the nearest point of the shape; for vortices a plane acts as an axis.
    to = from_place
    if shape == LINE or (shape == PLANE and kind == VORTEX):
        to = (to[0] - along * z[0], to[1] - along * z[1], to[2] - along * z[2])
    elif shape == PLANE:
        to = (along * z[0], along * z[1], along * z[2])
    distance = math.sqrt(dot(to, to))
    fall = falloff_at(f, z, from_centre, distance)
    if fall == 0.0:
        return (0.0, 0.0, 0.0)
    k = strength * fall
    speed = math.sqrt(dot(v, v))
    a = (0.0, 0.0, 0.0)
    slow = f[FLOW] * fall  # 1/s
    if kind == WIND:
        a = (k * z[0], k * z[1], k * z[2])
    elif kind == FORCE:
        if f[GRAVITATION] != 0.0:
            k = k / (distance * distance) if distance > 1e-7 else 0.0
        d = unit(to)
        a = (k * d[0], k * d[1], k * d[2])
    elif kind == VORTEX:
        if shape == POINT:
            d = unit(cross(z, to))
            a = (k * distance * d[0], k * distance * d[1], k * distance * d[2])
        else:  # accelerates towards a flow that rotates about the axis
            axis = (f[CENTRE_AXIS], f[CENTRE_AXIS + 1], f[CENTRE_AXIS + 2])
            s = cross(axis, from_centre)
            s = (k * s[0], k * s[1], k * s[2])
            c = cross(axis, s)
            a = (k * c[0] + s[0] - v[0], k * c[1] + s[1] - v[1], k * c[2] + s[2] - v[2])
    elif kind == MAGNETIC:
        b = unit(cross(z, to)) if shape in (POINT, LINE) else z
        a = cross(v, (k * b[0], k * b[1], k * b[2]))
    elif kind == HARMONIC:
        part_of_way = (distance - f[REST]) / distance if distance > 0.0 else 0.0
        a = (-k * part_of_way * to[0], -k * part_of_way * to[1], -k * part_of_way * to[2])
        slow = f[DAMPING] * 2.0 * math.sqrt(abs(strength))
    elif kind == TURBULENCE:
        a = turbulence(x, max(f[SIZE], 1e-6), int(f[SEED]))
        a = (k * a[0], k * a[1], k * a[2])
    elif kind == DRAG:
        slow = fall * (strength * speed + f[DAMPING])
    slow = mean_damping(slow, h)
    return (a[0] - slow * v[0], a[1] - slow * v[1], a[2] - slow * v[2])


@kernel
def apply_fields(fields: Array, number: Ints, x: Array, v: Array, mass: Array, h: float, forces: Array) -> None:
    """Adds the force of all fields on points with mass; `number` is the index of a point within its rod."""
    for i in range(len(x)):
        if mass[i] == 0.0:
            continue
        place, speed = (x[i, 0], x[i, 1], x[i, 2]), (v[i, 0], v[i, 1], v[i, 2])
        for j in range(len(fields)):
            f = fields[j]
            if f[COUNT] > 0.0 and number[i] % int(f[COUNT]) != int(f[NUMBER]):
                continue
            a = acceleration(f, place, speed, h)
            for c in range(3):
                forces[i, c] += mass[i] * a[c]
