"""Simple rods and scenes for tests of behaviour. Units are those of the rod unless stated otherwise: length, EI and mass per
length are 1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from tendril.core import Rod, Scene, Simulation, Stiffness


def line(segments: int, length: float = 1.0) -> np.ndarray:
    """Points along x from the origin."""
    points = np.zeros((segments + 1, 3))
    points[:, 0] = np.linspace(0.0, length, segments + 1)
    return points


def circle(segments: int, radius: float = 1.0) -> np.ndarray:
    angle = 2.0 * math.pi * np.arange(segments) / segments
    return radius * np.stack([np.cos(angle), np.sin(angle), np.zeros(segments)], axis=1)


def helix(segments: int, turns: float = 2.0, radius: float = 0.3, rise: float = 1.0) -> np.ndarray:
    s = np.linspace(0.0, 1.0, segments + 1)
    angle = 2.0 * math.pi * turns * s
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), rise * s], axis=1)


def knot(segments: int) -> np.ndarray:
    """A closed space curve with varying curvature and torsion of changing sign."""
    s = 2.0 * math.pi * np.arange(segments) / segments
    out = 2.0 + 0.7 * np.cos(3.0 * s)
    return 0.2 * np.stack([out * np.cos(2.0 * s), out * np.sin(2.0 * s), 0.7 * np.sin(3.0 * s)], axis=1)


def made_of(
    stretch: float = 1e4,
    bend: float | tuple[float, float] = 1.0,
    twist: float = 1.0,
    mass: float = 1.0,
    inertia: float | None = 1e-3,
) -> Stiffness:
    bend_1, bend_2 = bend if isinstance(bend, tuple) else (bend, bend)
    return Stiffness(stretch, bend_1, bend_2, twist, mass_per_length=mass, inertia_per_length=inertia)


def plain_rod(points: np.ndarray, stiffness: Stiffness | None = None, **options: Any) -> Rod:
    return Rod.from_points(points, radius=1e-3, stiffness=stiffness or made_of(), **options)


def weightless(**options: Any) -> Scene:
    return Scene(gravity=(0.0, 0.0, 0.0), **options)


def precise(scene: Scene, **options: Any) -> Simulation:
    return Simulation(scene, **{"tolerance": 1e-12, "threads": 1, **options})


def settled(sim: Simulation) -> Simulation:
    assert sim.settle(), "no equilibrium found"
    return sim


def fitted_order(counts: Any, errors: Any) -> float:
    """Order of convergence: exponent p of errors ~ count^-p, by least squares."""
    return float(-np.polyfit(np.log(list(counts)), np.log(list(errors)), 1)[0])


def first_mode(x: np.ndarray) -> tuple[np.ndarray, float]:
    """First mode of a cantilever of length 1, with amplitude 2 at its tip, and its frequency, rad/s, for EI = mass per length =
    1."""
    b = 1.8751040687119611  # cos b cosh b = -1
    ratio = (math.cosh(b) + math.cos(b)) / (math.sinh(b) + math.sin(b))
    return np.cosh(b * x) - np.cos(b * x) - ratio * (np.sinh(b * x) - np.sin(b * x)), b * b
