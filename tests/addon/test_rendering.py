"""A render shows what the playback showed, from the frames that are there, on whatever thread; what is missing is told."""

import threading

import bpy
import numpy as np
import pytest
from tendril.addon import memory, rendering
from tendril.addon.bridge.curves import read_rows
from tendril.tests.addon.building import make_curve, make_mesh, make_rod, play

LAST = 5


@pytest.fixture
def look(tmp_path):
    """Renders the frames of the scene, and gives what the rope was in each."""
    scene = bpy.context.scene
    scene.frame_end = LAST
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.resolution_x = scene.render.resolution_y = 8
    scene.render.filepath = str(tmp_path / "frame")
    scene.camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(scene.camera)

    def render(**options):
        seen = {}

        def note(scene, depsgraph):
            if depsgraph.mode == "RENDER":
                seen[scene.frame_current] = read_rows(bpy.data.objects["Rope"].data)

        bpy.app.handlers.frame_change_post.append(note)
        try:
            bpy.ops.render.render(**options)
        finally:
            bpy.app.handlers.frame_change_post.remove(note)
        return seen

    return render


def moving_rope():
    obj = make_curve()
    for frame, x in ((1, 0.0), (LAST, 0.3)):
        obj.location.x = x
        obj.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    bpy.ops.tendril.rod_add(fit=False)
    return obj


def test_a_render_shows_what_the_playback_showed(look):
    obj = moving_rope()
    shown = play(obj, LAST)
    simulation = memory.simulation_of(bpy.context.scene)
    bpy.context.scene.frame_set(3)  # the viewport stands elsewhere
    rendered = look(animation=True)
    assert rendered.keys() == shown.keys()
    for number, rows in shown.items():
        np.testing.assert_array_equal(rendered[number], rows)
    assert rendering.warning_of(bpy.context.scene) == ""
    np.testing.assert_array_equal(read_rows(obj.data), shown[3])
    assert memory.simulation_of(bpy.context.scene) is simulation
    assert memory.info(bpy.context.scene) == f"{LAST} frames in memory"


def test_a_still_shows_the_frame_of_the_scene(look):
    shown = play(moving_rope(), LAST)
    bpy.context.scene.frame_set(2)
    assert list(look()) == [2]
    np.testing.assert_array_equal(look()[2], shown[2])


def test_a_render_simulates_nothing_and_tells_which_frames_were_missing(look, capfd):
    obj = moving_rope()
    shown = play(obj, 3)
    rendered = look(animation=True)
    np.testing.assert_array_equal(rendered[3], shown[3])
    np.testing.assert_array_equal(rendered[LAST], shown[3])
    assert memory.info(bpy.context.scene) == "3 frames in memory"
    warning = "Rendered without simulation: frames 4 to 5."
    assert rendering.warning_of(bpy.context.scene).startswith(warning)
    assert warning in capfd.readouterr().out
    play(obj, LAST)
    look(animation=True)
    assert rendering.warning_of(bpy.context.scene) == ""


def test_a_render_of_nothing_simulated_shows_the_drawn_shape_and_tells(look):
    obj = moving_rope()
    drawn = read_rows(obj.data)
    rendered = look(animation=True)
    for rows in rendered.values():
        np.testing.assert_array_equal(rows, drawn)
    assert memory.running_of(bpy.context.scene) is None
    assert "frames 2 to 5" in rendering.warning_of(bpy.context.scene)


def test_outdated_frames_are_rendered_and_told(look):
    obj = moving_rope()
    shown = play(obj, LAST)
    obj.tendril.radius = 0.02
    np.testing.assert_array_equal(look(animation=True)[4], shown[4])
    assert "frames 2 to 5" in rendering.warning_of(bpy.context.scene)
    assert "outdated" in memory.info(bpy.context.scene)


def test_what_renders_otherwise_than_it_is_simulated_does_not_matter(look):
    """A collider that has more faces in renders: the frames are those of the viewport."""
    floor = make_mesh(at=(0, 0, -0.1))
    modifier = floor.modifiers.new("Subdivision", "SUBSURF")
    modifier.levels, modifier.render_levels = 0, 2
    obj = make_rod()
    shown = play(obj, LAST)
    bpy.context.scene.frame_set(1)
    np.testing.assert_array_equal(look(animation=True)[LAST], shown[LAST])
    np.testing.assert_array_equal(play(obj, LAST)[LAST], shown[LAST])
    assert memory.info(bpy.context.scene) == f"{LAST} frames in memory"


def test_frames_are_shown_from_another_thread():
    """As in the window, where a render has a thread of its own."""
    obj = moving_rope()
    shown = play(obj, LAST)
    scene = bpy.context.scene
    for number in (4, 2, LAST):
        scene.frame_current = number  # without a frame change of the viewport
        thread = threading.Thread(target=rendering.show_frame, args=(scene,))
        thread.start()
        thread.join()
        np.testing.assert_array_equal(read_rows(obj.data), shown[number])
    assert rendering.warning_of(scene) == ""
