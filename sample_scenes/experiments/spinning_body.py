"""A spinning body winds up the straight rod that it hangs from, which buckles and lifts it; then gravity unwinds the rod. A thesis
calls this scenario Wilberforce pendulum (Kirsch 2012).

A long rod under the tension T of the body's weight buckles at the torque 2 sqrt(EI T). A body that spins too slowly to wind it up
to that torque only twists it to and fro. One that spins faster is lifted whenever its spin reverses, and falls as the rod unwinds.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...core import Body, Cylinder, Frame, Rod, Scene, Simulation, Stiffness
from ...core.errors import Array
from ...core.models.published.der2008.block import Der2008Block
from .outcome import BLUE, ORANGE, RED, Camera, Moment, Number, Outcome, Plot, Series, Solid, Tube

LENGTH, RADIUS, SEGMENTS = 0.5, 0.004, 40  # m
BEND, TWIST = 1e-3, 8e-4  # N m2
MASS, INERTIA, HEIGHT = 0.05, 1e-4, 0.02  # kg, kg m2 about its axis, m
GRAVITY = 9.81
IMPERFECTION = 1e-3  # m, of the straight rod
FRAMES, CYCLES = 48, 3  # per second; reversals of the spin
SLOW, FAST = 0.95, 1.12  # spin, relative to that which winds the rod up to the critical torque
MODEL = "der2008"
WIDTH = math.sqrt(2.0 * INERTIA / MASS)  # m, radius of the body


def critical_spin() -> float:
    """rad/s, of which all energy is that of the rod twisted at the torque 2 sqrt(EI T)."""
    angle = 2.0 * math.sqrt(BEND * MASS * GRAVITY) * LENGTH / TWIST
    return angle * math.sqrt(TWIST / (LENGTH * INERTIA))


class Motion(NamedTuple):
    rod: Rod
    frames: list[Frame]
    time: Array
    lift: Array  # m
    spin: Array  # rad/s
    energy: Array  # total less that at the start, relative to that of the spin at the start

    @property
    def reversals(self) -> Array:
        """Frames before the spin changes its sign: the rod is wound up most."""
        return np.flatnonzero(np.diff(np.sign(self.spin)) != 0.0)

    def lifts(self) -> list[float]:
        """m, largest lift about each reversal."""
        middles = [0, *((self.reversals[1:] + self.reversals[:-1]) // 2), len(self.lift)]
        return [float(self.lift[a:b].max()) for a, b in pairwise(middles[: CYCLES + 1])]

    def falls(self) -> list[float]:
        """m, smallest lift between reversals."""
        ends = self.reversals[: CYCLES + 1]
        return [float(self.lift[a:b].min()) for a, b in pairwise(ends)]


def hung(relative: float, projection: str = "symplectic") -> Motion:
    """A body with a spin relative to the critical one, until it has been lifted `CYCLES` times."""
    s = np.linspace(0.0, 1.0, SEGMENTS + 1)
    bent = IMPERFECTION * np.stack([np.sin(2.0 * math.pi * s), np.cos(2.0 * math.pi * s) - 1.0], axis=1)
    rod = Rod.from_points(
        np.column_stack([bent, -LENGTH * s]), RADIUS, rest="straight",
        stiffness=Stiffness(1e4, BEND, BEND, TWIST, mass_per_length=0.02, inertia_per_length=1e-7),
    )  # fmt: skip
    spin = relative * critical_spin()
    scene = Scene(gravity=(0.0, 0.0, -GRAVITY))
    scene.add(rod, MODEL)
    scene.clamp(0, "start")
    start = (0.0, 0.0, -LENGTH - 0.5 * HEIGHT)
    body = Body(Cylinder(WIDTH, HEIGHT), mass=MASS, position=start, angular_velocity=(0.0, 0.0, spin))
    scene.attach(0, "end", scene.add_body(body))
    sim = Simulation(scene, frame_rate=FRAMES, substeps=1, threads=1)
    for block in sim.blocks:
        if isinstance(block, Der2008Block):
            block.projection = projection
    half_turn = math.pi * math.sqrt(INERTIA * LENGTH / TWIST)  # s, from one reversal to the next
    frames = list(sim.frames(1, 1 + round((CYCLES + 0.25) * half_turn * FRAMES)))
    total = np.array([frame.report.energies.total for frame in frames])
    return Motion(
        rod,
        frames,
        np.array([frame.time for frame in frames]),
        np.array([frame.body_position(0)[2] - start[2] for frame in frames]),
        np.array([frame.body_angular_velocity(0)[2] for frame in frames]),
        (total - total[0]) / (0.5 * INERTIA * spin**2),
    )


def run() -> Outcome:
    slow, fast, lossy = hung(SLOW), hung(FAST), hung(FAST, "fast")
    numbers = [
        Number("critical spin", critical_spin(), "rad/s", "torque 2 √(EI T)"),
        Number.between(
            f"lifted, {SLOW:g} times as fast", 1e3 * float(slow.lift.max()), 0.0, 2.0, "mm", "it only twists the rod"
        ),
        *(
            Number.between(f"{FAST:g} times as fast: lifted in cycle {k + 1}", 1e3 * lift, 4.0, math.inf, "mm")
            for k, lift in enumerate(fast.lifts())
        ),
        *(
            Number.between(f"falls back after cycle {k + 1} to", 1e3 * low, -math.inf, 4.0, "mm", "gravity unwinds it")
            for k, low in enumerate(fast.falls()[: CYCLES - 1])
        ),
        Number.between(
            "energy gained or lost in three cycles",
            float(np.abs(fast.energy).max()),
            0.0,
            0.05,
            "",
            "of that of the spin",
        ),
        Number("with fast projection", float(np.abs(lossy.energy).max()), "", "dissipates"),
    ]
    low = int(fast.reversals[1] + np.argmin(fast.lift[slice(*fast.reversals[1:3])]))
    shown = (0, int(np.argmax(fast.lift[: low + 1])), low, int(np.argmax(fast.lift)))
    moments = []
    for k in shown:
        frame = fast.frames[k]
        body = Cylinder(WIDTH, HEIGHT, position=frame.body_position(0), rotation=frame.body_rotation(0))
        tubes = [Tube.of(frame, 0, fast.rod), _marker(frame)]
        moments.append(Moment(f"{frame.time:.2f} s", tubes, [Solid(body)]))
    plots = [
        Plot("Height of the body", "time (s)", "mm", [
            Series(fast.time, 1e3 * fast.lift, f"{FAST:g} × critical", "-", BLUE),
            Series(slow.time, 1e3 * slow.lift, f"{SLOW:g} × critical", "-", ORANGE),
        ]),
        Plot("Spin", "time (s)", "rad/s", [Series(fast.time, fast.spin, "", "-", BLUE)]),
        Plot("Change of energy", "time (s)", "of that of the spin", [
            Series(fast.time, fast.energy, "energy-preserving projection", "-", BLUE),
            Series(lossy.time, lossy.energy, "fast projection", "-", RED),
        ]),
    ]  # fmt: skip
    caption = (
        f"{MODEL}: a spinning body winds up its rod, which buckles and lifts it until gravity unwinds the rod and the body spins "
        "the other way. The energy-preserving projection keeps the energy."
    )
    return Outcome(numbers, moments, plots, Camera((0.3, -1.0, 0.2)), caption=caption)


def _marker(frame: Frame) -> Tube:
    """A stripe on the body, which shows how far it has turned."""
    way = np.array([(0.0, 0.0, 0.5 * HEIGHT), (WIDTH, 0.0, 0.5 * HEIGHT), (WIDTH, 0.0, -0.5 * HEIGHT)])
    return Tube(frame.body_position(0) + way @ frame.body_rotation(0).T, 0.1 * WIDTH, ORANGE)
