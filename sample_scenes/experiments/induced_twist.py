"""Induced twist: a free rod, held at one end, is twisted at the other.

If the section at the far end may rotate, the rod rotates as a whole without twist, however fast: material frames are quasistatic.
If its frame is held but not its position, the rod stays straight up to a torque of 2 pi EI / L and then buckles. For without a
force at that end, EI w'' rotates at the rate M / EI along the rod, and w' returns to zero after a full turn.
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
PERTURBATION = 1e-6  # m, initial perturbation
FRAMES = 24
DRAG = 2.0  # 1/s
MODEL = "der2008"


def threshold() -> float:
    """Critical angle between the frames of the two ends, rad."""
    return 2.0 * math.pi / TWIST


def rod(twist: float = 0.0, segments: int = SEGMENTS) -> Rod:
    s = np.linspace(0.0, LENGTH, segments + 1)
    # Perturbed along the critical mode, whose ends are tangent to the axis.
    points = np.stack(
        [s, PERTURBATION * (1.0 - np.cos(2.0 * math.pi * s)), PERTURBATION * np.sin(2.0 * math.pi * s) * s], axis=1
    )
    stiffness = Stiffness(1e5, 1.0, 1.0, TWIST, mass_per_length=1.0, inertia_per_length=1e-3)
    return Rod.from_points(points, 0.01, stiffness=stiffness, rest="straight", twist=twist)


def leaves(twist: float, model: str = MODEL, seconds: float = 20.0) -> bool:
    """Whether a rod with this twist buckles if the frames of both ends and the position of one are held."""
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    one = rod(twist)
    scene.add(one, model)
    scene.clamp(0, "start")
    scene.orient(0, "end")
    frames = Simulation(scene, frame_rate=FRAMES, substeps=1).frames(1, 1 + round(seconds * FRAMES))
    return any(np.abs(frame.positions(0)[:, 1:]).max() > 1000.0 * PERTURBATION for frame in frames)


def critical_twist(model: str = MODEL) -> float:
    low, high = 0.9 * threshold(), 1.1 * threshold()
    while high - low > 2e-3 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if leaves(middle, model) else (middle, high)
    return 0.5 * (low + high)


class History(NamedTuple):
    rod: Rod
    frames: list[Frame]
    angle: Array
    energy: Array  # twisting energy, J


def wound(held: bool, turns: float, seconds: float) -> History:
    """Rotates the start at a constant rate; the frame at the end is held or free."""
    one = rod()
    scene = Scene(gravity=(0.0, 0.0, 0.0), drag=DRAG)
    scene.add(one, MODEL)
    scene.clamp(0, "start", spin=lambda t: -2.0 * math.pi * turns * min(t / seconds, 1.0))
    if held:
        scene.orient(0, "end")
    frames = list(Simulation(scene, frame_rate=FRAMES, substeps=1).frames(1, 1 + round(1.05 * seconds * FRAMES)))
    times = np.array([frame.time for frame in frames])
    energy = np.array([frame.report.energies.twist for frame in frames])
    return History(one, frames, 2.0 * math.pi * turns * np.minimum(times / seconds, 1.0), energy)


def run() -> Outcome:
    critical = critical_twist()
    held, free = wound(True, 2.0, 40.0), wound(False, 2.0, 2.0)
    aside = np.array([np.abs(frame.positions(0)[:, 1:]).max() for frame in held.frames])
    buckled = int(np.argmax(aside > 0.02))
    followed = math.acos(float(np.clip(free.frames[-1].directors(0)[-1] @ free.frames[0].directors(0)[-1], -1.0, 1.0)))
    numbers = [
        Number.near("critical twist of the rod with held frame", critical, threshold(), 0.01, "rad", "2π EI/GJ"),
        Number.between(
            "twist at buckling, rotated slowly",
            float(held.angle[buckled]),
            0.95 * threshold(),
            1.3 * threshold(),
            "rad",
        ),
        Number.between(
            "final / largest twisting energy",
            float(held.energy[-1] / held.energy.max()),
            0.0,
            0.01,
            says="a loop passes over the end and removes two turns",
        ),
        Number.between("largest twisting energy of the free rod", float(free.energy.max()), 0.0, 1e-15, "J", "none"),
        Number.between("lag of its far end", followed, 0.0, 1e-4, "rad", "after two turns"),
        Number.between(
            "its deflection", float(np.abs(free.frames[-1].positions(0)[:, 1:]).max()), 0.0, 10.0 * PERTURBATION, "m"
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
            "Deflection from the axis", "turns of the start", "m",
            [
                Series(turns, aside, "frame held", "-", BLUE),
                Series([threshold() / (2.0 * math.pi)] * 2, [0.0, float(aside.max())], "2π EI/GJ", "--", "#7a828e"),
            ],
        ),
        Plot(
            "Twisting energy", "turns of the start", "J",
            [
                Series(turns, held.energy, "frame held", "-", BLUE),
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
