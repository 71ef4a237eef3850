"""Coupled steps of clothoids, and the mapping between generalized and sample coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...compile.workers import Workers
from ...errors import Array, Ints
from ..protocol import Edges, Pushes
from ..report import FAILURES, ITERATIONS
from ..state_of_rods import copy_rods, put_rods, rows_of
from .arrays import Arrays, Coupled, Scratch, State
from .contacts import respond_to_loads
from .coupled import (
    begin_rods,
    finish_rods,
    linearise_rods,
    map_forces,
    map_motion,
    move_rods,
    probe_rods,
    retreat_rods,
    sample_jacobians,
    solve_coupled,
    weigh_steps,
)
from .layout import make_coupled


class CoupledSteps:
    """Base of `ClothoidBlock`, which sets these attributes and takes the free steps."""

    arrays: Arrays
    sample_start: Ints
    _rods: int
    _workers: Workers
    _along: Array
    _h: float
    _measured: bool
    _scratch: list[Scratch]
    _sample_mass: Array
    _pushed: Array
    _coupled: Coupled | None
    _kept: State | None
    _jacobian_current: bool

    def _apply_growth(self) -> None:
        raise NotImplementedError

    def point_velocities(self, generalized: Array, out: Array) -> None:
        moved = np.empty((len(out), 4))
        map_motion(self.arrays, self._update_jacobian().rows, np.arange(self._rods), generalized, moved)
        out[:] = moved[:, :3]

    def generalized_forces(self, forces: Array, out: Array) -> None:
        map_forces(self.arrays, self._update_jacobian().rows, np.arange(self._rods), forces, out)

    def _update_jacobian(self) -> Coupled:
        self._apply_growth()
        if self._coupled is None:
            self._coupled = make_coupled(self.arrays)
        if not self._jacobian_current:
            sample_jacobians(self.arrays, self._coupled, self._scratch[0], 0, self._rods)
            self._jacobian_current = True
        return self._coupled

    def edges(self) -> Edges:
        n = int(self.sample_start[-1])
        after = np.arange(1, n + 1)
        after[self.sample_start[1:] - 1] = -1
        return Edges(after, self.arrays.samples.radii.max(axis=1), self._along.copy(), np.full(n, np.inf))

    def turns(self) -> Array:
        return self.arrays.state.x[:, 3]

    def save(self, chosen: Ints) -> None:
        if self._kept is None:
            self._kept = State(*(array.copy() for array in self.arrays.state))
            self._update_jacobian()
        put_rods(self._kept, self._starts(), chosen, self.copy(chosen))

    def rollback(self, chosen: Ints) -> None:
        assert self._kept is not None, "save() comes first"
        self.restore(chosen, copy_rods(self._kept, self._starts(), chosen))

    def copy(self, chosen: Ints) -> Sequence[Array]:
        return copy_rods(self.arrays.state, self._starts(), chosen)

    def restore(self, chosen: Ints, state: Sequence[Array]) -> None:
        put_rods(self.arrays.state, self._starts(), chosen, state)
        self._measured = False
        self._jacobian_current = False

    def _starts(self) -> list[Ints]:
        """Start of each rod in the arrays of the state."""
        b, each = self.arrays, np.arange(self._rods + 1)
        return [
            b.nodes.element_start, b.nodes.start, b.nodes.start, each, each, b.rods.vector_start,
            b.rods.vector_start, each, b.samples.start, b.samples.start, b.samples.start, b.samples.start,
        ]  # fmt: skip

    def begin(self, chosen: Ints, h: float, air_density: float, still: bool = False) -> None:
        b, c, kept, mass = self.arrays, self._coupled_arrays(), self._kept, self._sample_mass
        assert kept is not None, "save() comes first"
        self._h = h
        self._share(
            lambda first, last, scratch: begin_rods(
                b, c, kept, scratch, chosen, h, air_density, still, mass, first, last
            ),
            chosen,
        )

    def estimate_mobility(self, chosen: Ints, mobility: Array) -> None:
        b, h = self.arrays, self._h
        self._share(lambda first, last, scratch: probe_rods(b, scratch, chosen, h, mobility, first, last), chosen)

    def linearise(self, chosen: Ints, pushes: Pushes, potential: Array) -> None:
        b, c, h = self.arrays, self._coupled_arrays(), self._h
        rows = rows_of(self.sample_start, chosen)
        self._pushed[rows] = pushes.force[rows]
        self._share(
            lambda first, last, scratch: linearise_rods(b, c, scratch, pushes, chosen, h, potential, first, last),
            chosen,
        )
        b.log.report[chosen, ITERATIONS] += 1.0

    def step_vector(self) -> Array:
        return self._coupled_arrays().step

    def solve_linearised(self, chosen: Ints, generalized: Array) -> None:
        b, c = self.arrays, self._coupled_arrays()
        self._share(lambda first, last, scratch: solve_coupled(b, c, scratch, chosen, generalized, first, last), chosen)

    def sample_steps(self, chosen: Ints, generalized: Array, out: Array) -> None:
        map_motion(self.arrays, self._coupled_arrays().rows, chosen, generalized, out)

    def generalized_pushes(self, chosen: Ints, forces: Array, out: Array) -> None:
        map_forces(self.arrays, self._coupled_arrays().rows, chosen, forces, out)

    def measure_steps(self, chosen: Ints, longest: Array, slope: Array) -> None:
        b, c = self.arrays, self._coupled_arrays()
        self._share(lambda first, last, _: weigh_steps(b, c, chosen, longest, slope, first, last), chosen)

    def move(self, chosen: Ints) -> None:
        b, c = self.arrays, self._coupled_arrays()
        self._share(lambda first, last, scratch: move_rods(b, c, scratch, chosen, first, last), chosen)

    def backtrack(self, chosen: Ints, sizes: Array) -> None:
        b, c = self.arrays, self._coupled_arrays()
        self._share(lambda first, last, scratch: retreat_rods(b, c, scratch, chosen, sizes, first, last), chosen)

    def finish(self, chosen: Ints, creep: bool = False) -> None:
        b, h, pushed = self.arrays, self._h, self._pushed
        self._share(lambda first, last, scratch: finish_rods(b, scratch, chosen, h, creep, pushed, first, last), chosen)
        self._measured = False
        self._jacobian_current = False
        if creep:
            b.log.report[chosen, FAILURES] += 1.0

    def _coupled_arrays(self) -> Coupled:
        assert self._coupled is not None, "save() comes first"
        self._jacobian_current = False
        return self._coupled

    def _share(self, work: Callable[[int, int, Scratch], None], chosen: Ints) -> None:
        buffers = self._scratch
        effort = 10 * len(chosen) * len(self.arrays.gauss.element) // max(self._rods, 1)
        self._workers.run(lambda first, last, piece: work(first, last, buffers[piece]), len(chosen), effort)

    @property
    def most_unknowns(self) -> int:
        return int(np.diff(self.arrays.rods.vector_start).max())

    def contact_responses(
        self, rod: Ints, edge: Ints, load: Array, start: Ints, out: NDArray[np.floating[Any]]
    ) -> None:
        b, c, x = self.arrays, self._coupled_arrays(), np.zeros((len(rod), max(self.most_unknowns, 6)))
        self._workers.run(
            lambda first, last, _: respond_to_loads(b, c, rod, edge, load, start, x, out, first, last),
            len(rod),
            10 * len(rod),
        )
