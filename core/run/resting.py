"""The search for static equilibrium: ever longer steps, each from rest, without advancing time."""

from __future__ import annotations

import numpy as np

from ..models.protocol import Work
from .stepper import Stepper
from .world import World

MOST_DISTURBANCES = 4
DISTURBANCE = 1e-4  # segment lengths
LONG = 1e3  # s: a step so long that it ends at rest


def settle(
    world: World, stepper: Stepper, frame_rate: float, time: float, stable: bool, still: float, most_steps: int
) -> bool:
    """See `Simulation.settle`. Holds stay where they are."""
    entries = world.scene.entries
    size = max((entry.rod.length for entry in entries), default=1.0)
    springy = max((float(entry.rod.bend.max()) / entry.rod.length for entry in entries), default=0.0)
    first = 0.1 / frame_rate
    for _ in range(MOST_DISTURBANCES):
        if not _come_to_rest(world, stepper, first, time, still * size, most_steps):
            return False
        if not stable:
            return True
        found, energies = world.pack_state(), world.energies()
        for block in world.blocks:
            block.disturb(DISTURBANCE)
        _come_to_rest(world, stepper, first, time, still * size, most_steps)
        gained = energies.total - world.energies().total
        world.around.act(time, 1.0)
        pull = max((float(np.abs(forces).sum()) for forces in world.around.forces), default=0.0)
        if not gained > 1e-6 * energies.elastic + 1e-9 * (pull * size + springy):
            world.restore(found)
            return True
    return False


def _come_to_rest(world: World, stepper: Stepper, h: float, time: float, still: float, most_steps: int) -> bool:
    """Steps of h seconds and longer, until one moves nothing by more than `still` (m)."""
    for _ in range(most_steps):
        before = world.positions()
        world.stop()
        earlier, world.work = world.work, Work()
        stepper.relax(h, time)
        smooth = world.work.halvings + world.work.failures == 0
        world.work = earlier + world.work
        moved = max(float(np.abs(now - then).max()) for now, then in zip(world.positions(), before, strict=True))
        if smooth and h > LONG and moved < still:
            world.stop()
            return True
        h = min(h * 3.0, 1e6) if smooth else max(h / 10.0, 1e-6)
    return False
