"""Energy that a swinging rod loses: with fast projection, with an energy-preserving projection, and with implicit models. Bergou et
al. 2008 (section 10) and the thesis of 2012 name such a projection as future work.

A soft rod, pinned at one end, falls from the horizontal and swings without any damping. Fast projection loses energy in proportion
to its step. SHAKE, the same explicit step with constraint forces along the gradients at its start, keeps energy: it only
oscillates, by less with shorter steps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...core import Frame, Material, Rod, Scene, Simulation
from ...core.errors import Array
from ...core.models.published.der2008.block import Der2008Block
from .outcome import BLUE, GREEN, ORANGE, RED, VIOLET, Camera, Moment, Number, Outcome, Plot, Series, Tube

LENGTH, RADIUS, SEGMENTS = 1.0, 0.002, 20
SOFT = Material(young_modulus=1e6, density=1000.0, poisson_ratio=0.3)
SECONDS = 3.0
LONG, SHORT = 480, 1920  # steps per second of explicit runs
IMPLICIT = 96  # those of implicit models: 4 per frame


class Swing(NamedTuple):
    frames: list[Frame]
    time: Array
    energy: Array  # relative to that of the fall, less that of the start


def swing(model: str, steps: int, projection: str = "fast") -> Swing:
    rod = Rod.from_points(np.linspace((0, 0, 0), (LENGTH, 0, 0), SEGMENTS + 1), RADIUS, SOFT)
    scene = Scene()
    scene.add(rod, model)
    scene.pin(0, "start")
    sim = Simulation(scene, frame_rate=steps, substeps=1, threads=1)
    for block in sim.blocks:
        if isinstance(block, Der2008Block):
            block.projection = projection
    start = sim.energies().total
    fall = 0.5 * LENGTH * float((rod.mass_per_length * rod.rest_lengths).sum()) * 9.81
    frames = list(sim.frames(1, 1 + round(SECONDS * steps)))
    energy = np.array([frame.report.energies.total - start for frame in frames]) / fall
    return Swing(frames, np.array([frame.time for frame in frames]), energy)


def run() -> Outcome:
    runs = {
        f"fast projection, {LONG} steps/s": (swing("der2008", LONG), RED),
        f"fast projection, {SHORT} steps/s": (swing("der2008", SHORT), ORANGE),
        f"energy-preserving, {LONG} steps/s": (swing("der2008", LONG, "symplectic"), BLUE),
        f"der, {IMPLICIT} steps/s": (swing("der", IMPLICIT), GREEN),
        f"compact, {IMPLICIT} steps/s": (swing("compact", IMPLICIT), VIOLET),
    }
    fast, fine, kept, implicit, compact = (one for one, _ in runs.values())
    drift = float(kept.energy[-LONG // 2 :].mean() - kept.energy[LONG // 4 : LONG // 2].mean())
    numbers = [
        Number.between("fast projection, lost in 3 s", -fast.energy[-1], 0.2, 0.6, "of the fall", "the paper: dissipates"),
        Number.between("a quarter of the step", fine.energy[-1] / fast.energy[-1], 0.3, 0.8, "of that"),
        Number.between("energy-preserving, drift in 3 s", abs(drift), 0.0, 0.01, "of the fall"),
        Number.between("energy-preserving, largest deviation", float(np.abs(kept.energy).max()), 0.0, 0.03, "of the fall"),
        Number.between("der, lost", -implicit.energy[-1], -0.001, -fast.energy[-1], "of the fall", "a fifth of the steps"),
        Number.between("compact, lost", -compact.energy[-1], -0.001, -fast.energy[-1], "of the fall", "likewise"),
    ]  # fmt: skip
    plot = Plot(
        "Energy of a swinging rod",
        "time (s)",
        "change of energy / energy of the fall",
        [Series(one.time, one.energy, name, "-", colour) for name, (one, colour) in runs.items()],
    )
    moments = []
    for at in (0.0, 0.4, 0.8, 2.8):
        tubes = [
            Tube(one.frames[round(at * steps)].positions(0), 5.0 * RADIUS, colour)
            for one, steps, colour in ((fast, LONG, RED), (kept, LONG, BLUE))
        ]
        moments.append(Moment(f"{at:g} s", tubes))
    caption = "Red: fast projection as published. Blue: the same step with the energy-preserving projection."
    return Outcome(numbers, moments, [plot], Camera((0.0, -1.0, 0.0)), caption=caption)
