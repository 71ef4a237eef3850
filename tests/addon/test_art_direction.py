"""Time scale, and randomness from strand to strand."""

import bpy
import numpy as np
from tendril.addon import memory
from tendril.tests.addon.building import make_rod, play
from tendril.tests.addon.test_hair import make_hair


def test_half_the_time_scale_is_slow_motion():
    obj = make_rod(start_hold="FREE")
    scene = bpy.context.scene
    scene.tendril.air_density = 0.0
    shown = play(obj, 21)
    scene.tendril.time_scale = 0.5
    scene.frame_set(1)
    slow = play(obj, 21)
    fallen, slowly = (shown[1] - rows[21] for rows in (shown, slow))
    assert np.allclose(fallen[:, 2].mean(), 4.0 * slowly[:, 2].mean(), rtol=0.01)
    assert abs(fallen[:, 2].mean() - 0.5 * 9.81 * (20 / 24) ** 2) < 0.01


def test_time_can_be_slowed_down_by_keyframes_and_changes_are_noticed():
    obj = make_rod(start_hold="FREE")
    scene = bpy.context.scene
    scene.tendril.air_density = 0.0
    for frame, scale in ((10, 1.0), (11, 0.01)):
        scene.tendril.time_scale = scale
        scene.tendril.keyframe_insert("time_scale", frame=frame)
    scene.frame_set(1)
    shown = play(obj, 20)
    speed = [float((shown[k] - shown[k + 1])[:, 2].mean()) * 24 for k in (8, 18)]
    assert speed[1] < 0.02 * speed[0]
    assert not memory.is_outdated(scene)
    for curve in scene.animation_data.action.layers[0].strips[0].channelbags[0].fcurves:
        curve.keyframe_points[1].co.y = 0.5
    scene.frame_set(12)
    assert "outdated" in memory.info(scene)


def test_strands_differ_at_random_by_the_seed():
    def tips(**settings):
        obj = make_hair(**settings)
        rows = play(obj, 6)[6].reshape(6, 8, 3)
        moved = rows[:, -1] - rows[:, 0]
        bpy.data.objects.remove(obj)
        return moved

    same, one, other = tips(), tips(stiffness_random=0.8), tips(stiffness_random=0.8, random_seed=1)
    assert np.ptp(same, axis=0).max() < 1e-5
    assert np.ptp(one, axis=0).max() > 1e-3
    assert np.abs(one - other).max() > 1e-3
    assert np.array_equal(one, tips(stiffness_random=0.8))
