"""What all families of crowded scenes share: random choices, jitter, shapes of rods and containers.

Every family is a function of a `Draw` and returns a `Crowd`. Sizes, materials and motions are drawn from the scene's number, a
small displacement of every rod from the number of the run. Nothing overlaps as drawn. All settings are defaults.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from tendril.bench.mass_scenes import bowl
from tendril.core import Material, Mesh, Rod, Scene

Array = np.ndarray
ROPES = ("nylon rope", "hemp rope", "rubber", "fishing line", "steel cable", "garden hose", "vine", "chain")
JITTER = 0.03  # radii, largest displacement of a rod


@dataclass(frozen=True)
class Crowd:
    scene: Scene
    frames: int
    story: str
    driven: bool = False  # something is moved: energy may grow
    feasible: bool = True  # a state without overlap exists at all times


class Draw:
    """Random choices of one scene. `small` scenes have few rods, for the short run of the tests."""

    def __init__(self, number: int, jitter: int = 0, small: bool = True) -> None:
        self.number, self.small = number, small
        self.random = np.random.default_rng([number, 11])
        self._shake = np.random.default_rng([number, jitter, 13])
        self._jitter = JITTER if jitter else 0.0
        self.story: list[str] = []

    def count(self, small: tuple[int, int], full: tuple[int, int]) -> int:
        low, high = small if self.small else full
        return round(math.exp(self.random.uniform(math.log(low), math.log(high))))

    def frames(self, small: int, full: int) -> int:
        return small if self.small else full

    def between(self, low: float, high: float) -> float:
        return float(self.random.uniform(low, high))

    def radius(self, low: float, high: float) -> float:
        return float(math.exp(self.random.uniform(math.log(low), math.log(high))))

    def one_of(self, *values: str) -> str:
        return str(self.random.choice(values))

    def rope(self) -> Material:
        name = self.one_of(*ROPES)
        self.story.append(name)
        return Material.preset(name)

    def friction(self) -> float:
        return float(self.random.choice([0.0, 0.3, 0.4, 1.0]))

    def shaken(self, points: Array, radius: float) -> Array:
        """The points, displaced together by a small part of the radius."""
        return np.asarray(points + self._jitter * radius * self._shake.uniform(-0.5, 0.5, 3))

    def add(
        self,
        scene: Scene,
        points: Array,
        radius: float,
        material: Material,
        model: str = "der",
        *,
        friction: float = 0.4,
        closed: bool = False,
        rest: str = "as drawn",
    ) -> int:
        rod = Rod.from_points(self.shaken(points, radius), radius, material, closed=closed, rest=rest)
        return scene.add(rod, model, friction=friction, elements=6 if model == "clothoid" else None)

    def crowd(self, scene: Scene, frames: int, *story: str, driven: bool = False, feasible: bool = True) -> Crowd:
        words = ", ".join([*story, f"{len(scene.entries)} rods", *dict.fromkeys(self.story)])
        return Crowd(scene, frames, f"scene {self.number}: {words}", driven, feasible)


# Rods


def line(length: float, segments: int) -> Array:
    """Along x about the origin."""
    points = np.zeros((segments + 1, 3))
    points[:, 0] = np.linspace(-0.5 * length, 0.5 * length, segments + 1)
    return points


def curl(length: float, segments: int, radius: float, turns: float) -> Array:
    """A helix along x about the origin."""
    points = line(length, segments)
    angle = 2.0 * math.pi * turns * np.linspace(0.0, 1.0, segments + 1)
    points[:, 1], points[:, 2] = radius * np.cos(angle), radius * np.sin(angle)
    return points


def ring(radius: float, segments: int) -> Array:
    """In the plane of x and y about the origin."""
    angle = 2.0 * math.pi * np.arange(segments) / segments
    return radius * np.stack([np.cos(angle), np.sin(angle), np.zeros(segments)], axis=1)


def moved(points: Array, *shift: float) -> Array:
    return np.asarray(points + np.array(shift))


# Motions


def turn_about(axis: int, angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(3)
    matrix[i, i] = matrix[j, j] = c
    matrix[i, j], matrix[j, i] = -s, s
    return matrix


def carried(points: Array, motion: Callable[[float], tuple[Array, Array]]) -> Callable[[float], tuple[Array, Array]]:
    """The path of a clamp at the first point of something that a rigid motion moves."""

    x = np.array(points[0])

    def path(t: float) -> tuple[Array, Array]:
        shift, rotation = motion(t)
        return shift + rotation @ x, rotation

    return path


def ramp(t: float, seconds: float) -> float:
    """From 0 to 1, smoothly."""
    s = min(max(t / seconds, 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)


# Containers


def open_box(width: float, height: float, cells: int = 4) -> Mesh:
    """Floor at z = 0 and four walls, an open mesh."""
    at = np.linspace(-0.5 * width, 0.5 * width, cells + 1)
    points: list[tuple[float, float, float]] = []
    number: dict[tuple[float, float, float], int] = {}

    def vertex(*p: float) -> int:
        key = (round(p[0], 9), round(p[1], 9), round(p[2], 9))
        if key not in number:
            number[key] = len(points)
            points.append(key)
        return number[key]

    triangles = []

    def quad(a: int, b: int, c: int, d: int) -> None:
        triangles.extend([(a, b, c), (a, c, d)])

    for i in range(cells):
        low, high = float(at[i]), float(at[i + 1])
        for j in range(cells):
            y, z = float(at[j]), float(at[j + 1])
            quad(vertex(low, y, 0.0), vertex(high, y, 0.0), vertex(high, z, 0.0), vertex(low, z, 0.0))
        for k in range(cells):
            z, top = height * k / cells, height * (k + 1) / cells
            for side in (float(at[0]), float(at[-1])):
                quad(vertex(side, low, z), vertex(side, high, z), vertex(side, high, top), vertex(side, low, top))
                quad(vertex(low, side, z), vertex(high, side, z), vertex(high, side, top), vertex(low, side, top))
    return Mesh(np.array(points), np.array(triangles))


__all__ = [
    "Crowd",
    "Draw",
    "bowl",
    "carried",
    "curl",
    "line",
    "moved",
    "open_box",
    "ramp",
    "ring",
    "turn_about",
]
