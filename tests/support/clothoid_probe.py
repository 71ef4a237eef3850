"""A `clothoid` rod laid open: the potential of a stage as a plain function of the unknowns, about a base."""

from __future__ import annotations

import numpy as np
from tendril.core import Rod, Scene, Simulation
from tendril.core.compile.jit import kernel
from tendril.core.describe.scene import Elements
from tendril.core.models.clothoid.potential import evaluate_stage, place_points
from tendril.core.models.clothoid.roots import shift_root
from tendril.core.models.clothoid.samples import sample_jacobian


@kernel
def potential_here(b, scratch, h, pushes, pushed, derivatives, exact):
    return evaluate_stage(b, scratch, 0, h, scratch.rows, 0, pushes, pushed, derivatives, exact, False)


@kernel
def rows_here(b, scratch):
    sample_jacobian(b, scratch, 0, scratch.rows, 0)


@kernel
def points_here(b, scratch):
    place_points(b, scratch, 0)


@kernel
def shift(b, step):
    shift_root(b.state.root, b.state.frame, 0, step, 0, 1.0)


class Probe:
    """Loads act on samples; `h` makes inertia count, from a moving start."""

    def __init__(self, rod: Rod, elements: int, degree: int = 1, gravity=(0.0, 0.0, 0.0), h: float = 1e9) -> None:
        scene = Scene(gravity)
        scene.add(rod, "clothoid", elements=Elements(elements, degree=degree))
        self.sim = Simulation(scene, threads=1)
        self.block = self.sim.blocks[0]
        self.b, self.scratch, self.h = self.block.arrays, self.block._scratch[0], h
        self.b.forces.gravity[:] = gravity
        self.n = 6 + 3 * len(self.b.state.kappa)
        geometry = self.b.geometry
        geometry.tangent0[:, 0] = geometry.director0[:, 1] = 1.0
        points_here(self.b, self.scratch)
        geometry.tangent0[:], geometry.director0[:] = geometry.frame[:, :, 0], geometry.frame[:, :, 1]
        self.b.stage.x[:, :3] = geometry.x[:, :3]
        self.b.stage.kappa[:] = self.b.state.kappa
        x = self.b.state.x
        e = np.diff(x[:, :3], axis=0)
        geometry.edge0[:-1] = e / np.linalg.norm(e, axis=1)[:, None]
        geometry.edge_director0[:] = self.b.state.director
        self.b.stage.sample_x[:] = x
        self.pushes = np.zeros((len(x), 4))
        self.pushed = False
        self.set_base()

    def set_base(self) -> None:
        state = self.b.state
        self.base = state.kappa.copy(), state.root.copy(), state.frame.copy()

    def go(self, step: np.ndarray) -> None:
        state = self.b.state
        state.kappa[:], state.root[:], state.frame[:] = self.base
        state.kappa[:] += step[6:].reshape(-1, 3)
        shift(self.b, step)

    def potential(self, step: np.ndarray) -> float:
        self.go(step)
        return potential_here(self.b, self.scratch, self.h, self.pushes, self.pushed, False, False)

    def gradient(self, step: np.ndarray | None = None) -> np.ndarray:
        self.go(np.zeros(self.n) if step is None else step)
        potential_here(self.b, self.scratch, self.h, self.pushes, self.pushed, True, True)
        return self.scratch.gradient[: self.n].copy()

    def hessian(self, exact: bool = True) -> np.ndarray:
        self.go(np.zeros(self.n))
        potential_here(self.b, self.scratch, self.h, self.pushes, self.pushed, True, exact)
        lower = np.tril(self.scratch.matrix[: self.n, : self.n])
        return lower + np.tril(lower, -1).T

    def samples(self, step: np.ndarray) -> np.ndarray:
        self.go(step)
        rows_here(self.b, self.scratch)
        return self.b.state.x.copy()

    def rows(self) -> np.ndarray:
        self.go(np.zeros(self.n))
        rows_here(self.b, self.scratch)
        count = len(self.b.state.x)
        return self.scratch.rows[: 4 * count * self.n].reshape(count, 4, self.n).copy()
