"""Going on from any frame: what is kept stays as it was, what follows is as if it had been so from the start."""

import bpy
import numpy as np
import pytest
from tendril.addon import memory, running
from tendril.addon.bridge.curves import read_rows
from tendril.tests.addon.building import MIXED, make_rod, play
from tendril.tests.addon.test_cache import CASES, saved  # noqa: F401
from tendril.tests.addon.test_operators import refuses

LAST = 24


@pytest.fixture(params=[False, True], ids=["memory", "disk"])
def disk(request, saved):  # noqa: F811
    bpy.context.scene.tendril.use_disk_cache = request.param
    return request.param


@pytest.mark.parametrize("case", ["mixed", "pushed", "released", "lying"])
@pytest.mark.parametrize("frame", [1, 7, 11])
def test_it_goes_on_from_any_frame_to_the_last_bit(disk, case, frame):
    rod = CASES[case]()
    expected = play(rod, LAST - 8)
    bpy.context.scene.frame_set(frame)
    assert bpy.ops.tendril.resume() == {"FINISHED"}
    assert bpy.context.scene.frame_current == frame
    np.testing.assert_array_equal(read_rows(rod.data), expected[frame])
    assert memory.info(bpy.context.scene).startswith(f"{frame} frame")
    for number, rows in play(rod, LAST - 8, first=frame + 1).items():
        np.testing.assert_array_equal(rows, expected[number])


def animate(obj, frame, x):
    obj.location.x = x
    obj.keyframe_insert("location", frame=frame)


def test_a_changed_animation_needs_only_the_frames_from_there_on(disk):
    rod = make_rod(*MIXED)
    for frame in (1, 12, 20):
        animate(rod, frame, 0.0)
    play(rod, LAST)
    scene = bpy.context.scene
    animate(rod, 20, 1.0)
    scene.frame_set(18)
    assert "outdated" in memory.info(scene)
    scene.frame_set(11)
    assert bpy.ops.tendril.resume() == {"FINISHED"}
    assert "outdated" not in memory.info(scene)
    resumed = play(rod, LAST, first=12)
    memory.clear()
    bpy.ops.tendril.cache_delete()
    fresh = play(rod, LAST)
    for number, rows in resumed.items():
        np.testing.assert_array_equal(rows, fresh[number])
    animate(rod, 12, -1.0)
    scene.frame_set(15)
    bpy.ops.tendril.resume()  # too late: what came before was changed as well
    assert "outdated" in memory.info(scene)


def test_what_can_not_be_gone_on_from_is_told():
    rod = make_rod()
    refuses(bpy.ops.tendril.resume, "The cache is empty")
    play(rod, 6)
    bpy.context.scene.frame_set(9)
    refuses(bpy.ops.tendril.resume, "choose one from 1 to 6")
    bpy.context.scene.frame_set(4)
    rod.tendril.radius = 0.02
    refuses(bpy.ops.tendril.resume, "changed")
    assert memory.info(bpy.context.scene).startswith("6 frames in memory")


def test_states_in_memory_are_few(monkeypatch):
    rod = make_rod()
    play(rod, 25)
    kept = memory.running_of(bpy.context.scene).states
    assert list(kept) == [1, 11, 21]
    monkeypatch.setattr(running, "MOST_STATES", 2 * kept[1].nbytes)
    memory.clear()
    expected = play(rod, 45)
    assert list(memory.running_of(bpy.context.scene).states) == [1, 11]
    bpy.context.scene.frame_set(33)
    assert bpy.ops.tendril.resume() == {"FINISHED"}
    np.testing.assert_array_equal(play(rod, 45, first=34)[45], expected[45])
