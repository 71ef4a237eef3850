"""Motion that nothing damps, with the stiffness of real materials."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from tendril.core import Material, Rod, Scene, Simulation

STEEL = Material(2e11, 7850.0)
RATE = 24.0  # frames/s


class Spin(NamedTuple):
    left: float  # angular momentum, as a fraction of that at the start
    fallbacks: int
    halvings: int


def spinning_stick(model: str, turns: float, substeps: int = 4) -> Simulation:
    """A free steel rod of 0.5 m and 8 mm across that spins about its middle, in turns/s."""
    x = np.linspace(-0.25, 0.25, 21)
    zero, scene = np.zeros_like(x), Scene(gravity=(0.0, 0.0, 0.0))
    rod = Rod.from_points(np.stack([x, zero, zero], axis=1), radius=0.004, material=STEEL)
    scene.add(rod, model, velocity=np.stack([zero, 2.0 * np.pi * turns * x, zero], axis=1))
    return Simulation(scene, RATE, substeps=substeps, threads=1)


def spin_left(model: str, turns: float, seconds: float) -> Spin:
    sim, fallbacks, halvings = spinning_stick(model, turns), 0, 0
    start = _turning(sim)
    for _ in range(round(RATE * seconds)):
        report = sim.step_frame().report
        fallbacks, halvings = fallbacks + report.fallbacks, halvings + report.halvings
    return Spin(_turning(sim) / start, fallbacks, halvings)


def _turning(sim: Simulation) -> float:
    frame = sim.current()
    x, v = frame.positions(0), frame.velocities(0)
    return float(np.cross(x - x.mean(axis=0), v)[:, 2].sum())


def pendulum(model: str, preset: str, substeps: int = 4, angle: float = 57.0) -> Simulation:
    """A rope of 1 m, pinned at its start and released in a straight line, degrees from the vertical."""
    a, s = np.radians(angle), np.linspace(0.0, 1.0, 41)
    material = replace(Material.preset(preset), damping_time=0.0, swing_time=0.0, shear_modulus=None)
    scene = Scene()
    points = np.stack([np.sin(a) * s, 0.0 * s, -np.cos(a) * s], axis=1)
    scene.pin(scene.add(Rod.from_points(points, radius=0.005, material=material), model), "start")
    return Simulation(scene, RATE, substeps=substeps, threads=1)


def energies_left(model: str, preset: str, substeps: int, seconds: float) -> np.ndarray:
    """Energy of a pendulum above that of the rope hanging at rest after each frame, as a fraction of that at the start."""
    sim = pendulum(model, preset, substeps)
    start = sim.energies().total
    lowest = start / np.cos(np.radians(57.0))
    found = [sim.step_frame().report.energies.total for _ in range(round(RATE * seconds))]
    return (np.array(found) - lowest) / (start - lowest)


def place_after(sim: Simulation, frames: int) -> np.ndarray:
    for _ in range(frames):
        frame = sim.step_frame()
    return np.asarray(frame.positions(0))
