"""Undamped motion of compact rods with the stiffness of real materials: spin, energy, order of the steps."""

from __future__ import annotations

import numpy as np
import pytest
from plain_rods import fitted_order
from undamped import energies_left, pendulum, place_after, spin_left, spinning_stick

# turns/s, s, least fraction of the spin
SPINS = [(1.0, 1.0, 0.995), (1.0, 5.0, 0.97), (2.0, 1.0, 0.98), (10.0, 0.5, 0.85)]
# preset, substeps, s
PENDULUMS = [("nylon rope", 4, 20.0), ("nylon rope", 32, 20.0), ("steel cable", 8, 5.0), ("chain", 4, 20.0)]
# starts, frames, counts of substeps
ORDERS = {
    "stick": (lambda n: spinning_stick("compact", 1.0, n), 12, (2, 4, 8)),
    "pendulum": (lambda n: pendulum("compact", "nylon rope", n), 12, (4, 8, 16)),
    "dropped rope": (lambda n: pendulum("compact", "nylon rope", n, 90.0), 6, (4, 8, 16)),
}


@pytest.mark.parametrize(("turns", "seconds", "least"), SPINS)
def test_a_free_stick_keeps_its_spin(turns: float, seconds: float, least: float) -> None:
    spin = spin_left("compact", turns, seconds)
    assert least <= spin.left <= 1.0
    assert spin.fallbacks == spin.halvings == 0


@pytest.mark.parametrize(("preset", "substeps", "seconds"), PENDULUMS)
def test_a_pendulum_keeps_its_energy(preset: str, substeps: int, seconds: float) -> None:
    assert 0.95 <= energies_left("compact", preset, substeps, seconds)[-1] <= 1.01


@pytest.mark.parametrize("substeps", [1, 2, 16, 64])
def test_energy_does_not_come_from_nothing(substeps: int) -> None:
    assert energies_left("compact", "chain", substeps, 4.0).max() <= 1.001


@pytest.mark.parametrize("name", ORDERS)
def test_steps_are_of_second_order_with_stiff_rods(name: str) -> None:
    start, frames, counts = ORDERS[name]
    exact = place_after(start(8 * counts[-1]), frames)
    errors = [float(np.abs(place_after(start(count), frames) - exact).max()) for count in counts]
    assert fitted_order(counts, errors) > 1.8, errors
