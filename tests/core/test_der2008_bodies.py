"""`der2008` with rigid bodies, as published: fast projection of rods and bodies together, and the torque that is handed over."""

import math
import time
from dataclasses import replace

import numpy as np
import pytest
from tendril.core import Body, Box, Material, Rod, Scene, Simulation, Sphere
from tendril.sample_scenes.experiments import tree

WIRE = Material(2.6e8, 1000.0, poisson_ratio=0.3)  # G = 1e8
RADIUS = 0.002
TWIST = 1e8 * math.pi * RADIUS**4 / 2.0
BEND = 2.6e8 * math.pi * RADIUS**4 / 4.0


def straight(start, end, segments):
    return Rod.from_points(np.linspace(start, end, segments + 1), RADIUS, WIRE)


def hung(segments=20, gravity=(0.0, 0.0, -9.81), **body):
    """A body welded to the end of a wire of half a metre that hangs from a clamp."""
    scene = Scene(gravity=gravity)
    rod = scene.add(straight((0, 0, 0), (0, 0, -0.5), segments), "der2008")
    scene.clamp(rod, "start")
    number = scene.add_body(Body(Sphere(0.02), mass=0.1, position=(0, 0, -0.5), **body))
    scene.attach(rod, "end", number)
    return scene


def crossings(times, values):
    """When values pass zero."""
    t, a = np.array(times), np.array(values)
    k = np.flatnonzero(a[:-1] * a[1:] < 0.0)
    return t[k] - a[k] * (t[k + 1] - t[k]) / (a[k + 1] - a[k])


def test_torsional_pendulum():
    """Frames have no inertia of their own."""
    sim = Simulation(hung(angular_velocity=(0, 0, 1.0)), frame_rate=100)
    frames = list(sim.frames(1, 200))
    angles = [math.atan2(f.body_rotation(0)[1, 0], f.body_rotation(0)[0, 0]) for f in frames]
    period = 2.0 * np.diff(crossings([f.time for f in frames], angles)).mean()
    assert period == pytest.approx(2.0 * math.pi * math.sqrt(0.5 * 0.4 * 0.1 * 0.02**2 / TWIST), rel=1e-3)
    spin = 1.0 / math.sqrt(TWIST / (0.5 * 0.4 * 0.1 * 0.02**2))
    assert max(angles) == pytest.approx(spin, rel=0.02)


def test_constraints_hold_and_projection_is_quick():
    sim = Simulation(hung(velocity=(1.0, 0.5, 0.0), angular_velocity=(0, 3.0, 2.0)), frame_rate=24)
    local = np.array([(0, 0, 0.025), (0, 0, 0.0)])  # of the last two vertices
    for frame in sim.frames(2, 30):
        x = frame.positions(0)
        carried = frame.body_position(0) + local @ frame.body_rotation(0).T
        assert np.abs(x[-2:] - carried).max() < 1e-12
        assert np.abs(np.linalg.norm(np.diff(x, axis=0), axis=1) / 0.025 - 1.0).max() < 1e-8
        assert sim.blocks[0].most_projections.max() <= 5
        assert frame.report.failures == 0
        rotation = frame.body_rotation(0)
        assert np.abs(rotation @ rotation.T - np.eye(3)).max() < 1e-12


def test_body_weighs_on_its_rod():
    """A level cantilever bends under a body at its end as under that load; damped by the body's own damping."""
    scene = Scene(gravity=(0, 0, -0.02))
    rod = scene.add(straight((0, 0, 0), (0.5, 0, 0), 20), "der2008")
    scene.clamp(rod, "start")
    body = Body(Sphere(0.02), mass=0.1, position=(0.5, 0, 0), linear_damping=1.8, angular_damping=1.8)
    scene.attach(rod, "end", scene.add_body(body))
    sim = Simulation(scene, frame_rate=24)
    *_, frame = sim.frames(1, 300)
    own = 1000.0 * math.pi * RADIUS**2 * 0.02
    sag = 0.1 * 0.02 * 0.5**3 / (3.0 * BEND) + own * 0.5**4 / (8.0 * BEND)
    assert sag < 0.03  # of half a metre: the formula is for little bending
    assert -frame.body_position(0)[2] == pytest.approx(sag, rel=0.02)


