"""Rods with Blender's rigid bodies."""

from __future__ import annotations

import math

import bpy
import numpy as np

from ..studio import cylinder
from .building import BRICK, STEEL, WOOD, attach, ball, block, body, helix, rod, stage


def rope_bridge(planks: int = 7) -> None:
    """Planks on two ropes between two posts; a box drops on them."""
    posts = [body(block("Post", (0.3, 1.4, 1.0), (x, 0.0, 0.5)), kind="PASSIVE") for x in (-1.55, 1.55)]
    positions = np.linspace(-1.05, 1.05, planks)
    boards = [body(block("Plank", (0.24, 1.0, 0.04), (float(x), 0.0, 1.0)), 1.5, friction=0.8) for x in positions]
    along = np.linspace(-1.35, 1.35, 28)
    for y in (-0.45, 0.45):
        points = np.stack([along, np.full(28, y), np.full(28, 1.0)], axis=1)
        side = rod("Rope", points, 0.012, (0.72, 0.42, 0.16), twists=90, material="NYLON_ROPE", start_hold="FREE")
        attach(side, posts[0], "START")
        attach(side, posts[1], "END")
        for x, board in zip(positions, boards, strict=True):
            point = int(np.argmin(np.abs(along - x)))
            attach(side, board, "POINT", point=point, use_rotation=True)
    body(block("Box", (0.4, 0.4, 0.4), (0.05, 0.0, 1.7), (0.15, 0.3, 0.5)), 8.0, friction=0.8)
    stage(96, (1.6, -4.6, 2.2), (0.0, 0.0, 0.85))


def wrecking_ball(rows: int = 5, columns: int = 4) -> None:
    """A heavy ball on a steel cable swings into a wall."""
    body(block("Yard", (12.0, 12.0, 0.2), (0.0, 0.0, -0.1), (0.25, 0.2, 0.16)), kind="PASSIVE")
    for row in range(rows):
        for k in range(columns):
            y = (k - 0.5 * (columns - 1)) * 0.41 + (0.05 if row % 2 else -0.05)
            body(block("Brick", (0.2, 0.4, 0.2), (0.0, y, 0.1 + 0.2 * row), BRICK), 2.0)
    heavy = body(ball("Ball", 0.25, (-2.0, 0.0, 2.6), STEEL), 20.0, "SPHERE")
    points = np.linspace((-0.2, 0.0, 2.6), (-1.75, 0.0, 2.6), 25)
    cable = rod("Cable", points, 0.012, STEEL, metal=True, material="STEEL_CABLE", start_hold="PIN")
    attach(cable, heavy, "END")
    block("Crane", (0.2, 0.2, 0.2), (-0.2, 0.0, 2.75), (0.6, 0.45, 0.02))
    stage(72, (2.8, -5.6, 2.0), (-0.3, 0.0, 1.35), ground=None)


def wilberforce_pendulum() -> None:
    """A bob on a spring, whose motion alternates between bouncing and turning."""
    turns, radius, wire, mass = 8, 0.03, 1.2e-3, 0.5
    climb = 0.3
    length = 2.0 * math.pi * turns * radius / math.cos(climb)
    pitch = length * math.sin(climb) / turns
    points = helix(turns, 14, radius, pitch, 0.75)
    # This width tunes the rotational to the translational frequency; computed from the coupled modes of a helical spring.
    width = 0.0936
    bob = cylinder("Bob", 0.5 * width, 0.04, (0.55, 0.35, 0.05))
    bob.location = (0.0, 0.0, float(points[-1, 2]) - 0.02)
    body(bob, mass, "CYLINDER")
    bob.rigid_body.linear_damping = bob.rigid_body.angular_damping = 0.0
    pointer = block("Pointer", (0.17, 0.01, 0.01), (0.0, 0.0, 0.0), (0.6, 0.03, 0.02))  # makes the rotation visible
    pointer.parent = bob
    spring = rod("Spring", points, wire, STEEL, metal=True, material="CUSTOM", young_modulus=200e9, poisson_ratio=0.3,
                 density=7850.0, damping_time=0.0, strands=1.0, start_hold="CLAMP")  # fmt: skip
    attach(spring, bob, "END", use_rotation=True)
    bpy.context.scene.tendril.air_density = 0.0
    block("Arm", (0.2, 0.06, 0.04), (0.0, 0.0, 0.78), WOOD)
    stage(240, (0.3, -1.25, 0.62), (0.0, 0.0, 0.49), ground=0.0)
