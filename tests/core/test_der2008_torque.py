"""Torque of a rod on welded frames and bodies (Bergou et al. 2008, section 8.2), for curved, flat and twisted rods."""

from __future__ import annotations

import numpy as np
import pytest
from der2008_probe import Probe
from plain_rods import helix, line
from tendril.core import Body, Rod, Scene, Simulation, Sphere, Stiffness
from tendril.core.models.published.der2008.probe import torque_on_frame

ROUND = Stiffness(1e4, 0.02, 0.02, 0.015, mass_per_length=0.1, inertia_per_length=1e-5)
FLAT = Stiffness(1e4, 0.05, 0.01, 0.015, mass_per_length=0.1, inertia_per_length=1e-5)
# shape, stiffness, twist
RODS = {
    "straight": (line(16), ROUND, 0.0),
    "twisted": (line(16), ROUND, 2.0),
    "curved": (helix(24, 1.5, 0.2, 0.6), ROUND, 0.0),
    "flat": (line(16), FLAT, 1.0),
    "flat and curved": (helix(24, 1.5, 0.2, 0.6), FLAT, 0.0),
    "flat, curved and twisted": (helix(24, 1.5, 0.2, 0.6), FLAT, 1.5),
}


def made(name: str, rest: str = "as drawn") -> Rod:
    points, stiffness, twist = RODS[name]
    return Rod.from_points(points, 0.01, stiffness=stiffness, twist=twist, rest=rest)


@pytest.mark.parametrize("rest", ["as drawn", "straight"])
@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("name", RODS)
def test_torque_is_the_derivative_of_the_energy(name: str, inside: bool, rest: str) -> None:
    """With quasistatic frames, -dE of the whole rod per turn of a held frame, at its end and inside."""
    rod = made(name, rest)
    edge = rod.edge_count // 2 if inside else rod.edge_count - 1
    probe = Probe(rod, (0, rod.vertex_count - 1) if inside else (0,), (edge,))
    node = int(np.flatnonzero(probe.chain.edge == edge)[0])

    def energy(spin: float) -> float:
        probe.b.holds.spin[:, edge] = spin
        return probe.energy(probe.x)

    for spin in (0.3, -1.1):
        values = [energy(spin + k * 1e-3) for k in (-2, -1, 1, 2)]
        slope = (values[0] - 8.0 * values[1] + 8.0 * values[2] - values[3]) / 12e-3
        probe.at(probe.x)
        energy(spin)
        torque = torque_on_frame(probe.chain, probe.nodes, 0, node, False)
        assert abs(slope) > 1e-5
        assert torque == pytest.approx(-slope, abs=1e-7)


@pytest.mark.parametrize("name", RODS)
def test_spinning_body_neither_gains_nor_loses_much(name: str) -> None:
    """A body welded to a rod's end, turned about and across it. Fast projection dissipates; nothing may add energy."""
    rod = made(name)
    scene = Scene(gravity=(0, 0, 0))
    scene.add(rod, "der2008")
    scene.clamp(0, "start")
    tip = rod.points[-1]
    way = (tip - rod.points[-2]) / np.linalg.norm(tip - rod.points[-2])
    body = Body(Sphere(0.04), mass=0.2, position=tip, angular_velocity=6.0 * way + np.array([0.0, 1.0, 1.0]))
    scene.attach(0, "end", scene.add_body(body))
    sim = Simulation(scene, frame_rate=100, threads=1)
    start = sim.energies().total
    totals = []
    for frame in sim.frames(2, 101):
        assert frame.report.failures == 0
        assert frame.report.fallbacks == 0
        totals.append(frame.report.energies.total)
    assert max(totals) < start * 1.03
    assert min(totals) > start * 0.8
