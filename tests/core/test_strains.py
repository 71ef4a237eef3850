"""Tension, bending and twist, edge by edge, against formulas."""

import numpy as np
import pytest
from tendril.core import Body, Material, Net, Plane, Rod, Scene, Simulation, Sphere, TendrilError

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


@pytest.mark.parametrize("model", ["der", "net", "compact", "corde", "clothoid"])
def test_tension_of_a_hanging_rod_is_the_weight_below(model):
    rod, sim = hanging(model)
    mass = float(rod.mass_per_length[0])
    below = 1.0 - np.arange(20) / 20 - 1 / 40  # to the middle of each edge: masses sit at vertices
    tension = sim.strains().tension(0)
    assert np.allclose(tension, mass * GRAVITY * below, rtol=1e-6)
    if model not in ("compact", "clothoid"):
        assert np.allclose(sim.strains().stretch(0), tension / rod.stretch, rtol=1e-12)


def test_models_that_do_not_know_their_tension_say_so():
    _, sim = hanging("der2008", n=6)
    strains = sim.strains()
    assert not strains.knows_tension(0)
    assert np.allclose(strains.bending(0), 0.0, atol=1e-9)
    with pytest.raises(TendrilError, match="does not know the tension"):
        strains.tension(0)


def test_tension_of_a_pendulum_that_never_stretches():
    """m (g cos + L w^2): here with half the segment's mass at its end, let go from the horizontal, so that it is 3 m g sin of the
    angle that it has come down. At second order of the step."""
    errors = []
    for substeps in (8, 16):
        rod = Rod.from_points([(0, 0, 0), (1, 0, 0)], 0.001, Material(1e8, 1000.0))
        scene = Scene((0.0, 0.0, -GRAVITY))
        scene.pin(scene.add(rod, "compact"), 0)
        sim = Simulation(scene, 100.0, substeps=substeps, threads=1, tolerance=1e-10)
        bob = 0.5 * float(rod.mass_per_length[0])
        worst = 0.0
        for frame in sim.frames(1, 60):
            if frame.number < 20:
                continue
            sine = -frame.positions(0)[1, 2]
            worst = max(worst, abs(sim.strains().tension(0)[0] / (3.0 * bob * GRAVITY * sine) - 1.0))
        errors.append(worst)
    assert errors[1] < 1e-3
    assert np.log2(errors[0] / errors[1]) > 1.7


@pytest.mark.parametrize("integrator", ["tr-bdf2", "semi-implicit euler"])
def test_tension_along_a_clothoid_that_swings(integrator):
    """A stiff rod of length L that is let go from the horizontal: where it has come down by the angle a, w^2 is 3 g sin a / L, and
    at s it carries rho (g sin a (L - s) + w^2 (L^2 - s^2) / 2)."""
    rod = Rod.from_points(np.linspace((0, 0, 0), (1, 0, 0), 11), 0.02, Material(1e12, 1000.0))
    scene = Scene((0.0, 0.0, -GRAVITY))
    scene.pin(scene.add(rod, "clothoid", elements=2), 0)
    sim = Simulation(scene, 100.0, substeps=16, threads=1, tolerance=1e-10, integrator=integrator)
    s, rho = (np.arange(10) + 0.5) / 10, float(rod.mass_per_length[0])
    for frame in sim.frames(1, 50):
        if frame.number < 20:
            continue
        pull = GRAVITY * -frame.positions(0)[-1, 2]
        expected = rho * (pull * (1.0 - s) + 1.5 * pull * (1.0 - s * s))
        assert np.allclose(sim.strains().tension(0), expected, rtol=2e-3 if integrator == "tr-bdf2" else 0.01)
    assert pull > 0.7 * GRAVITY


