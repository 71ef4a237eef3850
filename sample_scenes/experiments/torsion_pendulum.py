"""A disc on a wire oscillates about its axis with the frequency of a torsion spring.

The disc has the inertia I, and a third of the inertia of the wire adds to it: w^2 = GJ / (L (I + I_wire / 3)).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import curve_fit

from ...core import Body, Cylinder, Material, Rod, Scene, Simulation
from ...core.errors import Array
from .outcome import BLUE, Camera, Moment, Number, Outcome, Plot, Series, Solid, Tube

LENGTH, RADIUS = 1.0, 0.005
WIRE = Material(young_modulus=2e9, density=1000.0)
DISC = (0.05, 0.02)  # m, radius and thickness
MASS = 2.0
SPIN = 1.0  # rad/s at the start
PERIODS = 4
SEGMENTS = (4, 8, 32)


def turn(segments: int, model: str = "der") -> tuple[Array, Array, float, list[tuple[Array, Array, Array, Array]]]:
    """Times, angles of the disc, the expected angular frequency, and the states to draw: wire, directors, position and rotation
    of the disc."""
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    wire = Rod.from_points(np.linspace((0, 0, 0), (0, 0, -LENGTH), segments + 1), RADIUS, WIRE)
    rod = scene.add(wire, model)
    scene.clamp(rod, "start")
    disc = Body(Cylinder(*DISC), mass=MASS, position=(0, 0, -LENGTH - 0.5 * DISC[1]), angular_velocity=(0.0, 0.0, SPIN))
    body = scene.add_body(disc)
    scene.attach(rod, "end", body)
    own = LENGTH * float(wire.inertia_per_length[0]) / 3.0
    rate = math.sqrt(float(wire.twist_stiffness[0]) / (LENGTH * (float(np.asarray(disc.inertia)[2, 2]) + own)))
    sim = Simulation(scene, 16.0 * rate / (2.0 * math.pi), substeps=6)
    times, angles, drawn = [], [], []
    for frame in sim.frames(1, 1 + 16 * PERIODS):
        rotation = frame.body_rotation(body)
        times.append(frame.time)
        angles.append(math.atan2(rotation[1, 0], rotation[0, 0]))
        drawn.append((frame.positions(rod), frame.directors(rod), frame.body_position(body), rotation))
    return np.array(times), np.array(angles), rate, drawn


def measured_rate(times: Array, angles: Array, guess: float) -> float:
    def wave(t: Array, size: float, rate: float, decay: float) -> Array:
        return np.asarray(size * np.sin(rate * t) * np.exp(-decay * t))

    found, _ = curve_fit(wave, times, angles, p0=(float(angles.max()), guess, 0.0))
    return float(found[1])


def run() -> Outcome:
    numbers = []
    for segments in SEGMENTS:
        times, angles, rate, drawn = turn(segments)
        found = measured_rate(times, angles, rate)
        numbers.append(Number.near(f"rate, {segments} segments", found, rate, 0.005, "rad/s", "GJ / (L (I + I' / 3))"))
    plot = Plot(
        "The disc",
        "time (s)",
        "rad",
        [
            Series(times, angles, "simulated", "o", BLUE),
            Series(times, SPIN / rate * np.sin(rate * times), "formula", "-", "black"),
        ],
    )
    moments = []
    for k in (0, 4, 12):
        points, directors, position, rotation = drawn[k]
        disc = Cylinder(*DISC, position=position, rotation=rotation)
        moments.append(Moment(f"{times[k]:.2f} s", [Tube(points, RADIUS, directors=directors)], [Solid(disc)]))
    caption = (
        f"A disc of {MASS:g} kg on a wire of {LENGTH:g} m and radius {RADIUS:g} m turns about its axis, with the frequency "
        f"of a torsion spring for {SEGMENTS[0]} segments as for {SEGMENTS[-1]}."
    )
    return Outcome(numbers, moments, [plot], Camera(), columns=3, caption=caption)
