"""Rods that push Blender's rigid bodies by touching them."""

import bpy
import numpy as np
import pytest
from tendril.addon import memory
from tendril.addon.bridge.curves import read_rows
from tendril.tests.addon.building import activate, make_rod
from tendril.tests.addon.test_attachments import attach
from tendril.tests.addon.test_hidden_world import make_body
from tendril.tests.addon.test_rigid_bodies import pendulum, play_bodies, rope

HEAVY = {"material": "CUSTOM", "density": 8000.0, "young_modulus": 1e7, "damping_time": 0.01, "strands": 1.0}
RADIUS = 0.02
PER_METRE = 8000.0 * np.pi * RADIUS**2  # kg


def heavy(start, end, count=9, **settings):
    return rope(start, end, count, **{"start_hold": "FREE", "radius": RADIUS, **HEAVY, **settings})


def seesaw(side):
    """A light plank on a post, and a heavy rope above one of its ends."""
    make_body(size=(0.3, 0.6, 0.4), at=(0.0, 0.0, -0.2), kind="PASSIVE")
    plank = make_body(size=(1.2, 0.4, 0.06), at=(0.0, 0.0, 0.03), mass=0.5)
    return plank, heavy((side, -0.15, 0.1), (side, 0.15, 0.1))


@pytest.mark.parametrize("side", [0.45, -0.45])
def test_a_rope_that_falls_on_one_end_of_a_plank_tips_it(side):
    plank, _ = seesaw(side)
    frames = play_bodies(16, plank)[:, 0]
    down = frames[-1, 2, 0] * np.sign(side)  # of the plank's own x axis
    assert frames[0, 2, 0] == 0.0
    assert down < -0.2
    assert np.all(frames[:, 2, 3] > -0.5)
    assert memory.running_of(bpy.context.scene).not_exact_since is None


def test_without_push_the_plank_stays():
    plank, _ = seesaw(0.45)
    bpy.context.scene.tendril.push_bodies = False
    frames = play_bodies(16, plank)[:, 0]
    np.testing.assert_allclose(frames[-1], frames[0], atol=2e-3)
    assert memory.running_of(bpy.context.scene).engine is None


def test_what_a_body_loses_of_its_momentum_a_rope_gains():
    """A box falls on a rope that has no weight, and nothing else is there: all that gravity gave is in the two."""
    bpy.context.scene.tendril.gravity_weight, bpy.context.scene.tendril.air_density = 0.0, 0.0
    box = make_body(size=(0.3, 0.3, 0.3), mass=4.0, at=(0.0, 0.0, 0.4))
    heavy((-0.4, 0.0, 0.0), (0.4, 0.0, 0.0))
    shares, seen = np.full(9, 0.1 * PER_METRE), []
    shares[[0, -1]] *= 0.5
    for frame in range(1, 15):
        bpy.context.scene.frame_set(frame)
        running = memory.running_of(bpy.context.scene)
        if frame > 1:
            now = running.simulation.current()
            seen.append((4.0 * now.body_velocity(0), shares @ now.velocities(0)))
    bodies, rods = np.array(seen).transpose(1, 0, 2)
    given = -4.0 * 9.81 * np.arange(1, 14) / 24.0
    np.testing.assert_allclose((bodies + rods)[:, 2], given, rtol=0.01, atol=0.05)
    np.testing.assert_allclose((bodies + rods)[:, :2], 0.0, atol=0.1)
    assert rods[-1, 2] < -2.0
    assert rods[2, 2] == 0.0  # before they met
    assert box.matrix_world.translation.z > read_rows(bpy.data.objects["Rope"].data)[4, 2] + 0.15


def wrecking_rope(mass=2.0, **settings):
    """A rope swings down and hits a tall box on a floor."""
    make_body(size=(6.0, 6.0, 0.2), at=(0.0, 0.0, -0.1), kind="PASSIVE")
    box = make_body(size=(0.2, 0.3, 0.5), at=(0.05, 0.0, 0.25), mass=mass, **settings)
    return box, swinging_rope()


def swinging_rope():
    return heavy((-0.1, 0.0, 0.95), (-0.7, 0.0, 0.95), 13, start_hold="PIN")


def test_a_rope_that_swings_into_a_box_knocks_it_over_each_time_in_the_same_way():
    box, rod = wrecking_rope(use_deactivation=True)
    scene = bpy.context.scene
    scene.frame_end = 30
    first = play_bodies(30, box)
    assert first[-1, 0, 0, 3] > 0.2  # along the swing
    assert first[-1, 0, 2, 2] < 0.5  # it fell
    assert first[:, 0, 2, 3].min() > 0.05  # on the floor
    rows = read_rows(rod.data)
    assert bpy.ops.tendril.cache_delete() == {"FINISHED"}
    np.testing.assert_array_equal(play_bodies(30, box), first)
    np.testing.assert_array_equal(read_rows(rod.data), rows)
    scene.frame_set(1)
    activate(rod)
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    memory.clear()
    for frame in (1, 14, 30):
        scene.frame_set(frame)
        np.testing.assert_allclose(np.array(box.matrix_world), first[frame - 1, 0], atol=2e-6)


