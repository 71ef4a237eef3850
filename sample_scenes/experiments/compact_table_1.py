"""Table 1 of Zhao et al. 2022: collision pairs, linear systems and milliseconds per step, broken down as in the paper.

All on one core. Figs. 15 and 16 use the paper's contact method, the active set without friction; the others the contact solver of
all models. Averages are over the steps that a row is about: those in which contacts are possible or the knot is being tightened.
The paper counts pairs that are near each other when a step begins; we count those that the solver considers, and those that push.

Three parts of the solver are timed by repeating them: gradient and Hessian; the factorisation, which takes the place of the
paper's preconditioner ("precomputation"); and the solution with it. Their times are multiplied by the Newton iterations of a step.
The search for contacts is timed in the step. What remains is finding the forces of contacts, line searches and book-keeping.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...core import Simulation
from ...core.compile.jit import kernel
from ...core.models.compact.arrays import Arrays
from ...core.models.compact.block import CompactBlock
from ...core.models.compact.evaluate import evaluate, penalty_stiffness
from ...core.models.compact.matrix import factor_matrix, solve_matrix
from ...core.models.compact.newton import copy_step
from . import cylinders, dragged, helix, knot, sliding_plectoneme, springs
from .outcome import BLUE, GREEN, GREY, ORANGE, RED, VIOLET, Camera, Moment, Number, Outcome, Plot, Series, Tube

FASTER = 3.0  # than the paper
REPEATS, ROUNDS = 200, 5
EVALUATION, FACTORISATION, SOLUTION = range(3)


class Scenario(NamedTuple):
    """A row of the paper's table, and the simulation that reproduces it."""

    figure: str
    title: str
    vertices: int
    contacts: int  # collision pairs on average
    systems: int  # linear systems per step
    parts: tuple[float, float, float]  # ms per step: gradient and Hessian, precomputation, solution with contact
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


def _cylinders() -> Simulation:
    return cylinders.simulation(1, "compact")[1]


def _dragged() -> Simulation:
    return dragged.simulation(dragged.QUICK_SEGMENTS, dragged.QUICK_STEP, dragged.QUICK_YOUNG, dragged.QUICK_SHEAR)[1]


SCENARIOS = (
    Scenario("Fig. 6", "helix", 201, 0, 1, (2.22, 0.264, 1.333), 5.917, lambda: helix.compact_simulation()[0], 0, 30),
    Scenario("Fig. 14", "strand through springs", 333, 16, 7, (4.421, 0.947, 40.0), 52.69, _springs, 50, 400),
    Scenario("Fig. 15", "knotting", 100, 15, 8, (2.037, 0.287, 38.0), 43.0, _knotting, 0, 80),
    Scenario("Fig. 16", "plectoneme", 51, 8, 7, (2.392, 0.375, 13.089), 20.16, _plectoneme, 0, 300),
    Scenario("Fig. 17", "rod on three cylinders", 201, 46, 6, (1.5613, 1.56, 12.172), 36.888, _cylinders, 160, 1000),
    Scenario("Fig. 11", "dragged root", 21, 0, 0, (0.561, 0.048, 1.386), 2.843, _dragged, 0, 300),
)  # fmt: skip


@kernel
def repeat_part(b: Arrays, r: int, h: float, which: int, times: int) -> bool:
    """Repeats one part of a Newton iteration of rod r at its state, for timing."""
    rods, geometry, system = b.rods, b.geometry, b.system
    penalty, good = penalty_stiffness(rods, b.forces, b.state, r, h), True
    for _ in range(times):
        if which == 0:
            evaluate(rods, b.forces, b.stage, geometry, system, b.state, r, h, penalty, False)
        elif which == 1:
            good = factor_matrix(rods, geometry, system, r) and good
        else:
            copy_step(rods, system.gradient, -1.0, system.trial, r)
            solve_matrix(rods, geometry, system, system.trial, r, 1.0)
    return good


class Measured(NamedTuple):
    """Averages over the steps of a scenario."""

    considered: float  # contacts that the solver considers
    acting: float  # contacts with a force
    systems: float  # Newton iterations per rod
    parts: tuple[float, float, float]  # ms per step: gradient and Hessian, factorisation, solution
    search: float  # ms per step: search for contacts
    total: float  # ms per step
    failures: int
    last: Simulation


