"""Substeps that the frames of `corde` need for decreasing ghost inertia, and the cost of a step, for the ribbon of Spillmann and
Teschner 2009.

The ribbon is shaken at its upper end, which bends and twists it; for every scale α the smallest number of substeps is determined
with which no step is halved. With fewer substeps, frames rotate by radians per substep and the simulation diverges. The paper's
table is for the falling ribbon; its numbers belong to its own operator splitting, in which points do not move with the frames.
"""

from __future__ import annotations

import math
import time

import numpy as np

from ...core import Corde, Net, Scene, Simulation
from .graphs import tubes
from .outcome import Camera, Moment, Number, Outcome, Plot, Series
from .ribbon import RUNGS, STIFF, ribbon

STEP = 1e-3
GAMMA_T, GAMMA_R = 20.0, 0.5  # damping, as for the ribbon of the paper
PAPER = {1.0: (1, 0.21), 0.1: (1, 0.21), 0.01: (2, 0.39), 0.001: (15, 2.86), 0.0001: (148, 28.23)}  # substeps, ms
MORE = 4  # times as many substeps as the paper at most: here the ribbon is shaken, there it falls
SECONDS = 1.0


def shaken(alpha: float, substeps: int, seconds: float = SECONDS) -> tuple[Net, Simulation, bool, float]:
    """Net, simulation, whether no step was halved or failed, and ms per step."""
    plain = ribbon(STIFF)
    inertia = 0.25 * STIFF.mass_per_length
    settings = Corde(
        alpha=alpha,
        kappa=STIFF.stretch,
        gamma_t=GAMMA_T,
        gamma_r=GAMMA_R,
        inertia=inertia,
        step=STEP,
        substeps=substeps,
    )
    net = Net.from_edges(plain.points, plain.edges, 0.01, stiffness=STIFF, corde=settings)
    scene = Scene()
    k = scene.add(net, "corde")
    for rung in (RUNGS - 1, 2 * RUNGS - 1):
        start = net.points[rung]
        scene.pin(k, rung, path=lambda t, start=start: np.add(start, (0.0, 0.5 * math.sin(2.0 * math.pi * t), 0.0)))
    sim = Simulation(scene, 40.0, substeps=1)
    sim.step_frame()
    least = math.inf
    for _ in range(round(40 * seconds)):
        begin = time.process_time()
        report = sim.step_frame().report
        least = min(least, 1e3 * (time.process_time() - begin) / (1.0 / 40.0 / STEP))
        if report.halvings or report.failures:
            return net, sim, False, math.inf
    return net, sim, True, least


def fewest(alpha: float) -> tuple[int, float]:
    """Smallest sufficient number of substeps, by doubling and bisection; and ms per step."""
    low, high = 0, 1
    while not shaken(alpha, high)[2]:
        low, high = high, 2 * high
        if high > 4096:
            return high, math.inf
    while high - low > max(1, high // 16):
        middle = (low + high) // 2
        low, high = (low, middle) if shaken(alpha, middle)[2] else (middle, high)
    return high, shaken(alpha, high)[3]


def run() -> Outcome:
    found = {alpha: fewest(alpha) for alpha in PAPER}
    numbers = []
    for alpha, (substeps, cost) in found.items():
        paper = PAPER[alpha][0]
        numbers.append(Number.between(f"substeps, α = {alpha:g}", substeps, paper, MORE * paper, "", f"paper: {paper}"))
        numbers.append(Number.between(f"ms per step, α = {alpha:g}", cost, 0.0, PAPER[alpha][1], "ms", "the paper's"))
    alphas = np.array(list(PAPER))
    counts = np.array([found[a][0] for a in PAPER], dtype=float)
    growth = math.log(counts[-1] / counts[-3]) / math.log(alphas[-3] / alphas[-1])
    numbers.append(
        Number.between(
            "substeps grow as α to the power of minus", growth, 0.4, 1.1, "", "1/2 by stiffness, 1 by friction"
        )
    )
    net, sim, _, _ = shaken(0.01, found[0.01][0], 0.5)
    plot = Plot(
        "Substeps", "log10 of α", "log10 of the number",
        [
            Series(np.log10(alphas), np.log10(counts), "corde", "o-"),
            Series(np.log10(alphas), np.log10([PAPER[a][0] for a in PAPER]), "paper", "o--"),
        ],
    )  # fmt: skip
    caption = (
        f"A ribbon is shaken for {SECONDS:g} s in steps of {1e3 * STEP:g} ms, friction γ_t = {GAMMA_T:g} and γ_r = {GAMMA_R:g}: "
        "substeps of its frames with which no step is halved, over the scale α of their inertia."
    )
    return Outcome(
        numbers,
        [Moment("α = 0.01", tubes(sim.current(), 0, net, radius=0.06))],
        [plot],
        Camera((0.4, -1.0, 0.2)),
        caption=caption,
    )
