"""Ropes on their own and together: coils, plies, braids, weaves, chain mail, ropes through rings, tangles, dragged bundles."""

from __future__ import annotations

import math

import numpy as np
from tendril.bench.mass_scenes import hexagon, random_path
from tendril.core import Cylinder, Material, Net, Plane, Scene, Sphere

from .drawing import Array, Crowd, Draw, line, moved, ramp, ring, turn_about

ACROSS = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))  # a cylinder along y


def coil(draw: Draw) -> Crowd:
    """A rope falls end first on a floor."""
    model = draw.one_of("der", "compact", "clothoid", "net", "der2008")
    scene = Scene(rod_contact=True)
    scene.collide(Plane(), friction=draw.friction())
    segments, radius = draw.count((60, 90), (150, 400)), draw.radius(2e-3, 6e-3)
    s = np.linspace(0.0, 0.012 * segments, segments + 1)
    points = np.stack([radius * np.sin(7.0 * s), radius * np.cos(9.0 * s), 2.0 * radius + s], axis=1)
    material = draw.rope()
    if model == "net":
        edges = np.stack([np.arange(segments), np.arange(1, segments + 1)], axis=1)
        scene.add(Net.from_edges(draw.shaken(points, radius), edges, radius, material), model)
    else:
        draw.add(scene, points, radius, material, model, rest=draw.one_of("straight", "as drawn"))
    return draw.crowd(scene, draw.frames(16, 40), f"coil, {model}")


def ply(draw: Draw) -> Crowd:
    """Parallel yarns are twisted by their ends."""
    scene = Scene(rod_contact=True)
    radius, turns = draw.radius(5e-4, 2e-3), draw.between(0.5, 1.5)
    segments, seconds = draw.count((20, 30), (40, 80)), draw.between(0.6, 1.2)
    material, friction = draw.rope(), draw.friction()
    rings = 1 if draw.small else int(draw.random.integers(1, 4))
    yarns = hexagon(rings, 2.3 * radius)
    along = np.linspace(0.0, 300.0 * radius * max(1, rings) / 2.0, segments + 1)
    for x, y in yarns:
        points = draw.shaken(np.stack([np.full_like(along, x), np.full_like(along, y), along], axis=1), radius)
        yarn = draw.add(scene, points, radius, material, friction=friction)
        points = scene.entries[yarn].rod.points
        for where, at, way in (("start", points[0], -1.0), ("end", points[-1], 1.0)):

            def path(t: float, at: Array = at, way: float = way) -> tuple[Array, Array]:
                turn = turn_about(2, way * math.pi * turns * ramp(t, seconds))
                return turn @ at, turn

            scene.clamp(yarn, where, path)
    return draw.crowd(scene, draw.frames(10, 30), f"ply, {turns:.1f} turns", driven=True)


def braid(draw: Draw) -> Crowd:
    """Three strands, braided, are pulled at one end."""
    scene = Scene(rod_contact=True)
    radius, crossings = draw.radius(1e-3, 4e-3), draw.count((1, 2), (3, 8))
    t = np.linspace(0.0, 2.0 * math.pi * crossings, 24 * crossings + 1)
    pull, material, friction = draw.between(5.0, 20.0) * radius, draw.rope(), draw.friction()
    for k in range(3):
        phase = t + 2.0 * math.pi * k / 3.0
        points = radius * np.stack([7.0 * np.sin(phase), 3.5 * np.sin(2.0 * phase), 6.0 * t], axis=1)
        rod = draw.add(scene, points, radius, material, friction=friction)
        points = scene.entries[rod].rod.points
        scene.pin(rod, "start")
        scene.pin(rod, "end", lambda s, x=points[-1]: x + np.array([0.0, 0.0, pull * ramp(s, 0.4)]))
    return draw.crowd(scene, draw.frames(10, 36), "braid", driven=True)


def weave(draw: Draw) -> Crowd:
    """Warp and weft; the cloth falls on a sphere, or hangs by its corners."""
    scene = Scene(rod_contact=True)
    count, radius = draw.count((4, 6), (10, 20)), draw.radius(1e-3, 3e-3)
    cell, height = 8.0 * radius, 1.25 * radius
    falls = draw.one_of("falls", "hangs") == "falls"
    if falls:
        scene.collide(Sphere(0.3 * count * cell, (0.1 * cell, 0.2 * cell, -0.3 * count * cell - 3.0 * radius)))
    s = np.linspace(-0.5 * count * cell, 0.5 * count * cell, 6 * count + 1)
    material, friction = draw.rope(), draw.friction()
    for k in range(count):
        at = (k - 0.5 * (count - 1)) * cell
        for warp in (True, False):
            wave = height * np.cos(math.pi * (s / cell - 0.5 * (count - 1) + k)) * (1.0 if warp else -1.0)
            points = np.stack([s, np.full_like(s, at), wave], axis=1)
            rod = draw.add(scene, points if warp else points[:, [1, 0, 2]], radius, material, friction=friction)
            if not falls and k in (0, count - 1) and warp:
                scene.pin(rod, "start")
                scene.pin(rod, "end")
    return draw.crowd(scene, draw.frames(9, 36), f"weave that {'falls' if falls else 'hangs'}")


