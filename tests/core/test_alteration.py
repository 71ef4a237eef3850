"""Rods that grow, curl, stiffen and get sticky while they move."""

import numpy as np
import pytest
from tendril.core import Material, Rod, Scene, Simulation, TendrilError

RUBBER = Material(2e7, 1000.0, damping_time=0.01)


def line(n=21, length=1.0):
    return np.stack([np.linspace(0.0, length, n), np.zeros(n), np.zeros(n)], axis=1)


def cantilever(model, **options):
    scene = Scene((0.0, 0.0, -0.05))
    scene.clamp(scene.add(Rod.from_points(line(), 0.01, RUBBER, **options), model=model), 0)
    return Simulation(scene, threads=1)


@pytest.mark.parametrize("model", ["der", "net", "compact", "clothoid"])
def test_twice_as_stiff_sinks_half_as_far_and_back(model):
    sim = cantilever(model)
    assert sim.settle()
    plain = sim.current().positions(0)[-1, 2]
    sim.alter(0, stiffness=2.0)
    assert sim.settle()
    assert sim.current().positions(0)[-1, 2] == pytest.approx(plain / 2.0, rel=2e-3)
    sim.alter(0)
    assert sim.settle()
    assert sim.current().positions(0)[-1, 2] == pytest.approx(plain, rel=1e-6)


@pytest.mark.parametrize("model", ["der", "net", "compact", "clothoid"])
def test_a_grown_rod_is_as_long_as_heavy_and_as_stiff_as_one_made_so(model):
    sim = cantilever(model)
    sim.alter(0, length=1.5)
    assert sim.settle()
    made = Scene((0.0, 0.0, -0.05))
    made.clamp(made.add(Rod.from_points(line(length=1.5), 0.01, RUBBER), model=model), 0)
    other = Simulation(made, threads=1)
    assert other.settle()
    assert np.allclose(sim.current().positions(0), other.current().positions(0), atol=1e-6)
    assert sim.energies().gravity == pytest.approx(other.energies().gravity, rel=1e-6)
    assert np.abs(sim.strains().stretch(0)).max() < 1e-4


def test_a_rod_that_never_stretches_is_as_long_as_it_has_grown_in_every_frame():
    """Hung up and growing: its length is exact, and it gains no energy but that of its own weight."""
    points = line()[:, [1, 2, 0]] * (1.0, 1.0, -1.0)
    scene = Scene()
    scene.pin(scene.add(Rod.from_points(points, 0.01, RUBBER), "compact"), 0)
    sim = Simulation(scene, threads=1)
    for k in range(1, 20):
        sim.alter(0, length=1.0 + 0.01 * k)
        x = sim.step_frame().positions(0)
        lengths = np.linalg.norm(np.diff(x, axis=0), axis=1)
        assert np.abs(lengths / (0.05 * (1.0 + 0.01 * k)) - 1.0).max() < 1e-13
    assert sim.energies().kinetic < 1e-3 * abs(sim.energies().gravity)


@pytest.mark.parametrize("model", ["der", "net", "compact", "clothoid"])
def test_curl_scales_the_natural_curvature(model):
    """An arc of a circle of radius 1 becomes one of radius a half."""
    a = np.linspace(0.0, 1.0, 41)
    arc = np.stack([np.sin(a), 1.0 - np.cos(a), 0.0 * a], axis=1)
    scene = Scene((0.0, 0.0, 0.0))
    scene.clamp(scene.add(Rod.from_points(arc, 0.01, RUBBER), model=model), 0)
    sim = Simulation(scene, threads=1)
    sim.alter(0, curl=2.0)
    assert sim.settle()
    end = sim.current().positions(0)[-1]
    assert end[:2] == pytest.approx([0.5 * np.sin(2.0), 0.5 * (1.0 - np.cos(2.0))], abs=2e-3)
    assert np.abs(sim.strains().bending(0)).max() < 1e-4


@pytest.mark.parametrize("model", ["der", "compact", "clothoid"])
def test_damping_takes_motion_out(model):
    still = []
    for damping in (0.0, 20.0):
        sim = cantilever(model)
        sim.alter(0, damping=damping)
        *_, frame = sim.frames(1, 60)
        still.append(np.abs(frame.velocities(0)).max())
    assert still[1] < 0.5 * still[0]


@pytest.mark.parametrize("model", ["der", "compact", "clothoid"])
def test_a_restored_run_has_the_same_bits(model):
    """Also over frames in which it does not grow any more."""

    def run(sim, first, last):
        for k in range(first, last):
            sim.alter(0, stiffness=1.0 + k, damping=0.5 * k, length=1.0 + 0.01 * min(k, 3), curl=0.1 * k)
            frame = sim.step_frame()
        return frame.positions(0)

    sim = cantilever(model)
    run(sim, 1, 4)
    state = sim.state()
    later = run(sim, 4, 8)
    other = cantilever(model)
    other.restore(state, 4)
    assert np.array_equal(run(other, 4, 8), later)


def test_what_can_not_change_is_refused():
    sim = cantilever("der2008")
    with pytest.raises(TendrilError, match="stay as they were made"):
        sim.alter(0, stiffness=2.0)
    sim = cantilever("clothoid")
    with pytest.raises(TendrilError, match="length"):
        sim.alter(0, length=0.0)
    sim = cantilever("der")
    for bad in ({"stiffness": 0.0}, {"length": -1.0}, {"damping": np.nan}, {"curl": np.inf}):
        with pytest.raises(TendrilError):
            sim.alter(0, **bad)
    with pytest.raises(TendrilError):
        sim.alter(7)
