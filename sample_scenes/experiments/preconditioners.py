"""Solvers of the linear systems in Newton's method for a compact rod: conjugate gradients with three preconditioners, and direct.

A helix falls under gravity, with at most five Newton iterations per step and the approximate Newton matrix of Zhao et al. 2022.
With the hybrid preconditioner the number of iterations does not depend on the length of the rod and decreases with its stiffness;
with the other two it increases with both. The paper's direct solver is a dense Cholesky factorization. Elimination along the
chain, which is not in the paper, is also direct and costs as much as one or two iterations.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np

from ...core import Simulation
from ...core.models.compact.block import SOLVERS, CompactBlock
from ...core.models.compact.dense import build_here, dense_matrix, potential_at, solve_here, start_at_state
from .compact_rods import RADIUS, helix_rod, helix_scene
from .outcome import BLUE, GREEN, ORANGE, RED, VIOLET, Camera, Moment, Number, Outcome, Plot, Series, Tube

STEP = 0.01  # s
NEWTON = 5  # largest number of iterations
SIZES = (50, 100, 200, 400, 800)  # segments
LONG = (100, 1000, 10_000)  # segments of the rods whose steps are timed
MODULI = (1e4, 1e5, 1e6, 1e7, 1e8)  # Pa
STEPS = 10
COLOURS = {"diagonal": ORANGE, "block diagonal": GREEN, "hybrid": BLUE, "dense": VIOLET, "elimination": RED}
ITERATIVE = ("diagonal", "block diagonal", "hybrid")


class Cost(NamedTuple):
    iterations: float  # of conjugate gradients, per solve
    build: float  # s
    solve: float  # s


def simulation(segments: int, solver: str, young: float = 1e6) -> tuple[Simulation, CompactBlock]:
    """As in the paper: backward Euler, few Newton iterations, and the Newton matrix without the term that the paper drops."""
    sim = Simulation(helix_scene(segments, young), 1.0 / STEP, substeps=1, integrator="backward euler", threads=1)
    block = sim.blocks[0]
    assert isinstance(block, CompactBlock)
    block.solver, block.exact, block.most_iterations = solver, False, NEWTON
    return sim, block


def cost(segments: int, solver: str, young: float = 1e6, times: int = 3) -> Cost:
    """Iterations averaged over the systems of the first steps, and the shortest of several times for the system reached by
    them."""
    sim, block = simulation(segments, "elimination" if solver == "dense" else solver, young)
    newton = gradients = 0
    for _ in range(STEPS):
        newton += sim.step_frame().report.iterations
        gradients += block.gradients
    b = block.arrays
    start_at_state(b, 0)
    still = np.zeros_like(b.system.trial)
    potential_at(b, 0, STEP, 0.0, still, False)
    right = -b.system.gradient
    right[-1] = 0.0  # the root is clamped
    build = solve = math.inf
    if solver == "dense":
        free = slice(0, 3 * segments)
        for _ in range(times):
            start = time.process_time()
            matrix = dense_matrix(b, 0)[free, free]
            factor = np.linalg.cholesky(matrix)
            build = min(build, time.process_time() - start)
            start = time.process_time()
            np.linalg.solve(factor.T, np.linalg.solve(factor, right.ravel()[free]))
            solve = min(solve, time.process_time() - start)
        return Cost(0.0, build, solve)
    number = SOLVERS[solver]
    for _ in range(times):
        start = time.process_time()
        build_here(b, 0, number)
        build = min(build, time.process_time() - start)
        x = right.copy()
        start = time.process_time()
        solve_here(b, 0, x, number)
        solve = min(solve, time.process_time() - start)
    return Cost(gradients / max(newton, 1), build, solve)


def step_seconds(segments: int, solver: str, times: int = 3) -> float:
    """Processor seconds of a step, the shortest of several."""
    sim, _ = simulation(segments, solver)
    sim.step_frame()
    state, least = sim.state(), math.inf
    for _ in range(times):
        sim.restore(state, sim.first_frame + 1)
        start = time.process_time()
        sim.step_frame()
        least = min(least, time.process_time() - start)
    return least


def growth(sizes: tuple[int, ...], values: list[float]) -> float:
    """Exponent p of values ~ size^p, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def run() -> Outcome:
    by_size = {name: [cost(n, name) for n in SIZES] for name in ITERATIVE}
    by_size["elimination"] = [cost(n, "elimination") for n in SIZES]
    dense = [n for n in SIZES if n <= 400]
    by_size["dense"] = [cost(n, "dense") for n in dense]
    by_modulus = {
        name: [cost(200, name, young).iterations for young in MODULI] for name in ("hybrid", "block diagonal")
    }
    steps = {name: [step_seconds(n, name) for n in LONG] for name in ("hybrid", "elimination")}
    hybrid = [each.iterations for each in by_size["hybrid"]]
    block = [each.iterations for each in by_size["block diagonal"]]
    numbers = [
        Number.between(
            f"hybrid: iterations, {SIZES[-1]} / {SIZES[1]} segments", hybrid[-1] / hybrid[1], 0.0, 1.2, says="independent of length"
        ),
        Number.between(
            f"iterations at {SIZES[-1]} segments, block diagonal / hybrid", block[-1] / hybrid[-1], 10.0, math.inf
        ),
        Number.between("hybrid: exponent of step time in segments", growth(LONG, steps["hybrid"]), 0.0, 1.15, says="linear"),
        Number(f"hybrid: a step of {LONG[-1]:,} segments", 1e3 * steps["hybrid"][-1], "ms"),
        Number(f"elimination: a step of {LONG[-1]:,} segments", 1e3 * steps["elimination"][-1], "ms"),
        Number.between(
            "hybrid: iterations, stiffest / softest rod", by_modulus["hybrid"][-1] / by_modulus["hybrid"][0], 0.0, 0.5
        ),
        Number.between(
            "block diagonal: iterations, stiffest / softest rod",
            by_modulus["block diagonal"][-1] / by_modulus["block diagonal"][0], 2.0, math.inf,
        ),
    ]  # fmt: skip

    def lines(which: int, scale: float, names: tuple[str, ...]) -> list[Series]:
        return [
            Series(
                SIZES[: len(by_size[name])], [scale * each[which] for each in by_size[name]], name, "o-", COLOURS[name]
            )
            for name in names
        ]

    every_solver = (*ITERATIVE, "dense", "elimination")
    without_labels = [Series(line.x, line.y, "", line.style, line.colour) for line in lines(1, 1e3, every_solver)]
    plots = [
        Plot("CG iterations", "segments", "", lines(0, 1.0, ITERATIVE), "xy"),
        Plot("Factorize or build", "segments", "ms", without_labels, "xy"),
        Plot("Solve", "segments", "ms", lines(2, 1e3, ("dense", "elimination")) + [
            Series(line.x, line.y, "", line.style, line.colour) for line in lines(2, 1e3, ITERATIVE)
        ], "xy"),
        Plot("Whole step", "segments", "ms", [
            Series(LONG, [1e3 * t for t in times], name, "o-", COLOURS[name]) for name, times in steps.items()
        ], "xy"),
        Plot("CG iterations", "Young's modulus (MPa)", "", [
            Series([1e-6 * e for e in MODULI], counts, name, "o-", COLOURS[name]) for name, counts in by_modulus.items()
        ], "xy"),
    ]  # fmt: skip
    caption = (
        f"Conjugate gradients in steps of {1e3 * STEP:g} ms of a compact helix: how many iterations a Newton step takes by "
        f"preconditioner, for {SIZES[0]} to {SIZES[-1]} segments and moduli from {MODULI[0]:g} to {MODULI[-1]:g} Pa."
    )
    return Outcome(
        numbers, [_moment(0), _moment(20), _moment(60)], plots, Camera((0.5, -1.0, 0.2)), columns=3, caption=caption
    )


def _moment(steps: int) -> Moment:
    sim, _ = simulation(200, "hybrid")
    for _ in range(steps):
        sim.step_frame()
    frame = sim.current()
    return Moment(f"{frame.time:.1f} s", [Tube.of(frame, 0, helix_rod(200), radius=RADIUS)])
