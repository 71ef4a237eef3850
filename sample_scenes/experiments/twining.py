"""A naturally curved plant grows around a pole: in the plane it climbs as long as its natural curvature is below 3.3 times that
of the pole, and loses its grip above; in space it winds around the pole in loops.

In the plane and without friction, the part that has lifted off the pole is an elastica from the point where it leaves the pole,
with the curvature of the pole, to its tip, which touches the pole again without moment. Below the threshold two such shapes
exist, at the threshold one, and above none. So the threshold can be computed to any precision, and the simulated plant is
compared with it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve, minimize_scalar

from ...core import Cylinder, Rod, Scene, Simulation, Stiffness
from .outcome import BLUE, GREEN, GREY, ORANGE, RED, Camera, Moment, Number, Outcome, Plot, Series, Solid, Tube

RADIUS, THICKNESS = 0.05, 5e-3  # m: distance between the axes of pole and stem; radius of the stem
CLEAR = 1.001  # factor by which the clamp is farther out: edges are chords and must not cut into the pole next to it
STEM = 1e-4  # N m2, bending in the plane
OUT_OF_PLANE = 1e3  # factor of stiffness, which keeps the plant in its plane
PAPER = 3.3
ELEMENTS, SPROUT, LENGTH, GROWTH = 5, 3.0, 5.0, 0.05  # elements; radii: initial and final length; radii per frame
CLIMBING, FIRST, STEP, LAST = 3.0, 3.1, 0.01, 3.6  # natural curvatures, in units of the pole's curvature
QUIET = 4  # frames of rest after each change
TOUCHING, LOST = 0.01, 0.05  # radii: gap below which it touches, above which it has lost the pole
LOOPS, LOOP_ELEMENTS, LOOP_SPROUT, LOOP_GROWTH = 5, 10, 4.0, 0.1
# Plant in space: natural curvature, pitch angle, ratio of twisting to bending stiffness.
NATURAL, RISE, SHEAR = 1.15, math.radians(10.0), 0.8
# Points per loop; and a clamp farther out by more than the sag of an edge, Δ²/8 = 0.0024 radii. The first edge can't yield: if it
# cut into the pole, the stem would bulge next to it.
PER_LOOP, LOOP_CLEAR = 40, 1.003


class Elastica(NamedTuple):
    """The part that has lifted off a pole of radius 1, starting upwards at (1, 0)."""

    length: float
    curvature: float  # natural
    shape: Any  # x, y, angle, curvature along it

    @property
    def gap(self) -> float:
        x, y = self.shape(np.linspace(0.0, self.length, 400))[:2]
        return float((np.hypot(x, y) - 1.0).max())


def elastica(length: float) -> Elastica:
    """The elastica of this length, in units of the pole's radius; the only load is the radial force of the pole on its tip."""

    def free(force: np.ndarray) -> Any:
        def slope(_: float, y: np.ndarray) -> list[float]:
            return [math.cos(y[2]), math.sin(y[2]), y[3], force[0] * math.sin(y[2]) - force[1] * math.cos(y[2])]

        start = [1.0, 0.0, 0.5 * math.pi, 1.0]
        return solve_ivp(slope, (0.0, length), start, method="DOP853", rtol=1e-9, atol=1e-11, dense_output=True)

    def residual(force: np.ndarray) -> list[float]:
        x, y, _, _ = free(force).y[:, -1]
        return [x * x + y * y - 1.0, x * force[1] - y * force[0]]

    found = free(fsolve(residual, (-1.33, 2.3), xtol=1e-10))
    return Elastica(
        length, float(found.y[3, -1]), found.sol
    )  # without moment at the tip, the curvature there is the natural one


def threshold() -> Elastica:
    """The elastica with the largest natural curvature."""
    best = minimize_scalar(
        lambda length: -elastica(length).curvature, bounds=(2.5, 3.0), method="bounded", options={"xatol": 1e-5}
    )
    return elastica(float(best.x))


def with_curvature(curvature: float) -> Elastica:
    """The stable elastica of a natural curvature below the threshold."""
    low, high = 2.2, 2.729
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if elastica(middle).curvature < curvature else (low, middle)
    return elastica(0.5 * (low + high))


def plant(points: np.ndarray, stiffness: Stiffness, elements: int, pole: float, director: Any = None) -> Simulation:
    """Simulation of a plant with a clamped root; `points` are those of the grown plant, wound on the pole."""
    scene = Scene(gravity=(0.0, 0.0, 0.0), drag=5.0)
    stem = Rod.from_points(points, radius=THICKNESS, stiffness=stiffness, director=director)
    scene.clamp(scene.add(stem, "clothoid", elements=elements, friction=0.0), "start")
    scene.collide(Cylinder(RADIUS - THICKNESS, pole), friction=0.0)
    return Simulation(scene, 24.0, substeps=1, integrator="backward euler", threads=1)


def plane_plant() -> Simulation:
    """A sprout that lies on the pole and whose natural curvature is that of the pole."""
    angle = np.linspace(0.0, LENGTH, 81)
    points = CLEAR * RADIUS * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    stiff = OUT_OF_PLANE * STEM
    stiffness = Stiffness(1e3, stiff, STEM, stiff, mass_per_length=3e-3, inertia_per_length=1e-9)
    sim = plant(points, stiffness, ELEMENTS, 0.2, (0.0, 0.0, 1.0))
    sim.grow(0, SPROUT * RADIUS, (0.0, 1.0 / RADIUS, 0.0))
    return sim


