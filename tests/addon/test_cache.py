"""Frames on disk: there after a restart, gone on with to the last bit, refused where they do not belong."""

import json
import os
import signal
import subprocess
import sys

import bpy
import numpy as np
import pytest
from tendril.addon import memory, moments
from tendril.addon.bridge.curves import read_rows
from tendril.tests.addon.building import MIXED, activate, line, make_mesh, make_rod, play, status
from tendril.tests.addon.test_attachments import attach, empty
from tendril.tests.addon.test_bake import key_rows
from tendril.tests.addon.test_collisions import pusher, straight
from tendril.tests.addon.test_operators import refuses

LAST = 12


@pytest.fixture
def saved(tmp_path):
    """A file with a place, and the path of its cache."""
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    bpy.context.scene.tendril.use_disk_cache = True
    return tmp_path / "blendcache_scene" / "Scene.tendril"


def reopen():
    path = bpy.data.filepath
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    activate(bpy.data.objects["Rope"])
    return bpy.data.objects["Rope"]


def forget_all():
    """As if Blender had been started anew."""
    memory.clear()


def rope(*splines, **settings):
    return make_rod(*splines, **settings)


def pushed_rope():
    bpy.context.scene.use_gravity = False
    pusher()
    return rope(("POLY", straight()), start_hold="FREE")


def released_rope():
    rod = rope(start_hold="FREE")
    attachment = attach(rod, empty((0, 0, 0)), "START")
    for frame, value in ((3, 1.0), (4, 0.0), (6, 1.0)):
        attachment.influence = value
        attachment.keyframe_insert("influence", frame=frame)
    bpy.context.scene.frame_set(1)
    return rod


def lying_rope():
    make_mesh(at=(0, 0, -0.05))
    bpy.context.scene.tendril.rod_contact = True
    return rope(("POLY", straight()), start_hold="FREE")


