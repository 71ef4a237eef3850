"""Two bodies joined by a rod, one fifty times heavier than the other: the rod transmits torque between them (Bergou et al. 2008,
Fig. 6).

The heavy body rotates at the start, the light one is at rest. Twist oscillates between them with the angular frequency
w^2 = GJ / L (1 / I + 1 / I'), where each inertia includes a share of the small inertia of the rod; energy is conserved.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...core import Body, Box, Cylinder, Frame, Material, Rod, Scene, Simulation
from ...core.errors import Array
from .outcome import BLUE, GREEN, ORANGE, Camera, Moment, Number, Outcome, Plot, Series, Solid, Tube
from .pendulum import period

LENGTH, RADIUS, SEGMENTS = 1.0, 0.01, 30
RUBBER = Material(young_modulus=2e7, density=1100.0, poisson_ratio=0.45)
HEAVY = Cylinder(0.2, 0.1)
LIGHT = Box((0.1, 0.3, 0.05))
MASSES = (50.0, 1.0)  # kg
SPIN = 3.0  # rad/s
PERIODS, FRAMES, STEPS = 3, 24, 8  # STEPS a frame


class Exchange(NamedTuple):
    frames: list[Frame]
    time: Array
    heavy: Array  # J, kinetic energy of the bodies
    light: Array
    rod: Array  # J, all energy of the rod
    slower: Array  # rad/s: spin of the light body relative to the mean
    rate: float  # rad/s, expected angular frequency


def exchange(periods: float = PERIODS, model: str = "der") -> Exchange:
    scene = Scene(gravity=(0.0, 0.0, 0.0))
    rod = Rod.from_points(np.linspace((0, 0, 0), (LENGTH, 0, 0), SEGMENTS + 1), RADIUS, RUBBER)
    rod_id = scene.add(rod, model)
    across = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]).T  # its axis along the rod
    bodies = [
        Body(HEAVY, mass=MASSES[0], position=(-0.05, 0, 0), rotation=across, angular_velocity=(SPIN, 0, 0)),
        Body(LIGHT, mass=MASSES[1], position=(LENGTH + 0.05, 0, 0)),
    ]
    for body, where in zip(bodies, ("start", "end"), strict=True):
        scene.attach(rod_id, where, scene.add_body(body))
    turning = [
        float(np.asarray(body.rotation)[0] @ np.asarray(body.inertia) @ np.asarray(body.rotation)[0]) for body in bodies
    ]
    own = LENGTH * float(rod.inertia_per_length[0]) / 3.0
    stiffness = float(rod.twist_stiffness[0]) / LENGTH
    rate = math.sqrt(stiffness * (1.0 / (turning[0] + own) + 1.0 / (turning[1] + own)))
    sim = Simulation(scene, FRAMES * rate / (2.0 * math.pi), substeps=STEPS)
    frames = list(sim.frames(1, 1 + round(periods * FRAMES)))
    energies = np.zeros((2, len(frames)))
    spin = np.zeros(len(frames))
    for k, frame in enumerate(frames):
        for body in range(2):
            rotation, v, w = frame.body_rotation(body), frame.body_velocity(body), frame.body_angular_velocity(body)
            own_w = rotation.T @ w
            energies[body, k] = 0.5 * (MASSES[body] * v @ v + own_w @ np.asarray(bodies[body].inertia) @ own_w)
        spin[k] = frame.body_angular_velocity(1)[0]
    total = np.array([frame.report.energies.total for frame in frames])
    mean = SPIN * turning[0] / sum(turning)
    time = np.array([frame.time for frame in frames])
    return Exchange(frames, time, *energies, total - energies.sum(axis=0), spin - mean, rate)


def run(model: str = "der") -> Outcome:
    seen = exchange(PERIODS, model)
    total = seen.heavy + seen.light + seen.rod
    most = float(total[0])
    numbers = [
        Number("heavy / light body", MASSES[0] / MASSES[1]),
        Number.near("total energy, least", float(total.min()) / most, 1.0, 0.01, "of the first"),
        Number.near("total energy, most", float(total.max()) / most, 1.0, 0.01, "of the first"),
        Number.near(
            "period", period(seen.time, seen.slower), 2.0 * math.pi / seen.rate, 0.005, "s", "two bodies on a spring"
        ),
        Number.near(
            "light body, fastest", float(seen.frames[FRAMES // 2].body_angular_velocity(1)[0]), 2.0 * (seen.slower[0] * -1.0),
            0.01, "rad/s", "twice the mean",
        ),
    ]  # fmt: skip
    plot = Plot(
        "Energies",
        "time (s)",
        "J",
        [
            Series(seen.time, seen.heavy, "heavy body", "-", BLUE),
            Series(seen.time, seen.light, "light body", "-", ORANGE),
            Series(seen.time, seen.rod, "rod", "-", GREEN),
            Series(seen.time, total, "total", "--", "black"),
        ],
    )
    detail = Plot(
        "Light body and rod",
        "time (s)",
        "J",
        [Series(seen.time, seen.light, "light body", "-", ORANGE), Series(seen.time, seen.rod, "rod", "-", GREEN)],
    )
    moments = []
    for k in (0, FRAMES // 4, FRAMES // 2):
        frame = seen.frames[k]
        solids = [
            Solid(Cylinder(HEAVY.radius, HEAVY.length, frame.body_position(0), frame.body_rotation(0)), BLUE),
            Solid(Box(LIGHT.size, frame.body_position(1), frame.body_rotation(1)), ORANGE),
        ]
        tube = Tube(frame.positions(0), RADIUS, GREEN, directors=frame.directors(0))
        moments.append(Moment(f"{frame.time:.2f} s", [tube], solids))
    caption = (
        f"A rod of rubber of {LENGTH:g} m and radius {RADIUS:g} m between bodies of {MASSES[0]:g} and {MASSES[1]:g} kg; "
        f"the heavy one turns at {SPIN:g} rad/s at first. Energy goes from it through the twist of the rod to the light "
        "one, and back."
    )
    return Outcome(numbers, moments, [plot, detail], Camera((0.3, -1.0, 0.45)), columns=3, caption=caption)
