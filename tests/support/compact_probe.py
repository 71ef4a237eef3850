"""A `compact` rod laid open: its potential as a plain function of the unknowns."""

from __future__ import annotations

import numpy as np
from tendril.core import Rod, Scene, Simulation
from tendril.core.models.compact.dense import dense_matrix, potential_at, start_at_state

FOREVER = 1e9  # s: a step so long that inertia is nothing


class Probe:
    def __init__(
        self, rod: Rod, framed: tuple[int, ...] = (), pinned: tuple[int, ...] = (), h: float = FOREVER
    ) -> None:
        scene = Scene(gravity=(0, 0, 0))
        rod_id = scene.add(rod, "compact")
        for vertex in framed:
            scene.orient(rod_id, vertex)
        for vertex in pinned:
            scene.pin(rod_id, vertex)
        self._open(scene, h)

    @classmethod
    def of(cls, scene: Scene, h: float = FOREVER) -> Probe:
        """The one rod of a scene, with what holds it and what pulls on it."""
        probe = cls.__new__(cls)
        probe._open(scene, h)
        return probe

    def _open(self, scene: Scene, h: float) -> None:
        self.sim = Simulation(scene, threads=1)
        self.block = self.sim.blocks[0]
        self.b = self.block.arrays
        self.sim._around.act(0.0, 1.0)
        self.b.forces.force[:] = self.sim._around.forces[0]
        self.h, self.firm = h, 0.0
        self.size = self.b.system.trial.size
        rods = self.b.rods
        self.free = np.repeat(np.append(rods.edge & ~rods.edge_framed, not rods.held[0]), 3)
        start_at_state(self.b, 0)

    def evaluate(self, x: np.ndarray, exact: bool = True) -> float:
        return float(potential_at(self.b, 0, self.h, self.firm, x.reshape(-1, 3), exact))

    def gradient(self, x: np.ndarray) -> np.ndarray:
        self.evaluate(x)
        return self.b.system.gradient.ravel().copy()

    def matrix(self, exact: bool = True) -> np.ndarray:
        """Where the base is."""
        self.evaluate(np.zeros(self.size), exact)
        return dense_matrix(self.b, 0)


def random_rod(seed: int, vertices: int, closed: bool, curved: bool, **options) -> Rod:
    """Bent, twisted, of uneven segments and an elliptic section, with a natural shape of its own."""
    rng = np.random.default_rng(seed)
    from tendril.core import Stiffness

    steps = rng.standard_normal((vertices, 3)) * 0.35 + (1.0, 0.0, 0.0)
    points = np.cumsum(steps * rng.uniform(0.6, 1.4, (vertices, 1)), axis=0)
    if closed:
        angle = 2.0 * np.pi * np.arange(vertices) / vertices
        points = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1) + 0.2 * rng.standard_normal(
            (vertices, 3)
        )
    rest = points + 0.15 * rng.standard_normal(points.shape) if curved else "straight"
    made_of = Stiffness(1e3, 1.3, 0.7, 0.9, mass_per_length=1.5, inertia_per_length=0.2)
    twist = rng.uniform(-2.0, 2.0)
    return Rod.from_points(points, 0.05, stiffness=made_of, closed=closed, rest=rest, twist=twist, **options)
