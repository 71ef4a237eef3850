"""Nets for tests, and test access to a net: its potential as a plain function of the unknowns."""

from __future__ import annotations

import numpy as np
from tendril.core import Material, Net, Scene, Simulation, Stiffness
from tendril.core.models.elastic.dense import FOREVER, dense_matrix, lay_at
from tendril.core.models.elastic.stepping import lay_out

SOFT = Stiffness(stretch=40.0, bend_1=1.0, bend_2=2.0, twist=1.5, mass_per_length=1.0)
RUBBER = Material(2e6, 1100.0)


def grid(columns: int, rows: int, per_side: int = 1, size: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """A flat net of columns x rows knots with `per_side` segments between neighbouring knots."""
    points = [(size * i, size * j, 0.0) for j in range(rows) for i in range(columns)]
    edges = []
    for j in range(rows):
        for i in range(columns):
            for di, dj in ((1, 0), (0, 1)):
                if i + di < columns and j + dj < rows:
                    last = j * columns + i
                    for k in range(1, per_side):
                        points.append((size * (i + di * k / per_side), size * (j + dj * k / per_side), 0.0))
                        edges.append((last, len(points) - 1))
                        last = len(points) - 1
                    edges.append((last, (j + dj) * columns + i + di))
    return np.array(points), np.array(edges)


def star(arms: int, segments: int = 4, length: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    points, edges = [(0.0, 0.0, 0.0)], []
    for k in range(arms):
        angle, last = 2.0 * np.pi * k / arms, 0
        for s in range(1, segments + 1):
            r = length * s / segments
            points.append((r * np.cos(angle), r * np.sin(angle), 0.0))
            edges.append((last, len(points) - 1))
            last = len(points) - 1
    return np.array(points), np.array(edges)


def random_net(seed: int) -> Net:
    """A small grid with a tail and loose ends, deformed relative to its rest shape, with randomly oriented segments."""
    rng = np.random.default_rng(seed)
    points, edges = grid(3, 2, 2)
    n = len(points)
    points = np.concatenate([points, [(-0.5, 0.2, 0.1), (-1.0, 0.1, 0.3), (2.4, 1.4, 0.2), (0.9, 1.4, -0.4)]])
    edges = np.concatenate([edges, [(0, n), (n, n + 1), (5, n + 2), (4, n + 3)]])
    turned = rng.random(len(edges)) < 0.5
    edges[turned] = edges[turned][:, ::-1]
    rest = points + 0.08 * rng.standard_normal(points.shape)
    points = points + 0.08 * rng.standard_normal(points.shape)
    scale = rng.uniform(0.5, 2.0, len(points))
    return Net.from_edges(points, edges, 0.01, stiffness=SOFT, rest=rest, joint_stiffness=scale)


class Probe:
    """Probe of the only net of a scene."""

    def __init__(self, scene: Scene, h: float = FOREVER) -> None:
        self.sim = Simulation(scene, threads=1)
        self.block = self.sim.blocks[0]
        self.n, self.h = self.block.arrays, h
        lay_out(self.n, None, 0)
        self.base = self.n.state.q.copy()
        self.n.stage.q[:] = self.base
        self.free = ~self.n.material.held

    def potential(self, q: np.ndarray, exact: bool = True) -> float:
        assert lay_at(self.n, q)
        return self.block.evaluate(self.h, exact)

    def gradient(self, q: np.ndarray) -> np.ndarray:
        self.potential(q)
        return np.asarray(self.n.system.gradient.copy())

    def hessian(self, q: np.ndarray, exact: bool = True) -> np.ndarray:
        self.potential(q, exact)
        return dense_matrix(self.n, 0)
