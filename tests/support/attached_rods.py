"""Rods that are attached to bodies, as several tests look at them."""

from __future__ import annotations

import numpy as np
from tendril.core import Simulation


def apart(sim: Simulation) -> float:
    """How far rods are from where they are attached."""
    frame, worst = sim.current(), 0.0
    for one in sim.scene.attachments:
        first, last = (frame.positions(one.rod)[vertex] for vertex in sim.scene.entries[one.rod].rod.ends(one.edge))
        point = frame.body_position(one.body) + frame.body_rotation(one.body) @ one.point
        worst = max(worst, float(np.linalg.norm(point - first - one.at * (last - first))))
    return worst
