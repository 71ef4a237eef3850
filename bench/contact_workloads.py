"""Workloads with contact, and their limits.

Penetration is measured from positions by independent geometry (`overlap.py`), not taken from the solver.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core import Material, Rod, Scene, Simulation
from ..core.compile.workers import Workers
from ..core.contact.broad_phase import BroadPhase
from ..core.contact.detection import MARGIN, sweep_boxes
from ..core.describe.shapes import Cylinder, Plane, Sphere
from ..sample_scenes.experiments import cylinders, knot
from ..sample_scenes.experiments.overlap import in_itself
from .peers import cases
from .rows import Line, Row, Timer, least_processor_seconds, least_seconds
from .workloads import Result, best_of

PATCH = 40  # strands of 25 segments
HAIR = Material(young_modulus=3.9e9, density=1300.0, poisson_ratio=0.4)
HAIR_RADIUS, HAIR_LENGTH, HAIR_SEGMENTS = 40e-6, 0.25, 25
WAVE, WAVE_LENGTH = 5e-4, 0.05  # m: amplitude and wavelength of hair on a plane


def rope_on_cylinders() -> Result:
    """W5: a rope of 150 segments falls on three cylinders, 3 s."""
    cord = cases.DROPPED
    scene = Scene(rod_contact=True)
    rope = Material(cord.young, cord.density, cord.poisson)
    rod = scene.add(
        Rod.from_points(cases.dropped_points(), cord.radius, rope, rest="straight"), friction=cases.DROPPED_FRICTION
    )
    for x, z in cases.CYLINDERS:
        shape = Cylinder(cases.CYLINDER_RADIUS, cases.CYLINDER_LENGTH, (x, 0.0, z), cases.ACROSS)
        scene.collide(shape, friction=cases.DROPPED_FRICTION)
    sim = Simulation(scene)
    with Timer() as timer:
        frames = [sim.step_frame() for _ in range(round(cases.DROPPED_SECONDS * sim.frame_rate))]
    deepest = max(cases.dropped_penetration(frame.positions(rod)) for frame in frames)
    figure = {"penetration_radii": deepest, "processor_seconds": timer.processor}
    return timer.wall, figure | _retries(frames)


def heap_on_floor() -> Result:
    """Strands fall in crossed layers on a floor: the mean frame. Compared with other programs."""
    cord = cases.STRAND
    scene = Scene(rod_contact=True)
    scene.collide(Plane(), friction=cases.HEAP_FRICTION)
    material = Material(cord.young, cord.density, cord.poisson)
    for points in cases.heap_points():
        scene.add(Rod.from_points(points, cord.radius, material), friction=cases.HEAP_FRICTION)
    sim = Simulation(scene)
    with Timer() as timer:
        frames = [sim.step_frame() for _ in range(cases.HEAP_FRAMES)]
    shapes = [[frame.positions(rod) for rod in range(cases.HEAP_STRANDS)] for frame in frames]
    figure = cases.heap_figure(shapes[-1], max(map(cases.heap_overlap, shapes)))
    processor = timer.processor / len(frames)
    return timer.wall / len(frames), figure | {"processor_seconds": processor} | _retries(frames)


def tight_knot() -> Result:
    """W6: a knot of 100 segments is tightened by 200 to 20,000 N; one step, on one core."""
    _rod, sim = knot.simulation(threads=1)
    sim.step_frame()
    with Timer() as timer:
        frames = [sim.step_frame() for _ in range(round(knot.SECONDS / knot.STEP) - 1)]
    seconds = timer.wall / len(frames)
    figure = {
        "steps_per_second": 1.0 / seconds,
        "overlap_radii": in_itself(frames[-1].positions(0), knot.RADIUS) / knot.RADIUS,
        "processor_seconds": timer.processor / len(frames),
    }
    return seconds, figure | _retries(frames)


def drop_on_cylinders() -> Result:
    """W7: a rod of 200 segments bounces on three cylinders; one step, on one core."""
    _rod, sim = cylinders.simulation(threads=1)
    for _ in range(round(0.5 / cylinders.STEP)):  # until the first contact
        sim.step_frame()
    with Timer() as timer:
        frames = [sim.step_frame() for _ in range(round(3.0 / cylinders.STEP))]
    seconds = timer.wall / len(frames)
    deepest = max(cylinders.deepest(frame) for frame in frames) / cylinders.RADIUS
    figure = {
        "steps_per_second": 1.0 / seconds,
        "penetration_radii": max(0.0, deepest),
        "processor_seconds": timer.processor / len(frames),
    }
    return seconds, figure | _retries(frames)


def hair_on_a_sphere(strands: int = 1000, falling: int = 30, lying: int = 6) -> Result:
    """W8: hair of 1,000 strands of 25 segments, each clamped, lies on a sphere; a frame of 1/24 s.

    `falling` and `lying` are numbers of frames; only the latter are timed."""
    scene = Scene(rod_contact=True, air_density=1.2)
    scene.collide(Sphere(0.1), friction=0.3)
    place = np.arange(strands) + 0.5
    up, around = 1.0 - place / strands, math.pi * (1.0 + math.sqrt(5.0)) * place
    out = np.stack([np.cos(around) * np.sqrt(1.0 - up**2), np.sin(around) * np.sqrt(1.0 - up**2), up], axis=1)
    along = np.linspace(0.1 + 1e-4, 0.1 + 1e-4 + HAIR_LENGTH, HAIR_SEGMENTS + 1)[:, None]
    for direction in out:
        scene.clamp(scene.add(Rod.from_points(along * direction, HAIR_RADIUS, HAIR), friction=0.3), "start")
    sim = Simulation(scene)
    for _ in range(falling):
        sim.step_frame()
    seconds, processor, frames = [], 0.0, []
    for _ in range(lying):
        with Timer() as timer:
            frames.append(sim.step_frame())
        seconds.append(timer.wall)
        processor += timer.processor
    x = np.concatenate([frames[-1].positions(rod)[1:] for rod in range(strands)])
    inside = 0.1 + HAIR_RADIUS - float(np.linalg.norm(x, axis=1).min())
    return float(np.mean(seconds)), {
        "worst_frame": max(seconds),
        "contacts": active_contacts(sim),
        "penetration_radii": max(0.0, inside) / HAIR_RADIUS,
        "processor_seconds": processor / lying,
        **_retries(frames),
    }


def broad_phase() -> Result:
    """W9: broad phase for 25,000 segments of hair in one layer: bounding boxes, tree and candidate pairs."""
    sim = Simulation(loose_hair(1000))
    assert sim._contact is not None
    samples = sim._contact.detection.samples
    samples.now[:] = np.concatenate([sim.current().positions(rod) for rod in range(1000)])
    samples.now[:, 2] = HAIR_RADIUS  # all in one layer
    samples.start[:] = samples.now
    low, high = np.zeros_like(samples.now), np.zeros_like(samples.now)
    phase, workers, every = BroadPhase(), Workers(), np.ones(1000, np.bool_)
    pairs = 0

    def detect() -> None:
        nonlocal pairs
        sweep_boxes(samples, samples.start, MARGIN * samples.radius, every, low, high)
        phase.build(low, high, samples.after >= 0, workers)
        pairs = phase.self_pairs(samples, workers)[1]

    return least_seconds(20, detect), {"segments": int((samples.after >= 0).sum()), "pairs": pairs}


def loose_hair(strands: int, spacing: float = 0.1) -> Scene:
    """Wavy strands of hair that fall on a plane and cross each other; the crossings per strand depend only on the spacing."""
    random = np.random.default_rng(7)
    scene = Scene(rod_contact=True)
    scene.collide(Plane(), friction=0.3)
    side = math.ceil(math.sqrt(strands))
    apart = math.ceil(1.5 * HAIR_LENGTH / spacing)  # strands this far apart never cross and share a layer
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


@functools.cache
def _fallen_patch() -> list[tuple[np.ndarray, np.ndarray]]:
    """Positions and rest positions of a patch of strands that have fallen on a plane."""
    scene = loose_hair(PATCH)
    sim = Simulation(scene)
    for _ in range(4):
        frame = sim.step_frame()
    return [(frame.positions(rod), entry.rod.rest_points) for rod, entry in enumerate(scene.entries)]


def lying_hair(strands: int, lying: float = 1.0, times: int = 3) -> tuple[float, int]:
    """Processor seconds of a frame of hair, the shortest of several from the same state, and the number of active contacts.

    One patch of hair that has fallen on a plane is repeated side by side. Of these copies the part `lying` remains there; the
    strands of the others start far above the plane and each other, and fall freely."""
    patch = _fallen_patch()
    low, high = np.min([x.min(axis=0) for x, _ in patch], axis=0), np.max([x.max(axis=0) for x, _ in patch], axis=0)
    size = high - low + HAIR_LENGTH
    scene = Scene(rod_contact=True)
    scene.collide(Plane(), friction=0.3)
    tiles = strands // PATCH
    side = math.ceil(math.sqrt(tiles))
    for tile in range(tiles):
        offset, lies = size * (*divmod(tile, side), 0.0), tile < lying * tiles
        for k, (x, rest) in enumerate(patch):
            points = x + offset if lies else rest + offset + (0.0, 0.0, 10.0 + 0.1 * k)
            scene.add(Rod.from_points(points, HAIR_RADIUS, HAIR, rest=rest), friction=0.3)
    sim = Simulation(scene)
    for _ in range(4):
        sim.step_frame()
    state, number = sim.state(), sim.frame

    def step() -> None:
        sim.restore(state, number)
        sim.step_frame()

    return least_processor_seconds(times, step), active_contacts(sim)


def active_contacts(sim: Simulation) -> int:
    """Contacts with a nonzero force."""
    assert sim._contact is not None
    return len(sim._contact.known.keys)


def _retries(frames: list[Any]) -> dict[str, int]:
    return {
        "halvings": sum(frame.report.halvings for frame in frames),
        "failures": sum(frame.report.failures for frame in frames),
    }


def _row(name: str, title: str, work: Callable[[], Result], limits: dict[str, float], times: int = 1) -> Row:
    """`times` is the number of runs of which the fastest counts."""

    def measure(_full: bool) -> Iterator[Line]:
        seconds, figure = best_of(times, work)
        yield Line(f"{name} {title}", seconds, limits, figure)

    return Row(name, measure)


ROWS = (
    # The first of the four runs of W5 compiles; the other workloads compile before the part that is timed.
    _row("W5", "rope on three cylinders, 3 s", rope_on_cylinders, {"seconds": 1.0, "penetration_radii": 0.01}, times=4),
    _row("W6", "knot drawn tight, a step", tight_knot, {"seconds": 0.04, "overlap_radii": 0.02}),
    _row("W7", "rod on three cylinders, a step", drop_on_cylinders, {"seconds": 0.04, "penetration_radii": 0.01}),
    _row("W8", "hair on a sphere, a frame", hair_on_a_sphere, {"seconds": 1.0}),
    _row("W9", "broad phase, 25,000 segments", broad_phase, {"seconds": 0.01}),
)
