"""Gradient and Hessian of nets, joints included, against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nets import SOFT, Probe, random_net
from tendril.core import Net, Scene

# Seventh-order central differences of first and second derivatives, on seven points.
OFFSETS = np.arange(-3, 4)
FIRST = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60.0
SECOND = np.array([2, -27, 270, -490, 270, -27, 2]) / 180.0
SIZE = 3e-3


def open_net(seed: int, h: float = 1e30) -> Probe:
    scene = Scene(gravity=(0, 0, 0))
    net = scene.add(random_net(seed))
    scene.clamp(net, 0)
    scene.clamp_edge(net, 10)
    return Probe(scene, h)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_gradient_and_hessian_agree_with_finite_differences(seed: int) -> None:
    probe = open_net(seed)
    q = probe.base
    gradient, hessian = probe.gradient(q), probe.hessian(q)
    assert np.abs(gradient).max() > 1e-3  # a state at rest would prove nothing
    rng = np.random.default_rng(seed)
    scale_g, scale_h = np.abs(gradient).max(), np.abs(hessian).max()
    for _ in range(4):
        d = rng.standard_normal(len(q)) * probe.free
        d /= np.linalg.norm(d)
        values = np.array([probe.potential(q + k * SIZE * d) for k in OFFSETS])
        assert FIRST @ values / SIZE == pytest.approx(gradient @ d, abs=1e-6 * scale_g)
        assert SECOND @ values / SIZE**2 == pytest.approx(d @ hessian @ d, abs=1e-6 * scale_h)


def test_every_entry_of_the_hessian() -> None:
    scene = Scene(gravity=(0, 0, 0))
    points = [(0, 0, 0), (1, 0.1, 0), (-0.9, 0.3, 0.2), (0.1, 1.1, -0.3), (-1.5, -0.2, 0.4)]
    rest = np.array(points) * 1.05 + 0.1 * np.sin(np.arange(15).reshape(5, 3))
    scene.add(Net.from_edges(points, [(0, 1), (2, 0), (0, 3), (4, 2)], 0.01, stiffness=SOFT, rest=rest))
    probe = Probe(scene)
    q = probe.base
    hessian = probe.hessian(q)
    scale = np.abs(hessian).max()
    units = np.eye(len(q))
    for k in range(len(q)):
        for j in range(k + 1):
            d = (units[k] + units[j]) / (2.0 if k == j else 1.0)
            values = np.array([probe.potential(q + s * SIZE * d) for s in OFFSETS])
            curvature = SECOND @ values / SIZE**2
            assert curvature == pytest.approx(d @ hessian @ d, abs=2e-6 * scale), (k, j)


@pytest.mark.parametrize("seed", range(4))
def test_the_matrix_without_curvature_is_positive(seed: int) -> None:
    probe = open_net(seed, h=1.0)
    assert np.linalg.eigvalsh(probe.hessian(probe.base, exact=False)).min() > 0.0


def test_rigid_motion_costs_nothing() -> None:
    scene = Scene(gravity=(0, 0, 0))
    scene.add(random_net(5))
    probe = Probe(scene)
    q, n = probe.base, probe.n
    gradient = probe.gradient(q)
    x = q[n.graph.x[:, None] + np.arange(3)]
    for axis in np.eye(3):
        shift, turn = np.zeros(len(q)), np.zeros(len(q))
        for c in range(3):
            shift[n.graph.x + c] = axis[c]
            turn[n.graph.x + c] = np.cross(axis, x)[:, c]
            turn[n.graph.omega + c] = axis[c]
        turn[n.graph.theta] = n.geometry.t @ axis
        assert abs(gradient @ shift) < 1e-9
        assert abs(gradient @ turn) < 1e-9
