"""Baking: shape keys that play exactly what was simulated, with or without the add-on."""

import json
import os
import subprocess
import sys

import bpy
import numpy as np
import pytest
from tendril.addon.bridge.curves import read_rows, row_count
from tendril.tests.addon.building import MIXED, activate, evaluated_points, line, make_curve, make_rod, play, ring
from tendril.tests.addon.test_operators import refuses

LAST = 8


def bake_scene():
    bpy.context.scene.frame_end = LAST
    assert bpy.ops.tendril.bake() == {"FINISHED"}


def drawn_per_frame(obj):
    points = {}
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        points[frame] = evaluated_points(obj)
    return points


def key_rows(obj):
    """The rows of every key, read point by point."""
    for block in obj.data.shape_keys.key_blocks:
        rows = []
        for point in block.data:
            if isinstance(point, bpy.types.ShapeKeyBezierPoint):
                rows += [point.handle_left[:], point.co[:], point.handle_right[:]]
            else:
                rows.append(point.co[:])
        yield np.array(rows, dtype=np.float32)


@pytest.mark.parametrize(
    "splines",
    [
        [("POLY", line())],
        [("BEZIER", line(5)), ("BEZIER", ring(4, y=2.0), True)],
        [("NURBS", line(8))],
        MIXED,
        MIXED[::-1],
    ],
    ids=["poly", "bezier", "nurbs", "mixed", "mixed the other way"],
)
def test_the_bake_is_the_playback_exactly(splines):
    obj = make_rod(*splines)
    shown = play(obj, LAST)
    before = drawn_per_frame(obj)
    bake_scene()
    keys = list(key_rows(obj))
    assert len(keys) == LAST
    for number, rows in enumerate(keys, start=1):
        np.testing.assert_array_equal(rows, shown[number])
    for number, points in drawn_per_frame(obj).items():
        np.testing.assert_array_equal(points, before[number])


def test_a_bake_without_playback_before_is_the_same():
    first = make_rod()
    shown = play(first, LAST)
    bpy.context.scene.frame_set(1)
    make_rod(name="Second")
    bake_scene()
    for number, rows in enumerate(key_rows(bpy.data.objects["Second"]), start=1):
        np.testing.assert_array_equal(rows, shown[number])


def test_a_bake_of_a_moving_object_is_its_playback():
    obj = make_curve(*MIXED)
    for frame, x in ((1, 0.0), (LAST, 0.4)):
        obj.location.x = obj.rotation_euler.z = x
        obj.keyframe_insert("location", frame=frame)
        obj.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(1)
    bpy.ops.tendril.rod_add(fit=False)
    shown = play(obj, LAST)
    bpy.context.scene.frame_set(5)
    bake_scene()
    for number, rows in enumerate(key_rows(obj), start=1):
        np.testing.assert_array_equal(rows, shown[number])
    bpy.ops.tendril.bake_delete()
    assert list(bpy.data.actions) == [obj.animation_data.action]


def test_a_long_bake_meets_every_key_exactly():
    """Evaluation times of hundreds of frames are no round numbers in single precision."""
    obj = make_rod(("POLY", line(5)), material="SPRING_STEEL")
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1001, 1400
    bpy.ops.tendril.bake()
    keys = list(key_rows(obj))
    for frame in range(1001, 1401):
        scene.frame_set(frame)
        np.testing.assert_array_equal(evaluated_points(obj), keys[frame - 1001])
    assert np.abs(keys[-1] - keys[-2]).max() > 0.0


OPEN_WITHOUT_ADDON = """
import json, sys
import bpy, numpy as np
assert not hasattr(bpy.types.Object, "tendril")
bpy.ops.wm.open_mainfile(filepath=sys.argv[1])
obj, frames = bpy.data.objects["Rope"], []
for frame in range(1, int(sys.argv[2]) + 1):
    bpy.context.scene.frame_set(frame)
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    points = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", points)
    evaluated.to_mesh_clear()
    frames.append(points.tolist())
with open(sys.argv[3], "w") as file:
    json.dump(frames, file)
"""