def two_bodies():
    """Flying through empty space, with two rods between them: a closed loop of rods and bodies."""
    scene = Scene(gravity=(0, 0, 0))
    light = scene.add_body(
        Body(Box((0.1, 0.08, 0.06)), mass=0.05, position=(0, 0, 0), velocity=(0, 0.3, 0), angular_velocity=(1, 2, 0))
    )
    heavy = scene.add_body(Body(Box((0.2, 0.2, 0.1)), mass=2.0, position=(0.6, 0, 0), angular_velocity=(3.0, 0, 0.5)))
    for y in (-0.03, 0.03):
        rod = scene.add(straight((0.05, y, 0), (0.5, y, 0), 18), "der2008")
        scene.attach(rod, "start", light)
        scene.attach(rod, "end", heavy)
    return scene


def momenta(sim, frame):
    """Linear and angular, of bodies and rods; those of rods at half a step before, as symplectic Euler has them."""
    linear, angular = np.zeros(3), np.zeros(3)
    for k, body in enumerate(sim.scene.bodies):
        x, rotation, v = frame.body_position(k), frame.body_rotation(k), frame.body_velocity(k)
        linear += body.mass * v
        angular += body.mass * np.cross(x, v)
        angular += rotation @ body.inertia @ rotation.T @ frame.body_angular_velocity(k)
    for rod, entry in enumerate(sim.scene.entries):
        mass = entry.rod.mass_per_length * entry.rod.rest_lengths
        share = 0.5 * (np.append(mass, 0.0) + np.append(0.0, mass))[:, None]
        linear += (share * frame.velocities(rod)).sum(axis=0)
        angular += np.cross(frame.positions(rod), share * frame.velocities(rod)).sum(axis=0)
    return linear, angular


def test_momentum_of_rods_and_bodies_in_space():
    sim = Simulation(two_bodies(), frame_rate=200)
    frames = list(sim.frames(2, 101))
    first, last = momenta(sim, frames[0]), momenta(sim, frames[-1])
    # Carried vertices turn with their bodies while the projection moves them straight: what that costs is of first order in h.
    assert np.abs(last[0] - first[0]).max() < 1e-4 * np.abs(first[0]).max()
    assert np.abs(last[1] - first[1]).max() < 5e-3 * np.abs(first[1]).max()
    assert max(f.report.energies.bend for f in frames) > 0.1 * frames[0].report.energies.kinetic  # it did move
    assert all(f.report.failures == 0 for f in frames)


@pytest.mark.parametrize("mass", [2e-6, 10.0])
def test_light_and_heavy_bodies_stay_stable(mass):
    """A ten thousandth of what the wire weighs, and more than a thousand times as much."""
    scene = Scene()
    rod = scene.add(straight((0, 0, 0), (0, 0, -0.5), 20), "der2008")
    scene.clamp(rod, "start")
    body = Body(Sphere(0.02), mass=mass, position=(0, 0, -0.5), velocity=(0.5, 0, 0), angular_velocity=(0, 0, 2.0))
    scene.attach(rod, "end", scene.add_body(body))
    sim = Simulation(scene, frame_rate=24)
    start = sim.energies().total
    for frame in sim.frames(2, 13):
        assert frame.report.failures == 0
        x = frame.positions(rod)
        assert np.abs(np.linalg.norm(np.diff(x, axis=0), axis=1) / 0.025 - 1.0).max() < 1e-7
        assert frame.report.energies.total <= start + 1e-6 * abs(start)
    assert abs(x[-1, 0]) > 1e-5


