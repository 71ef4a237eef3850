"""What people do to rods that are simulated: rename, copy, delete, append, override, save elsewhere; scenes, layers, rates."""

import bpy
import numpy as np
import pytest
from tendril.addon import memory
from tendril.addon.bridge.curves import read_rows
from tendril.tests.addon.building import MIXED, activate, line, make_curve, make_rod, play, status
from tendril.tests.addon.test_cache import saved  # noqa: F401
from tendril.tests.addon.test_playback import core_run

LAST = 6


def test_a_renamed_rod_keeps_its_frames():
    obj = make_rod()
    shown = play(obj, LAST)
    simulation = memory.simulation_of(bpy.context.scene)
    obj.name = obj.data.name = "Another Name"
    for number in (3, 1, LAST):
        bpy.context.scene.frame_set(number)
        np.testing.assert_array_equal(read_rows(obj.data), shown[number])
    assert memory.simulation_of(bpy.context.scene) is simulation
    assert memory.info(bpy.context.scene) == f"{LAST} frames in memory"


def test_redo_brings_the_frames_back():
    make_rod()
    bpy.ops.ed.undo_push(message="rod")
    shown = play(bpy.data.objects["Rope"], LAST)
    bpy.data.objects["Rope"].tendril.material = "SPRING_STEEL"
    bpy.ops.ed.undo_push(message="steel")
    bpy.ops.ed.undo()
    assert bpy.data.objects["Rope"].tendril.material == "NYLON_ROPE"
    assert "outdated" not in memory.info(bpy.context.scene)
    bpy.ops.ed.redo()
    assert bpy.data.objects["Rope"].tendril.material == "SPRING_STEEL"
    assert "outdated" in memory.info(bpy.context.scene)
    bpy.context.scene.frame_set(4)
    np.testing.assert_array_equal(read_rows(bpy.data.objects["Rope"].data), shown[4])
    assert np.abs(play(bpy.data.objects["Rope"], LAST)[LAST] - shown[LAST]).max() > 1e-3


def test_undo_of_a_deletion_brings_the_rod_back():
    make_rod()
    bpy.ops.ed.undo_push(message="rod")
    shown = play(bpy.data.objects["Rope"], LAST)
    bpy.ops.ed.undo_push(message="played")
    bpy.data.objects.remove(bpy.data.objects["Rope"])
    bpy.ops.ed.undo_push(message="deleted")
    bpy.context.scene.frame_set(2)
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Rope"]
    bpy.context.scene.frame_set(5)
    np.testing.assert_array_equal(read_rows(obj.data), shown[5])


def test_a_duplicate_made_by_the_operator_moves_on_its_own():
    obj = make_rod()
    shown = play(obj, LAST)
    bpy.context.scene.frame_set(1)
    bpy.ops.object.duplicate()
    copy = bpy.context.active_object
    assert copy != obj
    copy.location.y = 1.0
    bpy.context.view_layer.update()
    np.testing.assert_array_equal(play(obj, LAST)[LAST], shown[LAST])
    assert status(copy) == ""
    np.testing.assert_allclose(read_rows(copy.data), shown[LAST], atol=1e-6)


@pytest.fixture
def library(tmp_path):
    """A file with a rope that was saved in the middle of its motion."""
    shown = play(make_rod(), LAST)
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    return path, shown


def load(path, link):
    with bpy.data.libraries.load(path, link=link) as (_, wanted):
        wanted.objects = ["Rope"]
    bpy.context.collection.objects.link(wanted.objects[0])
    return wanted.objects[0]


def test_an_appended_rod_plays_from_its_drawn_shape(library):
    path, shown = library
    obj = load(path, link=False)
    for number, rows in play(obj, LAST).items():
        np.testing.assert_array_equal(rows, shown[number])
    again = load(path, link=False)  # with the same uid
    bpy.context.scene.frame_set(1)
    assert again.tendril.uid != obj.tendril.uid
    np.testing.assert_array_equal(play(again, LAST)[LAST], shown[LAST])


def test_a_linked_rod_is_left_alone(library):
    path, shown = library
    obj = load(path, link=True)
    for number in (1, 2, 3):
        bpy.context.scene.frame_set(number)
    np.testing.assert_array_equal(read_rows(obj.data), shown[LAST])
    assert memory.info(bpy.context.scene) == "No frames in memory"


