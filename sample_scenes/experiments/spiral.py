"""An elastic spiral under torsional load twists around itself (Spillmann and Teschner 2009, Fig. 4).

The paper gives no parameters. Here both ends of a helix are clamped, and one is slowly turned about the axis, against the coils.
Twisting and bending strains balance: instead of only untwisting, the coils leave the axis and begin to go around each other. It
ends before they touch. The model of the paper is compared with the implicit one of Tendril.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...core import Net, Scene, Simulation, Stiffness
from ...core.describe.rotations import rotation_about
from ...core.errors import Array
from ...core.run.simulation import Frame
from .outcome import BLUE, RED, Camera, Moment, Number, Outcome, Plot, Series, Tube
from .strands import self_gaps

COILS, PER_COIL, RADIUS, PITCH = 6, 16, 0.5, 0.35  # m
THICKNESS = 0.02  # m, radius of the section
STIFFNESS = Stiffness(2e2, 0.05, 0.05, 0.04, mass_per_length=0.002, inertia_per_length=1e-6)
RATE, TURNS = 0.25, 1.0  # turns per second, turns
DRAG = 5.0  # 1/s
MODELS = {"corde": BLUE, "net": RED}


class Load(NamedTuple):
    net: Net
    turns: Array
    energy: Array  # J, elastic
    twisting: Array  # J, of twist alone
    aside: Array  # distance of the middles of coils from the line between the clamps, in radii
    frames: list[Frame]
    failures: int


def spiral() -> Net:
    angle = 2.0 * math.pi * np.arange(COILS * PER_COIL + 1) / PER_COIL
    points = np.stack([PITCH * angle / (2.0 * math.pi), RADIUS * np.cos(angle), RADIUS * np.sin(angle)], axis=1)
    first = np.arange(len(points) - 1)
    return Net.from_edges(points, np.stack([first, first + 1], axis=1), THICKNESS, stiffness=STIFFNESS)


def loaded(model: str, turns: float = TURNS) -> Load:
    net = spiral()
    scene = Scene(gravity=(0.0, 0.0, 0.0), drag=DRAG)
    rod = scene.add(net, model)
    scene.clamp(rod, 0)
    end, centre = net.points[-1], net.points[-1] * [1.0, 0.0, 0.0]

    def turned(time: float) -> tuple[Array, Array]:
        rotation = rotation_about(np.array([1.0, 0.0, 0.0]), np.array(-2.0 * math.pi * RATE * time))
        return centre + rotation @ (end - centre), rotation

    scene.clamp(rod, len(net.points) - 1, path=turned)
    simulation = Simulation(scene)
    frames, rows, failures = [], [], 0
    for frame in simulation.frames(1, 1 + round(24.0 * turns / RATE)):
        energies = simulation.energies()
        frames.append(frame)
        rows.append((RATE * frame.time, energies.elastic, energies.twist, _aside(frame.positions(0))))
        failures += frame.report.failures
    return Load(net, *np.array(rows).T, frames, failures)


def _aside(x: Array) -> float:
    """Of the middle of each coil, in radii."""
    middles = [x[k : k + PER_COIL].mean(axis=0) for k in range(0, len(x) - PER_COIL, PER_COIL // 2)]
    return float(np.abs(np.array(middles)[:, 1:]).max()) / RADIUS


def apart(one: Load, other: Load) -> float:
    """Root mean square distance of two spirals at the end, in radii of the coils."""
    x, y = one.frames[-1].positions(0), other.frames[-1].positions(0)
    return float(np.sqrt(((x - y) ** 2).sum(axis=1).mean())) / RADIUS


def run() -> Outcome:
    found = {model: loaded(model) for model in MODELS}
    ours, theirs = found["net"], found["corde"]
    differ = np.abs(theirs.energy / np.maximum(ours.energy, 1e-9) - 1.0)[ours.turns > 0.25 * TURNS]
    numbers = [
        Number.between("difference of their shapes at the end", apart(ours, theirs), 0.0, 0.1, "radii of the coils"),
        Number.between("largest difference of their energies", float(differ.max()), 0.0, 0.05),
    ]
    for model, one in found.items():
        edges = np.linalg.norm(np.diff(one.frames[-1].positions(0), axis=0), axis=1)
        stretch = np.abs(edges / one.net.rest_lengths - 1.0).max()
        gap = min(self_gaps(frame.positions(0), THICKNESS).min() for frame in one.frames)
        share = float(one.twisting[-1] / one.energy[-1])
        numbers += [
            Number.between(f"{model}: coils leave the axis by", float(one.aside[-1]), 1.0, math.inf, "radii"),
            Number.between(f"{model}: energy of twist", share, 0.02, 0.5, "of all", "most goes into bending"),
            Number.between(f"{model}: smallest gap between coils", float(gap), 0.0, math.inf, "m", "nothing touches"),
            Number.between(f"{model}: largest stretch", float(stretch), 0.0, 0.01),
            Number.equal(f"{model}: steps given up", one.failures, 0),
        ]
    plots = [
        Plot(title, "turns", unit, [Series(o.turns, values(o), m, "-", MODELS[m]) for m, o in found.items()])
        for title, unit, values in (
            ("Elastic energy", "J", lambda o: o.energy),
            ("Coils leave the axis", "radii aside", lambda o: o.aside),
        )
    ]
    moments = [
        Moment(f"{model}, {one.turns[k]:.1f} turns", [Tube(one.frames[k].positions(0), 0.03, MODELS[model])])
        for model, one in found.items()
        for k in (0, len(one.frames) // 2, len(one.frames) - 1)
    ]
    caption = (
        f"A spiral of {COILS} coils of radius {RADIUS:g} m, EI = {STIFFNESS.bend_1:g} and GJ = {STIFFNESS.twist:g} N m², is "
        "clamped at both ends, and one is turned about its axis: twisting and bending balance, and coils begin to go around each "
        "other, with the model as published and with the implicit one alike."
    )
    return Outcome(numbers, moments, plots, Camera((0.3, -1.0, 0.35)), columns=3, caption=caption)
