"""A long curly rod hangs under gravity: how near clothoids, helices and discrete rods of ever more unknowns come to where it
rests."""

from __future__ import annotations

import math
import time

import numpy as np

from ...core import Rod, Scene, Simulation, Stiffness
from ...core.scene import Elements
from .outcome import BLUE, GREEN, GREY, RED, Camera, Moment, Number, Outcome, Plot, Series, Tube

TURNS, RADIUS, PITCH = 5.0, 0.03, 0.02  # m
MADE_OF = Stiffness(1e4, 1e-4, 1e-4, 0.7e-4, mass_per_length=0.01, inertia_per_length=1e-9)
DRAWN = 400  # edges of the curve that elements are fitted to
REFERENCE = 48  # elements
ELEMENTS = (1, 2, 3, 5, 7, 10, 14, 20, 28)
SEGMENTS = (25, 50, 100, 200, 400, 800)
COMPARED = np.linspace(0.0, 1.0, 201)
PAPER_UNKNOWNS = 24  # of 7 clothoids
LENGTH = math.hypot(2.0 * math.pi * TURNS * RADIUS, TURNS * PITCH)


def helix(edges: int, turns: float = TURNS, radius: float = RADIUS, pitch: float = PITCH) -> np.ndarray:
    s = np.linspace(0.0, 1.0, edges + 1)
    angle = 2.0 * math.pi * turns * s
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), -turns * pitch * s], axis=1)


def hung(model: str, edges: int, elements: Elements | int | None = None) -> Scene:
    """The rod before it is let go, clamped at its upper end."""
    scene = Scene()
    rod = Rod.from_points(helix(edges), radius=1e-3, stiffness=MADE_OF)
    scene.clamp(scene.add(rod, model, elements=elements), "start")
    return scene


def at_rest(model: str, edges: int, elements: Elements | None = None) -> tuple[np.ndarray, float]:
    """Where the points compared are, and the seconds that took."""
    sim = Simulation(hung(model, edges, elements), threads=1, tolerance=1e-9)
    start = time.perf_counter()
    if not sim.settle(stable=False):
        return np.full((len(COMPARED), 3), np.nan), math.inf
    seconds = time.perf_counter() - start
    x, s = sim.current().positions(0), np.linspace(0.0, 1.0, edges + 1)
    return np.stack([np.interp(COMPARED, s, x[:, c]) for c in range(3)], axis=1), seconds


def order(unknowns, errors) -> float:
    return float(-np.polyfit(np.log(unknowns), np.log(errors), 1)[0])


def run() -> Outcome:
    reference, _ = at_rest("clothoid", DRAWN, Elements(REFERENCE))
    at_rest("der", SEGMENTS[0])  # compiles

    def error(x: np.ndarray) -> float:
        return float(np.sqrt(((x - reference) ** 2).sum(axis=1).mean())) / LENGTH

    found: dict[str, list[tuple[int, float, float]]] = {"clothoid": [], "super-helix": [], "der": []}
    shown = {}
    for count in ELEMENTS:
        x, seconds = at_rest("clothoid", DRAWN, Elements(count))
        shown[count] = x
        found["clothoid"].append((3 * (count + 1), error(x), seconds))
        x, seconds = at_rest("clothoid", DRAWN, Elements(count, degree=0))
        found["super-helix"].append((3 * count, error(x), seconds))
    for count in SEGMENTS:
        x, seconds = at_rest("der", count)
        found["der"].append((4 * count + 3, error(x), seconds))
    table = {name: np.array(rows) for name, rows in found.items()}
    orders = {name: order(rows[-4:, 0], rows[-4:, 1]) for name, rows in table.items()}
    reached = float(table["clothoid"][ELEMENTS.index(7), 1])
    needed = {
        name: math.exp(np.interp(-math.log(reached), -np.log(table[name][:, 1]), np.log(table[name][:, 0])))
        for name in ("super-helix", "der")
    }
    numbers = [
        Number.between("order of clothoids", orders["clothoid"], 3.0, 4.5, "", "the highest"),
        Number.between("order of helices", orders["super-helix"], 1.5, 2.5),
        Number.between("order of der", orders["der"], 1.7, 2.3),
        Number.between(
            "error of der, finest", float(table["der"][-1, 1]), 0.0, 5e-4, "of the length", "one common limit"
        ),
        Number.between("error of helices, finest", float(table["super-helix"][-1, 1]), 0.0, 5e-3, "of the length"),
        Number("error of 7 clothoids, 24 unknowns", reached, "of the length"),
        Number.between(
            "unknowns with which helices are as near", needed["super-helix"], 1.3 * PAPER_UNKNOWNS, math.inf
        ),
        Number.between("unknowns with which der is as near", needed["der"], 10.0 * PAPER_UNKNOWNS, math.inf),
    ]
    colours = {"clothoid": BLUE, "super-helix": GREEN, "der": RED}
    plots = [
        Plot("Error and unknowns", "unknowns", "error (lengths)",
             [Series(rows[:, 0], rows[:, 1], name, "o-", colours[name]) for name, rows in table.items()], logarithmic="xy"),
        Plot("Error and time to rest", "seconds", "error (lengths)",
             [Series(rows[:, 2], rows[:, 1], name, "o-", colours[name]) for name, rows in table.items()], logarithmic="xy"),
    ]  # fmt: skip
    drawn = Tube(helix(DRAWN), 0.004, GREY)
    moments = [Moment("natural", [drawn])]
    moments += [Moment(f"{count} clothoids", [Tube(shown[count], 0.004, BLUE)]) for count in (2, 5, 7)]
    moments.append(Moment("reference", [Tube(reference, 0.004, BLUE)]))
    return Outcome(numbers, moments, plots, Camera((0.3, -1.0, 0.1)), columns=5)
