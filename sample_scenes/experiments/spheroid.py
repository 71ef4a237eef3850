"""A spheroid of four rods whose poles are rotated against each other until it is a figure of eight (Spillmann and Teschner 2009,
Fig. 13).

The paper gives no parameters. Here the rods are half circles, joined at both poles, which keep their positions while one is
rotated.
"""

from __future__ import annotations

import math

import numpy as np

from ...core import Material, Net, Scene, Simulation
from ...core.errors import Array
from .graphs import tubes
from .outcome import Camera, Moment, Number, Outcome, Plot, Series

RODS, SEGMENTS = 4, 24
RADIUS = 0.01
MATERIAL = Material(2e8, 1300.0, damping_time=0.02)
TURN = math.radians(330.0)
SECONDS, REST = 8.0, 1.0


def spheroid() -> tuple[Array, Array]:
    """Points (both poles, then rod by rod) and segments."""
    points = [(0.0, 0.0, -1.0), (0.0, 0.0, 1.0)]
    edges = []
    for k in range(RODS):
        around = 2.0 * math.pi * k / RODS
        last = 0
        for s in range(1, SEGMENTS):
            along = math.pi * s / SEGMENTS
            r = math.sin(along)
            points.append((r * math.cos(around), r * math.sin(around), -math.cos(along)))
            edges.append((last, len(points) - 1))
            last = len(points) - 1
        edges.append((last, 1))
    return np.array(points), np.array(edges)


def simulation() -> tuple[Net, Simulation]:
    points, edges = spheroid()
    net = Net.from_edges(points, edges, RADIUS, MATERIAL)
    scene = Scene(gravity=(0.0, 0.0, 0.0), drag=0.5, rod_contact=True)
    k = scene.add(net, friction=0.0)
    scene.clamp(k, 0)

    def turned(t: float) -> Array:
        angle = TURN * min(1.0, t / SECONDS)
        c, s = math.cos(angle), math.sin(angle)
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])

    scene.clamp(k, 1, path=lambda t: ((0.0, 0.0, 1.0), turned(t)))
    return net, Simulation(scene)


def waist(x: Array) -> float:
    """Mean distance of the middles of the rods from the axis, m."""
    middles = x[2:].reshape(RODS, SEGMENTS - 1, 3)[:, (SEGMENTS - 1) // 2]
    return float(np.linalg.norm(middles[:, :2], axis=1).mean())


def run() -> Outcome:
    net, sim = simulation()
    frames = list(sim.frames(1, 1 + round(24 * (SECONDS + REST))))
    angles = np.degrees(TURN) * np.minimum(1.0, np.array([frame.time for frame in frames]) / SECONDS)
    waists = np.array([waist(frame.positions(0)) for frame in frames])
    energies = np.array([frame.report.energies.elastic for frame in frames])
    last = frames[-1].positions(0)
    rods = last[2:].reshape(RODS, SEGMENTS - 1, 3)
    radii = np.linalg.norm(rods[:, :, :2], axis=2)
    failures = sum(frame.report.failures for frame in frames)
    stretched = max(
        float(
            np.abs(
                np.linalg.norm(np.diff(f.positions(0)[net.edges], axis=1)[:, 0], axis=1) / net.rest_lengths - 1.0
            ).max()
        )
        for f in frames
    )
    numbers = [
        Number.near("waist at the start", waists[0], 1.0, 0.01, "m"),
        Number.between("waist at the end", waists[-1], RADIUS, 0.1, "m", "eight-shaped"),
        Number.between("largest radius above and below the waist", float(radii.mean(axis=0).max()), 0.25, 1.0, "m"),
        Number.between(
            "largest decrease of energy during the rotation", _largest_fall(energies), 0.0, 0.05, "of the final energy"
        ),
        Number.between("largest stretch of a segment", stretched, 0.0, 0.02),
        Number.equal("failed steps", failures, 0),
    ]
    shown = [int(np.searchsorted(angles, a)) for a in (0.0, 110.0, 220.0, 329.9)]
    moments = [Moment(f"{angles[k]:.0f}°", tubes(frames[k], 0, net, radius=0.03)) for k in shown]
    plots = [
        Plot("Waist", "turn (degrees)", "m", [Series(angles, waists)]),
        Plot("Elastic energy", "turn (degrees)", "J", [Series(angles, energies)]),
    ]
    caption = (
        f"A cage of {RODS} half circles of radius 1 m, of rods of radius {RADIUS:g} m, joined at the poles. One pole is turned by "
        f"{math.degrees(TURN):.0f}°, and the cage becomes a figure of eight."
    )
    return Outcome(numbers, moments, plots, Camera((0.5, -1.0, 0.3)), caption=caption)


def _largest_fall(energies: Array) -> float:
    highest = np.maximum.accumulate(energies)
    return float((highest - energies).max() / energies[-1])
