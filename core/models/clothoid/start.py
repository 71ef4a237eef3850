"""Rods before their first step: in place, and moving as they are told to."""

from __future__ import annotations

from ...compile.jit import kernel
from ...errors import Array
from .arrays import Block, Room
from .rates import fit_rates
from .samples import move_samples


@kernel
def place_rods(b: Block, room: Room, begin: int, stop: int) -> None:
    """Sample points, velocities and directors of rods begin to stop by their curvatures and rates."""
    for r in range(begin, stop):
        move_samples(b, room, r)
        for i in range(b.samples.start[r], b.samples.start[r + 1]):
            b.state.x[i, 3] = 0.0


@kernel
def start_moving(b: Block, room: Room, v: Array) -> None:
    """Generalized velocities with which the Gauss points come nearest to velocities v (G, 3), by mass; what is held stays."""
    for r in range(len(b.rods.degree)):
        fit_rates(b, room, r, v)
