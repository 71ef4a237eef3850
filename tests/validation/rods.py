"""The rods of the cases, in units of themselves: length, EI and mass per length are 1, unless said otherwise."""

from __future__ import annotations

import math

import numpy as np
from tendril.core import Rod, Scene, Simulation, Stiffness
from tendril.core.describe.rod import edges_of

# Under the loads of the cases it strains by less than 1e-5, while round-off in a strain still makes forces of just 1e-8.
STIFF = 1e8
CLOTHOID_POINTS = 48


def stiffness(
    stretch: float = STIFF,
    bend: float | tuple[float, float] = 1.0,
    twist: float = 1.0,
    inertia: float | None = None,
) -> Stiffness:
    bend_1, bend_2 = bend if isinstance(bend, tuple) else (bend, bend)
    return Stiffness(stretch, bend_1, bend_2, twist, mass_per_length=1.0, inertia_per_length=inertia)


def line(segments: int, length: float = 1.0, uneven: float = 0.0) -> np.ndarray:
    """Along x. With `uneven`, every other segment is longer by this part and those between are shorter."""
    parts = np.ones(segments)
    parts[::2] += uneven
    parts[1::2] -= uneven
    points = np.zeros((segments + 1, 3))
    points[1:, 0] = np.cumsum(parts)
    return points * (length / points[-1, 0])


def circle(segments: int, radius: float = 1.0) -> np.ndarray:
    angle = 2.0 * math.pi * np.arange(segments) / segments
    return radius * np.stack([np.cos(angle), np.sin(angle), np.zeros(segments)], axis=1)


def rod(points: np.ndarray, made_of: Stiffness | None = None, **options) -> Rod:
    return Rod.from_points(points, radius=1e-3, stiffness=made_of or stiffness(), **options)


def mesh(model: str, level: int) -> tuple[int, dict[str, int]]:
    """Segments and options of `Scene.add`: a level is the number of segments, but of elements for clothoids, whose points are given
    only for loads and to be read."""
    return (CLOTHOID_POINTS, {"elements": level}) if model == "clothoid" else (level, {})


def weightless() -> Scene:
    return Scene(gravity=(0.0, 0.0, 0.0))


def precise(scene: Scene, **options) -> Simulation:
    return Simulation(scene, tolerance=1e-9, threads=1, **options)


def settled(sim: Simulation, stable: bool = True) -> Simulation:
    assert sim.settle(stable=stable), "no equilibrium found"
    for number, entry in enumerate(sim.scene.entries):
        if entry.model == "compact":
            x = sim.current().positions(number)
            edges = edges_of(x, entry.rod.closed) if isinstance(entry.rod, Rod) else np.diff(x[entry.rod.edges], axis=1)
            lengths = np.linalg.norm(edges.reshape(-1, 3), axis=1)
            assert np.abs(lengths / entry.rod.rest_lengths - 1.0).max() < 1e-12, "lengths are not exact to round-off"
    return sim
