"""Ropes and springs."""

from __future__ import annotations

import math

import bpy
import numpy as np

from ..studio import cylinder, ring
from .building import STEEL, attach, block, collide, handle, helix, move, rod, stage


def rope_on_hook() -> None:
    """Drawn as a loose coil with a straight rest shape: it uncoils, falls, and its end drops on the floor."""
    s = np.linspace(0.0, 1.0, 80)
    turns = 4.0 * math.pi * np.clip(s - 0.1, 0.0, None)
    wide = 0.18 * np.clip(s / 0.2, 0.0, 1.0)
    points = np.stack([0.6 * s + wide * np.sin(turns), -0.3 * s, 1.6 - wide * (1.0 - np.cos(turns))], axis=1)
    rod(
        "Rope",
        points,
        0.018,
        (0.72, 0.42, 0.16),
        twists=90,
        material="HEMP_ROPE",
        rest_shape="STRAIGHT",
        start_hold="PIN",
    )
    hook = ring("Hook", 0.05, 0.014)
    hook.location = (0.0, 0.0, 1.65)
    block("Beam", (1.6, 0.14, 0.14), (0.0, 0.0, 1.78))
    collide(block("Floor", (4.0, 4.0, 0.1), (0.0, 0.0, -0.05), (0.25, 0.2, 0.16)))
    stage(96, (0.6, -4.2, 1.3), (0.3, 0.0, 0.85), ground=None)


def knot(size: float = 0.09, tail: float = 0.5, left: float = 0.65) -> None:
    """An overhand knot is pulled tight by its two ends until the length `left` remains between its tails."""
    t = np.linspace(-1.0, 1.0, 110)
    loop = np.abs(t) < 0.7
    a = np.where(loop, t / 0.7, np.sign(t)) * math.pi * 1.12
    points = np.stack([np.sin(a) + 2.0 * np.sin(2.0 * a), np.cos(a) - 2.0 * np.cos(2.0 * a), -np.sin(3.0 * a)], axis=1)
    points *= size
    points -= points[len(points) // 2]
    for side, chosen in ((-1.0, t < -0.7), (1.0, t > 0.7)):
        edge = points[np.flatnonzero(loop)[0 if side < 0 else -1]]
        way = np.array([side, 0.25 * np.sign(edge[1]), 0.0])
        away = (np.abs(t[chosen]) - 0.7)[:, None] * tail / 0.3
        points[chosen] = edge + away * way / np.linalg.norm(way)
    points[:, 2] += 1.4
    line = rod("Line", points, 0.022, (0.05, 0.25, 0.55), twists=60, material="NYLON_ROPE", rest_shape="STRAIGHT",
               start_hold="FREE")  # fmt: skip
    bpy.context.scene.tendril.rod_contact = True
    length = np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
    for where, k, side in (("START", 0, -1.0), ("END", -1, 1.0)):
        place = tuple(float(c) for c in points[k])
        grip = handle(f"Grip {where.lower()}", place)
        attach(line, grip, where)
        move(grip, "location", [(1, place), (72, (float(0.5 * side * (length - left)), place[1], place[2]))])
    stage(84, (0.0, -4.4, 1.4), (0.0, 0.0, 1.1))


def slinky() -> None:
    """A spring hangs from a hand that moves up and down."""
    coil = rod("Slinky", helix(24, 12, 0.09, 0.012, 1.75), 0.004, STEEL, metal=True,
               material="SPRING_STEEL", radius=0.0012, start_hold="CLAMP")  # fmt: skip
    coil.tendril.material = "CUSTOM"  # keeps the values of the preset
    coil.tendril.damping_time = 0.03  # with less damping it would oscillate for minutes
    hand = cylinder("Hand", 0.05, 0.06, (0.6, 0.03, 0.02))
    hand.location = (0.0, 0.0, 1.8)
    coil.parent = hand
    coil.matrix_parent_inverse = hand.matrix_basis.inverted()
    up = [(1 + 4 * k, (0.0, 0.0, 1.8 + 0.1 * math.sin(2.0 * math.pi * k / 7.0))) for k in range(28)]
    move(hand, "location", up)
    stage(109, (0.0, -3.6, 1.4), (0.0, 0.0, 1.1), ground=0.0)


def telephone_cord() -> None:
    """A coiled cord between the telephone and a handset that is carried around."""
    n = 26
    angle = np.arange(n * 10 + 1) * 2.0 * math.pi / 10
    along = np.linspace(0.0, 0.55, len(angle))
    points = np.stack([along, 0.022 * np.cos(angle), 0.9 + 0.022 * np.sin(angle)], axis=1)
    cord = rod("Cord", points, 0.005, (0.02, 0.02, 0.025), material="CUSTOM", young_modulus=1.5e8, poisson_ratio=0.4,
               density=1200.0, damping_time=0.01, strands=1.0, radius=0.003, start_hold="CLAMP")  # fmt: skip
    block("Telephone", (0.22, 0.24, 0.1), (-0.12, 0.0, 0.9), (0.5, 0.02, 0.02))
    handset = block("Handset", (0.2, 0.05, 0.05), (0.66, 0.0, 0.9), (0.5, 0.02, 0.02))
    attach(cord, handset, "END", use_rotation=True)
    places = [(1, (0.66, 0.0, 0.9)), (24, (0.8, -0.2, 1.25)), (54, (0.45, -0.35, 1.35)), (84, (0.9, 0.1, 1.1))]
    move(handset, "location", places)
    block("Table", (0.6, 0.6, 0.845), (-0.2, 0.0, 0.4225))
    stage(108, (0.5, -2.4, 1.3), (0.35, 0.0, 0.95), ground=0.0)
