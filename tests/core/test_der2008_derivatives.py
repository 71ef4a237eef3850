"""Derivatives of `der2008` against finite differences, and its forces against the formulas of the paper as they are printed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from der2008_probe import Probe
from der_probe import random_rod
from tendril.core import Rod, Stiffness

STEP = 1e-5


def derivative(function, x: np.ndarray) -> np.ndarray:
    """Fourth order."""
    out = np.zeros(x.shape)
    for k in range(x.size):
        values = []
        for s in (1, -1, 2, -2):
            moved = x.copy()
            moved.flat[k] += s * STEP
            values.append(function(moved))
        out.flat[k] = (8.0 * (values[0] - values[1]) - (values[2] - values[3])) / (12.0 * STEP)
    return out


def isotropic(seed: int, vertices: int, closed: bool) -> Rod:
    """Bent, uneven, naturally straight and round: the special case."""
    other = random_rod(seed, vertices, closed, curved=False)
    rng = np.random.default_rng(seed)
    stiffness = [
        Stiffness(1.0, k, k, rng.uniform(0.5, 2.0), mass_per_length=1.0, inertia_per_length=0.1)
        for k in rng.uniform(0.5, 3.0, other.edge_count)
    ]
    return Rod.from_points(
        other.points, radius=0.05, stiffness=stiffness, closed=closed, rest="straight", twist=2.0, rest_twist=0.2
    )


HOLDS = [((), ()), ((0, 8), ()), ((), (0, 7)), ((4,), ()), ((), (3,))]


@pytest.mark.parametrize("kind", ["straight", "curved", "isotropic"])
@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("holds", HOLDS)
def test_forces_are_minus_the_derivative_of_the_energy_of_quasistatic_frames(kind, closed, holds) -> None:
    for seed in range(3):
        rod = isotropic(seed, 9, closed) if kind == "isotropic" else random_rod(seed, 9, closed, kind == "curved")
        probe = Probe(rod, *holds)
        assert bool(probe.chain.simple[0]) == (kind == "isotropic")
        numeric = -derivative(probe.energy, probe.x)
        force = probe.forces(probe.x)
        assert np.abs(force - numeric).max() < 1e-6 * np.abs(numeric).max()


@pytest.mark.parametrize("kind", ["straight", "curved", "isotropic"])
@pytest.mark.parametrize("closed", [False, True])
def test_forces_of_a_free_rod_balance(kind, closed) -> None:
    rod = isotropic(5, 12, closed) if kind == "isotropic" else random_rod(5, 12, closed, kind == "curved")
    probe = Probe(rod)
    force = probe.forces(probe.x)
    size = np.abs(force).max()
    assert np.abs(force.sum(axis=0)).max() < 1e-13 * size
    # Torques balance only where frames are at rest: no cross-section is turned by more than round-off then.
    assert np.abs(np.cross(probe.x, force).sum(axis=0)).max() < 1e-6 * size


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("holds", HOLDS)
@pytest.mark.parametrize("seed", range(3))
def test_material_frames_make_the_energy_least(holds, closed, seed) -> None:
    """No angle that is free changes the energy to first order, and any change together raises it."""
    probe = Probe(random_rod(seed, 9, closed, True), *holds)
    probe.at(probe.x)
    theta, free = probe.nodes.theta.copy(), np.flatnonzero(~probe.chain.fixed)

    def energy(angles: np.ndarray) -> float:
        return energy_of_angles(probe, angles)

    least, rng = energy(theta), np.random.default_rng(seed)
    assert least == pytest.approx(float(probe.b.log.energy[0].sum()), rel=1e-12)
    slope = derivative(energy, theta)
    assert np.abs(slope[free]).max() < 1e-7 * least
    for _ in range(20):
        moved = theta.copy()
        moved[free] += 1e-3 * rng.standard_normal(len(free))
        assert energy(moved) >= least


def energy_of_angles(probe: Probe, theta: np.ndarray) -> float:
    """Equations (2) and (3) and the energy of twist, from kb and the Bishop frames as they are, in plain numpy."""
    chain, nodes = probe.chain, probe.nodes
    v = np.cross(nodes.t, nodes.u)
    c, s = np.cos(theta)[:, None], np.sin(theta)[:, None]
    m1, m2 = c * nodes.u + s * v, c * v - s * nodes.u
    total = 0.0
    for k in range(len(theta)):
        if chain.slot[k] < 0:
            continue
        kb = nodes.kb[k]
        strains = [kb @ m2[k - 1], -kb @ m1[k - 1], kb @ m2[k], -kb @ m1[k]]
        strains.append(nodes.reference[k] + theta[k] - theta[k - 1])
        total += 0.5 * float(chain.stiffness[k] @ (strains - chain.rest[k]) ** 2)
    return total


def printed_forces(probe: Probe) -> np.ndarray:
    """Section 7.1 of the paper for an open rod with clamped end edges, term by term: (9), (10), (11), all sums in full."""
    x, n = probe.x, probe.n - 2  # vertices 0 ... n + 1, edges 0 ... n
    probe.at(x)
    theta, u = probe.theta(), probe.bishop()
    e = np.diff(x, axis=0)
    t = e / np.linalg.norm(e, axis=1)[:, None]
    v = np.cross(t, u)
    c, s = np.cos(theta)[:, None], np.sin(theta)[:, None]
    m1, m2 = c * u + s * v, c * v - s * u
    rod = probe.sim.scene.entries[0].rod
    length = rod.rest_lengths
    span = np.append(0.0, length[:-1] + length[1:])  # l_i of vertex i, from 1
    rest, bend = probe.chain.rest, rod.bend
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])  # J

    def skew(a: np.ndarray) -> np.ndarray:
        return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])

    kb, grad_kb, grad_psi = {}, {}, {}
    for i in range(1, n + 1):
        scale = length[i - 1] * length[i] + e[i - 1] @ e[i]
        kb[i] = 2.0 * np.cross(e[i - 1], e[i]) / scale
        before = (2.0 * skew(e[i]) + np.outer(kb[i], e[i])) / scale
        after = (2.0 * skew(e[i - 1]) - np.outer(kb[i], e[i - 1])) / scale
        grad_kb[i] = {i - 1: before, i + 1: after, i: -(before + after)}
        before, after = kb[i] / (2.0 * length[i - 1]), -kb[i] / (2.0 * length[i])
        grad_psi[i] = {i - 1: before, i + 1: after, i: -(before + after)}  # (9)

    def grad_bishop(i: int, j: int) -> np.ndarray:
        """(10): how the Bishop frame of edge j turns."""
        return sum((grad_psi[k].get(i, np.zeros(3)) for k in range(1, j + 1)), np.zeros(3))

    def curvature(k: int, j: int) -> np.ndarray:
        return np.array([kb[k] @ m2[j], -kb[k] @ m1[j]])  # (2)

    def natural(k: int, j: int) -> np.ndarray:
        return rest[k, 2 * (j - k + 1) : 2 * (j - k + 1) + 2]

    beta = probe.chain.stiffness[:, 4] * span / 2.0
    last = curvature(n, n)
    bent = last @ turn @ (bend[n] * (last - natural(n, n))) / span[n]
    at_end = bent + 2.0 * beta[n] * (theta[n] - theta[n - 1] - rest[n, 4]) / span[n]  # dE / d theta^n
    force = np.zeros_like(x)
    for i in range(n + 2):
        for k in range(1, n + 1):
            for j in (k - 1, k):
                directors = np.array([m2[j], -m1[j]])
                gradient = directors @ grad_kb[k].get(i, np.zeros((3, 3)))
                gradient = gradient - np.outer(turn @ curvature(k, j), grad_bishop(i, j))  # (11)
                force[i] -= gradient.T @ (bend[j] * (curvature(k, j) - natural(k, j))) / span[k]
        force[i] += at_end * grad_bishop(i, n)
    return force


def unstretched(rod: Rod) -> Rod:
    """With the lengths that its edges have: the paper's formulas hold for these alone."""
    edges, natural = np.diff(rod.points, axis=0), np.diff(rod.rest_points, axis=0)
    natural *= (np.linalg.norm(edges, axis=1) / np.linalg.norm(natural, axis=1))[:, None]
    rest = np.vstack([np.zeros(3), np.cumsum(natural, axis=0)])
    stiffness = [
        Stiffness(1.0, *bend, twist, mass_per_length=1.0, inertia_per_length=0.1)
        for bend, twist in zip(rod.bend, rod.twist_stiffness, strict=True)
    ]
    return Rod.from_points(rod.points, radius=0.05, stiffness=stiffness, rest=rest, twist=rod.twist, rest_twist=0.2)


