"""A spinning disc whose axle hangs by one end from a string."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from tendril.core import Body, Cylinder, Rod, Scene, Simulation, Stiffness

from .cases import Case
from .mechanics_cases import mechanics_runs

STRING = 0.5  # m
STRETCH = 1e4  # N
THICKNESS = 0.02  # m
FRAME_RATE = 24.0


@pytest.mark.parametrize(("case", "model"), mechanics_runs("gyroscope"))
def test_gyroscope(case: Case, model: str) -> None:
    """The start is the steady motion: the precession of the formula, with the string inclined so that it carries the centripetal
    force."""
    p = case.parameters
    rate, mass, arm, gravity = case.expected["precession"], p["mass"], p["arm"], p["gravity"]
    radius = math.sqrt(2.0 * p["inertia"] / mass)

    def unbalanced(out: float) -> float:
        """Horizontal force balance of the disc, by its weight, if the string's end is this far from the vertical."""
        return rate**2 * (out + arm) / gravity - out / math.sqrt(STRING**2 - out**2)

    out = brentq(unbalanced, 0.0, 0.5 * STRING)
    end = np.array([out, 0.0, -math.sqrt(STRING**2 - out**2)])
    center = end + np.array([arm, 0.0, 0.0])
    tension = mass * gravity * STRING / -end[2]

    def measure(steps: int) -> dict[str, float]:
        points = np.linspace((0.0, 0.0, 0.0), end, 5)
        made_of = Stiffness(STRETCH, 1e-4, 1e-4, 1e-4, mass_per_length=1e-4, inertia_per_length=1e-9)
        string = Rod.from_points(points, 1e-3, stiffness=made_of, rest=points / (1.0 + tension / STRETCH))
        turning = np.array([0.0, 0.0, rate])
        scene = Scene(gravity=(0.0, 0.0, -gravity))
        scene.add(string, model, velocity=np.cross(turning, points))
        scene.pin(0, "start")
        across = mass * (radius**2 / 4.0 + THICKNESS**2 / 12.0)
        disc = Body(
            Cylinder(radius, THICKNESS),
            mass=mass,
            inertia=np.diag([across, across, p["inertia"]]),
            position=center,
            rotation=[[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]],  # axle along x
            velocity=np.cross(turning, center),
            angular_velocity=turning + np.array([p["spin"], 0.0, 0.0]),
        )
        scene.attach(0, "end", scene.add_body(disc), kind="ball")
        sim = Simulation(scene, FRAME_RATE, substeps=round(steps / FRAME_RATE), tolerance=1e-6, threads=1)
        frames = list(sim.frames(1, 1 + round(FRAME_RATE)))
        axles = np.array([frame.body_rotation(0)[:, 2] for frame in frames])
        assert np.abs(axles[:, 2]).max() < 5e-3  # the axle stays level
        angles = np.unwrap(np.arctan2(axles[:, 1], axles[:, 0]))
        return {"precession": float(np.polyfit([frame.time for frame in frames], angles, 1)[0])}

    case.check(model, measure)
