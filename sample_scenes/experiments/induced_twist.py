"""Induced twist: a free rod, one end held, is twisted at the other.

If the section at the far end may turn, the rod turns as a whole and has no twist, however fast it is turned: material frames are
quasistatic. If its frame is held, and its place is not, the rod stays straight up to a torque of 2 pi EI / L and then leaves its
axis. For with no force at that end, EI w'' turns at the rate M / EI along the rod, and w' comes back to zero after a whole turn.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...core import Rod, Scene, Simulation, Stiffness
from ...core.errors import Array
from ...core.run.simulation import Frame
from .outcome import BLUE, RED, Camera, Moment, Number, Outcome, Plot, Series, Tube

LENGTH, SEGMENTS = 1.0, 60
TWIST = 0.7  # GJ, N m2; EI is 1
UNEVEN = 1e-6  # m, from its axis at the start
FRAMES = 24
DRAG = 2.0  # 1/s
MODEL = "der2008"


def threshold() -> float:
    """Angle between the frames of the two ends."""
    return 2.0 * math.pi / TWIST


def rod(twist: float = 0.0, segments: int = SEGMENTS) -> Rod:
    s = np.linspace(0.0, LENGTH, segments + 1)
    # Somewhat along the mode that grows first, which begins and ends along the axis.
    points = np.stack([s, UNEVEN * (1.0 - np.cos(2.0 * math.pi * s)), UNEVEN * np.sin(2.0 * math.pi * s) * s], axis=1)
    made_of = Stiffness(1e5, 1.0, 1.0, TWIST, mass_per_length=1.0, inertia_per_length=1e-3)
    return Rod.from_points(points, 0.01, stiffness=made_of, rest="straight", twist=twist)


def leaves(twist: float, model: str = MODEL, seconds: float = 20.0) -> bool:
    """Whether a rod with so much twist leaves its axis: frames of both ends are held, and the place of one."""
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    one = rod(twist)
    scene.add(one, model)
    scene.clamp(0, "start")
    scene.orient(0, "end")
    frames = Simulation(scene, frame_rate=FRAMES, substeps=1).frames(1, 1 + round(seconds * FRAMES))
    return any(np.abs(frame.positions(0)[:, 1:]).max() > 1000.0 * UNEVEN for frame in frames)


def critical_twist(model: str = MODEL) -> float:
    low, high = 0.9 * threshold(), 1.1 * threshold()
    while high - low > 2e-3 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if leaves(middle, model) else (middle, high)
    return 0.5 * (low + high)


class Course(NamedTuple):
    rod: Rod
    frames: list[Frame]
    angle: Array
    energy: Array  # of twist, J


def wound(held: bool, turns: float, seconds: float) -> Course:
    """Turned evenly at its start; at its end the frame is held or free."""
    one = rod()
    scene = Scene(gravity=(0.0, 0.0, 0.0), drag=DRAG)
    scene.add(one, MODEL)
    scene.clamp(0, "start", spin=lambda t: -2.0 * math.pi * turns * min(t / seconds, 1.0))
    if held:
        scene.orient(0, "end")
    frames = list(Simulation(scene, frame_rate=FRAMES, substeps=1).frames(1, 1 + round(1.05 * seconds * FRAMES)))
    times = np.array([frame.time for frame in frames])
    energy = np.array([frame.report.energies.twist for frame in frames])
    return Course(one, frames, 2.0 * math.pi * turns * np.minimum(times / seconds, 1.0), energy)


def run() -> Outcome:
    critical = critical_twist()
    held, free = wound(True, 2.0, 40.0), wound(False, 2.0, 2.0)
    aside = np.array([np.abs(frame.positions(0)[:, 1:]).max() for frame in held.frames])
    buckled = int(np.argmax(aside > 0.02))
    followed = math.acos(float(np.clip(free.frames[-1].directors(0)[-1] @ free.frames[0].directors(0)[-1], -1.0, 1.0)))
    numbers = [
        Number.near("twist at which the held rod leaves its axis", critical, threshold(), 0.01, "rad", "2π EI/GJ"),
        Number.between(
            "twist when it has, turned slowly", float(held.angle[buckled]), 0.95 * threshold(), 1.3 * threshold(), "rad"
        ),
        Number.between(
            "its energy of twist at last, of the largest",
            float(held.energy[-1] / held.energy.max()),
            0.0,
            0.01,
            says="a loop goes over the end: two turns are none",
        ),
        Number.between("energy of twist of the free rod, at most", float(free.energy.max()), 0.0, 1e-15, "J", "none"),
        Number.between("its far end lags behind by", followed, 0.0, 1e-4, "rad", "after two turns"),
        Number.between(
            "it leaves its axis by", float(np.abs(free.frames[-1].positions(0)[:, 1:]).max()), 0.0, 10.0 * UNEVEN, "m"
        ),
    ]
    shown = [0, buckled, int(np.argmax(aside)), len(held.frames) - 1]
    moments = [
        Moment(f"{held.angle[k] / (2.0 * math.pi):.2f} turns", [Tube.of(held.frames[k], 0, held.rod, radius=0.015)])
        for k in shown
    ]
    turns = held.angle / (2.0 * math.pi)
    plots = [
        Plot(
            "Away from the axis", "turns of the start", "m",
            [
                Series(turns, aside, "frame of the end held", "-", BLUE),
                Series([threshold() / (2.0 * math.pi)] * 2, [0.0, float(aside.max())], "2π EI/GJ", "--", "#7a828e"),
            ],
        ),
        Plot(
            "Energy of twist", "turns of the start", "J",
            [
                Series(turns, held.energy, "frame of the end held", "-", BLUE),
                Series(free.angle / (2.0 * math.pi), free.energy, "free", "-", RED),
            ],
        ),
    ]  # fmt: skip
    caption = (
        "A naturally straight rod, clamped at one end. Where the frame of its other end is held and its place is free, it stays "
        "straight until its torque is 2π EI/L, then buckles and throws a loop over its end, which undoes two turns; where the "
        "frame is free, it turns as a whole, without any twist."
    )
    return Outcome(numbers, moments, plots, Camera((0.2, -1.0, 0.4)), caption=caption)
