"""A chain of elastic rings hangs from its first one (Spillmann and Teschner 2009, Fig. 1).

Each ring is a closed net of its own; only contact holds the chain together. The paper gives no parameters.
"""

from __future__ import annotations

import math

import numpy as np

from ...core import Frame, Material, Net, Scene, Simulation
from ...core.errors import Array
from ...core.maths.geometry.linking import linking_number
from .graphs import tubes
from .outcome import BLUE, ORANGE, Camera, Moment, Number, Outcome, Plot, Series
from .overlap import of_rods

RINGS, SEGMENTS = 6, 24
SIZE, RADIUS = 0.1, 0.008
MATERIAL = Material(1e7, 1200.0, damping_time=2e-3)
SECONDS = 3.0


def ring(k: int) -> Array:
    """Points of ring k, which is linked with ring k - 1 and perpendicular to it."""
    angle = 2.0 * math.pi * np.arange(SEGMENTS) / SEGMENTS + math.pi / 2
    side, up = SIZE * np.cos(angle), SIZE * np.sin(angle)
    x, y = (side, 0.0 * side) if k % 2 == 0 else (0.0 * side, side)
    return np.stack([x, y, up - 1.55 * SIZE * k], axis=1)


def simulation() -> tuple[list[Net], Simulation]:
    scene = Scene(rod_contact=True, drag=0.5)
    nets = [Net.from_curves([ring(k)], RADIUS, MATERIAL, closed=True) for k in range(RINGS)]
    for net in nets:
        scene.add(net, velocity=(0.3, 0.0, 0.0), friction=0.3)
    scene.pin(0, 0)
    return nets, Simulation(scene)


def run() -> Outcome:
    nets, sim = simulation()
    frames = list(sim.frames(1, 1 + round(24 * SECONDS)))
    links = [_links(frame) for frame in frames]
    last = frames[-1]
    closed = [[np.concatenate([x, x[:1]]) for x in (frame.positions(k) for k in range(RINGS))] for frame in frames]
    overlap = max(of_rods(x[k], RADIUS, x[k + 1], RADIUS) for x in closed for k in range(RINGS - 1))
    long = float(last.positions(0)[:, 2].max() - last.positions(RINGS - 1)[:, 2].min())
    inner = 2.0 * (SIZE - RADIUS)
    numbers = [
        Number.equal("frames in which all rings are linked", sum(all(of) for of in links), len(frames)),
        Number.between("deepest overlap in any frame", max(0.0, overlap) / RADIUS, 0.0, 0.05, "radii"),
        Number.between(
            "length of the chain over that of stiff rings", long / (RINGS * inner + 2.0 * RADIUS), 0.98, 1.4, "", "taut"
        ),
        Number.equal("steps given up", sum(frame.report.failures for frame in frames), 0),
    ]
    moments = [
        Moment(
            f"{frames[k].time:.1f} s",
            [tube for i, net in enumerate(nets) for tube in tubes(frames[k], i, net, (BLUE, ORANGE)[i % 2])],
        )
        for k in (0, 12, 36, len(frames) - 1)
    ]
    times = [frame.time for frame in frames]
    sway = [float(frame.positions(RINGS - 1)[:, 0].mean()) for frame in frames]
    caption = (
        f"{RINGS} elastic rings of radius {SIZE:g} m and thickness {RADIUS:g} m, E = {MATERIAL.young_modulus:g} Pa, are linked. "
        f"The highest is held; the chain falls taut and sways for {SECONDS:g} s."
    )
    return Outcome(
        numbers,
        moments,
        [Plot("The lowest ring", "time (s)", "to the side (m)", [Series(times, sway)])],
        Camera((0.6, -1.0, 0.25)),
        caption=caption,
    )


def _links(frame: Frame) -> list[bool]:
    return [abs(round(linking_number(frame.positions(k), frame.positions(k + 1)))) == 1 for k in range(RINGS - 1)]
