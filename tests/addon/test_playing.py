"""Playback in the hands of an animator: its pace, changes of settings meanwhile, pre-roll, and shapes taken over from a frame."""

import bpy
import numpy as np
import pytest
from tendril.addon import memory, pace, restarting
from tendril.addon.bridge.curves import drawn_rows, read_rows
from tendril.addon.panels.overlay import statistics_rows
from tendril.addon.status import status_of
from tendril.tests.addon.building import activate, line, make_rod, play
from tendril.tests.addon.test_operators import refuses


def test_the_pace_of_a_playback_is_told_with_where_the_time_goes(monkeypatch):
    obj, scene = make_rod(), bpy.context.scene
    now = [0.0]
    monkeypatch.setattr(pace, "_clock", lambda: now[0])
    assert pace.pace_of(scene) is None
    for frame in range(1, 8):
        now[0] += 0.1  # s
        scene.frame_set(frame)
        running = memory.running_of(scene)
        if running is not None:
            running.seconds = 0.04
    found = pace.pace_of(scene)
    assert found.rate == pytest.approx(10.0)
    assert 0.0 < found.solver < 0.05
    assert found.solver + found.blender == pytest.approx(0.1)
    assert status_of(obj, scene)[:2] == ("PLAY", "Frame 7: 10 fps")
    assert {"Frames per Second", "Solver", "Blender"} <= {name for name, _ in statistics_rows(scene, obj.tendril.uid)}
    now[0] += 10.0
    assert pace.pace_of(scene) is None  # it was stopped
    assert status_of(obj, scene).text.startswith("Frame 7: 40 ms")
    scene.frame_set(3)
    assert pace.pace_of(scene) is None  # a jump is no playback


@pytest.mark.parametrize("setting", ["stiffness_factor", "damping_factor", "gravity", "wind"])
def test_sliders_gravity_and_wind_take_effect_in_the_next_frame(setting):
    scene = bpy.context.scene

    def tip(changed):
        obj = make_rod(radius=0.005, start_hold="CLAMP")
        scene.gravity, scene.tendril.wind = (0.0, 0.0, -9.81), (0.0, 0.0, 0.0)
        play(obj, 5)
        if changed and setting == "gravity":
            scene.gravity = (0.0, 0.0, 9.81)
        elif changed and setting == "wind":
            scene.tendril.wind = (0.0, 30.0, 0.0)
        elif changed:
            setattr(obj.tendril, setting, 8.0)
        kept = read_rows(obj.data)
        scene.frame_set(6)
        scene.frame_set(7)
        rows = read_rows(obj.data)
        bpy.data.objects.remove(obj)
        return kept, rows

    before, changed = tip(False), tip(True)
    np.testing.assert_array_equal(before[0], changed[0])
    assert np.abs(before[1] - changed[1]).max() > 1e-6


def test_what_cannot_change_in_the_next_frame_begins_anew():
    obj, scene = make_rod(), bpy.context.scene
    play(obj, 5)
    obj.tendril.young_modulus, obj.tendril.material = 1e6, "CUSTOM"
    assert not restarting.check(scene)  # unless it was asked for
    scene.tendril.auto_restart = True
    assert restarting.check(scene)
    restarting.go_back()
    assert scene.frame_current == 1
    play(obj, 3)
    assert not restarting.check(scene)
    obj.tendril.stiffness_factor = 2.0
    scene.tendril.wind = (1.0, 0.0, 0.0)
    assert not restarting.check(scene)
    scene.tendril.substeps += 1
    scene.frame_set(4)  # noticed by the frame change itself
    assert restarting._waiting == {scene.name}
    restarting.go_back()
    assert scene.frame_current == 1
    assert restarting._waiting == set()


def test_pre_roll_is_one_field():
    obj, scene = make_rod(), bpy.context.scene
    shown = play(obj, 11)
    scene.tendril.pre_roll = 6
    assert memory.is_outdated(scene)
    scene.frame_set(1)
    assert status_of(obj, scene).frame == -5  # where the button goes
    again = play(obj, 5, first=-5)
    np.testing.assert_array_equal(again[1], shown[7])
    np.testing.assert_array_equal(again[5], shown[11])
    scene.frame_end = 4
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    assert len(obj.data.shape_keys.key_blocks) == 10


@pytest.mark.parametrize("rest", ["AS_DRAWN", "STRAIGHT"])
def test_a_simulation_starts_with_the_shape_of_a_frame(rest):
    obj, scene = make_rod(rest_shape=rest), bpy.context.scene
    refuses(bpy.ops.tendril.set_as_start, "go to a simulated frame")
    shown = play(obj, 9)
    drawn = shown[1]
    assert bpy.ops.tendril.set_as_start() == {"FINISHED"}
    assert scene.frame_current == 1
    np.testing.assert_array_equal(read_rows(obj.data), shown[9])
    np.testing.assert_array_equal(drawn_rows(obj.data), shown[9])
    rest_object = obj.tendril.rest_object
    assert (rest_object is not None) == (rest == "AS_DRAWN")
    if rest_object is not None:
        np.testing.assert_array_equal(read_rows(rest_object.data), drawn)
        assert not rest_object.tendril.enabled
    scene.frame_set(1)
    play(obj, 2)
    rod = memory.running_of(scene).description.parts[obj.tendril.uid].described.rods[0]
    lengths = np.linalg.norm(np.diff(drawn, axis=0), axis=1)
    if rest == "AS_DRAWN":
        np.testing.assert_allclose(rod.rest_lengths, lengths, rtol=1e-4)


def test_the_shape_of_a_frame_is_the_rest_shape():
    obj, scene = make_rod(("POLY", line()), start_hold="CLAMP", radius=0.004), bpy.context.scene
    shown = play(obj, 12)
    assert bpy.ops.tendril.set_as_rest() == {"FINISHED"}
    assert obj.tendril.rest_shape == "OBJECT"
    np.testing.assert_array_equal(read_rows(obj.tendril.rest_object.data), shown[12])
    assert memory.is_outdated(scene)
    bpy.context.scene.use_gravity = False
    scene.frame_set(1)
    moved = play(obj, 12)
    assert moved[12][-1, 2] < moved[1][-1, 2] - 1e-3  # it bends towards that shape
    obj.tendril.tie_splines = True
    scene.frame_set(1)
    play(obj, 3)
    refuses(bpy.ops.tendril.set_as_rest, "Tied splines")
    activate(obj)
    scene.frame_end = 3
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    refuses(bpy.ops.tendril.set_as_start, "is baked")
