"""A simulation that looks for rest: ever longer steps, each begun from rest, without passing time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import Array, TendrilError
from ..models.protocol import Work

if TYPE_CHECKING:
    from .simulation import Simulation


def settle(sim: Simulation, stable: bool, still: float, most_steps: int) -> bool:
    """See `Simulation.settle`; holds stand where they are."""
    for one in sim.scene.attachments:
        if sim.scene.entries[one.rod].model == "corde":
            raise TendrilError("rod", one.rod, "with bodies on it the model corde finds no rest at once: take net")
    size = max((entry.rod.length for entry in sim.scene.entries), default=1.0)
    springy = max((float(entry.rod.bend.max()) / entry.rod.length for entry in sim.scene.entries), default=0.0)
    for _ in range(4):
        if not _come_to_rest(sim, still * size, most_steps):
            return False
        if not stable:
            return True
        found, energies = sim.state(), sim.energies()
        for block in sim.blocks:
            block.disturb(1e-4)
        _come_to_rest(sim, still * size, most_steps)
        gained = energies.total - sim.energies().total
        sim._around.act(sim.time, 1.0)
        pull = max((float(np.abs(forces).sum()) for forces in sim._around.forces), default=0.0)
        if not gained > 1e-6 * energies.elastic + 1e-9 * (pull * size + springy):
            sim._put_state(found)
            return True
    return False


def _come_to_rest(sim: Simulation, still: float, most_steps: int) -> bool:
    h = 0.1 / sim.frame_rate
    for _ in range(most_steps):
        before = _where(sim)
        _stop(sim)
        earlier, sim._work = sim._work, Work()
        sim._step(h, 1, sim.time, settling=True)
        smooth = sim._work.halvings + sim._work.failures == 0
        sim._work = earlier + sim._work
        moved = max(float(np.abs(now - then).max()) for now, then in zip(_where(sim), before, strict=True))
        if smooth and h > 1e3 and moved < still:
            _stop(sim)
            return True
        h = min(h * 3.0, 1e6) if smooth else max(h / 10.0, 1e-6)
    return False


def _where(sim: Simulation) -> list[Array]:
    """Positions of all sample points and bodies."""
    bodies = [] if sim._bodies is None else [sim._bodies.block.positions()]
    return [*(block.positions().copy() for block in sim.blocks), *bodies]


def _stop(sim: Simulation) -> None:
    """Takes all speed away."""
    for block in sim.blocks:
        block.stop()
    if sim._bodies is not None:
        sim._bodies.block.stop(np.arange(len(sim.scene.bodies)))
