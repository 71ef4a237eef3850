"""Measurements of rods attached to bodies, shared by several tests."""

from __future__ import annotations

import numpy as np
from tendril.core import Simulation


def apart(sim: Simulation) -> float:
    """Largest distance of a rod from its attachment point, m."""
    frame, worst = sim.current(), 0.0
    for one in sim.scene.attachments:
        first, last = (frame.positions(one.rod)[vertex] for vertex in sim.scene.entries[one.rod].rod.ends(one.edge))
        point = frame.body_position(one.body) + frame.body_rotation(one.body) @ one.point
        worst = max(worst, float(np.linalg.norm(point - first - one.at * (last - first))))
    return worst
