"""Table 1 of Bergou et al. 2008: milliseconds per step for rods with the same numbers of vertices in the paper's scenes.

The paper's times were measured on a 2.66 GHz Core 2 Duo, ours on one core of this machine. The paper's time for contact is left
out: `der2008` uses another integrator for rods in contact. Parts of a step are measured for rods without rigid bodies only.

Speed-ups are per step and per simulated second. The paper does not print its materials; a step is as long as their stiffness, the
length of segments and the stability limit of symplectic Euler allow, so the second kind compares materials as well as programs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...core import Body, Cylinder, Rod, Scene, Simulation, Stiffness
from ...core.models.published.der2008.block import Der2008Block
from ...core.models.published.der2008.probe import FORCES, FRAMES, PROJECTION, evaluate_at, repeat_part
from . import localised_buckling, michell_ring, plectonemes, transducer, tree, trefoil, twist_asymmetry, wilberforce
from .outcome import BLUE, GREY, Number, Outcome, Plot, Series
from .strands import resampled

MODEL = "der2008"
FASTER = 5.0  # than the paper: required factor
RATE = 2.0  # frames per second; each consists of many steps
REPEATS = 2000
ROUNDS = 7


@dataclass(frozen=True)
class Row:
    figure: str
    vertices: int
    scene: Callable[[int], Scene]
    forces: float  # ms, in the paper
    frames: float  # the quasistatic update
    projection: float
    total: float  # ms, without contact
    step: float  # ms, the time step
    seconds: float = 1.0  # of simulation until it moves as in the figure
    bodies: bool = False  # with rigid bodies
    rate: float = RATE  # frames per second


def _clamped_scene(rod: Rod, spin: float = 0.0) -> Scene:
    """A rod clamped at both ends, of which one rotates at `spin`, with a small random motion."""
    rng = np.random.default_rng(1)
    scene = Scene(gravity=(0.0, 0.0, 0.0), drag=0.1)
    scene.add(rod, MODEL, velocity=0.1 * rng.standard_normal((rod.vertex_count, 3)))
    scene.clamp(0, "start")
    if spin != 0.0:
        scene.clamp(0, "end", spin=lambda t: spin * t)
    return scene


def _knot(vertices: int) -> Scene:
    points = resampled(trefoil.knotted().points, vertices - 1)
    stiffness = Stiffness(1e4, 0.01, 0.01, 0.008, mass_per_length=1.0, inertia_per_length=1e-4)
    return _clamped_scene(Rod.from_points(points, 0.01, stiffness=stiffness, rest="straight"), 1.0)


def _vee(vertices: int) -> Scene:
    points = resampled(twist_asymmetry.v_shape(), vertices - 1)
    return _clamped_scene(Rod.from_points(points, 0.02, stiffness=twist_asymmetry.FLAT, director=(0.0, 1.0, 0.0)), 3.0)


def _helix(vertices: int) -> Scene:
    b = localised_buckling
    points = np.linspace((0.0, 0.0, 0.0), (b.LENGTH - b.SHORTENING, 0.0, 0.0), vertices)
    points[:, 1] = 0.2 * np.sin(np.linspace(0.0, 6.0 * math.pi, vertices))
    stiffness = Stiffness(1e5, b.BEND, b.BEND, b.TWIST, mass_per_length=1.0, inertia_per_length=1e-3)
    return _clamped_scene(
        Rod.from_points(points, 0.01, stiffness=stiffness, rest="straight", twist=2.0 * math.pi * b.TURNS), 1.0
    )


def _ring(vertices: int) -> Scene:
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    scene.add(michell_ring.ring(1.0, 14.0, vertices), MODEL)
    return scene


def _hanging(vertices: int) -> Scene:
    rod = plectonemes.hanging(vertices - 1)
    stiffness = Stiffness(1e4, 5e-4, 5e-4, 4e-4, mass_per_length=0.1, inertia_per_length=1e-6)
    return _clamped_scene(Rod.from_points(rod.points, 0.005, stiffness=stiffness, rest="straight"), 20.0)


def _link(vertices: int) -> Scene:
    """An open link of the chain, free."""
    angle = np.linspace(0.3, 2.0 * math.pi - 0.3, vertices)
    points = np.stack([np.cos(angle), np.sin(angle), 0.05 * angle], axis=1)
    stiffness = Stiffness(1e4, 2.0, 2.0, 2.0, mass_per_length=1.0, inertia_per_length=1e-3)
    rng = np.random.default_rng(2)
    scene = Scene()
    scene.add(Rod.from_points(points, 0.05, stiffness=stiffness), MODEL, velocity=rng.standard_normal((vertices, 3)))
    return scene


def _transducer(vertices: int) -> Scene:
    t = transducer
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    scene.add(Rod.from_points(np.linspace((0, 0, 0), (t.LENGTH, 0, 0), vertices), t.RADIUS, t.RUBBER), MODEL)
    heavy = Body(t.HEAVY, mass=t.MASSES[0], position=(-0.05, 0, 0), angular_velocity=(t.SPIN, 0, 0))
    light = Body(t.LIGHT, mass=t.MASSES[1], position=(t.LENGTH + 0.05, 0, 0))
    for where, body in (("start", heavy), ("end", light)):
        scene.attach(0, where, scene.add_body(body))
    return scene


def _wilberforce(vertices: int) -> Scene:
    """The spring of the experiment with as few vertices as in the paper."""
    w, spring = wilberforce, wilberforce.make_spring()
    height, angle = w.hanging(spring)
    points = w.helix(spring, height, angle)[np.linspace(0, w.TURNS * w.PER_TURN, vertices).round().astype(int)]
    scene = Scene()
    scene.add(Rod.from_points(points, w.WIRE, w.STEEL), MODEL)
    scene.clamp(0, "start")
    bob = Body(Cylinder(0.03, 0.04), mass=w.MASS, position=(0.0, 0.0, -height - 0.02))
    scene.attach(0, "end", scene.add_body(bob))
    return scene


ROWS = (
    Row("1 (knot)", 60, _knot, 0.026, 0.021, 0.21, 0.26, 4.0),
    Row("5 (asymmetry of twist)", 49, _vee, 0.025, 0.021, 0.12, 0.162, 1.0),
    Row("6 (transducer)", 200, _transducer, 0.072, 0.064, 0.81, 0.91, 2.0, bodies=True, rate=24.0, seconds=0.1),
    Row("7 (localised buckling)", 75, _helix, 0.043, 0.1, 0.2, 0.34, 2.0),
    Row("8 (Michell's ring)", 67, _ring, 0.039, 0.096, 0.28, 0.42, 50.0, seconds=4.0),
    Row("9 (plectonemes)", 275, _hanging, 0.13, 0.17, 0.42, 0.73, 1.0),
    Row("10 (link of a chain)", 31, _link, 0.016, 0.13, 0.13, 0.2, 1.0),
    Row(
        "11 (Wilberforce pendulum)",
        20,
        _wilberforce,
        0.0036,
        0.0043,
        0.019,
        0.027,
        1.0,
        bodies=True,
        rate=24.0,
        seconds=0.1,
    ),
    Row(
        "12 (tree)",
        2158,
        lambda _: tree.grown().scene,
        0.87,
        0.64,
        21.0,
        22.0,
        0.1,
        bodies=True,
        rate=96.0,
        seconds=0.02,
    ),
)
# Where a step is less than FASTER times as fast as printed; see docs/speed.md.
SLOWER = {"11 (Wilberforce pendulum)": 1.0}


class Times(NamedTuple):
    """Milliseconds per step."""

    forces: float
    frames: float
    projection: float
    total: float
    step: float  # s, length of a step


def measured(row: Row, rounds: int = ROUNDS, repeats: int = REPEATS) -> Times:
    """The fastest of several rounds. Parts of a step are repeated in one state; the total is averaged over many steps."""
    sim = Simulation(row.scene(row.vertices), frame_rate=row.rate, substeps=1, threads=1)
    for _ in range(round(row.rate * row.seconds)):
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
    h = 1.0 / row.rate / int(block.inner_steps[0])
    if row.bodies:
        return Times(math.nan, math.nan, math.nan, 1e3 * total, h)
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


def _per_second(row: Row, times: Times) -> Number:
    """The time step, and the speed-up per simulated second; reported, as the paper does not print its materials."""
    faster = (row.total / row.step) / (times.total / (1e3 * times.step))
    says = f"the paper: {row.step:g} ms; per simulated second {faster:.2g} times as fast"
    return Number(f"Fig. {row.figure}, time step ({says})", 1e3 * times.step, "ms")


def run() -> Outcome:
    numbers, ours = [], []
    for row in ROWS:
        times = measured(row)
        ours.append(times)
        for name in ("total",) if row.bodies else ("forces", "frames", "projection", "total"):
            paper, here = getattr(row, name), getattr(times, name)
            word = {"frames": "quasistatic update", "total": "a step"}.get(name, name)
            label = f"Fig. {row.figure}, {row.vertices} vertices, {word}"
            says = f"the paper: {paper:g} ms, {paper / here:.0f} times as long"
            if name == "frames":  # includes the update of Bishop frames, which the paper does not mention
                numbers.append(Number(f"{label} ({says})", here, "ms"))
            else:
                most = paper / SLOWER.get(row.figure, FASTER)
                numbers.append(Number.between(label, here, 0.0, most, "ms", says))
        numbers.append(_per_second(row, times))
    labels = [row.vertices for row in ROWS]
    plot = Plot(
        "A step, without contact", "vertices", "ms",
        [
            Series(labels, [row.total for row in ROWS], "the paper, 2008", "o", GREY),
            Series(labels, [times.total for times in ours], "here", "o", BLUE),
        ],
    )  # fmt: skip
    caption = (
        "Milliseconds per step for the scenes of the paper, without contact, on one core: as printed for a 2.66 GHz "
        f"Core 2 Duo, and as measured here. Every step but that of Fig. 11 must be at least {FASTER:g} times faster."
    )
    return Outcome(numbers, [], [plot], caption=caption)