def test_a_heavy_box_stops_the_rope():
    box, rod = wrecking_rope(mass=500.0)
    frames = play_bodies(30, box)[:, 0]
    np.testing.assert_allclose(frames[-1], frames[0], atol=5e-3)
    assert read_rows(rod.data)[:, 0].max() < -0.05 - RADIUS + 0.005


def test_a_rope_rests_on_the_body_it_is_attached_to():
    """It is tied to the middle of the top, hangs over the edge, and does not pass through the box."""
    make_body(size=(4.0, 4.0, 0.2), at=(0.0, 0.0, -0.1), kind="PASSIVE")
    box = make_body(size=(0.6, 0.6, 0.6), at=(0.0, 0.0, 0.3), mass=30.0)
    rod = heavy((0.0, 0.0, 0.6 + RADIUS), (0.7, 0.0, 0.6 + RADIUS), 15, young_modulus=1e6)
    attach(rod, box, "START")
    play_bodies(30, box)
    rows = read_rows(rod.data)
    assert rows[-1, 2] < 0.55  # hangs over the edge
    beyond = np.maximum(np.abs(rows[:, 0]) - 0.3, rows[:, 2] - 0.6)
    assert beyond[5:].min() > RADIUS - 0.002  # near where it is tied nothing touches
    assert beyond.min() > 0.5 * RADIUS
    bpy.context.scene.frame_set(1)
    bpy.context.scene.tendril.use_rigid_bodies = False
    play_bodies(30, box)
    assert read_rows(rod.data)[8, 2] < 0.4  # through it


def test_a_ring_hangs_on_the_rope_that_goes_through_it():
    bpy.ops.mesh.primitive_torus_add(major_radius=0.2, minor_radius=0.04, major_segments=24, minor_segments=8)
    ring = bpy.context.object
    ring.rotation_euler = (0.0, np.pi / 2, 0.0)
    bpy.ops.rigidbody.object_add(type="ACTIVE")
    ring.rigid_body.collision_shape, ring.rigid_body.mass = "MESH", 0.5
    bpy.context.view_layer.update()
    make_rod(
        ("POLY", np.linspace((-0.4, 0.0, 0.0), (0.4, 0.0, 0.0), 17)), start_hold="PIN", end_hold="PIN", radius=0.015
    )
    frames = play_bodies(40, ring)[:, 0]
    assert frames[:, 2, 3].min() > -0.35
    assert frames[10:, 2, 3].max() < -0.1
    assert memory.running_of(bpy.context.scene).not_exact_since is None


@pytest.mark.parametrize("kind", ["PASSIVE", "ACTIVE"])
def test_a_chosen_margin_is_a_distance_that_rods_keep(kind):
    floor = {"size": (1.0, 1.0, 0.2), "at": (0.0, 0.0, -0.1), "use_margin": True, "collision_margin": 0.03}
    make_body("CONVEX_HULL", kind=kind, mass=1000.0, **floor)
    bpy.context.scene.rigidbody_world.effector_weights.gravity = 0.0  # only the rope falls
    rod = rope((-0.3, 0.0, 0.05), (0.3, 0.0, 0.05), 9, start_hold="FREE")
    play_bodies(16, rod)
    np.testing.assert_allclose(read_rows(rod.data)[:, 2], 0.04, atol=1e-3)


@pytest.mark.parametrize("turning", [False, True])
def test_a_rope_that_only_follows_a_body_is_where_that_is(turning):
    rod, ball = pendulum(start_hold="FREE")
    attachment = rod.tendril.attachments[0]
    attachment.use_pull, attachment.use_rotation = False, turning
    bodies = play_bodies(13, ball)[:, 0]
    assert bodies[-1, 2, 3] == pytest.approx(-0.5 * 9.81 * 0.25, abs=0.03)
    np.testing.assert_allclose(read_rows(rod.data)[-1], bodies[-1, :3, 3] - [0.1, 0.0, 0.0], atol=5e-3)


def test_bodies_that_are_baked_in_blender_stay_as_they_are_baked():
    box, rod = wrecking_rope()
    bpy.data.objects.remove(rod)
    scene = bpy.context.scene
    scene.rigidbody_world.point_cache.frame_end = 20
    scene.frame_end = 20
    with bpy.context.temp_override(scene=scene, point_cache=scene.rigidbody_world.point_cache):
        bpy.ops.ptcache.bake(bake=True)
    rod = swinging_rope()
    frames = play_bodies(20, box)[:, 0]
    np.testing.assert_allclose(frames[-1], frames[0], atol=1e-3)
    assert memory.running_of(scene).engine is None
    assert not box.rigid_body.kinematic
    assert read_rows(rod.data)[:, 0].max() < -0.05 - RADIUS + 0.005
