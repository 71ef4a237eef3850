"""What no motion may change: linking of a closed rod, momentum of a free one, and energy under rigid motion."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from tendril.core import Frame, Simulation
from tendril.core.describe.rotations import rotation_about
from tendril.core.maths.geometry.linking import self_linking, writhe

from .cases import Case, runs
from .rods import circle, precise, rod, settled, stiffness, weightless


def counted_twist(sim: Simulation, model: str) -> float:
    """Elastic twist of a closed rod in turns, as its model itself counts it, whole turns included."""
    if model in ("der", "der2008"):  # these share their arrays
        b = sim.blocks[0].arrays
        return float((b.state.twist - b.rods.rest[:, :, 4]).sum()) / (2.0 * math.pi)
    raise NotImplementedError(model)


def waves(rng: np.random.Generator, s: np.ndarray, numbers: range) -> np.ndarray:
    """A smooth random vector field along a rod, of a few wave numbers."""
    return sum(np.cos(k * s + rng.uniform(0.0, 2.0 * math.pi))[:, None] * rng.standard_normal(3) for k in numbers)


def thrown_ring(model: str, segments: int, seed: int, turns: float, sideways: float, speed: float) -> Simulation:
    """A twisted ring with a random velocity; `sideways` scales what there is of it in the ring's plane."""
    s = 2.0 * math.pi * np.arange(segments) / segments
    velocity = waves(np.random.default_rng(seed), s, range(2, 5)) * [sideways, sideways, 1.0]
    velocity *= speed / math.sqrt(np.mean(velocity**2) * 3.0)
    made_of = stiffness(stretch=1e3, twist=0.8, inertia=1e-3)
    ring = rod(circle(segments), made_of, closed=True, rest="straight", twist=2.0 * math.pi * turns)
    scene = weightless()
    scene.add(ring, model, velocity=velocity)
    return Simulation(scene, threads=1)


def goes_around(x: np.ndarray) -> bool:
    """Seen from above, the ring goes around its middle without turning back: so it does not meet itself."""
    x = x[:, :2] - x[:, :2].mean(axis=0)
    y = np.roll(x, -1, axis=0)
    return bool(np.all(x[:, 0] * y[:, 1] > x[:, 1] * y[:, 0]))


SEEDS = [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 13))]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("case", "model"), runs("closed rod"))
def test_linking(case: Case, model: str, seed: int) -> None:
    """Lk = Tw + Wr, once with the twist that directors show and once with the one that the model counts.

    Nothing keeps a rod from passing through itself when it is flung; each passage changes Lk by two, exactly.
    """

    def measure(segments: int) -> dict[str, float]:
        sim = thrown_ring(model, segments, seed, **case.parameters)
        links, coils, apart = [], [], True
        for frame in sim.frames(1, 49):
            x = frame.positions(0)
            apart = apart and goes_around(x)
            coils.append(writhe(x))
            links.append((self_linking(x, frame.directors(0)), counted_twist(sim, model) + coils[-1]))
        assert np.ptp(coils) > 0.05  # so twist and writhe did exchange
        assert apart == ("flung" not in case.name)
        assert links[0][1] == pytest.approx(case.parameters["turns"], abs=1e-12)
        change = np.array(links) - links[0]
        if not apart:
            assert np.abs(change).max() > 1.0
            change -= 2.0 * np.round(change / 2.0)
        return {"change": np.abs(change).max()}

    case.check(model, measure)


