"""Sag-free hair and curves in Blender."""

import bpy
import numpy as np
from tendril.addon import memory
from tendril.tests.addon.building import line, make_mesh, make_rod, play
from tendril.tests.addon.test_hair import make_hair

HAIR = {"radius": 4e-5, "material": "HUMAN_HAIR", "use_sag_free": True}


def test_new_hair_is_sag_free_and_does_not_move():
    hair = bpy.data.hair_curves.new("Hair")
    hair.add_curves([6])
    hair.attributes["position"].data.foreach_set("vector", np.linspace(0.0, 0.05, 18, dtype=np.float32))
    obj = bpy.data.objects.new("Hair", hair)
    bpy.context.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    assert bpy.ops.tendril.rod_add(fit=False) == {"FINISHED"}
    assert obj.tendril.use_sag_free
    assert not make_rod(name="Rope").tendril.use_sag_free


def test_short_hair_stays_as_drawn_and_returns_after_its_head_moved():
    head = make_mesh(at=(0.0, 0.0, 0.0), collide=False, cuts=4)
    for frame, turn in ((1, 0.0), (10, 0.0), (16, 0.5), (22, 0.0)):
        head.rotation_euler.x = turn
        head.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.tendril.air_density = 1.2
    obj = make_hair(surface=head, length=0.05, **HAIR)
    shown = play(obj, 80)
    assert memory.sagging(bpy.context.scene, obj.tendril.uid) == ""
    assert np.abs(shown[10] - shown[1]).max() < 1e-6
    assert np.abs(shown[16] - shown[1]).max() > 0.01
    assert np.abs(shown[80] - shown[1]).max() < 5e-5


def test_hair_that_is_too_long_says_how_far_it_sags():
    obj = make_hair(length=0.3, **HAIR)
    shown = play(obj, 3)
    message = memory.sagging(bpy.context.scene, obj.tendril.uid)
    assert message.startswith("6 of 6 strands can't support the drawn shape, and sag by up to 1")
    assert np.abs(shown[3] - shown[1]).max() > 1e-3


def test_only_where_the_drawn_shape_is_the_rest_shape():
    obj = make_hair(length=0.3, **{**HAIR, "rest_shape": "STRAIGHT"})
    play(obj, 3)
    assert memory.sagging(bpy.context.scene, obj.tendril.uid) == ""


def test_a_start_that_is_only_pinned_is_told_and_swings():
    obj = make_rod(("POLY", line(length=0.2)), start_hold="PIN", radius=0.005, material="VINE", use_sag_free=True)
    shown = play(obj, 10)
    assert memory.rod_notes(bpy.context.scene, obj.tendril.uid) == (
        "Sag-Free has no effect where the start is only pinned: set Start to Clamped",
    )
    assert np.abs(shown[10] - shown[1]).max() > 0.01
    obj.tendril.start_hold = "CLAMP"
    bpy.context.scene.frame_set(1)
    shown = play(obj, 30)
    assert np.abs(shown[30] - shown[1]).max() < 1e-6
