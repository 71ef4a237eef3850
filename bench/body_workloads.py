"""Rigid bodies: the tree in wind of Bergou et al. 2008, Fig. 12, and stacked bodies at rest."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from ..core import Body, Box, Plane, Scene, Simulation
from ..core.models.published.der2008.block import Der2008Block
from ..sample_scenes.experiments import tree
from .rows import Line, Row

STACK, WALL = 5, (6, 5)  # boxes; bricks in a row, rows
LIMIT = {"stack": 0.1, "wall": 1.0}  # s per frame


def tree_step() -> tuple[float, int]:
    """Processor seconds of one explicit step of the tree in wind, and its number of vertices."""
    made = tree.grown()
    sim = Simulation(made.scene, frame_rate=tree.RATE, substeps=1, threads=1)
    block = sim.blocks[0]
    assert isinstance(block, Der2008Block)
    best = np.inf
    for _ in range(6):
        sim.surround(fields=tree.eddies(sim.time))
        start = time.thread_time()
        sim.step_frame()
        best = min(best, (time.thread_time() - start) / int(block.inner_steps[0]))
    return float(best), made.vertices


def stacked(places: list[tuple[float, float, float]], size: tuple[float, float, float]) -> float:
    """Processor seconds of a frame of boxes that rest on each other and on the ground."""
    scene = Scene()
    scene.collide(Plane(), friction=0.5)
    for place in places:
        scene.add_body(Body(Box(size), density=500.0, position=place, collides=True))
    sim = Simulation(scene, threads=1)
    best = np.inf
    for _ in range(12):
        start = time.thread_time()
        sim.step_frame()
        best = min(best, time.thread_time() - start)
    return float(best)


def _tree(_full: bool) -> Iterator[Line]:
    seconds, vertices = tree_step()
    figures = {"paper_ms": tree.PAPER, "times_as_fast": 1e-3 * tree.PAPER / seconds}
    limits = {"seconds": 1e-3 * tree.PAPER / tree.FASTER}
    yield Line(f"tree of {vertices} vertices in wind, a step", seconds, limits, figures)


def _stack(_full: bool) -> Iterator[Line]:
    seconds = stacked([(0.0, 0.0, 0.1 + 0.2 * k) for k in range(STACK)], (0.2, 0.2, 0.2))
    yield Line(f"stack of {STACK} boxes, a frame", seconds, {"seconds": LIMIT["stack"]})


def _wall(_full: bool) -> Iterator[Line]:
    across, up = WALL
    bricks = [(0.21 * (i + 0.5 * (k % 2)), 0.0, 0.05 + 0.1 * k) for k in range(up) for i in range(across)]
    seconds = stacked(bricks, (0.2, 0.1, 0.1))
    yield Line(f"wall of {across * up} bricks, a frame", seconds, {"seconds": LIMIT["wall"]})


ROWS = (Row("tree", _tree), Row("stack", _stack), Row("wall", _wall))
