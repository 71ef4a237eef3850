"""Hair of real radius, 40 to 60 um, on heads that turn, nod and jump, with contact between hairs."""

from __future__ import annotations

import math

import numpy as np
from tendril.bench.mass_scenes import HEAD, ball, radial_strands
from tendril.core import Material, Rod, Scene, Sphere

from .drawing import Array, Crowd, Draw, carried, turn_about


def hair(draw: Draw, motion: str, *, model: str = "der", curls: bool = False) -> Crowd:
    scene = Scene(rod_contact=True, air_density=float(draw.random.choice([0.0, 1.2])))
    angle, rate = math.radians(draw.between(15.0, 45.0)), draw.between(0.8, 2.0)

    def move(t: float) -> tuple[Array, Array]:
        swing = math.sin(2.0 * math.pi * rate * t)
        if motion == "turns":
            return np.zeros(3), turn_about(2, angle * swing)
        if motion == "nods":
            neck, turn = np.array([0.0, 0.0, -HEAD]), turn_about(0, 0.6 * angle * swing)
            return neck - turn @ neck, turn
        return np.array([0.0, 0.0, 0.06 * (1.0 - math.cos(2.0 * math.pi * rate * t))]), np.eye(3)

    friction = draw.between(0.1, 0.5)
    if draw.one_of("sphere", "mesh") == "sphere":
        scene.collide(Sphere(HEAD), friction=friction, path=move)
    else:
        scene.collide(ball(HEAD, (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)), friction=friction, path=move)
    scene.collide(ball(1.0, (0.22, 0.12, 0.09), (0.0, 0.0, -0.25)), friction=friction)
    radius, length = draw.between(40e-6, 60e-6), draw.between(0.1, 0.25)
    strands = radial_strands(draw.count((30, 50), (50, 500)), length, 20, radius)
    scale = draw.between(0.2, 1.0)
    for k, points in enumerate(strands):
        if curls:
            points = wound(points, 3e-3, 3.0, 0.7 * k)
        points = draw.shaken(points, radius)
        strand = Rod.from_points(points, radius, Material.preset("human hair"), stiffness_scale=scale)
        rod = scene.add(strand, model, friction=friction, elements=5 if model == "clothoid" else None)
        scene.clamp(rod, "start", carried(points, move))
    story = f"{'curly ' if curls else ''}hair of {1e6 * radius:.0f} um, {model}, head {motion}"
    return draw.crowd(scene, draw.frames(12, 48), story, driven=True)


def wound(points: Array, radius: float, turns: float, phase: float) -> Array:
    """A straight strand made a helix that starts on its axis."""
    s = np.linspace(0.0, 1.0, len(points))[:, None]
    axis = points[-1] - points[0]
    axis = axis / np.linalg.norm(axis)
    side = np.cross(axis, (0.3, 0.5, 0.8))
    side /= np.linalg.norm(side)
    other, angle = np.cross(axis, side), 2.0 * math.pi * turns * s + phase
    return np.asarray(points + radius * np.minimum(4.0 * s, 1.0) * (np.cos(angle) * side + np.sin(angle) * other))


def turning(draw: Draw) -> Crowd:
    return hair(draw, "turns")


def nodding(draw: Draw) -> Crowd:
    return hair(draw, "nods")


def jumping(draw: Draw) -> Crowd:
    return hair(draw, "jumps")


def curly(draw: Draw) -> Crowd:
    return hair(draw, draw.one_of("turns", "nods", "jumps"), curls=True)


def clothoids(draw: Draw) -> Crowd:
    return hair(draw, draw.one_of("turns", "nods"), model="clothoid")


def inextensible(draw: Draw) -> Crowd:
    return hair(draw, draw.one_of("turns", "jumps"), model="compact")
