"""All rods of a scene are one simulation; what is wrong with one is told there and leaves the others moving."""

import bpy
import numpy as np
from tendril.addon import memory
from tendril.addon.bridge.curves import read_rows
from tendril.tests.addon.building import activate, line, make_rod, play, status
from tendril.tests.addon.test_bake import LAST, key_rows
from tendril.tests.addon.test_operators import refuses


def two_rods():
    return make_rod(name="First"), make_rod(("POLY", line(y=1.0)), name="Second")


def test_one_simulation_moves_all_rods_of_a_scene():
    first, second = two_rods()
    play(first, 4)
    running = memory.running_of(bpy.context.scene)
    assert set(running.description.parts) == {first.tendril.uid, second.tendril.uid}
    assert len(running.simulation.scene.entries) == 2
    np.testing.assert_allclose(read_rows(second.data), read_rows(first.data) + np.array([0.0, 1.0, 0.0]), atol=1e-5)
    assert np.abs(read_rows(second.data) - line(y=1.0)).max() > 0.01


def test_a_rod_that_cannot_be_described_is_left_out_and_the_others_move():
    first, second = two_rods()
    alone = play(first, 4)
    bpy.context.scene.frame_set(1)
    second.data.splines.clear()
    np.testing.assert_array_equal(play(first, 4)[4], alone[4])
    assert "draw at least one spline" in status(second)
    assert set(memory.running_of(bpy.context.scene).description.parts) == {first.tendril.uid}


def test_a_rod_that_gets_into_trouble_on_the_way_leaves_the_others_moving():
    first, second = two_rods()
    expected = play(first, 6)
    for frame, scale in ((3, 1.0), (4, 0.0), (5, 0.0), (6, 1.0)):
        second.scale = (scale, scale, scale)
        second.keyframe_insert("scale", frame=frame)
    bpy.context.scene.frame_set(1)
    shown = play(first, 5)
    assert "scale" in status(second)
    np.testing.assert_array_equal(shown[5], expected[5])
    assert "outdated" in memory.info(bpy.context.scene)


def test_edit_mode_of_one_rod_leaves_the_others_moving():
    first, second = two_rods()
    expected = play(first, 4)
    bpy.context.scene.frame_set(1)
    activate(second)
    bpy.ops.object.mode_set(mode="EDIT")
    shown = play(first, 4)
    assert "Edit Mode" in status(second)
    bpy.ops.object.mode_set(mode="OBJECT")
    np.testing.assert_array_equal(shown[4], expected[4])


def test_a_setting_of_one_rod_makes_the_frames_of_the_scene_outdated():
    first, second = two_rods()
    play(first, 4)
    assert memory.info(bpy.context.scene) == "4 frames in memory"
    second.tendril.material = "SPRING_STEEL"
    assert "outdated" in memory.info(bpy.context.scene)


def test_a_rod_made_in_the_middle_is_told_to_begin_at_the_start():
    first = make_rod(name="First")
    shown = play(first, 4)
    second = make_rod(name="Second")
    bpy.context.scene.frame_set(5)
    assert "play from frame 1" in status(second)
    np.testing.assert_array_equal(play(second, 4)[4], shown[4])


def test_a_rod_removed_in_the_middle_leaves_the_others_moving():
    first, second = two_rods()
    expected = play(first, 6)
    memory.clear()
    bpy.context.scene.frame_set(1)
    play(first, 3)
    activate(second)
    bpy.ops.tendril.rod_remove()
    np.testing.assert_array_equal(play(first, 6, first=4)[6], expected[6])
    np.testing.assert_array_equal(read_rows(second.data), line(y=1.0).astype(np.float32))


def test_scenes_keep_their_simulations_apart_also_when_renamed():
    first = make_rod()
    shown = play(first, 4)
    other = bpy.data.scenes.new("Other")
    other.gravity = (0.0, 0.0, 9.81)
    bpy.context.scene.name = "Renamed"
    assert memory.info(bpy.context.scene) == "4 frames in memory"
    bpy.context.window.scene = other
    second = make_rod(name="Second")
    assert np.abs(play(second, 4)[4] - shown[4]).max() > 1e-3
    bpy.context.window.scene = bpy.data.scenes["Renamed"]
    bpy.context.scene.frame_set(3)
    np.testing.assert_array_equal(read_rows(first.data), shown[3])


def test_bake_all_simulates_once_and_bakes_every_rod_as_it_played():
    first, second = two_rods()
    bpy.context.scene.frame_end = LAST
    shown = [play(obj, LAST) for obj in (first, second)]
    assert bpy.ops.tendril.bake_all() == {"FINISHED"}
    for obj, frames in zip((first, second), shown, strict=True):
        keys = list(key_rows(obj))
        assert len(keys) == LAST
        for number, rows in enumerate(keys, start=1):
            np.testing.assert_array_equal(rows, frames[number])
    refuses(bpy.ops.tendril.bake_all, "no rod to bake")
    assert bpy.ops.tendril.bake_delete_all() == {"FINISHED"}
    assert not first.tendril.baked
    assert not second.tendril.baked
    refuses(bpy.ops.tendril.bake_delete_all, "The scene has no baked rod")
