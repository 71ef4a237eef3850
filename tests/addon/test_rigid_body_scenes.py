"""Scenes that people make: a Wilberforce pendulum, a rope bridge, a wrecking ball."""

import math

import bpy
import numpy as np
import pytest
from tendril.addon.bridge.curves import read_rows
from tendril.tests.addon.building import make_rod, status
from tendril.tests.addon.test_attachments import attach
from tendril.tests.addon.test_hidden_world import make_body
from tendril.tests.addon.test_rigid_bodies import play_bodies, rope

STEEL = {
    "material": "CUSTOM",
    "young_modulus": 200e9,
    "poisson_ratio": 0.3,
    "density": 7850.0,
    "damping_time": 0.0,
    "strands": 1.0,
}


def tuned(mass, turns, radius, climb, wire):
    """Of a bob on a spring, hung up as it is without weight: how wide it must be to turn as fast as it bounces, and how long the
    modes then take to exchange their energy."""
    length = 2.0 * math.pi * turns * radius / math.cos(climb)
    # The energy of a uniform helix of height z and angle p of all turns, where the bob hangs.
    bend = STEEL["young_modulus"] * math.pi * wire**4 / 4.0
    twist = bend / 1.3
    own = STEEL["density"] * math.pi * wire**2 * length  # the spring's mass

    def energy(z, p):
        bent = p * math.sqrt(1.0 - (z / length) ** 2) - 2.0 * math.pi * turns * math.cos(climb)
        twisted = p * z / length - 2.0 * math.pi * turns * math.sin(climb)
        return 0.5 * (bend * bent**2 + twist * twisted**2) / length - (mass + 0.5 * own) * 9.81 * z

    def second(z, p, h=1e-4, q=1e-3):
        e = [[energy(z + i * h, p + j * q) for j in (-1, 0, 1)] for i in (-1, 0, 1)]
        up, across = (e[2][1] - 2 * e[1][1] + e[0][1]) / h**2, (e[1][2] - 2 * e[1][1] + e[1][0]) / q**2
        first = np.array([(e[2][1] - e[0][1]) / (2 * h), (e[1][2] - e[1][0]) / (2 * q)])
        mixed = (e[2][2] - e[2][0] - e[0][2] + e[0][0]) / (4 * h * q)
        return first, np.array([[up, mixed], [mixed, across]])

    at = np.array([length * math.sin(climb), 2.0 * math.pi * turns])
    for _ in range(50):
        first, stiffness = second(*at)
        at = at - np.linalg.solve(stiffness, first)
    _, stiffness = second(*at)
    moving = mass + own / 3.0
    turning = moving * stiffness[1, 1] / stiffness[0, 0]
    masses = np.array([moving, turning])
    rates = np.sqrt(np.linalg.eigvalsh(stiffness / np.sqrt(np.outer(masses, masses))))
    return 2.0 * math.sqrt(2.0 * (turning - own * radius**2 / 3.0) / mass), 2.0 * math.pi / float(rates[1] - rates[0])


def wilberforce(mass=0.5, turns=8, radius=0.03, climb=0.3, wire=1.5e-3):
    """A bob on a spring, and how long the modes take to exchange their energy."""
    length = 2.0 * math.pi * turns * radius / math.cos(climb)
    share = np.linspace(0.0, 1.0, 14 * turns + 1)
    around = 2.0 * math.pi * turns * share
    height = length * math.sin(climb)
    points = np.stack([radius * np.cos(around), radius * np.sin(around), -share * height], axis=1)
    width, beat = tuned(mass, turns, radius, climb, wire)
    bob = make_body("CYLINDER", at=(0.0, 0.0, -height - 0.02), size=(width, width, 0.04), mass=mass)
    spring = make_rod(("POLY", points), name="Spring", start_hold="CLAMP", radius=wire, **STEEL)
    attach(spring, bob, use_rotation=True)
    bpy.context.scene.tendril.air_density = 0.0
    return bob, beat


def rope_bridge(planks=5):
    """Two ropes between two passive posts, planks tied to both, and a box above."""
    posts = [make_body(at=(x, 0.0, -0.5), size=(0.3, 1.4, 1.0), kind="PASSIVE") for x in (-1.35, 1.35)]
    boards = []
    for k in range(planks):
        x = -0.85 + 1.8 * k / (planks - 1)
        boards.append(make_body(at=(x, 0.0, 0.0), size=(0.3, 1.0, 0.04), mass=1.5, friction=0.8))
        boards[-1].name = f"Plank {k}"
    for y in (-0.45, 0.45):
        side = make_rod(
            ("POLY", np.stack([np.linspace(-1.15, 1.15, 24), np.full(24, y), np.zeros(24)], axis=1)),
            name=f"Side {y}",
            radius=0.012,
        )
        attach(side, posts[0], "START")
        attach(side, posts[1], "END")
        for k, board in enumerate(boards):
            x = -0.85 + 1.8 * k / (planks - 1)
            attach(side, board, "POINT", point=round((x + 1.15) * 10), use_rotation=True)
    box = make_body(at=(0.05, 0.0, 0.6), size=(0.4, 0.4, 0.4), mass=8.0, friction=0.8)
    box.name = "Box"
    return box, boards


