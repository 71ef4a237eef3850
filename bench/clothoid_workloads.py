"""Clothoids: the curly rod of Casati and Bertails-Descoubes 2013, section 8.1, with its time step; many curls without contact; and
the growth of a step's time with the number of elements."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from ..core import Material, Rod, Scene, Simulation
from ..sample_scenes.experiments.clothoid_cost import ELEMENTS as GROWTH
from ..sample_scenes.experiments.clothoid_cost import IMPLICIT, SEMI_IMPLICIT, STEP, power, step_seconds
from ..sample_scenes.experiments.curly_rod import helix
from .rows import Line, Row

FASTER = 20.0  # than real time, which is what the paper reports
ELEMENTS, EDGES = 6, 40
STRANDS, STRAND_ELEMENTS, FRAMES_PER_SECOND, SUBSTEPS = 662, 4, 24.0, 2
FRAME_LIMIT = 0.1  # s, on two cores
EXPONENT_LIMIT = 3.0  # of elements: that of solving with a dense matrix
SCHEMES = (SEMI_IMPLICIT, IMPLICIT)


def curls(scheme: str) -> Simulation:
    """Strands of hair 20 cm long with three turns each, their roots clamped in a square; no contact."""
    scene, curl, hair = Scene(), helix(40, 3.0, 0.01, 0.05), Material.preset("human hair")
    for x, y in np.random.default_rng(0).uniform(-0.1, 0.1, (STRANDS, 2)):
        rod = Rod.from_points(curl + np.array([x, y, 0.0]), radius=5e-5, material=hair)
        scene.clamp(scene.add(rod, "clothoid", elements=STRAND_ELEMENTS), "start")
    return Simulation(scene, FRAMES_PER_SECOND, substeps=SUBSTEPS, integrator=scheme, threads=2)


def frame_seconds(scheme: str) -> float:
    """Mean over half a second."""
    sim = curls(scheme)
    sim.step_frame()
    start = time.perf_counter()
    for _ in range(12):
        sim.step_frame()
    return (time.perf_counter() - start) / 12


def _step(_full: bool) -> Iterator[Line]:
    for scheme in SCHEMES:
        seconds = step_seconds("clothoid", EDGES, ELEMENTS, scheme)
        limits = {"seconds": STEP / FASTER} if scheme == SEMI_IMPLICIT else None
        yield Line(
            f"clothoid, a step, {ELEMENTS} elements, {scheme}", seconds, limits, {"times_real_time": STEP / seconds}
        )


def _frame(_full: bool) -> Iterator[Line]:
    for scheme in SCHEMES:
        seconds = frame_seconds(scheme)
        limits = {"seconds": FRAME_LIMIT} if scheme == SEMI_IMPLICIT else None
        figures = {"frames_per_second": 1.0 / seconds, "substeps": SUBSTEPS}
        yield Line(f"clothoid, a frame, {STRANDS} curls, {scheme}", seconds, limits, figures)


def _growth(_full: bool) -> Iterator[Line]:
    for scheme in SCHEMES:
        times = []
        for elements in GROWTH:
            times.append(step_seconds("clothoid", EDGES, elements, scheme, 30, 2))
            yield Line(f"clothoid, a step, {elements} elements, {scheme}", times[-1])
        figures = {"exponent": power(GROWTH, np.array(times))}
        yield Line(f"clothoid, growth with elements, {scheme}", times[-1], {"exponent": EXPONENT_LIMIT}, figures)


ROWS = (Row("clothoid step", _step), Row("clothoid frame", _frame), Row("clothoid growth", _growth))
