"""Parameters of the workloads W1 to W5 and of a heap, and the measurement of their results, shared by all programs.

Imported by the peers' scripts in their own environment, therefore it needs only numpy and scipy.
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

from ...core.describe.shapes import Cylinder
from ...sample_scenes.experiments.overlap import between_segments, in_cylinder, in_itself
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


# W1: a horizontally clamped cantilever falls to rest. The drag is nearly critical for the slowest mode, so that 2 s are enough.
CANTILEVER = Cord(length=1.0, radius=5e-3, young=1e6, poisson=0.5, density=1000.0, segments=50)
CANTILEVER_SECONDS = 2.0
CANTILEVER_DRAG = 7.0  # 1/s

# W2: an undamped rope, pinned at one end and released from the horizontal.
ROPE = Cord(length=2.0, radius=5e-3, young=1e7, poisson=0.5, density=1000.0, segments=100)
ROPE_SECONDS = 5.0

# W3: hanging strands, clamped at roots that oscillate horizontally.
HAIR = Cord(length=0.25, radius=40e-6, young=3.9e9, poisson=0.37, density=1300.0, segments=25)
STRANDS = 1000
SHAKE_AMPLITUDE = 0.05  # m
SHAKE_FREQUENCY = 1.0  # Hz

# W4: a twisted ring closed from a straight rod. The ratio to the exact critical twist depends on neither size nor stiffness.
RING = Cord(length=1.0, radius=8e-3, young=1e6, poisson=0.5, density=1000.0, segments=60)

# W5: a straight rope falls on three cylinders that lie across it, and touches itself; friction 0.3.
DROPPED = Cord(length=1.5, radius=4e-3, young=10e6, poisson=0.5, density=1000.0, segments=150)
DROPPED_SECONDS = 3.0
DROPPED_FRICTION = 0.3
CYLINDER_RADIUS, CYLINDER_LENGTH = 0.05, 0.6  # m, along y
ACROSS = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))  # turns the axis of a cylinder to y
CYLINDERS = ((-0.45, 0.0), (0.0, 0.1), (0.45, 0.0))  # m, x and z of their axes

# The heap: strands fall in two crossed layers of ten on a floor at z = 0; friction 0.4.
STRAND = Cord(length=0.3, radius=2e-3, young=1e8, poisson=0.35, density=1000.0, segments=25)
HEAP_STRANDS = 20
HEAP_FRAMES = 24
HEAP_FRICTION = 0.4


def tip_error_percent(out: float, height: float) -> float:
    """Distance of the tip of W1 from the exact position, in percent of the length of the rod."""
    cord = CANTILEVER
    exact = cantilever_tip(cord.length, cord.bend, cord.mass_per_length * GRAVITY, cord.stretch)
    return 100.0 * math.dist((out, height), exact) / cord.length


def shifted_clamp(cord: Cord) -> tuple[float, float]:
    """Start and edge length of a rod for which a clamp of its first edge acts at the origin.

    Holding the first edge of a chain clamps it at the midpoint of that edge, which is a first-order error.
    """
    edge = cord.length / (cord.segments - 0.5)
    return -0.5 * edge, edge


def rope_energy(points: np.ndarray, velocities: np.ndarray, stretches: bool) -> float:
    """Total energy of the rope of W2, J; without stretching energy if constraints keep its length (`stretches` is False)."""
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
    """Change of energy in percent of the potential energy between the horizontal and the vertical rope, and stretch in percent."""
    fall = ROPE.mass_per_length * ROPE.length * GRAVITY * ROPE.length / 2.0
    return {"energy_change_percent": 100.0 * (last_energy - first_energy) / fall, "stretch_percent": 100.0 * stretch}


def stretch_of(points: np.ndarray, cord: Cord) -> float:
    """Relative elongation of a rod."""
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum() / cord.length - 1.0)


def root_acceleration(moment: float | np.ndarray) -> float | np.ndarray:
    """Horizontal acceleration of the roots of W3, m/s2."""
    rate = 2.0 * math.pi * SHAKE_FREQUENCY
    return -SHAKE_AMPLITUDE * rate**2 * np.sin(rate * moment)


def ring_points() -> np.ndarray:
    """The ring of W4 as an open rod whose last edge coincides with its first: clamping both closes the ring.

    The first edge is along x, the ring lies in the xy plane.
    """
    angles = 2.0 * math.pi / RING.segments * np.arange(RING.segments + 1)
    edges = RING.edge * np.stack([np.cos(angles), np.sin(angles), np.zeros_like(angles)], axis=1)
    return np.vstack([np.zeros(3), np.cumsum(edges, axis=0)])


def critical_ratio(stiffness: Callable[[float], np.ndarray]) -> float:
    """Critical twist of the flat ring relative to the exact value.

    `stiffness(twist)` is the stiffness matrix of the ring at equilibrium with this total twist. One of its eigenvalues is always
    zero, because rotating a round rod about the clamped edge costs no energy.
    """
    exact = michell_twist(RING.bend, RING.twist)

    def lowest_eigenvalue(ratio: float) -> float:
        eigenvalues = np.linalg.eigvals(stiffness(ratio * exact)).real
        return float(np.delete(eigenvalues, np.abs(eigenvalues).argmin()).min())

    return float(brentq(lowest_eigenvalue, 0.98, 1.02, xtol=1e-4))


def differences(load: Callable[[np.ndarray], np.ndarray], size: int, by: float = 1e-7) -> np.ndarray:
    """Stiffness matrix by central differences, for programs that provide only forces, `load(motion)`."""
    return np.stack([(load(-motion) - load(motion)) / (2.0 * by) for motion in by * np.eye(size)], axis=1)


def dropped_points() -> np.ndarray:
    """(151, 3) m, the rope of W5 before it falls."""
    x = np.linspace(-0.75, 0.75, DROPPED.segments + 1)
    return np.stack([x, 0.02 * np.sin(3.0 * x), np.full_like(x, 0.35)], axis=1)


def dropped_penetration(points: np.ndarray) -> float:
    """The deepest overlap of the rope of W5 with a cylinder or itself, in radii."""
    shapes = [Cylinder(CYLINDER_RADIUS, CYLINDER_LENGTH, (x, 0.0, z), ACROSS) for x, z in CYLINDERS]
    deepest = max(*(in_cylinder(points, DROPPED.radius, shape) for shape in shapes), in_itself(points, DROPPED.radius))
    return max(0.0, deepest) / DROPPED.radius


def heap_points() -> list[np.ndarray]:
    """The strands of the heap before they fall, a little out of line."""
    random = np.random.default_rng(0)
    along = np.linspace(-0.5, 0.5, STRAND.segments + 1)[:, None] * STRAND.length
    strands = []
    for k in range(HEAP_STRANDS):
        row, column = divmod(k, 10)
        angle = 0.5 * math.pi * (row % 2) + random.uniform(-0.05, 0.05)
        across = np.array([-math.sin(angle), math.cos(angle), 0.0])
        middle = 0.018 * (column - 4.5) * across + (0.0, 0.0, 0.1 + 0.012 * row)
        strands.append(middle + along * np.array([math.cos(angle), math.sin(angle), random.uniform(-0.02, 0.02)]))
    return strands


def heap_figure(strands: list[np.ndarray], worst: float) -> dict[str, float]:
    """The deepest overlap of strands with each other and with the floor at the frames looked at, and the mean height at the end."""
    height = float(np.mean([points[:, 2].mean() for points in strands]))
    return {"overlap_radii": worst, "mean_height_mm": 1e3 * height}


def heap_overlap(strands: list[np.ndarray]) -> float:
    """The deepest overlap of strands with each other and with the floor, in radii."""
    starts, ends = (np.concatenate([points[part] for points in strands]) for part in (slice(-1), slice(1, None)))
    rod = np.repeat(np.arange(len(strands)), STRAND.segments)
    first, second = np.triu_indices(len(starts), 1)
    apart = rod[first] != rod[second]
    first, second = first[apart], second[apart]
    distances, _, _ = between_segments(starts[first], ends[first], starts[second], ends[second])
    lowest = min(float(points[:, 2].min()) for points in strands)
    return max(0.0, 2.0 - float(distances.min()) / STRAND.radius, 1.0 - lowest / STRAND.radius)


def best_of(times: int, work: Callable[[], Any]) -> tuple[float, Any]:
    """Shortest processor time of several runs, summed over threads, s, and the result of the last run. Unlike time on the clock it
    does not depend on what else the machine does."""
    least = math.inf
    for _ in range(times):
        start = time.process_time()
        result = work()
        least = min(least, time.process_time() - start)
    return least, result


def report(program: str, version: str, workloads: dict[str, Callable[[], dict[str, Any]]]) -> None:
    """Main program of a peer's script: runs the workload named on the command line and prints one line of JSON."""
    names = ", ".join(workloads)
    if len(sys.argv) != 2 or sys.argv[1] not in workloads:
        sys.exit(f"Name one workload of {names}.")
    result = workloads[sys.argv[1]]()
    print(json.dumps({"program": program, "version": version, "workload": sys.argv[1], **result}))
