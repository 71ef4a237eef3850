"""The three integrators: their orders in time, linear motion exactly, what becomes of stiff vibrations and of energy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from plain_rods import first_mode, fitted_order, line, made_of, plain_rod, precise, weightless
from tendril.core import Scene, Simulation
from tendril.core.describe.rotations import rotation_about

ORDERS = {"sdirk2": 2.0, "midpoint": 2.0, "backward euler": 1.0}
COUNTS = {"sdirk2": (16, 32, 64), "midpoint": (16, 32, 64), "backward euler": (64, 128, 256)}  # substeps per frame


def swinging_cantilever(integrator: str, substeps: int, kind: str) -> tuple[np.ndarray, ...]:
    """Half a second of a soft, flat rod that swings, bends and twists far; all of its vibrations are resolved."""
    scene = Scene(drag=1.5 if kind == "in treacle" else 0.0)
    points = line(6)
    velocity = np.outer(first_mode(points[:, 0])[0], (0.0, 0.5, 0.0))
    soft = made_of(stretch=300.0, bend=(1.0, 2.0), inertia=1e-2)
    rod = plain_rod(points, soft, director=(0.0, 1.0, 1.0), damping_time=0.02 if kind == "damped" else 0.0)
    scene.add(rod, velocity=velocity)
    if kind == "waved about":
        scene.clamp(0, "start", waving, lambda t: 2.0 * math.sin(t))
    else:
        scene.clamp(0, "start")
    sim = precise(scene, substeps=substeps, integrator=integrator)
    for _ in range(12):
        frame = sim.step_frame()
        assert frame.report.fallbacks + frame.report.halvings == 0
    return frame.positions(0), frame.velocities(0)[1:], frame.directors(0)


def waving(t: float) -> tuple[np.ndarray, np.ndarray]:
    place = np.array([0.1 * math.sin(3.0 * t), 0.05 * t * t, 0.1 * (1.0 - math.cos(4.0 * t))])
    return place, rotation_about(np.array([0.0, 1.0, 0.0]), np.array(0.5 * math.sin(2.0 * t)))


@pytest.mark.parametrize(
    ("integrator", "kind"),
    [
        *((name, kind) for name in ORDERS for kind in ("undamped", "in treacle")),
        ("sdirk2", "damped"),
        ("backward euler", "damped"),
        ("sdirk2", "waved about"),
        ("midpoint", "waved about"),
    ],
)
def test_order_in_time(integrator: str, kind: str) -> None:
    reference = swinging_cantilever("sdirk2", 512, kind)
    runs = [swinging_cantilever(integrator, count, kind) for count in COUNTS[integrator]]
    for k, quantity in enumerate(("positions", "velocities", "directors")):
        if quantity == "velocities" and kind == "waved about":
            continue  # of the vertex beside the clamp they are those of the chords of its path
        errors = [np.abs(run[k] - reference[k]).max() for run in runs]
        assert errors[-1] < 0.05, (quantity, errors)
        found = fitted_order(COUNTS[integrator], errors)
        assert found == pytest.approx(ORDERS[integrator], abs=0.25), (quantity, errors)


def along_the_rod(sim: Simulation) -> np.ndarray:
    """Displacements and velocities along x of all vertices but the first, which is held."""
    frame = sim.current()
    rest = line(len(frame.positions(0)) - 1)
    return np.concatenate([frame.positions(0)[1:, 0] - rest[1:, 0], frame.velocities(0)[1:, 0]])


def stretched_rod(integrator: str, stretch: float, drag: float = 0.0, damping_time: float = 0.0) -> Simulation:
    """Straight and clamped, its fifth edge one percent too long, one step of 1/24 s per frame."""
    segments = 8
    points = line(segments)
    points[5:, 0] += 0.01 / segments
    scene = weightless(drag=drag)
    scene.add(plain_rod(points, made_of(stretch=stretch), rest=line(segments), damping_time=damping_time))
    scene.clamp(0, "start")
    return precise(scene, substeps=1, integrator=integrator)


def rational_function(integrator: str, z: np.ndarray) -> np.ndarray:
    """What the method makes of y' = A y in a step, z = h A."""
    one = np.eye(len(z))
    if integrator == "backward euler":
        return np.linalg.inv(one - z)
    if integrator == "midpoint":
        return np.linalg.inv(one - z / 2) @ (one + z / 2)
    g = 1.0 - math.sqrt(0.5)
    stage = np.linalg.inv(one - g * z)
    return stage @ (one + (1.0 - g) * z @ stage)


