"""Test access to a `der` rod: its elastic energy as a plain function of the unknowns, with frames transported from a fixed
base."""

from __future__ import annotations

import numpy as np
from tendril.core import Rod, Scene, Simulation
from tendril.core.models.der.dense import FOREVER, dense_matrix, lay_at, potential_here
from tendril.core.models.der.element import make_lanes


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
        self.b = self.sim.blocks[0].workbench(0)
        self.sim._around.act(0.0, 1.0)
        self.b.forces.force[:, :3] = self.sim._around.forces[0]
        self.h = h
        self.lanes = make_lanes()
        self.size = 4 * entry.rod.vertex_count
        self.free = ~self.b.rods.held.ravel()
        self.set_base(self.b.state.q.ravel().copy())

    def set_base(self, q: np.ndarray) -> None:
        """Moves the rod to q, transports its frames, and makes this the base from which frames are transported."""
        assert self._geometry(q)
        # theta is measured relative to the new material frames, as at the beginning of a step
        g, b = self.b.geometry, self.b
        g.base_t[:] = g.t
        g.base_reference[:] = g.d1
        g.base_twist[:, 0] = g.strain[:, 0, 4]
        g.base_twist[:, 1] = g.strain[:, 1, 4]
        self.base = q.reshape(-1, 4).copy()
        self.base[:, 3] = 0.0
        self.base = self.base.ravel()
        b.stage.q[:] = self.base.reshape(-1, 4)
        b.stage.v[:] = 0.0

    def _geometry(self, q: np.ndarray) -> bool:
        return bool(lay_at(self.b, q.reshape(-1, 4)))

    def evaluate(self, q: np.ndarray, exact: bool = True) -> float:
        assert self._geometry(q)
        return float(potential_here(self.b, self.h, self.lanes, exact))

    def gradient(self, q: np.ndarray) -> np.ndarray:
        self.evaluate(q)
        return self.b.system.gradient.ravel().copy()

    def hessian(self, q: np.ndarray, exact: bool = True) -> np.ndarray:
        self.evaluate(q, exact)
        return dense_matrix(self.b)


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
