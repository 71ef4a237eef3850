"""Friction of rods that hang on something: how long a swing lasts."""

from __future__ import annotations

import numpy as np
import pytest
from plain_rods import line
from tendril.core import Material, Net, Rod, Scene, Simulation, TendrilError
from tendril.core.describe.material import swing_drag

SOFT = Material(1e6, 1000.0, swing_time=2.0)
MODELS = ["der", "net", "compact", "clothoid", "der2008", "corde"]


def swinging(model: str, swing_time: float | None = None, **surroundings: object) -> Simulation:
    """A rope of 0.2 m that swings from 6 degrees, in vacuum unless told otherwise."""
    points = 0.2 * line(5) @ np.array([[0.1, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.1]]) / np.hypot(1.0, 0.1)
    scene = Scene(**surroundings)
    scene.pin(scene.add(Rod.from_points(points, 0.004, SOFT, swing_time=swing_time), model), "start")
    return Simulation(scene, threads=1)


def widest(sim: Simulation, frames: int) -> float:
    """m, the farthest that the tip goes to the side."""
    return max(abs(sim.step_frame().positions(0)[-1, 0]) for _ in range(frames))


def peak(sim: Simulation, frames: int) -> float:
    """J, the largest kinetic energy."""
    return max(sim.step_frame().report.energies.kinetic for _ in range(frames))


@pytest.mark.parametrize("model", MODELS)
def test_a_swing_gets_smaller(model: str) -> None:
    """Seen by the kinetic energy of one swing and of that a second later, compared with a rod without friction."""
    left = []
    for swing_time in (0.0, 2.0):
        sim = swinging(model, swing_time)
        first = peak(sim, 12)
        peak(sim, 12)
        left.append(peak(sim, 12) / first)
    assert left[1] / left[0] == pytest.approx(0.1, rel=0.35)


@pytest.mark.parametrize("model", ["der", "compact", "clothoid"])
def test_what_flies_is_not_slowed_down(model: str) -> None:
    sim = swinging(model, 0.5)
    sim.release(0)
    for _ in range(6):
        frame = sim.step_frame()
    assert np.abs(frame.positions(0).mean(axis=0)[2] + 0.1 + 0.5 * 9.81 * 0.25**2) < 2e-3


def test_a_swing_is_ten_times_smaller_after_its_time() -> None:
    sim = swinging("der", swing_time=8.0)
    first = widest(sim, 20)
    for _ in range(8 * 24 - 20):
        sim.step_frame()
    assert widest(sim, 20) == pytest.approx(0.1 * first, rel=0.15)


def test_the_material_says_how_long_and_a_rod_may_differ() -> None:
    assert swing_drag(0.0) == 0.0
    assert swing_drag(2.0) == pytest.approx(np.log(10.0))
    assert Rod.from_points(line(2), 0.01, SOFT).swing_time == 2.0
    assert Rod.from_points(line(2), 0.01, SOFT, swing_time=5.0).swing_time == 5.0
    assert Net.from_edges(line(2), [(0, 1), (1, 2)], 0.01, SOFT).swing_time == 2.0
    with pytest.raises(TendrilError, match="swing_time"):
        Material(1e6, 1000.0, swing_time=-1.0)


@pytest.mark.parametrize("model", ["der", "compact", "clothoid"])
def test_wind_does_not_pull_at_friction_within_a_rod(model: str) -> None:
    """Without air the wind does nothing."""
    calm, windy = swinging(model), swinging(model, wind=(0.0, 30.0, 0.0))
    for _ in range(6):
        a, b = calm.step_frame(), windy.step_frame()
    assert np.abs(a.positions(0) - b.positions(0)).max() < 1e-9


def test_damping_changed_over_time_changes_swings() -> None:
    sim = swinging("der")
    sim.alter(0, damping=0.0)
    assert widest(sim, 48) == pytest.approx(widest(sim, 48), rel=0.05)
    sim.alter(0, damping=2.0)
    first = widest(sim, 12)
    for _ in range(12):
        sim.step_frame()
    assert widest(sim, 24) < 0.2 * first


def test_presets_of_ropes_and_chains_come_to_rest() -> None:
    for name in ("nylon rope", "hemp rope", "steel cable", "chain", "human hair"):
        assert 10.0 <= Material.preset(name).swing_time <= 60.0
