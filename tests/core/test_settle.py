"""Settling: equilibria are found, energy falls on the way, and nothing else happens."""

from __future__ import annotations

import math

import numpy as np
import pytest
from plain_rods import circle, helix, line, made_of, plain_rod, precise, weightless
from scipy.optimize import brentq
from tendril.core import Material, Rod, Scene, Simulation
from tendril.core.describe.rotations import rotation_about


def rope() -> Scene:
    """Three metres of rope in a V between pins that are two metres apart."""
    scene = Scene()
    x = line(40, 2.0)
    x[:, 2] = -np.minimum(x[:, 0], 2.0 - x[:, 0]) * math.sqrt(1.5**2 - 1.0)
    scene.add(Rod.from_points(x, 5e-3, Material.preset("nylon rope"), rest="straight"))
    scene.pin(0, "start")
    scene.pin(0, "end")
    return scene


def cantilever() -> Scene:
    scene = Scene()
    scene.add(plain_rod(line(30), made_of(stretch=1e6)))
    scene.clamp(0, "start")
    return scene


def coil() -> Scene:
    """A straight rod, wound up and twisted, released between its ends."""
    scene = Scene((0.0, 3.0, -2.0))
    scene.add(plain_rod(helix(30), made_of(bend=(1.0, 2.0)), rest="straight", twist=4.0))
    scene.clamp(0, "start")
    scene.pin(0, "end")
    return scene


def ring() -> Scene:
    scene = Scene()
    scene.add(plain_rod(circle(24)[:, [0, 2, 1]], made_of(bend=5.0), closed=True))
    scene.clamp(0, 6)
    scene.load(0, 18, (0.0, 2.0, 0.0))
    return scene


SCENES = [rope, cantilever, coil, ring]


def forces_left(sim: Simulation) -> float:
    """The largest acceleration of anything free in a short step from rest, in parts of gravity."""
    after = precise(sim.scene, frame_rate=1e3, substeps=1, integrator="backward euler")
    after.restore(sim.state(), 1)
    after.step_frame()
    b = after.blocks[0].arrays
    accelerations = b.state.a[:, :3] + b.forces.force[:, :3] / b.rods.mass[:, :1]  # the state keeps them without loads
    return float(np.abs(np.where(b.rods.held[:, :3], 0.0, accelerations)).max()) / 9.81


@pytest.mark.parametrize("make", SCENES)
def test_an_equilibrium_is_found(make) -> None:
    sim = precise(make())
    start = sim.energies().total
    assert forces_left(sim) > 0.1
    assert sim.settle()
    assert sim.energies().total < start
    assert sim.energies().kinetic == 0.0
    assert forces_left(sim) < 1e-5
    assert sim.frame == 1
    assert sim.time == 0.0
    place = sim.current().positions(0)
    assert sim.settle()
    assert sim.current().positions(0) == pytest.approx(place, abs=1e-7)


@pytest.mark.parametrize("make", SCENES)
def test_it_stays_there(make) -> None:
    sim = precise(make())
    assert sim.settle()
    place = sim.current().positions(0)
    for _ in range(12):
        frame = sim.step_frame()
    assert frame.positions(0) == pytest.approx(place, abs=1e-6)


@pytest.mark.parametrize("make", SCENES)
def test_energy_never_rises_above_the_start(make) -> None:
    """However early it is cut short. What it works against is the energy less the work of loads."""

    def potential(sim: Simulation) -> float:
        work = sum(load.force @ sim.current().positions(load.rod)[load.vertex] for load in sim.scene.loads)
        return sim.energies().total - work

    start = potential(precise(make()))
    energies = []
    for steps in range(1, 30):
        sim = precise(make())
        sim.settle(most_steps=steps)
        energies.append(potential(sim))
    assert max(energies) < start
    assert np.diff(energies).max() < 1e-9 * (start - min(energies))  # each step goes down


def test_too_few_steps_are_told() -> None:
    sim = precise(cantilever())
    assert sim.settle(most_steps=3) is False
    assert np.isfinite(sim.current().positions(0)).all()
    assert sim.settle() is True


def test_a_settled_rope_is_a_catenary() -> None:
    """Where bending and stretching are small: z = a cosh(x / a) with the span and the length of the rope."""
    sim = Simulation(rope(), tolerance=1e-9)
    assert sim.settle()
    x = sim.current().positions(0)
    assert x == pytest.approx(x[::-1] * [-1.0, 1.0, 1.0] + [2.0, 0.0, 0.0], abs=1e-6)
    a = brentq(lambda a: 2.0 * a * math.sinh(1.0 / a) - 3.0, 0.1, 10.0)
    catenary = a * np.cosh((x[:, 0] - 1.0) / a) - a * math.cosh(1.0 / a)
    assert x[:, 2] == pytest.approx(catenary, abs=0.01)


def test_settling_keeps_moved_holds_where_they_are() -> None:
    """And takes them to where they are sent only with the next frame."""
    sim = precise(cantilever())
    turn = rotation_about(np.array([0.0, 1.0, 0.0]), np.array(-0.5))
    sim.move(0, (0.0, 0.0, 1.0), turn)
    assert sim.settle()
    still = sim.current().positions(0)
    assert np.array_equal(still[0], np.zeros(3))
    sim.step_frame()
    assert sim.settle()
    x = sim.current().positions(0)
    assert np.array_equal(x[0], [0.0, 0.0, 1.0])
    t = (x[1] - x[0]) / np.linalg.norm(x[1] - x[0])
    assert math.atan2(t[2], t[0]) == pytest.approx(0.5, abs=0.1)


def test_free_rods_settle_in_their_natural_shape() -> None:
    scene = weightless()
    scene.add(plain_rod(helix(20), rest="straight"))
    scene.add(plain_rod(helix(20)))
    sim = precise(scene)
    assert sim.settle()
    assert sim.energies().elastic < 1e-13
    assert sim.current().positions(1) == pytest.approx(helix(20), abs=1e-9)


def test_what_falls_has_no_equilibrium() -> None:
    scene = Scene()
    scene.add(plain_rod(helix(10)))
    sim = precise(scene)
    assert sim.settle(most_steps=60) is False
    assert np.isfinite(sim.state()).all()
