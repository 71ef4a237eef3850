"""Nets: the two of the paper (Spillmann and Teschner 2009, section VII.C), and how time grows with segments."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core import Corde, Material, Net, Plane, Scene, Simulation, Sphere
from ..sample_scenes.experiments.graphs import grid

# Points, segments and orientation elements are those of the paper's nets: 0.8 K, 0.9 K, 1.1 K; 1.2 K, 1.5 K, 3 K.
NETS = {"coarse": (9, 6), "dense": (20, 2)}  # knots on a side, segments between two
PAPER_MS = {"coarse": (6.6, 62.3), "dense": (14.5, 224.0)}  # deformation and integration; collision detection
FASTER, FASTER_DETECTION = 20.0, 50.0  # than the paper
FRAMES_PER_SECOND = 24.0
GROWTH = [2_000, 20_000, 200_000]  # segments
MOST_GROWTH = 2.0  # of the time per segment, from the least to the most

MATERIAL = Material(1e7, 1300.0, damping_time=2e-3)


def net_of(name: str) -> Net:
    knots, between = NETS[name]
    points, edges = grid(knots, knots, between, 2.4)
    return Net.from_edges(points, edges, 0.008, MATERIAL, corde=Corde(alpha=0.02))


def explicit_step(name: str) -> float:
    """Seconds of one step of `corde`: forces, torques, integration of points and frames."""
    scene = Scene()
    k = scene.add(net_of(name), "corde")
    scene.pin(k, 0)
    sim = Simulation(scene, threads=1)
    steps = sim.blocks[0].arrays.nets.step[0]  # type: ignore[attr-defined]
    sim.frame_rate, sim.substeps = 1.0 / (200 * steps), 1
    sim.step_frame()
    return min(_timed(sim) for _ in range(5)) / 200.0


def frame(name: str) -> float:
    """Seconds of a frame of `net` at 24 frames a second with default substeps, falling to hang from two corners: the mean of a
    second."""
    best = np.inf
    for _ in range(3):
        scene = Scene()
        k = scene.add(net_of(name))
        scene.pin(k, [0, NETS[name][0] - 1])
        sim = Simulation(scene, FRAMES_PER_SECOND)
        best = min(best, sum(_timed(sim) for _ in range(24)) / 24.0)
    return float(best)


def detection(name: str) -> float:
    """Seconds to find all contacts of the net lying on a sphere and the ground: boxes, candidates, gaps."""
    scene = Scene(rod_contact=True)
    net = net_of(name)
    scene.add(net)
    scene.collide(Sphere(0.4, (0.0, 0.0, -0.42)))
    scene.collide(Plane((0.0, 0.0, -0.9)))
    sim = Simulation(scene)
    for _ in range(8):
        sim.step_frame()
    detector = sim._contact.detection  # type: ignore[union-attr]
    best, all_nets = np.inf, np.ones(1, dtype=bool)
    for _ in range(10):
        detector.forget(all_nets)
        start = time.perf_counter()
        detector.look(detector.samples.start, all_nets)
        best = min(best, time.perf_counter() - start)
    return float(best)


def strip(segments: int) -> Net:
    """A net ten knots wide, as long as it takes."""
    rows = max(2, round(segments / (19 * 2)))
    points, edges = grid(10, rows, 2, 1.0)
    return Net.from_edges(points, edges, 0.004, MATERIAL, corde=Corde(alpha=1.0))


def growth(model: str) -> Iterator[tuple[int, float]]:
    """Segments, and seconds of one step."""
    for segments in GROWTH:
        net = strip(segments)
        scene = Scene()
        k = scene.add(net, model)
        scene.pin(k, 0)
        sim = Simulation(scene, threads=1)
        if model == "corde":
            sim.frame_rate, sim.substeps = 1.0 / (5.0 * sim.blocks[0].arrays.nets.step[0]), 1  # type: ignore[attr-defined]
        else:
            sim.substeps = 1
        sim.step_frame()
        yield net.edge_count, min(_timed(sim) for _ in range(3))


def _timed(sim: Simulation) -> float:
    start = time.perf_counter()
    sim.step_frame()
    return time.perf_counter() - start


def rows() -> Iterator[tuple[str, float, dict[str, float] | None, dict[str, Any]]]:
    """Name, seconds, limits and figures of each line of the bench."""
    for name, (step_ms, detection_ms) in PAPER_MS.items():
        net = net_of(name)
        size = f"{net.vertex_count} points, {net.edge_count} segments"
        seconds = explicit_step(name)
        figures = {"of_paper": 1e3 * seconds / step_ms, "paper_ms": step_ms}
        yield f"corde, a step, {name}: {size}", seconds, {"of_paper": 1.0 / FASTER}, figures
        seconds = detection(name)
        figures = {"of_paper": 1e3 * seconds / detection_ms, "paper_ms": detection_ms}
        yield f"collision detection, {name} net", seconds, {"of_paper": 1.0 / FASTER_DETECTION}, figures
        seconds = frame(name)
        limits = {"seconds": 1.0 / FRAMES_PER_SECOND} if name == "coarse" else None
        yield f"net, a frame, {name}: {size}", seconds, limits, {"frames_per_second": 1.0 / seconds}
    for model in ("corde", "net"):
        per_segment = []
        for segments, seconds in growth(model):
            per_segment.append(seconds / segments)
            yield f"{model}, a step, {segments} segments", seconds, None, {"per_segment_us": 1e6 * per_segment[-1]}
        ratio = per_segment[-1] / per_segment[0]
        yield f"{model}, growth per segment", per_segment[-1], {"growth": MOST_GROWTH}, {"growth": ratio}
