"""Rods of Zhao et al. 2022: stress-free in their initial shape, with a round section and given moduli."""

from __future__ import annotations

import math

import numpy as np

from ...core import Rod, Scene, Stiffness
from ...core.errors import Array

HELIX_TURNS, HELIX_RADIUS, HELIX_HEIGHT = 5.0, 0.3, 1.0  # m; not given in the paper
RADIUS = 0.03  # m
YOUNG, DENSITY = 1e6, 2.0  # Pa, kg/m3: close to those of Fig. 11


def round_section(young: float, shear: float, density: float, radius: float) -> Stiffness:
    area, inertia = math.pi * radius**2, math.pi * radius**4 / 4.0
    return Stiffness(
        young * area, young * inertia, young * inertia, shear * 2.0 * inertia,
        mass_per_length=density * area, inertia_per_length=2.0 * density * inertia,
    )  # fmt: skip


def helix_points(segments: int) -> Array:
    """(segments + 1, 3) m: a helix that hangs down from its first point."""
    s = np.linspace(0.0, 1.0, segments + 1)
    angle = 2.0 * math.pi * HELIX_TURNS * s
    return np.stack([HELIX_RADIUS * np.cos(angle), HELIX_RADIUS * np.sin(angle), -HELIX_HEIGHT * s], axis=1)


def helix_rod(segments: int, young: float = YOUNG) -> Rod:
    return Rod.from_points(helix_points(segments), RADIUS, stiffness=round_section(young, young, DENSITY, RADIUS))


def helix_scene(segments: int, young: float = YOUNG, model: str = "compact") -> Scene:
    """A helix clamped at its upper end and released."""
    scene = Scene()
    scene.clamp(scene.add(helix_rod(segments, young), model), "start")
    return scene
