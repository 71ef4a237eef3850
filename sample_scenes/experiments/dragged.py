"""The root of a hanging rod is dragged sinusoidally in steps of a quarter of a second (Zhao et al. 2022, Fig. 11).

All parameters are the paper's: a rod of 1 m and 200 segments whose two upper vertices follow a sine of 1 Hz and an amplitude of
half its length. Sampled four times per period, the root jumps by half a metre and back. With these moduli and EI = E pi r^4 / 4 the
rod hardly bends; with a hundredth of them it bends as in the figure. A third run with 20 segments, a softer rod and steps of
30 ms measures frames per second.
"""

from __future__ import annotations

import math
import time

import numpy as np

from ...core import Frame, Rod, Scene, Simulation
from ...core.errors import Array
from .compact_rods import round_section
from .outcome import BLUE, RED, Camera, Moment, Number, Outcome, Plot, Series, Tube

LENGTH, RADIUS, DENSITY = 1.0, 0.03, 1.0  # m, m, kg/m3
AMPLITUDE, FREQUENCY = 0.5, 1.0  # m, Hz
SEGMENTS, STEP, YOUNG, SHEAR = 200, 0.25, 1e6, 1e6
SOFTER = 0.01  # factor on both moduli with which it bends
SECONDS = 30.0
QUICK_SEGMENTS, QUICK_STEP, QUICK_YOUNG, QUICK_SHEAR = 20, 0.03, 0.2e6, 0.1e6
PAPER = 344.0  # frames per second


def hanging(segments: int, young: float, shear: float) -> Rod:
    points = np.zeros((segments + 1, 3))
    points[:, 2] = -np.linspace(0.0, LENGTH, segments + 1)
    return Rod.from_points(points, RADIUS, stiffness=round_section(young, shear, DENSITY, RADIUS))


def simulation(segments: int, step: float, young: float, shear: float, **options: object) -> tuple[Rod, Simulation]:
    rod = hanging(segments, young, shear)
    scene = Scene()
    scene.add(rod, "compact")
    middle = rod.points[:2].mean(axis=0)

    def drag(t: float) -> tuple[Array, Array]:
        offset = AMPLITUDE * math.sin(2.0 * math.pi * FREQUENCY * t)
        return middle + np.array([offset, 0.0, 0.0]), np.eye(3)

    scene.clamp_edge(0, 0, drag)
    return rod, Simulation(scene, 1.0 / step, substeps=1, threads=1, **options)  # type: ignore[arg-type]


def stretch(frame: Frame, segments: int) -> float:
    sizes = np.linalg.norm(np.diff(frame.positions(0), axis=0), axis=1)
    return float(np.abs(sizes * segments / LENGTH - 1.0).max())


def lag(frames: list[Frame]) -> float:
    """m, largest horizontal distance of tip and root."""
    return max(abs(float(frame.positions(0)[-1, 0] - frame.positions(0)[0, 0])) for frame in frames)


def frames_per_second(count: int = 1000, times: int = 3) -> float:
    _, sim = simulation(QUICK_SEGMENTS, QUICK_STEP, QUICK_YOUNG, QUICK_SHEAR)
    sim.step_frame()
    best = 0.0
    for _ in range(times):
        start = time.process_time()
        for _ in range(count // times):
            sim.step_frame()
        best = max(best, (count // times) / (time.process_time() - start))
    return best


def run() -> Outcome:
    rod, sim = simulation(SEGMENTS, STEP, YOUNG, SHEAR, integrator="backward euler")
    frames = list(sim.frames(1, 1 + round(SECONDS / STEP)))
    soft, sim = simulation(SEGMENTS, STEP, SOFTER * YOUNG, SOFTER * SHEAR, integrator="backward euler")
    bent = list(sim.frames(1, 1 + round(SECONDS / STEP)))
    both = [*frames, *bent]
    times = np.array([frame.time for frame in frames])
    tips = np.array([frame.positions(0)[-1] for frame in frames])
    roots = np.array([frame.positions(0)[0] for frame in frames])
    energies = np.array([frame.report.energies.elastic for frame in frames])
    prescribed = AMPLITUDE * np.sin(2.0 * math.pi * FREQUENCY * times)
    half = len(frames) // 2
    numbers = [
        Number.equal("failed steps", sum(frame.report.failures for frame in both), 0),
        Number.equal("halved steps", sum(frame.report.halvings for frame in both), 0, says="stable"),
        Number.between(
            "largest elastic energy, second half / first half", float(energies[half:].max() / energies[1:half].max()), 0.0, 1.01,
            says="does not grow",
        ),
        Number.between("length error", max(stretch(frame, SEGMENTS) for frame in both), 0.0, 1e-11, says="round-off"),
        Number.between("root off its prescribed path", float(np.abs(roots[:, 0] - prescribed).max()), 0.0, 1e-12, "m"),
        Number.between("tip lags behind the root, moduli as printed", lag(frames), 0.0, 0.05, "m", "hardly bends"),
        Number.between("with a hundredth of the moduli", lag(bent), 0.25, LENGTH, "m", "bends"),
        Number.between(
            "frames per second, 20 segments", frames_per_second(), 3.0 * PAPER, math.inf, says=f"{PAPER:g} in the paper"
        ),
    ]  # fmt: skip
    drawn = range(5, 10)
    moments = [Moment(f"{times[k]:.2f} s", [Tube.of(frames[k], 0, rod)]) for k in drawn]
    moments += [Moment(f"softer, {times[k]:.2f} s", [Tube.of(bent[k], 0, soft)]) for k in drawn]
    paths = Plot("Horizontal position of root and tip", "time (s)", "m", [
        Series(times[:41], roots[:41, 0], "root", "o-", RED), Series(times[:41], tips[:41, 0], "tip", "o-", BLUE),
    ])  # fmt: skip
    energy = Plot("Elastic energy", "time (s)", "J", [Series(times, energies, "", "-", RED)])
    caption = (
        "The root of a compact rod is dragged in steps of a quarter of a second: with the printed moduli, and with a hundredth of "
        "them, with which it bends."
    )
    return Outcome(numbers, moments, [paths, energy], Camera((0.0, -1.0, 0.0)), columns=5, caption=caption)
