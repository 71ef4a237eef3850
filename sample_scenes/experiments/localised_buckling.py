"""Localised helical buckling of a twisted rod whose ends are moved together (Bergou et al. 2008, Fig. 7).

With the parameters of the paper, for a uniform mesh and for one that is refined on one side. The ends are clamped, 27 turns
apart, and approach each other; then the rod settles. The angle phi between tangent and axis converges under refinement to the
solution for an infinitely long rod (van der Heijden and Thompson, 2000),

    (cos phi - cos phi0) / (1 - cos phi0) = tanh^2(s / s*).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from ...core import Rod, Scene, Simulation, Stiffness
from ...core.errors import Array
from .outcome import BLUE, GREEN, ORANGE, RED, Camera, Moment, Number, Outcome, Plot, Series, Tube

LENGTH, BEND, TWIST = 9.29, 1.345, 0.789  # m, N m2, N m2
TURNS, SHORTENING = 27.0, 0.3
PUBLISHED = 0.919  # rad, largest deviation
DRAG = 2.0  # 1/s
APPROACH, SECONDS = 1.5, 2.5  # s
LEVELS = (75, 150, 300, 600)  # segments
MODEL = "der2008"


class Solution(NamedTuple):
    deviation: float  # phi0, rad
    width: float  # s*, m


def solution() -> Solution:
    """From two conditions: the envelope shortens the rod by 2 s* (1 - cos phi0) and reduces its twist, m L, by 2 phi0."""
    angle = 2.0 * math.pi * TURNS

    def width(deviation: float) -> float:
        rate = (angle - 2.0 * deviation) / LENGTH
        return 2.0 * BEND / (TWIST * rate * math.tan(0.5 * deviation))

    def too_short(deviation: float) -> float:
        return 2.0 * width(deviation) * (1.0 - math.cos(deviation)) - SHORTENING

    deviation = float(brentq(too_short, 0.1, 1.5))
    return Solution(deviation, width(deviation))


def mesh(segments: int, refined: bool) -> Array:
    """Arc lengths of the vertices; if `refined`, two thirds of the segments are in the first half."""
    if not refined:
        return np.linspace(0.0, LENGTH, segments + 1)
    third = segments // 3
    half = 0.5 * LENGTH
    return np.append(np.linspace(0.0, half, 2 * third + 1), np.linspace(half, LENGTH, third + 1)[1:])


class Buckled(NamedTuple):
    rod: Rod
    points: Array
    directors: Array
    s: Array  # arc length of edge midpoints relative to the centre of the pattern
    envelope: Array  # (cos phi - cos phi0) / (1 - cos phi0) there
    deviation: float  # rad, largest
    error: float  # root mean square error of the envelope over one width


def buckled(segments: int, refined: bool, model: str = MODEL) -> Buckled:
    s = mesh(segments, refined)
    points = np.zeros((len(s), 3))
    points[:, 0] = s - 0.5 * LENGTH
    points[:, 1] = 1e-3 * np.exp(-(points[:, 0] ** 2)) * np.sin(5.3 * s)
    stiffness = Stiffness(1e8, BEND, BEND, TWIST, mass_per_length=1.0, inertia_per_length=1e-3)
    rod = Rod.from_points(points, 0.01, stiffness=stiffness, rest="straight", twist=2.0 * math.pi * TURNS)
    scene = Scene(gravity=(0.0, 0.0, 0.0), drag=DRAG)
    scene.add(rod, model)
    for end, side in (("start", 1.0), ("end", -1.0)):
        place, way = points[0 if side > 0.0 else -1], np.array([0.5 * side * SHORTENING, 0.0, 0.0])
        scene.clamp(0, end, lambda t, place=place, way=way: (place + way * min(t / APPROACH, 1.0), np.eye(3)))
    sim = Simulation(scene, frame_rate=24, substeps=2, tolerance=1e-8)
    for _ in range(round(24 * SECONDS)):
        sim.step_frame()
    if not sim.settle(stable=False):
        raise RuntimeError("the rod does not come to rest")
    frame = sim.current()
    return measured(rod, frame.positions(0), frame.directors(0))


def measured(rod: Rod, points: Array, directors: Array) -> Buckled:
    deviation, width = solution()
    edges = np.diff(points, axis=0)
    phi = np.arccos(np.clip(edges[:, 0] / np.linalg.norm(edges, axis=1), -1.0, 1.0))
    s = np.cumsum(rod.rest_lengths) - 0.5 * rod.rest_lengths
    envelope = (np.cos(phi) - math.cos(deviation)) / (1.0 - math.cos(deviation))

    def error(middle: float) -> float:
        off = envelope - np.tanh((s - middle) / width) ** 2
        return math.sqrt(float(rod.rest_lengths @ off**2) / width)

    near = float(s[np.argmax(phi)])
    best = minimize_scalar(error, bounds=(near - width, near + width), method="bounded", options={"xatol": 1e-9})
    return Buckled(rod, points, directors, s - best.x, envelope, float(phi.max()), float(best.fun))


def order(levels: tuple[int, ...], errors: list[float]) -> float:
    return float(-np.polyfit(np.log(levels), np.log(errors), 1)[0])


def run() -> Outcome:
    deviation, width = solution()
    all_rods = {refined: [buckled(n, refined) for n in LEVELS] for refined in (False, True)}
    numbers = [Number.near("largest deviation by the formula", deviation, PUBLISHED, 1e-3, "rad", "the paper")]
    plots, words = [], {False: "even segments", True: "one half refined"}
    s = np.linspace(-6.0, 6.0, 400)
    for refined, rods in all_rods.items():
        coarse, fine = (rod.deviation for rod in rods[-2:])
        limit = fine + (fine - coarse) / 3.0
        errors = [rod.error for rod in rods[1:]]
        word = words[refined]
        numbers += [
            Number.near(f"largest deviation, {word}", limit, PUBLISHED, 3e-3, "rad", "extrapolated, second order"),
            Number.between(f"error of the envelope at {LEVELS[-1]}, {word}", errors[-1], 0.0, 0.02),
            Number.between(f"order of the method, {word}", order(LEVELS[1:], errors), 1.8, 2.2),
        ]
        series = [
            Series(rod.s / width, rod.envelope, f"{n}", "o", colour)
            for n, rod, colour in zip(LEVELS, rods, (RED, ORANGE, GREEN, BLUE), strict=True)
        ]
        series = [Series(x.x[np.abs(x.x) < 6.0], x.y[np.abs(x.x) < 6.0], x.label, ".", x.colour) for x in series]
        series.append(Series(s, np.tanh(s) ** 2, "tanh²(s/s*)", "-", "#2b2f36"))
        plots.append(Plot(f"Envelope, {word}", "s / s*", "(cos φ − cos φ₀) / (1 − cos φ₀)", series))
    moments = []
    for refined, rods in all_rods.items():
        rod = rods[-2]
        tube = Tube(rod.points, 0.05, directors=rod.directors)
        moments.append(Moment(f"{LEVELS[-2]} segments, {words[refined]}", [tube]))
    caption = (
        f"A naturally straight, isotropic rod, clamped, turned by {TURNS:g} turns, its ends moved together by {SHORTENING:g}: "
        f"L = {LENGTH:g}, α = {BEND:g}, β = {TWIST:g}. It buckles into a helix of modulated amplitude, whose envelope converges to "
        "the analytical one, for even segments and where one half of the rod is twice as refined as the other."
    )
    return Outcome(numbers, moments, plots, Camera((0.0, -1.0, 0.12)), columns=2, caption=caption)
