"""Nets: the two of Spillmann and Teschner 2009, section VII.C, and the growth of time with segments."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core import Corde, Material, Net, Plane, Scene, Simulation, Sphere
from ..sample_scenes.experiments.graphs import grid
from .rows import Line, Row, Timer, least_processor_seconds, least_seconds, sweep

# The numbers of points, segments and orientation elements are those of the paper: 0.8 K, 0.9 K, 1.1 K; 1.2 K, 1.5 K, 3 K.
NETS = {"coarse": (9, 6), "dense": (20, 2)}  # knots on a side, segments between two knots
PAPER_MS = {"coarse": (6.6, 62.3), "dense": (14.5, 224.0)}  # deformation and integration; collision detection
FASTER, FASTER_DETECTION = 20.0, 50.0  # than the paper
FRAMES_PER_SECOND = 24.0
SEGMENTS, SEGMENTS_FULL = (1_900, 7_600, 30_400), (1_900, 7_600, 30_400, 190_000)
EXPONENT_LIMIT = 1.15  # of segments: twice the time per segment for a hundred times the segments

MATERIAL = Material(1e7, 1300.0, damping_time=2e-3)


def net_of(name: str) -> Net:
    knots, between = NETS[name]
    points, edges = grid(knots, knots, between, 2.4)
    return Net.from_edges(points, edges, 0.008, MATERIAL, corde=Corde(alpha=0.02))


def explicit_step(name: str) -> float:
    """Seconds of one step of `corde`: forces, torques, and the integration of points and frames."""
    scene = Scene()
    k = scene.add(net_of(name), "corde")
    scene.pin(k, 0)
    sim = Simulation(scene, threads=1)
    steps = sim.blocks[0].arrays.nets.step[0]  # type: ignore[attr-defined]
    sim.frame_rate, sim.substeps = 1.0 / (200 * steps), 1
    sim.step_frame()
    return least_seconds(5, sim.step_frame) / 200.0


def frame(name: str) -> float:
    """Seconds of a frame of `net` with default substeps while the net falls from two pinned corners: the mean over one second."""
    best = np.inf
    for _ in range(3):
        scene = Scene()
        k = scene.add(net_of(name))
        scene.pin(k, [0, NETS[name][0] - 1])
        sim = Simulation(scene, FRAMES_PER_SECOND)
        with Timer() as timer:
            for _ in range(24):
                sim.step_frame()
        best = min(best, timer.wall / 24.0)
    return float(best)


def detection(name: str) -> float:
    """Seconds of collision detection for the net on a sphere and the ground: bounding boxes, candidate pairs and gaps."""
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
        with Timer() as timer:
            detector.look(detector.samples.start, all_nets)
        best = min(best, timer.wall)
    return float(best)


def strip(segments: int) -> Net:
    """A net ten knots wide, with about this number of segments."""
    rows = max(2, round(segments / (19 * 2)))
    points, edges = grid(10, rows, 2, 1.0)
    return Net.from_edges(points, edges, 0.004, MATERIAL, corde=Corde(alpha=1.0))


def step_of_a_strip(model: str, segments: int) -> float:
    """Processor seconds of one step of a net ten knots wide, on one core; of five steps of `corde`, which are short."""
    scene = Scene()
    scene.pin(scene.add(strip(segments), model), 0)
    sim = Simulation(scene, threads=1)
    if model == "corde":
        sim.frame_rate, sim.substeps = 1.0 / (5.0 * sim.blocks[0].arrays.nets.step[0]), 1  # type: ignore[attr-defined]
    else:
        sim.substeps = 1
    sim.step_frame()
    return least_processor_seconds(3, sim.step_frame)


def _size(name: str) -> str:
    net = net_of(name)
    return f"{net.vertex_count} points, {net.edge_count} segments"


def _explicit_steps(_full: bool) -> Iterator[Line]:
    for name, (paper_ms, _) in PAPER_MS.items():
        seconds = explicit_step(name)
        figures = {"of_paper": 1e3 * seconds / paper_ms, "paper_ms": paper_ms}
        yield Line(f"corde, a step, {name}: {_size(name)}", seconds, {"of_paper": 1.0 / FASTER}, figures)


def _detections(_full: bool) -> Iterator[Line]:
    for name, (_, paper_ms) in PAPER_MS.items():
        seconds = detection(name)
        figures = {"of_paper": 1e3 * seconds / paper_ms, "paper_ms": paper_ms}
        yield Line(f"collision detection, {name} net", seconds, {"of_paper": 1.0 / FASTER_DETECTION}, figures)


def _frames(_full: bool) -> Iterator[Line]:
    for name in NETS:
        seconds = frame(name)
        limits = {"seconds": 1.0 / FRAMES_PER_SECOND} if name == "coarse" else None
        yield Line(f"net, a frame, {name}: {_size(name)}", seconds, limits, {"frames_per_second": 1.0 / seconds})


def _growth(model: str) -> Row:
    def measure(full: bool) -> Iterator[Line]:
        sizes = SEGMENTS_FULL if full else SEGMENTS
        steps = "five steps" if model == "corde" else "a step"
        name = f"{model}, {steps}, {{}} segments"
        return sweep(name, sizes, lambda size: step_of_a_strip(model, size), EXPONENT_LIMIT, "segment")

    return Row(f"{model} growth", measure)


ROWS = (
    Row("corde step", _explicit_steps),
    Row("net detection", _detections),
    Row("net frame", _frames),
    _growth("corde"),
    _growth("net"),
)
