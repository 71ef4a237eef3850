"""Table 1 of Zhao et al. 2022 with the model `compact`: vertices, contacts and milliseconds of the paper and of Tendril.

All on one core. Figs. 15 and 16 use the paper's contact solver, the active set without friction; the others the contact solver of
all models. Averages are over the steps that a row is about: those in which contacts are active or the knot is being tightened.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from ..sample_scenes.experiments.compact_table_1 import FASTER, SCENARIOS, Scenario
from .contact_workloads import active_contacts
from .rows import Line, Row


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
