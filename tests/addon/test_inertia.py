"""The inertia scale relative to an object, and objects that teleport."""

import bpy
import numpy as np
import pytest
from tendril.addon import memory
from tendril.tests.addon.building import make_mesh, make_rod, play, status
from tendril.tests.addon.test_bake import LAST, bake_scene, key_rows
from tendril.tests.addon.test_hair import make_hair


def make_head(turns=True, collide=False):
    """A mesh that moves and turns from frame 1 to 9."""
    head = make_mesh(at=(0.0, 0.0, 0.0), collide=collide, cuts=8)
    for frame, x, angle in ((1, 0.0, 0.0), (5, 0.4, 0.6), (9, -0.2, -0.5)):
        head.location.x, head.rotation_euler.y = x, angle if turns else 0.0
        head.keyframe_insert("location", frame=frame)
        head.keyframe_insert("rotation_euler", frame=frame)
    return head


def weightless():
    scene = bpy.context.scene
    scene.use_gravity, scene.tendril.air_density = False, 0.0
    return scene


def in_space_of(obj, rows):
    inverse = np.array(obj.matrix_world.inverted())
    return rows @ inverse[:3, :3].T + inverse[:3, 3]


def set_inertia(obj, linear, angular, teleport=0.0):
    shared = bpy.context.scene.tendril
    shared.inertia_object, shared.teleport_distance = obj, teleport
    shared.linear_inertia, shared.angular_inertia = linear, angular
    bpy.context.scene.frame_set(1)


def stretch(rows, start):
    """The largest change of a segment's length, per strand of 8 points."""
    lengths = [np.linalg.norm(np.diff(x.reshape(-1, 8, 3), axis=1), axis=2) for x in (rows, start)]
    return np.abs(lengths[0] / lengths[1] - 1.0).max()


def test_without_inertia_hair_keeps_its_shape_relative_to_the_head():
    scene, head = weightless(), make_head()
    obj = make_hair(surface=head)
    start = play(obj, 9)[1]
    lag = np.abs(in_space_of(head, play(obj, 9)[9]) - start).max()
    set_inertia(head, 0.0, 0.0)
    rows = play(obj, 9)[9]
    assert np.abs(in_space_of(head, rows) - start).max() < 2e-6  # shown in single precision
    assert lag > 0.01
    assert status(obj) == ""
    assert not memory.is_outdated(scene)


def test_inertia_one_changes_no_bit_and_half_is_between():
    weightless()
    head = make_head(turns=False)
    obj = make_hair(surface=head)
    plain = play(obj, 3)
    set_inertia(head, 1.0, 1.0)
    same = play(obj, 3)
    assert all(np.array_equal(plain[k], same[k]) for k in plain)
    set_inertia(head, 0.5, 0.5)
    half = play(obj, 3)
    lags = [np.abs(in_space_of(head, shown[3]) - shown[1]).max() for shown in (plain, half)]
    assert 0.3 * lags[0] < lags[1] < 0.7 * lags[0]


def test_free_rods_are_carried_and_frames_resume_with_the_same_bits():
    weightless()
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.collection.objects.link(empty)
    for frame, y in ((1, 0.0), (21, 2.0)):
        empty.location.y = y
        empty.keyframe_insert("location", frame=frame)
    obj = make_rod(start_hold="FREE")
    set_inertia(empty, 0.25, 0.25)
    shown = play(obj, 16)
    moved = shown[16] - shown[1]
    bpy.context.scene.frame_set(16)
    assert np.allclose(moved, [0.0, 0.75 * empty.location.y, 0.0], atol=1e-5)
    running = memory.running_of(bpy.context.scene)
    running.truncate_after(12)
    again = play(obj, 16, first=running.last_frame)
    assert all(np.array_equal(again[k], shown[k]) for k in again)


def test_keyframes_of_the_inertia_are_noticed():
    scene, head = weightless(), make_head()
    obj = make_hair(surface=head)
    set_inertia(head, 0.0, 0.0)
    for frame, value in ((1, 0.0), (30, 0.5)):
        scene.tendril.linear_inertia = value
        scene.tendril.keyframe_insert("linear_inertia", frame=frame)
    scene.frame_set(1)
    play(obj, 5)
    assert not memory.is_outdated(scene)
    scene.animation_data.action.layers[0].strips[0].channelbags[0].fcurves[0].keyframe_points[0].co.y = 1.0
    scene.frame_set(3)
    assert "outdated" in memory.info(scene)


@pytest.mark.parametrize("chosen", [True, False])
@pytest.mark.parametrize("collide", [True, False])
def test_a_teleport_at_frame_2_leaves_hair_unstretched(chosen, collide):
    scene = bpy.context.scene
    head = make_mesh(at=(0.0, 0.0, 0.0), collide=collide, cuts=8)
    for frame, x in ((1, 0.0), (2, 10.0)):
        head.location.x = x
        head.keyframe_insert("location", frame=frame)
    for curve in head.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"
    obj = make_hair(surface=head, radius=1e-3)
    still = make_hair(name="Still", radius=1e-3)
    set_inertia(head if chosen else None, 1.0, 1.0, teleport=1.0)
    shown = play_both(obj, still, 5)
    assert memory.running_of(scene).not_exact_since is None
    for k in range(2, 6):
        assert stretch(shown[k][0], shown[1][0]) < 0.01
        assert np.abs(shown[k][0] - shown[1][0] - (10.0, 0.0, 0.0)).max() < 0.1
        assert np.abs(shown[k][1] - shown[1][1]).max() < 0.1  # hair that is attached to something else stays


def play_both(one, other, last):
    shown = {}
    for frame in range(1, last + 1):
        first = play(one, frame, first=frame)[frame]
        shown[frame] = first, play(other, frame, first=frame)[frame]
    return shown


def test_without_a_teleport_distance_hair_whips():
    head = make_mesh(at=(0.0, 0.0, 0.0), collide=False, cuts=8)
    for frame, x in ((1, 0.0), (2, 10.0)):
        head.location.x = x
        head.keyframe_insert("location", frame=frame)
    obj = make_hair(surface=head, radius=1e-3)
    shown = play(obj, 3)
    assert np.abs(shown[3] - shown[1] - (10.0, 0.0, 0.0)).max() > 0.1


def test_the_bake_is_the_playback():
    head = make_head(collide=True)
    obj = make_rod(name="Strand", start_hold="CLAMP")
    obj.parent = head
    obj.location.z = 0.5
    set_inertia(head, 0.3, 0.6, teleport=5.0)
    shown = play(obj, LAST)
    bake_scene()
    for number, rows in enumerate(key_rows(obj), start=1):
        np.testing.assert_array_equal(rows, shown[number])


def test_an_object_scaled_to_zero_is_named():
    obj, empty = make_rod(), bpy.data.objects.new("Empty", None)
    bpy.context.collection.objects.link(empty)
    empty.scale = (0.0, 0.0, 0.0)
    set_inertia(empty, 0.0, 0.0)
    bpy.context.scene.frame_set(2)
    assert 'scale of the inertia object "Empty"' in status(obj)
    empty.scale = (1.0, 1.0, 1.0)
    bpy.context.scene.frame_set(1)
    shown = play(obj, 3)
    assert status(obj) == ""
    assert not np.array_equal(shown[3], shown[1])
