"""Soft goals: rods follow a target shape, with any strength and any model."""

import numpy as np
import pytest
from tendril.core import Material, Rod, Scene, Simulation, TendrilError
from tendril.core.describe.model import model_records

HAIR = Material.preset("human hair")
LINE = np.linspace(0.0, 0.1, 13)[:, None] * (0.0, 0.0, -1.0)


def scene_of(strength, model="der", time=0.05, gravity=(0.0, 0.0, -9.81), radius=4e-5):
    scene = Scene(gravity)
    rod = scene.add(Rod.from_points(LINE, radius, HAIR), model)
    scene.clamp(rod, "start")
    if strength is not None:
        scene.follow(rod, strength, time)
    return scene


def shifted(t):
    """The target: the strand swings to the side."""
    return LINE + np.array([0.3, 0.0, 0.0]) * (-LINE[:, 2:]) * min(t, 1.0)


@pytest.mark.parametrize("model", [record.name for record in model_records() if record.production and record.rod_menu])
def test_a_strong_goal_carries_the_rod_to_the_target(model):
    simulation = Simulation(scene_of(20.0, model))
    for k in range(48):
        simulation.aim_goal(0, shifted(k / 12.0))
        frame = simulation.step_frame()
        assert frame.report.failures == 0
    assert np.abs(frame.positions(0) - shifted(1.0)).max() < 0.01
    assert np.abs(frame.positions(0) - LINE).max() > 0.02


def test_strength_along_the_strand_and_over_time():
    free, tip, root, off = (
        Simulation(scene_of(s)) for s in (None, np.linspace(0, 20, 13), np.linspace(20, 0, 13), 20.0)
    )
    for _k in range(48):
        for simulation in (tip, root, off):
            simulation.aim_goal(0, shifted(1.0), factor=0.0 if simulation is off else None)
        frames = [simulation.step_frame() for simulation in (free, tip, root, off)]
    distance = [np.abs(frame.positions(0)[-1] - shifted(1.0)[-1]).max() for frame in frames]
    assert np.array_equal(frames[3].positions(0), frames[0].positions(0)) or distance[3] == pytest.approx(
        distance[0], abs=1e-6
    )
    assert distance[1] < distance[2] < distance[0]


def test_critically_damped_response_of_a_free_point():
    """Without elasticity to speak of, the distance e from the goal follows e'' = -e / T^2 - 2 e' / T: it is (a + b t) exp(-t / T).
    The goal moves with the speed V for one frame, and then stops."""
    scene = Scene((0.0, 0.0, 0.0))
    rod = scene.add(Rod.from_points(LINE, 1e-5, Material(1e3, 1000.0)))
    scene.follow(rod, 1.0, 0.2)
    simulation = Simulation(scene, substeps=16)
    target = LINE + np.array([0.02, 0.0, 0.0])
    simulation.aim_goal(0, target)
    simulation.step_frame()
    left = []
    for _ in range(24):
        left.append(float(target[0, 0] - simulation.step_frame().positions(rod)[0, 0]))
    T, frame, V = 0.2, 1.0 / 24.0, 0.02 * 24.0
    e = V * frame * np.exp(-frame / T)
    rate = V * (1.0 - frame / T) * np.exp(-frame / T) - V
    t = (np.arange(24) + 1.0) * frame
    assert np.abs(np.array(left) - (e + (rate + e / T) * t) * np.exp(-t / T)).max() < 3e-4
    assert min(left) < -0.002  # not vacuous: the goal's speed carries it beyond


def test_stable_however_strong_and_restored_exactly():
    simulation = Simulation(scene_of(1e6))
    states = []
    for k in range(20):
        simulation.aim_goal(0, shifted(0.2 * k))
        frame = simulation.step_frame()
        states.append(simulation.state())
    assert np.isfinite(frame.positions(0)).all()
    assert np.abs(frame.positions(0)).max() < 0.5
    again = Simulation(scene_of(1e6))
    again.restore(states[9], 11)
    for k in range(10, 20):
        again.aim_goal(0, shifted(0.2 * k))
        again.step_frame()
    assert np.array_equal(again.state(), states[-1])


def test_refused():
    scene = scene_of(1.0)
    with pytest.raises(TendrilError, match="follows a goal already"):
        scene.follow(0)
    with pytest.raises(TendrilError, match="strength"):
        scene_of(-1.0)
    simulation = Simulation(scene)
    with pytest.raises(TendrilError, match="goal"):
        simulation.aim_goal(3, LINE)
    with pytest.raises(TendrilError, match="positions"):
        simulation.aim_goal(0, LINE[:3])
    assert scene_of(1.0).fingerprint() != scene_of(0.5).fingerprint()
