"""Internal friction of `corde` (Spillmann and Teschner 2009, (23) to (27)): how fast it stops stretching, bending and twisting."""

from __future__ import annotations

import math

import numpy as np
import pytest
from plain_rods import made_of
from tendril.core import Net, Scene, Simulation
from tendril.core.describe.net import Corde

LENGTH = 0.5  # m, of a segment
GAMMA_T, GAMMA_R = 0.02, 1e-4


def drawn(points: list, edges: list, stretch: float, soft: float, **corde: float) -> tuple[Scene, Net]:
    made = made_of(stretch=stretch, bend=soft, twist=soft, mass=1.0, inertia=1e-2)
    net = Net.from_edges(points, edges, radius=0.01, stiffness=made, corde=Corde(**{"alpha": 1.0, **corde}))
    return Scene(gravity=(0, 0, 0)), net


def test_stretching_stops_as_its_friction_says() -> None:
    """(23), (24): two points approach at dv; the force gamma_t dv / l stops them at the rate 2 gamma_t / (m l)."""
    scene, net = drawn([(0, 0, 0), (LENGTH, 0, 0)], [(0, 1)], 1e-6, 1e-6, kappa=1e-6, gamma_t=GAMMA_T)
    speed = 1e-3
    scene.add(net, "corde", velocity=np.array([(-speed, 0, 0), (speed, 0, 0)]))
    sim = Simulation(scene, frame_rate=100, threads=1)
    mass = 0.5 * LENGTH
    for frame in sim.frames(2, 101):
        left = np.exp(-2.0 * GAMMA_T / (mass * LENGTH) * frame.time)
        assert frame.velocities(0)[1, 0] == pytest.approx(speed * left, rel=5e-3)
    assert left < 0.8


def test_friction_of_stretching_leaves_rigid_motion_alone() -> None:
    """Points that circle about each other, and fly on, keep their speed; the frame between them has hardly any inertia."""
    scene, net = drawn([(0, 0, 0), (LENGTH, 0, 0)], [(0, 1)], 1e3, 1e-6, alpha=1e-3, gamma_t=GAMMA_T)
    scene.add(net, "corde", velocity=np.array([(1.0, -0.2, 0), (1.0, 0.2, 0)]))
    sim = Simulation(scene, frame_rate=100, threads=1)
    *_, frame = sim.frames(2, 101)
    v = frame.velocities(0)
    assert v.mean(axis=0) == pytest.approx((1.0, 0.0, 0.0), abs=1e-9)
    assert np.linalg.norm(v[1] - v[0]) == pytest.approx(0.4, rel=1e-3)


@pytest.mark.parametrize("axis", [2, 0])
def test_frames_stop_turning_against_each_other(axis: int) -> None:
    """(25) to (27): of two frames that turn against each other, about the tangent or across it, each feels gamma_r dw / l."""
    points = [(0, 0, 0), (LENGTH, 0, 0), (2.0 * LENGTH, 0, 0)]
    scene, net = drawn(points, [(0, 1), (1, 2)], 1e-6, 1e-9, kappa=1e-9, gamma_r=GAMMA_R)
    scene.add(net, "corde")
    sim = Simulation(scene, frame_rate=100, threads=1)
    b = sim.blocks[0].arrays
    b.state.w[:, axis] = (-0.01, 0.01)
    inertia = b.nets.inertia[:, axis]
    rate = GAMMA_R / b.nets.reach[0] * (1.0 / inertia[0] + 1.0 / inertia[1])
    for frame in sim.frames(2, 101):
        assert b.state.w[1, axis] - b.state.w[0, axis] == pytest.approx(0.02 * math.exp(-rate * frame.time), rel=5e-3)
    assert rate * frame.time > 0.03
    assert inertia @ b.state.w[:, axis] == pytest.approx(0.0, abs=1e-12)


def test_frames_that_turn_together_feel_none() -> None:
    scene, net = drawn([(0, 0, 0), (LENGTH, 0, 0), (2.0 * LENGTH, 0, 0)], [(0, 1), (1, 2)], 1e-6, 1e-9, gamma_r=GAMMA_R)
    scene.add(net, "corde")
    sim = Simulation(scene, frame_rate=100, threads=1)
    sim.blocks[0].arrays.state.w[:, 2] = 3.0
    for _ in range(100):
        sim.step_frame()
    assert sim.blocks[0].arrays.state.w[:, 2] == pytest.approx((3.0, 3.0), rel=1e-9)