def test_an_override_of_object_and_curve_plays_and_keeps_its_settings(library, tmp_path):
    path, shown = library
    linked = load(path, link=True)
    obj = linked.override_create(remap_local_usages=True)
    curve = obj.data.override_create(remap_local_usages=True)
    obj.data = curve
    activate(obj)
    for number, rows in play(obj, LAST).items():
        np.testing.assert_array_equal(rows, shown[number])
    obj.tendril.material = "SPRING_STEEL"
    obj.location.z = 1.0
    stiff = play(obj, LAST)
    assert np.abs(stiff[LAST] - shown[LAST]).max() > 1e-3
    here = str(tmp_path / "overriding.blend")
    bpy.ops.wm.save_as_mainfile(filepath=here)
    bpy.ops.wm.open_mainfile(filepath=here)
    obj = bpy.data.objects["Rope"]
    assert obj.override_library is not None
    assert obj.tendril.material == "SPRING_STEEL"
    np.testing.assert_array_equal(play(obj, LAST)[LAST], stiff[LAST])


def test_an_override_of_the_object_alone_says_what_is_missing(library):
    path, shown = library
    obj = load(path, link=True).override_create(remap_local_usages=True)
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_set(2)
    assert "override" in status(obj)
    np.testing.assert_array_equal(read_rows(obj.data), shown[LAST])


def test_a_file_saved_elsewhere_takes_its_frames_along_and_goes_on_there(saved, tmp_path):  # noqa: F811
    obj = make_rod()
    expected = play(obj, LAST)
    bpy.ops.tendril.cache_delete()
    play(obj, 3)
    before = saved.read_bytes()
    path = str(tmp_path / "elsewhere.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    play(obj, LAST - 1, first=4)
    assert saved.read_bytes() == before
    assert memory.disk_note(bpy.context.scene) == ""
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Rope"]
    bpy.context.scene.frame_set(4)
    assert memory.info(bpy.context.scene) == f"{LAST - 1} frames on disk"
    np.testing.assert_array_equal(play(obj, LAST)[LAST], expected[LAST])


def test_a_bake_on_disk_goes_along_when_the_file_is_saved_elsewhere(saved, tmp_path):  # noqa: F811
    obj = make_rod()
    bpy.context.scene.frame_end, bpy.context.scene.tendril.bake_to = LAST, "DISK"
    expected = play(obj, LAST)
    bpy.ops.tendril.bake()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "elsewhere.blend"))
    saved.unlink()
    bpy.context.scene.frame_set(4)
    np.testing.assert_array_equal(read_rows(obj.data), expected[4])


def test_a_renamed_scene_keeps_its_frames_on_disk_and_a_copy_gets_its_own(saved):  # noqa: F811
    obj = make_rod()
    expected = play(obj, LAST)
    scene = bpy.context.scene
    scene.name = "Shot 7"
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    scene, obj = bpy.data.scenes["Shot 7"], bpy.data.objects["Rope"]
    scene.frame_set(4)
    assert memory.info(scene) == f"{LAST} frames on disk"
    before = saved.read_bytes()
    bpy.ops.scene.new(type="FULL_COPY")
    copy = bpy.context.scene
    assert copy != scene
    other = copy.objects[0]
    other.tendril.material = "SPRING_STEEL"
    activate(other)
    assert np.abs(play(other, LAST)[LAST] - expected[LAST]).max() > 1e-3
    assert memory.disk_note(copy) == ""
    assert saved.read_bytes() == before
    assert len(list(saved.parent.glob("*.tendril"))) == 2


def test_several_scenes_with_one_rod_each_have_their_own_frames():
    """The object is in both; what it shows is the frame of the scene that changed last."""
    obj = make_rod()
    shown = play(obj, LAST)
    other = bpy.data.scenes.new("Other")
    other.gravity = (0, 0, 9.81)
    other.collection.objects.link(obj)
    bpy.context.window.scene = other
    up = play(obj, LAST)
    assert up[LAST][-1, 2] > shown[LAST][-1, 2] + 0.1
    bpy.context.window.scene = bpy.data.scenes["Scene"]
    bpy.context.scene.frame_set(3)
    np.testing.assert_array_equal(read_rows(obj.data), shown[3])
    assert memory.info(bpy.data.scenes["Scene"]) == memory.info(other) == f"{LAST} frames in memory"


