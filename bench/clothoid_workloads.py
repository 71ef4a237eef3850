"""Clothoids: the curly rod of the paper (Casati and Bertails-Descoubes 2013, section 8.1) at its time step, a head of curls without
contact, and how the cost of a step grows with elements."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core import Material, Rod, Scene, Simulation
from ..sample_scenes.experiments.clothoid_cost import ELEMENTS as GROWTH
from ..sample_scenes.experiments.clothoid_cost import IMPLICIT, SEMI_IMPLICIT, STEP, power, step_seconds
from ..sample_scenes.experiments.curly_rod import helix

FASTER = 20.0  # than real time, which the paper reaches
ELEMENTS, DRAWN = 6, 40
STRANDS, STRAND_ELEMENTS, FRAMES_PER_SECOND, SUBSTEPS = 662, 4, 24.0, 2
MOST_FRAME = 0.1  # s, on two cores
MOST_POWER = 3.0  # of elements, in the limit: a dense matrix is solved
SCHEMES = (SEMI_IMPLICIT, IMPLICIT)


def curls(scheme: str) -> Simulation:
    """Hair 20 cm long in three curls, its roots on a patch of skin; nothing touches."""
    scene, curl, hair = Scene(), helix(40, 3.0, 0.01, 0.05), Material.preset("human hair")
    for x, y in np.random.default_rng(0).uniform(-0.1, 0.1, (STRANDS, 2)):
        rod = Rod.from_points(curl + np.array([x, y, 0.0]), radius=5e-5, material=hair)
        scene.clamp(scene.add(rod, "clothoid", elements=STRAND_ELEMENTS), "start")
    return Simulation(scene, FRAMES_PER_SECOND, substeps=SUBSTEPS, integrator=scheme, threads=2)


def frame_seconds(scheme: str) -> float:
    """The mean of half a second."""
    sim = curls(scheme)
    sim.step_frame()
    start = time.perf_counter()
    for _ in range(12):
        sim.step_frame()
    return (time.perf_counter() - start) / 12


def rows() -> Iterator[tuple[str, float, dict[str, float] | None, dict[str, Any]]]:
    """Name, seconds, limits and figures of each line of the bench."""
    for scheme in SCHEMES:
        seconds = step_seconds("clothoid", DRAWN, ELEMENTS, scheme)
        limits = {"seconds": STEP / FASTER} if scheme == SCHEMES[0] else None
        figures = {"times_real_time": STEP / seconds}
        yield f"clothoid, a step, {ELEMENTS} elements, {scheme}", seconds, limits, figures
    for scheme in SCHEMES:
        seconds = frame_seconds(scheme)
        limits = {"seconds": MOST_FRAME} if scheme == SCHEMES[0] else None
        figures = {"frames_per_second": 1.0 / seconds, "substeps": SUBSTEPS}
        yield f"clothoid, a frame, {STRANDS} curls, {scheme}", seconds, limits, figures
    for scheme in SCHEMES:
        times = []
        for elements in GROWTH:
            times.append(step_seconds("clothoid", DRAWN, elements, scheme, 30, 2))
            yield f"clothoid, a step, {elements} elements, {scheme}", times[-1], None, {}
        grown = power(GROWTH, np.array(times))
        yield f"clothoid, growth, {scheme}", times[-1], {"power": MOST_POWER}, {"power": grown}
