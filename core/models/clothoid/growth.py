"""Rods that are made other than they were described: they grow, curl, stiffen.

Curvatures stay as they are where elements get longer, so that a rod that grows bends no more and no less, and gains no elastic
energy. Lengths change evenly through a frame, as holds move; the sample points follow when a step begins, so that contact sees
them move.
"""

from __future__ import annotations

import numpy as np

from ...errors import Array
from ..alteration import Factors
from .arrays import Block, Ints
from .layout import gauss_points, geometry_of, panels_of, stage_of


class Growth:
    """How the rods of a block were described, and by which factors they are other now."""

    def __init__(self, b: Block) -> None:
        self._start = np.linalg.norm(b.state.kappa, axis=1)
        self._length, self._natural = b.state.length.copy(), b.state.natural.copy()
        self._stiffness, self._damping = b.nodes.stiffness.copy(), b.rods.damping_time.copy()
        self._spacing = b.rods.spacing / self._totals(b)
        b.rods.spacing[:] = self._spacing * self._totals(b)  # to the last bit as it is after a restored state
        self._factors = [Factors()] * len(b.rods.degree)
        self._from, self._to = b.state.length.copy(), b.state.length.copy()
        counts = np.diff(b.nodes.element_start)
        self._first = np.arange(len(self._length)) + np.repeat((b.nodes.start - b.nodes.element_start)[:-1], counts)
        self._last = self._first + np.repeat(b.rods.degree, counts)
        self._of_element = np.searchsorted(b.gauss.element, np.arange(len(self._length)))  # its first Gauss point
        self._panels = panels_of(self._sizes(b)[self._first], self._sizes(b)[self._last], self._length)

    @staticmethod
    def _totals(b: Block) -> Array:
        return np.asarray(np.add.reduceat(b.state.length, b.nodes.element_start[:-1]))

    def _sizes(self, b: Block) -> Array:
        """How much nodes are curved or twisted, at most: as drawn, or by nature."""
        return np.asarray(np.maximum(self._start, np.linalg.norm(b.state.natural, axis=1)))

    def describe(self, b: Block, r: int, length: float | None, curvature: Array | None) -> None:
        """Another length (m), or twist and curvatures, for factors to act on."""
        elements, nodes = _range(b.nodes.element_start, r), _range(b.nodes.start, r)
        if length is not None:
            self._length[elements] *= length / self._length[elements].sum()
            self._aim(b, r)
        if curvature is not None:
            self._natural[nodes] = curvature
            self._curl(b, r)

    def alter(self, b: Block, r: int, factors: Factors) -> None:
        elements = _range(b.nodes.element_start, r)
        self._factors[r] = factors
        b.nodes.stiffness[elements] = self._stiffness[elements] * factors.stiffness
        b.rods.damping_time[r] = self._damping[r] * factors.damping
        self._aim(b, r)
        self._curl(b, r)

    def _aim(self, b: Block, r: int) -> None:
        elements = _range(b.nodes.element_start, r)
        self._from[elements] = b.state.length[elements]
        self._to[elements] = self._length[elements] * self._factors[r].length

    def lengthen(self, b: Block, fraction: float) -> set[int]:
        """To a fraction of the way to the new lengths. Returns the rods that are as long as they were no more."""
        now = self._to if fraction == 1.0 else self._from + fraction * (self._to - self._from)
        changed = np.flatnonzero(now != b.state.length)
        b.state.length[:] = now
        return set((np.searchsorted(b.nodes.element_start, changed, side="right") - 1).tolist())

    def stay(self, b: Block) -> None:
        """Rods are as long as they are to be: the state was restored."""
        self._from[:], self._to[:] = b.state.length, b.state.length

    def _curl(self, b: Block, r: int) -> None:
        nodes, curl = _range(b.nodes.start, r), self._factors[r].curl
        b.state.natural[nodes] = self._natural[nodes] * (1.0, curl, curl)

    def follow(self, b: Block) -> Block:
        """The block with as many Gauss points as rods need that are as long and as curled as these."""
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
            stage=stage_of(count, b.state),
            geometry=geometry_of(count, len(b.state.x))._replace(
                sample_frame=b.geometry.sample_frame, edge0=b.geometry.edge0, edge_director0=b.geometry.edge_director0
            ),
        )


def _range(start: Ints, r: int) -> slice:
    return slice(int(start[r]), int(start[r + 1]))
