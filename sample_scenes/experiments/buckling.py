"""A twisted straight rod stays straight until it is disturbed; then it buckles and converts twist into bending.

Material, length, twist and the stiffness of the constraint are those of Spillmann and Teschner 2009, with stiffnesses as printed.
A small load disturbs the rod, drag dissipates energy. The reference is `der`; the paper's own reference has poles. The distance
of the ends equals the length of the rod, so that it can release no more than a hundredth of its energy. How much of that becomes
bending is sensitive, and `corde`, whose strains are sines of half angles, differs there by some per cent.
"""

from __future__ import annotations

import math

import numpy as np

from ...core import Corde, Net, Rod, Scene, Simulation
from .graphs import RADIUS, as_printed
from .outcome import BLUE, GREEN, ORANGE, RED, Camera, Moment, Number, Outcome, Plot, Series, Tube

LENGTH, SEGMENTS = 10.0, 80
TWIST = 1.5 * math.pi
STIFFNESS = as_printed(1e6, 4e6, 1e9)
KAPPA, STEP = 1e6, 5e-5
TURNING = 1.0  # s
DISTURBED = 1.25  # s, when the small load sets in
WEIGHT = 0.02  # N per vertex
DRAG = 3.0  # 1/s
SECONDS = 6.0
MAGNIFIED = 15.0  # factor by which deflections are enlarged in the picture


def simulation(model: str) -> tuple[Scene, Simulation, int]:
    points = np.linspace((0.0, 0.0, 0.0), (LENGTH, 0.0, 0.0), SEGMENTS + 1)
    settings = Corde(alpha=0.1, kappa=KAPPA, step=STEP, inertia=0.25 * STIFFNESS.mass_per_length)
    scene = Scene(gravity=(0.0, 0.0, 0.0), drag=DRAG)
    if model == "der":
        thing: Rod | Net = Rod.from_points(points, RADIUS, stiffness=STIFFNESS, director=(0.0, 0.0, 1.0))
    else:
        edges = [(k, k + 1) for k in range(SEGMENTS)]
        up = np.tile((0.0, 0.0, 1.0), (SEGMENTS, 1))
        thing = Net.from_edges(points, edges, RADIUS, stiffness=STIFFNESS, director=up, corde=settings)
    rod = scene.add(thing, model)
    scene.clamp(rod, 0)
    end = scene.clamp(rod, SEGMENTS)
    for k in range(1, SEGMENTS):
        scene.load(rod, k, lambda t: (0.0, 0.0, -WEIGHT if t > DISTURBED else 0.0))
    return scene, Simulation(scene, 24), end


def history(model: str) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Times; energies of bending, twist and stretching; shapes. One end is rotated within the first second."""
    _, sim, end = simulation(model)
    times, energies, shapes = [], [], []
    for k in range(round(24 * SECONDS)):
        part = min(1.0, (k + 1) / (24.0 * TURNING))
        sim.move(end, spin=0.5 * TWIST * (1.0 - math.cos(math.pi * part)))
        frame = sim.step_frame()
        e = frame.report.energies
        constraint = sim.blocks[0].constraint_energy() if model == "corde" else 0.0  # type: ignore[attr-defined]
        times.append(frame.time)
        energies.append((e.bend - constraint, e.twist, e.stretch, constraint))
        shapes.append(frame.positions(0))
    return np.array(times), np.array(energies), shapes


def run() -> Outcome:
    found = {model: history(model) for model in ("der", "net", "corde")}
    times, reference, _ = found["der"]
    straight = int(np.searchsorted(times, TURNING))
    twisted = 0.5 * STIFFNESS.twist * TWIST**2 / LENGTH
    numbers = [
        Number.near(
            "energy of the twisted straight rod", float(reference[straight].sum()), twisted, 1e-2, "J", "GJ φ² / 2 L"
        )
    ]
    final = {model: energies[-1] for model, (_, energies, _) in found.items()}
    for model in ("net", "corde"):
        for k, name in enumerate(("bending", "twist", "stretching")):
            tolerance = 1e-4 if model == "net" else 0.01 if name == "twist" else 0.1
            numbers.append(
                Number.near(
                    f"{name}, buckled, {model}", float(final[model][k]), float(final["der"][k]), tolerance, "J", "der"
                )
            )
    numbers.append(
        Number.between(
            "energy left after buckling, corde",
            float(final["corde"].sum()) / twisted,
            0.9,
            0.9995,
            "of that before",
            "falls",
        )
    )
    sag = {model: float(np.linalg.norm(shapes[-1][:, 1:], axis=1).max()) for model, (_, _, shapes) in found.items()}
    numbers.append(Number.between("bulge of corde, over that of der", sag["corde"] / sag["der"], 0.9, 1.1, "", ""))
    moments = [
        Moment(f"{model}: {word}", [Tube(found[model][2][k] * (1.0, MAGNIFIED, MAGNIFIED), 0.06, colour)])
        for model, colour in (("corde", BLUE), ("der", GREEN))
        for word, k in (("twisted, straight", straight), (f"buckled (drawn {MAGNIFIED:g} times as wide)", -1))
    ]
    plots = []
    for model in ("corde", "der"):
        e = found[model][1][straight:]
        curves = (
            ("bending", e[:, 0], BLUE),
            ("twist, change", e[:, 1] - e[0, 1], ORANGE),
            ("stretching", e[:, 2], GREEN),
        )
        series = [Series(times[straight:], values, name, "-", colour) for name, values, colour in curves]
        total = e.sum(axis=1)
        series.append(Series(times[straight:], total - total[0], "all, change", "-", RED))
        plots.append(Plot(f"Energies, {model}", "time (s)", "J", series))
    caption = (
        f"A rod of {LENGTH:g} m and {SEGMENTS} segments is twisted by {TWIST:.2f} rad and stays straight, until a load of "
        f"{WEIGHT:g} N per vertex disturbs it: then it buckles. Deflections are enlarged {MAGNIFIED:g} times."
    )
    return Outcome(numbers, moments, plots, Camera((0.2, -1.0, 0.5)), columns=2, caption=caption)