def gaps(sim: Simulation) -> np.ndarray:
    """Gaps between pole and stem at all sample points, in radii of the pole."""
    x = sim.blocks[0].positions()
    return np.asarray(np.hypot(x[:, 0], x[:, 1]) / RADIUS - 1.0)


def curvatures(sim: Simulation) -> np.ndarray:
    """(K, 2) at the nodes: arc length and curvature, both in units of the pole."""
    state = sim.blocks[0].arrays.state  # type: ignore[attr-defined]
    s = np.concatenate([[0.0], np.cumsum(state.length)])
    return np.stack([s / RADIUS, np.hypot(state.kappa[:, 1], state.kappa[:, 2]) * RADIUS], axis=1)


class Climb(NamedTuple):
    moments: list[np.ndarray]  # positions during growth
    contact: np.ndarray  # gaps at the end of growth
    profile: np.ndarray
    largest: float  # largest natural curvature with which it holds on
    lost: np.ndarray  # positions after it has lost the pole
    lost_profile: np.ndarray
    failures: int


def climb() -> Climb:
    """Grows the plant, then increases its natural curvature until it loses the pole."""
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
    """Natural torsion for which the energy of a helix on the pole is smallest at the initial pitch, for a natural curvature; both
    in units of the pole's curvature."""
    c, s = math.cos(RISE), math.sin(RISE)
    return s * c - 2.0 * s * c * (c * c - curvature) / (SHEAR * (c * c - s * s))


class Wound(NamedTuple):
    stages: list[np.ndarray]  # positions during growth
    gaps: np.ndarray  # at the sample points at the end, in radii of the pole
    points: np.ndarray  # the sample points
    deepest: float  # penetration, in radii of the stem
    failures: int


def wind() -> Wound:
    """Grows the plant in space."""
    rise = math.tan(RISE)
    turns = 2.0 * math.pi * (LOOPS + 0.3)
    angle = np.linspace(0.0, turns, PER_LOOP * (LOOPS + 1))
    points = LOOP_CLEAR * RADIUS * np.stack([np.cos(angle), np.sin(angle), rise * angle], axis=1)
    stiffness = Stiffness(1e3, STEM, STEM, SHEAR * STEM, mass_per_length=3e-3, inertia_per_length=1e-9)
    sim = plant(points, stiffness, LOOP_ELEMENTS, 3.0 * turns * rise * RADIUS)
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
    stages = [*moments[:-1], sim.current().positions(0)]
    return Wound(stages, gaps(sim), sim.blocks[0].positions().copy(), deepest, failures)


def winding(x: np.ndarray) -> np.ndarray:
    """Number of loops around the pole, along the stem."""
    return np.asarray(np.unwrap(np.arctan2(x[:, 1], x[:, 0])) / (2.0 * math.pi))


def rises(x: np.ndarray) -> np.ndarray:
    """Pitch angle of the edges, degrees."""
    edges = np.diff(x, axis=0)
    return np.asarray(np.degrees(np.arctan2(edges[:, 2], np.hypot(edges[:, 0], edges[:, 1]))))


def run() -> Outcome:
    exact, true = threshold(), with_curvature(CLIMBING)
    found = climb()
    touching = found.contact < TOUCHING
    lifted = np.flatnonzero(~touching)
    s = np.linspace(0.0, LENGTH, len(touching))
    free = s[-1] - s[lifted[0] - 1] if len(lifted) else 0.0
    wound = wind()
    stages = wound.stages
    loops, slope = winding(stages[-1]), rises(stages[-1])
    last, first = slope[-len(slope) // LOOPS :], slope[: 3 * len(slope) // LOOPS]
    along = winding(wound.points)
    held = wound.gaps[along - along[0] < LOOPS - 1]
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
        Number.between("deepest penetration", wound.deepest, -math.inf, 0.1, "radii of the stem"),
        Number.between(
            f"largest gap from the clamp to loop {LOOPS - 1}",
            float(held.max()),
            0.0,
            TOUCHING,
            "radii of the pole",
            "it touches",
        ),
        Number.between("pitch varies in the first three loops by", float(np.ptp(first)), 0.0, 0.5, "degrees"),
        Number.between(
            "pitch varies in the last loop by", float(np.ptp(last)), 2.0, math.inf, "degrees", "near the tip"
        ),
        Number.equal("parts of steps given up", found.failures + wound.failures, 0),
    ]
    free_arc = np.linspace(0.0, true.length, 100)
    plots = [
        Plot("Curvature along the plane plant", "arc length (radii)", "curvature (of the pole's)",
             [Series(found.profile[:, 0], found.profile[:, 1], f"climbs, {CLIMBING:g}", "o-", GREEN),
              Series(LENGTH - true.length + free_arc, true.shape(free_arc)[3], "elastica", "--", GREY),
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
    caption = (
        f"Above: a plant of {ELEMENTS} elements in the plane climbs a pole up to 3.3 times the pole's curvature, and rolls up "
        f"beyond. Below: in space, {LOOP_ELEMENTS} elements grow {LOOPS} loops; the stem lies on the pole from the clamp on, "
        "and its pitch varies near the tip."
    )
    return Outcome(numbers, moments, plots, Camera((0.5, -1.0, 0.2)), columns=4, caption=caption)
