"""Gradient and Hessian of the compact rod against finite differences; products, elimination and conjugate gradients against
both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from compact_probe import FOREVER, Probe, random_rod
from hypothesis import given, settings
from hypothesis import strategies as st
from tendril.core.maths.geometry.frames import signed_angle, transport
from tendril.core.maths.geometry.quaternions import (
    directors_of,
    from_frame,
    from_rotation_vector,
    product,
    relative,
    turned,
)
from tendril.core.models.compact.arrays import BLOCK_DIAGONAL, DIAGONAL, ELIMINATION, HYBRID
from tendril.core.models.compact.block import SOLVERS

# Seventh-order central differences of first and second derivatives, on seven points.
OFFSETS = np.arange(-3, 4)
FIRST = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60.0
SECOND = np.array([2, -27, 270, -490, 270, -27, 2]) / 180.0

shapes = st.tuples(
    st.integers(0, 2**32 - 1),
    st.integers(4, 8),
    st.booleans(),
    st.booleans(),
    st.sampled_from([(), (0,), (2,), (0, 3)]),
    st.sampled_from([FOREVER, 0.3]),
    st.sampled_from([0.0, 0.1]),
)


@settings(max_examples=60, deadline=None)
@given(shapes)
def test_gradient_and_hessian_agree_with_finite_differences(shape) -> None:
    """Of elasticity, inertia of vertices and sections, drag, loads, damping, and the forces of holds and loops."""
    seed, vertices, closed, curved, framed, h, damping = shape
    rng = np.random.default_rng(seed)
    pinned = () if framed else (vertices - 1,)
    probe = Probe(random_rod(seed, vertices, closed, curved, damping_time=damping), framed, pinned, h)
    b = probe.b
    b.forces.force[:] = rng.standard_normal(b.forces.force.shape)
    b.forces.drag[:] = (0.7, 0.1, 0.9, -0.2, 0.05, 0.4)
    b.forces.drag_rate[0] = 0.3
    if h != FOREVER:
        b.stage.v[:] = 0.3 * rng.standard_normal(b.stage.v.shape)
    b.stage.strain[:] += 0.1 * rng.standard_normal(b.stage.strain.shape)
    b.state.hold_force[:] = rng.standard_normal(b.state.hold_force.shape)
    b.state.loop_force[:] = rng.standard_normal(b.state.loop_force.shape)
    base = np.zeros(probe.size)
    gradient = probe.gradient(base)
    hessian = probe.matrix()
    scale_g, scale_h = np.abs(gradient).max(), np.abs(hessian).max()
    assert scale_g > 1e-3
    assert np.abs(hessian - hessian.T).max() < 1e-13 * scale_h
    for _ in range(6):
        d = rng.standard_normal(probe.size) * probe.free
        d /= np.linalg.norm(d)
        values = np.array([probe.evaluate(k * 4e-3 * d) for k in OFFSETS])
        assert FIRST @ values / 4e-3 == pytest.approx(gradient @ d, abs=1e-6 * scale_g)
        assert SECOND @ values / 4e-3**2 == pytest.approx(d @ hessian @ d, abs=1e-6 * scale_h)


@pytest.mark.parametrize("turns", [0.0, 3.1])
@pytest.mark.parametrize("closed", [False, True])
def test_every_entry_of_the_hessian(closed: bool, turns: float) -> None:
    """Also with more than half a turn of twist in each segment."""
    rod = random_rod(11, 5, closed, True)
    probe = Probe(replace(rod, twist=rod.twist + 2.0 * np.pi * turns), (2,))
    hessian = probe.matrix()
    scale = np.abs(hessian).max()
    units, places = np.eye(probe.size), np.flatnonzero(probe.free)
    for k in places:
        for j in places[places <= k]:
            d = (units[k] + units[j]) * (0.5 if j == k else 1.0)
            values = np.array([probe.evaluate(m * 4e-3 * d) for m in OFFSETS])
            assert SECOND @ values / 4e-3**2 == pytest.approx(d @ hessian @ d, abs=1e-6 * scale)


@pytest.mark.parametrize("closed", [False, True])
def test_the_hessian_without_the_dropped_term_is_never_negative(closed: bool) -> None:
    for seed in range(10):
        probe = Probe(random_rod(seed, 6, closed, True), (), (5,), h=0.3)
        probe.b.forces.force[:] = 3.0 * np.random.default_rng(seed).standard_normal(probe.b.forces.force.shape)
        values = np.linalg.eigvalsh(probe.matrix(exact=False))
        assert values[0] > -1e-12 * values[-1]


@pytest.mark.parametrize("solver", [ELIMINATION, HYBRID, BLOCK_DIAGONAL, DIAGONAL])
@pytest.mark.parametrize("framed", [(), (0,), (3,)])
@pytest.mark.parametrize("pinned", [(), (0,), (1,)])
def test_every_solver_inverts_the_matrix(solver: int, framed: tuple[int, ...], pinned: tuple[int, ...]) -> None:
    if framed == pinned == (0,):
        return
    names = {number: name for name, number in SOLVERS.items()}
    probe = Probe(random_rod(5, 7, False, True), framed, pinned, h=0.05)
    probe.block.solver = names[solver]
    matrix = probe.matrix()[np.ix_(probe.free, probe.free)]
    b = np.random.default_rng(1).standard_normal(probe.size) * probe.free
    x = solved(probe, b, solver)
    assert np.abs(matrix @ x[probe.free] - b[probe.free]).max() < (1e-9 if solver == ELIMINATION else 1e-6)
    assert not x[~probe.free].any()


def solved(probe: Probe, b: np.ndarray, solver: int) -> np.ndarray:
    from tendril.core.models.compact.dense import solve_here

    x = b.copy().reshape(-1, 3)
    assert solve_here(probe.b, 0, x, solver) >= 0
    return x.ravel()


@pytest.mark.parametrize("framed", [(), (0,), (3,)])
@pytest.mark.parametrize("edge", [None, 0, 4, 6])
def test_a_closed_rod_is_solved_with_its_ends_together(framed: tuple[int, ...], edge: int | None) -> None:
    """Stationary within the plane of those changes that leave no gap: A x - b is a combination of the gap's gradients."""
    from tendril.core import Scene

    scene = Scene()
    scene.add(random_rod(3, 7, True, False), "compact")
    if edge is not None and framed in ((), (3,)) and edge not in (3, 2):
        scene.clamp_edge(0, edge)
    for vertex in framed:
        scene.orient(0, vertex)
    probe = Probe.of(scene, 0.05)
    matrix = probe.matrix()
    b = np.random.default_rng(1).standard_normal(probe.size) * probe.free
    x = solved(probe, b, ELIMINATION)
    d3, arm = probe.b.geometry.d3, probe.b.rods.arm
    gap = np.zeros((probe.size // 3, 3, 3))
    for j in np.flatnonzero(probe.b.rods.edge):
        gap[j] = np.cross(d3[j], np.eye(3)).T * arm[j]  # columns: l d x e
    gap = gap.reshape(-1, 3)
    assert np.abs(gap.T @ x).max() < 1e-10
    left = (matrix @ x - b)[probe.free]
    constraint = gap[probe.free]
    residual = left - constraint @ np.linalg.lstsq(constraint, left, rcond=None)[0]
    assert np.abs(residual).max() < 1e-9


def test_turns_and_their_derivatives() -> None:
    """The angle about the tangent since the base, and how small rotations change it anywhere on the way."""
    probe = Probe(random_rod(2, 6, False, False))
    rng = np.random.default_rng(4)
    x = 0.4 * rng.standard_normal(probe.size)
    probe.evaluate(x)
    b = probe.b
    axis, turn = b.geometry.axis[:5].copy(), b.geometry.turn[:5].copy()
    for j in range(5):
        t0, d0 = tuple(b.geometry.t0[j]), tuple(b.geometry.d0[j])
        base = from_frame(tuple(b.geometry.d3[j]), tuple(b.geometry.d1[j]))

        def angle(w, base=base, t0=t0, d0=d0):
            d1, _, t = directors_of(turned(tuple(w), base))
            return signed_angle(transport(d0, t0, t), d1, t)

        assert angle(np.zeros(3)) == pytest.approx(turn[j], abs=1e-12)
        for c in range(3):
            step = np.eye(3)[c] * 1e-5
            assert (angle(step) - angle(-step)) / 2e-5 == pytest.approx(axis[j, c], abs=1e-8)


# Quaternions.


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-9, 1e-3, 0.03, 1.0, 3.0]))
def test_quaternions(seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    frame = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    frame[:, 2] *= np.sign(np.linalg.det(frame))
    d1, d2, d3 = frame.T
    q = from_frame(tuple(d3), tuple(d1))
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-15)
    assert np.abs(np.array(directors_of(q)) - (d1, d2, d3)).max() < 1e-14
    w = size * rng.standard_normal(3)
    k = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
    angle = np.linalg.norm(w)
    rotation = np.eye(3) + np.sin(angle) / angle * k + 2.0 * (np.sin(0.5 * angle) / angle) ** 2 * (k @ k)
    moved = np.array(directors_of(turned(tuple(w), q))).T
    assert np.abs(moved - rotation @ frame).max() < 1e-14
    back = relative(q, product(q, from_rotation_vector(tuple(w))))
    assert abs(np.linalg.norm(back[1:])) == pytest.approx(abs(np.sin(0.5 * angle)), abs=1e-14)
    assert back[0] >= 0.0


@pytest.mark.parametrize("axis", range(3))
def test_quaternions_of_half_turns(axis: int) -> None:
    frame = -np.eye(3)
    frame[axis, axis] = 1.0
    q = from_frame(tuple(frame[:, 2]), tuple(frame[:, 0]))
    assert np.abs(np.array(directors_of(q)).T - frame).max() < 1e-15
