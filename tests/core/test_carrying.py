"""Rods that are carried along with an object: the inertia scale, and objects that teleport."""

import numpy as np
import pytest
from tendril.core import Body, Material, Mesh, Plane, Rod, Scene, Simulation, Sphere, TendrilError
from tendril.core.describe.model import model_records
from tendril.core.describe.rotations import rotation_about

HAIR = Material.preset("human hair")
SOFT = Material.preset("rubber")
LINE = np.linspace(0.0, 0.1, 9)[:, None] * (0.6, 0.0, -0.8)
TURN = rotation_about(np.array([0.36, 0.48, 0.8]), np.array(0.7))
SHIFT = np.array([0.3, -0.2, 0.1])
MODELS = [record.name for record in model_records()]


def moved(x):
    return x @ TURN.T + SHIFT


def scene_of(model="der", gravity=(0.0, 0.0, -9.81), held=True, contact=False, material=HAIR, radius=4e-5):
    scene = Scene(gravity, air_density=0.0, rod_contact=contact)
    for y in (0.0, 0.01):
        rod = scene.add(Rod.from_points(LINE + np.array([0.0, y, 0.0]), radius, material), model)
        if held:
            scene.clamp(rod, "start")
    return scene


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("model", MODELS)
def test_carried_rods_go_on_as_before_seen_from_elsewhere(model, held):
    simulations = [Simulation(scene_of(model, held=held, material=SOFT, radius=2e-3)) for _ in range(2)]
    for simulation in simulations:
        simulation.surround(gravity=(0.0, 4.0, -9.81))
        for _ in range(2):
            simulation.step_frame()
    plain, carried = simulations
    carried.carry(SHIFT, TURN)
    carried.surround(gravity=TURN @ (0.0, 4.0, -9.81))
    for _ in range(2):
        if held:
            for hold in range(2):
                carried.move(hold, moved(np.array([0.0, 0.01 * hold, 0.0])), TURN)
        expected, found = plain.step_frame(), carried.step_frame()
        assert found.report.failures == 0
    for rod in range(2):
        assert np.abs(expected.positions(rod) - LINE - (0.0, 0.01 * rod, 0.0)).max() > 1e-3
        assert np.abs(found.positions(rod) - moved(expected.positions(rod))).max() < 1e-7
        assert np.abs(found.velocities(rod) - expected.velocities(rod) @ TURN.T).max() < 1e-5


def head(frame):
    """Where a head that turns and moves is, since frame 1: position, rotation."""
    t = (frame - 1) / 24
    place = np.array([0.5 * np.sin(6.0 * t), 0.2 * t, 0.1 * np.sin(9.0 * t)])
    return place, rotation_about(np.array([0.0, 0.6, 0.8]), np.array(1.5 * np.sin(7.0 * t)))


def shake(simulation, frames, scale):
    """Moves the holds with the head; returns the last frame."""
    for _ in range(frames):
        (x, r), (y, s) = head(simulation.frame), head(simulation.frame + 1)
        if scale is not None:
            simulation.carry(y - x, s @ r.T, x, linear=scale, angular=scale)
        for hold in range(2):
            simulation.move(hold, s @ (0.0, 0.01 * hold, 0.0) + y, s)
        frame = simulation.step_frame()
        assert frame.report.failures == 0
    return frame


def seen_from_head(frame, rod):
    place, rotation = head(frame.number)
    return (frame.positions(rod) - place) @ rotation


@pytest.mark.parametrize("model", ["der", "net", "compact", "clothoid"])
def test_without_inertia_hair_keeps_its_shape_relative_to_the_head(model):
    frame = shake(Simulation(scene_of(model, (0.0, 0.0, 0.0))), 24, 0.0)
    for rod in range(2):
        assert np.abs(seen_from_head(frame, rod) - LINE - (0.0, 0.01 * rod, 0.0)).max() < 1e-6


def test_inertia_scale_one_changes_no_bit():
    plain, one = (Simulation(scene_of(gravity=(0.0, 0.0, 0.0))) for _ in range(2))
    shake(plain, 4, None)
    shake(one, 4, 1.0)
    assert np.array_equal(plain.state(), one.state())


