"""A long curly rod unwinds under gravity (Casati and Bertails-Descoubes 2013, Figs. 8 b and 9, middle and right): run time against
unknowns with steps of 11 and 33 ms, and accuracy of the motion against run time.

The paper measures accuracy at rest, because its integrators are of first order. With TR-BDF2, which is of second order, the motion
itself can be compared: with that of a fine rod in fine steps.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np

from ...core import Elements, Simulation
from ...core.errors import Array
from .curly_rod import LONG, hung
from .outcome import BLUE, GREEN, GREY, RED, Camera, Moment, Number, Outcome, Plot, Series, Tube

STEPS = (0.011, 0.033)  # s
SECONDS = 0.99  # a multiple of both
COMPARED_UNTIL = 0.33  # s, of the motion that is compared: later, small differences have grown
ELEMENTS = (2, 3, 5, 7, 10, 14, 20)
SEGMENTS = (25, 50, 100, 200, 400)
REFERENCE, REFERENCE_STEP = 40, 0.011 / 6.0
SHOWN = 5  # elements of Fig. 8
SCHEMES = {
    "clothoid": "semi-implicit euler",
    "super-helix": "semi-implicit euler",
    "der": "backward euler",
}  # of the paper
COLOURS = {"clothoid": BLUE, "super-helix": GREEN, "der": RED}
EDGES = 120  # drawn; the points that are compared
REAL_TIME = 1.0


class Fall(NamedTuple):
    seconds: float  # of processor time per second of motion
    points: Array  # (frames, points, 3), every 33 ms
    failures: int
    gain: float  # energy gained, relative to the largest kinetic energy


def _model(name: str, size: int) -> tuple[str, int, Elements | None]:
    if name == "der":
        return "der", size, None
    return "clothoid", EDGES, Elements(size, degree=int(name == "clothoid"))


def unknowns(name: str, size: int) -> int:
    return {"clothoid": 3 * size + 3, "super-helix": 3 * size, "der": 4 * size + 3}[name]


def fall(name: str, size: int, step: float, scheme: str, seconds: float = SECONDS) -> Fall:
    sim = Simulation(hung(*_model(name, size), LONG), 1.0 / step, substeps=1, integrator=scheme, threads=1)
    steps, every = round(seconds / step), round(STEPS[1] / step)
    moments, failures, before = [_resampled(sim)], 0, sim.energies().total
    most = kinetic = 0.0
    begin = time.process_time()
    for k in range(steps):
        report = sim.step_frame().report
        failures += report.failures
        most, kinetic = max(most, report.energies.total - before), max(kinetic, report.energies.kinetic)
        if (k + 1) % every == 0:
            moments.append(_resampled(sim))
    return Fall((time.process_time() - begin) / seconds, np.array(moments), failures, most / kinetic)


def _resampled(sim: Simulation) -> Array:
    x = sim.current().positions(0)
    s, at = np.linspace(0.0, 1.0, len(x)), np.linspace(0.0, 1.0, EDGES + 1)
    return np.stack([np.interp(at, s, x[:, c]) for c in range(3)], axis=1)


def motion_error(found: Fall, reference: Fall) -> float:
    """Root mean square distance over all points and moments, in lengths of the rod."""
    count = 1 + round(COMPARED_UNTIL / STEPS[1])
    apart = found.points[1:count] - reference.points[1:count]
    return float(np.sqrt((apart**2).sum(axis=2).mean())) / LONG.length


def sizes(name: str) -> tuple[int, ...]:
    return SEGMENTS if name == "der" else ELEMENTS


def run() -> Outcome:
    for name in SCHEMES:  # compiles
        for scheme in (SCHEMES[name], "tr-bdf2"):
            fall(name, sizes(name)[0], STEPS[0], scheme, 0.033)
    runs = {
        (name, step): [fall(name, n, step, SCHEMES[name]) for n in sizes(name)] for step in STEPS for name in SCHEMES
    }
    reference = fall("clothoid", REFERENCE, REFERENCE_STEP, "tr-bdf2", COMPARED_UNTIL)
    motions = {
        name: [fall(name, n, REFERENCE_STEP, "tr-bdf2", COMPARED_UNTIL) for n in sizes(name)] for name in SCHEMES
    }
    errors = {name: np.array([motion_error(one, reference) for one in found]) for name, found in motions.items()}
    costs = {name: np.array([one.seconds for one in found]) for name, found in motions.items()}
    numbers = _numbers(runs, errors, costs)
    plots = [
        Plot(f"Run time with steps of {1e3 * step:g} ms", "unknowns", "s per second of motion",
             [*(Series([unknowns(name, n) for n in sizes(name)], [one.seconds for one in runs[name, step]], name, "o-", colour)
                for name, colour in COLOURS.items()), Series([6, 2000], [REAL_TIME] * 2, "real time", "--", GREY)],
             logarithmic="xy")
        for step in STEPS
    ]  # fmt: skip
    series = [Series(costs[name], errors[name], name, "o-", colour) for name, colour in COLOURS.items()]
    plots.append(Plot("Accuracy of the motion", "s per second of motion", "error (lengths)", series, logarithmic="xy"))
    drawn = runs["clothoid", STEPS[0]][ELEMENTS.index(SHOWN)].points
    moments = [Moment(f"{33 * k} ms", [Tube(drawn[k], 0.004, BLUE)]) for k in (0, 3, 6, 10, 30)]
    caption = (
        f"A curly rod of {LONG.turns:g} turns, clamped at its top, unwinds without damping; above with {SHOWN} clothoids in steps "
        "of 11 ms. Run times are with the integrators of the paper; accuracy is that of the motion in the first third of a second, "
        "with TR-BDF2."
    )
    return Outcome(numbers, moments, plots, Camera((0.3, -1.0, 0.1)), columns=5, caption=caption)


def _numbers(
    runs: dict[tuple[str, float], list[Fall]], errors: dict[str, Array], costs: dict[str, Array]
) -> list[Number]:
    numbers = []
    for step in STEPS:
        at = f"{1e3 * step:g} ms"
        seven = runs["clothoid", step][ELEMENTS.index(7)]
        failures = sum(one.failures for name in SCHEMES for one in runs[name, step])
        numbers += [
            Number.between(f"run time of 7 clothoids, {at}", seven.seconds, 0.0, REAL_TIME, "s per s", "real time"),
            Number.equal(f"steps given up, all models, {at}", failures, 0),
            Number.between(f"energy gained by 7 clothoids, {at}", seven.gain, 0.0, 0.01, "of the kinetic one", "stable"),
        ]  # fmt: skip
    orders = {
        name: float(-np.polyfit(np.log([unknowns(name, n) for n in sizes(name)][-4:]), np.log(errors[name][-4:]), 1)[0])
        for name in errors
    }
    few = float(errors["clothoid"][ELEMENTS.index(7)])
    numbers += [
        Number.between("order of clothoids", orders["clothoid"], orders["super-helix"] + 0.5, math.inf, "", "the highest"),
        Number.between("order of helices", orders["super-helix"], 1.0, 2.8),
        Number.between("error of 7 clothoids", few, 0.0, 0.015, "of the length", "1.1 % at rest"),
    ]  # fmt: skip
    near = errors["clothoid"] <= errors["super-helix"][-1]
    helices, clothoids = float(costs["super-helix"][-1]), float(costs["clothoid"][near].min())
    own, sizes_of_der = unknowns("clothoid", 14), [unknowns("der", n) for n in SEGMENTS]
    best = float(errors["clothoid"][ELEMENTS.index(14)])
    segments = math.exp(np.interp(-math.log(best), -np.log(errors["der"]), np.log(sizes_of_der)))
    cost = math.exp(np.interp(-math.log(best), -np.log(errors["der"]), np.log(costs["der"])))
    numbers += [
        Number.between("time of the finest helices over clothoids as near", helices / clothoids, 1.0, math.inf),
        Number.between("unknowns of der over those of 14 clothoids, as near", segments / own, 8.0, math.inf),
        Number("time of der over that", float(cost / costs["clothoid"][ELEMENTS.index(14)])),
    ]  # fmt: skip
    return numbers