CASES = {
    "plain": rope,
    "mixed": lambda: rope(*MIXED),
    "pushed": pushed_rope,
    "released": released_rope,
    "lying": lying_rope,
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("stop", [2, 8])
def test_it_goes_on_from_disk_to_the_last_bit(saved, case, stop):
    rod = CASES[case]()
    expected = play(rod, LAST)
    assert bpy.ops.tendril.cache_delete() == {"FINISHED"}
    assert not saved.exists()
    play(rod, stop)
    forget_all()
    shown = play(rod, stop)
    assert memory.simulation_of(bpy.context.scene) is not None  # it is ready to go on
    shown |= play(rod, LAST, first=stop + 1)
    for number, rows in expected.items():
        np.testing.assert_array_equal(shown[number], rows)
    assert memory.info(bpy.context.scene) == f"{LAST} frames on disk"


def test_frames_on_disk_are_shown_without_a_simulation(saved):
    rod = rope()
    bpy.context.scene.tendril.use_own_range, bpy.context.scene.tendril.cache_end = True, LAST
    expected = play(rod, LAST)
    forget_all()
    shown = play(rod, LAST + 1)
    assert memory.simulation_of(bpy.context.scene) is None
    for number, rows in expected.items():
        np.testing.assert_array_equal(shown[number], rows)
    np.testing.assert_array_equal(shown[LAST + 1], expected[LAST])


def test_a_file_that_is_opened_again_shows_any_frame_at_once_and_goes_on(saved):
    rod = rope(*MIXED)
    expected = play(rod, LAST)
    bpy.ops.tendril.cache_delete()
    play(rod, 8)
    rod = reopen()
    for number in (5, 8, 2):
        bpy.context.scene.frame_set(number)
        assert status(rod) == ""
        np.testing.assert_array_equal(read_rows(rod.data), expected[number])
    assert memory.info(bpy.context.scene) == "8 frames on disk"
    bpy.context.scene.frame_set(9)
    assert "up to frame 8" in status(rod)
    np.testing.assert_array_equal(play(rod, LAST)[LAST], expected[LAST])


KILLED = """
import os, signal, sys
import bpy, tendril
tendril.register()
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
for frame in range(1, 9):
    bpy.context.scene.frame_set(frame)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_blender_loses_nothing_but_the_frame_in_work(saved, tmp_path):
    rod = rope()
    expected = play(rod, LAST)
    bpy.ops.tendril.cache_delete()
    bpy.context.scene.frame_set(1)
    bpy.ops.wm.save_mainfile()
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(tmp_path / "settings")}
    command = [sys.executable, "-c", KILLED, bpy.data.filepath]
    done = subprocess.run(command, env=environment, timeout=120, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    with saved.open("r+b") as file:  # a record that was being written
        file.seek(0, os.SEEK_END)
        file.write(b"FRAM" + b"\1" * 100)
    rod = reopen()
    assert play(rod, 8).keys() == set(range(1, 9))
    assert memory.info(bpy.context.scene) == "8 frames on disk"
    np.testing.assert_array_equal(play(rod, LAST, first=9)[LAST], expected[LAST])


def test_a_cache_of_other_settings_is_refused_and_replaced_when_played(saved):
    rod = rope()
    play(rod, 6)
    forget_all()
    bpy.context.scene.frame_set(1)
    rod.tendril.material = "SPRING_STEEL"
    bpy.context.scene.frame_set(1)
    assert "belongs to another scene or to other settings" in memory.disk_note(bpy.context.scene)
    assert memory.running_of(bpy.context.scene) is None
    play(rod, 4)
    assert memory.info(bpy.context.scene) == "4 frames on disk"
    assert memory.disk_note(bpy.context.scene) == ""


def test_a_cache_of_another_object_or_version_is_refused(saved, monkeypatch):
    rod = rope()
    play(rod, 4)
    forget_all()
    monkeypatch.setattr(moments, "VERSION", "0.0.1")
    bpy.context.scene.frame_set(1)
    assert "belongs to another" in memory.disk_note(bpy.context.scene)
    monkeypatch.undo()
    bpy.context.scene.frame_set(1)
    assert memory.disk_note(bpy.context.scene) == ""
    forget_all()
    rod.tendril.uid = "another"
    bpy.context.scene.frame_set(1)
    assert "belongs to another" in memory.disk_note(bpy.context.scene)


def test_frames_on_disk_are_outdated_by_a_changed_animation(saved):
    rod = rope()
    play(rod, 6)
    forget_all()
    rod.keyframe_insert("location", frame=1)
    rod.location.x = 1.0
    rod.keyframe_insert("location", frame=5)
    play(rod, 4)
    assert "outdated" in memory.info(bpy.context.scene)
    shown = play(rod, 6)
    np.testing.assert_allclose(shown[5][0], line()[0], atol=1e-6)
    assert memory.info(bpy.context.scene) == "6 frames on disk"


@pytest.mark.parametrize("damage", ["cut", "noise", "contents", "nonsense contents", "foreign", "folder"])
def test_a_damaged_cache_is_told_and_nothing_breaks(saved, damage):
    rod = rope()
    expected = play(rod, 6)
    forget_all()
    contents = saved.with_name(saved.name + ".json")
    if damage == "cut":
        saved.write_bytes(saved.read_bytes()[:60])
    elif damage == "noise":
        data = bytearray(saved.read_bytes())
        data[8:60] = os.urandom(52)
        saved.write_bytes(data)
    elif damage == "contents":
        contents.unlink()
    elif damage == "nonsense contents":
        table = json.loads(contents.read_text())
        table["rods"] = [[rod.tendril.uid, 10**12]]
        contents.write_text(json.dumps(table))
    elif damage == "foreign":
        saved.write_bytes(b"a letter to my mother")
    else:
        saved.unlink()
        saved.mkdir()
    bpy.context.scene.frame_set(5)  # not from the start: it is only read
    assert memory.disk_note(bpy.context.scene) != ""
    shown = play(rod, 6)
    np.testing.assert_array_equal(shown[6], expected[6])
    if damage == "foreign":
        assert saved.read_bytes() == b"a letter to my mother"
        assert "not a cache of Tendril" in memory.disk_note(bpy.context.scene)
        refuses(bpy.ops.tendril.cache_delete, "not a cache of Tendril")


def test_without_a_file_frames_stay_in_memory_and_it_is_told():
    bpy.context.scene.tendril.use_disk_cache = True
    play(rope(), 4)
    assert "save the file first" in memory.disk_note(bpy.context.scene)
    assert memory.info(bpy.context.scene) == "4 frames in memory"


def test_frames_from_before_the_disk_was_wanted_are_told_and_simulated_again_to_it(saved):
    scene = bpy.context.scene
    scene.tendril.use_disk_cache = False
    rod = rope()
    expected = play(rod, 6)
    scene.tendril.use_disk_cache = True
    assert memory.info(scene) == "6 frames in memory, not on disk: play again from frame 1"
    shown = play(rod, 6)
    assert memory.info(scene) == "6 frames on disk"
    assert saved.exists()
    np.testing.assert_array_equal(shown[6], expected[6])


def test_a_disk_that_refuses_a_frame_is_told_and_it_goes_on_in_memory(saved, monkeypatch):
    rod = rope()
    expected = play(rod, 8)
    bpy.ops.tendril.cache_delete()
    play(rod, 4)

    def refuse(*_):
        raise moments.TendrilError("cache", "file", "the system says: no space left on device")

    monkeypatch.setattr(moments.DiskFrames, "append", refuse)
    shown = play(rod, 8, first=5)
    assert "no space left" in memory.disk_note(bpy.context.scene)
    np.testing.assert_array_equal(shown[8], expected[8])
    for number in (3, 7):
        bpy.context.scene.frame_set(number)
        np.testing.assert_array_equal(read_rows(rod.data), expected[number])


def test_calculate_to_frame_goes_on_from_what_is_there():
    rod = rope()
    expected = play(rod, LAST)
    memory.clear()
    scene = bpy.context.scene
    scene.frame_set(LAST)
    assert bpy.ops.tendril.calculate() == {"FINISHED"}
    assert scene.frame_current == LAST
    np.testing.assert_array_equal(read_rows(rod.data), expected[LAST])
    simulation = memory.simulation_of(scene)
    scene.frame_set(LAST + 3)
    assert bpy.ops.tendril.calculate() == {"FINISHED"}
    assert memory.simulation_of(scene) is simulation
    assert memory.info(scene) == f"{LAST + 3} frames in memory"


def test_calculate_needs_a_rod():
    refuses(bpy.ops.tendril.calculate, "no unbaked rod")


def test_the_current_cache_becomes_a_bake():
    rod = rope()
    refuses(bpy.ops.tendril.cache_to_bake, "play from there")
    expected = play(rod, 6)
    assert bpy.ops.tendril.cache_to_bake() == {"FINISHED"}
    keys = list(key_rows(rod))
    assert len(keys) == 6
    for number, rows in enumerate(keys, start=1):
        np.testing.assert_array_equal(rows, expected[number])
    bpy.ops.tendril.bake_delete()
    play(rod, 4)
    rod.tendril.radius = 0.02
    refuses(bpy.ops.tendril.cache_to_bake, "outdated")


def test_an_own_range_is_simulated_and_baked_instead_of_that_of_the_scene():
    rod = rope()
    expected = play(rod, 6)
    shared = bpy.context.scene.tendril
    shared.use_own_range, shared.cache_start, shared.cache_end = True, 11, 16
    for number, rows in play(rod, 18, first=11).items():
        np.testing.assert_array_equal(rows, expected[min(number - 10, 6)])
    bpy.context.scene.frame_set(3)
    np.testing.assert_array_equal(read_rows(rod.data), expected[1])
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    assert [block.name for block in rod.data.shape_keys.key_blocks] == [f"Frame {k}" for k in range(11, 17)]


def test_a_bake_with_a_disk_cache_is_the_playback(saved):
    rod = rope()
    expected = play(rod, 6)
    bpy.context.scene.frame_end = 6
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    for number, rows in enumerate(key_rows(rod), start=1):
        np.testing.assert_array_equal(rows, expected[number])
