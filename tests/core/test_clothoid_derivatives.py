"""Derivatives of the `clothoid` model against finite differences: nothing is built on others."""

from __future__ import annotations

import numpy as np
import pytest
from clothoid_probe import Probe
from tendril.core import Rod, Stiffness


def curl(seed: int, vertices: int = 14) -> Rod:
    rng = np.random.default_rng(seed)
    s = np.linspace(0.0, 1.0, vertices)
    points = np.stack([0.3 * np.cos(7.0 * s) + 0.2 * s, 0.25 * np.sin(6.0 * s), 0.6 * s**2], axis=1)
    made_of = Stiffness(1e3, *rng.uniform(0.5, 2.0, 3), mass_per_length=1.3, inertia_per_length=0.02)
    return Rod.from_points(points, radius=0.05, stiffness=made_of, rest="straight", damping_time=0.1)


def probe(seed: int, elements: int, degree: int, h: float = 0.05) -> Probe:
    """Bent away from where the stage starts, moving, loaded and dragged."""
    rng = np.random.default_rng(seed)
    p = Probe(curl(seed), elements, degree, gravity=(1.0, -2.0, -5.0), h=h)
    p.b.stage.v[:] = rng.standard_normal(p.b.stage.v.shape)
    p.go(0.2 * rng.standard_normal(p.n))
    p.set_base()
    return p


def differences(function, n: int, size: float) -> np.ndarray:
    columns = []
    for k in range(n):
        step = np.zeros(n)
        step[k] = size
        columns.append((function(step) - function(-step)) / (2.0 * size))
    return np.stack(columns, axis=-1)


def curvature_of(p: Probe) -> np.ndarray:
    """Second derivatives. Gradients are by turns of the root from where it is, so that their differences are off by the
    commutator of two turns, which is antisymmetric."""
    found = differences(p.gradient, p.n, 1e-5)
    return 0.5 * (found + found.T)


@pytest.mark.parametrize(("elements", "degree"), [(1, 1), (3, 1), (3, 0)])
def test_places_and_turns_of_samples(elements: int, degree: int) -> None:
    p = probe(1, elements, degree)
    expected = differences(p.samples, p.n, 1e-5)
    assert p.rows() == pytest.approx(expected, abs=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("degree", [0, 1])
@pytest.mark.parametrize("curvature", [0.0, 1e-9])
def test_places_and_turns_where_it_is_straight(curvature: float, degree: int) -> None:
    """The series of the curve has but one term there, those of how it moves have more."""
    points = np.linspace((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 9)
    made_of = Stiffness(1e3, 1.0, 1.0, 1.0, mass_per_length=1.3, inertia_per_length=0.02)
    p = Probe(Rod.from_points(points, radius=0.05, stiffness=made_of), 2, degree)
    p.b.state.kappa[:, 1:] = curvature
    p.set_base()
    expected = differences(p.samples, p.n, 1e-5)
    assert p.rows() == pytest.approx(expected, abs=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize(("elements", "degree"), [(1, 1), (3, 1), (3, 0)])
def test_gradient(elements: int, degree: int) -> None:
    p = probe(2, elements, degree)
    rng = np.random.default_rng(0)
    p.b.forces.load[:] = rng.standard_normal(p.b.forces.load.shape)
    p.b.forces.drag[:, [0, 2, 5]] = rng.uniform(0.1, 0.5, (len(p.b.forces.drag), 3))
    p.b.forces.drag[:, 1] = 0.05
    p.b.forces.wind[:] = 0.3, 0.2, -0.1
    p.b.forces.drag_rate[0] = 0.4
    p.b.forces.loaded[0] = True
    expected = differences(p.potential, p.n, 1e-5)
    assert p.gradient() == pytest.approx(expected, abs=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("h", [0.05, 1e3])
@pytest.mark.parametrize(("elements", "degree"), [(1, 1), (3, 1), (3, 0)])
def test_hessian(elements: int, degree: int, h: float) -> None:
    """Exact but for what spin inertia adds at second order, which is left out here; with a load at the tip."""
    p = probe(3, elements, degree, h)
    p.b.gauss.mass[:, 3] = 0.0
    p.b.forces.load[-1] = 3.0, -2.0, 1.0
    p.b.forces.loaded[0] = True
    expected = curvature_of(p)
    assert p.hessian() == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())
    # Without what is left out of the tame one it would not be.
    assert np.abs(p.hessian(exact=False) - expected).max() > 1e-3 * np.abs(expected).max()


def test_hessian_of_loads_along_the_rod() -> None:
    """Forces inside leave kinks in what is integrated: nearly exact."""
    p = probe(4, 3, 1, 1e3)
    p.b.gauss.mass[:, 3] = 0.0
    p.pushes[:, :3] = np.random.default_rng(1).standard_normal((len(p.pushes), 3))
    p.pushed = True
    expected = curvature_of(p)
    assert p.hessian() == pytest.approx(expected, abs=3e-3 * np.abs(expected).max())


@pytest.mark.parametrize("degree", [0, 1])
def test_the_tame_hessian_is_positive_definite(degree: int) -> None:
    p = probe(5, 3, degree)
    assert np.linalg.eigvalsh(p.hessian(exact=False)).min() > 0.0