def measured(scenario: Scenario, steps: int | None = None) -> Measured:
    scenario.make().step_frame()  # compiles
    sim = scenario.make()
    for _ in range(scenario.skip):
        sim.step_frame()
    contact, most = sim._contact, 0
    searching = 0.0
    if contact is not None:
        look = contact.detection.look

        def timed(*what: object) -> None:
            nonlocal searching, most
            begin = time.process_time()
            look(*what)  # type: ignore[arg-type]
            searching += time.process_time() - begin
            most = max(most, contact.detection.count)

        contact.detection.look = timed  # type: ignore[method-assign]
    seconds, acting, considered, iterations, failures = 0.0, 0, 0, 0, 0
    count = scenario.steps if steps is None else steps
    for _ in range(count):
        most = 0
        begin = time.process_time()  # excludes other programs on the machine
        frame = sim.step_frame()
        seconds += time.process_time() - begin
        acting += 0 if contact is None else len(contact.known.keys)
        considered += most
        iterations += frame.report.iterations
        failures += frame.report.failures
    (block,) = sim.blocks
    assert isinstance(block, CompactBlock)
    rods = len(sim.scene.entries)
    parts = np.array([[_time_of(block, r, which) for which in range(3)] for r in range(rods)]).sum(axis=0)
    systems = iterations / rods / count
    a, b, c = (float(part) * systems for part in 1e3 * parts)
    return Measured(
        considered / count,
        acting / count,
        systems,
        (a, b, c),
        1e3 * searching / count,
        1e3 * seconds / count,
        failures,
        sim,
    )


def _time_of(block: CompactBlock, r: int, which: int) -> float:
    """s, of one repetition: the shortest of several rounds."""
    for part in range(3):
        repeat_part(block.arrays, r, block._stage, part, 1)
    found = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        assert repeat_part(block.arrays, r, block._stage, which, REPEATS)
        found.append((time.process_time() - begin) / REPEATS)
    return min(found)


def run() -> Outcome:
    results = [measured(scenario) for scenario in SCENARIOS]
    numbers = []
    for scenario, of in zip(SCENARIOS, results, strict=True):
        paper = scenario.parts
        pairs = f"{scenario.contacts} and {scenario.systems} in the paper"
        inner = f"{of.considered:.1f} ({of.acting:.1f}), {of.systems:.1f}"
        numbers.append(Number(f"{scenario.figure}: pairs (pushing), systems", inner, "", pairs))
        for what, ours, theirs in zip(("gradient and Hessian", "precomputation"), of.parts[:2], paper[:2], strict=True):
            numbers.append(Number.between(f"{scenario.figure}: {what}", ours, 0.0, theirs, "ms", "the paper's"))
        rest = max(of.total - sum(of.parts[:2]) - of.search, 0.0)
        numbers.append(
            Number.between(
                f"{scenario.figure}: solution, contact and all else", rest, 0.0, paper[2], "ms", "the paper's"
            )
        )
        if scenario.contacts:
            numbers.append(
                Number(f"{scenario.figure}: search for contacts", of.search, "ms", "part of the rest in the paper")
            )
        numbers.append(
            Number.between(
                f"{scenario.figure}: total",
                of.total,
                0.0,
                scenario.milliseconds / FASTER,
                "ms",
                f"the paper: {scenario.milliseconds:g} ms",
            )
        )
    numbers.append(Number.equal("steps given up", sum(of.failures for of in results), 0))
    place = np.arange(len(SCENARIOS))
    ours = [
        ("gradient and Hessian", [of.parts[0] for of in results], BLUE),
        ("precomputation", [of.parts[1] for of in results], GREEN),
        ("solution", [of.parts[2] for of in results], ORANGE),
        ("search for contacts", [of.search or np.nan for of in results], VIOLET),
        ("total", [of.total for of in results], RED),
    ]
    series = [Series(place, values, label, "o", colour) for label, values, colour in ours]
    series.append(Series(place, [scenario.milliseconds for scenario in SCENARIOS], "the paper's total", "s", GREY))
    labels = ", ".join(f"{k}: {scenario.figure}" for k, scenario in enumerate(SCENARIOS))
    plot = Plot("Milliseconds per step", labels, "ms", series, "y")
    moments = []
    for scenario, of in zip(SCENARIOS, results, strict=True):
        frame = of.last.current()
        tubes = [Tube.of(frame, k, entry.rod) for k, entry in enumerate(of.last.scene.entries)]  # type: ignore[arg-type]
        moments.append(Moment(scenario.figure, tubes, camera=Camera((0.3, -1.0, 0.3))))
    caption = (
        "Steps of the compact model on one core, next to those of the paper on its machine: pairs of segments that may touch, and "
        "those of them that push; Newton iterations; milliseconds, broken down."
    )
    return Outcome(numbers, moments, [plot], columns=3, caption=caption)
