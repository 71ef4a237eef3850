"""Rods with Blender's rigid bodies."""

from __future__ import annotations

import math

import bpy
import numpy as np

from ..stage import Look, set_stage
from ..studio import cylinder
from ..surfaces import fibre, metal, paint, stone, wood
from .building import attach, ball, bar, block, body, helix, rod, rounded, unseen


def rope_bridge(planks: int = 7) -> None:
    """Planks on two ropes between two cliffs; a box drops on them."""
    rock = stone("Rock", ((0.14, 0.11, 0.09), (0.42, 0.35, 0.28)), 3.0)
    posts = [body(block("Cliff", (0.6, 1.5, 1.0), (x, 0.0, 0.5), rock, 0.04), kind="PASSIVE") for x in (-1.7, 1.7)]
    oak = wood("Oak", axis=2)
    for x in (-1.4, 1.4):
        for y in (-0.45, 0.45):
            rounded(bar("Stake", 0.05, (x, y, 0.85), (x, y, 1.32), oak), 0.01)
    positions = np.linspace(-1.05, 1.05, planks)
    pine = wood("Pine", ((0.2, 0.09, 0.03), (0.5, 0.29, 0.12)), axis=1)
    boards = [
        body(block("Plank", (0.24, 1.0, 0.04), (float(x), 0.0, 1.0), pine, 0.008), 1.5, friction=0.8) for x in positions
    ]
    along = np.linspace(-1.35, 1.35, 28)
    hemp = fibre("Hemp", (0.62, 0.4, 0.18))
    for y in (-0.45, 0.45):
        points = np.stack([along, np.full(28, y), np.full(28, 1.0)], axis=1)
        side = rod("Rope", points, 0.016, hemp, look="ROPE", material="NYLON_ROPE", radius=0.012, start_hold="FREE")
        attach(side, posts[0], "START")
        attach(side, posts[1], "END")
        for x, board in zip(positions, boards, strict=True):
            point = int(np.argmin(np.abs(along - x)))
            attach(side, board, "POINT", point=point, use_rotation=True)
    crate = block("Box", (0.4, 0.4, 0.4), (0.05, 0.0, 1.7), paint("Crate", (0.6, 0.06, 0.03), 0.3, 0.4), 0.03)
    body(crate, 8.0, friction=0.8)
    set_stage(96, (1.7, -4.3, 2.15), (0.0, 0.0, 1.0), 52.0, Look((0.22, 0.42, 0.55)))


def wrecking_ball(rows: int = 6, columns: int = 5) -> None:
    """A heavy ball on a chain swings into a wall."""
    clay = stone("Brick", ((0.22, 0.045, 0.025), (0.55, 0.15, 0.07)), 9.0, 0.2)
    unseen(body(block("Yard", (14.0, 14.0, 0.2), (0.0, 0.0, -0.1), clay), kind="PASSIVE"))
    for row in range(rows):
        for k in range(columns):
            y = (k - 0.5 * (columns - 1)) * 0.41 + (0.1 if row % 2 else -0.1)
            body(block("Brick", (0.2, 0.4, 0.2), (0.0, y, 0.1 + 0.2 * row), clay, 0.012), 2.0)
    steel = metal("Steel", (0.3, 0.31, 0.33), 0.25)
    heavy = body(ball("Ball", 0.28, (-2.03, 0.0, 2.75), steel), 25.0, "SPHERE")
    points = np.linspace((-0.2, 0.0, 2.75), (-1.75, 0.0, 2.75), 25)
    chain = rod("Chain", points, 0.035, metal("Links", (0.5, 0.5, 0.52), 0.3), look="CHAIN", material="CHAIN", radius=0.05,
                start_hold="PIN")  # fmt: skip
    attach(chain, heavy, "END")
    yellow = paint("Crane", (0.8, 0.42, 0.02), 0.35, 0.3)
    block("Jib", (0.16, 5.2, 0.16), (-0.2, 1.9, 2.92), yellow, 0.02)
    block("Mast", (0.3, 0.3, 3.5), (-0.2, 4.0, 1.75), yellow, 0.03)
    block("Pulley", (0.1, 0.22, 0.2), (-0.2, 0.0, 2.8), steel, 0.02)
    set_stage(96, (3.4, -5.2, 2.1), (-0.3, 0.0, 1.42), 36.5, Look((0.2, 0.46, 0.5), key=(1.0, 0.84, 0.62)))


def wilberforce_pendulum() -> None:
    """A bob on a spring, whose motion alternates between bouncing and turning."""
    turns, radius, wire, mass = 8, 0.03, 1.2e-3, 0.5
    climb = 0.3
    length = 2.0 * math.pi * turns * radius / math.cos(climb)
    pitch = length * math.sin(climb) / turns
    points = helix(turns, 14, radius, pitch, 0.75)
    # This width tunes the rotational to the translational frequency; computed from the coupled modes of a helical spring.
    width = 0.0936
    brass, steel = metal("Brass", (0.75, 0.47, 0.15), 0.2), metal("Steel", (0.7, 0.7, 0.72), 0.18)
    bob = cylinder("Bob", 0.5 * width, 0.04, brass)
    bob.location = (0.0, 0.0, float(points[-1, 2]) - 0.02)
    body(bob, mass, "CYLINDER")
    bob.rigid_body.linear_damping = bob.rigid_body.angular_damping = 0.0
    # The pointer makes the rotation visible.
    red = paint("Pointer", (0.7, 0.03, 0.02), 0.25, 0.5)
    pointer = rounded(block("Pointer", (0.17, 0.01, 0.01), (0.0, 0.0, 0.0), red), 0.003)
    pointer.parent = bob
    for x, surface in ((-0.085, brass), (0.085, red)):
        tip = ball("Tip", 0.011, (x, 0.0, 0.0), surface)
        tip.parent = bob
    spring = rod("Spring", points, 0.002, steel, radius=wire, material="CUSTOM", young_modulus=200e9, poisson_ratio=0.3,
                 density=7850.0, damping_time=0.0, strands=1.0, start_hold="CLAMP")  # fmt: skip
    attach(spring, bob, "END", use_rotation=True)
    bpy.context.scene.tendril.air_density = 0.0
    mahogany = wood("Mahogany", ((0.06, 0.012, 0.006), (0.26, 0.07, 0.03)))
    block("Arm", (0.34, 0.05, 0.035), (0.11, 0.0, 0.775), mahogany, 0.006)
    bar("Column", 0.011, (0.24, 0.0, 0.02), (0.24, 0.0, 0.82), brass)
    block("Foot", (0.46, 0.24, 0.035), (0.09, 0.0, 0.0175), mahogany, 0.008)
    set_stage(240, (0.3, -1.45, 0.95), (0.07, 0.0, 0.44), 42.0, Look((0.035, 0.11, 0.2)))