@pytest.mark.parametrize("integrator", ORDERS)
@pytest.mark.parametrize(("stretch", "drag", "damping_time"), [(10.0, 0.0, 0.0), (1e4, 3.0, 0.0), (1e3, 0.5, 0.01)])
def test_linear_motion_is_the_rational_function_of_the_method(
    integrator: str, stretch: float, drag: float, damping_time: float
) -> None:
    """A straight rod that vibrates along itself is a chain of springs and masses."""
    n = 8
    springs = stretch * n * (2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
    springs[-1, -1] = stretch * n
    mass = np.full(n, 1.0 / n)
    mass[-1] = 0.5 / n
    k = springs / mass[:, None]
    zero, one = np.zeros((n, n)), np.eye(n)
    rates = np.block([[zero, one], [-k, -damping_time * k - drag * one]])
    sim = stretched_rod(integrator, stretch, drag, damping_time)
    expected = along_the_rod(sim)
    for _ in range(10):
        expected = rational_function(integrator, rates / 24.0) @ expected
        sim.step_frame()
        found = along_the_rod(sim)
        assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max() + 1e-12


@pytest.mark.parametrize("stretch", [1e6, 1e8, 1e10])
def test_sdirk2_forgets_a_vibration_far_above_the_step_without_ringing(stretch: float) -> None:
    """L-stable: its rational function falls like 4.83 / (omega h), to zero for a rod that hardly stretches."""
    slowest = 0.5 * math.pi * math.sqrt(stretch)  # of the rod's vibrations along itself, rad/s
    sim = stretched_rod("sdirk2", stretch)
    energies = [sim.energies().elastic + sim.energies().kinetic]
    for _ in range(6):
        report = sim.step_frame().report
        energies.append(report.energies.elastic + report.energies.kinetic)
    factors = np.array(energies[2:]) / energies[1:-1]
    most = (4.83 * 24.0 / slowest) ** 2
    assert most < 0.01
    assert np.all((factors <= 1.05 * most) | (np.array(energies[2:]) < 1e-20 * energies[0])), factors
    assert energies[1] < most * energies[0]


def test_midpoint_lets_the_same_vibration_ring() -> None:
    """So the rod above would ring if the integrator let it: the edge is long and short in turn."""
    sim = stretched_rod("midpoint", 1e8)
    for k in range(1, 7):
        x = sim.step_frame().positions(0)
        assert 8.0 * np.linalg.norm(x[5] - x[4]) - 1.0 == pytest.approx(0.01 * (-1) ** k, rel=1e-2)


def energy_over_periods(integrator: str, steps: int, periods: int) -> np.ndarray:
    """Of a cantilever that vibrates gently in its first mode, after each period, in parts of the first."""
    points = line(10)
    mode, frequency = first_mode(points[:, 0])
    velocity = np.outer(0.02 * frequency * mode, (0.0, 0.0, 1.0))
    scene = weightless()
    scene.add(plain_rod(points, made_of(stretch=1e5)), velocity=velocity)
    scene.clamp(0, "start")
    sim = precise(scene, frame_rate=frequency / (2.0 * math.pi), substeps=steps, integrator=integrator)
    energies = [frame.report.energies.total for frame in sim.frames(1, periods + 1)]
    return np.array(energies) / energies[0]


def test_midpoint_keeps_energy() -> None:
    assert np.abs(energy_over_periods("midpoint", steps=80, periods=60) - 1.0).max() < 1e-3


def test_backward_euler_loses_it_at_its_known_rate() -> None:
    """Of a vibration it leaves 1 / (1 + (omega h)^2) of the energy in a step."""
    energies = energy_over_periods("backward euler", steps=80, periods=5)
    known = (1.0 + (2.0 * math.pi / 80.0) ** 2) ** (-80.0 * np.arange(6))
    assert energies[-1] < 0.15
    assert np.all(np.diff(energies) < 0.0)
    assert energies == pytest.approx(known, rel=0.05)


def test_sdirk2_loses_little() -> None:
    energies = energy_over_periods("sdirk2", steps=80, periods=20)
    assert np.all(np.diff(energies) < 0.0)
    assert energies[-1] > 0.99
