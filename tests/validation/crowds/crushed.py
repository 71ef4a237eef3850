"""Bundles between moving boxes. Where the boxes leave room, nothing may overlap; where they do not, the report has to say so."""

from __future__ import annotations

import numpy as np
from tendril.bench.mass_scenes import hexagon
from tendril.core import Box, Plane, Scene

from .drawing import Array, Crowd, Draw, line, moved, ramp


def pushed_together(draw: Draw) -> Crowd:
    """Walls push rods on a floor together, from gaps of half a diameter to almost none; others that lie in the gaps are lifted."""
    scene = Scene(rod_contact=True)
    scene.collide(Plane(), friction=0.1)
    radius, count = draw.radius(2e-3, 6e-3), draw.count((4, 6), (6, 30))
    spacing, closed = 3.0 * radius, draw.between(2.1, 2.4) * radius
    material, friction = draw.rope(), draw.between(0.0, 0.3)  # far from where rods jam
    for k in range(count):
        y = spacing * (k - 0.5 * (count - 1))
        draw.add(scene, moved(line(0.2, 12), 0.0, y, 1.1 * radius), radius, material, friction=friction)
        if k + 1 < count:
            above = moved(line(0.2, 12), 0.0, y + 0.5 * spacing, 2.6 * radius)
            draw.add(scene, above, radius, material, friction=friction)
    for side in (-1.0, 1.0):

        def path(t: float, side: float = side) -> tuple[Array, Array]:
            s = ramp(t, 0.5)
            width = (count - 1) * ((1.0 - s) * spacing + s * closed)
            return np.array([0.0, side * (0.5 * width + 1.2 * radius + 0.02), 0.05]), np.eye(3)

        scene.collide(Box((0.3, 0.04, 0.2), path(0.0)[0]), friction=0.1, path=path)
    return draw.crowd(scene, draw.frames(10, 30), "rods pushed together", driven=True)


def pressed(draw: Draw, gap: float, feasible: bool) -> Crowd:
    """Rods on a plate under another one that comes down to `gap` radii above it."""
    scene = Scene(rod_contact=True)
    radius, bundle = draw.radius(2e-3, 6e-3), hexagon(1, 1.0)
    material, friction = draw.rope(), draw.between(0.0, 0.15)  # rods that roll off each other jam from 0.27 on
    scene.collide(Box((0.4, 0.4, 0.04), (0.0, 0.0, -0.02)), friction=0.1)
    spacing = 2.3 * radius
    height = 2.0 * spacing * np.sqrt(0.75) + 2.2 * radius

    def path(t: float) -> tuple[Array, Array]:
        s = ramp(t, 0.35)
        return np.array([0.0, 0.0, 0.02 + (1.0 - s) * height + s * gap * radius]), np.eye(3)

    scene.collide(Box((0.4, 0.4, 0.04), path(0.0)[0]), friction=0.1, path=path)
    for y, z in spacing * bundle:
        points = moved(line(0.2, 12), 0.0, y, z + 0.5 * height)
        draw.add(scene, points, radius, material, friction=friction)
    return draw.crowd(scene, draw.frames(10, 24), f"bundle pressed to {gap:.2f} radii", driven=True, feasible=feasible)


def flattened(draw: Draw) -> Crowd:
    """Room for one layer."""
    return pressed(draw, draw.between(2.3, 3.0), True)


def impossible(draw: Draw) -> Crowd:
    """Less room than a rod is thick."""
    return pressed(draw, draw.between(1.0, 1.6), False)
