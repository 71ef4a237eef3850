"""A long curly rod hangs under gravity: accuracy of the rest shape of clothoids, helices and discrete rods with increasing numbers
of unknowns.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np

from ...core import Rod, Scene, Simulation, Stiffness
from ...core.describe.scene import Elements
from .outcome import BLUE, GREEN, GREY, ORANGE, RED, Camera, Moment, Number, Outcome, Plot, Series, Tube

TURNS, RADIUS, PITCH = 5.0, 0.03, 0.02  # m
STIFFNESS = Stiffness(1e4, 1e-4, 1e-4, 0.7e-4, mass_per_length=0.01, inertia_per_length=1e-9)
EDGES = 400  # edges of the sampled curve that elements are fitted to
REFERENCE = 48  # elements
ELEMENTS = (1, 2, 3, 5, 7, 10, 14, 20, 28, 40, 56)
SEGMENTS = (25, 50, 100, 200, 400, 800, 1600)
COMPARED = np.linspace(0.0, 1.0, 201)
VISIBLE = 1e-3  # of the length: smaller errors are not visible
# Unknowns that the paper needs to be "close to the reference", and the ratios to clothoids where errors are no longer visible.
PAPER = {"clothoid": 24, "super-helix": 70, "der": 1000}
PAPER_TIMES = {"super-helix": 3.0, "der": 50.0}
# Published discrete rods clamp the first edge; the clamp of Tendril acts on the section at the first vertex.
HELD_EDGE = "der, first edge held"
COLOURS = {"clothoid": BLUE, "super-helix": GREEN, "der": RED, HELD_EDGE: ORANGE}


class Curl(NamedTuple):
    """A natural helix."""

    turns: float
    radius: float  # m
    pitch: float  # m

    @property
    def length(self) -> float:
        return math.hypot(2.0 * math.pi * self.turns * self.radius, self.turns * self.pitch)


LONG = Curl(TURNS, RADIUS, PITCH)
SHORT = Curl(2.5, 0.04, 0.02)  # with this curl 7 clothoids are as accurate as the 70 unknowns of helices in the paper


def helix(edges: int, turns: float = TURNS, radius: float = RADIUS, pitch: float = PITCH) -> np.ndarray:
    s = np.linspace(0.0, 1.0, edges + 1)
    angle = 2.0 * math.pi * turns * s
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), -turns * pitch * s], axis=1)


def hung(model: str, edges: int, elements: Elements | int | None = None, curl: Curl = LONG) -> Scene:
    """Scene of the rod clamped at its upper end, before it is released."""
    scene = Scene()
    rod = Rod.from_points(helix(edges, *curl), radius=1e-3, stiffness=STIFFNESS)
    if model == HELD_EDGE:
        scene.clamp_edge(scene.add(rod, "der"), 0)
    else:
        scene.clamp(scene.add(rod, model, elements=elements), "start")
    return scene


def at_rest(model: str, edges: int, elements: Elements | None = None, curl: Curl = LONG) -> tuple[np.ndarray, float]:
    """Positions of the compared points at rest, and seconds of computation."""
    sim = Simulation(hung(model, edges, elements, curl), threads=1, tolerance=1e-9)
    start = time.perf_counter()
    if not sim.settle(stable=False):
        return np.full((len(COMPARED), 3), np.nan), math.inf
    seconds = time.perf_counter() - start
    x, s = sim.current().positions(0), np.linspace(0.0, 1.0, edges + 1)
    return np.stack([np.interp(COMPARED, s, x[:, c]) for c in range(3)], axis=1), seconds


def order(unknowns, errors) -> float:
    return float(-np.polyfit(np.log(unknowns), np.log(errors), 1)[0])


class Compared(NamedTuple):
    curl: Curl
    reference: np.ndarray
    table: dict[str, np.ndarray]  # rows of unknowns, error in lengths, seconds
    shapes: dict[int, np.ndarray]  # by number of clothoids

    def needed(self, model: str, error: float) -> float:
        """Number of unknowns with which a model reaches this error."""
        unknowns, errors, _ = self.table[model].T
        if not errors.min() <= error <= errors.max():
            return math.nan
        return math.exp(np.interp(-math.log(error), -np.log(errors), np.log(unknowns)))

    def error(self, elements: int) -> float:
        """Error of a number of clothoids."""
        return float(self.table["clothoid"][ELEMENTS.index(elements), 1])


def compare(curl: Curl, runs: int = 1) -> Compared:
    """Errors and times of all models; of several runs the shortest time counts."""
    reference, _ = at_rest("clothoid", EDGES, Elements(REFERENCE), curl)
    rows: dict[str, list[tuple[int, float, float]]] = {name: [] for name in COLOURS}
    shapes = {}

    def add(name: str, unknowns: int, model: str, edges: int, elements: Elements | None = None) -> np.ndarray:
        x, seconds = min((at_rest(model, edges, elements, curl) for _ in range(runs)), key=lambda found: found[1])
        error = float(np.sqrt(((x - reference) ** 2).sum(axis=1).mean())) / curl.length
        rows[name].append((unknowns, error, seconds))
        return x

    for count in ELEMENTS:
        if count < REFERENCE // 1.5:  # larger counts are as accurate as the reference
            shapes[count] = add("clothoid", 3 * (count + 1), "clothoid", EDGES, Elements(count))
        add("super-helix", 3 * count, "clothoid", EDGES, Elements(count, degree=0))
    for count in SEGMENTS:
        for name in ("der", HELD_EDGE):
            add(name, 4 * count + 3, name, count)
    return Compared(curl, reference, {name: np.array(found) for name, found in rows.items()}, shapes)


def run() -> Outcome:
    at_rest("der", SEGMENTS[0])  # compiles
    long, short = compare(LONG, 2), compare(SHORT)
    orders = {name: order(rows[-4:, 0], rows[-4:, 1]) for name, rows in long.table.items()}
    numbers = [
        Number.between("order of clothoids", orders["clothoid"], 3.0, 4.5, "", "the highest"),
        Number.between("order of helices", orders["super-helix"], 1.5, 2.5),
        Number.between("order of der", orders["der"], 1.7, 2.3),
        Number.between("order of der, first edge held", orders[HELD_EDGE], 0.9, 1.5),
        Number.between(
            "error of der, finest", float(long.table["der"][-1, 1]), 0.0, 2e-4, "of the length", "one common limit"
        ),
        Number.between("error of helices, finest", float(long.table["super-helix"][-1, 1]), 0.0, 2e-3, "of the length"),
    ]
    reached = short.error(7)
    says = f"the paper: {PAPER['clothoid']} unknowns, %d"
    numbers += [
        Number.between(f"{SHORT.turns:g} turns: error of 7 clothoids, 24 unknowns", reached, 0.0, 2e-3, "of the length"),
        Number.between(
            "unknowns with which helices are as near", short.needed("super-helix", reached), 60.0, 80.0, "",
            says % PAPER["super-helix"],
        ),
        Number.between(
            "unknowns with which der is as near, first edge held", short.needed(HELD_EDGE, reached), PAPER["der"], math.inf,
            "", says % PAPER["der"],
        ),
        Number.between("unknowns with which der is as near", short.needed("der", reached), 300.0, math.inf),
        Number.between(
            f"{LONG.turns:g} turns: error of 7 clothoids, 24 unknowns", long.error(7), 0.0, 0.012, "of the length"
        ),
        Number.between("unknowns with which der is as near to that", long.needed("der", long.error(7)), 300.0, math.inf),
    ]  # fmt: skip
    few = long.needed("clothoid", VISIBLE)
    numbers.append(Number("unknowns of clothoids to 0.1 % of the length", few))
    for name, times, low in (("super-helix", PAPER_TIMES["super-helix"], 2.5), (HELD_EDGE, PAPER_TIMES["der"], 45.0)):
        numbers.append(
            Number.between(
                f"times as many of {name}",
                long.needed(name, VISIBLE) / few,
                low,
                math.inf,
                "",
                f"the paper: about {times:g}",
            )
        )
    numbers.append(Number.between("times as many of der", long.needed("der", VISIBLE) / few, 20.0, math.inf))
    plots = [_plot(found, 0) for found in (short, long)] + [_plot(long, 2)]
    moments = [Moment("natural", [Tube(helix(EDGES), 0.004, GREY)])]
    moments += [Moment(f"{count} clothoids", [Tube(long.shapes[count], 0.004, BLUE)]) for count in (2, 5, 7)]
    moments.append(Moment("reference", [Tube(long.reference, 0.004, BLUE)]))
    caption = (
        f"A helix of {TURNS:g} turns, radius {RADIUS:g} m and pitch {PITCH:g} m hangs at rest under gravity, EI = "
        f"{STIFFNESS.bend_1:g} and GJ = {STIFFNESS.twist:g} N m². Clothoids, helices and discrete rods converge to one "
        "shape; clothoids need the fewest unknowns."
    )
    return Outcome(numbers, moments, plots, Camera((0.3, -1.0, 0.1)), columns=5, caption=caption)


def _plot(found: Compared, column: int) -> Plot:
    """Errors against unknowns (0) or seconds (2)."""
    against = ("unknowns", "", "seconds to come to rest")[column]
    series = [
        Series(rows[:, column], rows[:, 1], name, "o-", COLOURS[name])
        for name, rows in found.table.items()
        if column == 0 or name != HELD_EDGE
    ]
    return Plot(f"{found.curl.turns:g} turns", against, "error (lengths)", series, logarithmic="xy")
