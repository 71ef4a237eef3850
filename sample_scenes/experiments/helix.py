"""A helix of 200 segments under gravity in compact coordinates, and in Cartesian ones with penalties or Lagrange multipliers.

The Cartesian solvers share no code with Tendril (`cartesian_rods.py`). All use backward Euler steps with at most five Newton
iterations unless stated otherwise. Compact coordinates satisfy length and alignment exactly. Penalties violate them, and if they
are stiff, few Newton iterations do not converge and the helix moves too slowly.
"""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import numpy as np

from ...core import Simulation
from ...core.errors import Array
from ...core.models.compact.block import CompactBlock
from .cartesian_rods import CartesianRod
from .compact_rods import RADIUS, helix_points, helix_rod, helix_scene
from .outcome import BLUE, GREEN, ORANGE, RED, VIOLET, Camera, Moment, Number, Outcome, Plot, Series, Tube

SEGMENTS = 200
YOUNG = 2e5  # Pa, soft enough to fall far
STEP = 0.03  # s
FRAMES = 30
EARLY = 5  # frames in which stiff penalties slow it down
NEWTON = 5
WEIGHTS = (1e3, 1e5, 1e7, 1e9)
STIFFEST = 1e9
ITERATIONS = (5, 10, 40)  # with the stiffest penalties
TOLERANCE = 1e-5  # N
MAX_ITERATIONS = 400
COLOURS = (ORANGE, GREEN, VIOLET, "#7a828e")


class History(NamedTuple):
    stretch: Array  # per frame
    misaligned: Array
    kinetic: Array  # J
    seconds: float  # per step
    iterations: float


def compact_simulation() -> tuple[Simulation, CompactBlock]:
    sim = Simulation(
        helix_scene(SEGMENTS, YOUNG), 1.0 / STEP, substeps=1, integrator="backward euler", tolerance=1e-8, threads=1
    )
    block = sim.blocks[0]
    assert isinstance(block, CompactBlock)
    block.most_iterations = NEWTON
    return sim, block


def compact_history(frames: int = FRAMES) -> tuple[History, list[Any]]:
    sim, block = compact_simulation()
    sim.step_frame()  # compiles
    sim, block = compact_simulation()
    rest = helix_rod(SEGMENTS, YOUNG).rest_lengths
    kept, rows, seconds, iterations = [sim.current()], [], 0.0, 0
    for _ in range(frames):
        start = time.perf_counter()
        frame = sim.step_frame()
        seconds += time.perf_counter() - start
        iterations += frame.report.iterations
        edges = np.diff(frame.positions(0), axis=0)
        size = np.linalg.norm(edges, axis=1)
        aside = np.linalg.norm(edges / size[:, None] - block.arrays.geometry.d3[:SEGMENTS], axis=1).sum()
        rows.append((size.sum() / rest.sum() - 1.0, aside, frame.report.energies.kinetic))
        kept.append(frame)
    return History(*np.array(rows).T, seconds / frames, iterations / frames), kept


def cartesian_rod(weight: float | None, iterations: int = NEWTON) -> CartesianRod:
    """The same helix with the same frames and the same clamp."""
    _, block = compact_simulation()
    b, scene = block.arrays, helix_scene(SEGMENTS, YOUNG)
    rod = scene.entries[0].rod
    geometry = b.geometry
    frames = np.stack([geometry.d1, geometry.d2, geometry.d3], axis=2)[:SEGMENTS]
    t, d = b.holds.tangent[1, 0], b.holds.director[1, 0]
    inertia = 0.5 * float(rod.inertia_per_length[0])
    return CartesianRod(
        helix_points(SEGMENTS), frames, np.stack([d, np.cross(t, d), t], axis=1), float(rod.bend[0, 0]),
        float(rod.twist_stiffness[0]), float(rod.mass_per_length[0]), inertia, scene.gravity, weight, iterations,
    )  # fmt: skip


def cartesian_history(weight: float | None, iterations: int = NEWTON, frames: int = FRAMES) -> History:
    rod = cartesian_rod(weight, iterations)
    rows, count = [], 0
    start = time.perf_counter()
    for _ in range(frames):
        rod.step(STEP, TOLERANCE)
        count += rod.iterations
        rows.append((*rod.violations(), rod.kinetic()))
    return History(*np.array(rows).T, (time.perf_counter() - start) / frames, count / frames)


def converged(weight: float) -> tuple[int, float]:
    """Newton iterations and seconds of the first step until it converges."""
    rod = cartesian_rod(weight, MAX_ITERATIONS)
    start = time.perf_counter()
    rod.step(STEP, TOLERANCE)
    return rod.iterations, time.perf_counter() - start


