"""A tendril of four elements and a ringlet of two (Casati and Bertails-Descoubes 2013, Fig. 1), and how smooth they are compared
with super-helices (Fig. 2).

The paper fits its elements to photographs. Here the strands are curves like those, whose twist and curvature are smooth functions
that are not affine: a tendril that is straight at first, curls, and reverses its handedness; and a ringlet that curls ever more
towards its tip.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...core import Elements, Rod, Scene, Simulation, Stiffness
from ...core.errors import Array
from ...core.models.clothoid.build import fit_elements
from .clothoids import sampled
from .outcome import BLUE, GREEN, GREY, ORANGE, RED, Camera, Moment, Number, Outcome, Plot, Series, Tube

EDGES = 480
STEP = 1.0 / 90.0  # s, about the 11 ms of the paper
FAIR = {"clothoids": Elements(2), "helices": Elements(5, degree=0)}  # as in Fig. 2


class Strand(NamedTuple):
    name: str
    length: float  # m
    elements: int  # of the paper
    curvature: Callable[[Array], Array]  # of s / length: (n, 3) twist and curvatures, 1/m
    stiffness: Stiffness
    colour: str

    def points(self) -> Array:
        s = np.linspace(0.0, 1.0, EDGES + 1)
        frame = np.stack([[0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0]], axis=1)  # it starts downwards
        return sampled(self.curvature(s), self.length, EDGES, np.zeros(3), frame)[0]

    def rod(self) -> Rod:
        return Rod.from_points(self.points(), radius=1e-3, stiffness=self.stiffness)


def _tendril(s: Array) -> Array:
    bend = 6.0 + 55.0 / (1.0 + np.exp(-9.0 * (s - 0.4)))
    return np.stack([14.0 * np.tanh(5.0 * (0.55 - s)), bend, 0.0 * s], axis=1)


def _ringlet(s: Array) -> Array:
    return np.stack([10.0 + 4.0 * s**2, 12.0 + 60.0 * s**1.4, 0.0 * s], axis=1)


STRANDS = (
    Strand("tendril", 0.6, 4, _tendril, Stiffness(1e4, 2e-4, 2e-4, 1.5e-4, mass_per_length=0.004, inertia_per_length=1e-9), GREEN),
    Strand("ringlet", 0.4, 2, _ringlet, Stiffness(1e4, 6e-5, 6e-5, 4e-5, mass_per_length=0.003, inertia_per_length=1e-9), ORANGE),
)  # fmt: skip


def fit_error(strand: Strand, elements: Elements) -> float:
    """Largest distance of the fitted elements from the strand, relative to its length."""
    return float(fit_elements(strand.rod(), elements).largest_error) / strand.length


class Run(NamedTuple):
    frames: list[Array]  # points at 90 frames per second
    seconds: float  # of processor time per step
    longest: float  # relative change of length
    failures: int
    gain: float  # J, of energy


def released(strand: Strand, elements: Elements, steps: int = 90) -> Run:
    """The strand, clamped at its upper end, is released under gravity."""
    scene = Scene()
    scene.clamp(scene.add(strand.rod(), "clothoid", elements=elements), "start")
    sim = Simulation(scene, 1.0 / STEP, substeps=1, integrator="semi-implicit euler", threads=1)
    frames, failures, energies = [sim.current().positions(0)], 0, [sim.energies().total]
    sim.step_frame()
    begin = time.process_time()
    for _ in range(steps - 1):
        frame = sim.step_frame()
        frames.append(frame.positions(0))
        failures += frame.report.failures
        energies.append(frame.report.energies.total)
    seconds = (time.process_time() - begin) / (steps - 1)
    lengths = [np.linalg.norm(np.diff(x, axis=0), axis=1).sum() for x in frames]
    return Run(
        frames, seconds, max(abs(one / lengths[0] - 1.0) for one in lengths), failures, max(energies) - energies[0]
    )


def curvatures(points: Array) -> Array:
    """Curvature at the inner vertices, 1/m."""
    edges = np.diff(points, axis=0)
    lengths = np.linalg.norm(edges, axis=1)
    t = edges / lengths[:, None]
    return np.asarray(np.linalg.norm(np.diff(t, axis=0), axis=1) / (0.5 * (lengths[1:] + lengths[:-1])))


def at_rest(strand: Strand, elements: Elements) -> Array:
    scene = Scene()
    scene.clamp(scene.add(strand.rod(), "clothoid", elements=elements), "start")
    sim = Simulation(scene, threads=1, tolerance=1e-6)
    if not sim.settle(stable=False):
        raise RuntimeError("the strand does not come to rest")
    return sim.current().positions(0)


def largest_jump(points: Array) -> float:
    """Largest change of curvature over three vertices in a row, relative to the largest curvature: of a junction between helices it
    stays as the vertices become closer, of smooth curves it vanishes."""
    kappa = curvatures(points)
    return float(np.abs(kappa[2:] - kappa[:-2])[4:-4].max() / kappa.max())


def run() -> Outcome:
    numbers, moments = [], []
    for strand in STRANDS:
        error = fit_error(strand, Elements(strand.elements))
        fewer = fit_error(strand, Elements(max(strand.elements // 2, 1)))
        helices = fit_error(strand, Elements(strand.elements, degree=0))
        motion = released(strand, Elements(strand.elements))
        name = f"{strand.name} of {strand.elements} elements"
        numbers += [
            Number.between(f"{name}: error of the fit", error, 0.0, 0.02, "of the length"),
            Number.between("with half as many, over that", fewer / error, 3.0, math.inf, "", "no fewer will do"),
            Number.between("with as many helices, over that", helices / error, 2.0, math.inf),
            Number.between("time of a step", 1e3 * motion.seconds, 0.0, 1e3 * STEP, "ms", "in real time"),
            Number.between("largest change of length", motion.longest, 0.0, 2e-3, "", "of chords; arcs keep theirs"),
            Number.equal("steps given up", motion.failures, 0),
        ]
        radius = 0.006 * strand.length
        tubes = [Tube(strand.points(), radius, GREY)], [Tube(motion.frames[0], radius, strand.colour)]
        moments += [Moment(f"{strand.name}", tubes[0]), Moment(f"{strand.elements} elements", tubes[1])]
        moments.append(Moment("after 1 s", [Tube(motion.frames[-1], radius, strand.colour)]))
    ringlet = STRANDS[1]
    shapes = {kind: at_rest(ringlet, elements) for kind, elements in FAIR.items()}
    jumps = {kind: largest_jump(points) for kind, points in shapes.items()}
    numbers += [
        Number.between("jump of curvature at rest, 2 clothoids", jumps["clothoids"], 0.0, 0.03, "of the largest", "smooth"),
        Number.between("jump of curvature at rest, 5 helices", jumps["helices"], 0.1, math.inf, "of the largest", "junctions"),
    ]  # fmt: skip
    colours = {"clothoids": BLUE, "helices": RED}
    for kind, points in shapes.items():
        count = FAIR[kind].count
        moments.append(Moment(f"{count} {kind} at rest", [Tube(points, 0.006 * ringlet.length, colours[kind])]))
    s = np.linspace(0.0, ringlet.length, EDGES + 1)[1:-1]
    plot = Plot(
        "Curvature of the ringlet at rest", "arc length (m)", "1/m",
        [Series(s, curvatures(points), f"{FAIR[kind].count} {kind}", "-", colours[kind]) for kind, points in shapes.items()],
    )  # fmt: skip
    caption = (
        "Curves like a tendril and a ringlet, the four and two elements that are fitted to them, and these one second after they "
        "are released. At rest under gravity, two clothoids are smooth, and five helices have visible junctions."
    )
    return Outcome(numbers, moments, [plot], Camera((0.3, -1.0, 0.15)), columns=4, caption=caption)