def test_inertia_scales_are_the_part_of_the_motion_that_rods_feel():
    shift, turn = np.array([0.003, 0.0, 0.0]), rotation_about(np.array([0.0, 1.0, 0.0]), np.array(0.02))
    for move, motion in (("linear", (shift, np.eye(3))), ("angular", (np.zeros(3), turn))):
        lag = []
        for scale in (1.0, 0.5):
            simulation = Simulation(scene_of(gravity=(0.0, 0.0, 0.0)))
            simulation.carry(*motion, **{"linear": 1.0, "angular": 1.0, move: scale})
            simulation.move([0, 1], [motion[0], motion[0] + motion[1] @ (0.0, 0.01, 0.0)], [motion[1]] * 2)
            frame = simulation.step_frame()
            lag.append(np.abs((frame.positions(0) - motion[0]) @ motion[1] - LINE).max())
        assert 0.49 * lag[0] < lag[1] < 0.51 * lag[0]


def test_velocities_in_frames_contain_the_motion_that_carries():
    simulation = Simulation(scene_of(gravity=(0.0, 0.0, 0.0)))
    frames = [shake(simulation, 1, 0.0) for _ in range(3)]
    difference = 12.0 * (frames[2].positions(1) - frames[0].positions(1))
    assert np.abs(difference).max() > 1.0
    assert np.abs(frames[1].velocities(1) - difference).max() < 0.3 * np.abs(difference).max()
    assert np.abs(simulation.blocks[0].velocities()).max() < 1e-6


def test_a_restored_simulation_goes_on_with_the_same_bits():
    plain, other = (Simulation(scene_of(contact=True)) for _ in range(2))
    shake(plain, 3, 0.4)
    other.restore(plain.state(), plain.frame)
    shake(plain, 3, 0.4)
    shake(other, 3, 0.4)
    assert np.array_equal(plain.state(), other.state())


def test_a_teleport_leaves_strands_unstretched_and_carries_only_those_named():
    simulation = Simulation(scene_of())
    simulation.step_frame()
    simulation.carry((10.0, 0.0, 0.0), rods=[0], colliders=[], jump=True)
    simulation.move(0, (10.0, 0.0, 0.0))
    frame = simulation.step_frame()
    assert frame.report.failures == 0
    assert np.abs(simulation.strains().stretch(0)).max() < 0.01
    assert np.abs(frame.velocities(0)).max() < 2.0
    assert np.allclose(frame.positions(0) - (10.0, -0.01, 0.0), frame.positions(1), atol=1e-6)


def test_colliders_move_relative_to_the_carried_rods():
    """In the frame of reference of the object, a floor rises while the object sinks: rods stay above it."""
    points = np.array([(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)])
    mesh = Mesh(points, [(0, 1, 2), (0, 2, 3)])
    for floor in (Plane(), mesh):
        scene = Scene(air_density=0.0)
        rod = scene.add(Rod.from_points(np.linspace((0.0, 0.0, 0.05), (0.1, 0.0, 0.05), 9), 1e-3, SOFT))
        scene.collide(floor)
        simulation = Simulation(scene)
        for _ in range(10):
            simulation.carry((0.0, 0.0, -0.01))
            frame = simulation.step_frame()
            assert frame.positions(rod)[:, 2].min() > 0.9e-3
        assert frame.positions(rod)[:, 2].max() < 0.03


def test_rods_are_not_carried_away_from_rigid_bodies():
    scene = scene_of()
    scene.add_body(Body(Sphere(0.1), 1.0))
    with pytest.raises(TendrilError, match="rigid bodies"):
        Simulation(scene).carry((0.1, 0.0, 0.0))


@pytest.mark.parametrize(
    "bad",
    [
        {"linear": -0.1},
        {"angular": np.nan},
        {"linear": 2.0},
        {"rotation": 2.0 * np.eye(3)},
        {"rods": [7]},
        {"colliders": [0]},
        {"about": (np.nan, 0.0, 0.0)},
        {"translation": (1e30, 0.0, 0.0)},
    ],
)
def test_bad_values_are_refused_and_change_nothing(bad):
    simulation = Simulation(scene_of())
    state = simulation.state()
    with pytest.raises(TendrilError) as refused:
        simulation.carry(**{"translation": (0.1, 0.0, 0.0), **bad})
    assert str(refused.value).count("\n") == 0
    assert np.array_equal(simulation.state(), state)
