"""A simulation that is restored while a clamp turns goes on to the same bits, through whole turns."""

from __future__ import annotations

import numpy as np
import pytest
from tendril.core import Material, Plane, Rod, Scene, Simulation
from tendril.core.describe.model import model_records

MODELS = [record.name for record in model_records()]
RATE = 20.0  # rad/s: half a turn after four frames


def rotation_about_x(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def a_simulation(model, contact, how):
    scene = Scene(rod_contact=contact)
    points = np.linspace((0, 0, 0), (0.4, 0, 0), 7)
    rod = scene.add(Rod.from_points(points, radius=0.01, material=Material.preset("rubber")), model)
    if how == "spin":
        scene.clamp(rod, "start", spin=lambda t: RATE * t)
    elif how == "path":
        scene.clamp(rod, "start", path=lambda t: ((0, 0, 0), rotation_about_x(RATE * t)))
    else:
        scene.clamp(rod, "start")
    if contact:
        scene.collide(Plane((0, 0, -0.03)))
    return Simulation(scene, substeps=2)


def step(sim, how):
    if how == "moved":
        sim.move(0, rotation=rotation_about_x(RATE * sim.frame / 24.0))
    sim.step_frame()
    return sim.state()


@pytest.mark.parametrize("how", ["spin", "path", "moved"])
@pytest.mark.parametrize("contact", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_restoring_a_turned_clamp_changes_no_bit(model, contact, how):
    sim, restored = a_simulation(model, contact, how), a_simulation(model, contact, how)
    before = sim.state()
    for number in range(1, 9):
        restored.restore(before, number)
        assert restored.state().tobytes() == before.tobytes()
        after = step(sim, how)
        assert step(restored, how).tobytes() == after.tobytes(), f"frame {number}"
        before, restored = after, a_simulation(model, contact, how)


@pytest.mark.parametrize("model", ["der", "net", "compact", "clothoid"])
def test_a_released_rod_goes_on_in_a_new_simulation_to_the_same_bits(model):
    """Hence a release that is repeated before the state is restored costs no accelerations."""
    sim, again = a_simulation(model, False, "still"), a_simulation(model, False, "still")
    for _ in range(3):
        sim.step_frame()
    sim.release(0)
    for _ in range(3):
        sim.step_frame()
    again.release(0)
    again.restore(sim.state(), sim.frame)
    for _ in range(3):
        assert step(sim, "still").tobytes() == step(again, "still").tobytes()
