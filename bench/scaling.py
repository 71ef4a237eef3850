"""Growth of time with size: segments of one rod, number of rods, strands in contact, contacts among the same strands.

Sizes are a factor of four apart, so that few of them cover a wide range. `--full` adds the largest. All times are processor times.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core import Material, Rod, Scene, Simulation
from .contact_workloads import lying_hair
from .rows import Line, Row, growth_line, least_processor_seconds, sweep

SEGMENTS, SEGMENTS_FULL = (200, 800, 3200, 12_800), (200, 800, 3200, 12_800, 51_200)  # of one rod
RODS, RODS_FULL = (40, 160, 640, 2560), (40, 160, 640, 2560, 10_240)  # of 25 segments
STRANDS, STRANDS_FULL = (40, 160, 640), (40, 160, 640, 2560, 10_240)  # of 25 segments, lying on a plane
LYING = (1 / 16, 1 / 4, 1.0)  # part of the strands
STRANDS_FALLING, STRANDS_FALLING_FULL = 640, 2560
LINEAR = 1.15  # largest exponent for work that is linear in the size, with an allowance for caches and noise
CONTACT = 1.2  # the same with contact: 2.3 times the time for twice the strands


def segments_of_a_rod(full: bool) -> Iterator[Line]:
    sizes = SEGMENTS_FULL if full else SEGMENTS
    return sweep("a step, one rod of {} segments", sizes, lambda n: step_seconds(one_rod(n)), LINEAR, "segment")


def number_of_rods(full: bool) -> Iterator[Line]:
    sizes = RODS_FULL if full else RODS
    return sweep("a step, {} rods of 25 segments", sizes, lambda n: step_seconds(many_rods(n)), LINEAR, "rod")


def strands_on_a_plane(full: bool) -> Iterator[Line]:
    """Frames of hair that lies on a plane, for more and more strands."""
    return _contact_sweep("growth with strands", [(count, 1.0) for count in (STRANDS_FULL if full else STRANDS)])


def strands_lying(full: bool) -> Iterator[Line]:
    """Frames of a fixed number of strands of which more and more lie on a plane, while the others fall."""
    strands = STRANDS_FALLING_FULL if full else STRANDS_FALLING
    return _contact_sweep("growth with contacts", [(strands, part) for part in LYING])


def _contact_sweep(name: str, cases: list[tuple[int, float]]) -> Iterator[Line]:
    counts, times = [], []
    for strands, part in cases:
        seconds, contacts = lying_hair(strands, part)
        counts.append(contacts)
        times.append(seconds)
        figures = {"contacts": contacts, "us_per_contact": 1e6 * seconds / max(contacts, 1)}
        yield Line(f"a frame, {part * strands:g} of {strands} strands lying", seconds, None, figures)
    yield growth_line(name, counts, times, CONTACT)


def one_rod(segments: int) -> Simulation:
    """A wavy cable between two pins; segments have the same length for every count."""
    s = 0.02 * np.arange(segments + 1)
    points = np.stack([s, 0.002 * np.sin(20.0 * s), np.zeros_like(s)], axis=1)
    scene = Scene()
    scene.pin(scene.add(Rod.from_points(points, radius=5e-3, material=Material(1e7, 1000.0, 0.5))), (0, segments))
    return Simulation(scene, substeps=1)


def many_rods(count: int) -> Simulation:
    """Clamped strands of hair that do not touch."""
    scene = Scene()
    s = 0.01 * np.arange(26)
    material = Material.preset("human hair")
    for k in range(count):
        points = np.stack([s, np.full(26, 1e-3 * k), 0.1 * s], axis=1)
        scene.clamp(scene.add(Rod.from_points(points, radius=40e-6, material=material)), "start")
    return Simulation(scene, substeps=1)


def step_seconds(sim: Simulation, times: int = 5) -> float:
    """Processor seconds of a frame of one step: the shortest of several, each from the initial state."""
    state = sim.state()

    def step() -> None:
        sim.restore(state, sim.first_frame)
        sim.step_frame()

    return least_processor_seconds(times, step)


ROWS = (
    Row("segments", segments_of_a_rod),
    Row("rods", number_of_rods),
    Row("strands", strands_on_a_plane),
    Row("lying", strands_lying),
)
