"""The rows of table 1 of the 2022 paper, with the model `compact`: its vertices, its contacts, its milliseconds beside ours.

All on one core. Figs. 15 and 16 with the paper's own contact, the active set without friction; the others with that of all models.
Averages are those of the steps in which what a row is about goes on: contacts act, or the knot is being drawn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..core import Simulation
from ..sample_scenes.experiments import cylinders, dragged, helix, knot, sliding_plectoneme, springs
from .contact_workloads import acting

Result = tuple[float, dict[str, Any]]  # seconds of a step, and what else came out
FASTER = 3.0  # times as fast as the paper


class Row(NamedTuple):
    figure: str
    title: str
    vertices: int
    contacts: int  # on average
    milliseconds: float  # a step
    make: Callable[[], Simulation]
    skip: int  # steps
    steps: int


def _knotting() -> Simulation:
    return knot.simulation(1, "compact", "active set")[1]


def _plectoneme() -> Simulation:
    return sliding_plectoneme.simulation(1, "active set")[1]


def _springs() -> Simulation:
    return Simulation(springs.scene_of(springs.rods(), "compact"), 1.0 / springs.STEP, substeps=1, threads=1)


ROWS = (
    Row("Fig. 6", "helix", 201, 0, 5.917, lambda: helix.compact_simulation()[0], 0, 30),
    Row("Fig. 14", "strand through springs", 333, 16, 52.69, _springs, 50, 400),
    Row("Fig. 15", "knotting", 100, 15, 43.0, _knotting, 0, 80),
    Row("Fig. 16", "plectoneme", 51, 8, 20.16, _plectoneme, 0, 300),
    Row("Fig. 17", "rod on three cylinders", 201, 46, 36.888, lambda: cylinders.simulation(1, "compact")[1], 160, 1000),
    Row(
        "Fig. 11", "dragged root", 21, 0, 2.843,
        lambda: dragged.simulation(
            dragged.QUICK_SEGMENTS, dragged.QUICK_STEP, dragged.QUICK_YOUNG, dragged.QUICK_SHEAR
        )[1],
        0, 300,
    ),
)  # fmt: skip


def table() -> Iterator[tuple[str, float, dict[str, float], dict[str, Any]]]:
    """Name, seconds of a step, limits, figures."""
    for row in ROWS:
        row.make().step_frame()  # compiles
        sim = row.make()
        for _ in range(row.skip):
            sim.step_frame()
        seconds, touching, frames = 0.0, 0, []
        for _ in range(row.steps):
            start = time.process_time()  # what other programs do at the same time does not count
            frames.append(sim.step_frame())
            seconds += time.process_time() - start
            touching += acting(sim) if sim._contact is not None else 0
        seconds /= row.steps
        figure = {
            "paper_ms": row.milliseconds,
            "times_as_fast": 1e-3 * row.milliseconds / seconds,
            "vertices": sum(entry.rod.vertex_count for entry in sim.scene.entries),
            "contacts": touching / row.steps,
            "of_the_paper": row.contacts,
            "failures": sum(frame.report.failures for frame in frames),
        }
        yield f"compact, {row.figure}: {row.title}", seconds, {"seconds": 1e-3 * row.milliseconds / FASTER}, figure
