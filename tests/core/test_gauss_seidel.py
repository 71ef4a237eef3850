"""Contact of many clothoids, contact after contact: Coulomb's law at one of them, and rods against theory and the other solver."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tendril.core import Plane, Rod, Scene, Simulation, Stiffness, TendrilError
from tendril.core.contact.sweeps import Answer, Rows, sweep
from tendril.core.errors import Array
from tendril.sample_scenes.experiments import head_of_hair

RADIUS = 0.01


def solve_one(w: Array, b: Array, mu: float, iterations: int) -> Array:
    """The force at one contact of one rod that answers with W, by the kernel that sweeps. As in Newton's iterations, each knows
    the slip of the last; the first knows of none."""
    half = np.zeros((1, 2, 3, 3))
    half[0, 0] = np.linalg.cholesky(w)
    lower = [w[0, 0], w[1, 0], w[1, 1], w[2, 0], w[2, 1], w[2, 2]]
    rows = Rows(np.zeros((1, 3, 3)), np.zeros((1, 2, 2)), b[None].copy(), np.zeros((1, 3)), np.zeros(1))
    answer = Answer(half, np.zeros((1, 3)), np.array([lower]), np.array([[0, -1]]))
    known = np.zeros((1, 3))
    for _ in range(iterations):
        sweep(1, np.array([mu]), np.ones(1), rows, answer, 0.0, 50, 1e-12, known)
        rows.lift[0] = mu * np.linalg.norm((w @ rows.force[0] + b)[1:])
    return rows.force[0]


def test_sweeps_find_the_least_energy_in_the_cone() -> None:
    """However much a rod gives way along a surface when it is pressed on it, and however hard that makes Coulomb's law."""
    rng, far = np.random.default_rng(1), []
    for _ in range(2000):
        a = rng.normal(size=(3, 3)) * rng.uniform(0.1, 1.0, size=(3, 1))
        w, b, mu = a @ a.T + 1e-3 * np.eye(3), rng.normal(size=3), rng.uniform(0.05, 0.8)
        r = solve_one(w, b, mu, 1)
        v = w @ r + b
        assert np.linalg.norm(r[1:]) <= (mu + 1e-9) * r[0]
        # The conditions of Karush, Kuhn and Tucker: v is in the dual cone, and at a right angle to r.
        far.append(max(mu * np.linalg.norm(v[1:]) - v[0], 0.0) + abs(r @ v) / (1.0 + r[0]))
    assert max(far) < 1e-3


def test_one_contact_obeys_coulomb() -> None:
    rng, met = np.random.default_rng(0), set()
    for _ in range(400):
        a = rng.normal(size=(3, 3))
        w = a @ a.T + 0.5 * np.eye(3)
        w[0, 1:] *= 0.3  # rods hardly leave each other because they are rubbed
        w[1:, 0] *= 0.3
        b, mu = rng.normal(size=3), rng.uniform(0.0, 0.6)
        r = solve_one(w, b, mu, 60)
        v = w @ r + b
        assert r[0] >= 0.0
        assert v[0] >= -1e-6
        assert abs(r[0] * v[0]) < 1e-5
        rubbing = np.linalg.norm(r[1:])
        assert rubbing <= mu * r[0] + 1e-9
        if r[0] == 0.0:
            met.add("apart")
        elif rubbing < mu * r[0] - 1e-6:
            met.add("stick")
            assert np.abs(v[1:]).max() < 1e-6
        else:
            met.add("slip")
            slip = np.linalg.norm(v[1:])
            assert r[1:] @ v[1:] == pytest.approx(-rubbing * slip, abs=1e-4)
    assert met == {"apart", "stick", "slip"}


def straight(start: Array, end: Array) -> Rod:
    points = start + np.linspace(0.0, 1.0, 9)[:, None] * (end - start)
    return Rod.from_points(points, radius=RADIUS, stiffness=Stiffness(1e3, 0.05, 0.05, 0.05, 0.1, 5e-6))


@pytest.mark.parametrize(("friction", "slides"), [(0.2, True), (0.7, False)])
def test_rod_on_a_slope_slides_or_stays(friction: float, slides: bool) -> None:
    angle, frames = math.radians(25.0), 12
    up, down = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
    scene = Scene(gravity=9.81 * (math.sin(angle) * down - math.cos(angle) * up))
    rod = scene.add(straight(RADIUS * up, RADIUS * up + 0.3 * down), "clothoid", elements=2, friction=friction)
    scene.collide(Plane(), friction=friction)
    sim = Simulation(scene, 24.0, contact="gauss-seidel", threads=1)
    for _ in range(frames):
        frame = sim.step_frame()
    x, t = frame.positions(rod), frames / 24.0
    assert np.abs((x - RADIUS * up) @ up).max() < 0.02 * RADIUS
    way = float((x[0] - RADIUS * up) @ down)
    if slides:
        # Backward Euler is ahead by half a step.
        expected = 0.5 * 9.81 * (math.sin(angle) - friction * math.cos(angle)) * t * (t + 1.0 / 96.0)
        assert way == pytest.approx(expected, rel=0.02)
    else:
        assert abs(way) < 0.01 * RADIUS


def crossed(contact: str) -> list[Array]:
    """Three rods, held at one end, fall on a fourth that lies across."""
    scene = Scene(rod_contact=True)
    rods = [straight(np.array([0.0, 0.1 * k, 0.03]), np.array([0.5, 0.1 * k, 0.03])) for k in range(3)]
    rods.append(straight(np.array([0.3, -0.2, 0.0]), np.array([0.3, 0.5, 0.0])))
    for rod in rods:
        scene.clamp(scene.add(rod, "clothoid", elements=3, friction=0.3), "start")
    sim = Simulation(scene, 24.0, integrator="backward euler", contact=contact, threads=1)
    for _ in range(10):
        frame = sim.step_frame()
        assert frame.report.failures == 0
    return [frame.positions(k) for k in range(len(rods))]


def test_rods_rest_where_those_of_the_other_solver_do() -> None:
    for ours, theirs in zip(crossed("gauss-seidel"), crossed("coulomb"), strict=True):
        assert np.abs(ours - theirs).max() < 0.2 * RADIUS


def test_what_it_can_not_do_is_refused() -> None:
    scene = Scene(rod_contact=True)
    scene.add(straight(np.zeros(3), np.array([1.0, 0.0, 0.0])), "der")
    with pytest.raises(TendrilError, match="clothoid"):
        Simulation(scene, contact="gauss-seidel")


@pytest.mark.parametrize(
    "style", [head_of_hair.STYLISED, head_of_hair.SMOOTH, head_of_hair.CURLY], ids=lambda s: s.name
)
def test_hair_on_a_head(style: head_of_hair.Style) -> None:
    """Half a second of a part of each head of hair, in which curls come to lie on the head and smooth tips run into it."""
    found = head_of_hair.move(style._replace(strands=style.strands // 8), 12, threads=1)
    assert found.overlap < 1.0  # radii, in passing; reported, and counted as a failure of the frame that has it
    assert found.in_head < 0.1
    assert found.deep < 0.1
    assert found.contacts > 0
    assert found.friction_ratio < 1.05 * head_of_hair.FRICTION
