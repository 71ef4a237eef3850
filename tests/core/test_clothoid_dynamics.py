"""The equation of motion of clothoids by propagated series, against quadrature and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from clothoid_probe import Probe
from plain_rods import fitted_order, line, weightless
from tendril.core import Material, Rod, Simulation, Stiffness
from tendril.core.compile.jit import kernel
from tendril.core.models.clothoid.dynamics import equation_of_motion
from tendril.core.models.clothoid.kinematics import lay_out

GRAVITY = np.array([1.0, -2.0, -9.0])


@kernel
def equation_here(b, scratch, motion_scratch):
    equation_of_motion(b, scratch, motion_scratch, 0)


@kernel
def jacobian_here(b, scratch):
    lay_out(b.rods, b.nodes, b.state, b.gauss, scratch, 0, b.geometry.x, b.geometry.frame, True)


def moving(degree: int, turns: float) -> Probe:
    """A curl of a few elements with rates of all unknowns."""
    s = np.linspace(0.0, 1.0, 40)
    angle = 2.0 * np.pi * turns * s
    points = np.stack([0.2 * np.cos(angle), 0.15 * np.sin(angle), 0.4 * s], axis=1)
    made_of = Stiffness(1e3, 1.0, 1.0, 1.0, mass_per_length=1.3, inertia_per_length=0.02)
    p = Probe(Rod.from_points(points, radius=0.01, stiffness=made_of), 3, degree, gravity=GRAVITY)
    p.b.state.rate[:] = np.random.default_rng(1).standard_normal(p.n)
    return p


def jacobian(p: Probe, step: np.ndarray | None = None) -> np.ndarray:
    p.go(np.zeros(p.n) if step is None else step)
    jacobian_here(p.b, p.scratch)
    return p.scratch.jacobian[: len(p.b.gauss.element), :3, : p.n].copy()


def masses(p: Probe) -> np.ndarray:
    return p.b.gauss.mass[:, 0] * p.b.state.length[p.b.gauss.element]


def solve(p: Probe):
    p.go(np.zeros(p.n))
    motion_scratch = p.block._motion_scratch[0]
    equation_here(p.b, p.scratch, motion_scratch)
    n = p.n
    return (
        motion_scratch.inertia[:n, :n].copy(),
        motion_scratch.slope[:n, :n].copy(),
        *motion_scratch.force[:, :n].copy(),
    )


@pytest.mark.parametrize("turns", [0.0, 0.5, 4.0])
@pytest.mark.parametrize("degree", [0, 1])
def test_mass_matrix_and_weight(degree: int, turns: float) -> None:
    """Also where elements are summed in several pieces."""
    p = moving(degree, turns)
    mass, _, _, weight = solve(p)
    j, m = jacobian(p), masses(p)
    assert mass == pytest.approx(np.einsum("pca,p,pcb->ab", j, m, j), abs=1e-9 * np.abs(mass).max())
    assert weight == pytest.approx(np.einsum("pca,p,c->a", j, m, GRAVITY), abs=1e-9 * np.abs(weight).max())
    assert np.linalg.eigvalsh(0.5 * (mass + mass.T)).min() > -1e-12 * np.abs(mass).max()


@pytest.mark.parametrize("turns", [0.0, 0.5, 4.0])
@pytest.mark.parametrize("degree", [0, 1])
def test_the_quadratic_term_is_the_acceleration_of_steady_rates(degree: int, turns: float) -> None:
    """With all rates constant the points are accelerated by d(J v)/dt."""
    p = moving(degree, turns)
    _, _, quadratic, _ = solve(p)
    j, m, v, dt = jacobian(p), masses(p), p.b.state.rate.copy(), 1e-4
    change = (np.einsum("pca,a->pc", jacobian(p, dt * v), v) - np.einsum("pca,a->pc", jacobian(p, -dt * v), v)) / (
        2.0 * dt
    )
    expected = np.einsum("pca,p,pc->a", j, m, change)
    assert quadratic == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("degree", [0, 1])
def test_its_derivative_by_the_velocities(degree: int) -> None:
    p = moving(degree, 2.0)
    _, slope, quadratic, _ = solve(p)
    rate = p.b.state.rate.copy()
    assert slope @ rate == pytest.approx(2.0 * quadratic, abs=1e-12 * np.abs(quadratic).max())

    def at(change: np.ndarray) -> np.ndarray:
        p.b.state.rate[:] = rate + change
        return solve(p)[2]

    for k in range(p.n):  # of a quadratic form, central differences are exact
        unit = np.eye(p.n)[k]
        expected = 0.5 * (at(unit) - at(-unit))
        assert slope[:, k] == pytest.approx(expected, abs=1e-11 * np.abs(slope).max())


@pytest.mark.parametrize("turned", [False, True])
def test_a_root_that_starts_with_a_jerk_moves_the_rod_alike_with_every_integrator(turned: bool) -> None:
    """The rod is straight and at rest; from one moment to the next its root goes, or turns, at a constant speed."""

    def path(t: float) -> tuple[tuple[float, float, float], np.ndarray]:
        c, s = np.cos(2.0 * t), np.sin(2.0 * t)
        return (0.0, 0.0, 0.0 if turned else t), np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]) if turned else np.eye(3)

    def tip(integrator: str, rate: int) -> np.ndarray:
        scene = weightless()
        rod = scene.add(Rod.from_points(line(40), 1e-2, Material(1e7, 1000.0, 0.5)), "clothoid", elements=4)
        scene.clamp(rod, "start", path)
        sim = Simulation(scene, rate, substeps=1, integrator=integrator, threads=1, tolerance=1e-8)
        for _ in range(round(0.3 * rate)):
            frame = sim.step_frame()
        return frame.positions(rod)[-1]

    true, rates = tip("tr-bdf2", 1600), (100, 200, 400)
    for integrator in ("backward euler", "semi-implicit euler"):
        errors = [float(np.linalg.norm(tip(integrator, rate) - true)) for rate in rates]
        assert errors[-1] < 6e-3
        assert fitted_order(rates, errors) > 0.6
