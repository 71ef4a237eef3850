"""A plant that curls by nature grows round a pole: in a plane it climbs as long as its curvature is less than 3.3 times the
pole's, and beyond that rolls up and loses its grip; in space it winds round the pole in loops.

In the plane, without friction, what has lifted off the pole is an elastica from where it leaves the pole, with the pole's
curvature, to its tip, which touches the pole again, without moment. Two such shapes exist below the threshold, one at it, and none
above: so the threshold is found to any precision, and the simulated plant is held against it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve, minimize_scalar

from ...core import Cylinder, Rod, Scene, Simulation, Stiffness
from .outcome import BLUE, GREEN, GREY, ORANGE, RED, Camera, Moment, Number, Outcome, Plot, Series, Solid, Tube

RADIUS, THICKNESS = 0.05, 5e-3  # m: from the axis of the pole to that of the stem; radius of the stem
CLEAR = 1.001  # the clamp is so much farther out: edges are chords, and those next to it must not cut into the pole
STEM = 1e-4  # N m2, bending in the plane
OUT_OF_PLANE = 1e3  # times as stiff: the plant is a plane one
PAPER = 3.3
ELEMENTS, SPROUT, LENGTH, GROWTH = 5, 3.0, 5.0, 0.05  # radii, when curling and when grown; radii a frame
CLIMBING, FIRST, STEP, LAST = 3.0, 3.1, 0.01, 3.6  # natural curvatures tried, in units of the pole's
QUIET = 4  # frames to come to rest after each
TOUCHING, LOST = 0.01, 0.05  # radii: gaps below and above
LOOPS, LOOP_ELEMENTS, LOOP_SPROUT, LOOP_GROWTH = 5, 10, 4.0, 0.1
# Of the plant in space: natural curvature, rise, stiffness of twisting to that of bending.
NATURAL, RISE, SHEAR = 1.15, math.radians(10.0), 0.8


class Elastica(NamedTuple):
    """What has lifted off a pole of radius 1: from (1, 0), upwards."""

    length: float
    curvature: float  # natural
    shape: Any  # x, y, angle, curvature along it

    @property
    def gap(self) -> float:
        x, y = self.shape(np.linspace(0.0, self.length, 400))[:2]
        return float((np.hypot(x, y) - 1.0).max())


def elastica(length: float) -> Elastica:
    """That of a length, in units of the pole's radius: the pole pushes its tip away from the axis, and nothing else acts."""

    def free(force: np.ndarray) -> Any:
        def slope(_: float, y: np.ndarray) -> list[float]:
            return [math.cos(y[2]), math.sin(y[2]), y[3], force[0] * math.sin(y[2]) - force[1] * math.cos(y[2])]

        start = [1.0, 0.0, 0.5 * math.pi, 1.0]
        return solve_ivp(slope, (0.0, length), start, method="DOP853", rtol=1e-9, atol=1e-11, dense_output=True)

    def amiss(force: np.ndarray) -> list[float]:
        x, y, _, _ = free(force).y[:, -1]
        return [x * x + y * y - 1.0, x * force[1] - y * force[0]]

    found = free(fsolve(amiss, (-1.33, 2.3), xtol=1e-10))
    return Elastica(
        length, float(found.y[3, -1]), found.sol
    )  # no moment at the tip: there the curvature is the natural one


def threshold() -> Elastica:
    """The shape with the largest natural curvature there is."""
    best = minimize_scalar(
        lambda length: -elastica(length).curvature, bounds=(2.5, 3.0), method="bounded", options={"xatol": 1e-5}
    )
    return elastica(float(best.x))


def with_curvature(curvature: float) -> Elastica:
    """The shape that is stable, of a natural curvature below the threshold."""
    low, high = 2.2, 2.729
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if elastica(middle).curvature < curvature else (low, middle)
    return elastica(0.5 * (low + high))


def plant(points: np.ndarray, stiffness: Stiffness, elements: int, pole: float, director: Any = None) -> Simulation:
    """Points are those of the grown plant, wound on the pole; its root is clamped."""
    scene = Scene(gravity=(0.0, 0.0, 0.0), drag=5.0)
    stem = Rod.from_points(points, radius=THICKNESS, stiffness=stiffness, director=director)
    scene.clamp(scene.add(stem, "clothoid", elements=elements, friction=0.0), "start")
    scene.collide(Cylinder(RADIUS - THICKNESS, pole), friction=0.0)
    return Simulation(scene, 24.0, substeps=1, integrator="backward euler", threads=1)


