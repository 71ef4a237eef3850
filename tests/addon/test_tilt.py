"""Tilt follows the material: what a flat bevel shows is how the rod is twisted."""

import bpy
import numpy as np
import pytest
from tendril.addon import memory
from tendril.tests.addon.building import evaluated_points, line, make_curve, make_rod, play, ring, status
from tendril.tests.addon.test_attachments import attach

BENT = np.array([[0, 0, 0], [0.5, 0.1, 0.2], [1, 0.5, 0.3], [1.4, 1, 0.2], [1.5, 1.6, 0.6], [1.3, 2, 1.0]])


def wide_sides(obj, points):
    """Of a bevel that was extruded: unit vectors across the curve at control points, up to their sign."""
    places = evaluated_points(obj)
    found = []
    for point in points:
        away = places - point
        found.append(away[np.argmin(np.abs(np.linalg.norm(away, axis=1) - obj.data.extrude))])
    found = np.array(found)
    return found / np.linalg.norm(found, axis=1)[:, None]


@pytest.mark.parametrize("mode", ["MINIMUM", "Z_UP"])
@pytest.mark.parametrize("cyclic", [False, True])
def test_the_wide_side_is_where_blender_shows_it(mode, cyclic):
    from tendril.addon.bridge import tilts as bridge

    points = ring(25) if cyclic else BENT
    if cyclic:  # so crooked that the seam does not close by itself
        a = np.arange(25) * 2.0 * np.pi / 25 + 0.3
        points = points + 0.15 * np.stack([np.sin(2 * a), 0 * a, np.cos(2 * a) + np.sin(3 * a)], axis=1)
    obj = make_curve(("POLY", points, cyclic))
    obj.data.extrude, obj.data.twist_mode = 0.01, mode
    tilts = np.linspace(0.0, 1.5, len(points))
    obj.data.splines[0].points.foreach_set("tilt", tilts.astype(np.float32))
    bpy.context.view_layer.update()
    t, wide = bridge.wide_sides(points, cyclic, mode)
    ours = bridge._turned(wide, t, tilts)
    assert np.abs(np.einsum("ij,ij->i", ours, wide_sides(obj, points))).min() > 0.99999


def twisted(turns=0.5, **settings):
    """A ribbon whose end is turned about it by an empty."""
    scene = bpy.context.scene
    scene.use_gravity, scene.tendril.drag = False, 20.0
    hand = bpy.data.objects.new("Hand", None)
    bpy.context.collection.objects.link(hand)
    hand.location = (1.0, 0.0, 0.0)
    hand.keyframe_insert("rotation_euler", frame=1)
    hand.rotation_euler.x = 2.0 * np.pi * turns
    hand.keyframe_insert("rotation_euler", frame=13)
    points = np.stack([np.linspace(0.0, 1.0, 11), np.zeros(11), np.zeros(11)], axis=1)
    obj = make_curve(("POLY", points))
    obj.data.extrude = 0.03
    for name, value in {"radius": 0.03, "start_hold": "CLAMP", "use_tilt": True, **settings}.items():
        setattr(obj.tendril, name, value)
    assert bpy.ops.tendril.rod_add(fit=False) == {"FINISHED"}
    attach(obj, hand, "END", use_rotation=True)
    return obj


@pytest.mark.parametrize("section", ["CIRCLE", "RIBBON"])
def test_a_twisted_ribbon_shows_its_twist(section):
    obj = twisted(section=section, flatness=0.3, material="RUBBER")
    play(obj, 40)
    tilts = np.empty(11, dtype=np.float32)
    obj.data.splines[0].points.foreach_get("tilt", tilts)
    assert np.allclose(tilts, np.linspace(0.0, np.pi, 11), atol=0.03)
    bpy.context.scene.frame_set(1)
    obj.data.splines[0].points.foreach_get("tilt", tilts)
    assert np.array_equal(tilts, np.zeros(11))


def test_what_is_seen_is_the_director_of_the_rod():
    obj = twisted(section="RIBBON", flatness=0.2, material="RUBBER")
    shown = play(obj, 20)[20][:11]
    frame = memory.simulation_of(bpy.context.scene).current()
    d = frame.directors(0)
    middle = d[:-1] + d[1:]
    middle /= np.linalg.norm(middle, axis=1)[:, None]
    seen = wide_sides(obj, shown[1:-1])
    assert np.abs(np.einsum("ij,ij->i", middle, seen)).min() > 0.999


def test_tilt_is_baked_cached_and_given_back():
    scene = bpy.context.scene
    scene.frame_end = 14
    obj = twisted(material="RUBBER")
    play(obj, 14)
    tilts = np.empty(11, dtype=np.float32)
    obj.data.splines[0].points.foreach_get("tilt", tilts)
    scene.frame_set(5)
    scene.frame_set(14)
    again = np.empty(11, dtype=np.float32)
    obj.data.splines[0].points.foreach_get("tilt", again)
    assert np.array_equal(tilts, again)
    before = evaluated_points(obj)
    scene.frame_set(1)
    assert bpy.ops.tendril.bake() == {"FINISHED"}
    scene.frame_set(14)
    assert np.allclose(evaluated_points(obj), before, atol=1e-5)


def test_it_follows_by_itself_where_it_is_seen_until_the_user_says_otherwise():
    round_one = make_rod(name="Round")
    assert not round_one.tendril.use_tilt
    round_one.tendril.section = "RIBBON"
    assert round_one.tendril.use_tilt
    round_one.tendril.use_tilt = False
    round_one.tendril.section = "ELLIPSE"
    assert not round_one.tendril.use_tilt
    extruded = make_curve(("POLY", line(y=1.0)), name="Extruded")
    extruded.data.extrude = 0.02
    assert bpy.ops.tendril.rod_add(fit=False) == {"FINISHED"}
    assert extruded.tendril.use_tilt
    tangent = make_curve(("POLY", line(y=2.0)), name="Tangent")
    tangent.data.extrude, tangent.data.twist_mode = 0.02, "TANGENT"
    assert bpy.ops.tendril.rod_add(fit=False) == {"FINISHED"}
    assert not tangent.tendril.use_tilt
    play(extruded, 4)


def test_a_method_that_can_not_follow_is_told():
    obj = make_curve(("POLY", line()))
    obj.data.twist_mode = "TANGENT"
    obj.tendril.use_tilt = True
    with pytest.raises(RuntimeError, match="Minimum or Z-Up"):
        bpy.ops.tendril.rod_add(fit=False)
    obj.tendril.use_tilt = False
    assert bpy.ops.tendril.rod_add(fit=False) == {"FINISHED"}
    play(obj, 3)
    assert status(obj) == ""
    bpy.data.objects.remove(obj)
    assert make_rod().tendril.enabled