def test_kinematic_body_leads_its_rod():
    scene = Scene()
    rod = scene.add(straight((0, 0, 0), (0, 0, -0.5), 20), "der2008")
    path = lambda t: ((0.2 * math.sin(3.0 * t), 0.0, 0.0), np.eye(3))  # noqa: E731
    scene.attach(rod, "start", scene.add_body(Body(Sphere(0.02), path=path)))
    sim = Simulation(scene, frame_rate=24)
    for frame in sim.frames(2, 24):
        assert frame.positions(rod)[0] == pytest.approx((0.2 * math.sin(3.0 * frame.time), 0.0, 0.0), abs=1e-9)
        assert frame.body_position(0) == pytest.approx(frame.positions(rod)[0], abs=1e-9)
    assert abs(frame.positions(rod)[-1][0] - frame.positions(rod)[0][0]) > 0.01


@pytest.mark.parametrize("kind", ["ball", "swivel", "weld"])
def test_kinds(kind):
    """A body that spins about the rod's axis twists a welded rod alone; one that turns across it bends all but a ball's."""
    scene = Scene(gravity=(0, 0, 0))
    rod = scene.add(straight((0, 0, 0), (0.5, 0, 0), 20), "der2008")
    scene.clamp(rod, "start")
    body = Body(Sphere(0.02), mass=0.1, position=(0.5, 0, 0), angular_velocity=(1.0, 0, 0.5))
    scene.attach(rod, "end", scene.add_body(body), kind=kind)
    sim = Simulation(scene, frame_rate=100)
    *_, frame = sim.frames(1, 6)
    twisted, bent = frame.report.energies.twist > 1e-7, frame.report.energies.bend > 1e-7
    assert (twisted, bent) == {"ball": (False, False), "swivel": (False, True), "weld": (True, True)}[kind]


def test_same_bits_after_restore():
    sim = Simulation(two_bodies(), frame_rate=100)
    for _ in range(5):
        sim.step_frame()
    state, frame = sim.state(), sim.frame
    sim.step_frame()
    other = Simulation(two_bodies(), frame_rate=100)
    other.restore(state, frame)
    other.step_frame()
    assert np.array_equal(sim.state(), other.state())


def with_floor(scene, height):
    scene.collide(Box((4.0, 4.0, 0.1), position=(0, 0, height - 0.05)))
    return scene


def test_contact_that_does_not_happen_changes_nothing():
    """Where bodies and rods could touch something but do not, they take the published steps, to the last bit."""
    bodies = {"velocity": (1.0, 0.5, 0.0), "angular_velocity": (0, 3.0, 2.0)}
    alone, above = Simulation(hung(**bodies)), Simulation(with_floor(hung(**bodies), -2.0))
    for _ in range(12):
        one, other = alone.step_frame(), above.step_frame()
        assert np.array_equal(one.positions(0), other.positions(0))
        assert np.array_equal(one.body_rotation(0), other.body_rotation(0))
        assert other.report.implicit == frozenset()


def test_a_body_that_hits_the_floor_takes_implicit_steps_only_then():
    """A weight swings on its wire down to the lowest point of its path, where it hits a floor."""
    scene = Scene()
    rod = scene.add(straight((0, 0, 0), (0.5, 0, 0), 20), "der2008")
    scene.pin(rod, "start")
    body = scene.add_body(Body(Sphere(0.02), mass=0.1, position=(0.5, 0, 0), collides=True))
    scene.attach(rod, "end", body, kind="ball")
    sim = Simulation(with_floor(scene, -0.5), frame_rate=100)
    frames = list(sim.frames(2, 50))
    touching = [frame.body_position(body)[2] < -0.48 + 1e-3 for frame in frames]
    implicit = [frame.report.implicit == {rod} for frame in frames]
    assert any(touching)
    assert touching.index(True) - implicit.index(True) in (0, 1)
    assert not any(implicit[: implicit.index(True)])
    assert min(frame.body_position(body)[2] for frame in frames) > -0.4802
    assert all(frame.report.failures == 0 for frame in frames)
    x = frames[-1].positions(rod)
    assert np.linalg.norm(np.diff(x, axis=0), axis=1) == pytest.approx(0.025, rel=1e-3)


