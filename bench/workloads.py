"""The workloads W1 to W4 on Tendril. Their parameters are in `peers/cases.py`, shared by all programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core import Circle, Material, Rod, Scene, Simulation
from .peers import cases
from .rows import Line, Row, Timer

Result = tuple[float, dict[str, Any]]  # seconds, and figures such as an error


def straight(cord: cases.Cord, axis: int, sign: float = 1.0) -> np.ndarray:
    """Points of a straight rod that starts at the origin along an axis (0, 1, 2) or against it."""
    points = np.zeros((cord.segments + 1, 3))
    points[:, axis] = sign * np.linspace(0.0, cord.length, cord.segments + 1)
    return points


def rod_of(cord: cases.Cord, points: np.ndarray) -> Rod:
    return Rod.from_points(points, radius=cord.radius, material=Material(cord.young, cord.density, cord.poisson))


def best_of(times: int, run: Callable[[], Result]) -> Result:
    """The fastest of several runs."""
    return min((run() for _ in range(times)), key=lambda result: result[0])


def cantilever() -> Result:
    """W1: a horizontally clamped cantilever falls to rest."""
    cord = cases.CANTILEVER
    scene = Scene(gravity=(0, 0, -cases.GRAVITY), drag=cases.CANTILEVER_DRAG)
    rod = scene.add(rod_of(cord, straight(cord, 0)))
    scene.clamp(rod, "start")
    sim = Simulation(scene)
    frames = round(cases.CANTILEVER_SECONDS * cases.FRAMES_PER_SECOND)
    with Timer() as timer:
        for _ in range(frames):
            sim.step_frame()
    for _ in range(frames):  # the oscillation left after the timed part would hide the error of the shape at rest
        frame = sim.step_frame()
    x, _, z = frame.positions(rod)[-1]
    figure = {"tip_error_percent": cases.tip_error_percent(float(x), float(z))}
    return timer.wall, figure | {"processor_seconds": timer.processor}


def swinging_rope(**settings: Any) -> Result:
    """W2: an undamped rope, pinned at one end, swings down from the horizontal."""
    cord = cases.ROPE
    scene = Scene(gravity=(0, 0, -cases.GRAVITY))
    rod = scene.add(rod_of(cord, straight(cord, 0)))
    scene.pin(rod, "start")
    sim = Simulation(scene, **settings)
    before = sim.energies().total
    stretch = 0.0
    with Timer() as timer:
        for _ in range(round(cases.ROPE_SECONDS * cases.FRAMES_PER_SECOND)):
            frame = sim.step_frame()
            stretch = max(stretch, cases.stretch_of(frame.positions(rod), cord))
    figure = cases.rope_figure(before, sim.energies().total, stretch)
    return timer.wall, figure | {"processor_seconds": timer.processor}


def energy_conserving_rope() -> Result:
    """W2 with settings that conserve the energy."""
    return swinging_rope(integrator="midpoint", substeps=128)


def hair(strands: int = cases.STRANDS, frames: int = 24) -> Result:
    """W3: strands of hair whose roots are shaken; the mean frame over one period."""
    cord = cases.HAIR
    scene = Scene(gravity=(0, 0, -cases.GRAVITY))
    upright = np.eye(3)
    for k in range(strands):
        points = straight(cord, 2, -1.0)
        points[:, 1] = 1e-3 * k
        rod = scene.add(rod_of(cord, points))

        def shake(t: float, y: float = 1e-3 * k) -> tuple[tuple[float, float, float], np.ndarray]:
            return (cases.SHAKE_AMPLITUDE * np.sin(2.0 * np.pi * cases.SHAKE_FREQUENCY * t), y, 0.0), upright

        scene.clamp(rod, "start", shake)
    sim = Simulation(scene, frame_rate=cases.FRAMES_PER_SECOND, substeps=1)
    seconds, processor, stretch = [], 0.0, 0.0
    for _ in range(frames):
        with Timer() as timer:
            frame = sim.step_frame()
        seconds.append(timer.wall)
        processor += timer.processor
        x = np.array([frame.positions(rod) for rod in range(strands)])
        stretch = max(stretch, float((np.linalg.norm(np.diff(x, axis=1), axis=2) / cord.edge - 1.0).max()))
    return float(np.mean(seconds)), {
        "best_frame": min(seconds),
        "worst_frame": max(seconds),
        "stretch_percent": 100.0 * stretch,
        "processor_seconds": processor / frames,
    }


def ring() -> Result:
    """W4: critical twist of Michell's ring relative to the exact value, from the exact Hessian."""
    cord, points = cases.RING, cases.ring_points()
    stiffnesses = Material(cord.young, cord.density, cord.poisson).stiffness(Circle(cord.radius))

    def stiffness(twist: float) -> np.ndarray:
        # `twist` is the angle between the two clamped edges, whose midpoints are one circumference apart.
        total = twist * len(points[1:]) / cord.segments
        rod = Rod.from_points(points, radius=cord.radius, stiffness=stiffnesses, rest="straight", twist=total)
        scene = Scene(gravity=(0, 0, 0))
        scene.clamp_edge(scene.add(rod), 0)
        scene.clamp_edge(0, cord.segments)
        block = Simulation(scene, threads=1).blocks[0]
        free = ~block.arrays.rods.held.ravel()
        return block.stiffness_matrix(0)[np.ix_(free, free)]

    with Timer() as timer:
        ratio = cases.critical_ratio(stiffness)
    return timer.wall, {"critical_twist_ratio": ratio, "processor_seconds": timer.processor}


WORKLOADS: dict[str, Callable[[], Result]] = {
    "W1": cantilever,
    "W2": swinging_rope,
    "W3": hair,
    "W4": ring,
}


def run(name: str, times: int = 3, work: Callable[[], Result] | None = None) -> dict[str, Any]:
    """The fastest of several runs of a workload, after one that compiles."""
    work = work or WORKLOADS[name]
    work()
    seconds, figure = best_of(times, work)
    return {"workload": name, "seconds": seconds, "figure": figure}


def _row(name: str, title: str) -> Row:
    def measure(_full: bool) -> Iterator[Line]:
        result = run(name)
        yield Line(f"{name} {title}", result["seconds"], None, result["figure"])

    return Row(name, measure)


def _energy_conserving(_full: bool) -> Iterator[Line]:
    seconds, figure = best_of(2, energy_conserving_rope)
    yield Line("W2 with the energy conserved: midpoint rule, 128 substeps", seconds, None, figure)


ROWS = (
    _row("W1", "cantilever, falls to rest, 2 s"),
    _row("W2", "rope, undamped, 5 s"),
    Row("W2 energy", _energy_conserving),
    _row("W3", "1,000 shaken strands of hair, a frame"),
    _row("W4", "critical twist of Michell's ring"),
)
