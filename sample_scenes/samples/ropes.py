"""Ropes and springs."""

from __future__ import annotations

import math

import bpy
import numpy as np

from ..stage import Look, set_stage
from ..studio import cylinder, ring
from ..surfaces import fibre, metal, paint, spectrum, wood
from .building import attach, bar, block, collide, helix, hold, move, rod, rounded, unseen


def rope_on_hook() -> None:
    """Drawn as a loose coil with a straight rest shape: it uncoils, falls, and its end drops on the floor."""
    s = np.linspace(0.0, 1.0, 90)
    turns = 6.0 * math.pi * np.clip(s - 0.1, 0.0, None)
    wide = 0.2 * np.clip(s / 0.2, 0.0, 1.0)
    points = np.stack([0.7 * s + wide * np.sin(turns), -0.35 * s, 1.5 - wide * (1.0 - np.cos(turns))], axis=1)
    rod("Rope", points, 0.024, fibre("Hemp", (0.62, 0.38, 0.16)), look="ROPE", material="HEMP_ROPE", rest_shape="STRAIGHT",
        start_hold="PIN")  # fmt: skip
    hook = ring("Hook", 0.055, 0.014, metal("Iron", (0.18, 0.18, 0.19), 0.35))
    hook.location = (0.0, 0.0, 1.555)
    oak = wood("Oak")
    block("Beam", (4.4, 0.17, 0.17), (1.1, 0.02, 1.69), oak, 0.012)
    block("Post", (0.15, 0.15, 1.7), (-0.62, 0.06, 0.8), wood("Upright Oak", axis=2), 0.012)
    unseen(collide(block("Floor", (6.0, 6.0, 0.1), (0.0, 0.0, -0.05), oak)))
    set_stage(120, (0.75, -4.2, 1.2), (0.32, 0.0, 0.85), 42.5, Look((0.05, 0.2, 0.22)))


def knot(size: float = 0.09, tail: float = 0.5, left: float = 0.65) -> None:
    """An overhand knot on a table is pulled tight by its two ends until the length `left` remains between its tails."""
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
    table = 1.26
    line = rod("Line", points, 0.022, fibre("Nylon", (0.02, 0.16, 0.5)), look="ROPE", material="NYLON_ROPE",
               rest_shape="STRAIGHT", start_hold="FREE")  # fmt: skip
    bpy.context.scene.tendril.rod_contact = True
    length = np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
    birch = wood("Birch", ((0.35, 0.2, 0.09), (0.7, 0.5, 0.28)), axis=2)
    for where, k, side in (("START", 0, -1.0), ("END", -1, 1.0)):
        place = tuple(float(c) for c in points[k])
        grip = rounded(cylinder(f"Grip {where.lower()}", 0.035, 0.26, birch), 0.012)
        grip.location = place
        attach(line, grip, where)
        move(grip, "location", [(1, place), (72, (float(0.5 * side * (length - left)), place[1], place[2]))])
    collide(unseen(block("Table", (5.0, 3.0, 0.1), (0.0, 0.0, table - 0.05), birch)))
    set_stage(96, (0.25, -3.1, 2.1), (0.0, 0.0, 1.34), 66.0, Look((0.75, 0.36, 0.07)), ground=table)


def slinky() -> None:
    """Three springs hang from hands that move up and down, each a little later than the one before."""
    hues, lacquer = spectrum("Slinky"), paint("Lacquer", (0.85, 0.83, 0.78), 0.2, 0.6)
    chrome = metal("Chrome", (0.8, 0.8, 0.82), 0.12)
    for number, x in enumerate((-0.7, 0.0, 0.7)):
        coil = rod("Slinky", helix(24, 12, 0.09, 0.012, 1.75) + np.array([x, 0.0, 0.0]), 0.006, hues,
                   material="SPRING_STEEL", radius=0.0012, start_hold="CLAMP")  # fmt: skip
        coil.tendril.material = "CUSTOM"  # keeps the values of the preset
        coil.tendril.damping_time = 0.03  # with less damping it would oscillate for minutes
        hand = rounded(cylinder("Hand", 0.1, 0.035, lacquer), 0.01)
        hand.location = (x, 0.0, 1.8)
        hold(bar("Rod", 0.012, (x, 0.0, 1.8), (x, 0.0, 3.4), chrome), hand)
        coil.parent = hand
        coil.matrix_parent_inverse = hand.matrix_basis.inverted()
        late = 2.0 * math.pi * number / 3.0
        up = [
            (1 + 4 * k, (x, 0.0, 1.8 + 0.1 * (math.sin(2.0 * math.pi * k / 7.0 - late) + math.sin(late))))
            for k in range(28)
        ]
        move(hand, "location", up)
    set_stage(109, (0.8, -5.2, 1.3), (0.0, 0.0, 0.81), 41.5, Look((0.13, 0.05, 0.17)), ground=-0.45)