def test_several_view_layers_show_the_same_frames():
    obj = make_rod()
    shown = play(obj, LAST)
    scene = bpy.context.scene
    second = scene.view_layers.new("Second")
    bpy.context.window.view_layer = second
    for number in (2, 5, 1, LAST):
        scene.frame_set(number)
        np.testing.assert_array_equal(read_rows(obj.data), shown[number])
        evaluated = obj.evaluated_get(second.depsgraph)
        np.testing.assert_array_equal(read_rows(evaluated.data), shown[number])
    memory.clear()
    np.testing.assert_array_equal(play(obj, LAST)[LAST], shown[LAST])


def test_a_rod_that_is_excluded_from_the_view_layer_comes_back_where_it_belongs():
    obj = make_rod()
    shown = play(obj, LAST)
    collection = bpy.data.collections.new("Set Aside")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(obj)
    bpy.context.scene.collection.objects.unlink(obj)
    layer = bpy.context.view_layer.layer_collection.children["Set Aside"]
    layer.exclude = True
    for number in (1, 2, 3):
        bpy.context.scene.frame_set(number)
    layer.exclude = False
    np.testing.assert_array_equal(play(obj, LAST)[LAST], shown[LAST])


@pytest.mark.parametrize(("fps", "base"), [(60, 1.0), (30, 1.001)])
def test_time_runs_by_the_frame_rate_of_the_scene(fps, base):
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = fps, base
    scene.tendril.substeps = 8
    points = line()
    obj = make_rod(("POLY", points), start_hold="FREE")
    scene.tendril.air_density = 0.0
    shown = play(obj, LAST)
    t, h = (LAST - 1) * base / fps, base / fps / 8
    fallen = (shown[LAST] - shown[1]).mean(axis=0)
    np.testing.assert_allclose(fallen, [0.0, 0.0, -0.5 * 9.81 * t**2], atol=9.81 * h**2)  # of second order


def test_a_parented_rod_follows_its_parent():
    points = line().astype(np.float32)
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.collection.objects.link(parent)
    for frame, x in ((1, 0.0), (LAST, 0.5)):
        parent.location.x = x
        parent.keyframe_insert("location", frame=frame)
    parent.scale = (2.0, 2.0, 2.0)
    obj = make_curve(("POLY", points))
    obj.parent = parent
    obj.location = (0.0, 0.0, 1.0)
    bpy.context.scene.frame_set(1)
    bpy.ops.tendril.rod_add(fit=False)
    poses, shown = {}, {}
    for number in range(1, LAST + 1):
        bpy.context.scene.frame_set(number)
        poses[number], shown[number] = np.array(obj.matrix_world, dtype=np.float64), read_rows(obj.data)
        np.testing.assert_allclose(shown[number][0], points[0], atol=1e-6)
    start = poses[1]
    world = points.astype(np.float64) @ start[:3, :3].T + start[:3, 3]

    def move(simulation, holds, number):
        simulation.move(holds[0], position=poses[number][:3, :3] @ points[0].astype(np.float64) + poses[number][:3, 3])

    expected = core_run(obj, [(world, False)], LAST, move=move)
    inverse = np.linalg.inv(poses[LAST])
    rows = expected[LAST].positions(0) @ inverse[:3, :3].T + inverse[:3, 3]
    np.testing.assert_allclose(shown[LAST], rows, atol=1e-6)
    assert abs(shown[LAST][-1] - shown[1][-1]).max() > 0.01


def test_a_changed_setting_makes_frames_outdated_and_leaves_a_bake(saved):  # noqa: F811
    first, second = make_rod(*MIXED), make_rod(("POLY", line(y=1.0)), name="Second")
    scene = bpy.context.scene
    scene.frame_end = LAST
    shown = play(second, LAST)
    activate(first)
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    keys = len(first.data.shape_keys.key_blocks)
    first.tendril.material = second.tendril.material = "SPRING_STEEL"
    assert "outdated" in memory.info(scene)
    for number in (3, 1, 2):
        scene.frame_set(number)
    assert first.tendril.baked
    assert len(first.data.shape_keys.key_blocks) == keys
    assert np.abs(play(second, LAST)[LAST] - shown[LAST]).max() > 1e-3