def thrown_rod(model: str, steps: int, inertia: float, twist: float) -> Simulation:
    """A bent rod that flies, turns, bends and stretches freely; soft, so that steps can resolve all that it does."""
    s = np.linspace(0.0, 1.0, 13)
    points = np.stack([s, 0.1 * np.sin(3.0 * s), 0.1 * np.cos(4.0 * s)], axis=1)
    made_of = stiffness(stretch=10.0, bend=0.01, twist=0.01, inertia=inertia)
    velocity = 0.5 * waves(np.random.default_rng(3), math.pi * s, range(4))
    scene = weightless()
    scene.add(rod(points, made_of, rest="straight", twist=twist), model, velocity=velocity)
    return precise(scene, substeps=steps // 24)


def largest_change(sim: Simulation, momentum: Callable[[Frame], np.ndarray]) -> float:
    """Of a momentum during a second, relative to what it was."""
    history = np.array([momentum(frame) for frame in sim.frames(1, 25)])
    return float(np.linalg.norm(history - history[0], axis=1).max() / np.linalg.norm(history[0]))


def point_momenta(sim: Simulation, frame: Frame) -> np.ndarray:
    length = sim.scene.entries[0].rod.rest_lengths
    mass = 0.5 * (np.append(length, 0.0) + np.append(0.0, length))
    return mass[:, None] * frame.velocities(0)


def orbital(sim: Simulation, frame: Frame) -> np.ndarray:
    """Angular momentum of the points."""
    return np.cross(frame.positions(0), point_momenta(sim, frame)).sum(axis=0)


def spin(sim: Simulation, model: str) -> np.ndarray:
    """Angular momentum of an open rod's edges about their tangents."""
    if model in ("der", "der2008"):  # these share their arrays
        b = sim.blocks[0].arrays
        edges = np.diff(b.state.q[:, :3], axis=0)
        along = b.rods.mass[:-1, 3] * b.state.v[:-1, 3] / np.linalg.norm(edges, axis=1)
        return along @ edges
    raise NotImplementedError(model)


@pytest.mark.parametrize(("case", "model"), runs("free flight, linear momentum"))
def test_linear_momentum(case: Case, model: str) -> None:
    """Exact for any step: internal forces cancel in each stage, however far Newton's method goes."""

    def measure(steps: int) -> dict[str, float]:
        sim = thrown_rod(model, steps, **case.parameters)
        return {"change": largest_change(sim, lambda frame: point_momenta(sim, frame).sum(axis=0))}

    case.check(model, measure)


@pytest.mark.parametrize(("case", "model"), runs("free flight, angular momentum"))
def test_angular_momentum(case: Case, model: str) -> None:
    """Not exact, as SDIRK2 is no symplectic scheme, but of its second order in the step. The rod is so thin that its spin
    about the tangent carries nothing."""

    def measure(steps: int) -> dict[str, float]:
        sim = thrown_rod(model, steps, **case.parameters)
        return {"change": largest_change(sim, lambda frame: orbital(sim, frame))}

    case.check(model, measure)


@pytest.mark.parametrize(("case", "model"), runs("free flight, spinning"))
def test_angular_momentum_with_spin(case: Case, model: str) -> None:
    """A thick twisted rod untwists as it flies: what it gains in spin, its points must lose."""

    def measure(steps: int) -> dict[str, float]:
        sim = thrown_rod(model, steps, **case.parameters)
        return {"change": largest_change(sim, lambda frame: orbital(sim, frame) + spin(sim, model))}

    case.check(model, measure)


@pytest.mark.parametrize(("case", "model"), runs("rigid motion"))
def test_rigid_motion_of_a_bent_rod_costs_nothing(case: Case, model: str) -> None:
    """The same rod, bent and twisted against its natural shape, drawn elsewhere and turned."""
    rng = np.random.default_rng(8)

    def measure(segments: int) -> dict[str, float]:
        s = np.linspace(0.0, 1.0, segments + 1)
        points = np.stack([s, 0.2 * np.sin(5.0 * s), 0.2 * np.cos(7.0 * s)], axis=1)
        natural = points + 0.01 * rng.standard_normal(points.shape)
        flat = stiffness(stretch=100.0, bend=(1.0, 4.0))

        def energy(place: np.ndarray, turn: np.ndarray) -> float:
            scene = weightless()
            scene.add(
                rod(
                    points @ turn.T + place,
                    flat,
                    rest=natural,
                    twist=1.0,
                    director=turn @ [0.0, 1.0, 0.0],
                    rest_director=[0.0, 1.0, 0.0],
                ),
                model,
            )
            return Simulation(scene, threads=1).energies().elastic

        start = energy(np.zeros(3), np.eye(3))
        assert start > 1.0
        changes = []
        for _ in range(10):
            axis = rng.standard_normal(3)
            turn = rotation_about(axis / np.linalg.norm(axis), np.array(rng.uniform(-math.pi, math.pi)))
            changes.append(energy(rng.standard_normal(3), turn) / start - 1.0)
        return {"energy": np.abs(changes).max()}

    case.check(model, measure)


@pytest.mark.parametrize(("case", "model"), runs("rigid motion"))
def test_rigid_motion_in_time_costs_nothing(case: Case, model: str) -> None:
    """A curved rod flies straight on, and another follows its clamp around: both stay as they are."""

    def measure(segments: int) -> dict[str, float]:
        s = np.linspace(0.0, 1.0, segments + 1)
        curved = rod(
            np.stack([s, 0.2 * np.sin(5.0 * s), 0.2 * np.cos(7.0 * s)], axis=1),
            stiffness(stretch=100.0, bend=(1.0, 4.0)),
        )
        scene = weightless()
        scene.add(curved, model, velocity=(1.0, 2.0, 3.0))
        followed = scene.add(curved, model)
        clamp = scene.clamp(followed, "start")
        sim = precise(scene)
        energies = []
        for _ in range(5):
            sim.step_frame()
            energies.append(sim.energies().elastic)
        turn = rotation_about(np.array([0.6, 0.0, 0.8]), np.array(2.0))
        sim.move(clamp, position=(1.0, 1.0, 1.0), rotation=turn)
        sim.step_frame()
        energies.append(settled(sim).energies().elastic)
        x = sim.current().positions(followed)
        assert x == pytest.approx((curved.points - curved.points[0]) @ turn.T + 1.0, abs=1e-8)
        return {"energy": max(energies)}

    case.check(model, measure)