def test_tension_of_a_clothoid_with_a_weight_and_with_a_load():
    points = np.linspace((0, 0, 0), (0, 0, -0.5), 9)
    rod = Rod.from_points(points, 0.003, RUBBER)
    scene = Scene()
    heavy, loaded = (scene.add(rod, "clothoid") for _ in range(2))
    for one in (heavy, loaded):
        scene.clamp(one, "start")
    ball = scene.add_body(Body(Sphere(0.02), mass=1.0, position=(0, 0, -0.52)))
    scene.attach(heavy, "end", ball)
    scene.load(loaded, "end", (0.0, 0.0, -2.0))
    sim = Simulation(scene, threads=1)
    for _ in range(3):
        sim.step_frame()
    mass = float(rod.mass_per_length[0]) * (0.5 - (np.arange(8) + 0.5) / 16)
    assert np.allclose(sim.strains().tension(heavy), GRAVITY * (mass + 1.0), rtol=1e-5)
    assert np.allclose(sim.strains().tension(loaded), GRAVITY * mass + 2.0, rtol=1e-5)
    state = sim.state()
    again = Simulation(scene, threads=1)
    again.restore(state, sim.frame)
    assert np.array_equal(again.strains().tension(heavy), sim.strains().tension(heavy))


def test_tension_in_a_spinning_ring_that_never_stretches():
    """rho A v^2."""
    a = np.arange(60) * 2.0 * np.pi / 60
    points = np.stack([np.cos(a), np.sin(a), 0.0 * a], axis=1)
    rod = Rod.from_points(points, 0.01, Material(1e8, 1000.0), closed=True)
    scene = Scene((0.0, 0.0, 0.0))
    ring = scene.add(rod, "compact", velocity=np.cross((0.0, 0.0, 4.0), points))
    sim = Simulation(scene, 100.0, substeps=16, threads=1)
    for _ in range(4):
        sim.step_frame()
    assert np.allclose(sim.strains().tension(ring), float(rod.mass_per_length[0]) * 16.0, rtol=5e-3)


def test_tension_of_what_carries_others():
    """A compact tree on which a body hangs."""
    scene = Scene()
    y = np.array([(0, 0, 0), (0, 0, -0.2), (0, 0, -0.4), (0.2, 0, -0.6), (-0.2, 0, -0.6)], float)
    net = Net.from_edges(y, [(0, 1), (1, 2), (2, 3), (2, 4)], 0.005, RUBBER)
    tree = scene.add(net, "compact")
    scene.pin(tree, 0)
    ball = scene.add_body(Body(Sphere(0.02), mass=1.0, position=y[3]))
    scene.attach(tree, 3, ball, kind="ball")
    sim = Simulation(scene, threads=1)
    assert sim.settle()
    mass = net.mass_per_length * net.rest_lengths
    carried = 1.0 + np.array([mass.sum() - 0.5 * mass[0], mass[2:].sum() + 0.5 * mass[1]])
    assert np.allclose(sim.strains().tension(tree)[:2], GRAVITY * carried, rtol=1e-5)


@pytest.mark.parametrize("model", ["compact", "clothoid"])
def test_tension_of_a_rope_that_stands_on_the_ground(model):
    """Only what hangs pulls: the ground carries the rest."""
    points = np.zeros((51, 3))
    points[:, 2] = 0.8 - np.linspace(0.0, 1.0, 51)
    points[40:] = points[40] + np.linspace(0.0, 0.2, 11)[:, None] * (1.0, 0.0, 0.0)
    points[:, 2] += 0.002
    rod = Rod.from_points(points, 0.002, Material(1e5, 1000.0), rest="straight")
    scene = Scene(drag=5.0)
    scene.pin(scene.add(rod, model, elements=12 if model == "clothoid" else None), 0)
    scene.collide(Plane())
    sim = Simulation(scene, threads=1)
    for _ in range(50 if model == "compact" else 24):
        sim.step_frame()
    weight = float(rod.mass_per_length[0]) * GRAVITY
    assert sim.strains().tension(0)[0] == pytest.approx(weight * 0.79, rel=0.02)


@pytest.mark.parametrize("model", ["der", "der2008", "compact", "net", "corde", "clothoid"])
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


@pytest.mark.parametrize("model", ["der", "net", "clothoid", "corde"])
def test_the_natural_shape_is_not_strained(model):
    s = np.linspace(0.0, 1.0, 60)
    helix = np.stack([0.1 * np.cos(9.0 * s), 0.1 * np.sin(9.0 * s), 0.3 * s], axis=1)
    scene = Scene((0.0, 0.0, 0.0))
    scene.add(Rod.from_points(helix, 0.004, RUBBER), model=model)
    strains = Simulation(scene, threads=1).strains()
    for strain in (strains.stretch, strains.bending, strains.twist):
        assert np.abs(strain(0)).max() < 1e-9


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