def run() -> Outcome:
    ours, frames = compact_history()
    kkt = cartesian_history(None)
    penalty = {weight: cartesian_history(weight) for weight in WEIGHTS}
    by_iterations = {count: cartesian_history(STIFFEST, count) for count in ITERATIONS}
    to_converge = {weight: converged(weight) for weight in WEIGHTS}
    numbers = [
        Number.between("length error, compact", float(np.abs(ours.stretch).max()), 0.0, 1e-13, says="round-off"),
        Number.between("alignment error, compact", float(ours.misaligned.max()), 0.0, 1e-10, says="round-off of 200 segments"),
        Number.between("length error, penalty 1e3", float(np.abs(penalty[1e3].stretch).max()), 1e-4, math.inf),
        Number.between(
            "alignment error, KKT", float(kkt.misaligned.max()), 10.0 * float(ours.misaligned.max()), math.inf,
            says="ten times that of compact",
        ),
        Number.near("early kinetic energy, KKT / compact", _early(kkt, ours), 1.0, 1e-3, says="the same rod"),
        Number.between(
            "early kinetic energy, penalty 1e9 with 5 iterations / compact", _early(by_iterations[5], ours), 0.0, 0.8,
            says="slowed down",
        ),
        Number.near(
            f"early kinetic energy, penalty 1e9 with {ITERATIONS[-1]} / compact", _early(by_iterations[ITERATIONS[-1]], ours),
            1.0, 1e-3,
        ),
        Number.between(
            "iterations to converge, penalty 1e9 / penalty 1e3", to_converge[1e9][0] / max(to_converge[1e3][0], 1), 2.0, math.inf
        ),
        Number("time of a step, compact", 1e3 * ours.seconds, "ms"),
        Number.between("time of a step, KKT / compact", kkt.seconds / ours.seconds, 3.0, math.inf),
    ]  # fmt: skip
    times = STEP * np.arange(1, FRAMES + 1)
    tiny = 1e-16
    plots = [
        Plot("Length error", "time (s)", "", [
            *(Series(times, np.abs(penalty[w].stretch) + tiny, f"1e{round(math.log10(w))}", "-", c)
              for w, c in zip(WEIGHTS, COLOURS, strict=True)),
            Series(times, np.abs(kkt.stretch) + tiny, "", "-", RED), Series(times, np.abs(ours.stretch) + tiny, "", "-", BLUE),
        ], "y"),
        Plot("Alignment error", "time (s)", "", [
            *(Series(times, penalty[w].misaligned + tiny, "", "-", c) for w, c in zip(WEIGHTS, COLOURS, strict=True)),
            Series(times, kkt.misaligned + tiny, "KKT", "-", RED),
            Series(times, ours.misaligned + tiny, "compact", "-", BLUE),
        ], "y"),
        Plot("Kinetic energy (J), penalty 1e9", "time (s)", "", [
            *(Series(times, by_iterations[k].kinetic, f"{k}", "-", c) for k, c in zip(ITERATIONS, COLOURS, strict=False)),
            Series(times, ours.kinetic, "", "--", BLUE),
        ]),
        Plot("First step to convergence", "penalty weight", "ms", [
            Series(WEIGHTS, [1e3 * to_converge[w][1] for w in WEIGHTS], "", "o-", VIOLET),
            Series(WEIGHTS, [1e3 * ours.seconds] * len(WEIGHTS), "", "--", BLUE),
        ], "xy"),
    ]  # fmt: skip
    rod = helix_rod(SEGMENTS, YOUNG)
    drawn = [0, FRAMES // 3, FRAMES]
    moments = [
        Moment(f"{frames[k].time:.1f} s", [Tube.of(frames[k], 0, rod, radius=RADIUS)]) for k in drawn
    ]  # fmt: skip
    caption = (
        f"A helix of {SEGMENTS} segments, E = {YOUNG:g} Pa, falls in {FRAMES} steps of {1e3 * STEP:g} ms: in compact coordinates, "
        "and in Cartesian coordinates and quaternions with multipliers or penalties for length and alignment."
    )
    return Outcome(numbers, moments, plots, Camera((0.5, -1.0, 0.2)), columns=3, caption=caption)


def _early(one: History, other: History) -> float:
    """Ratio of kinetic energies, summed over the first frames."""
    return float(one.kinetic[:EARLY].sum() / other.kinetic[:EARLY].sum())