def test_a_baked_file_plays_the_same_without_the_addon(tmp_path):
    obj = make_rod(*MIXED)
    expected = (play(obj, LAST), drawn_per_frame(obj))[1]
    bake_scene()
    scene_file, result = tmp_path / "baked.blend", tmp_path / "frames.json"
    bpy.ops.wm.save_as_mainfile(filepath=str(scene_file))
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(tmp_path / "settings")}
    command = [sys.executable, "-c", OPEN_WITHOUT_ADDON, str(scene_file), str(LAST), str(result)]
    subprocess.run(command, check=True, env=environment, timeout=300, stdout=subprocess.DEVNULL)
    frames = json.loads(result.read_text())
    assert len(frames) == LAST
    for number, points in enumerate(frames, start=1):
        np.testing.assert_array_equal(np.array(points, dtype=np.float32).reshape(-1, 3), expected[number])


def test_the_bake_leaves_the_current_frame():
    make_rod()
    bpy.context.scene.frame_set(4, subframe=0.5)
    bake_scene()
    assert (bpy.context.scene.frame_current, bpy.context.scene.frame_subframe) == (4, 0.5)


def test_a_baked_rod_is_left_alone_also_after_loading(tmp_path):
    obj = make_rod()
    bake_scene()
    base = read_rows(obj.data)
    play(obj, LAST)
    np.testing.assert_array_equal(read_rows(obj.data), base)
    path = str(tmp_path / "baked.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Rope"]
    points = drawn_per_frame(obj)
    for number, rows in enumerate(key_rows(obj), start=1):
        np.testing.assert_array_equal(points[number], rows)


def test_between_frames_a_bake_is_between():
    obj = make_rod()
    bake_scene()
    keys = list(key_rows(obj))
    bpy.context.scene.frame_set(3, subframe=0.5)
    np.testing.assert_allclose(evaluated_points(obj), (keys[2] + keys[3]) / 2, atol=1e-6)


def test_delete_bake_gives_an_unbaked_rod():
    obj = make_rod(*MIXED)
    shown = play(obj, LAST)
    bake_scene()
    bpy.context.scene.frame_set(5)
    assert bpy.ops.tendril.bake_delete() == {"FINISHED"}
    assert obj.data.shape_keys is None
    assert len(bpy.data.actions) == 0
    np.testing.assert_array_equal(read_rows(obj.data), shown[1])
    again = play(obj, LAST)
    np.testing.assert_array_equal(again[LAST], shown[LAST])
    bake_scene()


def test_undo_of_a_bake():
    make_rod()
    bpy.ops.ed.undo_push(message="rod")
    bake_scene()
    bpy.ops.ed.undo_push(message="bake")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Rope"]
    assert not obj.tendril.baked
    assert obj.data.shape_keys is None
    assert len(play(obj, 3)[3]) == row_count(obj.data)


def test_bake_refuses_what_is_no_rod():
    make_curve()
    refuses(bpy.ops.tendril.bake, "no rod to bake")


def test_bake_refuses_shape_keys():
    make_rod().shape_key_add(name="Mine")
    refuses(bpy.ops.tendril.bake, "shape keys")


def test_bake_refuses_a_baked_rod():
    make_rod()
    bake_scene()
    refuses(bpy.ops.tendril.bake, "already baked")


def test_bake_refuses_a_scene_of_one_frame():
    make_rod()
    bpy.context.scene.frame_end = 1
    refuses(bpy.ops.tendril.bake, "only one frame")


def test_bake_refuses_edit_mode():
    activate(make_rod())
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        refuses(bpy.ops.tendril.bake, "Edit Mode")
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")


def test_a_bake_that_fails_says_so_and_bakes_nothing():
    obj = make_rod()
    for frame, scale in ((1, 1.0), (4, 0.0)):
        obj.scale = (scale, scale, scale)
        obj.keyframe_insert("scale", frame=frame)
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_end = LAST
    refuses(bpy.ops.tendril.bake, "Frame 4 could not be simulated")


def test_delete_refuses_without_a_bake():
    make_rod()
    refuses(bpy.ops.tendril.bake_delete, "not a baked rod")
