"""Trusses held at one end, with and without torsional stiffness: flat they differ much, on edge not at all.

Material, radius and size (11 m by 2 m) are those of Spillmann and Teschner 2009, Fig. 14, with stiffnesses as printed. The paper
does not describe the members; here they are diagonal, so that bending of the flat truss twists them. `net` does not allow zero
stiffness: "without torsion" means a millionth of it.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from ...core import Frame, Net, Scene, Simulation
from ...core.errors import Array
from .graphs import RADIUS, add_member, as_printed, tubes
from .outcome import BLUE, GREEN, Camera, Moment, Number, Outcome

LENGTH, WIDTH = 11.0, 2.0
CELLS, SEGMENTS = 11, 2
STIFFNESS = as_printed(200e6, 200e6, 2e9)
LOOSE = dataclasses.replace(STIFFNESS, twist=1e-6 * STIFFNESS.twist)
HEAVY = 30.0  # kg, each of the two weights


def lattice() -> tuple[Array, Array]:
    """Two rows of crosses without members along the truss."""
    points: list[tuple[float, float, float]] = []
    number: dict[tuple[int, int], int] = {}
    for i in range(2 * CELLS + 1):
        for j in range(5):
            if (i + j) % 2 == 0:
                number[i, j] = len(points)
                points.append((0.5 * i * LENGTH / CELLS, (0.25 * j - 0.5) * WIDTH, 0.0))
    edges: list[tuple[int, int]] = []
    for (i, j), k in number.items():
        for dj in (-1, 1):
            other = number.get((i + 1, j + dj))
            if other is not None:
                add_member(points, edges, k, other, points[k], points[other], SEGMENTS)
    return np.array(points), np.array(edges)


def at_rest(loose: bool, on_edge: bool, heavy: float = 0.0, model: str = "net") -> tuple[Net, Frame]:
    points, edges = lattice()
    held = np.flatnonzero(points[:, 0] < 1e-9)
    mass = np.zeros(len(points))
    if heavy:  # two weights on the free half
        mass[[int(np.argmin(np.linalg.norm(points - (x, 0.0, 0.0), axis=1))) for x in (6.0, 10.0)]] = heavy
    if on_edge:
        points = points[:, [0, 2, 1]]
    net = Net.from_edges(points, edges, RADIUS, stiffness=LOOSE if loose else STIFFNESS, point_mass=mass)
    scene = Scene()
    truss = scene.add(net, model)
    for k in held:
        scene.clamp(truss, int(k))
    sim = Simulation(scene, tolerance=1e-6)
    if not sim.settle(stable=False):
        raise RuntimeError("the truss does not come to rest")
    return net, sim.current()


def sag(net: Net, frame: Frame) -> float:
    """Sag of the free end, m."""
    end = net.points[:, 0] > LENGTH - 1e-9
    return float((net.points - frame.positions(0))[end, 2].mean())


def run() -> Outcome:
    flat, flat_loose = at_rest(False, False), at_rest(True, False)
    edge, edge_loose = at_rest(False, True), at_rest(True, True)
    heavy = at_rest(False, False, HEAVY)
    numbers = [
        Number("sag of the free end, flat", sag(*flat), "m"),
        Number.between("without torsion, flat", sag(*flat_loose) / sag(*flat), 1.5, math.inf, "times", "paper: much"),
        Number("sag of the free end, on edge", sag(*edge), "m"),
        Number.near("without torsion, on edge", sag(*edge_loose) / sag(*edge), 1.0, 1e-3, "times", "paper: the same"),
        Number.between("two heavy weights, flat", sag(*heavy) / sag(*flat), 1.2, math.inf, "times"),
    ]

    def drawn(title: str, *states: tuple[Net, Frame]) -> Moment:
        colours = (BLUE, GREEN)
        all_tubes = []
        for k, (net, frame) in enumerate(states):
            for tube in tubes(frame, 0, net, colours[k], 0.04):
                all_tubes.append(dataclasses.replace(tube, points=np.add(tube.points, (0.0, -3.0 * k, 0.0))))
        return Moment(title, all_tubes)

    moments = [
        drawn("flat: with torsion (blue), without", flat, flat_loose),
        drawn("on edge", edge, edge_loose),
        drawn("with two heavy weights", heavy),
    ]
    caption = (
        f"Trusses of {LENGTH:g} m by {WIDTH:g} m, {CELLS} cells, that carry two weights of {HEAVY:g} kg, with torsional stiffness "
        "and with a millionth of it: it matters when they lie flat, and not when they stand on edge."
    )
    return Outcome(numbers, moments, [], Camera((0.35, -1.0, 0.35)), columns=3, caption=caption)
