"""Table 1 of the paper: milliseconds per step, for rods of as many vertices, in its scenes.

The paper's were measured on a 2.66 GHz Core 2 Duo, ours on whatever runs this, on one core of it. Where its rods collide, its time
for contact is left out: `der2008` takes another kind of step with rods that touch.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...core import Rod, Scene, Simulation, Stiffness
from ...core.models.published.der2008.block import Der2008Block
from ...core.models.published.der2008.probe import FORCES, FRAMES, PROJECTION, evaluate_at, repeat_part
from . import localised_buckling, michell_ring, plectonemes, trefoil, twist_asymmetry
from .outcome import BLUE, GREY, Number, Outcome, Plot, Series
from .strands import resampled

MODEL = "der2008"
FASTER = 5.0  # than the paper, at least
RATE = 2.0  # frames per second: each is made of many steps
REPEATS = 2000
ROUNDS = 7


@dataclass(frozen=True)
class Row:
    figure: str
    vertices: int
    scene: Callable[[int], Scene]
    forces: float  # ms, of the paper
    frames: float  # the quasistatic update
    projection: float
    total: float  # without contact
    seconds: float = 1.0  # until it moves as in the figure


def _moved(rod: Rod, spin: float = 0.0) -> Scene:
    """Clamped at both ends, one of them turned, with a little of every motion in it."""
    rng = np.random.default_rng(1)
    scene = Scene(gravity=(0.0, 0.0, 0.0), drag=0.1)
    scene.add(rod, MODEL, velocity=0.1 * rng.standard_normal((rod.vertex_count, 3)))
    scene.clamp(0, "start")
    if spin != 0.0:
        scene.clamp(0, "end", spin=lambda t: spin * t)
    return scene


def _knot(vertices: int) -> Scene:
    points = resampled(trefoil.knotted().points, vertices - 1)
    made_of = Stiffness(1e4, 0.01, 0.01, 0.008, mass_per_length=1.0, inertia_per_length=1e-4)
    return _moved(Rod.from_points(points, 0.01, stiffness=made_of, rest="straight"), 1.0)


def _vee(vertices: int) -> Scene:
    points = resampled(twist_asymmetry.v_shape(), vertices - 1)
    return _moved(Rod.from_points(points, 0.02, stiffness=twist_asymmetry.FLAT, director=(0.0, 1.0, 0.0)), 3.0)


def _helix(vertices: int) -> Scene:
    b = localised_buckling
    points = np.linspace((0.0, 0.0, 0.0), (b.LENGTH - b.SHORTENING, 0.0, 0.0), vertices)
    points[:, 1] = 0.2 * np.sin(np.linspace(0.0, 6.0 * math.pi, vertices))
    made_of = Stiffness(1e5, b.BEND, b.BEND, b.TWIST, mass_per_length=1.0, inertia_per_length=1e-3)
    return _moved(Rod.from_points(points, 0.01, stiffness=made_of, rest="straight", twist=2.0 * math.pi * b.TURNS), 1.0)


def _ring(vertices: int) -> Scene:
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    scene.add(michell_ring.ring(1.0, 14.0, vertices), MODEL)
    return scene


def _hanging(vertices: int) -> Scene:
    rod = plectonemes.hanging(vertices - 1)
    made_of = Stiffness(1e4, 5e-4, 5e-4, 4e-4, mass_per_length=0.1, inertia_per_length=1e-6)
    return _moved(Rod.from_points(rod.points, 0.005, stiffness=made_of, rest="straight"), 20.0)


def _link(vertices: int) -> Scene:
    """An open ring of the chain, free."""
    angle = np.linspace(0.3, 2.0 * math.pi - 0.3, vertices)
    points = np.stack([np.cos(angle), np.sin(angle), 0.05 * angle], axis=1)
    made_of = Stiffness(1e4, 2.0, 2.0, 2.0, mass_per_length=1.0, inertia_per_length=1e-3)
    rng = np.random.default_rng(2)
    scene = Scene()
    scene.add(Rod.from_points(points, 0.05, stiffness=made_of), MODEL, velocity=rng.standard_normal((vertices, 3)))
    return scene


ROWS = (
    Row("1 (knot)", 60, _knot, 0.026, 0.021, 0.21, 0.26),
    Row("5 (asymmetry of twist)", 49, _vee, 0.025, 0.021, 0.12, 0.162),
    Row("7 (localised buckling)", 75, _helix, 0.043, 0.1, 0.2, 0.34),
    Row("8 (Michell's ring)", 67, _ring, 0.039, 0.096, 0.28, 0.42, seconds=4.0),
    Row("9 (plectonemes)", 275, _hanging, 0.13, 0.17, 0.42, 0.73),
    Row("10 (link of a chain)", 31, _link, 0.016, 0.13, 0.13, 0.2),
)


class Times(NamedTuple):
    """Milliseconds per step."""

    forces: float
    frames: float
    projection: float
    total: float
    step: float  # s, that it advances


def measured(row: Row, rounds: int = ROUNDS, repeats: int = REPEATS) -> Times:
    """The best of several rounds. Parts are repeated at one moment, the whole is that of many steps."""
    sim = Simulation(row.scene(row.vertices), frame_rate=RATE, substeps=1, threads=1)
    for _ in range(round(RATE * row.seconds)):
        sim.step_frame()
    block = sim.blocks[0]
    assert isinstance(block, Der2008Block)
    total = math.inf
    for _ in range(rounds):
        steps, began = 0, time.thread_time()
        while time.thread_time() - began < 0.02:
            sim.step_frame()
            steps += int(block.inner_steps[0])
        total = min(total, (time.thread_time() - began) / steps)
    h = 1.0 / RATE / int(block.inner_steps[0])
    groups = (block.arrays, block._chain, block._nodes, block._motion)
    x = block.positions().copy()
    evaluate_at(*groups, 0, x, True)
    nodes, motion = block._nodes, block._motion
    angles = np.stack([nodes.theta, nodes.sine, nodes.cosine], axis=1)
    held, mass = block.arrays.rods.held[:, :3], block.arrays.rods.mass[:, :3]
    ahead = x + np.where(held, 0.0, h * block.velocities() + h * h * motion.force / mass)
    repeat_part(*groups, 0, PROJECTION, ahead, angles, 1)
    landed = motion.x.copy()
    parts = []
    for which, place in ((FORCES, x), (FRAMES, landed), (PROJECTION, ahead)):
        best = math.inf
        for _ in range(rounds):
            began = time.thread_time()
            repeat_part(*groups, 0, which, place, angles, repeats)
            best = min(best, (time.thread_time() - began) / repeats)
        parts.append(1e3 * best)
    return Times(parts[0], parts[1], parts[2], 1e3 * total, h)


def run() -> Outcome:
    numbers, ours = [], []
    for row in ROWS:
        times = measured(row)
        ours.append(times)
        for name in ("forces", "frames", "projection", "total"):
            paper, here = getattr(row, name), getattr(times, name)
            word = {"frames": "quasistatic update", "total": "a step"}.get(name, name)
            label = f"Fig. {row.figure}, {row.vertices} vertices, {word}"
            says = f"the paper: {paper:g} ms, {paper / here:.0f} times as long"
            if name == "frames":  # with the Bishop frames, which the paper does not name
                numbers.append(Number(f"{label} ({says})", here, "ms"))
            else:
                numbers.append(Number.between(label, here, 0.0, paper / FASTER, "ms", says))
    labels = [row.vertices for row in ROWS]
    plot = Plot(
        "A step, without contact", "vertices", "ms",
        [
            Series(labels, [row.total for row in ROWS], "the paper, 2008", "o", GREY),
            Series(labels, [times.total for times in ours], "here", "o", BLUE),
        ],
    )  # fmt: skip
    caption = (
        "Milliseconds per step for the scenes of the paper that need no rigid bodies, on one core: as printed for a 2.66 GHz "
        f"Core 2 Duo, and as measured here. Every step must be at least {FASTER:g} times faster."
    )
    return Outcome(numbers, [], [plot], caption=caption)