@pytest.mark.parametrize("kind", ["straight", "curved", "isotropic"])
@pytest.mark.parametrize("seed", range(3))
def test_forces_are_those_printed_in_the_paper(kind, seed) -> None:
    """But for what pulls along edges, which the projection takes out."""
    rod = isotropic(seed, 9, False) if kind == "isotropic" else random_rod(seed, 9, False, kind == "curved")
    if kind == "curved":
        rod = unstretched(rod)
    probe = Probe(rod, edges=(0, 7))
    ours, printed = probe.forces(probe.x), printed_forces(probe)
    along = probe.constraints(probe.x)
    both = [f.ravel() - along.T @ np.linalg.lstsq(along.T, f.ravel(), rcond=None)[0] for f in (ours, printed)]
    assert np.abs(both[0]).max() > 0.1
    assert both[0] == pytest.approx(both[1], abs=1e-9 * np.abs(both[0]).max())


def test_the_twist_of_the_special_case_is_the_one_newtons_method_finds() -> None:
    for closed in (False, True):
        for holds in HOLDS:
            for seed in range(3):
                probe = Probe(isotropic(seed, 9, closed), *holds)
                probe.at(probe.x)
                known, energy = probe.nodes.twist.copy(), float(probe.b.log.energy[0].sum())
                probe.chain.simple[0] = False
                probe.at(probe.x)
                assert probe.nodes.twist == pytest.approx(known, abs=1e-8)
                assert float(probe.b.log.energy[0].sum()) == pytest.approx(energy, rel=1e-12)


