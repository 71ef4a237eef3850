"""Saving, loading, duplicating."""

import bpy
import numpy as np
from tendril.addon import memory
from tendril.addon.bridge.curves import read_rows
from tendril.tests.addon.building import MIXED, activate, line, make_rod, play, status


def reload(tmp_path, name="Rope"):
    path = str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects[name]
    activate(obj)
    return obj


def test_a_file_saved_in_the_middle_comes_back_to_the_drawn_shape(tmp_path):
    shown = play(make_rod(*MIXED), 6)
    obj = reload(tmp_path)
    np.testing.assert_array_equal(read_rows(obj.data), shown[6])
    bpy.context.scene.frame_set(7)
    np.testing.assert_array_equal(read_rows(obj.data), shown[6])
    assert "play from frame 1" in status(obj)
    again = play(obj, 6)
    for number, rows in shown.items():
        np.testing.assert_array_equal(again[number], rows)


def test_a_file_saved_at_the_start_frame_plays_at_once(tmp_path):
    shown = play(make_rod(), 4)
    bpy.context.scene.frame_set(1)
    again = play(reload(tmp_path), 4, first=2)
    np.testing.assert_array_equal(again[4], shown[4])


def test_nothing_of_the_old_file_is_left_after_loading(tmp_path):
    obj = make_rod()
    play(obj, 4)
    obj = reload(tmp_path)
    assert memory.info(bpy.context.scene) == "No frames in memory"


def test_a_duplicate_is_a_rod_of_its_own():
    obj = make_rod()
    shown = play(obj, 4)
    copy = obj.copy()
    copy.data = obj.data.copy()
    copy.location.y = 2.0
    bpy.context.collection.objects.link(copy)
    bpy.context.scene.frame_set(1)
    assert copy.tendril.uid != obj.tendril.uid
    np.testing.assert_array_equal(read_rows(copy.data), line().astype(np.float32))
    copy.tendril.start_hold = "FREE"
    bpy.context.scene.frame_set(1)
    np.testing.assert_array_equal(play(obj, 4)[4], shown[4])
    assert np.abs(read_rows(copy.data) - shown[4]).max() > 1e-3


def test_two_objects_with_one_curve_do_not_quarrel():
    obj = make_rod()
    copy = obj.copy()
    bpy.context.collection.objects.link(copy)
    bpy.context.scene.frame_set(1)
    shown = play(obj, 4)
    assert np.abs(shown[4] - shown[1]).max() > 0.02
    assert 'also used by the rod "Rope"' in status(copy)


def test_a_deleted_rod_is_forgotten():
    obj = make_rod()
    play(obj, 3)
    bpy.data.objects.remove(obj)
    for frame in (4, 1, 2):
        bpy.context.scene.frame_set(frame)