def wrecking_ball(hangs=True, rows=4, columns=3):
    """A wall of bricks, and a ball that swings into it; or falls beside it."""
    make_body(size=(8.0, 8.0, 0.2), at=(0, 0, -0.1), kind="PASSIVE", friction=0.6)
    bricks = []
    for row in range(rows):
        for k in range(columns):
            y = (k - 0.5 * (columns - 1)) * 0.41 + (0.05 if row % 2 else -0.05)
            at = (0.0, y, 0.1 + 0.2 * row)
            bricks.append(make_body(at=at, size=(0.2, 0.4, 0.2), mass=2.0, friction=0.6, use_deactivation=True))
    ball = make_body("SPHERE", at=(-2.0, 0.0, 2.4), size=(0.5, 0.5, 0.5), mass=20.0)
    if hangs:
        cable = rope((-0.2, 0.0, 2.4), (-1.75, 0.0, 2.4), 24, material="STEEL_CABLE", radius=0.01)
        attach(cable, ball)
    return ball, bricks


def amplitude(values, window=10):
    """Half the range around each frame, over about two periods."""
    around = np.lib.stride_tricks.sliding_window_view(values, window)
    return 0.5 * np.ptp(around, axis=1)


def test_a_wilberforce_pendulum_shows_the_beat():
    bob, beat = wilberforce()
    frames = play_bodies(round(1.1 * beat * 24), bob)[:, 0]
    height, turned = frames[:, 2, 3], np.unwrap(np.arctan2(frames[:, 1, 0], frames[:, 0, 0]))
    up, about = amplitude(height), amplitude(turned)
    half, whole = round(0.5 * beat * 24) - 5, round(beat * 24) - 5
    assert abs(int(np.argmin(up)) - half) <= 4  # frames
    assert up[half - 2 : half + 3].min() < 0.25 * up[0]
    assert about[half] > 0.95 * about.max()
    assert up[whole] > 0.9 * up[0]
    assert about[whole] < 0.25 * about.max()


def test_a_rope_bridge_between_passive_posts_carries_a_dropped_box():
    box, boards = rope_bridge()
    frames = play_bodies(30, box, *boards)
    dropped, planks = frames[:, 0, :3, 3], frames[:, 1:, :3, 3]
    assert dropped[0, 2] == pytest.approx(0.6)
    assert np.all(dropped[:, 2] > planks[:, 1:4, 2].min(axis=1))  # never through the planks
    assert np.all(np.abs(dropped[-1, :2]) < [0.9, 0.5])
    assert dropped[-1, 2] > 0.0
    assert planks[-15:, :, 2].min() < -0.05  # it sags
    for side in (obj for obj in bpy.data.objects if obj.name.startswith("Side")):
        rows = read_rows(side.data)
        np.testing.assert_allclose(rows[[0, -1]], [[-1.15, rows[0, 1], 0.0], [1.15, rows[0, 1], 0.0]], atol=1e-5)
        assert np.linalg.norm(np.diff(rows, axis=0), axis=1).sum() < 2.3 * 1.05
        assert status(side) == ""


def test_a_wrecking_ball_knocks_over_a_wall_of_bricks():
    ball, bricks = wrecking_ball()
    frames = play_bodies(40, ball, *bricks)
    moved = np.linalg.norm(frames[-1, 1:, :3, 3] - frames[0, 1:, :3, 3], axis=1)
    assert np.sum(moved > 0.3) >= 4
    assert frames[:, 0, 0, 3].max() > 0.5  # the ball swings through
    reach = np.linalg.norm(frames[:, 0, :3, 3] - [-0.2, 0.0, 2.4], axis=1)
    assert reach.max() < 1.8 * 1.003
    assert np.all(frames[:, 1:, 2, 3] > 0.05)  # nothing sinks into the floor


def test_without_its_cable_the_ball_leaves_the_wall_alone():
    ball, bricks = wrecking_ball(hangs=False)
    frames = play_bodies(40, ball, *bricks)
    moved = np.linalg.norm(frames[-1, 1:, :3, 3] - frames[0, 1:, :3, 3], axis=1)
    assert moved.max() < 0.02
    assert frames[-1, 0, 2, 3] < 0.4
