"""The workloads as data, and how their outcomes are measured: the same for every program.

Read by the peers' scripts in their own environment: needs numpy and scipy alone.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from ..exact import cantilever_tip, michell_twist

GRAVITY = 9.81
FRAMES_PER_SECOND = 24


@dataclass(frozen=True)
class Cord:
    """A straight round rod, in SI units."""

    length: float
    radius: float
    young: float
    poisson: float
    density: float
    segments: int

    @property
    def shear(self) -> float:
        return self.young / (2.0 * (1.0 + self.poisson))

    @property
    def area(self) -> float:
        return math.pi * self.radius**2

    @property
    def bend(self) -> float:
        return self.young * math.pi * self.radius**4 / 4.0

    @property
    def twist(self) -> float:
        return self.shear * math.pi * self.radius**4 / 2.0

    @property
    def stretch(self) -> float:
        return self.young * self.area

    @property
    def mass_per_length(self) -> float:
        return self.density * self.area

    @property
    def edge(self) -> float:
        return self.length / self.segments


# W1: clamped level, falls to rest. The drag is close to critical for the slowest swing, so that 2 s are enough.
CANTILEVER = Cord(length=1.0, radius=5e-3, young=1e6, poisson=0.5, density=1000.0, segments=50)
CANTILEVER_SECONDS = 2.0
CANTILEVER_DRAG = 7.0  # 1/s

# W2: pinned at one end, released level, undamped.
ROPE = Cord(length=2.0, radius=5e-3, young=1e7, poisson=0.5, density=1000.0, segments=100)
ROPE_SECONDS = 5.0

# W3: hanging strands, clamped at roots that shake sideways.
HAIR = Cord(length=0.25, radius=40e-6, young=3.9e9, poisson=0.37, density=1300.0, segments=25)
STRANDS = 1000
SHAKE_AMPLITUDE = 0.05  # m
SHAKE_FREQUENCY = 1.0  # Hz

# W4: closed from a straight rod, twisted. The ratio to the exact twist depends on neither size nor stiffness.
RING = Cord(length=1.0, radius=8e-3, young=1e6, poisson=0.5, density=1000.0, segments=60)


def tip_error_percent(out: float, height: float) -> float:
    """How far the tip of W1 is from where it belongs, in percent of the rod's length."""
    cord = CANTILEVER
    exact = cantilever_tip(cord.length, cord.bend, cord.mass_per_length * GRAVITY, cord.stretch)
    return 100.0 * math.dist((out, height), exact) / cord.length


def shifted_clamp(cord: Cord) -> tuple[float, float]:
    """Where to start a rod and how long to make its edges so that a clamp on its first edge acts at the origin.

    Holding the first edge of a chain clamps it at that edge's middle: half an edge, a first-order error.
    """
    edge = cord.length / (cord.segments - 0.5)
    return -0.5 * edge, edge


def rope_energy(points: np.ndarray, velocities: np.ndarray, stretches: bool) -> float:
    """Kinetic, potential and elastic energy of W2's rope, J. If constraints keep its length, none is in stretch."""
    cord = ROPE
    mass = np.full(len(points), cord.mass_per_length * cord.edge)
    mass[[0, -1]] *= 0.5
    edges = np.diff(points, axis=0)
    lengths = np.linalg.norm(edges, axis=1)
    tangents = edges / lengths[:, None]
    before, after = tangents[:-1], tangents[1:]
    curvature = 2.0 * np.cross(before, after) / (1.0 + np.sum(before * after, axis=1))[:, None]
    energy = 0.5 * np.sum(mass * np.sum(velocities**2, axis=1)) + GRAVITY * np.sum(mass * points[:, 2])
    energy += 0.5 * cord.bend / cord.edge * np.sum(curvature**2)
    if stretches:
        energy += 0.5 * cord.stretch / cord.edge * np.sum((lengths - cord.edge) ** 2)
    return float(energy)


def rope_figure(first_energy: float, last_energy: float, stretch: float) -> dict[str, float]:
    """The energy lost or won, in percent of what the rope has to fall through from level to hanging straight."""
    fall = ROPE.mass_per_length * ROPE.length * GRAVITY * ROPE.length / 2.0
    return {"energy_change_percent": 100.0 * (last_energy - first_energy) / fall, "stretch_percent": 100.0 * stretch}


def stretch_of(points: np.ndarray, cord: Cord) -> float:
    """By how much of its length a rod is too long."""
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum() / cord.length - 1.0)


def root_acceleration(moment: float | np.ndarray) -> float | np.ndarray:
    """Of W3's roots, m/s2, sideways."""
    rate = 2.0 * math.pi * SHAKE_FREQUENCY
    return -SHAKE_AMPLITUDE * rate**2 * np.sin(rate * moment)


def ring_points() -> np.ndarray:
    """W4's ring as an open rod whose last edge lies on its first: holding both by their frames closes the ring.

    The first edge runs along x, the ring lies in the plane of x and y.
    """
    angles = 2.0 * math.pi / RING.segments * np.arange(RING.segments + 1)
    edges = RING.edge * np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1)
    return np.vstack([np.zeros(3), np.cumsum(edges, axis=0)])


def critical_ratio(stiffness: Callable[[float], np.ndarray]) -> float:
    """The twist at which the flat ring loses its stability, over the exact one.

    `stiffness(twist)` is the matrix of what resists small motions of the ring at rest with that total twist. One of
    its eigenvalues is always zero, as turning about the held edge costs a round rod nothing.
    """
    exact = michell_twist(RING.bend, RING.twist)

    def least_resistance(ratio: float) -> float:
        eigenvalues = np.linalg.eigvals(stiffness(ratio * exact)).real
        return float(np.delete(eigenvalues, np.abs(eigenvalues).argmin()).min())

    return float(brentq(least_resistance, 0.98, 1.02, xtol=1e-4))


def differences(load: Callable[[np.ndarray], np.ndarray], size: int, by: float = 1e-7) -> np.ndarray:
    """The stiffness matrix of a program that tells only its forces, `load(motion)`: by central differences."""
    return np.stack([(load(-motion) - load(motion)) / (2.0 * by) for motion in by * np.eye(size)], axis=1)


def best_of(times: int, work: Callable[[], Any]) -> tuple[float, Any]:
    """The least time that some work took, in s, and what it gave the last time."""
    least = math.inf
    for _ in range(times):
        start = time.perf_counter()
        result = work()
        least = min(least, time.perf_counter() - start)
    return least, result


def report(program: str, version: str, workloads: dict[str, Callable[[], dict[str, Any]]]) -> None:
    """The main program of a peer's script: runs the workload named on the command line, prints one line of JSON."""
    names = ", ".join(workloads)
    if len(sys.argv) != 2 or sys.argv[1] not in workloads:
        sys.exit(f"name one workload: {names}")
    outcome = workloads[sys.argv[1]]()
    print(json.dumps({"program": program, "version": version, "workload": sys.argv[1], **outcome}))