def plane_plant() -> Simulation:
    """A sprout that lies on the pole, and has just the pole's curvature by nature."""
    angle = np.linspace(0.0, LENGTH, 81)
    points = CLEAR * RADIUS * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    stiff = OUT_OF_PLANE * STEM
    made_of = Stiffness(1e3, stiff, STEM, stiff, mass_per_length=3e-3, inertia_per_length=1e-9)
    sim = plant(points, made_of, ELEMENTS, 0.2, (0.0, 0.0, 1.0))
    sim.grow(0, SPROUT * RADIUS, (0.0, 1.0 / RADIUS, 0.0))
    return sim


def gaps(sim: Simulation) -> np.ndarray:
    """Between pole and stem, at all sample points, in radii."""
    x = sim.blocks[0].positions()
    return np.asarray(np.hypot(x[:, 0], x[:, 1]) / RADIUS - 1.0)


def curvatures(sim: Simulation) -> np.ndarray:
    """(K, 2) at the nodes: arc length and curvature, both in units of the pole."""
    state = sim.blocks[0].arrays.state  # type: ignore[attr-defined]
    s = np.concatenate([[0.0], np.cumsum(state.length)])
    return np.stack([s / RADIUS, np.hypot(state.kappa[:, 1], state.kappa[:, 2]) * RADIUS], axis=1)


class Climb(NamedTuple):
    moments: list[np.ndarray]  # positions while it grows
    contact: np.ndarray  # gaps when it is grown
    profile: np.ndarray
    largest: float  # natural curvature with which it holds on
    lost: np.ndarray  # positions after that
    lost_profile: np.ndarray
    failures: int


def climb() -> Climb:
    """Grows, and then curls ever more until it lets go."""
    sim, length, failures, moments = plane_plant(), SPROUT, 0, []
    for curvature in np.linspace(1.0, CLIMBING, 21)[1:]:
        sim.grow(0, curvature=(0.0, curvature / RADIUS, 0.0))
        failures += sim.step_frame().report.failures
    shown = iter((SPROUT + GROWTH, 0.5 * (SPROUT + LENGTH), LENGTH, math.inf))
    until = next(shown)
    while length < LENGTH:
        length = min(length + GROWTH, LENGTH)
        sim.grow(0, length * RADIUS)
        failures += sim.step_frame().report.failures
        if length >= until:
            moments.append(sim.current().positions(0))
            until = next(shown)
    for _ in range(5 * QUIET):
        failures += sim.step_frame().report.failures
    contact, profile = gaps(sim), curvatures(sim)
    curvature = largest = FIRST
    while curvature < LAST:
        sim.grow(0, curvature=(0.0, curvature / RADIUS, 0.0))
        for _ in range(QUIET):
            failures += sim.step_frame().report.failures
        if gaps(sim)[-1] > LOST:
            break
        largest, curvature = curvature, curvature + STEP
    for _ in range(24):
        failures += sim.step_frame().report.failures
    return Climb(moments, contact, profile, largest, sim.current().positions(0), curvatures(sim), failures)


def torsion(curvature: float) -> float:
    """The natural torsion with which a stem of that natural curvature rises as it was drawn where it lies on the pole: there the
    energy of a helix on the pole is least. Both in units of the pole's curvature."""
    c, s = math.cos(RISE), math.sin(RISE)
    return s * c - 2.0 * s * c * (c * c - curvature) / (SHEAR * (c * c - s * s))


def wind() -> tuple[list[np.ndarray], float, int]:
    """Grows round the pole in space. Moments, the deepest penetration (radii of the stem), steps given up."""
    rise = math.tan(RISE)
    turns = 2.0 * math.pi * (LOOPS + 0.3)
    angle = np.linspace(0.0, turns, 40 * (LOOPS + 1))
    points = CLEAR * RADIUS * np.stack([np.cos(angle), np.sin(angle), rise * angle], axis=1)
    made_of = Stiffness(1e3, STEM, STEM, SHEAR * STEM, mass_per_length=3e-3, inertia_per_length=1e-9)
    sim = plant(points, made_of, LOOP_ELEMENTS, 3.0 * turns * rise * RADIUS)
    full = turns * math.hypot(1.0, rise)
    kappa = sim.blocks[0].arrays.state.kappa[0]  # type: ignore[attr-defined]
    way = kappa[1:] / np.linalg.norm(kappa[1:])
    sim.grow(0, LOOP_SPROUT * RADIUS)
    length, moments, deepest, failures = LOOP_SPROUT, [], 0.0, 0
    for curvature in np.linspace(math.cos(RISE) ** 2, NATURAL, 41)[1:]:
        sim.grow(0, curvature=(torsion(curvature) / RADIUS, *(curvature / RADIUS * way)))
        failures += sim.step_frame().report.failures
    shown = iter((0.25 * full, 0.6 * full, full, math.inf))
    until = next(shown)
    while length < full:
        length = min(length + LOOP_GROWTH, full)
        sim.grow(0, length * RADIUS)
        failures += sim.step_frame().report.failures
        deepest = max(deepest, -float(gaps(sim).min()) * RADIUS / THICKNESS)
        if length >= until:
            moments.append(sim.current().positions(0))
            until = next(shown)
    for _ in range(10):
        failures += sim.step_frame().report.failures
    return [*moments[:-1], sim.current().positions(0)], deepest, failures


