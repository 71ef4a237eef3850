"""Rigid bodies: the tree in wind of the paper of 2008 (its Fig. 12), and bodies that lie on each other."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core import Body, Box, Plane, Scene, Simulation
from ..core.models.published.der2008.block import Der2008Block
from ..sample_scenes.experiments import tree

STACK, WALL = 5, (6, 5)  # boxes; bricks in a row, rows
MOST = {"stack": 0.1, "wall": 1.0}  # s a frame


def tree_step() -> tuple[float, int]:
    """Seconds of one explicit step of the tree in its wind, and its vertices."""
    made = tree.grown()
    sim = Simulation(made.scene, frame_rate=tree.RATE, substeps=1, threads=1)
    block = sim.blocks[0]
    assert isinstance(block, Der2008Block)
    best = np.inf
    for _ in range(6):
        sim.surround(fields=tree.eddies(sim.time))
        began = time.thread_time()
        sim.step_frame()
        best = min(best, (time.thread_time() - began) / int(block.inner_steps[0]))
    return float(best), made.vertices


def piled(places: list[tuple[float, float, float]], size: tuple[float, float, float]) -> float:
    """Seconds of a frame of boxes that lie on each other and on the ground, once they rest."""
    scene = Scene()
    scene.collide(Plane(), friction=0.5)
    for place in places:
        scene.add_body(Body(Box(size), density=500.0, position=place, collides=True))
    sim = Simulation(scene, threads=1)
    best = np.inf
    for _ in range(12):
        began = time.thread_time()
        sim.step_frame()
        best = min(best, time.thread_time() - began)
    return float(best)


def rows() -> Iterator[tuple[str, float, dict[str, float], dict[str, Any]]]:
    seconds, vertices = tree_step()
    figures = {"paper_ms": tree.PAPER, "times_as_fast": 1e-3 * tree.PAPER / seconds}
    yield (
        f"a tree of {vertices} vertices in wind, a step",
        seconds,
        {"seconds": 1e-3 * tree.PAPER / tree.FASTER},
        figures,
    )
    stack = piled([(0.0, 0.0, 0.1 + 0.2 * k) for k in range(STACK)], (0.2, 0.2, 0.2))
    yield f"a frame, a stack of {STACK} boxes", stack, {"seconds": MOST["stack"]}, {}
    across, up = WALL
    bricks = [(0.21 * (i + 0.5 * (k % 2)), 0.0, 0.05 + 0.1 * k) for k in range(up) for i in range(across)]
    yield f"a frame, a wall of {across * up} bricks", piled(bricks, (0.2, 0.1, 0.1)), {"seconds": MOST["wall"]}, {}
