"""A `der2008` rod laid open: energy, forces and angles as functions of its centerline, frames carried from a fixed state."""

from __future__ import annotations

import numpy as np
from tendril.core import Rod, Scene, Simulation
from tendril.core.models.published.der2008.probe import evaluate_at


class Probe:
    def __init__(self, rod: Rod, framed: tuple[int, ...] = (), edges: tuple[int, ...] = ()) -> None:
        scene = Scene(gravity=(0, 0, 0))
        scene.add(rod, "der2008")
        for vertex in framed:
            scene.orient(0, vertex)
        for edge in edges:
            scene.clamp_edge(0, edge)
        self.open(Simulation(scene, threads=1))

    def open(self, sim: Simulation) -> None:
        self.sim = sim
        self.block = sim.blocks[0]
        self.b, self.chain = self.block.arrays, self.block._chain
        self.nodes, self.motion = self.block._nodes, self.block._motion
        self.x = self.block.positions().copy()
        self.n = len(self.x)

    @classmethod
    def of(cls, sim: Simulation) -> Probe:
        probe = cls.__new__(cls)
        probe.open(sim)
        return probe

    def at(self, x: np.ndarray, relax: bool = True) -> None:
        assert evaluate_at(
            self.b, self.chain, self.nodes, self.motion, 0, np.ascontiguousarray(x.reshape(-1, 3)), relax
        )

    def energy(self, x: np.ndarray) -> float:
        self.at(x)
        return float(self.b.log.energy[0].sum())

    def forces(self, x: np.ndarray) -> np.ndarray:
        self.at(x)
        return self.motion.force.copy()

    def tangents_at(self, x: np.ndarray) -> np.ndarray:
        self.at(x)
        return self.nodes.t[self.chain.edge >= 0].copy()

    def theta(self) -> np.ndarray:
        return self.nodes.theta[self.chain.edge >= 0].copy()

    def bishop(self) -> np.ndarray:
        return self.nodes.u[self.chain.edge >= 0].copy()

    def constraints(self, x: np.ndarray) -> np.ndarray:
        """(m, 3 n) gradients of the edges' lengths."""
        edges = self.chain.edge[self.chain.edge >= 0]
        rows = np.zeros((len(edges), 3 * self.n))
        for k, j in enumerate(edges):
            i = (j + 1) % self.n
            t = (x[i] - x[j]) / np.linalg.norm(x[i] - x[j])
            rows[k, 3 * i : 3 * i + 3], rows[k, 3 * j : 3 * j + 3] = t, -t
        return rows