def test_a_rod_too_stiff_for_explicit_steps_takes_implicit_ones():
    """A steel pin in segments of a millimetre would need a hundred thousand steps per frame: it and its body fall all the same,
    by backward Euler, and the report tells."""
    scene = Scene()
    rod = scene.add(
        Rod.from_points(np.linspace((0, 0, 0), (0.02, 0, 0), 21), RADIUS, Material(2e11, 7800.0)), "der2008"
    )
    body = scene.add_body(Body(Sphere(0.02), mass=0.1, position=(0.02, 0, 0)))
    scene.attach(rod, "end", body)
    *_, frame = Simulation(scene, frame_rate=24, substeps=4).frames(1, 4)
    assert frame.report.implicit == {rod}
    assert frame.report.failures == 0
    t = frame.time
    assert frame.body_position(body)[2] == pytest.approx(-0.5 * 9.81 * t * (t + 1.0 / 96.0), rel=1e-6)


@pytest.mark.parametrize("kind", ["ball", "swivel", "weld"])
def test_a_body_that_is_let_go_of_falls_freely(kind):
    scene = hung()
    scene.attachments[0] = replace(scene.attachments[0], kind=kind)
    sim = Simulation(scene)
    *_, start = sim.frames(1, 4)
    assert start.report.implicit == frozenset()
    sim.detach(0)
    *_, frame = sim.frames(5, 10)
    t = frame.time - start.time
    fall = t * start.body_velocity(0)[2] - 0.5 * 9.81 * t * (t + 1.0 / 96.0)  # backward Euler
    assert frame.body_position(0)[2] - start.body_position(0)[2] == pytest.approx(fall, rel=1e-6)
    assert np.linalg.norm(frame.positions(0)[-1]) < 0.51


@pytest.mark.parametrize("why", ["damped", "ball inside", "two bodies side by side"])
def test_what_explicit_steps_cannot_do_is_done_by_implicit_ones(why):
    scene = Scene(gravity=(0, 0, 0))
    points = np.linspace((0, 0, 0), (0.5, 0, 0), 21)
    rod = scene.add(Rod.from_points(points, RADIUS, WIRE, damping_time=0.01 if why == "damped" else 0.0), "der2008")
    scene.pin(rod, "start")
    body = scene.add_body(Body(Sphere(0.02), mass=0.1, position=(0.25, 0, 0), velocity=(0, 0, 0.1)))
    scene.attach_edge(rod, 10, body, kind="ball" if why == "ball inside" else "weld")
    if why == "two bodies side by side":
        scene.attach_edge(rod, 12, scene.add_body(Body(Sphere(0.02), mass=0.1, position=(0.31, 0, 0))))
    sim = Simulation(scene)
    for frame in sim.frames(2, 6):
        assert frame.report.failures == 0
        middle = frame.positions(rod)[10:12].mean(axis=0)
        tied = frame.body_position(body) + frame.body_rotation(body) @ (0.0125, 0, 0)
        assert np.abs(middle - tied).max() < 1e-6
    assert middle[2] > 0.005


def test_tree_of_rods_and_rigid_forks():
    """The paper's tree, 2,158 vertices: forks keep their angles."""
    grown = tree.grown()
    sim = Simulation(grown.scene, frame_rate=480, substeps=1, threads=1)
    before = tree.angles(grown, sim.current())
    for _ in range(3):
        frame = sim.step_frame()
    assert grown.vertices == 2158
    assert np.abs(tree.angles(grown, frame) - before).max() < 1e-7
    assert frame.report.failures == 0
    assert np.abs(frame.velocities(grown.twigs[0])).max() > 0.01  # the wind blows


@pytest.mark.long
def test_a_step_of_the_tree_is_ten_times_as_fast_as_in_2008():
    sim = Simulation(tree.grown().scene, frame_rate=480, substeps=1, threads=1)
    took = []
    for _ in range(3):
        began = time.thread_time()
        sim.step_frame()
        took.append((time.thread_time() - began) / int(sim.blocks[0].inner_steps[0]))
    assert min(took) < 2.2e-3
