"""Table 1 of Zhao et al. 2022 with the model `compact`: vertices, contacts and milliseconds of the paper and of Tendril.

All on one core. Figs. 15 and 16 use the paper's contact solver, the active set without friction; the others the contact solver of
all models. Averages are over the steps that a row is about: those in which contacts are active or the knot is being tightened.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..core import Simulation
from ..sample_scenes.experiments import cylinders, dragged, helix, knot, sliding_plectoneme, springs
from .contact_workloads import active_contacts
from .rows import Line, Row

FASTER = 3.0  # than the paper


class Scenario(NamedTuple):
    """A row of the paper's table, and the simulation that reproduces it."""

    figure: str
    title: str
    vertices: int
    contacts: int  # on average
    milliseconds: float  # per step
    make: Callable[[], Simulation]
    skip: int  # steps before those that are measured
    steps: int


def _knotting() -> Simulation:
    return knot.simulation(1, "compact", "active set")[1]


def _plectoneme() -> Simulation:
    return sliding_plectoneme.simulation(1, "active set")[1]


def _springs() -> Simulation:
    return Simulation(springs.scene_of(springs.rods(), "compact"), 1.0 / springs.STEP, substeps=1, threads=1)


SCENARIOS = (
    Scenario("Fig. 6", "helix", 201, 0, 5.917, lambda: helix.compact_simulation()[0], 0, 30),
    Scenario("Fig. 14", "strand through springs", 333, 16, 52.69, _springs, 50, 400),
    Scenario("Fig. 15", "knotting", 100, 15, 43.0, _knotting, 0, 80),
    Scenario("Fig. 16", "plectoneme", 51, 8, 20.16, _plectoneme, 0, 300),
    Scenario("Fig. 17", "rod on three cylinders", 201, 46, 36.888, lambda: cylinders.simulation(1, "compact")[1], 160, 1000),
    Scenario(
        "Fig. 11", "dragged root", 21, 0, 2.843,
        lambda: dragged.simulation(
            dragged.QUICK_SEGMENTS, dragged.QUICK_STEP, dragged.QUICK_YOUNG, dragged.QUICK_SHEAR
        )[1],
        0, 300,
    ),
)  # fmt: skip


def _row(scenario: Scenario) -> Row:
    def measure(_full: bool) -> Iterator[Line]:
        yield _line(scenario)

    return Row(f"compact {scenario.title}", measure)


def _line(scenario: Scenario) -> Line:
    scenario.make().step_frame()  # compiles
    sim = scenario.make()
    for _ in range(scenario.skip):
        sim.step_frame()
    seconds, contacts, frames = 0.0, 0, []
    for _ in range(scenario.steps):
        start = time.process_time()  # excludes other programs on the machine
        frames.append(sim.step_frame())
        seconds += time.process_time() - start
        contacts += active_contacts(sim) if sim._contact is not None else 0
    seconds /= scenario.steps
    figures = {
        "paper_ms": scenario.milliseconds,
        "times_as_fast": 1e-3 * scenario.milliseconds / seconds,
        "vertices": sum(entry.rod.vertex_count for entry in sim.scene.entries),
        "contacts": contacts / scenario.steps,
        "paper_contacts": scenario.contacts,
        "failures": sum(frame.report.failures for frame in frames),
    }
    limits = {"seconds": 1e-3 * scenario.milliseconds / FASTER}
    return Line(f"compact, {scenario.figure}: {scenario.title}", seconds, limits, figures)


ROWS = tuple(_row(scenario) for scenario in SCENARIOS)