def chain_mail(draw: Draw) -> Crowd:
    """Closed rods, interlinked: flat rings at the points of a lattice, upright ones between them."""
    scene = Scene(rod_contact=True)
    count, radius = draw.count((2, 3), (4, 8)), draw.radius(1e-3, 4e-3)
    flat, apart = 9.0 * radius, 21.5 * radius
    material, friction = Material.preset(draw.one_of("copper wire", "steel cable", "rubber")), draw.friction()
    upright = 5.2 * radius
    pinned = []
    for i in range(count):
        for j in range(count):
            middle = apart * np.array([i - 0.5 * (count - 1), j - 0.5 * (count - 1), 0.0])
            rod = draw.add(scene, ring(flat, 24) + middle, radius, material, friction=friction, closed=True)
            if i in (0, count - 1) and j in (0, count - 1):
                pinned.append(rod)
            for axis, more in ((0, i + 1 < count), (1, j + 1 < count)):
                if not more:
                    continue
                shift = np.zeros(3)
                shift[axis] = 0.5 * apart
                circle = ring(upright, 16)[:, [0, 2, 1]] if axis == 0 else ring(upright, 16)[:, [2, 0, 1]]
                draw.add(scene, circle + middle + shift, radius, material, friction=friction, closed=True)
    if draw.one_of("hangs", "falls") == "hangs":
        for rod in pinned:
            scene.pin(rod, 0)
    else:
        scene.collide(Sphere(0.8 * flat, (0.0, 0.0, -0.8 * flat - 8.0 * radius)))
    return draw.crowd(scene, draw.frames(8, 30), "chain mail")


def through_rings(draw: Draw) -> Crowd:
    """Ropes run through stiff rings and are pulled sideways."""
    scene = Scene(rod_contact=True)
    radius, ropes = draw.radius(1e-3, 3e-3), 1 if draw.small else 7
    hole = 9.0 * radius
    metal, material, friction = Material.preset("steel cable"), draw.rope(), draw.friction()
    rings = draw.count((1, 2), (2, 4))
    for k in range(rings):
        circle = draw.add(scene, moved(ring(hole, 24), 0.0, 0.0, 40.0 * radius * (k + 1)), radius, metal, closed=True)
        scene.pin(circle, [0, 8, 16])
    length = 40.0 * radius * (rings + 1)
    z = np.linspace(0.0, length, 12 * (rings + 1) + 1)
    way = 25.0 * radius * np.array([math.cos(1.3), math.sin(1.3), 1.0])
    for x, y in hexagon(1, 2.3 * radius)[:ropes] if ropes > 1 else [(0.0, 0.0)]:
        rod = draw.add(
            scene, np.stack([np.full_like(z, x), np.full_like(z, y), z], axis=1), radius, material, friction=friction
        )
        points = scene.entries[rod].rod.points
        scene.pin(rod, "end", lambda t, p=points[-1]: p + way * ramp(t, 0.6))
    return draw.crowd(scene, draw.frames(10, 36), f"{ropes} ropes through {rings} rings", driven=True)


def tangle(draw: Draw) -> Crowd:
    """One long rope on a random path settles on a floor."""
    scene = Scene(rod_contact=True)
    scene.collide(Plane(), friction=draw.friction())
    segments, radius = draw.count((150, 250), (400, 2000)), 3e-3
    size = 0.04 * segments ** (1.0 / 3.0)
    points = random_path(segments, 0.01, clearance=0.011, size=size, seed=int(draw.random.integers(1 << 30)))
    points[:, 2] += 2.0 * radius - points[:, 2].min()
    draw.add(scene, points, radius, draw.rope(), draw.one_of("der", "der", "compact"))
    return draw.crowd(scene, draw.frames(9, 30), "tangle")


def dragged_bundle(draw: Draw) -> Crowd:
    """A loose bundle is dragged over two cylinders by one end."""
    scene = Scene(rod_contact=True)
    radius = draw.radius(1e-3, 3e-3)
    cylinder = 12.0 * radius
    for x in (0.1, 0.25):
        scene.collide(Cylinder(cylinder, 0.4, (x, 0.0, -cylinder), ACROSS), friction=draw.friction())
    material, friction = draw.rope(), draw.friction()
    rings, model = 1 if draw.small else 2, draw.one_of("der", "compact", "der2008")
    for y, z in hexagon(rings, 2.4 * radius):
        points = moved(line(0.4, 30), 0.2, y, z + 2.4 * radius * (rings + 1))
        rod = draw.add(scene, points, radius, material, model, friction=friction)
        points = scene.entries[rod].rod.points
        scene.pin(rod, "end", lambda t, p=points[-1]: p + np.array([0.15, 0.0, -0.1]) * ramp(t, 0.6))
    return draw.crowd(scene, draw.frames(10, 36), f"dragged bundle, {model}", driven=True)
