"""Tension, bending and twist, edge by edge, against formulas."""

import numpy as np
import pytest
from tendril.core import Material, Net, Rod, Scene, Simulation, TendrilError

RUBBER = Material.preset("rubber")
GRAVITY = 9.81


def hanging(model, n=21, length=1.0):
    """A rod that hangs from its start."""
    points = np.zeros((n, 3))
    points[:, 2] = -np.linspace(0.0, length, n)
    rod = Rod.from_points(points, 0.01, Material(1e8, 1000.0))
    scene = Scene()
    scene.pin(scene.add(rod, model=model), 0)
    sim = Simulation(scene, threads=1)
    assert sim.settle()
    return rod, sim


@pytest.mark.parametrize("model", ["der", "net"])
def test_tension_of_a_hanging_rod_is_the_weight_below(model):
    rod, sim = hanging(model)
    mass = float(rod.mass_per_length[0])
    below = 1.0 - np.arange(20) / 20 - 1 / 40  # to the middle of each edge: masses sit at vertices
    tension = sim.strains().tension(0)
    assert np.allclose(tension, mass * GRAVITY * below, rtol=1e-6)
    assert np.allclose(sim.strains().stretch(0), tension / rod.stretch, rtol=1e-12)


def test_models_that_never_stretch_tell_no_tension():
    _, sim = hanging("compact", n=6)
    strains = sim.strains()
    assert not strains.stretches(0)
    assert np.allclose(strains.bending(0), 0.0, atol=1e-9)
    with pytest.raises(TendrilError, match="never stretches"):
        strains.tension(0)


@pytest.mark.parametrize("model", ["der", "der2008", "compact", "net"])
def test_bending_of_a_ring_and_twist_put_into_it(model):
    """A straight rod bent to a circle of radius R is curved by 1/R; twist spreads evenly."""
    n, radius, turns = 64, 0.5, 1.5
    a = np.linspace(0.0, 1.6 * np.pi, n)
    points = radius * np.stack([np.cos(a), np.sin(a), 0.0 * a], axis=1)
    rod = Rod.from_points(points, 0.01, RUBBER, rest="straight", twist=2.0 * np.pi * turns)
    scene = Scene((0.0, 0.0, 0.0))
    scene.add(rod, model=model)
    strains = Simulation(scene, threads=1).strains()
    rate = 2.0 * np.pi * turns / rod.length
    assert np.allclose(strains.bending(0), 1.0 / radius, rtol=2e-3)
    assert np.allclose(strains.twist(0), rate, rtol=2e-2)


@pytest.mark.parametrize("model", ["der", "net", "clothoid"])
def test_the_natural_shape_is_not_strained(model):
    s = np.linspace(0.0, 1.0, 60)
    helix = np.stack([0.1 * np.cos(9.0 * s), 0.1 * np.sin(9.0 * s), 0.3 * s], axis=1)
    scene = Scene((0.0, 0.0, 0.0))
    scene.add(Rod.from_points(helix, 0.004, RUBBER), model=model)
    strains = Simulation(scene, threads=1).strains()
    most = {"clothoid": 0.6}.get(model, 1e-9)  # of a curvature of 9.1 1/m, which elements follow as well as they can
    assert np.abs(strains.stretch(0)).max() < (1e-9 if model != "clothoid" else 2e-3)
    assert np.abs(strains.bending(0)).max() < most
    assert np.abs(strains.twist(0)).max() < (1e-9 if model != "clothoid" else most)


def test_rods_of_one_block_are_told_apart():
    scene = Scene((0.0, 0.0, 0.0))
    line = np.stack([np.linspace(0.0, 1.0, 11), np.zeros(11), np.zeros(11)], axis=1)
    ring = 0.3 * np.stack([np.cos(a := np.arange(12) * np.pi / 6), np.sin(a), 0.0 * a], axis=1)
    scene.add(Rod.from_points(line, 0.01, RUBBER, rest=line * 0.5))
    scene.add(Rod.from_points(ring, 0.01, RUBBER, closed=True, rest="straight"))
    strains = Simulation(scene, threads=1).strains()
    edge = 2.0 * 0.3 * np.sin(np.pi / 12)
    assert np.allclose(np.concatenate([strains.stretch(0) - 1.0, strains.bending(0), strains.stretch(1)]), 0.0)
    assert np.allclose(strains.bending(1), 2.0 * np.tan(np.pi / 12) / edge)


def test_a_net_of_joints_tells_twist_of_single_segments():
    """Two stars joined by one segment: one of them held turned about it, all of the angle is in the segment between."""
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0], [1, 1, 0], [1, -1, 0]], float)
    edges = [[0, 1], [0, 2], [0, 3], [1, 4], [1, 5]]
    scene = Scene((0.0, 0.0, 0.0))
    net = scene.add(Net.from_edges(points, edges, 0.01, Material(1e8, 1000.0)))
    scene.clamp(net, 0)
    turned = scene.clamp(net, 1)
    sim = Simulation(scene, threads=1)
    angle = 0.4
    rotation = np.array([[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]])
    sim.move(turned, rotation=rotation)
    sim.step_frame()
    assert sim.settle(stable=False)
    strains = sim.strains()
    assert strains.twist(net)[0] == pytest.approx(angle, rel=1e-6)
    assert np.abs(strains.twist(net)[1:]).max() < 1e-6
    assert sim.current().directors(net).shape == (5, 3)


def test_a_net_with_more_edges_than_points_tells_all_directors():
    """Edges of a cube with all its diagonals."""
    points = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    edges = [[i, j] for i in range(8) for j in range(i)]
    scene = Scene((0.0, 0.0, 0.0))
    first = scene.add(Net.from_edges(points, edges, 0.01, RUBBER))
    second = scene.add(Net.from_edges(points + 5.0, edges, 0.01, RUBBER))
    frame = Simulation(scene, threads=1).current()
    t = points[[j for _, j in edges]] - points[[i for i, _ in edges]]
    for net in (first, second):
        d = frame.directors(net)
        assert np.allclose(np.linalg.norm(d, axis=1), 1.0)
        assert np.abs(np.einsum("ij,ij->i", d, t)).max() < 1e-9
