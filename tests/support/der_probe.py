"""Test access to a `der` rod: its elastic energy as a plain function of the unknowns, with frames transported from a fixed
base."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from tendril.core import Rod, Scene, Simulation
from tendril.core.models.elastic.dense import FOREVER, dense_matrix, lay_at, potential_here


class Probe:
    def __init__(self, rod: Rod, framed: tuple[int, ...] = (), h: float = FOREVER) -> None:
        scene = Scene(gravity=(0, 0, 0))
        rod_id = scene.add(rod)
        for vertex in framed:
            scene.orient(rod_id, vertex)
        self._open(scene, h)

    @classmethod
    def of(cls, scene: Scene) -> Probe:
        """Probe of the only rod of a scene, with its holds and loads."""
        probe = cls.__new__(cls)
        probe._open(scene, FOREVER)
        return probe

    def _open(self, scene: Scene, h: float) -> None:
        (entry,) = scene.entries
        self.sim = Simulation(scene, threads=1)
        block = self.sim.blocks[0]
        self.bench = block.workbench(0)
        self.b = SimpleNamespace(rods=block.arrays.rods, geometry=self.bench.geometry)
        self.sim._around.act(0.0, 1.0)
        self.bench.forces.force.reshape(-1, 4)[:, :3] = self.sim._around.forces[0]
        self.h = h
        self.scratch = block._scratch[0]
        self.size = 4 * entry.rod.vertex_count
        self.free = ~self.bench.material.held
        self.set_base(self.bench.state.q.copy())

    def set_base(self, q: np.ndarray) -> None:
        """Moves the rod to q, transports its frames, and makes this the base from which frames are transported."""
        assert self._geometry(q)
        # theta is measured relative to the new material frames, as at the beginning of a step
        g, b = self.bench.geometry, self.bench
        g.base_t[:] = g.t
        g.base_reference[:] = g.d1
        g.base_twist[:] = g.strain[:, 4]
        self.base = q.copy()
        self.base[3::4] = 0.0
        b.stage.q[:] = self.base
        b.stage.v[:] = 0.0

    def _geometry(self, q: np.ndarray) -> bool:
        return bool(lay_at(self.bench, q))

    def evaluate(self, q: np.ndarray, exact: bool = True) -> float:
        assert self._geometry(q)
        return float(potential_here(self.bench, self.scratch, self.h, exact))

    def gradient(self, q: np.ndarray) -> np.ndarray:
        self.evaluate(q)
        return self.bench.system.gradient.copy()

    def hessian(self, q: np.ndarray, exact: bool = True) -> np.ndarray:
        self.evaluate(q, exact)
        return dense_matrix(self.bench, 0)


def random_rod(seed: int, vertices: int, closed: bool, curved: bool) -> Rod:
    """A bent, twisted, anisotropic rod with uneven segments, slightly stretched relative to its rest shape."""
    from tendril.core import Stiffness

    rng = np.random.default_rng(seed)
    s = np.linspace(0.0, 2.0 * np.pi, vertices, endpoint=not closed)
    ring = np.stack([np.cos(s), np.sin(s), 0.3 * np.sin(2.0 * s)], axis=1)
    line = np.stack([s, 0.4 * np.sin(s), 0.3 * np.cos(1.5 * s)], axis=1)
    points = (ring if closed else line) + 0.08 * rng.standard_normal((vertices, 3))
    edges = vertices if closed else vertices - 1
    stiffness = [
        Stiffness(*rng.uniform(0.5, 3.0, 4), mass_per_length=rng.uniform(0.5, 2.0), inertia_per_length=0.1)
        for _ in range(edges)
    ]
    rest = points + 0.1 * rng.standard_normal((vertices, 3)) if curved else "straight"
    return Rod.from_points(
        points, radius=0.05, stiffness=stiffness, closed=closed, rest=rest, twist=rng.uniform(-3.0, 3.0), rest_twist=0.2
    )
