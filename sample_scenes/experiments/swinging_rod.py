"""A straight rod, clamped horizontally, swings under gravity without damping: energy dissipated by time steps of 11 and 33 ms."""

from __future__ import annotations

import math

import numpy as np

from ...core import Material, Rod, Scene, Simulation
from .outcome import BLUE, GREEN, ORANGE, RED, Camera, Moment, Number, Outcome, Plot, Series, Tube

LENGTH, RADIUS, ELEMENTS, SEGMENTS = 1.0, 5e-3, 5, 40
SECONDS = 3.0
EARLY = 0.6  # s, when it hangs down for the first time
STEPS = (0.011, 0.033)
CASES = {
    "clothoid, tr-bdf2": ("clothoid", "tr-bdf2", BLUE),
    "clothoid, paper's": ("clothoid", "semi-implicit euler", GREEN),
    "der, tr-bdf2": ("der", "tr-bdf2", ORANGE),
    "der, paper's": ("der", "backward euler", RED),  # fully implicit, as the discrete rods of the paper
}


def swing(model: str, integrator: str, step: float) -> tuple[np.ndarray, np.ndarray, int, list]:
    """Times, energies relative to the energy of the fall to the lowest position, number of failed steps, and some frames."""
    points = np.zeros((SEGMENTS + 1, 3))
    points[:, 0] = np.linspace(0.0, LENGTH, SEGMENTS + 1)
    rod = Rod.from_points(points, radius=RADIUS, material=Material(1e7, 1000.0, 0.5))
    scene = Scene()
    scene.clamp(scene.add(rod, model, elements=ELEMENTS if model == "clothoid" else None), "start")
    sim = Simulation(scene, frame_rate=1.0 / step, substeps=1, integrator=integrator, threads=1)
    fall = 9.81 * LENGTH**2 / 2.0 * float(rod.mass_per_length[0])
    before, failures, shown = sim.energies().total, 0, []
    times, energies = [0.0], [0.0]
    for k in range(round(SECONDS / step)):
        frame = sim.step_frame()
        times.append(frame.time)
        energies.append((frame.report.energies.total - before) / fall)
        failures += frame.report.failures
        if k % 8 == 0 and frame.time < 0.6:
            shown.append(frame.positions(0))
    return np.array(times), np.array(energies), failures, shown


def run() -> Outcome:
    found = {
        (name, step): swing(model, integrator, step) for name, (model, integrator, _) in CASES.items() for step in STEPS
    }
    numbers = []
    for step in STEPS:
        at = f"{1e3 * step:g} ms"
        times, theirs, _, _ = found["der, paper's", step]
        early = int(np.searchsorted(times, EARLY))
        for name in CASES:
            _, energies, failures, _ = found[name, step]
            lost, soon = 100.0 * float(energies[-1]), 100.0 * float(energies[early])
            if name.startswith("der"):
                numbers.append(Number(f"{name}, {at}: energy after {SECONDS:g} s", lost, "% of the fall"))
                numbers.append(Number(f"{name}, {at}: energy after {EARLY:g} s", soon, "% of the fall"))
            else:
                says = "it loses less than der stepped as in the paper"
                least = 100.0 * float(theirs[-1])
                numbers.append(
                    Number.between(f"{name}, {at}: energy after {SECONDS:g} s", lost, least, 1.0, "% of the fall", says)
                )
                least = 100.0 * float(theirs[early])
                says = "at the beginning, too"
                numbers.append(
                    Number.between(f"{name}, {at}: energy after {EARLY:g} s", soon, least, 1.0, "% of the fall", says)
                )
            most = 100.0 * float(energies.max())
            numbers.append(
                Number.between(f"{name}, {at}: most energy", most, -math.inf, 1.0, "% of the fall", "stable")
            )
            numbers.append(Number.equal(f"{name}, {at}: steps given up", failures, 0))
    plots = [
        Plot(f"Steps of {1e3 * step:g} ms", "time (s)", "energy by that of the fall",
             [Series(*found[name, step][:2], name, "-", colour) for name, (_, _, colour) in CASES.items()])
        for step in STEPS
    ]  # fmt: skip
    tubes = [Tube(x, 0.012, BLUE) for x in found["clothoid, tr-bdf2", STEPS[0]][3]]
    caption = (
        f"A straight rod of {LENGTH:g} m, clamped horizontally, of {ELEMENTS} clothoids or {SEGMENTS} segments, swings "
        "without damping. What it loses is numerical dissipation, of the integrators of the paper and of those of Tendril."
    )
    return Outcome(numbers, [Moment("every 88 ms", tubes)], plots, Camera((0.0, -1.0, 0.0)), columns=1, caption=caption)
