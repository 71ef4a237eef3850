"""Initial positions and velocities of rods."""

from __future__ import annotations

from ...compile.jit import kernel
from ...errors import Array
from .arrays import Arrays, Scratch
from .rates import fit_rates
from .samples import update_samples


@kernel
def place_rods(b: Arrays, scratch: Scratch, begin: int, stop: int) -> None:
    """Sample points, velocities and directors of rods begin ... stop - 1 from their curvatures and rates."""
    for r in range(begin, stop):
        update_samples(b, scratch, r)
        for i in range(b.samples.start[r], b.samples.start[r + 1]):
            b.state.x[i, 3] = 0.0


@kernel
def set_velocities(b: Arrays, scratch: Scratch, v: Array) -> None:
    """Generalized velocities by a mass-weighted least squares fit to velocities v (G, 3) of the Gauss points; prescribed ones
    are kept."""
    for r in range(len(b.rods.degree)):
        fit_rates(b, scratch, r, v)