def telephone_cord() -> None:
    """A coiled cord between the telephone and a handset that is carried around."""
    n = 26
    angle = np.arange(n * 10 + 1) * 2.0 * math.pi / 10
    along = np.linspace(0.0, 0.55, len(angle))
    points = np.stack([along, 0.022 * np.cos(angle), 0.9 + 0.022 * np.sin(angle)], axis=1)
    cord = rod("Cord", points, 0.005, paint("Rubber", (0.02, 0.018, 0.02), 0.4), material="CUSTOM", young_modulus=1.5e8,
               poisson_ratio=0.4, density=1200.0, damping_time=0.01, strands=1.0, radius=0.003, start_hold="CLAMP")  # fmt: skip
    bakelite = paint("Bakelite", (0.55, 0.02, 0.025), 0.18, 0.8)
    _telephone(bakelite)
    handset = _handset(bakelite)
    attach(cord, handset, "END", use_rotation=True)
    places = [(1, (0.66, 0.0, 0.9)), (24, (0.8, -0.2, 1.25)), (54, (0.45, -0.35, 1.35)), (84, (0.9, 0.1, 1.1))]
    move(handset, "location", places)
    top = rounded(cylinder("Table", 0.3, 0.04, wood("Walnut")), 0.01)
    top.location = (-0.17, 0.0, 0.825)
    bar("Leg", 0.025, (-0.17, 0.0, 0.0), (-0.17, 0.0, 0.82), metal("Brass", (0.7, 0.45, 0.14), 0.25))
    set_stage(108, (0.75, -2.3, 1.35), (0.32, 0.0, 1.0), 58.0, Look((0.14, 0.3, 0.27)))


def _telephone(bakelite: bpy.types.Material) -> None:
    """Body with a dial, whose front is tilted, and a cradle."""
    body = block("Telephone", (0.22, 0.24, 0.11), (-0.12, 0.0, 0.902), bakelite)
    for vertex in body.data.vertices:
        if vertex.co.z > 0.0:
            vertex.co.x *= 0.75
            vertex.co.y = 0.6 * vertex.co.y + 0.045
    rounded(body, 0.018)
    ivory, chrome = paint("Ivory", (0.8, 0.74, 0.6), 0.3, 0.4), metal("Chrome", (0.8, 0.8, 0.82), 0.15)
    middle, tilt = np.array([-0.12, -0.076, 0.915]), 0.87  # on the sloping front
    out = np.array([0.0, -math.sin(tilt), math.cos(tilt)])
    up = np.array([0.0, math.cos(tilt), math.sin(tilt)])
    for name, radius, depth, surface, shift in (
        ("Dial", 0.058, 0.012, chrome, 0.0),
        ("Card", 0.02, 0.016, ivory, 0.002),
    ):
        disc = rounded(cylinder(name, radius, depth, surface), 0.003)
        disc.location, disc.rotation_euler = tuple(middle + shift * out), (tilt, 0.0, 0.0)
    for k in range(10):
        turn = 0.35 + 0.55 * k
        spot = middle + 0.04 * (math.cos(turn) * np.array([1.0, 0.0, 0.0]) + math.sin(turn) * up)
        hole = cylinder("Hole", 0.009, 0.014, bakelite)
        hole.location, hole.rotation_euler = tuple(spot), (tilt, 0.0, 0.0)
    for x in (-0.175, -0.065):
        block("Cradle", (0.018, 0.07, 0.035), (x, 0.045, 0.97), chrome, 0.006)


def _handset(bakelite: bpy.types.Material) -> bpy.types.Object:
    """A grip with two caps, held at its lower end."""
    grip = rounded(block("Handset", (0.2, 0.036, 0.034), (0.66, 0.0, 0.9), bakelite), 0.014)
    for x in (0.565, 0.755):
        cap = rounded(cylinder("Cap", 0.033, 0.05, bakelite), 0.01)
        cap.location = (x, 0.0, 0.875)
        hold(cap, grip)
    return grip
