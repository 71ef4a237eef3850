"""Gravity, loads, drag, air and internal damping against formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest
from plain_rods import first_mode, fitted_order, helix, knot, line, made_of, plain_rod, precise, settled, weightless
from scipy.integrate import quad_vec, solve_ivp
from scipy.optimize import brentq
from tendril.core import Material, Rod, Scene

AIR, VISCOSITY = 1.2, 1.8e-5
SECOND_ORDER = ["tr-bdf2", "midpoint"]


def masses(sim) -> np.ndarray:
    return sim.blocks[0].arrays.rods.mass[:, 0]


def centre(sim, quantity: np.ndarray) -> np.ndarray:
    m = masses(sim)
    return (m[:, None] * quantity).sum(axis=0) / m.sum()


@pytest.mark.parametrize("integrator", SECOND_ORDER)
@pytest.mark.parametrize("closed", [False, True])
def test_free_fall_is_a_parabola(integrator: str, closed: bool) -> None:
    """A rod in its natural shape falls without changing it, exactly, however long the steps."""
    gravity, thrown = np.array([0.5, -0.3, -9.81]), np.array([3.0, 1.0, 4.0])
    points = knot(20) if closed else helix(12)
    scene = Scene(gravity)
    scene.add(plain_rod(points, closed=closed), velocity=thrown)
    sim = precise(scene, substeps=1, integrator=integrator)
    for frame in sim.frames(2, 40):
        t = frame.time
        assert frame.positions(0) == pytest.approx(points + thrown * t + 0.5 * gravity * t * t, abs=1e-11)
        assert frame.velocities(0) == pytest.approx(np.tile(thrown + gravity * t, (len(points), 1)), abs=1e-10)
        assert frame.report.energies.elastic < 1e-15


def test_backward_euler_falls_by_half_a_step_more() -> None:
    """Its velocities are exact; it moves with those of the end of each step, so the parabola is that of t (t + h)."""
    scene = Scene()
    scene.add(plain_rod(helix(12)))
    sim = precise(scene, substeps=3, integrator="backward euler")
    for frame in sim.frames(2, 20):
        fallen = 0.5 * 9.81 * frame.time * (frame.time + 1.0 / 72.0)
        assert frame.positions(0)[:, 2] == pytest.approx(helix(12)[:, 2] - fallen, abs=1e-11)


@pytest.mark.parametrize("integrator", SECOND_ORDER)
def test_a_load_accelerates_the_centre_of_mass(integrator: str) -> None:
    """By force / mass, exactly, wherever it pulls and whatever the rod does meanwhile."""
    force = np.array([0.3, 0.0, 0.2])
    scene = weightless()
    rod = plain_rod(line(10), made_of(stretch=100.0, bend=0.1))
    scene.add(rod)
    scene.load(0, 7, force)
    sim = precise(scene, integrator=integrator)
    for frame in sim.frames(2, 24):
        moved = centre(sim, frame.positions(0) - rod.points)
        assert moved == pytest.approx(0.5 * force * frame.time**2, abs=1e-10)
    assert frame.report.energies.bend > 1e-5  # it did bend


def test_loads_add_up_and_are_those_of_their_rods() -> None:
    scene = weightless()
    for k in range(3):
        scene.add(plain_rod(line(4 + k) + np.array([0.0, k, 0.0])))
    scene.load(1, "start", (1.0, 0.0, 0.0))
    scene.load(1, "end", (1.0, 0.0, 0.0))
    scene.load(1, 2, lambda t: (2.0, 0.0, 0.0))
    scene.load(2, "end", (0.0, 0.0, 0.5))
    sim = precise(scene)
    sim.step_frame()
    t = 1.0 / 24.0
    start = sim.blocks[0].sample_start
    for k, force in enumerate(([0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 0.0, 0.5])):
        rows = slice(start[k], start[k + 1])
        momentum = (masses(sim)[rows, None] * sim.current().velocities(k)).sum(axis=0)
        assert momentum == pytest.approx(np.array(force) * t, abs=1e-12)


def test_a_constant_function_is_a_constant_load() -> None:
    runs = []
    for force in ((0.0, 0.0, 2.0), lambda t: (0.0, 0.0, 2.0)):
        scene = weightless()
        scene.add(plain_rod(line(8)))
        scene.clamp(0, "start")
        scene.load(0, "end", force)
        sim = precise(scene)
        for _ in range(5):
            frame = sim.step_frame()
        runs.append(frame.positions(0))
        settled(sim)
        assert sim.current().positions(0)[-1, 2] > 0.4
    assert runs[0] == pytest.approx(runs[1], abs=1e-12)


@pytest.mark.parametrize("integrator", ["sdirk2", "midpoint", "backward euler"])
def test_a_load_that_changes_in_time(integrator: str) -> None:
    """A free rod takes up the impulse of the force, of the order of the integrator in the length of steps."""

    def force(t: float) -> np.ndarray:
        return np.array([math.sin(7.0 * t), t * t, math.exp(-3.0 * t)])

    end = 0.5
    speed = quad_vec(force, 0.0, end)[0]
    way = quad_vec(lambda t: (end - t) * force(t), 0.0, end)[0]
    counts, errors = (4, 8, 16), []
    for count in counts:
        scene = weightless()
        scene.add(plain_rod(line(6)))
        scene.load(0, 3, force)
        sim = precise(scene, substeps=count, integrator=integrator)
        frame = next(sim.frames(13, 13))
        assert frame.time == end
        deviations = centre(sim, frame.velocities(0)) - speed, centre(sim, frame.positions(0) - line(6)) - way
        errors.append(np.abs(deviations).max())
    order = fitted_order(counts, errors)
    assert order > (0.8 if integrator == "backward euler" else 1.8), errors


@pytest.mark.parametrize("integrator", ["sdirk2", "midpoint", "backward euler"])
def test_drag_takes_speed_away_exponentially(integrator: str) -> None:
    """At its rate, relative to the wind; in each step by the rational function of the integrator, exactly."""
    rate, wind, thrown = 2.0, np.array([1.0, 0.0, -2.0]), np.array([-3.0, 4.0, 0.0])
    scene = weightless(drag=rate, wind=wind)
    scene.add(plain_rod(helix(12)), velocity=thrown)
    sim = precise(scene, substeps=4, integrator=integrator)
    z, g = -rate / 96.0, 1.0 - math.sqrt(0.5)
    factor = {
        "sdirk2": (1.0 + (1.0 - 2.0 * g) * z) / (1.0 - g * z) ** 2,
        "midpoint": (1.0 + z / 2.0) / (1.0 - z / 2.0),
        "backward euler": 1.0 / (1.0 - z),
    }[integrator]
    for k, frame in enumerate(sim.frames(2, 25), 1):
        assert frame.velocities(0)[5] == pytest.approx(wind + (thrown - wind) * factor ** (4 * k), abs=1e-9)
    assert factor**96 == pytest.approx(math.exp(-rate), rel=0.03 if integrator == "backward euler" else 1e-3)


def test_drag_slows_spin_as_well() -> None:
    rate = 3.0
    scene = weightless(drag=rate)
    scene.add(plain_rod(line(6)))
    sim = precise(scene, substeps=16)
    sim.blocks[0].arrays.state.v[:-1, 3] = 5.0
    for _ in range(24):
        sim.step_frame()
    assert sim.blocks[0].arrays.state.v[:-1, 3] == pytest.approx(np.full(6, 5.0 * math.exp(-rate)), rel=1e-3)


def drag_per_length(speed: float, radius: float) -> float:
    """Of a cylinder across a stream, with the drag coefficient 1 + 10 Re^(-2/3)."""
    reynolds = AIR * speed * 2.0 * radius / VISCOSITY
    return 0.5 * AIR * (1.0 + 10.0 * reynolds ** (-2.0 / 3.0)) * 2.0 * radius * speed**2


@pytest.mark.parametrize("radius", [2e-5, 1e-3, 2e-2])
def test_terminal_velocity_of_a_falling_cylinder(radius: float) -> None:
    """From a hair, that floats down, to a pole: weight is drag."""
    density = 1000.0
    weight = density * math.pi * radius**2 * 9.81
    terminal = brentq(lambda v: drag_per_length(v, radius) - weight, 1e-4, 1e3)
    scene = Scene(air_density=AIR)
    scene.add(Rod.from_points(line(10), radius, Material(1e9, density)), velocity=(0.0, 0.0, -0.9 * terminal))
    sim = precise(scene, frame_rate=9.81 / terminal)
    for _ in range(10):
        frame = sim.step_frame()
    assert frame.velocities(0)[:, 2] == pytest.approx(np.full(11, -terminal), rel=0.01)
    assert frame.velocities(0)[:, :2] == pytest.approx(np.zeros((11, 2)), abs=1e-6 * terminal)


def test_a_cylinder_slows_down_as_its_equation_says() -> None:
    """m dv/dt = -drag(v), by an integrator that knows nothing of rods."""
    radius, density = 1e-3, 1000.0
    mass = density * math.pi * radius**2
    exact = solve_ivp(lambda t, v: [-drag_per_length(v[0], radius) / mass], (0.0, 0.5), [20.0], rtol=1e-9).y[0, -1]
    assert exact < 8.0  # it does slow down
    counts, errors = (8, 16, 32), []
    for count in counts:
        scene = weightless(air_density=AIR)
        scene.add(Rod.from_points(line(6), radius, Material(1e9, density)), velocity=(0.0, 20.0, 0.0))
        sim = precise(scene, substeps=count)
        frame = next(sim.frames(13, 13))
        errors.append(abs(frame.velocities(0)[3, 1] / exact - 1.0))
    assert errors[-1] < 2e-3
    # The coefficient is that of the speed at the beginning of a step.
    assert fitted_order(counts, errors) > 0.9, errors


def test_skin_friction_along_the_axis() -> None:
    """A force of 0.02 rho / 2 v^2 on the surface: 1 / v grows evenly in time."""
    radius, density, speed = 1e-3, 300.0, 30.0
    scene = weightless(air_density=AIR)
    scene.add(Rod.from_points(line(6), radius, Material(1e9, density)), velocity=(speed, 0.0, 0.0))
    sim = precise(scene, substeps=8)
    frame = next(sim.frames(25, 25))
    rate = 0.5 * AIR * 0.02 * 2.0 * math.pi * radius / (density * math.pi * radius**2)
    assert frame.velocities(0)[:, 0] == pytest.approx(np.full(7, 1.0 / (1.0 / speed + rate)), rel=5e-3)


def test_wind_carries_a_loose_light_rod_along() -> None:
    wind = np.array([3.0, -1.0, 2.0])
    scene = weightless(air_density=AIR, wind=wind)
    scene.add(Rod.from_points(helix(16, radius=0.1, rise=0.3), 1e-3, Material(1e7, 50.0)))
    sim = precise(scene)
    for _ in range(24 * 4):
        frame = sim.step_frame()
    assert np.linalg.norm(frame.velocities(0).mean(axis=0) - wind) < 0.01 * np.linalg.norm(wind)
    # In still air that moves along with it, nothing happens.
    drifting = weightless(air_density=AIR, wind=wind)
    drifting.add(plain_rod(helix(16)), velocity=wind)
    frame = precise(drifting).step_frame()
    assert frame.positions(0) == pytest.approx(helix(16) + wind / 24.0, abs=1e-12)


@pytest.mark.parametrize("time", [0.004, 0.02])
def test_internal_damping_is_that_of_its_time(time: float) -> None:
    """A Kelvin-Voigt cantilever rings down with the damping ratio omega time / 2."""
    points = line(12)
    mode, frequency = first_mode(points[:, 0])
    scene = weightless()
    scene.add(plain_rod(points, damping_time=time), velocity=np.outer(1e-3 * mode, (0.0, 0.0, 1.0)))
    scene.clamp(0, "start")
    sim = precise(scene, frame_rate=40.0 * frequency / (2.0 * math.pi), substeps=4)
    frames = list(sim.frames(1, 400))
    times = np.array([frame.time for frame in frames])
    tip = np.array([frame.positions(0)[-1, 2] for frame in frames])
    tops = np.flatnonzero((np.abs(tip[1:-1]) > np.abs(tip[:-2])) & (np.abs(tip[1:-1]) >= np.abs(tip[2:]))) + 1
    peaks = [np.polyfit(times[k - 1 : k + 2] - times[k], np.abs(tip[k - 1 : k + 2]), 2) for k in tops]
    when = np.array([times[k] - p[1] / (2.0 * p[0]) for k, p in zip(tops, peaks, strict=True)])
    height = np.array([p[2] - p[1] ** 2 / (4.0 * p[0]) for p in peaks])
    half_period = np.polyfit(np.arange(len(when)), when, 1)[0]
    decrement = -np.polyfit(np.arange(len(when)), np.log(height), 1)[0]  # per half period
    ratio = decrement / math.hypot(math.pi, decrement)
    undamped = math.pi / half_period / math.sqrt(1.0 - ratio**2)
    assert undamped == pytest.approx(frequency, rel=0.01)
    assert ratio == pytest.approx(0.5 * time * undamped, rel=0.02)
