"""Grooms for docs/gallery: more hair than a sample needs, with Cycles in mind. gallery.py renders them."""

from __future__ import annotations

import math

import bpy
import numpy as np

from .grooms import (
    DOWN,
    PORCELAIN,
    bust,
    grow,
    hair_material,
    make_hair,
    monkey,
    scalp,
    scatter,
)
from .samples.building import collide, move
from .stage import Look, set_stage
from .surfaces import skin

CENTRE = np.array([0.0, 0.01, 0.12])  # of the head


def long_hair() -> None:
    """Long straight hair on a head that shakes: 12,000 strands, 200 guides."""
    head = _head()
    roots = scatter(head, 12_000, scalp)
    rng = np.random.default_rng(1)
    lengths = 0.34 * rng.uniform(0.8, 1.0, len(roots.x))
    out = roots.normal + 0.1 * rng.normal(size=roots.normal.shape)
    side = np.stack([np.sign(roots.x[:, 0]) * 0.5, np.full(len(out), 1.0), np.zeros(len(out))], axis=1)

    def direction(x: np.ndarray, s: float) -> np.ndarray:
        """Up from the skin, aside from the parting, around the head and down."""
        combed = (
            max(0.0, 1.0 - 9.0 * s) * out + max(0.0, 1.0 - 2.6 * s) * 1.7 * side + min(1.0, 0.2 + 2.5 * s) * 1.2 * DOWN
        )
        return _around(x, combed)

    make_hair(
        "Hair", head, grow(roots, lengths, 24, direction), hair_material("Hair", 0.5, 0.75), 1.1e-4, 200, hairs=50
    )
    _shake(head, 0.1, 0.6)
    set_stage(97, (0.85, -0.75, 1.56), (0.0, 0.03, 1.42), 46.0, Look((0.06, 0.14, 0.3), rim_strength=1.6), ground=0.9)


def fur() -> None:
    """Short fur on a creature that jumps: 24,000 strands, 300 guides."""
    body = monkey(0.18, (0.0, 0.0, 1.4), (0.3, 0.16, 0.1))

    def covered(x: np.ndarray, normal: np.ndarray) -> np.ndarray:
        eyes = np.hypot(np.abs(x[:, 0]) - 0.0226, x[:, 2] - 0.016) < 0.0185
        muzzle = (np.hypot(x[:, 0], x[:, 2] + 0.03) < 0.012) & (x[:, 1] < -0.02)
        return ~((eyes | muzzle) & (x[:, 1] < 0.0))

    roots = scatter(body, 24_000, covered)
    rng = np.random.default_rng(3)
    back = np.array([0.0, 0.8, -0.45])
    noise = 0.25 * rng.normal(size=roots.normal.shape)
    lengths = np.where(roots.x[:, 1] < -0.03, 0.01, 0.026) * rng.uniform(0.6, 1.0, len(roots.x))
    strands = grow(roots, lengths, 8, lambda x, s: roots.normal + (0.3 + 1.2 * s) * back + noise)
    make_hair("Fur", body, strands, hair_material("Fur", 0.3, 0.9, 0.4), 1.1e-4, 300, radius=1.5e-5, hairs=10)
    jumps = [(1 + 3 * k, (0.0, 0.0, 1.35 + 0.07 * abs(math.sin(math.pi * k / 4.0)))) for k in range(33)]
    move(body, "location", jumps)
    bpy.context.scene.tendril.air_density = 1.2
    set_stage(97, (0.3, -0.62, 1.47), (0.01, 0.0, 1.385), 48.0, Look((0.16, 0.3, 0.16), rim_strength=1.5), ground=1.27)


def _head() -> bpy.types.Object:
    bpy.context.scene.tendril.air_density = 1.2
    return collide(bust((0.0, 0.0, 1.4), skin("Porcelain", PORCELAIN)))


def _shake(head: bpy.types.Object, nod: float, turn: float) -> None:
    """Nods and turns by these angles (rad), both with whole periods within 97 frames."""
    phase = 2.0 * math.pi / 24.0
    keys = [(1 + 4 * k, (nod * math.sin(3.0 * phase * k), 0.0, turn * math.sin(2.0 * phase * k))) for k in range(25)]
    move(head, "rotation_euler", keys)


def _reach(away: np.ndarray) -> np.ndarray:
    """Distance from the head's centre to its surface, an ellipsoid, divided by that of the points."""
    return 1.0 / np.maximum(np.linalg.norm(away / np.array([0.078, 0.102, 0.106]), axis=-1, keepdims=True), 1e-9)


def _around(x: np.ndarray, way: np.ndarray) -> np.ndarray:
    """The direction without its part into the head, near the head."""
    away = x - CENTRE
    normal = away / np.array([0.078, 0.102, 0.106]) ** 2
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    near = np.clip(9.0 * (_reach(away) - 0.93), 0.0, 1.0)  # 1 within the head, 0 well outside
    inwards = np.minimum(np.sum(way * normal, axis=1, keepdims=True), 0.0)
    return way - near * inwards * normal + 0.5 * near * normal
