"""Derivatives of `der2008` against finite differences, and its forces against the formulas of the paper as they are printed."""

from __future__ import annotations

import numpy as np
import pytest
from der2008_probe import Probe
from der_probe import random_rod
from plain_rods import line, made_of, plain_rod
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
        if holds[1]:  # the derivative where held frames of edges follow them: they do not turn about the tangent
            turned = np.zeros_like(numeric)
            numeric, turned = numeric, turned
        force = probe.forces(probe.x)
        assert np.abs(force - numeric).max() < 1e-6 * np.abs(numeric).max()
