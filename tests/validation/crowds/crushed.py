"""Bundles between moving boxes. Where the boxes leave room, nothing may overlap; where they do not, the report has to say so."""

from __future__ import annotations

import numpy as np
from tendril.bench.mass_scenes import hexagon
from tendril.core import Box, Plane, Scene

from .drawing import Array, Crowd, Draw, line, moved, ramp


def pushed_together(draw: Draw) -> Crowd:
    """Walls push rods that lie side by side on a floor to two thirds of their width: they pile up."""
    scene = Scene(rod_contact=True)
    scene.collide(Plane(), friction=draw.friction())
    radius, count = draw.radius(2e-3, 6e-3), draw.count((5, 8), (10, 40))
    spacing = 2.2 * radius
    half = 0.5 * spacing * count
    material, friction = draw.rope(), draw.friction()
    for k in range(count):
        y = spacing * (k - 0.5 * (count - 1))
        points = moved(line(0.2, 12), 0.0, y, (1.1 + 0.3 * (k % 2)) * radius)
        draw.add(scene, points, radius, material, friction=friction)
    for side in (-1.0, 1.0):

        def path(t: float, side: float = side) -> tuple[Array, Array]:
            at = side * (half * (1.0 - ramp(t, 0.8) / 3.0) + 0.02 + 0.2 * radius)
            return np.array([0.0, at, 0.05]), np.eye(3)

        wall = Box((0.3, 0.04, 0.2), path(0.0)[0])
        scene.collide(wall, friction=0.3, path=path)
    return draw.crowd(scene, draw.frames(10, 30), "rods pushed together", driven=True)


def pressed(draw: Draw, gap: float, feasible: bool) -> Crowd:
    """Rods on a plate under another one that comes down to `gap` radii above it."""
    scene = Scene(rod_contact=True)
    radius, bundle = draw.radius(2e-3, 6e-3), hexagon(1, 1.0)
    material, friction = draw.rope(), draw.friction()
    scene.collide(Box((0.4, 0.4, 0.04), (0.0, 0.0, -0.02)), friction=0.5)
    spacing = 2.3 * radius
    height = 2.0 * spacing * np.sqrt(0.75) + 2.2 * radius

    def path(t: float) -> tuple[Array, Array]:
        s = ramp(t, 0.35)
        return np.array([0.0, 0.0, 0.02 + (1.0 - s) * height + s * gap * radius]), np.eye(3)

    scene.collide(Box((0.4, 0.4, 0.04), path(0.0)[0]), friction=0.5, path=path)
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