def winding(x: np.ndarray) -> np.ndarray:
    """Loops round the pole, along the stem."""
    return np.asarray(np.unwrap(np.arctan2(x[:, 1], x[:, 0])) / (2.0 * math.pi))


def rises(x: np.ndarray) -> np.ndarray:
    """Degrees by which the edges rise."""
    edges = np.diff(x, axis=0)
    return np.asarray(np.degrees(np.arctan2(edges[:, 2], np.hypot(edges[:, 0], edges[:, 1]))))


def run() -> Outcome:
    exact, true = threshold(), with_curvature(CLIMBING)
    found = climb()
    touching = found.contact < TOUCHING
    lifted = np.flatnonzero(~touching)
    s = np.linspace(0.0, LENGTH, len(touching))
    free = s[-1] - s[lifted[0] - 1] if len(lifted) else 0.0
    stages, deepest, failures = wind()
    loops, slope = winding(stages[-1]), rises(stages[-1])
    last = slope[-len(slope) // LOOPS :]
    numbers = [
        Number.near("threshold of the elastica", exact.curvature, PAPER, 0.01, "of the pole's", "the paper"),
        Number.near(
            f"threshold of {ELEMENTS} elements", found.largest, exact.curvature, 0.01, "of the pole's", "elastica"
        ),
        Number.equal("the tip touches", bool(touching[-1]), True),
        Number.equal("then one gap, then one line of contact", bool(np.all(np.diff(lifted) == 1)), True),
        Number.near(f"free length at {CLIMBING:g}", free, true.length, 0.1, "radii of the pole", "elastica"),
        Number.near("gap", float(found.contact.max()), true.gap, 0.1, "radii of the pole", "elastica"),
        Number.between(
            "loops in space", float(loops[-1] - loops[0]), LOOPS, math.inf, f"with {LOOP_ELEMENTS} elements"
        ),
        Number.between("deepest penetration", deepest, -math.inf, 0.1, "radii of the stem"),
        Number.between("pitch varies in the last loop by", float(np.ptp(last)), 1.0, math.inf, "degrees", "it does"),
        Number.equal("parts of steps given up", found.failures + failures, 0),
    ]
    along = np.linspace(0.0, true.length, 100)
    plots = [
        Plot("Curvature along the plane plant", "arc length (radii)", "curvature (of the pole's)",
             [Series(found.profile[:, 0], found.profile[:, 1], f"climbs, {CLIMBING:g}", "o-", GREEN),
              Series(LENGTH - true.length + along, true.shape(along)[3], "elastica", "--", GREY),
              Series(found.lost_profile[:, 0], found.lost_profile[:, 1], f"lost, {found.largest + STEP:.2f}", "o-", RED)]),
        Plot("Pitch along the plant in space", "loops", "rise (degrees)",
             [Series(0.5 * (loops[1:] + loops[:-1]), slope, "", "-", BLUE)]),
    ]  # fmt: skip
    pole = Solid(Cylinder(RADIUS - THICKNESS, 0.02))
    above = Camera((0.0, -0.3, 1.0), (0.0, 1.0, 0.0))
    shapes = [*found.moments, found.lost]
    titles = [*(f"grows, {CLIMBING:g}" for _ in found.moments), f"lost its grip, {found.largest + STEP:.2f}"]
    moments = [
        Moment(title, [Tube(x, THICKNESS, GREEN if x is not found.lost else ORANGE)], [pole], above)
        for title, x in zip(titles, shapes, strict=True)
    ]
    top = float(stages[-1][:, 2].max())
    tall = Solid(Cylinder(RADIUS - THICKNESS, 1.2 * top, position=(0.0, 0.0, 0.5 * top)))
    moments += [
        Moment(f"{abs(winding(x)[-1] - winding(x)[0]):.1f} loops", [Tube(x, THICKNESS, GREEN)], [tall]) for x in stages
    ]
    return Outcome(numbers, moments, plots, Camera((0.5, -1.0, 0.2)), columns=4)
