"""The standard workloads on Tendril: what they are is in `peers/cases.py`, the same for every program."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import Circle, Material, Rod, Scene, Simulation
from .peers import cases


def straight(cord: cases.Cord, axis: int, sign: float = 1.0) -> np.ndarray:
    points = np.zeros((cord.segments + 1, 3))
    points[:, axis] = sign * np.linspace(0.0, cord.length, cord.segments + 1)
    return points


def rod_of(cord: cases.Cord, points: np.ndarray) -> Rod:
    return Rod.from_points(points, radius=cord.radius, material=Material(cord.young, cord.density, cord.poisson))


def best_of(times: int, run: Callable[[], tuple[float, dict[str, Any]]]) -> tuple[float, dict[str, Any]]:
    return min((run() for _ in range(times)), key=lambda result: result[0])


def cantilever() -> tuple[float, dict[str, Any]]:
    """W1: clamped level, falls to rest."""
    cord = cases.CANTILEVER
    scene = Scene(gravity=(0, 0, -cases.GRAVITY), drag=cases.CANTILEVER_DRAG)
    rod = scene.add(rod_of(cord, straight(cord, 0)))
    scene.clamp(rod, "start")
    sim = Simulation(scene)
    frames = round(cases.CANTILEVER_SECONDS * cases.FRAMES_PER_SECOND)
    start = time.perf_counter()
    for _ in range(frames):
        sim.step_frame()
    seconds = time.perf_counter() - start
    for _ in range(frames):  # what swing is left after the time that counts would hide the error of the shape
        frame = sim.step_frame()
    x, _, z = frame.positions(rod)[-1]
    return seconds, {"tip_error_percent": cases.tip_error_percent(float(x), float(z))}


def swinging_rope(**settings: Any) -> tuple[float, dict[str, Any]]:
    """W2: pinned at one end, released level, undamped."""
    cord = cases.ROPE
    scene = Scene(gravity=(0, 0, -cases.GRAVITY))
    rod = scene.add(rod_of(cord, straight(cord, 0)))
    scene.pin(rod, "start")
    sim = Simulation(scene, **settings)
    before = sim.energies().total
    stretch = 0.0
    start = time.perf_counter()
    for _ in range(round(cases.ROPE_SECONDS * cases.FRAMES_PER_SECOND)):
        frame = sim.step_frame()
        stretch = max(stretch, cases.stretch_of(frame.positions(rod), cord))
    seconds = time.perf_counter() - start
    return seconds, cases.rope_figure(before, sim.energies().total, stretch)


def swinging_rope_finely() -> tuple[float, dict[str, Any]]:
    """W2 at the setting that keeps the energy."""
    return swinging_rope(integrator="midpoint", substeps=128)


def hair(strands: int = cases.STRANDS, frames: int = 24) -> tuple[float, dict[str, Any]]:
    """W3: seconds per frame, the best over one period of shaking."""
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
    seconds, stretch = [], 0.0
    for _ in range(frames):
        start = time.perf_counter()
        frame = sim.step_frame()
        seconds.append(time.perf_counter() - start)
        x = np.array([frame.positions(rod) for rod in range(strands)])
        stretch = max(stretch, float((np.linalg.norm(np.diff(x, axis=1), axis=2) / cord.edge - 1.0).max()))
    return float(np.mean(seconds)), {
        "best_frame": min(seconds),
        "worst_frame": max(seconds),
        "stretch_percent": 100.0 * stretch,
    }


def ring() -> tuple[float, dict[str, Any]]:
    """W4: the twist at which a ring loses its stability, over the exact one, from the exact Hessian."""
    cord, points = cases.RING, cases.ring_points()
    made_of = Material(cord.young, cord.density, cord.poisson).stiffness(Circle(cord.radius))

    def stiffness(twist: float) -> np.ndarray:
        # `twist` is given between the two held edges, whose middles lie one ring apart.
        whole = twist * len(points[1:]) / cord.segments
        rod = Rod.from_points(points, radius=cord.radius, stiffness=made_of, rest="straight", twist=whole)
        scene = Scene(gravity=(0, 0, 0))
        scene.clamp_edge(scene.add(rod), 0)
        scene.clamp_edge(0, cord.segments)
        block = Simulation(scene, threads=1).blocks[0]
        free = ~block.arrays.rods.held.ravel()
        return block.stiffness_matrix(0)[np.ix_(free, free)]

    start = time.perf_counter()
    ratio = cases.critical_ratio(stiffness)
    return time.perf_counter() - start, {"critical_twist_ratio": ratio}


WORKLOADS: dict[str, Callable[[], tuple[float, dict[str, Any]]]] = {
    "W1": cantilever,
    "W2": swinging_rope,
    "W3": hair,
    "W4": ring,
}


def run(name: str, times: int = 3) -> dict[str, Any]:
    """The best of several runs."""
    work = WORKLOADS[name]
    work()  # compiles what is to be compiled
    seconds, figure = best_of(times, work)
    return {"workload": name, "seconds": seconds, "figure": figure}