def test_torque_is_the_same_between_clamps_and_none_beyond() -> None:
    """(5): m / l is (theta^n - theta^0) / 2L; a stress-free end has no twist."""
    rod = isotropic(1, 12, False)
    probe = Probe(rod, edges=(2, 8))
    probe.at(probe.x)
    torque = probe.chain.stiffness[:, 4] * (probe.nodes.twist - probe.chain.rest[:, 4])
    assert np.abs(torque[3:9] - torque[3]).max() < 1e-13
    assert abs(torque[3]) > 0.01
    assert np.abs(torque[[1, 2, 9, 10]]).max() < 1e-13
    free = Probe(rod)
    free.at(free.x)
    assert np.abs(free.nodes.twist[1:] - free.chain.rest[1:, 4]).max() < 1e-14


def test_newtons_method_comes_from_far() -> None:
    """Strongly anisotropic and curved: the Hessian is indefinite on the way. From any angles a least energy is found."""
    rng = np.random.default_rng(4)
    made = Stiffness(1.0, 1.0, 50.0, 0.02, mass_per_length=1.0, inertia_per_length=0.1)
    angle = np.linspace(0.0, math.pi, 30)
    points = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    rod = Rod.from_points(points, radius=0.05, stiffness=made)
    for _ in range(20):
        probe = Probe(rod, edges=(0,))
        probe.b.state.twist[1:-1, 0] = rng.uniform(-1.0, 1.0, 28)  # as if it had been twisted at random
        probe.at(probe.x)
        free = np.flatnonzero(~probe.chain.fixed)
        theta = probe.nodes.theta.copy()
        slope = derivative(lambda angles, probe=probe: energy_of_angles(probe, angles), theta)
        assert np.abs(slope[free]).max() < 1e-5
