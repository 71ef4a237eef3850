"""What a simulation returns for a frame."""

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
    """Solver statistics of a frame; see `models.protocol.Work`."""

    iterations: int
    residual: float
    halvings: int
    fallbacks: int
    failures: int
    energies: Energies
    overlap: float = 0.0  # radii
    affected: frozenset[RodId] = frozenset()  # rods with failures
    # Rods of an explicit model that took implicit steps instead of published ones: in contact, or too stiff for explicit ones
    implicit: frozenset[RodId] = frozenset()
    problems: tuple[str, ...] = ()  # of the scene's functions of time, each reported in the first frame that has it

    @property
    def converged(self) -> bool:
        return self.failures == 0

    @property
    def severity(self) -> str:
        """What was given up in this frame and how severe it is, in a few words; empty if nothing was."""
        if self.converged:
            return ""
        rods = f"{len(self.affected)} rod{'s' * (len(self.affected) != 1)}" if self.affected else "rigid bodies"
        parts = [f"{rods} not solved", f"residual {self.residual:.1g} segment lengths"]
        return ", ".join([*parts, f"overlap {self.overlap:.1g} radii"] if self.overlap > 0.0 else parts)


class Place(NamedTuple):
    """The vertices and edges of a rod among those of all described rods of its block."""

    block: int
    first: int  # vertex
    end: int
    first_edge: int
    end_edge: int


def lay_out(blocks: Sequence[int], entries: Sequence[Entry]) -> list[Place]:
    """The places of rods, given the block of each."""
    places: list[Place] = []
    ends = dict.fromkeys(blocks, (0, 0))
    for block, entry in zip(blocks, entries, strict=True):
        vertex, edge = ends[block]
        ends[block] = vertex + entry.rod.vertex_count, edge + entry.rod.edge_count
        places.append(Place(block, vertex, ends[block][0], edge, ends[block][1]))
    return places


@dataclass(frozen=True)
class Frame:
    """The state of the simulation at a frame. Its arrays are copies that the caller may keep and change."""

    number: int
    time: float  # s since the first frame
    report: Report
    _samples: tuple[tuple[Array, Array, Array], ...] = field(repr=False)  # per block: positions, velocities, directors
    _places: Sequence[Place] = field(repr=False)  # per rod
    _bodies: BodySample | None = field(repr=False, default=None)

    def positions(self, rod: RodId) -> Array:
        """(n, 3) m, of the rod's vertices"""
        return self.positions_of(rod, rod)

    def positions_of(self, first: RodId, last: RodId) -> Array:
        """(N, 3) m, of rods `first` to `last`, which were added consecutively to one model"""
        return self._samples[self._places[first].block][0][self._places[first].first : self._places[last].end]

    def velocities(self, rod: RodId) -> Array:
        """(n, 3) m/s, of the rod's vertices"""
        return self.velocities_of(rod, rod)

    def velocities_of(self, first: RodId, last: RodId) -> Array:
        """(N, 3) m/s, of rods `first` to `last`, which were added consecutively to one model"""
        return self._samples[self._places[first].block][1][self._places[first].first : self._places[last].end]

    def directors(self, rod: RodId) -> Array:
        """(m, 3) first material director of each edge"""
        return self.directors_of(rod, rod)

    def directors_of(self, first: RodId, last: RodId) -> Array:
        """(M, 3) the same for rods `first` to `last`, which were added consecutively to one model"""
        return self._samples[self._places[first].block][2][self._places[first].first_edge : self._places[last].end_edge]

    def body_position(self, body: BodyId) -> Array:
        """(3,) m, of its origin"""
        return np.array(self._bodies_with(body).position[body])

    def body_rotation(self, body: BodyId) -> Array:
        """(3, 3)"""
        return np.array(self._bodies_with(body).rotation[body])

    def body_velocity(self, body: BodyId) -> Array:
        """(3,) m/s, of its centre of mass"""
        return np.array(self._bodies_with(body).velocity[body])

    def body_angular_velocity(self, body: BodyId) -> Array:
        """(3,) rad/s, in world axes"""
        return np.array(self._bodies_with(body).angular_velocity[body])

    def body_force(self, body: BodyId) -> Array:
        """(3,) N, of all attached rods on it, averaged since the previous frame"""
        return np.array(self._bodies_with(body).force[body])

    def body_torque(self, body: BodyId) -> Array:
        """(3,) N m, likewise, about its centre of mass"""
        return np.array(self._bodies_with(body).torque[body])

    def _bodies_with(self, body: BodyId) -> BodySample:
        count = 0 if self._bodies is None else len(self._bodies.position)
        whole = isinstance(body, (int, np.integer)) and not isinstance(body, bool)
        if self._bodies is None or not whole or not 0 <= body < count:
            raise TendrilError("body", body, "give the id that scene.add_body returned")
        return self._bodies
