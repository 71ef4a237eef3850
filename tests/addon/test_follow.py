"""Follow Groom: a soft goal towards the drawn shape, carried by the head or keyframed."""

import bpy
import numpy as np
from tendril.addon import memory
from tendril.tests.addon.building import line, make_mesh, make_rod, play
from tendril.tests.addon.test_hair import make_hair

LIMP = {"radius": 5e-4, "material": "RUBBER", "length": 0.1}


def nodding_head():
    head = make_mesh(at=(0.0, 0.0, 0.0), collide=False, cuts=4)
    for frame, turn in ((1, 0.0), (12, 0.6)):
        head.rotation_euler.x = turn
        head.keyframe_insert("rotation_euler", frame=frame)
    return head


def test_hair_follows_the_groom_carried_by_the_head():
    head = nodding_head()
    free, held = (make_hair(surface=head, name=name, **LIMP) for name in ("Free", "Held"))
    held.tendril.use_follow, held.tendril.follow_time, held.tendril.follow_at_end = True, 0.02, 1.0
    shown = play(held, 40)
    c, s = np.cos(0.6), np.sin(0.6)
    target = shown[1].astype(float) @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]]).T
    far = [np.linalg.norm(rows - target, axis=1).max() for rows in (shown[40], play(free, 40)[40])]
    assert far[0] < 0.012 < 0.05 < far[1]


def test_strength_is_keyframed_lets_go_and_takes_hold_again():
    obj = make_hair(**LIMP)
    rod = obj.tendril
    rod.use_follow, rod.follow_time, rod.follow_at_end = True, 0.02, 1.0
    for frame, strength in ((1, 1.0), (9, 1.0), (10, 0.0), (30, 0.0), (31, 1.0)):
        rod.follow_strength = strength
        rod.keyframe_insert("follow_strength", frame=frame)
    shown = play(obj, 80)
    far = {k: np.abs(shown[k] - shown[1]).max() for k in (9, 30, 80)}
    assert far[9] < 0.01
    assert far[30] > 0.05
    assert far[80] < 0.01
    assert memory.info(bpy.context.scene)


def test_control_points_with_keyframes_are_followed():
    obj = make_rod(("POLY", line(12, 0.3)), start_hold="PIN", use_follow=True, follow_time=0.02, follow_at_end=1.0)
    curve = obj.data
    for k in range(12):
        point = curve.splines[0].points[k]
        place = point.co[:]
        for frame, lift in ((1, 0.0), (20, 0.3)):
            point.co = (place[0], place[1] + lift * k / 11.0, place[2], 1.0)
            point.keyframe_insert("co", frame=frame)
        point.co = place
    bpy.context.scene.use_gravity = False
    bpy.context.scene.frame_set(1)
    shown = play(obj, 60)
    assert np.abs(shown[60][-1] - shown[1][-1] - [0.0, 0.3, 0.0]).max() < 0.06
    assert shown[60][-1, 1] - shown[1][-1, 1] > 0.24
    again = play(obj, 60)
    assert np.array_equal(again[60], shown[60])


def test_tips_are_free_by_default_and_the_profile_counts():
    obj = make_hair(use_follow=True, follow_time=0.02, **LIMP)
    play(obj, 2)
    described = memory.running_of(bpy.context.scene).description.parts[obj.tendril.uid].described
    assert described.follow[0][0] == 1.0
    assert described.follow[0][-1] == 0.0
    obj.tendril.use_profiles = True
    node = obj.tendril.profiles.nodes["Follow"]
    for point in node.mapping.curves[0].points:
        point.location.y = 0.5
    node.mapping.update()
    bpy.context.scene.frame_set(1)
    play(obj, 2)
    described = memory.running_of(bpy.context.scene).description.parts[obj.tendril.uid].described
    assert abs(described.follow[0][0] - 0.5) < 1e-6
