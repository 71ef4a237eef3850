"""Gradient and Hessian of the discrete elastic rod against finite differences, with frames carried from a fixed base."""

from __future__ import annotations

import numpy as np
import pytest
from der_probe import Probe, random_rod
from hypothesis import given, settings
from hypothesis import strategies as st

# Seventh-order central differences of first and second derivatives, on seven points.
OFFSETS = np.arange(-3, 4)
FIRST = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60.0
SECOND = np.array([2, -27, 270, -490, 270, -27, 2]) / 180.0

shapes = st.tuples(
    st.integers(0, 2**32 - 1),
    st.integers(4, 7),
    st.booleans(),
    st.booleans(),
    st.sampled_from([(), (0,), (2,), (0, 3)]),
)


def along(probe: Probe, q: np.ndarray, d: np.ndarray, size: float) -> np.ndarray:
    return np.array([probe.evaluate(q + k * size * d) for k in OFFSETS])


@settings(max_examples=40, deadline=None)
@given(shapes)
def test_gradient_and_hessian_agree_with_finite_differences(
    shape: tuple[int, int, bool, bool, tuple[int, ...]],
) -> None:
    seed, vertices, closed, curved, framed = shape
    probe = Probe(random_rod(seed, vertices, closed, curved), framed)
    q = probe.base
    gradient, hessian = probe.gradient(q), probe.hessian(q)
    assert np.abs(gradient).max() > 1e-3  # a state at rest would prove nothing
    rng = np.random.default_rng(seed)
    scale_g, scale_h = np.abs(gradient).max(), np.abs(hessian).max()
    for _ in range(6):
        d = rng.standard_normal(probe.size) * probe.free
        d /= np.linalg.norm(d)
        values = along(probe, q, d, 4e-3)
        assert FIRST @ values / 4e-3 == pytest.approx(gradient @ d, abs=1e-6 * scale_g)
        assert SECOND @ values / 4e-3**2 == pytest.approx(d @ hessian @ d, abs=1e-6 * scale_h)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("framed", [(), (2,)])
def test_every_entry_of_the_hessian(closed: bool, framed: tuple[int, ...]) -> None:
    probe = Probe(random_rod(11, 5, closed, True), framed)
    q = probe.base
    hessian = probe.hessian(q)
    assert np.array_equal(hessian, hessian.T)
    scale = np.abs(hessian).max()
    units = np.eye(probe.size)
    places = np.flatnonzero(probe.free)
    for k in places:
        for j in places[places <= k]:
            plus = SECOND @ along(probe, q, units[k] + units[j], 4e-3)
            minus = SECOND @ along(probe, q, units[k] - units[j], 4e-3)
            assert (plus - minus) / 4.0 / 4e-3**2 == pytest.approx(hessian[k, j], abs=1e-6 * scale), (k, j)


@settings(max_examples=30, deadline=None)
@given(shapes)
def test_the_substitute_hessian_is_positive_semidefinite(
    shape: tuple[int, int, bool, bool, tuple[int, ...]],
) -> None:
    seed, vertices, closed, curved, framed = shape
    probe = Probe(random_rod(seed, vertices, closed, curved), framed)
    hessian = probe.hessian(probe.base, exact=False)[np.ix_(probe.free, probe.free)]
    eigenvalues = np.linalg.eigvalsh(hessian)
    assert eigenvalues[0] > -1e-12 * eigenvalues[-1]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_rigid_motions_and_uniform_turning_cost_nothing(seed: int, closed: bool) -> None:
    """Translations, rotations, and turning all frames of a round rod together are in the gradient's kernel."""
    probe = Probe(random_rod(seed, 6, closed, True))
    x = probe.base.reshape(-1, 4)[:, :3]
    gradient = probe.gradient(probe.base).reshape(-1, 4)
    scale = np.abs(gradient).max()
    assert np.abs(gradient[:, :3].sum(axis=0)).max() < 1e-12 * scale * len(x)
    # A rotation turns the frames, too; carried by parallel transport they lag by the spin about the tangent.
    t = probe.b.geometry.t[: 6 if closed else 5]
    moment = np.cross(x, gradient[:, :3]).sum(axis=0) + (gradient[: len(t), 3:] * t).sum(axis=0)
    assert np.abs(moment).max() < 1e-11 * scale * len(x)
