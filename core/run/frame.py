"""What a simulation gives for a frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..describe.scene import BodyId, Entry, RodId
from ..errors import Array, TendrilError
from ..models.protocol import Energies

if TYPE_CHECKING:
    from ..contact.bodies.simulated import BodySample


@dataclass(frozen=True)
class Report:
    """What was done for a frame."""

    iterations: int
    residual: float
    halvings: int
    fallbacks: int
    failures: int
    energies: Energies

    @property
    def converged(self) -> bool:
        return self.failures == 0


class Place(NamedTuple):
    """Where a rod is among those of its block."""

    block: int
    first: int  # vertex
    end: int
    first_edge: int
    end_edge: int


def lay_out(blocks: Sequence[int], entries: Sequence[Entry]) -> list[Place]:
    """Places of rods, given the block of each."""
    places: list[Place] = []
    ends = dict.fromkeys(blocks, (0, 0))
    for block, entry in zip(blocks, entries, strict=True):
        vertex, edge = ends[block]
        ends[block] = vertex + entry.rod.vertex_count, edge + entry.rod.edge_count
        places.append(Place(block, vertex, ends[block][0], edge, ends[block][1]))
    return places


@dataclass(frozen=True)
class Frame:
    """A moment of the simulation. Its arrays are copies, yours to keep."""

    number: int
    time: float  # s since the first frame
    report: Report
    _samples: tuple[tuple[Array, Array, Array], ...] = field(repr=False)  # per block: positions, velocities, directors
    _places: Sequence[Place] = field(repr=False)  # per rod
    _bodies: BodySample | None = field(repr=False, default=None)

    def positions(self, rod: RodId) -> Array:
        """(n, 3) m"""
        place = self._places[rod]
        return self._samples[place.block][0][place.first : place.end]

    def positions_of(self, first: RodId, last: RodId) -> Array:
        """(N, 3) m of rods that were added one after the other to one model, all at once."""
        return self._samples[self._places[first].block][0][self._places[first].first : self._places[last].end]

    def velocities(self, rod: RodId) -> Array:
        """(n, 3) m/s"""
        place = self._places[rod]
        return self._samples[place.block][1][place.first : place.end]

    def directors(self, rod: RodId) -> Array:
        """(m, 3) first material director of each edge"""
        place = self._places[rod]
        return self._samples[place.block][2][place.first_edge : place.end_edge]

    def directors_of(self, first: RodId, last: RodId) -> Array:
        """(M, 3) the same of rods that were added one after the other to one model, all at once."""
        return self._samples[self._places[first].block][2][self._places[first].first_edge : self._places[last].end_edge]

    def body_position(self, body: BodyId) -> Array:
        """(3,) m, of its origin"""
        return self._of(body, "position")

    def body_rotation(self, body: BodyId) -> Array:
        """(3, 3)"""
        return self._of(body, "rotation")

    def body_velocity(self, body: BodyId) -> Array:
        """(3,) m/s, of its centre of mass"""
        return self._of(body, "velocity")

    def body_angular_velocity(self, body: BodyId) -> Array:
        """(3,) rad/s, in the world"""
        return self._of(body, "angular_velocity")

    def body_force(self, body: BodyId) -> Array:
        """(3,) N, of the rods attached to it, on average since the frame before"""
        return self._of(body, "force")

    def body_torque(self, body: BodyId) -> Array:
        """(3,) N m, likewise, about its centre of mass"""
        return self._of(body, "torque")

    def _of(self, body: BodyId, what: str) -> Array:
        count = 0 if self._bodies is None else len(self._bodies.position)
        if isinstance(body, bool) or not isinstance(body, (int, np.integer)) or not 0 <= body < count:
            raise TendrilError("body", body, "give the id that scene.add_body returned")
        return np.array(getattr(self._bodies, what)[body])
