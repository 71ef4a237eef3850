"""A swinging rod: the ghost inertia of the frames slows `corde` down, the less the smaller its scale α.

Rod, constraint and step are those of Spillmann and Teschner 2009, with the inertia of a segment's frame as printed. The reference
is `der` with the same segments.
"""

from __future__ import annotations

import math

import numpy as np

from ...core import Corde, Net, Rod, Scene, Simulation
from ...core.errors import Array
from .graphs import RADIUS, as_printed
from .outcome import Camera, Moment, Number, Outcome, Plot, Series, Tube

LENGTH, SEGMENTS = 10.0, 20
STIFFNESS = as_printed(1e6, 4e6, 1e9)
ALPHAS = (1.0, 0.1, 0.01, 0.001)
KAPPA, STEP = 1e6, 1e-4
START = 0.3  # rad
SECONDS = 16.0
FRAME_RATE = 48.0


def swing(model: str, alpha: float = 1.0, seconds: float = SECONDS) -> tuple[Array, Array]:
    """Times, and horizontal displacement of the lower end, m."""
    along = np.linspace(0.0, LENGTH, SEGMENTS + 1)[:, None]
    points = along * (math.sin(START), 0.0, -math.cos(START))
    inertia = 0.25 * STIFFNESS.mass_per_length / (LENGTH / SEGMENTS)  # of a segment's frame, as printed
    settings = Corde(alpha=alpha, kappa=KAPPA, step=STEP, inertia=inertia)
    scene = Scene()
    if model == "corde":
        edges = [(k, k + 1) for k in range(SEGMENTS)]
        rod = scene.add(Net.from_edges(points, edges, RADIUS, stiffness=STIFFNESS, corde=settings), model)
    else:
        rod = scene.add(Rod.from_points(points, RADIUS, stiffness=STIFFNESS), model)
    scene.pin(rod, 0)
    substeps = 1 if model == "corde" else 100
    sim = Simulation(scene, FRAME_RATE, substeps=substeps, integrator="midpoint")
    frames = list(sim.frames(1, 1 + round(seconds * FRAME_RATE)))
    return np.array([frame.time for frame in frames]), np.array([frame.positions(rod)[-1, 0] for frame in frames])


def period(times: Array, x: Array) -> float:
    """Period from the zero crossings, interpolated between frames."""
    k = np.flatnonzero((x[:-1] > 0.0) != (x[1:] > 0.0))
    zeros = times[k] + (times[k + 1] - times[k]) * x[k] / (x[k] - x[k + 1])
    return float(2.0 * (zeros[-1] - zeros[0]) / (len(zeros) - 1))


def run() -> Outcome:
    swings = {f"α = {alpha:g}": swing("corde", alpha) for alpha in ALPHAS}
    reference = swing("der")
    right = period(*reference)
    # Approximate ratio of the ghost inertia to that of the rod about the pin.
    ghosts = SEGMENTS * 0.25 * STIFFNESS.mass_per_length
    whole = STIFFNESS.mass_per_length * LENGTH**3 / 3.0
    errors = {alpha: period(*swings[f"α = {alpha:g}"]) / right - 1.0 for alpha in ALPHAS}
    numbers = [Number("period of der", right, "s")]
    numbers += [
        Number.between(
            f"period too long, α = {alpha:g}",
            errors[alpha] / alpha,
            0.5 * ghosts / whole,
            2.0 * ghosts / whole,
            "α",
            "half of ghosts / I if the rod was rigid",
        )
        for alpha in ALPHAS[:2]
    ]
    numbers += [
        Number.between(f"period off, α = {alpha:g}", abs(errors[alpha]), 0.0, 3e-4, "", "tends to the right one")
        for alpha in ALPHAS[2:]
    ]
    numbers.append(Number.near("error at α = 0.1 over that at 1", errors[0.1] / errors[1.0], 0.1, 0.1))
    plot = Plot(
        "The lower end",
        "time (s)",
        "m",
        [Series(*data, label) for label, data in swings.items()] + [Series(*reference, "der", "--", "black")],
    )
    last = Plot(
        "Near the end",
        "time (s)",
        "m",
        [Series(t[-60:], x[-60:], label) for label, (t, x) in swings.items()]
        + [Series(reference[0][-60:], reference[1][-60:], "der", "--", "black")],
    )
    line = np.linspace(0.0, LENGTH, SEGMENTS + 1)[:, None] * (math.sin(START), 0.0, -math.cos(START))
    caption = (
        f"A rod of {LENGTH:g} m and {SEGMENTS} segments swings from {START:g} rad. The ghost inertia of its frames, scaled "
        f"by α, slows it down; with α = {ALPHAS[-1]:g} it swings as the reference, which has none."
    )
    return Outcome(
        numbers, [Moment("released", [Tube(line, 0.08)])], [plot, last], Camera((0.0, -1.0, 0.0)), caption=caption
    )
