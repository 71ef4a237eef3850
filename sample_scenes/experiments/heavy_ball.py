"""A ball of 100 kg on a rope of ten grams, at 24 frames per second: it hangs at rest, and swings with the period of a pendulum.

The period is that of a rigid ball about the upper end of the rope, (I + M l^2) / (M g l), at a finite angle; the rope, ten
thousand times lighter, does not change it.
"""

from __future__ import annotations

import math

import numpy as np

from ...core import Body, Frame, Material, Rod, Scene, Simulation, Sphere
from ...core.errors import Array
from .outcome import BLUE, Camera, Moment, Number, Outcome, Plot, Series, Solid, Tube
from .pendulum import period

MASS, BALL = 100.0, 0.15  # kg, m
LENGTH = 2.0
FIBRE = Material(young_modulus=100e9, density=1440.0)  # aramid
ROPE = math.sqrt(0.010 / (FIBRE.density * math.pi * LENGTH))  # m: radius of a rope of ten grams
SEGMENTS = 40
ANGLE = 0.3  # rad
FRAME_RATE = 24.0


def hang(angle: float, seconds: float) -> tuple[list[Frame], float, int]:
    """Frames of a scene of one rope and one ball, the mass of the rope, kg, and the number of substeps."""
    down = np.array([math.sin(angle), 0.0, -math.cos(angle)])
    area = math.pi * ROPE**2
    stretch = 1.0 + MASS * 9.81 * math.cos(angle) / (FIBRE.young_modulus * area)
    points = np.linspace((0, 0, 0), LENGTH * stretch * down, SEGMENTS + 1)
    rope = Rod.from_points(points, ROPE, FIBRE, rest=points / stretch)
    scene = Scene()
    rod = scene.add(rope)
    scene.pin(rod, "start")
    ball = scene.add_body(Body(Sphere(BALL), mass=MASS, position=(LENGTH * stretch + BALL) * down))
    scene.attach(rod, "end", ball)
    sim = Simulation(scene, FRAME_RATE)
    frames = list(sim.frames(1, 1 + round(seconds * FRAME_RATE)))
    return frames, float((rope.mass_per_length * rope.rest_lengths).sum()), sim.substeps


def expected_period(arm: float) -> float:
    """Period of a rigid pendulum at finite amplitude, by the arithmetic-geometric mean."""
    about = 0.4 * MASS * BALL**2 + MASS * arm**2
    a, b = 1.0, math.cos(0.5 * ANGLE)
    for _ in range(5):
        a, b = 0.5 * (a + b), math.sqrt(a * b)
    return 2.0 * math.pi * math.sqrt(about / (MASS * 9.81 * arm)) / a


def positions_of_ball(frames: list[Frame]) -> Array:
    return np.array([frame.body_position(0) for frame in frames])


def run() -> Outcome:
    still, rope, substeps = hang(0.0, 5.0)
    swinging, _, _ = hang(ANGLE, 15.0)
    at = positions_of_ball(still)
    x = positions_of_ball(swinging)
    times = np.array([frame.time for frame in swinging])
    arm = float(np.linalg.norm(x, axis=1).mean())
    energy = np.array([frame.report.energies.total for frame in swinging])
    swing = MASS * 9.81 * arm * (1.0 - math.cos(ANGLE))
    numbers = [
        Number("ball / rope", MASS / rope),
        Number("steps a frame", substeps),
        Number.between("farthest from where it hangs", 1e3 * float(np.abs(at - at[0]).max()), 0.0, 0.1, "mm", "still"),
        Number.near("period", period(times, x[:, 0]), expected_period(arm), 0.005, "s", "rigid pendulum"),
        Number.between(
            "energy lost in 15 s", float(energy[0] - energy[-1]) / swing, -0.001, 0.02, "", "of the swing's"
        ),
        Number.equal("steps given up", sum(f.report.failures for f in (*still, *swinging)), 0),
    ]
    plot = Plot("The ball", "time (s)", "m", [Series(times, x[:, 0], "to the side", "-", BLUE)])
    moments = []
    for k in (0, 17, 34):
        frame = swinging[k]
        ball = Sphere(BALL, position=frame.body_position(0))
        moments.append(Moment(f"{frame.time:.2f} s", [Tube(frame.positions(0), 0.006)], [Solid(ball)]))
    caption = (
        f"A ball of {MASS:g} kg on a rope of {LENGTH:g} m and ten grams, in {SEGMENTS} segments and {FRAME_RATE:g} frames "
        f"per second: ten thousand times its mass. Released at {ANGLE:g} rad, it swings with the period of a rigid "
        "pendulum."
    )
    return Outcome(numbers, moments, [plot], Camera((0.0, -1.0, 0.1)), columns=3, caption=caption)
