"""Rods whose length, curl or stiffness changes during the simulation.

Curvatures stay constant while elements lengthen, so that growth adds no elastic energy. Lengths change linearly over a frame,
like prescribed motion. The sample points are updated at the start of the next step, so that contact sees their motion.
"""

from __future__ import annotations

import numpy as np

from ...errors import Array, Ints, TendrilError, array, positive
from ..alteration import Factors
from .arrays import Arrays
from .layout import gauss_points, make_geometry, make_stage, panels_of


class Growth:
    """Described properties of a block's rods, and the factors applied to them."""

    def __init__(self, b: Arrays) -> None:
        self._start = np.linalg.norm(b.state.kappa, axis=1)
        self._length, self._natural = b.state.length.copy(), b.state.natural.copy()
        self._stiffness, self._damping = b.nodes.stiffness.copy(), b.rods.damping_time.copy()
        self._spacing = b.rods.spacing / self._totals(b)
        b.rods.spacing[:] = self._spacing * self._totals(b)  # bit-identical to the value after a restored state
        self._factors = [Factors()] * len(b.rods.degree)
        self._from, self._to = b.state.length.copy(), b.state.length.copy()
        counts = np.diff(b.nodes.element_start)
        self._first = np.arange(len(self._length)) + np.repeat((b.nodes.start - b.nodes.element_start)[:-1], counts)
        self._last = self._first + np.repeat(b.rods.degree, counts)
        # first Gauss point of each element
        self._of_element = np.searchsorted(b.gauss.element, np.arange(len(self._length)))
        self._panels = panels_of(self._sizes(b)[self._first], self._sizes(b)[self._last], self._length)

    @staticmethod
    def _totals(b: Arrays) -> Array:
        return np.asarray(np.add.reduceat(b.state.length, b.nodes.element_start[:-1]))

    def _sizes(self, b: Arrays) -> Array:
        """(K,) 1/m, norm of the curvature vectors at the nodes: the larger of initial and natural."""
        return np.asarray(np.maximum(self._start, np.linalg.norm(b.state.natural, axis=1)))

    def describe(self, b: Arrays, r: int, length: float | None, curvature: object) -> None:
        """Replaces the described length (m), or twist and curvatures (1/m), to which the factors apply."""
        if length is None and curvature is None:
            raise TendrilError("length", None, "give a length, a curvature, or both")
        elements, nodes = _range(b.nodes.element_start, r), _range(b.nodes.start, r)
        given = None
        if length is not None:
            length = positive("length", length, "m")
        if curvature is not None:
            count = nodes.stop - nodes.start
            cure = f"give twist and two curvatures in 1/m: three numbers, or {count} rows of them, one per node"
            given = array("curvature", curvature, (3,) if np.asarray(curvature).ndim == 1 else (count, 3), cure)
        if length is not None:
            self._length[elements] *= length / self._length[elements].sum()
            self._set_target(b, r)
        if given is not None:
            self._natural[nodes] = given
            self._curl(b, r)

    def alter(self, b: Arrays, r: int, factors: Factors) -> None:
        elements = _range(b.nodes.element_start, r)
        self._factors[r] = factors
        b.nodes.stiffness[elements] = self._stiffness[elements] * factors.stiffness
        b.rods.damping_time[r] = self._damping[r] * factors.damping
        self._set_target(b, r)
        self._curl(b, r)

    def _set_target(self, b: Arrays, r: int) -> None:
        elements = _range(b.nodes.element_start, r)
        self._from[elements] = b.state.length[elements]
        self._to[elements] = self._length[elements] * self._factors[r].length

    def lengthen(self, b: Arrays, fraction: float) -> set[int]:
        """Sets the lengths to a fraction of the way to their targets. Returns the rods whose length changed."""
        now = self._to if fraction == 1.0 else self._from + fraction * (self._to - self._from)
        changed = np.flatnonzero(now != b.state.length)
        b.state.length[:] = now
        return set((np.searchsorted(b.nodes.element_start, changed, side="right") - 1).tolist())

    def stay(self, b: Arrays) -> None:
        """Makes the current lengths the targets, after a state was restored."""
        self._from[:], self._to[:] = b.state.length, b.state.length

    def _curl(self, b: Arrays, r: int) -> None:
        nodes, curl = _range(b.nodes.start, r), self._factors[r].curl
        b.state.natural[nodes] = self._natural[nodes] * (1.0, curl, curl)

    def follow(self, b: Arrays) -> Arrays:
        """Returns the arrays, with a new number of Gauss points if the lengths and curvatures require it."""
        b.rods.spacing[:] = self._spacing * self._totals(b)
        size = self._sizes(b)
        panels = panels_of(size[self._first], size[self._last], b.state.length)
        if np.array_equal(panels, self._panels):
            return b
        at = self._of_element
        mass = b.gauss.mass[at] / b.gauss.weight[at, None]
        gauss = gauss_points(panels, mass, b.nodes.element_start)
        self._panels, self._of_element = panels, np.searchsorted(gauss.element, np.arange(len(panels)))
        count = len(gauss.element)
        return b._replace(
            gauss=gauss,
            stage=make_stage(count, b.state),
            geometry=make_geometry(count, len(b.state.x))._replace(
                sample_frame=b.geometry.sample_frame, edge0=b.geometry.edge0, edge_director0=b.geometry.edge_director0
            ),
        )


def _range(start: Ints, r: int) -> slice:
    return slice(int(start[r]), int(start[r + 1]))
