"""Michell's instability: a ring of a naturally straight rod, closed with a twist, leaves its plane if the twist is too large.

As in the paper, rings that are almost flat are let go, for several twisting stiffnesses and twists: below the threshold
2 pi sqrt(3) EI/GJ they swing about their plane, above they leave it. For three of the stiffnesses the threshold is narrowed down.
"""

from __future__ import annotations

import math

import numpy as np

from ...core import Rod, Scene, Simulation, Stiffness
from ...core.geometry.linking import total_twist, writhe
from .outcome import BLUE, RED, Camera, Moment, Number, Outcome, Plot, Series, Tube

SEGMENTS = 100
UNEVEN = 1e-3  # m, from its plane at the start; the ring's radius is 1 m
LEFT = 4.0  # times farther than at the start: it has left its plane
SECONDS = 20.0
FRAMES = 8  # per second
STIFFNESSES = (0.5, 0.75, 1.0, 1.25, 1.5, 2.0)  # GJ, N m2; EI is 1
NARROWED = (0.5, 1.0, 2.0)  # of these, the threshold to a tenth of a per cent
TWISTS = (2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 18.0, 20.0, 22.0, 24.0)  # rad
SHOWN = (4.0, 6.0, 6.5, 6.75)  # s; soon after the last it would touch itself
TURNS = 2.0  # of the ring that is shown; whole ones, so that its stripes close


def threshold(twist_stiffness: float) -> float:
    return 2.0 * math.pi * math.sqrt(3.0) / twist_stiffness


def ring(twist_stiffness: float, twist: float) -> Rod:
    angle = 2.0 * math.pi * np.arange(SEGMENTS) / SEGMENTS
    points = np.stack([np.cos(angle), np.sin(angle), UNEVEN * np.cos(2.0 * angle)], axis=1)
    made_of = Stiffness(1e5, 1.0, 1.0, twist_stiffness, mass_per_length=1.0, inertia_per_length=1e-2)
    return Rod.from_points(points, radius=0.05, stiffness=made_of, closed=True, rest="straight", twist=twist)


def simulation(one: Rod) -> Simulation:
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    scene.add(one)
    return Simulation(scene, frame_rate=FRAMES, substeps=2)


def leaves(one: Rod) -> bool:
    """Whether it leaves its plane before the time is over."""
    frames = simulation(one).frames(1, 1 + round(SECONDS * FRAMES))
    return any(np.abs(frame.positions(0)[:, 2]).max() > LEFT * UNEVEN for frame in frames)


def critical_twist(twist_stiffness: float) -> float:
    """The least twist with which a ring leaves its plane, to a tenth of a per cent."""
    low, high = 0.8 * threshold(twist_stiffness), 1.2 * threshold(twist_stiffness)
    while high - low > 1e-3 * high:
        middle = 0.5 * (low + high)
        if leaves(ring(twist_stiffness, middle)):
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)


def run() -> Outcome:
    cases = [(stiffness, twist) for stiffness in STIFFNESSES for twist in TWISTS]
    gone = np.array([leaves(ring(*case)) for case in cases])
    expected = np.array([twist > threshold(stiffness) for stiffness, twist in cases])
    critical = {stiffness: critical_twist(stiffness) for stiffness in NARROWED}

    buckling = ring(1.0, 2.0 * math.pi * TURNS)
    times, twists, writhes, moments = [], [], [], []
    for frame in simulation(buckling).frames(1, 1 + round(max(SHOWN) * FRAMES)):
        times.append(frame.time)
        twists.append(total_twist(frame.positions(0), frame.directors(0)))
        writhes.append(writhe(frame.positions(0)))
        if frame.time in SHOWN:
            moments.append(Moment(f"{frame.time:g} s", [Tube.of(frame, 0, buckling)]))

    numbers = [
        Number.equal("rings that do as the formula says", int((gone == expected).sum()), len(cases)),
        *(
            Number.near(f"critical twist, GJ/EI = {k:g}", value, threshold(k), 0.01, "rad", "2π√3 EI/GJ")
            for k, value in critical.items()
        ),
        Number.between("writhe in the last picture", writhes[-1], 0.5, 1.0, "turns", "it is nearly a figure eight"),
        Number.near("twist + writhe there", twists[-1] + writhes[-1], TURNS, 1e-6, "turns", "no motion changes it"),
    ]
    stiffnesses = np.linspace(0.45, 2.1, 100)
    dots = [
        np.array([case for case, left in zip(cases, gone, strict=True) if left == which]) for which in (False, True)
    ]
    domain = Plot(
        "Where the flat ring is stable",
        "GJ/EI",
        "twist (rad)",
        [
            Series(stiffnesses, [threshold(k) for k in stiffnesses], "2π√3 EI/GJ", "-", "#2b2f36"),
            Series(dots[0][:, 0], dots[0][:, 1], "swings about its plane", "o", BLUE),
            Series(dots[1][:, 0], dots[1][:, 1], "leaves it", "o", RED),
        ],
    )
    exchange = Plot(
        f"Twisted by {TURNS:g} turns, GJ/EI = 1: {2.0 * math.pi * TURNS / threshold(1.0):.2f} of the threshold",
        "time (s)",
        "turns",
        [
            Series(times, twists, "twist", "-", BLUE),
            Series(times, writhes, "writhe", "-", RED),
            Series(times, np.add(twists, writhes), "sum", "--", "#7a828e"),
        ],
    )
    return Outcome(numbers, moments, [domain, exchange], Camera((0.35, -1.0, 0.7)))
