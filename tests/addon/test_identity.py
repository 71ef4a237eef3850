"""The same frame is the same frame: playback, cache, bake, render and a run without a window give the same bits."""

import os
import subprocess
import sys

import bpy
import numpy as np
import pytest
from tendril.addon import memory
from tendril.addon.bridge.curves import read_rows
from tendril.tests.addon.building import MIXED, evaluated_points, make_mesh, make_rod, play
from tendril.tests.addon.test_bake import key_rows
from tendril.tests.addon.test_cache import saved  # noqa: F401
from tendril.tests.addon.test_rendering import look  # noqa: F401

LAST = 8

HEADLESS = """
import sys
import bpy, numpy as np, tendril
tendril.register()
from tendril.addon.bridge.curves import read_rows
from tendril.tests.addon.building import evaluated_points
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
obj, scene = bpy.data.objects["Rope"], bpy.context.scene
bpy.context.view_layer.objects.active = obj
shown, drawn = {}, {}
for frame in range(1, scene.frame_end + 1):
    scene.frame_set(frame)
    shown[f"shown {frame}"] = read_rows(obj.data)
assert bpy.ops.tendril.bake_all() == {"FINISHED"}
for frame in range(1, scene.frame_end + 1):
    scene.frame_set(frame)
    drawn[f"drawn {frame}"] = evaluated_points(obj)
np.savez(sys.argv[2], **shown, **drawn)
tendril.unregister()
"""


@pytest.fixture
def rope():
    """All kinds of splines, on an object that moves, over a floor they touch."""
    make_mesh(at=(0.0, 0.0, -0.1), size=20.0)
    obj = make_rod(*MIXED)
    for frame, x in ((1, 0.0), (LAST, 0.3)):
        obj.location.x = obj.rotation_euler.z = x
        obj.keyframe_insert("location", frame=frame)
        obj.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.tendril.rod_contact = True
    bpy.context.scene.frame_set(1)
    return obj


def test_playback_cache_bake_render_and_headless_are_the_same_to_the_last_bit(saved, look, rope, tmp_path):  # noqa: F811
    scene = bpy.context.scene
    scene.frame_end = LAST
    bpy.ops.wm.save_mainfile()  # as it is before anything was simulated
    before = tmp_path / "before.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(before), copy=True)
    played = play(rope, LAST)
    drawn = {}
    for number in played:
        scene.frame_set(number)
        drawn[number] = evaluated_points(rope)
    assert np.abs(played[LAST] - played[1]).max() > 0.05

    def same(frames, of=played):
        assert frames.keys() == of.keys()
        for number, rows in of.items():
            np.testing.assert_array_equal(frames[number], rows)

    scene.frame_set(1)
    same(look(animation=True))  # from the frames in memory
    memory.clear()
    scene.frame_set(3)
    same(look(animation=True))  # from those on disk
    memory.clear()
    same(play(rope, LAST))
    scene.frame_set(2)
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    same(dict(enumerate(key_rows(rope), start=1)))
    baked = {}
    for number in played:
        scene.frame_set(number)
        baked[number] = evaluated_points(rope)
    same(baked, drawn)

    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(tmp_path / "settings")}
    command = [sys.executable, "-c", HEADLESS, str(before), str(tmp_path / "headless.npz")]
    done = subprocess.run(command, env=environment, timeout=300, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with np.load(tmp_path / "headless.npz") as found:
        same({number: found[f"shown {number}"] for number in played})
        same({number: found[f"drawn {number}"] for number in played}, drawn)


def test_frames_shown_back_and_forth_are_those_that_were_simulated(rope):
    played = play(rope, LAST)
    for number in (4, 2, LAST, 1, 3):
        bpy.context.scene.frame_set(number)
        np.testing.assert_array_equal(read_rows(rope.data), played[number])
