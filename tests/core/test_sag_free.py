"""Sag-free rods: the drawn shape is in equilibrium under gravity, and rods return to it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tendril.core import Material, Net, Rod, Scene, Simulation, TendrilError
from tendril.core.describe.model import model_records

HAIR = Material.preset("human hair")
MODELS = [record.name for record in model_records() if record.balance]


def strand(rng: np.random.Generator, points: int = 21) -> tuple[np.ndarray, np.ndarray]:
    """Root and points of a strand: short ones stand in any direction, long ones hang; all are bent, some are curled."""
    hangs = rng.uniform() < 0.3
    d = rng.normal(size=3)
    d = np.array([0.15, 0.15, 1.0]) * [d[0], d[1], -4.0] if hangs else d
    d /= np.linalg.norm(d)
    e = np.cross(d, rng.normal(size=3))
    e /= np.linalg.norm(e)
    f, t = np.cross(d, e), np.linspace(0.0, 1.0, points)[:, None]
    length = rng.uniform(0.1, 0.25) if hangs else rng.uniform(0.01, 0.06)
    turns, width = 2.0 * np.pi * rng.uniform(0.0, 2.0), rng.uniform(0.0, 0.03) * length
    x = length * (t * d + (0.05 if hangs else 0.5) * rng.uniform() * t * t * e)
    x = x + width * ((np.cos(turns * t) - 1.0) * e + np.sin(turns * t) * f)
    return 0.1 * d, 0.1 * d + x


def groom(count: int, model: str = "der", **options: object) -> Scene:
    rng, scene = np.random.default_rng(1), Scene(**options)  # type: ignore[arg-type]
    for _ in range(count):
        _, x = strand(rng)
        scene.clamp(scene.add(Rod.from_points(x, 4e-5, HAIR), model, sag_free=True), "start")
    return scene


def farthest(simulation: Simulation, drawn: list[np.ndarray]) -> float:
    """The largest way of a point from where it was drawn, as a fraction of the length of its rod."""
    frame, entries = simulation.current(), simulation.scene.entries
    return max(
        float(np.linalg.norm(frame.positions(k) - x, axis=1).max() / entries[k].rod.length) for k, x in enumerate(drawn)
    )


@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.long)])
def test_varied_groom_stays_and_returns_after_a_nod(count: int) -> None:
    simulation = Simulation(groom(count, air_density=1.2))
    assert simulation.sags == {}
    frame = simulation.current()
    drawn = [frame.positions(k) for k in range(count)]
    for _ in range(120):
        assert simulation.step_frame().report.failures == 0
    assert farthest(simulation, drawn) < 1e-3
    roots, holds = np.array([x[0] for x in drawn]), np.arange(count)
    far = 0.0
    for k in range(24 * 9):
        angle = 0.5 * math.sin(2.0 * math.pi * k / 24.0) if k < 24 else 0.0
        c, s = math.cos(angle), math.sin(angle)
        turn = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
        simulation.move(holds, position=roots @ turn.T, rotation=np.tile(turn, (count, 1, 1)))
        simulation.step_frame()
        far = max(far, farthest(simulation, drawn)) if k == 6 else far
    assert far > 0.2  # the nod was one
    assert farthest(simulation, drawn) < 1e-3


@pytest.mark.parametrize("model", MODELS)
def test_every_model_that_can(model: str) -> None:
    simulation = Simulation(groom(40, model))
    frame = simulation.current()
    drawn = [frame.positions(k) for k in range(40)]
    assert not simulation.sags
    for _ in range(48):
        simulation.step_frame()
    assert farthest(simulation, drawn) < 1e-3


def test_without_it_the_same_groom_sags() -> None:
    scene = groom(40)
    scene.entries[:] = [type(one)(one.rod, one.model, one.velocity, one.friction) for one in scene.entries]
    simulation = Simulation(scene)
    frame = simulation.current()
    drawn = [frame.positions(k) for k in range(40)]
    for _ in range(48):
        simulation.step_frame()
    assert farthest(simulation, drawn) > 0.02


def test_shapes_that_the_material_can_not_support_are_reported() -> None:
    scene = Scene(air_density=1.2)
    x = np.linspace(0.0, 0.2, 21)[:, None] * (0.3, 0.0, 1.0)  # much too long to stand upright
    scene.clamp(scene.add(Rod.from_points(x, 4e-5, HAIR), sag_free=True), "start")
    scene.clamp(scene.add(Rod.from_points(x * (1.0, 1.0, -1.0), 4e-5, HAIR), sag_free=True), "start")
    simulation = Simulation(scene)
    assert list(simulation.sags) == [0]
    drawn = simulation.current().positions(0)
    assert np.array_equal(drawn, x)  # it starts where it was drawn
    for _ in range(24 * 15):
        frame = simulation.step_frame()
    sag = np.linalg.norm(frame.positions(0) - drawn, axis=1).max() / scene.entries[0].rod.length
    assert sag == pytest.approx(simulation.sags[0], rel=0.02)
    assert np.linalg.norm(frame.positions(1) - x * (1.0, 1.0, -1.0), axis=1).max() < 1e-6


def test_ropes_on_two_supports_and_trees() -> None:
    scene = Scene()
    x = np.linspace(0.0, 0.5, 26)[:, None] * (1.0, 0.0, 0.0)
    wire = scene.add(Rod.from_points(x, 1e-3, Material.preset("spring steel")), sag_free=True)
    scene.clamp(wire, 0)
    scene.pin(wire, 25)
    points = np.array([[0, 0, 0], [0, 0, 0.1], [0, 0, 0.2], [0.1, 0, 0.25], [-0.08, 0.05, 0.25], [-0.2, 0.1, 0.25]])
    tree = Net.from_edges(points, [(0, 1), (1, 2), (2, 3), (2, 4), (4, 5)], 2e-3, Material.preset("vine"))
    plant = scene.add(tree, sag_free=True)
    scene.clamp(plant, 0)
    simulation = Simulation(scene)
    assert not simulation.sags
    for _ in range(48):
        frame = simulation.step_frame()
    assert np.abs(frame.positions(wire) - x).max() < 1e-7
    assert np.abs(frame.positions(plant) - points).max() < 1e-7


def test_tension_is_that_of_the_weight() -> None:
    scene = Scene()
    x = np.linspace(0.0, 0.2, 21)[:, None] * (0.0, 0.0, -1.0)
    rod = scene.add(Rod.from_points(x, 4e-5, HAIR), sag_free=True)
    scene.clamp(rod, "start")
    simulation = Simulation(scene)
    mass = float(scene.entries[0].rod.mass_per_length[0])
    below = mass * 9.81 * (0.2 - 0.005 - 0.01 * np.arange(20))
    assert simulation.strains().tension(rod) == pytest.approx(below, rel=1e-6)


def test_refused() -> None:
    scene = Scene()
    x = np.linspace(0.0, 0.2, 21)[:, None] * (0.0, 0.0, -1.0)
    with pytest.raises(TendrilError, match="keep their rest shape"):
        scene.add(Rod.from_points(x, 4e-5, HAIR), "der2008", sag_free=True)
    scene.pin(scene.add(Rod.from_points(x, 4e-5, HAIR), sag_free=True), "start")
    with pytest.raises(TendrilError, match="nothing supports rod 0"):
        Simulation(scene)


def test_part_of_the_cache_identity() -> None:
    assert groom(2).fingerprint() == groom(2).fingerprint()
    scene = groom(2)
    scene.entries[0] = type(scene.entries[0])(*list(vars(scene.entries[0]).values())[:-1], sag_free=False)
    assert scene.fingerprint() != groom(2).fingerprint()
