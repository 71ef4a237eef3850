"""Cost of a step of the falling curly rod for clothoids, helices and discrete rods with increasing numbers of unknowns, at the
paper's step of 11 ms.
"""

from __future__ import annotations

import math
import time

import numpy as np

from ...core import Simulation
from ...core.describe.scene import Elements
from .curly_rod import TURNS, helix, hung
from .outcome import BLUE, GREEN, GREY, RED, Camera, Moment, Number, Outcome, Plot, Series, Tube

STEP = 0.011  # s, as in the paper
ELEMENTS = (1, 2, 4, 8, 16, 32)
SEGMENTS = (25, 50, 100, 200, 400)
# Largest exponent of growth from 16 to 32 elements. Dense matrices cost the third power in the limit; everything else is linear,
# except for the assembly in Newton's method, which is quadratic.
MAX_EXPONENT = {
    "clothoid, semi-implicit": (2.0, "the first is measured"),
    "clothoid, TR-BDF2": (2.5, "about 1.5 is measured"),
    "super-helix": (2.0, "the first is measured"),
}
SEMI_IMPLICIT, IMPLICIT = "semi-implicit euler", "tr-bdf2"


def step_seconds(
    model: str, edges: int, elements: Elements | int | None, scheme: str, steps: int = 90, runs: int = 3
) -> float:
    """Processor time of a call of `step_frame` while the rod falls and unwinds: the mean of the first steps, best of several
    runs."""
    best = math.inf
    for _ in range(runs):
        sim = Simulation(hung(model, edges, elements), 1.0 / STEP, substeps=1, integrator=scheme, threads=1)
        sim.step_frame()
        start = time.process_time()
        for _ in range(steps):
            sim.step_frame()
        best = min(best, (time.process_time() - start) / steps)
    return best


def power(sizes: tuple[int, ...], seconds: np.ndarray) -> float:
    """Exponent of growth of the last doubling."""
    return float(np.log(seconds[-1] / seconds[-2]) / np.log(sizes[-1] / sizes[-2]))


def run() -> Outcome:
    drawn = 40
    unknowns = np.array(ELEMENTS) * 3 + 3
    rows = {
        "clothoid, semi-implicit": [step_seconds("clothoid", drawn, n, SEMI_IMPLICIT, 40, 2) for n in ELEMENTS],
        "clothoid, TR-BDF2": [step_seconds("clothoid", drawn, n, IMPLICIT, 40, 2) for n in ELEMENTS],
        "super-helix": [step_seconds("clothoid", drawn, Elements(n, degree=0), SEMI_IMPLICIT, 40, 2) for n in ELEMENTS],
        "der, TR-BDF2": [step_seconds("der", n, None, IMPLICIT, 40, 2) for n in SEGMENTS],
    }
    times = {name: np.array(values) for name, values in rows.items()}
    six = step_seconds("clothoid", drawn, 6, SEMI_IMPLICIT)
    numbers = [
        Number.between("time of a step, 6 elements", 1e3 * six, 0.0, 1e3 * STEP / 20.0, "ms", "20 times real time"),
        *(
            Number.between(f"growth of time, {name}", power(ELEMENTS, times[name]), 0.0, most, "(power of elements)", says)
            for name, (most, says) in MAX_EXPONENT.items()
        ),
        Number.between("growth of time, der", power(SEGMENTS, times["der, TR-BDF2"]), 0.0, 1.3, "(power of segments)"),
    ]  # fmt: skip
    colours = (BLUE, GREY, GREEN, RED)
    dofs = [unknowns, unknowns, unknowns - 3, 4 * np.array(SEGMENTS) + 3]
    series = [
        Series(n, 1e3 * t, name, "o-", colour)
        for (name, t), n, colour in zip(times.items(), dofs, colours, strict=True)
    ]
    series.append(Series([4, 2000], [1e3 * STEP] * 2, "real time", "--", GREY))
    plot = Plot("Time of a step of 11 ms", "unknowns", "ms of one core", series, logarithmic="xy")
    shape = Tube(helix(400), 0.004, BLUE)
    caption = (
        f"The curly rod of {TURNS:g} turns falls in steps of {1e3 * STEP:g} ms. The time of a step grows with about the "
        "first power of the unknowns; a rod of six clothoids is stepped in a twentieth of real time."
    )
    return Outcome(
        numbers, [Moment(f"{TURNS:g} turns", [shape])], [plot], Camera((0.3, -1.0, 0.1)), columns=4, caption=caption
    )
