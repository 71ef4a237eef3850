"""Workloads in which rods touch, and how long they may take.

Figures are measured with geometry of their own (`overlap.py`): what the solver believes does not count.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import Material, Rod, Scene, Simulation
from ..core.compile.workers import Workers
from ..core.contact.broad_phase import BroadPhase
from ..core.contact.detection import MARGIN, sweep_boxes
from ..core.describe.shapes import Cylinder, Plane, Sphere
from ..sample_scenes.experiments import cylinders, knot
from ..sample_scenes.experiments.overlap import in_cylinder, in_itself

Result = tuple[float, dict[str, Any]]  # seconds, and what else came out

PATCH = 40  # strands of 25 segments
STRANDS = [PATCH * 2**k for k in range(9)]  # up to 256,000 segments
LYING = (0.125, 0.25, 0.5, 1.0)  # part of the strands
ACROSS = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))  # axis along y
HAIR = Material(young_modulus=3.9e9, density=1300.0, poisson_ratio=0.4)
HAIR_RADIUS, HAIR_LENGTH, HAIR_SEGMENTS = 40e-6, 0.25, 25
WAVE, WAVE_LENGTH = 5e-4, 0.05  # m, of hair on a plane


def rope_on_cylinders() -> Result:
    """W5: rope, 150 segments, falls on three cylinders, 3 s."""
    radius, seconds = 4e-3, 3.0
    x = np.linspace(-0.75, 0.75, 151)
    points = np.stack([x, 0.02 * np.sin(3.0 * x), np.full_like(x, 0.35)], axis=1)
    scene = Scene(rod_contact=True)
    rope = Material(young_modulus=10e6, density=1000.0, poisson_ratio=0.5)
    rod = scene.add(Rod.from_points(points, radius, rope, rest="straight"), friction=0.3)
    shapes = [Cylinder(0.05, 0.6, (x, 0.0, z), ACROSS) for x, z in ((-0.45, 0.0), (0.0, 0.1), (0.45, 0.0))]
    for shape in shapes:
        scene.collide(shape, friction=0.3)
    sim = Simulation(scene)
    start = time.perf_counter()
    frames = [sim.step_frame() for _ in range(round(seconds * sim.frame_rate))]
    seconds = time.perf_counter() - start
    shown = [frame.positions(rod) for frame in frames]
    deepest = max(max(*(in_cylinder(x, radius, shape) for shape in shapes), in_itself(x, radius)) for x in shown)
    return seconds, {"penetration_radii": max(0.0, deepest) / radius, **_troubles(frames)}


def tight_knot() -> Result:
    """W6: knot, 100 segments, drawn tight by 200 to 20,000 N: a step, on one core."""
    _rod, sim = knot.simulation(threads=1)
    sim.step_frame()
    start = time.perf_counter()
    frames = [sim.step_frame() for _ in range(round(knot.SECONDS / knot.STEP) - 1)]
    seconds = (time.perf_counter() - start) / len(frames)
    figure = {
        "steps_per_second": 1.0 / seconds,
        "overlap_radii": in_itself(frames[-1].positions(0), knot.RADIUS) / knot.RADIUS,
    }
    return seconds, {**figure, **_troubles(frames)}


def drop_on_cylinders() -> Result:
    """W7: rod, 200 segments, bounces on three cylinders: a step, on one core."""
    _rod, sim = cylinders.simulation(threads=1)
    frames = [sim.step_frame() for _ in range(round(0.5 / cylinders.STEP))]  # until it touches
    start = time.perf_counter()
    frames = [sim.step_frame() for _ in range(round(3.0 / cylinders.STEP))]
    seconds = (time.perf_counter() - start) / len(frames)
    deepest = max(cylinders.deepest(frame) for frame in frames) / cylinders.RADIUS
    return seconds, {"steps_per_second": 1.0 / seconds, "penetration_radii": max(0.0, deepest), **_troubles(frames)}


def hair_on_a_sphere(strands: int = 1000, fall: int = 30, lying: int = 6) -> Result:
    """W8: hair, 1,000 strands of 25 segments, lies on a sphere: a frame of 1/24 s."""
    scene = Scene(rod_contact=True, air_density=1.2)
    scene.collide(Sphere(0.1), friction=0.3)
    place = np.arange(strands) + 0.5
    up, around = 1.0 - place / strands, math.pi * (1.0 + math.sqrt(5.0)) * place
    out = np.stack([np.cos(around) * np.sqrt(1.0 - up**2), np.sin(around) * np.sqrt(1.0 - up**2), up], axis=1)
    along = np.linspace(0.1 + 1e-4, 0.1 + 1e-4 + HAIR_LENGTH, HAIR_SEGMENTS + 1)[:, None]
    for way in out:
        scene.clamp(scene.add(Rod.from_points(along * way, HAIR_RADIUS, HAIR), friction=0.3), "start")
    sim = Simulation(scene)
    for _ in range(fall):
        sim.step_frame()
    seconds, frames = [], []
    for _ in range(lying):
        start = time.perf_counter()
        frames.append(sim.step_frame())
        seconds.append(time.perf_counter() - start)
    x = np.concatenate([frames[-1].positions(rod)[1:] for rod in range(strands)])
    inside = 0.1 + HAIR_RADIUS - float(np.linalg.norm(x, axis=1).min())
    return float(np.mean(seconds)), {
        "worst_frame": max(seconds),
        "acting": acting(sim),
        "penetration_radii": max(0.0, inside) / HAIR_RADIUS,
        **_troubles(frames),
    }


def broad_phase() -> Result:
    """W9: pairs, 25,000 segments of hair in one layer: boxes, tree and pairs."""
    sim = Simulation(loose_hair(1000))
    assert sim._contact is not None
    samples = sim._contact.detection.samples
    samples.now[:] = np.concatenate([sim.current().positions(rod) for rod in range(1000)])
    samples.now[:, 2] = HAIR_RADIUS  # all in one layer
    samples.start[:] = samples.now
    low, high = np.zeros_like(samples.now), np.zeros_like(samples.now)
    phase, workers, every = BroadPhase(), Workers(), np.ones(1000, np.bool_)
    least, pairs = math.inf, 0
    for _ in range(20):
        start = time.perf_counter()
        sweep_boxes(samples, samples.start, MARGIN * samples.radius, every, low, high)
        phase.build(low, high, samples.after >= 0, workers)
        pairs = phase.self_pairs(samples, workers)[1]
        least = min(least, time.perf_counter() - start)
    return least, {"segments": int((samples.after >= 0).sum()), "pairs": pairs}


def loose_hair(strands: int, spacing: float = 0.1) -> Scene:
    """Wavy hair that falls on a plane, each strand across others: how many depends on their spacing alone."""
    random = np.random.default_rng(7)
    scene = Scene(rod_contact=True)
    scene.collide(Plane(), friction=0.3)
    side = math.ceil(math.sqrt(strands))
    apart = math.ceil(1.5 * HAIR_LENGTH / spacing)  # strands of one layer never cross
    along = np.linspace(-0.5 * HAIR_LENGTH, 0.5 * HAIR_LENGTH, HAIR_SEGMENTS + 1)[:, None]
    for k in range(strands):
        row, column = divmod(k, side)
        x, y = spacing * (np.array([column, row]) + random.uniform(-0.5, 0.5, 2))
        angle = random.uniform(0.0, 2.0 * math.pi)
        layer = (row % apart) * apart + column % apart
        points = along * (math.cos(angle), math.sin(angle), 0.0) + (x, y, 3.0 * HAIR_RADIUS * (1 + layer))
        wave = WAVE * np.cos(2.0 * math.pi * along / WAVE_LENGTH + random.uniform(0.0, 6.0))
        points += wave * (-math.sin(angle), math.cos(angle), 0.0)
        scene.add(Rod.from_points(points, HAIR_RADIUS, HAIR), friction=0.3)
    return scene


def lying_hair(strands: int, lying: float = 1.0, times: int = 3) -> tuple[float, int]:
    """Seconds of a frame of hair, the least of several from the same state; and how many contacts act.

    The hair of a patch falls on a plane first; then the patch is laid out many times, side by side. What is not to be lying falls
    far up, strands one above the other."""
    fallen = loose_hair(PATCH)
    sim = Simulation(fallen)
    for _ in range(4):
        frame = sim.step_frame()
    patch = [(frame.positions(rod), entry.rod.rest_points) for rod, entry in enumerate(fallen.entries)]
    low, high = np.min([x.min(axis=0) for x, _ in patch], axis=0), np.max([x.max(axis=0) for x, _ in patch], axis=0)
    size = high - low + HAIR_LENGTH
    scene = Scene(rod_contact=True)
    scene.collide(Plane(), friction=0.3)
    tiles = strands // PATCH
    side = math.ceil(math.sqrt(tiles))
    for tile in range(tiles):
        place, lies = size * (*divmod(tile, side), 0.0), tile < lying * tiles
        for k, (x, rest) in enumerate(patch):
            points = x + place if lies else rest + place + (0.0, 0.0, 10.0 + 0.1 * k)
            scene.add(Rod.from_points(points, HAIR_RADIUS, HAIR, rest=rest), friction=0.3)
    sim = Simulation(scene)
    for _ in range(4):
        sim.step_frame()
    state, number = sim.state(), sim.frame
    least = math.inf
    for _ in range(times):
        sim.restore(state, number)
        start = time.perf_counter()
        sim.step_frame()
        least = min(least, time.perf_counter() - start)
    return least, acting(sim)


def growth(seconds: float, size: int, later: float, larger: int) -> float:
    """By what time grows per doubling of the size."""
    return float((later / seconds) ** (1.0 / math.log2(larger / size)))


def acting(sim: Simulation) -> int:
    """Contacts that push."""
    assert sim._contact is not None
    return len(sim._contact.known.keys)


def _troubles(frames: list[Any]) -> dict[str, int]:
    return {
        "halvings": sum(frame.report.halvings for frame in frames),
        "failures": sum(frame.report.failures for frame in frames),
    }


CONTACT_WORKLOADS: dict[str, Callable[[], Result]] = {
    "W5": rope_on_cylinders,
    "W6": tight_knot,
    "W7": drop_on_cylinders,
    "W8": hair_on_a_sphere,
    "W9": broad_phase,
}
TIMES = {"W5": 4}  # runs of which the best counts, the first of them to compile; others compile before what is timed
LIMITS = {  # of the seconds and of the figures
    "W5": {"seconds": 1.0, "penetration_radii": 0.01},
    "W6": {"seconds": 0.04, "overlap_radii": 0.02},
    "W7": {"seconds": 0.04, "penetration_radii": 0.01},
    "W8": {"seconds": 1.0},
    "W9": {"seconds": 0.01},
}
MOST_GROWTH = 2.3  # of time per doubling of strands, and of contacts
